"""The confusion matrix: a table for few classes; for many a list, families and a folded matrix; swapped labels.

Also examples of wrong predictions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.format import confidence, count, format_fixed, percent, pluralize
from evalreport.core.sentences import NOTHING, Sentence, say
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import Mistake, truncate_text
from evalreport.findings.confusions import Family, Kinship, kinship
from evalreport.page.elements import Cell, Column, Empty, Folded, PagePart, Row, Section, Shown, Table, Tag
from evalreport.page.evaluation_terms import MATRIX, SMALL_TABLE, mistakes, no_mistakes, tell, units
from evalreport.statistics.confusion import Counts, Places

RIGHT_STEPS = (0.5, 0.75, 0.9)
"""Shares of a class from which a cell of right answers is darker; `KEY` says them."""
WRONG_STEPS = (0.05, 0.1, 0.2)
"""The same for wrong predictions, where a twentieth is already many."""
BLOCKS_FROM = 200
"""Classes above which blocks of them are drawn: a cell of one class would be less than two pixels wide."""
KEY = (
    ("r4", "≥ 90%"),
    ("r3", "75–90%"),
    ("r2", "50–75%"),
    ("r1", "< 50%"),
    ("w4", "> 20% confused"),
    ("w3", "10–20%"),
    ("w2", "5–10%"),
    ("w1", "< 5%"),
)


@dataclass(frozen=True)
class Outline:
    """A family in the matrix: its square and its number."""

    x: float
    size: int
    rank: int
    text_x: float
    text_y: float


@dataclass(frozen=True)
class Matrix:
    """The drawing.

    Parameters
    ----------
    size : int
        Classes; the view box is as many units wide.
    cells : tuple of (class, path data)
    outlines : tuple of Outline
    letter : float
        Height of the numbers, in units.
    """

    size: int
    cells: tuple[tuple[str, str], ...]
    outlines: tuple[Outline, ...]
    letter: float
    key: tuple[tuple[str, str], ...]
    description: Sentence


def matrix(counts: Counts, kin: Kinship, right: str = "right") -> Matrix:
    """Return the drawing of a confusion matrix in the order of its families; its diagonal is `right`."""
    letter = round(counts.size / 28, 2)
    off = counts.rows != counts.columns
    return Matrix(
        size=counts.size,
        cells=tuple(_paths(counts, kin.order)),
        outlines=tuple(_outlines(kin, counts.size, letter)),
        letter=letter,
        key=((KEY[0][0], f"≥ 90% {right}"), *KEY[1:]),
        description=say(
            "Matrix of {classes:count} classes, true label down, prediction across: {wrong:count} mistakes in {cells:count} cells.",
            classes=counts.size,
            wrong=float(counts.weight[off].sum()),
            cells=int(off.sum()),
        ),
    )


def group_counts(counts: Counts, blocks: Sequence[Sequence[int]]) -> Counts:
    """Return the counts of blocks of classes: what stays within a block is on the diagonal.

    Examples
    --------
    >>> counts = Counts.from_codes(np.array([0, 1, 2, 2]), np.array([1, 0, 2, -1]), 3)
    >>> group_counts(counts, [(0, 1), (2,)]).dense().tolist()
    [[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    """
    block = block_of(counts.size, blocks)
    answers = np.append(block, -1)[counts.columns]  # the last column is unparsed
    return Counts.from_codes(block[counts.rows], answers, len(blocks), counts.weight)


def block_of(size: int, blocks: Sequence[Sequence[int]]) -> Places:
    """Return the block of each class, shape (size,)."""
    found: Places = np.empty(size, dtype=np.int64)
    for place, members in enumerate(blocks):
        found[list(members)] = place
    return found


def _outlines(kin: Kinship, classes: int, letter: float) -> Iterator[Outline]:
    """Squares with their numbers on the right, or on the left at the edge and where two would touch."""
    last = -math.inf
    for rank, family in sorted(enumerate(kin.families, 1), key=lambda entry: entry[1].start):
        start, size = family.start, len(family.members)
        right = start + size + letter * 0.3
        if right + letter > classes or start < last + 1.2 * letter:
            right, last = start - letter, -math.inf
        else:
            last = start
        yield Outline(start, size, rank, round(right, 2), round(min(start + letter * 0.9, classes - 1.0), 2))


def _paths(counts: Counts, order: Sequence[int]) -> list[tuple[str, str]]:
    """Cells by colour, as runs of neighbouring squares."""
    place = np.empty(counts.size, dtype=int)
    place[list(order)] = np.arange(counts.size)
    inside = counts.columns < counts.size
    rows, columns = counts.rows[inside], counts.columns[inside]
    share = counts.weight[inside] / counts.marginals.support[rows]
    step = np.where(
        rows == columns,
        np.searchsorted(RIGHT_STEPS, share, side="right"),
        4 + np.searchsorted(WRONG_STEPS, share, side="right"),
    )
    names = ("r1", "r2", "r3", "r4", "w1", "w2", "w3", "w4")
    found = []
    for colour, name in sorted(enumerate(names), reverse=True):  # right predictions last, on top
        chosen = step == colour
        if chosen.any():
            found.append((name, _squares(place[rows[chosen]], place[columns[chosen]])))
    return found


def _squares(rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> str:
    """Unit squares as one path; neighbours in a row are joined.

    Examples
    --------
    >>> _squares(np.array([0, 0]), np.array([0, 1]))
    'M0 0h2v1H0z'
    """
    order = np.lexsort((columns, rows))
    made, start, last, row = [], -1, -2, -1
    for r, c in [*zip(rows[order].tolist(), columns[order].tolist(), strict=True), (-1, -1)]:
        if r == row and c == last + 1:
            last = c
            continue
        if row >= 0:
            made.append(f"M{start} {row}h{last + 1 - start}v1H{start}z")
        start, last, row = c, c, r
    return "".join(made)


def first_pair(counts: Counts) -> list[int]:
    """Return truth and answer of the most frequent confusion, else of the first cell."""
    cell = next(iter(counts.misread), 0)
    return [int(counts.rows[cell]), int(counts.columns[cell])]


def matrix_data(
    counts: Counts, kin: Kinship, names: Sequence[str], texts: Mapping[str, list[str]]
) -> dict[str, Any]:
    """Return what the script needs to name cells and to put the classes in another order.

    Names once, cells as flat integers in the order of the codes, orders by name and by recall, example
    texts of frequent confusions.
    """
    recall = counts.marginals.tp / np.maximum(counts.marginals.support, 1e-300)
    by_recall = np.lexsort((np.arange(counts.size), recall))
    by_name = sorted(range(counts.size), key=lambda code: names[code].casefold())
    return {
        "names": list(names),
        "cells": np.column_stack([counts.rows, counts.columns]).ravel().tolist(),
        "weights": [int(w) if w.is_integer() else round(w, 4) for w in counts.weight.tolist()],
        "orders": {"kin": list(kin.order), "name": by_name, "recall": by_recall.tolist()},
        "support": [int(s) if s.is_integer() else round(s, 4) for s in counts.marginals.support.tolist()],
        "first": first_pair(counts),
        "texts": dict(texts),
    }


LIST = 5
"""Confusions in the list."""
OPENED = 3
"""Families, those with most mistakes first, that are shown as small matrices."""
TITLE = "Confusion matrix"
OFTEN = 3
"""Times that a confusion was seen to stand in the table of values."""
MOST = 600
"""Rows that this table has at most."""
NOTED = 0.05
"""Minimum proportion of a class for a coloured confusion in the plain table."""
UNPARSED = "unparsed"


@dataclass(frozen=True)
class Box:
    """One cell of the plain table: count, proportion of its row, and whether it is right, wrong or neither."""

    count: str
    share: str
    look: str


@dataclass(frozen=True)
class CountTable:
    """The confusion matrix as a table of counts and row per cent."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Box, ...]], ...]


@dataclass(frozen=True)
class ConfusionRow:
    """One confusion of the list; `place` is its cell in the script's data."""

    rank: int
    truth: str
    answer: str
    shown: str
    row: int
    column: int


@dataclass(frozen=True)
class FamilyRow:
    """One family of the list; of the first ones the answers among its members, and to all others."""

    rank: int
    names: str
    shown: str
    table: CountTable | None


@dataclass(frozen=True)
class Confusions:
    """Table or matrix, list of confusions, families, values; `empty` where there is no mistake."""

    plain: CountTable | None
    matrix: Matrix | None
    mixups: tuple[ConfusionRow, ...]
    families: tuple[FamilyRow, ...]
    values: Table | None
    note: Sentence
    empty: Empty | None = None


def confusions_section(ev: Evaluation) -> Section | None:
    """Return the confusions of a multiclass evaluation, or of a binary one read from text."""
    ev = ev.in_rows()
    counts = ev.confusion
    if counts is None or isinstance(ev.space, Binary) or not isinstance(ev.space, Multiclass):
        return None
    if mistakes(ev) == 0:
        return _section(NOTHING, Confusions(None, None, (), (), None, NOTHING, no_mistakes(ev)), {})
    if len(ev.space) <= SMALL_TABLE:
        body = Confusions(_plain(ev, counts), None, (), (), None, NOTHING)
        return _section(say("Rows are true labels; percentages are of the row."), body, {})
    return _many(ev, counts)


def _section(summary: Sentence, body: Confusions, data: dict[str, object]) -> Section:
    return Section("confusions", TITLE, TITLE, "confusions", summary, body, data)


def _many(ev: Evaluation, counts: Counts) -> Section:
    small = len(ev.space) <= MATRIX
    kin = kinship(counts) if small else None
    families = () if kin is None else kin.families
    if 2 * len([entry for entry in ev.classes if entry.state == "never_predicted"]) > len(ev.space):
        families = ()  # most rows are predicted as a few classes: these classes are not similar
    kin = None if kin is None else replace(kin, families=families)
    blocks = kin.blocks if kin is not None and len(ev.space) > BLOCKS_FROM else ()
    drawn, names, shown = counts, ev.space.names, kin or Kinship((), ())
    place = np.arange(counts.size)
    if blocks:
        drawn, place = group_counts(counts, blocks), block_of(counts.size, blocks)
        names = tuple(_block(ev.space.names, members) for members in blocks)
        shown = Kinship(tuple(range(len(blocks))), ())
    body = Confusions(
        plain=None,
        matrix=None if kin is None else matrix(drawn, shown, "within" if blocks else "right"),
        mixups=_mixups(ev, counts, place),
        families=tuple(_family(ev, counts, family, rank) for rank, family in enumerate(families, 1)),
        values=_values(ev, counts),
        note=_note(counts, small, drawn),
    )
    texts = {} if blocks else {f"{row},{column}": list(lines) for row, column, lines in ev.pair_texts}
    data = {} if kin is None else matrix_data(drawn, shown, names, texts)
    return _section(_summary(counts), body, data)


def _block(names: Sequence[str], members: Sequence[int]) -> str:
    """What a block of classes is called: its first one, and how many more."""
    rest = len(members) - 1
    return names[members[0]] + (f" and {rest} more" if rest else "")


def _note(counts: Counts, small: bool, drawn: Counts) -> Sentence:
    """Return what of the matrix is not on the page, and where it is."""
    if small and drawn.size == counts.size:
        return NOTHING
    words = "A matrix of {classes:count} classes is too large to draw; this is its list."
    if small:
        words = "The matrix has {blocks:count} blocks of similar classes; confusions within a block are on its diagonal. Every confusion is in `evaluation.json`."
    return say(words, classes=counts.size, blocks=drawn.size)


def _summary(counts: Counts) -> Sentence:
    off = counts.weight[(counts.rows != counts.columns)]
    running = np.cumsum(np.sort(off)[::-1])
    half = int(np.searchsorted(running, running[-1] / 2)) + 1
    what = "classes, with unparsed as a class" if counts.unparsed_weight else "classes"
    return say(
        f"{{wrong:count}} mistakes in {{pairs:count}} pairs of {what}; half of the mistakes in {{half:count}} pairs.",
        wrong=float(off.sum()),
        pairs=len(off),
        half=half,
    )


def _plain(ev: Evaluation, counts: Counts) -> CountTable:
    dense, support = counts.dense(), counts.marginals.support
    width = counts.size + 1 if counts.unparsed_weight else counts.size
    heads = list(ev.space.names)
    heads += [UNPARSED] if counts.unparsed_weight else []
    rows = []
    for row, name in enumerate(ev.space.names):
        cells = [
            _box(float(dense[row, column]), float(support[row]), row == column) for column in range(width)
        ]
        rows.append((name, tuple(cells)))
    return CountTable(tuple(heads), tuple(rows))


def _box(weight: float, support: float, right: bool) -> Box:
    if not support:
        return Box("–", "", "")
    share = weight / support
    look = "right" if right else "wrong" if share >= NOTED else ""
    return Box(count(weight), percent(share), look)


def _nonempty_box(weight: float, support: float, right: bool) -> Box:
    """As `_box` without its percentage, and nothing for zero: a small multiple has little room."""
    return replace(_box(weight, support, right), share="") if weight else Box("", "", "")


def _answer(ev: Evaluation, column: int) -> str:
    return UNPARSED if column == len(ev.space) else ev.space.names[column]


def _mixups(ev: Evaluation, counts: Counts, place: Places) -> tuple[ConfusionRow, ...]:
    support, found = counts.marginals.support, list[ConfusionRow]()
    if counts.unparsed_weight:
        lost = np.where(counts.columns == counts.size, counts.weight, 0.0)
        row = int(place[counts.rows[int(lost.argmax())]])
        shown = f"{count(counts.unparsed_weight)} of {count(counts.total)}"
        found.append(ConfusionRow(1, "all classes", UNPARSED, shown, row, len(set(place.tolist()))))
    for rank, cell in enumerate(counts.misread[:LIST], len(found) + 1):
        row, column = int(counts.rows[cell]), int(counts.columns[cell])
        shown = f"{count(float(counts.weight[cell]))} of {count(float(support[row]))}"
        found.append(
            ConfusionRow(
                rank, ev.space.names[row], _answer(ev, column), shown, *place[[row, column]].tolist()
            )
        )
    return tuple(found)


def _family(ev: Evaluation, counts: Counts, family: Family, rank: int) -> FamilyRow:
    names = ", ".join(ev.space.names[code] for code in family.members)
    table = _members(ev, counts, family) if rank <= OPENED else None
    return FamilyRow(rank, names, pluralize(family.mistakes, "mistake"), table)


def _members(ev: Evaluation, counts: Counts, family: Family) -> CountTable:
    """The part of the matrix that a family is, its classes named; what left it in one column."""
    codes = list(family.members)
    place = {code: at for at, code in enumerate(codes)}
    inside = np.zeros((len(codes), len(codes) + 1))
    for row, column, weight in zip(
        counts.rows.tolist(), counts.columns.tolist(), counts.weight.tolist(), strict=True
    ):
        if row in place:
            inside[place[row], place.get(column, len(codes))] += weight
    names = [ev.space.names[code] for code in codes]
    rows = [
        (
            f"{at + 1} {name}",
            tuple(
                _nonempty_box(weight, float(inside[at].sum()), at == to)
                for to, weight in enumerate(inside[at])
            ),
        )
        for at, name in enumerate(names)
    ]
    return CountTable((*(str(at) for at in range(1, len(names) + 1)), "other"), tuple(rows))


def _values(ev: Evaluation, counts: Counts) -> Table | None:
    support, rows = counts.marginals.support, []
    for cell in counts.off_diagonal[:MOST]:
        weight = float(counts.weight[cell])
        if weight < OFTEN:
            break
        row, column = int(counts.rows[cell]), int(counts.columns[cell])
        share = percent(weight / float(support[row]))
        rows.append((ev.space.names[row], _answer(ev, column), count(weight), share))
    if not rows:
        return None
    heads = ("True label", Column("Predicted"), "Times", "Of the class")
    return Table.from_rows(
        "confusions-values", f"Confusions seen at least {OFTEN} times", heads, rows, tall=True
    )


OFTEN_SWAPPED = 4
"""Rows on which a swap was seen to be shown."""
MOST_SWAPS = 12
"""Swaps that are shown: a table that is read at a glance."""


def swaps(ev: Evaluation) -> Section | None:
    """Return pairs of labels swapped for one another."""
    if not isinstance(ev.space, Multilabel) or not ev.classes:
        return None
    often = [swap for swap in ev.swaps if swap.rows >= OFTEN_SWAPPED][:MOST_SWAPS]
    title = "Swapped labels"
    if not often:
        empty = Empty(
            say("No swap was seen {times:count} times.", times=OFTEN_SWAPPED),
            say("Missed labels are not regularly replaced by another label."),
        )
        return Section.from_parts("swaps", title, title, NOTHING, empty)
    rows = (
        (
            say("{left} _instead:_ {added}", left=swap.missed, added=swap.added),
            Cell(count(swap.rows), sort=swap.rows),
            format_fixed(swap.by_chance, 1),
            format_fixed(swap.rows / swap.by_chance, 1) + "×" if swap.by_chance else "–",
        )
        for swap in often
    )
    heads = ("Missed, added instead", units(ev).capitalize(), "By chance", "Ratio")
    words = "{Units} where one label was missed and another was added, compared with chance."
    table = Table.from_rows("swaps-table", "Table of swaps", heads, rows)
    return Section.from_parts("swaps", title, title, tell(ev, words), table)


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
    sure = any(one.confidence is not None for one in ev.mistakes) or not ev.mistakes
    title = "Most confident errors" if sure else "Examples of errors"
    if multilabel:
        title = f"{units(ev).capitalize()} with most errors"
    if not ev.mistakes:
        return Section.from_parts("examples", title, title, NOTHING, _empty(ev, wrong))
    table = _tagged_mistakes_table(ev) if multilabel else _table(ev)
    parts: tuple[PagePart, ...] = (table,)
    if len(ev.mistakes) > FIRST + 1:
        rest = replace(table, id="examples-more", name="More errors", rows=table.rows[FIRST:SECOND])
        parts = replace(table, rows=table.rows[:FIRST]), Folded(f"{count(len(rest.rows))} more", (rest,))
    return Section.from_parts("examples", title, title, _examples_summary(ev, wrong), *parts)


def _empty(ev: Evaluation, wrong: float) -> Empty:
    if wrong == 0:
        return no_mistakes(ev)
    return Empty(
        say("Examples are withheld."),
        say("The author of this page left them out."),
    )


def _examples_summary(ev: Evaluation, wrong: float) -> Sentence:
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
        (Column("Predicted"), _predicted_label),
        (Column("Confidence", "q"), partial(_confidence, ev)) if scored else None,
    )
    return Table.from_items("examples-table", "Table of the worst mistakes", columns, ev.mistakes)


def _id(entry: Mistake) -> Cell:
    return Cell(format_row_id(entry.id), "id")


def _predicted_label(entry: Mistake) -> Cell:
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
    """Labels of a row: right, missed, added wrongly."""
    truth, predicted = set(entry.truth), set(entry.predicted)
    right = [Tag(name) for name in entry.truth if name in predicted]
    left = [Tag(name, "left") for name in entry.truth if name not in predicted]
    added = [Tag(name, "added") for name in entry.predicted if name not in truth]
    labels = replace(_text(entry), tags=(*right, *left, *added))
    return _id(entry), str(len(left) + len(added)), labels
