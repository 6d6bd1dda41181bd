"""Slices: counted once, held against the rest, corrected for looking at all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evalreport.core.json_codec import decode, encode
from evalreport.core.result import Estimate, Undefined
from evalreport.data.labels import Binary
from evalreport.data.predictions import Categorical, Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.parts import Disparity, Slice
from evalreport.evaluation.slices import disparities, gap_between, judged_slices, slice_facts
from evalreport.intervals.distributions import wilson
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.paired import independent_difference
from evalreport.metrics.catalogue import HEADLINE, OF_CALIBRATION, find
from evalreport.statistics.summary import summarise
from tests import factories

SAMPLING = Sampling(resamples=500)


def sliced(p: Predictions, names: list[str]) -> Predictions:
    return replace(p, slices={"site": Categorical.from_values(names)})


def sites_of(p: Predictions, sampling: Sampling = SAMPLING) -> tuple[Slice, ...]:
    return judged_slices(slice_facts(p), sampling, p)


@pytest.mark.parametrize("make", [factories.binary, factories.multiclass, factories.multilabel])
def test_a_slice_is_what_its_rows_alone_would_be(make: object) -> None:
    assert callable(make)
    p: Predictions = make(200)
    names = np.array(["north", "south", "west"])[np.arange(200) % 3]
    for part in sites_of(sliced(p, names.tolist())):
        rows = p.take(names == part.value)
        rest = p.take(names != part.value)
        metrics = [find(name, p.space.task) for name in part.metrics]
        assert {*HEADLINE[p.space.task], *OF_CALIBRATION[p.space.task]} <= {metric.name for metric in metrics}
        alone = estimates(metrics, summarise(rows), rows, SAMPLING)
        others = estimates(metrics, summarise(rest), rest, SAMPLING)
        assert part.rows == len(rows)
        for name in part.metrics:
            assert part.metrics[name] == alone[name]
            gap, _ = independent_difference(alone[name], others[name])
            found = part.differences[name].value
            assert found == pytest.approx(gap.value) if gap.value is not None else found is None


def test_few_rows_are_counted_and_nothing_is_claimed() -> None:
    p = factories.binary(100)
    found = sites_of(sliced(p, ["rare"] * 9 + ["common"] * 91), SAMPLING)
    assert [(part.value, part.rows, part.too_few) for part in found] == [
        ("common", 91, False),
        ("rare", 9, True),
    ]
    assert not found[1].metrics
    assert not found[1].differences


def test_a_planted_gap_comes_first_and_survives_correction() -> None:
    p = factories.multiclass(600, 3, skill=3.0)
    names = [f"site {k % 6}" for k in range(600)]
    assert p.y_pred is not None
    wrong = p.y_pred.copy()
    rows = np.arange(600) % 6 == 4
    wrong[rows] = (p.y_true[rows] + 1) % 3
    found = sites_of(sliced(replace(p, y_pred=wrong), names), SAMPLING)
    assert found[0].value == "site 4"
    assert found[0].p_adjusted["accuracy"] < 1e-6
    assert all(part.p_adjusted["accuracy"] > 0.001 for part in found[1:] if part.value != "site 4")


@pytest.mark.slow
def test_equal_slices_are_called_different_at_most_as_often_as_stated() -> None:
    """Six equal sites, 120 samples: Holm keeps the chance of any false difference at 5 %."""
    rng, called = np.random.default_rng(1), 0
    for _ in range(120):
        truth = rng.integers(2, size=240)
        answer = np.where(rng.random(240) < 0.8, truth, 1 - truth)
        p = predictions(Binary(0, 1), truth, answer, slices={"site": rng.integers(6, size=240)})
        parts = sites_of(p, Sampling(resamples=200))
        called += any(part.p_adjusted.get("recall", 1.0) < 0.05 for part in parts)
    assert called <= 120 * 0.05 + 3 * np.sqrt(120 * 0.05 * 0.95)


def test_one_value_has_no_rest() -> None:
    (only,) = sites_of(sliced(factories.binary(50), ["here"] * 50), SAMPLING)
    assert only.metrics
    assert not only.differences


def test_a_gap_is_a_value_of_the_column() -> None:
    age = np.array([None, 3] * 20, dtype=object)
    scores = Probabilities(np.array([0.2, 0.7] * 20))
    p = predictions(Binary(0, 1), [0, 1] * 20, scores=scores, slices={"age": age})
    assert {part.value for part in sites_of(p, SAMPLING)} == {"(missing)", "3"}


def test_difference_of_undefined_is_undefined() -> None:
    known = Estimate(0.5, n=10, low=0.2, high=0.8, method="wilson")
    assert independent_difference(known, Undefined("no example"))[0] == Undefined("no example")
    assert encode(independent_difference(known, Estimate(0.4, n=3, reason="too few"))[0])["low"] is None


def three_sites() -> Predictions:
    rng, n = np.random.default_rng(11), 900
    site = np.array(["north", "south", "west"])[np.arange(n) % 9 // 4]
    truth = rng.random(n) < np.where(site == "north", 0.3, 0.45)
    rate = np.where(truth, np.where(site == "west", 0.6, 0.8), np.where(site == "south", 0.25, 0.1))
    answer = (rng.random(n) < rate).astype(int)
    return sliced(predictions(Binary(0, 1), truth.astype(int), answer), site.tolist())


def test_gaps_and_ratios_are_those_of_fairlearn() -> None:
    """Values of Fairlearn 0.12 on the same rows: demographic parity, equal opportunity, equalized odds."""
    fairlearn = {
        "predicted_positive_rate": (0.1975, 0.605),
        "recall": (0.14465833614769785, 0.8201287793952967),
        "equalized_odds": (0.1520164535455602, 0.33176100628930816),
    }
    p = three_sites()
    found = {one.metric: one for one in disparities(slice_facts(p), sites_of(p, SAMPLING), SAMPLING, p)}
    for name, (difference, ratio) in fairlearn.items():
        assert found[name].difference.value == pytest.approx(difference, abs=1e-12), name
        assert found[name].ratio.value == pytest.approx(ratio, abs=1e-12), name
    odds = found["equalized_odds"]
    assert (odds.lowest, odds.highest, odds.smallest, odds.smallest_rows) == ("west", "south", "west", 100)
    assert decode(Disparity, encode(odds)) == odds


def test_groups_without_a_value_are_left_out_and_counted() -> None:
    p = predictions(Binary(0, 1), [0, 1] * 20 + [0] * 20 + [1] * 9, [0, 1] * 20 + [0] * 20 + [1] * 9)
    p = sliced(p, ["a"] * 20 + ["b"] * 20 + ["negative"] * 20 + ["few"] * 9)
    found = {one.metric: one for one in disparities(slice_facts(p), sites_of(p, SAMPLING), SAMPLING, p)}
    assert (found["recall"].groups, found["recall"].left_out) == (2, 2)
    assert (found["predicted_positive_rate"].groups, found["predicted_positive_rate"].left_out) == (3, 1)


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.7, 0.7), (0.7, 0.6), (0.05, 0.1)])
def test_intervals_of_gaps_hold_them(rates: tuple[float, float]) -> None:
    """Groups of 200 and 50 rows, 75 samples: the gap and the ratio, which are biased away from none."""
    rng, truth, sizes = np.random.default_rng(3), np.array(rates), np.array([200, 50])
    true, held = (float(np.ptp(truth)), float(truth.min() / truth.max())), np.zeros(2)
    for _ in range(75):
        right = rng.binomial(sizes, truth)
        rows = zip(right / sizes, sizes, *wilson(right, sizes), strict=True)
        values = [Estimate(p, float(n), min(float(low), p), max(float(high), p)) for p, n, low, high in rows]
        for place, found in enumerate(gap_between([values], SAMPLING)):
            assert isinstance(found, Estimate) and found.low is not None and found.high is not None
            held[place] += found.low - 1e-9 <= true[place] <= found.high + 1e-9
    assert (held / 75 >= 0.92).all(), held
