"""Labels, predictions and scores in several files of a run: the evidence of their columns says which."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import find, to_predictions
from evalreport.core.errors import UsageError
from evalreport.data.scores import NoScores
from evalreport.readers.read import read_requested_columns
from evalreport.tracking.client import Store
from evalreport.tracking.find_predictions import PairedTables, pair_tables, read_run
from evalreport.tracking.runs import find_run
from evalreport.workflow.collect import collect_run
from evalreport.workflow.request import Request
from tests.tracking import make_run

RNG = np.random.default_rng(11)
N = 90
K = RNG.integers(3, size=N)
Q = RNG.dirichlet(np.ones(3), size=N) * 0.6 + 0.4 * np.eye(3)[K]
Q = Q / Q.sum(axis=1, keepdims=True)
G = Q.argmax(axis=1)
NAMES = np.array(["oslo", "paris", "rome"])
IDS = [f"case-{place:03}" for place in range(N)]
MIXED = RNG.permutation(N)
ACCURACY = float((K == G).mean())
AGE = RNG.integers(18, 80, size=N)
EPOCHS = {"epoch": np.arange(N), "loss": np.linspace(1, 0.1, N), "accuracy": np.linspace(0.3, 0.9, N)}


def csv(index: bool = False, **columns: Any) -> bytes:
    return pd.DataFrame(columns).to_csv(index=index).encode()


def npy(values: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


FILES: dict[str, tuple[dict[str, bytes], str, bool]] = {
    "arrays by usual names": ({"y_test.npy": npy(K), "y_pred.npy": npy(G)}, "y_test.npy", False),
    "labels, predictions and scores": (
        {"y_true.npy": npy(K), "y_pred.npy": npy(G), "y_proba.npy": npy(Q)},
        "y_true.npy",
        True,
    ),
    "labels and scores": ({"y_true.npy": npy(K), "y_prob.npy": npy(Q)}, "y_true.npy", True),
    "arrays in folders": ({"test/labels.npy": npy(K), "test/outputs.npy": npy(Q)}, "test/labels.npy", True),
    "series in two files": (
        {"y_test.csv": csv(index=True, target=K), "y_pred.csv": csv(index=True, **{"0": G})},
        "y_test.csv",
        False,
    ),
    "ids joined": (
        {
            "gold.csv": csv(id=np.array(IDS)[MIXED], city=NAMES[K][MIXED]),
            "submission.csv": csv(id=IDS, city_pred=NAMES[G]),
        },
        "gold.csv",
        False,
    ),
    "a training history beside": (
        {
            "y_true.npy": npy(K),
            "y_pred.npy": npy(G),
            "history.csv": csv(**EPOCHS),  # type: ignore[arg-type]
        },
        "y_true.npy",
        False,
    ),
    "features with the label": (
        {
            "test_data.csv": csv(id=IDS, age=AGE, region=AGE % 3, species=NAMES[K]),
            "output.csv": csv(id=IDS, species_predicted=NAMES[G]),
        },
        "test_data.csv",
        False,
    ),
}


def tables(folder: Path, files: dict[str, bytes]) -> list[tuple[str, Any]]:
    found = []
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        found.append((name, read_requested_columns(path, Columns(), name=name)))
    return found


def paired(folder: Path, files: dict[str, bytes]) -> PairedTables | None:
    return pair_tables(tables(folder, files), Columns())


@pytest.mark.parametrize("name", FILES)
def test_the_files_that_belong_together_are_read(name: str, tmp_path: Path) -> None:
    files, truth, has_scores = FILES[name]
    pair = paired(tmp_path, files)
    assert pair is not None and pair.files[0] == truth
    rows = to_predictions(find(pair.table, Columns(), pair.truth))
    assert rows.y_pred is not None and len(rows) == N
    assert float((rows.y_true == rows.y_pred).mean()) == pytest.approx(ACCURACY)
    assert not has_scores or not isinstance(rows.scores, NoScores)


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    files, truth, _ = FILES["features with the label"]
    pair = paired(tmp_path, dict(reversed(files.items())))
    assert pair is not None and pair.files[0] == truth


def test_two_files_of_predictions_are_asked_about(tmp_path: Path) -> None:
    other = np.where(RNG.random(N) < 0.1, K, G)
    files = {"y_true.npy": npy(K), "pred_old.npy": npy(G), "pred_new.npy": npy(other)}
    with pytest.raises(UsageError, match="pairs of files could be labels and predictions") as caught:
        paired(tmp_path, files)
    assert "--set truth_file=y_true.npy" in caught.value.fix


@pytest.mark.parametrize("other", [RNG.integers(3, size=N), RNG.integers(3, size=N + 1)])
def test_files_without_a_relation_are_not_paired(other: Any, tmp_path: Path) -> None:
    assert paired(tmp_path, {"a.npy": npy(K), "b.npy": npy(other)}) is None


UNRELATED = csv(
    target=RNG.integers(2, size=N), score=RNG.random(N), credit_limit=RNG.integers(300, 800, size=N)
)
COMPLETE = csv(y_true=K, y_pred=G)


@pytest.mark.parametrize("other", ["scores.csv", "old_predictions.csv", "features.csv"])
def test_a_table_that_fits_by_its_names_alone_is_set_aside(
    other: str, sqlite_store: Store, tmp_path: Path
) -> None:
    for name in ("predictions.csv", "output.csv"):
        made = make_run(sqlite_store, {other: UNRELATED, name: COMPLETE}, folder=tmp_path / name)
        read = read_run(sqlite_store, find_run(sqlite_store, made.run_id))
        assert read.taken == f"artifact {name}"
        is_first = other == "features.csv" and name == "predictions.csv"  # a usual name comes first
        assert any(note.startswith(f"{other} set aside") for note in read.notes) != is_first
    alone = make_run(sqlite_store, {other: UNRELATED}, folder=tmp_path / "alone")
    assert read_run(sqlite_store, find_run(sqlite_store, alone.run_id)).taken == f"artifact {other}"


def test_two_complete_tables_are_asked_about(sqlite_store: Store, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"run_a.csv": COMPLETE, "run_b.csv": csv(y_true=K, y_pred=K)}
    made = make_run(sqlite_store, files, folder=tmp_path)
    with pytest.raises(UsageError, match="2 artifacts contain predictions") as caught:
        read_run(sqlite_store, find_run(sqlite_store, made.run_id))
    assert caught.value.fix.endswith("--artifact run_a.csv")


def test_a_run_is_read_from_its_files(sqlite_store: Store, tmp_path: Path) -> None:
    files, _, _ = FILES["ids joined"]
    made = make_run(sqlite_store, dict(files.items()), folder=tmp_path)
    read = collect_run(sqlite_store, find_run(sqlite_store, made.run_id), Request())
    assert float((read.predictions.y_true == read.predictions.y_pred).mean()) == pytest.approx(ACCURACY)
    assert read.taken[0] == ("source", "artifacts submission.csv, truth from gold.csv")
