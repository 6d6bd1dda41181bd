"""The interval of each metric of one evaluation, by the family that its record names."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evalreport.facts import ScoreTable, Summary
from evalreport.intervals.auc import auc_limits, delong
from evalreport.intervals.proportions import wilson
from evalreport.intervals.sampling import FEWEST, Limits, Sampling, by_rows, estimate, no_limits
from evalreport.metrics import Metric
from evalreport.predictions import Predictions
from evalreport.values import Result, Undefined


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
    results: dict[str, Result] = {}
    for metric in metrics:
        value = metric.of(summary)
        if isinstance(value, Undefined):
            results[metric.name] = value
            continue
        n = metric.weight(summary)
        limits = (
            no_limits("no interval for weighted or grouped rows yet")
            if by_rows(predictions)
            else _limits(metric, value, n, summary, sampling)
        )
        results[metric.name] = estimate(metric, value, n, limits)
    return results


def _limits(metric: Metric, value: float, n: float, summary: Summary, sampling: Sampling) -> Limits:
    if metric.interval == "none":
        return no_limits("counts and settings estimate nothing")
    if summary.rows < FEWEST:
        return no_limits("an interval needs at least 2 rows")
    match metric.interval:
        case "wilson":
            low, high = wilson(value * n, n, sampling.level)
            return Limits(float(low), float(high), "wilson", math.sqrt(value * (1 - value) / n))
        case "delong" if isinstance(summary.scores, ScoreTable):
            return rescaled(metric, delong_limits(summary.scores, sampling))
        case _:
            return no_limits(f"no interval for functions of {metric.interval} yet")


def delong_limits(table: ScoreTable, sampling: Sampling) -> Limits:
    """Return the limits of ROC AUC: Newcombe's method 5, with DeLong's standard error.

    Examples
    --------
    >>> import numpy as np
    >>> table = ScoreTable.of(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]))
    >>> round(delong_limits(table, Sampling()).low, 3)
    0.386
    """
    auc, variance = delong(table)
    low, high = auc_limits(auc, table.positives, table.negatives, sampling.level)
    return Limits(low, high, "delong", math.sqrt(variance) if variance == variance else None)  # noqa: PLR0124


def rescaled(metric: Metric, limits: Limits) -> Limits:
    """Return limits of the AUC on the range of a metric that is linear in it (gini: -1 to 1)."""
    wide = metric.high - metric.low
    error = None if limits.standard_error is None else wide * limits.standard_error
    low, high = (metric.low + wide * limit for limit in (limits.low, limits.high))
    return Limits(low, high, limits.method, error)
