"""Quantiles of the normal and of Student's t distribution, without SciPy's quarter second of import.

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

    An expansion about the normal quantile (Abramowitz & Stegun 26.7.5) where that is exact to rounding, else
    Newton's method on the distribution function from there; of few degrees of freedom from the normal
    quantile itself, which lies nearer to 0: the function is concave above its median, so that the steps
    approach the root from one side.

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
    if p < 0.5:
        return -t_quantile(1 - p, df)
    x = normal_quantile(p)
    if df > 5:
        near = x + (x**3 + x) / (4 * df) + (5 * x**5 + 16 * x**3 + 3 * x) / (96 * df**2)
        if df > MANY:
            near += (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / (384 * df**3)
            return near + (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / (92160 * df**4)
        x = near
    constant = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    for _ in range(100):
        upper = 0.5 * incomplete_beta(df / (df + x * x), df / 2, 0.5)
        step = (upper - (1 - p)) / (constant * (1 + x * x / df) ** (-(df + 1) / 2))
        x += step
        if abs(step) <= 1e-12 * max(x, 1):
            break
    return x


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
    return two_sided_p(t) if df > 1e7 else incomplete_beta(df / (df + t * t), df / 2, 0.5)


def t_quantiles(p: float, df: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the quantiles of Student's t for an array of degrees of freedom.

    Examples
    --------
    >>> t_quantiles(0.975, [9, np.inf]).round(3)
    array([2.262, 1.96 ])
    """
    values, inverse = np.unique(np.asarray(df, dtype=np.float64), return_inverse=True)
    found = np.array([t_quantile(p, float(value)) for value in values])
    return found[inverse].reshape(np.shape(df))  # NumPy 1 gives a flat inverse


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction (Lentz; NR 6.4).

    Examples
    --------
    >>> round(incomplete_beta(0.05, 1, 58), 3)
    0.949
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    tiny = 1e-300
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1), tiny)
    fraction = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d, tiny)
            c = _away_from_zero(1 + term / c, tiny)
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return math.exp(log_front) * fraction / a


def _away_from_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny


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
