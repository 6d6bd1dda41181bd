"""Intervals of what the most frequent class decides: its share, and the accuracy beyond it.

Which class is the most frequent is itself uncertain. Where several are about equal, draws of the maximum
all lie above the truth (at two equal classes their intervals covered 83% and less); the extreme of the
limits of the candidates covers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from evalreport.intervals.calibration_noise import SMALLEST
from evalreport.intervals.distributions import NORMAL, normal_quantile
from evalreport.intervals.paired import paired_score
from evalreport.intervals.proportions import wilson
from evalreport.intervals.settings import Sampling
from evalreport.metrics.record import MostFrequent
from evalreport.statistics.confusion import Array

PLACE = 16
"""Place of the random numbers."""
TAIL = 0.75
"""Part of one minus the level at which the greatest of several is held against their noise: a quarter goes to
the choice of candidates, see `greatest_noise`."""
APART = 1.0
"""Standard errors below a share from which on a class is not held to have it: of 3, 5, 20 and 50 even classes
of 200 and 2,000 rows 94 to 96% are then covered (1,500 samples each), of 20 uneven ones 98 and 97%."""
HALVINGS = 40
"""Of a range of 1 they leave less than 1e-12."""
CELLS, DRAWS = 40_000, (500, 4000)
"""Normal draws of all classes; fewest and most of each."""

EachClass: TypeAlias = Callable[[float], tuple[Array, Array]]
"""From a level to limits of each class, arrays of shape (..., K)."""


def greatest_limits(limits: EachClass, level: float, seen: float) -> tuple[Array, Array]:
    """Return limits of the greatest of several quantities, arrays of shape (...).

    The lower one is the greatest of those of the classes, the upper one that of the greatest, whichever it
    is. Of several about equal the greatest seen lies above the truth, which is then missed from above alone:
    `seen` says how many errors from above that is in a share of `level` of samples, and the lower limits
    stand off as far. The upper ones have what that leaves of the error of one class that is the greatest
    after all.

    Parameters
    ----------
    limits : callable
    level : float
    seen : float
        See `greatest_noise`; counts from the two-sided quantile of the normal on.

    Examples
    --------
    >>> from functools import partial
    >>> low, high = greatest_limits(partial(wilson, [52, 48], 100), 0.95, 0.0)
    >>> float(low.round(3)), float(high.round(3))
    (0.423, 0.615)
    """
    low, high = limits(level)
    if seen > normal_quantile((1 + level) / 2):
        below = NORMAL.cdf(seen)
        (low, _), (_, high) = limits(2 * below - 1), limits(2 * (level + 1 - below) - 1)
    return low.max(axis=-1), high.max(axis=-1)


def greatest_noise(values: Array, noise: Array, errors: Array, level: float) -> float:
    """Return how far the greatest of several quantities seen lies above the greatest, in errors.

    Those whose limits do not reach those of the greatest are none of the candidates: the moment selection
    of Andrews & Soares (2010, Econometrica 78:119). The choice errs, too, and most often where the greatest
    lies highest, so that what it errs in is taken off the chance of the noise, as in the two steps of Romano,
    Shaikh & Wolf (2014, Econometrica 82:1979). Three even classes are the worst: their differences have √3
    times the error of one, and twice that error at the quantile of the limits leaves one out by chance in
    1.2% of samples, a quarter of 5%. Without it limits of three and of twenty even classes were missed by
    7 to 8%.

    Parameters
    ----------
    values, errors : float64 arrays of shape (K,)
    noise : float64 array of shape (draws, K)
        Standard normal draws of each, correlated as they are.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((4000, 3))
    >>> round(greatest_noise(np.full(3, 0.3), noise, np.full(3, 0.1), 0.95), 1)
    2.2
    """
    reach = normal_quantile((1 + level) / 2) * (errors + errors[values.argmax()])
    candidates = (values.max() - values <= reach) & (errors > 0)
    if not candidates.any():
        return 0.0
    return float(np.quantile(noise[:, candidates].max(axis=1), 1 - TAIL * (1 - level)))


def replicated_noise(replicates: Array, sampling: Sampling) -> Array:
    """Return standard normal draws of several quantities, correlated as their replicates are.

    Parameters
    ----------
    replicates : float64 array of shape (replicates, K)

    Examples
    --------
    >>> replicates = np.array([[0.1, 0.2], [0.2, 0.1], [0.3, 0.0]])
    >>> noise = replicated_noise(replicates, Sampling())
    >>> bool(abs(noise.sum(axis=1)).max() < 1e-9)
    True
    """
    moved = np.nan_to_num(replicates - np.nanmean(replicates, axis=0))
    size = int(np.clip(CELLS // max(replicates.shape[1], 1), *DRAWS))
    drawn: Array = sampling.generator(PLACE).standard_normal((size, len(moved))) @ moved
    spread = np.sqrt((moved**2).sum(axis=0))
    return drawn / np.where(spread > 0, spread, 1.0)


def majority_parts(
    frequent: MostFrequent, right: Array, support: Array, predicted: Array, total: Any
) -> Array:
    """Return what each class would make of a metric if it were the most frequent, shape (..., K).

    The metric is the greatest of them; a gain is the smallest.

    Examples
    --------
    >>> counts = np.array([4.0, 1.0]), np.array([6.0, 4.0]), np.array([7.0, 3.0])
    >>> majority_parts(MostFrequent(gain=True), *counts, total=10.0).round(1)
    array([-0.1,  0.1])
    """
    total = np.asarray(total)[..., None]
    if frequent.gain:
        gain: Array = (right.sum(axis=-1, keepdims=True) - support) / total
        return gain
    share: Array = (predicted if frequent.of == "answers" else support) / total
    return share


def majority_limits(
    frequent: MostFrequent, right: Array, support: Array, predicted: Array, sampling: Sampling
) -> tuple[Array, Array]:
    """Return the limits of what the most frequent class decides, of independent rows.

    A gain is the difference of two shares of the same rows, that of right answers and that of a class.

    Parameters
    ----------
    right, support, predicted : float64 arrays of shape (..., K)
        Right answers, true examples and predictions of each class; one matrix alone from three classes on.

    Examples
    --------
    >>> counts = np.array([40.0, 45.0]), np.array([50.0, 50.0]), np.array([45.0, 55.0])
    >>> low, high = majority_limits(MostFrequent(), *counts, Sampling())
    >>> float(low.round(3)), float(high.round(3))
    (0.404, 0.596)
    """
    total = support.sum(axis=-1, keepdims=True)
    several = support.shape[-1] > 2
    if frequent.gain:
        only = right.sum(axis=-1, keepdims=True) - right, support - right

        def limits(level: float) -> tuple[Array, Array]:
            return paired_score(only[1], only[0], total, level)

        seen = _gain_noise(right, support, sampling) if several else 0.0
        low, high = greatest_limits(limits, sampling.level, seen)
        return -high, -low
    counts = predicted if frequent.of == "answers" else support
    low, high = (ends.max(axis=-1) for ends in wilson(counts, total, sampling.level))
    if several:
        low = np.asarray(greatest_share(counts, float(support.sum()), sampling.level))
    return low, high


def greatest_share(counts: Array, total: float, level: float) -> float:
    """Return the lower limit of the greatest of several shares of the same rows.

    It is the least share of which the greatest count may still be seen, one minus the level divided by the
    number of classes that may have it (Bonferroni): as many as have counts not far below it, the moment
    selection of Andrews & Soares (2010, Econometrica 78:119), and no more than there is room for. Held
    against the greatest count, which noise put up there, some of many even classes are left out; so they are
    held against what is left to them beside it: without that three even classes of 200 rows covered 92%.
    And a small count is seen far above its mean more often than a normal, or Wilson's limits, say: those of
    50 even classes of 500 rows covered 84%.

    Parameters
    ----------
    counts : float64 array of shape (K,)
    total : float
    level : float

    Examples
    --------
    >>> round(greatest_share(np.full(20, 10.0), 200.0, 0.95), 3)
    0.018
    """
    count, candidates = min(float(counts.max()), total - 0.5), counts.size
    if count <= 0:  # of answers none of which could be read
        return 0.0
    while True:
        tail = min(1 / candidates, 0.5) * (1 - level)
        low = _least_share(count / total, total, normal_quantile(1 - tail))
        rest, share = total - count, min(low / (1 - low), 1.0)  # each of the others given the greatest
        near = int((counts > rest * share - APART * math.sqrt(rest * share * (1 - share))).sum())
        near = min(near, int(1 / max(low, 1 / counts.size)))  # no more can have so much
        if near >= candidates:
            return low
        candidates = near


def _least_share(seen: float, total: float, reach: float) -> float:
    """The share above which a share seen lies so many standard deviations of a normal, by its mid-P value.

    From the modified root of the likelihood ratio (Barndorff-Nielsen 1986, Biometrika 73:307; Pierce & Peters
    1992, Journal of the Royal Statistical Society B 54:701): it needs no sums over counts.
    """
    low, high = 0.0, seen
    for _ in range(HALVINGS):
        share = (low + high) / 2
        far = seen * math.log(seen / share) + (1 - seen) * math.log((1 - seen) / (1 - share))
        root = math.sqrt(2 * total * max(far, SMALLEST))
        wald = math.log(seen / share * (1 - share) / (1 - seen)) * math.sqrt(total * seen * (1 - seen))
        inside = root + math.log(max(wald, SMALLEST) / root) / root < reach
        low, high = (low, share) if inside else (share, high)
    return low


def _gain_noise(right: Array, support: Array, sampling: Sampling) -> float:
    """The noise of the greatest of the gains of independent rows, of which two have none beyond their own."""
    frequent, total = MostFrequent(gain=True), float(support.sum())
    values = majority_parts(frequent, right, support, support, total)
    errors = majority_errors(frequent, right, support, support, total)
    share = np.stack([right, support - right]) / total
    draws = int(np.clip(CELLS // share.size, *DRAWS))
    normal = sampling.generator(PLACE).standard_normal((draws, *share.shape)) * np.sqrt(share)
    normal -= share * normal.sum(axis=(1, 2), keepdims=True)
    drawn = normal.sum(axis=1) - normal[:, :1].sum(axis=2)
    noise = drawn / (np.sqrt(total) * np.where(errors > 0, errors, 1.0))
    return greatest_noise(-values, noise, errors, sampling.level)


def majority_errors(
    frequent: MostFrequent, right: Array, support: Array, predicted: Array, total: float
) -> Array:
    """Return the standard errors of `majority_parts` over independent rows of one matrix, shape (K,).

    Parameters
    ----------
    right, support, predicted : float64 arrays of shape (K,)

    Examples
    --------
    >>> counts = np.array([4.0, 1.0]), np.array([6.0, 4.0]), np.array([7.0, 3.0])
    >>> majority_errors(MostFrequent(), *counts, total=10.0).round(3)
    array([0.155, 0.155])
    """
    value = majority_parts(frequent, right, support, predicted, total)
    if frequent.gain:
        apart = (right.sum() + support - 2 * right) / total  # rows that are right or of the class, not both
        spread = apart - value**2
    else:
        spread = value * (1 - value)
    errors: Array = np.sqrt(np.maximum(spread, 0.0) / total)
    return errors
