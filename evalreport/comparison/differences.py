"""Differences between two runs: paired where the rows are the same, else from the runs' own intervals.

Measured by simulation (`make coverage`: `coverage.json` beside this file, tables in
`tests/comparison/COVERAGE.md`): the score interval of a proportion, draws of the joint cells for functions
of binary counts, and Student's interval of the rows' contributions for the rest cover 93 to 97 % from 200
rows on, with weights, clusters, many labels and classes, too. A little less (92.5 %) where classes have two
or three examples; up to 99.9 % where two models hardly ever differ on ten positives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evalreport.comparison.resampling import resampled_spread
from evalreport.comparison.sides import Sides
from evalreport.comparison.values import Difference
from evalreport.facts.counts import Array
from evalreport.intervals.independent import independent_difference
from evalreport.intervals.paired import (
    Interval,
    Spread,
    by_class,
    drawn_interval,
    effective,
    of_mean,
    paired_score,
)
from evalreport.intervals.quantiles import two_sided_p
from evalreport.labels import Binary
from evalreport.metrics.record import Metric
from evalreport.values import Estimate, Result, Undefined

SAME = "the runs have the same value on every row"
FEWEST = 10
"""Shared rows below which no interval of a difference is given."""


def paired_difference(metric: Metric, sides: Sides, names: tuple[str, str]) -> Difference:
    """Return the difference of a metric on shared rows, with its interval.

    A proportion of the same rows takes Tango's score interval, any other function of binary counts draws of
    the joint cells; the rest, and all with weights or clusters, the differences of the rows' contributions
    (for ROC AUC these are DeLong's). A metric without such contributions (a maximum over thresholds, a
    binned error) takes the spread of its difference over resamples of the rows.
    """
    start = _start(metric, [metric.of(side.facts) for side in (sides.run, sides.baseline)], names)
    if start.difference is None:
        return start
    if metric.interval == "none":
        return replace(start, reason="counts and settings estimate nothing")
    if len(sides) < FEWEST:
        return replace(start, reason=f"an interval needs at least {FEWEST} shared rows")
    found = _of_rows_alike(metric, sides, start.difference) if sides.plain else None
    return within(start, *found) if found is not None else _of_contributions(metric, sides, start)


def _start(metric: Metric, values: Sequence[float | Undefined], names: tuple[str, str]) -> Difference:
    known = [None if isinstance(value, Undefined) else value for value in values]
    gaps = [f"{name}: {v.reason}" for name, v in zip(names, values, strict=True) if isinstance(v, Undefined)]
    gap = None if known[0] is None or known[1] is None else known[0] - known[1]
    return Difference(
        metric.name, *names, values=(known[0], known[1]), difference=gap, reason="; ".join(gaps)
    )


def within(start: Difference, found: Interval, method: str) -> Difference:
    """Return a difference with its interval; half of it is the smallest difference that could be shown."""
    half = (found.high - found.low) / 2
    return replace(start, low=found.low, high=found.high, p=found.p, smallest=half, method=method)


def _of_rows_alike(metric: Metric, sides: Sides, gap: float) -> tuple[Interval, str] | None:
    counts = sides.agreement(metric)
    if counts is not None:
        return score_interval(*counts, sides.sampling.level), "paired score"
    if metric.reads == "counts" and isinstance(sides.run.predictions.space, Binary):
        drawn = drawn_interval(metric, gap, sides.draws, sides.sampling.level)
        return None if drawn is None else (drawn, "paired draws of the counts")
    return None


def score_interval(only_run: int, only_baseline: int, n: int, level: float) -> Interval:
    """Return the interval of a difference of two proportions of the same rows, with McNemar's p.

    Examples
    --------
    >>> found = score_interval(12, 2, 50, 0.95)
    >>> round(found.low, 3), round(found.p, 4)
    (0.061, 0.0075)
    """
    low, high = paired_score(only_run, only_baseline, n, level)
    apart = only_run + only_baseline
    p = two_sided_p((only_run - only_baseline) / math.sqrt(apart)) if apart else 1.0
    return Interval(float(low), float(high), p)


def classwise(metric: Metric) -> bool:
    """Return whether few rows of one class weigh as much as many of another.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> classwise(find("f1_macro")), classwise(find("log_loss", "multiclass"))
    (True, False)
    """
    if metric.task == "binary":
        return metric.interval != "mean"
    return "macro" in metric.name or metric.name == "balanced_accuracy"


def _of_contributions(metric: Metric, sides: Sides, start: Difference) -> Difference:
    first, second = sides.run.contributions(metric), sides.baseline.contributions(metric)
    if first is None or second is None:
        return _of_resamples(metric, sides, start)
    parts, how = first - second, "paired contributions"
    if sides.clusters is not None:
        parts, how = np.asarray(np.bincount(sides.clusters, parts), dtype=np.float64), f"{how}, by cluster"
    spread = _spread(metric, sides, parts)
    if spread.standard_error <= 1e-12 * max(1.0, abs(start.difference or 0.0)):
        return _never_differing(start)
    if metric.interval == "delong" and sides.plain:
        how = "delong"
    return within(start, spread.interval(start.difference or 0.0, sides.sampling.level), how)


def _never_differing(start: Difference) -> Difference:
    """No row tells the runs apart: a difference of 0 is known exactly, and no other could be shown."""
    known = replace(start, reason="the rows do not vary" if start.difference else SAME)
    return (
        known if start.difference else replace(known, low=0.0, high=0.0, p=1.0, method="paired contributions")
    )


def _spread(metric: Metric, sides: Sides, parts: Array) -> Spread:
    if not sides.plain:
        return effective(parts)
    if classwise(metric):
        return by_class(parts, sides.strata)
    return of_mean(parts) if metric.interval == "mean" else effective(parts)


def _of_resamples(metric: Metric, sides: Sides, start: Difference) -> Difference:
    if metric.reads == "truth":
        return _never_differing(start)
    spread = resampled_spread(metric, *sides.resampled)
    if spread is None:
        return replace(start, reason="too few resamples have a value")
    if spread.standard_error <= 1e-12:
        return _never_differing(start)
    how = "paired bootstrap" if sides.clusters is None else "paired bootstrap, by cluster"
    return within(start, spread.interval(start.difference or 0.0, sides.sampling.level), how)


def unpaired_difference(
    metric: Metric, values: tuple[Result, Result], names: tuple[str, str], level: float
) -> Difference:
    """Return the difference of two independent estimates from their own intervals (MOVER).

    Parameters
    ----------
    level : float
        Of both intervals.

    References
    ----------
    Zou & Donner 2008; for proportions this is Newcombe's method 10.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> a, b = Estimate(0.8, n=70, low=0.69, high=0.88), Estimate(0.6, n=80, low=0.49, high=0.70)
    >>> found = unpaired_difference(find("recall"), (a, b), ("a", "b"), 0.95)
    >>> round(found.low, 2), round(found.high, 2)
    (0.05, 0.34)
    """
    a, b = values
    bare = [value if isinstance(value, Undefined) else value.value for value in values]
    start = _start(metric, bare, names)
    if not isinstance(a, Estimate) or not isinstance(b, Estimate):
        return start
    if a.width is None or b.width is None:
        return replace(start, reason=a.reason or b.reason or "one of the runs has no interval")
    gap, p = independent_difference(a, b, level)
    if not isinstance(gap, Estimate) or gap.low is None or gap.high is None or p is None:
        return start
    return within(start, Interval(gap.low, gap.high, p), "MOVER, unpaired")
