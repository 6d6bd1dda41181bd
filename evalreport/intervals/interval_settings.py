"""Settings of intervals (level, resamples, seed), and the checks that all intervals pass."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from evalreport.core.errors import UsageError
from evalreport.core.result import Estimate
from evalreport.data.predictions import Predictions
from evalreport.intervals.distributions import normal_quantile
from evalreport.metrics.record import Metric
from evalreport.statistics.resampling import Stream

LEVELS = (0.01, 1 - 1e-6)
"""Range of the confidence level: beyond it the tail of some kinds of interval rounds to 0 or 1."""
FEWEST = 2
"""Fewest rows (or events, or clusters) for an interval."""


@dataclass(frozen=True)
class Sampling:
    """Settings of every interval of one evaluation.

    Parameters
    ----------
    level : float
        Confidence level, 0.01 to 0.999999.
    resamples : int
        Number of resamples of a method that samples; at least 1.
    seed : int
        The same input and seed give the same bytes; at least 0.
    constraint_confidence : float or None
        Confidence in (0, 1) with which a threshold chosen under a constraint must meet it on new rows; None:
        no such threshold is searched.
    intervals : bool
        Whether to compute intervals; values alone take a fraction of the time.

    Raises
    ------
    UsageError
        A setting is out of its range.

    Examples
    --------
    >>> round(Sampling(level=0.9).z, 3)
    1.645
    """

    level: float = 0.95
    resamples: int = 2000
    seed: int = 0
    constraint_confidence: float | None = None
    intervals: bool = True

    def __post_init__(self) -> None:
        bounds = (
            ("confidence", self.level, LEVELS[0] <= self.level <= LEVELS[1], "0.95 for 95% intervals"),
            ("resamples", self.resamples, self.resamples >= 1, "2000"),
            ("seed", self.seed, self.seed >= 0, "a whole number from 0 on"),
            (
                "constraint_confidence",
                self.constraint_confidence,
                self.constraint_confidence is None or 0 < self.constraint_confidence < 1,
                "0.95 for 95% confidence",
            ),
        )
        for name, value, good, usual in bounds:
            if not good:
                raise UsageError(f"{name} {value} is out of range", where=name, fix=f"pass {usual}")

    def with_confidence(self, confidence: float | None) -> Self:
        """Return the same settings at another confidence level; None: no intervals.

        Examples
        --------
        >>> Sampling().with_confidence(None).intervals, Sampling().with_confidence(0.9).level
        (False, 0.9)
        """
        if confidence is None:
            return replace(self, intervals=False)
        return replace(self, level=confidence, intervals=True)

    @property
    def z(self) -> float:
        """Two-sided standard normal quantile of the level."""
        return normal_quantile(self.upper)

    @property
    def upper(self) -> float:
        """Probability below the upper limit: 0.975 for 95%."""
        return (1 + self.level) / 2

    def generator(self, stream: Stream, *place: int) -> np.random.Generator:
        """Return the random generator of a stream in its initial state; `place` selects a substream."""
        return np.random.default_rng((self.seed, stream, *place))


@dataclass(frozen=True)
class Limits:
    """The limits of an interval before they are checked against the metric's range.

    Parameters
    ----------
    low, high : float
    method : str
    standard_error : float or None
    reason : str or None
        Why there are no limits; `low` and `high` are then ignored.
    """

    low: float = math.nan
    high: float = math.nan
    method: str | None = None
    standard_error: float | None = None
    reason: str | None = None


def no_limits(reason: str) -> Limits:
    """Return limits that only give the reason why there is no interval.

    Examples
    --------
    >>> no_limits("needs 2 rows").reason
    'needs 2 rows'
    """
    return Limits(reason=reason)


NOT_ASKED = "no intervals were asked for"
ALL_EQUAL = "all scores are equal: the AUC is 0.5 whatever the sample"
ONE_BIN = "all scores are in one bin: leave --set approximate out"
ALWAYS_AMONG = "with so few labels the true label is always among the top k"
CERTAIN = frozenset({ALL_EQUAL, ALWAYS_AMONG})
"""Reasons of a value that is certain, so that there is nothing to estimate."""


def by_rows(predictions: Predictions) -> bool:
    """Return whether rows have weights or groups, so that an interval needs the rows, not only their sums."""
    return predictions.weighted or predictions.groups is not None


def estimate(metric: Metric, value: float, n: float, limits: Limits) -> Estimate:
    """Return the value with its limits: they include the value and stay within the metric's range.

    Examples
    --------
    >>> from evalreport.metrics.record import Proportion
    >>> share = Metric("s", "", "", "", "binary", "counts", "counts", 0, 1, "higher", Proportion(), float)
    >>> estimate(share, 0.9, 30, Limits(0.7, 1.2, "wald")).high
    1.0
    """
    if limits.reason is not None:
        return Estimate(value, n, standard_error=limits.standard_error, reason=limits.reason)
    low = min(max(limits.low, metric.low), value)
    high = max(min(limits.high, metric.high), value)
    if not math.isfinite(low) or not math.isfinite(high):
        return Estimate(value, n, reason="the interval has no finite limits")
    if low == high:
        return Estimate(value, n, reason="every resample has this value")
    return Estimate(value, n, float(low), float(high), limits.method, _finite(limits.standard_error))


def _finite(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)
