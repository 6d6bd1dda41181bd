"""Intervals of binned calibration errors, by inversion of a test.

A sum of absolute gaps is never 0 in a sample, so its estimate lies above the truth and a bootstrap of it
further above: of a calibrated model, bootstrap intervals of the ECE cover next to never. Here the gaps are
scaled by a factor; a factor whose gaps, with the binomial noise of the bins, give the estimate seen within
the central 95 % is not rejected, and the interval holds the errors of these factors.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from evalreport.facts.counts import Array, inner
from evalreport.intervals.sampling import Sampling

FACTORS = 25
"""Grid of factors; the limits are interpolated between them."""
CELLS = 200_000
"""Draws over factors, resamples and bins."""
MANY = 200
"""Bins from which a mean of absolute gaps is taken as normal."""

Statistic = Callable[[Array, Array], Array]
"""From gaps of shape (..., bins) and the weights of the bins to an error of shape (...)."""


def gap_limits(
    bins: tuple[Array, Array, Array],
    value: float,
    statistic: Statistic,
    sampling: Sampling,
    noise: Array | None = None,
) -> tuple[float, float]:
    """Return the limits of a calibration error over bins.

    Parameters
    ----------
    bins : three float64 arrays of shape (bins,)
        Rows, summed probability and positives of each bin.
    value : float
        The calibration error.
    statistic : `mean_gap` or `greatest_gap`
    noise : float64 array of shape (bins,), optional
        Standard deviation of the summed gap of each bin; binomial by default.

    Examples
    --------
    >>> bins = (np.full(5, 40.0), np.array([4.0, 12, 20, 28, 36]), np.array([5.0, 11, 22, 27, 37]))
    >>> limits = gap_limits(bins, 0.03, mean_gap, Sampling())
    >>> limits[0], round(limits[1], 2)
    (0.0, 0.09)
    """
    held = bins[0] > 0
    weight, probability, positives = (part[held] for part in bins)
    gaps, spread = probability - positives, _noise(weight, positives) if noise is None else noise[held]
    widest = 1 + 4 * float(statistic(spread, weight)) / max(value, 1e-12)
    factors = np.linspace(0, min(widest, 1e6), FACTORS)
    moved = [(f * gaps, _noise(weight, probability - f * gaps) if noise is None else spread) for f in factors]
    least, most = np.maximum.accumulate(_tails(moved, weight, statistic, sampling), axis=0).T
    low, high = (value * float(np.interp(value, tail, factors)) for tail in (most, least))
    if statistic is mean_gap:
        # Gaps in few bins are not inflated by noise; the scaled ones are, and put the upper limit too low.
        high = max(high, value + sampling.z * math.sqrt(inner(spread, spread)) / float(weight.sum()))
    return low, high


def _tails(
    moved: list[tuple[Array, Array]], weight: Array, statistic: Statistic, sampling: Sampling
) -> Array:
    """Central limits of the estimate for each set of true gaps and their noise, shape (sets, 2)."""
    if statistic is mean_gap and len(weight) > MANY:
        spread = sampling.z * np.array([-1, 1])
        moments = [_folded(*pair) for pair in moved]
        return np.array([(mean + spread * error) / weight.sum() for mean, error in moments])
    size = max(100, min(sampling.resamples, CELLS // (FACTORS * len(weight))))
    normal = sampling.generator(2).standard_normal((size, len(weight)))
    tails = [1 - sampling.upper, sampling.upper]
    return np.array([np.quantile(statistic(gaps + normal * noise, weight), tails) for gaps, noise in moved])


def _folded(mean: Array, spread: Array) -> tuple[float, float]:
    """Mean and standard deviation of a sum of absolute values of independent normals."""
    spread = np.maximum(spread, np.finfo(float).tiny)
    z = mean / spread
    inside = np.array([math.erf(x) for x in z / math.sqrt(2)])
    folded = spread * math.sqrt(2 / math.pi) * np.exp(-z * z / 2) + mean * inside
    return float(folded.sum()), math.sqrt(float((mean**2 + spread**2 - folded**2).sum()))


def _noise(weight: Array, positives: Array) -> Array:
    """Standard deviation of the positives of each bin, at Agresti and Coull's rate: never 0."""
    rate = (np.clip(positives, 0, weight) + 1) / (weight + 2)
    spread: Array = np.sqrt(weight * rate * (1 - rate))
    return spread


def mean_gap(gaps: Array, weight: Array) -> Array:
    """Return the expected calibration error."""
    total: Array = np.abs(gaps).sum(axis=-1) / weight.sum()
    return total


def greatest_gap(gaps: Array, weight: Array) -> Array:
    """Return the maximum calibration error."""
    greatest: Array = (np.abs(gaps) / weight).max(axis=-1)
    return greatest
