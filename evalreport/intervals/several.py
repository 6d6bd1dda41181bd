"""Intervals of metrics of several classes, and of several labels per row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.facts import BinaryCounts, ClassScores, Counts, ScoreTable, Summary, Tally
from evalreport.facts.counts import Array
from evalreport.intervals.averages import ranking_errors
from evalreport.intervals.binary import class_majority, proportion_limits, table_limits
from evalreport.intervals.classwise import class_gap_limits
from evalreport.intervals.confusions import spreads
from evalreport.intervals.contributions import slopes
from evalreport.intervals.evenness import evenness_limits
from evalreport.intervals.proportions import score_limits
from evalreport.intervals.pull import AreaLimits, ClassMoves, area_spread
from evalreport.intervals.quantiles import t_quantile
from evalreport.intervals.sampling import Limits, Sampling, no_limits
from evalreport.intervals.scales import Spread, spread_limits, transformed
from evalreport.intervals.tables import Tables
from evalreport.intervals.unseen import area_error, deviations, seen, stage, staged_limits
from evalreport.metrics import Metric, view
from evalreport.metrics.averages import AreaAverage
from evalreport.metrics.multiclass import with_gaps
from evalreport.metrics.strategies import (
    CalibrationGaps,
    ClassGaps,
    CountDraws,
    Evenness,
    LabelAreas,
    MostFrequent,
    Proportion,
    RightAnswers,
    RowMean,
)
from evalreport.predictions import Predictions
from evalreport.resampling import poisson_counts


def several_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], summary: Summary, sampling: Sampling
) -> dict[str, Limits]:
    """Return the limits of multiclass and multilabel metrics that need no counts.

    Parameters
    ----------
    metrics : sequence of Metric
        Records with a value that read scores, the tally, the confidence or the bins; or proportions.
    values : mapping from their names to their values
    summary : Summary
    """
    areas = [metric for metric in metrics if isinstance(metric.strategy, LabelAreas)]
    limits = ranking_limits(areas, values, summary, sampling)
    gaps_over: dict[bytes, Limits] = {}  # where all classes have examples, two metrics are over the same
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
            case ClassGaps() as gaps:
                over = with_gaps(view(summary, "bins"), declared=gaps.declared).tobytes()
                if over not in gaps_over:
                    ends = class_gap_limits(gaps, value, summary, sampling)
                    gaps_over[over] = Limits(*ends, "test inversion")
                limits[metric.name] = gaps_over[over]
    return limits


def multiclass_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], summary: Summary, sampling: Sampling
) -> dict[str, Limits]:
    """Return the limits of multiclass metrics that estimate something.

    Parameters
    ----------
    metrics : sequence of Metric
        Multiclass records with a value.
    values : mapping from their names to their values
    summary : Summary
    """
    counted = [
        m for m in metrics if isinstance(m.strategy, CountDraws | Evenness | RightAnswers | MostFrequent)
    ]
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
            case Evenness(of):
                labels = m.support if of == "truth" else m.predicted
                limits[metric.name] = evenness_limits(value, labels, sampling)
            case MostFrequent() as frequent:
                limits[metric.name] = class_majority(frequent, m.tp, m.support, m.predicted, sampling)
            case _:
                limits[metric.name] = staged_limits(
                    stage(metric, m, value), drawn[metric.name], _drawn_limits(metric, counts, sampling)
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
    """Return the limits of averages of one-vs-rest rankings."""
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
            ends = transformed(metric, value, whole, t_quantile(sampling.upper, max(df, 1.0)), df + 1)
            limits[metric.name] = Limits(*ends, "influence", whole)
            continue
        if average.area not in each:
            each[average.area] = AreaLimits.of(average.area, ranked, sampling.level)
        spread, freedom = area_spread(
            average, ranked, each[average.area], whole, max(df, 1.0), sampling.level
        )
        quantile = t_quantile(sampling.upper, freedom)
        own = spread_limits(metric, value, spread, quantile, df + 1, "influence")
        # Of the bias of average precision about half is told: the lower end holds as much again.
        limits[metric.name] = replace(own, low=max(own.low - max(spread.bias, 0.0), metric.low))
    return limits


def mean_limits(metric: Metric, value: float, tally: Tally, sampling: Sampling) -> Limits:
    """Return Student's limits of a mean over rows, on the score scale of a bounded range, else on the log.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> import numpy as np
    >>> tally = Tally.of({"one_error": np.array([0.0, 1, 0, 0, 0.5, 0])}, np.ones(6))
    >>> limits = mean_limits(find("one_error", "multilabel"), 0.25, tally, Sampling())
    >>> round(limits.low, 2), round(limits.high, 2)
    (0.04, 0.71)
    """
    n = tally.weight
    error = math.sqrt(tally.variance(metric.name) / (n - 1))
    quantile = t_quantile(sampling.upper, n - 1)
    if math.isfinite(metric.high):
        low, high = score_limits(value, error, n, quantile, (metric.low, metric.high))
        return Limits(float(low), float(high), "t", error)
    if error == 0:
        return no_limits("all rows have the same value")
    ends = transformed(metric, value, error, quantile, n)
    return Limits(*ends, "t", error)


Rows = npt.NDArray[np.bool_]
Together = Callable[[Array], Array]
"""From slopes of shape (labels, 4, metrics) to the sum of squares of the rows' influences on each metric."""
DRAWS = 500
"""Draws; their spread and mean are used, not their tails."""
PRIOR = 0.5
"""Rows added to each cell of a label: without them one that was always right would look certain."""
LEAST = 0.1
"""Share of the drawn variance that is left at least. What rows vary together is a difference of two
estimates, which with few rows may be below minus the variance itself; a covariance cannot take it all."""
METHOD = "smoothed bootstrap by row"
CELLS = 1 << 16
"""(row, label) cells that are made floats at a time: half a megabyte, which a second-level cache holds."""


def multilabel_limits(
    metrics: Sequence[Metric],
    values: Mapping[str, float],
    summary: Summary,
    predictions: Predictions | None,
    sampling: Sampling,
) -> dict[str, Limits]:
    """Return the limits of multilabel metrics that estimate something.

    Parameters
    ----------
    metrics : sequence of Metric
        Multilabel records with a value.
    values : mapping from their names to their values
    summary : Summary
    predictions : Predictions or None
        The rows; without them those of the scores and the threshold, when these decided.
    """
    counted = [metric for metric in metrics if isinstance(metric.strategy, CountDraws)]
    rest = [metric for metric in metrics if metric not in counted]
    limits = several_limits(rest, values, summary, sampling)
    if not counted or not isinstance(summary.counts, BinaryCounts):
        return limits
    together = _together(summary, predictions)
    if together is None:
        missing = no_limits("labels of one row go together, and the rows are not at hand")
        return limits | {metric.name: missing for metric in counted}
    return limits | _counted_limits(counted, values, summary.counts, together, sampling)


def _together(summary: Summary, predictions: Predictions | None) -> Together | None:
    """What tells how rows vary over all their labels: the rows, or the moments of their labels."""
    rows = _decisions(summary, predictions)
    if rows is not None:
        return lambda slope: _variation(slope, *rows)
    if summary.together is None:
        return None
    moments = summary.together
    return lambda slope: moments.variation(np.concatenate(_flag_slopes(slope)))


def _decisions(summary: Summary, predictions: Predictions | None) -> tuple[Rows, Rows] | None:
    """Truth and predictions, bool of shape (n, labels)."""
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
        labels = stage(metric, counts, values[metric.name])
        limits[metric.name] = staged_limits(labels, spread, _spread_limits(metric, n, sampling))
    return limits


def _spread_limits(metric: Metric, n: int, sampling: Sampling) -> Callable[[float, Spread], Limits]:
    return lambda value, spread: spread_limits(metric, value, spread, sampling.z, n, METHOD)


def _spreads(
    metrics: Sequence[Metric], counts: BinaryCounts, varies: Together, sampling: Sampling
) -> list[Spread]:
    """Standard error and bias: those of independent labels, drawn, and the covariance of rows between them.

    Draws see the bias and, being smoothed, labels with few rows; they do not see that rows carry several
    labels. Influences see that alone.
    """
    cells = _cells(counts)
    slope = np.stack([slopes(_seen(metric, counts), cells) for metric in metrics], axis=-1)
    together = varies(slope)
    n = cells[0].sum()
    mean = np.einsum("kc,kcm->km", cells, slope)
    apart = np.einsum("kc,kcm->m", cells, slope**2) - (mean**2).sum(axis=0) / n
    smooth = (cells + PRIOR) * (n / (n + 4 * PRIOR))
    drawn = poisson_counts(smooth, DRAWS, sampling.generator(6))
    drawn *= n / np.maximum(drawn.sum(axis=-1, keepdims=True), 1)
    found = []
    for place, metric in enumerate(metrics):
        values = deviations(metric, _counts(drawn, counts), _counts(smooth, counts))
        variance = float(values.var())
        variance = max(variance + float(together[place] - apart[place]), LEAST * variance)
        spread, moved = Spread(math.sqrt(variance), float(values.mean())), ClassMoves.of(metric)
        if moved is not None:
            moved.add(_counts(drawn, counts), _counts(smooth, counts))
            spread = moved.pulled(spread, counts, _counts(smooth, counts), sampling)
        found.append(spread)
    return found


def _seen(metric: Metric, counts: BinaryCounts) -> Callable[[Array], Any]:
    return lambda cells: seen(metric)(_counts(cells, counts))


def _counts(cells: Array, like: BinaryCounts) -> BinaryCounts:
    tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
    return BinaryCounts(tp, fp, fn, tn, np.zeros_like(tp), like.threshold)


def _cells(counts: BinaryCounts) -> Array:
    return np.stack([counts.tp, counts.fp, counts.fn, counts.tn], axis=-1)


def _flag_slopes(slopes: Array) -> tuple[Array, Array, Array]:
    """What a row moves metrics by that carries a label, that was given it, and beyond these by both."""
    tp, fp, fn, tn = np.moveaxis(slopes, 1, 0)
    return fn - tn, fp - tn, tp - fp - fn + tn


def _variation(slopes: Array, truth: Rows, predicted: Rows) -> Array:
    """Sum of squares, about their mean, of the influences of all rows on each metric, in float64."""
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
