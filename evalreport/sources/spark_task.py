"""Work on the scores of all partitions in one task of Spark: its result alone comes to the driver.

Thresholds, curves, fits and intervals read all distinct scores many times over, each time after what the last
reading told: as jobs over all partitions, every one of them would be a round through the cluster.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from evalreport.errors import EvalreportError
from evalreport.facts.words import Budget
from evalreport.sources.spark_counting import CountedParts, CountedTable, batch_of, put_together

T = TypeVar("T")
DONE = "done binary"
CELL = 20
"""Bytes of a score of double precision with its counts, as it comes and in its table."""


def done_there(counted: CountedParts, work: Callable[[CountedTable], T], *, memory: int, cells: int) -> T:
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
    found = counted.merged().repartition(1).mapInArrow(task, DONE).toArrow().column("done").to_pylist()
    if not found:  # of no rows Spark may make no partition
        return work(put_together(counted.rest, counted.plan))
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
        done = work(put_together(chain(counted.rest, rows), plan, folder))
    except EvalreportError as error:
        done = error
    yield batch_of([(zlib.compress(pickle.dumps(done)),)], DONE)


def _own_folder() -> Path:
    """Where Spark keeps what a task does not hold in memory."""
    folder = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return Path(folder if os.path.isdir(folder) and folder else tempfile.gettempdir())
