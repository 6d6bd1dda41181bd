"""Exact areas of many one-vs-rest rankings without a table of each.

A positive's place among all rows follows from one sort of the column and a binary search of the positives
alone, of which a many-class problem has few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.facts.counts import Array, run_starts, sums
from evalreport.facts.keys import keys_of
from evalreport.facts.ladders import Ladder, areas_of, cumulated, merged_of
from evalreport.facts.table import ScoreTable

POOL = 1 << 22
"""(row, label) cells of the pooled ranking that are sorted at a time."""
RANGES, MOST_RANGES = 16, 1 << 18
"""Ranges for each value that scores are placed among, and at most: a megabyte, that it stays in cache."""


@dataclass(frozen=True, eq=False)
class Rankings:
    """Areas under the curves of each label against all others.

    Parameters
    ----------
    roc_auc : float64 array of shape (K,)
        NaN where a label has no example, or all of them.
    average_precision : float64 array of shape (K,)
        NaN where a label has no example.
    positives : float64 array of shape (K,)
        Weight of the examples with the label.
    pairs : float64 array of shape (K,)
        Multiclass: mean AUC of the label's examples against each other class, by the label's own score
        (Hand & Till 2001); NaN where a label has no example. Multilabel: NaN.
    tables : sequence of K ScoreTable
        Each label against all others, negatives merged that no positive lies between: enough for both
        areas and their variances, and no longer than twice the label's examples. Scores of positives
        stand at odd places, the negatives between them at even ones, where they may be none.
    """

    roc_auc: Array
    average_precision: Array
    positives: Array
    pairs: Array
    tables: Sequence[ScoreTable]


def rank_labels(scores: npt.NDArray[Any], truth: npt.NDArray[np.bool_], weights: Array | None) -> Rankings:
    """Return the areas of every label of a multilabel problem.

    Parameters
    ----------
    scores : float array of shape (n, K)
    truth : bool array of shape (n, K)
    weights : float64 array of shape (n,), all above 0; or None

    Examples
    --------
    >>> truth = np.array([[True, False], [False, True]])
    >>> rank_labels(np.array([[0.9, 0.5], [0.2, 0.5]]), truth, None).roc_auc
    array([1. , 0.5])
    """
    areas, tables = [], []
    for column, positive in zip(_columns(scores), _columns(truth), strict=True):
        everyone = Ladder.of(column, weights)
        own = Ladder.of(column[positive], None if weights is None else weights[positive])
        span = everyone.span(own.values)
        areas.append((*areas_of(own, span, everyone.total), own.total, np.nan))
        tables.append(merged_of(own, span, everyone.total))
    roc_auc, precision, positives, pairs = np.array(areas).reshape(-1, 4).T
    return Rankings(roc_auc, precision, positives, pairs, tuple(tables))


def rank_classes(scores: npt.NDArray[Any], truth: npt.NDArray[Any], weights: Array | None) -> Rankings:
    """Return the areas of every class of a multiclass problem, against all others and pair by pair.

    Parameters
    ----------
    scores : float array of shape (n, K)
    truth : integer codes of shape (n,)
    weights : float64 array of shape (n,), all above 0; or None

    Examples
    --------
    >>> areas = rank_classes(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), None)
    >>> areas.roc_auc, areas.pairs
    (array([1., 1.]), array([1., 1.]))
    """
    size = scores.shape[1]
    by_class = np.argsort(truth, kind="stable")
    ends = np.cumsum(np.bincount(truth, minlength=size))
    support = sums(truth, weights, size)
    total = float(support.sum())

    def placed() -> Iterator[tuple[Placing, Array]]:
        for label, column in enumerate(_columns(scores)):
            rows = by_class[ends[label - 1] if label else 0 : ends[label]]
            own = Ladder.of(column[rows], None if weights is None else weights[rows])
            placing = Placing(own, total)
            outranked = placing.levels[placing.add(column, weights)]
            yield placing, sums(truth, outranked if weights is None else outranked * weights, size)

    return class_rankings(placed(), support)


def class_rankings(placed: Iterable[tuple[Placing, Array]], support: Array) -> Rankings:
    """Return the areas of classes whose scores went by.

    Parameters
    ----------
    placed : iterable of (Placing, float64 array of shape (K,))
        Of each class: what went by, and the weight of its examples above the rows of each class.
    support : float64 array of shape (K,)
        Weight of the examples of each class.
    """
    others = max(1, np.count_nonzero(support) - 1)
    areas, tables = [], []
    for label, (placing, against) in enumerate(placed):
        elsewhere = (support > 0) & (np.arange(len(support)) != label)
        pairs = np.divide(against, support, out=np.zeros(len(support)), where=elsewhere).sum() / others
        own = placing.own.total
        areas.append((*placing.areas(), own, pairs / own if own else np.nan))
        tables.append(placing.table())
    roc_auc, precision, positives, mean_pairs = np.array(areas).T
    return Rankings(roc_auc, precision, positives, mean_pairs, tuple(tables))


def rank_pooled(
    scores: npt.NDArray[Any], truth: npt.NDArray[Any], weights: Array | None, pool: int = POOL
) -> tuple[float, float, ScoreTable]:
    """Return ROC AUC and average precision of all (row, label) decisions together, and their table.

    The table has the scores of the positives, and the negatives between them merged.

    The weight below a positive adds up over blocks of rows, and over ranges of scores: only cells in a range
    that holds a positive are sorted, which are few where there are many labels.

    Parameters
    ----------
    scores : float array of shape (n, K)
    truth : codes of shape (n,), or bool of shape (n, K)
    weights : float64 array of shape (n,), all above 0; or None
    pool : int
        Cells in a block, about.

    Examples
    --------
    >>> rank_pooled(np.array([[0.9, 0.5], [0.2, 0.5]]), np.array([0, 1]), None)[:2]
    (0.875, 0.8333333333333333)
    """
    row, label = (np.arange(len(truth)), truth) if truth.ndim == 1 else np.nonzero(truth)
    own = Ladder.of(scores[row, label], None if weights is None else weights[row])
    ranges = _Ranges.of(scores, own.values)
    below, upto = np.zeros(len(own.values)), np.zeros(len(own.values))
    step = max(1, pool // scores.shape[1])
    for start in range(0, len(scores), step):
        block = slice(start, start + step)
        mass = None if weights is None else np.repeat(weights[block], scores.shape[1])
        here = ranges.near(scores[block].ravel(), mass).span(own.values)
        below += here[0]
        upto += here[1]
    far = ranges.below(own.values)
    total = float(scores.size if weights is None else weights.sum() * scores.shape[1])
    span = (below + far, upto + far)
    return *areas_of(own, span, total), merged_of(own, span, total)


@dataclass(frozen=True, eq=False)
class _Ranges:
    """Weight of cells in ranges of scores, and which ranges hold one of some values.

    A range is what the upper bits of a float tell, its exponent and the first of its digits: 24 of them, or
    16 where counting four million ranges would cost more than to sort all cells.
    """

    bits: int
    least: int
    held: npt.NDArray[np.bool_]
    mass: Array

    @classmethod
    def of(cls, scores: npt.NDArray[Any], values: npt.NDArray[Any]) -> _Ranges:
        bits = 24 if scores.size > POOL else 16
        least, most = (int(_upper_bits(np.array([end]), bits)[0]) for end in (scores.min(), scores.max()))
        held = np.zeros(most - least + 1, dtype=np.bool_)
        held[_upper_bits(values, bits) - least] = True
        return cls(bits, least, held, np.zeros(len(held)))

    def near(self, cells: npt.NDArray[Any], weights: Array | None) -> Ladder:
        """Count some cells; return those whose range holds a value."""
        place = _upper_bits(cells, self.bits) - self.least
        self.mass[:] += sums(place, weights, len(self.mass))
        near = self.held[place]
        return Ladder.of(cells[near], None if weights is None else weights[near])

    def below(self, values: npt.NDArray[Any]) -> Array:
        """Weight of the cells counted in the lower ranges that hold no value."""
        lower = cumulated(np.where(self.held, 0.0, self.mass))
        found: Array = lower[_upper_bits(values, self.bits) - self.least]
        return found


def _upper_bits(values: npt.NDArray[Any], number: int) -> npt.NDArray[Any]:
    """The upper bits of floats as integers in the floats' order."""
    bits = keys_of(values)
    bits >>= 8 * bits.dtype.itemsize - number
    return bits


def _columns(matrix: npt.NDArray[Any], width: int = 16, step: int = 256) -> Iterator[npt.NDArray[Any]]:
    """Yield each column of a row-major matrix, contiguous.

    Transposed in small tiles: down a column of a wide matrix every row lies on another page. 16 columns of
    256 rows are 32 kB of float64, a first-level cache.
    """
    for start in range(0, matrix.shape[1], width):
        some = np.empty((min(width, matrix.shape[1] - start), len(matrix)), dtype=matrix.dtype)
        for row in range(0, len(matrix), step):
            some[:, row : row + step] = matrix[row : row + step, start : start + width].T
        yield from some


def slots(scores: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return where scores fall among distinct ascending values: 0 below all, 1 at the first, 2 above it, …

    Examples
    --------
    >>> slots(np.array([0.1, 0.4, 0.9]), np.array([0.4, 0.8]))
    array([0, 1, 4])
    """
    slot = np.searchsorted(values, scores, "left")
    at = values[np.minimum(slot, len(values) - 1)] == scores if len(values) else False
    slot *= 2
    slot += at
    return slot


class _Grid:
    """Slots among some values, told at once for scores in ranges of equal width that hold none of them.

    Six times as fast as to search for each score: one in thirty lies in a range that holds a value. Rounding
    keeps the order, so that no score before a value comes into a range behind it.
    """

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self._values, self._ranges = values, min(RANGES * len(values), MOST_RANGES)
        with np.errstate(over="ignore", divide="ignore"):
            wide = values[-1] - values[0] if len(values) else 0
            self._scale = np.divide(self._ranges, wide, dtype=values.dtype)
        self._slot = np.empty(0, dtype=np.int32)
        if 0 < self._scale < np.inf:  # several values, and no overflow between them
            held = np.bincount(self._range(values), minlength=self._ranges + 2)
            self._slot = np.where(held > 0, -1, 2 * (held.cumsum() - held)).astype(np.int32)

    def _range(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        kind = self._values.dtype
        with np.errstate(over="ignore"):
            place = np.subtract(scores, self._values[0], dtype=kind) * self._scale
        np.clip(place, -1, self._ranges, out=place)
        return place.astype(np.int32) + np.int32(1)

    def slots(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.signedinteger]:
        """Return what the function of this name does."""
        if not len(self._slot):
            return slots(scores, self._values)
        found = self._slot[self._range(scores)]
        rest = np.flatnonzero(found < 0)
        found[rest] = slots(scores[rest], self._values)
        return found


def _levels(own: Ladder, first: npt.NDArray[np.intp]) -> Array:
    """Weight of own examples above each place: below, at, above, at … each distinct own score."""
    below, _ = own.span(own.values)
    above = np.append(own.total - below[first], 0.0)
    levels = np.empty(2 * len(first) + 1)
    levels[0::2] = above
    levels[1::2] = (above[:-1] + above[1:]) / 2
    return levels


class Placing:
    """Where scores that go by stand among the sorted scores of some positives.

    Parameters
    ----------
    own : Ladder
        Of the positives.
    total : float
        Weight of all scores that go by.

    Examples
    --------
    >>> placing = Placing(Ladder(np.array([0.4, 0.8])), 4.0)
    >>> placing.add(np.array([0.1, 0.8])), placing.add_sorted(np.array([0.4, 0.9]))
    (array([0, 3]), array([1, 4]))
    >>> placing.areas()
    (0.5, 0.5833333333333333)
    """

    def __init__(self, own: Ladder, total: float) -> None:
        self.own, self._total = own, total
        self._first = run_starts(own.values)
        self._values = own.values[self._first] if len(self._first) < len(own.values) else own.values
        counts = np.uint32 if total < 1 << 32 else np.uint64
        kind = counts if own.mass is None else np.float64
        self.counts: npt.NDArray[Any] = np.zeros(2 * len(self._values) + 1, dtype=kind)
        """Weight at each place."""
        self._grid = _Grid(self._values)

    @property
    def levels(self) -> Array:
        """Weight of the positives above each place, and half of those at it."""
        return _levels(self.own, self._first)

    def add(self, scores: npt.NDArray[Any], weights: Array | None = None) -> npt.NDArray[np.intp]:
        """Count all scores at once, and return the place of each: even between positives, odd at one."""
        here = self._grid.slots(scores)
        self.counts += np.bincount(here, weights, len(self.counts)).astype(self.counts.dtype, copy=False)
        return here

    def add_sorted(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Count some scores, ascending and of weight 1, at the few places that they reach."""
        here = slots(scores, self._values)
        starts = run_starts(here)
        self.counts[here[starts]] += np.diff(starts, append=len(here)).astype(self.counts.dtype)
        return here

    def _span(self) -> tuple[Array, Array]:
        upto = np.cumsum(self.counts, dtype=np.float64)
        times = np.diff(self._first, append=len(self.own.values))
        return np.repeat(upto[:-1:2], times), np.repeat(upto[1::2], times)

    def areas(self) -> tuple[float, float]:
        """Return ROC AUC and average precision, all scores having gone by."""
        return areas_of(self.own, self._span(), self._total)

    def table(self) -> ScoreTable:
        """Return the table of the positives and of the negatives between them, merged."""
        return merged_of(self.own, self._span(), self._total)
