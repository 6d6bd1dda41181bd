"""Functions of the ranking: of the distinct scores with the weight of positives and negatives at each.

Each takes a `ScoreTable` and returns a float, NaN where it is undefined. Tied scores move together; a
score that carries no weight changes nothing, so that bootstrap weights may be laid over a sorted table.
Only the order of the scores counts.
"""

from __future__ import annotations

import numpy as np

from evalreport.facts import ScoreTable
from evalreport.facts.counts import Array
from evalreport.metrics.record import divide

_ROUNDING = 1e-12
"""A rate this close to its bound meets it: sums of weights are not exact."""


def roc_auc(t: ScoreTable) -> float:
    """Return the probability that a positive scores above a negative, a tie counting one half.

    >>> roc_auc(ScoreTable.of(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.75
    """
    below = t.negatives - t.fp + t.neg / 2
    return float(divide(t.pos @ below, t.positives * t.negatives))


def gini(t: ScoreTable) -> float:
    """Return 2 AUC - 1 (Somers' D), in [-1, 1].

    >>> gini(ScoreTable.of(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    return 2 * roc_auc(t) - 1


def average_precision(t: ScoreTable) -> float:
    """Return the sum over thresholds of the gain in recall times the precision there, in [0, 1].

    >>> average_precision(ScoreTable.of(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    return float(divide(t.pos @ _precision(t), t.positives))


def partial_auc(t: ScoreTable, max_fpr: float) -> float:
    """Return the area under ROC up to a false positive rate, on McClish's scale: 0.5 chance, 1 perfect.

    >>> partial_auc(ScoreTable.of(np.array([0.1, 0.4]), np.array([False, True])), 0.1)
    1.0
    """
    if not _both(t):
        return float("nan")
    fpr, tpr = _roc(t)
    stop = int(np.searchsorted(fpr, max_fpr, side="right"))
    edge = np.interp(max_fpr, fpr[stop - 1 : stop + 1], tpr[stop - 1 : stop + 1])
    area = np.trapezoid(np.append(tpr[:stop], edge), np.append(fpr[:stop], max_fpr))
    chance = max_fpr * max_fpr / 2
    return float((1 + (area - chance) / (max_fpr - chance)) / 2)


def partial_auc_fpr10(t: ScoreTable) -> float:
    """Return `partial_auc` up to a false positive rate of 0.1, in [9/19, 1].

    >>> partial_auc_fpr10(ScoreTable.of(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    return partial_auc(t, 0.1)


def ks(t: ScoreTable) -> float:
    """Return the greatest TPR - FPR over all thresholds, in [0, 1].

    >>> ks(ScoreTable.of(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    gap = divide(t.tp, t.positives) - divide(t.fp, t.negatives)
    return float(gap.max(initial=0.0))


def eer(t: ScoreTable) -> float:
    """Return the error rate where FPR and FNR are equal, on the line between neighbouring ROC points.

    >>> eer(ScoreTable.of(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.3333333333333333
    """
    if not _both(t):
        return float("nan")
    fpr, tpr = _roc(t)
    gap = 1 - tpr - fpr
    after = int(np.argmax(gap <= 0))
    part = gap[after - 1] / (gap[after - 1] - gap[after])
    return float(fpr[after - 1] + part * (fpr[after] - fpr[after - 1]))


def tpr_at_fpr(t: ScoreTable, limit: float) -> float:
    """Return the greatest TPR of a threshold whose FPR is at most `limit`; 0 when none flags anything.

    >>> tpr_at_fpr(ScoreTable.of(np.array([0.1, 0.2, 0.4]), np.array([True, False, True])), 0.5)
    0.5
    """
    if not _both(t):
        return float("nan")
    fpr, tpr = _roc(t)
    return float(tpr[fpr <= limit + _ROUNDING].max(initial=0.0))


def tpr_at_fpr01(t: ScoreTable) -> float:
    """Return `tpr_at_fpr` at 0.01, in [0, 1].

    >>> tpr_at_fpr01(ScoreTable.of(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    return tpr_at_fpr(t, 0.01)


def tpr_at_fpr05(t: ScoreTable) -> float:
    """Return `tpr_at_fpr` at 0.05, in [0, 1].

    >>> tpr_at_fpr05(ScoreTable.of(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    return tpr_at_fpr(t, 0.05)


def fpr_at_tpr95(t: ScoreTable) -> float:
    """Return the smallest FPR of a threshold whose TPR is at least 0.95, in [0, 1].

    >>> fpr_at_tpr95(ScoreTable.of(np.array([0.1, 0.4]), np.array([False, True])))
    0.0
    """
    if not _both(t):
        return float("nan")
    fpr, tpr = _roc(t)
    return float(fpr[tpr >= 0.95 - _ROUNDING].min())


def precision_at_recall90(t: ScoreTable) -> float:
    """Return the highest precision of a threshold whose recall is at least 0.9, in [0, 1].

    >>> precision_at_recall90(ScoreTable.of(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    reached = divide(t.tp, t.positives) >= 0.9 - _ROUNDING
    return float(_precision(t)[reached].max()) if t.positives else float("nan")


def recall_at_precision90(t: ScoreTable) -> float:
    """Return the highest recall of a threshold whose precision is at least 0.9; NaN when none reaches it.

    >>> recall_at_precision90(ScoreTable.of(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    reached = _precision(t) >= 0.9 - _ROUNDING
    return float((t.tp[reached] / t.positives).max()) if reached.any() else float("nan")


def best_precision(t: ScoreTable) -> float:
    """Return the highest precision of any threshold: what can be reached at all.

    >>> best_precision(ScoreTable.of(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    return float(_precision(t).max(initial=0.0))


def lift(t: ScoreTable, share: float) -> float:
    """Return the prevalence among the top `share` of rows, relative to that of all rows.

    Of scores tied across the cut, a proportionate part counts: what a random order of them gives on
    average.

    >>> round(lift(ScoreTable.of(np.arange(10.0), np.arange(10) > 7), 0.1), 12)
    5.0
    """
    flagged, found = (t.tp + t.fp)[::-1], t.tp[::-1]
    if t.positives == 0:
        return float("nan")
    cut = share * (t.positives + t.negatives)
    after = int(np.searchsorted(flagged, cut))
    before = (flagged[after - 1], found[after - 1]) if after else (0.0, 0.0)
    part = (cut - before[0]) / (flagged[after] - before[0])
    return float((before[1] + part * (found[after] - before[1])) / (share * t.positives))


def lift_at_10(t: ScoreTable) -> float:
    """Return `lift` among the top tenth of rows, in [0, 10].

    >>> round(lift_at_10(ScoreTable.of(np.arange(10.0), np.arange(10) > 7)), 12)
    5.0
    """
    return lift(t, 0.1)


def _both(t: ScoreTable) -> bool:
    return t.positives > 0 and t.negatives > 0


def _precision(t: ScoreTable) -> Array:
    """Precision at each score as threshold; 0 where no weight lies at or above it."""
    flagged = t.tp + t.fp
    return np.divide(t.tp, flagged, out=np.zeros(len(t)), where=flagged > 0)


def _roc(t: ScoreTable) -> tuple[Array, Array]:
    """FPR and TPR from the strictest threshold to the laxest, the origin first."""
    fpr, tpr = np.zeros(len(t) + 1), np.zeros(len(t) + 1)
    fpr[1:], tpr[1:] = divide(t.fp[::-1], t.negatives), divide(t.tp[::-1], t.positives)
    return fpr, tpr
