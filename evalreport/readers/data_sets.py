"""Several files that are one table, read in batches: a folder, a pattern, or files by name.

Their columns are compared first. Columns may also be in the names of folders, as Spark and Hive write them:
`country=de/part-0.parquet`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from glob import glob, has_magic
from mmap import ACCESS_READ, mmap
from operator import and_
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote

import numpy as np

from evalreport.core.errors import DataError, EvalreportError, FileMissingError, UsageError
from evalreport.data.arrays import stack
from evalreport.readers.arrow import FILE, refuse_old, sampled_batches, sampled_groups, spread_places
from evalreport.readers.content import Array, check_schema, in_file, is_text, to_arrays, wrap_format_errors
from evalreport.readers.csv import Kind, read_delimited, sample_lines, text_batches, text_head
from evalreport.readers.formats import accepted_suffixes, reader_of, unpacked_name
from evalreport.readers.json import columns_of, records_of
from evalreport.readers.limits import GZIP, ZSTD, choose, readable, unpacking

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
        From the names of columns to some of their rows, whose types are of these rows only; else the first
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
    """Open a Parquet file: only its footer is read.

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

    def preview(wanted: Collection[str]) -> Batch:
        chosen = choose(schema.names, lambda names: [name for name in names if name in wanted])
        check_schema(schema, chosen)
        with wrap_format_errors("Parquet", pa.ArrowException), pq.ParquetFile(path) as file:
            return to_arrays(sampled_groups(file, chosen).select(list(chosen)))

    return Opened(tuple(schema.names), kinds, metadata.num_rows, batches, span=span, preview=preview)


def _span(metadata: Any, name: str) -> tuple[int, int] | None:
    place = [metadata.schema.column(index).path for index in range(metadata.num_columns)].index(name)
    groups = [metadata.row_group(group).column(place) for group in range(metadata.num_row_groups)]
    statistics = [group.statistics for group in groups if group.is_stats_set]
    known = [(one.min, one.max) for one in statistics if one.has_min_max and one.null_count == 0]
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

    def preview(wanted: Collection[str]) -> Batch:
        chosen = choose(schema.names, lambda names: [name for name in names if name in wanted])
        check_schema(schema, chosen)
        places = [schema.get_field_index(name) for name in chosen]
        with wrap_format_errors("Arrow", pa.ArrowException), pa.OSFile(str(path)) as file:
            opened = reader(file, places)
            table = pa.Table.from_batches(sampled_batches(opened), opened.schema).select(list(chosen))
            table.validate(full=True)
            return to_arrays(table)

    return Opened(tuple(schema.names), _kinds(schema), None, batches, preview=preview)


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
        with suppress(EvalreportError):  # a quoted line break behind the head
            if not head.quoted and (lines := _sampled_lines(path)):
                return read_delimited(lines, {*wanted}.intersection).columns
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

    def preview(wanted: Collection[str]) -> Batch:
        chosen = [name for name in names if name in wanted]
        lines = _sampled_lines(path)
        return columns_of(lines.splitlines(keepends=True), 1, chosen) if lines else next(batches(wanted), {})

    return Opened(names, {}, None, batches, preview=preview)


def _sampled_lines(path: Path) -> bytes:
    """Return lines of several places of a text file; none of a packed one."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as view:
        return b"" if view[:4].startswith((GZIP, ZSTD)) else sample_lines(view)


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


STREAMED: Mapping[str, Callable[[Path], Opened]] = {
    "parquet": open_parquet,
    "arrow": open_arrow,
    "csv": open_delimited,
    "jsonl": open_json_lines,
}
"""Formats that are read batch by batch, with how a file of each is opened."""
FLOATS = {"halffloat": 2, "float": 4, "double": 8}
"""Arrow's names of floating-point numbers, with their bytes: a mix is widened."""
DELTA = "_delta_log"
LOGS = {"Delta": DELTA, "Hudi": ".hoodie", "Iceberg": "metadata/*.metadata.json"}
"""Where tables whose files do not tell what they hold now keep that."""


def stack_parts(parts: Sequence[Array]) -> Array:
    """Return one column of its parts; lists of one length in some of them stay lists."""
    if len({part.shape[1:] for part in parts}) == 1:
        return stack(parts)
    rows = [row for part in parts for row in part.tolist()]
    return np.fromiter(rows, dtype=object, count=len(rows))


T = TypeVar("T", str, int, str | int)


@dataclass(frozen=True, eq=False)
class DataSet:
    """Files that hold one table, each with the same columns.

    Parameters
    ----------
    files : tuple of Path
    opened : tuple of Opened
    format : str
        One of `STREAMED`.
    """

    files: tuple[Path, ...]
    opened: tuple[Opened, ...]
    format: str

    @property
    def names(self) -> tuple[str, ...]:
        """All columns of the first file."""
        return self.opened[0].names

    @property
    def rows(self) -> int | None:
        """How many rows there are, where the files say it."""
        counts = [one.rows for one in self.opened]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self.files)

    @cached_property
    def sha256(self) -> str:
        """Digest of the bytes of all files, one after the other."""
        digest = hashlib.sha256()
        for path in self.files:
            with in_file(str(path)), readable(path), path.open("rb") as stream:
                hashlib.file_digest(stream, lambda: digest)
        return digest.hexdigest()

    def settle_columns(self, wanted: Collection[str]) -> DataSet:
        """Compare the columns that are wanted, file by file, and settle what texts hold.

        Raises
        ------
        DataError
            A file without one of them, or with one of another type; names both files.
        """
        for path, one in zip(self.files, self.opened, strict=True):
            for name in (name for name in self.names if name in wanted):
                self._check(path, one, name)
        if self.opened[0].settle is None:
            return self
        found = []
        for path, one in zip(self.files, self.opened, strict=True):
            with in_file(str(path)), readable(path):
                found += [] if one.settle is None else [one.settle(wanted)]
        for name in {name for kinds in found for name in kinds}:  # a file without rows tells none
            kind = reduce(and_, [kinds[name] for kinds in found if name in kinds])
            for kinds in found:
                kinds[name] = kind
        return self

    def _check(self, path: Path, one: Opened, name: str) -> None:
        if name not in one.names:
            raise DataError(
                f"{path.name} has no column {name!r}, and {self.files[0].name} has",
                where=str(path),
                fix="write every file with the same columns",
            )
        kinds = [opened.kinds.get(name, "") for opened in (self.opened[0], one)]
        if len({_family(kind) for kind in kinds}) > 1:
            raise DataError(
                f"column {name!r} is {kinds[0]} in {self.files[0].name} and {kinds[1]} in {path.name}",
                where=str(path),
                fix="write every file with the same types",
            )

    def batches(self, wanted: Collection[str]) -> Iterator[tuple[Path, int, Batch]]:
        """Yield the batches of wanted columns, with their file and how many of its rows came before.

        A column has one type in all files: it is settled over all of them before the first batch.
        """
        self.settle_columns(wanted)
        wide = [name for name in wanted if self._is_mixed(name)]
        for path, one in zip(self.files, self.opened, strict=True):
            before, batches = 0, one.batches(wanted)
            while (batch := _next_batch(batches, path)) is not None:
                size = len(next(iter(batch.values()), ()))
                if size:
                    yield path, before, {**batch, **{name: batch[name].astype(np.float64) for name in wide}}
                before += size

    def first_batches(self, wanted: Collection[str]) -> Iterator[tuple[Path, int, Batch]]:
        """Yield batches to inspect the columns, as many as requested."""
        return self.batches(wanted)

    def preview(self, wanted: Collection[str]) -> Batch:
        """Return rows of some columns; text columns have the types of these rows only."""
        for path, one in zip(self.files, self.opened, strict=True):
            with in_file(str(path)), readable(path):
                batch = next(one.batches(wanted), {}) if one.preview is None else one.preview(wanted)
            if len(next(iter(batch.values()), ())):
                return batch
        return {}

    def sample(self, wanted: Collection[str]) -> Batch:
        """Return rows of the first, the middle and the last file, as `preview`.

        Files without rows, or with other columns than the first of them, are skipped; `batches`
        refuses them by name.
        """
        found = [
            replace(self, files=(self.files[place],), opened=(self.opened[place],)).preview(wanted)
            for place in spread_places(len(self.files))
        ]
        some = [batch for batch in found if batch]
        parts = [batch for batch in some if batch.keys() == some[0].keys()]
        return {name: stack_parts([batch[name] for batch in parts]) for name in (some[0] if some else ())}

    def gather_values(self, find: Callable[[DataSet], set[T]], wanted: Collection[str]) -> set[T]:
        """Return what a function finds in wanted columns of the rows, wherever these are."""
        del wanted
        return find(self)

    def distinct(self, wanted: Collection[str]) -> Iterator[tuple[Path, int, Batch]]:
        """Yield batches with every combination of the values of some columns, as often as it comes."""
        return self.batches(wanted)

    def neighbours(self, name: str) -> set[int]:
        """Return the two whole numbers of a column, or the one, where every file states it."""
        spans = [one.span(name) for one in self.opened]
        known = [span for span in spans if span is not None and span[1] - span[0] <= 1]
        return {number for span in known for number in span} if len(known) == len(spans) else set()

    def without_rows(self, clauses: Sequence[str] = ()) -> DataError:
        """Return the refusal of files of which no row is left."""
        return DataError(
            f"no row is left: {' and '.join(clauses)}" if clauses else "there are no rows",
            where=str(self.files[0]),
            fix="check --where, or the program that wrote them"
            if clauses
            else "check the program that wrote them",
        )

    def _is_mixed(self, name: str) -> bool:
        kinds = {one.kinds.get(name, "") for one in self.opened}
        return len(kinds) > 1 and kinds <= FLOATS.keys()


def data_set(paths: Sequence[str | Path], format: str | None = None) -> DataSet:
    """Open the files of a table.

    Parameters
    ----------
    paths : sequence of str or Path
        Files, folders (all files in them that can be read) and patterns with ``*``, ``?`` or ``[]``.
    format : str, optional
        One of `STREAMED`, where the names do not tell.

    Raises
    ------
    FileMissingError
        No such file, or none in the folder.
    UsageError
        Files of several formats, or of one that is not read batch by batch.
    DataError
        A file that is broken.
    """
    found = {file: folder_values(file, one) for one in map(str, paths) for file in _files(one)}
    files = [*found]
    formats = {path: format or reader_of(path.name, None).name for path in files}
    first = formats[files[0]]
    other = next((path for path in files if formats[path] != first), None)
    if other is not None:
        raise UsageError(
            f"{files[0].name} is {first} and {other.name} is {formats[other]}",
            where=str(other),
            fix="name files of one format, as in 'folder/*.parquet'",
        )
    if first not in STREAMED:
        raise UsageError(
            f"{first} is not read as a stream",
            where=str(files[0]),
            fix=f"write it as one of {', '.join(STREAMED)}, or use --set engine=memory",
        )
    opened = []
    for path in files:
        with in_file(str(path)), readable(path):
            opened.append(STREAMED[first](path))
    return DataSet(tuple(files), tuple(with_columns(opened, [*found.values()])), first)


def is_several(path: str) -> bool:
    """Return whether a path names a folder or a pattern of files.

    Examples
    --------
    >>> is_several("folder/*.parquet"), is_several("predictions.csv")
    (True, False)
    """
    return os.path.isdir(path) or (has_magic(path) and not os.path.exists(path))


def _files(path: str) -> list[Path]:
    if not is_several(path):
        if not os.path.exists(path):
            raise FileMissingError(f"file {Path(path).name} does not exist", where=path, fix="check the path")
        return [Path(path)]
    pattern = glob(path, recursive=True)  # noqa: PTH207 (a pattern may begin anywhere)
    inside = sorted(Path(path).rglob("*") if os.path.isdir(path) else map(Path, pattern))
    # a link to a file that was not fetched is one that is missing, not one fewer
    known = [
        one for one in inside if os.path.isfile(one) or (os.path.islink(one) and not os.path.exists(one))
    ]
    found = [one for one in known if not _is_marker(one, Path(path))]
    found = [one for one in found if Path(unpacked_name(one.name)).suffix in accepted_suffixes()]
    if not found:
        raise FileMissingError(
            f"no file of predictions is in {path}", fix=f"accepted: {', '.join(accepted_suffixes())}"
        )
    for place in sorted({folder for one in found for folder in one.parents}):
        for name, log in LOGS.items():
            if next(place.glob(log), None):
                raise DataError(
                    f"this is a {name} table: its files also contain deleted rows",
                    where=str(place),
                    fix="have Spark read it, with --set engine=spark --set table, or write its rows as "
                    "Parquet",
                )
    return found


def _next_batch(batches: Iterator[Batch], path: Path) -> Batch | None:
    """The next batch; errors name the file."""
    with in_file(str(path)), readable(path):
        return next(batches, None)


def _is_marker(file: Path, folder: Path) -> bool:
    """Whether Spark or Delta wrote it for themselves."""
    parts = file.relative_to(folder).parts if os.path.isdir(folder) else (file.name,)
    return any(part.startswith((".", "_")) for part in parts)


def _family(kind: str) -> str:
    if kind in FLOATS:
        return "number"
    return "whole number" if kind.startswith(("int", "uint")) else kind


GAP = "__HIVE_DEFAULT_PARTITION__"
"""How a value that is missing is written."""


def folder_values(file: Path, path: str) -> dict[str, str]:
    """Return what the folders of a file say, below the folder or the pattern that it was found by.

    Examples
    --------
    >>> folder_values(Path("rows/country=de/day=3/part-0.parquet"), "rows")
    {'country': 'de', 'day': '3'}
    >>> folder_values(Path("rows/country=de/part-0.parquet"), "rows/country=de/*")
    {}
    """
    given = Path(path).parts
    known = next((place for place, part in enumerate(given) if has_magic(part)), len(given))
    pairs = (part.partition("=") for part in file.parts[known:-1])
    return {unquote(name): unquote(value) for name, equals, value in pairs if name and equals}


def with_columns(opened: Sequence[Opened], values: Sequence[Mapping[str, str]]) -> list[Opened]:
    """Return files with the columns that their folders name beside their own; those of a file come first.

    Values that are whole numbers in every folder are numbers.

    Examples
    --------
    >>> rows = Opened(("score",), {}, 2, lambda _: iter([{"score": np.array([0.5, 0.25])}]))
    >>> (both,) = with_columns([rows], [{"day": "3"}])
    >>> [batch["day"].tolist() for batch in both.batches(["day"])]
    [[3, 3]]
    """
    every = {name for one in values for name in one}
    whole = {name for name in every if all(_is_whole(one[name]) for one in values if name in one)}
    return [_add_constant_columns(one, held, whole) for one, held in zip(opened, values, strict=True)]


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and str(int(text)) == text and abs(int(text)) < 1 << 62


def _add_constant_columns(one: Opened, held: Mapping[str, str], whole: Collection[str]) -> Opened:
    added = {name: text for name, text in held.items() if name not in one.names}
    if not added:
        return one

    def own(wanted: Collection[str]) -> list[str]:
        found = [name for name in one.names if name in wanted]
        return found or [one.names[0]]  # which tells how many rows there are

    def completed(batch: Batch, wanted: Collection[str]) -> Batch:
        size = len(next(iter(batch.values()), ()))
        new = {name: _column(text, size, name in whole) for name, text in added.items() if name in wanted}
        return {name: values for name, values in batch.items() if name in wanted} | new

    def batches(wanted: Collection[str]) -> Iterator[Batch]:
        return (completed(batch, wanted) for batch in one.batches(own(wanted)))

    def preview(wanted: Collection[str]) -> Batch:
        known = next(one.batches(own(wanted)), {}) if one.preview is None else one.preview(own(wanted))
        return completed(known, wanted)

    def settle(wanted: Collection[str]) -> dict[str, Kind]:
        return {} if one.settle is None else one.settle(own(wanted))

    kinds = {**one.kinds, **{name: "int64" if name in whole else "string" for name in added}}
    names = (*one.names, *added)
    settled = None if one.settle is None else settle
    return replace(one, names=names, kinds=kinds, batches=batches, settle=settled, preview=preview)


def _column(text: str, size: int, whole: bool) -> Array:
    if whole:
        return np.full(size, int(text), dtype=np.int64)
    return np.full(size, None if text == GAP else text, dtype=object)
