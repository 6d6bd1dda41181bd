"""Predictions in a table of Spark, counted where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from evalreport.core import format
from evalreport.core.errors import UsageError
from evalreport.core.progress import report_progress
from evalreport.core.result import Provenance
from evalreport.data.labels import Binary, rename_labels
from evalreport.data.predictions import Threshold
from evalreport.features.large.collect_batches import (
    cells_of,
    check_bins,
    goals_of_stream,
    observe_stream,
    point_of,
    stream_of,
)
from evalreport.features.large.read import PredictionStream
from evalreport.features.large.score_words import Budget
from evalreport.features.spark.count import (
    CountedTable,
    assemble_counts,
    count_table,
    run_in_one_task,
    with_rows,
)
from evalreport.features.spark.session import Buckets, read_table, spark_errors, spark_session
from evalreport.features.spark.tables import SparkSource, SparkTable, logged_table, open_frame, tagged_table
from evalreport.page.payload import TABLE_TAG
from evalreport.readers.content import in_file
from evalreport.workflow.collect import with_label_order
from evalreport.workflow.evaluate import chosen_label_by_label, no_scores_to_decide
from evalreport.workflow.items import Item
from evalreport.workflow.request import CollectedFacts, MadeOfFacts, Request

T = TypeVar("T")
BY_PARTITION = "rows are numbered partition by partition, in no order that lasts"
ELSEWHERE = "write the rows to a file, and pass --set engine=memory"


@dataclass(frozen=True, eq=False)
class SparkCounting:
    """Predictions in a table of Spark, or in a frame of a session that runs; a `Counting`.

    Parameters
    ----------
    source : SparkSource or pyspark.sql.DataFrame
    request : Request
    """

    source: Any
    request: Request

    def run_on_counts(
        self,
        work: Callable[[CollectedFacts], T],
        origin: Provenance | None = None,
        *,
        sought: Sequence[str] | None = None,
        sensitive: bool = False,
    ) -> MadeOfFacts[T]:
        """Count the rows where they are, in the session that runs or a new one, and do work there.

        Raises
        ------
        EvalreportError
            No PySpark, no Java, no such table, or whatever keeps it from being counted.
        """
        del sought
        if not isinstance(self.source, SparkSource):
            return self._of_frame(self.source, "Spark DataFrame", work, origin, sensitive=sensitive)
        report_progress("beginning a session of Spark")
        with spark_session(self.request.spark_master) as spark:
            frame = read_table(spark, self.source)
            return self._of_frame(frame, self.source.display_name, work, origin, sensitive=sensitive)

    def _of_frame(
        self,
        frame: Any,
        name: str,
        work: Callable[[CollectedFacts], T],
        origin: Provenance | None,
        *,
        sensitive: bool,
    ) -> MadeOfFacts[T]:
        request = self.request
        with spark_errors(name):
            table = open_frame(frame, name, request.columns.where)
            stream = _stream(table, request)
            made = partial(
                _compute_from_counted,
                request=request,
                name=name,
                origin=origin,
                sensitive=sensitive,
                work=work,
            )
            report_progress("counting rows in Spark", 0, table.rows)
            return _compute_from_table(table, stream, request, made)


def open_item(item: Item, request: Request) -> SparkCounting | None:
    """Return the table that holds the predictions of an item; an `Engine`.

    None for a run without a table that can be read, where none was asked for.

    Raises
    ------
    UsageError
        Another engine was named for a table, or no table for Spark.
    """
    run, engine = item.run, request.engine
    if item.table is not None and engine not in ("auto", "spark"):
        raise UsageError(
            f"a table is read by Spark, not with the engine {engine}",
            where=f"--set table={item.table}",
            fix="leave --set engine out, or pass spark",
        )
    if item.table is not None:
        source = SparkSource(item.table) if isinstance(item.table, str) else item.table
        return SparkCounting(source, request)
    if item.path not in (None, "-") and len(item.files) < 2:
        return SparkCounting(SparkSource(str(item.path)), request)
    tagged = None if run is None else tagged_table(run, remote=item.tracking_store.remote)
    if tagged is not None:
        return SparkCounting(tagged, request)
    if engine == "auto":
        return None
    logged = open_logged(item, request)
    if logged is None:
        raise UsageError(
            f"{item.display_name} is not a Spark table",
            where="--set engine=spark",
            fix=f"pass --set table=NAME, or set the tag {TABLE_TAG} of the run",
        )
    return logged


def open_logged(item: Item, request: Request) -> SparkCounting | None:
    """Return the table of the one dataset of Spark or Delta that was logged with the run of an item."""
    source = None if item.run is None else logged_table(item.run, remote=item.tracking_store.remote)
    return None if source is None else SparkCounting(source, request)


def _compute_from_table(
    table: SparkTable, stream: PredictionStream, request: Request, made: Callable[..., MadeOfFacts[T]]
) -> MadeOfFacts[T]:
    """Count a table, and have made of it what is wanted: where all scores are."""
    space = rename_labels(with_label_order(stream.space, request), dict(request.label_names))
    buckets = Buckets(binned=request.approximate, budget=Budget(request.memory))
    parts = count_table(table, stream, space, buckets, point_of(request))
    room = {"memory": request.memory, "cells": cells_of(stream, table.rows)}
    if isinstance(space, Binary):
        return run_in_one_task(parts, made, **room)
    if request.threshold is not None and point_of(request) is None:
        report_progress("choosing thresholds in a task of Spark")
        point = run_in_one_task(parts, partial(_choose_label_thresholds, request=request), **room)
        parts = count_table(table, stream, space, buckets, point)
    with parts.persist_counts() as kept:
        watch = assemble_counts(kept.rest, kept.plan).watch
        stream.check_any(watch.rows)
        report_progress("keeping some rows in Spark", 0, watch.rows)
        watch.prepare_second_pass(request.sampling)
        with with_rows(table, kept, watch) as whole:
            return run_in_one_task(whole, made, **room)


def _choose_label_thresholds(counted: CountedTable, request: Request) -> Threshold:
    """The threshold of each label that keeps a bound."""
    scores = counted.watch.label_scores()
    counted.plan.stream.check_any(counted.watch.rows)
    if scores is None or request.threshold is None:
        raise no_scores_to_decide()
    return chosen_label_by_label(scores, counted.watch.space, request.threshold, request.sampling)


def _stream(table: SparkTable, request: Request) -> PredictionStream:
    """What the columns of a table mean; what neither a stream nor Spark can do is refused."""
    try:
        report_progress("looking at the columns in Spark")
        stream = stream_of(table, request)
        check_bins(stream, request)
        if goals_of_stream(stream, request, None):
            raise UsageError(
                "thresholds of several labels need a second pass over the rows, which Spark does not support",
                where="--threshold",
                fix="pass a number, or a constraint for each label such as recall>=0.9",
            )
    except UsageError as error:
        fix = ELSEWHERE if "memory" in error.fix else error.fix
        raise UsageError(error.message, where=error.where.replace("stream", "spark"), fix=fix) from None
    return stream


def _compute_from_counted(
    counted: CountedTable,
    *,
    request: Request,
    name: str,
    origin: Provenance | None,
    sensitive: bool,
    work: Callable[[CollectedFacts], T],
) -> MadeOfFacts[T]:
    """What is made of all that was counted, with the rows that another reading kept."""
    watch, stream = counted.watch, replace(counted.plan.stream, read=[counted.watch.read])
    stream.check_any(watch.rows)
    if watch.prepare_second_pass(request.sampling):
        with in_file(name):
            watch.take_rows(counted.rows)
    seen, sweep = observe_stream(watch, stream, request)
    if stream.request.id is None:
        seen = replace(seen, notes=(*seen.notes, BY_PARTITION))
    taken = (*stream.found.taken, ("engine", _words(counted)))
    source = () if origin is None else (("source", f"table {name}"),)
    origin = origin or Provenance(run_name=name.rstrip("/").rsplit("/", 1)[-1])
    notes = (*origin.notes, *stream.found.unused_note)
    why = stream.found.decision
    provenance = replace(
        origin, source=name, columns=taken, column_decision=why, **request.origin(), notes=notes
    )
    facts = CollectedFacts(seen, (*source, *taken), provenance, sweep, sensitive=sensitive)
    return MadeOfFacts.from_collected(facts, work)


def _words(counted: CountedTable) -> str:
    parts = format.pluralize(counted.watch.partitions, "partition")
    what = "bins of scores" if counted.plan.buckets.binned else "distinct scores"
    return f"Spark, {parts}; {counted.distinct:,} {what} stayed in Spark"
