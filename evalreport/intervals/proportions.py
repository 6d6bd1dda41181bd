"""Intervals of proportions and of their differences."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalreport.intervals.distributions import normal_quantile

ROUNDING = 1e-12
"""A share this near to 0 or 1 is there: sums of weights are not exact."""


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
    """Return the exact interval of a proportion, each end of which a true value passes in at most 2.5%.

    Wilson's interval has this only on average over the true values: at its ends a rule of `recall >= 0.99`
    would fail 16% of the samples of 17 rows whose true recall is 0.99.

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
    """Return the exact interval of as many trials as the score interval `low` to `high` is of.

    With weights or clusters these are the effective number of rows, less for Student's t.

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
    the range, lopsided near its ends, and not of zero width there.

    Parameters
    ----------
    value, standard_error : float or array
        On the scale of the metric.
    n : float or array
        Rows: the trials where the standard error is 0. A variable within the bounds has no greater
        variance than a proportion, so that this is the wider interval.
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
    # Sums of weights round: a share this near to an end is at it, and its error is rounding.
    inside = (share > ROUNDING) & (share < 1 - ROUNDING)
    trials = np.where(np.isfinite(trials) & (trials > 0) & inside, trials, n)
    z2 = np.asarray(z, dtype=np.float64) ** 2
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = np.sqrt(z2 * (share * (1 - share) / trials + z2 / (4 * trials**2))) / (1 + z2 / trials)
    return low + wide * np.clip(centre - half, 0, 1), low + wide * np.clip(centre + half, 0, 1)
