"""NPY and NPZ. Pickles are never loaded: sizes and dtypes are checked in the headers first."""

from __future__ import annotations

import io
import lzma
import math
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.lib import format as npy

from evalreport.core.errors import DataError, UnsafeFileError
from evalreport.readers.arrow_types import Array
from evalreport.readers.content import Content, wrap_format_errors
from evalreport.readers.limits import (
    CELL,
    ITEM,
    Select,
    allowed_expansion,
    choose,
    pickle_error,
    refuse_decoded,
    refuse_expansion,
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
