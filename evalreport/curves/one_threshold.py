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
    own = _of_type(at, scores.scores.dtype)
    each = [_label(scores, label, own) for label in range(scores.size)]
    tp, added = (np.array(part).reshape(scores.size, len(at)) for part in zip(*each, strict=True))
    exact = _exact(scores, own)
    wanted = scores.row_weights @ scores.truth
    f1 = ratio(2 * tp, added + wanted[:, None])
    return LabelSweep(*map(numbers, (at, tp.sum(axis=0), added.sum(axis=0), f1.mean(axis=0), exact)))


def _of_type(at: Array, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The least numbers of the scores' own type that are no smaller: reached by the same scores."""
    near = at.astype(dtype)
    return np.where(near < at, np.nextafter(near, dtype.type(np.inf)), near)


def _label(scores: ClassScores, label: int, at: npt.NDArray[Any]) -> tuple[Array, Array]:
    """Weight of rows to which one label is added rightly, and of all to which it is added."""
    column, carried = np.ascontiguousarray(scores.scores[:, label]), scores.truth[:, label]
    weights = scores.weights
    own = None if weights is None else weights[carried]
    return _reaching(column[carried], own, at), _reaching(column, weights, at)


def _reaching(values: npt.NDArray[Any], weights: Array | None, at: npt.NDArray[Any]) -> Array:
    """Weight of the values that reach each threshold."""
    if weights is None:
        return (len(values) - np.searchsorted(np.sort(values), at)).astype(np.float64)
    order = np.argsort(values)
    above = np.append(weights[order][::-1].cumsum()[::-1], 0.0)
    reaching: Array = above[np.searchsorted(values[order], at)]
    return reaching


def _exact(scores: ClassScores, at: npt.NDArray[Any]) -> Array:
    """Weight of rows of which every label is right."""
    change, step = np.zeros(len(at) + 1), max(1, CELLS // scores.size)
    for start in range(0, len(scores), step):
        rows = slice(start, start + step)
        weights = None if scores.weights is None else scores.weights[rows]
        change += _right(scores.scores[rows], scores.truth[rows], weights, at)
    return change[:-1].cumsum()


def _right(
    values: npt.NDArray[Any], truth: npt.NDArray[np.bool_], weights: Array | None, at: npt.NDArray[Any]
) -> Array:
    """Change in the weight of rows wholly right at each threshold.

    A row is right above the greatest score of a label that it does not carry, up to the least of one that
    it does.
    """
    low = np.where(truth, values.dtype.type(-np.inf), values).max(axis=1)
    high = np.where(truth, values, values.dtype.type(np.inf)).min(axis=1)
    can = low < high
    begin, end = np.searchsorted(at, low[can], "right"), np.searchsorted(at, high[can], "right")
    own = None if weights is None else weights[can]
    change: Array = sums(begin, own, len(at) + 1) - sums(end, own, len(at) + 1)
    return change
