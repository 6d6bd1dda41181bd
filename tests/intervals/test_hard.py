"""Where intervals have it hard: a rare class, a few heavy rows, classes that hardly overlap, tied scores."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from evalreport.core.result import Estimate
from evalreport.data.labels import Binary
from evalreport.data.predictions import predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.intervals.bootstrap import Units
from evalreport.intervals.calibration_intervals import gap_limits, mean_gap
from evalreport.intervals.class_averages import average_precision_bias, smooth_counts, spreads
from evalreport.intervals.curve_points import (
    RocDraws,
    Tables,
    precision_at_recall,
    recall_at_precision,
    table_limits,
)
from evalreport.intervals.distributions import wilson
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.paired import DrawnCurve
from evalreport.intervals.standard_errors import promised_error, standard_error
from evalreport.metrics.catalogue import find
from evalreport.metrics.influence import observed_expected_ratio
from evalreport.statistics.confusion import Counts
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import summarise
from tests.coverage.settings import HARD

QUICK = Sampling(resamples=100)
RECALL = find("recall_macro", "multiclass")


def matrix(*rows: tuple[float, ...]) -> Counts:
    dense = np.array(rows, dtype=int)
    truth, answer = np.nonzero(dense)
    times = dense[truth, answer]
    return Counts.from_codes(np.repeat(truth, times), np.repeat(answer, times), len(rows))


def test_a_rare_class_gives_the_average_its_own_limits() -> None:
    """Of 20 rows none is right; 100,000 others say nothing uncertain: half of Wilson's limits of 0 of 20."""
    counts = matrix((50_000, 50_000), (20, 0))
    spread = spreads([RECALL], counts, Sampling())["recall_macro"]
    low, high = (float(end) for end in wilson(0, 20))
    assert spread.pull is not None
    assert 0.25 + spread.pull == pytest.approx(0.25 + (low + high) / 4, abs=0.01)
    assert 1.96 * spread.error == pytest.approx((high - low) / 4, abs=0.012)


def test_many_classes_alike_share_four_rows_as_price_and_bonett_do() -> None:
    """Two right and two wrong rows dealt out to ten classes move each recall towards a half by as much."""
    right, n, classes = 80, 100, 10
    dense = np.full((classes, classes), 0)
    np.fill_diagonal(dense, right)
    dense[np.arange(classes), np.arange(classes) ^ 1] = n - right
    spread = spreads([RECALL], matrix(*map(tuple, dense)), Sampling(seed=3))["recall_macro"]
    dealt = (right + 2 / classes) / (n + 4 / classes) - right / n
    assert spread.pull == pytest.approx(dealt, rel=0.15)


def test_weighted_rows_count_as_so_many_of_one_weight() -> None:
    """Each row five times as heavy tells no more; half of them worth as much tell less."""
    bins = (np.full(6, 30.0), np.full(6, 12.0), np.array([12.0, 15, 10, 13, 11, 18]))
    heavy = (5 * bins[0], 5 * bins[1], 5 * bins[2])
    value = float(mean_gap(bins[1] - bins[2], bins[0]))
    plain = gap_limits(bins, value, Sampling())
    assert gap_limits(heavy, value, Sampling(), rows=bins[0]) == pytest.approx(plain)
    low, high = gap_limits(bins, value, Sampling(), rows=bins[0] / 2)
    assert high - low > 1.1 * (plain[1] - plain[0])


def test_the_ratio_of_positives_to_expected_ones_is_known_as_well_as_the_probabilities_are_right() -> None:
    """Of 200 rows two are unlike the rest: their variance is moderated by that of all probabilities."""
    scores = np.array([0.01, 0.99])
    table = ScoreTable(scores, np.array([1.0, 99.0]), np.array([99.0, 1.0]))
    found, value = observed_expected_ratio(table), 1.0
    own = np.sqrt((99 * 0.01**2 + 0.99**2) * 2 / (100**2)) * np.sqrt(200 / 199)
    assert standard_error(table, found) == pytest.approx(own, rel=1e-9)
    expected = np.sqrt(200 * 0.01 * 0.99) / 100 * np.sqrt(200 / 199) * value
    error, df = promised_error(table, found, 2 * expected, 20.0, moderated=True)
    assert error == pytest.approx(expected * np.sqrt((10 * 4 + 10) / 20), rel=1e-6)
    assert df == 40


def test_heavy_rows_have_the_error_of_the_jackknife_and_few_degrees_of_freedom() -> None:
    rng = np.random.default_rng(5)
    weights = np.exp(1.2 * rng.normal(size=300))
    right = rng.random(300) < 0.7
    p = predictions(Binary(0, 1), right.astype(int), np.ones(300, int), weights=weights)
    units = Units.from_predictions(p, Sampling())
    value = float(weights @ right / weights.sum())
    pairs = zip(weights, right, strict=True)
    whole = np.array([(weights @ right - w * r) / (weights.sum() - w) for w, r in pairs])
    rows = weights * (right - value) / weights.sum()
    by_leaving_out = float(np.sqrt(np.square(whole - value).sum()))
    assert units.leverage(rows, float(p.weights.sum())) * np.sqrt(rows @ rows) == pytest.approx(
        by_leaving_out
    )
    assert units.most_freedom == pytest.approx((weights**2).sum() ** 2 / (weights**4).sum())
    assert units.most_freedom < 60
    plain = Units.from_predictions(
        predictions(Binary(0, 1), [0, 1] * 40, [0, 1] * 40, weights=np.ones(80)), Sampling()
    )
    assert plain.most_freedom == 79


def test_draws_that_are_mostly_no_difference_demonstrate_none() -> None:
    """Draws of 0 count as such that do not favour the run ahead, whichever run comes first."""
    drawn = np.append(np.full(100, -0.1), np.zeros(900))
    for gap in (0.1, -0.1):
        assert DrawnCurve.from_draws(gap, drawn, 0.95).p == DrawnCurve.from_draws(-gap, -drawn, 0.95).p == 1.0


def test_a_lucky_sample_of_classes_that_hardly_overlap_borrows_from_its_probabilities() -> None:
    """Sixty sure answers, all right: the next one may cost what the probabilities say that it does."""
    scores = np.r_[np.full(30, 0.01), np.full(30, 0.99)]
    table = ScoreTable.from_scores(scores, scores > 0.5)
    loss = find("log_loss", "binary")
    found = table_limits(loss, loss.function(table), Tables(table), Sampling())
    assert found.high > 4 * loss.function(table)
    useless = ScoreTable.from_scores(np.r_[np.zeros(30) + 0.5, np.full(30, 0.5)], scores > 0.5)
    assert table_limits(loss, loss.function(useless), Tables(useless), Sampling()).reason is not None


def test_recall_at_a_precision_reaches_over_steps_on_either_side_of_the_limit() -> None:
    """Precision 0.91 and then 0.89 of a hundred rows each: the sample cannot say which one is the last."""
    tp, fp = np.array([0.0, 91, 178, 250]), np.array([0.0, 9, 22, 1000])
    curve = RocDraws(tp, fp, 4000, np.random.default_rng(0))
    drawn = recall_at_precision(curve, 0.9)
    shares = [float(np.mean(np.abs(drawn.values - step / 250) < 0.12)) for step in (0, 91, 178)]
    assert all(share > 0.05 for share in shares)
    assert sum(shares) > 0.95
    low, high = curve.limits(drawn, 0.975)
    upper = drawn.values[drawn.places == 2]
    assert low == 0.0
    far = NormalDist().inv_cdf(len(upper) / len(drawn.values))  # that so lax a step keeps the precision
    left = NormalDist().cdf((NormalDist().inv_cdf(0.975) ** 2 - far**2) ** 0.5)
    assert high == pytest.approx(np.quantile(upper, left))


def test_precision_at_a_recall_is_that_of_the_whole_step_that_reaches_it() -> None:
    """Steps with a recall of 0.7 and 0.97, and a precision of 0.9: at the recall 0.9 it would be less."""
    tp, fp = np.array([0.0, 700, 970, 1000]), np.array([0.0, 20, 108, 2000])
    curve = RocDraws(tp, fp, 4000, np.random.default_rng(0))
    drawn = precision_at_recall(curve, 0.9)
    assert set(drawn.places) == {2}
    assert drawn.values.mean() == pytest.approx(970 / 1078, abs=0.002)
    assert drawn.values.std() == pytest.approx((0.9 * 0.1 / 1078) ** 0.5, rel=0.05)
    edge = precision_at_recall(RocDraws(tp, fp, 4000, np.random.default_rng(0)), 0.97)
    assert np.mean(edge.places == 2) == pytest.approx(0.5, abs=0.03)  # half of samples fall short by chance


def test_precision_at_a_recall_of_weighted_rows_is_as_wide_as_with_resampled_rows() -> None:
    """Negatives weigh unevenly: both classes counted as these, the limits were half as far apart again."""
    rng = np.random.default_rng(3)
    truth = rng.random(3000) < 0.4
    scores = rng.normal(size=3000) + 1.5 * truth
    weights = np.where(truth, 1.0, np.exp(1.2 * rng.normal(size=3000)))
    p = predictions(Binary(0, 1), truth.astype(int), scores=Decisions(scores), threshold=0.5, weights=weights)
    metric = find("precision_at_recall90", "binary")
    found = estimates([metric], summarise(p), p, Sampling())[metric.name]
    assert isinstance(found, Estimate) and found.low is not None and found.high is not None
    again = []
    for _ in range(400):
        rows = rng.integers(0, 3000, 3000)
        drawn = ScoreTable.from_scores(scores[rows], truth[rows], weights[rows])
        again.append(metric.function(drawn))
    width = float(np.ptp(np.quantile(again, [0.025, 0.975])))
    assert found.high - found.low == pytest.approx(width, rel=0.15)


def test_classes_that_hardly_overlap_leave_too_little_doubt_for_a_curve() -> None:
    """Two rows' worth of doubt in 200: no interval, where those given held the truth in 74%."""
    setting = HARD[1]
    found = [
        evaluate_predictions(setting.draw(np.random.default_rng(seed)), QUICK)["ici"] for seed in range(4)
    ]
    known = [one for one in found if isinstance(one, Estimate)]
    assert known
    assert all(one.low is None and "doubt" in (one.reason or "") for one in known)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7])
def test_each_class_gains_half_a_right_and_half_a_wrong_answer(size: int) -> None:
    """Also the last of an odd number: without it a class never wrongly predicted looked certain."""
    codes = np.arange(size)
    added = smooth_counts(Counts.from_codes(codes, codes, size)).dense()[:, :size] - np.eye(size)
    np.testing.assert_array_equal(np.diag(added), 0.5)
    np.testing.assert_array_equal(added.sum(axis=0), 1.0)
    np.testing.assert_array_equal(added.sum(axis=1), 1.0)


def test_average_precision_of_few_rows_is_too_high_by_about_what_is_reported() -> None:
    """Ten positives of a hundred, drawn 2,000 times, against the population's value."""
    rng = np.random.default_rng(0)

    def drawn(positives: int, negatives: int) -> ScoreTable:
        scores = np.r_[rng.normal(1.5, 1, positives), rng.normal(0, 1, negatives)]
        return ScoreTable.from_scores(scores, np.arange(len(scores)) < positives)

    value = find("average_precision", "binary").function
    tables = [drawn(10, 90) for _ in range(1000)]
    bias = np.mean([value(table) for table in tables]) - value(drawn(40_000, 360_000))
    said = np.mean([average_precision_bias(table) for table in tables])
    assert 0.5 * bias < said < bias


def test_a_first_score_that_many_share_may_be_beyond_the_limit() -> None:
    """Where the highest score is shared by 2 negatives of 300, no threshold may keep an FPR of 1%."""
    scores = np.r_[np.full(52, 0.9), np.full(100, 0.6), np.full(348, 0.2)]
    truth = np.r_[np.ones(50), np.zeros(2), np.ones(90), np.zeros(10), np.ones(60), np.zeros(288)]
    p = predictions(Binary(0, 1), truth.astype(int), scores=Probabilities(scores), threshold=0.5)
    found = estimates([find("tpr_at_fpr01", "binary")], summarise(p), p, Sampling())["tpr_at_fpr01"]
    assert isinstance(found, Estimate)
    assert (found.value, found.low) == (0.25, 0.0)
