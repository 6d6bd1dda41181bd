"""Intervals label by label: each label against the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from evalreport.facts import BinaryCounts, ClassScores, ScoreTable, Summary
from evalreport.intervals.auc import auc_limits, delong
from evalreport.intervals.binary import class_majority, rescaled, table_limits
from evalreport.intervals.draws import count_bounds
from evalreport.intervals.majority import MAJORITY
from evalreport.intervals.proportions import wilson
from evalreport.intervals.sampling import FEWEST, Limits, Sampling, by_rows, estimate, no_limits
from evalreport.metrics import Metric, view
from evalreport.metrics.record import lacks, one_vs_rest
from evalreport.predictions import Predictions
from evalreport.values import Estimate, Result, Undefined

MERGED = ("roc_auc", "gini", "average_precision")
"""Metrics that read the same off a table whose negatives are merged between positives."""


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
    found: list[dict[str, Result]] = [{} for _ in summary.space.labels]
    usable = []
    for metric in metrics:
        missing = lacks(metric, summary)
        if missing is None:
            usable.append(metric)
        else:
            for label in found:
                label[metric.name] = Undefined(missing, summary.weight)
    _from_counts([m for m in usable if m.reads in ("counts", "truth")], summary, sampling, found)
    _from_scores([m for m in usable if m.reads == "scores"], summary, sampling, found)
    weighted = by_rows(predictions)
    return tuple({m.name: _bare(row[m.name]) if weighted else row[m.name] for m in metrics} for row in found)


def _bare(result: Result) -> Result:
    if isinstance(result, Undefined):
        return result
    return Estimate(result.value, result.n, reason="no interval for weighted or grouped rows yet")


def _from_counts(
    metrics: Sequence[Metric], summary: Summary, sampling: Sampling, found: list[dict[str, Result]]
) -> None:
    counts = one_vs_rest(summary)
    if not metrics:
        return
    if counts is None:
        counts = _truth(view(summary, "scores"))
    smooth = [m for m in metrics if m.interval == "counts" and m.name not in MAJORITY]
    drawn = count_bounds(smooth, counts, sampling)
    for metric in metrics:
        values = _per_label(metric.function(counts), len(found))
        n = _per_label(summary.weight if metric.over is None else metric.over(counts), len(found))
        low, high, error, method = values, values, values, ""
        if metric.interval == "wilson":
            low, high = wilson(values * n, n, sampling.level)
            with np.errstate(divide="ignore", invalid="ignore"):
                error, method = np.sqrt(values * (1 - values) / n), "wilson"
        elif metric.name in MAJORITY:
            low, high = _majorities(metric.name, counts, sampling)
            error, method = np.full(len(found), np.nan), "score of each class"
        elif metric.interval == "counts":
            (low, high, error), method = drawn[metric.name], "dirichlet"
        for k, label in enumerate(found):
            limits = Limits(float(low[k]), float(high[k]), method, float(error[k]))
            label[metric.name] = _result(
                metric, values[k], n[k], _checked(metric, summary, limits), counts[k]
            )


def _truth(scores: ClassScores) -> BinaryCounts:
    """Counts of the truth alone, as if every answer were right: nothing decides."""
    positives = scores.rankings.positives
    none = np.zeros(len(positives))
    return BinaryCounts(positives, none, none, scores.row_weights.sum() - positives, none)


def _majorities(name: str, counts: BinaryCounts, sampling: Sampling) -> Any:
    right, support = np.stack([counts.tn, counts.tp]), np.stack([counts.negatives, counts.positives])
    pairs = zip(right.T, support.T, strict=True)
    found = [class_majority(name, hit, share, share, sampling) for hit, share in pairs]
    return np.transpose([(limits.low, limits.high) for limits in found])


def _per_label(values: Any, size: int) -> Any:
    return np.broadcast_to(np.asarray(values, dtype=np.float64), (size,))


def _checked(metric: Metric, summary: Summary, limits: Limits) -> Limits:
    if metric.interval == "none":
        return no_limits("counts and settings estimate nothing")
    return limits if summary.rows >= FEWEST else no_limits("an interval needs at least 2 rows")


def _result(metric: Metric, value: Any, n: Any, limits: Limits, fact: BinaryCounts | ScoreTable) -> Result:
    if math.isfinite(value):
        return estimate(metric, float(value), float(n), limits)
    return Undefined(
        metric.undefined if isinstance(metric.undefined, str) else metric.undefined(fact), float(n)
    )


def _from_scores(
    metrics: Sequence[Metric], summary: Summary, sampling: Sampling, found: list[dict[str, Result]]
) -> None:
    if not metrics or not isinstance(summary.scores, ClassScores):
        return
    ranked = [metric for metric in metrics if metric.interval == "delong"]
    whole = any(metric.name not in MERGED for metric in metrics)
    areas = []
    for k, (merged, label) in enumerate(zip(summary.scores.rankings.tables, found, strict=True)):
        areas.append((*delong(merged), merged.positives, merged.negatives) if ranked else (0.0,) * 4)
        full = summary.scores.table(k) if whole else merged
        for metric in metrics:
            table = merged if metric.name in MERGED else full
            value = metric.function(table)
            limits = Limits()
            if metric.interval != "delong" and math.isfinite(value):
                limits = _checked(metric, summary, table_limits(metric, value, table, sampling))
            label[metric.name] = _result(metric, value, summary.weight, limits, table)
    if ranked:
        _all_aucs(ranked, np.array(areas), summary, sampling, found)


def _all_aucs(
    metrics: Sequence[Metric],
    areas: Any,
    summary: Summary,
    sampling: Sampling,
    found: list[dict[str, Result]],
) -> None:
    """Limits of the AUC of all labels at once: they are found by bisection."""
    auc, variance, positives, negatives = areas.T
    low, high = auc_limits(auc, variance, positives, negatives, sampling.level)
    for metric in metrics:
        for k, label in enumerate(found):
            result = label[metric.name]
            if isinstance(result, Undefined):
                continue
            limits = no_limits("an interval of the AUC needs two positives and two negatives")
            if areas[k, 2:].min() >= FEWEST:
                limits = Limits(float(low[k]), float(high[k]), "delong", float(np.sqrt(areas[k, 1])))
            limits = rescaled(metric, _checked(metric, summary, limits))
            label[metric.name] = estimate(metric, result.value, result.n, limits)
