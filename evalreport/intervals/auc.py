"""ROC AUC: DeLong's variance from the score table, and an interval that holds at the ends."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from evalreport.facts import ScoreTable
from evalreport.facts.counts import Array
from evalreport.intervals.quantiles import normal_quantile


def placements(table: ScoreTable) -> tuple[Array, Array]:
    """Return the DeLong placements of positives and negatives at each distinct score.

    Returns
    -------
    of_positives, of_negatives : float64 arrays of shape (distinct scores,), in [0, 1]
        Share of negatives below a positive with this score, and share of positives above a negative with
        this score; ties count half. Their means over positives and over negatives are both the AUC.

    Examples
    --------
    >>> placements(ScoreTable.of(np.array([0.1, 0.5, 0.5]), np.array([False, True, False])))[0]
    array([0.25, 0.75])
    """
    below = np.cumsum(table.neg) - table.neg / 2
    above = table.tp - table.pos / 2
    return below / table.negatives, above / table.positives


def delong(table: ScoreTable) -> tuple[float, float]:
    """Return ROC AUC and DeLong's variance of it.

    Parameters
    ----------
    table : ScoreTable
        With positives and negatives; the variance is NaN with fewer than two of either.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988; mid-ranks as Sun & Xu 2014, here read off the sorted table.

    Examples
    --------
    >>> auc, variance = delong(ScoreTable.of(np.array([.1, .4, .35, .8]), np.array([0, 0, 1, 1], bool)))
    >>> auc, round(variance, 4)
    (0.75, 0.125)
    """
    P, N = table.positives, table.negatives
    if not P or not N:
        return math.nan, math.nan
    ten, one = placements(table)
    auc = float(table.pos @ ten / P)
    if P < 2 or N < 2:
        return auc, math.nan
    spread_pos = float(table.pos @ (ten - auc) ** 2) / (P - 1)
    spread_neg = float(table.neg @ (one - auc) ** 2) / (N - 1)
    return auc, spread_pos / P + spread_neg / N


def auc_limits(auc: float, positives: float, negatives: float, level: float = 0.95) -> tuple[float, float]:
    """Return Newcombe's score-like interval of an AUC from the two class sizes.

    The limits solve ``(auc - a)² = z² V(a)``, so they lie in [0, 1] and are apart even at AUC = 1 or with
    one positive. V is Hanley & McNeil's variance with each class size replaced, where it weighs the two
    kinds of pair, by the mean of the two.

    Parameters
    ----------
    auc : float
        In [0, 1].
    positives, negatives : float
        Class sizes, at least 1.

    References
    ----------
    Newcombe 2006, Statistics in Medicine 25:559, method 5; Hanley & McNeil 1982.

    Examples
    --------
    >>> tuple(round(x, 4) for x in auc_limits(1.0, 10, 190))
    (0.8965, 1.0)
    """
    z2 = normal_quantile((1 + level) / 2) ** 2

    def beyond(candidate: float) -> float:
        return (auc - candidate) ** 2 - z2 * _variance(candidate, positives, negatives)

    low = 0.0 if auc <= 0 else _root(beyond, 0.0, auc)
    high = 1.0 if auc >= 1 else 1 - _root(lambda x: beyond(1 - x), 0.0, 1 - auc)
    return low, high


def _variance(auc: float, positives: float, negatives: float) -> float:
    star = (positives + negatives) / 2 - 1
    spread = 1 + star * (1 - auc) / (2 - auc) + star * auc / (1 + auc)
    return auc * (1 - auc) * spread / (positives * negatives)


def _root(beyond: Callable[[float], float], outside: float, inside: float) -> float:
    """Bisect for the limit: `beyond` is > 0 outside the interval and <= 0 inside."""
    for _ in range(60):
        middle = (outside + inside) / 2
        if beyond(middle) > 0:
            outside = middle
        else:
            inside = middle
    return outside
