"""Rows of a Spark table that go by again, to be placed among the scores that the first time has shown."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.errors import DataError
from evalreport.evaluation.partitions import PartitionWatch
from evalreport.facts import ClassScores
from evalreport.facts.places import KeptRows, ScorePlaces
from evalreport.labels import Multilabel
from evalreport.scores import NoScores
from evalreport.sources.spark_counting import PartitionPlan, batch_of, partition_number, table_of_rows
from evalreport.sources.spark_tables import SparkTable

PIECE = 1 << 20
"""Counts that are added up in one place."""
LAYOUT = "name string, piece int, kind string, words binary"
ROWS, SCORES, TRUTH = "rows", "scores", "truth"
"""Names of what is of a partition, and not added up: `piece` is its number."""

Places = ScorePlaces | KeptRows
Starts = Mapping[int, tuple[int, int]]
Array = npt.NDArray[Any]


def place_table(table: SparkTable, plan: PartitionPlan, watch: PartitionWatch, places: Places) -> None:
    """Have the rows of a counted table go by again.

    Raises
    ------
    DataError
        They are not those of the first time.
    """
    starts = watch.starts
    task = partial(place_partition, plan=plan, places=places, starts=starts)
    found = table.selected(plan.stream.columns).mapInArrow(task, LAYOUT)
    found = found.groupBy("name", "piece").applyInArrow(sum_pieces, LAYOUT).toArrow()
    pieces: dict[str, dict[int, Array]] = defaultdict(dict)
    for row in found.to_pylist():
        pieces[row["name"]][row["piece"]] = _unpacked(row)
    rows = {number: int(count[0]) for number, count in pieces.pop(ROWS).items()}
    if {number: count for number, count in rows.items() if count} != {
        number: stop - start for number, (start, stop) in starts.items() if stop > start
    }:
        raise DataError(
            "its partitions held other rows when they were read again",
            where=table.shown,
            fix="cache the frame, or write it to a table first",
        )
    scores, truth = pieces.pop(SCORES, {}), pieces.pop(TRUTH, {})
    shape = (-1, len(watch.space))
    flags = shape if isinstance(watch.space, Multilabel) else (-1,)
    kept = [
        ClassScores(scores[number].reshape(shape), truth[number].reshape(flags), None)
        for number in sorted(scores)
    ]
    counts = {name: np.concatenate([of[piece] for piece in sorted(of)]) for name, of in pieces.items()}
    places.take_parts(sum(rows.values()), kept, counts)


def place_partition(
    batches: Iterator[Any], plan: PartitionPlan, places: Places, starts: Starts
) -> Iterator[Any]:
    """Yield what a task found of its partition."""
    number = partition_number()
    part, rows = places.part(*starts.get(number, (0, 0))), 0
    for batch, _ in plan.partition(number, batches).some_batches():
        if not isinstance(batch.scores, NoScores):
            part.add(batch.scores.values, batch.y_true)
            rows += len(batch)
    yield batch_of([_packed(ROWS, number, np.array([rows]))], LAYOUT)
    if rows:
        kept = part.kept.rows
        own = [_packed(SCORES, number, kept.scores), _packed(TRUTH, number, kept.truth)]
        yield batch_of(own, LAYOUT)
        for name, counts in part.counts().items():
            for piece, start in enumerate(range(0, len(counts), PIECE)):
                yield batch_of([_packed(name, piece, counts[start : start + PIECE])], LAYOUT)


def sum_pieces(found: Any) -> Any:
    """Return what all tasks found of one piece, added up, as one row.

    Examples
    --------
    >>> rows = [_packed("all", 0, np.array([200, 1], dtype=np.uint8))] * 2
    >>> _unpacked(sum_pieces(table_of_rows(rows, LAYOUT)).to_pylist()[0])
    array([400,   2], dtype=uint16)
    """
    rows = found.to_pylist()
    if len(rows) == 1:
        return found
    parts = list(map(_unpacked, rows))
    kind = np.float64 if parts[0].dtype.kind == "f" else np.uint64
    whole = np.asarray(np.sum(parts, axis=0, dtype=kind))
    return table_of_rows([_packed(rows[0]["name"], rows[0]["piece"], whole)], LAYOUT)


def _packed(name: str, piece: int, values: Array) -> tuple[str, int, str, bytes]:
    """Numbers as bytes: counts in the narrowest integer, and most of them are 0."""
    if values.dtype.kind == "u":
        values = values.astype(np.min_scalar_type(int(values.max(initial=0))))
    return name, piece, values.dtype.str, zlib.compress(np.ascontiguousarray(values).tobytes(), 1)


def _unpacked(row: Mapping[str, Any]) -> Array:
    return np.frombuffer(zlib.decompress(row["words"]), dtype=row["kind"])
