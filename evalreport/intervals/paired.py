"""Differences between two estimates: intervals, p-values, and the correction for several comparisons.

A difference is significant if its interval excludes 0. Its p-value is one minus the level of the widest
interval that excludes 0, so interval, p-value and verdict always agree, also at the levels of a correction
for several comparisons. Such a family of nested intervals is a confidence curve (Cox 1958; Birnbaum 1961).

For two sets of predictions of the same examples, functions of binary counts use posterior samples of the
joint cells (true label, first prediction, second prediction). For all other metrics the contributions of the
rows to the two metrics are subtracted row by row, and their variance is that of the difference.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.result import Estimate, Result, Undefined
from evalreport.intervals.distributions import (
    NORMAL,
    normal_quantile,
    t_quantile,
    two_sided_p,
    two_sided_t,
)
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.record import Metric
from evalreport.statistics.confusion import Array, BinaryCounts
from evalreport.statistics.resampling import Stream, posterior_shares


def independent_difference(a: Result, b: Result, level: float = 0.95) -> tuple[Result, float | None]:
    """Return ``a - b`` with an interval from the two intervals (MOVER), and a two-sided p-value.

    Parameters
    ----------
    a, b : Estimate or Undefined
        From independent rows.
    level : float
        Confidence level of both intervals and of the difference's.

    Returns
    -------
    difference : Estimate or Undefined
        Without an interval if one of them has none.
    p : float or None
        Normal p-value from the limit on the side of 0.

    References
    ----------
    Zou & Donner 2008; with Wilson's limits this is Newcombe's (1998) method 10.

    Examples
    --------
    >>> a = Estimate(0.8, n=100, low=0.711, high=0.867, method="wilson")
    >>> b = Estimate(0.6, n=100, low=0.502, high=0.691, method="wilson")
    >>> gap, p = independent_difference(a, b)
    >>> round(gap.low, 3), round(gap.high, 3), round(p, 4)
    (0.073, 0.319, 0.0021)
    """
    if isinstance(a, Undefined):
        return a, None
    if isinstance(b, Undefined):
        return b, None
    gap, n = a.value - b.value, a.n + b.n
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return Estimate(gap, n=n, reason=a.reason or b.reason or "one side has no interval"), None
    down = math.hypot(a.value - a.low, b.high - b.value)
    up = math.hypot(a.high - a.value, b.value - b.low)
    facing = down if gap > 0 else up
    p = two_sided_p(gap / facing * normal_quantile((1 + level) / 2)) if facing else float(gap == 0)
    return Estimate(gap, n=n, low=gap - down, high=gap + up, method="MOVER, independent rows"), p


SMALLEST = 1e-300
"""P-values below this come from chi-square: the normal has no quantile for them."""


def mcnemar(only1: float, only2: float) -> float:
    """Return McNemar's two-sided mid-p of two classifiers on the same examples.

    Its error rate is near the nominal one for any number of discordant pairs. That of chi-square is up to 12%
    (four of four), that of the exact test half the nominal one.

    Parameters
    ----------
    only1, only2 : float
        Examples that only the first, and only the second, classified correctly.

    References
    ----------
    McNemar 1947; Fagerland, Lydersen & Laake 2013.

    Examples
    --------
    >>> round(mcnemar(10, 2), 4), round(mcnemar(4, 0), 4), mcnemar(3, 3)
    (0.0225, 0.0625, 1.0)
    """
    from scipy.special import betainc

    n, fewer = only1 + only2, min(only1, only2)
    if only1 == only2:
        return 1.0
    log_at = math.lgamma(n + 1) - math.lgamma(fewer + 1) - math.lgamma(n - fewer + 1) - n * math.log(2)
    p = 2 * float(betainc(n - fewer, fewer + 1, 0.5)) - math.exp(log_at)
    return p if p > SMALLEST else two_sided_p((only1 - only2) / math.sqrt(n))


def holm(p: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the given order.

    References
    ----------
    Holm 1979.

    Examples
    --------
    >>> [round(x, 3) for x in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted.tolist()


def holm_levels(p: Sequence[float], level: float) -> list[float]:
    """Return the level for each interval, so that it excludes 0 exactly if Holm's procedure rejects.

    With p sorted and k the first step that is not rejected, interval j has the level
    1 - alpha / (m - min(j, k) + 1).

    Parameters
    ----------
    p : sequence of float
        Two-sided p-values of one family, in any order.
    level : float
        Confidence level of the family: 0.95 for alpha = 0.05.

    Returns
    -------
    list of float
        In the given order.

    References
    ----------
    Holm 1979.

    Examples
    --------
    >>> [round(level, 4) for level in holm_levels([0.2, 0.001, 0.02], 0.95)]
    [0.95, 0.9833, 0.975]
    """
    alpha, size = 1 - level, len(p)
    order = sorted(range(size), key=lambda place: p[place])
    found, left, stopped = [level] * size, size, False
    for step, place in enumerate(order):
        left = left if stopped else size - step
        found[place] = 1 - alpha / left
        stopped = stopped or p[place] > alpha / left
    return found


def row_placements(scores: npt.NDArray[np.floating], positive: npt.NDArray[np.bool_]) -> Array:
    """Return the DeLong placement of each row, shape (n,): for a positive row the proportion of negatives
    below it, for a negative row the proportion of positives above it; ties count half.

    Examples
    --------
    >>> row_placements(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    array([1. , 0.5, 0.5, 1. ])
    """
    result = np.empty(len(scores))
    for own, sign in ((positive, 1), (~positive, -1)):
        other = np.sort(sign * scores[~own])
        mine = sign * scores[own]
        ranks = np.searchsorted(other, mine, "left") + np.searchsorted(other, mine, "right")
        result[own] = ranks / (2 * max(len(other), 1))
    return result


POWER = 0.8
"""Probability that a detectable difference is significant: Cohen's (1988) convention."""
IN_TAIL = 10
"""Fewest samples beyond a quantile that is computed from samples. With fewer, its sampling error (a third of
the tail) would change adjusted intervals at random."""
KNOTS = 61
"""Stored quantiles of a family of sampled intervals, with linear interpolation between them."""


class ConfidenceCurve(ABC):
    """The nested intervals of one difference."""

    gap: float
    df: float = math.inf

    @abstractmethod
    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval at a confidence level; it contains the observed difference."""

    @property
    @abstractmethod
    def p(self) -> float:
        """Two-sided: one minus the level of the widest interval that excludes 0."""

    def detectable(self, level: float, power: float = POWER) -> float:
        """Return the true difference that is significant in a sample like this with a given probability.

        Parameters
        ----------
        level : float
            Confidence level of the interval that must exclude 0.
        power : float
            At 95% and 0.8 the difference is (1.960 + 0.842) = 2.80 standard errors; with quantiles of
            Student's t if the interval uses them.

        References
        ----------
        Cohen 1988, chapter 2.
        """
        low, high = self.limits(level)
        ends = t_quantile((1 + level) / 2, self.df)
        return (high - low) / 2 * (1 + t_quantile(power, self.df) / ends)


@dataclass(frozen=True)
class StudentCurve(ConfidenceCurve):
    """Student's t intervals.

    Parameters
    ----------
    gap, standard_error : float
    df : float
        Degrees of freedom of the standard error.

    Examples
    --------
    >>> found = StudentCurve(0.2, 0.1, 9)
    >>> [round(end, 3) for end in found.limits(0.95)], round(found.p, 3)
    ([-0.026, 0.426], 0.077)
    """

    gap: float
    standard_error: float
    df: float = math.inf

    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval at a confidence level."""
        reach = t_quantile((1 + level) / 2, self.df) * self.standard_error
        return self.gap - reach, self.gap + reach

    @property
    def p(self) -> float:
        """Student's two-sided p-value; 1 if no row differs between the runs, so that the difference is 0."""
        if self.standard_error == 0:
            return float(self.gap == 0)
        return two_sided_t(self.gap / self.standard_error, self.df)


@dataclass(frozen=True)
class ScoreCurve(ConfidenceCurve):
    """Tango's score intervals of the difference of two paired proportions; p is McNemar's mid-p.

    Tango's own p is McNemar's chi-square, which is significant for four of four discordant pairs. So all
    intervals are widened by the ratio of the two normal deviates, which is near 1 except with few discordant
    pairs: an interval excludes 0 exactly if p is significant. If the mid-p is the smaller of the two, as with
    many pairs that are discordant in one direction, only levels at which the two tests disagree are changed.

    Parameters
    ----------
    only_run, only_baseline : float
        Examples that only one of the two has right; of clusters, their effective number.
    n : float
        Examples; of clusters, their effective number.
    df : float
        Degrees of freedom of an effective number.

    Examples
    --------
    >>> found = ScoreCurve(12, 2, 50)
    >>> round(found.limits(0.95)[0], 3), round(found.p, 4)
    (0.061, 0.0074)
    """

    only_run: float
    only_baseline: float
    n: float
    df: float = math.inf

    @classmethod
    def from_units(
        cls, gaps: Array, weights: Array, clusters: npt.NDArray[np.integer] | None
    ) -> ScoreCurve | None:
        """Return the intervals of a difference over clusters or weighted rows; None for a single unit.

        The number of examples is that of independent examples whose difference has the same variance. If no
        unit differs, it is the number of units, and the interval has a width.

        Parameters
        ----------
        gaps : float64 array of shape (n,)
            1 where only the run is right, -1 where only the baseline is, else 0.
        weights : float64 array of shape (n,)
        clusters : int array of shape (n,), or None

        References
        ----------
        Obuchowski 1998; Yang, Sun & Hardin 2012 (clustered matched pairs).

        Examples
        --------
        >>> clusters = np.repeat(np.arange(20), 3)
        >>> found = ScoreCurve.from_units(np.zeros(60), np.ones(60), clusters)
        >>> round(found.n), [round(end, 2) for end in found.limits(0.95)]
        (20, [-0.18, 0.18])
        """
        parts, sizes = gaps * weights, weights
        if clusters is not None:
            sums = [np.bincount(clusters, values) for values in (parts, weights)]
            parts, sizes = (np.asarray(one, dtype=np.float64) for one in sums)
        parts, sizes = parts[sizes > 0], sizes[sizes > 0] / sizes.sum()
        if len(parts) < 2:
            return None
        parts = parts / weights.sum()
        only_run, only_baseline = float(parts[parts > 0].sum()), -float(parts[parts < 0].sum())
        gap, n = only_run - only_baseline, 1 / float(sizes @ sizes)
        error = of_mean(parts - sizes * gap)
        single = only_run + only_baseline - gap**2  # variance of the difference of a single example
        if error.standard_error > 1e-10 and single > 1e-10:
            n = min(single / error.standard_error**2, float(np.count_nonzero(weights)))
        return cls(only_run * n, only_baseline * n, n, error.df)

    @property
    def gap(self) -> float:  # type: ignore[override]
        """The observed difference."""
        return (self.only_run - self.only_baseline) / self.n

    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval at a confidence level."""
        reach, stretch = t_quantile((1 + level) / 2, self.df), self._stretch
        if stretch < 1:
            reach = max(min(reach, self._deviate * (1 - 1e-9)) / stretch, reach)
        wider = 1 - two_sided_p(reach * stretch)
        return _score_limits(self.only_run, self.only_baseline, self.n, min(wider, 1 - 1e-15))

    @property
    def p(self) -> float:
        """McNemar's mid-p; of effective numbers, from Student's t."""
        if math.isinf(self.df):
            return mcnemar(self.only_run, self.only_baseline)
        return two_sided_t(self._deviate / self._stretch, self.df)

    @property
    def _deviate(self) -> float:
        apart = self.only_run + self.only_baseline
        return abs(self.only_run - self.only_baseline) / math.sqrt(apart) if apart else 0.0

    @property
    def _stretch(self) -> float:
        p = mcnemar(self.only_run, self.only_baseline)
        if p >= 1 or p <= SMALLEST:
            return 1.0
        return min(self._deviate / -normal_quantile(p / 2), WIDEST_STRETCH)


WIDEST_STRETCH = 1.5
"""That of one discordant pair is 1.48; an effective number below 1 has no more."""


@lru_cache(1024)
def _score_limits(only_run: float, only_baseline: float, n: float, level: float) -> tuple[float, float]:
    """Cached limits of a difference, which its interval, detectable difference and verdict use."""
    low, high = paired_score(only_run, only_baseline, n, level)
    return float(low), float(high)


@dataclass(frozen=True, eq=False)
class DrawnCurve(ConfidenceCurve):
    """Percentile intervals of samples, with normal tails beyond the outermost ten samples.

    The scale of each normal tail is that between the median and the end of the samples on its side, so that
    a skewed difference keeps its longer side.

    Parameters
    ----------
    gap : float
        Observed difference; every interval contains it, although samples of small counts are nearer to 0.
    chances, quantiles : float64 arrays of one shape
        Increasing.

    Examples
    --------
    >>> drawn = np.random.default_rng(0).normal(1, 0.5, 4000)
    >>> found = DrawnCurve.from_draws(1.0, drawn, 0.95)
    >>> [round(end, 1) for end in found.limits(0.95)], [round(end, 1) for end in found.limits(0.9999)]
    ([0.0, 2.0], [-1.0, 2.9])
    """

    gap: float
    chances: Array
    quantiles: Array

    @classmethod
    def from_draws(cls, gap: float, drawn: npt.ArrayLike, level: float) -> DrawnCurve:
        """Return the intervals of samples, exact at one level."""
        values = np.asarray(drawn, dtype=np.float64)
        end = min(IN_TAIL / len(values), 0.25)
        wanted = (0.5, (1 - level) / 2, (1 + level) / 2)
        inner = [chance for chance in wanted if end <= chance <= 1 - end]
        chances = np.unique([*np.linspace(end, 1 - end, KNOTS), *inner])
        return cls(gap, chances, np.quantile(values, chances))

    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval at a confidence level."""
        low, high = self._quantile((1 - level) / 2), self._quantile((1 + level) / 2)
        return min(low, self.gap), max(high, self.gap)

    @property
    def p(self) -> float:
        """Twice the proportion of samples with the opposite sign of the observed difference."""
        if self.gap == 0:
            return 1.0
        below = self._share_below_zero()
        return min(1.0, 2 * (below if self.gap > 0 else 1 - below))

    def _quantile(self, chance: float) -> float:
        if self.chances[0] <= chance <= self.chances[-1]:
            return float(np.interp(chance, self.chances, self.quantiles))
        end, edge, scale = self._tail(0 if chance < 0.5 else -1)
        return end + (normal_quantile(chance) - edge) * scale

    def _share_below_zero(self) -> float:
        if self.quantiles[0] <= 0 <= self.quantiles[-1]:
            if (
                self.gap < 0 and 0 in self.quantiles
            ):  # samples with a difference of 0 count as the opposite sign
                return float(self.chances[np.searchsorted(self.quantiles, 0)])
            return float(np.interp(0.0, self.quantiles, self.chances))
        end, edge, scale = self._tail(0 if self.quantiles[0] > 0 else -1)
        if scale == 0:
            return float(end < 0)
        return NORMAL.cdf(edge - end / scale)

    def _tail(self, side: int) -> tuple[float, float, float]:
        """The end of the samples, its standard normal quantile, and the scale of the normal tail beyond."""
        end, edge = float(self.quantiles[side]), normal_quantile(float(self.chances[side]))
        return end, edge, (float(np.interp(0.5, self.chances, self.quantiles)) - end) / -edge


@dataclass(frozen=True)
class ScaledCurve(ConfidenceCurve):
    """An interval at one level; intervals at other levels scale with the normal quantiles.

    For limits from the intervals of two runs (MOVER), which are known at one level only.

    Examples
    --------
    >>> found = ScaledCurve(0.1, 0.02, 0.16, 0.95)
    >>> [round(end, 3) for end in found.limits(0.99)], round(found.p, 3)
    ([-0.005, 0.179], 0.014)
    """

    gap: float
    low: float
    high: float
    level: float

    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval at a confidence level."""
        times = normal_quantile((1 + level) / 2) / normal_quantile((1 + self.level) / 2)
        return self.gap - times * (self.gap - self.low), self.gap + times * (self.high - self.gap)

    @property
    def p(self) -> float:
        """Normal p-value from the limit on the side of 0."""
        facing = self.gap - self.low if self.gap > 0 else self.high - self.gap
        if facing == 0:
            return float(self.gap == 0)
        return two_sided_p(self.gap / facing * normal_quantile((1 + self.level) / 2))


def paired_score(
    only1: npt.ArrayLike, only2: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the score interval of the difference of two paired proportions.

    It contains 0 exactly if McNemar's chi-square is not significant. Its width is not 0 if the two never
    differ, and it is within [-1, 1].

    Parameters
    ----------
    only1, only2 : float or array
        Examples that only the first, and only the second, classified correctly.
    n : float or array
        All examples, > 0.

    Returns
    -------
    low, high : float64 arrays of the broadcast shape

    References
    ----------
    Tango 1998, Statistics in Medicine 17:891.

    Examples
    --------
    >>> low, high = paired_score(12, 2, 50)
    >>> float(low.round(4)), float(high.round(4))
    (0.0611, 0.3447)
    """
    b, c, n = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (only1, only2, n)))
    z2 = normal_quantile((1 + level) / 2) ** 2
    inside = np.stack([(b - c) / n] * 2)
    outside = np.stack([np.full(b.shape, -1.0), np.full(b.shape, 1.0)])
    # 36 halvings of a range of at most 2 leave less than 1e-10.
    for _ in range(36):
        half = (outside + inside) / 2
        beyond = (b - c - n * half) ** 2 > z2 * _constrained_variance(half, b, c, n)
        outside, inside = np.where(beyond, half, outside), np.where(beyond, inside, half)
    return outside[0], outside[1]


def _constrained_variance(gap: Array, b: Array, c: Array, n: Array) -> Array:
    """Variance of b - c if the true difference is `gap`, with the maximum likelihood proportion of c."""
    room = gap * (1 - gap)
    linear = (2 * n - b + c) * gap - b - c
    discordant = (np.sqrt(np.maximum(linear * linear + 8 * n * c * room, 0)) - linear) / (4 * n)
    variance: Array = n * np.maximum(2 * discordant + room, 0)
    return variance


Codes = npt.NDArray[np.int32]
READABLE = np.zeros((2, 3, 3), dtype=bool)
READABLE[:, :2, :2] = True


def joint_cells(truth: npt.NDArray[np.int32], first: Codes, second: Codes) -> Array:
    """Return the count of each (true label, first prediction, second prediction), shape (2, 3, 3).

    Parameters
    ----------
    truth, first, second : int arrays of shape (n,)
        0 negative, 1 positive; -1 for an unparsed prediction (the last cell).

    Examples
    --------
    >>> joint_cells(np.array([1, 1, 0]), np.array([1, 0, 0]), np.array([1, 1, -1]))[1, :2, :2]
    array([[0., 1.],
           [0., 1.]])
    """
    place = truth * 9 + np.where(first < 0, 2, first) * 3 + np.where(second < 0, 2, second)
    return np.bincount(place, minlength=18).astype(np.float64).reshape(2, 3, 3)


def label_cells(
    truth: npt.NDArray[Any], first: npt.NDArray[Any], second: npt.NDArray[Any], size: int
) -> Array:
    """Return `joint_cells` of each label against all others, shape (size, 2, 3, 3).

    Parameters
    ----------
    truth, first, second : codes of shape (n,), or indicators of shape (n, size)
        An unparsed prediction predicts no label.

    Examples
    --------
    >>> a, b = np.array([0, 1, -1]), np.array([1, 1, 0])
    >>> label_cells(np.array([0, 1, 0]), a, b, 2)[0, 1, :2, :2]
    array([[0., 1.],
           [1., 0.]])
    """
    n = len(truth)
    if truth.ndim == 2:
        t, a, b = truth.astype(bool), first.astype(bool), second.astype(bool)
        sums = [part.sum(axis=0) for part in (t, a, b, t & a, t & b, a & b, t & a & b)]
    else:
        ta, tb, ab = truth == first, truth == second, (first == second) & (first >= 0)
        kept: list[tuple[Any, Any]] = [(truth, slice(None)), (first, first >= 0), (second, second >= 0)]
        kept += [(truth, ta), (truth, tb), (first, ab), (truth, ta & tb)]
        sums = [np.bincount(codes[rows], minlength=size) for codes, rows in kept]
    t, a, b, ta, tb, ab, tab = (np.asarray(part, dtype=np.float64) for part in sums)
    cells = np.zeros((size, 2, 3, 3))
    cells[:, 1, 1, 1], cells[:, 1, 1, 0], cells[:, 1, 0, 1] = tab, ta - tab, tb - tab
    cells[:, 0, 1, 1], cells[:, 0, 1, 0], cells[:, 0, 0, 1] = ab - tab, a - ta - ab + tab, b - tb - ab + tab
    cells[:, 1, 0, 0] = t - ta - tb + tab
    cells[:, 0, 0, 0] = n - cells.sum(axis=(1, 2, 3))
    return cells


def paired_draws(cells: Array, sampling: Sampling) -> tuple[BinaryCounts, BinaryCounts]:
    """Return Dirichlet(1/2) posterior samples of the counts of both sets of predictions, as proportions.

    A cell of unparsed predictions is sampled only if its count is not 0.

    Parameters
    ----------
    cells : float64 array of shape (..., 2, 3, 3)
        Of `joint_cells`, for one or for several labels.

    Returns
    -------
    first, second : BinaryCounts with fields of shape (resamples, ...)

    Examples
    --------
    >>> a, b = paired_draws(joint_cells(*np.eye(3, 9, dtype=int)), Sampling(resamples=500))
    >>> a.tp.shape, bool(np.allclose(a.positives, b.positives))
    ((500,), True)
    """
    possible = READABLE | (cells > 0)
    return marginal_counts(
        posterior_shares(
            cells, possible, sampling.resamples, (-3, -2, -1), sampling.generator(Stream.PAIRED_POSTERIOR)
        )
    )


def marginal_counts(cells: Array) -> tuple[BinaryCounts, BinaryCounts]:
    """Return the counts of the first and of the second predictions from joint cells.

    Examples
    --------
    >>> a, b = marginal_counts(joint_cells(np.array([1, 1, 0]), np.array([1, 0, 0]), np.array([1, 1, -1])))
    >>> float(a.tp), float(b.tp), float(b.unread)
    (1.0, 2.0, 1.0)
    """
    return _counts(cells.sum(axis=-1)), _counts(cells.sum(axis=-2))


def _counts(table: Array) -> BinaryCounts:
    """Counts from (..., true label, prediction) tables."""
    tn, fp, unparsed = np.moveaxis(table[..., 0, :], -1, 0)
    fn, tp, unparsed_positive = np.moveaxis(table[..., 1, :], -1, 0)
    return BinaryCounts(tp, fp, fn + unparsed_positive, tn, unparsed, unread_positive=unparsed_positive)


def drawn_curve(
    metric: Metric, gap: float, draws: tuple[BinaryCounts, BinaryCounts], level: float
) -> DrawnCurve | None:
    """Return the intervals of a difference of functions of counts; None if samples have no value.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> cells = np.zeros((2, 3, 3))
    >>> cells[:, :2, :2] = [[[80, 5], [5, 10]], [[5, 5], [15, 75]]]
    >>> found = drawn_curve(find("f1", "binary"), 0.05, paired_draws(cells, Sampling()), 0.95)
    >>> found.limits(0.95)[0] < 0.05 < found.limits(0.95)[1]
    True
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = np.asarray(metric.function(draws[0]) - metric.function(draws[1]), dtype=np.float64)
    if not np.isfinite(drawn).all() or np.ptp(drawn) == 0:
        return None
    return DrawnCurve.from_draws(gap, drawn, level)


@dataclass(frozen=True)
class SampledError:
    """Standard error of a difference, and its degrees of freedom."""

    standard_error: float
    df: float

    def curve(self, gap: float) -> StudentCurve:
        """Return Student's t intervals of a difference."""
        return StudentCurve(gap, self.standard_error, self.df)


def by_class(parts: Array, classes: npt.NDArray[np.integer]) -> SampledError:
    """Return the standard error of a sum of contributions for a metric that averages over classes.

    The sum of squares of a class of k rows underestimates its variance by (k - 1) / k. Variances from few
    rows are uncertain: the degrees of freedom are Welch & Satterthwaite's over the classes. For ROC AUC with
    two classes this is DeLong's standard error.

    Parameters
    ----------
    parts : float64 array of shape (n,)
        Differences of the contributions of the rows.
    classes : int codes of shape (n,)

    References
    ----------
    Satterthwaite 1946; Welch 1947.

    Examples
    --------
    >>> found = by_class(np.array([0.1, -0.1, 0.2, -0.2]), np.array([0, 0, 1, 1]))
    >>> round(found.standard_error, 3), round(found.df, 2)
    (0.447, 1.47)
    """
    rows = np.bincount(classes)
    squares = np.bincount(classes, parts**2)[rows > 0]
    rows = rows[rows > 0]
    free = np.maximum(rows - 1, 1)
    own = squares * np.where(rows > 1, rows / free, 1.0)
    total = float(own.sum())
    return SampledError(math.sqrt(total), total**2 / float((own**2 / free).sum()) if total else 1.0)


def of_mean(parts: Array) -> SampledError:
    """Return the standard error of a mean over rows, from the contributions of the rows.

    Examples
    --------
    >>> found = of_mean(np.array([0.1, -0.1, 0.1, -0.1]))
    >>> round(found.standard_error, 3), found.df
    (0.231, 3.0)
    """
    n = len(parts)
    return SampledError(math.sqrt(n / max(n - 1, 1) * float(parts @ parts)), max(n - 1.0, 1.0))


def of_bounded(parts: Array, gap: float, reach: float) -> SampledError:
    """Return the standard error of a difference of means of bounded values.

    Two more units, with the largest difference in either direction, enter the variance: where most units have
    no difference, the variance of the sample is too small without them and covers as little as 16%.

    Parameters
    ----------
    parts : float64 array of shape (n,)
        Contributions of rows or clusters to the difference; they sum to 0.
    gap, reach : float
        The difference of the means, and the range of the values.

    Examples
    --------
    >>> found = of_bounded(np.zeros(50), 0.0, 1.0)
    >>> round(found.standard_error, 3), found.df
    (0.028, 49.0)
    """
    n = len(parts)
    squares = n**2 * float(parts @ parts) + n * gap**2 + 2 * reach**2
    variance = squares / (n + 2) - (n * gap / (n + 2)) ** 2
    return SampledError(math.sqrt(variance / max(n - 1, 1)), max(n - 1.0, 1.0))


def effective(parts: Array) -> SampledError:
    """Return the standard error of a sum of contributions of rows, or of clusters, that differ in size.

    The degrees of freedom are those of the variance estimate: few if few rows make most of the variance.

    Examples
    --------
    >>> effective(np.array([0.1, -0.1, 0.1, -0.1])).df
    3.0
    >>> round(effective(np.array([0.9, -0.9] + 50 * [0.01, -0.01])).df, 1)
    4.1
    """
    whole, squares = of_mean(parts), parts**2
    total = float(squares.sum())
    excess = float(squares @ squares) - total**2 / len(parts)
    if excess <= 1e-12 * total**2:
        return whole
    return SampledError(whole.standard_error, min(whole.df, max(2 * total**2 / excess, 1.0)))
