"""Feather and Arrow IPC, as a file or as a stream (`.arrow` files of Hugging Face datasets)."""

from __future__ import annotations

import struct
from typing import Any

from evalreport.errors import DataError
from evalreport.sources.readers.arrow import check_schema, to_arrays
from evalreport.sources.readers.content import Content, broken
from evalreport.sources.readers.ipc import FILE, claims
from evalreport.sources.readers.limits import (
    ITEM,
    Select,
    choose,
    refuse_decoded,
    refuse_expansion,
)

STREAM = b"\xff\xff\xff\xff"
OLD_FEATHER = b"FEA1"


def read_feather(data: bytes, select: Select | None) -> Content:
    """Return the wanted columns of an Arrow file or stream.

    Raises
    ------
    DataError
        Truncated or broken, Feather version 1, wanted columns of other types.
    UnsafeFileError
        Extension types; batches that expand too far.
    """
    import pyarrow as pa

    if data.startswith(OLD_FEATHER):
        raise DataError("the file is Feather version 1", fix="write it again as Feather version 2 or Parquet")
    with broken("Arrow", pa.ArrowException):
        schema = _open(data).schema
        names = tuple(schema.names)
    chosen = choose(names, select)
    check_schema(schema, chosen)
    with broken("Arrow", pa.ArrowException, struct.error):
        for claim in claims(data):  # a batch is expanded as a whole before its size can be asked for
            refuse_expansion(claim, len(data))
        wanted = [schema.get_field_index(name) for name in chosen]
        reader = _open(data, pa.ipc.IpcReadOptions(included_fields=wanted, use_threads=False))
        table = pa.Table.from_batches(_bounded(reader, len(data)), reader.schema)
        table.validate(full=True)
        columns = to_arrays(table.select(list(chosen)))
    return Content(names, columns)


def _open(data: bytes, options: Any = None) -> Any:
    import pyarrow as pa

    if data.startswith(FILE):
        return pa.ipc.open_file(pa.BufferReader(data), options=options)
    return pa.ipc.open_stream(pa.BufferReader(data), options=options)


def _bounded(reader: Any, packed: int) -> list[Any]:
    from pyarrow import types

    batches, expanded, rows, items = [], 0, 0, 0
    for batch in _batches(reader):
        expanded += batch.nbytes
        rows += batch.num_rows
        items += sum(len(column.flatten()) for column in batch.columns if types.is_nested(column.type))
        refuse_expansion(expanded, packed)
        refuse_decoded(rows * batch.num_columns, packed)
        refuse_decoded(items, packed, each=ITEM)
        batches.append(batch)
    return batches


def _batches(reader: Any) -> Any:
    if hasattr(reader, "num_record_batches"):
        return (reader.get_batch(index) for index in range(reader.num_record_batches))
    return iter(reader)
