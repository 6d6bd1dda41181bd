"""Published tables and other people's implementations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as other_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from evalreport.intervals.curve_points import delong
from evalreport.intervals.distributions import newcombe, score_limits, t_quantile, wilson
from evalreport.intervals.paired import holm, mcnemar, row_placements
from evalreport.statistics.confusion import Array
from evalreport.statistics.score_table import ScoreTable


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_is_newcombes_table_of_1998(k: int, n: int, low: float, high: float) -> None:
    assert np.array(wilson(k, n)).round(4).tolist() == [low, high]


def test_no_trials_have_no_limits() -> None:
    assert np.isnan(wilson(0, 0)).all()


def test_what_rounding_leaves_of_no_error_and_no_share_is_none() -> None:
    for end, share in ((0.0, 1e-14), (1.0, 1 - 1e-14)):
        limits = score_limits(end, 0.0, 100, 1.96)
        assert score_limits(share, 1e-15, 100, 1.96) == pytest.approx(limits, abs=1e-9)


def test_a_row_is_placed_against_a_single_one_of_the_other_class() -> None:
    assert row_placements(np.array([0.2, 0.8, 0.2]), np.array([False, True, True])).tolist() == [0.75, 1, 0.5]


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_agrees_with_statsmodels(level: float) -> None:
    k, n = np.array([0, 1, 5, 50, 99, 100]), np.full(6, 100)
    expected = np.array([proportion_confint(a, b, 1 - level, "wilson") for a, b in zip(k, n, strict=True)])
    found = np.array(wilson(k, n, level)).T
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((6, 7, 2, 7), 0.0582, 0.8062),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((0, 10, 0, 20), -0.1611, 0.2775),
        ((0, 10, 0, 10), -0.2775, 0.2775),
        ((10, 10, 0, 20), 0.6791, 1.0),
        ((10, 10, 0, 10), 0.6075, 1.0),
    ],
)
def test_differences_are_newcombes_table_of_1998(
    counts: tuple[int, int, int, int], low: float, high: float
) -> None:
    assert np.array(newcombe(*counts)[1:]).round(4).tolist() == [low, high]
    expected = confint_proportions_2indep(*counts, method="newcomb")
    assert newcombe(*counts)[1:] == pytest.approx(expected, abs=1e-9)


def test_quantile_of_t_with_no_end_is_the_normals() -> None:
    assert t_quantile(0.975, math.inf) == pytest.approx(1.959963985, abs=1e-9)


@pytest.mark.parametrize("pair", [(10, 2), (3, 3), (0, 0), (0, 5), (12, 13), (40, 20), (4000, 3900)])
def test_mid_p_is_the_exact_p_less_the_probability_of_the_table_itself(pair: tuple[int, int]) -> None:
    n, k = sum(pair), min(pair)
    exact = other_mcnemar([[5, pair[0]], [pair[1], 5]], exact=True).pvalue if n else 1.0
    expected = 1.0 if pair[0] == pair[1] else exact - stats.binom.pmf(k, n, 0.5)
    assert mcnemar(*pair) == pytest.approx(expected, abs=1e-12)


def test_mid_p_of_hardly_any_chance_is_chi_squares() -> None:
    assert 0 <= mcnemar(5000, 0) < 1e-300


def test_holm_agrees_with_statsmodels() -> None:
    p = [0.04, 0.001, 0.3, 0.04, 0.0004, 0.9]
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)


def slow_auc(positive: Array, negative: Array) -> tuple[Array, Array]:
    """DeLong's structural components, pair by pair."""
    wins = np.array([[(p > q) + 0.5 * (p == q) for q in negative] for p in positive])
    return wins.mean(axis=1), wins.mean(axis=0)


@pytest.mark.parametrize("ties", [False, True])
def test_delong_agrees_with_its_definition(ties: bool) -> None:
    rng = np.random.default_rng(3)
    positive, negative = rng.normal(1, 1, 23), rng.normal(0, 1, 41)
    if ties:
        positive, negative = positive.round(), negative.round()
    ten, one = slow_auc(positive, negative)
    scores = np.concatenate([positive, negative])
    truth = np.arange(64) < 23
    auc, variance = delong(ScoreTable.from_scores(scores, truth))
    assert auc == pytest.approx(ten.mean(), abs=1e-12)
    assert variance == pytest.approx(ten.var(ddof=1) / 23 + one.var(ddof=1) / 41, abs=1e-12)
    assert row_placements(scores, truth) == pytest.approx(np.concatenate([ten, one]), abs=1e-12)
