"""How often the intervals of graded items cover the true value.

`python -m tests.features.graded.simulate` writes `coverage.json` beside this file (about twenty-five minutes
of CPU). An item passes with its own probability, drawn from a beta distribution around the pass rate.
`coverage` is the proportion of data sets whose interval contains the true value; a data set without an
interval counts as one that misses.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evalreport.core.result import Estimate, Result
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.features.graded.grades import read_grades
from evalreport.features.graded.judge import corrected_difference, corrected_rate
from evalreport.features.graded.metrics import PASS
from evalreport.features.graded.read import attempts
from evalreport.features.graded.repeats import Items, all_of, measure
from evalreport.intervals.distributions import wilson
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.paired import ScoreCurve, of_bounded

RESULT = Path(__file__).parent / "coverage.json"
SAMPLING: Final = Sampling(resamples=500)
TIMES: Final = 1000
MANY: Final = 5000
CLOSE: Final = 0.94
"""Settings whose first data sets are covered less often are simulated again, with `MANY` data sets."""
PAIRED: Final = "paired difference"
TIMES_OF_PAIRED: Final = (500, 2000)
"""As `TIMES` and `MANY`, for the difference of two runs with several attempts."""
SPREAD: Final = 1.5
"""Sum of the parameters of the beta distribution of items."""
RATINGS: Final = {
    "mostly 5": (0.02, 0.02, 0.02, 0.04, 0.9),
    "mostly 1": (0.9, 0.04, 0.02, 0.02, 0.02),
    "1 or 5": (0.48, 0.01, 0.02, 0.01, 0.48),
}
"""Probability of each rating from 1 to 5."""

Draw = Callable[[np.random.Generator], tuple[Result, float]]
"""Draws one data set: the estimate, and the true value."""
QUANTILES: Final = {"median": 0.5, "p95": 0.95}
VALUES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "pass_at_2": lambda n, c: 1 - all_of(n, n - c, 2),
    "pass_hat_2": lambda n, c: all_of(n, c, 2),
    "agreement": lambda n, c: 1 - 2 * c * (n - c) / (n * (n - 1)),
}
"""Value of an item by its attempts and passes."""


@cache
def plain_rate(passed: int, items: int) -> Result:
    """Return the pass rate of one attempt per item: it depends only on the number of passes."""
    made = attempts(read_grades(np.arange(items) < passed, "grade", "pass"), None).rows
    return evaluate_predictions(made, SAMPLING, only=(PASS,)).metrics[PASS]


def several(rng: np.random.Generator, rate: float, items: int, repeats: int) -> Items:
    chances = rng.beta(SPREAD * rate, SPREAD * (1 - rate), items)
    passed = rng.random((items, repeats)) < chances[:, None]
    return Items(np.repeat(np.arange(items), repeats), np.where(passed.ravel(), 0, 1), np.ones(items))


def pass_rate(rng: np.random.Generator, value: float, n: int, more: int) -> tuple[Result, float]:
    if more == 1:
        return plain_rate(int(rng.binomial(n, value)), n), value
    return several(rng, value, n, more).pass_rate(SAMPLING), value


def slice_rate(rng: np.random.Generator, value: float, n: int, more: int) -> tuple[Result, float]:
    """The items of one of two slices, as the evaluation estimates it."""
    items = several(rng, value, 2 * n, more)
    return items.take(rng.random(2 * n)[items.codes] < 0.5).pass_rate(SAMPLING), value


def of_repeats(
    rng: np.random.Generator, value: float, n: int, more: int, *, name: str
) -> tuple[Result, float]:
    """The true values are moments of the beta distribution."""
    a, b = SPREAD * value, SPREAD * (1 - value)
    whole = SPREAD * (SPREAD + 1)
    true = {
        "pass_at_2": 1 - b * (b + 1) / whole,
        "pass_hat_2": a * (a + 1) / whole,
        "agreement": 1 - 2 * a * b / whole,
    }
    items = several(rng, value, n, more)
    return items.mean(VALUES[name](items.attempts, items.passes), SAMPLING), true[name]


def clustered(
    rng: np.random.Generator, value: float, n: int, more: int, *, repeats: int
) -> tuple[Result, float]:
    groups = np.arange(n) // more
    chances = rng.beta(SPREAD * value, SPREAD * (1 - value), groups[-1] + 1)[groups]
    passed = rng.random((n, repeats)) < chances[:, None]
    items = Items(np.repeat(np.arange(n), repeats), np.where(passed.ravel(), 0, 1), np.ones(n), groups)
    return items.pass_rate(SAMPLING), value


def one_attempt(values: Any, bounds: tuple[float, float]) -> Result:
    n = len(values)
    return Items(np.arange(n), np.zeros(n, int), np.ones(n)).mean_score(values, bounds, SAMPLING)


def score(rng: np.random.Generator, value: float, n: int, more: float) -> tuple[Result, float]:
    """Beta distributions: with a small sum two humps, one at each end; with a larger one a skewed hump."""
    return one_attempt(rng.beta(more * value, more * (1 - value), n), (0.0, 1.0)), value


def rating(rng: np.random.Generator, value: str, n: int, more: int) -> tuple[Result, float]:
    grades = read_grades(rng.choice(5, n, p=RATINGS[value]) + 1.0, "grade", "rating")
    return one_attempt(grades.scores, grades.bounds), float(np.dot(RATINGS[value], range(1, 6)))


def quantile_of_cost(
    rng: np.random.Generator, value: float, n: int, more: float, *, name: str
) -> tuple[Result, float]:
    """Log-normal amounts; `more` is the proportion that is not 0, or the number of attempts at an item.

    Half of the variance of logarithms is between items that have attempts.
    """
    repeats = max(int(more), 1)
    logs = np.sqrt([0.5, 0.5] if repeats > 1 else [1, 0]) @ np.stack(
        [np.repeat(rng.normal(size=n), repeats), rng.normal(size=n * repeats)]
    )
    costs = np.exp(value * logs) * (rng.random(n * repeats) < more)
    items = Items(np.repeat(np.arange(n), repeats), np.zeros(n * repeats, int), np.ones(n))
    q = 1 - (1 - QUANTILES[name]) / min(more, 1)
    true = 0.0 if q <= 0 else math.exp(value * NormalDist().inv_cdf(q))
    return measure(costs, items, SAMPLING)[name], true


def judge(
    rng: np.random.Generator, value: float, n: int, more: int, *, passes: float, fails: float
) -> tuple[Result, float]:
    human = rng.random(more) < value
    given = rng.random(more) < np.where(human, passes, 1 - fails)
    codes = np.where(np.arange(more) < n, np.where(human, 0, 1), -1)
    return corrected_rate(given, codes, SAMPLING)[0], value


def two_systems(
    rng: np.random.Generator, value: float, n: int, more: int, *, base: float
) -> tuple[Result, float]:
    truth = [rng.random(more) < base + value, rng.random(more) < base]
    given = [np.where(rng.random(more) < 0.85, one, ~one) for one in truth]
    some = np.arange(more) < n
    pairs = [
        (np.where(model, 0, 1), np.where(some, np.where(one, 0, 1), -1))
        for model, one in zip(given, truth, strict=True)
    ]
    return corrected_difference(pairs[0], pairs[1], SAMPLING), value


def paired(
    rng: np.random.Generator, value: float, n: int, more: int, *, difference: float
) -> tuple[Result, float]:
    """Two runs; half of the items are as hard for one as for the other, the others are independent.

    The run passes what the baseline fails (or fails what it passes) with the probability that makes the true
    difference.
    """
    chances = rng.beta(SPREAD * value, SPREAD * (1 - value), (2, n))
    base: npt.NDArray[np.float64] = chances[0]
    run: npt.NDArray[np.float64] = np.where(rng.random(n) < 0.5, chances[0], chances[1])
    run = run + (1 - run) * difference / (1 - value) if difference > 0 else run * (1 + difference / value)
    passed, others = (rng.random((n, more)) < one[:, None] for one in (run, base))
    gaps = (passed.astype(np.float64) - others).ravel()
    curve = ScoreCurve.from_units(gaps, np.ones(n * more), np.repeat(np.arange(n), more))
    assert curve is not None
    low, high = curve.limits(SAMPLING.level)
    assert low <= curve.gap <= high
    assert high - low > 0
    assert (low > 0 or high < 0) == (curve.p < 1 - SAMPLING.level)
    return Estimate(curve.gap, n, low, high), difference


def paired_scores(rng: np.random.Generator, value: float, n: int, more: float) -> tuple[Result, float]:
    """Scores of two runs, equal for a proportion of the items; else one is higher by `more` on average."""
    gaps = np.where(rng.random(n) < value, 0.0, rng.beta(4 * more, 4 * (1 - more), n) if more < 1 else 1.0)
    gap = float(gaps.mean())
    curve = of_bounded((gaps - gap) / n, gap, 1.0).curve(gap)
    low, high = curve.limits(SAMPLING.level)
    assert high - low > 0
    return Estimate(gap, n, low, high), (1 - value) * more


RATES: Final = (0.02, 0.1, 0.5, 0.9, 0.98)
MEDIAN: Final = partial(quantile_of_cost, name="median")
Grid = tuple[tuple[str, Any, tuple[Any, ...], tuple[tuple[int, Any], ...]], ...]
GRID: Final[Grid] = (
    ("pass_rate", pass_rate, RATES, tuple((n, m) for n in (30, 200, 1000, 5000) for m in (1, 2, 5, 10))),
    ("pass_rate by cluster", partial(clustered, repeats=1), RATES, ((200, 5), (1000, 10), (5000, 10))),
    ("pass_rate by cluster, 3 repeats", partial(clustered, repeats=3), RATES, ((200, 5), (1000, 10))),
    *(
        (name, partial(of_repeats, name=name), RATES, ((30, 2), (30, 5), (30, 10), (200, 5), (1000, 10)))
        for name in ("pass_at_2", "pass_hat_2", "agreement")
    ),
    ("mean_score", score, RATES, tuple((n, m) for n in (30, 50, 200, 1000, 5000) for m in (0.4, 2.0))),
    ("mean_score of ratings", rating, tuple(RATINGS), ((30, 1), (200, 1), (1000, 1))),
    ("measure median", MEDIAN, (0.5, 2.0), ((10, 1.0), (30, 1.0), (100, 1.0), (500, 1.0))),
    ("measure median", MEDIAN, (0.5, 2.0), ((100, 0.7), (30, 3.0), (100, 5.0))),
)
MORE: Final[Grid] = (
    (
        "measure p95",
        partial(quantile_of_cost, name="p95"),
        (0.5, 2.0),
        ((75, 1.0), (500, 1.0), (500, 0.3), (100, 3.0)),
    ),
    ("pass_rate of a slice with repeats", slice_rate, RATES, ((20, 3), (50, 5), (200, 2))),
)
SCORES: Final[Grid] = (
    (
        "difference of mean scores",
        paired_scores,
        (0.0, 0.5, 0.8, 0.95, 0.98),
        tuple((n, more) for n in (10, 20, 50, 200, 1000) for more in (0.05, 0.3, 1.0)),
    ),
)
JUDGES: Final = ((0.7, 0.7), (0.95, 0.95), (0.95, 0.7), (0.7, 0.95))
"""Sensitivity and specificity: weak, good, lenient, harsh."""


def _of_grid(grid: Grid) -> Iterator[tuple[str, dict[str, Any], Draw]]:
    for name, draw, values, sizes in grid:
        for value in values:
            for n, more in sizes:
                known = {"value": value, "n": n, "more": more}
                yield name, known, partial(draw, **known)


def settings() -> Iterator[tuple[str, dict[str, Any], Draw]]:
    """Yield the name of each interval, its setting and the function that draws a data set."""
    yield from _of_grid(GRID)
    for value in (0.1, 0.3, 0.5, 0.7, 0.9):
        for n in (50, 100, 300):
            for more in (1000, 5000):
                for passes, fails in JUDGES:
                    known: dict[str, Any] = {
                        "value": value,
                        "n": n,
                        "more": more,
                        "passes": passes,
                        "fails": fails,
                    }
                    yield "corrected pass rate", known, partial(judge, **known)
    for base in (0.6, 0.85):
        for value in (0.0, 0.1):
            for n, more in ((50, 1000), (100, 1000), (300, 5000)):
                known = {"value": value, "n": n, "more": more, "base": base}
                yield "corrected difference", known, partial(two_systems, **known)
    yield from _of_grid(MORE)
    for rate in RATES:
        sign = -1 if rate > 0.5 else 1
        for n in (10, 20, 50, 200, 1000):
            for more in (2, 3, 10):
                for gap in (0.0, sign * 0.02, sign * 0.1):
                    known = {"value": rate, "n": n, "more": more, "difference": gap}
                    yield PAIRED, known, partial(paired, **known)
    yield from _of_grid(SCORES)


def measured(name: str, known: dict[str, Any], draw: Draw, place: int, times: int) -> dict[str, Any]:
    """Return how often the interval covers the true value, and of a judge its width beside people alone."""
    rng = np.random.default_rng((7, place))
    found = [draw(rng) for _ in range(times)]
    limits = [(one, true) for one, true in found if isinstance(one, Estimate) and one.low is not None]
    covered = sum(float(one.low or 0) <= true <= float(one.high or 0) for one, true in limits)
    row = {
        "interval": name,
        **known,
        "simulations": times,
        "coverage": round(covered / times, 4),
    }
    if name == "corrected pass rate":
        low, high = (float(end) for end in wilson(known["value"] * known["n"], known["n"]))
        width = float(np.mean([one.width or 0.0 for one, _ in limits]))
        row["width"] = round(width / (high - low), 3)
    return row


def row_of(name: str, known: dict[str, Any], draw: Draw, place: int) -> dict[str, Any]:
    """Return the row of a setting; one that is close to the limit is simulated more often."""
    few, many = TIMES_OF_PAIRED if name == PAIRED else (TIMES, MANY)
    row = measured(name, known, draw, place, few)
    return row if row["coverage"] >= CLOSE else measured(name, known, draw, place, many)


def main() -> None:
    """Write the table."""
    rows = [row_of(*one, place) for place, one in enumerate(settings())]
    RESULT.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
