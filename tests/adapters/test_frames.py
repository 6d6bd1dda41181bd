"""Frames of every library are read as a file of their columns, without a copy where there is none to make."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evalreport as er
from evalreport.adapters.frames import is_frame, table_of
from evalreport.columns.column_request import Columns
from evalreport.core.errors import EvalreportError

RNG = np.random.default_rng(0)
N = 80
TRUTH = np.array(["ham", "spam"])[RNG.integers(0, 2, N)]
P = np.clip(0.3 * (TRUTH == "spam") + 0.7 * RNG.random(N), 0, 1)
PANDAS = pd.DataFrame({"diagnosis": TRUTH, "p": P, "site": RNG.integers(0, 9, N), "unused": [{}] * N})
ARROW = pa.table({"diagnosis": TRUTH, "p": P, "site": PANDAS["site"].to_numpy()})
WORDS: dict[str, Any] = {
    "truth": "diagnosis",
    "score": "p",
    "positive": "spam",
    "group": "site",
    "resamples": 50,
}


class Stream:
    """A frame of another library: the Arrow C stream, and nothing else."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return ARROW.__arrow_c_stream__(requested_schema)


FRAMES: dict[str, Any] = {
    "pandas": lambda: PANDAS,
    "pandas, objects": lambda: PANDAS.astype({"diagnosis": object}),
    "pandas, categories": lambda: PANDAS.astype({"diagnosis": "category"}),
    "pandas on Arrow": lambda: PANDAS.drop(columns="unused").convert_dtypes(dtype_backend="pyarrow"),
    "pandas, nullable": PANDAS.convert_dtypes,
    "pandas, named index": lambda: PANDAS.set_index("diagnosis"),
    "Arrow table": lambda: ARROW,
    "Arrow table in chunks": lambda: pa.concat_tables([ARROW.slice(0, 30), ARROW.slice(30)]),
    "Arrow batch": lambda: ARROW.to_batches()[0],
    "Arrow reader": ARROW.to_reader,
    "C stream": Stream,
}


def expected() -> er.Evaluation:
    labels = er.Binary(negative="ham", positive="spam")
    return er.evaluate(TRUTH, scores=er.Probabilities(P), labels=labels, groups=PANDAS["site"], resamples=50)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_of_any_kind_is_the_arrays_in_it(kind: str) -> None:
    found = er.evaluate(FRAMES[kind](), **WORDS)
    assert found.metrics == expected().metrics


def test_a_frame_says_what_the_file_of_it_says(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"y_true": [0, 1, 1, 0] * 9, "proba_0": [0.9, 0.2, 0.6, 0.7] * 9, "proba_1": [0.1, 0.8, 0.4, 0.3] * 9}
    )
    path = tmp_path / "predictions.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path)
    read, given = er.evaluate_file(path, resamples=50), er.evaluate(frame, resamples=50)
    assert read.metrics == given.metrics
    assert read.provenance.columns == given.provenance.columns


@pytest.mark.parametrize("frame", [PANDAS, ARROW], ids=["pandas", "Arrow"])
def test_numbers_are_not_copied(frame: Any) -> None:
    array = table_of(frame, Columns(truth="diagnosis", score="p")).columns["p"]
    own = PANDAS["p"].to_numpy() if frame is PANDAS else ARROW["p"].chunk(0).to_numpy()
    assert np.shares_memory(array, own)
    assert not array.flags.writeable


def test_a_column_of_a_large_frame_that_is_not_wanted_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalreport.adapters.frames.COMPARED_ROWS", N - 1)
    assert "unused" not in table_of(PANDAS, Columns(truth="diagnosis", score="p")).columns


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table], ids=["pandas", "Arrow"])
def test_a_sample_of_a_large_frame_decides(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(3, size=300)
    given = np.where(rng.random(300) < 0.8, truth, 2 - truth)
    towns = np.array(["oslo", "paris", "rome"], dtype=object)
    scores = 0.6 * np.eye(3)[given] + rng.dirichlet(np.ones(3), size=300) * 0.4
    columns = {"town": towns[truth], "age": rng.normal(size=300), "label": towns[given]}
    frame = make(columns | {f"knn {town}": scores[:, place] for place, town in enumerate(towns)})
    small = er.evaluate(frame, confidence=None)
    monkeypatch.setattr("evalreport.adapters.frames.COMPARED_ROWS", 299)
    assert "age" not in table_of(frame, Columns()).columns
    large = er.evaluate(frame, confidence=None)
    assert large["accuracy"].value == small["accuracy"].value == pytest.approx((truth == given).mean())
    assert large["log_loss"].value == small["log_loss"].value


def test_gaps_are_reported_as_in_a_file() -> None:
    frame = PANDAS.assign(p=np.where(np.arange(N) == 7, np.nan, P))
    with pytest.raises(EvalreportError, match="NaN") as caught:
        er.evaluate(frame, **WORDS)
    assert "row 7" in caught.value.where


def test_thresholds_slices_and_other_rows() -> None:
    first = er.evaluate(PANDAS, slices="site", threshold=0.4, **WORDS)
    assert first.threshold is not None
    assert first.threshold.value == 0.4
    second = er.evaluate(PANDAS, threshold="max-f1", tune_on=first, **WORDS)
    assert second.threshold is not None
    assert second.threshold.origin != "given"


def test_indicators_with_answers_are_no_frame_of_columns() -> None:
    tags = pd.DataFrame({"joy": [0, 1, 1], "anger": [1, 0, 1]})
    assert er.evaluate(tags, tags, resamples=50)["subset_accuracy"].value == 1.0


def test_columns_of_scores_are_named_and_labels_keep_their_order() -> None:
    classes = ("low", "mid", "high")
    frame = pd.DataFrame(RNG.dirichlet(np.ones(3), 60), columns=[f"p_{name}" for name in classes])
    frame["y"] = RNG.choice(classes, 60)
    ev = er.evaluate(
        frame, truth="y", scores="p_*", labels=er.Multiclass(classes, ordered=True), confidence=None
    )
    assert ev.space == er.Multiclass(classes, ordered=True)
    assert isinstance(ev["ranked_probability_score"], er.Estimate)


def test_a_column_is_no_frame() -> None:
    assert not any(map(is_frame, (PANDAS["p"], ARROW["p"], [0, 1], P, None, io.BytesIO())))


class Lazy:
    """A plan without rows."""

    columns = ("a",)
    collect = None


WRONG: dict[str, Any] = {
    "a name that is none": (lambda: er.evaluate([0, 1], [0, 1], truht="y"), "'truht'"),
    "a column of arrays": (lambda: er.evaluate([0, 1], [0, 1], truth="y"), "not a frame"),
    "arrays in addition to a frame": (
        lambda: er.evaluate(PANDAS, groups=TRUTH, truth="diagnosis", score="p"),
        "in addition to a frame",
    ),
    "a column that is not there": (
        lambda: er.evaluate(PANDAS, truth="diagnose", score="p"),
        "not in the frame",
    ),
    "no rows": (lambda: er.evaluate(PANDAS.iloc[:0], truth="diagnosis", score="p"), "no rows"),
    "a column twice": (lambda: er.evaluate(PANDAS[["p", "p"]], score="p"), "twice"),
    "things": (
        lambda: er.evaluate(
            PANDAS.assign(diagnosis=np.array([{1}, "a"] * (N // 2), dtype=object)),
            truth="diagnosis",
            score="p",
        ),
        "cannot be read",
    ),
    "no frame": (lambda: table_of(7, Columns()), "int is not a frame"),
    "a plan": (lambda: table_of(Lazy(), Columns()), "not a frame with rows"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str) -> None:
    call, words = WRONG[case]
    with pytest.raises(EvalreportError, match=words) as caught:
        call()
    assert caught.value.fix
