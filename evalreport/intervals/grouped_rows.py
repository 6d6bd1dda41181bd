"""Intervals of weighted or grouped rows, by resampling.

**Metrics that are not smooth in the rows** (readings of one ranking's curve, KS, calibration errors). A
bootstrap of a curve's reading at a limit is too narrow if few rows are beyond the limit (FPR at recall 0.95:
87% with thirty clusters). So the posterior samples of `curve_points` are used here, too. Each class counts as
its effective sample size: the number of independent rows that give its rate at the crossing the same variance
(Kish 1965; Korn & Graubard 1998, Survey Methodology 24:193).

**All other metrics** have limits from their bootstrap or jackknife replicates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores
from evalreport.intervals.bootstrap import (
    Units,
    binary_replicates,
    class_replicates,
    count_bounds,
    label_replicates,
    mean_replicates,
    posterior,
    table_replicates,
)
from evalreport.intervals.calibration_intervals import (
    SMALLEST,
    binomial_noise,
    gap_limits,
    smooth_gap_limits,
    too_little,
    unit_draws,
)
from evalreport.intervals.curve_points import (
    CROSSINGS,
    RocDraws,
    crossing_generator,
    flattery,
    sum_calibration_bins,
)
from evalreport.intervals.distributions import ROUNDING, normal_quantile, score_limits, t_quantile
from evalreport.intervals.interval_settings import ALL_EQUAL, FEWEST, Limits, Sampling, no_limits
from evalreport.intervals.row_influence import Counted
from evalreport.intervals.standard_errors import (
    Spread,
    area_error,
    observed_class_average,
    spread_limits,
    staged_limits,
    tail_df,
    transformed_scale_limits,
    two_stage_mean,
)
from evalreport.metrics.averages import Average, labelwise
from evalreport.metrics.probability_functions import mass_cuts
from evalreport.metrics.record import (
    BestThreshold,
    CalibrationGaps,
    CountDraws,
    CurvePoint,
    DeLong,
    LabelAreas,
    Metric,
    SmoothGaps,
    view,
)
from evalreport.statistics.class_scores import BINS, bin_of
from evalreport.statistics.confusion import Array, BinaryCounts, Marginals, inner, subtract_mean, sums
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary


@dataclass(frozen=True, eq=False)
class Ranked:
    """The score table of one class against the rest, its rows and its sampling units.

    Parameters
    ----------
    table : ScoreTable
    scores : float array of shape (n,)
    positive : bool array of shape (n,)
    units : Units
    """

    table: ScoreTable
    scores: npt.NDArray[Any]
    positive: npt.NDArray[np.bool_]
    units: Units

    @cached_property
    def _sizes(self) -> Array:
        """Negatives and positives, by weight."""
        return np.array([self.table.negatives, self.table.positives])

    @cached_property
    def _trials(self) -> Array:
        """Greatest number of independent units of each class."""
        trials: Array = np.maximum(self.units.size * self._sizes / self._sizes.sum(), 1.0)
        return trials

    def _rates(self, threshold: float) -> tuple[Array, Array]:
        """FPR and TPR at a threshold, and the variances of both."""
        flagged = (self.scores.astype(np.float64) >= threshold).astype(np.float64)
        rates, variances = np.zeros(2), np.zeros(2)
        for side, mine in enumerate((~self.positive, self.positive)):
            weight = np.where(mine, self.units.weights, 0.0)
            rates[side] = inner(weight, flagged) / self._sizes[side]
            moved = weight * (flagged - rates[side])
            leverage = self.units.leverage(moved, self._sizes[side])
            variances[side] = self.units.variance(moved) * (leverage / self._sizes[side]) ** 2
        return rates, variances

    def _effective(self, threshold: float) -> Array:
        """Numbers of independent negatives and positives that give FPR and TPR the same variance."""
        rates, variances = self._rates(threshold)
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = rates * (1 - rates) / variances / unsure(self.units.most_freedom)
        most = np.array([(~self.positive).sum(), self.positive.sum()], dtype=np.float64)
        return np.minimum(np.where(np.isfinite(rows) & (rows > 0), rows, self._trials), most)

    def _ratio(self, threshold: float) -> tuple[float, float]:
        """Return the effective size of the ratio of positives to flagged negatives, and its slope on recall.

        With the size of the less certain class instead, the precision at a recall covered 98 to 99% for
        weighted rows.

        Returns
        -------
        share : float
            Independent rows per weight that give the ratio the same variance, given the recall.
        pull : float
            Slope of the log ratio on the recall over units, shrunk to what exceeds chance (adjusted R²).
        """
        flagged = (self.scores.astype(np.float64) >= threshold).astype(np.float64)
        right, wrong = (np.where(mine, self.units.weights, 0.0) for mine in (self.positive, ~self.positive))
        wrong *= flagged
        sizes = np.array([size for size in (right.sum(), wrong.sum()) if size > 0])
        missed = 1 - flagged  # exactly 0 if no positive is missed
        recall = right * (inner(right, missed) / sizes[0] - missed) / sizes[0]
        ratio = right / sizes[0] - wrong / sizes[-1]
        ratio, recall = (own - own.mean() for own in map(self.units.sum_by_unit, (ratio, recall)))
        both, together, alone = inner(ratio, ratio), inner(ratio, recall), inner(recall, recall)
        tiny = np.finfo(float).tiny
        explained = together**2 / max(alone * both, tiny)
        chance = (1 - explained) / max(self.units.most_freedom - 1, 1)
        pull = together / alone * (1 - chance / explained) if explained > chance else 0.0
        rest = ratio - pull * recall
        variance = max(self.units.number / max(self.units.number - 1, 1) * inner(rest, rest), tiny)
        variance *= unsure(self.units.freedom(rest))
        return min(float((1 / sizes).sum()) / variance, len(self.scores) / float(self._sizes.sum())), pull

    def crossing_limits(self, point: CurvePoint, sampling: Sampling) -> Limits:
        """Return the limits of a reading of the curve.

        A recall at a precision and a lift also depend on the prevalence, so both classes use one effective
        proportion: that of the less certain class, or for a lift that of the positives, whose recall it is.
        With the less certain class a lift covered 98 to 99% for fifty clusters and for few uneven weights.
        """
        table, crossing = self.table, CROSSINGS[point.reading]
        place = crossing.place(table, point.at)
        threshold = np.inf if place is None else float(table.scores[place])
        rows = self._effective(threshold)
        mix, pull = None, 0.0
        if point.reading == "precision at recall":
            worth, pull = self._ratio(threshold)
            mix = (self._sizes[1] * worth, self._sizes[0] * worth)
        elif crossing.mixed:
            share = rows / self._sizes
            rows = self._sizes * float(share[1] if point.reading == "lift" else share.min())
        tp, fp = (np.append(0.0, part[::-1] / part[0]) for part in (table.tp, table.fp))
        generator = crossing_generator(point, sampling)
        curve = RocDraws(tp * rows[1], fp * rows[0], sampling.resamples, generator, mix, pull)
        drawn = crossing.drawn(curve, point.at)
        method = f"posterior at the crossing, {self.units.name}"
        return Limits(*curve.limits(drawn, sampling.upper), method, float(drawn.values.std()))

    def ks_limits(self, sampling: Sampling) -> Limits:
        """Return square-and-add limits of TPR - FPR at the best threshold, as for independent rows."""
        table, units = self.table, self.units
        best = int(np.argmax(table.tp / table.positives - table.fp / table.negatives))
        rates, variances = self._rates(float(table.scores[best]))
        quantile = t_quantile(sampling.upper, max(units.most_freedom, 1))
        low, high = score_limits(rates, np.sqrt(variances), self._trials, quantile)
        value = float(rates[1] - rates[0])
        below = float(np.hypot(rates[1] - low[1], high[0] - rates[0]))
        above = float(np.hypot(high[1] - rates[1], rates[0] - low[0]))
        shift = self._flattery(sampling) if units.method == "poisson bootstrap" else 0.0
        return Limits(value - below - shift, value + above - min(shift, above) / 2, units.method)

    def _flattery(self, sampling: Sampling) -> float:
        """The selection bias of the greatest gap, for unevenly weighted rows."""
        table = self.table
        share = self.units.weights / np.where(self.positive, table.positives, table.negatives)
        variances = sums(np.searchsorted(table.scores, self.scores), share**2, len(table))
        gaps = table.tp / table.positives - table.fp / table.negatives
        return flattery(gaps, variances, sampling)

    def gap_limits(self, gaps: CalibrationGaps, value: float, sampling: Sampling) -> Limits:
        """Return the limits of a calibration error."""
        bins = sum_calibration_bins(gaps, self.table)
        place = self._bins(gaps)
        noise, own = bin_noise(self.units, place, self.scores, self.positive, len(bins[0]))
        wide = t_quantile(sampling.upper, self.units.freedom(own.sum(axis=1))) / sampling.z
        side = np.sign(bins[1] - bins[2])[place]
        error = self._mean_error(side * (self.scores - self.positive)) * wide
        if self.units.method == "poisson bootstrap":  # rows are independent: use effective rows of one weight
            rows = bin_rows(self.units.weights, place, len(bins[0]))
            ends = gap_limits(bins, value, sampling, error=error, rows=rows)
        else:
            draws = unit_draws(own, sampling)
            ends = gap_limits(bins, value, sampling, noise * wide, draws, error)
        return Limits(*ends, self.units.method)

    def smooth_limits(self, value: float, sampling: Sampling) -> Limits:
        """Return the limits of gaps from the smooth calibration curve, by a sandwich estimator over units."""
        curve = self.table.smooth
        reason = too_little(curve, min(self.positive.sum(), (~self.positive).sum()))
        if curve is None or reason is not None:
            return no_limits(reason or "")
        scores = self.scores.astype(np.float64)
        residual = self.units.weights * (self.positive - curve.predict_rates(scores))
        own = self.units.sum_by_unit(residual[:, None] * curve.design(scores))
        wide = t_quantile(sampling.upper, self.units.freedom(own[:, 0])) / sampling.z
        wide *= np.sqrt(len(own) / max(len(own) - 1, 1))
        root = np.linalg.solve(curve.curvature, np.linalg.qr(own)[1].T) * wide

        def mean_error(function: Callable[[Array], Array]) -> float:
            return self._mean_error(function(scores)) * float(wide)

        ends = smooth_gap_limits(value, curve, sampling, root, mean_error)
        return Limits(*ends, self.units.method)

    def _mean_error(self, values: Array) -> float:
        """Standard error of the mean of a row quantity."""
        weights = self.units.weights
        moved = weights * subtract_mean(values, weights)
        return math.sqrt(self.units.variance(moved)) / float(weights.sum())

    def _bins(self, gaps: CalibrationGaps) -> npt.NDArray[Any]:
        """The bin of each row in the calibration error."""
        if gaps.bins == "width":
            return bin_of(self.scores)
        rank = np.searchsorted(self.table.scores, self.scores)
        return np.searchsorted(mass_cuts(self.table), rank, side="right")


def unsure(freedom: float) -> float:
    """Return the factor on a variance that is estimated from few units.

    >>> round(unsure(9), 2), round(unsure(1e6), 2)
    (1.33, 1.0)
    """
    return (t_quantile(0.975, max(freedom, 1)) / normal_quantile(0.975)) ** 2


Rough: TypeAlias = BestThreshold | CurvePoint | CalibrationGaps | SmoothGaps
"""Strategies of metrics that are not smooth in the rows."""


def ranked_limits(strategy: Rough, value: float, ranked: Ranked, sampling: Sampling) -> Limits:
    """Return the limits of a metric that is not smooth in the rows.

    Parameters
    ----------
    strategy : BestThreshold, CurvePoint, CalibrationGaps or SmoothGaps
    value : float
    ranked : Ranked
    sampling : Sampling
    """
    if isinstance(strategy, CalibrationGaps):
        return ranked.gap_limits(strategy, value, sampling)
    if isinstance(strategy, SmoothGaps):
        return ranked.smooth_limits(value, sampling)
    if min(ranked.table.positives, ranked.table.negatives) <= 0:
        return no_limits("an interval needs positives and negatives")
    if isinstance(strategy, BestThreshold):
        return ranked.ks_limits(sampling)
    return ranked.crossing_limits(strategy, sampling)


def bin_noise(
    units: Units,
    place: npt.NDArray[Any],
    scores: npt.NDArray[Any],
    positive: npt.NDArray[np.bool_],
    size: int = BINS,
) -> tuple[Array, Array]:
    """Return the standard deviation of the summed gap of each bin, and the gaps of each unit.

    Gaps are relative to the mean gap of their bin, so a bin with more rows has a greater sum but the same
    gap. The standard deviation is at least that of independent rows of the effective weight, so it is not 0
    for a single row.

    Returns
    -------
    noise : float64 array of shape (size,)
    own : float64 array of shape (units, size)
    """
    weights, gaps = units.weights, scores - positive
    parts = (weights, weights * positive, weights * scores)
    weight, right, predicted = (np.bincount(place, part, size) for part in parts)
    mean = np.bincount(place, weights * gaps, size) / np.maximum(weight, np.finfo(float).tiny)
    own = units.sums(place, size, gaps - mean[place])
    squares = np.square(own - own.mean(axis=0)).sum(axis=0)
    rows = bin_rows(weights, place, size)
    if units.method == "poisson bootstrap":  # rows are independent: use the effective rows of each bin
        held = np.maximum(rows, SMALLEST)
        share = held / np.maximum(weight, np.finfo(float).tiny)
        return weight / held * binomial_noise(held, right * share, predicted * share), own
    noise = np.sqrt(squares * rows / np.maximum(rows - 1, 1))
    heavy = inner(weights, weights) / inner(weights, np.ones(len(weights)))
    held = np.maximum(weight / heavy, np.finfo(float).tiny)
    return np.maximum(noise, heavy * binomial_noise(held, right / heavy, predicted / heavy)), own


def bin_rows(weights: Array, place: npt.NDArray[Any], size: int = BINS) -> Array:
    """Return the effective number of rows of equal weight in each bin (Kish 1965), shape (size,).

    Examples
    --------
    >>> bin_rows(np.array([1.0, 1.0, 3.0, 1.0]), np.array([0, 0, 1, 1]), 2)
    array([2. , 1.6])
    """
    squares = np.bincount(place, weights**2, size)
    found: Array = np.bincount(place, weights, size) ** 2 / np.maximum(squares, np.finfo(float).tiny)
    return found


Sampled: TypeAlias = tuple[Units, Sampling]


@dataclass(frozen=True, eq=False)
class Replicates:
    """Replicates of the statistics of predictions, each kind computed when a metric first reads it."""

    p: Predictions
    summary: Summary
    units: Units

    @cached_property
    def counts(self) -> BinaryCounts | Marginals:
        """Replicates of the counts that `view` returns."""
        match self.p.space:
            case Binary():
                return binary_replicates(self.p, self.units)
            case Multiclass():
                return class_replicates(self.p, self.units)
            case _:
                return label_replicates(self.p, self.units)

    @cached_property
    def means(self) -> Mapping[str, Array]:
        """Replicates of the means over rows."""
        return mean_replicates(self.p, self.units)

    @cached_property
    def tables(self) -> tuple[ScoreTable, list[ScoreTable]]:
        """The binary score table in blocks, and its replicates."""
        table: ScoreTable = view(self.summary, "scores")
        return table_replicates(table, self.scores, self.p.y_true.astype(bool), self.units)

    @cached_property
    def ranked_rows(self) -> Ranked:
        """The binary ranking with its rows."""
        table: ScoreTable = view(self.summary, "scores")
        return Ranked(table, self.scores, self.p.y_true.astype(bool), self.units)

    @cached_property
    def confidence(self) -> Ranked:
        """The ranking by highest probability, in which a correct prediction is a positive."""
        table: ScoreTable = view(self.summary, "confidence")
        right = self.scores.argmax(axis=1) == self.p.y_true
        return Ranked(table, self.scores.max(axis=1), right, self.units)

    @cached_property
    def counted_rows(self) -> Counted:
        """The rows, for the contribution of each to a metric."""
        return Counted(self.p, self.summary)

    @property
    def scores(self) -> npt.NDArray[Any]:
        """Scores of the rows."""
        return np.empty(0) if isinstance(self.p.scores, NoScores) else self.p.scores.values

    def replicate_metric(self, metric: Metric) -> tuple[Array, float] | None:
        """Return replicates of a metric and their centre; None if there are none.

        For an average over classes they are of the classes that have a value: see `missing_classes`.
        """
        if metric.reads in ("counts", "truth"):
            fact = view(self.summary, metric.reads)
            return np.asarray(observed_class_average(metric)(self.counts)), two_stage_mean(
                metric, fact, _value(metric, self.summary)
            ).value
        if metric.reads == "tally":
            return self.means[metric.name], _value(metric, self.summary)
        if isinstance(self.summary.scores, ScoreTable) and self.units.jackknife:
            whole, tables = self.tables
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.array([metric.function(table) for table in tables]), float(metric.function(whole))
        rows = self.counted_rows.contributions(metric)
        return None if rows is None else (self.units.replicate_sums(self.units.sum_by_unit(rows)), 0.0)


def _value(metric: Metric, summary: Summary) -> float:
    return float(metric.function(view(summary, metric.reads)))


def resampled_limits(
    metrics: Sequence[Metric],
    values: Mapping[str, float],
    summary: Summary,
    predictions: Predictions,
    sampling: Sampling,
) -> dict[str, Limits]:
    """Return the limits of metrics of weighted or grouped rows.

    Parameters
    ----------
    metrics : sequence of Metric
        Records with a value and an interval.
    values : mapping from their names to their values
    summary : Summary
        Of `predictions`.
    predictions : Predictions
    """
    units = Units.from_predictions(predictions, sampling)
    if units.size < FEWEST:
        few = no_limits("an interval needs at least 2 groups")
        return {metric.name: few for metric in metrics}
    replicates = Replicates(predictions, summary, units)
    return {metric.name: _limits(metric, values[metric.name], replicates, sampling) for metric in metrics}


def _limits(metric: Metric, value: float, replicates: Replicates, sampling: Sampling) -> Limits:
    match metric.strategy:
        case BestThreshold() | CurvePoint() | CalibrationGaps() | SmoothGaps() as rough:
            ranked = replicates.confidence if metric.reads == "confidence" else replicates.ranked_rows
            return ranked_limits(rough, value, ranked, sampling)
        case DeLong() if len(replicates.ranked_rows.table) == 1:
            return no_limits(ALL_EQUAL)
        case CountDraws() if isinstance(replicates.p.space, Binary) and metric.reads == "counts":
            return _drawn_limits(metric, value, replicates, sampling)
        case _:
            return _replicated_limits(metric, value, replicates, sampling)


def _drawn_limits(metric: Metric, value: float, replicates: Replicates, sampling: Sampling) -> Limits:
    """Limits of a function of the counts: by resamples, or wider by posterior samples if a cell is empty."""
    found: Limits = _replicated_limits(metric, value, replicates, sampling)
    counts: BinaryCounts = view(replicates.summary, "counts")
    low, high = where_empty([metric], counts, replicates.units, sampling)[metric.name]
    return replace(found, low=float(np.fmin(found.low, low)), high=float(np.fmax(found.high, high)))


def where_empty(
    metrics: Sequence[Metric], counts: BinaryCounts, units: Units, sampling: Sampling
) -> dict[str, tuple[Array, Array]]:
    """Return limits of functions of counts by posterior samples if a cell is empty; otherwise NaN.

    Resamples leave an empty cell empty: if all of twelve positives are found, F1 is 1 in every resample. The
    posterior uses the effective number of rows.

    Parameters
    ----------
    metrics : sequence of Metric
        Binary records of the family ``counts``.
    counts : BinaryCounts
    units : Units
    sampling : Sampling

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.metrics.catalogue import find
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Binary(0, 1), [0, 1] * 20, [0, 1] * 20, groups=range(40))
    >>> counts = BinaryCounts(20.0, 0.0, 0.0, 20.0)
    >>> low, high = where_empty([find("f1")], counts, Units.from_predictions(p, Sampling()), Sampling())["f1"]
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
    """Counts scaled to the effective number of rows."""
    tp, fp, fn, tn, unparsed, threshold, lost = counts.parts
    share = units.size / counts.total
    return BinaryCounts(
        tp * share, fp * share, fn * share, tn * share, unparsed * share, threshold, lost * share
    )


def _standing_off(metric: Metric, value: float, found: Limits, fact: Any, sampled: Sampled) -> Limits:
    """Limits of an average over classes if some classes are all right, or all wrong, in every resample.

    The posterior interval of each of these classes is added (MOVER: Zou & Donner 2008).
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
    """Limits of a metric that is smooth in the rows, from the standard error of its replicates."""
    units, summary = replicates.units, replicates.summary
    found = replicates.replicate_metric(metric)
    known = np.empty(0) if found is None else found[0][np.isfinite(found[0])]
    if found is None or len(known) < len(found[0]) / 2:
        return no_limits("too few resamples have a value")
    several = metric.interval == "counts" and metric.task != "binary"
    bias = units.bias(known, found[1]) if several else 0.0
    trials = units.size * metric.weight(summary) / summary.weight
    error, df = float(spread_errors(metric, known, value, units)), units.freedom(known)
    if units.method == "poisson bootstrap":
        rows = replicates.counted_rows.contributions(metric)
        if rows is not None and rows.any():
            error *= units.leverage(rows, metric.weight(summary))
            df = max(min(df, tail_df(rows, np.ones(len(rows)))), 1.0)

    def limits(centre: float, spread: Spread) -> Limits:
        return interval(metric, centre, spread, trials, units, df, sampling)

    if isinstance(metric.strategy, LabelAreas):
        return limits(value, Spread(area_error(metric, summary, error), bias))
    fact = view(summary, metric.reads)
    staged = staged_limits(two_stage_mean(metric, fact, value), Spread(error, bias), limits)
    return _standing_off(metric, value, staged, fact, (units, sampling))


def spread_errors(metric: Metric, replicates: Array, values: npt.ArrayLike, units: Units) -> Array:
    """Return the standard error of each value from its replicates, of shape (replicates, ...).

    It is that of the logarithm if the range of the metric has one end, so that replicates have a long tail.
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
    """Return limits from the standard error of a value over resamples.

    Parameters
    ----------
    metric : Metric
    value : float
    spread : Spread
    trials : float
        Units of the value, which set the width at an end of the range.
    units : Units
    df : float
        Degrees of freedom of the standard error.
    """
    quantile = t_quantile(sampling.upper, df)
    bounded = math.isfinite(metric.low) and math.isfinite(metric.high)
    if bounded and metric.interval not in ("delong", "ranking"):
        return spread_limits(metric, value, spread, quantile, max(trials, 1), units.method, units.labels)
    if spread.error == 0 and not bounded:
        return no_limits("all resamples have the same value")
    ends = transformed_scale_limits(metric, value, spread.error, quantile, max(trials, 2))
    return Limits(*ends, units.method, spread.error)
