"""What chance alone would do, and what of each label is known by counting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.evaluation.model import Evaluation
from evalreport.facts.counts import sums
from evalreport.labels import Label

SURE = 4.0
"""Standard errors beyond which a difference of counts is claimed: one false alarm in 16,000 tries."""
LUCK = 0.01
"""Probability below which "it was luck" is ruled out."""


@dataclass(frozen=True)
class Margin:
    """How often a label is true, predicted, both, and true of an answer that could not be read."""

    label: Label
    support: float
    predicted: float
    right: float
    unread: float = 0.0

    @property
    def excess(self) -> float:
        """Predictions beyond the examples."""
        return self.predicted - self.support

    @property
    def discordant(self) -> float:
        """Examples and predictions that do not agree: the variance of `excess` when nothing is favoured
        (Stuart 1955, Maxwell 1970)."""
        return self.predicted + self.support - 2 * self.right


def margins(ev: Evaluation) -> tuple[Margin, ...]:
    """Return the counts of each label, in order; none without decisions.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> margins(evaluate_predictions(predictions(Binary("no", "yes"), ["no", "yes"], ["no", "no"])))[0]
    Margin(label='no', support=1.0, predicted=2.0, right=1.0, unread=0.0)
    """
    if ev.confusion is None:
        return tuple(Margin(c.label, c.support, c.predicted, c.right) for c in ev.classes)
    counts, known = ev.confusion, ev.confusion.marginals
    lost = counts.columns == counts.size
    unread = sums(counts.rows[lost], counts.weight[lost], counts.size)
    columns = (known.support, known.predicted, known.tp, unread)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(Margin(label, *row) for label, row in zip(ev.space.shown, rows, strict=True))


def informative(ev: Evaluation) -> float:
    """Return how many independent rows stand behind one unit of weight.

    Rows of one group may all be the same row again, so that only groups are sure to be independent; uneven
    weights leave fewer effective rows (Kish 1965).
    """
    known: float = ev.rows if ev.clusters is None else min(ev.rows, ev.clusters)
    if ev.weighted and ev.clusters is None:
        known = ev.facts.get("effective_n", known)
    return known / ev.weight if ev.weight else 0.0


def deviation(ev: Evaluation, excess: float, variance: float) -> float:
    """Return a difference of weighted counts in standard errors; 0 where nothing varies."""
    return excess * math.sqrt(informative(ev) / variance) if variance > 0 else 0.0


def poisson_tail(k: int, mean: float) -> float:
    """Return the probability of k or more events where `mean` are expected.

    Examples
    --------
    >>> round(poisson_tail(1, 0.01), 4), poisson_tail(0, 3.0)
    (0.01, 1.0)
    """
    terms = (
        math.exp(-mean + i * math.log(mean) - math.lgamma(i + 1)) if mean else float(i == 0) for i in range(k)
    )
    return max(0.0, 1.0 - math.fsum(terms))


def chi_square_deviate(statistic: float, df: int) -> float:
    """Return the standard normal deviate of a chi-square statistic (Wilson & Hilferty 1931).

    Examples
    --------
    >>> round(chi_square_deviate(18.307, 10), 2)
    1.65
    """
    spread = 2 / (9 * df)
    return float((np.cbrt(statistic / df) - (1 - spread)) / math.sqrt(spread))


def association(ev: Evaluation) -> float:
    """Return right answers beyond those of shuffled answers, in standard errors.

    Shuffling keeps how often each label is true and how often it is predicted; the variance is that of a
    permutation statistic (Hoeffding 1951). The labels of a multilabel problem are shuffled apart.
    """
    known = margins(ev)
    together = [[margin] for margin in known] if ev.confusion is None else [known]
    shuffled = [_shuffled(ev.weight, group) for group in together]
    right = sum(margin.right for margin in known)
    return deviation(ev, right - sum(due for due, _ in shuffled), sum(variance for _, variance in shuffled))


def right_by_chance(ev: Evaluation) -> float:
    """Return how many answers of a single-label problem would be right if they were shuffled."""
    return _shuffled(ev.weight, margins(ev))[0]


def _shuffled(n: float, known: Sequence[Margin]) -> tuple[float, float]:
    """Right answers that are due to shuffled answers, and their variance."""
    truth = np.array([margin.support for margin in known])
    answers = np.array([margin.predicted for margin in known])
    both = truth * answers
    due = float(both.sum() / n)
    return due, due - float((both * (truth + answers)).sum() / n**2) + due**2 / n
