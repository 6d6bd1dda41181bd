"""Averages over classes that this sample does not see all of, worked by hand and by simulation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from evalreport.core.result import Estimate
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import predictions
from evalreport.data.scores import Probabilities
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Limits, Sampling
from evalreport.intervals.standard_errors import (
    Spread,
    TwoStageMean,
    deviations,
    staged_limits,
    two_stage_mean,
)
from evalreport.metrics.catalogue import find
from evalreport.statistics.confusion import Counts
from evalreport.statistics.summary import summarise
from tests.coverage.measure import measured
from tests.coverage.settings import MULTICLASS

PRECISION = find("precision_macro", "multiclass")


def test_two_stages_by_hand() -> None:
    """Three of five classes seen: mean 2/3, variance between them 1/36, of the mean (1 - 3/5) / 3 of it."""
    seen = [Fraction(1, 2), Fraction(2, 3), Fraction(5, 6)]
    mean = sum(seen) / 3
    between = sum((x - mean) ** 2 for x in seen) / 2
    found = TwoStageMean.from_values([*(float(x) for x in seen), np.nan, np.nan], np.ones(5))
    assert found.value == pytest.approx(float(mean))
    assert found.missing == pytest.approx(0.4)
    assert found.between == pytest.approx(float(Fraction(2, 5) * between / 3))


def test_one_class_alone_tells_no_variance_between_classes() -> None:
    assert TwoStageMean.from_values([0.9, np.nan], np.ones(2)).between == pytest.approx(0.125)


def test_all_classes_seen_leave_the_value_as_it_is() -> None:
    counts = Counts.from_codes(np.arange(60) % 3, np.arange(60) // 2 % 3, 3).marginals
    assert two_stage_mean(PRECISION, counts, 0.123) == TwoStageMean(0.123)
    assert two_stage_mean(find("mcc", "multiclass"), counts, 0.4) == TwoStageMean(0.4)


def test_limits_hold_the_class_that_counts_as_0_and_the_one_that_was_missed() -> None:
    def plain(value: float, spread: Spread) -> Limits:
        return Limits(value - 2 * spread.error, value + 2 * spread.error, "plain", spread.error)

    found = staged_limits(TwoStageMean(0.8, 0.5, 0.01), Spread(0.05), plain)
    assert found.low == pytest.approx(0.5 * (0.8 - 2 * 0.05))
    assert found.high == pytest.approx(0.8 + 2 * (0.5 * 0.05**2 + 0.01) ** 0.5)


def test_a_class_that_is_never_predicted_widens_the_interval_upward() -> None:
    truth = np.repeat([0, 1, 2], [100, 100, 4])
    answer = np.where(truth == 2, 0, np.where(np.arange(204) % 10 == 0, 1 - np.minimum(truth, 1), truth))
    p = predictions(Multiclass([0, 1, 2]), truth, answer)
    found = estimates([PRECISION], summarise(p), p, Sampling())["precision_macro"]
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(0.6, abs=0.03)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.6
    assert found.high > 0.85


def test_draws_that_see_fewer_classes_are_held_against_those_classes() -> None:
    """A draw without predictions of class 1 moves nothing when class 0 stays as precise as it was."""
    centre = Counts.from_codes(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0]), 2).marginals
    drawn = Counts.from_codes(np.array([0, 0, 1]), np.array([0, 0, 0]), 2).marginals
    stacked = type(drawn)(*(np.asarray(part)[None] for part in vars(drawn).values()))
    assert deviations(PRECISION, stacked, centre) == pytest.approx([0.0])


@pytest.mark.slow
def test_macro_precision_covers_with_twenty_uneven_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits about the value alone covered 77 %."""
    monkeypatch.setattr("tests.coverage.measure.MOST", 100_000)
    found = measured(MULTICLASS[10], 120, 3, ["precision_macro", "average_precision_macro"])
    for name, count in found.items():
        assert count.given == count.asked
        assert 0.87 <= count.coverage <= 1.0, f"{name} covers {count.coverage:.1%}"


def test_the_first_three_of_three_labels_estimate_nothing() -> None:
    rng = np.random.default_rng(1)
    scores = rng.dirichlet(np.ones(3), 50)
    p = predictions(Multiclass(range(3)), np.arange(50) % 3, scores=Probabilities(scores))
    metrics = [find(f"top_{k}_accuracy", "multiclass") for k in (2, 3)]
    found = estimates(metrics, summarise(p), p, Sampling())
    second, third = found["top_2_accuracy"], found["top_3_accuracy"]
    assert isinstance(second, Estimate)
    assert isinstance(third, Estimate)
    assert second.low is not None
    assert (third.value, third.low) == (1.0, None)
    assert "always" in str(third.reason)
