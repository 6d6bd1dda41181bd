"""Derivatives of functions of the score table with respect to the weight of a row.

The influence of a row is n times the derivative of the function with respect to the row's weight. It has
mean 0 over the rows, and the mean of its square over n is the variance of the function: the
infinitesimal jackknife (Jaeckel 1972; Efron 1982), DeLong's variance for the AUC, the sandwich for the
recalibration. If influences are first summed over the rows of each group, it is the variance under sampling
of groups.
"""

from __future__ import annotations

import numpy as np

from evalreport.metrics import probability_functions as prob
from evalreport.metrics.record import Influence
from evalreport.statistics.calibration_fits import CLIP
from evalreport.statistics.confusion import Array, inner
from evalreport.statistics.score_table import ScoreTable


def placements(table: ScoreTable) -> tuple[Array, Array]:
    """Return the DeLong placements of positives and negatives at each distinct score.

    Returns
    -------
    of_positives, of_negatives : float64 arrays of shape (distinct scores,), in [0, 1]
        Fraction of negatives below a positive with this score, and fraction of positives above a negative
        with this score; ties count half. The means over positives and over negatives both equal the AUC.

    Examples
    --------
    >>> placements(ScoreTable.from_scores(np.array([0.1, 0.5, 0.5]), np.array([False, True, False])))[0]
    array([0.25, 0.75])
    """
    below = np.cumsum(table.neg) - table.neg / 2
    above = table.tp - table.pos / 2
    return below / table.negatives, above / table.positives


def roc_auc(t: ScoreTable) -> Influence:
    """Return the influence of rows on ROC AUC, whose variance is DeLong's.

    Examples
    --------
    >>> roc_auc(ScoreTable.from_scores(np.array([0.2, 0.4, 0.3]), np.array([0, 1, 1], dtype=bool)))[0][1:]
    array([0., 0.])
    """
    ten, one = placements(t)
    n, auc = t.positives + t.negatives, inner(t.pos, ten) / t.positives
    return n / t.positives * (ten - auc), n / t.negatives * (one - auc)


def gini(t: ScoreTable) -> Influence:
    """Return twice the influence of rows on ROC AUC."""
    up, down = roc_auc(t)
    return 2 * up, 2 * down


def average_precision(t: ScoreTable) -> Influence:
    """Return the influence on average precision.

    A row adds its own precision, and moves the precision of every positive at or below its score.
    """
    n, flagged = t.positives + t.negatives, t.tp + t.fp
    flagged = np.where(flagged > 0, flagged, 1.0)
    precision = t.tp / flagged
    value = inner(t.pos, precision) / t.positives
    more = np.cumsum(t.pos * t.fp / flagged**2)
    less = np.cumsum(t.pos * t.tp / flagged**2)
    return n / t.positives * (precision + more - value), -n / t.positives * less


def partial_auc(t: ScoreTable, limit: float) -> Influence:
    """Return the influence on `partial_auc` on McClish's scale.

    A positive adds the range of FPR between it and the limit; a negative moves the rest of the curve past the
    limit. Over tied scores the curve is a line, which the limit may cut.
    """
    n, share = t.positives + t.negatives, t.neg / t.negatives
    tpr, fpr = t.tp / t.positives, t.fp / t.negatives
    rise, start = t.pos / t.positives, fpr - share
    inside = np.clip(np.divide(limit - start, share, out=(start < limit) * 1.0, where=share > 0), 0, 1)
    held = np.maximum(limit - fpr, 0.0) + share * inside**2 / 2
    edge = float(np.interp(limit, np.append(fpr, 0)[::-1], np.append(tpr, 0)[::-1]))
    gain = np.where(fpr <= limit, tpr - rise / 2 - edge, -rise * inside**2 / 2)
    scale = 2 * (limit - limit * limit / 2)
    up = n / t.positives * (held - inner(t.pos, held) / t.positives)
    down = n / t.negatives * (gain - inner(t.neg, gain) / t.negatives)
    return up / scale, down / scale


def log_loss(t: ScoreTable) -> Influence:
    """Return the negative log-likelihood of each row minus its mean."""
    eps = np.finfo(np.float64).eps
    p = np.clip(t.scores, eps, 1 - eps)
    value = prob.log_loss(t)
    return -np.log(p) - value, -np.log1p(-p) - value


def brier(t: ScoreTable) -> Influence:
    """Return the squared error of each row minus its mean."""
    value = prob.brier(t)
    return (1 - t.scores) ** 2 - value, t.scores**2 - value


def brier_uncertainty(t: ScoreTable) -> Influence:
    """Return the influence of rows on the prevalence times its complement."""
    share, ones = t.positives / (t.positives + t.negatives), np.ones(len(t))
    return (1 - 2 * share) * (1 - share) * ones, -(1 - 2 * share) * share * ones


def brier_skill(t: ScoreTable) -> Influence:
    """Return the influence of rows on the Brier skill score, through both Brier scores."""
    value, base = prob.brier(t), prob.brier_uncertainty(t)
    (up, down), (base_up, base_down) = brier(t), brier_uncertainty(t)
    return (value * base_up / base - up) / base, (value * base_down / base - down) / base


def brier_reliability(t: ScoreTable) -> Influence:
    """Return the influence of rows on the reliability: their own term and the change of their score's gap."""
    rate = t.pos / (t.pos + t.neg)
    gap, value = rate - t.scores, prob.brier_reliability(t)
    return gap**2 - value + 2 * gap * (1 - rate), gap**2 - value - 2 * gap * rate


def brier_resolution(t: ScoreTable) -> Influence:
    """Return the influence of rows on the resolution: their own term and the change of their score's rate."""
    rate, value = t.pos / (t.pos + t.neg), prob.brier_resolution(t)
    gap = rate - t.positives / (t.positives + t.negatives)
    return gap**2 - value + 2 * gap * (1 - rate), gap**2 - value - 2 * gap * rate


def recalibration(t: ScoreTable, which: int) -> Influence:
    """Return the sandwich of the logistic fit (0: intercept, 1: slope): inverse curvature times score."""
    intercept, slope = t.recalibration
    p = np.clip(t.scores, CLIP, 1 - CLIP)
    design = np.stack([np.ones(len(t)), np.log(p) - np.log1p(-p)])
    mean = 1 / (1 + np.exp(-(intercept + slope * design[1])))
    weight = (t.pos + t.neg) * mean * (1 - mean)
    curvature = np.einsum("in,jn->ij", design * weight, design) / (t.positives + t.negatives)
    pull = np.einsum("i,in->n", np.linalg.inv(curvature)[which], design)
    return pull * (1 - mean), -pull * mean


def calibration_in_the_large(t: ScoreTable) -> Influence:
    """Return the influence of a row's residual on the intercept at slope 1."""
    p = np.clip(t.scores, CLIP, 1 - CLIP)
    mean = 1 / (1 + (1 - p) / p * np.exp(-prob.calibration_in_the_large(t)))
    curvature = inner(t.pos + t.neg, mean * (1 - mean)) / (t.positives + t.negatives)
    return (1 - mean) / curvature, -mean / curvature


def observed_expected_ratio(t: ScoreTable) -> Influence:
    """Return the influence of rows on the positives divided by the sum of the probabilities."""
    expected, value = inner(t.pos + t.neg, t.scores) / t.total, prob.observed_expected_ratio(t)
    return (1 - value * t.scores) / expected, -value * t.scores / expected
