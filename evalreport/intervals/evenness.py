"""Intervals of how many labels a distribution is worth, by inversion of a test.

No sample has as many labels in effect as an even distribution has: its shares are uneven by chance, so that
the truth may stand at the end of the range and every sample below. Here the shares are moved away from even
ones by a factor, as gaps of calibration are in `calibration`: the limits are those of the distributions
whose samples have the value seen within their central share.
"""

from __future__ import annotations

import math

import numpy as np

from evalreport.facts.counts import Array, inner
from evalreport.intervals.calibration import FACTORS, gap_size, inverted
from evalreport.intervals.sampling import Limits, Sampling
from evalreport.metrics.multiclass import effective_labels
from evalreport.resampling import JEFFREYS

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
    spread = math.sqrt(inner(share, (surprise - inner(share, surprise)) ** 2) / rows)
    widest = math.sqrt(1 + 4 * (chance + spread) / lack)
    factors = np.linspace(0, widest, FACTORS)
    moved = 1 / size + factors[:, None] * (share - 1 / size)
    moved = np.maximum(moved, 0) / np.maximum(moved, 0).sum(axis=1, keepdims=True)
    generator = sampling.generator(PLACE)
    drawn = np.stack([generator.multinomial(rows, row, gap_size(size, sampling)) for row in moved])
    lacks = size - effective_labels(drawn.astype(np.float64))
    truths = np.maximum.accumulate(size - effective_labels(moved))
    low, high = inverted(size - value, lacks, truths, sampling, near_end=True)
    error = float(lacks[np.argmin(np.abs(factors - 1))].std())
    low, high = max(min(size - high, value), 1.0), min(max(size - low, value), float(size))
    return Limits(low, high, "test inversion", error)
