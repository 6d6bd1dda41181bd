"""Selective prediction: the confidence from which a classifier reaches a target accuracy."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np

from evalreport.core.bounds import Operator
from evalreport.core.errors import UsageError
from evalreport.core.result import Undefined
from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions
from evalreport.data.scores import Probabilities
from evalreport.intervals.interval_settings import Sampling
from evalreport.thresholds.best_threshold import Cutoff, Optimum, Unreachable
from evalreport.thresholds.cross_fitting import check_alike, evaluate_thresholds
from evalreport.thresholds.objectives import Constraint, Objective
from evalreport.thresholds.sweep import scores_of_rows

OUTCOME = Binary("wrong", "right")


CutoffChoice: TypeAlias = Cutoff | Unreachable | Undefined


def cutoff(
    rows: Predictions,
    accuracy: float = 0.95,
    *,
    tune_on: Predictions | None = None,
    sampling: Sampling | None = None,
    strict: bool = False,
) -> CutoffChoice:
    """Return the lowest confidence from which predictions reach a target accuracy.

    Parameters
    ----------
    rows : Predictions
        Multiclass predictions with probabilities.
    accuracy : float
        Target accuracy of the accepted predictions, in (0, 1].
    tune_on : Predictions, optional
        Other rows to choose on; without them the held-out value is cross-fitted.
    sampling : Sampling, optional
    strict : bool
        Whether the accuracy must be above the target; equality is then not enough.

    Returns
    -------
    Cutoff, or Unreachable with the best accuracy of any cut-off, or Undefined without probabilities.

    Raises
    ------
    UsageError
        The accuracy is outside (0, 1], or labels or kind of scores differ from those of `tune_on`.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> scores = Probabilities([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]])
    >>> found = cutoff(predictions(Multiclass("ab"), ["a", "a", "b", "b"], scores=scores), 1.0)
    >>> found.threshold, found.coverage
    (0.7, 0.75)
    """
    if not 0 < accuracy <= 1:
        raise UsageError(
            f"the target accuracy {accuracy:g} is out of range",
            fix="use a value above 0 and up to 1, as in 0.95",
        )
    if tune_on is not None:
        check_alike(rows, tune_on)
    own, other = answers(rows), None if tune_on is None else answers(tune_on)
    for found in (own, other):
        if isinstance(found, Undefined):
            return found
    assert isinstance(own, Predictions) and not isinstance(other, Undefined)  # noqa: S101
    operator: Operator = ">" if strict else ">="
    goal = Objective("predicted_positive_rate", Constraint("precision", operator, accuracy))
    sweep = evaluate_thresholds(scores_of_rows(own), own, tune_on=other, objectives=[goal], sampling=sampling)
    best = sweep.optima[goal.name]
    if isinstance(best, Unreachable):
        name = Constraint("accuracy", operator, accuracy).key
        return replace(best, objective=name, text=name, metric="accuracy")
    return _cutoff(accuracy, best) if isinstance(best, Optimum) else best


def answers(rows: Predictions) -> Predictions | Undefined:
    """Return the rows as a binary problem: is the most probable label right, scored by its probability.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> scores = Probabilities([[0.9, 0.1], [0.4, 0.6]])
    >>> answers(predictions(Multiclass("ab"), ["a", "a"], scores=scores)).y_true
    array([1, 0], dtype=int32)
    """
    if not isinstance(rows.scores, Probabilities):
        return Undefined("needs probabilities of every label", float(rows.weights.sum()))
    values = rows.scores.values
    right = (values.argmax(axis=1) == rows.y_true).astype(np.int32)
    sure = Probabilities(values.max(axis=1))
    return replace(rows, space=OUTCOME, y_true=right, y_pred=None, scores=sure, threshold=None)


def _cutoff(wanted: float, best: Optimum) -> Cutoff:
    answered = best.tp + best.fp
    low, high, out_of_sample = best.low, best.high, best.out_of_sample
    assert low is not None and high is not None and out_of_sample is not None  # noqa: S101  set by the caller
    hold = best.at_confidence
    if hold is not None and hold.costs is not None:
        hold = replace(hold, costs=replace(hold.costs, metric="coverage"))
    other = (out_of_sample.value, out_of_sample.kept, out_of_sample.method, out_of_sample.chance)
    return Cutoff(wanted, best.threshold, low, high, best.apparent, best.tp / answered, *other, hold)
