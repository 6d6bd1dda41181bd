"""The interval of each multilabel metric: rows carry all labels, so it is made from rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.facts import BinaryCounts, ClassScores, Summary
from evalreport.facts.counts import Array
from evalreport.intervals.multiclass import several_limits
from evalreport.intervals.pull import ClassMoves
from evalreport.intervals.sampling import Limits, Sampling, no_limits
from evalreport.intervals.scales import Spread, spread_limits
from evalreport.intervals.slopes import slopes
from evalreport.intervals.unseen import deviations, seen, stage, staged_limits
from evalreport.metrics import Metric
from evalreport.metrics.strategies import CountDraws
from evalreport.predictions import Predictions
from evalreport.resampling import poisson_counts

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
    return limits | _count_limits(counted, values, summary.counts, together, sampling)


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


def _count_limits(
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
        limits[metric.name] = staged_limits(labels, spread, _drawn_limits(metric, n, sampling))
    return limits


def _drawn_limits(metric: Metric, n: int, sampling: Sampling) -> Callable[[float, Spread], Limits]:
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
    moves: Array = truth @ carries + predicted @ given + (truth & predicted) @ both
    moves -= moves.mean(axis=0)
    found: Array = np.einsum("im,im->m", moves, moves)
    return found
