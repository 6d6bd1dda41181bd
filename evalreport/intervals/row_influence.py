"""Contributions of rows to a metric, so that variances add up over rows, clusters and pairs.

A metric is a function of the row weights. The contribution of row i is the derivative by its weight, times
the weight (the infinitesimal jackknife: Jaeckel 1972; Efron & Stein). The sum of squared contributions
estimates the variance. For clusters, contributions are summed within clusters first; for two models, they are
subtracted row by row first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, assert_never

import numpy as np
import numpy.typing as npt

from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores
from evalreport.intervals.bootstrap import own_value
from evalreport.intervals.class_averages import average_moves, pooled_moves
from evalreport.metrics.averages import AreaAverage
from evalreport.metrics.record import Influence, Metric, view
from evalreport.statistics.class_scores import ClassScores
from evalreport.statistics.confusion import Array, BinaryCounts, Counts, Marginals
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary, row_values, summarise

STEP = 1e-5
"""Relative step, about the cube root of float64 precision: truncation error and rounding error of a central
difference are then about equal."""
BLOCK = 256
"""Counts that are changed at a time."""


def slopes(function: Callable[[Array], Any], at: Array) -> Array:
    """Return the derivative of a function by each count; 0 for a count of 0, which has no rows.

    Parameters
    ----------
    function : callable
        From arrays of shape (m, *shape of `at`) to values of shape (m,).
    at : float64 array
        Counts, >= 0.

    Examples
    --------
    >>> slopes(lambda c: c[:, 0] / (c[:, 0] + c[:, 1]), np.array([3.0, 1.0])).round(6)
    array([ 0.0625, -0.1875])
    """
    flat = at.ravel()
    step = STEP * np.nan_to_num(flat)
    found = np.zeros(len(flat))
    moved = np.flatnonzero(step > 0)
    for start in range(0, len(moved), BLOCK):
        place = moved[start : start + BLOCK]
        moves = np.zeros((len(place), len(flat)))
        moves[np.arange(len(place)), place] = step[place]
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down = (function((flat + sign * moves).reshape(-1, *at.shape)) for sign in (1, -1))
        found[place] = np.nan_to_num((np.asarray(up) - np.asarray(down)) / (2 * step[place]))
    return found.reshape(at.shape)


PER_FOLD = ("scores", "probabilities")
"""Inputs of metrics that are averaged over folds: scores of models fitted on different rows are not on one
scale (Forman & Scholz 2010; Airola et al. 2011)."""


@dataclass(frozen=True, eq=False)
class Counted:
    """Predictions with their summary, and cached parts that all metrics use.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> len(Counted.from_predictions(predictions(Binary(0, 1), [1, 0], [1, 1])).predictions)
    2
    """

    predictions: Predictions
    facts: Summary
    _latest: dict[str, Array | None] = field(default_factory=dict, repr=False)

    @classmethod
    def from_predictions(cls, predictions: Predictions) -> Self:
        """Summarise the predictions."""
        return cls(predictions, summarise(predictions))

    @cached_property
    def row_values(self) -> Mapping[str, Array]:
        """The per-row quantities whose means are metrics."""
        return row_values(self.predictions)

    @cached_property
    def folds(self) -> tuple[tuple[npt.NDArray[np.intp], Counted], ...]:
        """The row positions and the predictions of each fold; empty without folds."""
        column, plain = self.predictions.folds, replace(self.predictions, folds=None)
        if column is None:
            return ()
        places = [np.flatnonzero(column.codes == code) for code in range(len(column.values))]
        return tuple((rows, Counted.from_predictions(plain.take(rows))) for rows in places if len(rows))

    def value(self, metric: Metric) -> float | Undefined:
        """Return the value of a metric; for ranking and calibration the mean over folds that have one."""
        if metric.interval == "own":
            return own_value(metric.name, self.predictions)
        if not (self.folds and by_fold(metric)):
            return metric.compute_value(self.facts)
        found = [metric.compute_value(fold.facts) for _, fold in self.folds]
        known = [value for value in found if not isinstance(value, Undefined)]
        if known:
            return float(np.mean(known))
        reasons = {value.reason for value in found if isinstance(value, Undefined)}
        reason = reasons.pop() if len(reasons) == 1 else "undefined in every fold"
        return Undefined(reason, self.facts.weight)

    @cached_property
    def places(self) -> npt.NDArray[np.intp]:
        """Binary scores: the position of each row in the score table."""
        table, scores = self.facts.scores, self.predictions.scores
        if not isinstance(table, ScoreTable) or isinstance(scores, NoScores):
            return np.empty(0, dtype=np.intp)
        return np.minimum(np.searchsorted(table.scores, scores.values), len(table) - 1)

    def contributions(self, metric: Metric) -> Array | None:
        """Return `contributions` to a metric, cached until another metric is used."""
        if metric.name not in self._latest:
            self._latest.clear()
            self._latest[metric.name] = contributions(metric, self)
        return self._latest[metric.name]


def by_fold(metric: Metric) -> bool:
    """Return whether a metric of a cross-validation is the mean over its folds.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> by_fold(find("roc_auc", "binary")), by_fold(find("recall", "binary"))
    (True, False)
    """
    return metric.needs in PER_FOLD and metric.interval != "none"


def _over_folds(metric: Metric, counted: Counted) -> Array | None:
    """Contributions of rows to the mean over folds: to their own fold's value, over the number of folds."""
    defined = [
        (rows, fold) for rows, fold in counted.folds if isinstance(metric.compute_value(fold.facts), float)
    ]
    whole = np.zeros(len(counted.predictions))
    for rows, fold in defined:
        own = contributions(metric, fold)
        if own is None:
            return None
        whole[rows] = own / len(defined)
    return whole


def contributions(metric: Metric, counted: Counted) -> Array | None:
    """Return the contribution of each row to a metric: the derivative by its weight, times its weight.

    Parameters
    ----------
    metric : Metric
        Defined on these predictions.
    counted : Counted

    Returns
    -------
    float64 array of shape (n,) with sum 0, or None for a metric without a derivative here (a maximum over
    thresholds, a binned error).

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Binary(0, 1), [1, 1, 0, 0], [1, 0, 0, 0])
    >>> contributions(find("recall", "binary"), Counted.from_predictions(p)).round(3)
    array([ 0.25, -0.25,  0.  ,  0.  ])
    """
    if counted.folds and by_fold(metric):
        return _over_folds(metric, counted)
    p, facts = counted.predictions, counted.facts
    slope: Array | None = None
    match metric.reads:
        case "counts":
            slope = _of_counts(metric, p, facts)
        case "tally":
            slope = _of_mean(counted.row_values.get(metric.name), facts.weight, p.weights)
        case "scores":
            slope = _of_scores(metric, counted)
    return None if slope is None else slope * p.weights


def _of_mean(rows: Array | None, total: float, weights: Array) -> Array | None:
    return None if rows is None else (rows - weights @ rows / total) / total


def _of_counts(metric: Metric, p: Predictions, facts: Summary) -> Array:
    fact = view(facts, "counts")
    match p.space:
        case Binary():
            return _binary_slopes(metric, p, facts)
        case Multiclass():
            return _multiclass_slopes(metric.function, p, fact)
        case Multilabel():
            return _multilabel_slopes(metric.function, p, fact)
        case never:
            assert_never(never)


def _binary_slopes(metric: Metric, p: Predictions, facts: Summary) -> Array:
    counts = facts.counts
    if not isinstance(counts, Counts) or p.y_pred is None:
        return np.zeros(len(p))
    point = view(facts, "counts").threshold

    def metric_from_cells(cells: Array) -> Any:
        tn, fp, unparsed, miss, tp, lost = np.moveaxis(cells, -1, 0)
        return metric.function(BinaryCounts(tp, fp, miss + lost, tn, unparsed, point, lost))

    return slopes(metric_from_cells, counts.dense().ravel())[
        p.y_true * 3 + np.where(p.y_pred < 0, 2, p.y_pred)
    ]


def _multiclass_slopes(function: Callable[[Any], Any], p: Predictions, fact: Marginals) -> Array:
    size = len(fact.tp)

    def metric_from_marginals(parts: Array) -> Any:
        tp, support, predicted, single = np.split(parts.T, [size, 2 * size, 3 * size])
        return function(Marginals(tp.T, support.T, predicted.T, *single))

    single = [fact.total, fact.squared_distance, fact.distance]
    whole = np.concatenate([fact.tp, fact.support, fact.predicted, single])
    tp, support, predicted, (total, squared, distance) = np.split(
        slopes(metric_from_marginals, whole), [size, 2 * size, 3 * size]
    )
    answer = np.append(predicted, 0.0)[np.asarray(p.y_pred)]
    right: Array = np.where(p.y_true == p.y_pred, tp[p.y_true], 0.0)
    slope: Array = support[p.y_true] + answer + total + right
    apart: Array = np.abs(p.y_true.astype(np.float64) - np.asarray(p.y_pred))
    slope += squared * apart**2 + distance * apart
    return slope


def _multilabel_slopes(function: Callable[[Any], Any], p: Predictions, fact: BinaryCounts) -> Array:
    truth, pred = p.y_true.astype(bool), np.asarray(p.y_pred).astype(bool)

    def metric_from_cells(cells: Array) -> Any:
        tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
        return function(BinaryCounts(tp, fp, fn, tn, np.zeros_like(tp), fact.threshold))

    tp, fp, fn, tn = slopes(metric_from_cells, np.stack([fact.tp, fact.fp, fact.fn, fact.tn], axis=-1)).T
    slope: Array = tn.sum() + truth @ (fn - tn) + pred @ (fp - tn) + (truth & pred) @ (tp - fn - fp + tn)
    return slope


def _of_scores(metric: Metric, counted: Counted) -> Array | None:
    scores, average = counted.facts.scores, metric.function
    if isinstance(scores, ScoreTable):
        return None if metric.derivative is None else _of_table(metric.derivative, scores, counted)
    if not isinstance(average, AreaAverage) or not isinstance(scores, ClassScores):
        return None
    if average.over == "micro":
        return pooled_moves([average], scores)[0]
    return average_moves([average], scores, scores)[0].rows


def _of_table(
    derivative: Callable[[ScoreTable], Influence], table: ScoreTable, counted: Counted
) -> Array | None:
    up, down = (part[counted.places] for part in derivative(table))
    positive = counted.predictions.y_true.astype(bool)
    slopes: Array = np.where(positive, up, down) / (table.positives + table.negatives)
    return slopes
