"""The confusion matrix of many classes: one drawing, one path per colour, non-zero cells alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.facts import Counts
from evalreport.facts.counts import Places
from evalreport.findings.families import Kinship
from evalreport.panels.words import Sentence, say

RIGHT_STEPS = (0.5, 0.75, 0.9)
"""Shares of a class from which a cell of right answers is darker; `KEY` says them."""
WRONG_STEPS = (0.05, 0.1, 0.2)
"""The same of wrong answers, of which a twentieth is many already."""
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
            "Matrix of {classes:count} classes, truth down, answer across: {wrong:count} mistakes in "
            "{cells:count} cells. The list of the most frequent mix-ups holds the same as text.",
            classes=counts.size,
            wrong=float(counts.weight[off].sum()),
            cells=int(off.sum()),
        ),
    )


def grouped(counts: Counts, blocks: Sequence[Sequence[int]]) -> Counts:
    """Return the counts of blocks of classes: what stays within a block is on the diagonal.

    Examples
    --------
    >>> counts = Counts.of(np.array([0, 1, 2, 2]), np.array([1, 0, 2, -1]), 3)
    >>> grouped(counts, [(0, 1), (2,)]).dense().tolist()
    [[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    """
    block = block_of(counts.size, blocks)
    answers = np.append(block, -1)[counts.columns]  # the last one is the unread
    return Counts.of(block[counts.rows], answers, len(blocks), counts.weight)


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
    for colour, name in sorted(enumerate(names), reverse=True):  # right answers last, on top
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
