"""Truths at the end of their range: the level is kept there too, and no interval leaves its value out."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom

from evalreport.intervals.calibration_intervals import Inversion, few_counts, gap_limits, mean_gap
from evalreport.intervals.curve_points import flattery
from evalreport.intervals.distributions import tails_near_end
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.standard_errors import area_limits
from evalreport.metrics.catalogue import find
from evalreport.statistics.score_table import ScoreTable

QUICK = Sampling(resamples=500)
NORMAL = NormalDist()


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_samples_accepted_near_an_end_are_those_of_feldman_and_cousins(level: float) -> None:
    """By brute force: the likeliest samples of a mean that is not negative, relative to its best one."""
    x = np.linspace(-9, 14, 460_001)
    for mean in (0.0, 0.3, 1.0, 1.6, 2.5):
        chance = np.exp(-((x - mean) ** 2) / 2) / np.sqrt(2 * np.pi)
        order = np.argsort(chance / np.exp(-((x - np.maximum(x, 0)) ** 2) / 2))[::-1]
        held = x[order[: np.searchsorted(np.cumsum(chance[order]) * (x[1] - x[0]), level) + 1]]
        below, above = tails_near_end(np.array([mean]), level)
        assert below[0] == pytest.approx(NORMAL.cdf(held.min() - mean) if mean else 0.0, abs=6e-4)
        assert above[0] == pytest.approx(1 - NORMAL.cdf(held.max() - mean), abs=6e-4)


@pytest.mark.parametrize(
    ("value", "error", "trials"), [(0.99, 0.01, 99.0), (1.0, 0.0, 60.0), (0.8, 0.02, 400.0)]
)
def test_the_upper_limit_of_an_area_near_1_is_missed_from_below_alone(
    value: float, error: float, trials: float
) -> None:
    """The sample lies as far below it as tests near an end accept; far from 1 as far as ever."""
    _, high = area_limits(find("average_precision", "binary"), value, error, NORMAL.inv_cdf(0.975), 60, 0.95)
    spread = np.sqrt(high * (1 - high) / trials)
    above = tails_near_end(np.array([(1 - high) / max(spread, 1e-12)]), 0.95)[1][0]
    assert (high - value) == pytest.approx(NORMAL.inv_cdf(1 - above) * spread, abs=2e-4)


def test_the_best_threshold_flatters_by_as_much_as_resamples_of_its_rows() -> None:
    """Against rows drawn with replacement, each class for itself."""
    rng = np.random.default_rng(4)
    truth = rng.random(600) < 0.3
    scores = rng.normal(size=600) + 1.2 * truth
    table = ScoreTable.from_scores(scores, truth)
    gaps = table.tp / table.positives - table.fp / table.negatives
    shares = table.pos / table.positives**2 + table.neg / table.negatives**2
    right, wrong = scores[truth], scores[~truth]
    exceeded = []
    for _ in range(400):
        drawn = [np.sort(rng.choice(part, len(part))) for part in (right, wrong)]
        above = [1 - np.searchsorted(part, table.scores) / len(part) for part in drawn]
        exceeded.append((above[0] - above[1]).max())
    assert flattery(gaps, shares, QUICK) == pytest.approx(np.mean(exceeded) - gaps.max(), abs=0.004)


def test_the_error_of_a_calibrated_model_is_held_as_often_as_promised() -> None:
    """Not in 97.5 % and more, as with half of the error on a side where nothing can be missed."""
    rng = np.random.default_rng(3)
    weight, said = np.full(8, 25.0), np.linspace(0.1, 0.9, 8)
    held = []
    for _ in range(150):
        positives = rng.binomial(25, said).astype(float)
        value = float(mean_gap(weight * said - positives, weight))
        low, high = gap_limits((weight, weight * said, positives), value, QUICK)
        assert low <= value <= high
        held.append(low == 0)
    assert 0.9 < np.mean(held) < 0.985


def test_no_bin_alone_off_by_the_lower_limit_makes_so_great_an_error_often() -> None:
    """Counts of ten bins, the first one off: scaling all gaps alike left limits that 13 to 18 % exceed."""
    rng = np.random.default_rng(6)
    rows, said = np.array([900, 300, 200, 150, 100, 100, 80, 70, 60, 40]), np.linspace(0.05, 0.95, 10)
    noise = np.sqrt(rows * said * (1 - said))
    for first in (4.0, 5.0):
        gaps = noise * [first, -0.9, 0.8, -0.7, 0.9, 0.8, -0.6, 0.7, -0.8, 0.6]
        value = float(mean_gap(gaps, rows))
        low, _ = gap_limits((rows + 0.0, rows * said, rows * said - gaps), value, QUICK)
        truth = said - np.append(low * rows.sum() / rows[0], np.zeros(9))
        above = mean_gap(rows * said - rng.binomial(rows, truth, (4000, 10)), rows) >= value
        assert low > 0 and 0.02 < above.mean() < 0.06


def test_what_can_be_missed_on_one_side_alone_has_the_whole_error_there() -> None:
    """Noise that adds five standard errors: no sample lies below its truth, and 5 % are above the limit."""
    truths = np.linspace(0, 1, 25)
    drawn = truths[:, None] + 0.5 + 0.1 * np.array([NORMAL.inv_cdf((k + 0.5) / 2000) for k in range(2000)])
    reach = {share: 0.1 * NORMAL.inv_cdf(share) for share in (0.95, 0.975)}
    assert Inversion(1.0, QUICK, least=0.0).limits_from_draws(drawn, truths)[0] == pytest.approx(
        0.5 - reach[0.95], abs=1e-3
    )
    assert Inversion(1.0, QUICK).limits_from_draws(drawn, truths)[0] == pytest.approx(
        0.5 - reach[0.975], abs=1e-3
    )
    # an upper limit that is 2 at least misses none of these
    assert Inversion(0.7, QUICK, least=2.0).limits_from_draws(drawn - 0.5, truths)[0] == pytest.approx(
        0.7 - reach[0.95], abs=1e-3
    )


@pytest.mark.parametrize(("rows", "rate"), [(40, 0.03), (12, 0.5), (300, 0.97), (60_000, 2e-4)])
def test_counts_of_a_bin_are_drawn_as_often_as_they_are_likely(rows: int, rate: float) -> None:
    """Each of 400 draws, whose places begin anywhere, against the binomial distribution itself."""
    for start in (0.0, 0.3, 0.99):
        short = few_counts(np.array([rows + 0.0]), np.array([rate]), 400, np.array([start]))[0]
        count, times = np.unique(np.rint(rows * rate - short), return_counts=True)
        upto = binom.cdf(count, rows, rate) if rate < 0.5 else 1 - binom.cdf(count - 1, rows, rate)
        drawn = times.cumsum() if rate < 0.5 else times[::-1].cumsum()[::-1]
        assert abs(drawn / 400 - upto).max() <= 1 / 400 + 1e-9
