"""Functions of probabilities: how far they are from what happens.

Each takes a `ScoreTable` of probabilities against a binary truth and returns a float, NaN where it is
undefined. A score that carries no weight changes nothing.
"""

from __future__ import annotations

import numpy as np

from evalreport.facts import ScoreTable
from evalreport.facts.classes import BINS, bin_of
from evalreport.facts.counts import Array, sums
from evalreport.metrics.record import divide


def log_loss(t: ScoreTable) -> float:
    """Return the mean negative log-likelihood in nats, probabilities clipped to [eps, 1 - eps].

    >>> round(log_loss(ScoreTable.of(np.array([0.5, 0.5]), np.array([True, False]))), 12)
    0.69314718056
    """
    eps = np.finfo(np.float64).eps
    p = np.clip(t.scores, eps, 1 - eps)
    return float(divide(-(t.pos @ np.log(p) + t.neg @ np.log(1 - p)), t.total))


def brier(t: ScoreTable) -> float:
    """Return the mean squared error of P(positive), in [0, 1].

    >>> brier(ScoreTable.of(np.array([0.5, 0.5]), np.array([True, False])))
    0.25
    """
    return float(divide(t.pos @ (1 - t.scores) ** 2 + t.neg @ t.scores**2, t.total))


def brier_skill(t: ScoreTable) -> float:
    """Return 1 - Brier / Brier of always answering the prevalence; at most 1, negative when worse.

    >>> brier_skill(ScoreTable.of(np.array([0.5, 0.5]), np.array([True, False])))
    0.0
    """
    return float(1 - divide(brier(t), brier_uncertainty(t)))


def brier_reliability(t: ScoreTable) -> float:
    """Return Murphy's (1973) reliability over distinct scores: mean squared gap of score and outcome rate.

    >>> brier_reliability(ScoreTable.of(np.array([0.5, 0.5]), np.array([True, False])))
    0.0
    """
    weight = t.pos + t.neg
    gap = _share(weight * t.scores - t.pos, weight)
    return float(divide(weight @ gap**2, weight.sum()))


def brier_resolution(t: ScoreTable) -> float:
    """Return Murphy's resolution: variance of the outcome rate over distinct scores.

    >>> brier_resolution(ScoreTable.of(np.array([0.2, 0.8]), np.array([False, True])))
    0.25
    """
    weight = t.pos + t.neg
    rate = _share(t.pos, weight)
    return float(divide(weight @ (rate - divide(t.positives, weight.sum())) ** 2, weight.sum()))


def brier_uncertainty(t: ScoreTable) -> float:
    """Return Murphy's uncertainty: prevalence times its complement, in [0, 0.25].

    >>> brier_uncertainty(ScoreTable.of(np.array([0.2, 0.8]), np.array([False, True])))
    0.25
    """
    return float(divide(t.positives * t.negatives, t.total**2))


def equal_width(t: ScoreTable, bins: int = BINS) -> tuple[Array, Array, Array]:
    """Return weight, summed probability and positives per equal-width bin, right-closed, the first with 0.

    >>> table = ScoreTable.of(np.array([0.0, 0.7]), np.array([False, True]))
    >>> [part.tolist() for part in equal_width(table, 2)]
    [[1.0, 1.0], [0.0, 0.7], [0.0, 1.0]]
    """
    return _binned(t, bin_of(t.scores, bins), bins)


def equal_mass(t: ScoreTable, bins: int = BINS) -> tuple[Array, Array, Array]:
    """Return weight, summed probability and positives per bin of about equal weight.

    A score belongs to the bin in which the middle of its weight falls, so ties are never divided; heavy
    ties leave bins empty.

    >>> table = ScoreTable.of(np.array([0.6, 0.7]), np.array([False, True]))
    >>> [part.tolist() for part in equal_mass(table, 2)]
    [[1.0, 1.0], [0.6, 0.7], [0.0, 1.0]]
    """
    weight = t.pos + t.neg
    middle = np.cumsum(weight) - weight / 2
    place = np.floor(bins * divide(middle, weight.sum()) + 1e-9).astype(np.int64)
    return _binned(t, np.minimum(place, bins - 1), bins)


def calibration_gap(binned: tuple[Array, Array, Array]) -> float:
    """Return the mean gap between probability and outcome over bins, by weight: what every ECE is.

    >>> calibration_gap((np.ones(2), np.array([0.5, 0.75]), np.array([0.0, 1.0])))
    0.375
    """
    weight, probability, positives = binned
    return float(divide(np.abs(probability - positives).sum(), weight.sum()))


def ece(t: ScoreTable) -> float:
    """Return the expected calibration error over 15 equal-width bins, in [0, 1].

    >>> ece(ScoreTable.of(np.array([0.5, 0.5]), np.array([True, False])))
    0.0
    """
    return calibration_gap(equal_width(t))


def ece_equal_mass(t: ScoreTable) -> float:
    """Return the expected calibration error over 15 bins of about equal weight, in [0, 1].

    >>> ece_equal_mass(ScoreTable.of(np.array([0.5, 0.5]), np.array([True, False])))
    0.0
    """
    return calibration_gap(equal_mass(t))


def mce(t: ScoreTable) -> float:
    """Return the greatest gap of any of the 15 equal-width bins, in [0, 1].

    >>> mce(ScoreTable.of(np.array([0.25, 0.75]), np.array([False, False])))
    0.75
    """
    weight, probability, positives = equal_width(t)
    return float(_share(np.abs(probability - positives), weight).max()) if weight.any() else float("nan")


def calibration_intercept(t: ScoreTable) -> float:
    """Return the intercept of the joint logistic recalibration; 0 is perfect.

    >>> counts = (np.array([0.2, 0.8]), np.array([1.0, 4.0]), np.array([4.0, 1.0]))
    >>> round(abs(calibration_intercept(ScoreTable(*counts))), 12)
    0.0
    """
    return t.recalibration[0]


def calibration_slope(t: ScoreTable) -> float:
    """Return the slope of the joint logistic recalibration; 1 is perfect, below 1 too extreme.

    >>> counts = (np.array([0.2, 0.8]), np.array([1.0, 4.0]), np.array([4.0, 1.0]))
    >>> round(calibration_slope(ScoreTable(*counts)), 12)
    1.0
    """
    return t.recalibration[1]


def _share(part: Array, weight: Array) -> Array:
    """Elementwise part / weight, 0 where there is no weight."""
    return np.divide(part, weight, out=np.zeros(len(weight)), where=weight > 0)


def _binned(t: ScoreTable, place: np.ndarray, bins: int) -> tuple[Array, Array, Array]:
    weight = t.pos + t.neg
    return sums(place, weight, bins), sums(place, weight * t.scores, bins), sums(place, t.pos, bins)
