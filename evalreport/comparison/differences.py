"""Differences between two runs: paired where the rows are the same, else from the runs' own intervals.

Measured by simulation (`make coverage`: `coverage.json` beside this file, tables in
`tests/comparison/COVERAGE.md`): the score interval of a proportion, draws of the joint cells for functions
of binary counts, and Student's interval of the rows' contributions for the rest cover 93 to 97% from 200
rows on, with weights, clusters, many labels and classes, too. A little less (92.5%) where classes have two
or three examples; up to 99.9% where two models hardly ever differ on ten positives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalreport.comparison.samples import PairedSamples, resampled_error
from evalreport.comparison.values import Difference
from evalreport.facts.counts import Array
from evalreport.intervals import estimates
from evalreport.intervals.contributions import by_fold
from evalreport.intervals.folds import NO_SLOPE
from evalreport.intervals.independent import independent_difference
from evalreport.intervals.inversion import ConfidenceCurve, ScaledCurve, ScoreCurve, StudentCurve
from evalreport.intervals.paired import SampledError, by_class, drawn_curve, effective, of_mean
from evalreport.labels import Binary
from evalreport.metrics.record import Metric
from evalreport.values import Estimate, Result, Undefined

SAME = "the runs have the same value on every row"
FEWEST = 10
"""Shared rows below which no interval of a difference is given: Student's t of a handful is no promise."""
ROUNDING = 1e-12
"""A standard error up to this is none: that of equal rows is 0 but for the rounding of their sums."""


@dataclass(frozen=True, eq=False)
class InferredDifference:
    """A difference and its intervals of every level, before it is judged beside others."""

    difference: Difference
    curve: ConfidenceCurve | None = None


def paired_difference(metric: Metric, samples: PairedSamples, names: tuple[str, str]) -> InferredDifference:
    """Return the difference of a metric on shared rows, with its interval.

    A proportion of the same rows takes Tango's score interval, any other function of binary counts draws of
    the joint cells; the rest, and all with weights or clusters, the differences of the rows' contributions
    (for ROC AUC these are DeLong's). A metric without such contributions (a maximum over thresholds, a
    binned error) takes the spread of its difference over resamples of the rows.
    """
    start = _start(metric, [side.value(metric) for side in (samples.run, samples.baseline)], names)
    if start.difference is None:
        return InferredDifference(start)
    if metric.interval == "none":
        return without(start, "counts and settings estimate nothing")
    if len(samples) < FEWEST:
        return without(start, f"an interval needs at least {FEWEST} shared rows")
    found = _of_rows_alike(metric, samples, start.difference) if samples.plain else None
    if found is None:
        return _of_contributions(metric, samples, start)
    return within(start, *found, samples.sampling.level)


def _start(metric: Metric, values: Sequence[float | Undefined], names: tuple[str, str]) -> Difference:
    known = [None if isinstance(value, Undefined) else value for value in values]
    gaps = [f"{name}: {v.reason}" for name, v in zip(names, values, strict=True) if isinstance(v, Undefined)]
    alike = {value.reason if isinstance(value, Undefined) else "" for value in values}
    gaps = gaps if len(alike) > 1 else [*alike]
    gap = None if known[0] is None or known[1] is None else known[0] - known[1]
    return Difference(
        metric.name, *names, values=(known[0], known[1]), difference=gap, reason="; ".join(gaps)
    )


def within(start: Difference, curve: ConfidenceCurve, method: str, level: float) -> InferredDifference:
    """Return a difference with its interval of one level, and those of every other."""
    low, high = curve.limits(level)
    return InferredDifference(replace(start, low=low, high=high, p=curve.p, method=method), curve)


def without(start: Difference, reason: str) -> InferredDifference:
    """Return a difference that has no interval, and why."""
    return InferredDifference(replace(start, reason=reason))


def _of_rows_alike(metric: Metric, samples: PairedSamples, gap: float) -> tuple[ConfidenceCurve, str] | None:
    counts = samples.agreement(metric)
    if counts is not None:
        return ScoreCurve(*counts), "paired score"
    if metric.reads == "counts" and isinstance(samples.run.predictions.space, Binary):
        drawn = drawn_curve(metric, gap, samples.draws, samples.sampling.level)
        return None if drawn is None else (drawn, "paired draws of the counts")
    return None


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


def _of_contributions(metric: Metric, samples: PairedSamples, start: Difference) -> InferredDifference:
    first, second = samples.run.contributions(metric), samples.baseline.contributions(metric)
    if first is None or second is None:
        return _of_resamples(metric, samples, start)
    how = "paired contributions" if samples.clusters is None else "paired contributions, by cluster"
    error, gap = spread_of(metric, samples, first - second), start.difference or 0.0
    # What is left of equal contributions is the rounding of a sum of a row's shares.
    if error.standard_error <= ROUNDING * max(1.0, abs(gap)):
        return _never_differing(metric, samples, start)
    if metric.interval == "delong" and samples.plain:
        how = "delong"
    return within(start, error.curve(gap), how, samples.sampling.level)


def _never_differing(metric: Metric, samples: PairedSamples, start: Difference) -> InferredDifference:
    """No row tells the runs apart, or all do alike: a ranking without a mistake and one turned round.

    A difference of 0 is then known exactly; any other has the runs' own limits (MOVER), which are exact where
    the rows do not vary.
    """
    level = samples.sampling.level
    if not start.difference:
        return within(replace(start, reason=SAME), StudentCurve(0.0, 0.0), "paired contributions", level)
    first, second = (
        estimates([metric], side.facts, side.predictions, samples.sampling)[metric.name]
        for side in (samples.run, samples.baseline)
    )
    found = unpaired_difference(metric, (first, second), (start.run, start.baseline), level)
    return without(start, "the rows do not vary") if found.curve is None else found


def spread_of(metric: Metric, samples: PairedSamples, parts: Array) -> SampledError:
    """Return the spread of a sum of what rows contribute to a metric, or to a difference of it.

    Parameters
    ----------
    parts : float64 array of shape (n,)
        Of the rows of `samples`, which say whether these are alike, weighted, or in clusters.
    """
    if samples.clusters is not None:
        return effective(np.asarray(np.bincount(samples.clusters, parts), dtype=np.float64))
    if not samples.plain:
        return effective(parts)
    if classwise(metric):
        return by_class(parts, samples.strata)
    return of_mean(parts) if metric.interval == "mean" else effective(parts)


def _of_resamples(metric: Metric, samples: PairedSamples, start: Difference) -> InferredDifference:
    level = samples.sampling.level
    if by_fold(metric) and (samples.run.folds or samples.baseline.folds):
        return without(start, NO_SLOPE)
    if metric.reads == "truth":
        return _never_differing(metric, samples, start)
    error = resampled_error(metric, *samples.resampled)
    if error is None:
        return without(start, "too few resamples have a value")
    if error.standard_error <= ROUNDING:
        return _never_differing(metric, samples, start)
    how = "paired bootstrap" if samples.clusters is None else "paired bootstrap, by cluster"
    return within(start, error.curve(start.difference or 0.0), how, level)


def unpaired_difference(
    metric: Metric, values: tuple[Result, Result], names: tuple[str, str], level: float
) -> InferredDifference:
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
    >>> found = unpaired_difference(find("recall"), (a, b), ("a", "b"), 0.95).difference
    >>> round(found.low, 2), round(found.high, 2)
    (0.05, 0.34)
    """
    a, b = values
    bare = [value if isinstance(value, Undefined) else value.value for value in values]
    start = _start(metric, bare, names)
    if not isinstance(a, Estimate) or not isinstance(b, Estimate):
        return InferredDifference(start)
    if a.width is None or b.width is None:
        return without(start, a.reason or b.reason or "one of the runs has no interval")
    gap, _ = independent_difference(a, b, level)
    if not isinstance(gap, Estimate) or gap.low is None or gap.high is None:
        return InferredDifference(start)
    return within(start, ScaledCurve(gap.value, gap.low, gap.high, level), "MOVER, unpaired", level)
