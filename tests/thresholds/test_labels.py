"""Thresholds per label: on real predictions chosen on dev and reported on test, and their honesty."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalreport.core.errors import UsageError
from evalreport.core.json_codec import decode, encode
from evalreport.core.result import Estimate, Undefined
from evalreport.data.labels import Multilabel
from evalreport.data.predictions import Predictions, Threshold, predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.thresholds.best_threshold import Tuned
from evalreport.thresholds.per_label import LabelObjective, label_thresholds
from evalreport.thresholds.trial_search import Search

EMOTIONS = Path(__file__).parents[2] / "examples" / "data" / "goemotions"
EXACT = ("f1_macro", "f1_macro_supported", "f1_weighted", "f1_micro", "jaccard_macro", "jaccard_micro")
SEARCHED = ("subset_accuracy", "f1_samples", "jaccard_samples")
USER = "tests.thresholds.user_functions:forgiving"


@cache
def emotions(part: str) -> Predictions:
    labels = json.loads((EMOTIONS / "labels.json").read_text())
    truth = pd.read_parquet(EMOTIONS / f"y_true_{part}.parquet")[[f"true_{name}" for name in labels]]
    scores = pd.read_parquet(EMOTIONS / f"pred_{part}_ovr_lr_proba.parquet")
    wanted = scores[[f"proba_{name}" for name in labels]].to_numpy()
    return predictions(Multilabel(labels), truth.to_numpy(), scores=Probabilities(wanted))


def value_at(name: str, rows: Predictions, threshold: Any) -> float:
    decided = rows.with_threshold(Threshold(threshold, "given"))
    return LabelObjective.parse(name).value(
        rows.y_true.astype(bool), np.asarray(decided.y_pred, bool), rows.weights
    )


def tuned(choice: object) -> Tuned:
    assert isinstance(choice, Tuned)
    return choice


def cross_fitted(choice: Tuned) -> Estimate:
    assert isinstance(choice.out_of_sample.value, Estimate)
    return choice.out_of_sample.value


@pytest.mark.parametrize("name", [*EXACT, "label_accuracy", *SEARCHED])
def test_chosen_on_dev_every_objective_beats_one_half_on_test(name: str) -> None:
    dev, test = emotions("dev"), emotions("test")
    found = tuned(label_thresholds(test, name, tune_on=dev))
    thresholds = tuple(found.values.values())
    assert found.method == ("coordinate ascent" if name in SEARCHED else "exact")
    assert found.apparent == pytest.approx(value_at(name, dev, thresholds))
    assert found.apparent >= max(found.starts.values()) - 1e-12
    value = cross_fitted(found)
    assert value.value == pytest.approx(value_at(name, test, thresholds))
    assert value.value > value_at(name, test, 0.5)
    assert value.low is not None and value.high is not None and value.low < value.value < value.high
    assert found.out_of_sample.method == "other rows"


@pytest.mark.parametrize("name", ["subset_accuracy", USER])
def test_optuna_never_loses_to_its_starts_on_dev(name: str) -> None:
    dev, test = emotions("dev"), emotions("test")
    found = tuned(label_thresholds(test, name, tune_on=dev, search=Search(trials=25)))
    assert found.method == "optuna" and found.trials is not None
    assert {"0.5", "each", "pooled"} <= set(found.starts)
    assert found.apparent >= max(found.starts.values()) - 1e-12
    assert found.trials.trials[0].values[0] == pytest.approx(max(found.starts.values()), abs=1e-12)
    assert found.apparent == pytest.approx(value_at(name, dev, tuple(found.values.values())), abs=1e-12)
    assert cross_fitted(found).value > value_at(name, test, 0.5)
    assert decode(Tuned, json.loads(json.dumps(encode(found), allow_nan=False))) == found


def made(n: int, seed: int, *, groups: Any = None, decisions: bool = False) -> Predictions:
    rng = np.random.default_rng(seed)
    truth = rng.random((n, 4)) < np.array([0.4, 0.2, 0.1, 0.05])
    margin = rng.normal(size=truth.shape) + 1.2 * truth - 1
    scores = Decisions(margin) if decisions else Probabilities(1 / (1 + np.exp(-margin)))
    return predictions(Multilabel("abcd"), truth, scores=scores, groups=groups)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bias"), [("f1_macro", 0.03), ("f1_samples", 0.01)])
def test_the_apparent_value_is_too_good_and_the_cross_fitted_is_not(name: str, bias: float) -> None:
    apparent, cross, later = [], [], []
    fresh = made(20_000, 99)
    for seed in range(12):
        found = tuned(label_thresholds(made(120, seed), name))
        apparent.append(found.apparent)
        cross.append(cross_fitted(found).value)
        later.append(value_at(name, fresh, tuple(found.values.values())))
        assert found.out_of_sample.method == "cross-fitted"
    assert np.mean(apparent) - np.mean(later) > bias
    assert abs(np.mean(cross) - np.mean(later)) < 0.025


def test_groups_are_not_split() -> None:
    group = np.repeat(np.arange(40), 5)
    rows = made(40, 1)
    copies = rows.take(group)
    leaking = tuned(label_thresholds(copies))
    grouped = predictions(copies.space, copies.y_true, scores=copies.scores, groups=group)
    kept = tuned(label_thresholds(grouped))
    assert kept.apparent == leaking.apparent
    assert cross_fitted(kept).value < cross_fitted(leaking).value - 0.02
    assert (cross_fitted(kept).width or 0) > 1.5 * (cross_fitted(leaking).width or 1)


def test_margins_have_no_half_and_can_be_tuned() -> None:
    found = tuned(label_thresholds(made(200, 2, decisions=True), "f1_micro"))
    assert set(found.starts) == {"pooled"} and min(found.values.values()) < 0
    searched = tuned(label_thresholds(made(60, 2, decisions=True), USER, search=Search(trials=4)))
    assert (
        isinstance(searched.out_of_sample.value, Undefined)
        and "--tune-on" in searched.out_of_sample.value.reason
    )


def test_a_label_that_is_never_flagged_is_null_in_json() -> None:
    rows = made(50, 3)
    truth = rows.y_true.copy()
    truth[:, 3] = False
    found = tuned(label_thresholds(predictions(rows.space, truth, scores=rows.scores)))
    assert found.values["d"] == np.inf and encode(found)["values"]["d"] is None
    assert decode(Tuned, json.loads(json.dumps(encode(found), allow_nan=False))) == found


def test_constant_scores_and_few_rows_do_not_fail() -> None:
    rows = predictions(Multilabel("ab"), [[1, 0], [0, 0]], scores=Probabilities(np.full((2, 2), 0.5)))
    for name in ("f1_macro", "f1_micro", "f1_samples"):
        found = tuned(label_thresholds(rows, name))
        assert (
            isinstance(found.out_of_sample.value, Undefined)
            and "at least 10" in found.out_of_sample.value.reason
        )
    assert tuned(label_thresholds(rows, USER, search=Search(trials=3))).trials is not None


def test_labels_alone_are_undefined() -> None:
    labels = predictions(Multilabel("ab"), [[1, 0]], [[1, 0]])
    assert isinstance(label_thresholds(labels), Undefined)
    scored = predictions(Multilabel("ab"), [[1, 0]], scores=Probabilities(np.array([[0.5, 0.2]])))
    assert isinstance(label_thresholds(scored, tune_on=labels), Undefined)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("f1_marco", "no objective 'f1_marco'"),
        ("tests.thresholds.user_functions:missing", "cannot be imported"),
        ("tests.thresholds.user_functions:broken", "raised RuntimeError: no such thing"),
        ("tests.thresholds.user_functions:words", "raised ValueError"),
        ("tests.thresholds.user_functions:nothing", "had no value at any of"),
    ],
)
def test_what_cannot_be_an_objective(name: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        label_thresholds(made(20, 0), name, search=Search(trials=2))
    assert says in caught.value.message and caught.value.fix


def test_other_labels_to_tune_on_are_refused() -> None:
    other = predictions(Multilabel("xy"), [[1, 0]], scores=Probabilities(np.array([[0.5, 0.2]])))
    with pytest.raises(UsageError, match="different labels"):
        label_thresholds(made(20, 0), tune_on=other)
