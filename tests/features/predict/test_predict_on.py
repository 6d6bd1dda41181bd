"""`log --predict-on`: real autologged runs, whose models predict the rows of a file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalreport.tracking.client import Store
from tests.cli.running import Ran, run

Capture = pytest.CaptureFixture[str]
N = 160


def rows(seed: int, n: int = N) -> pd.DataFrame:
    """Features of two kinds, an id, and a label that they predict."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": draw.normal(50, 10, n), "visits": draw.integers(0, 9, n)})
    signal = (frame["age"] - 50) / 10 + frame["visits"] / 4 - 1 + draw.normal(0, 0.7, n)
    return frame.assign(outcome=np.where(signal > 0, "sick", "well"), case=[f"c{k}" for k in range(n)])


@pytest.fixture
def autologged(sqlite_store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A function that fits a model under `mlflow.sklearn.autolog`; it returns the id of the run."""
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(sqlite_store.uri)
    monkeypatch.setattr("mlflow.models.infer_pip_requirements", lambda *_, **__: [])  # a process of its own

    def fitted(model: Any, frame: Any, target: Any) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of MLflow: whole numbers in a signature, pip's versions
            mlflow.sklearn.autolog(log_datasets=False, silent=True)
            try:
                with mlflow.start_run() as active:
                    model.fit(frame, target)
            finally:
                mlflow.sklearn.autolog(disable=True, silent=True)
        return str(active.info.run_id)

    yield fitted
    mlflow.set_tracking_uri("")


@pytest.fixture
def fitted(autologged: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    from sklearn.linear_model import LogisticRegression

    monkeypatch.chdir(tmp_path)
    train = rows(0)
    rows(1).to_csv("test.csv", index=False)
    return str(autologged(LogisticRegression(), train[["age", "visits"]], train["outcome"]))


def boosted(kind: str, features: pd.DataFrame, labels: Any) -> Any:
    """A function that fits a model of XGBoost or LightGBM, as their users do."""
    import lightgbm
    import xgboost

    def xgb(**params: Any) -> Any:
        return lambda: xgboost.train(params, xgboost.DMatrix(features, labels), 5)

    def lgb(**params: Any) -> Any:
        data = lightgbm.Dataset(features, labels)
        return lambda: lightgbm.train({"verbose": -1, "num_threads": 1, **params}, data, 5)

    kinds = {
        "XGBClassifier": lambda: xgboost.XGBClassifier(n_estimators=5).fit(features, labels),
        "xgboost binary:logistic": xgb(objective="binary:logistic"),
        "xgboost multi:softprob": xgb(objective="multi:softprob", num_class=3),
        "xgboost multi:softmax": xgb(objective="multi:softmax", num_class=3),
        "LGBMClassifier": lambda: lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(features, labels),
        "lightgbm binary": lgb(objective="binary"),
        "lightgbm multiclass": lgb(objective="multiclass", num_class=3),
    }
    return kinds[kind]


BOOSTERS = {
    "XGBClassifier": (3, ("accuracy", "roc_auc_ovr_macro")),
    "xgboost binary:logistic": (2, ("accuracy", "roc_auc")),
    "xgboost multi:softprob": (3, ("accuracy", "roc_auc_ovr_macro")),
    "xgboost multi:softmax": (3, ("accuracy",)),
    "LGBMClassifier": (3, ("accuracy", "roc_auc_ovr_macro")),
    "lightgbm binary": (2, ("accuracy", "roc_auc")),
    "lightgbm multiclass": (3, ("accuracy", "roc_auc_ovr_macro")),
}
"""Number of classes, and the metrics that the predictions have."""


@pytest.mark.parametrize("kind", BOOSTERS)
def test_boosters_predict_probabilities_where_they_have_them(
    kind: str, capsys: Capture, sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow
    import xgboost
    from sklearn.metrics import accuracy_score

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mlflow.models.infer_pip_requirements", lambda *_, **__: [])
    classes, metrics = BOOSTERS[kind]
    frame = rows(0)[["age", "visits"]].astype(float)
    labels = np.digitize(frame["age"], [45, 55] if classes == 3 else [50])
    wanted = np.array(["low", "mid", "high"])[labels] if kind == "LGBMClassifier" else labels
    library = mlflow.xgboost if "xgb" in kind.lower() else mlflow.lightgbm
    mlflow.set_tracking_uri(sqlite_store.uri)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of MLflow, about pip's versions and importance plots
        library.autolog(silent=True, log_datasets=False)
        with mlflow.start_run() as active:
            model = boosted(kind, frame, wanted)()
        library.autolog(disable=True, silent=True)
    frame.assign(y_true=wanted).to_csv("test.csv", index=False)
    call = ("log", "--run-id", active.info.run_id, "--tracking-uri", sqlite_store.uri, "--json")
    ran = run(
        capsys, *call, "--predict-on", "test.csv", "--metrics", ",".join(metrics), "--set", "confidence=none"
    )
    assert ran.code == 0, ran.err
    (logged,) = ran.json["runs"]
    assert {*metrics} <= {*logged["metrics"]}
    raw = np.asarray(model.predict(xgboost.DMatrix(frame) if isinstance(model, xgboost.Booster) else frame))
    predicted = raw.argmax(axis=1) if raw.ndim == 2 else raw
    if metrics[1:] == ("roc_auc",):
        predicted = raw >= 0.5
    assert logged["metrics"]["accuracy"]["value"] == pytest.approx(accuracy_score(wanted, predicted))


def log(capsys: Capture, store: Store, run_id: str, *more: str) -> Ran:
    call = ("log", "--run-id", run_id, "--tracking-uri", store.uri, "--set", "confidence=none")
    return run(capsys, *call, "--metrics", "accuracy,roc_auc", *more)


def test_an_autologged_run_is_evaluated_and_the_next_call_needs_no_model(
    capsys: Capture, sqlite_store: Store, fitted: str
) -> None:
    refused = log(capsys, sqlite_store, fitted, "--positive", "sick")
    assert refused.code == 3
    assert f"evalreport log --run-id {fitted[:8]} --predict-on test.csv --truth COLUMN" in refused.err

    asked = ("--predict-on", "test.csv", "--truth", "outcome", "--id", "case", "--positive", "sick")
    tried = log(capsys, sqlite_store, fitted, *asked, "--dry-run")
    assert tried.code == 0, tried.err
    assert "predictions.parquet" not in names(sqlite_store, fitted)

    done = log(capsys, sqlite_store, fitted, *asked, "--json")
    assert done.code == 0, done.err
    assert f"loads the model of run {fitted[:8]}" in done.err and "which runs its code" in done.err
    found = done.json["runs"][0]
    model = the_model(sqlite_store, fitted)
    test = rows(1)
    expected = float((model.predict(test[["age", "visits"]]) == test["outcome"]).mean())
    assert found["metrics"]["accuracy"]["value"] == pytest.approx(expected)
    assert found["metrics"]["roc_auc"]["value"] > 0.9

    again = log(capsys, sqlite_store, fitted, "--positive", "sick", "--truth", "outcome", "--json", "--force")
    assert again.json["runs"][0]["metrics"] == found["metrics"]
    assert "runs its code" not in again.err
    read = pd.read_parquet(artifact(sqlite_store, fitted))
    assert list(read.columns) == ["outcome", "case", "y_pred", "proba_sick", "proba_well"]
    proba = model.predict_proba(test[["age", "visits"]])
    np.testing.assert_allclose(read[["proba_sick", "proba_well"]], proba)


def names(store: Store, run_id: str) -> list[str]:
    return [one.path for one in store.client.list_artifacts(run_id)]


def artifact(store: Store, run_id: str) -> str:
    from mlflow.artifacts import download_artifacts

    return str(download_artifacts(run_id=run_id, artifact_path="predictions.parquet", tracking_uri=store.uri))


def the_model(store: Store, run_id: str) -> Any:
    import mlflow

    (one,) = store.client.get_run(run_id).outputs.model_outputs
    return mlflow.sklearn.load_model(f"models:/{one.model_id}")


def test_columns_are_taken_by_the_signature_whatever_their_order(
    capsys: Capture, sqlite_store: Store, fitted: str
) -> None:
    asked = ("--positive", "sick", "--truth", "outcome", "--json", "--dry-run")
    first = log(capsys, sqlite_store, fitted, "--predict-on", "test.csv", *asked)
    rows(1)[["visits", "outcome", "case", "age"]].to_csv("turned.csv", index=False)
    other = log(capsys, sqlite_store, fitted, "--predict-on", "turned.csv", *asked)
    assert first.code == other.code == 0, first.err + other.err
    assert first.json["runs"][0]["metrics"] == other.json["runs"][0]["metrics"]


def test_the_only_free_column_is_the_label(capsys: Capture, sqlite_store: Store, fitted: str) -> None:
    rows(1).drop(columns="case").to_csv("plain.csv", index=False)
    done = log(capsys, sqlite_store, fitted, "--predict-on", "plain.csv", "--positive", "sick", "--dry-run")
    assert done.code == 0, done.err


BAD = [
    ("missing", 3, "lacks 1 of the 2 columns of the model: visits"),
    ("text", 5, 'column "age" is not a number'),
    ("fraction", 5, 'column "visits" is not a whole number'),
    ("no label", 2, "the column of true labels is ambiguous"),
    ("no such label", 3, 'column "nothing" is not in bad.csv'),
]


@pytest.mark.parametrize(("what", "code", "message"), BAD, ids=[what for what, _, _ in BAD])
def test_rows_that_do_not_fit_are_refused_in_three_lines(
    capsys: Capture, sqlite_store: Store, fitted: str, what: str, code: int, message: str
) -> None:
    frame = rows(1)
    if what == "missing":
        frame = frame.drop(columns="visits")
    elif what == "text":
        frame = frame.assign(age=["old"] * N)
    elif what == "fraction":
        frame = frame.assign(visits=frame["visits"] + 0.5)
    frame.to_csv("bad.csv", index=False)
    truth = {"no label": (), "no such label": ("--truth", "nothing")}.get(what, ("--truth", "outcome"))
    done = log(capsys, sqlite_store, fitted, "--predict-on", "bad.csv", "--positive", "sick", *truth)
    assert done.code == code, done.err
    error = done.err[done.err.index("error: ") :].splitlines()
    assert len(error) == 3 and message in error[0]
    assert "bad.csv" in error[0] + error[1]
    assert "predictions.parquet" not in names(sqlite_store, fitted)


def test_arrays_without_names_are_counted(
    capsys: Capture, sqlite_store: Store, autologged: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sklearn.svm import LinearSVC

    monkeypatch.chdir(tmp_path)
    train = rows(0)
    run_id = autologged(
        LinearSVC(), train[["age", "visits"]].to_numpy(), (train["outcome"] == "sick").astype(int)
    )
    test = rows(1)
    test = test.assign(outcome=(test["outcome"] == "sick").astype(int))
    test.drop(columns="case").to_csv("test.csv", index=False)
    asked = ("--truth", "outcome", "--json", "--dry-run")
    done = log(capsys, sqlite_store, run_id, "--predict-on", "test.csv", *asked)
    assert done.code == 0, done.err
    assert done.json["runs"][0]["score_kind"] == "decision"
    test.to_csv("more.csv", index=False)
    refused = log(capsys, sqlite_store, run_id, "--predict-on", "more.csv", *asked)
    assert refused.code == 5
    assert "the model takes 2 columns; the file has 3" in refused.out


def test_predictions_of_others_are_not_replaced(
    capsys: Capture, sqlite_store: Store, fitted: str, tmp_path: Path
) -> None:
    (tmp_path / "predictions.parquet").write_bytes(b"mine")
    sqlite_store.client.log_artifact(fitted, str(tmp_path / "predictions.parquet"))
    done = log(capsys, sqlite_store, fitted, "--predict-on", "test.csv", "--truth", "outcome")
    assert done.code == 2 and "already has predictions.parquet" in done.err
    assert Path(artifact(sqlite_store, fitted)).read_bytes() == b"mine"


def test_a_run_without_a_model_is_refused(capsys: Capture, sqlite_store: Store, tmp_path: Path) -> None:
    from tests.tracking import make_run

    made = make_run(sqlite_store, {"notes.txt": "no model"}, folder=tmp_path)
    rows(1).to_csv(tmp_path / "test.csv", index=False)
    done = log(capsys, sqlite_store, made.run_id, "--predict-on", str(tmp_path / "test.csv"))
    assert done.code == 3 and "the run has no logged model" in done.err


def test_a_model_of_pyfunc_predicts_and_its_code_runs_only_with_the_option(
    capsys: Capture, sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    monkeypatch.chdir(tmp_path)

    class Rule(mlflow.pyfunc.PythonModel):  # type: ignore[misc]
        def load_context(self, context):  # type: ignore[no-untyped-def]  # noqa: ARG002
            Path("ran").touch()

        def predict(self, context, model_input, params=None):  # type: ignore[no-untyped-def]  # noqa: ARG002
            return np.where(model_input["age"] > 50, "sick", "well")

    mlflow.set_tracking_uri(sqlite_store.uri)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        example = rows(0)[["age"]].head(2)
        with mlflow.start_run() as active:
            signature = mlflow.models.infer_signature(example, np.array(["sick", "well"]))
            mlflow.pyfunc.log_model(
                name="rule", python_model=Rule(), signature=signature, pip_requirements=[]
            )
    mlflow.set_tracking_uri("")
    Path("ran").unlink(missing_ok=True)
    rows(1).to_csv("test.csv", index=False)
    asked = ("--truth", "outcome", "--positive", "sick", "--metrics", "accuracy")
    call = ("log", "--run-id", active.info.run_id, "--tracking-uri", sqlite_store.uri, *asked)
    assert run(capsys, *call).code == 3
    assert not Path("ran").exists()
    done = run(capsys, *call, "--predict-on", "test.csv", "--json", "--set", "confidence=none")
    assert done.code == 0, done.err + done.out
    assert Path("ran").exists()
    test = rows(1)
    expected = float((np.where(test["age"] > 50, "sick", "well") == test["outcome"]).mean())
    assert done.json["runs"][0]["metrics"]["accuracy"]["value"] == pytest.approx(expected)
