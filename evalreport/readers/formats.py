"""A file of predictions becomes a `RawTable`: named arrays, the digest of the bytes, and no opinion.

One reader per format, in one ordered catalogue. What a column means is decided in `columns`. Pickles are
never loaded: sizes and dtypes of NPY and NPZ are checked in their headers first.
"""

from __future__ import annotations

import hashlib
import io
import logging
import lzma
import math
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.lib import format as npy

from evalreport.columns.column_request import list_names
from evalreport.core.errors import DataError, EvalreportError, UnsafeFileError, UsageError
from evalreport.core.extensions import extensions, load_extensions
from evalreport.readers.arrow import FILE, OLD_FEATHER, STREAM, read_feather, read_parquet
from evalreport.readers.content import Array, Content, wrap_format_errors
from evalreport.readers.csv import read_delimited
from evalreport.readers.json import is_lines, read_json, read_json_lines, read_tool
from evalreport.readers.limits import (
    CELL,
    ITEM,
    PACKED,
    Select,
    allowed_expansion,
    choose,
    decompress_limited,
    load,
    pickle_error,
    refuse_decoded,
    refuse_expansion,
    refuse_pickle,
    refuse_rows,
    too_little_memory,
)

MAX_HEADER = 10_000
"""Bytes of the header of an array: NumPy's own limit for files that are not trusted."""
HEADER_BYTES = MAX_HEADER + 64
_UNPACKING = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, NotImplementedError)
"""What is raised by a member of an archive that is broken, encrypted or compressed in an unknown way."""


def read_npy(data: bytes, select: Select | None) -> Content:
    """Return the one array of an NPY file, or the fields of a structured one as columns.

    A plain array is named ``array``.

    Raises
    ------
    DataError
        Truncated or broken; a dtype without labels or numbers.
    UnsafeFileError
        An object array (a pickle), or a header that claims more than the file holds.

    Examples
    --------
    >>> file = io.BytesIO()
    >>> np.save(file, np.array([0.25, 0.5]))
    >>> read_npy(file.getvalue(), None).columns["array"].tolist()
    [0.25, 0.5]
    """
    array = _read_array(data, "array", len(data))
    names = array.dtype.names
    columns = {"array": array} if names is None else {name: array[name] for name in names}
    for name, column in columns.items():
        _check_dtype(column.dtype, name)
    chosen = choose(list(columns), select if names else None)
    return Content(tuple(columns), {name: _decode_strings(columns[name], name) for name in chosen})


def read_npz(data: bytes, select: Select | None) -> Content:
    """Return the wanted arrays of an NPZ file, of any shape.

    Raises
    ------
    DataError
        Truncated or broken; a dtype without labels or numbers.
    UnsafeFileError
        Object arrays (pickles), entries that are not arrays, or that expand over 100 times or 4 GB.
    """
    with wrap_format_errors("NPZ", zipfile.BadZipFile):
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
    for entry in entries:
        if not entry.filename.endswith(".npy"):
            raise _not_an_array(entry.filename)
    refuse_expansion(sum(entry.file_size for entry in entries), len(data))
    names = [entry.filename.removesuffix(".npy") for entry in entries]
    chosen = set(choose(names, select))
    columns: dict[str, Array] = {}
    left = allowed_expansion(len(data))
    for name, entry in zip(names, entries, strict=True):
        raw = _entry(archive, entry, name, left if name in chosen else 0, len(data))
        left -= len(raw)
        refuse_expansion(allowed_expansion(len(data)) - left, len(data))
        if name in chosen:
            columns[name] = _array(raw, name, len(data))
    return Content(tuple(names), columns)


def _not_an_array(name: str) -> UnsafeFileError:
    if name.endswith((".pkl", ".pickle")):
        return pickle_error(f"the archive holds the pickle {name[:80]}")
    return UnsafeFileError(
        f"the archive holds {name[:80]!r}, which is not an array", fix="write it with numpy.savez"
    )


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, left: int, packed: int) -> bytes:
    """Return the bytes of one array; of unused ones only the header, which is checked, too.

    The directory of the archive may lie, so the bytes are bounded again while they are read.
    """
    with (
        wrap_format_errors("NPZ", *_UNPACKING),
        archive.open(entry) as stream,
    ):
        head = stream.read(HEADER_BYTES)
        _check_header(head, entry.file_size, name, packed)
        return head + stream.read(max(left - len(head), 0) + 1) if left else b""


def _array(raw: bytes, name: str, packed: int) -> Array:
    array = _read_array(raw, name, packed)
    _check_dtype(array.dtype, name)
    return _decode_strings(array, name)


def _read_array(data: bytes, name: str, packed: int) -> Array:
    _check_header(data, len(data), name, packed)
    with wrap_format_errors("NPY"):
        return npy.read_array(io.BytesIO(data), allow_pickle=False, max_header_size=MAX_HEADER)


def _check_header(data: bytes, size: int, name: str, packed: int) -> None:
    """Refuse object arrays, and shapes that the bytes cannot hold, before anything is allocated."""
    stream = io.BytesIO(data[: HEADER_BYTES + 1])
    with wrap_format_errors("NPY"):
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(stream, max_header_size=MAX_HEADER)
    if dtype.hasobject:
        raise pickle_error(f"array {name!r} holds Python objects, that is a pickle")
    needed = math.prod(shape) * dtype.itemsize
    if needed != size - stream.tell():
        raise DataError(
            f"array {name!r} says it has {needed:,} bytes and there are {size - stream.tell():,}",
            where=f"array {name!r}, shape {shape}",
            fix="the file is cut off or was changed; write it again",
        )
    refuse_decoded(math.prod(shape), packed, each=ITEM if dtype.kind in "US" else CELL)


def _check_dtype(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind not in "biufUS":
        raise DataError(
            f"array {name!r} has dtype {dtype}, not labels, numbers or text",
            where=f"array {name!r}",
            fix="save labels as text or whole numbers and scores as floats",
        )


def _decode_strings(array: Array, name: str) -> Array:
    if array.dtype.kind == "S":
        with wrap_format_errors(f"UTF-8 in array {name!r}"):
            array = np.char.decode(array, "utf-8")
    if array.dtype.kind == "U" and array.ndim == 1:
        return array.astype(object)
    return array


logger = logging.getLogger(__name__)
Read: TypeAlias = Callable[[bytes, Select | None], Content]
Further: TypeAlias = Callable[[Content], Collection[str]]


@dataclass(frozen=True)
class Reader:
    """One input format.

    Parameters
    ----------
    name : str
        As `--set format` names it.
    suffixes : tuple of str
        File names that mean it; text formats also with ``.gz`` or ``.zst`` behind.
    magic : tuple of bytes
        What its files begin with; empty for text.
    read : callable
        From bytes and the choice of columns to a `Content`.
    sample : callable, optional
        From bytes to the rows of some parts of the file, with all columns.
    """

    name: str
    suffixes: tuple[str, ...]
    magic: tuple[bytes, ...]
    read: Read
    sample: Read | None = None


READERS: tuple[Reader, ...] = (
    Reader("csv", (".csv", ".tsv", ".txt"), (), read_delimited, partial(read_delimited, sample=True)),
    Reader("parquet", (".parquet", ".pq"), (b"PAR1",), read_parquet, partial(read_parquet, sample=True)),
    Reader(
        "arrow",
        (".arrow", ".feather", ".ipc"),
        (FILE, STREAM, OLD_FEATHER),
        read_feather,
        partial(read_feather, sample=True),
    ),
    Reader("jsonl", (".jsonl", ".ndjson"), (), read_json_lines, partial(read_json_lines, sample=True)),
    Reader("json", (".json",), (), read_json),
    Reader("npz", (".npz",), (b"PK\x03\x04", b"PK\x05\x06"), read_npz),
    Reader("npy", (".npy",), (b"\x93NUMPY",), read_npy),
)
"""The formats of the core."""
PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth", ".ckpt", ".cloudpickle", ".dill", ".sav")
"""File names of pickles: refused by name, so that the message can say why."""
ARRAYS = ("npz", "npy")
"""Formats whose arrays have shapes of their own; the others hold columns of one length."""

COMPARED_BYTES = 32 * 1024**2
COMPARED_COLUMNS = 200
"""Size of a file, and number of its columns, up to which all are read; else a sample of rows chooses."""


@dataclass(frozen=True, eq=False)
class RawTable:
    """What a file holds.

    Parameters
    ----------
    columns : mapping from name to read-only array
        The columns that were wanted, and in a small file all others; in a large one those to which a sample
        of rows may give a role. Dtypes are as stored (float32 stays
        float32); text is an object array of str, lists an object array of lists; gaps are None, in numbers
        NaN. In NPZ and NPY an
        array may have any shape.
    n : int
        Rows (of NPZ and NPY: the greatest first axis).
    source : str
        The file's name or address, as given; for messages and provenance.
    sha256 : str
        Digest of the file's bytes, as they are stored.
    format : str
        One of `format_names`.
    names : tuple of str
        All columns of the file, also those that were not read.
    parts : mapping from part to column
        What the format itself says of the columns.
    notes : tuple of str
        What is reported of rows that were not read.
    """

    columns: Mapping[str, Array]
    n: int
    source: str
    sha256: str
    format: str
    names: tuple[str, ...]
    parts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Last part of `source`."""
        return PurePath(self.source).name or self.source


@cache
def readers() -> tuple[Reader, ...]:
    """Return every reader in order: at the point "readers" each feature adds a tuple of `Reader`."""
    tools = (Reader(tool.name, (), (), read_tool(tool.name)) for tool in extensions("tools"))
    return (*READERS, *chain.from_iterable(load_extensions("readers")), *tools)


@cache
def accepted_suffixes() -> tuple[str, ...]:
    """Return the endings of file names that have a reader.

    Examples
    --------
    >>> accepted_suffixes()[:2]
    ('.csv', '.tsv')
    """
    return tuple(suffix for reader in readers() for suffix in reader.suffixes)


def format_names() -> tuple[str, ...]:
    """Return what the formats are called."""
    return tuple(reader.name for reader in readers())


def read_table(
    source: Path | BinaryIO,
    *,
    format: str | None = None,
    columns: Select | None = None,
    name: str | None = None,
    further: Further | None = None,
    evident: Further | None = None,
) -> RawTable:
    """Read a file of predictions.

    Parameters
    ----------
    source : Path or binary stream
        CSV (also TSV, semicolon, pipe; also .gz, .zst), Parquet, Feather or Arrow IPC, JSON, JSONL, NPZ, NPY.
    format : str, optional
        One of `format_names`; needed for a stream, else it follows from the file's name.
    columns : callable, optional
        From the names of all columns to those that are wanted; without it all are read.
    name : str, optional
        The name of the file in messages (an artifact has a separate path).
    further : callable, optional
        From the content that was read to the names of other columns that are wanted now that the labels are
        known: those that are named after them. With it the other columns of a small file are read as well.
    evident : callable, optional
        From a sample of rows with all columns to the names of those that are read of a large file.

    Raises
    ------
    FileMissingError
        No such file.
    UsageError
        An unknown format or file name.
    DataError
        Empty, cut off, broken, too large, not UTF-8, a column twice.
    UnsafeFileError
        A pickle in any disguise, an extension type, or content that expands beyond 100 times or 4 GB.

    Examples
    --------
    >>> import io
    >>> table = read_table(io.BytesIO(b"y_true;score\\n1;0.5\\n"), format="csv")
    >>> table.n, table.columns["score"]
    (1, array([0.5]))
    """
    shown = name or (str(source) if isinstance(source, Path) else "stdin")
    try:
        reader = reader_of(PurePath(shown).name if format is None else None, format)
        data = load(source)
        digest = hashlib.sha256(data).hexdigest()
        data = _decompress_checked(data, reader)
        reader = _matching(reader, data)
        content = reader.read(data, columns)
        if further is not None and (more := set(further(content))):
            content = replace(content, columns={**content.columns, **_read_more_columns(reader, data, more)})
        n = _count(content)
        if further is not None and (others := _others(reader, data, content, n, evident)):
            content = replace(content, columns={**content.columns, **others})
            n = _count(content)
    except EvalreportError as error:
        raise error.with_location(shown) from error
    except MemoryError as error:
        raise too_little_memory().with_location(shown) from error
    for array in content.columns.values():
        array.flags.writeable = False
    logger.info("read %s: %s, %s rows, columns %s", shown, reader.name, f"{n:,}", list_names(content.columns))
    return RawTable(
        content.columns, n, shown, digest, reader.name, content.names, content.parts, content.notes
    )


def _read_more_columns(reader: Reader, data: bytes, names: set[str]) -> Mapping[str, Array]:
    return reader.read(data, names.intersection).columns


def _others(
    reader: Reader, data: bytes, content: Content, n: int, evident: Further | None
) -> Mapping[str, Array]:
    """Return the other columns: all of a small file, those that a sample chooses of a large one."""
    names = {*content.names} - {*content.columns}
    if reader.name in ARRAYS or not names:
        return {}
    try:
        if evident is not None and reader.sample is not None and is_large(len(data), len(names)):
            names.intersection_update(evident(reader.sample(data, None)))
        elif len(names) > COMPARED_COLUMNS:
            return {}
        found = _read_more_columns(reader, data, names)
    except EvalreportError:  # an unused column may contain anything
        return {}
    rows = n if content.columns else len(next(iter(found.values()), ()))
    return {name: array for name, array in found.items() if name in names and array.shape[:1] == (rows,)}


def is_large(size: int, columns: int) -> bool:
    """Return whether a sample of rows decides which columns of a file are read."""
    return size > COMPARED_BYTES or columns > COMPARED_COLUMNS


def reader_of(file_name: str | None, declared: str | None) -> Reader:
    """Return the reader of a declared format, or else of a file's name.

    Raises
    ------
    UsageError
        An unknown format or file name.
    UnsafeFileError
        The name of a pickle.

    Examples
    --------
    >>> reader_of("scores.tsv.gz", None).name
    'csv'
    """
    if declared is not None:
        for reader in readers():
            if reader.name == declared:
                return reader
        raise UsageError(f"there is no format {declared!r}", fix=f"formats are: {', '.join(format_names())}")
    bare = unpacked_name(file_name or "")
    suffix = PurePath(bare).suffix
    if suffix in PICKLES:
        raise pickle_error(f"a {suffix} file is a pickle")
    for reader in readers():
        if suffix in reader.suffixes:
            return reader
    what = f"the name ending {suffix!r} is not known" if suffix else "the file name has no ending"
    raise UsageError(
        f"{what}, so the format is not known",
        fix=f"accepted: {', '.join(accepted_suffixes())}; or say --set format",
    )


def unpacked_name(name: str) -> str:
    """Return a file's name in small letters, without the ending of its compression.

    Examples
    --------
    >>> unpacked_name("Scores.csv.zst")
    'scores.csv'
    """
    small = name.lower()
    return next((small.removesuffix(ending) for ending in PACKED if small.endswith(ending)), small)


def _decompress_checked(data: bytes, reader: Reader) -> bytes:
    refuse_pickle(data)
    if not reader.magic:
        data = decompress_limited(data)
        refuse_pickle(data)
    return data


def _matching(reader: Reader, data: bytes) -> Reader:
    """Return the reader that fits the bytes, or say what they are instead."""
    if reader.name == "json" and is_lines(data):
        return next(other for other in READERS if other.name == "jsonl")
    if data.startswith(b"PK") and b"xl/workbook" in data:
        raise DataError("the file is an Excel workbook", fix="save the sheet as CSV (UTF-8)")
    inside = next((other for other in readers() if other.magic and data.startswith(other.magic)), None)
    if inside is not None and inside.magic != reader.magic:
        raise DataError(
            f"the file is {inside.name}, not {reader.name}",
            fix=f"rename it, or pass --set format={inside.name}",
        )
    if inside is not None or not reader.magic:
        return reader
    raise DataError(f"the file is not {reader.name}", fix="check how it was written, or pass --set format")


def _count(content: Content) -> int:
    if not content.names:
        raise DataError("the file has no rows", fix="check the program that wrote it")
    n = max((array.shape[0] for array in content.columns.values() if array.ndim), default=0)
    if content.columns:
        refuse_rows(n)
    return n
