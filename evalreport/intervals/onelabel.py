"""Intervals of one label against the rest: many labels at once from their counts, one from its table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evalreport.facts import BinaryCounts, Summary
from evalreport.facts.counts import Array
from evalreport.intervals.averages import merged_place
from evalreport.intervals.binary import table_limits
from evalreport.intervals.draws import count_bounds
from evalreport.intervals.influence import influence
from evalreport.intervals.majority import majority_limits
from evalreport.intervals.proportions import wilson
from evalreport.intervals.ranked import Ranked, Rough, ranked_limits
from evalreport.intervals.resampled import Replicates, interval, spread_errors
from evalreport.intervals.sampling import Limits, Sampling
from evalreport.intervals.scales import Spread
from evalreport.intervals.tables import Tables
from evalreport.metrics import Metric
from evalreport.metrics.strategies import CountDraws, DeLong, MostFrequent, Proportion, Smooth

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
