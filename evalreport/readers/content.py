"""The result of a reader, Arrow columns as NumPy arrays, and the translation of library errors.

Arrow columns are read through their buffers: `ChunkedArray.to_numpy` would import pandas (0.5 s), and reads a
gap in a dictionary column as its last entry (pyarrow 25.0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, EvalreportError, UnsafeFileError
from evalreport.readers.limits import refuse_cell, too_little_memory


@dataclass(frozen=True, eq=False)
class Content:
    """The names of everything in the file, and the arrays that were wanted.

    Parameters
    ----------
    names : tuple of str
        All columns, in the file's order, also those that were not read.
    columns : mapping from name to array
    parts : mapping from part to column
        What the format itself says of the columns: of an evaluation's log which one is the answer.
    notes : tuple of str
        What is reported of rows that were not read.
    """

    names: tuple[str, ...]
    columns: Mapping[str, Array]
    parts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@contextmanager
def in_file(source: str) -> Iterator[None]:
    """Put the file's name before what an error says of the place.

    Examples
    --------
    >>> with in_file("scores.csv"):
    ...     raise DataError("3 values are NaN", where="row 17")
    Traceback (most recent call last):
    evalreport.core.errors.DataError: 3 values are NaN
    """
    try:
        yield
    except EvalreportError as error:
        raise error if error.where.startswith(source) else error.with_location(source)  # noqa: B904 (its own kind)
    except MemoryError as error:
        raise too_little_memory().with_location(source) from error


@contextmanager
def wrap_format_errors(kind: str, *library_errors: type[Exception]) -> Iterator[None]:
    """Turn what a library raises on bad bytes into one `DataError`.

    Parameters
    ----------
    kind : str
        Name of the format.
    library_errors : exception classes of the library, beside ValueError, OSError and EOFError

    Examples
    --------
    >>> with wrap_format_errors("Parquet"):
    ...     raise OSError("Couldn't deserialize thrift")
    Traceback (most recent call last):
    evalreport.core.errors.DataError: the file is not whole Parquet: Couldn't deserialize thrift
    """
    expected: tuple[type[Exception], ...] = (ValueError, OSError, EOFError, *library_errors)
    try:
        yield
    except MemoryError as error:
        raise too_little_memory() from error
    except (FileNotFoundError, PermissionError):
        raise  # no word of what the file holds
    except expected as error:
        reason = " ".join(str(error).split()).removesuffix(".")[:160] or type(error).__name__
        raise DataError(
            f"the file is not whole {kind}: {reason}", fix="write or download the file again"
        ) from error


Array = npt.NDArray[Any]


def check_schema(schema: Any, chosen: Iterable[str]) -> None:
    """Refuse a schema that could run code or that holds wanted columns of a type without labels or scores.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of the whole file; no value has been read yet.
    chosen : names of the columns that will be read

    Raises
    ------
    UnsafeFileError
        An extension type in any column (CVE-2023-47248: they ran code in pyarrow before 14.0.1).
    DataError
        A wanted column that is a map or binary.
    """
    import pyarrow as pa

    for column in schema:
        marked = b"ARROW:extension:name" in (column.metadata or {})
        if marked or isinstance(column.type, pa.BaseExtensionType):
            raise UnsafeFileError(
                f"column {column.name!r} has an Arrow extension type, which is refused",
                where=f"column {column.name!r}",
                fix="write the column as text or numbers",
            )
    for name in chosen:
        if not is_readable(schema.field(name).type):
            raise DataError(
                f"column {name!r} holds {schema.field(name).type}, not labels, numbers or text",
                where=f"column {name!r}",
                fix="write the column as text, numbers, or lists of these",
            )


def is_text(kind: Any) -> bool:
    """Tell whether an Arrow type is text."""
    from pyarrow import types

    is_view = getattr(types, "is_string_view", lambda _: False)  # of pyarrow 16 and newer
    return bool(types.is_string(kind) or types.is_large_string(kind) or is_view(kind))


def is_list(kind: Any) -> bool:
    """Tell whether an Arrow type is a list of any layout."""
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def is_readable(kind: Any) -> bool:
    """Tell whether an Arrow type holds labels, numbers or text, or lists of these."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return is_readable(kind.value_type) and not types.is_nested(kind.value_type)
    if is_list(kind):
        return is_readable(kind.value_type)
    if types.is_struct(kind):
        return all(is_readable(field.type) for field in kind)
    if is_text(kind) or types.is_null(kind) or types.is_boolean(kind):
        return True
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    is_time = types.is_temporal(kind) and not (types.is_duration(kind) or types.is_interval(kind))
    return bool(numeric or is_time)


def to_arrays(table: Any) -> Mapping[str, Array]:
    """Return the columns of an Arrow table as read-only arrays, dtypes as stored.

    Text becomes an object array of str (equal texts are one object), gaps become None in text and
    lists, NaN in numbers.
    """
    return {name: to_array(table.column(name), name) for name in table.column_names}


def to_array(column: Any, name: str) -> Array:
    """Return one chunked column as an array."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind) and not is_text(kind.value_type):
        column = column.cast(kind.value_type)
        kind = column.type
    if types.is_temporal(kind):
        column = column.cast(pa.large_string())
    elif types.is_decimal(kind):
        return _decimals(column)
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    kind = array.type
    if types.is_dictionary(kind) or is_text(kind):
        return _text(array, name)
    if is_list(kind) and types.is_floating(kind.value_type):
        matrix = _matrix(array)
        if matrix is not None:
            return matrix
    if types.is_null(kind) or is_list(kind) or types.is_nested(kind):  # 15.0 calls fixed sizes not nested
        return _objects(array.to_pylist())
    return _numbers(array)


def _decimals(column: Any) -> Array:
    """Return decimals as floats, or as whole numbers of any size where all are whole."""
    values = column.to_pylist()
    known = [value for value in values if value is not None]
    if not all(value == value.to_integral_value() for value in known):
        return np.array([np.nan if value is None else float(value) for value in values])
    return whole_numbers([None if value is None else int(value) for value in values])


def whole_numbers(values: Sequence[int | None]) -> Array:
    """Return whole numbers as int64, with gaps as float64, or as objects where these would not be exact.

    Examples
    --------
    >>> whole_numbers([1, None]), whole_numbers([1, 2**63])
    (array([ 1., nan]), array([1, 9223372036854775808], dtype=object))
    """
    try:
        numbers = np.array([0 if value is None else value for value in values], dtype=np.int64)
    except OverflowError:
        return _objects(list(values))
    return with_gaps(numbers, np.array([value is None for value in values], dtype=bool))


def _matrix(array: Any) -> Array | None:
    """Return lists of one length as an array of shape (n, length), or None where they are not."""
    import pyarrow.compute as pc

    flat = array.flatten()
    if array.null_count or flat.null_count or not len(array):
        return None
    width = pc.list_value_length(array).unique()
    if len(width) != 1 or not width[0].as_py():
        return None
    return _numbers(flat).reshape(len(array), width[0].as_py())


def _numbers(array: Any) -> Array:
    import pyarrow as pa
    from pyarrow import types

    is_bool = types.is_boolean(array.type)
    if is_bool:
        array = array.cast(pa.uint8())
    start, stop = array.offset, array.offset + len(array)
    dtype = np.dtype({"halffloat": "f2", "float": "f4", "double": "f8"}.get(str(array.type), str(array.type)))
    values = np.frombuffer(array.buffers()[1] or b"", dtype=dtype)[start:stop]
    if is_bool:
        values = values.astype(bool)
    return with_gaps(values, _gaps(array)) if array.null_count else values


def with_gaps(values: Array, gaps: npt.NDArray[np.bool_]) -> Array:
    """Return numbers with NaN in the gaps; what a float cannot hold exactly becomes objects with None.

    Examples
    --------
    >>> with_gaps(np.array([1, 0]), np.array([False, True]))
    array([ 1., nan])
    """
    if not gaps.any():
        return values
    if values.dtype.kind == "f":
        wide = values.copy()
        wide[gaps] = np.nan
        return wide
    known = values[~gaps]
    if values.dtype.kind == "b" or (known.size and int(np.abs(known.astype(np.float64)).max()) >= 2**53):
        kept = values.astype(object)
        kept[gaps] = None
        return kept
    return np.where(gaps, np.nan, values)


def _gaps(array: Any) -> npt.NDArray[np.bool_]:
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], dtype=np.uint8), bitorder="little")
    gaps: npt.NDArray[np.bool_] = bits[array.offset : array.offset + len(array)] == 0
    return gaps


def _text(array: Any, name: str) -> Array:
    import pyarrow as pa
    from pyarrow import types

    if not types.is_dictionary(array.type):
        array = array.cast(pa.large_string()).dictionary_encode()
    words = array.dictionary.cast(pa.large_string())
    offsets = np.frombuffer(words.buffers()[1] or b"", dtype=np.int64)[words.offset :][: len(words) + 1]
    refuse_cell(int(np.diff(offsets).max(initial=0)), name)
    codes = _numbers(array.indices.cast(pa.int64()))
    if array.indices.null_count:
        codes = np.where(np.isnan(codes), len(words), codes).astype(np.int64)
    return _objects([*words.to_pylist(), None])[codes]


def _objects(values: list[Any]) -> Array:
    return np.fromiter(values, dtype=object, count=len(values))
