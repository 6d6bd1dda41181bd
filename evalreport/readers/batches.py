"""Files read batch by batch: the columns that are wanted, and never more rows than a batch.

What the readers of whole files refuse for the memory that it would take, costs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from evalreport.core.errors import DataError
from evalreport.readers.arrow import FILE, refuse_old
from evalreport.readers.arrow_types import Array, check_schema, is_text, to_arrays
from evalreport.readers.content import wrap_format_errors
from evalreport.readers.csv import Kind, text_batches, text_head
from evalreport.readers.json import columns_of, records_of
from evalreport.readers.limits import GZIP, ZSTD, choose, unpacking

ROWS = 1 << 18
"""Rows of a batch: 2 MB for each column of numbers."""
CELLS = 1 << 21
"""Numbers of a batch, where many columns are read."""
BYTES = 16 * 1024**2
"""Bytes of text that make a batch."""
PAGE = 1024**2
"""Bytes of a Parquet file that are read at a time."""
HEAD = 4 * 1024**2
"""Bytes that tell the layout of a text."""

Batch: TypeAlias = Mapping[str, Array]


@dataclass(frozen=True)
class Opened:
    """A file whose head was read.

    Parameters
    ----------
    names : tuple of str
        All its columns.
    kinds : mapping from name to str
        Types of the columns, in Arrow's words; empty where a file says nothing of types.
    rows : int or None
        Where the file says it.
    batches : callable
        From the names of wanted columns to their batches, in order.
    settle : callable, optional
        Of texts: looks at all of some columns, and returns what they hold; what is put there holds.
    span : callable
        From the name of a column without gaps to the least and greatest of its whole numbers, where the
        file says them.
    preview : callable, optional
        From the names of columns to their first rows, whose types are of these rows only; else the first
        batch.
    """

    names: tuple[str, ...]
    kinds: Mapping[str, str]
    rows: int | None
    batches: Callable[[Collection[str]], Iterator[Batch]]
    settle: Callable[[Collection[str]], dict[str, Kind]] | None = None
    span: Callable[[str], tuple[int, int] | None] = lambda _: None
    preview: Callable[[Collection[str]], Batch] | None = None


def _rows(columns: Collection[str]) -> int:
    """Rows of a batch of so many columns."""
    return min(ROWS, max(CELLS // max(len(columns), 1), 1))


def open_parquet(path: Path) -> Opened:
    """Open a Parquet file: its footer alone is read.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pyarrow import parquet
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     parquet.write_table(pa.table({"score": [0.25, 0.5]}), Path(folder) / "rows.parquet")
    ...     opened = open_parquet(Path(folder) / "rows.parquet")
    ...     opened.rows, [batch["score"].tolist() for batch in opened.batches(["score"])]
    (2, [[0.25, 0.5]])
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with wrap_format_errors("Parquet", pa.ArrowException):
        metadata = pq.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()

    def batches(wanted: Collection[str]) -> Iterator[Batch]:
        chosen = choose(schema.names, lambda names: [name for name in names if name in wanted])
        check_schema(schema, chosen)
        texts = [name for name in chosen if is_text(schema.field(name).type)]
        # pages are fetched as they are needed; fetched beforehand, all that were read would stay in memory
        plain = {"pre_buffer": False, "buffer_size": PAGE, "read_dictionary": texts}
        with wrap_format_errors("Parquet", pa.ArrowException), pq.ParquetFile(path, **plain) as file:
            for batch in file.iter_batches(_rows(chosen), columns=list(chosen), use_threads=False):
                yield to_arrays(pa.Table.from_batches([batch]).select(list(chosen)))

    kinds = _kinds(schema)

    def span(name: str) -> tuple[int, int] | None:
        return _span(metadata, name) if kinds.get(name, "").startswith("int") else None

    return Opened(tuple(schema.names), kinds, metadata.num_rows, batches, span=span)


def _span(metadata: Any, name: str) -> tuple[int, int] | None:
    place = [metadata.schema.column(index).path for index in range(metadata.num_columns)].index(name)
    groups = [metadata.row_group(group).column(place) for group in range(metadata.num_row_groups)]
    told = [group.statistics for group in groups if group.is_stats_set]
    known = [(one.min, one.max) for one in told if one.has_min_max and one.null_count == 0]
    if not known or len(known) < len(groups):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def open_arrow(path: Path) -> Opened:
    """Open a Feather or Arrow IPC file, or a stream of it."""
    import pyarrow as pa

    def reader(file: Any, wanted: list[int] | None = None) -> Any:
        options = pa.ipc.IpcReadOptions(included_fields=wanted, use_threads=False)
        with path.open("rb") as head:
            begin = head.read(len(FILE))
        refuse_old(begin)
        is_file = begin == FILE
        return (pa.ipc.open_file if is_file else pa.ipc.open_stream)(file, options=options)

    with wrap_format_errors("Arrow", pa.ArrowException), pa.OSFile(str(path)) as file:
        schema = reader(file).schema

    def batches(wanted: Collection[str]) -> Iterator[Batch]:
        chosen = choose(schema.names, lambda names: [name for name in names if name in wanted])
        check_schema(schema, chosen)
        places = [schema.get_field_index(name) for name in chosen]
        with wrap_format_errors("Arrow", pa.ArrowException), pa.OSFile(str(path)) as file:
            opened = reader(file, places)
            several = getattr(opened, "num_record_batches", None)
            found = opened if several is None else (opened.get_batch(place) for place in range(several))
            for batch in found:
                table = pa.Table.from_batches([batch]).select(list(chosen))
                table.validate(full=True)
                rows = _rows(chosen)
                yield from (to_arrays(table.slice(at, rows)) for at in range(0, len(table), rows))

    return Opened(tuple(schema.names), _kinds(schema), None, batches)


def open_delimited(path: Path) -> Opened:
    """Open a CSV file or its kin; what its columns hold is settled by a pass over all of them."""
    with _stream(path) as stream:
        head = text_head(stream.read(HEAD))
    kinds: dict[str, Kind] = {}

    def texts(wanted: Collection[str]) -> Iterator[Any]:
        chosen = choose(head.names, lambda names: [name for name in names if name in wanted])
        with _stream(path) as stream:
            yield from text_batches(stream, head, chosen)

    def settle(wanted: Collection[str]) -> dict[str, Kind]:
        unknown = [name for name in wanted if name in head.names and name not in kinds]
        for table in texts(unknown) if unknown else ():
            for name in table.column_names:
                kind = Kind.from_column(table.column(name))
                kinds[name] = kinds[name] & kind if name in kinds else kind
        return kinds

    def batches(wanted: Collection[str]) -> Iterator[Batch]:
        settle(wanted)
        for table in texts(wanted):
            yield {name: kinds[name].convert_part(table.column(name), name) for name in table.column_names}

    def preview(wanted: Collection[str]) -> Batch:
        for table in texts(wanted):
            names = table.column_names
            return {
                name: Kind.from_column(table.column(name)).convert_part(table.column(name), name)
                for name in names
            }
        return {}

    return Opened(head.names, {}, None, batches, settle, preview=preview)


def open_json_lines(path: Path) -> Opened:
    """Open a file of one JSON record a line; its columns are those of the first megabytes."""

    with _stream(path) as stream:
        names = records_of(stream.readlines(HEAD), 1)[0]

    def batches(wanted: Collection[str]) -> Iterator[Batch]:
        first, chosen = 1, [name for name in names if name in wanted]
        with _stream(path) as stream:
            while lines := stream.readlines(BYTES):
                yield columns_of(lines, first, chosen)
                first += len(lines)

    return Opened(names, {}, None, batches)


def _kinds(schema: Any) -> Mapping[str, str]:
    from pyarrow import types

    def kind(field: Any) -> str:
        plain = field.type.value_type if types.is_dictionary(field.type) else field.type
        return "text" if is_text(plain) else str(plain)

    return {field.name: kind(field) for field in schema}


@contextmanager
def _stream(path: Path) -> Iterator[Any]:
    """Open a text file, unpacked where it is packed."""
    import gzip
    import io

    import pyarrow as pa

    with path.open("rb") as file:
        head = file.read(4)
    if not head:
        raise DataError("the file is empty", fix="check the program that wrote it")
    if head.startswith(GZIP):
        with unpacking("gzip"), gzip.open(path, "rb") as packed:
            yield packed
    elif head.startswith(ZSTD):
        with unpacking("zstd"), io.BufferedReader(pa.CompressedInputStream(str(path), "zstd")) as unpacked:
            yield unpacked
    else:
        with path.open("rb") as file:
            yield file
