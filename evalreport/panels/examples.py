"""The worst mistakes, for people to look at: some may be errors of the truth."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.parts import Mistake
from evalreport.evaluation.rows import cut
from evalreport.format import threshold
from evalreport.labels import Multilabel
from evalreport.panels.about import mistakes, units, upper_bound_of_none
from evalreport.panels.parts import Cell, Column, Empty, Section, Table
from evalreport.panels.words import NOTHING, Sentence, say

UNREADABLE = "not readable"


@dataclass(frozen=True)
class Tagged:
    """One row of a multilabel problem: labels right, left out, added wrongly."""

    id: str
    errors: int
    right: tuple[str, ...]
    left: tuple[str, ...]
    added: tuple[str, ...]
    text: Cell


@dataclass(frozen=True)
class Examples:
    """A table of mistakes, or rows of tags, or why there are none."""

    table: Table | None = None
    tagged: tuple[Tagged, ...] = ()
    heads: tuple[str, ...] = ()
    empty: Empty | None = None


def panel(ev: Evaluation) -> Section | None:
    """Return the worst mistakes."""
    wrong = mistakes(ev)
    if wrong is None:
        return None
    multilabel = isinstance(ev.space, Multilabel)
    title = f"The worst {units(ev)}" if multilabel else "The worst mistakes"
    if not ev.mistakes:
        return Section(
            "examples", "Worst mistakes", title, "examples", NOTHING, Examples(empty=_empty(ev, wrong))
        )
    if multilabel:
        body = Examples(
            tagged=tuple(map(_tagged, ev.mistakes)), heads=(units(ev, 1).capitalize(), "Errors", "Labels")
        )
    else:
        body = Examples(_table(ev))
    return Section("examples", "Worst mistakes", title, "examples", _lede(ev, wrong), body)


def _empty(ev: Evaluation, wrong: float) -> Empty:
    if wrong == 0:
        return Empty(
            say("No mistakes in {n:count} {units}.", n=ev.weight, units=units(ev, ev.weight)),
            upper_bound_of_none(ev),
        )
    return Empty(
        say("Examples are withheld."),
        say("The run is tagged `evalreport.sensitive`, or `--no-examples` was passed."),
    )


def _lede(ev: Evaluation, wrong: float) -> Sentence:
    shown = len(ev.mistakes)
    if isinstance(ev.space, Multilabel):
        return say(
            "The {shown:count} {units} with the most label errors.", shown=shown, units=units(ev, shown)
        )
    if shown == wrong:
        lead = "All {wrong:count} mistakes." if shown > 1 else "The only mistake."
    elif any(entry.confidence is not None for entry in ev.mistakes):
        lead = "The {shown:count} most confident of {wrong:count} mistakes."
    else:
        lead = "{shown:count} of {wrong:count} mistakes, the most frequent mix-ups first."
    return say(
        lead + " Some may be errors of the truth: check those before blaming the model.",
        shown=shown,
        wrong=wrong,
    )


def _table(ev: Evaluation) -> Table:
    texts = any(entry.text is not None for entry in ev.mistakes)
    scored = any(entry.confidence is not None for entry in ev.mistakes)
    heads = [Column(units(ev, 1).capitalize())]
    heads += [Column("Text", "text")] if texts else []
    heads += [Column("Truth"), Column("Answer")]
    heads += [Column("Confidence", "q")] if scored else []
    rows = tuple(_row(ev, entry, texts=texts, scored=scored) for entry in ev.mistakes)
    return Table("examples-table", "Table of the worst mistakes", tuple(heads), rows)


def _row(ev: Evaluation, entry: Mistake, *, texts: bool, scored: bool) -> tuple[Cell, ...]:
    cells = [Cell(numbered(entry.id), "id")]
    cells += [_text(entry)] if texts else []
    cells += [Cell(", ".join(entry.truth)), Cell(", ".join(entry.predicted) or UNREADABLE)]
    if scored:
        cells.append(_confidence(ev, entry))
    return tuple(cells)


def _text(entry: Mistake) -> Cell:
    """The beginning of a text; the rest is there to be opened."""
    text = entry.text or ""
    shown = cut(text)
    return Cell(shown, "text", rest="" if shown == text else "…" + text[len(shown) - 1 :])


def numbered(id: str) -> str:
    """Return an id as shown: a mere number with its sign.

    Examples
    --------
    >>> numbered("112"), numbered("test-02711")
    ('#112', 'test-02711')
    """
    return f"#{id}" if id.isdecimal() else id


def _confidence(ev: Evaluation, entry: Mistake) -> Cell:
    if entry.confidence is None:
        return Cell("–", "q")
    bar = round(100 * entry.confidence) if ev.score_kind != "decision" else None
    return Cell(threshold(entry.confidence), "q", None, bar)


def _tagged(entry: Mistake) -> Tagged:
    truth, predicted = set(entry.truth), set(entry.predicted)
    right = tuple(name for name in entry.truth if name in predicted)
    left = tuple(name for name in entry.truth if name not in predicted)
    added = tuple(name for name in entry.predicted if name not in truth)
    return Tagged(numbered(entry.id), len(left) + len(added), right, left, added, _text(entry))
