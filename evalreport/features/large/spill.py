"""Nameless files that many writers share: numbers behind one another, those of each read back in order."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError

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

    def read(self, start: int, size: int) -> bytes:
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
    >>> held.read(2, 4), len(held), held.leave()
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

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Return the numbers between two places."""
        wide, found = self._kind.itemsize, list[bytes]()
        part = bisect_right(self._ends, start) - 1
        while start < stop:
            end = min(stop, self._ends[part + 1])
            found.append(
                self._file.read(self._starts[part] + (start - self._ends[part]) * wide, (end - start) * wide)
            )
            start, part = end, part + 1
        return np.frombuffer(b"".join(found), dtype=self._kind)

    def leave(self) -> None:
        """Need the numbers no longer."""
        self._file.leave()


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
                yield self.file.read(start, min(start + size, len(self.file)))
            self.close()

    def close(self) -> None:
        """Need the words no longer."""
        self.held.clear()
        if self.file is not None:
            self.file.leave()
            self.file = None


ROOM_FIX = "name a folder with more room by TMPDIR, or pass more --memory"


def temporary_folder() -> Path:
    """Return the folder of temporary files: TMPDIR, or the system's own."""
    try:
        return Path(tempfile.gettempdir())
    except OSError:  # none can be written to, which matters only where something is to be written
        return Path(os.curdir)


def check_room(
    folder: Path, need: int, what: str = "the rows need", where: str = "", fix: str = ROOM_FIX
) -> None:
    """Refuse a folder whose disk has less room than something needs.

    Raises
    ------
    DataError
        Says what is needed and what is free.

    Examples
    --------
    >>> check_room(Path("."), 1)
    """
    free = shutil.disk_usage(folder).free
    if need > free:
        raise DataError(
            f"{what} {need / 1e6:,.1f} MB of disk and {free / 1e6:,.1f} MB are free",
            where=where or f"TMPDIR {folder}",
            fix=fix,
        )
