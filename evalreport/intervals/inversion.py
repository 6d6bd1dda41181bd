"""Every interval of a difference, of every level, and the p-value that is their inversion.

A difference is judged by one thing alone: whether its interval excludes 0. Its p-value is one minus the level
of the widest interval that still does, so that interval, p-value and verdict never disagree, at the level
asked for and at any other that a correction for several comparisons takes. Such a family of nested intervals
is a confidence curve (Cox 1958; Birnbaum 1961).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evalreport.facts.counts import Array
from evalreport.intervals.quantiles import NORMAL, normal_quantile, t_quantile, two_sided_p, two_sided_t
from evalreport.intervals.significance import SMALLEST, mcnemar

POWER = 0.8
"""The chance with which a detectable difference is demonstrated: Cohen's (1988) convention."""
IN_TAIL = 10
"""Draws beyond the outermost quantile that is read off the draws: with fewer its own error (a third of the
tail's share) would move adjusted intervals at random."""
KNOTS = 61
"""Quantiles that a family of drawn intervals keeps: between two of them a quantile is taken as linear."""


class ConfidenceCurve(ABC):
    """The nested intervals of one difference."""

    gap: float
    df: float = math.inf

    @abstractmethod
    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval of a level, which holds the observed difference."""

    @property
    @abstractmethod
    def p(self) -> float:
        """Two-sided: one minus the level of the widest interval that excludes 0."""

    def detectable(self, level: float, power: float = POWER) -> float:
        """Return the true difference that a sample like this demonstrates with a given probability.

        Parameters
        ----------
        level : float
            Of the interval that has to exclude 0.
        power : float
            At 95% and 0.8 it is (1.960 + 0.842) = 2.80 standard errors; quantiles of Student's t where the
            interval takes them.

        References
        ----------
        Cohen 1988, chapter 2.
        """
        low, high = self.limits(level)
        ends = t_quantile((1 + level) / 2, self.df)
        return (high - low) / 2 * (1 + t_quantile(power, self.df) / ends)


@dataclass(frozen=True)
class StudentCurve(ConfidenceCurve):
    """Student's intervals.

    Parameters
    ----------
    gap, standard_error : float
    df : float
        Degrees of freedom that the standard error is known with.

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
        """Return the interval of a level."""
        reach = t_quantile((1 + level) / 2, self.df) * self.standard_error
        return self.gap - reach, self.gap + reach

    @property
    def p(self) -> float:
        """Student's two-sided p-value; 1 where no row tells two runs apart, so that 0 is known."""
        if self.standard_error == 0:
            return float(self.gap == 0)
        return two_sided_t(self.gap / self.standard_error, self.df)


@dataclass(frozen=True)
class ScoreCurve(ConfidenceCurve):
    """Tango's score intervals of the difference of two proportions of the same rows; p is McNemar's mid-p.

    Tango's own p is McNemar's chi-square, which calls four of four discordant pairs significant. So all
    intervals are wider by the quotient of both deviates, which is near 1 but with few discordant pairs: an
    interval excludes 0 exactly where the mid-p says so.

    Examples
    --------
    >>> found = ScoreCurve(12, 2, 50)
    >>> round(found.limits(0.95)[0], 3), round(found.p, 4)
    (0.061, 0.0074)
    """

    only_run: int
    only_baseline: int
    n: int

    @property
    def gap(self) -> float:  # type: ignore[override]
        """The observed difference."""
        return (self.only_run - self.only_baseline) / self.n

    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval of a level."""
        wider = 1 - two_sided_p(normal_quantile((1 + level) / 2) * self._stretch)
        return _score_limits(self.only_run, self.only_baseline, self.n, min(wider, 1 - 1e-15))

    @property
    def p(self) -> float:
        """McNemar's mid-p."""
        return mcnemar(self.only_run, self.only_baseline)

    @property
    def _stretch(self) -> float:
        p, apart = self.p, self.only_run + self.only_baseline
        if p >= 1 or p <= SMALLEST:
            return 1.0
        deviate = abs(self.only_run - self.only_baseline) / math.sqrt(apart)
        return deviate / -normal_quantile(p / 2)


@lru_cache(1024)
def _score_limits(only_run: int, only_baseline: int, n: int, level: float) -> tuple[float, float]:
    """Limits of a difference, which is asked for its interval, for what it can detect and for its verdict."""
    low, high = paired_score(only_run, only_baseline, n, level)
    return float(low), float(high)


@dataclass(frozen=True, eq=False)
class DrawnCurve(ConfidenceCurve):
    """Percentile intervals of draws; beyond the outermost ten draws the tail of a normal goes on.

    The normal's scale is that between the median and the end of the draws, on each side its own, so that a
    skewed difference keeps its longer side.

    Parameters
    ----------
    gap : float
        Observed; every interval holds it, though draws of small counts lie nearer to 0.
    chances, quantiles : float64 arrays of one shape
        Increasing.

    Examples
    --------
    >>> drawn = np.random.default_rng(0).normal(1, 0.5, 4000)
    >>> found = DrawnCurve.of(1.0, drawn, 0.95)
    >>> [round(end, 1) for end in found.limits(0.95)], [round(end, 1) for end in found.limits(0.9999)]
    ([0.0, 2.0], [-1.0, 2.9])
    """

    gap: float
    chances: Array
    quantiles: Array

    @classmethod
    def of(cls, gap: float, drawn: npt.ArrayLike, level: float) -> DrawnCurve:
        """Return the intervals of draws, which are exact at one level."""
        values = np.asarray(drawn, dtype=np.float64)
        end = min(IN_TAIL / len(values), 0.25)
        wanted = (0.5, (1 - level) / 2, (1 + level) / 2)
        inner = [chance for chance in wanted if end <= chance <= 1 - end]
        chances = np.unique([*np.linspace(end, 1 - end, KNOTS), *inner])
        return cls(gap, chances, np.quantile(values, chances))

    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval of a level."""
        low, high = self._quantile((1 - level) / 2), self._quantile((1 + level) / 2)
        return min(low, self.gap), max(high, self.gap)

    @property
    def p(self) -> float:
        """Twice the share of draws on the other side of 0 than what was observed."""
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
            ):  # draws of no difference never speak for the observed one
                return float(self.chances[np.searchsorted(self.quantiles, 0)])
            return float(np.interp(0.0, self.quantiles, self.chances))
        end, edge, scale = self._tail(0 if self.quantiles[0] > 0 else -1)
        if scale == 0:
            return float(end < 0)
        return NORMAL.cdf(edge - end / scale)

    def _tail(self, side: int) -> tuple[float, float, float]:
        """The end of the draws, where a standard normal has it, and the scale of the normal beyond."""
        end, edge = float(self.quantiles[side]), normal_quantile(float(self.chances[side]))
        return end, edge, (float(np.interp(0.5, self.chances, self.quantiles)) - end) / -edge


@dataclass(frozen=True)
class ScaledCurve(ConfidenceCurve):
    """An interval of one level, and those of others in proportion to the normal's quantiles.

    For limits that come from two intervals of the runs' own (MOVER), which are known at one level only.

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
        """Return the interval of a level."""
        times = normal_quantile((1 + level) / 2) / normal_quantile((1 + self.level) / 2)
        return self.gap - times * (self.gap - self.low), self.gap + times * (self.high - self.gap)

    @property
    def p(self) -> float:
        """From the limit that faces zero, read as a normal's."""
        facing = self.gap - self.low if self.gap > 0 else self.high - self.gap
        if facing == 0:
            return float(self.gap == 0)
        return two_sided_p(self.gap / facing * normal_quantile((1 + self.level) / 2))


def paired_score(
    only1: npt.ArrayLike, only2: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the score interval of the difference of two proportions of the same examples.

    It holds 0 exactly when McNemar's chi-square does not reach its limit, is of no zero width where the
    two never differ, and lies in [-1, 1].

    Parameters
    ----------
    only1, only2 : float or array
        Examples that the first alone and the second alone got right.
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
    # Thirty-six halvings of a range of at most 2 leave less than 1e-10.
    for _ in range(36):
        half = (outside + inside) / 2
        beyond = (b - c - n * half) ** 2 > z2 * _constrained_variance(half, b, c, n)
        outside, inside = np.where(beyond, half, outside), np.where(beyond, inside, half)
    return outside[0], outside[1]


def _constrained_variance(gap: Array, b: Array, c: Array, n: Array) -> Array:
    """Variance of b - c where the true difference is `gap`, the share of c at its most likely."""
    room = gap * (1 - gap)
    linear = (2 * n - b + c) * gap - b - c
    discordant = (np.sqrt(np.maximum(linear * linear + 8 * n * c * room, 0)) - linear) / (4 * n)
    variance: Array = n * np.maximum(2 * discordant + room, 0)
    return variance
