"""Spark gives, of the same rows in any partitions, what the engines in memory and of streams give."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalreport as er
from evalreport.api.input import build_request as request_of
from evalreport.core.errors import ColumnNotFoundError, DataError, UsageError
from evalreport.features.spark.evaluate_table import SparkCounting
from evalreport.features.spark.session import Buckets, PackedWords, merge_words, spark_errors
from evalreport.statistics.score_table import ScoreTable
from evalreport.workflow.evaluate import evaluated_facts
from evalreport.workflow.request import CollectedFacts

FEW: dict[str, Any] = {"resamples": 100, "find_slices": False}
N = 600
PARTITIONS = 5
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of py4j


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, -0.0, 5e-324, -1e-320, 0.25, 0.5, 1.0 - 2**-53, 1.0, -3.5, 1e300]),
            st.booleans(),
            st.integers(0, 3),
        ),
        max_size=60,
    ),
    st.lists(st.sampled_from([-1.0, 0.0, 0.3, 0.5, 2.0]), max_size=3, unique=True),
)
def test_any_places_and_ranges_make_the_same_table(
    rows: list[tuple[float, bool, int]], edges: list[float]
) -> None:
    buckets, parts = Buckets(tuple(sorted(edges))), list[PackedWords]()
    for place in range(4):
        holder = buckets.holder()
        some = [(score, truth) for score, truth, at in rows if at == place]
        if some:  # a place that was given nothing sends nothing
            short = place == 3 and all(score in (0.0, 0.25, 0.5, 1.0, -3.5) for score, _ in some)
            kind = np.float32 if short else np.float64
            holder.add(
                np.array([score for score, _ in some], dtype=kind), np.array([truth for _, truth in some])
            )
        parts += holder.pop_packed()
    ranges = sorted({part.bucket for part in parts})
    runs = [
        merge_words(part for part in reversed(parts) if part.bucket == bucket).runs() for bucket in ranges
    ]
    found = [np.concatenate([np.empty(0), *column]).tolist() for column in zip(*runs, strict=True)] or [
        []
    ] * 3
    expected = ScoreTable.from_scores(
        np.array([row[0] for row in rows]), np.array([row[1] for row in rows], dtype=bool)
    )
    assert found == [expected.scores.tolist(), expected.pos.tolist(), expected.neg.tolist()]


def ties() -> pa.Table:
    rng = np.random.default_rng(3)
    score = rng.random(N)
    score[: N // 3] = 0.5
    truth = np.where(rng.random(N) < score, "ill", "well")
    return pa.table({"y_true": truth, "score": score, "site": np.arange(N) % 3})


def nearly_all_on_one() -> pa.Table:
    rng = np.random.default_rng(4)
    score = np.full(N, 0.75, dtype=np.float32)
    score[::100] = rng.random(6)
    return pa.table({"y_true": rng.integers(0, 2, N), "score": score})


def margins() -> pa.Table:
    values = np.array([-3.5, -0.0, 0.0, 5e-324, -1e-320, 1e300, 0.25, -3.5, 2.0, 0.0])
    return pa.table({"y_true": np.arange(10) % 3 == 0, "margin": values})


def answers() -> pa.Table:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, N)
    answer = np.where(rng.random(N) < 0.8, truth, 1 - truth).tolist()
    return pa.table(
        {
            "y_true": truth,
            "answer": [None if row % 50 == 7 else one for row, one in enumerate(answer)],
            "score": rng.random(N),
            "name": [f"case {row}" for row in range(N)],
            "part": np.where(np.arange(N) < N // 3, "a", "b"),
        }
    )


CASES: Mapping[str, tuple[pa.Table, dict[str, Any]]] = {
    "ties and slices": (ties(), {"positive": "ill", "slices": "site", "threshold": "max-f1"}),
    "99 % on one score": (nearly_all_on_one(), {}),
    "margins, signed zeros, subnormals": (margins(), {"score": "margin", "score_kind": "decision"}),
    "one class": (
        pa.table({"y_true": np.ones(7, dtype=int), "score": np.linspace(0, 1, 7)}),
        {"labels": (0, 1)},
    ),
    "answers with gaps, some rows": (
        answers(),
        {"pred": "answer", "id": "name", "where": ("part=b",), "missing": "wrong", "score": "score"},
    ),
    "answers alone": (answers(), {"pred": "answer", "no_scores": True, "missing": "wrong", "id": "name"}),
}


def plain(ev: er.Evaluation) -> dict[str, Any]:
    """Everything but the origin, what an engine does not look for, and which of equal rows are the first."""
    found: dict[str, Any] = json.loads(ev.to_json())
    found["notes"] = [
        note for note in found["notes"] if "stand twice" not in note and "by partition" not in note
    ]
    found["findings"] = [one for one in found["findings"] if "notes" not in one["evidence"]]
    for one in found["mistakes"]:
        del one["row"]
        if one["confidence"] is None or one["id"].isdigit():
            del one["id"]
    return {key: value for key, value in found.items() if key not in ("provenance", "label_digest")}


@pytest.mark.parametrize("case", CASES)
def test_all_engines_agree(case: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers are equal, the last digit of sums excepted; small tables leave some partitions empty."""
    monkeypatch.setattr("evalreport.features.spark.count.BUCKET", 100)
    table, asked = CASES[case]
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path)
    expected = plain(er.evaluate_file(path, **asked, **FEW))
    frame = spark.createDataFrame(table).repartition(PARTITIONS)
    found = er.evaluate_spark(frame, **asked, **FEW)
    assert_close(plain(found), expected)
    for memory in (1 << 30, 64 << 10):
        stream = er.evaluate_files(path, memory=memory, **asked, **FEW)
        assert_close(plain(stream), expected)


def test_bins_are_those_of_a_stream(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(ties(), path)
    asked: dict[str, Any] = {"positive": "ill", "slices": "site", "approximate": True, **FEW}
    found = er.evaluate_spark(spark.createDataFrame(ties()).repartition(PARTITIONS), **asked)
    assert_close(plain(found), plain(er.evaluate_files(path, **asked)))
    assert "bins of scores stayed in Spark" in dict(found.provenance.columns)["engine"]
    with pytest.raises(UsageError, match="scores of two labels, and there are no scores"):
        er.evaluate_spark(
            spark.createDataFrame(answers()), pred="answer", missing="wrong", no_scores=True, approximate=True
        )


def assert_close(found: Any, expected: Any, at: str = "") -> None:
    match expected:
        case dict():
            assert found.keys() == expected.keys(), at
            for key in expected:
                assert_close(found[key], expected[key], f"{at}/{key}")
        case list():
            assert len(found) == len(expected), at
            for place, (one, other) in enumerate(zip(found, expected, strict=True)):
                assert_close(one, other, f"{at}/{place}")
        case float():
            assert math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-15), (at, found, expected)
        case _:
            assert found == expected, at


def test_a_task_that_dies_once_changes_nothing(spark: Any, tmp_path: Path) -> None:
    """One that reads rows, and the one that reads all scores."""
    frame = spark.createDataFrame(ties()).repartition(2)

    def die_once(mark: Path) -> None:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os._exit(1)

    def dying(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches
        die_once(tmp_path / "reading")

    known: dict[str, Any] = {"positive": "ill", "labels": ("well", "ill"), "confidence": None}
    request = request_of(None, known)

    def working(counted: CollectedFacts) -> Any:
        die_once(tmp_path / "working")
        return evaluated_facts(counted, request)

    once = er.evaluate_spark(frame, **known)
    with warnings.catch_warnings(action="ignore"):  # of pandas, which PySpark does not know yet
        other = frame.mapInArrow(dying, frame.schema)
    found = SparkCounting(other, request).run_on_counts(working).made
    assert {path.name for path in tmp_path.iterdir()} == {"reading", "working"}
    assert plain(found)["metrics"] == plain(once)["metrics"]


def test_a_value_that_cannot_be_evaluated_is_named_with_its_partition(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalreport.features.spark.tables.HEAD", 50)  # it is not among the first rows
    table = ties()
    score = table["score"].to_numpy().copy()
    score[77] = np.nan
    frame = spark.createDataFrame(table.set_column(1, "score", pa.array(score))).coalesce(1)
    with pytest.raises(DataError) as caught:
        er.evaluate_spark(frame, positive="ill", **FEW)
    assert caught.value.where.startswith("Spark DataFrame, partition 0")
    assert "row 77" in caught.value.where


def test_what_spark_cannot_do_is_refused_with_what_can(spark: Any) -> None:
    frame = spark.createDataFrame(ties())
    with pytest.raises(UsageError) as caught:
        er.evaluate_spark(frame, group="site", **FEW)
    assert caught.value.where == 'engine="spark"'
    assert 'pass engine="memory"' in caught.value.fix


def spelled(frame: Any) -> Mapping[str, tuple[Any, dict[str, Any]]]:
    """The same rows under other names and types."""
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions

    score = functions.col("score")
    both, moment = functions.array(1 - score, score), functions.lit("2024-02-03 04:05:06")
    mapping = functions.create_map(functions.lit("well"), 1 - score, functions.lit("ill"), score)
    return {
        "a vector": (frame.withColumn("score", array_to_vector(both)), {"labels": ("well", "ill")}),
        "a mapping": (frame.withColumn("score", mapping), {}),
        "a time": (frame.withColumn("site", moment.cast("timestamp")), {"slices": "site"}),
        "names": (
            frame.toDF("y.true", "Score `x`", "SITE"),
            {"truth": "y.true", "score": "Score `x`", "slices": "SITE", "where": ("SITE=1",)},
        ),
        "one place of many": (frame.repartition(40), {}),
    }


@pytest.mark.parametrize("case", ["a vector", "a mapping", "a time", "names", "one place of many"])
def test_names_and_types_of_spark(case: str, spark: Any) -> None:
    frame, asked = spelled(spark.createDataFrame(ties()).coalesce(1))[case]
    where = asked.get("where", ())
    rows = ties().filter(pa.array(np.arange(N) % 3 == 1)) if where else ties()
    found = er.evaluate_spark(frame, positive="ill", **asked, **FEW)
    expected = er.evaluate(rows.select(["y_true", "score"]).to_pandas(), positive="ill", **FEW)
    assert_close(plain(found)["metrics"], plain(expected)["metrics"])
    if case == "a time":
        assert "2024-02-03 04:05:06.000000" in found.to_json()


def test_columns_that_are_not_there_and_those_that_stand_twice(
    spark: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a word of Spark's own."""
    frame = spark.createDataFrame(ties())
    with pytest.raises(ColumnNotFoundError, match='column "Y_TRUE" is not in Spark DataFrame'):
        er.evaluate_spark(frame, truth="Y_TRUE", score="SCORE", **FEW)
    with pytest.raises(DataError, match="column 'score' appears twice"):
        er.evaluate_spark(frame.select("*", "score"), **FEW)
    with pytest.raises(DataError, match="Spark reports an error"), spark_errors("rows"):
        frame.select("nothing").count()
    assert capsys.readouterr().err == ""


def test_columns_without_known_names_are_decided_by_rows_of_all_partitions(spark: Any) -> None:
    """The rows are sorted by their label, so that the first partition has one label."""
    rng = np.random.default_rng(2)
    towns = np.array(["oslo", "paris", "rome"])
    truth = np.sort(rng.integers(3, size=N))
    scores = rng.random((N, 3)) + 0.6 * np.eye(3)[truth]
    scores /= scores.sum(axis=1, keepdims=True)
    given = scores.argmax(axis=1)
    columns = {"town": towns[truth], "age": rng.normal(size=N), "label": towns[given]}
    rows = pa.table(columns | {f"knn {town}": scores[:, place] for place, town in enumerate(towns)})
    frame = reduce(
        lambda one, other: one.union(other),
        [spark.createDataFrame(rows.slice(start, N // 6)) for start in range(0, N, N // 6)],
    )
    found = er.evaluate_spark(frame, confidence=None)
    assert found.metrics["accuracy"].value == pytest.approx((truth == given).mean())
    expected = -np.log(scores[np.arange(N), truth]).mean()
    assert found.metrics["log_loss"].value == pytest.approx(expected)
