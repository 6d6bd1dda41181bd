"""Tests of differences between two sets of answers, and the correction for making several."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evalreport.facts.counts import Array
from evalreport.intervals.quantiles import incomplete_beta, two_sided_p

SMALLEST = 1e-300
"""P-values below this have no quantile of the normal; they are those of chi-square."""


def mcnemar(only1: int, only2: int) -> float:
    """Return McNemar's mid-p of two classifiers on the same examples, two-sided.

    Its error is near the nominal one with any number of discordant pairs, where that of chi-square is up to
    12% (four of four) and the exact test's is half of it.

    Parameters
    ----------
    only1, only2 : int
        Examples that the first alone and the second alone got right.

    References
    ----------
    McNemar 1947; Fagerland, Lydersen & Laake 2013.

    Examples
    --------
    >>> round(mcnemar(10, 2), 4), round(mcnemar(4, 0), 4), mcnemar(3, 3)
    (0.0225, 0.0625, 1.0)
    """
    n, fewer = only1 + only2, min(only1, only2)
    if only1 == only2:
        return 1.0
    log_at = math.lgamma(n + 1) - math.lgamma(fewer + 1) - math.lgamma(n - fewer + 1) - n * math.log(2)
    p = 2 * incomplete_beta(0.5, n - fewer, fewer + 1) - math.exp(log_at)
    return p if p > SMALLEST else two_sided_p((only1 - only2) / math.sqrt(n))


def holm(p: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the given order.

    References
    ----------
    Holm 1979.

    Examples
    --------
    >>> [round(x, 3) for x in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted.tolist()


def holm_levels(p: Sequence[float], level: float) -> list[float]:
    """Return the level of each interval that excludes 0 exactly where Holm's procedure rejects.

    With p sorted and k the first step that is not rejected, interval j has the level
    1 - alpha / (m - min(j, k) + 1): the step at which it was rejected, or at which the procedure stopped.

    Parameters
    ----------
    p : sequence of float
        Two-sided p-values of one family; of any order.
    level : float
        Of the family: 0.95 for alpha = 0.05.

    Returns
    -------
    list of float
        In the given order.

    References
    ----------
    Holm 1979.

    Examples
    --------
    >>> [round(level, 4) for level in holm_levels([0.2, 0.001, 0.02], 0.95)]
    [0.95, 0.9833, 0.975]
    """
    alpha, size = 1 - level, len(p)
    order = sorted(range(size), key=lambda place: p[place])
    found, left, stopped = [level] * size, size, False
    for step, place in enumerate(order):
        left = left if stopped else size - step
        found[place] = 1 - alpha / left
        stopped = stopped or p[place] > alpha / left
    return found


def row_placements(scores: npt.NDArray[np.floating], positive: npt.NDArray[np.bool_]) -> Array:
    """Return the DeLong placement of each row, shape (n,): against the negatives for a positive row,
    the share of positives above it for a negative one; ties count half.

    Examples
    --------
    >>> row_placements(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    array([1. , 0.5, 0.5, 1. ])
    """
    result = np.empty(len(scores))
    for own, sign in ((positive, 1), (~positive, -1)):
        other = np.sort(sign * scores[~own])
        mine = sign * scores[own]
        ranks = np.searchsorted(other, mine, "left") + np.searchsorted(other, mine, "right")
        result[own] = ranks / (2 * max(len(other), 1))
    return result
