"""How labels were read from generated text, and what became of what could not be read."""

from __future__ import annotations

from evalreport.core.format import count, percent
from evalreport.data.parsing_outcomes import ParsingReport
from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.elements import Cell, Column, Note, Row, Section, Table
from evalreport.page.sentences import Sentence, say

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
    title = "How labels were read from the answers"
    return Section.of("parsing", "Parsing", title, summary, _table(report), Note(_rule(report)))


def _rule(report: ParsingReport) -> Sentence:
    guess = "Labels were also guessed by similarity." if report.fuzzy else "Nothing is guessed."
    words = "Parser `{parser}`, source sha256 `{digest}`. " + guess
    return say(words, parser=report.parser, digest=report.digest[:12] + "…")


def _table(report: ParsingReport) -> Table:
    rows = []
    for key, n in report.formats.items():
        examples = report.format_examples.get(key, ())
        rows.append(_row(FORMATS.get(key, key), n, report.n, examples[0].text if examples else "", "counted"))
    for key, n in report.reasons.items():
        examples = report.reason_examples.get(key, ())
        rows.append(_row(REASONS.get(key, key), n, report.n, examples[0].text if examples else "", "wrong"))
    heads = ("Outcome", "Answers", "Share", Column("For example", "text"), Column("Treated as"))
    return Table.of("parsing-table", "How labels were read", heads, rows)


def _row(name: str, n: int, total: int, example: str, treated: str) -> Row:
    return (
        name,
        count(n),
        percent(n / total, total),
        say("`{text}`", text=example) if example else "(nothing)",
        Cell(treated, "wrong" if treated == "wrong" else ""),
    )
