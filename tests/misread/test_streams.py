"""Streams and Spark refuse, by all rows, what tables in memory refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import evalreport as er
from evalreport.core.errors import DataError
from evalreport.data.arrays import id_keys
from evalreport.features.large.guard import KEPT, ExampleRows
from tests.cli.running import run

N = 1200
RNG = np.random.default_rng(0)
WORDS = np.array(["ant", "bee", "cow", "dog"])
TRUTH = RNG.integers(4, size=N)


def scores(truth: np.ndarray, size: int) -> np.ndarray:
    found = RNG.random((len(truth), size)) + 2 * np.eye(size)[truth]
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def columns(values: np.ndarray, names: Any = WORDS) -> dict[str, np.ndarray]:
    return {f"proba_{name}": column for name, column in zip(names, values.T, strict=True)}


def constant_labels() -> dict[str, Any]:
    return {"label": np.full(N, "ant"), "prediction": WORDS[TRUTH]}


def exchanged_labels() -> dict[str, Any]:
    """The first rows agree, all others are one code further."""
    return {"y_true": TRUTH, "y_pred": np.where(np.arange(N) < 40, TRUTH, (TRUTH + 1) % 4)}


def exchanged_scores() -> dict[str, Any]:
    """The score columns of all but the first rows are in another order than their names."""
    values = scores(TRUTH, 4)
    late = np.where((np.arange(N) < 4)[:, None], values, np.roll(values, 1, axis=1))
    return {"y_true": WORDS[TRUTH], "y_pred": WORDS[values.argmax(axis=1)], **columns(late)}


def reversed_scores() -> dict[str, Any]:
    ill = TRUTH > 1
    return {"y_true": np.where(ill, "ill", "well"), "score": np.where(ill, 0.7, 0.3) + RNG.random(N) / 5}


def distances() -> dict[str, Any]:
    return {"y_true": WORDS[TRUTH], **columns((1 - scores(TRUTH, 4)) / 3)}


def evaluations_by_id() -> dict[str, Any]:
    """Two evaluations of the same examples, each in an order of its own."""
    truth, order = TRUTH[: N // 2], RNG.permutation(N // 2)
    model = np.repeat(["m", "n"], N // 2)
    ids = np.r_[np.arange(N // 2), order]
    return {
        "id": ids,
        "model": model,
        "y_true": np.r_[truth, truth[order]],
        "y_pred": RNG.integers(4, size=N),
    }


def evaluations_in_order() -> dict[str, Any]:
    truth = TRUTH[: N // 2]
    return {
        "model": np.repeat(["m", "n"], N // 2),
        "y_true": np.r_[truth, truth],
        "y_pred": RNG.integers(4, size=N),
    }


CASES: Mapping[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "constant": (constant_labels, "label column 'label' is ant in every row"),
    "exchanged labels": (exchanged_labels, "with exchanged labels"),
    "exchanged scores": (exchanged_scores, "belongs to the predicted label in"),
    "reversed scores": (reversed_scores, "rank true well last"),
    "distances": (distances, "rank every true label last"),
    "several by id": (evaluations_by_id, "'model' separates 2 evaluations"),
    "several in order": (evaluations_in_order, "'model' separates 2 evaluations"),
}


def parts(rows: Mapping[str, Any], folder: Path, suffix: str) -> Path:
    """Write rows as a folder of files; the first has 40 rows."""
    folder.mkdir()
    table = pa.table(dict(rows))
    write = pq.write_table if suffix == ".parquet" else pa_csv.write_csv
    for number, (start, stop) in enumerate([(0, 40), (40, N // 2), (N // 2, len(table))]):
        write(table.slice(start, stop - start), folder / f"part-{number}{suffix}")
    return folder


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("case", CASES)
def test_a_stream_is_refused_by_its_rows(
    case: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, message = CASES[case]
    many = parts(make(), tmp_path / "rows", suffix)
    done = run(capsys, "report", str(many), "--set", "engine=stream", "-o", str(tmp_path / "page.html"))
    assert done.code in range(1, 6) and message in done.err, done.err
    assert "Traceback" not in done.err and sorted(tmp_path.iterdir()) == [many]


@pytest.mark.parametrize("case", CASES)
def test_memory_refuses_the_same(case: str, tmp_path: Path) -> None:
    make, message = CASES[case]
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(make()), path)
    with pytest.raises(DataError, match=message):
        er.evaluate_file(path, confidence=None)


@pytest.mark.parametrize("case", [name for name in CASES if name != "several in order"])
def test_spark_is_refused_by_its_rows(case: str, spark: Any) -> None:
    make, message = CASES[case]
    frame = spark.createDataFrame(pa.table(make())).repartition(3)
    with pytest.raises(DataError, match=message):
        er.evaluate_spark(frame, confidence=None)


def test_readings_that_are_right_are_accepted(tmp_path: Path) -> None:
    values = scores(TRUTH, 4)
    answers = WORDS[values.argmax(axis=1)]
    right: dict[str, Any] = {"y_true": WORDS[TRUTH], "y_pred": answers, **columns(values)}
    right |= {"id": np.arange(N), "site": np.repeat(["a", "b", "c"], N // 3), "version": np.full(N, 3)}
    found = er.evaluate_files(parts(right, tmp_path / "rows", ".parquet"), confidence=None)
    assert found.rows == N


def test_one_of_several_evaluations_is_chosen(tmp_path: Path) -> None:
    many = parts(evaluations_by_id(), tmp_path / "rows", ".csv")
    assert er.evaluate_files(many, where="model=n", confidence=None).rows == N // 2


def test_folders_separate_evaluations(tmp_path: Path) -> None:
    rows = evaluations_in_order()
    del rows["model"]
    for place, model in enumerate("mn"):
        (tmp_path / "rows" / f"model={model}").mkdir(parents=True)
        some = pa.table(rows).slice(place * N // 2, N // 2)
        pq.write_table(some, tmp_path / "rows" / f"model={model}" / "part.parquet")
    with pytest.raises(DataError, match="'model' separates 2 evaluations"):
        er.evaluate_files(tmp_path / "rows", confidence=None)


def test_rows_of_examples_add_up_in_any_order() -> None:
    ids, model = np.tile(np.arange(9000), 2), np.repeat(["m", "n"], 9000)
    labels = np.tile(RNG.integers(2, size=9000), 2)
    states = []
    for some in np.array_split(RNG.permutation(18_000), 7):
        rows = ExampleRows()
        rows.add(ids[some], labels[some], {"model": model[some]})
        states.append(rows.state())
    found = []
    for each in (states, states[::-1]):
        whole = ExampleRows()
        for state in each:
            whole.take(state)
        several = whole.several()
        assert len(whole) <= KEPT and several is not None and several.columns == ("model",)
        found.append(sorted(zip(*whole.state()[1:3], strict=True)))
    assert found[0] == found[1]


def test_keys_of_ids_do_not_depend_on_the_width_of_the_text() -> None:
    texts = [f"case {row}" for row in range(50)]
    wide = np.array([*texts, "x" * 90])
    assert (id_keys(np.array(texts)) == id_keys(wide)[:-1]).all()
    assert len(set(id_keys(np.arange(100_000)).tolist())) == 100_000
