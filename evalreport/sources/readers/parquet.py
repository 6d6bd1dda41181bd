"""Parquet: footer and schema are judged before a page is read, and only wanted columns are."""

from __future__ import annotations

from typing import Any

from evalreport.errors import DataError
from evalreport.sources.readers.arrow import Array, check_schema, is_text, to_arrays
from evalreport.sources.readers.content import Content, broken
from evalreport.sources.readers.limits import MAX_EXPANDED, Select, choose, refuse_expansion, refuse_rows


def read_parquet(data: bytes, select: Select | None) -> Content:
    """Return the wanted columns of a Parquet file.

    Raises
    ------
    DataError
        Truncated or broken; too many rows or columns; wanted columns of other types.
    UnsafeFileError
        Extension types; pages that expand too far.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with broken("Parquet", pa.ArrowException):
        schema = pq.read_schema(pa.BufferReader(data))
        names = tuple(schema.names)
    chosen = choose(names, select)
    check_schema(schema, chosen)
    texts = [name for name in chosen if is_text(schema.field(name).type)]
    with broken("Parquet", pa.ArrowException):
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
        _check_size(file.metadata, set(chosen), len(data))
        table = file.read(columns=list(chosen), use_pandas_metadata=False)
        # A name with a dot also selects what it is a prefix of.
        columns: dict[str, Array] = dict(to_arrays(table.select(list(chosen))))
    return Content(names, columns)


def _check_size(metadata: Any, chosen: set[str], packed: int) -> None:
    refuse_rows(metadata.num_rows)
    decoded = 8 * metadata.num_rows * len(chosen)
    if decoded > MAX_EXPANDED:
        raise DataError(
            f"{metadata.num_rows:,} rows of {len(chosen):,} columns need over 4 GB",
            fix="evaluate a sample, or name fewer score columns with --scores",
        )
    groups = (metadata.row_group(index) for index in range(metadata.num_row_groups))
    pages = 0
    for group in groups:
        for index in range(group.num_columns):
            column = group.column(index)
            if column.path_in_schema.split(".")[0] in chosen or column.path_in_schema in chosen:
                pages += column.total_uncompressed_size
    refuse_expansion(pages, packed)
