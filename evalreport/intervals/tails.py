"""How much of an interval's error goes to each side near an end of the range of what is estimated.

A truth at the end of its range is missed on one side alone, so that an interval with 2.5 % on either side
holds it in 97.5 % of samples and more. Ordered by likelihood, samples that speak for the end itself are never
held against a truth near it, and the whole 5 % go to the other side; away from the end the two sides are
alike again. Coverage is that of the level everywhere.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from evalreport.facts.counts import Array
from evalreport.intervals.quantiles import NORMAL, normal_quantile

KNOTS = 65
"""Distances at which the sides are worked out, from 0 to where they are alike; linear between them."""


def tails_near_end(distance: Array, level: float) -> tuple[Array, Array]:
    """Return the chances below and above the samples that an interval accepts of a truth near a lower end.

    Parameters
    ----------
    distance : float64 array
        From what a truth at the end gives on average to what this one does, in standard deviations.
    level : float
        Confidence level.

    Returns
    -------
    below, above : float64 arrays
        They add up to one minus the level: all of it above at the end, half of it each far away.

    References
    ----------
    Feldman & Cousins 1998, Physical Review D 57:3873: a normal mean that is not negative.

    Examples
    --------
    >>> below, above = tails_near_end(np.array([0.0, 1.0, 3.0]), 0.95)
    >>> below.round(3).tolist(), above.round(3).tolist()
    ([0.0, 0.016, 0.025], [0.05, 0.034, 0.025])
    """
    knots, below, above = _sides(level)
    return np.interp(distance, knots, below), np.interp(distance, knots, above)


@cache
def _sides(level: float) -> tuple[Array, Array, Array]:
    """Distances and both chances: samples x of a mean d are accepted up to d + c, and down to as likely ones.

    The likelihood ratio of x to the best mean is that of d + c at (d² - c²) / 2d, below 0, where the best
    mean is 0; c is found by bisection.
    """
    one, two = normal_quantile(level), normal_quantile((1 + level) / 2)
    knots = np.linspace(0, two, KNOTS)
    above = np.full(KNOTS, 1 - level)
    for place, distance in enumerate(knots[1:], 1):
        low, high = one, two
        for _ in range(50):
            reach = (low + high) / 2
            held = NORMAL.cdf(reach) - NORMAL.cdf(-(distance**2 + reach**2) / (2 * distance))
            low, high = (reach, high) if held < level else (low, reach)
        above[place] = 1 - NORMAL.cdf(low)
    return knots, 1 - level - above, above
