"""The noise of the summed gaps of calibration bins: drawn for many expected counts at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evalreport.intervals.settings import Sampling
from evalreport.statistics.confusion import Array, Places
from evalreport.statistics.resampling import Stream

FACTORS = 25
"""Grid of factors that gaps are scaled by; limits are interpolated between them."""
CELLS = 200_000
"""Draws over factors, resamples and bins."""
BLOCK = 1 << 16
"""Numbers that are drawn at a time, so that they stay in cache."""
CERTAIN = 1e-3
"""Nearest to 0 and 1 that a bin's probability is taken for where its noise is told by other means."""
FEW_EXPECTED = 25.0
"""Variance of a count below which it is drawn as it is, and from which a normal serves."""
FAR = 6.0
"""Standard deviations, and rows, beyond which counts are not told apart: a draw of 1e8 is there."""
SMALLEST = 1e-15
"""Rate that a float still tells from 0, and its complement from 1: of great weights two rows are nothing."""

Statistic = Callable[[Array, Array], Array]
"""From gaps of shape (..., bins) and the weights of the bins to an error of shape (...)."""
Counted = tuple[Places, Array]
"""Order of the draws of each bin, shape (bins, draws), and where among them its counts start, in [0, 1)."""


@lru_cache(maxsize=16)
def independent(bins: int, sampling: Sampling) -> tuple[Array, Counted]:
    """Return standard normal draws of bins that know nothing of each other, and how counts follow them.

    Kept, because the labels of a problem all ask for the same; not to be changed.

    Examples
    --------
    >>> normal, (order, start) = independent(3, Sampling(resamples=500))
    >>> normal.shape, order.shape, start.shape
    ((500, 3), (3, 500), (3,))
    """
    generator = sampling.generator(Stream.BIN_NOISE)
    normal = generator.standard_normal((gap_size(bins, sampling), bins))
    return normal, (normal.argsort(axis=0).T, generator.random(bins))


@lru_cache(maxsize=16)
def bin_placement_noise(draws: int, sampling: Sampling) -> Array:
    """Return standard normal draws of what moves an error beside the noise of bins; not to be changed."""
    return sampling.generator(Stream.BIN_PLACES).standard_normal(draws)


def gap_size(bins: int, sampling: Sampling) -> int:
    """Return how many draws of so many bins are made."""
    return max(100, min(sampling.resamples, CELLS // (FACTORS * bins)))


@dataclass(frozen=True, eq=False)
class Noise:
    """Draws of the summed gaps of bins about their means.

    The same random numbers serve every mean, so that limits between two of them do not jitter.

    Parameters
    ----------
    weight, probability : float64 arrays of shape (bins,)
    design : float64 array of shape (bins,)
        Ratio of the noise of each bin to the binomial.
    normal : float64 array of shape (draws, bins)
    certain : float
        How near to 0 and 1 a probability is taken at its word; 0 where the weights are numbers of rows.
    follow : Counted or None
        Of independent bins, whose counts are drawn as they are where they are few.
    rows : float64 array of shape (bins,)
        Rows of each bin, as many of one weight as are worth its own: `weight` where they weigh 1.
    """

    weight: Array
    probability: Array
    design: Array
    normal: Array
    certain: float
    follow: Counted | None
    rows: Array

    def draw_errors(self, gaps: Array, statistic: Statistic) -> Array:
        """Return draws of an error of samples whose gaps are expected to be these.

        Parameters
        ----------
        gaps : float64 array of shape (means, bins)
        statistic : callable

        Returns
        -------
        float64 array of shape (means, draws)
        """
        step = max(1, BLOCK // self.normal.size)
        parts = (gaps[start : start + step] for start in range(0, len(gaps), step))
        return np.concatenate(
            [
                statistic(self.draw_bin_noise(self.probability - part) + part[:, None], self.weight)
                for part in parts
            ]
        )

    def draw_bin_noise(self, positives: Array) -> Array:
        """Return draws where so many positives are expected.

        Parameters
        ----------
        positives : float64 array of shape (means, bins)

        Returns
        -------
        float64 array of shape (means, draws, bins)
        """
        share = self.rows / self.weight
        rate = binomial_rate(self.rows, positives * share, self.probability * share, self.certain)
        variance = self.rows * rate * (1 - rate)
        scale = self.design / share * np.sqrt(variance)
        few = variance < FEW_EXPECTED
        drawn = self.normal.T[:, None] * scale.T[:, :, None]  # bins first: sums over them are of whole rows
        if self.follow is not None and few.any():
            mean, place = np.nonzero(few)
            whole = np.maximum(np.round(self.rows), 1)
            rows, design = whole[place], (self.design / share * np.sqrt(self.rows / whole))[place, None]
            order, start = self.follow
            short = few_counts(rows, rate[few], len(self.normal), start[place])
            drawn[place[:, None], mean[:, None], order[place]] = short * design
        return np.moveaxis(drawn, 0, -1)


def few_counts(rows: Array, rate: Array, draws: int, start: Array) -> Array:
    """Return by how much binomial counts fall short of their mean, drawn systematically.

    Parameters
    ----------
    rows, rate : float64 arrays of shape (bins,)
    draws : int
    start : float64 array of shape (bins,), in [0, 1)
        Where among the draws the first stands: drawn evenly, every count is met as often as it is likely.

    Returns
    -------
    float64 array of shape (bins, draws)
        In order of the counts of positives, or of negatives where these are rarer.

    Examples
    --------
    >>> few_counts(np.array([2.0]), np.array([0.5]), 4, np.array([0.5]))
    array([[ 1.,  0.,  0., -1.]])
    """
    rare = np.minimum(rate, 1 - rate)
    mean = rows * rare
    count = np.arange(math.ceil(float((mean + FAR * np.sqrt(mean)).max()) + FAR))
    chance = np.empty((len(rows), len(count) + 1))
    chance[:, 0] = (1 - rare) ** rows
    chance[:, 1:] = np.maximum(rows[:, None] - count, 0) / (count + 1) * (rare / (1 - rare))[:, None]
    upto = (chance.cumprod(axis=1).cumsum(axis=1) * draws + start[:, None]).astype(np.int64)
    upto[:, -1] = draws
    times = np.diff(np.minimum(upto, draws), prepend=0)
    found = np.repeat(np.tile(np.arange(len(count) + 1), len(rows)), times.ravel()).reshape(len(rows), draws)
    short: Array = (mean[:, None] - found) * np.where(rate > rare, -1, 1)[:, None]
    return short


def binomial_noise(weight: Array, positives: Array, probability: Array, certain: float = 0.0) -> Array:
    """Return the standard deviation of the positives of each bin, never 0.

    Two rows more are taken to be in each bin, at the probability that the model gives it: at the rate of
    all, bins with few rows had so much noise that the ECE of three classes covered 100%.

    Examples
    --------
    >>> binomial_noise(np.array([10.0, 1.0]), np.array([5.0, 0.0]), np.array([5.0, 0.3])).round(2)
    array([1.58, 0.4 ])
    """
    rate = binomial_rate(weight, positives, probability, certain)
    spread: Array = np.sqrt(weight * rate * (1 - rate))
    return spread


def binomial_rate(weight: Array, positives: Array, probability: Array, certain: float = 0.0) -> Array:
    """Return the rate that the noise of each bin is told at: see `binomial_noise`.

    `certain` is how near to 0 and 1 a probability is taken at its word.

    Examples
    --------
    >>> binomial_rate(np.array([2.0]), np.array([2.0]), np.array([1.0]))
    array([0.75])
    """
    held = np.clip(positives, 0, weight)
    said = np.clip(probability / weight, certain, 1 - certain)
    rate: Array = np.clip((held + 2 * said) / (weight + 2), SMALLEST, 1 - SMALLEST)
    return rate
