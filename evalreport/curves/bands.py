"""Pointwise confidence bands of ROC and PR curves, from the curve alone.

At a threshold, recall and false positive rate are two independent proportions with Wilson limits. The
recall *at a given* false positive rate moves with both: an error e of the false positive rate moves it
by e times the slope of the curve. The two are combined as distances (Zou & Donner 2008, "MOVER"), which
keeps the lopsidedness of Wilson's limits. The slope is that of the convex hull, the isotonic estimate
of the likelihood ratio, which does not jump from point to point.
"""

from __future__ import annotations

import numpy as np

from evalreport.curves.series import Band, numbers
from evalreport.curves.thin import hull
from evalreport.facts.counts import Array
from evalreport.intervals.proportions import wilson
from evalreport.intervals.quantiles import normal_quantile


def roc_band(fpr: Array, tpr: Array, sizes: tuple[float, float], level: float = 0.95) -> Band:
    """Return limits of recall at each false positive rate.

    Parameters
    ----------
    fpr, tpr : float64 arrays of shape (n,), ascending
        Points of the ROC curve.
    sizes : tuple of float
        Numbers of positives and negatives.
    level : float
        Pointwise confidence level.

    Examples
    --------
    >>> band = roc_band(np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.8, 1.0]), (50.0, 50.0))
    >>> round(band.low[1], 2), round(band.high[1], 2)
    (0.67, 0.89)
    """
    slope = _slope(fpr, tpr)
    (tpr_low, tpr_high), (fpr_low, fpr_high) = _limits(fpr, tpr, sizes, level)
    low = tpr - np.hypot(tpr - tpr_low, slope * (fpr_high - fpr))
    high = tpr + np.hypot(tpr_high - tpr, slope * (fpr - fpr_low))
    low, high = np.maximum.accumulate(low.clip(0, 1)), np.maximum.accumulate(high.clip(0, 1))
    return Band(numbers(fpr), numbers(np.minimum(low, tpr)), numbers(high), level)


def precision_band(fpr: Array, tpr: Array, sizes: tuple[float, float], level: float = 0.95) -> Band:
    """Return limits of precision at each recall.

    The odds of a false alarm among the flagged are N/P times FPR/TPR: limits of the false positive rate
    at that recall, combined with those of the odds N/P.

    Parameters
    ----------
    fpr, tpr : float64 arrays of shape (n,), ascending
        Points of the curve, of which the first flags nothing (its limits are those of the second).
    sizes : tuple of float
        Numbers of positives and negatives.
    level : float
        Pointwise confidence level.

    Examples
    --------
    >>> band = precision_band(np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.8, 1.0]), (50.0, 50.0))
    >>> round(band.low[1], 2), round(band.high[1], 2)
    (0.52, 1.0)
    """
    slope = _slope(fpr, tpr)
    (tpr_low, tpr_high), (fpr_low, fpr_high) = _limits(fpr, tpr, sizes, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.nan_to_num((tpr_high - tpr) / slope, posinf=1.0)
        right = np.nan_to_num((tpr - tpr_low) / slope, posinf=1.0)
        least = np.hypot(fpr - fpr_low, left)
        most = np.hypot(fpr_high - fpr, right)
    P, N = sizes
    ratio = N / P
    spread = np.exp(normal_quantile((1 + level) / 2) * np.sqrt(1 / P + 1 / N))
    odds_low = fpr * ratio - np.hypot(ratio * least, fpr * ratio * (1 - 1 / spread))
    odds_high = fpr * ratio + np.hypot(ratio * most, fpr * ratio * (spread - 1))
    recall = np.where(tpr > 0, tpr, np.nan)
    own = recall / (recall + fpr * ratio)
    low = np.minimum(recall / (recall + odds_high), own)
    high = np.maximum(recall / (recall + odds_low.clip(0, None)), own)
    low, high = np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)
    low[0], high[0] = low[1], high[1]
    return Band(numbers(tpr), numbers(low), numbers(high), level, steps=True)


def _limits(
    fpr: Array, tpr: Array, sizes: tuple[float, float], level: float
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    P, N = sizes
    return wilson(tpr * P, P, level), wilson(fpr * N, N, level)


def _slope(fpr: Array, tpr: Array) -> Array:
    """Slope of the hull's edge that begins at or spans each point; never infinite."""
    vertices = hull(fpr, tpr)
    dx, dy = np.diff(fpr[vertices]), np.diff(tpr[vertices])
    edge = np.searchsorted(fpr[vertices], fpr, side="right") - 1
    edge = edge.clip(0, len(dx) - 1)
    slopes: Array = np.where(dx > 0, dy / np.where(dx > 0, dx, 1), 0.0)[edge]
    return slopes
