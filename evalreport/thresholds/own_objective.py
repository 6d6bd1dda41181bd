"""The best threshold for a metric of the user: a function of the rows, evaluated at each candidate.

The function is a black box, so the number of its evaluations is limited: at most `CANDIDATES` thresholds on
all rows, and `IN_FOLDS` on each training part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evalreport.core.bounds import CLOSE
from evalreport.core.progress import report_progress
from evalreport.core.result import Result, Undefined
from evalreport.data.predictions import OwnFunction, Predictions, Threshold
from evalreport.data.scores import NoScores
from evalreport.intervals.bootstrap import own_estimates, units_of
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.own import OwnRows, direction_of, own_metric
from evalreport.statistics.confusion import Array
from evalreport.statistics.resampling import Stream
from evalreport.thresholds.best_threshold import Choice, Optimum, OutOfSample
from evalreport.thresholds.cross_fitting import FOLDS, NO_TUNING, TOO_FEW, check_same_labels
from evalreport.thresholds.sweep import middle_of_longest_run

CANDIDATES = 1_000
"""Most thresholds at which a function is evaluated on all rows."""
IN_FOLDS = 200
"""Most thresholds at which it is evaluated on each training part of the cross-fitting."""


@dataclass(frozen=True, eq=False)
class OwnObjective:
    """A user's function of the rows, as the objective of a threshold.

    Parameters
    ----------
    name : str
    function : callable
        ``fn(y_true, y_pred, y_score, weight, columns) -> float``; higher is better, unless
        ``fn.better = "lower"``.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.scores import Probabilities
    >>> scores = Probabilities([0.1, 0.4, 0.6, 0.9])
    >>> rows = predictions(Binary("ham", "spam"), ["ham", "ham", "spam", "spam"], scores=scores)
    >>> right = OwnObjective("right", lambda y_true, y_pred, *_: float((y_true == y_pred).mean()))
    >>> right.choose(rows, Sampling(intervals=False)).threshold
    0.6
    """

    name: str
    function: OwnFunction

    def choose(self, rows: Predictions, sampling: Sampling, tune_on: Predictions | None = None) -> Choice:
        """Return the best threshold with its held-out value.

        Parameters
        ----------
        rows : Predictions
            Reported rows with two labels, and scores.
        sampling : Sampling
        tune_on : Predictions, optional
            Other rows, on which the threshold is chosen. Without them the held-out value is cross-fitted.

        Raises
        ------
        UsageError
            `tune_on` has other labels, or another kind of scores, than `rows`.
        """
        if tune_on is not None:
            check_same_labels(rows, tune_on)
            if isinstance(tune_on.scores, NoScores):
                return NO_TUNING
        of_choice = rows if tune_on is None else tune_on
        candidates = thin_thresholds(_distinct_thresholds(_scores(of_choice)), CANDIDATES)
        values, reason = self._values(OwnRows(of_choice), _scores(of_choice), candidates, None, "thresholds")
        place = self._best(values)
        if place is None:
            return Undefined(reason, float(of_choice.weights.sum()))
        best = self._optimum(rows, of_choice, float(candidates[place]), float(values[place]))
        held_out = (
            self._cross_fitted(rows, sampling) if tune_on is None else self._on_others(rows, best, sampling)
        )
        return replace(best, out_of_sample=held_out)

    def _values(
        self,
        own: OwnRows,
        scores: Array,
        candidates: Array,
        part: npt.NDArray[np.intp] | None,
        what: str,
    ) -> tuple[Array, str]:
        """Return the value at each candidate (NaN if undefined), and the last reason of an undefined one."""
        values, reason = np.full(len(candidates), math.nan), ""
        for number, threshold in enumerate(candidates.tolist()):
            report_progress(f"{what} of {self.name}", number, len(candidates))
            found = own.with_decisions((scores >= threshold).astype(np.int32)).call(
                self.name, self.function, part
            )
            if isinstance(found, Undefined):
                reason = found.reason
            else:
                values[number] = found
        return values, reason

    def _best(self, values: Array) -> int | None:
        """Return the position of the best value: the middle of the longest run of equal ones."""
        known = np.isfinite(values)
        if not known.any():
            return None
        score = np.where(known, -values if direction_of(self.function) == "lower" else values, -np.inf)
        top = float(score.max())
        return int(middle_of_longest_run(score >= top - CLOSE * max(1.0, abs(top))))

    def _optimum(self, rows: Predictions, of_choice: Predictions, threshold: float, value: float) -> Optimum:
        counted = of_choice if of_choice is rows else rows
        positive, flagged = counted.y_true.astype(bool), _scores(counted) >= threshold
        cells = ((positive, flagged), (~positive, flagged), (positive, ~flagged), (~positive, ~flagged))
        tp, fp, fn, tn = (float(counted.weights[one & other].sum()) for one, other in cells)
        return Optimum(self.name, self.name, self.name, threshold, value, tp, fp, fn, tn)

    def _on_others(self, rows: Predictions, best: Optimum, sampling: Sampling) -> OutOfSample:
        decided = rows.with_threshold(Threshold(best.threshold, "given"))
        return OutOfSample(self._estimate(decided, sampling), None, "other rows")

    def _cross_fitted(self, rows: Predictions, sampling: Sampling) -> OutOfSample:
        """Choose on nine folds, predict the tenth, and evaluate the metric on all rows together."""
        fold = _folds(rows, sampling)
        if fold is None:
            return OutOfSample(TOO_FEW, None, "cross-fitted")
        scores, own = _scores(rows), OwnRows(rows)
        decided = np.zeros(len(rows), dtype=np.int32)
        for number in range(int(fold.max()) + 1):
            train, test = np.flatnonzero(fold != number), fold == number
            candidates = thin_thresholds(_distinct_thresholds(scores[train]), IN_FOLDS)
            values, reason = self._values(own, scores, candidates, train, f"fold {number + 1}:")
            place = self._best(values)
            if place is None:
                return OutOfSample(Undefined(reason, float(len(rows))), None, "cross-fitted")
            decided[test] = scores[test] >= candidates[place]
        return OutOfSample(self._estimate(replace(rows, y_pred=decided), sampling), None, "cross-fitted")

    def _estimate(self, decided: Predictions, sampling: Sampling) -> Result:
        decided = replace(decided, own_metrics={self.name: self.function})
        n = float(decided.weights.sum())
        return own_estimates([own_metric(self.name)], decided, n, sampling)[self.name]


def thin_thresholds(thresholds: Array, most: int) -> Array:
    """Return at most `most` of some thresholds, evenly spaced, with both ends.

    Examples
    --------
    >>> thin_thresholds(np.array([0.1, 0.2, 0.3, 0.4, np.inf]), 3)
    array([0.1, 0.3, inf])
    """
    if len(thresholds) <= most:
        return thresholds
    return np.asarray(thresholds[np.round(np.linspace(0, len(thresholds) - 1, most)).astype(np.intp)])


def thinned_note(name: str, rows: Predictions | None) -> str | None:
    """Return a note with the number of thresholds that were evaluated; None if all were."""
    number = 0 if rows is None else len(_distinct_thresholds(_scores(rows)))
    if number <= CANDIDATES:
        return None
    return f"{CANDIDATES:,} of {number:,} thresholds were evaluated by {name}, evenly spaced among scores."


def _scores(rows: Predictions) -> Array:
    assert not isinstance(rows.scores, NoScores)  # noqa: S101  checked by the caller
    return np.asarray(rows.scores.values, dtype=np.float64)


def _distinct_thresholds(scores: Array) -> Array:
    """Return the distinct scores, ascending, and infinity."""
    return np.append(np.unique(scores), np.inf)


def _folds(rows: Predictions, sampling: Sampling) -> npt.NDArray[np.intp] | None:
    """Return the fold of each row: stratified by class, or whole groups; None with too few rows or groups."""
    generator = sampling.generator(Stream.OWN_FOLDS)
    positive = rows.y_true.astype(bool)
    if min(int(positive.sum()), int((~positive).sum())) < 2 or units_of(rows) < 2:
        return None
    if rows.groups is None:
        order = generator.permutation(len(rows))
        order = order[np.argsort(positive[order], kind="stable")]
        fold = np.empty(len(rows), dtype=np.intp)
        fold[order] = np.arange(len(rows)) % min(FOLDS, len(rows))
        return fold
    _, codes = np.unique(rows.groups.codes, return_inverse=True)
    number = int(codes.max()) + 1
    of_group = generator.permutation(number) % min(FOLDS, number)
    return np.asarray(of_group[codes], dtype=np.intp)
