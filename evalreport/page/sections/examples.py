"""The most confident errors, for people to look at: some labels may be wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from evalreport.core.format import confidence, count
from evalreport.core.sentences import NOTHING, Sentence, say
from evalreport.data.labels import Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.examples import truncate_text
from evalreport.evaluation.parts import Mistake
from evalreport.page.elements import Cell, Column, Empty, Folded, PagePart, Row, Section, Shown, Table, Tag
from evalreport.page.evaluation_terms import mistakes, no_mistakes, tell, units

UNPARSED = "unparsed"
FIRST, SECOND = 5, 10
"""Mistakes that are shown, and up to which they are folded; all of them are in the JSON."""
ANSWER = 140
"""Characters of a generated answer that are shown."""


def examples_section(ev: Evaluation) -> Section | None:
    """Return the worst mistakes."""
    ev = ev.in_rows()
    wrong = mistakes(ev)
    if wrong is None:
        return None
    multilabel = isinstance(ev.space, Multilabel)
    title = f"{units(ev).capitalize()} with most errors" if multilabel else "Most confident errors"
    if not ev.mistakes:
        return Section.from_parts("examples", title, title, NOTHING, _empty(ev, wrong))
    table = _tagged_mistakes_table(ev) if multilabel else _table(ev)
    parts: tuple[PagePart, ...] = (table,)
    if len(ev.mistakes) > FIRST + 1:
        rest = replace(table, id="examples-more", name="More errors", rows=table.rows[FIRST:SECOND])
        parts = replace(table, rows=table.rows[:FIRST]), Folded(f"{count(len(rest.rows))} more", (rest,))
    return Section.from_parts("examples", title, title, _summary(ev, wrong), *parts)


def _empty(ev: Evaluation, wrong: float) -> Empty:
    if wrong == 0:
        return no_mistakes(ev)
    return Empty(
        say("Examples are withheld."),
        say("The author of this page left them out."),
    )


def _summary(ev: Evaluation, wrong: float) -> Sentence:
    shown = len(ev.mistakes)
    if isinstance(ev.space, Multilabel):
        return tell(ev, "The {shown:count} {shown:units} with the most label errors.", shown=shown)
    if shown == wrong:
        lead = "All {wrong:count} mistakes." if shown > 1 else "The only mistake."
    elif any(entry.confidence is not None for entry in ev.mistakes):
        lead = "The {shown:count} most confident of {wrong:count} mistakes."
    else:
        lead = "{shown:count} of {wrong:count} mistakes, the most frequent confusions first."
    return say(lead + " Some labels may be wrong.", shown=shown, wrong=wrong)


def _table(ev: Evaluation) -> Table:
    texts = any(entry.text is not None for entry in ev.mistakes)
    scored = any(entry.confidence is not None for entry in ev.mistakes)
    columns: tuple[tuple[Column, Callable[[Mistake], Shown]] | None, ...] = (
        (Column(units(ev, 1).capitalize()), _id),
        (Column("Text", "text"), _text) if texts else None,
        (Column("True label"), lambda entry: ", ".join(entry.truth)),
        (Column("Predicted"), _answer),
        (Column("Confidence", "q"), partial(_confidence, ev)) if scored else None,
    )
    return Table.from_items("examples-table", "Table of the worst mistakes", columns, ev.mistakes)


def _id(entry: Mistake) -> Cell:
    return Cell(format_row_id(entry.id), "id")


def _answer(entry: Mistake) -> Cell:
    """The label that was read, over what the model wrote where that is more."""
    written = " ".join((entry.response or "").split())
    more = "" if written in ("", *entry.predicted) else f"“{truncate_text(written, ANSWER)}”"
    return Cell(", ".join(entry.predicted) or UNPARSED, sub=more)


def _text(entry: Mistake) -> Cell:
    """The beginning of a text; the rest is there to be opened."""
    text = entry.text or ""
    shown = truncate_text(text)
    return Cell(shown, "text", rest="" if shown == text else "…" + text[len(shown) - 1 :])


def format_row_id(id: str) -> str:
    """Return an id as shown: a mere number with its sign.

    Examples
    --------
    >>> format_row_id("112"), format_row_id("test-02711")
    ('#112', 'test-02711')
    """
    return f"#{id}" if id.isdecimal() else id


def _confidence(ev: Evaluation, entry: Mistake) -> Cell:
    if entry.confidence is None:
        return Cell("–", "q")
    bar = round(100 * entry.confidence) if ev.score_kind != "decision" else None
    return Cell(confidence(entry.confidence), "q", None, bar)


def _tagged_mistakes_table(ev: Evaluation) -> Table:
    heads = (units(ev, 1).capitalize(), "Errors", Column("Labels"))
    return Table.from_rows(
        "examples-table", "Table of the worst mistakes", heads, map(_tagged_row, ev.mistakes)
    )


def _tagged_row(entry: Mistake) -> Row:
    """Labels of a row: right, left out, added wrongly."""
    truth, predicted = set(entry.truth), set(entry.predicted)
    right = [Tag(name) for name in entry.truth if name in predicted]
    left = [Tag(name, "left") for name in entry.truth if name not in predicted]
    added = [Tag(name, "added") for name in entry.predicted if name not in truth]
    labels = replace(_text(entry), tags=(*right, *left, *added))
    return _id(entry), str(len(left) + len(added)), labels
