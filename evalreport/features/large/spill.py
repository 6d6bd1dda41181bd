"""Nameless files that many writers share: numbers behind one another, those of each read back in order.

Columns of a score table that are written to them, or kept in memory: a distinct score of a float32 takes six
bytes, four for the score and one for each count. Counts above it are found from a sum that is kept for every
64 scores.
"""

from __future__ import annotations

import io
import mmap
import os
import tempfile
import weakref
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from evalreport.statistics.confusion import Array, Places, run_starts
from evalreport.statistics.stored_columns import STEP, StoredColumn

FILES = 64
"""Files that are open at a time, whatever the number of writers; a process may open 256 or more."""


class SpillFile:
    """A file without a name, which ends with the process or with its last user; no folder: in memory."""

    def __init__(self, folder: Path | None) -> None:
        # closed by `leave`
        self._file: BinaryIO = (
            io.BytesIO() if folder is None else tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        )
        self._size = 0
        self.users = 0

    def join(self) -> SpillFile:
        """Use it: it stays open until all who joined have left."""
        self.users += 1
        return self

    def leave(self) -> None:
        """Use it no longer."""
        self.users -= 1
        if not self.users:
            self._file.close()

    @property
    def is_open(self) -> bool:
        """Whether anything can be written to it."""
        return not self._file.closed

    def write(self, values: npt.NDArray[Any]) -> int:
        """Write numbers behind all others; return from which byte on they stand.

        Raises
        ------
        OSError
            The disk is full.
        """
        start = self._size
        left = np.ascontiguousarray(values).view(np.uint8).data
        self._file.seek(start)
        while len(left):  # where room runs out, a file without a buffer takes a part without a word
            left = left[self._file.write(left) :]
        self._size += values.nbytes
        return start

    def read_bytes(self, start: int, size: int) -> bytes:
        """Return some bytes."""
        self._file.seek(start)
        return self._file.read(size)


class Spill:
    """The files of a folder: new ones up to `FILES`, then those that are used least.

    Examples
    --------
    >>> spill = Spill(Path())
    >>> files = [spill.file().join() for _ in range(FILES + 1)]
    >>> files[0] is files[-1], files[0] is files[1]
    (True, False)
    >>> for file in files:
    ...     file.leave()
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: list[SpillFile] = []

    @property
    def number(self) -> int:
        """Files that are open."""
        self._files = [one for one in self._files if one.is_open]
        return len(self._files)

    def file(self) -> SpillFile:
        """Return a file to join."""
        if self.number < FILES:
            self._files.append(SpillFile(self.folder))
            return self._files[-1]
        return min(self._files, key=lambda one: one.users)


class Segments:
    """Numbers of one type that one writer has in a file, piece by piece.

    Examples
    --------
    >>> held = Segments(Spill(Path()).file(), np.dtype(np.uint8))
    >>> for part in ([1, 2, 3], [4, 5]):
    ...     held.append(np.array(part, dtype=np.uint8))
    >>> held.read_range(2, 4), len(held), held.leave()
    (array([3, 4], dtype=uint8), 5, None)
    """

    def __init__(self, file: SpillFile, kind: np.dtype[Any]) -> None:
        self._file, self._kind = file.join(), kind
        self._ends, self._starts = [0], list[int]()

    def __len__(self) -> int:
        return self._ends[-1]

    def append(self, values: npt.NDArray[Any]) -> None:
        """Write more numbers.

        Raises
        ------
        OSError
            The disk is full.
        """
        self._starts.append(self._file.write(values))
        self._ends.append(self._ends[-1] + len(values))

    def read_range(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Return the numbers between two places."""
        wide, found = self._kind.itemsize, list[bytes]()
        part = bisect_right(self._ends, start) - 1
        while start < stop:
            end = min(stop, self._ends[part + 1])
            found.append(
                self._file.read_bytes(
                    self._starts[part] + (start - self._ends[part]) * wide, (end - start) * wide
                )
            )
            start, part = end, part + 1
        return np.frombuffer(b"".join(found), dtype=self._kind)

    def leave(self) -> None:
        """Need the numbers no longer."""
        self._file.leave()


def map_values(folder: Path, size: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return zeros in a nameless file, mapped into memory: the system can write its pages back at any time.

    Raises
    ------
    OSError
        The disk is full.

    Examples
    --------
    >>> numbers = map_values(Path(), 3, np.float32)
    >>> numbers[1] = 2
    >>> numbers
    array([0., 2., 0.], dtype=float32)
    """
    wide = size * np.dtype(kind).itemsize
    if not wide:
        return np.zeros(0, dtype=kind)
    with tempfile.TemporaryFile(dir=folder) as file:
        os.posix_fallocate(file.fileno(), 0, wide)  # a full disk is an error now, not a signal later
        return np.frombuffer(mmap.mmap(file.fileno(), wide), dtype=kind)


@dataclass(eq=False)
class WordRange:
    """The words between two edges: in memory, and in a file that others share.

    Examples
    --------
    >>> some = WordRange([np.array([4, 2], dtype=np.uint32)])
    >>> some.write(Spill(Path()).file())
    >>> len(some), [part.tolist() for part in some.pieces(1)], len(some)
    (2, [[4], [2]], 0)
    """

    held: list[npt.NDArray[Any]] = field(default_factory=list)
    file: Segments | None = None

    def __len__(self) -> int:
        return sum(map(len, self.held)) + (0 if self.file is None else len(self.file))

    def write(self, place: SpillFile) -> None:
        """Write what is held.

        Raises
        ------
        OSError
            The disk is full.
        """
        if self.file is None and self.held:
            self.file = Segments(place, self.held[0].dtype)
        while self.held and self.file is not None:
            self.file.append(self.held.pop())

    def pieces(self, size: int) -> Iterator[npt.NDArray[Any]]:
        """Give away what is held, a piece at a time."""
        while self.held:
            yield self.held.pop()
        if self.file is not None:
            for start in range(0, len(self.file), size):
                yield self.file.read_range(start, min(start + size, len(self.file)))
            self.close()

    def close(self) -> None:
        """Need the words no longer."""
        self.held.clear()
        if self.file is not None:
            self.file.leave()
            self.file = None


def temporary_folder() -> Path:
    """Return the folder of temporary files: TMPDIR, or the system's own."""
    try:
        return Path(tempfile.gettempdir())
    except OSError:  # none can be written to, which matters only where something is to be written
        return Path(os.curdir)


MOST = 255
"""The largest count in a byte; larger ones are stored separately."""
PAGE = 1 << 10
"""Numbers of a file that are read at once where several of them are wanted: as long as to ask for one."""
CROWDED = 4
"""Places a page from which on pages are read; below it the places themselves, one by one."""


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

    def read_range(self, start: int, stop: int) -> npt.NDArray[Any]:
        if self._file is not None:
            return self._file.read_range(start, stop)
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
            values = self.read_range(start, min(int(places[near[-1]]) + wide, len(self)))
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

    def read_range(self, start: int, stop: int) -> Array:
        found = self._tape.read_range(start, stop).astype(np.float64)
        low, high = np.searchsorted(self._places, [start, stop])
        found[self._places[low:high] - start] = self._values[low:high]
        return found

    def pick(self, places: Places) -> Array:
        return self._exact(self._tape.rows(places, 1), places)[:, 0]

    def sum_below(self, places: Places) -> Array:
        """Return the sum of all counts before each place."""
        block = places // STEP
        rows = self._exact(self._tape.rows(block * STEP, STEP), block * STEP)
        inside: Array = np.where(np.arange(STEP) < (places - block * STEP)[:, None], rows, 0.0).sum(axis=1)
        return self._before[np.minimum(block, len(self._before) - 1)] + inside

    def upto(self, place: int) -> float:
        """Return the sum of all counts before one place, which is asked for at every piece that is read."""
        block = min(place // STEP, len(self._before) - 1)
        return float(self._before[block] + self.read_range(block * STEP, place).sum())

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

    def read_range(self, start: int, stop: int) -> npt.NDArray[Any]:
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
    >>> scores[:], pos[:], [above[:] for above in stored.cumulative_counts()]
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
            return self._scores.read_range(start, stop).astype(np.float64)

        def pick_scores(places: Places) -> Array:
            return self._scores.rows(places, 1)[:, 0].astype(np.float64)

        for tape in self._counts:
            tape.close()
        pos, neg = (StoredColumn(size, tape.read_range, tape.pick, total=tape.total) for tape in self._counts)
        return StoredColumn(size, scores, pick_scores), pos, neg

    def cumulative_counts(self) -> tuple[StoredColumn, StoredColumn]:
        """Return how many positives and negatives lie at or above each score, and 0 above the last."""
        return self._cumulative_counts(self._counts[0]), self._cumulative_counts(self._counts[1])

    def _cumulative_counts(self, tape: _CountTape) -> StoredColumn:
        size = len(self._scores)

        def read_sums(start: int, stop: int) -> Array:
            first = tape.total - tape.upto(start)
            counts = tape.read_range(start, min(stop, size) - 1) if stop - start > 1 else np.empty(0)
            found = np.empty(stop - start)
            found[0] = first
            np.subtract(first, np.cumsum(counts), out=found[1 : 1 + len(counts)])
            found[1 + len(counts) :] = 0.0
            return found

        return StoredColumn(size + 1, read_sums, lambda places: tape.total - tape.sum_below(places))
