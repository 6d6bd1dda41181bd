"""The interval of each metric of one evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import assert_never

from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.intervals.by_metric import binary_limits
from evalreport.intervals.grouped_rows import resampled_limits
from evalreport.intervals.multiclass import multiclass_limits, multilabel_limits
from evalreport.intervals.own_metrics import own_estimates
from evalreport.intervals.settings import (
    ALL_EQUAL,
    ALWAYS_AMONG,
    FEWEST,
    NOT_ASKED,
    ONE_BIN,
    Limits,
    Sampling,
    by_rows,
    estimate,
    no_limits,
)
from evalreport.metrics.catalogue import certain
from evalreport.metrics.record import Metric, OwnMetric
from evalreport.statistics.binned_tables import BinnedTable
from evalreport.statistics.summary import Summary


def estimates(
    metrics: Sequence[Metric], summary: Summary, predictions: Predictions | None, sampling: Sampling
) -> dict[str, Result]:
    """Return every metric with its interval, or why it is undefined.

    Parameters
    ----------
    metrics : sequence of Metric
        Of the task of `summary`.
    summary : Summary
    predictions : Predictions or None
        The rows, needed where weights or groups make the interval.
    sampling : Sampling

    Returns
    -------
    dict from a metric's name to `Estimate` or `Undefined`, in the order of `metrics`.
    """
    own = [metric for metric in metrics if isinstance(metric.strategy, OwnMetric)]
    if own:
        others = [metric for metric in metrics if metric not in own]
        known = estimates(others, summary, predictions, sampling)
        known |= own_estimates(own, predictions, summary.weight, sampling)
        return {metric.name: known[metric.name] for metric in metrics}
    found = {metric.name: metric.compute_value(summary) for metric in metrics}
    values = {name: value for name, value in found.items() if not isinstance(value, Undefined)}
    limits = _limits([m for m in metrics if m.name in values], values, summary, predictions, sampling)
    results: dict[str, Result] = {}
    for metric in metrics:
        value = found[metric.name]
        if isinstance(value, Undefined):
            results[metric.name] = value
        else:
            made = estimate(metric, value, metric.weight(summary), limits[metric.name])
            results[metric.name] = widen_for_bins(made, metric, summary)
    return results


def widen_for_bins(known: Estimate, metric: Metric, summary: Summary) -> Estimate:
    """Return an estimate that says between what its exact value lies, its limits as much further apart.

    Where scores are exact, it is as it was.
    """
    if metric.reads != "scores" or metric.bounds is None or not isinstance(summary.scores, BinnedTable):
        return known
    least, most = metric.bounds(summary.scores)
    ends = _round_outward(least, ROUND_FLOOR), _round_outward(most, ROUND_CEILING)
    how = f"scores in bins: exact value from {ends[0]} to {ends[1]}"
    if known.low is None or known.high is None:
        return replace(known, method=how, reason=ONE_BIN if known.reason == ALL_EQUAL else known.reason)
    low = max(known.low - max(known.value - least, 0.0), metric.low)
    high = min(known.high + max(most - known.value, 0.0), metric.high)
    return replace(known, low=low, high=high, method=f"{known.method}; {how}")


def _round_outward(bound: float, away: str) -> str:
    """A bound with eight digits, away from what it bounds."""
    return f"{float(Context(8, away).create_decimal(bound)):.8g}"


def _limits(
    metrics: Sequence[Metric],
    values: Mapping[str, float],
    summary: Summary,
    predictions: Predictions | None,
    sampling: Sampling,
) -> dict[str, Limits]:
    if not sampling.intervals:
        return dict.fromkeys(values, no_limits(NOT_ASKED))
    limits = {metric.name: no_limits(metric.no_interval or "") for metric in metrics}
    sure = [metric for metric in metrics if certain(metric, len(summary.space))]
    limits |= {metric.name: no_limits(ALWAYS_AMONG) for metric in sure}
    asked = [metric for metric in metrics if metric.no_interval is None and metric not in sure]
    if summary.rows < FEWEST:
        return limits | {m.name: no_limits("an interval needs at least 2 rows") for m in asked}
    if predictions is not None and by_rows(predictions):
        return limits | resampled_limits(asked, values, summary, predictions, sampling)
    match summary.space:
        case Binary():
            return limits | binary_limits(asked, values, summary, sampling)
        case Multiclass():
            return limits | multiclass_limits(asked, values, summary, sampling)
        case Multilabel():
            return limits | multilabel_limits(asked, values, summary, predictions, sampling)
        case never:
            assert_never(never)
