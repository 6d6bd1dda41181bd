"""Thresholds of several labels against all combinations of thresholds."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, jaccard_score

from evalreport.statistics.class_scores import ClassScores
from evalreport.thresholds.per_label import LabelObjective, coordinate_ascent, each_alone, maximize_micro_f1

Rows = tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]
SKLEARN: dict[str, Any] = {
    "f1_macro": lambda t, p, w: f1_score(t, p, average="macro", zero_division=0, sample_weight=w),
    "f1_weighted": lambda t, p, w: f1_score(t, p, average="weighted", zero_division=0, sample_weight=w),
    "f1_micro": lambda t, p, w: f1_score(t, p, average="micro", zero_division=0, sample_weight=w),
    "f1_samples": lambda t, p, w: f1_score(t, p, average="samples", zero_division=0, sample_weight=w),
    "jaccard_macro": lambda t, p, w: jaccard_score(t, p, average="macro", zero_division=0, sample_weight=w),
    "jaccard_micro": lambda t, p, w: jaccard_score(t, p, average="micro", zero_division=0, sample_weight=w),
    "jaccard_samples": lambda t, p, w: jaccard_score(
        t, p, average="samples", zero_division=0, sample_weight=w
    ),
    "subset_accuracy": lambda t, p, w: accuracy_score(t, p, sample_weight=w),
    "label_accuracy": lambda t, p, w: np.average((t == p).mean(axis=1), weights=w),
}


def small(seed: int, n: int = 7, labels: int = 3) -> Rows:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 7, (n, labels)) / 7
    return scores, rng.random((n, labels)) < scores * 0.7 + 0.15


def best_of_all(scores: npt.NDArray[Any], truth: npt.NDArray[Any], name: str) -> float:
    cuts = [[*np.unique(column), np.inf] for column in scores.T]
    goal, ones = LabelObjective.parse(name), np.ones(len(scores))
    return max(goal.value(truth, scores >= np.array(at), ones) for at in product(*cuts))


@pytest.mark.parametrize("name", SKLEARN)
def test_values_are_scikit_learns(name: str) -> None:
    rng = np.random.default_rng(0)
    truth, predicted = rng.random((60, 4)) < 0.3, rng.random((60, 4)) < 0.3
    for weights in (np.ones(60), rng.uniform(0.1, 3, 60)):
        expected = SKLEARN[name](truth, predicted, weights)
        assert LabelObjective.parse(name).value(truth, predicted, weights) == pytest.approx(
            expected, abs=1e-12
        )


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_exact_means_that_no_combination_is_better(seed: int) -> None:
    scores, truth = small(seed)
    ones = np.ones(len(scores))
    tables = [*ClassScores(scores, truth, None).tables()]
    alone, together = each_alone(tables, "f1"), maximize_micro_f1(tables)
    for name, point in (("f1_macro", alone), ("f1_micro", together), ("jaccard_micro", together)):
        found = LabelObjective.parse(name).value(truth, scores >= point, ones)
        assert found == pytest.approx(best_of_all(scores, truth, name), abs=1e-12)


def test_weights_are_repetition() -> None:
    scores, truth = small(1, n=30)
    weights = np.random.default_rng(2).integers(0, 4, 30)
    many = ClassScores(np.repeat(scores, weights, axis=0), np.repeat(truth, weights, axis=0), None)
    few = ClassScores(scores, truth, weights.astype(float))
    for found, expected in (
        (each_alone(few.tables(), "f1"), each_alone(many.tables(), "f1")),
        (maximize_micro_f1(few.tables()), maximize_micro_f1(many.tables())),
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["subset_accuracy", "f1_samples", "jaccard_samples"])
def test_no_single_threshold_betters_an_ascent(name: str) -> None:
    for seed in range(12):
        scores, truth = small(seed, n=25)
        rng = np.random.default_rng(seed)
        weights = rng.uniform(0.5, 2, 25)
        goal, start = LabelObjective.parse(name), rng.random(3)
        point, value = coordinate_ascent(scores, truth, weights, name, start)
        assert value == pytest.approx(goal.value(truth, scores >= point, weights), abs=1e-12)
        assert value >= goal.value(truth, scores >= start, weights)
        for label in range(3):
            for at in (*np.unique(scores[:, label]), np.inf):
                other = point.copy()
                other[label] = at
                assert goal.value(truth, scores >= other, weights) <= value + 1e-12


def test_ascents_come_near_the_best_of_all_combinations() -> None:
    gaps = []
    for seed in range(10):
        scores, truth = small(seed)
        tables = [*ClassScores(scores, truth, None).tables()]
        starts = (np.full(3, 0.5), each_alone(tables, "f1"), maximize_micro_f1(tables))
        found = max(coordinate_ascent(scores, truth, np.ones(7), "f1_samples", start)[1] for start in starts)
        gaps.append(best_of_all(scores, truth, "f1_samples") - found)
    assert min(gaps) > -1e-12 and np.mean(gaps) < 0.01


def test_a_label_without_true_examples_flags_nothing() -> None:
    scores, truth = small(3)
    truth[:, 1] = False
    assert each_alone(ClassScores(scores, truth, None).tables(), "f1")[1] == np.inf
    assert maximize_micro_f1(ClassScores(scores, truth, None).tables())[1] == np.inf
    truth[:] = False
    assert (maximize_micro_f1(ClassScores(scores, truth, None).tables()) == np.inf).all()
