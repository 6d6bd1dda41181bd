"""One threshold for all labels of a multilabel problem: exact counts and scores along a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.curves.series import Numbers, Series, numbers
from evalreport.facts import ClassScores, ScoreTable
from evalreport.facts.counts import Array, Places, reached, sums
from evalreport.facts.sets import ratio

EVEN = 101
"""Thresholds spread evenly over the scores, and as many over the ranks of the scores."""
CELLS = 1 << 22
"""(row, label) cells that are counted at a time."""


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
    >>> LabelSweep.from_dict(sweep.as_dict()) == sweep
    True
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


def label_sweep(scores: ClassScores, at: Array) -> LabelSweep:
    """Return counts, macro F1 and rows that are wholly right at each threshold.

    Parameters
    ----------
    scores : ClassScores
        Of a multilabel problem.
    at : float64 array
        Thresholds, ascending.

    Examples
    --------
    >>> truth = np.array([[True, False], [False, True]])
    >>> scores = ClassScores(np.array([[0.9, 0.2], [0.3, 0.6]]), truth, None)
    >>> sweep = label_sweep(scores, np.array([0.0, 0.5, 1.0]))
    >>> sweep.found, sweep.added, sweep.exact
    ((2.0, 2.0, 0.0), (4.0, 2.0, 0.0), (0.0, 2.0, 0.0))
    """
    tp, added, exact = _counted(scores, at)
    wanted = scores.row_weights @ scores.truth
    f1 = ratio(2 * tp, added + wanted[:, None])
    return LabelSweep(*map(numbers, (at, tp.sum(axis=0), added.sum(axis=0), f1.mean(axis=0), exact)))


def _counted(scores: ClassScores, at: Array) -> tuple[Array, Array, Array]:
    """Labels rightly added and labels added, of shape (K, thresholds); rows wholly right."""
    size, places = scores.size, len(at) + 1
    tp, added, exact = np.zeros((size, places)), np.zeros((size, places)), np.zeros(places)
    step = max(1, CELLS // size)
    for start in range(0, len(scores), step):
        rows = slice(start, start + step)
        values, truth = scores.scores[rows].astype(np.float64), scores.truth[rows]
        weights = None if scores.weights is None else scores.weights[rows]
        cell = np.searchsorted(at, values, "right") + np.arange(size) * places  # thresholds not above it
        each = None if weights is None else np.repeat(weights, size)
        carried = truth.ravel()
        added += sums(cell.ravel(), each, size * places).reshape(size, places)
        own = None if each is None else each[carried]
        tp += sums(cell.ravel()[carried], own, size * places).reshape(size, places)
        exact += _right(values, truth, weights, at)
    return _from(tp), _from(added), exact[:-1].cumsum()


def _from(counts: Array) -> Array:
    """Sums over what lies at or above each threshold."""
    whole: Array = counts[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    return whole


def _right(values: npt.NDArray[Any], truth: npt.NDArray[np.bool_], weights: Array | None, at: Array) -> Array:
    """Change in the weight of rows wholly right at each threshold.

    A row is right above the greatest score of a label that it does not carry, up to the least of one that
    it does.
    """
    low = np.where(truth, -np.inf, values).max(axis=1)
    high = np.where(truth, values, np.inf).min(axis=1)
    can = low < high
    begin, end = np.searchsorted(at, low[can], "right"), np.searchsorted(at, high[can], "right")
    own = None if weights is None else weights[can]
    change: Array = sums(begin, own, len(at) + 1) - sums(end, own, len(at) + 1)
    return change
