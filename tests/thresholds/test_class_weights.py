"""Weights of classes for costs, against brute force and Bayes' rule; searched where nothing separates."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from evalreport.core.errors import DataError, UsageError
from evalreport.core.json_codec import decode, encode
from evalreport.core.result import Estimate, Undefined
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.thresholds.best_threshold import Tuned
from evalreport.thresholds.class_thresholds import _lowest, class_weights
from evalreport.thresholds.objectives import CostMatrix, predict_weighted
from evalreport.thresholds.trial_search import Search

LADDER = CostMatrix([[0, 1, 4], [2, 0, 1], [12, 5, 0]])
BY_TRUTH = CostMatrix([[0, 1, 1], [3, 0, 3], [9, 9, 0]])


def made(n: int, seed: int, *, labels: int = 3, calibrated: bool = True) -> Predictions:
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(labels, 0.7), n)
    truth = (rng.random(n)[:, None] > probabilities.cumsum(axis=1)).sum(axis=1)
    if not calibrated:
        probabilities = probabilities * np.linspace(1, 6, labels)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
    return predictions(Multiclass(range(labels)), truth, scores=Probabilities(probabilities))


def scores(rows: Predictions) -> Any:
    assert isinstance(rows.scores, Probabilities)
    return rows.scores.values


def cost(rows: Predictions, costs: CostMatrix, answer: Any) -> float:
    return float(costs.array[rows.y_true, answer].mean())


def tuned(choice: object) -> Tuned:
    assert isinstance(choice, Tuned)
    return choice


def cross_fitted(choice: Tuned) -> Estimate:
    assert isinstance(choice.out_of_sample.value, Estimate)
    return choice.out_of_sample.value


def log_weights(found: Tuned) -> Any:
    return np.log(list(found.values.values()))


def test_bayes_rule_has_the_least_expected_cost() -> None:
    rows = made(200, 0)
    p = scores(rows)
    expected = np.array([[sum(p[i] * LADDER.array[:, k]) for k in range(3)] for i in range(200)])
    np.testing.assert_array_equal(LADDER.answers(p), expected.argmin(axis=1))


def test_costs_that_depend_on_the_truth_alone_separate() -> None:
    rows = made(4_000, 1)
    found = tuned(class_weights(rows, BY_TRUTH))
    assert found.method == "bayes" and found.out_of_sample.method == "nothing was fitted"
    values = np.array(list(found.values.values()))
    np.testing.assert_allclose(values / values[0], [1, 3, 9])
    np.testing.assert_array_equal(
        predict_weighted(scores(rows), log_weights(found)), BY_TRUTH.answers(scores(rows))
    )
    assert found.apparent == pytest.approx(cost(rows, BY_TRUTH, BY_TRUTH.answers(scores(rows))))
    assert cross_fitted(found).value == found.apparent < found.starts["equal"]
    error = BY_TRUTH.array[rows.y_true, BY_TRUTH.answers(scores(rows))].std() / 4_000**0.5
    low, high = cross_fitted(found).low, cross_fitted(found).high
    assert low is not None and high is not None
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.25)  # of few draws
    assert LADDER.by_truth() is None and CostMatrix([[1, 0], [1, 0]]).by_truth() is None
    assert CostMatrix([[0, 300, 299], [1, 0, 1], [1, 1, 0]]).by_truth() is None


@pytest.mark.parametrize("calibrated", [True, False])
def test_two_classes_reach_the_best_of_all_weights(calibrated: bool) -> None:
    costs = CostMatrix([[-1, 1], [-2, -2]])  # no error is dearer in the second row: weights are fitted
    rows = made(150, 2, labels=2, calibrated=calibrated)
    p = scores(rows)
    ratio = np.sort(np.log(p[:, 0] / p[:, 1]))
    cuts = np.concatenate([[ratio[0] - 1], (ratio[1:] + ratio[:-1]) / 2, [ratio[-1] + 1]])
    least = min(cost(rows, costs, predict_weighted(p, np.array([0, cut]))) for cut in cuts)
    found = tuned(class_weights(rows, costs))
    assert found.method == "coordinate ascent" and found.apparent == pytest.approx(least, abs=1e-12)


def test_a_descent_is_no_worse_than_its_starts_and_no_single_weight_betters_it() -> None:
    rows = made(120, 3, calibrated=False)
    p = scores(rows)
    found = tuned(class_weights(rows, LADDER))
    assert found.method == "coordinate ascent"
    assert found.apparent <= min(v for k, v in found.starts.items() if k != "bayes rule") + 1e-12
    at = log_weights(found)
    assert found.apparent == pytest.approx(cost(rows, LADDER, predict_weighted(p, at)), abs=1e-12)
    for label in range(3):
        for step in np.linspace(-3, 3, 121):
            other = at.copy()
            other[label] += step
            assert cost(rows, LADDER, predict_weighted(p, other)) >= found.apparent - 1e-12


def test_beyond_the_last_row_a_weight_lies_half_past_it() -> None:
    assert _lowest(np.array([0.0, 5.0]), np.array([-1.0, -1.0]), -3.0) == 5.5
    assert _lowest(np.array([0.0, 5.0]), np.array([1.0, 1.0]), 7.0) == -0.5


def test_fitted_weights_help_where_probabilities_are_off_and_their_cross_fitted_value_holds() -> None:
    fresh = made(20_000, 99, calibrated=False)
    apparent, cross, later = [], [], []
    for seed in range(8):
        found = tuned(class_weights(made(150, seed, calibrated=False), LADDER))
        apparent.append(found.apparent)
        cross.append(cross_fitted(found).value)
        later.append(cost(fresh, LADDER, predict_weighted(scores(fresh), log_weights(found))))
    rule = cost(fresh, LADDER, LADDER.answers(scores(fresh)))
    assert np.mean(later) < rule
    assert np.mean(apparent) < np.mean(later)
    assert abs(np.mean(cross) - np.mean(later)) < 0.5 * (np.mean(later) - np.mean(apparent))


@pytest.mark.parametrize(
    "name", ["f1_macro", "balanced_accuracy", "tests.thresholds.user_functions:least_recall"]
)
def test_what_does_not_separate_is_searched(name: str) -> None:
    rows, other = made(300, 4, calibrated=False), made(300, 5, calibrated=False)
    found = tuned(class_weights(other, name, tune_on=rows, search=Search(trials=25)))
    assert found.method == "optuna" and found.trials is not None
    assert set(found.starts) == {"equal", "prior"}
    assert found.apparent >= max(found.starts.values()) - 1e-12
    assert np.prod(list(found.values.values())) == pytest.approx(1)
    assert cross_fitted(found).value > 0.2 and found.out_of_sample.method == "other rows"
    assert decode(Tuned, json.loads(json.dumps(encode(found), allow_nan=False))) == found


def test_costs_can_be_searched_too_and_lower_is_better() -> None:
    rows = made(100, 6, calibrated=False)
    plain = tuned(class_weights(rows, LADDER))
    found = tuned(class_weights(rows, LADDER, search=Search(trials=20)))
    assert found.method == "optuna" and found.apparent <= plain.apparent + 1e-12
    assert isinstance(found.out_of_sample.value, Undefined)


def test_what_is_refused() -> None:
    rows = made(20, 7)
    with pytest.raises(UsageError, match="no objective 'f1_marco'"):
        class_weights(rows, "f1_marco")
    with pytest.raises(UsageError, match="2 rows of costs for 3 labels"):
        class_weights(rows, CostMatrix([[0, 1], [1, 0]]))
    with pytest.raises(UsageError, match="different labels"):
        class_weights(rows, LADDER, tune_on=made(20, 7, labels=2))
    with pytest.raises(UsageError, match="raised RuntimeError"):
        class_weights(rows, "tests.thresholds.user_functions:broken")
    for cells in (np.array([[0.0, 1.0]]), np.array([[0.0, np.inf], [1.0, 0.0]])):
        with pytest.raises(DataError, match="cost matrix"):
            CostMatrix(cells)
    margins = predictions(Multiclass("ab"), ["a", "b"], scores=Decisions(np.array([[0.1, 2.0], [1.0, 0.0]])))
    assert isinstance(class_weights(margins, "f1_macro"), Undefined)
