"""Intervals of multiclass and multilabel metrics, and of binary metrics of each label against the rest.

Metrics of counts are computed for all labels at once, metrics of scores label by label.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.result import Result, Undefined
from evalreport.data.predictions import Predictions
from evalreport.intervals.bootstrap import Units, count_bounds
from evalreport.intervals.class_averages import (
    AreaLimits,
    ClassMoves,
    area_spread,
    merged_place,
    ranking_errors,
    spreads,
)
from evalreport.intervals.curve_points import Tables, proportion_limits, table_limits
from evalreport.intervals.distributions import score_limits, t_quantile, wilson
from evalreport.intervals.grouped_rows import (
    Ranked,
    Replicates,
    Rough,
    interval,
    ranked_limits,
    spread_errors,
    where_empty,
)
from evalreport.intervals.interval_settings import (
    FEWEST,
    NOT_ASKED,
    Limits,
    Sampling,
    by_rows,
    estimate,
    no_limits,
)
from evalreport.intervals.row_influence import slopes
from evalreport.intervals.standard_errors import (
    Spread,
    area_error,
    deviations,
    influence,
    observed_class_average,
    spread_limits,
    staged_limits,
    transformed_scale_limits,
    two_stage_mean,
)
from evalreport.metrics.averages import AreaAverage
from evalreport.metrics.record import (
    CalibrationGaps,
    CountDraws,
    DeLong,
    LabelAreas,
    Metric,
    Proportion,
    RightAnswers,
    RowMean,
    Smooth,
    lacks,
    one_vs_rest,
    view,
)
from evalreport.statistics.class_scores import ClassScores, LabelScores, RankedScores
from evalreport.statistics.confusion import Array, BinaryCounts, Counts
from evalreport.statistics.resampling import Stream, poisson_counts
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import RowSums, Summary

Bounds: TypeAlias = tuple[Array, Array, Array, str]
"""Lower limit, upper limit and standard error of each label, and the method."""


def allows_merged_negatives(metric: Metric) -> bool:
    """Return whether a metric is the same for a table whose negatives are merged between positives.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> allows_merged_negatives(find("roc_auc")), allows_merged_negatives(find("ks"))
    (True, False)
    """
    return isinstance(metric.strategy, DeLong | Smooth) and metric.strategy.merged


@dataclass(frozen=True)
class AnalyticBounds:
    """Bounds for independent rows of equal weight."""

    sampling: Sampling

    def bounds(self, metrics: Sequence[Metric], counts: BinaryCounts, summary: Summary) -> dict[str, Bounds]:
        """Return the limits of functions of the counts of all labels.

        Parameters
        ----------
        metrics : sequence of Metric
            Binary records with an interval.
        counts : BinaryCounts
            Fields of shape (labels,).
        summary : Summary
        """
        found: dict[str, Bounds] = {}
        drawn = [m for m in metrics if isinstance(m.strategy, CountDraws)]
        for name, (low, high, error) in count_bounds(drawn, counts, self.sampling).items():
            found[name] = (low, high, error, "dirichlet")
        for metric in metrics:
            if isinstance(metric.strategy, Proportion):
                found[metric.name] = self._wilson(metric, counts, summary.weight)
        return found

    def _wilson(self, metric: Metric, counts: BinaryCounts, total: float) -> Bounds:
        values = np.asarray(metric.function(counts), dtype=np.float64)
        n = np.asarray(metric.denominator(counts, total), dtype=np.float64)
        low, high = wilson(values * n, n, self.sampling.level)
        with np.errstate(divide="ignore", invalid="ignore"):
            return low, high, np.sqrt(values * (1 - values) / n), "wilson"

    def limits(self, metric: Metric, value: float, tables: Tables, label: int) -> Limits:  # noqa: ARG002
        """Return the limits of a function of one label's score table."""
        return table_limits(metric, value, tables, self.sampling)


@dataclass(frozen=True)
class BootstrapBounds:
    """Bounds for weighted or grouped rows."""

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
        """Return the limits of a function of one label's score table."""
        table, units = tables.exact, self.replicates.units
        p, scores = self.replicates.p, self.replicates.scores[:, label]
        positive = p.y_true[:, label].astype(bool) if p.y_true.ndim == 2 else p.y_true == label
        if isinstance(metric.strategy, Rough):
            return ranked_limits(
                metric.strategy, value, Ranked(table, scores, positive, units), self.sampling
            )
        found = influence(metric, table)
        place = np.minimum(np.searchsorted(table.scores, scores), len(table) - 1)
        if allows_merged_negatives(metric):
            place = merged_place(table, scores)
        rows = p.weights * np.where(positive, found[0][place], found[1][place])
        rows /= table.positives + table.negatives
        drawn = units.replicate_sums(units.sum_by_unit(rows))
        trials = units.size * min(table.positives, table.negatives) / self.replicates.summary.weight
        return self._limits(metric, value, float(units.error(drawn)), trials, units.freedom(drawn))

    def _limits(self, metric: Metric, value: float, error: float, trials: float, df: float) -> Limits:
        if not math.isfinite(value):
            return Limits()
        return interval(metric, value, Spread(error), trials, self.replicates.units, df, self.sampling)


TOO_FEW = no_limits("an interval needs at least 2 rows")


def class_estimates(
    metrics: Sequence[Metric], summary: Summary, predictions: Predictions | None, sampling: Sampling
) -> tuple[dict[str, Result], ...]:
    """Return binary metrics of each label against the rest, with their intervals.

    Parameters
    ----------
    metrics : sequence of Metric
        Binary records that read counts, true labels or scores.
    summary : Summary
        Of a multiclass or multilabel problem.
    predictions : Predictions or None
        The rows, which intervals of weighted or grouped rows need.
    sampling : Sampling

    Returns
    -------
    tuple of dict from a metric's name to `Estimate` or `Undefined`, one per label in order.

    Examples
    --------
    >>> from evalreport.statistics.summary import summarise
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.metrics.catalogue import find
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Multiclass("ab"), list("aabb"), list("abbb"))
    >>> found = class_estimates([find("recall", "binary")], summarise(p), p, Sampling())
    >>> [label["recall"].value for label in found]
    [0.5, 1.0]
    """
    found: list[dict[str, Result]] = [{} for _ in summary.space.labels]
    maker: AnalyticBounds | BootstrapBounds = AnalyticBounds(sampling)
    if sampling.intervals and predictions is not None and by_rows(predictions):
        maker = BootstrapBounds(
            Replicates(predictions, summary, Units.from_predictions(predictions, sampling)), sampling
        )
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
    missing = _limits_unavailable(summary, maker.sampling)
    some = [metric for metric in metrics if metric.no_interval is None and missing is None]
    bounds = maker.bounds(some, counts, summary)
    for metric in metrics:
        values = _per_label(metric.function(counts), len(found))
        n = _per_label(metric.denominator(counts, summary.weight), len(found))
        for k, label in enumerate(found):
            limits = missing or no_limits(metric.no_interval or "")
            if metric.name in bounds:
                low, high, error, method = bounds[metric.name]
                limits = Limits(float(low[k]), float(high[k]), method, float(error[k]))
            fact = None if math.isfinite(values[k]) else counts[k]
            label[metric.name] = _result(metric, values[k], n[k], limits, fact)


def _limits_unavailable(summary: Summary, sampling: Sampling) -> Limits | None:
    """Reason why no metric has an interval, or None."""
    if not sampling.intervals:
        return no_limits(NOT_ASKED)
    return TOO_FEW if summary.rows < FEWEST else None


def _truth(scores: LabelScores) -> BinaryCounts:
    """Counts of the true labels without predictions: each row counts as predicted correctly."""
    positives = scores.rankings.positives
    none = np.zeros(len(positives))
    return BinaryCounts(positives, none, none, scores.weight - positives, none)


def _per_label(values: Any, size: int) -> Any:
    return np.broadcast_to(np.asarray(values, dtype=np.float64), (size,))


def _result(
    metric: Metric, value: Any, n: Any, limits: Limits, fact: BinaryCounts | ScoreTable | None
) -> Result:
    """A value with its limits, or why it is undefined."""
    if math.isfinite(value):
        return estimate(metric, metric.clip_to_range(float(value)), float(n), limits)
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
    missing = _limits_unavailable(summary, maker.sampling)
    whole = not all(allows_merged_negatives(metric) for metric in metrics)
    for k, (short, label) in enumerate(zip(scores.rankings.tables, found, strict=True)):
        between = Tables(short)
        full = Tables(scores.table(k)) if whole and isinstance(scores, RankedScores) else between
        for metric in metrics:
            tables = between if allows_merged_negatives(metric) else full
            value = metric.function(tables.exact)
            limits = missing or no_limits(metric.no_interval or "")
            if math.isfinite(value) and limits.reason == "":
                limits = maker.limits(metric, value, tables, k)
            label[metric.name] = _result(metric, value, summary.weight, limits, tables.exact)


def several_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], summary: Summary, sampling: Sampling
) -> dict[str, Limits]:
    """Return the limits of multiclass and multilabel metrics that need no counts.

    Parameters
    ----------
    metrics : sequence of Metric
        Records with a value that read scores, row sums, confidence or bins; or proportions.
    values : mapping from their names to their values
    summary : Summary
    """
    areas = [metric for metric in metrics if isinstance(metric.strategy, LabelAreas)]
    limits = ranking_limits(areas, values, summary, sampling)
    for metric in metrics:
        value = values[metric.name]
        match metric.strategy:
            case Proportion():
                limits[metric.name] = proportion_limits(value, metric.weight(summary), sampling)
            case RowMean():
                limits[metric.name] = mean_limits(metric, value, summary.tally, sampling)
            case CalibrationGaps():
                table: ScoreTable = view(summary, metric.reads)
                limits[metric.name] = table_limits(metric, value, Tables(table), sampling)
    return limits


def multiclass_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], summary: Summary, sampling: Sampling
) -> dict[str, Limits]:
    """Return the limits of multiclass metrics.

    Parameters
    ----------
    metrics : sequence of Metric
        Multiclass records with a value.
    values : mapping from their names to their values
    summary : Summary
    """
    counted = [m for m in metrics if isinstance(m.strategy, CountDraws | RightAnswers)]
    rest = [metric for metric in metrics if metric not in counted]
    limits = several_limits(rest, values, summary, sampling)
    if isinstance(summary.counts, Counts):
        limits |= _count_limits(counted, values, summary.counts, sampling)
    return limits


def _count_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], counts: Counts, sampling: Sampling
) -> dict[str, Limits]:
    drawn = spreads([m for m in metrics if isinstance(m.strategy, CountDraws)], counts, sampling)
    m, limits = counts.marginals, {}
    for metric in metrics:
        value = values[metric.name]
        match metric.strategy:
            case RightAnswers():
                trials = float(m.right) / value if value else counts.total
                limits[metric.name] = proportion_limits(value, trials, sampling)
            case _:
                limits[metric.name] = staged_limits(
                    two_stage_mean(metric, m, value),
                    drawn[metric.name],
                    _drawn_limits(metric, counts, sampling),
                )
    return limits


def _drawn_limits(metric: Metric, counts: Counts, sampling: Sampling) -> Callable[[float, Spread], Limits]:
    def limits(value: float, spread: Spread) -> Limits:
        rows, method = counts.total, "smoothed bootstrap"
        return spread_limits(metric, value, spread, sampling.z, rows, method, counts.size)

    return limits


def ranking_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], summary: Summary, sampling: Sampling
) -> dict[str, Limits]:
    """Return the limits of averages of one-vs-rest areas under curves."""
    if not metrics:
        return {}
    averages: list[AreaAverage] = [metric.function for metric in metrics]  # type: ignore[misc]
    found = ranking_errors(averages, view(summary, "scores"), sampling)
    ranked, limits = view(summary, "scores").rankings, {}
    each: dict[str, AreaLimits] = {}
    for metric, average, (error, df) in zip(metrics, averages, found, strict=True):
        if not math.isfinite(error):
            limits[metric.name] = no_limits("no label has two rows of either kind")
            continue
        whole, value = area_error(metric, summary, error), values[metric.name]
        if average.over == "micro":
            ends = transformed_scale_limits(
                metric, value, whole, t_quantile(sampling.upper, max(df, 1.0)), df + 1
            )
            limits[metric.name] = Limits(*ends, "influence", whole)
            continue
        if average.area not in each:
            each[average.area] = AreaLimits.from_rankings(average.area, ranked, sampling.level)
        spread, freedom = area_spread(
            average, ranked, each[average.area], whole, max(df, 1.0), sampling.level
        )
        quantile = t_quantile(sampling.upper, freedom)
        own = spread_limits(metric, value, spread, quantile, df + 1, "influence")
        # The estimated bias of average precision is about half the true one: subtract it again.
        limits[metric.name] = replace(own, low=max(own.low - max(spread.bias, 0.0), metric.low))
    return limits


def mean_limits(metric: Metric, value: float, row_sums: RowSums, sampling: Sampling) -> Limits:
    """Return Student's t limits of a mean over rows, as a score interval or (range without end) on the log.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> import numpy as np
    >>> row_sums = RowSums.from_rows({"one_error": np.array([0.0, 1, 0, 0, 0.5, 0])}, np.ones(6))
    >>> limits = mean_limits(find("one_error", "multilabel"), 0.25, row_sums, Sampling())
    >>> round(limits.low, 2), round(limits.high, 2)
    (0.04, 0.71)
    """
    n = row_sums.weight
    error = math.sqrt(row_sums.variance(metric.name) / (n - 1))
    quantile = t_quantile(sampling.upper, n - 1)
    if math.isfinite(metric.high):
        low, high = score_limits(value, error, n, quantile, (metric.low, metric.high))
        return Limits(float(low), float(high), "t", error)
    if error == 0:
        return no_limits("all rows have the same value")
    ends = transformed_scale_limits(metric, value, error, quantile, n)
    return Limits(*ends, "t", error)


Rows = npt.NDArray[np.bool_]
Together = Callable[[Array], Array]
"""From slopes of shape (labels, 4, metrics) to the sum of squared influences of the rows on each metric."""
DRAWS = 500
"""Resamples; only their mean and standard deviation are used, not their tails."""
PRIOR = 0.5
"""Rows added to each cell of a label: without them a label with only correct rows would have no variance."""
LEAST = 0.1
"""Lower limit of the variance, as a proportion of that of independent labels. The covariance is a difference
of two estimates and can by chance cancel the variance; the true covariance cannot."""
METHOD = "smoothed bootstrap by row"
CELLS = 1 << 16
"""(row, label) cells converted to floats at a time: half a megabyte, which fits a second-level cache."""


def multilabel_limits(
    metrics: Sequence[Metric],
    values: Mapping[str, float],
    summary: Summary,
    predictions: Predictions | None,
    sampling: Sampling,
) -> dict[str, Limits]:
    """Return the limits of multilabel metrics.

    Parameters
    ----------
    metrics : sequence of Metric
        Multilabel records with a value.
    values : mapping from their names to their values
    summary : Summary
    predictions : Predictions or None
        The rows; without them the rows of the scores, if a threshold made the predictions.
    """
    counted = [metric for metric in metrics if isinstance(metric.strategy, CountDraws)]
    rest = [metric for metric in metrics if metric not in counted]
    limits = several_limits(rest, values, summary, sampling)
    if not counted or not isinstance(summary.counts, BinaryCounts):
        return limits
    together = _joint_variation(summary, predictions)
    if together is None:
        missing = no_limits("labels of one row go together, and the rows are not at hand")
        return limits | {metric.name: missing for metric in counted}
    return limits | _counted_limits(counted, values, summary.counts, together, sampling)


def _joint_variation(summary: Summary, predictions: Predictions | None) -> Together | None:
    """The variance of rows over all their labels: from the rows, or from the moments of their labels."""
    rows = _decisions(summary, predictions)
    if rows is not None:
        return lambda slope: _variation(slope, *rows)
    if summary.together is None:
        return None
    moments = summary.together
    return lambda slope: moments.variation(np.concatenate(_flag_slopes(slope)))


def _decisions(summary: Summary, predictions: Predictions | None) -> tuple[Rows, Rows] | None:
    """True labels and predictions, bool of shape (n, labels)."""
    if predictions is not None and predictions.y_pred is not None:
        return predictions.y_true.astype(bool), predictions.y_pred.astype(bool)
    if isinstance(summary.scores, ClassScores) and summary.threshold is not None:
        scores = summary.scores
        return scores.truth.astype(bool), scores.scores.astype(np.float64) >= np.asarray(
            summary.threshold.value
        )
    return None


def _counted_limits(
    metrics: Sequence[Metric],
    values: Mapping[str, float],
    counts: BinaryCounts,
    together: Together,
    sampling: Sampling,
) -> dict[str, Limits]:
    found, n = _spreads(metrics, counts, together, sampling), round(float(_cells(counts)[0].sum()))
    limits = {}
    for metric, spread in zip(metrics, found, strict=True):
        labels = two_stage_mean(metric, counts, values[metric.name])
        limits[metric.name] = staged_limits(labels, spread, _spread_limits(metric, n, sampling))
    return limits


def _spread_limits(metric: Metric, n: int, sampling: Sampling) -> Callable[[float, Spread], Limits]:
    return lambda value, spread: spread_limits(metric, value, spread, sampling.z, n, METHOD)


def _spreads(
    metrics: Sequence[Metric], counts: BinaryCounts, varies: Together, sampling: Sampling
) -> list[Spread]:
    """Standard error and bias: those of independent labels by resamples, plus the covariance between labels.

    Smoothed resamples give the bias and the variance of labels with few rows, but ignore that a row has
    several labels. Influences give that covariance.
    """
    cells = _cells(counts)
    slope = np.stack([slopes(_average_from_cells(metric, counts), cells) for metric in metrics], axis=-1)
    together = varies(slope)
    n = cells[0].sum()
    mean = np.einsum("kc,kcm->km", cells, slope)
    apart = np.einsum("kc,kcm->m", cells, slope**2) - (mean**2).sum(axis=0) / n
    smooth = (cells + PRIOR) * (n / (n + 4 * PRIOR))
    drawn = poisson_counts(smooth, DRAWS, sampling.generator(Stream.LABEL_CELLS))
    drawn *= n / np.maximum(drawn.sum(axis=-1, keepdims=True), 1)
    found = []
    for place, metric in enumerate(metrics):
        values = deviations(metric, _counts(drawn, counts), _counts(smooth, counts))
        variance = float(values.var())
        variance = max(variance + float(together[place] - apart[place]), LEAST * variance)
        spread, moved = Spread(math.sqrt(variance), float(values.mean())), ClassMoves.from_metric(metric)
        if moved is not None:
            moved.add(_counts(drawn, counts), _counts(smooth, counts))
            spread = moved.adjust_spread(spread, counts, _counts(smooth, counts), sampling)
        found.append(spread)
    return found


def _average_from_cells(metric: Metric, counts: BinaryCounts) -> Callable[[Array], Any]:
    return lambda cells: observed_class_average(metric)(_counts(cells, counts))


def _counts(cells: Array, like: BinaryCounts) -> BinaryCounts:
    tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
    return BinaryCounts(tp, fp, fn, tn, np.zeros_like(tp), like.threshold)


def _cells(counts: BinaryCounts) -> Array:
    return np.stack([counts.tp, counts.fp, counts.fn, counts.tn], axis=-1)


def _flag_slopes(slopes: Array) -> tuple[Array, Array, Array]:
    """Effects of a row with a true label, with a predicted label, and the additional effect of both."""
    tp, fp, fn, tn = np.moveaxis(slopes, 1, 0)
    return fn - tn, fp - tn, tp - fp - fn + tn


def _variation(slopes: Array, truth: Rows, predicted: Rows) -> Array:
    """Sum of squared deviations of the rows' influences on each metric, in float64."""
    carries, given, both = _flag_slopes(slopes)
    moves = np.empty((len(truth), slopes.shape[-1]))
    step = max(1, CELLS // truth.shape[1])
    for start in range(0, len(truth), step):
        block = slice(start, start + step)
        true, named = truth[block], predicted[block]
        moves[block] = true @ carries + named @ given + (true & named) @ both
    moves -= moves.mean(axis=0)
    found: Array = np.einsum("im,im->m", moves, moves)
    return found
