"""Predictions in a table of Spark, counted where they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evalreport import format
from evalreport.engines.partitions import Buckets
from evalreport.errors import UsageError
from evalreport.labels import Multilabel, renamed
from evalreport.provenance import Provenance
from evalreport.sources.spark_counting import CountedTable, count_table
from evalreport.sources.spark_placing import place_table
from evalreport.sources.spark_runs import SparkSource
from evalreport.sources.spark_session import read_table, spark_errors, spark_session
from evalreport.sources.spark_tables import open_frame
from evalreport.sources.streams import PredictionStream
from evalreport.stages import stage
from evalreport.workflow.collect import ordered
from evalreport.workflow.request import Request
from evalreport.workflow.stream import CollectedFacts, budget_of, check_bins, observed, point_of, stream_of
from evalreport.workflow.thresholds import number_of

BY_PARTITION = "rows are numbered partition by partition, in no order that lasts"
ELSEWHERE = "write the rows to a file, and pass --engine memory"


def collect_spark(source: SparkSource, request: Request, origin: Provenance | None = None) -> CollectedFacts:
    """Count the predictions of a table, in the session that runs or a new one.

    Raises
    ------
    EvalreportError
        No PySpark, no Java, no such table, or whatever keeps it from being counted.
    """
    stage("beginning a session of Spark")
    with spark_session(request.spark_master) as spark:
        return collect_frame(read_table(spark, source), source.shown, request, origin)


def collect_frame(
    frame: Any, name: str, request: Request, origin: Provenance | None = None
) -> CollectedFacts:
    """Count the predictions of a Spark DataFrame where they are.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    name : str
        How messages call it.
    request : Request
    origin : Provenance, optional
        What the run says that they are of.

    Raises
    ------
    EvalreportError
        Whatever keeps them from being counted.
    """
    table = open_frame(frame, name, request.columns.where)
    with spark_errors(name):
        try:
            stage("looking at the columns in Spark")
            stream = stream_of(table, request)
            check_bins(stream, request)
            _check_threshold(stream, request)
        except UsageError as error:
            fix = ELSEWHERE if "memory" in error.fix else error.fix
            raise UsageError(error.message, where=error.where.replace("stream", "spark"), fix=fix) from None
        stage("counting rows in Spark", 0, table.rows)
        space = renamed(ordered(stream.space, request), dict(request.label_names))
        buckets = Buckets(binned=request.approximate, budget=budget_of(request))
        counted = count_table(table, stream, space, buckets, point_of(request))
        watch = counted.watch
        stream.read.append(watch.read)
        stream.check_any(watch.rows)
        if watch.again(request.sampling) and watch.places is not None:
            stage("placing rows in Spark", 0, watch.rows)
            place_table(table, counted.plan, watch, watch.places)
    seen, sweep = observed(watch, stream, request)
    if stream.request.id is None:
        seen = replace(seen, notes=(*seen.notes, BY_PARTITION))
    taken = (*stream.found.taken, ("engine", _words(counted)))
    origin = origin or Provenance(run_name=name.rstrip("/").rsplit("/", 1)[-1])
    notes = (*origin.notes, *stream.found.unused_note)
    provenance = replace(origin, source=name, columns=taken, **request.origin(), notes=notes)
    return CollectedFacts(seen, taken, provenance, sweep)


def _check_threshold(stream: PredictionStream, request: Request) -> None:
    chosen = request.threshold is not None and number_of(request.threshold) is None
    if chosen and isinstance(stream.space, Multilabel):
        raise UsageError(
            "thresholds of several labels are chosen of rows that are read again, and Spark does not",
            where="--threshold",
            fix="pass a number, or --engine memory",
        )


def _words(counted: CountedTable) -> str:
    parts = format.counted(counted.watch.partitions, "partition")
    what = "bins of scores" if counted.plan.buckets.binned else "distinct scores"
    return f"Spark, {parts}; {counted.distinct:,} {what} came to the driver"
