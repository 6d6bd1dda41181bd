"""Intervals label by label: each label against the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from evalreport.facts import BinaryCounts, ClassScores, ScoreTable, Summary
from evalreport.intervals.proportions import wilson
from evalreport.intervals.sampling import FEWEST, Limits, Sampling, by_rows, estimate, no_limits
from evalreport.intervals.single import delong_limits, rescaled
from evalreport.metrics import Metric
from evalreport.metrics.record import lacks, one_vs_rest
from evalreport.predictions import Predictions
from evalreport.values import Estimate, Result, Undefined


def class_estimates(
    metrics: Sequence[Metric], summary: Summary, predictions: Predictions | None, sampling: Sampling
) -> tuple[dict[str, Result], ...]:
    """Return binary metrics of each label against the rest, with their intervals.

    Parameters
    ----------
    metrics : sequence of Metric
        Binary records that read counts or scores.
    summary : Summary
        Of a multiclass or multilabel problem.
    predictions : Predictions or None
        The rows, needed where weights or groups make the interval.
    sampling : Sampling

    Returns
    -------
    tuple of dict from a metric's name to `Estimate` or `Undefined`, one per label in order.
    """
    columns = {
        metric.name: _of_counts(metric, summary, sampling) for metric in metrics if metric.reads == "counts"
    }
    ranked = [metric for metric in metrics if metric.reads == "scores"]
    size = len(summary.space)
    if ranked and isinstance(summary.scores, ClassScores):
        rows = [_of_table(ranked, summary, table, sampling) for table in summary.scores.tables()]
    else:
        rows = [
            {m.name: Undefined(lacks(m, summary) or "needs scores", summary.weight) for m in ranked}
        ] * size
    found = tuple({**{name: column[k] for name, column in columns.items()}, **rows[k]} for k in range(size))
    weighted = by_rows(predictions)
    return tuple({m.name: _bare(row[m.name]) if weighted else row[m.name] for m in metrics} for row in found)


def _bare(result: Result) -> Result:
    if isinstance(result, Undefined):
        return result
    return Estimate(result.value, result.n, reason="no interval for weighted or grouped rows yet")


def _of_counts(metric: Metric, summary: Summary, sampling: Sampling) -> list[Result]:
    size = len(summary.space)
    counts, missing = one_vs_rest(summary), lacks(metric, summary)
    if counts is None or missing is not None:
        return [Undefined(missing or "needs predictions", summary.weight)] * size
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        values = np.broadcast_to(np.asarray(metric.function(counts), dtype=np.float64), (size,))
        over = summary.weight if metric.over is None else metric.over(counts)
    n = np.broadcast_to(np.asarray(over, dtype=np.float64), (size,))
    limits = _count_limits(metric, values, n, summary, sampling)
    return [
        estimate(metric, float(values[k]), float(n[k]), limits[k])
        if math.isfinite(values[k])
        else Undefined(_reason(metric, counts[k]), summary.weight)
        for k in range(size)
    ]


def _count_limits(metric: Metric, values: Any, n: Any, summary: Summary, sampling: Sampling) -> list[Limits]:
    if metric.interval == "none":
        return [no_limits("counts and settings estimate nothing")] * len(values)
    if summary.rows < FEWEST:
        return [no_limits("an interval needs at least 2 rows")] * len(values)
    if metric.interval != "wilson":
        return [no_limits(f"no interval for functions of {metric.interval} yet")] * len(values)
    low, high = wilson(values * n, n, sampling.level)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(values * (1 - values) / n)
    return [Limits(float(a), float(b), "wilson", float(e)) for a, b, e in zip(low, high, error, strict=True)]


def _reason(metric: Metric, fact: BinaryCounts | ScoreTable) -> str:
    return metric.undefined if isinstance(metric.undefined, str) else metric.undefined(fact)


def _of_table(
    metrics: Sequence[Metric], summary: Summary, table: ScoreTable, sampling: Sampling
) -> dict[str, Result]:
    found: dict[str, Result] = {}
    for metric in metrics:
        missing = lacks(metric, summary)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            value = math.nan if missing else float(metric.function(table))
        if not math.isfinite(value):
            found[metric.name] = Undefined(missing or _reason(metric, table), summary.weight)
        elif metric.interval == "delong":
            found[metric.name] = estimate(
                metric, value, summary.weight, rescaled(metric, delong_limits(table, sampling))
            )
        else:
            reason = no_limits(f"no interval for functions of {metric.interval} yet")
            found[metric.name] = estimate(metric, value, summary.weight, reason)
    return found
