"""Intervals of how many labels a distribution is worth, by inversion of a test.

No sample has as many labels in effect as an even distribution has: its shares are uneven by chance, so that
the truth may stand at the end of the range and every sample below. Here the shares are moved away from even
ones by a factor, as gaps of calibration are in `calibration`: the limits are those of the distributions
whose samples have the value seen within their central share.
"""

from __future__ import annotations

import math

import numpy as np

from evalreport.intervals.calibration import Inversion
from evalreport.intervals.calibration_noise import FACTORS, gap_size
from evalreport.intervals.settings import Limits, Sampling
from evalreport.metrics.multiclass import effective_labels
from evalreport.statistics.confusion import Array, Places, inner
from evalreport.statistics.resampling import JEFFREYS

METHOD = "test inversion"
FAR = 4.0
"""How many times what chance alone lacks an uneven distribution does, to be smooth in its shares."""
PLACE = 15
"""Place of the random numbers."""


def evenness_limits(value: float, counts: Array, sampling: Sampling) -> Limits:
    """Return the limits of the effective number of labels.

    Parameters
    ----------
    value : float
        What was seen, in [1, K].
    counts : float64 array of shape (K,)
        Rows of each label, independent.

    Examples
    --------
    >>> limits = evenness_limits(2.98, np.array([70.0, 60.0, 70.0]), Sampling())
    >>> round(limits.low, 2), round(limits.high, 2)
    (2.92, 3.0)
    """
    size, rows = len(counts), round(float(counts.sum()))
    share = (counts + JEFFREYS) / (counts.sum() + JEFFREYS * size)
    surprise = -np.log(share)
    lack = max(math.log(size) - inner(share, surprise), 1e-12)
    # What chance alone lacks is a chi-square over 2n; what shares vary by, the spread of their surprise.
    chance = (size + 2 * math.sqrt(size)) / (2 * rows)
    spread = _spread(share, rows)
    if lack > FAR * chance:
        # Far from even a smooth function of the shares; its bias is Miller's (1955), but for the lower end
        # where one label makes the variance: score limits of a count have none. Labels of a few rows may be
        # as many as Wilson's limits say, by z² / 2 rows each.
        bias = (np.count_nonzero(counts) - 1) / (2 * rows)
        more = (counts + sampling.z**2 / 2) / (rows + size * sampling.z**2 / 2)
        above, wide = inner(more, -np.log(more)), _spread(more, rows)
        low = value * math.exp(bias * (1 - _one(share)) - _down(counts, sampling.z))
        high = math.exp((math.log(value) + bias + above) / 2 + sampling.z * wide)
        return Limits(max(min(low, value), 1.0), min(max(high, value), size), METHOD, value * spread)
    widest = math.sqrt(1 + 4 * (chance + spread) / lack)
    factors = np.linspace(0, widest, FACTORS)
    moved = 1 / size + factors[:, None] * (share - 1 / size)
    moved = np.maximum(moved, 0) / np.maximum(moved, 0).sum(axis=1, keepdims=True)
    generator = sampling.generator(PLACE)

    def lacks(place: Places) -> Array:
        drawn = [generator.multinomial(rows, moved[at], gap_size(size, sampling)) for at in place]
        lack: Array = size - effective_labels(np.stack(drawn).astype(np.float64))
        return lack

    truths = np.maximum.accumulate(size - effective_labels(moved))
    low, high = Inversion(size - value, sampling, near_end=True).between(lacks, truths)
    error = float(lacks(np.argmin(np.abs(factors - 1), keepdims=True)).std())
    low, high = max(min(size - high, value), 1.0), min(max(size - low, value), float(size))
    return Limits(low, high, METHOD, error)


def _spread(share: Array, rows: float) -> float:
    """Standard error of the entropy of shares."""
    surprise = -np.log(share)
    return math.sqrt(inner(share, (surprise - inner(share, surprise)) ** 2) / rows)


def _one(share: Array) -> float:
    """How far one label makes the variance of the entropy: 1 over the labels that make it."""
    surprise = -np.log(share)
    variance = share * (surprise - inner(share, surprise)) ** 2
    return inner(variance, variance) / max(float(variance.sum()) ** 2, 1e-300)


def _down(counts: Array, z: float) -> float:
    """How far down the entropy reaches: the root of the summed squares of what each label takes off it.

    MOVER (Zou & Donner 2008) over labels whose rows come by themselves: each as few or as many as the score
    limits of its count say. By the normal the lower limit of three rows lies below none, and with one rare
    label 99% were covered.
    """
    middle, half = counts + z**2 / 2, z * np.sqrt(counts + z**2 / 4)
    other = np.maximum(np.stack([middle - half, middle + half]), 0.0)
    rows = float(counts.sum())
    total = rows - counts + other
    mass, moved = (x * np.log(np.where(x > 0, x, 1.0)) for x in (counts, other))
    entropy = np.log(total) - (mass.sum() - mass + moved) / total
    taken = np.minimum((entropy - math.log(rows) + float(mass.sum()) / rows).min(axis=0), 0.0)
    return math.sqrt(inner(taken, taken))
