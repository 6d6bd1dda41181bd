"""Spark gives of several classes, and of several labels per row, what the engine in memory gives."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evalreport as er
from evalreport.core.errors import DataError, UsageError
from evalreport.core.progress import on_progress
from tests.features.large.test_stream import FEW
from tests.features.large.test_stream_classes import SIZES, classes, scored
from tests.features.large.test_stream_labels import FLAGS, LISTS, SCORED, labelled
from tests.features.spark.test_spark import assert_close, plain

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of py4j


def placed(spark: Any, rows: pa.Table, cuts: tuple[int, ...] = (1, 400, 400)) -> Any:
    """The rows in their order, in uneven partitions of which one is empty."""
    ends = pairwise((0, *cuts, len(rows)))
    frames = [spark.createDataFrame(rows.slice(start, stop - start)).coalesce(1) for start, stop in ends]
    return reduce(lambda one, other: one.union(other), frames)


def in_order(ev: er.Evaluation) -> dict[str, Any]:
    """As `plain`, with the numbers and ids of rows: these stand in the order of the file."""
    return {**plain(ev), "mistakes": [vars(one) for one in ev.mistakes]}


CASES: Mapping[str, tuple[pa.Table, dict[str, Any]]] = {
    "classes": (
        classes(),
        {"pred": "gapped", "missing": "wrong", "labels": SIZES, "ordered": True, "slices": "site"},
    ),
    "classes, ids, some rows": (classes(), {"pred": "y_pred", "id": "name", "where": ("part=b",)}),
    "scores of classes": (
        scored(),
        {"truth": "y_true", "scores": "proba_*", "pred": "gapped", "missing": "wrong"},
    ),
    "margins, some rows": (scored(), {"scores": "margin_*", "score_kind": "decision", "where": ("part=b",)}),
    "labels in columns": (labelled(), {**FLAGS, "slices": "site", "id": "name"}),
    "scores of labels": (
        labelled(),
        {"truth": "true_*", "pred": "pred_*", "scores": "proba_*", "slices": "site"},
    ),
    "margins of labels": (
        labelled(),
        {"truth": "truth", "scores": "margin_*", "score_kind": "decision", "where": ("site=1",)},
    ),
    "labels at a threshold": (labelled(), {"truth": "true_*", "scores": "proba_*", "threshold": "0.3"}),
    "labels under a bound": (labelled(), SCORED["a bound of each"]),
    "labels in lists": (labelled(), {**LISTS, "where": ("site=1",)}),
}


@pytest.mark.parametrize("case", CASES)
def test_spark_and_memory_agree(
    case: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalreport.features.spark.count.BUCKET", 200)
    rows, asked = CASES[case]
    path = tmp_path / "rows.parquet"
    pq.write_table(rows, path)
    expected = er.evaluate_file(path, **asked, **FEW)
    found = er.evaluate_spark(placed(spark, rows), **asked, **FEW)
    assert_close(in_order(found), in_order(expected))


def test_labels_of_lists_are_found_where_they_are(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that only later rows carry, too; what is no label is told with its partition."""
    monkeypatch.setattr("evalreport.features.spark.tables.HEAD", 4)
    rows = labelled()
    found = er.evaluate_spark(placed(spark, rows), **LISTS, confidence=None)
    assert found.space.labels == ("anger", "fear", "grief", "joy")
    with pytest.raises(DataError, match="outside the label set") as caught:
        er.evaluate_spark(placed(spark, rows), **LISTS, labels=("anger", "fear", "joy"), confidence=None)
    with pytest.raises(UsageError, match="which Spark does not support"):
        er.evaluate_spark(placed(spark, rows), **SCORED["lists"], threshold="max-f1", confidence=None)
    assert caught.value.where.startswith("Spark DataFrame, partition ")


def test_rows_that_change_between_two_readings_are_refused(spark: Any, tmp_path: Path) -> None:
    mark = tmp_path / "read"

    def fewer(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch.slice(len(batch) // 2) if mark.exists() else batch

    def watched(before: str) -> None:
        if before.startswith("keeping"):
            mark.touch()

    rows = scored().select(["y_true", *(f"proba_{label}" for label in SIZES)])
    frame = spark.createDataFrame(rows).coalesce(1)
    with warnings.catch_warnings(action="ignore"):  # of pandas, which PySpark does not know yet
        frame = frame.mapInArrow(fewer, frame.schema)
    with (
        on_progress(lambda what, *_: watched(what)),
        pytest.raises(DataError, match="different rows") as caught,
    ):
        er.evaluate_spark(frame, scores="proba_*", **FEW)
    assert "cache the frame" in caught.value.fix
