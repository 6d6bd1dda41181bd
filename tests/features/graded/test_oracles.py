"""pass@k by the published estimator, paired differences by statsmodels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.weightstats import DescrStatsW

import evalreport as er
from evalreport.core.result import Estimate
from evalreport.features.graded.repeats import bounded_limits
from evalreport.intervals.distributions import wilson
from evalreport.intervals.interval_settings import Sampling
from tests.features.graded.files import BOTH, BROKEN, FIXED, NEITHER, grades_of


def published_pass_at_k(n: int, c: int, k: int) -> float:
    """The estimator of Chen et al. 2021 (arXiv 2107.03374, figure 3), as printed there."""
    if n - c < k:
        return 1.0
    return 1.0 - float(np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


@pytest.mark.parametrize("attempts", [2, 5, 10, 100])
def test_pass_at_k_is_the_published_estimator(attempts: int) -> None:
    rng = np.random.default_rng(attempts)
    items = np.repeat(np.arange(50), attempts)
    passed = rng.random(50 * attempts) < rng.beta(0.5, 1, 50)[items]
    ev = er.evaluate(passed, labels=er.Graded(), ids=items)
    counts = passed.reshape(50, attempts).sum(axis=1)
    names = [name for name in ev.metrics if name.startswith("pass_at_")]
    assert len(names) == len([k for k in (*range(2, 11), 16, 20, 25, 32, 50, 64, 100) if k <= attempts])
    for name in names:
        k, found = int(name.removeprefix("pass_at_")), ev[name]
        assert isinstance(found, Estimate)
        assert found.value == pytest.approx(np.mean([published_pass_at_k(attempts, c, k) for c in counts]))


def runs(first: Any, second: Any, ids: Any) -> list[er.Evaluation]:
    return [er.evaluate(grades, labels=er.Graded(), ids=ids) for grades in (first, second)]


def test_the_test_of_two_runs_is_mid_p_of_mcnemar() -> None:
    """statsmodels has the exact p; the mid-p is less by the probability of the observed split."""
    (test,) = er.compare(runs(grades_of("a"), grades_of("b"), range(220))).mcnemar
    exact = mcnemar([[BOTH, BROKEN], [FIXED, NEITHER]], exact=True).pvalue
    assert test.p == pytest.approx(exact - binom.pmf(BROKEN, FIXED + BROKEN, 0.5))


def test_the_difference_with_repeats_is_the_mean_over_items() -> None:
    rng = np.random.default_rng(4)
    items, chances = np.repeat(np.arange(200), 4), rng.beta(2, 2, 200)
    first, second = (rng.random(800) < np.clip(chances + shift, 0, 1)[items] for shift in (0, 0.08))
    (found,) = er.compare(runs(first, second, items)).differences_for("pass_rate")
    gaps = second.reshape(200, 4).mean(axis=1) - first.reshape(200, 4).mean(axis=1)
    low, high = DescrStatsW(gaps).tconfint_mean()
    assert found.difference == pytest.approx(gaps.mean())
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.002)


@pytest.mark.parametrize(("passed", "n"), [(0, 30), (12, 40), (199, 200)])
def test_limits_of_passes_and_fails_are_nearly_those_of_wilson(passed: int, n: int) -> None:
    """One attempt per item is a proportion: the added item costs about one item of width."""
    rate = passed / n
    error = (rate * (1 - rate) / (n - 1)) ** 0.5
    found = bounded_limits(rate, error, n, Sampling(), (0.0, 1.0))
    assert found == pytest.approx([float(end) for end in wilson(passed, n)], abs=0.015)
    assert found[0] <= rate <= found[1]


def test_limits_near_a_bound_are_wider_than_those_of_the_variance_alone() -> None:
    """49 items of score 1 and one of 0.9: the sample says nothing of rare low scores."""
    values = np.array([1.0] * 49 + [0.9])
    mean, error = float(values.mean()), float(values.std(ddof=1) / 50**0.5)
    low, high = bounded_limits(mean, error, 50, Sampling(), (0.0, 1.0))
    assert low < mean - 8 * error
    assert high <= 1
