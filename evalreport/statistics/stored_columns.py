"""Columns of a score table that are not float64 arrays in memory: they are computed or read on access."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeGuard, overload

import numpy as np
import numpy.typing as npt

from evalreport.statistics.confusion import Array, Places, search_lazily

PIECE = 1 << 16
"""Longest slice that is returned as an array; a longer one is a column."""
STEP = 64
"""Scores between two stored sums."""


class StoredColumn:
    """A one-dimensional float64 array that is read piece by piece.

    Parameters
    ----------
    size : int
    read : callable
        From start and stop to the numbers in between.
    pick : callable
        From positions to the numbers there.
    total : float, optional
        Sum of the numbers, if known.

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
        """Pickle the numbers."""
        return np.asarray, (np.asarray(self),)

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice | Places) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        """Return a number, numbers at positions, a short slice as an array, or a long one as a column."""
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

    def append_value(self, last: float) -> StoredColumn:
        """Return the whole column with one more number at the end."""
        size = self._size

        def read_extended(start: int, stop: int) -> Array:
            found = self._read(start, min(stop, size))
            return np.append(found, last) if stop > size else found

        def pick(places: Places) -> Array:
            return np.where(places < size, self._pick(np.minimum(places, size - 1)), last)

        return StoredColumn(size + 1, read_extended, pick)

    def steps(self) -> StoredColumn:
        """Return the decrease of a descending column at each position; the last number is itself."""
        size = self._size

        def read_steps(start: int, stop: int) -> Array:
            found = self._slice(slice(start, min(stop + 1, size)))
            found = np.asarray(found)
            return -np.diff(np.append(found, 0.0) if stop == size else found)

        def pick(places: Places) -> Array:
            after: Array = self[np.minimum(places + 1, size - 1)]
            here: Array = self[places]
            return here - np.where(places + 1 < size, after, 0.0)

        return StoredColumn(size, read_steps, pick)

    def map_values(self, function: Callable[[Array], Array]) -> StoredColumn:
        """Return the column of a function of each number."""

        def read_mapped(start: int, stop: int) -> Array:
            return function(self._read(start, stop))

        def pick(places: Places) -> Array:
            return function(self._pick(places))

        return StoredColumn(self._size, read_mapped, pick, self._ends, backward=self._backward)

    def searchsorted(self, wanted: Any, side: Any = "left", sorter: None = None) -> Any:  # noqa: ARG002
        """Return `np.searchsorted` of an ascending column."""
        found = search_lazily(
            self.__getitem__, len(self), np.atleast_1d(np.asarray(wanted, dtype=float)), side
        )
        return found if np.ndim(wanted) else found[0]

    def sum(self) -> float:
        """Return the sum, exact for counts."""
        if self._total is not None:
            return self._total
        return sum(float(self[start : start + PIECE].sum()) for start in range(0, len(self), PIECE))


def is_stored(column: object) -> TypeGuard[StoredColumn]:
    """Return whether a column is read on access.

    Examples
    --------
    >>> is_stored(np.zeros(2))
    False
    """
    return isinstance(column, StoredColumn)


def to_stored_column(column: Array) -> StoredColumn:
    """Return a column as a `StoredColumn`.

    Examples
    --------
    >>> to_stored_column(np.array([3.0, 1.0])).steps()[:]
    array([2., 1.])
    """
    if is_stored(column):
        return column
    return StoredColumn(len(column), lambda start, stop: column[start:stop], column.__getitem__)


def run_sums(column: Array, starts: Places) -> Array:
    """Return the sums from each start up to the next, as `np.add.reduceat` for ascending starts.

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


class WrittenColumns(Protocol):
    """Storage of the columns of a score table, in ascending order of scores."""

    def columns(self) -> tuple[StoredColumn, StoredColumn, StoredColumn]:
        """Return scores, positives and negatives; afterwards nothing can be written."""

    def cumulative_counts(self) -> tuple[StoredColumn, StoredColumn]:
        """Return the number of positives and negatives at or above each score, and 0 above the last."""
