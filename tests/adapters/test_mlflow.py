"""The evaluator inside `mlflow.models.evaluate`: on tables, estimators and functions, beside MLflow's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, recall_score, roc_auc_score
from sklearn.svm import LinearSVC

from evalreport.adapters.mlflow_evaluator import EvalreportEvaluator
from evalreport.core.errors import UsageError
from evalreport.tracking.client import Store
from tests.tracking import fluent

RNG = np.random.default_rng(0)
N = 120
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
TRUTH = np.where(X["a"] + RNG.normal(size=N) > 0, "spam", "ham")
SITE = np.array(["north", "south"])[RNG.integers(0, 2, N)]
P = 1 / (1 + np.exp(-X["a"].to_numpy()))
TABLE = pd.DataFrame(
    {"label": TRUTH, "answer": np.where(P >= 0.5, "spam", "ham"), "proba_spam": P, "site": SITE}
)
ESTIMATOR = LogisticRegression().fit(X, TRUTH)


@pytest.fixture
def mlflow(sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """MLflow on a store of this test's own, which finds the evaluator by its entry point."""
    monkeypatch.chdir(tmp_path)
    with fluent(sqlite_store) as mlflow:
        from mlflow.models.evaluation import evaluator_registry

        registry = evaluator_registry._model_evaluation_registry
        others = {name: one for name, one in registry._registry.items() if name != "evalreport"}
        monkeypatch.setattr(registry, "_registry", others)
        registry.register_entrypoints()
        assert registry._registry["evalreport"] is EvalreportEvaluator
        mlflow.set_experiment("triage")
        yield mlflow


def static(mlflow: Any, table: pd.DataFrame = TABLE, **more: Any) -> Any:
    return mlflow.models.evaluate(
        data=table, targets="label", predictions="answer", model_type="classifier", **more
    )


def test_beside_the_default_evaluator_on_a_table(mlflow: Any) -> None:
    with mlflow.start_run() as run:
        found = static(
            mlflow,
            evaluators=["default", "evalreport"],
            evaluator_config={"evalreport": {"positive": "spam", "group": "site"}},
        )
    recall = recall_score(TABLE["label"], TABLE["answer"], pos_label="spam")
    assert found.metrics["eval/recall"] == pytest.approx(recall)
    assert "accuracy_score" in found.metrics  # MLflow's own
    data = mlflow.get_run(run.info.run_id).data
    assert data.metrics["eval/recall"] == pytest.approx(recall)
    assert data.metrics["eval/roc_auc"] == pytest.approx(roc_auc_score(TRUTH == "spam", P))
    paths = {entry.path for entry in mlflow.MlflowClient().list_artifacts(run.info.run_id)}
    assert {"evalreport.html", "evalreport_confusion_matrix.png", "confusion_matrix.png"} <= paths


def test_what_is_returned_is_saved_and_loaded(mlflow: Any, tmp_path: Path) -> None:
    found = static(mlflow, evaluators="evalreport")
    assert set(found.artifacts) == {
        "evalreport",
        "evalreport_evaluation",
        "evalreport_confusion_matrix",
        "evalreport_roc_curve",
        "evalreport_pr_curve",
    }
    found.save(tmp_path / "result")
    again = type(found).load(tmp_path / "result")
    assert again.metrics == found.metrics
    assert again.artifacts["evalreport"].content.startswith("<!doctype html>")
    assert again.artifacts["evalreport_evaluation"].content["n"] == N


def test_the_run_ends_as_mlflow_ends_it(mlflow: Any) -> None:
    with mlflow.start_run() as run:
        static(mlflow, evaluators="evalreport")
        assert mlflow.get_run(run.info.run_id).info.status == "RUNNING"
    assert mlflow.get_run(run.info.run_id).info.status == "FINISHED"


@pytest.mark.parametrize("config", [None, {"pos_label": "spam"}, {"default": {"pos_label": "spam"}}])
def test_nobody_who_did_not_ask_is_evaluated(mlflow: Any, config: Any) -> None:
    found = static(mlflow, evaluator_config=config)
    assert not any(name.startswith("eval/") for name in found.metrics)
    assert "accuracy_score" in found.metrics


def test_configured_is_asked(mlflow: Any) -> None:
    found = static(mlflow, evaluator_config={"evalreport": {"prefix": "test/"}})
    assert {"test/recall", "accuracy_score"} <= set(found.metrics)


@pytest.mark.parametrize(
    "estimator", [ESTIMATOR, LinearSVC(dual=True).fit(X, TRUTH)], ids=["probabilities", "margins"]
)
def test_a_model_by_its_own_scores(mlflow: Any, estimator: Any) -> None:
    mlflow.sklearn.save_model(estimator, "model", pip_requirements=[], serialization_format="cloudpickle")
    with mlflow.start_run():
        found = mlflow.models.evaluate(
            "model",
            X.assign(label=TRUTH, site=SITE),
            targets="label",
            model_type="classifier",
            evaluators=["evalreport"],
            evaluator_config={"evalreport": {"group": "site", "slices": "site", "log_all": True}},
        )
    answers = estimator.predict(X)
    scores = estimator.decision_function(X)
    assert found.metrics["eval/accuracy"] == pytest.approx(accuracy_score(TRUTH, answers))
    assert found.metrics["eval/roc_auc"] == pytest.approx(roc_auc_score(TRUTH == "spam", scores))
    assert ("eval/log_loss" in found.metrics) == hasattr(estimator, "predict_proba")


def test_features_of_an_array_and_groups_of_another(mlflow: Any) -> None:
    plain = LogisticRegression().fit(X.to_numpy(), TRUTH)
    found = EvalreportEvaluator().evaluate(
        model=Raw(plain),
        dataset=mlflow.data.from_numpy(X.to_numpy(), targets=TRUTH).to_evaluation_dataset(),
        run_id=new_run(mlflow),
        evaluator_config={"group": SITE, "weight": np.ones(N), "log_all": True},
    )
    assert found.metrics["eval/accuracy"] == pytest.approx(accuracy_score(TRUTH, plain.predict(X.to_numpy())))


class Raw:
    """A pyfunc model around an estimator."""

    def __init__(self, estimator: Any) -> None:
        self.get_raw_model = lambda: estimator


def new_run(mlflow: Any) -> str:
    with mlflow.start_run() as run:
        return str(run.info.run_id)


def answers(rows: pd.DataFrame) -> Any:
    return ESTIMATOR.predict(rows[["a", "b"]])


def table(rows: pd.DataFrame) -> Any:
    found = ESTIMATOR.predict_proba(rows[["a", "b"]])
    return pd.DataFrame({"y_pred": answers(rows), "proba_ham": found[:, 0], "proba_spam": found[:, 1]})


@pytest.mark.parametrize("model", [answers, table])
def test_a_function_by_what_it_returns(mlflow: Any, model: Any) -> None:
    found = mlflow.models.evaluate(
        model,
        X.assign(label=TRUTH),
        targets="label",
        model_type="classifier",
        evaluators="evalreport",
        predictions=None,
    )
    expected = f1_score(TRUTH, answers(X), pos_label="spam")
    assert found.metrics["eval/f1"] == pytest.approx(expected)
    assert ("eval/roc_auc" in found.metrics) == (model is table)


def test_a_setting_that_there_is_not_is_named(mlflow: Any) -> None:
    with pytest.raises(UsageError, match="positiv"):
        static(mlflow, evaluators="evalreport", evaluator_config={"positiv": "spam"})


@pytest.mark.parametrize("kind", ["regressor", "retriever"])
def test_what_has_no_labels_is_left_alone(kind: str) -> None:
    assert not EvalreportEvaluator.can_evaluate(model_type=kind, evaluator_config={"positive": "spam"})
