"""What thresholds of several labels are chosen for, and those that can be had without search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.bounds import CLOSE
from evalreport.errors import UsageError, nearest
from evalreport.facts import BinaryCounts, ScoreTable
from evalreport.facts.counts import Array
from evalreport.facts.sets import SET_SCORES
from evalreport.metrics.catalogue import find
from evalreport.parsing.function import load
from evalreport.scores import FloatArray
from evalreport.thresholds.optimum import Optimum
from evalreport.thresholds.sweep import Sweep, middle_of_longest_run
from evalreport.thresholds.tuned import called

Flags: TypeAlias = npt.NDArray[np.bool_]
Corners: TypeAlias = tuple[Array, Array, Array]
"""True and false positives at some thresholds, and these."""
Kind: TypeAlias = Literal["each", "pooled", "rows", "function"]
"""How labels hang together: each alone, through one pool of counts, row by row, or in a way not known."""

EACH: Mapping[str, str] = {
    "f1_macro": "f1",
    "f1_macro_supported": "f1",
    "f1_weighted": "f1",
    "jaccard_macro": "jaccard",
    "label_accuracy": "accuracy",
}
"""Means over labels, and the binary metric that each label maximises alone."""
POOLED = ("f1_micro", "jaccard_micro")
"""Functions of the counts of all labels together; both are greatest at the same thresholds."""
ROWS = ("subset_accuracy", "f1_samples", "jaccard_samples")
"""Means over rows of a score of the whole label set of a row."""


@dataclass(frozen=True)
class LabelObjective:
    """A multilabel metric to be maximised over one threshold per label.

    Parameters
    ----------
    name : str
        Its metric name, or ``module:function``: a function of two 0/1 integer matrices (truth, then
        predictions, rows by labels) that returns one number, the greater the better.

    Examples
    --------
    >>> LabelObjective.parse("f1_samples").kind
    'rows'
    """

    name: str
    kind: Kind
    function: Callable[[Any, Any], Any] | None = None

    @classmethod
    def parse(cls, name: str) -> LabelObjective:
        """Read a goal as it stands on the command line.

        Raises
        ------
        UsageError
            A goal that is not known, with the nearest name; a function that cannot be imported.
        """
        if name in EACH:
            return cls(name, "each")
        if name in POOLED:
            return cls(name, "pooled")
        if name in ROWS:
            return cls(name, "rows")
        if cls.is_function(name):
            return cls(name, "function", load(name, "objective"))
        known = (*EACH, *POOLED, *ROWS)
        raise UsageError(
            f"there is no objective {name!r} for thresholds of several labels",
            fix=f"{nearest(name, known)}; or module:function of yours",
        )

    @staticmethod
    def is_function(name: str) -> bool:
        """Return whether a goal is ``module:function``, whose module `parse` imports."""
        return ":" in name

    def value(self, truth: Flags, predicted: Flags, weights: Array) -> float:
        """Return the value of predictions.

        Parameters
        ----------
        truth, predicted : bool arrays of shape (n, labels)
        weights : float64 array of shape (n,)
            Not told to a function of the user's.

        Raises
        ------
        UsageError
            The user's function raised, or returned something that is not a number.
        """
        match self.kind:
            case "each" | "pooled":
                return float(self.of_counts(label_counts(truth, predicted, weights)))
            case "rows":
                both, true, flagged = ((a).sum(axis=1) for a in (truth & predicted, truth, predicted))
                score = SET_SCORES[self.name](both, true, flagged)
                return float(weights @ score / weights.sum())
            case "function":
                takes = "two 0/1 matrices (truth, predictions)"
                return called(
                    self.function, self.name, takes, truth.astype(np.int8), predicted.astype(np.int8)
                )

    def of_counts(self, counts: BinaryCounts) -> Any:
        """Return the value of counts by label (the last axis), 0 where it is undefined."""
        return np.nan_to_num(find(self.name, "multilabel").function(counts))


def label_counts(truth: Flags, predicted: Flags, weights: Array) -> BinaryCounts:
    """Return the counts of each label, arrays of shape (labels,); of weights (draws, n): (draws, labels).

    Examples
    --------
    >>> counts = label_counts(np.array([[True, False]]), np.array([[True, True]]), np.ones(1))
    >>> counts.tp, counts.fp
    (array([1., 0.]), array([0., 1.]))
    """
    tp = weights @ (truth & predicted)
    flagged, positives = weights @ predicted, weights @ truth
    total = weights.sum(axis=-1, keepdims=True)
    return BinaryCounts(tp, flagged - tp, positives - tp, total - flagged - positives + tp)


PASSES = 20
"""The most times that an ascent goes round all labels: a bound on time, for it ends by itself as soon as a
round changes nothing."""


def each_alone(tables: Iterable[ScoreTable], metric: str) -> Array:
    """Return the best threshold of each label for a binary metric: exact for every mean over labels.

    A label without a true example flags nothing (infinity): whatever it flagged would be wrong.

    Parameters
    ----------
    tables : iterable of ScoreTable
        Of each label against the rest.
    metric : str
        Binary count metric.

    Returns
    -------
    float64 array of shape (labels,)

    Examples
    --------
    >>> scores, truth = np.array([[0.2, 0.7], [0.6, 0.3]]), np.array([[False, True], [True, True]])
    >>> each_alone((ScoreTable.of(*columns) for columns in zip(scores.T, truth.T)), "f1")
    array([0.6, 0.3])
    """
    found = []
    for table in tables:
        best = Sweep.of(table).best(metric)
        found.append(best.threshold if table.positives and isinstance(best, Optimum) else np.inf)
    return np.array(found)


def pooled(tables: Iterable[ScoreTable]) -> Array:
    """Return the thresholds with the greatest micro-averaged F1: exact, by fractional programming.

    Examples
    --------
    >>> scores, truth = np.array([[0.2, 0.7], [0.6, 0.3]]), np.array([[False, True], [True, True]])
    >>> pooled(ScoreTable.of(*columns) for columns in zip(scores.T, truth.T))
    array([0.6, 0.3])
    """
    return of_corners([corners_of(table) for table in tables])


def of_corners(corners: Sequence[Corners]) -> Array:
    """Return the thresholds, of the corners of each label, that `pooled` returns.

    F = 2 TP / (P + flagged) over all labels is a ratio of sums. For a given value v the sum of
    2 TP - v (TP + FP) falls apart into labels, each of which is greatest at a vertex of its ROC curve's
    hull; v becomes the F reached there until it grows no more (Dinkelbach 1967).
    """
    positives = sum(float(tp[-1]) for tp, _, _ in corners)
    value = -1.0
    while True:
        places = [int((2 * tp - max(value, 0.0) * (tp + fp)).argmax()) for tp, fp, _ in corners]
        flagged = [(tp[i], tp[i] + fp[i]) for (tp, fp, _), i in zip(corners, places, strict=True)]
        hits, all_flagged = (float(sum(part)) for part in zip(*flagged, strict=True))
        reached = 2 * hits / max(positives + all_flagged, 1e-300)
        if reached <= value + CLOSE:
            return np.array([at[i] for (_, _, at), i in zip(corners, places, strict=True)])
        value = reached


def corners_of(table: ScoreTable) -> Corners:
    """Return the vertices of the hull of a ROC curve, from nothing flagged to all flagged."""
    (tp, fp), kept = table.path, table.corners
    return tp[kept], fp[kept], Sweep.of(table).thresholds[::-1][kept]


def ascended(
    scores: FloatArray, truth: Flags, weights: Array, name: str, start: Array
) -> tuple[Array, float]:
    """Return thresholds that no change of a single label's threshold betters, and their value.

    With all other labels held, the best threshold of one label is exact: every row gains or loses by
    being flagged, and the cumulative gain from the highest score down has its maximum somewhere.

    Parameters
    ----------
    scores, truth, weights : as above
    name : str
        A score of the rows: ``subset_accuracy``, ``f1_samples``, ``jaccard_samples``.
    start : float64 array of shape (labels,)

    Returns
    -------
    thresholds : float64 array of shape (labels,)
    value : float
        Never less than the value at `start`.

    Examples
    --------
    >>> scores, truth = np.array([[0.2, 0.7], [0.6, 0.3]]), np.array([[False, True], [True, True]])
    >>> ascended(scores, truth, np.ones(2), "f1_samples", np.array([0.1, 0.9]))
    (array([0.6, 0.3]), 1.0)
    """
    score = SET_SCORES[name]
    thresholds = start.astype(np.float64)
    predicted = scores >= thresholds
    both, true, flagged = (part.sum(axis=1) for part in (truth & predicted, truth, predicted))
    orders = np.argsort(-scores, axis=0)
    for _ in range(PASSES):
        before = thresholds.copy()
        for label in range(scores.shape[1]):
            was, right = predicted[:, label], truth[:, label]
            both, flagged = both - (was & right), flagged - was
            off, on = score(both, true, flagged), score(both + right, true, flagged + 1)
            gain = weights * (np.asarray(on, dtype=np.float64) - off)
            thresholds[label] = _best_cut(scores[:, label], gain, orders[:, label], thresholds[label])
            now = predicted[:, label] = scores[:, label] >= thresholds[label]
            both, flagged = both + (now & right), flagged + now
        if (before == thresholds).all():
            break
    return thresholds, float(weights @ score(both, true, flagged) / weights.sum())


def _best_cut(scores: FloatArray, gain: Array, order: npt.NDArray[np.intp], current: float) -> float:
    """The threshold whose flagged rows gain the most; the current one if none is better."""
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    sums = np.append(0.0, gain[order].cumsum()[ends])
    least = sums.max() - CLOSE * len(scores)
    if sums[np.searchsorted(-ranked[ends], -current, side="right")] >= least:
        return current
    place = int(middle_of_longest_run(sums >= least))
    return np.inf if place == 0 else float(ranked[ends[place - 1]])
