"""Binary curves against scikit-learn's points and slow brute force."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import precision_recall_curve, roc_curve

from evalreport.core.json_codec import decode, encode
from evalreport.core.result import Undefined
from evalreport.curves.binary import BinaryCurves, binary_curves
from evalreport.curves.curve import SHOWS, Band, Curve, Reliability, bends, stairs
from evalreport.data.labels import Binary
from evalreport.data.predictions import predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.evaluation.evaluation import curves
from evalreport.intervals.distributions import wilson
from evalreport.statistics.score_table import ScoreTable, hull
from evalreport.statistics.summary import summarise

Rows = tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]


def rows(n: int, *, ties: bool = False) -> Rows:
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    s = 1 / (1 + np.exp(-(rng.normal(size=n) + 1.5 * y - 1)))
    return y, s.round(2) if ties else s


def made(y: npt.NDArray[Any], s: npt.NDArray[Any]) -> BinaryCurves:
    return binary_curves(ScoreTable.from_scores(s, y), probabilities=True)


def curve(part: object) -> Curve:
    assert isinstance(part, Curve)
    return part


def band(part: object) -> Band:
    assert isinstance(part, Band)
    return part


def bins(part: object) -> Reliability:
    assert isinstance(part, Reliability)
    return part


@pytest.mark.parametrize("ties", [False, True])
def test_roc_and_pr_points_are_scikit_learns(ties: bool) -> None:
    y, s = rows(150, ties=ties)
    found = made(y, s)
    fpr, tpr, threshold = roc_curve(y, s, drop_intermediate=False)
    known = {(round(a, 12), round(b, 12)): c for a, b, c in zip(fpr, tpr, threshold, strict=True)}
    roc = curve(found.roc)
    assert roc.threshold is not None
    for x, up, at in zip(roc.x, roc.y, roc.threshold, strict=True):
        assert known[round(x, 12), round(up, 12)] == at
    precision, recall, _ = precision_recall_curve(y, s)
    points = {(round(r, 12), round(p, 12)) for r, p in zip(recall, precision, strict=True)}
    pr = curve(found.pr)
    assert {(round(r, 12), round(p, 12)) for r, p in zip(pr.x[1:], pr.y[1:], strict=True)} <= points
    assert pr.x[0] == 0 and pr.y[0] == pr.y[1] and pr.x[-1] == 1


@pytest.mark.parametrize("n", [5_000, 200_000])
def test_thinned_curves_leave_the_whole_by_less_than_shows(n: int) -> None:
    y, s = rows(n)
    found = made(y, s)
    fpr, tpr, _ = roc_curve(y, s)
    roc, pr = curve(found.roc), curve(found.pr)
    assert max(len(roc.x), len(pr.x)) <= 400
    corners = hull((fpr * (~y).sum()).round(), (tpr * y.sum()).round())
    assert {round(tpr[i], 12) for i in corners} <= {round(up, 12) for up in roc.y}
    assert pr.y[0] == pr.y[1]
    assert abs(np.trapezoid(roc.y, roc.x) - np.trapezoid(tpr, fpr)) < 1e-3
    grid = np.linspace(0.05, 1, 200)
    precision, recall, _ = precision_recall_curve(y, s)
    whole = precision[::-1][np.searchsorted(recall[::-1], grid - 1e-12)]
    drawn = np.asarray(pr.y)[np.searchsorted(pr.x, grid - 1e-12)]
    assert np.abs(whole - drawn).max() < 0.02


def test_gain_lift_and_det_are_the_same_counts() -> None:
    y, s = rows(300)
    found = made(y, s)
    for name in ("gain", "lift", "det"):
        part = curve(getattr(found, name))
        assert part.threshold is not None
        for x, value, at in zip(part.x, part.y, part.threshold, strict=True):
            flagged = s >= at
            tpr = (flagged & y).sum() / y.sum()
            expected = {
                "gain": (flagged.mean(), tpr),
                "lift": (flagged.mean(), tpr / max(flagged.mean(), 1e-12)),
                "det": ((flagged & ~y).sum() / (~y).sum(), 1 - tpr),
            }[name]
            assert (x, value) == pytest.approx(expected, abs=1e-12)


def test_net_benefit_is_vickers_and_elkins() -> None:
    y, s = rows(500)
    found = made(y, s)
    model, everyone = curve(found.benefit), curve(found.benefit_all)
    for pt, value, flag_all in zip(model.x, model.y, everyone.y, strict=True):
        flagged, odds = s >= pt, pt / (1 - pt)
        assert value == pytest.approx((flagged & y).mean() - (flagged & ~y).mean() * odds, abs=1e-12)
        assert flag_all == pytest.approx(y.mean() - (1 - y.mean()) * odds, abs=1e-12)


def test_reliability_bins_are_the_rows_in_them() -> None:
    y, s = rows(997, ties=True)
    found = made(y, s)
    for part in (bins(found.reliability), bins(found.reliability_width)):
        assert sum(part.n) == 997
        for i in range(len(part.n)):
            lowest = part.start[i] if part.equal == "count" else np.nextafter(part.start[i], 1)
            inside = (s >= lowest) & (s <= part.end[i])
            assert inside.sum() == part.n[i]
            assert s[inside].mean() == pytest.approx(part.score[i])
            assert y[inside].mean() == pytest.approx(part.observed[i])
            assert part.low[i] <= part.observed[i] <= part.high[i]
    assert max(bins(found.reliability).n) < 2 * min(bins(found.reliability).n)


def test_histogram_holds_every_row() -> None:
    y, s = rows(400)
    found = made(y, s).histogram
    assert not isinstance(found, Undefined)
    expected, _ = np.histogram(s[y], bins=np.asarray(found.edges))
    assert found.positive == tuple(expected.astype(float))
    assert sum(found.negative) == (~y).sum()


def test_round_trip_through_json_loses_nothing() -> None:
    found = made(*rows(2_000))
    again = decode(BinaryCurves, json.loads(json.dumps(encode(found), allow_nan=False)))
    assert again == found


def test_one_class_and_constant_scores() -> None:
    found = made(np.ones(5, bool), np.linspace(0.1, 0.9, 5))
    assert isinstance(found.roc, Undefined) and "no negative" in found.roc.reason
    assert not isinstance(found.histogram, Undefined)
    assert decode(BinaryCurves, encode(found)) == found
    flat = made(np.array([True, False, True]), np.full(3, 0.5))
    assert curve(flat.roc).x == (0.0, 1.0)
    assert curve(flat.pr).y == pytest.approx((2 / 3, 2 / 3))
    assert isinstance(made(np.array([True]), np.array([0.2])).pr, Undefined)


def test_decision_scores_have_no_calibration() -> None:
    y, s = rows(50)
    found = curves(summarise(predictions(Binary(0, 1), y.astype(int), scores=Decisions(s * 9 - 4))))
    assert isinstance(found, BinaryCurves)
    assert isinstance(found.benefit, Undefined) and isinstance(found.reliability, Undefined)
    assert curve(found.roc).y[-1] == 1


@pytest.mark.slow
def test_bands_cover_the_true_curve() -> None:
    from scipy.stats import norm

    rng = np.random.default_rng(3)
    fpr, recall, prevalence = np.array([0.05, 0.1, 0.3]), np.array([0.4, 0.6, 0.8]), 0.3
    true_tpr = norm.cdf(1.5 + norm.ppf(fpr))
    fpr_at_recall = norm.sf(norm.ppf(1 - recall) + 1.5)
    true_precision = prevalence * recall / (prevalence * recall + (1 - prevalence) * fpr_at_recall)
    inside = np.zeros((2, 3))
    for _ in range(200):
        y = rng.random(300) < prevalence
        found = made(y, norm.cdf(rng.normal(size=300) + 1.5 * y))
        roc, pr = band(found.roc_band), band(found.pr_band)
        inside[0] += np.interp(fpr, roc.x, roc.low) <= true_tpr
        inside[0] -= true_tpr > np.interp(fpr, roc.x, roc.high)
        place = np.searchsorted(pr.x, recall)
        low, high = np.asarray(pr.low)[place], np.asarray(pr.high)[place]
        inside[1] += (low <= true_precision) & (true_precision <= high)
    assert (inside / 200 > 0.92).all() and (inside / 200).mean() < 0.985


def test_bands_hold_their_curve_and_narrow_with_rows() -> None:
    widths = []
    for n in (200, 20_000):
        found = made(*rows(n))
        limits, roc = band(found.roc_band), curve(found.roc)
        corners = [
            limit for limit in zip(limits.x, limits.low, limits.high, strict=True) if limit[0] in roc.x
        ]
        assert all(a <= y <= b for (_, a, b), y in zip(corners, roc.y, strict=True))
        around, pr = band(found.pr_band), curve(found.pr)
        assert all(a - 1e-9 <= b <= c + 1e-9 for a, b, c in zip(around.low, pr.y, around.high, strict=True))
        widths.append(np.mean(np.subtract(limits.high, limits.low)))
    assert widths[1] < widths[0] / 4


def test_a_perfect_ranking_has_a_band_that_is_not_straight() -> None:
    """Between far points of the curve the limits bend: those of recall at no false alarm are not drawn on."""
    found = made(np.repeat([False, True], 30), np.repeat([0.2, 0.9], 30))
    limits = band(found.roc_band)
    assert np.interp([0.3, 0.9], limits.x, limits.low) == pytest.approx(
        float(wilson(30.0, 30.0)[0]), abs=1e-9
    )
    assert max(np.diff(limits.x)) < 0.041


def test_weights_scaled_alike_change_no_band() -> None:
    y, s = rows(300)
    parts = []
    for weight in (1.0, 7.0):
        weights = np.full(300, weight)
        found = curves(
            summarise(predictions(Binary(0, 1), y.astype(int), scores=Probabilities(s), weights=weights))
        )
        assert isinstance(found, BinaryCurves)
        parts.append(found)
    assert band(parts[0].pr_band).low == pytest.approx(band(parts[1].pr_band).low)
    assert bins(parts[0].reliability).low == pytest.approx(bins(parts[1].reliability).low)


def test_hull_is_the_slow_one() -> None:
    rng = np.random.default_rng(5)
    for n in (1, 3, 10, 200, 9_000):
        up = rng.random(n) < 0.5
        x, y = np.append(0, np.cumsum(~up)).astype(float), np.append(0, np.cumsum(up)).astype(float)
        slow: list[int] = []
        for i in range(n + 1):
            while len(slow) > 1:
                a, b = slow[-2:]
                if (x[b] - x[a]) * (y[i] - y[b]) < (y[b] - y[a]) * (x[i] - x[b]):
                    break
                slow.pop()
            slow.append(i)
        assert hull(x, y).tolist() == slow


def test_bends_and_stairs_stay_near() -> None:
    x = np.linspace(0, 1, 1_000)
    y = x**2
    kept = bends(x, y, np.array([500]), 400)
    assert 500 in kept and np.abs(np.interp(x, x[kept], y[kept]) - y).max() < 2 * SHOWS
    kept = stairs(x, y, 50)
    assert len(kept) <= 50 and np.diff(y[kept]).max() < 0.1
