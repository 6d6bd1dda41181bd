"""The selection bias of the best of N normal values: expectation, limits, distance from the truly best.

The winner's curse: by how much the best of many trials looks better than it is.

Every trial is judged on a sample of examples, so its value is its true value plus an error. Taking
the best of N values takes the luckiest errors with it: the best value is, on average, too good,
the more so the more trials were tried and the fewer examples judged them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError
from evalreport.core.result import Estimate, Undefined
from evalreport.metrics.catalogue import everything
from evalreport.metrics.record import Proportion, RowMean
from evalreport.thresholds.trial import Trial
from evalreport.thresholds.trial_search import Trials

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
    ties = int((np.abs(ordered - second) < step / 2).sum())
    tied = best - second < step / 2
    chance = 1 / (ties + (not tied))
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

    def tail_excess(true: float, share: float) -> float:
        """Chance of a value up to the best, less a share; decreasing in the true value."""
        own = error(true)
        least = normal.cdf((cut - true) / own)
        mass = normal.cdf(lucky) - least
        if (best - true) / own >= lucky or mass <= 0:
            return 1.0
        return (normal.cdf((best - true) / own) - least) / mass - share

    reach = WIDE * error(best)
    low, high = (
        _root(lambda true, share=share: tail_excess(true, share), best - reach, best + reach)  # type: ignore[misc]
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
    its mean lies within 0.25 `own` of the mean optimism (tests/features/studies/test_luck.py).

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


PROPORTIONS = frozenset(
    {metric.name for metric in everything() if isinstance(metric.strategy, Proportion)}
    | {"error_rate", "f1_micro"}  # of several classes, where it is the accuracy
)
"""Metrics that are a share of examples, whose error is binomial."""

MEANS = frozenset(
    {m.name for m in everything() if isinstance(m.strategy, RowMean) and m.low >= 0 and m.high <= 1}
    | {"brier", "label_accuracy", "hamming_loss"}  # of two classes; means over rows of a share of the labels
)
"""Metrics that are a mean of per-example scores in [0, 1], whose error is at most the binomial one."""


@dataclass(frozen=True, slots=True)
class WinnersCurse:
    """The selection bias of the best trial.

    Parameters
    ----------
    objective : str
    best : int
        Number of the best trial.
    observed : float
        Its value.
    optimism : float
        By how much the best is expected to look better than it is: at least 0, in units of the metric.
    optimism_if_equal : float
        The same if all trials were truly equally good: the greatest it can be.
    corrected : float
        `observed` less the optimism, in the direction of the objective, and within the interval.
    standard_error : float
        Sampling error of one trial's value: root mean square over the best and its ties, since the
        error at the best value alone is too small where that value is too good.
    n : int or None
        Examples that judged each trial; None where the errors were given.
    n_trials : int
        Trials that competed: complete, finite, each set of parameters once.
    correlation : float
        Between the errors of two trials.
    assumption : str
        Where the correlation comes from, in words.
    tied : tuple of int
        Trials not significantly different from the best (without the best itself): with `confidence`,
        the truly best trial is the best or one of these.
    confidence : float
    low, high : float
        Interval of the true value of the best, whichever it is. Where the correlation is known it is exact
        given which trial is the best (`hybrid_limits`); where it is not, it holds `confidence` at least.
    method : str
        Of the interval, in words.
    """

    objective: str
    best: int
    observed: float
    optimism: float
    optimism_if_equal: float
    corrected: float
    standard_error: float
    n: int | None
    n_trials: int
    correlation: float
    assumption: str
    tied: tuple[int, ...]
    confidence: float
    low: float
    high: float
    method: str

    @property
    def is_upper_bound(self) -> bool:
        """Whether the optimism is the greatest it can be, since errors count as independent."""
        return self.correlation == 0

    @property
    def expected_value(self) -> Estimate:
        """What is expected of the best on new data, with the interval of its true value."""
        return Estimate(self.corrected, self.n or self.n_trials, self.low, self.high)

    @property
    def winner(self) -> dict[str, Any]:
        """The best trial's true value, as JSON holds it: what is expected, and its interval."""
        limits = {"value": self.corrected, "low": self.low, "high": self.high}
        return {**limits, "method": self.method}


def winners_curse(
    trials: Trials,
    n: int | None = None,
    metric: str | None = None,
    *,
    standard_error: float | Sequence[float] | None = None,
    correlation: float | None = None,
    objective: str | None = None,
    confidence: float = 0.95,
) -> WinnersCurse | Undefined:
    """Return by how much the best trial is expected to look better than it is.

    The value of trial k is x_k = θ_k + e_k. The errors are normal with one standard error s
    and correlation ρ between any two trials, so that only the part s·√(1 - ρ) that
    trials do not share is selected for. How far the true values θ lie apart is estimated from the
    observed ones (Kiefer & Wolfowitz 1956), and the optimism is E[e of the best of N] under it:
    s·√(1 - ρ)·E[max of N normals] when all trials are equally good, less the further they differ
    (`expected_optimism`). Trials not significantly different from the best form Gupta's subset: it holds
    the truly best trial with the stated confidence.

    Parameters
    ----------
    trials : Trials
    n : int
        Examples that judged each trial; of a share of some of them, their number (recall: the positives).
    metric : str
        What the objective is, when its name in the study does not say. A share of examples
        (`PROPORTIONS`) has the binomial error, with two successes and two failures added
        (Agresti & Coull 1998), so that a value of 0 or 1 has an error too. For a mean of scores in
        [0, 1] (`MEANS`) that error is an upper bound (Bhatia & Davis 2000).
    standard_error : float or sequence of float
        Error of each value, for any other metric: one for all, or one per trial of `contenders`.
    correlation : float
        In [0, 1): mean correlation between the errors of two trials (`error_correlation`). Left out it is
        unknown: optimism and ties are the greatest that there can be, those of independent errors, and the
        interval holds whatever it is.
    objective : str
        Which one, when the study has several.
    confidence : float
        Of the subset.

    Returns
    -------
    WinnersCurse or Undefined
        Undefined for fewer than two different trials, or a metric of unknown error.

    Raises
    ------
    DataError
        No trial completed with a finite value; a share outside [0, 1].
    UsageError
        `n`, `correlation`, `confidence` or `standard_error` out of range.

    References
    ----------
    Agresti, A. & Coull, B. A. (1998). Approximate is better than "exact" for interval estimation of
    binomial proportions. The American Statistician 52, 119-126.
    Gupta, S. S. (1965). On some multiple decision (selection and ranking) rules. Technometrics 7, 225-245.
    Kiefer, J. & Wolfowitz, J. (1956). Consistency of the maximum likelihood estimator in the presence
    of infinitely many incidental parameters. Annals of Mathematical Statistics 27, 887-906.
    Bhatia, R. & Davis, C. (2000). A better bound on the variance. Amer. Math. Monthly 107, 353-357.
    Efron, B. (2011). Tweedie's formula and selection bias. JASA 106, 1602-1614.
    Andrews, I., Kitagawa, T. & McCloskey, A. (2024). Inference on winners. QJE 139, 305-358.
    Cawley, G. C. & Talbot, N. L. C. (2010). On over-fitting in model selection. JMLR 11, 2079-2107.

    Examples
    --------
    >>> rows = [{"params": {"C": c}, "value": v} for c, v in enumerate([0.80, 0.81, 0.79, 0.60])]
    >>> curse = winners_curse(Trials.from_records(rows, objectives="accuracy"), n=500)
    >>> curse.best, curse.tied, round(curse.optimism, 3)
    (1, (0, 2), 0.015)
    """
    at = trials.index_of(objective)
    goal = trials.objectives[at]
    best = trials.best(goal.name)
    _check_settings(n, correlation, confidence)
    errors = _errors(trials, at, n, metric or goal.name, standard_error)
    if isinstance(errors, Undefined):
        return errors
    rivals, keep = _distinct(trials.contenders)
    if len(rivals) < 2:
        return Undefined("one trial alone is not selected: there is no winner's curse", len(rivals))
    shared = 0.0 if correlation is None else correlation
    numbers = np.array([trial.number for trial in trials.contenders])
    values = goal.sign * np.array([trial.values[at] for trial in trials.contenders])
    near = _gupta_subset(values, errors, shared, gupta_critical(len(rivals), confidence))
    error = math.sqrt(float(np.mean(errors[near] ** 2)))
    own = error * math.sqrt(1 - shared)
    optimism = expected_optimism(values[keep], own)
    share = n if standard_error is None else None
    low, high = winner_limits(values[keep], goal.sign, error, correlation, confidence, share)
    corrected = min(max(best.values[at] - goal.sign * optimism, low), high)
    return WinnersCurse(
        objective=goal.name,
        best=best.number,
        observed=best.values[at],
        optimism=optimism,
        optimism_if_equal=own * expected_maximum(len(rivals)),
        corrected=corrected,
        standard_error=error,
        n=n if standard_error is None else None,
        n_trials=len(rivals),
        correlation=shared,
        assumption=_assumption(correlation),
        tied=tuple(number for number in numbers[near].tolist() if number != best.number),
        confidence=confidence,
        low=low,
        high=high,
        method="limits over all trials" if correlation is None else "limits given which trial is the best",
    )


def winner_limits(
    values: Floats, sign: float, error: float, correlation: float | None, confidence: float, n: int | None
) -> tuple[float, float]:
    """Return the interval of the best's true value, in the direction of the objective.

    Parameters
    ----------
    values : float64 array of shape (trials,)
        At least two; the greater is better.
    sign : {1.0, -1.0}
        From `values` to the objective.
    error : float
        Standard error of each value; not read where `n` is given.
    correlation : float or None
        Between the errors of two trials; None: unknown.
    confidence : float
    n : int or None
        Examples of which each value is a share: its error is that at the limit, and it lies in [0, 1].

    Examples
    --------
    >>> [round(x, 2) for x in winner_limits(np.array([0.80, 0.81, 0.60]), 1.0, 0.0, None, 0.95, 500)]
    [0.76, 0.84]
    """

    def error_at(true: float) -> float:
        share = min(max(sign * true, 0.5 / n), 1 - 0.5 / n) if n else 0.0
        return math.sqrt(share * (1 - share) / n) if n else error

    if correlation is None:
        found = simultaneous_limits(float(values.max()), len(values), confidence, error_at)
    else:
        best, second, rivals = ahead(values, resolution(values, n))
        found = hybrid_limits(best, second, rivals, correlation, confidence, error_at)
    low, high = sorted(sign * end for end in found)
    return (min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)) if n else (low, high)


def error_correlation(correct: npt.ArrayLike) -> float:
    """Return the mean correlation between the per-example results of trials.

    Parameters
    ----------
    correct : array-like, shape (n_trials, n_examples)
        Whether each trial was right on each example (or any per-example score whose mean is the metric).

    Returns
    -------
    float
        In [0, 1]; a negative mean counts as 0. Trials right on all examples or on none are left out.

    Raises
    ------
    DataError
        Fewer than two trials that vary over the examples.

    Examples
    --------
    >>> round(error_correlation([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]), 3)
    0.333
    """
    rows = np.asarray(correct, dtype=np.float64)
    varied = rows[rows.std(axis=1) > 0] if rows.ndim == 2 and rows.shape[1] > 1 else rows[:0]
    if len(varied) < 2:
        raise DataError(
            "a correlation needs two trials that are right on some examples and wrong on others",
            where=f"array of shape {rows.shape}",
            fix="pass one row per trial and one column per example",
        )
    matrix: Floats = np.asarray(np.corrcoef(varied))
    pairs = matrix[np.triu_indices(len(varied), k=1)]
    return max(float(pairs.mean()), 0.0)


def _check_settings(n: int | None, correlation: float | None, confidence: float) -> None:
    if n is not None and n < 1:
        raise UsageError(f"n is {n}", fix="n is the number of examples that judged each trial")
    if correlation is not None and not 0 <= correlation < 1:
        raise UsageError(f"correlation is {correlation}", fix="give a value from 0 to below 1")
    if not 0.5 <= confidence < 1:
        raise UsageError(f"confidence is {confidence}", fix="give a value from 0.5 to below 1")


def _errors(
    trials: Trials, at: int, n: int | None, metric: str, given: float | Sequence[float] | None
) -> Floats | Undefined:
    """Standard error of each contender's value."""
    count = len(trials.contenders)
    if given is not None:
        listed = np.asarray(given, dtype=np.float64)
        errors = np.full(count, listed) if listed.ndim == 0 else listed
        if errors.shape != (count,) or not (np.isfinite(errors) & (errors > 0)).all():
            raise UsageError(
                "standard_error does not fit the trials",
                fix=f"give one positive number, or {count} of them, one per trial of `contenders`",
            )
        return errors
    if metric not in PROPORTIONS | MEANS:
        return Undefined(
            f"{metric} is not a proportion of examples, so their number gives no standard error",
            count,
        )
    if n is None:
        return Undefined("the number of examples that judged each trial is not known", count)
    return _binomial(trials, at, n, metric)


def _binomial(trials: Trials, at: int, n: int, metric: str) -> Floats:
    values = np.array([trial.values[at] for trial in trials.contenders])
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        trial = trials.contenders[int(outside[0])]
        raise DataError(
            f"{metric} of {outside.size} trials lies outside [0, 1]",
            where=f"first: trial {trial.number}, {trial.values[at]}",
            fix="name the metric that these values are, or give standard_error",
        )
    middle = (n * values + 2) / (n + 4)  # two successes and two failures more (Agresti & Coull 1998)
    return np.sqrt(middle * (1 - middle) / (n + 4))


def _distinct(contenders: tuple[Trial, ...]) -> tuple[list[Trial], list[int]]:
    """Contenders with each set of parameters once, and their positions: a repeat is not a new chance."""
    seen: dict[object, int] = {}
    for position, trial in enumerate(contenders):
        key = tuple(sorted((name, str(value)) for name, value in trial.params.items()))
        seen.setdefault((key, trial.values) if key else position, position)
    keep = list(seen.values())
    return [contenders[position] for position in keep], keep


def _gupta_subset(values: Floats, errors: Floats, shared: float, reach: float) -> npt.NDArray[np.bool_]:
    """Gupta's subset: which values, the best included, lie within the critical distance of the best."""
    top = int(values.argmax())
    spread = errors**2 + errors[top] ** 2 - 2 * shared * errors * errors[top]
    near: npt.NDArray[np.bool_] = values[top] - values <= reach * np.sqrt(np.maximum(spread, 0.0))
    return near


def _assumption(correlation: float | None) -> str:
    if correlation is None:
        return (
            "Errors of different trials are assumed independent. Trials evaluated on the same examples have "
            "correlated errors, so the true bias is smaller."
        )
    return f"The errors of two trials have a correlation of {correlation:.2f}."
