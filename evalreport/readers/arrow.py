"""Feather and Arrow IPC, as a file or as a stream (`.arrow` files of Hugging Face datasets).

Parquet: footer and schema are checked before a page is read, and only used columns are read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from evalreport.core.errors import DataError
from evalreport.readers.content import (
    Array,
    Content,
    check_schema,
    is_readable,
    is_text,
    to_arrays,
    wrap_format_errors,
)
from evalreport.readers.limits import ITEM, Select, choose, refuse_decoded, refuse_expansion, refuse_rows

_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2
"""Kinds of message: the tags of `MessageHeader` in Arrow's Message.fbs."""
_HEADER_TYPE, _HEADER = 1, 2
"""Places of the fields of a message."""
_DATA = 1
"""Place of the batch within a dictionary."""
_BUFFERS, _COMPRESSION = 2, 3
"""Places of the fields of a batch."""
FILE = b"ARROW1"
_MAGIC = 8
"""Bytes before the first message of a file: the six letters, padded to eight."""


def claims(data: bytes) -> Iterator[int]:
    """Yield how many bytes each batch of a file or stream expands to.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    struct.error
        A head that leads out of itself.
    """
    import pyarrow as pa

    start = _MAGIC if data.startswith(FILE) else 0
    reader = pa.ipc.MessageReader.open_stream(pa.py_buffer(data).slice(start))
    try:
        for message in reader:
            yield _claim(message.metadata.to_pybytes(), message.body)
    except pa.ArrowException:  # after the last message: the reader of the file says what is broken
        return


def _claim(head: bytes, body: Any) -> int:
    message = _root(head)
    kind = _field(head, message, _HEADER_TYPE)
    batch = _table(head, message, _HEADER)
    if kind is None or batch is None or head[kind] not in (_RECORD_BATCH, _DICTIONARY_BATCH):
        return 0
    if head[kind] == _DICTIONARY_BATCH:
        batch = _table(head, batch, _DATA)
    buffers = None if batch is None else _table(head, batch, _BUFFERS)
    if batch is None or buffers is None or _field(head, batch, _COMPRESSION) is None:
        return 0 if body is None else int(body.size)
    (count,) = struct.unpack_from("<I", head, buffers)
    places = struct.iter_unpack("<qq", head[buffers + 4 : buffers + 4 + 16 * count])
    return sum(_decompressed_buffer_size(body, offset, length) for offset, length in places)


def _decompressed_buffer_size(body: Any, offset: int, length: int) -> int:
    """Return the size of a buffer, which precedes it; -1 means uncompressed."""
    if length < 8:
        return 0
    held = b"" if offset < 0 else body.slice(offset, 8).to_pybytes()  # too few bytes for a size
    (size,) = struct.unpack("<q", held)
    return length if size < 0 else int(size)


def _root(head: bytes) -> int:
    (root,) = struct.unpack_from("<I", head, 0)
    return int(root)


def _field(head: bytes, table: int, place: int) -> int | None:
    """Return the position of a field of a table; None where it is not set."""
    (back,) = struct.unpack_from("<i", head, table)
    known, _ = struct.unpack_from("<HH", head, table - back)
    if 4 + 2 * place >= known:
        return None
    (offset,) = struct.unpack_from("<H", head, table - back + 4 + 2 * place)
    return table + offset if offset else None


def _table(head: bytes, table: int, place: int) -> int | None:
    """Return where the table or vector is that a field points to."""
    at = _field(head, table, place)
    if at is None:
        return None
    (offset,) = struct.unpack_from("<I", head, at)
    return at + int(offset)


STREAM = b"\xff\xff\xff\xff"
OLD_FEATHER = b"FEA1"


def refuse_old(head: bytes) -> None:
    """Refuse what begins as Feather version 1 does, which Arrow no longer reads.

    Raises
    ------
    DataError
    """
    if head.startswith(OLD_FEATHER):
        raise DataError("the file is Feather version 1", fix="write it again as Feather version 2 or Parquet")


def read_feather(data: bytes, select: Select | None, *, sample: bool = False) -> Content:
    """Return the wanted columns of an Arrow file or stream; of a sample, the rows of three batches.

    Raises
    ------
    DataError
        Truncated or broken, Feather version 1, wanted columns of other types.
    UnsafeFileError
        Extension types; batches that expand too far.
    """
    import pyarrow as pa

    refuse_old(data)
    with wrap_format_errors("Arrow", pa.ArrowException):
        schema = _open(data).schema
        names = tuple(schema.names)
    chosen = choose(names, readable_columns(schema) if sample else select)
    check_schema(schema, chosen)
    with wrap_format_errors("Arrow", pa.ArrowException, struct.error):
        for claim in claims(data):  # a batch is expanded as a whole before its size can be asked for
            refuse_expansion(claim, len(data))
        wanted = [schema.get_field_index(name) for name in chosen]
        reader = _open(data, pa.ipc.IpcReadOptions(included_fields=wanted, use_threads=False))
        batches = _read_limited_batches(sampled_batches(reader) if sample else _batches(reader), len(data))
        table = pa.Table.from_batches(batches, reader.schema)
        table.validate(full=True)
        columns = to_arrays(table.select(list(chosen)))
    return Content(names, columns)


def _open(data: bytes, options: Any = None) -> Any:
    import pyarrow as pa

    if data.startswith(FILE):
        return pa.ipc.open_file(pa.BufferReader(data), options=options)
    return pa.ipc.open_stream(pa.BufferReader(data), options=options)


def _read_limited_batches(found: Iterable[Any], packed: int) -> list[Any]:
    from pyarrow import types

    batches, expanded, rows, items = [], 0, 0, 0
    for batch in found:
        expanded += batch.nbytes
        rows += batch.num_rows
        items += sum(len(column.flatten()) for column in batch.columns if types.is_nested(column.type))
        refuse_expansion(expanded, packed)
        refuse_decoded(rows * batch.num_columns, packed)
        refuse_decoded(items, packed, each=ITEM)
        batches.append(batch)
    return batches


def readable_columns(schema: Any) -> Select:
    """Return the choice of the columns with a type that is read."""
    return lambda _: [field.name for field in schema if is_readable(field.type)]


def sampled_batches(reader: Any) -> Iterator[Any]:
    """Yield the first rows of three batches of an opened file, or of the first batch of a stream."""
    if not hasattr(reader, "num_record_batches"):
        yield from (batch.slice(0, PIECE) for batch in islice(iter(reader), 1))
        return
    for place in spread_places(reader.num_record_batches):
        yield reader.get_batch(place).slice(0, PIECE)


def spread_places(count: int) -> list[int]:
    """Return the first, the middle and the last of some numbered parts.

    Examples
    --------
    >>> spread_places(9), spread_places(1)
    ([0, 4, 8], [0])
    """
    return sorted({0, count // 2, count - 1}) if count else []


PIECE = 1000
"""Rows of each part of a sample."""


def _batches(reader: Any) -> Any:
    if hasattr(reader, "num_record_batches"):
        return (reader.get_batch(index) for index in range(reader.num_record_batches))
    return iter(reader)


def sampled_groups(file: Any, chosen: Sequence[str]) -> Any:
    """Return the first rows of the first, the middle and the last row group of a Parquet file."""
    import pyarrow as pa

    found: list[Any] = []
    for place in spread_places(file.num_row_groups):
        rows = file.iter_batches(PIECE, row_groups=[place], columns=list(chosen), use_threads=False)
        found += islice(rows, 1)
    return pa.Table.from_batches(found) if found else file.schema_arrow.empty_table()


def read_parquet(data: bytes, select: Select | None, *, sample: bool = False) -> Content:
    """Return the wanted columns of a Parquet file; of a sample, the first rows of three row groups.

    Raises
    ------
    DataError
        Truncated or broken; too many rows or columns; wanted columns of other types.
    UnsafeFileError
        Extension types; pages that expand too far.

    Examples
    --------
    >>> import io
    >>> import pyarrow as pa
    >>> from pyarrow import parquet
    >>> file = io.BytesIO()
    >>> parquet.write_table(pa.table({"score": [0.25, 0.5], "note": ["a", "b"]}), file)
    >>> found = read_parquet(file.getvalue(), lambda names: [name for name in names if name == "score"])
    >>> found.names, found.columns["score"].tolist()
    (('score', 'note'), [0.25, 0.5])
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with wrap_format_errors("Parquet", pa.ArrowException):
        schema = pq.read_schema(pa.BufferReader(data))
        names = tuple(schema.names)
    chosen = choose(names, readable_columns(schema) if sample else select)
    check_schema(schema, chosen)
    texts = [name for name in chosen if is_text(schema.field(name).type)]
    with wrap_format_errors("Parquet", pa.ArrowException):
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
        _check_size(file.metadata, set(chosen), len(data))
        table = (
            sampled_groups(file, chosen)
            if sample
            else file.read(columns=list(chosen), use_pandas_metadata=False)
        )
        # A name with a dot also selects what it is a prefix of.
        columns: dict[str, Array] = dict(to_arrays(table.select(list(chosen))))
    return Content(names, columns)


def _check_size(metadata: Any, chosen: set[str], packed: int) -> None:
    """Judge by the footer how much would be built: rows of each column, items of lists, bytes of pages."""
    refuse_rows(metadata.num_rows)
    refuse_decoded(metadata.num_rows * len(chosen), packed)
    pages = items = 0
    for group in range(metadata.num_row_groups):
        for index in range(metadata.num_columns):
            column = metadata.row_group(group).column(index)
            name = column.path_in_schema
            if name in chosen or name.split(".")[0] in chosen:
                pages += column.total_uncompressed_size
                items += column.num_values if "." in name else 0
    refuse_decoded(items, packed, each=ITEM)
    refuse_expansion(pages, packed)
