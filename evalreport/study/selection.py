"""The luck of the best of N normal values: its expectation, its limits, how far behind the best may fall."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_GRID: Floats = np.linspace(-9.0, 9.0, 1801)
"""Where integrals over a normal value are taken: one beyond 9 has a chance of 1e-19, and steps of 0.01 leave
less than 1e-6 (see `expected_maximum`)."""
_FAR = 15.0
"""Standard errors behind the best from which a value has no chance left: two errors of 7.5, in opposite
ways."""
_POINTS = 121
"""Points of the prior of true values: an eighth of a standard error apart over `_FAR`."""
_STEPS = 401
"""Steps of the integral: at most 0.07 standard errors, over `_FAR` and seven more at either end."""


def _density(at: Floats) -> Floats:
    """Density of the standard normal."""
    return np.exp(-0.5 * at**2) / math.sqrt(2 * math.pi)


@lru_cache(maxsize=1)
def _table() -> tuple[Floats, Floats]:
    at = np.linspace(-9.0, 9.0, 18001)
    return at, np.array([0.5 * math.erfc(-z / math.sqrt(2)) for z in at])


def _cdf(at: Floats) -> Floats:
    """Distribution function of the standard normal, from a table: absolute error below 1e-7."""
    return np.interp(at, *_table())


def _integral(values: Floats, at: Floats) -> float:
    """Trapezoidal rule; NumPy's own has another name before 2.0."""
    return float((np.diff(at) * (values[1:] + values[:-1]) / 2.0).sum())


@lru_cache(maxsize=256)
def expected_maximum(n: int) -> float:
    """Return the expected greatest of `n` independent standard normal values.

    Computed as b - ∫ Φⁿ dx up to a far b; absolute error below 1e-6.

    Parameters
    ----------
    n : int
        At least 1.

    References
    ----------
    Harter, H. L. (1961). Expected values of normal order statistics. Biometrika 48, 151-165.

    Examples
    --------
    >>> [round(expected_maximum(n), 4) for n in (2, 10, 100)]
    [0.5642, 1.5388, 2.5076]
    """
    return float(_GRID[-1]) - _integral(_cdf(_GRID) ** n, _GRID)


@lru_cache(maxsize=256)
def gupta_critical(n_trials: int, confidence: float) -> float:
    """Return how many standard errors of a difference the truly best of N may fall behind by luck.

    With probability `confidence` no rival leads it by more, even when all N are equally good:
    ∫ Φ(z + d√2)^(N - 1) φ(z) dz = confidence (Gupta 1965), solved by bisection.

    Examples
    --------
    >>> round(gupta_critical(2, 0.95), 3)
    1.645
    """
    low, high = 0.0, NormalDist().inv_cdf(1 - (1 - confidence) / n_trials) + 1.0
    for _ in range(40):  # halvings of a bracket below 10, to 1e-11
        middle = (low + high) / 2
        inside = _cdf(_GRID + middle * math.sqrt(2)) ** (n_trials - 1) * _density(_GRID)
        low, high = (middle, high) if _integral(inside, _GRID) < confidence else (low, middle)
    return (low + high) / 2


@lru_cache(maxsize=256)
def luckiest_limit(n_trials: int, confidence: float, correlation: float = 0.0) -> float:
    """Return how many standard errors the luckiest of N errors stays below, with a stated probability.

    With √ρ of each error shared, P(greatest ≤ c) = ∫ Φ((c + √ρ z) / √(1 - ρ))^N φ(z) dz. Independent errors
    have the greatest limit of all that are correlated alike (Slepian 1962): it holds where nobody knows.

    Parameters
    ----------
    n_trials : int
    confidence : float
        Probability in (0, 1).
    correlation : float
        Between any two errors, in [0, 1).

    Examples
    --------
    >>> round(luckiest_limit(1, 0.975), 2), round(luckiest_limit(100, 0.975), 2)
    (1.96, 3.48)
    """
    own, shared = math.sqrt(1 - correlation), math.sqrt(correlation)
    low, high = -2.0, 9.0  # one error at a confidence of 0.5 has 0; a million at 0.9999 have below 7
    for _ in range(50):  # halvings, to 1e-14
        middle = (low + high) / 2
        inside = _cdf((middle + shared * _GRID) / own) ** n_trials * _density(_GRID)
        low, high = (middle, high) if _integral(inside, _GRID) < confidence else (low, middle)
    return (low + high) / 2


SLICE = 0.1
"""Share of the error that the hybrid limits spend on the luckiest of all errors (Andrews et al. 2024)."""


def simultaneous_limits(
    best: float, n_trials: int, confidence: float, error: Callable[[float], float]
) -> tuple[float, float]:
    """Return limits of the true value of the best of N, whatever the correlation of their errors is.

    Luck pushes one way alone: below, they reach as far as the luckiest of all errors, independent ones being
    the worst (Slepian 1962); above, as far as one error does.

    Parameters
    ----------
    best : float
        Greater is better.
    n_trials : int
    confidence : float
    error : callable
        From a true value to the standard error of a trial that has it.

    Examples
    --------
    >>> [round(x, 2) for x in simultaneous_limits(0.0, 100, 0.95, lambda true: 1.0)]
    [-3.48, 1.96]
    """
    side = (1 + confidence) / 2
    lucky, one = luckiest_limit(n_trials, side), luckiest_limit(1, side)
    reach = WIDE * error(best)
    return (
        _root(lambda true: (best - true) - lucky * error(true), best - reach, best),
        _root(lambda true: one * error(true) - (true - best), best, best + reach),
    )


_DECIMALS = 5
"""Beyond so many, values count as they were computed: trials that have one value are then one model."""
_EXACT = 1e-7
"""How far a value may lie off its grid: as single precision puts it, and a hundredth of the least step."""


def resolution(values: Floats, n: int | None = None) -> float:
    """Return the step between values that are shares of `n` examples or were rounded: 0 where neither.

    Examples
    --------
    >>> [resolution(np.array([0.8, last])) for last in (0.812, 1 / 3)]
    [0.001, 0.0]
    >>> resolution(np.array([0.8, 1 / 3]), 15) == 1 / 15
    True
    """
    steps = ((1 / n,) if n else ()) + tuple(10.0**-decimals for decimals in range(1, _DECIMALS + 1))
    off = (np.abs(values - np.round(values / step) * step).max() for step in steps)
    return next((step for step, far in zip(steps, off, strict=True) if far <= _EXACT), 0.0)


def ahead(values: Floats, step: float) -> tuple[float, float, int]:
    """Return the best of values on a grid, what it had to exceed to win, and of how many it is the best.

    A trial that meets the greatest of the others wins by lot. So of k alike each is taken to stand in the
    middle of the uppermost k-th of what was rounded to their value (the mid-P value given that it won:
    Lancaster 1961): equal values as they are would tell that the best won by nothing, and be far too low.

    Parameters
    ----------
    values : float64 array of shape (trials,)
        At least two; greater is better.
    step : float
        Between neighbouring values; 0: values are not rounded, and equal ones are of one model.

    References
    ----------
    Lancaster, H. O. (1961). Significance tests in discrete distributions. JASA 56, 223-234.

    Examples
    --------
    >>> [round(x, 3) for x in ahead(np.array([0.7, 0.8, 0.8]), 0.1)]
    [0.825, 0.8, 3]
    >>> ahead(np.array([0.7, 0.8, 0.8]), 0.0)
    (0.8, 0.7, 2)
    """
    ordered = np.sort(values if step else np.unique(values))
    best = float(ordered[-1])
    second = float(ordered[-2]) if len(ordered) > 1 else -math.inf
    alike = int((np.abs(ordered - second) < step / 2).sum())
    tied = best - second < step / 2
    chance = 1 / (alike + (not tied))
    return best + tied * (0.5 - chance / 2) * step, second + (0.5 - chance) * step, len(ordered)


def hybrid_limits(
    best: float,
    second: float,
    n_trials: int,
    correlation: float,
    confidence: float,
    error: Callable[[float], float],
) -> tuple[float, float]:
    """Return limits of the true value of the best of N whose errors correlate by a known number.

    Given what the other trials have beyond what they share with it, the best is a normal value cut off below
    at V = best - (best - second) / (1 - ρ): its limits are those of a truncated normal, exact whatever the
    true values are. Cut off above, too, where the error would exceed the luckiest of all, they stay short
    where the second comes close.

    Parameters
    ----------
    best, second : float
        The two greatest values; greater is better.
    n_trials : int
    correlation : float
        In [0, 1).
    confidence : float
    error : callable
        From a true value to the standard error of a trial that has it.

    References
    ----------
    Andrews, I., Kitagawa, T. & McCloskey, A. (2024). Inference on winners. Quarterly Journal of Economics
    139, 305-358.

    Examples
    --------
    >>> [round(x, 2) for x in hybrid_limits(0.0, -9.0, 10, 0.0, 0.95, lambda true: 1.0)]
    [-1.99, 2.0]
    >>> [round(x, 2) for x in hybrid_limits(0.0, -0.5, 10, 0.0, 0.95, lambda true: 1.0)]
    [-3.26, 1.86]
    """
    spent = SLICE * (1 - confidence)
    side = (1 - confidence - spent) / (1 - spent) / 2
    lucky = luckiest_limit(n_trials, 1 - spent, correlation)
    cut = best - (best - second) / (1 - correlation)
    normal = NormalDist()

    def beyond(true: float, share: float) -> float:
        """Chance of a value up to the best, less a share; decreasing in the true value."""
        own = error(true)
        least = normal.cdf((cut - true) / own)
        mass = normal.cdf(lucky) - least
        if (best - true) / own >= lucky or mass <= 0:
            return 1.0
        return (normal.cdf((best - true) / own) - least) / mass - share

    reach = WIDE * error(best)
    low, high = (
        _root(lambda true, share=share: beyond(true, share), best - reach, best + reach)  # type: ignore[misc]
        for share in (1 - side, side)
    )
    return low, high


WIDE = 40.0
"""Standard errors on either side within which limits are sought."""


def _root(falls: Callable[[float], float], low: float, high: float) -> float:
    """Where a decreasing function is 0, by bisection."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if falls(middle) > 0 else (low, middle)
    return (low + high) / 2


def expected_optimism(values: Floats, own: float) -> float:
    """Return E[error of the best of N], for true values spread as these observed ones suggest.

    Each true value is drawn from its posterior (`_posterior`), then measured afresh: with the density
    f and distribution function F of the measured value of each trial, the result is
    Σₖ ∫ E[eₖ | x] fₖ(x) Πₗ≠ₖ Fₗ(x) dx. In simulations over equal, normal, skewed and mixed true values
    its mean lies within 0.25 `own` of the mean optimism (tests/study/test_luck.py).

    Parameters
    ----------
    values : array, shape (N,)
        Greater is better.
    own : float
        Standard error of each value.

    Examples
    --------
    >>> round(expected_optimism(np.zeros(10), 0.1), 3) == round(0.1 * expected_maximum(10), 3)
    True
    >>> abs(round(expected_optimism(np.array([0.0, 100.0]), 0.1), 3))
    0.0
    """
    behind = (values - values.max()) / own
    points, share = _posterior(behind[behind > -_FAR])
    # beyond seven standard errors a value has a chance of 1e-12
    grid = np.linspace(points[0] - 7, points[-1] + 7, _STEPS)
    away = grid[:, None] - points
    error = (_density(away) * away) @ share.T
    below = np.log(np.maximum(_cdf(away) @ share.T, 1e-300))
    rivals = np.exp(below.sum(axis=1, keepdims=True) - below)
    return own * _integral((error * rivals).sum(axis=1), grid)


def _posterior(behind: Floats, rounds: int = 100) -> tuple[Floats, Floats]:
    """Return points and, for each trial, the probability that its true value lies at each of them.

    The prior is the distribution on the points that explains all values best (maximum likelihood by
    expectation maximisation). A hundred rounds from equal weights keep it smooth; the limit would be a
    handful of points that follow the luck of the greatest values.
    """
    points = np.linspace(behind.min(), 0.0, _POINTS)
    likelihood = _density(behind[:, None] - points)
    share = likelihood / likelihood.sum(axis=1, keepdims=True)
    for _ in range(rounds):
        share = likelihood * share.mean(axis=0)
        share /= share.sum(axis=1, keepdims=True)
    return points, share
