"""The winner's curse against simulation: the optimism it states is the optimism that happens."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evalreport.core.errors import DataError, UsageError
from evalreport.core.json_codec import encode
from evalreport.core.result import Undefined
from evalreport.features.studies.winners_curse import (
    WinnersCurse,
    error_correlation,
    expected_maximum,
    expected_optimism,
    gupta_critical,
    winner_limits,
    winners_curse,
)
from evalreport.thresholds.trial import StudyObjective
from evalreport.thresholds.trial_search import Trials
from tests.features.studies.simulate import RESULT

WINNERS: list[dict[str, Any]] = json.loads(RESULT.read_text(encoding="utf-8"))["searches"]
Shape = Callable[[np.random.Generator, int], Any]
SHAPES: dict[str, Shape] = {
    "equal": lambda _, n: np.zeros(n),
    "normal, half an error wide": lambda rng, n: rng.normal(0, 0.5, n),
    "normal, three errors wide": lambda rng, n: rng.normal(0, 3, n),
    "skewed": lambda rng, n: -rng.exponential(3, n),
    "some good, many bad": lambda rng, n: np.where(rng.random(n) < 0.6, 0, -rng.exponential(15, n)),
}


def study(values: Any, name: str = "accuracy", direction: Any = "maximize") -> Trials:
    rows = [{"params": {"x": at}, "value": float(value)} for at, value in enumerate(values)]
    return Trials.from_records(rows, objectives=StudyObjective(name, direction))


def curse(trials: Trials, n: int | None = None, **settings: Any) -> WinnersCurse:
    result = winners_curse(trials, n, **settings)
    assert isinstance(result, WinnersCurse)
    return result


@pytest.mark.parametrize(
    ("n", "known"), [(1, 0.0), (2, 0.56419), (3, 0.84628), (10, 1.53875), (100, 2.50759), (1000, 3.24144)]
)
def test_expected_maximum_is_the_published_one(n: int, known: float) -> None:
    assert expected_maximum(n) == pytest.approx(known, abs=2e-5)


@pytest.mark.parametrize(("n", "known"), [(2, 1.645), (3, 1.916), (5, 2.160), (10, 2.417)])
def test_critical_distance_is_the_one_of_dunnett(n: int, known: float) -> None:
    """Dunnett 1955, one-sided, correlation 1/2, infinite degrees of freedom: table 1a."""
    assert gupta_critical(n, 0.95) == pytest.approx(known, abs=6e-3)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [10, 60])
def test_stated_optimism_is_the_one_that_happens(shape: str, n: int) -> None:
    rng = np.random.default_rng(7)
    happened, stated = [], []
    for _ in range(40):
        truth = SHAPES[shape](rng, n)
        seen = truth + rng.normal(0, 1, n)
        happened.append(seen.max() - truth[seen.argmax()])
        stated.append(expected_optimism(seen, 1.0))
    assert np.mean(stated) == pytest.approx(np.mean(happened), abs=0.25 + 2 * np.std(happened) / 40**0.5)
    assert max(stated) <= expected_maximum(n) + 1e-6
    assert min(stated) >= 0


def test_examples_shared_by_the_trials_and_measured_correlation() -> None:
    """Trials right or wrong on the same 400 examples, in correlated fashion, each truly 80 % right."""
    rng = np.random.default_rng(3)
    happened, stated, measured, naive = [], [], [], []
    for _ in range(30):
        common = rng.normal(size=400)
        own = rng.normal(size=(40, 400))
        correct = math.sqrt(0.6) * common + math.sqrt(0.4) * own < 0.8416
        values = correct.mean(axis=1)
        ties = [{"value": value} for value in values]
        trials = Trials.from_records(ties, objectives="accuracy")
        measured.append(error_correlation(correct))
        found = curse(trials, 400, correlation=measured[-1])
        happened.append(values.max() - values.mean())
        stated.append(found.optimism)
        naive.append(curse(trials, 400).optimism)
    assert 0.3 < np.mean(measured) < 0.5
    alone = math.sqrt(0.8 * 0.2 / 400 * (1 - float(np.mean(measured))))
    assert np.mean(stated) == pytest.approx(np.mean(happened), abs=0.25 * alone)
    assert np.mean(naive) > np.mean(happened)


def test_the_truly_best_is_in_the_subset() -> None:
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(120):
        truth = np.full(20, 0.8)
        truth[4] = 0.801
        found = curse(study(rng.binomial(500, truth) / 500), 500)
        held += 4 in {found.best, *found.tied}
    assert held / 120 >= 0.93


def test_trials_far_behind_are_significantly_worse() -> None:
    found = curse(study([0.90, 0.89, 0.50, 0.905]), 1000)
    assert found.best == 3
    assert found.tied == (0, 1)


def test_minimised_values_are_corrected_upward() -> None:
    up = curse(study([0.80, 0.79, 0.81]), 300)
    down = curse(study([0.20, 0.21, 0.19], "error_rate", "minimize"), 300)
    assert down.best == up.best == 2
    assert down.optimism == pytest.approx(up.optimism)
    assert down.corrected == pytest.approx(0.19 + down.optimism)
    assert down.tied == up.tied


def test_more_trials_and_fewer_examples_mean_more_luck() -> None:
    rng = np.random.default_rng(0)
    values = 0.8 + rng.normal(0, 0.01, 80)
    few, many = curse(study(values[:10]), 500), curse(study(values), 500)
    assert many.optimism_if_equal > few.optimism_if_equal
    assert curse(study(values), 100).optimism > many.optimism > curse(study(values), 5000).optimism
    assert curse(study(values), 500, correlation=0.5).optimism < many.optimism
    assert many.optimism <= many.optimism_if_equal


def test_a_perfect_value_has_an_error_too() -> None:
    found = curse(study([1.0, 1.0, 0.98]), 50)
    assert found.standard_error > 0
    assert found.tied == (1, 2)


def test_the_same_parameters_again_are_no_new_chance() -> None:
    rows = [{"params": {"C": 1.0}, "value": 0.8}] * 30 + [{"params": {"C": 2.0}, "value": 0.79}]
    found = curse(Trials.from_records(rows, objectives="accuracy"), 200)
    assert found.n_trials == 2


def test_given_errors_serve_any_metric() -> None:
    one = curse(study([0.7, 0.72, 0.4], "f1_macro"), standard_error=0.02)
    each = curse(study([0.7, 0.72, 0.4], "f1_macro"), standard_error=[0.02, 0.02, 0.02])
    assert one == each
    assert one.n is None
    assert one.tied == (0,)


def test_other_names_are_reported_by_metric() -> None:
    assert isinstance(winners_curse(study([0.7, 0.8], "value"), 100), Undefined)
    assert curse(study([0.7, 0.8], "value"), 100, metric="accuracy").objective == "value"
    assert curse(study([0.7, 0.8], "f1_samples"), 100).n == 100


def test_what_it_rests_on_is_said() -> None:
    trials = study([0.7, 0.8])
    assert "independent" in curse(trials, 100).assumption
    assert "0.40" in curse(trials, 100, correlation=0.4).assumption
    assert encode(curse(trials, 20))["tied"] == [0]


@pytest.mark.parametrize(
    ("trials", "settings", "reason"),
    [
        (study([0.7, 0.8], "f1_macro"), {"n": 100}, "f1_macro is not a proportion"),
        (study([0.7, 0.8]), {}, "number of examples"),
        (study([0.7]), {"n": 100}, "one trial alone"),
    ],
)
def test_undefined_says_why(trials: Trials, settings: dict[str, Any], reason: str) -> None:
    result = winners_curse(trials, **settings)
    assert isinstance(result, Undefined)
    assert reason in result.reason


@pytest.mark.parametrize(
    "settings",
    [
        {"n": 0},
        {"n": 10, "correlation": 1.0},
        {"n": 10, "confidence": 1.0},
        {"standard_error": [0.1]},
        {"standard_error": -0.1},
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        winners_curse(study([0.7, 0.8]), **settings)


def test_shares_outside_zero_to_one_name_the_trial() -> None:
    with pytest.raises(DataError, match="outside") as caught:
        winners_curse(study([0.7, 80.0]), 100)
    assert "trial 1" in caught.value.where


@pytest.mark.parametrize("rows", [[[1, 0]], [1, 0], [[1, 1], [0, 0]], np.zeros((0, 0))])
def test_correlation_needs_two_trials_that_vary(rows: Any) -> None:
    with pytest.raises(DataError, match="correlation needs"):
        error_correlation(rows)


@pytest.mark.parametrize(
    "search", WINNERS, ids=lambda s: f"{s['trials']} of {s['n']}, {s['spread']}, {s['shared']}"
)
def test_the_interval_of_the_winner_held_its_true_value_in_the_simulation(search: dict[str, Any]) -> None:
    """In at least 93 % of studies, the correlation of the errors known or measured, and unknown."""
    slack = 2.6 * math.sqrt(0.93 * 0.07 / search["studies"])
    assert min(search["held"].values()) >= 0.93 - slack


def test_known_correlation_makes_the_interval_no_wider_than_it_must_be() -> None:
    assert {(s["trials"], s["n"]) for s in WINNERS} >= {(10, 100), (500, 100), (100, 5000)}
    # a hundred examples have steps of a quarter of an error: at the upper end a tie is never too narrow
    held = [s["held"]["known"] for s in WINNERS if s["n"] > 100]
    assert np.mean(held) <= 0.97 and max(held) <= 0.97 + 2.6 * math.sqrt(0.03 * 0.97 / 1000)
    far = [s["width"] for s in WINNERS if s["shared"] and s["spread"] == "far apart" and s["n"] > 100]
    assert all(width["known"] < width["unknown"] for width in far)


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_limits_given_which_is_best_cover_exactly(correlation: float) -> None:
    """Normal values of which two are close: neither side of the hybrid limits errs more than it may."""
    rng = np.random.default_rng(5)
    truth, times = np.array([0.0, 0.3, -2.0, -2.5]), 300
    shared = math.sqrt(correlation) * rng.normal(size=(times, 1))
    seen = truth + shared + math.sqrt(1 - correlation) * rng.normal(size=(times, 4))
    held = 0
    for values in seen:
        low, high = winner_limits(values, 1.0, 1.0, correlation, 0.95, None)
        held += low <= truth[values.argmax()] <= high
    assert abs(held / times - 0.95) <= 2.6 * math.sqrt(0.05 * 0.95 / times)


@pytest.mark.parametrize("decimals", [2, 3])
def test_rounded_values_are_no_narrow_escape(decimals: int) -> None:
    """Ten equal trials, told to so many decimals: ties are common, and the best did not win by nothing."""
    rng, held = np.random.default_rng(decimals), 0
    for _ in range(200):
        noise = math.sqrt(0.5) * (rng.normal() + rng.normal(size=10))
        low, high = winner_limits(np.round(0.8 + 0.02 * noise, decimals), 1.0, 0.02, 0.5, 0.95, None)
        held += low <= 0.8 <= high
    assert held / 200 >= 0.95 - 2.6 * math.sqrt(0.05 * 0.95 / 200)


def test_trials_of_one_value_count_as_one_model() -> None:
    """To all decimals, so that nothing was rounded."""
    auc = np.array([0.81234567, 0.80345678, 0.81234567])
    twice, once = (winner_limits(v, 1.0, 0.02, 0.3, 0.95, None) for v in (auc, auc[:2]))
    assert twice == once
    low, high = winner_limits(auc[[0, 2]], 1.0, 0.02, 0.3, 0.95, None)
    assert (low + high) / 2 == pytest.approx(auc[0], abs=0.002) and high - low > 0.07


def test_the_winner_is_reported_with_its_interval() -> None:
    rows = [{"params": {"C": c}, "value": v} for c, v in enumerate([0.80, 0.81, 0.79, 0.60])]
    trials = Trials.from_records(rows, objectives="accuracy")
    unknown, known = (winners_curse(trials, n=500, correlation=rho) for rho in (None, 0.9))
    assert isinstance(unknown, WinnersCurse) and isinstance(known, WinnersCurse)
    assert unknown.low < known.low < unknown.corrected <= 0.81 < known.high < 1
    assert known.high == pytest.approx(unknown.high, abs=0.001)
    assert list(unknown.winner) == ["value", "low", "high", "method"]
    least = [{"params": {"C": c}, "value": 1 - v} for c, v in enumerate([0.80, 0.81, 0.79, 0.60])]
    goal = StudyObjective("error_rate", "minimize")
    turned = winners_curse(Trials.from_records(least, objectives=[goal]), n=500)
    assert isinstance(turned, WinnersCurse)
    assert (turned.low, turned.high) == pytest.approx((1 - unknown.high, 1 - unknown.low))
