"""The table of Spark that a run says its predictions are in: by a tag, or by a dataset that was logged.

Predictions in a Spark table: their columns and a few rows are looked at, the rest stays where it is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from evalreport.columns.column_request import split_clause
from evalreport.columns.join import rows_where
from evalreport.core.errors import EvalreportError
from evalreport.data.arrays import gaps_of
from evalreport.page.payload import TABLE_TAG
from evalreport.readers.content import check_schema, in_file, to_arrays
from evalreport.readers.data_sets import ROWS, Batch, DataSet, Opened, T
from evalreport.readers.formats import RawTable
from evalreport.readers.limits import choose
from evalreport.tracking.runs import DatasetSource, RunInfo


@dataclass(frozen=True)
class SparkSource:
    """A table that Spark reads.

    Parameters
    ----------
    name : str
        ``catalog.schema.name``, or a path of Parquet or Delta, which may stand in SQL's delta.`…`.
    version : int or None
        Of a Delta table; the newest without it.
    """

    name: str
    version: int | None = None

    @property
    def display_name(self) -> str:
        """How messages call it."""
        return self.name if self.version is None else f"{self.name}, version {self.version}"

    @property
    def is_path(self) -> bool:
        """Whether it is a path, not a table of the catalog."""
        there = self.path != "" and os.path.exists(self.path)
        return there or "/" in self.path or self.path.endswith(".parquet")

    @property
    def path(self) -> str:
        """The name without what SQL puts around a path."""
        within = re.fullmatch(r"(?:delta|parquet)\.`(.+)`", self.name)
        return within[1] if within else self.name

    @property
    def is_here(self) -> bool:
        """Whether it is a path of the machine that reads it."""
        return self.is_path and ("://" not in self.path or self.path.startswith("file:"))


def tagged_table(run: RunInfo, *, remote: bool) -> SparkSource | None:
    """Return the table that the tag of a run names; what a server calls a path of this machine is not read.

    Examples
    --------
    >>> run = RunInfo("3f9c1e0a7b", "", "0", "", "FINISHED", tags={"evalreport.table": "main.risk.scores"})
    >>> tagged_table(run, remote=True).name
    'main.risk.scores'
    """
    return _readable(SparkSource(run.tags.get(TABLE_TAG, "").strip()), remote)


def logged_table(run: RunInfo, *, remote: bool) -> SparkSource | None:
    """Return the table of the one dataset of Spark or Delta that was logged with the run; SQL is not run.

    Examples
    --------
    >>> source = '{"delta_table_name": "a.b", "delta_table_version": 3}'
    >>> dataset = DatasetSource("test", "ab", "delta_table", source)
    >>> logged_table(
    ...     RunInfo("3f9c1e0a7b", "", "0", "", "FINISHED", datasets=(dataset,)), remote=False
    ... ).display_name
    'a.b, version 3'
    """
    found = {_readable(_source_of(dataset), remote) for dataset in run.datasets} - {None}
    return found.pop() if len(found) == 1 else None


def _readable(source: SparkSource | None, remote: bool) -> SparkSource | None:
    if source is None or not source.name or (remote and source.is_here):
        return None
    return source


def _source_of(dataset: DatasetSource) -> SparkSource | None:
    if dataset.kind not in ("spark", "delta_table"):
        return None
    try:
        source: dict[str, Any] = json.loads(dataset.source)
        name = source.get("table_name") or source.get("delta_table_name") or source.get("path")
        version = source.get("delta_table_version")
    except (ValueError, AttributeError, RecursionError):
        return None
    if not isinstance(name, str) or not isinstance(version, int | None):
        return None
    return SparkSource(name, version)


FORMAT = "spark"
HEAD = 1000
"""Number of rows to inspect the columns."""
OF_PARTITION = 200
"""Rows of one partition in a sample."""
SAMPLE = 20_000
"""Rows of a sample of all partitions."""
MOST_DISTINCT = 100_000
"""Combinations of labels, and of values that rows are chosen by, that come to the driver."""


@dataclass(frozen=True, eq=False)
class SparkTable(DataSet):
    """A table of a Spark session as a data set whose rows stay there.

    `batches` is of a partition, in an executor: see `partition_of`.
    """

    frame: Any = None
    where: tuple[str, ...] = ()

    @property
    def display_name(self) -> str:
        """How the table is called."""
        return str(self.files[0])

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.frame.count())

    def settle_columns(self, wanted: Collection[str]) -> SparkTable:
        """Refuse columns of types without labels, numbers or texts."""
        schema = _restore_names(_schema(self.select_columns(wanted)).empty_table(), self.names).schema
        check_schema(schema, schema.names)
        return self

    def select_columns(self, wanted: Collection[str]) -> Any:
        """Return a frame of some columns, which bear the numbers of their places."""
        return self.frame.select(*(f"c{place}" for place, name in enumerate(self.names) if name in wanted))

    def first_batches(self, wanted: Collection[str]) -> Iterator[tuple[Path, int, Batch]]:
        """Yield one batch of the first rows that are meant."""
        import pyarrow as pa

        some = self.select_columns(wanted)
        if self.where:
            none = to_arrays(_restore_names(_schema(some).empty_table(), self.names))
            rows_where(
                RawTable(none, 0, self.display_name, "", FORMAT, self.names), self.where
            )  # each is there
            some = some.mapInArrow(partial(_filter_batches, names=self.names, where=self.where), some.schema)
        rows = [row.asDict() for row in some.take(HEAD)]
        if rows:
            found = pa.Table.from_pylist(rows, schema=_schema(some))
            yield self.files[0], 0, to_arrays(_restore_names(found, self.names))

    def sample(self, wanted: Collection[str]) -> Batch:
        """Return the first rows of each of many partitions."""
        some = self.select_columns(wanted).mapInArrow(_first_rows, self.select_columns(wanted).schema)
        return to_arrays(_restore_names(some.limit(SAMPLE).toArrow(), self.names))

    def preview(self, wanted: Collection[str]) -> Batch:
        """Return the first rows of some columns."""
        return next((batch for *_, batch in self.first_batches(wanted)), {})

    def gather_values(self, find: Callable[[DataSet], set[T]], wanted: Collection[str]) -> set[T]:
        """Return what a function finds in wanted columns of the rows, partition by partition."""
        task = partial(_find_in_partition, find=find, shown=self.display_name, names=self.names)
        found = self.select_columns(wanted).mapInArrow(task, "found string").distinct().toArrow()
        return set(map(json.loads, found.column("found").to_pylist()))

    def distinct(self, wanted: Collection[str]) -> Iterator[tuple[Path, int, Batch]]:
        """Yield one batch of all combinations without missing values, which are reported where the rows are
        counted."""
        some = self.select_columns(wanted)
        counts = some.groupBy(*some.columns).count().limit(MOST_DISTINCT).toArrow()
        columns = to_arrays(_restore_names(counts.select(counts.column_names[:-1]), self.names))
        if len(counts) < MOST_DISTINCT:  # all of them: the table need not be counted again
            self.__dict__["rows"] = int(np.sum(counts.column(-1).to_numpy()))
        kept = np.ones(len(counts), dtype=bool)
        for name in columns.keys() - {split_clause(clause)[0] for clause in self.where}:
            kept[gaps_of(columns[name])] = False
        if kept.any():
            yield self.files[0], 0, {name: values[kept] for name, values in columns.items()}


def open_frame(frame: Any, shown: str, where: tuple[str, ...] = ()) -> SparkTable:
    """Return a Spark DataFrame as a data set.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    shown : str
        How messages call it.
    where : tuple of str
        Rows to keep, each ``COLUMN=VALUE``.
    """
    names = tuple(frame.columns)
    with in_file(shown):
        choose(names, lambda _: set())  # refuses a name that appears twice
    opened = Opened(names, {}, None, _nothing)
    return SparkTable((Path(shown),), (opened,), FORMAT, _spark_tables_readable(frame), where)


def _spark_tables_readable(frame: Any) -> Any:
    """The columns under plain names, of types that are read: vectors as lists, mappings as JSON."""
    from pyspark.sql import functions

    frame, other = frame.toDF(*(f"c{place}" for place in range(len(frame.columns)))), {}
    for field in frame.schema.fields:
        match type(field.dataType).__name__:
            case "VectorUDT":  # what the models of Spark answer
                from pyspark.ml.functions import vector_to_array

                other[field.name] = vector_to_array(functions.col(field.name))
            case "MapType":
                other[field.name] = functions.to_json(functions.col(field.name))
            case "TimestampType":  # as the session shows it
                other[field.name] = functions.col(field.name).cast("timestamp_ntz")
    return frame.withColumns(other) if other else frame


def _restore_names(found: Any, names: Sequence[str]) -> Any:
    """Arrow with the names of the table in place of those that Spark was given."""
    return found.rename_columns([names[int(name[1:])] for name in found.column_names])


def partition_of(shown: str, names: Sequence[str], number: int, batches: Iterator[Any]) -> DataSet:
    """Return the Arrow batches of a partition as a data set, put together to fewer and larger ones."""
    import pyarrow as pa

    def read_batches(wanted: Collection[str]) -> Iterator[Batch]:
        held: list[Any] = []
        for batch in batches:
            held.append(batch)
            if sum(map(len, held)) >= ROWS:
                yield _columns(pa.Table.from_batches(held), names, wanted)
                held = []
        if held:
            yield _columns(pa.Table.from_batches(held), names, wanted)

    opened = Opened(tuple(names), {}, None, read_batches)
    return DataSet((Path(f"{shown}, partition {number}"),), (opened,), FORMAT)


def _columns(found: Any, names: Sequence[str], wanted: Collection[str]) -> Batch:
    table = _restore_names(found, names)
    return to_arrays(table.select([name for name in table.column_names if name in wanted]))


def _first_rows(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the first rows of a partition."""
    left = OF_PARTITION
    for batch in batches:
        yield batch.slice(0, left)
        left -= len(batch)
        if left <= 0:
            return


def _nothing(_: Collection[str]) -> Iterator[Batch]:
    return iter(())


def _schema(frame: Any) -> Any:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema)


def _find_in_partition(
    batches: Iterator[Any], *, find: Callable[[DataSet], set[Any]], shown: str, names: Sequence[str]
) -> Iterator[Any]:
    """The result of a function in a partition; invalid rows are reported where all rows are counted."""
    import pyarrow as pa

    with suppress(EvalreportError):
        found = sorted(map(json.dumps, find(partition_of(shown, names, 0, batches))))
        yield pa.RecordBatch.from_pydict({"found": pa.array(found, pa.string())})


def _filter_batches(
    batches: Iterator[Any], *, names: tuple[str, ...], where: tuple[str, ...]
) -> Iterator[Any]:
    """The rows of Arrow batches that are meant."""
    import pyarrow as pa

    for batch in batches:
        columns = to_arrays(_restore_names(pa.Table.from_batches([batch]), names))
        found = rows_where(RawTable(columns, len(batch), "", "", FORMAT, names), where)
        yield batch.filter(pa.array(np.logical_and.reduce(list(found.values()))))
