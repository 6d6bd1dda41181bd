"""Parquet: footer and schema are judged before a page is read, and only wanted columns are."""

from __future__ import annotations

from typing import Any

from evalreport.sources.readers.arrow import Array, check_schema, is_text, to_arrays
from evalreport.sources.readers.content import Content, broken
from evalreport.sources.readers.limits import (
    ITEM,
    Select,
    choose,
    refuse_decoded,
    refuse_expansion,
    refuse_rows,
)


def read_parquet(data: bytes, select: Select | None) -> Content:
    """Return the wanted columns of a Parquet file.

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
