"""Scores of several classes that are ranked in many places, range by range: no place holds those of all rows.

Each cell of the matrix of rows and classes goes to the place of the range that its score falls into, with the
class of its row. There it is placed among the scores that examples have of their own class within the range;
what stands in the ranges above is added where all come together.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import UsageError
from evalreport.features.large.second_pass import KeptRows, PlacedScores
from evalreport.statistics.confusion import Array, Places, run_starts, sums
from evalreport.statistics.rankings import CumulativeWeights, Placing

HEAVY = 64
"""Rows of one score in one place from which equal cells of a class are sent once, with their number: many
scores of a forest of trees are 0, which would all go to one range as they are."""

Column = npt.NDArray[Any]


class ClassCells:
    """Scores of several classes of one place on their way out; where all come together, their places.

    Examples
    --------
    >>> cells = ClassCells(2, (0.5,))
    >>> cells.add(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]))
    >>> [bucket for bucket, _ in cells.pop_packed()], len(cells)
    ([0, 1], 0)
    """

    def __init__(self, size: int, edges: tuple[float, ...]) -> None:
        self._size, self._edges = size, np.array(edges)
        self._parts: list[tuple[npt.NDArray[Any], npt.NDArray[np.uint16]]] = []
        self._whole: PlacedCells | None = None

    def __len__(self) -> int:
        return sum(scores.size for scores, _ in self._parts)

    def add(self, scores: npt.NDArray[Any], truth: npt.NDArray[Any]) -> None:
        """Take rows: scores of shape (n, K) and codes of shape (n,)."""
        self._parts.append((scores, truth.astype(np.uint16)))

    def pop_packed(self) -> Iterator[tuple[int, bytes]]:
        """Give away what is held, a part for each range."""
        parts, self._parts = self._parts, []
        if not parts:
            return
        scores, truth = map(np.concatenate, zip(*parts, strict=True))
        columns = [_cells(column, truth, self._size) for column in np.ascontiguousarray(scores.T)]
        cuts = np.stack([np.searchsorted(column[0], self._edges) for column in columns])
        cuts = np.pad(cuts, ((0, 0), (1, 1)))
        cuts[:, -1] = [len(column[0]) for column in columns]
        for bucket, lengths in enumerate(np.diff(cuts).T):
            if lengths.any():
                here = [slice(*ends) for ends in cuts[:, bucket : bucket + 2].tolist()]
                some = (
                    [part[at] for part, at in zip(each, here, strict=True)]
                    for each in zip(*columns, strict=True)
                )
                yield bucket, pack_arrays(lengths, *map(np.concatenate, some))

    def take(self, ranges: Callable[[], Iterable[bytes]]) -> None:
        """Take what gives the results of `placed_range` for all ranges, the highest scores first."""
        self._whole = PlacedCells.from_ranges(ranges, self._size)

    def build_places(self, wanted: npt.NDArray[Any]) -> RangePlaces:
        """Return the places of all cells, for rows to go by again of which some are kept whole."""
        return RangePlaces(self._whole, wanted)


def _cells(column: npt.NDArray[Any], truth: npt.NDArray[Any], size: int) -> tuple[Column, Column, Column]:
    """The scores of a class, ascending, with the classes of their rows, and how many rows are alike."""
    order = np.argsort(column)
    scores, truth = column[order], truth[order]
    starts = run_starts(scores)
    alike = np.diff(starts, append=len(scores))
    if alike.max(initial=0) < HEAVY:
        return scores, truth, np.ones(len(scores), dtype=np.uint8)
    code, times = np.unique(np.repeat(np.arange(len(starts)) * size, alike) + truth, return_counts=True)
    return scores[starts][code // size], (code % size).astype(np.uint16), _narrow(times)


def placed_range(parts: Iterable[bytes], size: int) -> bytes:
    """Return how the cells of one range stand, from what all places sent of it.

    Examples
    --------
    >>> cells = ClassCells(2, ())
    >>> cells.add(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]))
    >>> _, values, *_ = unpack_arrays(placed_range((part for _, part in cells.pop_packed()), 2))
    >>> values
    array([0.9, 0.8, 0.8, 0.9])
    """
    lengths, *columns = zip(*map(unpack_arrays, parts), strict=True)
    label = np.concatenate([np.repeat(np.arange(size, dtype=np.uint16), part) for part in lengths])
    order = np.argsort(label, kind="stable")
    scores, truth, times = (np.concatenate(column)[order] for column in columns)
    label, times = label[order], times.astype(np.float64)
    ends = np.cumsum(np.bincount(label, minlength=size))
    against, cells, found = np.zeros((size, size)), np.zeros((size, size)), list[Placing]()
    for one, stop in enumerate(ends.tolist()):
        rows = slice(int(ends[one - 1]) if one else 0, stop)
        placing, here = _build_placing(scores[rows], times[rows], truth[rows] == one)
        against[one] = sums(truth[rows], placing.weight_above(here) * times[rows], size)
        cells[one] = sums(truth[rows], times[rows], size)
        found.append(placing)
    found.append(_build_placing(scores, times, truth == label)[0])
    values = np.concatenate([placing.values for placing in found])
    weights, counts = (
        _narrow(np.concatenate(parts))
        for parts in zip(*((placing.weights, placing.counts) for placing in found), strict=True)
    )
    lengths = np.array([len(placing.values) for placing in found])
    return pack_arrays(lengths, values, weights, counts, _narrow(2 * against), _narrow(cells))


def _build_placing(
    scores: npt.NDArray[Any], times: Array, own: npt.NDArray[np.bool_]
) -> tuple[Placing, npt.NDArray[np.intp]]:
    placing = Placing(CumulativeWeights.from_values(scores[own], times[own]), 0.0)
    return placing, placing.add(scores, times)


@dataclass(frozen=True, eq=False)
class PlacedCells:
    """Where the cells of all ranges stand.

    Parameters
    ----------
    each : sequence of Placing
        Of each class.
    pool : Placing
        Of all classes together.
    against : float64 array of shape (K, K)
        Weight of the examples of each class above the rows of each class, by the score of the first.
    """

    each: Sequence[Placing]
    pool: Placing
    against: Array

    @classmethod
    def from_ranges(cls, ranges: Callable[[], Iterable[bytes]], size: int) -> PlacedCells | None:
        """Put ranges together, the highest scores first, which are gone through twice; None without any."""
        heads = _Heads(size)
        for data in ranges():
            heads.add(*unpack_arrays(data)[:4])
        if not heads.kinds:
            return None
        joined = heads.build_joined()
        above, against = np.zeros(size + 1), np.zeros((size, size))
        for data in ranges():
            length, values, weights, counts, twice, cells = unpack_arrays(data)
            against += twice / 2 + cells * above[:-1, None]
            above += sums(np.repeat(np.arange(size + 1), length), weights, size + 1)
            ends = np.cumsum(length)
            both = np.split(values, ends), np.split(weights, ends)
            split = zip(*both, np.split(counts, 2 * ends + np.arange(1, size + 2)), strict=True)
            for one, column in zip(joined, split, strict=False):
                one.add(*column)
        *each, pool = (one.placing() for one in joined)
        return cls(each, pool, against)


class _Heads:
    """What is to be known of all ranges first, class by class and of all: how long and wide columns are."""

    def __init__(self, size: int) -> None:
        self.kinds = list[tuple[np.dtype[Any], np.dtype[Any]]]()
        """Types of scores and weights."""
        self._lengths, self._rows = np.zeros(size + 1, dtype=np.int64), 0
        self._most, self._open = np.zeros(size + 1), np.zeros(size + 1)

    def add(self, lengths: Places, values: Column, weights: Column, counts: Column) -> None:
        """Take the next range, below all others: what lies between two of them is counted in both."""
        self.kinds.append((values.dtype, weights.dtype))
        self._rows += int(weights[len(weights) - lengths[-1] :].sum())
        self._lengths += lengths
        ends = np.cumsum(2 * lengths + 1)
        firsts, lasts = counts[ends - 2 * lengths - 1], self._open + counts[ends - 1]
        inside = np.maximum.reduceat(counts, ends - 2 * lengths - 1)
        self._most = np.maximum.reduce([self._most, lasts, inside])
        self._open = np.where(lengths > 0, firsts, lasts)

    def build_joined(self) -> list[_Joined]:
        """Return what each class's are put together in, and all's."""
        types = [np.result_type(*each) for each in zip(*self.kinds, strict=True)]
        size, total = len(self._most) - 1, float(self._rows)
        return [
            _Joined(length, total * (size if label == size else 1), *types, np.min_scalar_type(int(most)))
            for label, (length, most) in enumerate(zip(self._lengths.tolist(), self._most, strict=True))
        ]


class _Joined:
    """Where all scores stand, filled from where those of each range do, the highest first."""

    def __init__(self, size: int, total: float, *kinds: np.dtype[Any]) -> None:
        kind, weight, counts = kinds
        self._values, self._weights = np.empty(size, dtype=kind), np.empty(size, dtype=weight)
        self._counts, self._start = np.zeros(2 * size + 1, dtype=counts), size
        self._total = total

    def add(self, values: npt.NDArray[Any], weights: npt.NDArray[Any], counts: npt.NDArray[Any]) -> None:
        """Take the next range: what is below its first and above the last of the one after, lies between."""
        stop, self._start = self._start, self._start - len(values)
        self._values[self._start : stop], self._weights[self._start : stop] = values, weights
        here = self._counts[2 * self._start : 2 * stop + 1]
        np.add(here, counts.astype(here.dtype, copy=False), out=here)

    def placing(self) -> Placing:
        """Return it once all are taken."""
        return Placing.of_counts(self._values, self._weights, self._counts, self._total)


class RangePlaces:
    """Rows that go by for the second time, whose cells were placed range by range before.

    Parameters
    ----------
    placed : PlacedCells, optional
        What is known where all places come together.
    wanted : int array, ascending
        Rows that are kept whole.

    Examples
    --------
    >>> cells, rows = ClassCells(2, (0.5,)), (np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]))
    >>> cells.add(*rows)
    >>> ranges = [placed_range([part], 2) for _, part in cells.pop_packed()]
    >>> cells.take(lambda: ranges[::-1])
    >>> places = cells.build_places(np.array([1]))
    >>> places.add(*rows)
    >>> places.scores().rankings.roc_auc, places.kept.rows.truth
    (array([1., 1.]), array([1]))
    """

    def __init__(self, placed: PlacedCells | None, wanted: npt.NDArray[Any]) -> None:
        self._placed, self.kept = placed, KeptRows(wanted)

    def add(self, scores: npt.NDArray[Any], truth: npt.NDArray[Any]) -> None:
        """Take rows, in the order of before: scores of shape (n, K) and codes of shape (n,)."""
        self.kept.add(scores, truth)

    def scores(self) -> PlacedScores:
        """Return where all cells stand, with the rows that were kept.

        Raises
        ------
        DataError
            Not the rows of before went by.
        """
        if self._placed is None:
            raise UsageError("no cells were placed", fix="add batches, then place them")
        self.kept.check_all(int(self._placed.pool.positives))
        return PlacedScores(self._placed.each, self._placed.pool, self._placed.against, self.kept)


def _narrow(counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def pack_arrays(*arrays: npt.NDArray[Any]) -> bytes:
    """Return arrays as bytes.

    Examples
    --------
    >>> unpack_arrays(pack_arrays(np.zeros(1), np.ones(2, dtype=np.uint8)))
    [array([0.]), array([1, 1], dtype=uint8)]
    """
    held = io.BytesIO()
    for array in arrays:
        np.save(held, array, allow_pickle=False)
    return held.getvalue()


def unpack_arrays(data: bytes) -> list[npt.NDArray[Any]]:
    """Return the arrays that `pack_arrays` was given."""
    held, found = io.BytesIO(data), list[npt.NDArray[Any]]()
    while held.tell() < len(data):
        found.append(np.load(held, allow_pickle=False))
    return found
