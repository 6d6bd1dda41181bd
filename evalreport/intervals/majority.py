"""Intervals of what the most frequent class decides: its share, and the accuracy beyond it.

Which class is the most frequent is itself uncertain. Where several are about equal, draws of the maximum
all lie above the truth (at two equal classes their intervals covered 83 % and less); the extreme of the
limits of the candidates covers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evalreport.facts.counts import Array
from evalreport.intervals.proportions import score_limits
from evalreport.intervals.quantiles import normal_quantile
from evalreport.metrics.strategies import MostFrequent


def greatest_limits(
    values: Array, errors: Array, n: float, level: float, bounds: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """Return limits of the greatest of several quantities.

    The lower limit is the greatest of those of the candidates, each at Bonferroni's level; the upper one
    needs no correction, being that of the greatest, whichever it is.

    Parameters
    ----------
    values, errors : float64 arrays of shape (K,)
        Estimates and standard errors.
    n : float
        Rows.
    bounds : tuple of float
        Range of the quantities.

    Examples
    --------
    >>> shares = np.array([0.52, 0.48])
    >>> low, high = greatest_limits(shares, np.sqrt(shares * (1 - shares) / 100), 100.0, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.41, 0.615)
    """
    z = normal_quantile((1 + level) / 2)
    low, high = score_limits(values, errors, n, z, bounds)
    candidates = np.count_nonzero(high >= low.max())
    shared = normal_quantile(1 - (1 - level) / (2 * candidates))
    low, _ = score_limits(values, errors, n, shared, bounds)
    return float(low.max()), float(high.max())


def majority_parts(
    frequent: MostFrequent, right: Array, support: Array, predicted: Array, total: Any
) -> Array:
    """Return what each class would make of a metric if it were the most frequent, shape (..., K).

    The metric is the greatest of them; a gain is the smallest.

    Examples
    --------
    >>> counts = np.array([4.0, 1.0]), np.array([6.0, 4.0]), np.array([7.0, 3.0])
    >>> majority_parts(MostFrequent(gain=True), *counts, total=10.0).round(1)
    array([-0.1,  0.1])
    """
    total = np.asarray(total)[..., None]
    if frequent.gain:
        gain: Array = (right.sum(axis=-1, keepdims=True) - support) / total
        return gain
    share: Array = (predicted if frequent.of == "answers" else support) / total
    return share


def majority_limits(
    frequent: MostFrequent, values: Array, errors: Array, n: float, level: float
) -> tuple[float, float]:
    """Return the limits of what the most frequent class decides from its `majority_parts`.

    Examples
    --------
    >>> low, high = majority_limits(
    ...     MostFrequent(gain=True), np.array([-0.1, 0.1]), np.full(2, 0.05), 100.0, 0.95
    ... )
    >>> round(low, 2), round(high, 2)
    (-0.2, -0.0)
    """
    if not frequent.gain:
        return greatest_limits(values, errors, n, level)
    low, high = greatest_limits(-values, errors, n, level, (-1.0, 1.0))
    return -high, -low


def majority_errors(
    frequent: MostFrequent, right: Array, support: Array, predicted: Array, total: float
) -> Array:
    """Return the standard errors of `majority_parts` over independent rows of one matrix, shape (K,).

    Parameters
    ----------
    right, support, predicted : float64 arrays of shape (K,)

    Examples
    --------
    >>> counts = np.array([4.0, 1.0]), np.array([6.0, 4.0]), np.array([7.0, 3.0])
    >>> majority_errors(MostFrequent(), *counts, total=10.0).round(3)
    array([0.155, 0.155])
    """
    value = majority_parts(frequent, right, support, predicted, total)
    if frequent.gain:
        apart = (right.sum() + support - 2 * right) / total  # rows that are right or of the class, not both
        spread = apart - value**2
    else:
        spread = value * (1 - value)
    errors: Array = np.sqrt(np.maximum(spread, 0.0) / total)
    return errors
