"""Observations of partitions, each in a separate process, and of all of them.

Predictions counted where a Spark table is: partitions in parallel, their scores merged range by range.

Nothing is summed up in accumulators: all that a task finds travels through the shuffle, so that a task which
runs twice, or again after its executor was lost, counts once.

Rows of a Spark table that go by again, of which some are kept whole: they stay in Spark, too.

Work on the scores of all partitions in one task of Spark: its result alone comes to the driver.

Thresholds, curves, fits and intervals read all distinct scores many times, each time using the result of the
reading before: as jobs over all partitions, each of them would be a round through the cluster.
"""

from __future__ import annotations

import json
import os
import pickle
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from evalreport.core.errors import ColumnNotFoundError, DataError, EvalreportError, UsageError
from evalreport.data.labels import LabelSpace, Multiclass, Multilabel
from evalreport.data.predictions import Threshold
from evalreport.data.scores import NoScores
from evalreport.evaluation.data_checks import Repeats, ScoreShape
from evalreport.evaluation.evaluate import Observed
from evalreport.features.large.engine import (
    BinaryStream,
    ClassCells,
    ClassStream,
    LabelStream,
    ScoreHolder,
    pack_arrays,
    placed_range,
    unpack_arrays,
)
from evalreport.features.large.facts_file import from_bytes, to_bytes
from evalreport.features.large.read import PredictionStream
from evalreport.features.large.score_words import Budget, table_of_runs
from evalreport.features.large.second_pass import KeptRows
from evalreport.features.large.spill import SpillFile
from evalreport.features.large.streamed_evaluation import AnyStream, MixUps, StreamingEvaluation
from evalreport.features.spark.session import (
    Buckets,
    BucketWords,
    KeysAway,
    MergedWords,
    PackedWords,
    merge_words,
)
from evalreport.features.spark.tables import SparkTable, partition_of
from evalreport.statistics.class_scores import ClassScores
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary, align_row_sums, merge

CELLS = "cells"
"""In place of the key of a table: scores of several classes, each with the class of its row."""
APART = 40
"""Bits of the row number within its partition; the bits above are the partition number."""


class PartitionEvaluation(StreamingEvaluation):
    """Everything that is observed of one partition; or of several, once it has taken what was of each.

    Parameters
    ----------
    space : LabelSpace
    buckets : Buckets
    answered : bool
    number : int
        Of the partition.
    at : Threshold, optional
        As of `StreamingEvaluation`.

    Examples
    --------
    >>> from evalreport.features.spark.session import Buckets
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> whole = PartitionEvaluation(Binary(0, 1), Buckets(), answered=True)
    >>> for number in (1, 0):
    ...     part = PartitionEvaluation(whole.space, Buckets(), answered=True, number=number)
    ...     part.add(predictions(whole.space, [0, 1, 0], [0, 0, 0]), None)
    ...     whole.take(part.state())
    >>> whole.take_facts("[]", part.facts()["[]"])
    >>> whole.count_through()
    >>> [mistake.row for mistake in whole.build_observed().mistakes]
    [1, 4]
    """

    def __init__(
        self,
        space: LabelSpace,
        buckets: Buckets,
        *,
        answered: bool,
        number: int = 0,
        at: Threshold | None = None,
    ) -> None:
        super().__init__(space, buckets, answered=answered, first=number << APART, at=at)
        self._number, self._buckets = number, buckets
        self._sizes: dict[int, int] = {}
        self.read = 0
        """Rows that were read, those included that are not counted."""

    @property
    def partitions(self) -> int:
        """How many were taken."""
        return len(self._sizes)

    @property
    def starts(self) -> dict[int, tuple[int, int]]:
        """The first row of each partition, and that behind its last, in the order of their numbers."""
        numbers = sorted(self._sizes)
        ends = [0, *accumulate(self._sizes[number] for number in numbers)]
        return dict(zip(numbers, pairwise(ends), strict=True))

    @property
    def kept_rows(self) -> KeptRows | None:
        """What keeps some of the rows that go by again."""
        places = None if isinstance(self._whole, BinaryStream) else self._whole.places
        return None if places is None else places.kept

    def tables(self) -> Iterator[tuple[str, ScoreHolder]]:
        """Yield what holds the scores of each table, with a key of it."""
        for place, stream in self._streams():
            for kind, holder in stream.holders().items():
                yield json.dumps([*place, kind]), holder

    def pop_packed(self, most: int = 0) -> Iterator[tuple[str, PackedWords]]:
        """Give away the scores that are held, once there are more than `most`, with the keys of tables."""
        held = {key: holder for key, holder in self.tables() if isinstance(holder, BucketWords)}
        cells = self._cells
        if sum(map(len, held.values())) + len(cells) <= most:
            return
        for key, holder in held.items():
            yield from ((key, part) for part in holder.pop_packed())
        yield from ((CELLS, PackedWords(bucket, True, 0, data, b"")) for bucket, data in cells.pop_packed())

    def row_keys(self) -> Iterator[tuple[int, bytes]]:
        """Give away the keys of rows that are held, bucket by bucket."""
        if isinstance(self._row_facts.keys, KeysAway):
            yield from self._row_facts.keys.pop_packed(len(self._buckets))

    def take_tables(self, tables: Mapping[str, ScoreTable], placed: Callable[[], Iterable[bytes]]) -> None:
        """Take over the scores of all partitions: tables by their keys, ranges of placed cells from above."""
        for key, holder in self.tables():
            if isinstance(holder, BucketWords):
                holder.whole = tables.get(key)
        self._cells.take(placed)

    @property
    def _cells(self) -> ClassCells:
        """What holds scores of several classes; of others, nothing."""
        held = self._whole.ranked if isinstance(self._whole, ClassStream) else None
        return held if isinstance(held, ClassCells) else ClassCells(0, ())

    def take_rows(self, parts: Mapping[int, tuple[int, ClassScores]]) -> None:
        """Take over the rows that partitions have kept, each with how many rows it held then.

        Raises
        ------
        DataError
            They are not those of the first time.
        """
        kept = self.kept_rows
        if kept is None:
            return
        if len(kept.wanted) and {number: rows for number, (rows, _) in parts.items()} != {
            number: stop - start for number, (start, stop) in self.starts.items() if stop > start
        }:
            raise DataError(
                "its partitions had different rows on the second read",
                fix="cache the frame, or write it to a table first",
            )
        empty = np.empty((0, len(self.space)))
        none = ClassScores(empty, empty if isinstance(self.space, Multilabel) else empty[:, 0], None)
        kept.take_parts(self.rows, [part for _, (_, part) in sorted(parts.items())] or [none])

    def take_repeats(self, repeats: Repeats) -> None:
        """Add how often rows occur that all partitions have."""
        self._row_facts.repeats += repeats

    def facts(self) -> dict[str, Summary]:
        """Return what was counted of the whole and of each slice, but for the scores."""
        return {
            json.dumps(place): stream.summary_without_scores
            for place, stream in self._streams()
            if stream.rows
        }

    def take_facts(self, key: str, counted: Summary) -> None:
        """Take over what was counted of the whole or of a slice in all partitions."""
        place = json.loads(key)
        stream = self._part(*place) if place else self._whole
        stream.take(counted)

    def state(self) -> str:
        """Return the rest, other than scores and statistics."""
        return json.dumps(
            {
                "sizes": list(self._sizes.items()) or [(self._number, self.rows)],
                "support": self._whole.support.tolist(),
                "guard": self.guard.state(),
                "scored": not isinstance(self._shown, MixUps),
                "shown": self._shown.state(),
                "ids": self._ids,
                "lost": self._lost,
                "clipped": self._clipped,
                "read": self.read,
                "row_facts": vars(self._row_facts.shape),
                "always": self._whole.always if isinstance(self._whole, LabelStream) else 0,
            }
        )

    def take(self, state: str) -> None:
        """Add the rest of other partitions."""
        found: dict[str, Any] = json.loads(state)
        self._sizes |= dict(found["sizes"])
        self._whole.support += found["support"]
        self.guard.take(found["guard"])
        if found["scored"] and isinstance(self._shown, MixUps):
            self._shown = self._rows_shown(scored=True)
        self._shown.take(found["shown"], int)
        self._ids |= found["ids"]
        self._lost += found["lost"]
        self._clipped += found["clipped"]
        self.read += found["read"]
        self._row_facts.shape += ScoreShape(**found["row_facts"])
        if isinstance(self._whole, LabelStream):
            self._whole.always += found["always"]

    def count_through(self) -> None:
        """Number the rows of all partitions through, in the order of these."""
        starts, state = self.starts, self._shown.state()
        self._shown = self._rows_shown(scored=not isinstance(self._shown, MixUps))
        self._shown.take(state, lambda row: starts[row >> APART][0] + row % (1 << APART))

    def build_observed(self, threshold: Threshold | None = None, notes: Iterable[str] = ()) -> Observed:
        """Return what was observed; rows of partitions stand in no order, and have no digest."""
        return replace(super().build_observed(threshold, notes), label_digest="")

    def _streams(self) -> Iterator[tuple[list[str], AnyStream]]:
        yield [], self._whole
        for name, column in self._parts.items():
            yield from (([name, value], part) for value, part in column.items())


BUCKET = 1 << 20
"""Rows of a range, about: four to eight megabytes, sorted in one piece."""
SAMPLE = 20_000
"""Scores that settle where the ranges end; any ends are exact."""
HELD = 1 << 22
"""Scores that a task holds before they leave it."""
CELLS_A_PAIR = 4
"""Cells of a range for each pair of classes, at least: what it says of the pairs takes a part of its room."""
KEYS, ROWS = "keys", "rows"
"""In place of the name of a table: keys of rows, by which it is counted how often each occurs, and rows."""
FACTS, STATE, ERROR = -1, -2, -3
"""In place of the number of a range: what was counted, what else was observed, and what went wrong."""
RANGES = f"bucket >= 0 and table <> '{KEYS}'"
"""Rows that are ranges of scores; the others are few, and small."""
ONE = "table string, bucket int, positive boolean, wide int, words binary, times binary"
ALL = "table string, bucket int, wide int, words binary, positives binary, negatives binary"


@dataclass(frozen=True, eq=False)
class PartitionPlan:
    """What a task has to know.

    Parameters
    ----------
    shown : str
        How the table is called.
    stream : PredictionStream
        What its columns mean; its own data stay with the driver.
    space : LabelSpace
    buckets : Buckets
    at : Threshold, optional
        Several labels per row: where they are decided.
    """

    shown: str
    stream: PredictionStream
    space: LabelSpace
    buckets: Buckets
    at: Threshold | None = None

    def watch(self, number: int = 0) -> PartitionEvaluation:
        """Return what a task observes a partition with."""
        answered = self.stream.pred is not None
        return PartitionEvaluation(self.space, self.buckets, answered=answered, number=number, at=self.at)

    def partition(self, number: int, batches: Iterator[Any]) -> PredictionStream:
        """Return the predictions of a partition."""
        data = partition_of(self.shown, self.stream.data.names, number, batches)
        return replace(self.stream, data=data, read=[])


@dataclass(frozen=True, eq=False)
class CountedTable:
    """What was counted of a Spark table.

    Parameters
    ----------
    watch : PartitionWatch
    plan : PartitionPlan
        By which it was counted.
    distinct : int
        Distinct scores; of several classes those that rows have of their own class.
    rows : mapping from the number of a partition to (rows that it held, those that were kept)
        Of a second reading.
    """

    watch: PartitionEvaluation
    plan: PartitionPlan
    distinct: int
    rows: Mapping[int, tuple[int, ClassScores]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CountedParts:
    """What tasks count of the partitions of a Spark table, once it is asked for.

    Parameters
    ----------
    plan : PartitionPlan
    parts : pyspark.sql.DataFrame
        What each task finds.
    rest : tuple of dict
        What was merged and brought here already, and is not among the parts.
    more : pyspark.sql.DataFrame, optional
        Rows that are kept whole.
    """

    plan: PartitionPlan
    parts: Any
    rest: tuple[dict[str, Any], ...] = ()
    more: Any = None

    @contextmanager
    def persist_counts(self) -> Iterator[CountedParts]:
        """Count once, within the block: all but the scores is brought here, and these stay where they are."""
        parts = self.parts.persist()
        try:
            rest = _merge_frame(parts.where(f"not ({RANGES})"), self.plan).toArrow().to_pylist()
            yield replace(self, parts=parts.where(RANGES), rest=tuple(rest))
        finally:
            parts.unpersist()

    def merge_parts(self) -> Any:
        """Return a frame of what tasks find, merged where it is."""
        found = _merge_frame(self.parts, self.plan)
        return found if self.more is None else self.more.unionByName(found)


def count_table(
    table: SparkTable,
    stream: PredictionStream,
    space: LabelSpace,
    buckets: Buckets,
    at: Threshold | None = None,
) -> CountedParts:
    """Have the predictions of a table counted where it is.

    Parameters
    ----------
    table : SparkTable
    stream : PredictionStream
    space : LabelSpace
    buckets : Buckets
        Without edges, which a sample of the scores settles.
    at : Threshold, optional
        Several labels per row: where they are decided.
    """
    data = replace(partition_of(table.display_name, table.names, 0, iter(())), files=table.files)
    plan = PartitionPlan(table.display_name, replace(stream, data=data), space, buckets, at)
    plan = replace(plan, buckets=_buckets(table, plan))
    return CountedParts(
        plan,
        table.select_columns({*stream.columns, *stream.beside}).mapInArrow(
            partial(count_partition, plan=plan), ONE
        ),
    )


def _merge_frame(parts: Any, plan: PartitionPlan) -> Any:
    """What tasks found, merged where it is."""
    return parts.groupBy("table", "bucket").applyInArrow(lambda found: merge_group(found, plan), ALL)


def count_partition(batches: Iterator[Any], plan: PartitionPlan) -> Iterator[Any]:
    """Yield what a task found in its partition."""
    number = partition_number()
    watch, stream = plan.watch(number), plan.partition(number, batches)
    try:
        for batch in stream.some_batches():
            watch.add(*batch)
            yield from _pack_rows(watch, HELD)
    except EvalreportError as error:
        fields = [number, type(error).__name__, error.message, error.where, error.fix]
        yield batch_of([("", ERROR, None, None, json.dumps(fields).encode(), None)], ONE)
        return
    yield from _pack_rows(watch, 0)
    watch.read = sum(stream.read)
    rest = [("", STATE, None, None, watch.state().encode(), None)]
    facts = [(key, FACTS, None, None, to_bytes(one), None) for key, one in watch.facts().items()]
    yield batch_of([*rest, *facts], ONE)


def partition_number() -> int:
    """Return the number of the partition that a task works on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _pack_rows(watch: PartitionEvaluation, most: int) -> Iterator[Any]:
    rows: list[tuple[Any, ...]] = [(key, *part) for key, part in watch.pop_packed(most)]
    if rows:
        rows += [(KEYS, bucket, None, None, keys, None) for bucket, keys in watch.row_keys()]
        yield batch_of(rows, ONE)


def merge_group(found: Any, plan: PartitionPlan) -> Any:
    """Return what all tasks found of one range, or of one kind, as one row."""
    rows = found.to_pylist()
    table, bucket = rows[0]["table"], rows[0]["bucket"]
    data = [row["words"] for row in rows]
    match bucket:
        case _ if table == KEYS:
            keys = np.frombuffer(b"".join(data), dtype=np.uint64)
            repeats = Repeats.from_counts([np.unique(keys, return_counts=True)[1]])
            whole: tuple[Any, ...] = (None, json.dumps(astuple(repeats)).encode(), None, None)
        case _ if table == CELLS:
            whole = (None, placed_range(data, len(plan.space)), None, None)
        case _ if bucket >= 0:
            parts = (PackedWords(**{name: row[name] for name in PackedWords._fields}) for row in rows)
            whole = merge_words(parts)
        case _ if bucket == FACTS:
            whole = (None, to_bytes(merge(align_row_sums(list(map(from_bytes, data))))), None, None)
        case _ if bucket == STATE:
            watch = plan.watch()
            for state in data:
                watch.take(state.decode())
            whole = (None, watch.state().encode(), None, None)
        case _:
            whole = (None, min(data, key=lambda report: json.loads(report)[0]), None, None)
    return table_of_rows([(table, bucket, *whole)], ALL)


def _buckets(table: SparkTable, plan: PartitionPlan) -> Buckets:
    """Ranges of about as many rows each, by a sample of the scores."""
    if plan.stream.found.scores is None or plan.buckets.binned:
        return plan.buckets
    each, size = 1 if plan.stream.found.scores.ndim == 1 else len(plan.space), len(plan.space)
    ranges = -(-table.rows // BUCKET)
    if isinstance(plan.space, Multiclass):  # cells of all classes share the ranges
        ranges = -(-table.rows * size // max(BUCKET, CELLS_A_PAIR * size**2))
    if ranges <= 1:
        return plan.buckets
    share = min(1.0, SAMPLE / (each * table.rows))
    some = table.select_columns(plan.stream.names).sample(fraction=share, seed=0)
    found = some.mapInArrow(partial(sampled_scores, plan=plan), "score double").toArrow()
    scores = np.sort(found.column("score").to_numpy())
    places = np.arange(1, ranges) * len(scores) // ranges
    return replace(plan.buckets, edges=tuple(np.unique(scores[places]).tolist()) if len(scores) else ())


def sampled_scores(batches: Iterator[Any], plan: PartitionPlan) -> Iterator[Any]:
    """Yield scores of some rows; invalid rows are reported where all rows are counted."""
    import pyarrow as pa

    with suppress(EvalreportError):
        for batch, *_ in plan.partition(0, batches).some_batches():
            if not isinstance(batch.scores, NoScores):
                yield pa.RecordBatch.from_pydict({"score": batch.scores.values.astype(np.float64).ravel()})


def assemble_counts(rows: Iterable[Any], plan: PartitionPlan, folder: Path | None = None) -> CountedTable:
    """Return what tasks found, which comes in any order, as one; a folder holds ranges until all are there.

    Raises
    ------
    DataError
        A value that cannot be evaluated; names the partition and the row in it.
    """
    watch, kept = plan.watch(), dict[int, tuple[int, ClassScores]]()
    with _Arrived(plan.buckets.budget, folder) as scores:
        for row in rows:
            key, kind, data = row["table"], row["bucket"], row["words"]
            if key == KEYS:
                watch.take_repeats(Repeats(*json.loads(data)))
            elif key == ROWS:
                values, truth = unpack_arrays(data)
                kept[kind] = row["wide"], ClassScores(values, truth, None)
            elif kind >= 0:
                scores.add(key, kind, MergedWords(*(row[name] for name in MergedWords._fields)))
            elif kind == FACTS:
                watch.take_facts(key, from_bytes(data))
            elif kind == STATE:
                watch.take(data.decode())
            else:
                raise _error(json.loads(data))
        watch.take_tables(scores.tables(), scores.placed_ranges)
    watch.count_through()
    return CountedTable(watch, plan, scores.distinct, kept)


class _Arrived:
    """Ranges of scores as they come, in memory or in a file without a name."""

    def __init__(self, budget: Budget, folder: Path | None) -> None:
        self._budget, self._folder, self._file = budget, folder, SpillFile(folder).join()
        self._places: dict[str, dict[int, tuple[int, ...]]] = {}
        self.distinct = 0

    def __enter__(self) -> _Arrived:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.leave()

    def add(self, key: str, bucket: int, found: MergedWords) -> None:
        """Keep a range of a table, or of cells that were placed."""
        if key == CELLS:
            found = MergedWords(1, found.words, b"", b"")
            self.distinct += int(unpack_arrays(found.words)[0][:-1].sum())
        else:
            self.distinct += len(found.words) // found.wide
        data = b"".join(found[1:])
        try:
            start = self._file.write(np.frombuffer(data, dtype=np.uint8))
        except OSError as error:
            raise replace(self._budget, spill=self._folder).no_room(len(data)) from error
        self._places.setdefault(key, {})[bucket] = (start, found.wide, *map(len, found[1:]))

    def tables(self) -> dict[str, ScoreTable]:
        """Return the table of each key."""
        found, budget = {}, self._budget
        if CELLS in self._places:  # confidences are read a few times: a fourth of the room is enough
            budget = replace(budget, memory=0)
        for key, ranges in self._places.items():
            if key == CELLS:
                continue
            kind = np.float32 if all(wide == 4 for _, wide, *_ in ranges.values()) else np.float64
            runs = (self._read_words(*ranges[bucket]).runs() for bucket in sorted(ranges))
            found[key] = table_of_runs(runs, kind, budget, written=True)
        return found

    def placed_ranges(self) -> Iterator[bytes]:
        """Yield the ranges of cells that were placed, the highest scores first."""
        ranges = self._places.get(CELLS, {})
        return (self._read_words(*ranges[bucket]).words for bucket in sorted(ranges, reverse=True))

    def _read_words(self, start: int, wide: int, *sizes: int) -> MergedWords:
        places = accumulate(sizes, initial=start)
        return MergedWords(
            wide, *(self._file.read_bytes(*place) for place in zip(places, sizes, strict=False))
        )


def _error(fields: list[Any]) -> EvalreportError:
    _, name, message, where, fix = fields
    kind = {one.__name__: one for one in (DataError, UsageError, ColumnNotFoundError)}.get(name, DataError)
    return kind(message, where=where, fix=fix)


def batch_of(rows: list[tuple[Any, ...]], layout: str) -> Any:
    """Rows as Arrow, the columns of a layout of Spark."""
    return table_of_rows(rows, layout).combine_chunks().to_batches()[0]


def table_of_rows(rows: list[tuple[Any, ...]], layout: str) -> Any:
    """Return rows as a table of Arrow, with the columns of a layout of Spark."""
    import pyarrow as pa

    kinds = {"string": pa.string(), "int": pa.int32(), "boolean": pa.bool_(), "binary": pa.binary()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in (one.split() for one in layout.split(", "))])
    columns = [
        pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return pa.table(columns, schema=schema)


Starts = Mapping[int, tuple[int, int]]


@contextmanager
def with_rows(table: SparkTable, counted: CountedParts, watch: PartitionEvaluation) -> Iterator[CountedParts]:
    """Have the rows of a table that are to be kept whole at hand within the block, where there are any."""
    if watch.kept_rows is None or not len(watch.kept_rows.wanted):
        yield counted
        return
    stream = replace(counted.plan.stream, beside=())
    plan = replace(counted.plan, stream=stream)
    task = partial(keep_of_partition, plan=plan, kept=watch.kept_rows, starts=watch.starts)
    rows = table.select_columns(stream.names).mapInArrow(task, ALL).persist()
    try:
        rows.count()  # in a separate job, where partitions have the numbers of the first read
        yield replace(counted, more=rows)
    finally:
        rows.unpersist()


def keep_of_partition(
    batches: Iterator[Any], plan: PartitionPlan, kept: KeptRows, starts: Starts
) -> Iterator[Any]:
    """Yield the rows that a task keeps of its partition, with how many it has read."""
    number = partition_number()
    part, rows = kept.part(*starts.get(number, (0, 0))), 0
    for batch, *_ in plan.partition(number, batches).some_batches():
        if not isinstance(batch.scores, NoScores):
            part.add(batch.scores.values, batch.y_true)
            rows += len(batch)
    if rows:
        found = pack_arrays(part.rows.scores, part.rows.truth)
        yield batch_of([(ROWS, number, rows, found, None, None)], ALL)


T = TypeVar("T")
DONE = "done binary"
CELL = 20
"""Bytes of a score of double precision with its counts, as it comes and in its table."""


def run_in_one_task(
    counted: CountedParts, work: Callable[[CountedTable], T], *, memory: int, cells: int
) -> T:
    """Return what work makes of all that was counted, done in one task.

    Parameters
    ----------
    counted : CountedParts
    work : callable
        It and what it returns can be pickled.
    memory : int
        Bytes of memory that the scores may take; more of them are read from the disk of the task.
    cells : int
        Scores that there may be.

    Raises
    ------
    EvalreportError
        A value that cannot be evaluated, with its partition and row; whatever the work raises.
    """
    task = partial(
        work_in_task, counted=replace(counted, parts=None, more=None), memory=memory, cells=cells, work=work
    )
    found = counted.merge_parts().repartition(1).mapInArrow(task, DONE).toArrow().column("done").to_pylist()
    if not found:  # of no rows Spark may make no partition
        return work(assemble_counts(counted.rest, counted.plan))
    done = pickle.loads(zlib.decompress(found[0]))  # noqa: S301 (of a task that this process has begun)
    if isinstance(done, EvalreportError):
        raise done
    result: T = done
    return result


def work_in_task(
    batches: Iterator[Any],
    counted: CountedParts,
    memory: int,
    cells: int,
    work: Callable[[CountedTable], Any],
) -> Iterator[Any]:
    """Yield what work makes of what all tasks found, or the error that it raises."""
    rows = (row for batch in batches for at in range(len(batch)) for row in batch.slice(at, 1).to_pylist())
    folder = _own_folder()
    budget = Budget(memory, folder if cells * CELL > memory else None, "spark.local.dir")
    plan = replace(counted.plan, buckets=replace(counted.plan.buckets, budget=budget))
    try:
        done = work(assemble_counts(chain(counted.rest, rows), plan, folder))
    except EvalreportError as error:
        done = error
    yield batch_of([(zlib.compress(pickle.dumps(done)),)], DONE)


def _own_folder() -> Path:
    """Where Spark keeps what a task does not hold in memory."""
    folder = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return Path(folder if os.path.isdir(folder) and folder else tempfile.gettempdir())
