"""One metric of several runs of a system, and of two such systems: value, interval, where it comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from evalreport.comparison.crossed import MeasuredRuns, VarianceComponents, crossed
from evalreport.comparison.differences import FEWEST, ROUNDING, SAME, InferredDifference, spread_of, within
from evalreport.comparison.samples import PairedSamples
from evalreport.comparison.system_values import (
    HalfWidths,
    SeedPairs,
    SystemDifference,
    SystemValue,
    VarianceShares,
)
from evalreport.intervals.contributions import Counted
from evalreport.intervals.inversion import StudentCurve
from evalreport.intervals.quantiles import t_quantile
from evalreport.intervals.sampling import NOT_ASKED, Limits, estimate
from evalreport.intervals.scales import Spread, spread_limits, transformed
from evalreport.metrics.record import Better, Metric
from evalreport.values import Undefined

ALONE = "one run: the interval covers new rows alone, its seeds are unknown"
UNKNOWN_SHARES = (
    "an interval over rows and seeds takes each row's share of the value, which is not known here"
)
METHOD = "crossed random effects"
DIRECTED = ("higher", "lower")


@dataclass(frozen=True, eq=False)
class SeededMetric:
    """One metric of a system: the value of each run, and what rows contribute to it where that is known.

    `mean` and `measured` are None, with a `reason`, where a run has no value.
    """

    values: tuple[float | None, ...]
    mean: float | None = None
    measured: MeasuredRuns | None = None
    reason: str = ""

    @classmethod
    def of(cls, metric: Metric, runs: Sequence[Counted]) -> SeededMetric:
        """Return a metric of runs on the same rows."""
        found = [run.value(metric) for run in runs]
        values = tuple(None if isinstance(value, Undefined) else value for value in found)
        gaps = [value.reason for value in found if isinstance(value, Undefined)]
        known = [value for value in values if value is not None]
        if gaps:
            few = f" in {len(gaps)} of {len(values)} runs" if known else ""
            return cls(values, reason=f"undefined{few}: {gaps[0]}")
        parts = [run.contributions(metric) for run in runs]
        told = [part for part in parts if part is not None]
        whole = MeasuredRuns(np.array(known), np.array(told)) if len(told) == len(parts) else None
        return cls(values, float(np.mean(known)), whole)


def why_not(metric: Metric, samples: PairedSamples, *found: SeededMetric) -> str:
    """Return why there is no interval; nothing where there is one."""
    if not samples.sampling.intervals:
        return NOT_ASKED
    if metric.interval == "none":
        return "counts and settings estimate nothing"
    if len(samples) < FEWEST:
        return f"an interval needs at least {FEWEST} shared rows"
    return "" if all(one.measured for one in found) else UNKNOWN_SHARES


def system_value(metric: Metric, found: SeededMetric, samples: PairedSamples) -> SystemValue:
    """Return a metric of a system with its interval over new rows and new seeds.

    Parameters
    ----------
    metric : Metric
    found : SeededMetric
    samples : PairedSamples
        Of the shared rows: how they were sampled.
    """
    if found.mean is None:
        return SystemValue(found.values, reason=found.reason)
    flatters = _flatters(metric.better, found.values, found.mean)
    reason = why_not(metric, samples, found)
    if reason or found.measured is None:
        return SystemValue(found.values, found.mean, best_run_flatters=flatters, reason=reason)
    parts = crossed([found.measured], partial(spread_of, metric, samples))
    level, alone = samples.sampling.level, len(found.values) < 2
    result = estimate(metric, found.mean, len(samples), _limits(metric, found.mean, parts, samples))
    return SystemValue(
        found.values,
        found.mean,
        result.low,
        result.high,
        flatters,
        None if alone else _shares(parts),
        None if alone else _half_widths(parts, len(found.values), level),
        math.sqrt(parts.variance),
        parts.df,
        result.reason or (ALONE if alone else ""),
    )


def _flatters(better: Better, values: Sequence[float | None], mean: float) -> float | None:
    """By how much the best of several runs looks better than their mean."""
    known = [value for value in values if value is not None]
    if better not in DIRECTED or len(known) < 2:
        return None
    return max(known) - mean if better == "higher" else mean - min(known)


def _limits(metric: Metric, value: float, parts: VarianceComponents, samples: PairedSamples) -> Limits:
    error, quantile = math.sqrt(parts.variance), t_quantile(samples.sampling.upper, parts.df)
    n = float(len(samples))
    if math.isinf(metric.high):
        low, high = transformed(metric, value, error, quantile, n)
        return Limits(low, high, METHOD, error)
    return spread_limits(metric, value, Spread(error), quantile, n, METHOD)


def _shares(parts: VarianceComponents) -> VarianceShares | None:
    whole = parts.rows + parts.seeds + parts.both
    if whole <= ROUNDING**2:
        return None
    return VarianceShares(parts.rows / whole, parts.seeds / whole, parts.both / whole)


def _half_widths(parts: VarianceComponents, runs: int, level: float) -> HalfWidths | None:
    if not parts.rows + parts.seeds + parts.both:
        return None
    more = parts.half_width(level, runs=MANY_RUNS / runs)
    return HalfWidths(parts.half_width(level), more, parts.half_width(level, rows=4))


MANY_RUNS = 20
"""Runs of a system with which it is told how wide its interval would be."""


def system_difference(
    metric: Metric,
    first: SeededMetric,
    second: SeededMetric,
    samples: PairedSamples,
    names: tuple[str, str],
) -> InferredDifference:
    """Return a metric of a system less the same of another, over paired rows and independent seeds.

    Parameters
    ----------
    metric : Metric
    first, second : SeededMetric
    samples : PairedSamples
        Of the shared rows: how they were sampled.
    names : (str, str)
        Of the systems.
    """
    start = SystemDifference(metric.name, *names, values=(first.mean, second.mean))
    if first.mean is None or second.mean is None:
        gaps = [f"{name}: {one.reason}" for name, one in zip(names, (first, second), strict=True)]
        return InferredDifference(replace(start, reason="; ".join(g for g in gaps if g[-2:] != ": ")))
    gap = first.mean - second.mean
    start = replace(start, difference=gap, pairs=seed_pairs(metric.better, first.values, second.values))
    reason = why_not(metric, samples, first, second)
    if reason or first.measured is None or second.measured is None:
        return InferredDifference(replace(start, reason=reason))
    parts = crossed([first.measured, second.measured], partial(spread_of, metric, samples))
    start = replace(start, reason=_alone(names, first, second))
    if math.sqrt(parts.variance) <= ROUNDING * max(1.0, abs(gap)):
        if gap:
            return InferredDifference(replace(start, reason="the rows do not vary"))
        return within(replace(start, reason=SAME), StudentCurve(0.0, 0.0), METHOD, samples.sampling.level)
    curve = StudentCurve(gap, math.sqrt(parts.variance), parts.df)
    return within(replace(start, variance=_shares(parts)), curve, METHOD, samples.sampling.level)


def _alone(names: tuple[str, str], first: SeededMetric, second: SeededMetric) -> str:
    lone = [name for name, one in zip(names, (first, second), strict=True) if len(one.values) < 2]
    return f"seeds unknown of {' and '.join(lone)}: one run" if lone else ""


def seed_pairs(
    better: Better, first: Sequence[float | None], second: Sequence[float | None]
) -> SeedPairs | None:
    """Return in how many pairs of runs the first is ahead; None where neither direction is better.

    Examples
    --------
    >>> seed_pairs("higher", (0.9, 0.8), (0.8, 0.7, 0.85))
    SeedPairs(ahead=4, ties=1, of=6)
    """
    if better not in DIRECTED:
        return None
    sign = 1 if better == "higher" else -1
    gaps = [sign * (a - b) for a, b in product(first, second) if a is not None and b is not None]
    return SeedPairs(sum(gap > 0 for gap in gaps), sum(gap == 0 for gap in gaps), len(gaps))
