"""Functions of the counts of each label of a multilabel problem, arrays of shape (..., K)."""

from __future__ import annotations

from typing import Any

import numpy as np

from evalreport.facts import BinaryCounts
from evalreport.metrics.binary_counts import accuracy, no_information_rate
from evalreport.metrics.record import divide


def label_accuracy(c: BinaryCounts) -> Any:
    """Return the mean over labels of the share of right decisions, 1 - Hamming loss, in [0, 1].

    >>> counts = BinaryCounts(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 1.0]))
    >>> float(label_accuracy(counts))
    0.75
    """
    return accuracy(c).mean(axis=-1)


def hamming_loss(c: BinaryCounts) -> Any:
    """Return the mean over labels of the share of wrong decisions, in [0, 1].

    >>> counts = BinaryCounts(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 1.0]))
    >>> float(hamming_loss(counts))
    0.25
    """
    return divide(c.fp + c.fn, c.total).mean(axis=-1)


def shuffled_f1(counts: BinaryCounts, *, macro: bool) -> float:
    """Return the expected F1 of the same answers dealt out to the rows at random.

    Each label keeps how often it is true and how often it is given; what is right by chance is the product of
    both over the number of rows.

    >>> all_right = BinaryCounts(np.array([2.0]), np.array([0.0]), np.array([0.0]), np.array([2.0]))
    >>> shuffled_f1(all_right, macro=False)
    0.5
    """
    true, given = counts.tp + counts.fn, counts.tp + counts.fp
    right = true * given / counts.total
    if macro:
        return float(np.nan_to_num(divide(2 * right, true + given)).mean())
    return float(divide(2 * right.sum(), (true + given).sum()))


def best_constant(c: BinaryCounts) -> Any:
    """Return the label accuracy of giving each label to all rows or to none, whichever is right more often.

    >>> counts = BinaryCounts(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 1.0]))
    >>> float(best_constant(counts))
    0.75
    """
    return no_information_rate(c).mean(axis=-1)


def cell_prevalence(c: BinaryCounts) -> Any:
    """Return the share of (row, label) cells that are positive: the micro precision of random labels.

    >>> counts = BinaryCounts(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 1.0]))
    >>> float(cell_prevalence(counts))
    0.25
    """
    return divide(c.positives.sum(axis=-1), c.total.sum(axis=-1))
