"""Sample size planning from a pilot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.comparison.comparison import Comparison, Difference
from evalreport.comparison.differences import possible_difference
from evalreport.core.errors import DataError
from evalreport.core.format import DIGITS, pluralize
from evalreport.core.json_codec import Whole
from evalreport.core.result import Estimate, Undefined
from evalreport.evaluation.evaluation import Evaluation
from evalreport.intervals.distributions import normal_quantile
from evalreport.intervals.paired import POWER
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric

Question: TypeAlias = Literal["half_width", "fixed", "other_rows", "same_rows"]


def rows_needed(rows: int, detectable: float, wanted: float) -> int | None:
    """Return the rows needed for a difference, given the difference detectable with `rows` at the same power.

    The standard error falls with the square root of the number of rows, if they come from the same
    population.

    Parameters
    ----------
    rows : int
        Rows of the pilot.
    detectable : float
        Minimum detectable difference with these rows, > 0.
    wanted : float
        The difference to detect, on the same scale.

    Returns
    -------
    int or None
        None for a difference of 0, which no number of rows can detect.

    Examples
    --------
    >>> rows_needed(400, 0.02, 0.01), rows_needed(400, 0.02, 0.0)
    (1600, None)
    """
    if not wanted or not math.isfinite(detectable):
        return None
    # a whole number of rows must not be rounded up because of the last digit of a float
    return math.ceil(rows * (detectable / wanted) ** 2 - 1e-9)


def about_rows(rows: int, unit: tuple[str, str] = ("row", "rows")) -> str:
    """Return a number of rows as text: rounded up to two digits, the precision of a pilot.

    Examples
    --------
    >>> about_rows(60061), about_rows(120), about_rows(7)
    ('61,000 rows', '120 rows', '7 rows')
    """
    step = 10 ** max(0, len(str(rows)) - DIGITS)
    return pluralize(math.ceil(rows / step) * step, *unit)


@dataclass(frozen=True)
class RowsNeeded:
    """The rows needed for a question about one metric, from a pilot.

    Parameters
    ----------
    metric : str
    question : {"half_width", "fixed", "other_rows", "same_rows"}
        An interval of plus or minus `wanted`; a difference of `wanted` from a fixed value, from another model
        on as many other rows, or from another model on the same rows, detected at 80% power.
    wanted : float
    rows : int
        Rows of the pilot.
    reached : float or None
        Half-width or minimum detectable difference of the pilot; None if the latter exceeds the range of the
        metric.
    needed : int or None
        Rows needed; None if the metric cannot differ by so much.
    run, baseline : str
        The two runs of a comparison.
    needed_most : int or None
        Rows needed if the metric is at the value in the pilot's interval at which it varies most. None for a
        comparison, or if no number is enough.
    """

    metric: str
    question: Question
    wanted: float
    rows: Whole
    reached: float | None
    needed: Whole | None
    run: str = ""
    baseline: str = ""
    needed_most: Whole | None = None


def plan_sample(
    ev: Evaluation, metric: str, *, half_width: float | None = None, detect: float | None = None
) -> tuple[RowsNeeded, ...]:
    """Return the rows needed for a question about a metric, from one pilot.

    Parameters
    ----------
    ev : Evaluation
        The pilot, with an interval of the metric.
    metric : str
    half_width, detect : float, optional
        The wanted half-width or difference, > 0, on the scale of the metric.

    Raises
    ------
    DataError
        The pilot has no value, or no interval, for the metric.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> pilot = evaluate_predictions(predictions(Binary(0, 1), [0, 1] * 50, [0, 1] * 40 + [1, 0] * 10))
    >>> [(one.needed, one.needed_most) for one in plan_sample(pilot, "accuracy", half_width=0.02)]
    [(1511, 1940)]
    """
    result = ev[metric]
    if isinstance(result, Undefined) or result.low is None or result.high is None:
        raise DataError(
            f"the pilot has no interval for {metric}: {result.reason}",
            where="--metric",
            fix="use more rows, or another metric",
        )
    half, value, rows = (result.high - result.low) / 2, result.value, ev.sample_size
    more, found = _width_ratio(find(metric), result), []
    if half_width is not None:
        needed = [rows_needed(rows, half * times, half_width) for times in (1.0, more)]
        found.append(
            RowsNeeded(metric, "half_width", half_width, rows, half, needed[0], needed_most=needed[1])
        )
    if detect is not None:
        alone = half * (1 + normal_quantile(POWER) / normal_quantile((1 + ev.sampling.level) / 2))
        questions: tuple[tuple[Question, float], ...] = (
            ("fixed", alone),
            ("other_rows", alone * math.sqrt(2)),
        )
        for question, reach in questions:
            wanted = possible_difference(metric, value, detect) or 0.0
            needed = [rows_needed(rows, reach * times, wanted) for times in (1.0, more)]
            reached = possible_difference(metric, value, reach)
            found.append(
                RowsNeeded(metric, question, detect, rows, reached, needed[0], needed_most=needed[1])
            )
    return tuple(found)


def _width_ratio(metric: Metric, pilot: Estimate) -> float:
    """Ratio of the interval's width at the value in the pilot's interval where the metric varies most.

    In a range with two ends the width is that of a proportion, largest in the middle; above one end it is
    proportional to the distance from it.
    """
    if pilot.low is None or pilot.high is None:
        return 1.0

    def bounded_spread(value: float) -> float:
        above = math.inf if math.isinf(metric.low) else value - metric.low
        below = math.inf if math.isinf(metric.high) else metric.high - value
        return math.sqrt(above * below) if math.isfinite(above * below) else min(above, below)

    middle = (metric.low + metric.high) / 2
    ends = [pilot.low, pilot.high]
    if pilot.low < middle < pilot.high:
        ends.append(middle)
    here, most = bounded_spread(pilot.value), max(map(bounded_spread, ends))
    if here > 0:
        return max(1.0, most / here) if math.isfinite(most) else 1.0
    # without errors the pilot's variance is almost 0; at the end of its interval it is not
    half = (pilot.high - pilot.low) / 2
    return max(1.0, normal_quantile(0.975) * most / math.sqrt(pilot.n) / half) if math.isfinite(most) else 1.0


def _reach(d: Difference) -> float:
    """The minimum detectable difference, within the range of the metric."""
    if d.adjusted is None:
        return math.inf
    ends = normal_quantile((1 + d.adjusted.level) / 2)
    return (d.adjusted.high - d.adjusted.low) / 2 * (1 + normal_quantile(POWER) / ends)


def rows_for_difference(found: Comparison, wanted: float) -> tuple[RowsNeeded, ...]:
    """Return the rows needed to detect a difference of this size, for each metric of each pair.

    Parameters
    ----------
    found : Comparison
    wanted : float
        The difference, > 0, on the scale of each metric.
    """
    shared = {(run, base): pairing for run, base, pairing in found.pairings}
    runs = dict(zip(found.names, found.evaluations, strict=True))
    needs = []
    for d in found.differences:
        if d.detectable is None:
            continue
        pairing = shared[d.run, d.baseline]
        paired = pairing.kind == "paired"
        run, base = runs[d.run], runs[d.baseline]
        shared_units = pairing.n_shared * base.sample_size // base.rows
        n = shared_units if paired else min(run.sample_size, base.sample_size)
        reach = d.detectable.difference or _reach(d)
        needed = rows_needed(n, reach, possible_difference(d.metric, d.values[1], wanted) or 0.0)
        question: Question = "same_rows" if paired else "other_rows"
        reached = d.detectable.difference
        needs.append(RowsNeeded(d.metric, question, wanted, n, reached, needed, d.run, d.baseline))
    return tuple(needs)


@dataclass(frozen=True)
class Equivalence:
    """An equivalence test: whether a metric of two runs differs by less than `within` (two one-sided
    tests)."""

    metric: str
    run: str
    baseline: str
    within: float
    equal: bool


def equivalences(found: Comparison, within: float) -> tuple[Equivalence, ...]:
    """Return the equivalence test of each difference that has an interval.

    Parameters
    ----------
    found : Comparison
    within : float
        The margin, > 0, on the scale of each metric.

    References
    ----------
    Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15:657.
    """
    return tuple(
        Equivalence(d.metric, d.run, d.baseline, within, d.equal_within < within)
        for d in found.differences
        if d.equal_within is not None
    )
