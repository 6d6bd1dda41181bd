"""Between what a metric of scores lies, from counts in bins alone: proven, whatever the scores in each bin.

Within a bin scores may come in any order, and may tie: each bound is the value at the worst of them.
"""

from __future__ import annotations

import numpy as np

from evalreport.facts.binned import BinnedTable
from evalreport.facts.passes import EPS

Bounds = tuple[float, float]


def roc_auc_bounds(t: BinnedTable) -> Bounds:
    """Pairs in one bin count one half; each may count 0 or 1: AUC ± Σ pᵦ nᵦ / 2PN.

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
    """Twice AUC, less one."""
    low, high = roc_auc_bounds(t)
    return 2 * low - 1, 2 * high - 1


def average_precision_bounds(t: BinnedTable) -> Bounds:
    """At best the positives of a bin stand before its negatives and tie; at worst they follow, one by one.

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
    """The greatest gap at an edge, and at most that of all positives of a bin before all its negatives."""
    at_most = t.tp / t.positives - (t.fp - t.neg) / t.negatives
    return t.ranking.gap, max(float(at_most.max()), 0.0)


def brier_bounds(t: BinnedTable) -> Bounds:
    """All probabilities of a bin at one of its ends."""
    low, high = t.scores, np.minimum(t.ends, 1)
    least = t.pos @ (1 - high) ** 2 + t.neg @ low**2
    most = t.pos @ (1 - low) ** 2 + t.neg @ high**2
    return float(least) / t.total, float(most) / t.total


def log_loss_bounds(t: BinnedTable) -> Bounds:
    """All probabilities of a bin at one of its ends."""
    low, high = (np.clip(ends, EPS, 1 - EPS) for ends in (t.scores, t.ends))
    least = -(t.pos @ np.log(high) + t.neg @ np.log(1 - low))
    most = -(t.pos @ np.log(low) + t.neg @ np.log(1 - high))
    return float(least) / t.total, float(most) / t.total
