"""Reliability and histograms: sums over runs of the sorted scores."""

from __future__ import annotations

from typing import Literal

import numpy as np

from evalreport.curves.series import Histogram, Reliability, numbers
from evalreport.facts import ScoreTable
from evalreport.facts.counts import Array, Places, reached
from evalreport.intervals.proportions import wilson

RELIABILITY_BINS = 10
"""Tenths, as Hosmer & Lemeshow (1980) group risks and most published diagrams do."""
HISTOGRAM_BINS = 25
"""Bars of 4% each: still told apart on a phone (chosen by eye)."""


def reliability(
    table: ScoreTable, equal: Literal["count", "width"], *, rows: float | None = None, level: float = 0.95
) -> Reliability:
    """Return mean score against observed share in ten bins.

    Parameters
    ----------
    table : ScoreTable
        Of probabilities.
    equal : {"count", "width"}
        Bins of equal weight (tied scores stay together) or of equal width on [0, 1] (closed on the
        right, the first holding 0). Empty bins are left out.
    rows : float, optional
        Number of rows behind weighted counts, which the Wilson limits are made for; without it the
        weights are taken for numbers of rows.
    level : float
        Confidence level of the Wilson limits.

    Examples
    --------
    >>> table = ScoreTable.of(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, False]))
    >>> bins = reliability(table, "width")
    >>> bins.start, bins.observed
    ((0.0, 0.1, 0.7..., 0.8), (0.0, 0.0, 1.0, 0.0))
    """
    edges = np.linspace(0, 1, RELIABILITY_BINS + 1)
    starts = _equal_width(table, edges) if equal == "width" else _equal_count(table)
    pos, neg = between(table, starts)
    score = np.diff([table.mass_below(int(start)) for start in starts])
    kept = np.flatnonzero(pos + neg > 0)
    n = (pos + neg)[kept]
    scale = 1.0 if rows is None else rows / (table.positives + table.negatives)
    low, high = wilson(pos[kept] * scale, n * scale, level)
    first, last = table.scores[starts[:-1][kept]], table.scores[starts[1:][kept] - 1]
    return Reliability(
        start=numbers(edges[:-1][kept] if equal == "width" else first),
        end=numbers(edges[1:][kept] if equal == "width" else last),
        score=numbers(score[kept] / n),
        observed=numbers(pos[kept] / n),
        low=numbers(low),
        high=numbers(high),
        n=numbers(n),
        equal=equal,
        level=level,
    )


def histogram(table: ScoreTable, *, unit: bool, bins: int = HISTOGRAM_BINS) -> Histogram:
    """Return the weight of positives and negatives in equal-width bins of the score.

    Parameters
    ----------
    unit : bool
        Whether scores are probabilities: bins on [0, 1]; else from the least to the greatest score.

    Examples
    --------
    >>> table = ScoreTable.of(np.array([0.0, 0.5, 1.0]), np.array([False, True, True]))
    >>> histogram(table, unit=True, bins=2).positive
    (1.0, 1.0)
    """
    least, greatest = (0.0, 1.0) if unit else (float(table.scores[0]), float(table.scores[-1]))
    if least == greatest:
        least, greatest = least - 0.5, greatest + 0.5
    edges = np.linspace(least, greatest, bins + 1)
    pos, neg = between(table, _equal_width(table, edges))
    return Histogram(numbers(edges), numbers(pos), numbers(neg))


def between(table: ScoreTable, starts: Places) -> tuple[Array, Array]:
    """Return the weight of positives and negatives from each start up to the next.

    Examples
    --------
    >>> table = ScoreTable.of(np.array([0.1, 0.2, 0.3]), np.array([False, True, True]))
    >>> between(table, np.array([0, 1, 3]))
    (array([0., 2.]), array([1., 0.]))
    """
    tp, fp = above(table, starts)
    return tp[:-1] - tp[1:], fp[:-1] - fp[1:]


def above(table: ScoreTable, places: Places) -> tuple[Array, Array]:
    """Return the weight of positives and negatives scored at least as high as the scores at some places.

    Parameters
    ----------
    places : int array
        The place after the last one is above all scores.

    Examples
    --------
    >>> table = ScoreTable.of(np.array([0.1, 0.2, 0.3]), np.array([False, True, True]))
    >>> above(table, np.array([1, 3]))
    (array([2., 0.]), array([0., 0.]))
    """
    inside, at = places < len(table), np.minimum(places, len(table) - 1)
    return np.where(inside, table.tp[at], 0.0), np.where(inside, table.fp[at], 0.0)


def _equal_width(table: ScoreTable, edges: Array) -> Places:
    inner = np.searchsorted(table.scores, edges[1:-1], side="right")
    return np.concatenate([[0], inner, [len(table)]])


def _equal_count(table: ScoreTable) -> Places:
    total = table.positives + table.negatives

    def middle(place: Places) -> Array:
        below = total - (table.tp[place] + table.fp[place])
        return below + (table.pos[place] + table.neg[place]) / 2

    wanted = np.arange(1, RELIABILITY_BINS) * total / RELIABILITY_BINS
    return np.concatenate([[0], reached(middle, len(table), wanted, "right"), [len(table)]])
