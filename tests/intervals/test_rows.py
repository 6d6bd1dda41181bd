"""Rows that weigh or belong together, and rows that carry several labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.multiclass import class_estimates
from evalreport.metrics.catalogue import BINARY, PER_CLASS, catalogue
from evalreport.statistics.summary import summarise

QUICK = Sampling(resamples=400)
TASKS = ("binary", "multiclass", "multilabel")
SLOPPY = {
    "recall_at_precision90",
}
"""Far from normal here: a bootstrap and the interval of single rows need not agree."""


def problem(task: str, n: int = 500, **more: Any) -> Predictions:
    rng = np.random.default_rng(4)
    if task == "binary":
        truth = rng.random(n) < 0.3
        scores = 1 / (1 + np.exp(-(rng.normal(size=n) + 2 * truth - 1)))
        return predictions(Binary(0, 1), truth.astype(int), scores=Probabilities(scores), **more)
    if task == "multiclass":
        codes = rng.integers(0, 4, n)
        logit = rng.normal(size=(n, 4)) + 1.5 * (codes[:, None] == np.arange(4))
        scores = np.exp(logit) / np.exp(logit).sum(axis=1, keepdims=True)
        return predictions(Multiclass(range(4)), codes, scores=Probabilities(scores), **more)
    shared = rng.normal(size=(n, 1))
    truth = shared + rng.normal(size=(n, 4)) > 0.8
    scores = 1 / (1 + np.exp(-(2 * truth - 1.2 + shared + rng.normal(size=(n, 4)))))
    return predictions(Multilabel("abcd"), truth, scores=Probabilities(scores), **more)


def results(p: Predictions) -> dict[str, Result]:
    return estimates(catalogue(p.space), summarise(p), p, QUICK)


def widths(found: Mapping[str, Result]) -> dict[str, float]:
    return {n: r.width for n, r in found.items() if isinstance(r, Estimate) and r.width is not None}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["weights", "groups"])
def test_resampling_single_rows_agrees_with_the_closed_forms(task: str, kind: str) -> None:
    nearly = np.resize([0.999, 1.001], 500)  # equal weights are none
    more = {"weights": nearly} if kind == "weights" else {"groups": np.arange(500)}
    plain, resampled = widths(results(problem(task))), widths(results(problem(task, **more)))
    assert plain.keys() == resampled.keys()
    for name in plain.keys() - SLOPPY:
        assert resampled[name] == pytest.approx(plain[name], rel=0.25), name


@pytest.mark.parametrize("task", TASKS)
def test_repeated_rows_in_one_group_add_nothing(task: str) -> None:
    plain = problem(task)
    thrice = plain.take(np.repeat(np.arange(500), 3))
    grouped = problem(task, groups=np.arange(500)).take(np.repeat(np.arange(500), 3))
    naive, honest, single = widths(results(thrice)), widths(results(grouped)), widths(results(plain))
    for name in ("recall", "f1_macro", "roc_auc", "brier", "roc_auc_macro", "accuracy"):
        if name in single:
            assert honest[name] == pytest.approx(single[name], rel=0.25), name
            assert naive[name] == pytest.approx(single[name] / 3**0.5, rel=0.25), name


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("more", [{}, {"weights": True}, {"groups": True}], ids=str)
def test_every_interval_holds_its_value_inside_the_range(task: str, more: Mapping[str, bool]) -> None:
    for n in (2, 3, 7, 40):
        given = {name: (np.arange(n) % 3 if name == "weights" else np.arange(n) // 2) for name in more}
        p = problem(task, n, **given)
        per_label = () if task == "binary" else class_estimates(BINARY, summarise(p), p, QUICK)
        for found, records in [(results(p), catalogue(p.space)), *((label, BINARY) for label in per_label)]:
            for metric in records:
                check(found[metric.name], metric.low, metric.high, metric.name)


def check(result: Result, low: float, high: float, name: str) -> None:
    if isinstance(result, Undefined):
        return
    if result.low is None or result.high is None:
        assert result.reason, name
    else:
        assert low <= result.low <= result.value <= result.high <= high, name
        assert result.low < result.high, name


def test_one_group_says_that_there_is_nothing_to_compare() -> None:
    p = problem("binary", groups=["a"] * 500)
    accuracy = results(p)["accuracy"]
    assert isinstance(accuracy, Estimate)
    assert accuracy.low is None
    assert "groups" in str(accuracy.reason)


def test_the_weighted_value_and_its_interval_ignore_rows_without_weight() -> None:
    p = problem("binary", weights=np.r_[np.ones(300), np.zeros(200)])
    first = results(p)["roc_auc"]
    second = results(p.take(np.arange(300)))["roc_auc"]
    assert isinstance(first, Estimate)
    assert isinstance(second, Estimate)
    assert first.value == pytest.approx(second.value)
    assert first.width == pytest.approx(second.width, rel=0.15)


def test_intervals_per_class_are_those_of_the_class_against_the_rest() -> None:
    p = problem("multiclass")
    truth = (np.asarray(p.y_true) == 2).astype(int)
    rest = predictions(
        Binary(0, 1),
        truth,
        (np.asarray(p.y_pred) == 2).astype(int),
        Probabilities(p.scores.values[:, 2]),  # type: ignore[union-attr]
    )
    single = estimates(BINARY, summarise(rest), rest, QUICK)
    several = class_estimates(PER_CLASS, summarise(p), p, QUICK)[2]
    for metric in PER_CLASS:
        one, other = single[metric.name], several[metric.name]
        assert isinstance(one, Estimate)
        assert isinstance(other, Estimate)
        assert other.value == pytest.approx(one.value)
        assert other.low == pytest.approx(one.low, abs=0.02)
        assert other.high == pytest.approx(one.high, abs=0.02)


def test_the_same_rows_give_the_same_bytes() -> None:
    p = problem("multilabel", groups=np.arange(500) // 3)
    assert repr(results(p)) == repr(results(p))
