"""Functions of the ranking: distinct scores with the weight of positives and negatives at each.

Each takes a `ScoreTable` and returns a float, NaN if undefined. Tied scores share one threshold. Scores
with weight 0 have no effect, so bootstrap weights can be applied to a sorted table. Only the order of the
scores matters.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from evalreport.metrics.record import divide
from evalreport.statistics.confusion import Array, inner
from evalreport.statistics.score_table import ScoreTable

ROUNDING = 1e-12
"""Tolerance for comparing a rate with its limit, because sums of weights are not exact."""


def roc_auc(t: ScoreTable) -> float:
    """Return the probability that a positive scores above a negative, with ties counting one half.

    >>> roc_auc(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.75
    """
    return float(divide(t.ranking.outranked, t.positives * t.negatives))


def gini(t: ScoreTable) -> float:
    """Return 2 AUC - 1 (Somers' D), in [-1, 1].

    >>> gini(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    return 2 * roc_auc(t) - 1


def average_precision(t: ScoreTable) -> float:
    """Return the sum over thresholds of the gain in recall times the precision there, in [0, 1].

    >>> average_precision(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    return float(divide(t.ranking.precision, t.positives))


def partial_auc(t: ScoreTable, max_fpr: float) -> float:
    """Return the area under ROC up to a false positive rate, on McClish's scale: 0.5 chance, 1 perfect.

    >>> partial_auc(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])), 0.1)
    1.0
    """
    if not _both(t):
        return float("nan")
    edge = max_fpr * t.negatives
    inside = int(np.searchsorted(t.fp[::-1], edge, side="right"))
    top = slice(len(t) - inside, len(t))
    # a step is a trapezoid under the line
    area = sum(inner(t.neg[b], t.tp[b] - t.pos[b] / 2) for b in t.blocks(top.start, top.stop))
    found, flagged = (float(t.tp[top.start]), float(t.fp[top.start])) if inside else (0.0, 0.0)
    left, slope = edge - flagged, t.pos[top.start - 1] / t.neg[top.start - 1]
    area = (area + left * (found + left * slope / 2)) / (t.positives * t.negatives)
    chance = max_fpr * max_fpr / 2
    return float((1 + (area - chance) / (max_fpr - chance)) / 2)


def partial_auc_fpr10(t: ScoreTable) -> float:
    """Return `partial_auc` up to a false positive rate of 0.1, in [9/19, 1].

    >>> partial_auc_fpr10(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    return partial_auc(t, 0.1)


def ks(t: ScoreTable) -> float:
    """Return the largest TPR - FPR over all thresholds, in [0, 1].

    >>> ks(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    return t.ranking.gap


def eer(t: ScoreTable) -> float:
    """Return the error rate where FPR and FNR are equal, interpolated linearly between adjacent ROC points.

    >>> eer(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.3333333333333333
    """
    if not _both(t):
        return float("nan")
    fp, tp = t.fp[::-1], t.tp[::-1]

    def point(i: int) -> tuple[float, float]:
        """Return FPR and FPR - FNR if the i + 1 highest scores are predicted positive."""
        fpr, tpr = (float(fp[i]) / t.negatives, float(tp[i]) / t.positives) if i >= 0 else (0.0, 0.0)
        return fpr, fpr + tpr - 1

    after = bisect_left(range(len(t) - 1), 0.0, key=lambda i: point(i)[1])
    (low, below), (high, above) = point(after - 1), point(after)
    return low + below / (below - above) * (high - low)


def tpr_at_fpr(t: ScoreTable, limit: float) -> float:
    """Return the highest TPR of a threshold whose FPR is at most `limit`; 0 if no threshold satisfies it.

    >>> tpr_at_fpr(ScoreTable.from_scores(np.array([0.1, 0.2, 0.4]), np.array([True, False, True])), 0.5)
    0.5
    """
    if not _both(t):
        return float("nan")
    allowed = int(np.searchsorted(t.fp[::-1], (limit + ROUNDING) * t.negatives, side="right"))
    return float(t.tp[::-1][allowed - 1]) / t.positives if allowed else 0.0


def tpr_at_fpr01(t: ScoreTable) -> float:
    """Return `tpr_at_fpr` at 0.01, in [0, 1].

    >>> tpr_at_fpr01(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    return tpr_at_fpr(t, 0.01)


def tpr_at_fpr05(t: ScoreTable) -> float:
    """Return `tpr_at_fpr` at 0.05, in [0, 1].

    >>> tpr_at_fpr05(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    return tpr_at_fpr(t, 0.05)


def fpr_at_tpr(t: ScoreTable, recall: float) -> float:
    """Return the smallest FPR of a threshold whose TPR is at least `recall`, in [0, 1].

    >>> fpr_at_tpr(ScoreTable.from_scores(np.array([0.1, 0.2, 0.4]), np.array([True, False, True])), 0.5)
    0.0
    """
    return float(t.fp[::-1][_reaching(t, recall)]) / t.negatives if _both(t) else float("nan")


def fpr_at_tpr95(t: ScoreTable) -> float:
    """Return `fpr_at_tpr` at 0.95, in [0, 1].

    >>> fpr_at_tpr95(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])))
    0.0
    """
    return fpr_at_tpr(t, 0.95)


def precision_at_recall(t: ScoreTable, recall: float) -> float:
    """Return the highest precision of a threshold whose recall is at least `recall`, in [0, 1].

    >>> precision_at_recall(
    ...     ScoreTable.from_scores(np.array([0.1, 0.2, 0.4]), np.array([True, False, True])), 0.5
    ... )
    1.0
    """
    if t.positives == 0:
        return float("nan")
    reaching = t.blocks(stop=len(t) - _reaching(t, recall))
    return max(float(_precision(t, b).max()) for b in reaching)


def precision_at_recall90(t: ScoreTable) -> float:
    """Return `precision_at_recall` at 0.9, in [0, 1].

    >>> precision_at_recall90(
    ...     ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False]))
    ... )
    0.5
    """
    return precision_at_recall(t, 0.9)


def recall_at_precision(t: ScoreTable, precision: float) -> float:
    """Return the highest recall of a threshold whose precision is at least this; NaN if none reaches it.

    >>> recall_at_precision(
    ...     ScoreTable.from_scores(np.array([0.1, 0.2, 0.4]), np.array([True, False, True])), 0.6
    ... )
    1.0
    """
    for b in t.blocks(stop=_count_weighted_scores(t)):  # the lowest threshold first
        reached = np.flatnonzero(_precision(t, b) >= precision - ROUNDING)
        if len(reached):
            return float(t.tp[b][reached[0]]) / t.positives
    return float("nan")


def recall_at_precision90(t: ScoreTable) -> float:
    """Return `recall_at_precision` at 0.9; NaN if none reaches it.

    >>> recall_at_precision90(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    return recall_at_precision(t, 0.9)


def best_precision(t: ScoreTable) -> float:
    """Return the highest precision of any threshold.

    >>> best_precision(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    return max((float(_precision(t, b).max()) for b in t.blocks(stop=_count_weighted_scores(t))), default=0.0)


def lift(t: ScoreTable, share: float) -> float:
    """Return the prevalence among the top `share` of rows, relative to that of all rows.

    Of scores tied across the cut, a proportionate part counts: what a random order of them gives on
    average.

    >>> round(lift(ScoreTable.from_scores(np.arange(10.0), np.arange(10) > 7), 0.1), 12)
    5.0
    """
    if t.positives == 0:
        return float("nan")
    cut = share * t.total
    fp, tp = t.fp[::-1], t.tp[::-1]
    after = bisect_left(range(len(t) - 1), cut, key=lambda i: float(tp[i] + fp[i]))
    found, flagged = (float(tp[after - 1]), float(tp[after - 1] + fp[after - 1])) if after else (0.0, 0.0)
    part = (cut - flagged) / (float(tp[after] + fp[after]) - flagged)
    return (found + part * (float(tp[after]) - found)) / (share * t.positives)


def lift_at_10(t: ScoreTable) -> float:
    """Return `lift` among the top tenth of rows, in [0, 10].

    >>> round(lift_at_10(ScoreTable.from_scores(np.arange(10.0), np.arange(10) > 7)), 12)
    5.0
    """
    return lift(t, 0.1)


def _both(t: ScoreTable) -> bool:
    return t.positives > 0 and t.negatives > 0


def _count_weighted_scores(t: ScoreTable) -> int:
    """Return the number of scores with weight at or above them; the others have no precision."""
    return len(t) - min(int(np.searchsorted(found[::-1], 0.0, side="right")) for found in (t.tp, t.fp))


def _precision(t: ScoreTable, b: slice) -> Array:
    """Return the precision with each score of a block as threshold."""
    tp = t.tp[b]
    precision: Array = tp / (tp + t.fp[b])
    return precision


def _reaching(t: ScoreTable, recall: float) -> int:
    """Return how many of the highest scores do not reach a recall."""
    return int(np.searchsorted(t.tp[::-1], (recall - ROUNDING) * t.positives))
