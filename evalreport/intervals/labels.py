"""Binary metrics of each label against the rest, with their intervals.

Many labels at once from their counts, one from its table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from evalreport.facts import BinaryCounts, LabelScores, ScoreTable, Summary
from evalreport.facts.classes import RankedScores
from evalreport.facts.counts import Array
from evalreport.intervals.averages import merged_place
from evalreport.intervals.binary import table_limits
from evalreport.intervals.draws import count_bounds
from evalreport.intervals.influence import influence
from evalreport.intervals.majority import majority_limits
from evalreport.intervals.proportions import wilson
from evalreport.intervals.ranked import Ranked, Rough, ranked_limits
from evalreport.intervals.resampled import Replicates, interval, spread_errors, where_empty
from evalreport.intervals.sampling import FEWEST, NOT_ASKED, Limits, Sampling, by_rows, estimate, no_limits
from evalreport.intervals.scales import Spread
from evalreport.intervals.tables import Tables
from evalreport.intervals.units import Units
from evalreport.metrics import Metric, view
from evalreport.metrics.record import lacks, one_vs_rest
from evalreport.metrics.strategies import CountDraws, DeLong, MostFrequent, Proportion, Smooth
from evalreport.predictions import Predictions
from evalreport.values import Result, Undefined

Bounds: TypeAlias = tuple[Array, Array, Array, str]
"""Low, high and standard error of each label, and the method."""


def merged(metric: Metric) -> bool:
    """Return whether a metric reads the same off a table whose negatives are merged between positives.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> merged(find("roc_auc")), merged(find("ks"))
    (True, False)
    """
    return isinstance(metric.strategy, DeLong | Smooth) and metric.strategy.merged


@dataclass(frozen=True)
class AnalyticBounds:
    """Rows that count the same and are independent."""

    sampling: Sampling

    def bounds(self, metrics: Sequence[Metric], counts: BinaryCounts, summary: Summary) -> dict[str, Bounds]:
        """Return the limits of functions of the counts of all labels.

        Parameters
        ----------
        metrics : sequence of Metric
            Binary records that estimate something.
        counts : BinaryCounts
            Fields of shape (labels,).
        summary : Summary
        """
        found: dict[str, Bounds] = {}
        drawn = [m for m in metrics if isinstance(m.strategy, CountDraws)]
        for name, (low, high, error) in count_bounds(drawn, counts, self.sampling).items():
            found[name] = (low, high, error, "dirichlet")
        for metric in metrics:
            if isinstance(metric.strategy, MostFrequent):
                found[metric.name] = self._majority(metric.strategy, counts)
            elif isinstance(metric.strategy, Proportion):
                found[metric.name] = self._wilson(metric, counts, summary.weight)
        return found

    def _majority(self, frequent: MostFrequent, counts: BinaryCounts) -> Bounds:
        pairs = ((counts.tn, counts.tp), (counts.negatives, counts.positives))
        right, support = (np.stack(np.broadcast_arrays(*pair), axis=-1) for pair in pairs)
        low, high = majority_limits(frequent, right, support, support, self.sampling)
        return low, high, np.full(len(low), np.nan), "score of each class"

    def _wilson(self, metric: Metric, counts: BinaryCounts, total: float) -> Bounds:
        values = np.asarray(metric.function(counts), dtype=np.float64)
        n = np.asarray(metric.denominator(counts, total), dtype=np.float64)
        low, high = wilson(values * n, n, self.sampling.level)
        with np.errstate(divide="ignore", invalid="ignore"):
            return low, high, np.sqrt(values * (1 - values) / n), "wilson"

    def limits(self, metric: Metric, value: float, tables: Tables, label: int) -> Limits:  # noqa: ARG002
        """Return the limits of a function of one label's table."""
        return table_limits(metric, value, tables, self.sampling)


@dataclass(frozen=True)
class BootstrapBounds:
    """Rows that weigh, or that belong together."""

    replicates: Replicates
    sampling: Sampling

    def bounds(self, metrics: Sequence[Metric], counts: BinaryCounts, summary: Summary) -> dict[str, Bounds]:
        """Return the limits of functions of the counts of all labels; see `AnalyticBounds.bounds`."""
        drawn = self.replicates.counts
        each = drawn if isinstance(drawn, BinaryCounts) else drawn.one_vs_rest
        found: dict[str, Bounds] = {}
        for metric in metrics:
            values = np.asarray(metric.function(counts), dtype=np.float64)
            found[metric.name] = self._bounds(
                metric, values, np.asarray(metric.function(each)), counts, summary
            )
        counted = [metric for metric in metrics if isinstance(metric.strategy, CountDraws)]
        for name, ends in where_empty(counted, counts, self.replicates.units, self.sampling).items():
            low, high, error, method = found[name]
            found[name] = (np.fmin(low, ends[0]), np.fmax(high, ends[1]), error, method)
        return found

    def _bounds(
        self, metric: Metric, values: Array, drawn: Array, counts: BinaryCounts, summary: Summary
    ) -> Bounds:
        units = self.replicates.units
        centre = np.where(np.isfinite(values), values, 0.0)
        drawn = np.where(np.isfinite(drawn), drawn, centre)
        over = metric.denominator(counts, summary.weight)
        trials = units.size * np.broadcast_to(over, values.shape) / summary.weight
        errors = spread_errors(metric, drawn, values, units)
        freedom = [units.freedom(column) for column in drawn.T]
        parts = zip(values, errors, trials, freedom, strict=True)
        ends = [self._limits(metric, *part) for part in parts]
        low, high = np.array([(limits.low, limits.high) for limits in ends]).T
        return low, high, errors, units.method

    def limits(self, metric: Metric, value: float, tables: Tables, label: int) -> Limits:
        """Return the limits of a function of one label's table."""
        table, units = tables.exact, self.replicates.units
        p, scores = self.replicates.p, self.replicates.scores[:, label]
        positive = p.y_true[:, label].astype(bool) if p.y_true.ndim == 2 else p.y_true == label
        if isinstance(metric.strategy, Rough):
            return ranked_limits(
                metric.strategy, value, Ranked(table, scores, positive, units), self.sampling
            )
        found = influence(metric, table)
        place = np.minimum(np.searchsorted(table.scores, scores), len(table) - 1)
        if merged(metric):
            place = merged_place(table, scores)
        rows = p.weights * np.where(positive, found[0][place], found[1][place])
        rows /= table.positives + table.negatives
        drawn = units.replicated(units.summed(rows))
        trials = units.size * min(table.positives, table.negatives) / self.replicates.summary.weight
        return self._limits(metric, value, float(units.error(drawn)), trials, units.freedom(drawn))

    def _limits(self, metric: Metric, value: float, error: float, trials: float, df: float) -> Limits:
        if not math.isfinite(value):
            return Limits()
        return interval(metric, value, Spread(error), trials, self.replicates.units, df, self.sampling)


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
            fact = None if math.isfinite(values[k]) else counts[k]
            label[metric.name] = _result(metric, values[k], n[k], limits, fact)


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


def _result(
    metric: Metric, value: Any, n: Any, limits: Limits, fact: BinaryCounts | ScoreTable | None
) -> Result:
    """A value with its limits, or why a fact has none."""
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
