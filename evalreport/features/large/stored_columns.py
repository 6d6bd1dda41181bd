"""Columns of a score table that are not held as numbers of eight bytes: read where they are looked at.

A distinct score of a float32 takes six bytes, in memory or in a file without a name: four for the score, one
for each count. Counts above it are found from a sum that is kept for every 64 scores.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeGuard, overload

import numpy as np
import numpy.typing as npt

from evalreport.features.large.spill import Segments, Spill
from evalreport.statistics.confusion import Array, Places, reached, run_starts

PIECE = 1 << 16
"""Numbers that a slice gives as an array; a longer one stays a column."""
STEP = 64
"""Scores between two sums that are kept."""
MOST = 255
"""What fits into the byte of a count; greater ones stand beside it."""
PAGE = 1 << 10
"""Numbers of a file that are read at once where several of them are wanted: as long as to ask for one."""
CROWDED = 4
"""Places a page from which on pages are read; below it the places themselves, one by one."""


class StoredColumn:
    """A one-dimensional array of float64 that is made piece by piece.

    Parameters
    ----------
    size : int
    read : callable
        From start and stop to the numbers between.
    pick : callable
        From places to the numbers there.
    total : float, optional
        Their sum, where it is known.

    Examples
    --------
    >>> column = StoredColumn(4, lambda a, b: np.arange(a, b) / 2, lambda places: places / 2)
    >>> float(column[::-1][1]), column[1:3], int(np.searchsorted(column, 0.6))
    (1.0, array([0.5, 1. ]), 2)
    """

    def __init__(
        self,
        size: int,
        read: Callable[[int, int], Array],
        pick: Callable[[Places], Array],
        ends: tuple[int, int] | None = None,
        *,
        backward: bool = False,
        total: float | None = None,
    ) -> None:
        self._size, self._read, self._pick = size, read, pick
        self._ends = (0, size) if ends is None else ends
        self._backward, self._total = backward, total

    def __len__(self) -> int:
        return self._ends[1] - self._ends[0]

    def __iter__(self) -> Iterator[float]:
        for start in range(0, len(self), PIECE):
            yield from self[start : start + PIECE].tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        found = self._read(*self._ends)
        return (found[::-1] if self._backward else found).astype(dtype or np.float64)

    def __reduce__(self) -> tuple[Callable[[Array], Array], tuple[Array]]:
        """Return what travels: the numbers."""
        return np.asarray, (np.asarray(self),)

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice | Places) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        """Return a number; numbers at places; a short slice as an array; a long one as a column."""
        if isinstance(index, slice):
            return self._slice(index)
        places = np.asarray(index)
        if places.dtype == bool:
            places = np.flatnonzero(places)
        places = np.where(places < 0, places + len(self), places)
        places = self._ends[1] - 1 - places if self._backward else places + self._ends[0]
        found = self._pick(np.atleast_1d(places).astype(np.intp))
        return found if places.ndim else float(found[0])

    def _slice(self, index: slice) -> Any:
        start, stop, step = index.indices(len(self))
        if step not in (1, -1):
            return np.asarray(self)[index]
        turned = step < 0
        low, high = (stop + 1, start + 1) if turned else (start, max(stop, start))
        if self._backward:
            low, high = len(self) - high, len(self) - low
        ends, backward = (self._ends[0] + low, self._ends[0] + high), self._backward != turned
        if high - low > PIECE:
            return StoredColumn(self._size, self._read, self._pick, ends, backward=backward)
        found = self._read(*ends)
        return found[::-1] if backward else found

    def extended(self, last: float) -> StoredColumn:
        """Return a whole column with one more number behind it."""
        size = self._size

        def read(start: int, stop: int) -> Array:
            found = self._read(start, min(stop, size))
            return np.append(found, last) if stop > size else found

        def pick(places: Places) -> Array:
            return np.where(places < size, self._pick(np.minimum(places, size - 1)), last)

        return StoredColumn(size + 1, read, pick)

    def steps(self) -> StoredColumn:
        """Return what a whole descending column loses from each place to the next, the last number kept."""
        size = self._size

        def read(start: int, stop: int) -> Array:
            found = self._slice(slice(start, min(stop + 1, size)))
            found = np.asarray(found)
            return -np.diff(np.append(found, 0.0) if stop == size else found)

        def pick(places: Places) -> Array:
            after: Array = self[np.minimum(places + 1, size - 1)]
            here: Array = self[places]
            return here - np.where(places + 1 < size, after, 0.0)

        return StoredColumn(size, read, pick)

    def mapped(self, function: Callable[[Array], Array]) -> StoredColumn:
        """Return a column of a function of each number."""

        def read(start: int, stop: int) -> Array:
            return function(self._read(start, stop))

        def pick(places: Places) -> Array:
            return function(self._pick(places))

        return StoredColumn(self._size, read, pick, self._ends, backward=self._backward)

    def searchsorted(self, wanted: Any, side: Any = "left", sorter: None = None) -> Any:  # noqa: ARG002
        """Return `np.searchsorted` of an ascending column."""
        found = reached(self.__getitem__, len(self), np.atleast_1d(np.asarray(wanted, dtype=float)), side)
        return found if np.ndim(wanted) else found[0]

    def sum(self) -> float:
        """Return the sum, exact for counts."""
        if self._total is not None:
            return self._total
        return sum(float(self[start : start + PIECE].sum()) for start in range(0, len(self), PIECE))


def is_stored(column: object) -> TypeGuard[StoredColumn]:
    """Return whether a column is read where it is looked at.

    Examples
    --------
    >>> is_stored(np.zeros(2))
    False
    """
    return isinstance(column, StoredColumn)


def as_stored(column: Array) -> StoredColumn:
    """Return a column as one that is read where it is looked at.

    Examples
    --------
    >>> as_stored(np.array([3.0, 1.0])).steps()[:]
    array([2., 1.])
    """
    if is_stored(column):
        return column
    return StoredColumn(len(column), lambda start, stop: column[start:stop], column.__getitem__)


def run_sums(column: Array, starts: Places) -> Array:
    """Return the sums from each start up to the next, as `np.add.reduceat` does of ascending starts.

    Examples
    --------
    >>> run_sums(np.array([1.0, 2, 3]), np.array([0, 2]))
    array([3., 3.])
    """
    if not is_stored(column):
        sums: Array = np.add.reduceat(column, starts)
        return sums
    stops = np.append(starts[1:], len(column))
    found, first = np.zeros(len(starts)), 0
    while first < len(starts):
        last = max(first + 1, int(np.searchsorted(stops, starts[first] + PIECE, side="right")))
        part = column[int(starts[first]) : int(stops[last - 1])]
        if last == first + 1:
            found[first] = part.sum()
        else:
            found[first:last] = np.add.reduceat(part, starts[first:last] - starts[first])
        first = last
    return found


class _Tape:
    """Numbers of one type, written once from the beginning to the end: in memory, or in a nameless file."""

    def __init__(self, kind: npt.DTypeLike, spill: Spill | None) -> None:
        self.kind = np.dtype(kind)
        self._parts: list[npt.NDArray[Any]] = []
        self._size = 0
        self._file: Segments | None = None
        if spill is not None:
            self._file = Segments(spill.file(), self.kind)
            weakref.finalize(self, self._file.leave)  # it lives as long as the table

    def __len__(self) -> int:
        return self._size

    def append(self, values: npt.NDArray[Any]) -> None:
        values = values.astype(self.kind)
        self._size += len(values)
        if self._file is None:
            self._parts.append(values)
        else:
            self._file.append(values)

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        if self._file is not None:
            return self._file.read(start, stop)
        return self._whole()[start:stop]

    def _whole(self) -> npt.NDArray[Any]:
        if len(self._parts) != 1:
            self._parts = [np.concatenate([np.empty(0, dtype=self.kind), *self._parts])]
        return self._parts[0]

    def rows(self, places: Places, wide: int) -> npt.NDArray[Any]:
        """Return `wide` numbers from each place on, shape (places, wide); zeros beyond the end."""
        found = np.zeros((len(places), wide), dtype=self.kind)
        if self._file is None:
            at = places[:, None] + np.arange(wide)
            inside = at < len(self)
            found[inside] = self._whole()[at[inside]]
            return found
        order = np.argsort(places, kind="stable")
        firsts = run_starts(places[order] // PAGE)
        if len(firsts) > len(places) / CROWDED:
            firsts = np.arange(len(places))
        for near in np.split(order, firsts[1:]) if len(order) else ():
            start = int(places[near[0]])
            values = self.read(start, min(int(places[near[-1]]) + wide, len(self)))
            if len(near) == 1:
                found[near[0], : len(values)] = values
            else:
                values = np.append(values, np.zeros(wide, dtype=self.kind))
                found[near] = values[(places[near] - start)[:, None] + np.arange(wide)]
        return found


class _CountTape:
    """Counts of one byte each, the few greater ones beside them, and their running sum every 64."""

    def __init__(self, spill: Spill | None) -> None:
        self._tape = _Tape(np.uint8, spill)
        self._great: list[tuple[int, float]] = []
        self._sums: list[Array] = [np.zeros(1)]
        self._open = 0.0

    def append(self, counts: Array) -> None:
        if not len(counts):
            return
        starts = np.arange(-(len(self._tape) % STEP), len(counts), STEP)
        great = np.flatnonzero(counts >= MOST)
        self._great += zip((great + len(self._tape)).tolist(), counts[great].tolist(), strict=True)
        self._tape.append(np.minimum(counts, MOST) if len(great) else counts)
        sums = np.add.reduceat(counts, np.maximum(starts, 0), dtype=np.float64)
        sums[0] += self._open
        whole = (len(counts) - starts[0]) // STEP
        self._sums.append(sums[:whole])
        self._open = sums[whole:].sum()

    def close(self) -> None:
        """Settle what reading needs."""
        self._before: Array = np.concatenate(self._sums).cumsum()
        self.total = float(self._before[-1] + self._open)
        self._places = np.array([place for place, _ in self._great], dtype=np.intp)
        self._values = np.array([value for _, value in self._great], dtype=np.float64)

    def read(self, start: int, stop: int) -> Array:
        found = self._tape.read(start, stop).astype(np.float64)
        low, high = np.searchsorted(self._places, [start, stop])
        found[self._places[low:high] - start] = self._values[low:high]
        return found

    def pick(self, places: Places) -> Array:
        return self._exact(self._tape.rows(places, 1), places)[:, 0]

    def below(self, places: Places) -> Array:
        """Return the sum of all counts before each place."""
        block = places // STEP
        rows = self._exact(self._tape.rows(block * STEP, STEP), block * STEP)
        inside: Array = np.where(np.arange(STEP) < (places - block * STEP)[:, None], rows, 0.0).sum(axis=1)
        return self._before[np.minimum(block, len(self._before) - 1)] + inside

    def upto(self, place: int) -> float:
        """Return the sum of all counts before one place, which is asked for at every piece that is read."""
        block = min(place // STEP, len(self._before) - 1)
        return float(self._before[block] + self.read(block * STEP, place).sum())

    def _exact(self, found: npt.NDArray[Any], places: Places) -> Array:
        exact = found.astype(np.float64)
        row, column = np.nonzero(found == MOST)
        exact[row, column] = self._values[np.searchsorted(self._places, places[row] + column)]
        return exact


class Kept(Protocol):
    """Numbers that are written once, in their order, then read."""

    def __len__(self) -> int: ...
    def append(self, values: npt.NDArray[Any]) -> None:
        """Write more numbers."""

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Return the numbers between two places."""

    def rows(self, places: Places, wide: int) -> npt.NDArray[Any]:
        """Return `wide` numbers from each place on."""


class StoredColumns:
    """The columns of a score table, written in ascending order of scores, then read.

    Parameters
    ----------
    kind : float32 or float64
    spill : Spill, optional
        Without it, they are in memory.
    scores : Kept, optional
        What has the scores already, so that they are not kept.

    Examples
    --------
    >>> stored = StoredColumns(np.float32, None)
    >>> stored.append(np.array([0.25, 0.5]), np.array([300.0, 1]), np.array([0.0, 2]))
    >>> scores, pos, neg = stored.columns()
    >>> scores[:], pos[:], [above[:] for above in stored.above()]
    (array([0.25, 0.5 ]), array([300.,   1.]), [array([301.,   1.,   0.]), array([2., 2., 0.])])
    """

    def __init__(self, kind: npt.DTypeLike, spill: Spill | None, scores: Kept | None = None) -> None:
        self._scores = _Tape(kind, spill) if scores is None else scores
        self._counts = _CountTape(spill), _CountTape(spill)

    def append(self, scores: Array, pos: Array, neg: Array) -> None:
        """Write the next scores, greater than all before, with their positives and negatives."""
        self._scores.append(scores)
        for tape, counts in zip(self._counts, (pos, neg), strict=True):
            tape.append(counts)

    def columns(self) -> tuple[StoredColumn, StoredColumn, StoredColumn]:
        """Return scores, positives and negatives; nothing can be written after it."""
        size = len(self._scores)

        def scores(start: int, stop: int) -> Array:
            return self._scores.read(start, stop).astype(np.float64)

        def picked(places: Places) -> Array:
            return self._scores.rows(places, 1)[:, 0].astype(np.float64)

        for tape in self._counts:
            tape.close()
        pos, neg = (StoredColumn(size, tape.read, tape.pick, total=tape.total) for tape in self._counts)
        return StoredColumn(size, scores, picked), pos, neg

    def above(self) -> tuple[StoredColumn, StoredColumn]:
        """Return how many positives and negatives lie at or above each score, and 0 above the last."""
        return self._above(self._counts[0]), self._above(self._counts[1])

    def _above(self, tape: _CountTape) -> StoredColumn:
        size = len(self._scores)

        def read(start: int, stop: int) -> Array:
            first = tape.total - tape.upto(start)
            counts = tape.read(start, min(stop, size) - 1) if stop - start > 1 else np.empty(0)
            found = np.empty(stop - start)
            found[0] = first
            np.subtract(first, np.cumsum(counts), out=found[1 : 1 + len(counts)])
            found[1 + len(counts) :] = 0.0
            return found

        return StoredColumn(size + 1, read, lambda places: tape.total - tape.below(places))
