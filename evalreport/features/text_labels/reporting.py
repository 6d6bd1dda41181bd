"""Sections and findings: how labels were read from generated text, and several responses to each row."""

from __future__ import annotations

from evalreport.core.estimate_format import interval, shown_value
from evalreport.core.format import count, percent, plural
from evalreport.core.sentences import say
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import AgreementGroup
from evalreport.findings.rule import AddedRule, FindingDraft, ShortClaim, in_words, rule, value
from evalreport.page.elements import Cell, Column, Forest, Heading, Note, Row, Section, Table, forest_row
from evalreport.page.evaluation_terms import confidence_percent, tell, units

REASONS = {
    "refusal": "refused to answer",
    "empty": "empty answer",
    "unknown_label": "names a label that does not exist",
    "ambiguous": "names several labels",
    "no_label": "no label at all",
    "parser_error": "the parser failed",
}
FORMATS = {
    "bare": "the label alone",
    "spaced": "the label in plain words",
    "quoted": "in quotation marks",
    "markdown": "in Markdown",
    "code_fence": "in a code block",
    "json": "in JSON",
    "xml": "in a tag",
    "prefix": "after a name (“Label: x”)",
    "sentence": "within a sentence",
    "final_answer": "after reasoning, as final answer",
    "negated": "beside a label that is ruled out",
    "fuzzy": "by similarity",
    "pattern": "by the given pattern",
    "function": "by the given function",
}


def parsing_section(ev: Evaluation) -> Section | None:
    """Return the outcome of reading labels from text."""
    report = ev.parsing
    if report is None:
        return None
    words = "{read:count} of {n:count} answers held one label; {unread:count} did not and count as wrong."
    summary = say(words, read=report.n - report.n_unparsed, n=report.n, unread=report.n_unparsed)
    rows: list[Row] = []
    for counts, examples, names, treated in (
        (report.formats, report.format_examples, FORMATS, Cell("counted")),
        (report.reasons, report.reason_examples, REASONS, Cell("wrong", "wrong")),
    ):
        for key, n in counts.items():
            example = examples[key][0].text if examples.get(key) else ""
            shown = say("`{text}`", text=example) if example else "(nothing)"
            rows.append((names.get(key, key), count(n), percent(n / report.n, report.n), shown, treated))
    heads = ("Outcome", "Answers", "Share", Column("For example", "text"), Column("Treated as"))
    guess = "Labels were also guessed by similarity." if report.fuzzy else "Nothing is guessed."
    words = "Parser `{parser}`, source sha256 `{digest}`. " + guess
    return Section.from_parts(
        "parsing",
        "Parsing",
        "How labels were read from the answers",
        summary,
        Table.from_rows("parsing-table", "How labels were read", heads, rows),
        Note(say(words, parser=report.parser, digest=report.digest[:12] + "…")),
    )


def repeated_section(ev: Evaluation) -> Section | None:
    """Return what several answers to each row say; None where there is one."""
    found = ev.repeated_responses
    if found is None:
        return None
    fewest, most = count(found.fewest), count(found.most)
    words = "{answers:count} answers to {rows:count} {units}, {each} to each. All other numbers of this page "
    words += "are of the most frequent answer. Intervals are over {units}, not over answers."
    each = fewest if fewest == most else f"{fewest} to {most}"
    summary = tell(ev, words, answers=found.answers, rows=found.rows, each=each)
    heads = ("Accuracy", "Estimate", f"{confidence_percent(ev)} interval", "")
    forest = Forest(
        tuple(
            forest_row(name, name.capitalize(), say(gloss), result, "percent")
            for name, gloss, result in found.results()
        ),
        heads=heads,
    )
    groups = Table.from_rows(
        "agreement-table",
        "Accuracy by the agreement of the answers",
        ("Its share of the answers", units(ev).capitalize(), "It is right in", Column("Interval", "n")),
        (_agreement_row(group) for group in found.by_agreement),
    )
    title = "Several answers: is it right where it is sure?"
    agree = Heading("The most frequent answer, by how many of the answers it has")
    return Section.from_parts("answers", "Several answers", title, summary, forest, agree, groups)


def _agreement_row(group: AgreementGroup) -> Row:
    span = "all" if group.low == group.high else f"over {percent(group.low)}, up to {percent(group.high)}"
    if group.high == 1 > group.low:
        span = f"over {percent(group.low)}, not all"
    result = group.accuracy
    return span, count(group.rows), shown_value(result, "percent"), interval(result, "percent")


REASON_NOUNS = {
    "refusal": ("refusal", "refusals"),
    "empty": ("empty answer", "empty answers"),
    "unknown_label": ("label that does not exist", "labels that do not exist"),
    "ambiguous": (
        "answer with several labels and no final one",
        "answers with several labels and no final one",
    ),
    "no_label": ("answer without any label", "answers without any label"),
    "parser_error": ("failure of the parser itself", "failures of the parser itself"),
}
FORMAT_NAMES = {
    **FORMATS,
    "code_fence": "in a code fence",
    "json": "JSON",
    "xml": "XML",
    "prefix": "after a name and a colon",
    "final_answer": "after reasoning",
}
BROKEN = 0.1
NOTICED = 0.01
"""Shares of unparsed responses from which on a finding is an error, and a caution."""
ONE_FORMAT = 0.9
"""Share of the readable answers that one format must hold to be the format."""
MOST_FORMATS = 4
"""Formats that a claim names."""


@rule(
    section="parsing",
    action="Constrain the output to the list of labels; and measure with the parser that serves.",
)
def parse_failures(ev: Evaluation) -> FindingDraft | None:
    """Answers from which no label could be read, by reason.

    Examples
    --------
    >>> import pandas as pd
    >>> import evalreport as er
    >>> rows = {"y_true": ["spam", "ham", "spam"] * 20, "answer": ["spam", "ham", "no idea"] * 20}
    >>> told = parse_failures(er.evaluate(pd.DataFrame(rows), text="answer"))
    >>> told.claim
    '20 of 60 answers (33%) could not be read as a label: 20 labels that do not exist. They count as
    wrong: accuracy is 67%, among the readable 100%.'
    """
    report = ev.parsing
    if report is None or not report.n_unparsed:
        return None
    share = report.n_unparsed / report.n
    reasons = dict(sorted(report.reasons.items(), key=lambda entry: -entry[1]))
    named = [f"{{reasons[{key}]:count}} {plural(n, REASON_NOUNS[key])}" for key, n in reasons.items()]
    whole, readable = value(ev, "accuracy"), value(ev, "accuracy_parsed")
    claim = (
        "{n_unparsed:count} of {n:count} answers ({share:of parse_rate}) could not be read as a label: "
        + in_words(named)
    )
    if whole is not None and readable is not None:
        claim += ". They count as wrong: accuracy is {accuracy:percent}, "
        claim += "among the readable {accuracy_parsed:percent}"
    broken = share >= BROKEN or "parser_error" in reasons
    return FindingDraft(
        claim + ".",
        {
            "n_unparsed": report.n_unparsed,
            "n": report.n,
            "share": share,
            "reasons": reasons,
            "accuracy": whole,
            "accuracy_parsed": readable,
        },
        severity="error" if broken else "caution" if share >= NOTICED else "note",
    )


@rule(
    section="parsing", action="Read a few: the prompt may touch a safety rule, or offer no label that fits."
)
def refusals(ev: Evaluation) -> FindingDraft | None:
    """The model declines to answer."""
    report = ev.parsing
    declined = 0 if report is None else report.reasons.get("refusal", 0)
    if report is None or declined < max(5, NOTICED * report.n):  # a handful at least: chosen by hand
        return None
    return FindingDraft(
        "The model declines to answer {refusals:count} of {n:rows} ({share:percent}).",
        {"refusals": declined, "n": report.n, "share": declined / report.n},
    )


@rule(
    "note",
    section="parsing",
    action="Ask for one format, or serve with this parser: one that knows a single format loses the rest.",
)
def format_drift(ev: Evaluation) -> FindingDraft | None:
    """Answers come in several formats, all of which the serving parser has to know."""
    report = ev.parsing
    if report is None:
        return None
    found = dict(sorted(report.formats.items(), key=lambda entry: -entry[1]))
    readable = sum(found.values())
    if len(found) < 2 or max(found.values()) > ONE_FORMAT * readable:
        return None
    shares = {name: n / readable for name, n in found.items()}
    top = [f"{FORMAT_NAMES[name]} ({{shares[{name}]:whole}})" for name in list(shares)[:MOST_FORMATS]]
    return FindingDraft(
        "The readable answers come in {n_formats:count} {n_formats:format|formats}, most often "
        + in_words(top)
        + ".",
        {"n_formats": len(found), "formats": found, "shares": shares},
    )


@rule(
    section="parsing", action="Leave --set fuzzy out unless the parser that serves guesses in the same way."
)
def fuzzy_labels(ev: Evaluation) -> FindingDraft | None:
    """Labels that were guessed by similarity."""
    report = ev.parsing
    guessed = 0 if report is None else report.formats.get("fuzzy", 0)
    if report is None or not guessed:
        return None
    return FindingDraft(
        "{guessed:count} of {n:count} labels were guessed by similarity, not read.",
        {"guessed": guessed, "n": report.n},
    )


PARSE_FAILURES = AddedRule(
    parse_failures,
    "too_perfect",
    ShortClaim(
        "{n_unparsed:count} {n_unparsed:response|responses} unparsed",
        "{share:whole} of responses, counted as wrong",
        mistakes="n_unparsed",
        step="Constrain the output to the list of labels.",
    ),
)
REFUSALS = AddedRule(
    refusals,
    "unread_labels",
    ShortClaim(
        "{refusals:count} {refusals:refusal|refusals}", "{share:whole} of responses", mistakes="refusals"
    ),
)
FUZZY_LABELS = AddedRule(
    fuzzy_labels,
    "class_shares",
    ShortClaim("{guessed:count} labels guessed by similarity", "{guessed:count} of {n:count}", "data"),
)
FORMAT_DRIFT = AddedRule(
    format_drift, "data_notes", ShortClaim("{n_formats:count} response formats", about="author")
)
