"""What only labels read from generated text can show: answers without a label, refusals, formats."""

from __future__ import annotations

from evalreport.core.format import plural
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.rule import Told, in_words, rule, value

REASONS = {
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
DRESS = {
    "bare": "the label alone",
    "spaced": "the label in plain words",
    "quoted": "in quotation marks",
    "markdown": "in Markdown",
    "code_fence": "in a code fence",
    "json": "JSON",
    "xml": "XML",
    "prefix": "after a name and a colon",
    "sentence": "within a sentence",
    "final_answer": "after reasoning",
    "negated": "beside a label that is ruled out",
    "fuzzy": "by similarity",
    "pattern": "by the given pattern",
    "function": "by the given function",
}
BROKEN = 0.1
NOTICED = 0.01
"""Shares of answers from which on unreadable ones are an error, and a caution."""
ONE_FORMAT = 0.9
"""Share of the readable answers that one format must hold to be the format."""
FORMATS = 4
"""Formats that a claim names."""


@rule(
    section="parsing",
    action="Constrain the output to the list of labels; and measure with the parser that serves.",
)
def parse_failures(ev: Evaluation) -> Told | None:
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
    named = [f"{{reasons[{reason}]:count}} {plural(n, REASONS[reason])}" for reason, n in reasons.items()]
    whole, readable = value(ev, "accuracy"), value(ev, "accuracy_parsed")
    claim = (
        "{n_unparsed:count} of {n:count} answers ({share:of parse_rate}) could not be read as a label: "
        + in_words(named)
    )
    if whole is not None and readable is not None:
        claim += ". They count as wrong: accuracy is {accuracy:percent}, among the readable {accuracy_parsed:percent}"
    broken = share >= BROKEN or "parser_error" in reasons
    return Told(
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
def refusals(ev: Evaluation) -> Told | None:
    """The model declines to answer."""
    report = ev.parsing
    declined = 0 if report is None else report.reasons.get("refusal", 0)
    if report is None or declined < max(5, NOTICED * report.n):  # a handful at least: chosen by hand
        return None
    return Told(
        "The model declines to answer {refusals:count} of {n:rows} ({share:percent}).",
        {"refusals": declined, "n": report.n, "share": declined / report.n},
    )


@rule(
    "note",
    section="parsing",
    action="Ask for one format, or serve with this parser: one that knows a single format loses the rest.",
)
def format_drift(ev: Evaluation) -> Told | None:
    """Answers come in several formats, all of which the serving parser has to know."""
    report = ev.parsing
    if report is None:
        return None
    found = dict(sorted(report.formats.items(), key=lambda entry: -entry[1]))
    readable = sum(found.values())
    if len(found) < 2 or max(found.values()) > ONE_FORMAT * readable:
        return None
    shares = {name: n / readable for name, n in found.items()}
    top = [f"{DRESS[name]} ({{shares[{name}]:whole}})" for name in list(shares)[:FORMATS]]
    return Told(
        "The readable answers come in {n_formats:count} {n_formats:format|formats}, most often "
        + in_words(top)
        + ".",
        {"n_formats": len(found), "formats": found, "shares": shares},
    )


@rule(section="parsing", action="Leave --fuzzy out unless the parser that serves guesses in the same way.")
def fuzzy_labels(ev: Evaluation) -> Told | None:
    """Labels that were guessed by similarity."""
    report = ev.parsing
    guessed = 0 if report is None else report.formats.get("fuzzy", 0)
    if report is None or not guessed:
        return None
    return Told(
        "{guessed:count} of {n:count} labels were guessed by similarity, not read.",
        {"guessed": guessed, "n": report.n},
    )
