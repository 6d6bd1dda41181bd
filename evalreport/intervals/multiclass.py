"""The interval of each multiclass metric, by the family that its record names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from evalreport.facts import ClassBins, Counts, ScoreTable, Summary, Tally
from evalreport.intervals.averages import ranking_errors
from evalreport.intervals.binary import class_majority, proportion_limits, table_limits
from evalreport.intervals.calibration import class_draws, gap_limits, mean_gap
from evalreport.intervals.confusions import spreads
from evalreport.intervals.majority import MAJORITY
from evalreport.intervals.proportions import score_limits
from evalreport.intervals.quantiles import t_quantile
from evalreport.intervals.sampling import Limits, Sampling, no_limits
from evalreport.intervals.scales import Spread, spread_limits, transformed
from evalreport.intervals.tables import Tables
from evalreport.intervals.unseen import Stage, stage, staged_limits
from evalreport.metrics import Metric, view

PROPORTIONS = ("precision_micro", "recall_micro", "f1_micro", "recall_weighted")
"""Right answers among all, among those parsed, or (F1) among the mean of the two."""


def several_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], summary: Summary, sampling: Sampling
) -> dict[str, Limits]:
    """Return the limits of multiclass and multilabel metrics that need no counts.

    Parameters
    ----------
    metrics : sequence of Metric
        Records with a value that read scores, the tally, the confidence or the bins; or proportions.
    values : mapping from their names to their values
    summary : Summary
    """
    limits = ranking_limits([m for m in metrics if m.interval == "ranking"], values, summary, sampling)
    for metric in metrics:
        value = values[metric.name]
        if metric.interval == "wilson":
            limits[metric.name] = proportion_limits(value, metric.weight(summary), sampling)
        elif metric.interval == "mean":
            limits[metric.name] = mean_limits(metric, value, summary.tally, sampling)
        elif metric.reads == "confidence":
            table: ScoreTable = view(summary, "confidence")
            limits[metric.name] = table_limits(metric, value, Tables(table), sampling)
        elif metric.reads == "bins":
            bins: ClassBins = view(summary, "bins")
            flat = (bins.weight.ravel(), bins.probability.ravel(), bins.positives.ravel())
            draws = class_draws(view(summary, "scores"), sampling)
            found = gap_limits(flat, value, mean_gap, sampling, draws=draws)
            limits[metric.name] = Limits(*found, "test inversion")
    return limits


def multiclass_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], summary: Summary, sampling: Sampling
) -> dict[str, Limits]:
    """Return the limits of multiclass metrics that estimate something.

    Parameters
    ----------
    metrics : sequence of Metric
        Multiclass records with a value.
    values : mapping from their names to their values
    summary : Summary
    """
    counted = [metric for metric in metrics if metric.interval == "counts"]
    rest = [metric for metric in metrics if metric.interval != "counts"]
    limits = several_limits(rest, values, summary, sampling)
    if isinstance(summary.counts, Counts):
        limits |= _count_limits(counted, values, summary.counts, sampling)
    return limits


def _count_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], counts: Counts, sampling: Sampling
) -> dict[str, Limits]:
    closed = (*MAJORITY, *PROPORTIONS)
    drawn = spreads([m for m in metrics if m.name not in closed], counts, sampling)
    m, limits = counts.marginals, {}
    for metric in metrics:
        if metric.name in PROPORTIONS:
            value = values[metric.name]
            trials = float(m.right) / value if value else counts.total
            limits[metric.name] = proportion_limits(value, trials, sampling)
        elif metric.name in MAJORITY:
            limits[metric.name] = class_majority(metric.name, m.tp, m.support, m.predicted, sampling)
        else:
            found = stage(metric, m, values[metric.name])
            limits[metric.name] = staged_limits(
                found, drawn[metric.name], _drawn_limits(metric, counts, sampling)
            )
    return limits


def _drawn_limits(metric: Metric, counts: Counts, sampling: Sampling) -> Callable[[float, Spread], Limits]:
    def limits(value: float, spread: Spread) -> Limits:
        rows, method = counts.total, "smoothed bootstrap"
        return spread_limits(metric, value, spread, sampling.z, rows, method, counts.size)

    return limits


def ranking_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], summary: Summary, sampling: Sampling
) -> dict[str, Limits]:
    """Return the limits of averages of one-vs-rest rankings."""
    if not metrics:
        return {}
    found = ranking_errors([metric.name for metric in metrics], view(summary, "scores"), sampling)
    limits = {}
    for metric in metrics:
        error, df = found[metric.name]
        if not math.isfinite(error):
            limits[metric.name] = no_limits("no label has two rows of either kind")
            continue
        label = Stage(values[metric.name])
        if metric.name == "average_precision_macro":
            areas = view(summary, "scores").rankings.average_precision
            label = Stage.of(areas, np.ones(len(areas)))
        spread = Spread(error / (1 - label.missing))
        limits[metric.name] = staged_limits(label, spread, _area_limits(metric, df, sampling))
    return limits


def _area_limits(metric: Metric, df: float, sampling: Sampling) -> Callable[[float, Spread], Limits]:
    quantile = t_quantile(sampling.upper, max(df, 1.0))

    def limits(value: float, spread: Spread) -> Limits:
        ends = transformed(metric, value, spread.error, quantile, df + 1)
        return Limits(*ends, "influence", spread.error)

    return limits


def mean_limits(metric: Metric, value: float, tally: Tally, sampling: Sampling) -> Limits:
    """Return Student's limits of a mean over rows, on the score scale of a bounded range, else on the log.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> import numpy as np
    >>> tally = Tally.of({"one_error": np.array([0.0, 1, 0, 0, 0.5, 0])}, np.ones(6))
    >>> limits = mean_limits(find("one_error", "multilabel"), 0.25, tally, Sampling())
    >>> round(limits.low, 2), round(limits.high, 2)
    (0.04, 0.71)
    """
    n = tally.weight
    error = math.sqrt(tally.variance(metric.name) / (n - 1))
    quantile = t_quantile(sampling.upper, n - 1)
    if math.isfinite(metric.high):
        low, high = score_limits(value, error, n, quantile, (metric.low, metric.high))
        return Limits(float(low), float(high), "t", error)
    if error == 0:
        return no_limits("all rows have the same value")
    ends = transformed(metric, value, error, quantile, n)
    return Limits(*ends, "t", error)
