"""Bounds on metrics of scores, computed from counts in bins: valid for any scores within the bins.

Scores within a bin may have any order and may tie. Each bound is the extreme value over these orders.
"""

from __future__ import annotations

import numpy as np

from evalreport.metrics.probability_functions import brier_uncertainty
from evalreport.metrics.ranking_functions import (
    ROUNDING,
    fpr_at_tpr,
    partial_auc,
    precision_at_recall,
    tpr_at_fpr,
)
from evalreport.metrics.record import divide
from evalreport.statistics.binned_tables import BinnedTable
from evalreport.statistics.score_table import EPS

Bounds = tuple[float, float]


def roc_auc_bounds(t: BinnedTable) -> Bounds:
    """Bound AUC: pairs in one bin count one half, and each may count 0 or 1: AUC ± Σ pᵦ nᵦ / 2PN.

    Examples
    --------
    >>> t = BinnedTable(np.array([0.25, 0.5]), np.array([1.0, 1.0]), np.array([1.0, 1.0]))
    >>> roc_auc_bounds(t)
    (0.25, 0.75)
    """
    pairs = t.positives * t.negatives
    far = float(t.pos @ t.neg) / 2 / pairs
    return t.ranking.outranked / pairs - far, t.ranking.outranked / pairs + far


def gini_bounds(t: BinnedTable) -> Bounds:
    """Bound 2 AUC - 1."""
    low, high = roc_auc_bounds(t)
    return 2 * low - 1, 2 * high - 1


def average_precision_bounds(t: BinnedTable) -> Bounds:
    """Best case: a bin's positives tie and precede its negatives; worst case: they follow, one by one.

    With T positives and G negatives at or before them, the i-th of p adds (T + i) / (T + i + G); the sum is
    at least its integral p - G ln((T + p + G) / (T + G)), and at least p times its first term.
    """
    some = t.pos > 0
    p, n, tp, fp = t.pos[some], t.neg[some], t.tp[some], t.fp[some]
    before = tp - p
    first = p * (before + 1) / (before + 1 + fp)
    integral = p - fp * np.log((tp + fp) / np.maximum(before + fp, 1))
    low = np.where(before + fp > 0, np.maximum(first, integral), p)
    high = p * tp / (tp + fp - n)
    return float(low.sum()) / t.positives, float(high.sum()) / t.positives


def ks_bounds(t: BinnedTable) -> Bounds:
    """Lower: largest gap at an edge; upper: all positives of a bin precede all its negatives."""
    at_most = t.tp / t.positives - (t.fp - t.neg) / t.negatives
    return t.ranking.gap, max(float(at_most.max()), 0.0)


def partial_auc_bounds(t: BinnedTable, limit: float) -> Bounds:
    """Like the bounds on the whole area, over the bins that begin below the limit."""
    far = float((t.pos * t.neg)[t.fp - t.neg < limit * t.negatives].sum()) / 2
    far /= t.positives * t.negatives * 2 * (limit - limit * limit / 2)
    return partial_auc(t, limit) - far, partial_auc(t, limit) + far


def eer_bounds(t: BinnedTable) -> Bounds:
    """The error rates are equal within one bin: the bounds are the rates at its two edges."""
    fpr, tpr = t.fp / t.negatives, t.tp / t.positives
    at = int(np.flatnonzero(fpr + tpr >= 1)[-1])
    before = (t.fp[at] - t.neg[at]) / t.negatives, (t.tp[at] - t.pos[at]) / t.positives
    return float(max(before[0], 1 - tpr[at])), float(min(fpr[at], 1 - before[1]))


def tpr_at_fpr_bounds(t: BinnedTable, limit: float) -> Bounds:
    """Lower: best edge within the limit; upper: all positives of the next bin precede its negatives."""
    reached = t.fp - t.neg <= (limit + ROUNDING) * t.negatives
    return tpr_at_fpr(t, limit), float(t.tp[reached].max()) / t.positives


def fpr_at_tpr_bounds(t: BinnedTable, recall: float) -> Bounds:
    """Use the best edge that reaches the recall; best case: its bin's positives precede its negatives."""
    reached = t.tp >= (recall - ROUNDING) * t.positives
    return float((t.fp - t.neg)[reached].min()) / t.negatives, fpr_at_tpr(t, recall)


def precision_at_recall_bounds(t: BinnedTable, recall: float) -> Bounds:
    """Use the best edge that reaches the recall; best case: its bin's positives precede its negatives."""
    reached = t.tp >= (recall - ROUNDING) * t.positives
    tp, fp = t.tp[reached], (t.fp - t.neg)[reached]
    return precision_at_recall(t, recall), float((tp / (tp + fp)).max())


def lift_bounds(t: BinnedTable, share: float) -> Bounds:
    """The cutoff is within one bin: its negatives or its positives may come first."""
    cut, flagged = share * t.total, t.tp + t.fp
    at = int(np.flatnonzero(flagged >= cut)[-1])
    found, left = t.tp[at] - t.pos[at], cut - (flagged[at] - t.pos[at] - t.neg[at])
    least, most = found + max(left - t.neg[at], 0.0), found + min(left, t.pos[at])
    return float(least) / (share * t.positives), float(most) / (share * t.positives)


def brier_bounds(t: BinnedTable) -> Bounds:
    """Extreme cases: all probabilities of a bin are at one of its ends."""
    low, high = t.scores, np.minimum(t.ends, 1)
    least = t.pos @ (1 - high) ** 2 + t.neg @ low**2
    most = t.pos @ (1 - low) ** 2 + t.neg @ high**2
    return float(least) / t.total, float(most) / t.total


def brier_skill_bounds(t: BinnedTable) -> Bounds:
    """Bounds from those of the Brier score; the reference (prevalence) is exact."""
    least, most = brier_bounds(t)
    return 1 - most / brier_uncertainty(t), 1 - least / brier_uncertainty(t)


def brier_uncertainty_bounds(t: BinnedTable) -> Bounds:
    """The value is exact: it depends only on the true labels."""
    return brier_uncertainty(t), brier_uncertainty(t)


def observed_expected_ratio_bounds(t: BinnedTable) -> Bounds:
    """Extreme cases: all probabilities of a bin are at one of its ends."""
    weight = t.pos + t.neg
    expected = weight @ np.minimum(t.ends, 1), weight @ t.scores
    low, high = (divide(t.positives, each) for each in expected)
    return float(low), float(high)


def log_loss_bounds(t: BinnedTable) -> Bounds:
    """Extreme cases: all probabilities of a bin are at one of its ends."""
    low, high = (np.clip(ends, EPS, 1 - EPS) for ends in (t.scores, t.ends))
    least = -(t.pos @ np.log(high) + t.neg @ np.log(1 - low))
    most = -(t.pos @ np.log(low) + t.neg @ np.log(1 - high))
    return float(least) / t.total, float(most) / t.total
