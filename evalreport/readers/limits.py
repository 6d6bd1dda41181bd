"""What a file may cost before it is refused: read with a bound, expanded with a bound, never unpickled."""

from __future__ import annotations

import errno
import gzip
import io
import os
import pickletools
import shutil
import stat
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from evalreport.core.errors import DataError, FileMissingError, UnsafeFileError

MAX_FILE = 2 * 1024**3
"""Bytes of a file."""
MAX_EXPANDED = 4 * 1024**3
"""Bytes after decompression."""
MAX_RATIO = 100
"""Bytes after decompression for each byte of the file."""
SMALL = 16 * 1024**2
"""Expansion up to this many bytes is harmless whatever its ratio (a constant column packs 1000 to 1)."""
MAX_ROWS = 50_000_000
"""Rows of a file that is read as a whole."""
MAX_COLUMNS = 5_000
"""Maximum number of other columns."""
MAX_ASKED = 20_000
"""Columns that hold a part: 3,000 classes with truth, prediction and score each are 9,000."""
MAX_CELL = 1024**2
"""Characters of one text."""
MODEST = 256 * 1024**2
"""Bytes of memory that any file may decode to: a column of one class packs to nothing, 16 million rows of
truth and prediction need no more."""
CELL, ITEM = 8, 64
"""Bytes of memory of one cell of a column, and of one Python object in a list of a cell."""

Select: TypeAlias = Callable[[Sequence[str]], Collection[str]]
"""From the names of all columns to those that are wanted."""

CHUNK = 4 * 1024**2
"""Bytes read at once."""
NOTHING = 4096
"""Zero bytes at the beginning with which no format begins: a device, or a file with holes."""
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
PACKED = (".gz", ".zst")
"""Endings of compressed text; the bytes decide how they are expanded."""


def too_little_memory() -> DataError:
    """Return the error of data that do not fit into memory."""
    return DataError("the data need more memory than is available", fix="evaluate a sample or fewer columns")


def load(source: Path | BinaryIO) -> bytes:
    """Return the bytes of a file or of a stream such as standard input.

    Raises
    ------
    FileMissingError
        No such file, or not a file.
    DataError
        Empty, not readable, or larger than 2 GB.
    """
    if not isinstance(source, Path):
        return _whole(_read_limited(source, MAX_FILE))
    with readable(source):
        status = source.stat()
        if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
            raise DataError(f"{source.name} is a device, not a file", fix="name a file of predictions")
        if stat.S_ISDIR(status.st_mode):
            raise FileMissingError(
                f"{source.name} is a folder, not a file", fix="name a file of predictions in it"
            )
        if status.st_size > MAX_FILE:
            raise _too_large()
        with source.open("rb") as stream:
            _refuse_nothing(stream.peek())
            return _whole(stream.read(status.st_size) + _read_limited(stream, MAX_FILE - status.st_size))


@contextmanager
def readable(source: Path) -> Iterator[None]:
    """Translate errors of the operating system about missing or protected files.

    Raises
    ------
    FileMissingError, DataError
    """
    try:
        yield
    except FileNotFoundError as error:
        raise FileMissingError(f"file {source.name} does not exist", fix=_siblings(source)) from error
    except OSError as error:
        reason = os.strerror(error.errno or errno.EIO).lower()
        raise DataError(
            f"{source.name} cannot be read: {reason}", fix="check the file's permissions"
        ) from error


def _read_limited(stream: Any, limit: int) -> bytes:
    """Return what a stream holds up to one byte over the limit, without allocating the limit at once."""
    parts: list[bytes] = []
    left = limit + 1
    while left > 0 and (part := stream.read(min(left, CHUNK))):
        if not parts:
            _refuse_nothing(part)
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _refuse_nothing(beginning: bytes) -> None:
    """Refuse data that begin with zero bytes alone before gigabytes of them are read."""
    if len(beginning) >= NOTHING and not beginning[:NOTHING].strip(b"\0"):
        raise DataError("the data are only zero bytes", fix="check the program that wrote them")


def _whole(data: bytes) -> bytes:
    if len(data) > MAX_FILE:
        raise _too_large()
    if not data:
        raise DataError("the file is empty", fix="check the program that wrote it")
    return data


def _too_large() -> DataError:
    return DataError("the file is larger than 2 GB", fix="evaluate a sample, or write it as Parquet")


def _siblings(path: Path) -> str:
    folder = path.parent
    if not os.path.isdir(folder):
        return f"the folder {folder.name} does not exist either"
    names = sorted(
        entry.name for entry in folder.iterdir() if entry.suffix == path.suffix and os.path.exists(entry)
    )[:8]
    return f"files in this folder: {', '.join(names)}" if names else "check the path"


def refuse_expansion(expanded: int, packed: int) -> None:
    """Refuse content that is 4 GB or a hundred times larger than the bytes that hold it.

    Raises
    ------
    UnsafeFileError

    Examples
    --------
    >>> refuse_expansion(expanded=50_000_000, packed=1_000_000)
    """
    if expanded > allowed_expansion(packed):
        raise UnsafeFileError(
            f"the file has {packed:,} bytes that expand to {expanded:,} or more",
            fix=f"at most {MAX_RATIO} times and 4 GB are expanded; write it uncompressed if it is yours",
        )


def refuse_decoded(cells: int, packed: int, *, each: int = CELL) -> None:
    """Refuse values that need more memory than the bytes that claim them justify, before one is built.

    Every reader counts here: a few hundred bytes of Parquet can claim a list of sixty million texts, and
    records with a key each make a table of their square.

    Parameters
    ----------
    cells : int
        Values that the file decodes to.
    packed : int
        Bytes that claim them.
    each : int
        Bytes of memory of one: `CELL`, or `ITEM` inside lists.

    Raises
    ------
    UnsafeFileError
        Over 256 MB that are also a hundred times the file, or over 4 GB.

    Examples
    --------
    >>> refuse_decoded(1_000_000, packed=5_000)
    >>> refuse_decoded(60_000_000, packed=673, each=ITEM)
    Traceback (most recent call last):
    evalreport.core.errors.UnsafeFileError: 673 bytes hold 60,000,000 values, which need 3.8 GB of memory
    """
    need = cells * each
    if need > min(max(MAX_RATIO * packed, MODEST), MAX_EXPANDED):
        raise UnsafeFileError(
            f"{packed:,} bytes hold {cells:,} values, which need {need / 1e9:.1f} GB of memory",
            fix="evaluate a sample, or name fewer columns; if it is yours, write it without compression",
        )


def allowed_expansion(packed: int) -> int:
    """Return how many bytes `packed` bytes may expand to.

    Examples
    --------
    >>> allowed_expansion(1_000_000)
    100000000
    """
    return min(max(MAX_RATIO * packed, SMALL), MAX_EXPANDED)


def decompress_limited(data: bytes) -> bytes:
    """Return gzip or Zstandard data decompressed, stopping at the bound rather than after it; else the data.

    Raises
    ------
    UnsafeFileError
        It expands too far.
    DataError
        It is cut off or broken.
    """
    if not data.startswith((GZIP, ZSTD)):
        return data
    kind = "gzip" if data.startswith(GZIP) else "zstd"
    with unpacking(kind), _open_decompressor(data, kind) as stream:
        whole = _read_limited(stream, allowed_expansion(len(data)))
    refuse_expansion(len(whole), len(data))
    if not whole:
        raise DataError("the file is empty", fix="check the program that wrote it")
    return whole


@contextmanager
def unpacking(kind: str) -> Iterator[None]:
    """Say of packed data that cannot be read to their end what is wrong with them.

    Examples
    --------
    >>> with unpacking("gzip"):
    ...     raise EOFError("Compressed file ended before the end-of-stream marker was reached")
    Traceback (most recent call last):
    evalreport.core.errors.DataError: the gzip data are cut off or broken
    """
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the {kind} data are cut off or broken", fix="copy the file again") from error


def _open_decompressor(data: bytes, kind: str) -> Any:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=io.BytesIO(data))
    import pyarrow as pa

    return pa.CompressedInputStream(pa.BufferReader(data), kind)


def refuse_pickle(data: bytes) -> None:
    """Refuse bytes that are a pickle, whatever the file is called.

    Nothing is unpickled to find out: `pickletools.genops` only lists opcodes.

    Raises
    ------
    UnsafeFileError
    """
    binary = data[:1] == b"\x80" and data[1:2] <= b"\x05"
    if binary or (data.rstrip()[-1:] == b"." and _is_text_pickle(data)):
        raise pickle_error("the file is a pickle")


def pickle_error(message: str) -> UnsafeFileError:
    """Return the error of every place where a pickle turns up."""
    return UnsafeFileError(
        f"{message}: reading it could run any program, so it is never loaded",
        fix="write the predictions as Parquet, CSV, JSONL or NPZ",
    )


def _is_text_pickle(data: bytes) -> bool:
    last = None
    try:
        for opcode, _, position in pickletools.genops(data):
            last = (opcode.name, position)
    except (ValueError, UnicodeError, IndexError, OverflowError):
        return False
    return last == ("STOP", len(data.rstrip()) - 1)


def choose(names: Sequence[str], select: Select | None) -> tuple[str, ...]:
    """Return the wanted columns, in the file's order.

    Raises
    ------
    DataError
        A name that appears twice, or too many columns.

    Examples
    --------
    >>> choose(["a", "b", "c"], lambda names: {"c", "a"})
    ('a', 'c')
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(
                f"column {name!r} appears twice in the header",
                where=f"columns {names.index(name) + 1} and {len(names) - names[::-1].index(name)}",
                fix="give each column a unique name",
            )
        seen.add(name)
    wanted = set(names if select is None else select(names))
    chosen = tuple(name for name in names if name in wanted)
    spare = len(names) if select is None else len(names) - len(chosen)
    if spare > MAX_COLUMNS or len(chosen) > MAX_ASKED:
        raise DataError(
            f"the file has {len(names):,} columns",
            fix=f"at most {MAX_COLUMNS:,} columns in addition to {MAX_ASKED:,} of labels, predictions "
            "and scores",
        )
    return chosen


def refuse_rows(n: int) -> None:
    """Refuse a table that is empty or has over 50 million rows.

    Raises
    ------
    DataError
    """
    if n == 0:
        raise DataError("the file has a header but no rows", fix="check the program that wrote it")
    if n > MAX_ROWS:
        raise DataError(f"the file has {n:,} rows; at most {MAX_ROWS:,} are read", fix="evaluate a sample")


def refuse_cell(longest: int, column: str) -> None:
    """Refuse a text of over a million characters.

    Raises
    ------
    DataError
    """
    if longest > MAX_CELL:
        raise DataError(
            f"column {column!r} holds a text of {longest:,} characters; at most {MAX_CELL:,} are read",
            where=f"column {column!r}",
            fix="cut the texts before they are written",
        )


ROOM_FIX = "name a folder with more room by TMPDIR, or pass more --set memory"


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
