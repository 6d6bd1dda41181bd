"""Tests of differences between two sets of answers, and the correction for making several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.facts.counts import Array
from evalreport.intervals.quantiles import two_sided_p

EXACT_BELOW = 25
"""Discordant pairs below which McNemar's test is the exact binomial."""


@dataclass(frozen=True)
class McNemar:
    """McNemar's test of two classifiers on the same examples.

    Parameters
    ----------
    p : float
        Exact binomial below 25 discordant pairs, chi-square without continuity correction from there.
    p_mid : float
        Mid-p, at any number.
    """

    p: float
    p_mid: float


def mcnemar(only1: int, only2: int) -> McNemar:
    """Return McNemar's test from the examples that the first alone and the second alone got right.

    References
    ----------
    McNemar 1947; Fagerland, Lydersen & Laake 2013 (mid-p).

    Examples
    --------
    >>> test = mcnemar(10, 2)
    >>> round(test.p, 4), round(test.p_mid, 4)
    (0.0386, 0.0225)
    """
    n, fewer = only1 + only2, min(only1, only2)
    exact, at = _binomial_tail(fewer, n)
    p_mid = 1.0 if only1 == only2 else 2 * exact - at
    if n < EXACT_BELOW:
        return McNemar(min(1.0, 2 * exact), p_mid)
    return McNemar(two_sided_p((only1 - only2) / math.sqrt(n)), p_mid)


def _binomial_tail(k: int, n: int) -> tuple[float, float]:
    """P(X <= k) and P(X = k) of a fair binomial."""
    logs = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(k + 1)]
    terms = np.exp(np.array(logs) - n * math.log(2))
    return float(terms.sum()), float(terms[-1])


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


@dataclass(frozen=True)
class PairedAuc:
    """DeLong's test of two AUCs on the same examples.

    Parameters
    ----------
    difference : float
        The first AUC less the second.
    standard_error : float
        Of the difference; 0 when the two rankings are the same.
    p : float
        Two-sided; NaN where the standard error cannot be told.
    """

    difference: float
    standard_error: float
    p: float


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


def paired_delong(
    scores1: npt.NDArray[np.floating], scores2: npt.NDArray[np.floating], positive: npt.NDArray[np.bool_]
) -> PairedAuc:
    """Return DeLong's test for two scores of the same rows.

    Parameters
    ----------
    scores1, scores2 : float array of shape (n,)
    positive : bool array of shape (n,)
        With at least two rows of each kind.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988.

    Examples
    --------
    >>> truth = np.array([0, 0, 0, 1, 1, 1], dtype=bool)
    >>> test = paired_delong(np.array([.1, .2, .3, .4, .5, .6]), np.array([.1, .5, .3, .4, .2, .6]), truth)
    >>> round(test.difference, 4), round(test.p, 4)
    (0.3333, 0.2207)
    """
    pairs = [row_placements(scores, positive) for scores in (scores1, scores2)]
    first, second = (float(pair[positive].mean()) for pair in pairs)
    apart = pairs[0] - pairs[1]
    variance = sum(apart[rows].var(ddof=1) / rows.sum() for rows in (positive, ~positive))
    error = math.sqrt(max(0.0, variance))
    if error == 0:
        return PairedAuc(first - second, 0.0, 1.0 if first == second else math.nan)
    return PairedAuc(first - second, error, two_sided_p((first - second) / error))
