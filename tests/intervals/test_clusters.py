"""Few clusters and unequal weights: the jackknife by hand, and what is not smooth in the rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from evalreport.core.result import Estimate
from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.intervals.bootstrap import FEW_UNITS, Units
from evalreport.intervals.calibration_intervals import unit_draws
from evalreport.intervals.curve_points import CROSSINGS
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.multiclass import class_estimates
from evalreport.metrics.catalogue import BINARY, find
from evalreport.metrics.probability_functions import brier_reliability, brier_resolution
from evalreport.metrics.record import CurvePoint
from evalreport.statistics.confusion import Array
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import summarise

QUICK = Sampling(resamples=300)
READ = [metric.name for metric in BINARY if isinstance(metric.strategy, CurvePoint)]


def grouped(groups: int, size: int = 6) -> Predictions:
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(groups), size)
    truth = rng.random(len(cluster)) < 0.4
    scores = 1 / (1 + np.exp(-(rng.normal(size=len(cluster)) + rng.normal(size=groups)[cluster] + 2 * truth)))
    return predictions(
        Binary(0, 1), truth.astype(int), scores=Probabilities(scores), threshold=0.7, groups=cluster
    )


def test_the_jackknife_of_accuracy_by_hand() -> None:
    """Clusters with 1 of 2, 3 of 4 and 2 of 2 right: (G - 1) / G times the squares of leaving each out."""
    sizes, right = (2, 4, 2), (1, 3, 2)
    answer = np.concatenate([np.arange(n) < k for n, k in zip(sizes, right, strict=True)]).astype(int)
    p = predictions(Binary(0, 1), np.ones(8, int), answer, groups=np.repeat([0, 1, 2], sizes))
    left = [Fraction(6 - k, 8 - n) for n, k in zip(sizes, right, strict=True)]
    mean = sum(left) / 3
    expected = float(Fraction(2, 3) * sum((x - mean) ** 2 for x in left)) ** 0.5
    units = Units.from_predictions(p, QUICK)
    assert units.method == "cluster jackknife"
    replicates = units.totals(answer, 2)[:, 1] / units.totals(answer, 2).sum(axis=1)
    assert float(units.error(replicates)) == pytest.approx(expected)
    found = estimates([find("accuracy", "binary")], summarise(p), p, QUICK)["accuracy"]
    assert isinstance(found, Estimate)
    assert found.standard_error == pytest.approx(expected)


def test_quenouilles_bias_of_a_square_by_hand() -> None:
    """The square of a mean of n is too great by s² / n, which leaving out one row at a time tells exactly."""
    rows = np.array([1.0, 4.0, 2.0, 7.0])
    p = predictions(Binary(0, 1), [0, 1, 0, 1], [0, 1, 0, 1], groups=np.arange(4))
    units = Units.from_predictions(p, QUICK)
    replicates = (units.replicate_sums(units.sum_by_unit(rows)) / 4) ** 2
    assert units.bias(replicates, rows.mean() ** 2) == pytest.approx(rows.var(ddof=1) / 4)


def test_many_clusters_are_drawn_and_agree_with_leaving_out() -> None:
    few, many = grouped(FEW_UNITS), grouped(FEW_UNITS + 1)
    metrics = [find(name, "binary") for name in ("accuracy", "roc_auc", "brier", "average_precision")]
    one, other = (estimates(metrics, summarise(p), p, QUICK) for p in (few, many))
    for metric in metrics:
        left_out, drawn = one[metric.name], other[metric.name]
        assert isinstance(left_out, Estimate)
        assert isinstance(drawn, Estimate)
        assert (left_out.method, drawn.method) == ("cluster jackknife", "cluster bootstrap")
        assert left_out.width == pytest.approx(drawn.width, rel=0.3)


def test_a_smooth_curve_of_more_coefficients_than_groups_has_limits_of_its_gaps() -> None:
    p = grouped(2, 60)
    found = estimates([find(name, "binary") for name in ("ici",)], summarise(p), p, QUICK)
    for one in found.values():
        assert isinstance(one, Estimate) and one.low is not None and one.high is not None
        assert one.low <= one.value <= one.high


@pytest.mark.parametrize("name", READ)
def test_crossings_of_independent_rows_are_those_without_groups(name: str) -> None:
    truth, scores = _independent(1500)
    plain = predictions(Binary(0, 1), truth, scores=Probabilities(scores), threshold=0.5)
    single = predictions(
        Binary(0, 1), truth, scores=Probabilities(scores), threshold=0.5, groups=np.arange(len(truth))
    )
    metric = find(name, "binary")
    one, other = (estimates([metric], summarise(p), p, QUICK)[name] for p in (plain, single))
    assert isinstance(one, Estimate)
    assert isinstance(other, Estimate)
    assert "effective" not in str(one.method)
    assert other.width == pytest.approx(one.width, rel=0.35)


@pytest.mark.parametrize("name", READ)
def test_places_are_where_the_metric_is_read(name: str) -> None:
    """Rows flagged at the place give the value itself, or its crossing between two places."""
    truth, scores = _independent(800)
    table = ScoreTable.from_scores(scores, truth.astype(bool))
    point = find(name, "binary").strategy
    assert isinstance(point, CurvePoint)
    place = CROSSINGS[point.reading].place(table, point.at)
    assert place is not None
    tpr, fpr = table.tp[place] / table.positives, table.fp[place] / table.negatives
    value = find(name, "binary").function(table)
    read = {
        "eer": (fpr + 1 - tpr) / 2,
        "fpr_at_tpr95": fpr,
        "precision_at_recall90": table.tp[place] / (table.tp[place] + table.fp[place]),
        "lift_at_10": tpr / 0.1,
    }.get(name, tpr)
    assert value == pytest.approx(read, abs=0.02 if name != "lift_at_10" else 0.2)


def test_lift_where_one_class_alone_comes_in_groups_is_as_wide_as_with_resampled_groups() -> None:
    """Ten groups of 30 positives and 700 negatives of their own: how many are positive is as unsure."""
    rng, groups = np.random.default_rng(2), np.append(np.repeat(np.arange(10), 30), np.arange(10, 710))
    truth = groups < 10
    scores = truth + rng.normal(size=1000) + np.where(truth, rng.normal(size=710)[groups], 0)
    p = predictions(Binary(0, 1), truth.astype(int), scores=Decisions(scores), threshold=0.5, groups=groups)
    found = estimates([find("lift_at_10", "binary")], summarise(p), p, QUICK)["lift_at_10"]
    assert isinstance(found, Estimate) and found.low is not None and found.high is not None
    drawn = rng.poisson(1, (300, 710))[:, groups]
    ahead = np.argsort(-scores)
    top = drawn[:, ahead].cumsum(axis=1) <= drawn.sum(axis=1, keepdims=True) / 10
    flagged = top * drawn[:, ahead]
    right, positive = (flagged * truth[ahead]).sum(axis=1), (drawn * truth).sum(axis=1)
    again = right / flagged.sum(axis=1) * drawn.sum(axis=1) / positive
    assert [found.low, found.high] == pytest.approx(np.quantile(again, [0.025, 0.975]).tolist(), rel=0.25)


def test_every_label_has_every_interval_by_group_and_weight() -> None:
    truth, scores = _independent(600)
    codes = truth + 2 * (np.arange(600) % 3 == 0)
    probabilities = np.stack([1 - scores, scores, scores**2, 1 - scores**2], axis=1)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    for more in ({"groups": np.arange(600) // 5}, {"weights": 1.0 + np.arange(600) % 2}):
        p = predictions(Multiclass(range(4)), codes, scores=Probabilities(probabilities), **more)
        for label in class_estimates(BINARY, summarise(p), p, QUICK):
            for name in (*READ, "ks", "ece", "ece_equal_mass"):
                found = label[name]
                if isinstance(found, Estimate):
                    assert found.low is not None, f"{name}: {found.reason}"
                else:
                    assert "precision of 0.9" in found.reason, name


def test_murphys_decomposition_by_hand() -> None:
    """Scores 1/4 and 3/4 for 40 and 60 rows, 12 and 42 of them positive."""
    rows, hits, said = (40, 60), (12, 42), (Fraction(1, 4), Fraction(3, 4))
    total, base = sum(rows), Fraction(sum(hits), sum(rows))
    rate = [Fraction(k, n) for k, n in zip(hits, rows, strict=True)]
    reliability = sum(n * (s - r) ** 2 for n, s, r in zip(rows, said, rate, strict=True)) / total
    resolution = sum(n * (r - base) ** 2 for n, r in zip(rows, rate, strict=True)) / total
    table = ScoreTable(
        np.array([0.25, 0.75]), np.array(hits, float), np.array(rows, float) - np.array(hits, float)
    )
    assert brier_reliability(table) == pytest.approx(float(reliability))
    assert brier_resolution(table) == pytest.approx(float(resolution))


def test_draws_of_bins_go_together_as_the_units_do() -> None:
    own = np.repeat(np.random.default_rng(0).normal(size=(50, 1)), 2, axis=1)
    drawn = unit_draws(own, Sampling(resamples=500))
    assert drawn[:, 0] == pytest.approx(drawn[:, 1])
    assert drawn.std(axis=0) == pytest.approx([1.0, 1.0], abs=0.15)


def _independent(n: int) -> tuple[npt.NDArray[np.int64], Array]:
    rng = np.random.default_rng(8)
    truth = (rng.random(n) < 0.4).astype(int)
    return truth, 1 / (1 + np.exp(-(rng.normal(size=n) + 2 * truth - 1)))


@pytest.mark.parametrize("size", [7, 900])
@pytest.mark.parametrize("held", [0.0, 0.4, 1.0])
def test_totals_at_few_and_at_many_places_are_the_draws_times_the_sums(size: int, held: float) -> None:
    rng = np.random.default_rng(8)
    place, values = rng.integers(size, size=200), (rng.random(200) < held).astype(np.float64)
    p = predictions(
        Binary(0, 1), rng.integers(2, size=200), np.zeros(200, int), groups=rng.integers(50, size=200)
    )
    units = Units.from_predictions(p, QUICK)
    expected = units.drawn @ units.sums(place, size, values)
    np.testing.assert_allclose(units.totals(place, size, values), expected, rtol=1e-12, atol=1e-12)
