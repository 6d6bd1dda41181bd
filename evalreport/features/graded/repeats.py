"""Repeats of items, and the interval of a mean over items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evalreport.core.result import Estimate, Result, Undefined
from evalreport.features.graded.metrics import AGREEMENT, KS
from evalreport.intervals.distributions import ROUNDING, score_limits, t_quantile
from evalreport.intervals.interval_settings import FEWEST, NOT_ASKED, Sampling
from evalreport.intervals.paired import effective
from evalreport.statistics.confusion import Array

NO_INTERVAL: Final = "no interval: a few large values can change a mean; the median has one"
"""Why a mean of amounts has no interval: none covers for every distribution (Bahadur & Savage 1956)."""


@dataclass(frozen=True, eq=False)
class Items:
    """Attempts grouped by item.

    Parameters
    ----------
    codes : int array of shape (attempts,)
        Item of each attempt.
    passed : int array of shape (attempts,)
        0 pass, 1 fail, -1 without a grade.
    weights : float64 array of shape (items,)
    clusters : int array of shape (items,), or None
        Items that belong together.
    """

    codes: npt.NDArray[np.intp]
    passed: npt.NDArray[np.integer]
    weights: Array
    clusters: npt.NDArray[np.integer] | None = None

    def __len__(self) -> int:
        return len(self.weights)

    @cached_property
    def attempts(self) -> npt.NDArray[np.intp]:
        """Attempts at each item."""
        return np.bincount(self.codes, minlength=len(self))

    @cached_property
    def passes(self) -> npt.NDArray[np.intp]:
        """Attempts at each item that pass."""
        return np.bincount(self.codes[self.passed == 0], minlength=len(self))

    @property
    def never(self) -> int:
        """Items that no attempt passes."""
        return int((self.passes == 0).sum())

    @property
    def some(self) -> int:
        """Items that some attempts pass and others do not."""
        return int(((self.passes > 0) & (self.passes < self.attempts)).sum())

    def take(self, rows: npt.NDArray[np.bool_]) -> Items:
        """Return the items of some attempts, with these attempts only.

        Examples
        --------
        >>> items = Items(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1]), np.ones(3))
        >>> items.take(np.array([True, True, False, True])).codes.tolist()
        [0, 0, 1]
        """
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        clusters = None if self.clusters is None else np.unique(self.clusters[kept], return_inverse=True)[1]
        return Items(codes, self.passed[rows], self.weights[kept], clusters)

    def of_repeats(self, sampling: Sampling) -> dict[str, Result]:
        """Return pass@k, pass^k and the agreement of repeats, with intervals over items.

        References
        ----------
        Chen et al. 2021 (pass@k); Yao et al. 2024 (pass^k: all of k attempts pass).

        Examples
        --------
        >>> items = Items(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0]), np.ones(2))
        >>> {name: round(result.value, 2) for name, result in items.of_repeats(Sampling()).items()}
        {'pass_at_2': 1.0, 'pass_hat_2': 0.5, 'agreement': 0.5}
        """
        n, c = self.attempts, self.passes
        fewest = int(n.min())
        found: dict[str, Result] = {}
        for k in (k for k in KS if k <= fewest):
            found[f"pass_at_{k}"] = self.mean(1 - all_of(n, n - c, k), sampling)
            found[f"pass_hat_{k}"] = self.mean(all_of(n, c, k), sampling)
        if n.max() > 1:
            several = n > 1
            pairs = np.maximum(n * (n - 1), 1)
            found[AGREEMENT] = self.mean(1 - 2 * c * (n - c) / pairs, sampling, several)
        return found

    def pass_rate(self, sampling: Sampling) -> Result:
        """Return the mean over items of the mean over attempts, with its interval over items."""
        return self.mean(self.passes / self.attempts, sampling)

    def pass_rate_graded(self, sampling: Sampling) -> Result:
        """Return the pass rate of the attempts with a grade, with its interval over items."""
        graded = np.bincount(self.codes[self.passed >= 0], minlength=len(self))
        return self.mean(self.passes / np.maximum(graded, 1), sampling, graded / self.attempts)

    def no_grade_rate(self, sampling: Sampling) -> Result:
        """Return the mean over items of the proportion of attempts without a grade, with its interval."""
        missing = np.bincount(self.codes[self.passed < 0], minlength=len(self))
        return self.mean(missing / self.attempts, sampling)

    def mean_score(self, scores: Array, bounds: tuple[float, float], sampling: Sampling) -> Result:
        """Return the mean over items of the mean score of their attempts, within the bounds of the scale."""
        means = np.bincount(self.codes, scores, len(self)) / self.attempts
        return item_mean(means, self.weights, self.clusters, sampling, bounds)

    def variances(self) -> tuple[float, float] | None:
        """Return the variance of the pass rate from items and from repeats; None without repeats.

        The variance of a single attempt is split (Miller 2024): within an item, and between items.
        """
        n, c = self.attempts, self.passes
        several = n > 1
        if several.sum() < FEWEST:
            return None
        rate, weight = c[several] / n[several], self.weights[several] / self.weights[several].sum()
        inside = rate * (1 - rate) * n[several] / (n[several] - 1)
        repeats = float(weight @ inside)
        spread = float(weight @ (rate - weight @ rate) ** 2) * len(rate) / (len(rate) - 1)
        return max(spread - float(weight @ (inside / n[several])), 0.0), repeats

    def mean(
        self, values: Array, sampling: Sampling, parts: npt.NDArray[np.bool_] | Array | None = None
    ) -> Result:
        """Return the weighted mean over items of numbers in [0, 1], with score limits of its spread.

        Parameters
        ----------
        parts : array of shape (items,), optional
            Proportion of each item that counts.
        """
        weights = self.weights if parts is None else self.weights * parts
        clusters = self.clusters
        return item_mean(values, weights, clusters, sampling, (0.0, 1.0))


def item_mean(
    values: Array,
    weights: Array,
    clusters: npt.NDArray[np.integer] | None,
    sampling: Sampling,
    bounds: tuple[float, float],
) -> Result:
    """Return the weighted mean over items with its interval.

    Parameters
    ----------
    values, weights : float64 arrays of shape (items,)
        Items of weight 0 do not count.
    clusters : int array of shape (items,), or None
    bounds : (float, float)
        Range of the values.

    Examples
    --------
    >>> found = item_mean(np.array([0.0, 1.0] * 50), np.ones(100), None, Sampling(), (0.0, 1.0))
    >>> round(found.low, 2), round(found.high, 2)
    (0.4, 0.6)
    >>> round(item_mean(np.ones(30), np.ones(30), None, Sampling(), (0.0, 1.0)).low, 2)
    0.87
    """
    kept = weights > 0
    values, weights = values[kept], weights[kept]
    total = float(weights.sum())
    if not total:
        return Undefined("no item has a value")
    value = float(weights @ values / total)
    n = float(total**2 / (weights @ weights))
    if not sampling.intervals:
        return Estimate(value, n, reason=NOT_ASKED)
    parts = weights * (values - value) / total
    if clusters is not None:
        parts, weights = (np.bincount(clusters[kept], one).astype(np.float64) for one in (parts, weights))
    if len(parts) < FEWEST:
        return Estimate(value, n, reason=f"an interval needs at least {FEWEST} items")
    spread = effective(np.asarray(parts, dtype=np.float64))
    units = float(total**2 / (weights @ weights))
    low, high = bounded_limits(value, spread.standard_error, units, sampling, bounds)
    return Estimate(value, n, low, high, "score, by item", spread.standard_error)


def bounded_limits(
    value: float, error: float, units: float, sampling: Sampling, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return score limits of a mean of bounded values, from its standard error over independent units.

    One more unit, half at each bound, enters the variance: near a bound, where most units have the same
    value, the variance of the sample is too small without it, and the interval covers as little as 60%.

    Parameters
    ----------
    value, error : float
        Mean and standard error.
    units : float
        Independent items or clusters; with weights, their effective number.

    References
    ----------
    Agresti & Coull 1998, for the idea of added observations.

    Examples
    --------
    >>> bounded_limits(1.0, 0.0, 30.0, Sampling(), (0.0, 1.0))[1]
    1.0
    """
    wide = bounds[1] - bounds[0]
    if wide <= 0:
        return value, value
    rate = min(max((value - bounds[0]) / wide, 0.0), 1.0)
    squares = (error / wide) ** 2 * units * (units - 1) + units * rate**2
    centre = (units * rate + 0.5) / (units + 1)
    variance = (squares + 0.5) / (units + 1) - centre**2
    trials = max(centre * (1 - centre) * (units - 1) / variance, 1.0)
    z = t_quantile(sampling.upper, max(units - 1, 1.0))
    ends = score_limits(value, wide * math.sqrt(rate * (1 - rate) / trials), trials, z, bounds)
    return min(float(ends[0]), value), max(float(ends[1]), value)


def all_of(n: npt.NDArray[np.intp], c: npt.NDArray[np.intp], k: int) -> Array:
    """Return C(c, k) / C(n, k) of each item: the chance that k of its n attempts are all among c.

    Examples
    --------
    >>> all_of(np.array([5, 5]), np.array([5, 3]), 2)
    array([1. , 0.3])
    """
    found = np.ones(len(n))
    for drawn in range(k):
        found *= np.maximum(c - drawn, 0) / (n - drawn)
    return found


def measure(values: Array, items: Items, sampling: Sampling) -> dict[str, Result]:
    """Return mean, median and 95th percentile of a measure, such as cost.

    The mean is over items of the mean over attempts. Median and percentile are those of all attempts, with
    intervals that no tail makes too narrow.

    Parameters
    ----------
    values : float64 array of shape (attempts,)
        NaN where it was not recorded.

    Examples
    --------
    >>> items = Items(np.arange(100), np.zeros(100, int), np.ones(100))
    >>> found = measure(np.arange(100.0), items, Sampling())
    >>> found["median"].value, found["median"].low, found["median"].high
    (49.5, 39.0, 60.0)
    """
    known = ~np.isnan(values)
    values, codes = values[known], items.codes[known]
    if not len(values):
        return dict.fromkeys(("mean", "median", "p95"), Undefined("no value was recorded"))
    counts = np.bincount(codes)
    kept = counts > 0
    mean = float((np.bincount(codes, values)[kept] / counts[kept]).mean())
    n = int(kept.sum())
    found: dict[str, Result] = {"mean": Estimate(mean, n, reason=NO_INTERVAL)}
    units = np.bincount(codes if items.clusters is None else items.clusters[codes])
    effective_units = math.floor(len(values) ** 2 / float(units @ units) + ROUNDING)
    for name, q in (("median", 0.5), ("p95", 0.95)):
        found[name] = _quantile(np.sort(values), n, effective_units, q, sampling)
    return found


def _quantile(ordered: Array, n: int, units: int, q: float, sampling: Sampling) -> Result:
    """Return a quantile with the exact interval by order statistics of as many independent units.

    Attempts at an item, or items of a group, count as if they had the same value.
    """
    value = float(np.quantile(ordered, q))
    if not sampling.intervals:
        return Estimate(value, n, reason=NOT_ASKED)
    below, above = quantile_ranks(q, units, 1 - sampling.upper)
    if below < 1 or above > units:
        return Estimate(value, n, reason="too few items for an interval of this percentile")
    low = float(ordered[math.floor((below - 1) / units * len(ordered) + ROUNDING)])
    high = float(ordered[math.ceil(above / units * len(ordered) - ROUNDING) - 1])
    return Estimate(value, n, min(low, value), max(high, value), "order statistics")


def quantile_ranks(q: float, n: int, tail: float) -> tuple[int, int]:
    """Return the ranks, from 1, of the values between which a quantile is; 0 or n + 1 where there is none.

    Parameters
    ----------
    q : float
        In (0, 1).
    n : int
        Independent values.
    tail : float
        Largest probability of each end to miss.

    Examples
    --------
    >>> quantile_ranks(0.5, 100, 0.025), quantile_ranks(0.95, 72, 0.025)
    ((40, 61), (64, 72))
    """
    from scipy.special import bdtr

    reach = 10 * math.sqrt(n * q * (1 - q)) + 10
    first, last = max(0, math.floor(n * q - reach)), min(n, math.ceil(n * q + reach))
    at_most = bdtr(np.arange(first, last + 1), n, q)
    return first + int((at_most <= tail).sum()), first + int((at_most < 1 - tail).sum()) + 1


def as_float(values: Any) -> Array:
    """Return a column of numbers, NaN in a gap.

    Examples
    --------
    >>> as_float(["1.5", None, 2])
    array([1.5, nan, 2. ])
    """
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    cells = array.astype(object).tolist()
    return np.array([np.nan if cell in (None, "") else float(cell) for cell in cells], dtype=np.float64)
