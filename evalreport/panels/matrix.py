"""The confusion matrix of many classes: one drawing, one path per colour, non-zero cells alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.evaluation.model import Evaluation
from evalreport.facts import Counts
from evalreport.facts.counts import Places
from evalreport.findings.families import Kinship
from evalreport.format import count
from evalreport.panels.words import Sentence, say

RIGHT_STEPS = (0.5, 0.75, 0.9)
WRONG_STEPS = (0.05, 0.1, 0.2)
MOST_CELLS = 30_000
"""Mix-ups that are drawn and that the script can name: about 30 bytes each, of a page of at most 2 MB."""
KEY = (
    ("r4", "≥ 90% right"),
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


def matrix(counts: Counts, kin: Kinship) -> Matrix:
    """Return the drawing of a confusion matrix in the order of its families."""
    letter = round(counts.size / 28, 2)
    off = counts.rows != counts.columns
    return Matrix(
        size=counts.size,
        cells=tuple(_paths(counts, kin.order)),
        outlines=tuple(_outlines(kin, counts.size, letter)),
        letter=letter,
        key=KEY,
        description=say(
            "Matrix of {classes:count} classes, truth down, answer across: {wrong:count} mistakes in "
            "{cells:count} cells. The list of the most frequent mix-ups holds the same as text.",
            classes=counts.size,
            wrong=float(counts.weight[off].sum()),
            cells=int(off.sum()),
        ),
    )


def frequent(counts: Counts) -> Places:
    """Return the places of the wrong cells, the most frequent first."""
    off = np.flatnonzero(counts.rows != counts.columns)
    found: Places = off[np.argsort(-counts.weight[off], kind="stable")]
    return found


def left_out(counts: Counts) -> Places:
    """Return the places of the cells that are too many to be drawn, the most frequent first."""
    return frequent(counts)[MOST_CELLS:]


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
    inside[left_out(counts)] = False
    rows, columns = counts.rows[inside], counts.columns[inside]
    share = counts.weight[inside] / counts.marginals.support[rows]
    step = np.where(
        rows == columns,
        np.searchsorted(RIGHT_STEPS, share, side="right"),
        4 + np.searchsorted(WRONG_STEPS, share, side="right"),
    )
    names = ("r1", "r2", "r3", "r4", "w1", "w2", "w3", "w4")
    found = []
    for colour, name in sorted(enumerate(names), reverse=True):  # right answers last, on top
        chosen = step == colour
        if chosen.any():
            found.append((name, _squares(place[rows[chosen]], place[columns[chosen]], side(counts.size))))
    return found


def side(size: int) -> int:
    """Return how many units wide a cell is drawn: of very many classes one unit would not be seen.

    Examples
    --------
    >>> side(77), side(1000)
    (1, 3)
    """
    return max(1, round(size / 300))


def _squares(rows: npt.NDArray[Any], columns: npt.NDArray[Any], wide: int = 1) -> str:
    """Squares as one path; unit squares that are neighbours in a row are joined.

    Examples
    --------
    >>> _squares(np.array([0, 0]), np.array([0, 1])), _squares(np.array([5]), np.array([7]), 3)
    ('M0 0h2v1H0z', 'M6 4h3v3H6z')
    """
    if wide > 1:
        corners = zip((columns - wide // 2).tolist(), (rows - wide // 2).tolist(), strict=True)
        return "".join(f"M{x} {y}h{wide}v{wide}H{x}z" for x, y in corners)
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
    off = np.flatnonzero((counts.rows != counts.columns) & (counts.columns < counts.size))
    if not len(off):
        return [int(counts.rows[0]), int(counts.columns[0])]
    cell = off[int(np.argmax(counts.weight[off]))]
    return [int(counts.rows[cell]), int(counts.columns[cell])]


def matrix_data(ev: Evaluation, counts: Counts, kin: Kinship) -> dict[str, Any]:
    """Return what the script needs to name cells and to put the classes in another order.

    Names once, cells as flat integers in the order of the codes, orders by name and by recall, example
    texts of frequent confusions, and how often a cell occurs that is not among them.
    """
    recall = counts.marginals.tp / np.maximum(counts.marginals.support, 1e-300)
    by_recall = np.lexsort((np.arange(counts.size), recall))
    by_name = sorted(range(counts.size), key=lambda code: ev.space.names[code].casefold())
    rare = left_out(counts)
    cells = np.delete(np.column_stack([counts.rows, counts.columns]), rare, axis=0)
    weights = np.delete(counts.weight, rare).tolist()
    return {
        "names": list(ev.space.names),
        "side": side(counts.size),
        "rare": f"at most {count(float(counts.weight[rare[0]]))}" if len(rare) else "0",
        "cells": cells.ravel().tolist(),
        "weights": [int(w) if w.is_integer() else round(w, 4) for w in weights],
        "orders": {"kin": list(kin.order), "name": by_name, "recall": by_recall.tolist()},
        "support": [int(s) if s.is_integer() else round(s, 4) for s in counts.marginals.support.tolist()],
        "first": first_pair(counts),
        "texts": {f"{row},{column}": list(texts) for row, column, texts in ev.pair_texts},
    }
