"""Many runs on the same rows by one metric: all paired differences, with simultaneous intervals.

The contributions of the rows to the metric of each run are a matrix of runs × rows. Its products with itself
give the variances of all paired differences at once; pair by pair this would need k (k - 1) / 2 passes. The
critical value is the quantile of the largest standardised difference if no two runs differ (max-t: Hothorn,
Bretz & Westfall 2008; Romano & Wolf 2005), sampled from the covariance of the runs. Every interval uses it,
so all intervals hold simultaneously, and ranks, verdicts and differences never contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.comparison.comparison import AdjustedInterval, Difference, RankedRun
from evalreport.comparison.differences import FEWEST, ROUNDING, classwise, ranking, verdict_of
from evalreport.core.result import Result, Undefined
from evalreport.data.predictions import Predictions
from evalreport.intervals.row_influence import Counted
from evalreport.metrics.record import Metric
from evalreport.statistics.confusion import Array

DRAWS = 10_000
"""Samples of the largest difference: its 95% quantile then has an error of 0.02 standard errors."""
Spread: TypeAlias = Literal["mean", "classes", "effective"]
"""Variance of a sum of contributions: of a mean, class by class, or with effective degrees of freedom."""


@dataclass(frozen=True, eq=False)
class ContributionsOfRun:
    """Contributions of each row, or cluster of rows, to a metric of a run, in an order that all runs use.

    Parameters
    ----------
    value : float
        The metric.
    parts : float32 array of shape (units,)
        Contributions, with sum 0.
    strata : int32 array of shape (units,)
        Codes of the classes within which the variance is computed; all 0 for other metrics.
    spread : str
    """

    value: float
    parts: npt.NDArray[np.float32]
    strata: npt.NDArray[np.int32]
    spread: Spread


def in_common_order(p: Predictions) -> Predictions:
    """Return the rows in the order of their ids, so that runs with the same rows have the same order."""
    if p.ids is None:
        return p
    order = np.argsort(p.ids, kind="stable")
    return p if np.array_equal(order, np.arange(len(p))) else p.take(order)


def contributions_of_run(metric: Metric, p: Predictions) -> ContributionsOfRun | Undefined:
    """Return the contributions of the rows of a run to a metric.

    Parameters
    ----------
    metric : Metric
    p : Predictions

    Returns
    -------
    ContributionsOfRun, or Undefined if the metric has no value or no derivative by its rows

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.metrics.catalogue import find
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Multiclass("ab"), ["a", "b"] * 6, ["a"] * 12)
    >>> contributions_of_run(find("accuracy", "multiclass"), p).value
    0.5
    """
    counted = Counted.from_predictions(in_common_order(p))
    value = counted.value(metric)
    if isinstance(value, Undefined):
        return value
    if len(p) < FEWEST:
        return Undefined(f"an interval needs at least {FEWEST} rows", counted.facts.weight)
    parts = counted.contributions(metric)
    if parts is None:
        return Undefined(f"{metric.title} is not a sum over rows", len(p))
    rows = counted.predictions
    strata = np.zeros(len(parts), dtype=np.int32)
    spread: Spread = "mean" if metric.interval == "mean" else "effective"
    if rows.groups is not None:
        parts = np.asarray(np.bincount(rows.groups.codes, parts), dtype=np.float64)
        strata, spread = np.zeros(len(parts), dtype=np.int32), "effective"
    elif rows.weighted:
        spread = "effective"
    elif classwise(metric) and rows.y_true.ndim == 1:
        strata, spread = rows.y_true.astype(np.int32), "classes"
    return ContributionsOfRun(value, np.asarray(parts, dtype=np.float32), strata, spread)


@dataclass(frozen=True, eq=False)
class RunField:
    """Several runs on the same rows, and all of their paired differences.

    Parameters
    ----------
    names : tuple of str
    metric : Metric
    level : float
        Simultaneous confidence level of all intervals.
    values : float64 array of shape (k,)
    errors, df : float64 arrays of shape (k, k)
        Standard error of each difference, and its degrees of freedom.
    covariance : float64 array of shape (k, k)
        Covariance of the runs' values.
    """

    names: tuple[str, ...]
    metric: Metric
    level: float
    values: Array
    errors: Array
    df: Array
    covariance: Array

    @cached_property
    def pair_level(self) -> float:
        """The level of each pair's interval, so that all intervals have `level` simultaneously."""
        from scipy.special import ndtr

        if len(self.names) < 3:
            return self.level
        return float(2 * ndtr(self.critical) - 1)

    @cached_property
    def critical(self) -> float:
        """The `level` quantile of the largest absolute difference, in standard errors, if no runs differ."""
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        drawn = np.random.default_rng(0).standard_normal((DRAWS, len(self.names))) @ root.T
        with np.errstate(divide="ignore"):
            scale = np.where(self.errors > ROUNDING, 1 / self.errors, 0.0)
        largest = np.zeros(DRAWS)
        for run in range(1, len(self.names)):
            gaps = np.abs(drawn[:, :run] - drawn[:, [run]]) * scale[run, :run]
            np.maximum(largest, gaps.max(axis=1), out=largest)
        return float(np.quantile(largest, self.level))

    @cached_property
    def reach(self) -> Array:
        """Half the width of the interval of each difference, shape (k, k)."""
        from scipy.special import stdtrit

        reach: Array = stdtrit(self.df, (1 + self.pair_level) / 2) * self.errors
        return reach

    def difference(self, run: str, baseline: str) -> Difference:
        """Return the difference of two runs with its simultaneous interval."""
        a, b = self.names.index(run), self.names.index(baseline)
        gap, reach = float(self.values[a] - self.values[b]), float(self.reach[a, b])
        low, high = gap - reach, gap + reach
        return Difference(
            self.metric.name,
            run,
            baseline,
            values=(float(self.values[a]), float(self.values[b])),
            difference=gap,
            adjusted=AdjustedInterval(low, high, self.pair_level),
            method="paired contributions, max-t",
            verdict=verdict_of(low, high, self.metric.better),
        )

    @cached_property
    def pairs(self) -> tuple[Difference, ...]:
        """Every difference, each pair once."""
        names = self.names
        return tuple(
            self.difference(run, other) for place, run in enumerate(names) for other in names[:place]
        )

    def rank_runs(self, values: dict[str, Result]) -> tuple[RankedRun, ...]:
        """Return the runs, best first, with their simultaneous possible ranks."""
        return ranking(values, self.pairs, self.metric.better)


def run_field(
    metric: Metric, runs: Sequence[tuple[str, ContributionsOfRun]], level: float = 0.95
) -> RunField:
    """Return all paired differences of runs that were scored on the same rows.

    Parameters
    ----------
    metric : Metric
    runs : sequence of (name, ContributionsOfRun)
        On the same rows in the same order.
    level : float

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.metrics.catalogue import find
    >>> from evalreport.data.predictions import predictions
    >>> metric, truth = find("accuracy", "multiclass"), ["a", "b"] * 50
    >>> answers = {"none": ["a"] * 100, "same": ["a"] * 100, "all": truth}
    >>> rows = [(name, predictions(Multiclass("ab"), truth, given)) for name, given in answers.items()]
    >>> field = run_field(metric, [(name, contributions_of_run(metric, p)) for name, p in rows])
    >>> field.difference("all", "none").verdict, field.difference("same", "none").verdict
    ('better', 'not_significant')
    """
    parts = np.stack([run.parts for _, run in runs]).astype(np.float64)
    spread, strata = runs[0][1].spread, runs[0][1].strata
    covariance, squares, df = np.zeros((len(runs),) * 2), np.zeros((len(runs),) * 2), np.zeros(())
    if spread == "classes":
        covariance, squares, df = _class_by_class(parts, strata)
    else:
        n = parts.shape[1]
        covariance = parts @ parts.T * n / max(n - 1, 1)
        squares = _squares(covariance)
        df = np.full_like(squares, max(n - 1.0, 1.0)) if spread == "mean" else _effective_df(parts)
    names = tuple(name for name, _ in runs)
    values = np.array([run.value for _, run in runs])
    return RunField(names, metric, level, values, np.sqrt(squares), df, covariance)


def _squares(products: Array) -> Array:
    """Squared norms of all differences of two rows, from the products of the rows."""
    own = np.diag(products)
    return np.maximum(own[:, None] + own[None, :] - 2 * products, 0.0)


def _effective_df(parts: Array) -> Array:
    """Degrees of freedom of every pair, as in `intervals.paired.effective`."""
    n, second = parts.shape[1], parts**2
    fourth, cubed = (second**2).sum(axis=1), (second * parts) @ parts.T
    quartic = fourth[:, None] + fourth[None, :] - 4 * (cubed + cubed.T) + 6 * (second @ second.T)
    total = _squares(parts @ parts.T)
    excess = quartic - total**2 / n
    plain = excess <= 1e-12 * total**2
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.minimum(np.maximum(2 * total**2 / excess, 1.0), max(n - 1.0, 1.0))
    return np.asarray(np.where(plain, max(n - 1.0, 1.0), found), dtype=np.float64)


def _class_by_class(parts: Array, classes: npt.NDArray[np.int32]) -> tuple[Array, Array, Array]:
    """Covariance, squared errors and degrees of freedom of every pair, as in `intervals.paired.by_class`."""
    runs = len(parts)
    covariance, weights = np.zeros((runs, runs)), np.zeros((runs, runs))
    for code in np.unique(classes):
        rows = np.flatnonzero(classes == code)
        free = max(len(rows) - 1, 1)
        own = parts[:, rows] @ parts[:, rows].T * (len(rows) / free if len(rows) > 1 else 1.0)
        covariance += own
        weights += _squares(own) ** 2 / free
    squares = _squares(covariance)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(weights > 0, squares**2 / weights, 1.0)
    return covariance, squares, df
