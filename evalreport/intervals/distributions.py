"""Quantiles of the normal and of Student's t distribution; SciPy is imported where it is first needed.

Also how much of an interval's error goes to each side near an end of the range of what is estimated.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from evalreport.statistics.confusion import Array

NORMAL = NormalDist()
MANY = 1000
"""Degrees of freedom above which four terms about the normal quantile agree with SciPy to 1e-12, and Newton's
steps would go on until rounding ends them."""


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile of a probability in (0, 1).

    Examples
    --------
    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    return NORMAL.inv_cdf(p)


def two_sided_p(z: float) -> float:
    """Return the two-sided p-value of a standard normal deviate.

    Examples
    --------
    >>> round(two_sided_p(1.959964), 6)
    0.05
    """
    return math.erfc(abs(z) / math.sqrt(2))


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t.

    Parameters
    ----------
    p : float
        Probability in (0, 1).
    df : float
        Degrees of freedom, > 0; infinity gives the normal quantile.

    Examples
    --------
    >>> round(t_quantile(0.975, 9), 6), round(t_quantile(0.025, 1), 4)
    (2.262157, -12.7062)
    """
    from scipy.special import stdtrit

    return normal_quantile(p) if math.isinf(df) else float(stdtrit(df, p))


def two_sided_t(t: float, df: float) -> float:
    """Return the two-sided p-value of a Student's t deviate.

    Parameters
    ----------
    t : float
    df : float
        Degrees of freedom, > 0.

    Examples
    --------
    >>> round(two_sided_t(2.262157, 9), 6), round(two_sided_t(1.959964, 1e9), 6)
    (0.05, 0.05)
    """
    from scipy.special import stdtr

    return two_sided_p(t) if math.isinf(df) else float(2 * stdtr(df, -abs(t)))


def t_quantiles(p: float, df: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the quantiles of Student's t for an array of degrees of freedom.

    Examples
    --------
    >>> t_quantiles(0.975, [9, np.inf]).round(3)
    array([2.262, 1.96 ])
    """
    from scipy.special import stdtrit

    df = np.asarray(df, dtype=np.float64)
    return np.where(np.isinf(df), normal_quantile(p), stdtrit(df, p))


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
def reaches_near_end(level: float) -> tuple[Array, Array]:
    """Return how far a sample accepted of a truth near an end may lie from it, away from the end.

    Returns
    -------
    distance : float64 array, ascending
        From the end to the truth, in standard deviations.
    reach : float64 array of the same shape
        In standard deviations: see `tails_near_end`.

    Examples
    --------
    >>> distance, reach = reaches_near_end(0.95)
    >>> reach[[0, -1]].round(2).tolist()
    [1.64, 1.96]
    """
    knots, _, above = _sides(level)
    return knots, np.array([normal_quantile(1 - float(tail)) for tail in above])


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
