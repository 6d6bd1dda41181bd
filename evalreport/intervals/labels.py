"""Binary metrics of each label against the rest, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from evalreport.facts import BinaryCounts, LabelScores, ScoreTable, Summary
from evalreport.facts.classes import RankedScores
from evalreport.intervals.onelabel import AnalyticBounds, BootstrapBounds, merged
from evalreport.intervals.resampled import Replicates
from evalreport.intervals.sampling import FEWEST, NOT_ASKED, Limits, Sampling, by_rows, estimate, no_limits
from evalreport.intervals.tables import Tables
from evalreport.intervals.units import Units
from evalreport.metrics import Metric, view
from evalreport.metrics.record import lacks, one_vs_rest
from evalreport.predictions import Predictions
from evalreport.values import Result, Undefined

UNCOUNTED = no_limits("counts and settings estimate nothing")
TOO_FEW = no_limits("an interval needs at least 2 rows")


def class_estimates(
    metrics: Sequence[Metric], summary: Summary, predictions: Predictions | None, sampling: Sampling
) -> tuple[dict[str, Result], ...]:
    """Return binary metrics of each label against the rest, with their intervals.

    Parameters
    ----------
    metrics : sequence of Metric
        Binary records that read counts, the truth or scores.
    summary : Summary
        Of a multiclass or multilabel problem.
    predictions : Predictions or None
        The rows, needed where weights or groups make the interval.
    sampling : Sampling

    Returns
    -------
    tuple of dict from a metric's name to `Estimate` or `Undefined`, one per label in order.

    Examples
    --------
    >>> from evalreport.engines.memory import summarise
    >>> from evalreport.labels import Multiclass
    >>> from evalreport.metrics.catalogue import find
    >>> from evalreport.predictions import predictions
    >>> p = predictions(Multiclass("ab"), list("aabb"), list("abbb"))
    >>> found = class_estimates([find("recall", "binary")], summarise(p), p, Sampling())
    >>> [label["recall"].value for label in found]
    [0.5, 1.0]
    """
    found: list[dict[str, Result]] = [{} for _ in summary.space.labels]
    maker: AnalyticBounds | BootstrapBounds = AnalyticBounds(sampling)
    if sampling.intervals and predictions is not None and by_rows(predictions):
        maker = BootstrapBounds(Replicates(predictions, summary, Units.of(predictions, sampling)), sampling)
    usable = []
    for metric in metrics:
        missing = lacks(metric, summary)
        if missing is None:
            usable.append(metric)
        else:
            for label in found:
                label[metric.name] = Undefined(missing, summary.weight)
    _from_counts([m for m in usable if m.reads != "scores"], summary, maker, found)
    _from_scores([m for m in usable if m.reads == "scores"], summary, maker, found)
    return tuple({metric.name: row[metric.name] for metric in metrics} for row in found)


def _from_counts(
    metrics: Sequence[Metric],
    summary: Summary,
    maker: AnalyticBounds | BootstrapBounds,
    found: list[dict[str, Result]],
) -> None:
    if not metrics:
        return
    counts = one_vs_rest(summary)
    if counts is None:
        counts = _truth(view(summary, "scores"))
    missing = _without(summary, maker.sampling)
    some = [metric for metric in metrics if metric.interval != "none" and missing is None]
    bounds = maker.bounds(some, counts, summary)
    for metric in metrics:
        values = _per_label(metric.function(counts), len(found))
        n = _per_label(metric.denominator(counts, summary.weight), len(found))
        for k, label in enumerate(found):
            limits = UNCOUNTED if metric.interval == "none" or missing is None else missing
            if metric.name in bounds:
                low, high, error, method = bounds[metric.name]
                limits = Limits(float(low[k]), float(high[k]), method, float(error[k]))
            label[metric.name] = _result(metric, values[k], n[k], limits, counts[k])


def _without(summary: Summary, sampling: Sampling) -> Limits | None:
    """Why no metric has an interval; None where there is no such reason."""
    if not sampling.intervals:
        return no_limits(NOT_ASKED)
    return TOO_FEW if summary.rows < FEWEST else None


def _truth(scores: LabelScores) -> BinaryCounts:
    """Counts of the truth alone, as if every answer were right: nothing decides."""
    positives = scores.rankings.positives
    none = np.zeros(len(positives))
    return BinaryCounts(positives, none, none, scores.weight - positives, none)


def _per_label(values: Any, size: int) -> Any:
    return np.broadcast_to(np.asarray(values, dtype=np.float64), (size,))


def _result(metric: Metric, value: Any, n: Any, limits: Limits, fact: BinaryCounts | ScoreTable) -> Result:
    if math.isfinite(value):
        return estimate(metric, metric.inside(float(value)), float(n), limits)
    reason = metric.undefined if isinstance(metric.undefined, str) else metric.undefined(fact)
    return Undefined(reason, float(n))


def _from_scores(
    metrics: Sequence[Metric],
    summary: Summary,
    maker: AnalyticBounds | BootstrapBounds,
    found: list[dict[str, Result]],
) -> None:
    scores = summary.scores
    if not metrics or not isinstance(scores, LabelScores):
        return
    missing = _without(summary, maker.sampling)
    whole = not all(merged(metric) for metric in metrics)
    for k, (short, label) in enumerate(zip(scores.rankings.tables, found, strict=True)):
        between = Tables(short)
        full = Tables(scores.table(k)) if whole and isinstance(scores, RankedScores) else between
        for metric in metrics:
            tables = between if merged(metric) else full
            value = metric.function(tables.exact)
            limits = missing or Limits()
            if math.isfinite(value) and missing is None:
                limits = maker.limits(metric, value, tables, k)
            label[metric.name] = _result(metric, value, summary.weight, limits, tables.exact)
