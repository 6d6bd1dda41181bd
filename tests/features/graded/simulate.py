"""How often the intervals of graded items cover the true value.

`python -m tests.features.graded.simulate` writes `coverage.json` beside this file (about three minutes of
CPU). An item passes with its own probability, drawn from a beta distribution around the pass rate.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from evalreport.core.result import Estimate, Result
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.features.graded.grades import read_grades
from evalreport.features.graded.judge import corrected_difference, corrected_rate
from evalreport.features.graded.metrics import PASS, SCORE
from evalreport.features.graded.read import attempts
from evalreport.features.graded.repeats import Items, all_of, measure
from evalreport.intervals.distributions import wilson
from evalreport.intervals.interval_settings import Sampling

RESULT = Path(__file__).parent / "coverage.json"
SAMPLING: Final = Sampling(resamples=200)
TIMES: Final = 300
MANY: Final = 2000
QUICK: Final = ("pass_at_2",)
"""Data sets of intervals that take under a millisecond."""
SPREAD: Final = 1.5
"""Sum of the parameters of the beta distribution of items."""

Draw = Callable[[np.random.Generator], tuple[Result, float]]
"""Draws one data set: the estimate, and the true value."""


def chances(rng: np.random.Generator, rate: float, items: int) -> Any:
    return rng.beta(SPREAD * rate, SPREAD * (1 - rate), items)


def core(values: Any, metric: str, scale: Any = "pass", **named: Any) -> Result:
    made = attempts(read_grades(values, "grade", scale), **named).rows
    return evaluate_predictions(made, SAMPLING, only=(metric,)).metrics[metric]


def pass_rate(rng: np.random.Generator, rate: float, items: int, repeats: int) -> tuple[Result, float]:
    passed = rng.random((items, repeats)) < chances(rng, rate, items)[:, None]
    if repeats == 1:
        return core(passed.ravel(), PASS, ids=None), rate
    codes = np.repeat(np.arange(items), repeats)
    return Items(codes, np.where(passed.ravel(), 0, 1), np.ones(items)).pass_rate(SAMPLING), rate


def clustered(rng: np.random.Generator, rate: float, items: int, size: int) -> tuple[Result, float]:
    groups = np.arange(items) // size
    inside = chances(rng, rate, groups[-1] + 1)[groups]
    return core(rng.random(items) < inside, PASS, ids=None, groups=groups), rate


def skewed(rng: np.random.Generator, mean: float, items: int, _: int) -> tuple[Result, float]:
    return core(rng.beta(0.4 * mean, 0.4 * (1 - mean), items), SCORE, "unit", ids=None), mean


def pass_at(rng: np.random.Generator, rate: float, items: int, repeats: int) -> tuple[Result, float]:
    """Pass@2: the true value is 1 - E (1 - p)² of the beta distribution."""
    passed = rng.random((items, repeats)) < chances(rng, rate, items)[:, None]
    codes = np.repeat(np.arange(items), repeats)
    found = Items(codes, np.where(passed.ravel(), 0, 1), np.ones(items))
    value = found.mean(1 - all_of(found.attempts, found.attempts - found.passes, 2), SAMPLING)
    b = SPREAD * (1 - rate)
    return value, 1 - b * (b + 1) / (SPREAD * (SPREAD + 1))


def mean_cost(rng: np.random.Generator, sigma: float, items: int, _: int) -> tuple[Result, float]:
    found = measure(rng.lognormal(0, sigma, items), np.arange(items), SAMPLING)
    return found["mean"], float(np.exp(sigma**2 / 2))


def judge(
    rng: np.random.Generator, rate: float, people: int, items: int, *, passes: float, fails: float
) -> tuple[Result, float]:
    human = rng.random(items) < rate
    given = rng.random(items) < np.where(human, passes, 1 - fails)
    codes = np.where(np.arange(items) < people, np.where(human, 0, 1), -1)
    return corrected_rate(given, codes, SAMPLING)[0], rate


def two_systems(rng: np.random.Generator, gap: float, people: int, items: int) -> tuple[Result, float]:
    truth = [rng.random(items) < 0.6 + gap, rng.random(items) < 0.6]
    given = [np.where(rng.random(items) < 0.85, one, ~one) for one in truth]
    some = np.arange(items) < people
    pairs = [
        (np.where(model, 0, 1), np.where(some, np.where(one, 0, 1), -1))
        for model, one in zip(given, truth, strict=True)
    ]
    return corrected_difference(pairs[0], pairs[1], SAMPLING), gap


def settings() -> Iterator[tuple[str, dict[str, Any], Draw]]:
    """Yield the name of each interval, its setting and how a data set is drawn."""
    rates = (0.02, 0.1, 0.5, 0.9, 0.98)
    plain: list[tuple[str, Any, tuple[float, ...], list[tuple[int, int]]]] = [
        ("pass_rate", pass_rate, rates, [(30, 1), (200, 1), (5000, 1), (30, 5), (200, 5), (200, 10)]),
        ("pass_rate by cluster", clustered, (0.1, 0.5, 0.9), [(200, 5), (1000, 10)]),
        ("mean_score", skewed, (0.1, 0.5, 0.9), [(50, 1), (200, 1), (1000, 1)]),
        ("pass_at_2", pass_at, (0.1, 0.5, 0.9), [(30, 5), (200, 5), (200, 10)]),
        ("measure mean", mean_cost, (0.5, 1.0), [(100, 1), (500, 1)]),
        ("corrected difference", two_systems, (0.0, 0.1), [(100, 1000), (300, 5000)]),
    ]
    for name, draw, values, sizes in plain:
        for value in values:
            for n, more in sizes:
                known = {"value": value, "n": n, "more": more}
                yield name, known, partial(draw, **dict(zip(NAMES[draw], (value, n, more), strict=True)))
    for rate in (0.1, 0.3, 0.5, 0.7, 0.9):
        for people in (50, 100, 300):
            for passes, fails in ((0.7, 0.7), (0.95, 0.95), (0.95, 0.7), (0.7, 0.95)):
                known = {"value": rate, "n": people, "more": 1000, "passes": passes, "fails": fails}
                yield (
                    "corrected pass rate",
                    known,
                    partial(judge, rate=rate, people=people, items=1000, passes=passes, fails=fails),
                )


NAMES: dict[Any, tuple[str, str, str]] = {
    pass_rate: ("rate", "items", "repeats"),
    clustered: ("rate", "items", "size"),
    skewed: ("mean", "items", "_"),
    pass_at: ("rate", "items", "repeats"),
    mean_cost: ("sigma", "items", "_"),
    two_systems: ("gap", "people", "items"),
}


def measured(name: str, known: dict[str, Any], draw: Draw, place: int, times: int = TIMES) -> dict[str, Any]:
    """Return how often the interval covers the true value, and of a judge its width beside people alone."""
    rng = np.random.default_rng((7, place))
    found = [draw(rng) for _ in range(times)]
    limits = [(one, true) for one, true in found if isinstance(one, Estimate) and one.low is not None]
    covered = sum(float(one.low or 0) <= true <= float(one.high or 0) for one, true in limits)
    row = {"interval": name, **known, "simulations": len(limits), "coverage": round(covered / len(limits), 4)}
    if name == "corrected pass rate":
        low, high = (float(end) for end in wilson(known["value"] * known["n"], known["n"]))
        width = float(np.mean([one.width or 0.0 for one, _ in limits]))
        row["width"] = round(width / (high - low), 3)
    return row


def main() -> None:
    """Write the table."""
    rows = [measured(*one, place, MANY if one[0] in QUICK else TIMES) for place, one in enumerate(settings())]
    RESULT.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
