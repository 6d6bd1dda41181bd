"""Functions of the four counts at an operating point.

Each takes `BinaryCounts` whose fields are numbers or float64 arrays of one shape and returns that shape:
a single operating point, every threshold of a sweep, one-vs-rest labels and bootstrap replicates alike.
NaN stands where a quantity is 0/0, infinity where only its denominator is 0. An answer that could not be
parsed is wrong: it counts in the total, among the positives or negatives it belongs to, and nowhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evalreport.facts import BinaryCounts, ScoreTable
from evalreport.metrics.record import divide


def reweighted(c: BinaryCounts, share: float) -> BinaryCounts:
    """Return the counts of a population in which a share is positive, with this recall and this FPR.

    Their total is 1; NaN or infinite where one class has no example.

    >>> there = reweighted(BinaryCounts(tp=3, fp=1, fn=1, tn=4), 0.1)
    >>> [round(float(part), 3) for part in (there.tp, there.fp, there.fn, there.tn)]
    [0.075, 0.18, 0.025, 0.72]
    """
    up, down = divide(share, c.positives), divide(1 - share, c.negatives)
    with np.errstate(invalid="ignore"):
        read = (c.tp * up, c.fp * down, c.fn * up, c.tn * down)
        return BinaryCounts(*read, c.unread * down, c.threshold, c.unread_positive * up)


def prevalence(c: BinaryCounts | ScoreTable) -> Any:
    """Return the share of all rows that are positive, P / n, in [0, 1].

    >>> float(prevalence(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.4
    """
    return divide(c.positives, c.total)


def predicted_positive_rate(c: BinaryCounts) -> Any:
    """Return the share of all rows that are predicted positive, (TP + FP) / n, in [0, 1].

    >>> float(predicted_positive_rate(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.4
    """
    return divide(c.flagged, c.total)


def accuracy(c: BinaryCounts) -> Any:
    """Return the share of right answers, (TP + TN) / n, in [0, 1].

    >>> float(accuracy(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.8
    """
    return divide(c.tp + c.tn, c.total)


def no_information_rate(c: BinaryCounts | ScoreTable) -> Any:
    """Return the accuracy of always answering the more frequent class, max(P, N) / n, in [0.5, 1].

    >>> float(no_information_rate(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.6
    """
    return divide(np.maximum(c.positives, c.negatives), c.total)


def accuracy_gain(c: BinaryCounts) -> Any:
    """Return accuracy minus the no-information rate, in [-1, 0.5].

    >>> round(float(accuracy_gain(BinaryCounts(tp=3, fp=1, fn=1, tn=5))), 12)
    0.2
    """
    return accuracy(c) - no_information_rate(c)


def precision(c: BinaryCounts) -> Any:
    """Return the share of positive predictions that are right, TP / (TP + FP), in [0, 1].

    >>> float(precision(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.75
    """
    return divide(c.tp, c.flagged)


def recall(c: BinaryCounts) -> Any:
    """Return the share of positives that are found, TP / P, in [0, 1].

    >>> float(recall(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.75
    """
    return divide(c.tp, c.positives)


def specificity(c: BinaryCounts) -> Any:
    """Return the share of negatives that are called negative, TN / N, in [0, 1].

    >>> float(specificity(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.8
    """
    return divide(c.tn, c.negatives)


def npv(c: BinaryCounts) -> Any:
    """Return the share of negative predictions that are right, TN / (TN + FN), in [0, 1].

    >>> float(npv(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.8
    """
    return divide(c.tn, c.cleared)


def fpr(c: BinaryCounts) -> Any:
    """Return the share of negatives that are called positive, FP / N, in [0, 1].

    >>> float(fpr(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.2
    """
    return divide(c.fp, c.negatives)


def fnr(c: BinaryCounts) -> Any:
    """Return the share of positives that are missed, FN / P, in [0, 1].

    >>> float(fnr(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.25
    """
    return divide(c.fn, c.positives)


def balanced_accuracy(c: BinaryCounts) -> Any:
    """Return the mean of recall and specificity, in [0, 1]; NaN when one class has no example.

    >>> float(balanced_accuracy(BinaryCounts(tp=3, fp=1, fn=1, tn=1)))
    0.625
    """
    return (recall(c) + specificity(c)) / 2


def f_beta(c: BinaryCounts, beta: float) -> Any:
    """Return the weighted harmonic mean of precision and recall, in [0, 1]; recall weighs beta² as much.

    >>> float(f_beta(BinaryCounts(tp=3, fp=1, fn=1, tn=5), 2))
    0.75
    """
    square = beta * beta
    return divide((1 + square) * c.tp, (1 + square) * c.tp + square * c.fn + c.fp)


def f1(c: BinaryCounts) -> Any:
    """Return 2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall, in [0, 1].

    >>> float(f1(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.75
    """
    return f_beta(c, 1)


def f05(c: BinaryCounts) -> Any:
    """Return F with beta = 0.5 (precision weighs more), in [0, 1].

    >>> float(f05(BinaryCounts(tp=1, fp=0, fn=1, tn=5)))
    0.8333333333333334
    """
    return f_beta(c, 0.5)


def f2(c: BinaryCounts) -> Any:
    """Return F with beta = 2 (recall weighs more), in [0, 1].

    >>> float(f2(BinaryCounts(tp=1, fp=0, fn=1, tn=5)))
    0.5555555555555556
    """
    return f_beta(c, 2)


def jaccard(c: BinaryCounts) -> Any:
    """Return TP / (TP + FP + FN), the overlap of true and predicted positives, in [0, 1].

    >>> float(jaccard(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.6
    """
    return divide(c.tp, c.tp + c.fp + c.fn)


def _agreement(c: BinaryCounts) -> Any:
    """Right answers beyond what the marginals alone would give, times n: the numerator of MCC and kappa.

    Written without the squares of n of the textbook form, which lose the digits of rare classes.
    """
    missed = c.fn - c.unread_positive
    return c.negatives * (c.tp - missed) + c.positives * (c.tn - c.fp)


def mcc(c: BinaryCounts) -> Any:
    """Return Matthews' correlation of truth and prediction, in [-1, 1]; NaN when either is constant.

    With unparsed answers: Gorodkin's (2004) form, where they are a predicted category of their own.

    >>> float(mcc(BinaryCounts(tp=4, fp=1, fn=1, tn=4)))
    0.6
    """
    unread = c.unread + c.unread_positive
    predicted = c.flagged * c.cleared + unread * (c.flagged + c.cleared)
    return divide(_agreement(c), 2 * np.sqrt(predicted * (c.positives * c.negatives)))


def cohen_kappa(c: BinaryCounts) -> Any:
    """Return Cohen's kappa, (observed - expected) / (1 - expected) agreement, in [-1, 1].

    >>> float(cohen_kappa(BinaryCounts(tp=4, fp=1, fn=1, tn=4)))
    0.6
    """
    unread = c.unread + c.unread_positive
    disagreement = c.flagged * c.negatives + c.cleared * c.positives + unread * c.total
    return divide(_agreement(c), disagreement)


def youden_j(c: BinaryCounts) -> Any:
    """Return recall + specificity - 1 (informedness), in [-1, 1].

    >>> round(float(youden_j(BinaryCounts(tp=3, fp=1, fn=1, tn=4))), 12)
    0.55
    """
    return recall(c) + specificity(c) - 1


def markedness(c: BinaryCounts) -> Any:
    """Return precision + npv - 1, in [-1, 1].

    >>> round(float(markedness(BinaryCounts(tp=3, fp=1, fn=1, tn=4))), 12)
    0.55
    """
    return precision(c) + npv(c) - 1


def g_mean(c: BinaryCounts) -> Any:
    """Return the geometric mean of recall and specificity, in [0, 1].

    >>> float(g_mean(BinaryCounts(tp=1, fp=0, fn=3, tn=4)))
    0.5
    """
    return np.sqrt(recall(c) * specificity(c))


def fowlkes_mallows(c: BinaryCounts) -> Any:
    """Return the geometric mean of precision and recall, in [0, 1].

    >>> float(fowlkes_mallows(BinaryCounts(tp=1, fp=0, fn=3, tn=4)))
    0.5
    """
    return np.sqrt(precision(c) * recall(c))


def lr_positive(c: BinaryCounts) -> Any:
    """Return recall / FPR, in [0, inf]: how much a positive prediction multiplies the odds.

    >>> float(lr_positive(BinaryCounts(tp=3, fp=1, fn=1, tn=3)))
    3.0
    """
    return divide(c.tp * c.negatives, c.fp * c.positives)


def lr_negative(c: BinaryCounts) -> Any:
    """Return FNR / specificity, in [0, inf]: how much a negative prediction multiplies the odds.

    >>> float(lr_negative(BinaryCounts(tp=3, fp=2, fn=1, tn=2)))
    0.5
    """
    return divide(c.fn * c.negatives, c.tn * c.positives)


def diagnostic_odds_ratio(c: BinaryCounts) -> Any:
    """Return (TP TN) / (FP FN), in [0, inf].

    >>> float(diagnostic_odds_ratio(BinaryCounts(tp=3, fp=1, fn=1, tn=3)))
    9.0
    """
    return divide(c.tp * c.tn, c.fp * c.fn)


def net_benefit(c: BinaryCounts) -> Any:
    """Return (TP - FP t / (1 - t)) / n at the probability threshold t, at most the prevalence.

    NaN where the threshold is not known or is not a probability below 1.

    >>> float(net_benefit(BinaryCounts(tp=3, fp=1, fn=1, tn=5, threshold=0.5)))
    0.2
    """
    t = np.asarray(c.threshold, dtype=np.float64)
    odds = divide(t, np.where((t >= 0) & (t < 1), 1 - t, np.nan))
    return divide(c.tp - c.fp * odds, c.total)
