"""Functions of probabilities: calibration and proper scoring rules.

Each takes a `ScoreTable` of probabilities and binary labels and returns a float, NaN if undefined. Scores
with weight 0 have no effect.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalreport.metrics.record import divide
from evalreport.statistics.class_scores import BINS
from evalreport.statistics.confusion import Array, Places, search_lazily
from evalreport.statistics.score_table import ScoreTable


def log_loss(t: ScoreTable) -> float:
    """Return the mean negative log-likelihood in nats, probabilities clipped to [eps, 1 - eps].

    >>> round(log_loss(ScoreTable.from_scores(np.array([0.5, 0.5]), np.array([True, False]))), 12)
    0.69314718056
    """
    return float(divide(t.probability.surprise, t.total))


def brier(t: ScoreTable) -> float:
    """Return the mean squared error of P(positive), in [0, 1].

    >>> brier(ScoreTable.from_scores(np.array([0.5, 0.5]), np.array([True, False])))
    0.25
    """
    sums = t.probability
    return float(divide(t.positives - 2 * sums.hits + sums.squares, t.total))


def brier_skill(t: ScoreTable) -> float:
    """Return 1 - Brier / Brier of always predicting the prevalence; at most 1, negative if worse.

    >>> brier_skill(ScoreTable.from_scores(np.array([0.5, 0.5]), np.array([True, False])))
    0.0
    """
    return float(1 - divide(brier(t), brier_uncertainty(t)))


def brier_reliability(t: ScoreTable) -> float:
    """Return Murphy's (1973) reliability over distinct scores: mean squared gap of score and outcome rate.

    >>> brier_reliability(ScoreTable.from_scores(np.array([0.5, 0.5]), np.array([True, False])))
    0.0
    """
    sums = t.probability
    return float(divide(sums.squares - 2 * sums.hits + sums.purity, t.total))


def brier_resolution(t: ScoreTable) -> float:
    """Return Murphy's resolution: variance of the outcome rate over distinct scores.

    >>> brier_resolution(ScoreTable.from_scores(np.array([0.2, 0.8]), np.array([False, True])))
    0.25
    """
    return float(divide(t.probability.purity, t.total) - divide(t.positives, t.total) ** 2)


def brier_uncertainty(t: ScoreTable) -> float:
    """Return Murphy's uncertainty: prevalence times its complement, in [0, 0.25].

    >>> brier_uncertainty(ScoreTable.from_scores(np.array([0.2, 0.8]), np.array([False, True])))
    0.25
    """
    return float(divide(t.positives * t.negatives, t.total**2))


def equal_width(t: ScoreTable, bins: int = BINS) -> tuple[Array, Array, Array]:
    """Return weight, summed probability and positives per equal-width bin, right-closed, the first with 0.

    >>> table = ScoreTable.from_scores(np.array([0.0, 0.7]), np.array([False, True]))
    >>> [part.tolist() for part in equal_width(table, 2)]
    [[1.0, 1.0], [0.0, 0.7], [0.0, 1.0]]
    """
    inner = np.linspace(0, 1, bins + 1)[1:-1]
    return _sum_bins(t, np.searchsorted(t.scores, inner, side="right").tolist())


def equal_mass(t: ScoreTable, bins: int = BINS) -> tuple[Array, Array, Array]:
    """Return weight, summed probability and positives per bin of about equal weight.

    A score belongs to the bin in which the middle of its weight falls, so ties are never divided; heavy
    ties leave bins empty.

    >>> table = ScoreTable.from_scores(np.array([0.5, 0.75]), np.array([False, True]))
    >>> [part.tolist() for part in equal_mass(table, 2)]
    [[1.0, 1.0], [0.5, 0.75], [0.0, 1.0]]
    """
    return _sum_bins(t, mass_cuts(t, bins))


def mass_cuts(t: ScoreTable, bins: int = BINS) -> list[int]:
    """Return the start index, among the distinct scores, of each bin of `equal_mass` except the first.

    >>> mass_cuts(ScoreTable.from_scores(np.array([0.5, 0.75]), np.array([False, True])), 2)
    [1]
    """

    def middle(place: Places) -> Array:
        found: Array = t.total - t.tp[place] - t.fp[place] + (t.pos[place] + t.neg[place]) / 2
        return found

    # slightly below each cut: a score that equals the cut up to rounding begins the bin
    wanted = t.total * (np.arange(1, bins) - 1e-9) / bins
    found: list[int] = search_lazily(middle, len(t), wanted).tolist()
    return found


def calibration_gap(binned: tuple[Array, Array, Array]) -> float:
    """Return the weighted mean gap between probability and observed rate over bins: the ECE.

    >>> calibration_gap((np.ones(2), np.array([0.5, 0.75]), np.array([0.0, 1.0])))
    0.375
    """
    weight, probability, positives = binned
    return float(divide(np.abs(probability - positives).sum(), weight.sum()))


def ece(t: ScoreTable) -> float:
    """Return the expected calibration error over 15 equal-width bins, in [0, 1].

    >>> ece(ScoreTable.from_scores(np.array([0.5, 0.5]), np.array([True, False])))
    0.0
    """
    return calibration_gap(equal_width(t))


def ece_equal_mass(t: ScoreTable) -> float:
    """Return the expected calibration error over 15 bins of about equal weight, in [0, 1].

    >>> ece_equal_mass(ScoreTable.from_scores(np.array([0.5, 0.5]), np.array([True, False])))
    0.0
    """
    return calibration_gap(equal_mass(t))


def smooth_gap(t: ScoreTable) -> float:
    """Return the mean gap of probability and smooth calibration curve over rows.

    >>> counts = (np.array([0.2, 0.8]), np.array([1.0, 4.0]), np.array([4.0, 1.0]))
    >>> round(smooth_gap(ScoreTable(*counts)), 12)
    0.0
    """
    return float("nan") if t.smooth is None else t.smooth.gap


def corp_miscalibration(t: ScoreTable) -> float:
    """Return the reduction of the Brier score by isotonic recalibration, at least 0.

    >>> corp_miscalibration(ScoreTable.from_scores(np.array([0.5, 0.5]), np.array([True, True])))
    0.25
    """
    return float(brier(t) - t.isotonic.brier) if t.total else float("nan")


def corp_discrimination(t: ScoreTable) -> float:
    """Return the Brier score of the prevalence minus that of the isotonically recalibrated scores.

    >>> corp_discrimination(ScoreTable.from_scores(np.array([0.2, 0.8]), np.array([False, True])))
    0.25
    """
    return float(brier_uncertainty(t) - t.isotonic.brier) if t.total else float("nan")


def calibration_intercept(t: ScoreTable) -> float:
    """Return the intercept of the joint logistic recalibration; 0 is perfect.

    >>> counts = (np.array([0.2, 0.8]), np.array([1.0, 4.0]), np.array([4.0, 1.0]))
    >>> round(abs(calibration_intercept(ScoreTable(*counts))), 12)
    0.0
    """
    return t.recalibration[0]


def calibration_slope(t: ScoreTable) -> float:
    """Return the slope of the joint logistic recalibration; 1 is perfect, below 1 overconfident.

    >>> counts = (np.array([0.2, 0.8]), np.array([1.0, 4.0]), np.array([4.0, 1.0]))
    >>> round(calibration_slope(ScoreTable(*counts)), 12)
    1.0
    """
    return t.recalibration[1]


def calibration_in_the_large(t: ScoreTable) -> float:
    """Return the intercept of the logistic recalibration with the slope fixed at 1; 0 is perfect.

    >>> round(calibration_in_the_large(ScoreTable(np.array([0.5]), np.array([3.0]), np.array([1.0]))), 6)
    1.098612
    """
    return t.in_the_large


def observed_expected_ratio(t: ScoreTable) -> float:
    """Return the positives over the sum of the probabilities; 1 is perfect.

    >>> observed_expected_ratio(ScoreTable.from_scores(np.array([0.25, 0.25]), np.array([True, False])))
    2.0
    """
    return float(divide(t.positives, t.probability.mass[-1]))


def _sum_bins(t: ScoreTable, cuts: Sequence[int]) -> tuple[Array, Array, Array]:
    """Return sums over the runs of scores between cuts; scores ascend, so a bin is a run."""
    places = [0, *cuts, len(t)]
    pos, neg = (np.array([found[i] if i < len(t) else 0.0 for i in places]) for found in (t.tp, t.fp))
    mass = np.array([t.mass_below(place) for place in places])
    return (pos + neg)[:-1] - (pos + neg)[1:], np.diff(mass), pos[:-1] - pos[1:]
