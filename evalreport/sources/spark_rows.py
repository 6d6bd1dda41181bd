"""Rows of a Spark table that go by again, of which some are kept whole: they stay in Spark, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from evalreport.engines.class_ranges import pack_arrays
from evalreport.evaluation.partitions import PartitionWatch
from evalreport.facts.places import KeptRows
from evalreport.scores import NoScores
from evalreport.sources.spark_counting import (
    ALL,
    ROWS,
    CountedParts,
    PartitionPlan,
    batch_of,
    partition_number,
)
from evalreport.sources.spark_tables import SparkTable

Starts = Mapping[int, tuple[int, int]]


@contextmanager
def with_rows(table: SparkTable, counted: CountedParts, watch: PartitionWatch) -> Iterator[CountedParts]:
    """Have the rows of a table that are to be kept whole at hand within the block, where there are any."""
    if watch.kept is None or not len(watch.kept.wanted):
        yield counted
        return
    task = partial(keep_of_partition, plan=counted.plan, kept=watch.kept, starts=watch.starts)
    rows = table.selected(counted.plan.stream.columns).mapInArrow(task, ALL).persist()
    try:
        rows.count()  # in a job of its own, where partitions have the numbers of the first reading
        yield replace(counted, more=rows)
    finally:
        rows.unpersist()


def keep_of_partition(
    batches: Iterator[Any], plan: PartitionPlan, kept: KeptRows, starts: Starts
) -> Iterator[Any]:
    """Yield the rows that a task keeps of its partition, with how many it has read."""
    number = partition_number()
    part, rows = kept.part(*starts.get(number, (0, 0))), 0
    for batch, _ in plan.partition(number, batches).some_batches():
        if not isinstance(batch.scores, NoScores):
            part.add(batch.scores.values, batch.y_true)
            rows += len(batch)
    if rows:
        found = pack_arrays(part.rows.scores, part.rows.truth)
        yield batch_of([(ROWS, number, rows, found, None, None)], ALL)
