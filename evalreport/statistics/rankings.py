"""Areas under many one-vs-rest curves, and their merged tables, without a full table of each label.

One sort of a column and one binary search of its positives give the position of each positive among all rows.
A problem with many classes has few positives per class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt

from evalreport.statistics.confusion import Array, Places, inner, run_starts, sums
from evalreport.statistics.score_table import ScoreTable, keys_of, scores_in
from evalreport.statistics.stored_columns import STEP, StoredColumn


@dataclass(frozen=True, eq=False)
class CumulativeWeights:
    """Sorted values with the weight below each; without weights each value has weight 1.

    Examples
    --------
    >>> CumulativeWeights.from_values(np.array([0.5, 0.2]), np.array([1.0, 3.0])).mass
    array([0., 3., 4.])
    """

    values: npt.NDArray[Any]
    mass: Array | None = None

    @classmethod
    def from_values(cls, values: npt.NDArray[Any], weights: Array | None) -> CumulativeWeights:
        """Sort values; each has a weight above 0, or 1."""
        if weights is None:
            return cls(np.sort(values), None)
        order = np.argsort(values)
        return cls(values[order], cumulate_weights(weights[order]))

    def span(self, values: npt.NDArray[Any]) -> tuple[Array, Array]:
        """Return the weight below each of some values, and the weight up to and including it."""
        ends = (np.searchsorted(self.values, values, side) for side in ("left", "right"))
        below, upto = (end.astype(np.float64) if self.mass is None else self.mass[end] for end in ends)
        return below, upto

    def middle(self, values: npt.NDArray[Any]) -> Array:
        """Return the weight below each of some values plus half of the weight tied with it."""
        below, upto = self.span(values)
        return (below + upto) / 2

    @property
    def total(self) -> float:
        """Weight of all values."""
        return float(len(self.values) if self.mass is None else self.mass[-1])

    @property
    def weights(self) -> Array:
        """Weight of each value, in order."""
        return np.ones(len(self.values)) if self.mass is None else np.diff(self.mass)


def cumulate_weights(weights: Array) -> Array:
    """Return the sum before each weight, and the sum of all.

    Examples
    --------
    >>> cumulate_weights(np.array([2.0, 1.0]))
    array([0., 2., 3.])
    """
    return np.concatenate([[0.0], np.cumsum(weights)])


def sums_before(numbers: npt.NDArray[Any]) -> StoredColumn:
    """Return the sum before each number, and the sum of all; only every `STEP`th sum is stored.

    Examples
    --------
    >>> before = sums_before(np.array([2, 1], dtype=np.uint8))
    >>> before[:], before[-1]
    (array([0., 2., 3.]), 3.0)
    """
    starts = np.arange(0, len(numbers), STEP)
    parts = np.add.reduceat(numbers, starts, dtype=np.float64) if len(starts) else np.empty(0)
    kept = np.append(0.0, np.cumsum(parts))

    def read_sums(start: int, stop: int) -> Array:
        block = start // STEP
        found = np.zeros(stop - block * STEP)
        np.cumsum(numbers[block * STEP : stop - 1], out=found[1:])
        here: Array = found[start - block * STEP :] + kept[block]
        return here

    def pick(places: Places) -> Array:
        return np.array([read_sums(place, place + 1)[0] for place in places.tolist()])

    return StoredColumn(len(numbers) + 1, read_sums, pick)


def areas_in(own: Array, span: tuple[Array, Array], positives: float, total: float) -> tuple[float, float]:
    """Return what some positives add to the sums of both areas: outranked weight and precision.

    Parameters
    ----------
    own : float64 array of shape (scores + 1,)
        Weight of positives below each of their distinct scores, and below the next.
    span : two float64 arrays of shape (scores,)
        Weight of all rows below each score, and up to it.
    """
    weights, own_below, own_upto = np.diff(own), own[:-1], own[1:]
    below, upto = span
    outranked = (below - own_below + upto - own_upto) / 2
    return inner(weights, outranked), inner(weights, (positives - own_below) / (total - below))


def areas_from(outranked: float, precision: float, positives: float, total: float) -> tuple[float, float]:
    """Return ROC AUC and average precision from their sums; NaN if a class is missing."""
    rest = total - positives
    if positives == 0:
        return float("nan"), float("nan")
    if rest <= 1e-12 * total:  # rounding of sums of weights
        return float("nan"), precision / positives
    return outranked / (positives * rest), precision / positives


def interleave_midpoints(values: Array) -> Array:
    """Return distinct scores at odd positions, and scores below, between and above them at even positions.

    Examples
    --------
    >>> interleave_midpoints(np.array([0.2, 0.4]))
    array([-0.3,  0.2,  0.3,  0.4,  0.9])
    """
    scores = np.empty(2 * len(values) + 1)
    outer = np.concatenate([values[:1] - 1, values, values[-1:] + 1]) if len(values) else np.zeros(2)
    scores[1::2], scores[0::2] = values, (outer[1:] + outer[:-1]) / 2
    return scores


class TablesMade(Sequence[ScoreTable]):
    """Tables that are built on each access, because all together would need too much memory.

    Examples
    --------
    >>> len(TablesMade([lambda: ScoreTable.from_scores(np.zeros(1), np.zeros(1, dtype=bool))])[0])
    1
    """

    def __init__(self, makers: Sequence[Callable[[], ScoreTable]]) -> None:
        self._makers = makers

    def __len__(self) -> int:
        return len(self._makers)

    @overload
    def __getitem__(self, index: int) -> ScoreTable: ...
    @overload
    def __getitem__(self, index: slice) -> TablesMade: ...
    def __getitem__(self, index: int | slice) -> ScoreTable | TablesMade:
        """Build a table, or select some tables."""
        return TablesMade(self._makers[index]) if isinstance(index, slice) else self._makers[index]()


POOL = 1 << 20
"""About how many (row, class) cells of the pooled ranking are placed at a time."""
RANGES, MOST_RANGES = 32, 1 << 19
"""Ranges per value, and most ranges, for placing scores: two megabytes, which fit the cache."""
BLOCK = 1 << 16
"""Positives whose areas are summed at a time."""


@dataclass(frozen=True, eq=False)
class Rankings:
    """Areas under the curves of each label against all others.

    Parameters
    ----------
    roc_auc : float64 array of shape (K,)
        NaN if a label has no example, or all of them.
    average_precision : float64 array of shape (K,)
        NaN if a label has no example.
    positives : float64 array of shape (K,)
        Weight of the examples with the label.
    pairs : float64 array of shape (K,)
        Multiclass: mean AUC of the label's examples against each other class, by the label's own score
        (Hand & Till 2001); NaN if a label has no example. Multilabel: NaN.
    tables : sequence of K ScoreTable
        Each label against all others, with merged negatives between neighbouring positives. This is enough
        for both areas and their variances, with at most twice as many scores as the label has examples, plus
        one. Scores of positives are at odd positions, negatives between them (or none) at even positions.
    """

    roc_auc: Array
    average_precision: Array
    positives: Array
    pairs: Array
    tables: Sequence[ScoreTable]


def rank_labels(placed: Iterable[Placing], merged: Sequence[ScoreTable] | None = None) -> Rankings:
    """Return the areas of every label of a multilabel problem.

    Parameters
    ----------
    placed : iterable of Placing
        One for each label, after all scores were added.
    merged : sequence of ScoreTable, optional
        The tables of the rankings; by default they are built now and kept.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.4, 0.8]), np.array([False, True, False]))
    >>> found = rank_labels([Placing.of_table(table)])
    >>> found.roc_auc, len(found.tables)
    (array([0.5]), 1)
    """
    areas, kept = [], []
    for placing in placed:
        areas.append((*placing.areas(), placing.positives))
        if merged is None:
            kept.append(placing.table())
    roc_auc, precision, positives = np.array(areas).reshape(-1, 3).T
    pairs = np.full(len(areas), np.nan)
    return Rankings(roc_auc, precision, positives, pairs, tuple(kept) if merged is None else merged)


def rank_classes(scores: npt.NDArray[Any], truth: npt.NDArray[Any], weights: Array | None) -> Rankings:
    """Return the areas of every class of a multiclass problem, against all others and by pairs.

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

    def place_classes() -> Iterator[tuple[Placing, Array]]:
        for label, column in enumerate(_columns(scores)):
            rows = by_class[ends[label - 1] if label else 0 : ends[label]]
            own = CumulativeWeights.from_values(column[rows], None if weights is None else weights[rows])
            placing = Placing(own, total)
            levels = placing.weight_above(np.arange(2 * len(placing.values) + 1))
            outranked = levels.take(placing.add(column, weights), mode="clip")  # clip is faster
            yield placing, sums(truth, outranked if weights is None else outranked * weights, size)

    return class_rankings(place_classes(), support)


def class_rankings(
    placed: Iterable[tuple[Placing, Array]], support: Array, tables: Sequence[ScoreTable] | None = None
) -> Rankings:
    """Return the areas of classes after all scores were added.

    Parameters
    ----------
    placed : iterable of (Placing, float64 array of shape (K,))
        For each class: its placing, and the weight of its examples above the rows of each class.
    support : float64 array of shape (K,)
        Weight of the examples of each class.
    tables : sequence of ScoreTable, optional
        The tables of the rankings; by default they are built now and kept.
    """
    others = max(1, np.count_nonzero(support) - 1)
    areas, kept = [], []
    for label, (placing, against) in enumerate(placed):
        other_classes = (support > 0) & (np.arange(len(support)) != label)
        pairs = np.divide(against, support, out=np.zeros(len(support)), where=other_classes).sum() / others
        own = placing.positives
        areas.append((*placing.areas(), own, pairs / own if own else np.nan))
        if tables is None:
            kept.append(placing.table())
    roc_auc, precision, positives, mean_pairs = np.array(areas).T
    return Rankings(roc_auc, precision, positives, mean_pairs, tuple(kept) if tables is None else tables)


def rank_pooled(
    scores: npt.NDArray[Any], truth: npt.NDArray[Any], weights: Array | None, pool: int = POOL
) -> tuple[float, float, ScoreTable]:
    """Return ROC AUC and average precision of all (row, class) decisions pooled, and their table.

    The table has the scores of the positives, and merged negatives between them.

    Parameters
    ----------
    scores : float array of shape (n, K)
    truth : codes of shape (n,)
    weights : float64 array of shape (n,), all above 0; or None
    pool : int
        About how many cells a block has.

    Examples
    --------
    >>> rank_pooled(np.array([[0.9, 0.5], [0.2, 0.5]]), np.array([0, 1]), None)[:2]
    (0.875, 0.8333333333333333)
    """
    size = scores.shape[1]
    total = float(scores.size if weights is None else weights.sum() * size)
    placing = Placing(CumulativeWeights.from_values(scores[np.arange(len(truth)), truth], weights), total)
    step = max(1, pool // size)
    for start in range(0, len(scores), step):
        block = slice(start, start + step)
        placing.add(scores[block].ravel(), None if weights is None else np.repeat(weights[block], size))
    return *placing.areas(), placing.table()


def _columns(matrix: npt.NDArray[Any], step: int = 512) -> Iterator[npt.NDArray[Any]]:
    """Yield each column of a row-major matrix, contiguous.

    Tiles of 128 kB fit a second-level cache; reading down a column would touch a memory page per row.
    """
    width = 256 // matrix.itemsize
    for start in range(0, matrix.shape[1], width):
        some = np.empty((min(width, matrix.shape[1] - start), len(matrix)), dtype=matrix.dtype)
        for row in range(0, len(matrix), step):
            some[:, row : row + step] = matrix[row : row + step, start : start + width].T
        yield from some


def slots(scores: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the slot of scores among distinct ascending values: 0 below all, 1 at the first, 2 above it, …

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


class _SlotRanges:
    """Slots among some values, by table lookup for scores in ranges that contain none of the values.

    Five times as fast as a search for each score: of a hundred scores, three are in a range that contains a
    value. A range is given by the upper bits of the floats, so ranges are even in the logarithm, as the
    probabilities of many classes are.

    Examples
    --------
    >>> _SlotRanges(np.array([-1e300])).slots(np.array([-np.inf, -1e300, 1e300]))
    array([0, 1, 2])
    """

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self._values, keys = values, keys_of(values)
        wide = int(keys[-1]) - int(keys[0]) if len(keys) else 0
        ranges = min(RANGES * len(values), MOST_RANGES)
        self._shift = max(2, wide.bit_length() - ranges.bit_length() + 1)  # so that differences fit a word
        self._least, self._most = (int(keys[end]) >> self._shift if len(keys) else 0 for end in (0, -1))
        held = np.bincount(self._range(values), minlength=self._most - self._least + 3)
        kind = np.intp if len(held) <= 1 << 15 else np.int32  # NumPy indexes with intp without a copy
        self._slot = np.where(held > 0, -1, 2 * (held.cumsum() - held)).astype(kind)

    def _range(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Range number: 1 for the lowest value, 0 or less below all values."""
        keys = keys_of(scores.astype(self._values.dtype, copy=False))
        return np.right_shift(keys, self._shift, dtype=np.intp) - (self._least - 1)

    def slots(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Return the same as the function `slots`."""
        found: npt.NDArray[Any] = self._slot.take(self._range(scores), mode="clip")
        rest = np.flatnonzero(found < 0)
        found[rest] = slots(scores[rest], self._values)
        return found


class Placing:
    """Positions of added scores among the sorted scores of some positives.

    Parameters
    ----------
    own : CumulativeWeights
        Scores of the positives.
    total : float
        Weight of all scores to be added.

    Examples
    --------
    >>> placing = Placing(CumulativeWeights(np.array([0.4, 0.8])), 4.0)
    >>> placing.add(np.array([0.1, 0.8])).tolist(), placing.add_sorted(np.array([0.4, 0.9])).tolist()
    ([0, 3], [1, 4])
    >>> placing.areas()
    (0.5, 0.5833333333333333)
    """

    def __init__(self, own: CumulativeWeights, total: float) -> None:
        first = run_starts(own.values)
        ends, counts = np.append(first, len(own.values)), np.uint32 if total < 1 << 32 else np.uint64
        self.values = own.values if len(first) == len(own.values) else own.values[first]
        """Distinct scores of the positives, ascending."""
        self._reach: npt.NDArray[Any] = ends.astype(counts) if own.mass is None else own.mass[ends]
        kind = counts if own.mass is None else np.float64
        self.counts: npt.NDArray[Any] = np.zeros(2 * len(first) + 1, dtype=kind)
        """Weight at each position."""
        self._total = total

    @classmethod
    def of_table(cls, table: ScoreTable) -> Placing:
        """Return the placing of all scores of a table among those of its positives.

        Examples
        --------
        >>> table = ScoreTable.from_scores(np.array([0.1, 0.4, 0.8]), np.array([False, True, False]))
        >>> Placing.of_table(table).areas(), Placing.of_table(table).table().neg
        ((0.5, 0.5), array([1., 0., 1.]))
        """
        parts, below = [np.empty((4, 0))], 0.0
        for b in table.blocks():
            pos, neg = table.pos[b], table.neg[b]
            upto = below + np.cumsum(pos + neg)
            here = np.flatnonzero(pos)
            parts.append(np.stack([table.scores[b], pos, upto - pos - neg, upto])[:, here])
            below = float(upto[-1])
        values, weights, *span = np.concatenate(parts, axis=1)
        placing = cls(CumulativeWeights(values, cumulate_weights(weights)), table.total)
        placing.counts[:] = np.diff(np.stack(span, axis=1).ravel(), prepend=0.0, append=table.total)
        return placing

    @classmethod
    def of_words(cls, words: npt.NDArray[Any]) -> Placing:
        """Return the placing of the scores in sorted words, as from `pack`.

        Examples
        --------
        >>> from evalreport.statistics.score_table import pack
        >>> words = np.sort(pack(np.array([0.1, 0.4, 0.8, 0.4]), np.array([False, True, False, False])))
        >>> Placing.of_words(words).areas(), Placing.of_words(words).counts
        ((0.5, 0.3333333333333333), array([1, 2, 1], dtype=uint32))
        """
        one = words.dtype.type(1)
        place = np.flatnonzero((words & one) != 0)  # booleans take half the time of words
        positives = words[place]
        placing = cls(CumulativeWeights(scores_in(positives)), float(len(words)))
        first = run_starts(positives)
        below, upto = place[first], np.append(place[first[1:] - 1], place[-1:]) + 1
        negative = words[below] ^ one  # of equal scores negatives come first
        tied = words[below - 1] == negative
        below[tied] = np.searchsorted(words, negative[tied])
        span = np.stack([below, upto], axis=1).ravel()
        placing.counts[:] = np.diff(span, prepend=0, append=len(words))
        return placing

    @classmethod
    def of_counts(
        cls, values: npt.NDArray[Any], weights: npt.NDArray[Any], counts: npt.NDArray[Any], total: float
    ) -> Placing:
        """Return the placing from counts of scores that were added before.

        Parameters
        ----------
        values : distinct scores of the positives, ascending
        weights : number of positives with each score
        counts : integers of shape (2 * scores + 1,)
        total : float

        Examples
        --------
        >>> Placing.of_counts(np.array([0.4]), np.array([1]), np.array([1, 1, 1]), 3.0).areas()
        (0.5, 0.5)
        """
        return cls.of_reach(values, cast(Array, sums_before(weights)), counts, total)

    @classmethod
    def of_reach(
        cls, values: npt.NDArray[Any], reach: npt.NDArray[Any], counts: npt.NDArray[Any], total: float
    ) -> Placing:
        """Return a placing of the caller's arrays; `reach` is the weight of positives before each score.

        Examples
        --------
        >>> places = Placing.of_reach(np.array([0.4, 0.8]), np.array([0, 1, 2]), np.zeros(5, np.uint32), 4.0)
        >>> places.add_sorted(np.array([0.1, 0.4, 0.8, 0.9])).tolist(), places.areas()[0]
        ([0, 1, 3, 4], 0.5)
        """
        placing = cls(CumulativeWeights(values[:0]), total)
        placing.values, placing.counts, placing._reach = values, counts, reach
        return placing

    @cached_property
    def _ranges(self) -> _SlotRanges:
        return _SlotRanges(self.values)

    @property
    def positives(self) -> float:
        """Weight of the positives."""
        return float(self._reach[-1])

    @property
    def weights(self) -> Array:
        """Weight of each distinct score of the positives."""
        return np.diff(self._reach).astype(np.float64)

    def weight_above(self, place: npt.NDArray[Any]) -> Array:
        """Return the weight of the positives above each position, plus half of those at it."""
        low, high = (self.positives - self._reach[part] for part in (place >> 1, (place + 1) >> 1))
        found: Array = (low + high) / 2
        return found

    def add(self, scores: npt.NDArray[Any], weights: Array | None = None) -> npt.NDArray[np.intp]:
        """Add scores and return the position of each: even between positives, odd at one."""
        here = self._ranges.slots(scores)
        self.counts += np.bincount(here, weights, len(self.counts)).astype(self.counts.dtype, copy=False)
        return here

    def add_sorted(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Add a few ascending scores of weight 1, and return their positions."""
        here = slots(scores, self.values)
        starts = run_starts(here)
        self.counts[here[starts]] += np.diff(starts, append=len(here)).astype(self.counts.dtype)
        return here

    def areas(self) -> tuple[float, float]:
        """Return ROC AUC and average precision, after all scores were added."""
        upto, outranked, precision = 0.0, 0.0, 0.0
        for start in range(0, len(self.values), BLOCK):
            stop = min(start + BLOCK, len(self.values))
            own = np.asarray(self._reach[start : stop + 1], dtype=np.float64)
            mass = upto + np.cumsum(self.counts[2 * start : 2 * stop], dtype=np.float64)
            here = (mass[0::2], mass[1::2])
            more = areas_in(own, here, self.positives, self._total)
            outranked, precision, upto = outranked + more[0], precision + more[1], float(mass[-1])
        return areas_from(outranked, precision, self.positives, self._total)

    def runs(self) -> Iterator[tuple[Array, Array, Array]]:
        """Yield distinct scores with their positives and negatives, merged between positives."""
        size = len(self.values)
        for start in range(0, max(size, 1), BLOCK):
            stop, before = min(start + BLOCK, size), max(start - 1, 0)
            first, last = 2 * start, 2 * stop + (stop == size)
            scores = interleave_midpoints(self.values[before:stop].astype(np.float64))
            pos = np.zeros(last - first)
            pos[1::2] = np.diff(self._reach[start : stop + 1])
            negatives = np.maximum(self.counts[first:last] - pos, 0.0)
            yield scores[first - 2 * before : last - 2 * before], pos, negatives

    def table(self) -> ScoreTable:
        """Return the table of the positives, with merged negatives between them."""
        columns, start = np.empty((3, 2 * len(self.values) + 1)), 0
        for piece in self.runs():
            columns[:, start : start + len(piece[0])] = piece
            start += len(piece[0])
        return ScoreTable(*columns)
