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
from evalreport.intervals.distributions import ROUNDING, score_limits, t_quantile, wilson
from evalreport.intervals.interval_settings import FEWEST, NOT_ASKED, Sampling
from evalreport.intervals.paired import effective
from evalreport.statistics.confusion import Array

BOOTSTRAP: Final = 1 << 22
"""Cells of resamples that are held at once."""


TAILS: Final = ((0.25, 5), (0.1, 2))
"""Skewness over the root of the items, above which the tails of the interval of a mean are divided by."""
MANY_ITEMS: Final = 100
"""Items from which the mean of values with a longer tail has an interval."""
LONG_TAIL: Final = (0.35, 0.8)
"""Skewness over the root of the items, above which the mean has no interval: of fewer items, and of many."""
LARGEST_SPREAD: Final = 25.0
"""Variance of logarithms; above it, powers overflow."""


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

    def mean(self, values: Array, sampling: Sampling, rows: npt.NDArray[np.bool_] | None = None) -> Result:
        """Return the weighted mean over items of numbers in [0, 1], with score limits of its spread."""
        weights = self.weights if rows is None else self.weights * rows
        clusters = self.clusters
        return item_mean(values, weights, clusters, sampling, (0.0, 1.0))


def item_mean(
    values: Array,
    weights: Array,
    clusters: npt.NDArray[np.integer] | None,
    sampling: Sampling,
    bounds: tuple[float, float] | None = None,
) -> Result:
    """Return the weighted mean over items with its interval.

    Parameters
    ----------
    values, weights : float64 arrays of shape (items,)
        Items of weight 0 do not count.
    clusters : int array of shape (items,), or None
    bounds : (float, float), optional
        Range of the values; without it the interval is Student's.

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
    if bounds is None:
        half = t_quantile(sampling.upper, max(spread.df, 1.0)) * spread.standard_error
        return Estimate(value, n, value - half, value + half, "Student's t over items", spread.standard_error)
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


def measure(values: Array, codes: npt.NDArray[np.intp], sampling: Sampling) -> dict[str, Result]:
    """Return mean, median and 95th percentile of a measure, such as cost, with intervals over items.

    Parameters
    ----------
    values : float64 array of shape (attempts,)
        NaN where it was not recorded.
    codes : int array of shape (attempts,)
        Item of each attempt.

    Examples
    --------
    >>> found = measure(np.arange(100.0), np.arange(100), Sampling())
    >>> found["median"].value, found["p95"].value
    (49.5, 94.05)
    """
    known = ~np.isnan(values)
    values, codes = values[known], codes[known]
    if not len(values):
        return dict.fromkeys(("mean", "median", "p95"), Undefined("no value was recorded"))
    _, codes = np.unique(codes, return_inverse=True)
    found: dict[str, Result] = {"mean": _mean_of_measure(values, codes, sampling)}
    for name, q in (("median", 0.5), ("p95", 0.95)):
        found[name] = _quantile(values, codes, q, sampling)
    return found


def _mean_of_measure(values: Array, codes: npt.NDArray[np.intp], sampling: Sampling) -> Result:
    """Return the mean over items of the mean over attempts; bootstrap-t, which follows the skew of costs.

    The tails are smaller where the skew is large for the number of items; where it is very large, intervals
    miss too often, and none is given.
    """
    counts = np.bincount(codes)
    means = np.bincount(codes, values) / counts
    value, n = float(means.mean()), len(means)
    plain = item_mean(means, np.ones(n), None, sampling)
    if not isinstance(plain, Estimate) or plain.low is None or np.ptp(means) == 0:
        return plain
    skew = skewness(means) / math.sqrt(n)
    if skew > LONG_TAIL[n >= MANY_ITEMS]:
        few = f"fewer than {MANY_ITEMS} items and " if n < MANY_ITEMS else ""
        return Estimate(value, n, reason=f"no interval: {few}a long tail")
    tail = (1 - sampling.upper) / next((by for limit, by in TAILS if skew > limit), 1)
    rng = np.random.default_rng((sampling.seed, n))
    pivots = []
    for _ in range(max(1, -(-sampling.resamples * n // BOOTSTRAP))):
        rows = max(1, min(sampling.resamples, BOOTSTRAP // n))
        drawn = means[rng.integers(n, size=(rows, n))]
        error = drawn.std(axis=1, ddof=1) / np.sqrt(n)
        with np.errstate(divide="ignore", invalid="ignore"):
            pivots.append((drawn.mean(axis=1) - value) / error)
    pivot = np.concatenate(pivots)
    pivot = pivot[np.isfinite(pivot)]
    error = float(means.std(ddof=1) / np.sqrt(n))
    low, high = np.quantile(pivot, [tail, 1 - tail])
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    return Estimate(value, n, value - high * error, value - low * error, "bootstrap-t over items", error)


def skewness(values: Array) -> float:
    """Return the skewness of amounts, as of a log-normal distribution with their upper half, and zeros.

    The skewness of a sample is too small where it matters: the rare large values are missing. Data with
    values below 0 count as not skewed.

    Examples
    --------
    >>> round(skewness(np.exp(np.random.default_rng(0).normal(0, 1, 10_000))), 1), skewness(np.ones(9))
    (6.3, 0.0)
    """
    if (values < 0).any() or not (values > 0).any():
        return 0.0
    logs = np.log(values[values > 0])
    middle = float(np.median(logs))
    spread = min(float(((logs[logs >= middle] - middle) ** 2).mean()), LARGEST_SPREAD)
    rate = len(logs) / len(values)
    one, two, three = (rate * math.exp(power * power * spread / 2) for power in (1, 2, 3))
    variance = two - one**2
    return (three - 3 * one * two + 2 * one**3) / variance**1.5 if variance > ROUNDING else 0.0


def _quantile(values: Array, codes: npt.NDArray[np.intp], q: float, sampling: Sampling) -> Result:
    """A quantile of all attempts, with the exact interval by order statistics of as many items."""
    value, n = float(np.quantile(values, q)), int(codes.max()) + 1
    if not sampling.intervals:
        return Estimate(value, n, reason=NOT_ASKED)
    low, high = (float(end) for end in wilson(q * n, n, sampling.level))
    if (1 - sampling.upper) < q**n or (1 - sampling.upper) < (1 - q) ** n:
        return Estimate(value, n, reason="too few items for an interval of this percentile")
    ends = np.quantile(values, [low, high])
    return Estimate(value, n, min(float(ends[0]), value), max(float(ends[1]), value), "order statistics")


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
