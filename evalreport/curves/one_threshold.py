"""One threshold for all labels of a multilabel problem: exact counts and scores along a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evalreport.curves.series import Numbers, Series, numbers
from evalreport.facts import ScoreTable
from evalreport.facts.classes import RankedScores
from evalreport.facts.counts import Array, Places, reached
from evalreport.facts.sets import ratio

EVEN = 101
"""Thresholds spread evenly over the scores, and as many over the ranks of the scores."""


@dataclass(frozen=True)
class LabelSweep(Series):
    """What one threshold for all labels reaches.

    Parameters
    ----------
    threshold : tuple of float
        Ascending; a label is added when ``score >= threshold``.
    found, added : tuple of float
        Weight of labels added that belong, and of all labels added.
    f1_macro : tuple of float
        Mean over labels of F1, a label that neither occurs nor is added counting 0.
    exact : tuple of float
        Weight of rows of which every label is right.

    Examples
    --------
    >>> sweep = LabelSweep((0.5,), (3.0,), (4.0,), (0.75,), (1.0,))
    >>> sweep.found[0] / sweep.added[0]
    0.75
    """

    threshold: Numbers
    found: Numbers
    added: Numbers
    f1_macro: Numbers
    exact: Numbers


def thresholds(table: ScoreTable, *, unit: bool) -> Array:
    """Return thresholds worth a look: evenly spread, evenly over the ranks, and the best micro F1.

    Parameters
    ----------
    table : ScoreTable
        All decisions together.
    unit : bool
        Whether scores are probabilities, spread over [0, 1].

    Examples
    --------
    >>> table = ScoreTable.of(np.array([0.1, 0.4, 0.8]), np.array([False, True, True]))
    >>> 0.4 in thresholds(table, unit=True)
    True
    """
    if not len(table):
        return np.empty(0)
    ends = (0.0, 1.0) if unit else (float(table.scores[0]), float(table.scores[-1]))

    def passed(place: Places) -> Array:
        flagged: Array = table.tp[place] + table.fp[place]
        return -flagged

    most, least = passed(np.array([0, len(table) - 1]))
    ranks = reached(passed, len(table), np.linspace(most, least, EVEN))
    best = table.scores[[_best(table)]]
    # rounded, so that 0.30000000000000004 of the grid and the score 0.3 are one threshold
    return np.unique(np.concatenate([np.linspace(*ends, EVEN).round(12), table.scores[ranks], best]))


def _best(table: ScoreTable) -> int:
    """The first place of the greatest F1."""
    best, highest = 0, -1.0
    for b in table.blocks():
        half = table.tp[b] / (table.tp[b] + table.fp[b] + table.positives)
        place = int(half.argmax())
        if half[place] > highest:
            best, highest = b.start + place, float(half[place])
    return best


def label_sweep(scores: RankedScores, at: Array) -> LabelSweep:
    """Return counts, macro F1 and rows that are wholly right at each threshold.

    Parameters
    ----------
    scores : RankedScores
        Of a multilabel problem.
    at : float64 array
        Thresholds, ascending.

    Examples
    --------
    >>> from evalreport.facts import ClassScores
    >>> truth = np.array([[True, False], [False, True]])
    >>> scores = ClassScores(np.array([[0.9, 0.2], [0.3, 0.6]]), truth, None)
    >>> sweep = label_sweep(scores, np.array([0.0, 0.5, 1.0]))
    >>> sweep.found, sweep.added, sweep.exact
    ((2.0, 2.0, 0.0), (4.0, 2.0, 0.0), (0.0, 2.0, 0.0))
    """
    each = [_reaching(scores.table(label), at) for label in range(scores.size)]
    tp, added, wanted = (np.stack(part) for part in zip(*each, strict=True))
    f1 = ratio(2 * tp, added + wanted[:, None])
    exact = scores.wholly_right(at)
    return LabelSweep(*map(numbers, (at, tp.sum(axis=0), added.sum(axis=0), f1.mean(axis=0), exact)))


def _reaching(table: ScoreTable, at: Array) -> tuple[Array, Array, float]:
    """Weight of rows to which a label is added rightly, of all to which it is, and of those that carry it."""
    flagged = len(table) - np.searchsorted(table.scores, at)
    tp, fp = (path[flagged] for path in table.path)
    return tp, tp + fp, table.positives
