"""Intervals where rows weigh or belong together: by resampling, everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.facts import BinaryCounts, Marginals, ScoreTable, Summary
from evalreport.facts.classes import bin_of
from evalreport.facts.counts import Array
from evalreport.intervals.binary import decided_counts
from evalreport.intervals.classwise import class_gap_limits
from evalreport.intervals.contributions import Counted
from evalreport.intervals.draws import count_bounds, posterior
from evalreport.intervals.influence import tail_df
from evalreport.intervals.majority import greatest_limits, greatest_noise, majority_parts, replicated_noise
from evalreport.intervals.proportions import ROUNDING, score_limits
from evalreport.intervals.quantiles import normal_quantile, t_quantile
from evalreport.intervals.ranked import Ranked, bin_noise, ranked_limits
from evalreport.intervals.sampling import ALL_EQUAL, FEWEST, Limits, Sampling, no_limits
from evalreport.intervals.scales import Spread, spread_limits, transformed
from evalreport.intervals.units import (
    Units,
    binary_replicates,
    class_replicates,
    label_replicates,
    mean_replicates,
    table_replicates,
)
from evalreport.intervals.unseen import area_error, seen, stage, staged_limits
from evalreport.labels import Binary, Multiclass
from evalreport.metrics import Metric, view
from evalreport.metrics.averages import Average, labelwise
from evalreport.metrics.strategies import (
    BestThreshold,
    CalibrationGaps,
    ClassGaps,
    CountDraws,
    CurvePoint,
    DeLong,
    Evenness,
    Isotonic,
    LabelAreas,
    MostFrequent,
    SmoothGaps,
)
from evalreport.predictions import Predictions
from evalreport.scores import NoScores

Sampled: TypeAlias = tuple[Units, Sampling]


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
    def ranked(self) -> Ranked:
        """The binary ranking with its rows."""
        table: ScoreTable = view(self.summary, "scores")
        return Ranked(table, self.scores, self.p.y_true.astype(bool), self.units)

    @cached_property
    def confidence(self) -> Ranked:
        """The ranking by the highest probability, in which a right answer is a positive."""
        table: ScoreTable = view(self.summary, "confidence")
        right = self.scores.argmax(axis=1) == self.p.y_true
        return Ranked(table, self.scores.max(axis=1), right, self.units)

    @cached_property
    def counted(self) -> Counted:
        """The rows, for what each contributes."""
        return Counted(self.p, self.summary)

    @property
    def scores(self) -> npt.NDArray[Any]:
        """Scores of the rows."""
        return np.empty(0) if isinstance(self.p.scores, NoScores) else self.p.scores.values

    def of(self, metric: Metric) -> tuple[Array, float] | None:
        """Return replicates of a metric and what they are centred on; None where they cannot be made.

        Those of averages over classes are of the classes that have a value of their own: see `unseen`.
        """
        if metric.reads in ("counts", "truth"):
            fact = view(self.summary, metric.reads)
            return np.asarray(seen(metric)(self.counts)), stage(
                metric, fact, _value(metric, self.summary)
            ).value
        if metric.reads == "tally":
            return self.means[metric.name], _value(metric, self.summary)
        if isinstance(self.summary.scores, ScoreTable) and self.units.jackknife:
            whole, tables = self.tables
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.array([metric.function(table) for table in tables]), float(metric.function(whole))
        rows = self.counted.contributions(metric)
        return None if rows is None else (self.units.replicated(self.units.summed(rows)), 0.0)


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
    match metric.strategy:
        case MostFrequent() as frequent:
            return _majority_limits(frequent, replicates, sampling)
        case ClassGaps() as gaps:
            return _class_gap_limits(gaps, value, replicates, sampling)
        case BestThreshold() | CurvePoint() | CalibrationGaps() | SmoothGaps() | Isotonic() as rough:
            ranked = replicates.confidence if metric.reads == "confidence" else replicates.ranked
            return ranked_limits(rough, value, ranked, sampling)
        case DeLong() if len(replicates.ranked.table) == 1:
            return no_limits(ALL_EQUAL)
        case CountDraws() if isinstance(replicates.p.space, Binary) and metric.reads == "counts":
            return _drawn_limits(metric, value, replicates, sampling)
        case _:
            return _replicated_limits(metric, value, replicates, sampling)


def _drawn_limits(metric: Metric, value: float, replicates: Replicates, sampling: Sampling) -> Limits:
    """Limits of a function of the counts, which resamples tell where no cell is empty."""
    found, counts = _replicated_limits(metric, value, replicates, sampling), _counts(replicates.summary)
    if found.low is None or found.high is None or not isinstance(counts, BinaryCounts):
        return found
    low, high = where_empty([metric], counts, replicates.units, sampling)[metric.name]
    return replace(found, low=float(np.fmin(found.low, low)), high=float(np.fmax(found.high, high)))


def where_empty(
    metrics: Sequence[Metric], counts: BinaryCounts, units: Units, sampling: Sampling
) -> dict[str, tuple[Array, Array]]:
    """Return limits of functions of counts by posterior draws where a cell is empty; elsewhere NaN.

    No resample puts anything into an empty cell: of twelve positives all found, the F1 of resamples is 1
    throughout. The draws are of as many rows as there are independent ones.

    Parameters
    ----------
    metrics : sequence of Metric
        Binary records of the family ``counts``.
    counts : BinaryCounts
    units : Units
    sampling : Sampling

    Examples
    --------
    >>> from evalreport.labels import Binary
    >>> from evalreport.metrics.catalogue import find
    >>> from evalreport.predictions import predictions
    >>> p = predictions(Binary(0, 1), [0, 1] * 20, [0, 1] * 20, groups=range(40))
    >>> counts = BinaryCounts(20.0, 0.0, 0.0, 20.0)
    >>> low, high = where_empty([find("f1")], counts, Units.of(p, Sampling()), Sampling())["f1"]
    >>> round(float(low), 1), round(float(high), 1)
    (0.9, 1.0)
    """
    four = np.array(np.broadcast_arrays(counts.tp, counts.fp, counts.fn, counts.tn), dtype=np.float64)
    empty = (four <= ROUNDING * counts.total).any(axis=0)
    if not empty.any():
        return {metric.name: (np.array(np.nan), np.array(np.nan)) for metric in metrics}
    bounds = count_bounds(metrics, _independent(counts, units), sampling)
    return {
        name: (np.where(empty, low, np.nan), np.where(empty, high, np.nan))
        for name, (low, high, _) in bounds.items()
    }


def _independent(counts: BinaryCounts, units: Units) -> BinaryCounts:
    """Counts of as many rows as there are independent ones."""
    tp, fp, fn, tn, unread, threshold, lost = counts.parts
    share = units.size / counts.total
    return BinaryCounts(
        tp * share, fp * share, fn * share, tn * share, unread * share, threshold, lost * share
    )


def _standing_off(metric: Metric, value: float, found: Limits, fact: Any, sampled: Sampled) -> Limits:
    """Limits of an average over classes, some of which are right, or wrong, throughout in every resample.

    Each of these adds what its own draws leave (MOVER: Zou & Donner 2008).
    """
    if not isinstance(metric.function, Average) or found.low is None or found.high is None:
        return found
    units, sampling = sampled
    values, weights = metric.function.parts(fact)
    sure = (weights > 0) & ((values <= ROUNDING) | (values >= 1 - ROUNDING))
    if not sure.any():
        return found
    drawn = metric.function.of(posterior(_independent(labelwise(fact), units), sampling))
    low, high = np.quantile(drawn[:, sure], [1 - sampling.upper, sampling.upper], axis=0)
    share = (weights / (weights * ~np.isnan(values)).sum())[sure]
    below = np.linalg.norm([value - found.low, *(share * np.maximum(values[sure] - low, 0))])
    above = np.linalg.norm([found.high - value, *(share * np.maximum(high - values[sure], 0))])
    ends = max(value - float(below), metric.low), min(value + float(above), metric.high)
    return replace(found, low=ends[0], high=ends[1])


def _replicated_limits(metric: Metric, value: float, replicates: Replicates, sampling: Sampling) -> Limits:
    """Limits of what is smooth in the rows, from the spread of its replicates."""
    units, summary = replicates.units, replicates.summary
    found = replicates.of(metric)
    known = np.empty(0) if found is None else found[0][np.isfinite(found[0])]
    if found is None or len(known) < len(found[0]) / 2:
        return no_limits("too few resamples have a value")
    several = metric.interval == "counts" and metric.task != "binary"
    bias = units.bias(known, found[1]) if several else 0.0
    trials = units.size * metric.weight(summary) / summary.weight
    error, df = float(spread_errors(metric, known, value, units)), units.freedom(known)
    if units.method == "poisson bootstrap":
        rows = replicates.counted.contributions(metric)
        if rows is not None and rows.any():
            error *= units.leverage(rows, metric.weight(summary))
            df = max(min(df, tail_df(rows, np.ones(len(rows)))), 1.0)

    def limits(centre: float, spread: Spread) -> Limits:
        return interval(metric, centre, spread, trials, units, df, sampling)

    if isinstance(metric.strategy, LabelAreas):
        return limits(value, Spread(area_error(metric, summary, error), bias))
    fact = view(summary, metric.reads)
    staged = staged_limits(stage(metric, fact, value), Spread(error, bias), limits)
    return _standing_off(metric, value, staged, fact, (units, sampling))


def spread_errors(metric: Metric, replicates: Array, values: npt.ArrayLike, units: Units) -> Array:
    """Return the standard error of each value from its replicates, of shape (replicates, ...).

    That of the logarithm where the range of the metric has one end and the replicates are long-tailed.
    """
    values = np.asarray(values, dtype=np.float64)
    above = replicates - metric.low
    if metric.interval != "counts" or math.isfinite(metric.high):
        return units.error(replicates)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = units.error(np.log(np.where(above > 0, above, np.nan))) * (values - metric.low)
    errors: Array = np.where(values > metric.low, logs, units.error(replicates))
    return errors


def interval(
    metric: Metric,
    value: float,
    spread: Spread,
    trials: float,
    units: Units,
    df: float,
    sampling: Sampling,
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
    df : float
        Degrees of freedom of the spread.
    """
    quantile = t_quantile(sampling.upper, df)
    bounded = math.isfinite(metric.low) and math.isfinite(metric.high)
    if (bounded and metric.interval not in ("delong", "ranking")) or isinstance(metric.strategy, Evenness):
        return spread_limits(metric, value, spread, quantile, max(trials, 1), units.method, units.labels)
    if spread.error == 0 and not bounded:
        return no_limits("all resamples have the same value")
    ends = transformed(metric, value, spread.error, quantile, max(trials, 2))
    return Limits(*ends, units.method, spread.error)


def _majority_limits(frequent: MostFrequent, replicates: Replicates, sampling: Sampling) -> Limits:
    right, support, predicted, total = _by_class(replicates.counts)
    parts = majority_parts(frequent, right, support, predicted, total)
    here = majority_parts(frequent, *_by_class(_counts(replicates.summary)))
    units = replicates.units
    errors = units.error(parts) * (t_quantile(sampling.upper, max(units.most_freedom, 1)) / sampling.z)
    sign = -1.0 if frequent.gain else 1.0
    bounds = (-1.0, 1.0) if frequent.gain else (0.0, 1.0)

    def limits(level: float) -> tuple[Array, Array]:
        return score_limits(sign * here, errors, units.size, normal_quantile((1 + level) / 2), bounds)

    noise = replicated_noise(sign * parts, sampling)
    seen = greatest_noise(sign * here, noise, errors, sampling.level)
    low, high = (sign * float(end) for end in greatest_limits(limits, sampling.level, seen))
    return Limits(min(low, high), max(low, high), units.method)


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


def _class_gap_limits(gaps: ClassGaps, value: float, replicates: Replicates, sampling: Sampling) -> Limits:
    noise = np.concatenate([_class_noise(replicates, label) for label in range(len(replicates.p.space))])
    limits = class_gap_limits(gaps, value, replicates.summary, sampling, noise)
    return Limits(*limits, replicates.units.method)


def _class_noise(replicates: Replicates, label: int) -> Array:
    """Spread of the summed gap in each bin of one label's probability."""
    scores, truth = replicates.scores[:, label], replicates.p.y_true
    positive = truth[:, label].astype(bool) if truth.ndim == 2 else truth == label
    return bin_noise(replicates.units, bin_of(scores), scores, positive)[0]
