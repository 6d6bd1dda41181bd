"""Estimators by scikit-learn's interfaces, held against scikit-learn's own scorers and cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import f1_score, log_loss, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import evalreport as er
from evalreport.core.errors import DataError, EvalreportError, UsageError

RNG = np.random.default_rng(3)
N = 150
X = RNG.normal(size=(N, 3))
Y = np.where(X[:, 0] + RNG.normal(size=N) > 0, "spam", "ham")
KINDS = np.array(["a", "b", "c"])[np.clip(np.rint(X[:, 0] + 1 + 0.7 * RNG.normal(size=N)), 0, 2).astype(int)]
TAGS = pd.DataFrame({"joy": X[:, 0] > 0.3, "anger": X[:, 1] > 0}).astype(int)
FEW: dict[str, Any] = {"resamples": 50}


def test_probabilities_of_a_pipeline() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    ev = er.evaluate_estimator(model, X, Y, **FEW)
    assert ev["roc_auc"].value == pytest.approx(roc_auc_score(Y, model.predict_proba(X)[:, 1]))
    assert ev["log_loss"].value == pytest.approx(log_loss(Y, model.predict_proba(X)))
    assert ev.space == er.Binary("ham", "spam")


def test_the_first_class_as_the_positive_one() -> None:
    for model in (LogisticRegression().fit(X, Y), RidgeClassifier().fit(X, Y)):
        ev = er.evaluate_estimator(model, X, Y, positive="ham", **FEW)
        assert ev["f1"].value == pytest.approx(f1_score(Y, model.predict(X), pos_label="ham"))
        auc = roc_auc_score(Y == "spam", model.decision_function(X))
        assert ev["roc_auc"].value == pytest.approx(auc)


def test_several_classes_by_a_booster() -> None:
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, KINDS)
    ev = er.evaluate_estimator(model, X, KINDS, **FEW)
    assert ev["log_loss"].value == pytest.approx(log_loss(KINDS, model.predict_proba(X)))
    assert ev["f1_macro"].value == pytest.approx(f1_score(KINDS, model.predict(X), average="macro"))


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_a_method_that_is_named(method: Any) -> None:
    ev = er.evaluate_estimator(LogisticRegression().fit(X, Y), X, Y, response_method=method, **FEW)
    assert ev["log_loss"].value is None
    assert (ev["roc_auc"].value is None) == (method == "predict")


@pytest.mark.parametrize("model", [MultiOutputClassifier(LogisticRegression()), RandomForestClassifier(5)])
def test_several_labels_per_row(model: Any) -> None:
    model.fit(X, TAGS)
    ev = er.evaluate_estimator(model, X, TAGS, **FEW)
    assert ev.space == er.Multilabel(["joy", "anger"])
    assert ev["f1_micro"].value == pytest.approx(f1_score(TAGS, model.predict(X), average="micro"))
    columns = np.column_stack([table[:, 1] for table in model.predict_proba(X)])
    assert ev["roc_auc_macro"].value == pytest.approx(roc_auc_score(TAGS, columns, average="macro"))


def test_a_class_that_was_never_met_has_probability_zero() -> None:
    seen = KINDS != "c"
    model = LogisticRegression().fit(X[seen], KINDS[seen])
    ev = er.evaluate_estimator(model, X, KINDS, **FEW)
    assert ev.space == er.Multiclass(["a", "b", "c"])
    assert ev.predictions is not None
    assert isinstance(ev.predictions.scores, er.Probabilities)
    assert not ev.predictions.scores.values[:, 2].any()
    with pytest.raises(UsageError, match="not trained on 'c'"):
        er.evaluate_estimator(model, X, KINDS, response_method="decision_function")


def test_weights_and_groups() -> None:
    model = LogisticRegression().fit(X, Y)
    weights, groups = RNG.uniform(0.5, 2, N), np.arange(N) // 5
    ev = er.evaluate_estimator(model, X, Y, sample_weight=weights, groups=groups, **FEW)
    expected = f1_score(Y, model.predict(X), pos_label="spam", sample_weight=weights)
    assert ev["f1"].value == pytest.approx(expected)
    assert ev.predictions is not None
    assert ev.predictions.groups is not None


WRONG: dict[str, Any] = {
    "no estimator": (lambda: er.evaluate_estimator(object(), X, Y), "has no predict"),
    "pairs of classes": (
        lambda: er.evaluate_estimator(
            SVC(decision_function_shape="ovo").fit(X, np.r_[KINDS[:-9], ["d"] * 9]), X, KINDS
        ),
        "6 columns for 4 classes",
    ),
    "no such method": (
        lambda: er.evaluate_estimator(LogisticRegression().fit(X, Y), X, Y, response_method="proba"),  # type: ignore[arg-type]
        "'proba'",
    ),
    "several outputs of several classes": (
        lambda: er.evaluate_estimator(RandomForestClassifier(2).fit(X, 2 * TAGS), X, 2 * TAGS),
        "more than 0 and 1",
    ),
    "a positive label that is none": (
        lambda: er.evaluate_estimator(LogisticRegression().fit(X, Y), X, Y, positive="eggs"),
        "'eggs'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str) -> None:
    call, words = WRONG[case]
    with pytest.raises(EvalreportError, match=words):
        call()


# --- cross-validation --------------------------------------------------------------------------------


def test_folds_are_those_of_scikit_learn() -> None:
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    model = HistGradientBoostingClassifier(max_iter=5, random_state=0)
    found = er.cross_evaluate(model, X, Y, cv=cv, **FEW)
    answers = cross_val_predict(model, X, Y, cv=cv)
    scores = cross_val_predict(model, X, Y, cv=cv, method="predict_proba")[:, 1]
    assert found.folds is not None
    assert found.folds["f1"].how == "pooled"
    assert found["f1"].value == pytest.approx(f1_score(Y, answers, pos_label="spam"))
    auc = found.folds["roc_auc"]
    assert auc.how == "mean over folds"
    by_fold = cross_val_score(model, X, Y, cv=cv, scoring="roc_auc")
    assert auc.folds == pytest.approx(by_fold)
    assert found["roc_auc"].value == auc.value == pytest.approx(by_fold.mean())
    assert auc.pooled == pytest.approx(roc_auc_score(Y, scores))


def test_a_fold_without_one_class_is_left_out_and_reported() -> None:
    y = np.repeat(["ham", "spam"], [100, 50])
    cv = [(np.r_[0:60, 100:150], np.arange(60, 100)), (np.r_[40:130], np.r_[0:40, 130:150])]
    found = er.cross_evaluate(LogisticRegression(), X, y, cv=cv, **FEW)
    assert found.folds is not None
    auc = found.folds["roc_auc"]
    assert auc.folds[0] is None
    assert auc.value == auc.folds[1]
    assert any("in which a metric is undefined are excluded from its mean" in note for note in found.notes)


class Weighed(BaseEstimator):  # type: ignore[misc]
    """Answers the class with the greater weight, and counts the rows that it was fitted on."""

    _estimator_type = "classifier"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        assert len(sample_weight) == len(X)
        self.classes_ = np.unique(y)
        totals = [np.sum(np.asarray(sample_weight)[np.asarray(y) == label]) for label in self.classes_]
        self.answer_ = self.classes_[int(np.argmax(totals))]
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.answer_)


def test_groups_weights_and_what_fit_takes_are_cut_to_the_fold() -> None:
    groups = np.arange(N) // 10
    weights = np.where(Y == "ham", 9.0, 1.0)
    cv = [(train, test) for train, test in GroupKFold(3).split(X, Y, groups)]
    found = er.cross_evaluate(
        Weighed(),
        pd.DataFrame(X),
        pd.Series(Y),
        cv=cv,
        groups=groups,
        fit_params={"sample_weight": weights},
        slices={"third": groups % 3},
        **FEW,
    )
    assert found["recall"].value == 0.0
    assert found.predictions is not None
    assert found.predictions.ids is not None
    assert sorted(found.predictions.ids.astype(int)) == list(range(N))


def test_rows_that_are_never_tested_are_counted() -> None:
    found = er.cross_evaluate(LogisticRegression(), X, Y, cv=TimeSeriesSplit(3), **FEW)
    assert (found.rows, found.provenance.notes) == (111, ("39 of 150 rows are in no fold",))


def test_rows_that_are_tested_twice_are_refused() -> None:
    with pytest.raises(DataError, match="more than once"):
        er.cross_evaluate(LogisticRegression(), X, Y, cv=ShuffleSplit(3, test_size=0.5, random_state=0))
