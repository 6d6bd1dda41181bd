"""Quantiles of the normal and of Student's t distribution, and intervals of proportions.

Near an end of the range most of an interval's error is on one side. SciPy is imported on first use.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from evalreport.statistics.confusion import Array

NORMAL = NormalDist()


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
"""Distances at which the tails are computed, from 0 to where both are equal; linear between them."""


def tails_near_end(distance: Array, level: float) -> tuple[Array, Array]:
    """Return the rejected probabilities below and above, of samples of a true value near a lower end.

    Parameters
    ----------
    distance : float64 array
        Distance of the mean of samples from that at the end of the range, in standard deviations.
    level : float
        Confidence level.

    Returns
    -------
    below, above : float64 arrays
        They add up to one minus the level: at the end all of it is above, far away half of it on each side.

    References
    ----------
    Feldman & Cousins 1998, Physical Review D 57:3873: a normal mean with a lower limit of 0.

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
    """Return how far an accepted sample can be from a true value near an end, on the side away from the end.

    Returns
    -------
    distance : float64 array, ascending
        From the end to the true value, in standard deviations.
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
    """Distances and both tails: a mean d accepts samples up to d + c and down to the equally likely one.

    The likelihood ratio of a sample to its best mean is the same at d + c and at (d² - c²) / 2d; that is
    below 0, where the best mean is 0. Bisection finds c.
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


ROUNDING = 1e-12
"""A proportion this close to 0 or 1 is treated as 0 or 1: sums of weights are rounded."""


def wilson(
    k: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return Wilson's score interval of a proportion.

    Parameters
    ----------
    k, n : float or array
        Successes and trials, ``0 <= k <= n``; they need not be whole. Limits are NaN where n is 0.
    level : float
        Confidence level.

    Returns
    -------
    low, high : float64 arrays of the broadcast shape, in [0, 1]

    References
    ----------
    Wilson 1927; Newcombe 1998, Statistics in Medicine 17:857, method 3.

    Examples
    --------
    >>> low, high = wilson(81, 263)
    >>> float(low.round(4)), float(high.round(4))
    (0.2553, 0.3662)
    """
    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    z2 = normal_quantile((1 + level) / 2) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (k + z2 / 2) / (n + z2)
        half = np.sqrt(z2 * (k * (n - k) / n + z2 / 4)) / (n + z2)
    low = np.where(k <= 0, 0.0, np.clip(centre - half, 0, 1))
    high = np.where(k >= n, 1.0, np.clip(centre + half, 0, 1))
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def exact_limits(successes: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a proportion, with at most 2.5% error at each end (for 95%).

    Wilson's interval has this error only on average over true values: with its limits, a rule of
    `recall >= 0.99` would fail 16% of the samples of 17 rows whose true recall is 0.99.

    Parameters
    ----------
    successes, trials : float
        ``0 <= successes <= trials``, trials > 0; they need not be whole.

    References
    ----------
    Clopper & Pearson 1934; Korn & Graubard 1998 for numbers that are not whole.

    Examples
    --------
    >>> [round(end, 4) for end in exact_limits(81, 263)]
    [0.2527, 0.3676]
    """
    from scipy.special import betaincinv

    tail, failures = (1 - level) / 2, trials - successes
    low = betaincinv(successes, failures + 1, tail) if successes > 0 else 0.0
    high = betaincinv(successes + 1, failures, 1 - tail) if failures > 0 else 1.0
    return float(low), float(high)


def exact_like(value: float, low: float, high: float, level: float) -> tuple[float, float]:
    """Return the exact interval for the number of trials implied by a score interval, `low` to `high`.

    With weights or clusters this is the effective number of rows, reduced for Student's t.

    Examples
    --------
    >>> low, high = wilson(81, 263)
    >>> [round(end, 4) for end in exact_like(81 / 263, float(low), float(high), 0.95)]
    [0.2527, 0.3676]
    """
    end = low if value - low > high - value else high
    trials = normal_quantile((1 + level) / 2) ** 2 * end * (1 - end) / (value - end) ** 2
    return exact_limits(value * trials, trials, level)


def newcombe(k1: float, n1: float, k2: float, n2: float, level: float = 0.95) -> tuple[float, float, float]:
    """Return the difference of two independent proportions and its interval.

    Parameters
    ----------
    k1, n1, k2, n2 : float
        Successes and trials of the two samples; n1, n2 > 0.

    Returns
    -------
    difference, low, high : float
        ``k1/n1 - k2/n2``, in [-1, 1].

    References
    ----------
    Newcombe 1998, Statistics in Medicine 17:873, method 10 (square-and-add of Wilson limits).

    Examples
    --------
    >>> tuple(round(x, 4) for x in newcombe(56, 70, 48, 80))
    (0.2, 0.0524, 0.3339)
    """
    p1, p2 = k1 / n1, k2 / n2
    (l1, l2), (u1, u2) = wilson([k1, k2], [n1, n2], level)
    below = np.hypot(p1 - l1, u2 - p2)
    above = np.hypot(u1 - p1, p2 - l2)
    return p1 - p2, float(max(-1.0, p1 - p2 - below)), float(min(1.0, p1 - p2 + above))


def score_limits(
    value: npt.ArrayLike,
    standard_error: npt.ArrayLike,
    n: npt.ArrayLike,
    z: npt.ArrayLike,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the score interval of a bounded quantity from its standard error.

    Wilson's interval with the number of trials that would give a proportion this standard error: inside
    the range, asymmetric near its ends, and not of zero width there.

    Parameters
    ----------
    value, standard_error : float or array
        On the scale of the metric.
    n : float or array
        Rows: the number of trials if the standard error is 0. No variable within the bounds has a greater
        variance than a proportion, so the interval is not too narrow.
    z : float or array
        Quantile of the normal or of Student's t.
    bounds : tuple of float
        Range of the metric, finite.

    References
    ----------
    Dean & Pagano 2015, Survey Methods: the effective sample size of survey proportions.

    Examples
    --------
    >>> low, high = score_limits(0.9, 0.03, 100, 1.96)
    >>> float(low.round(4)), float(high.round(4))
    (0.8256, 0.9448)
    """
    low, wide = bounds[0], bounds[1] - bounds[0]
    share = np.clip((np.asarray(value, dtype=np.float64) - low) / wide, 0, 1)
    error = np.asarray(standard_error, dtype=np.float64) / wide
    with np.errstate(divide="ignore", invalid="ignore"):
        trials = share * (1 - share) / error**2
    # Sums of weights are rounded: a proportion this close to an end is at the end.
    inside = (share > ROUNDING) & (share < 1 - ROUNDING)
    trials = np.where(np.isfinite(trials) & (trials > 0) & inside, trials, n)
    z2 = np.asarray(z, dtype=np.float64) ** 2
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = np.sqrt(z2 * (share * (1 - share) / trials + z2 / (4 * trials**2))) / (1 + z2 / trials)
    return low + wide * np.clip(centre - half, 0, 1), low + wide * np.clip(centre + half, 0, 1)
