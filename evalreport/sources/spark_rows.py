"""Rows of a Spark table that go by again, of which some are kept whole: they stay in Spark, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from evalreport.engines.class_ranges import to_bytes
from evalreport.evaluation.partitions import PartitionWatch
from evalreport.facts.places import KeptRows
from evalreport.scores import NoScores
from evalreport.sources.spark_counting import ALL, ROWS, PartitionPlan, batch_of, partition_number
from evalreport.sources.spark_tables import SparkTable

Starts = Mapping[int, tuple[int, int]]


def kept_rows(table: SparkTable, plan: PartitionPlan, watch: PartitionWatch) -> Any:
    """Return a frame of the rows of a counted table that are kept whole; None where there are none."""
    if watch.kept is None or not len(watch.kept.wanted):
        return None
    task = partial(keep_of_partition, plan=plan, kept=watch.kept, starts=watch.starts)
    return table.selected(plan.stream.columns).mapInArrow(task, ALL)


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
        found = to_bytes(part.rows.scores, part.rows.truth)
        yield batch_of([(ROWS, number, rows, found, None, None)], ALL)
