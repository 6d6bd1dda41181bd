"""Intervals where rows weigh or belong together: by resampling, everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.facts import BinaryCounts, Marginals, ScoreTable, Summary
from evalreport.facts.classes import BINS, bin_of
from evalreport.facts.counts import Array
from evalreport.intervals.binary import BY_SCORE, GAPS, SHARED, decided_counts
from evalreport.intervals.calibration import class_draws, gap_limits, mean_gap
from evalreport.intervals.contributions import Counted
from evalreport.intervals.majority import MAJORITY, majority_limits, majority_parts
from evalreport.intervals.proportions import score_limits
from evalreport.intervals.quantiles import t_quantile
from evalreport.intervals.sampling import FEWEST, Limits, Sampling, no_limits
from evalreport.intervals.scales import Spread, spread_limits, transformed
from evalreport.intervals.units import (
    Units,
    binary_replicates,
    class_replicates,
    label_replicates,
    mean_replicates,
    table_replicates,
)
from evalreport.labels import Binary, Multiclass
from evalreport.metrics import Metric, view
from evalreport.metrics.binary_probability import mass_cuts
from evalreport.predictions import Predictions
from evalreport.scores import NoScores


@dataclass(frozen=True, eq=False)
class Replicates:
    """Replicates of the facts, each kind made when a metric first reads it."""

    p: Predictions
    summary: Summary
    units: Units

    @cached_property
    def counts(self) -> BinaryCounts | Marginals:
        """Replicates of what `view` gives for counts."""
        match self.p.space:
            case Binary():
                return binary_replicates(self.p, self.units)
            case Multiclass():
                return class_replicates(self.p, self.units)
            case _:
                return label_replicates(self.p, self.units)

    @cached_property
    def means(self) -> Mapping[str, Array]:
        """Replicates of means over rows."""
        return mean_replicates(self.p, self.units)

    @cached_property
    def tables(self) -> tuple[ScoreTable, list[ScoreTable]]:
        """The binary score table in blocks, and its replicates."""
        table: ScoreTable = view(self.summary, "scores")
        return table_replicates(table, self.scores, self.p.y_true.astype(bool), self.units)

    @cached_property
    def counted(self) -> Counted:
        """The rows, for what each contributes."""
        return Counted(self.p, self.summary)

    @property
    def scores(self) -> npt.NDArray[Any]:
        """Scores of the rows."""
        return np.empty(0) if isinstance(self.p.scores, NoScores) else self.p.scores.values

    def of(self, metric: Metric) -> tuple[Array, float] | None:
        """Return replicates of a metric and what they are centred on; None where they cannot be made."""
        if metric.reads in ("counts", "truth"):
            return np.asarray(metric.function(self.counts)), _value(metric, self.summary)
        if metric.reads == "tally":
            return self.means[metric.name], _value(metric, self.summary)
        rows = self.counted.contributions(metric) if metric.reads == "scores" else None
        if rows is not None:
            return self.units.replicated(self.units.summed(rows)), 0.0
        if isinstance(self.summary.scores, ScoreTable):
            whole, tables = self.tables
            return np.array([metric.function(table) for table in tables]), float(metric.function(whole))
        return None


def _value(metric: Metric, summary: Summary) -> float:
    return float(metric.function(view(summary, metric.reads)))


def resampled_limits(
    metrics: Sequence[Metric],
    values: Mapping[str, float],
    summary: Summary,
    predictions: Predictions,
    sampling: Sampling,
) -> dict[str, Limits]:
    """Return the limits of metrics of rows that weigh or belong together.

    Parameters
    ----------
    metrics : sequence of Metric
        Records with a value that estimate something.
    values : mapping from their names to their values
    summary : Summary
        Of `predictions`.
    predictions : Predictions
    """
    units = Units.of(predictions, sampling)
    if units.size < FEWEST:
        few = no_limits("an interval needs at least 2 groups")
        return {metric.name: few for metric in metrics}
    replicates = Replicates(predictions, summary, units)
    return {metric.name: _limits(metric, values[metric.name], replicates, sampling) for metric in metrics}


def _limits(metric: Metric, value: float, replicates: Replicates, sampling: Sampling) -> Limits:
    units = replicates.units
    if metric.name in MAJORITY:
        return _majority_limits(metric.name, replicates, sampling)
    if metric.name == "ks":
        return _ks_limits(replicates, sampling)
    if metric.interval == "probabilities" and (metric.name in GAPS or metric.reads == "bins"):
        return _gap_limits(metric, value, replicates, sampling)
    if metric.name in BY_SCORE and replicates.summary.rows < SHARED * len(view(replicates.summary, "scores")):
        return no_limits(f"needs {SHARED} rows or more per distinct score")
    found = replicates.of(metric)
    known = np.empty(0) if found is None else found[0][np.isfinite(found[0])]
    if found is None or len(known) < len(found[0]) / 2:
        return no_limits("too few resamples have a value")
    several = metric.interval == "counts" and metric.task != "binary"
    bias = float(known.mean()) - found[1] if several else 0.0
    trials = units.size * metric.weight(replicates.summary) / replicates.summary.weight
    return interval(metric, value, Spread(_error(metric, known, value), bias), trials, units, sampling)


def _error(metric: Metric, replicates: Array, value: float) -> float:
    """Standard deviation; of the logarithm where the range has one end and the replicates are long-tailed."""
    above = replicates[replicates > metric.low] - metric.low
    if metric.interval == "counts" and math.isinf(metric.high) and value > metric.low and len(above):
        return float(np.log(above).std()) * (value - metric.low)
    return float(replicates.std())


def interval(
    metric: Metric, value: float, spread: Spread, trials: float, units: Units, sampling: Sampling
) -> Limits:
    """Return limits from the spread of a value over resamples.

    Parameters
    ----------
    metric : Metric
    value : float
    spread : Spread
    trials : float
        Units that the value is taken over, which widen an interval at an end of the range.
    units : Units
    """
    spread = Spread(spread.error * math.sqrt(units.size / max(units.size - 1, 1)), spread.bias)
    quantile = t_quantile(sampling.upper, max(units.size - 1, 1))
    bounded = math.isfinite(metric.low) and math.isfinite(metric.high)
    effective = metric.name.startswith("effective_labels")
    if (bounded and metric.interval not in ("delong", "ranking")) or effective:
        return spread_limits(metric, value, spread, quantile, max(trials, 1), units.method, units.labels)
    if spread.error == 0 and not bounded:
        return no_limits("all resamples have the same value")
    ends = transformed(metric, value, spread.error, quantile, max(trials, 2))
    return Limits(*ends, units.method, spread.error)


def _majority_limits(name: str, replicates: Replicates, sampling: Sampling) -> Limits:
    right, support, predicted, total = _by_class(replicates.counts)
    parts = majority_parts(name, right, support, predicted, total)
    here = majority_parts(name, *_by_class(_counts(replicates.summary)))
    limits = majority_limits(name, here, parts.std(axis=0), replicates.units.size, sampling.level)
    return Limits(*limits, replicates.units.method)


def _counts(summary: Summary) -> BinaryCounts | Marginals:
    if isinstance(summary.space, Binary):
        return decided_counts(summary)
    return view(summary, "counts")  # type: ignore[no-any-return]


def _by_class(counts: BinaryCounts | Marginals) -> tuple[Array, Array, Array, Array]:
    """Right answers, true examples, answers of each class on the last axis; and the total."""
    if isinstance(counts, Marginals):
        return counts.tp, counts.support, counts.predicted, np.asarray(counts.total)
    right, support = (counts.tn, counts.tp), (counts.negatives, counts.positives)
    predicted = (counts.cleared, counts.flagged)
    stacked = [np.stack(np.broadcast_arrays(*pair), axis=-1) for pair in (right, support, predicted)]
    return stacked[0], stacked[1], stacked[2], np.asarray(counts.total)


def _ks_limits(replicates: Replicates, sampling: Sampling) -> Limits:
    """Square-and-add limits of TPR - FPR at the best threshold, as of independent rows."""
    table: ScoreTable = view(replicates.summary, "scores")
    units, truth = replicates.units, replicates.p.y_true
    best = int(np.argmax(table.tp / table.positives - table.fp / table.negatives))
    flagged = (replicates.scores.astype(np.float64) >= table.scores[best]).astype(np.float64)
    rates = np.array([table.fp[best] / table.negatives, table.tp[best] / table.positives])
    drawn = units.totals(truth, 2, flagged) / np.maximum(units.totals(truth, 2), np.finfo(float).tiny)
    quantile = t_quantile(sampling.upper, max(units.size - 1, 1))
    trials = units.size * np.array([table.negatives, table.positives]) / table.total
    low, high = score_limits(rates, drawn.std(axis=0), np.maximum(trials, 1), quantile)
    value = float(rates[1] - rates[0])
    below = float(np.hypot(rates[1] - low[1], high[0] - rates[0]))
    above = float(np.hypot(high[1] - rates[1], rates[0] - low[0]))
    return Limits(value - below, value + above, units.method)


def _gap_limits(metric: Metric, value: float, replicates: Replicates, sampling: Sampling) -> Limits:
    p, units = replicates.p, replicates.units
    if metric.reads == "bins":
        bins = view(replicates.summary, "bins")
        noise = np.concatenate([_class_noise(replicates, label) for label in range(len(p.space))])
        flat = (bins.weight.ravel(), bins.probability.ravel(), bins.positives.ravel())
        draws = class_draws(view(replicates.summary, "scores"), sampling)
        return Limits(*gap_limits(flat, value, mean_gap, sampling, noise, draws), units.method)
    table: ScoreTable = view(replicates.summary, metric.reads)
    scores, positive = replicates.scores, p.y_true.astype(bool)
    if metric.reads == "confidence":
        scores, positive = scores.max(axis=1), scores.argmax(axis=1) == p.y_true
    place = bin_of(scores)
    if metric.name == "ece_equal_mass":
        place = np.searchsorted(mass_cuts(table), np.searchsorted(table.scores, scores), side="right")
    binned, statistic = GAPS[metric.name]
    noise = units.totals(place, BINS, scores - positive).std(axis=0)
    return Limits(*gap_limits(binned(table), value, statistic, sampling, noise), units.method)


def _class_noise(replicates: Replicates, label: int) -> Array:
    """Spread of the summed gap in each bin of one label's probability."""
    scores, truth = replicates.scores[:, label], replicates.p.y_true
    positive = truth[:, label].astype(bool) if truth.ndim == 2 else truth == label
    noise: Array = replicates.units.totals(bin_of(scores), BINS, scores - positive).std(axis=0)
    return noise
