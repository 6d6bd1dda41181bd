"""The interval of each multiclass metric, by the family that its record names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from evalreport.facts import Counts, ScoreTable, Summary, Tally
from evalreport.intervals.averages import ranking_errors
from evalreport.intervals.binary import class_majority, proportion_limits, table_limits
from evalreport.intervals.classwise import class_gap_limits
from evalreport.intervals.confusions import spreads
from evalreport.intervals.evenness import evenness_limits
from evalreport.intervals.proportions import score_limits
from evalreport.intervals.pull import AreaLimits, area_spread
from evalreport.intervals.quantiles import t_quantile
from evalreport.intervals.sampling import Limits, Sampling, no_limits
from evalreport.intervals.scales import Spread, spread_limits, transformed
from evalreport.intervals.tables import Tables
from evalreport.intervals.unseen import area_error, stage, staged_limits
from evalreport.metrics import Metric, view
from evalreport.metrics.averages import AreaAverage
from evalreport.metrics.strategies import (
    CalibrationGaps,
    ClassGaps,
    CountDraws,
    Evenness,
    LabelAreas,
    MostFrequent,
    Proportion,
    RightAnswers,
    RowMean,
)


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
    areas = [metric for metric in metrics if isinstance(metric.strategy, LabelAreas)]
    limits = ranking_limits(areas, values, summary, sampling)
    for metric in metrics:
        value = values[metric.name]
        match metric.strategy:
            case Proportion():
                limits[metric.name] = proportion_limits(value, metric.weight(summary), sampling)
            case RowMean():
                limits[metric.name] = mean_limits(metric, value, summary.tally, sampling)
            case CalibrationGaps():
                table: ScoreTable = view(summary, metric.reads)
                limits[metric.name] = table_limits(metric, value, Tables(table), sampling)
            case ClassGaps() as gaps:
                ends = class_gap_limits(gaps, value, summary, sampling)
                limits[metric.name] = Limits(*ends, "test inversion")
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
    counted = [
        m for m in metrics if isinstance(m.strategy, CountDraws | Evenness | RightAnswers | MostFrequent)
    ]
    rest = [metric for metric in metrics if metric not in counted]
    limits = several_limits(rest, values, summary, sampling)
    if isinstance(summary.counts, Counts):
        limits |= _count_limits(counted, values, summary.counts, sampling)
    return limits


def _count_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], counts: Counts, sampling: Sampling
) -> dict[str, Limits]:
    drawn = spreads([m for m in metrics if isinstance(m.strategy, CountDraws)], counts, sampling)
    m, limits = counts.marginals, {}
    for metric in metrics:
        value = values[metric.name]
        match metric.strategy:
            case RightAnswers():
                trials = float(m.right) / value if value else counts.total
                limits[metric.name] = proportion_limits(value, trials, sampling)
            case Evenness(of):
                labels = m.support if of == "truth" else m.predicted
                limits[metric.name] = evenness_limits(value, labels, sampling)
            case MostFrequent() as frequent:
                limits[metric.name] = class_majority(frequent, m.tp, m.support, m.predicted, sampling)
            case _:
                limits[metric.name] = staged_limits(
                    stage(metric, m, value), drawn[metric.name], _drawn_limits(metric, counts, sampling)
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
    averages: list[AreaAverage] = [metric.function for metric in metrics]  # type: ignore[misc]
    found = ranking_errors(averages, view(summary, "scores"), sampling)
    ranked, limits = view(summary, "scores").rankings, {}
    each: dict[str, AreaLimits] = {}
    for metric, average, (error, df) in zip(metrics, averages, found, strict=True):
        if not math.isfinite(error):
            limits[metric.name] = no_limits("no label has two rows of either kind")
            continue
        whole, value = area_error(metric, summary, error), values[metric.name]
        if average.over == "micro":
            ends = transformed(metric, value, whole, t_quantile(sampling.upper, max(df, 1.0)), df + 1)
            limits[metric.name] = Limits(*ends, "influence", whole)
            continue
        if average.area not in each:
            each[average.area] = AreaLimits.of(average.area, ranked, sampling.level)
        spread, more = area_spread(average, ranked, each[average.area], whole, sampling.level)
        quantile = t_quantile(sampling.upper, max(df, 1.0) + more)
        own = spread_limits(metric, value, spread, quantile, df + 1, "influence")
        # Of the bias of average precision about half is told: the lower end holds as much again.
        limits[metric.name] = replace(own, low=max(own.low - max(spread.bias, 0.0), metric.low))
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
