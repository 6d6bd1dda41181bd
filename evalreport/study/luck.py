"""The winner's curse: by how much the best of many trials looks better than it is.

Every trial is judged on a sample of examples, so its value is its true value plus an error. Taking
the best of N values takes the luckiest errors with it: the best value is, on average, too good,
the more so the more trials were tried and the fewer examples judged them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.errors import DataError, UsageError
from evalreport.metrics.catalogue import everything
from evalreport.metrics.strategies import Proportion, RowMean
from evalreport.study.selection import (
    ahead,
    expected_maximum,
    expected_optimism,
    gupta_critical,
    hybrid_limits,
    resolution,
    simultaneous_limits,
)
from evalreport.study.trials import Trials
from evalreport.study.values import Trial
from evalreport.values import Estimate, Undefined

Floats = npt.NDArray[np.float64]

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
    """How lucky the best trial was.

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
        Trials that cannot be told apart from the best (the best itself left out): with `confidence`,
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
    def at_most(self) -> bool:
        """Whether the optimism is the greatest it can be, since errors count as independent."""
        return self.correlation == 0

    @property
    def expected(self) -> Estimate:
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
    (`expected_optimism`). Trials that cannot be told apart from the best form Gupta's subset: it holds
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
    near = _near(values, errors, shared, gupta_critical(len(rivals), confidence))
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
            f"{metric} is not a proportion of examples, so their number does not give its standard error",
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


def _near(values: Floats, errors: Floats, shared: float, reach: float) -> npt.NDArray[np.bool_]:
    """Gupta's subset: which values, the best included, lie within the critical distance of the best."""
    top = int(values.argmax())
    spread = errors**2 + errors[top] ** 2 - 2 * shared * errors * errors[top]
    near: npt.NDArray[np.bool_] = values[top] - values <= reach * np.sqrt(np.maximum(spread, 0.0))
    return near


def _assumption(correlation: float | None) -> str:
    if correlation is None:
        return (
            "errors of different trials taken as independent; judged on the same examples they go "
            "together, which makes the optimism smaller than stated"
        )
    return f"errors of two trials correlate by {correlation:.2f}"
