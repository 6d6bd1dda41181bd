"""The convex hull of a ROC curve, and what it is the same as: the isotonic fit of the truth on the scores.

The slopes of the hull's edges are the odds that pooling adjacent violators gives (Fawcett & Niculescu-Mizil
2007, Machine Learning 68:97), so that one pass serves the best threshold of every cost and the reliability
diagram of Dimitriadis, Gneiting & Jordan (2021, PNAS 118:e2016191118) alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evalreport.statistics.confusion import Array, Places, inner
from evalreport.statistics.stored_columns import PIECE, is_stored

FEW = 64
"""Points from which on all that lie on or under the chord of their neighbours are dropped at once: a step of
the chain takes as long as to drop a hundred."""


def hull(x: Array, y: Array) -> Places:
    """Return the places of the vertices of the upper convex hull.

    Parameters
    ----------
    x, y : float64 arrays of shape (n,)
        Both ascending (a ROC curve in counts: fp and tp).

    Returns
    -------
    int array
        First and last place included; points inside an edge left out.

    Examples
    --------
    >>> hull(np.array([0.0, 0, 1, 1, 2]), np.array([0.0, 1, 1, 2, 2]))
    array([0, 1, 3, 4])
    """
    if is_stored(x):  # vertices of the whole are vertices of every piece that they lie in
        ends = (slice(at, at + PIECE - 1) for at in range(0, len(x), PIECE - 2))
        pieces = [at for at in ends if at.start < len(x) - 1 or at.start == 0]
        few = np.unique(np.concatenate([at.start + _candidate_vertices(x[at], y[at]) for at in pieces]))
        return few[hull(x[few], y[few])]
    kept = _candidate_vertices(x, y)
    return kept if len(kept) > FEW else kept[_chain(x[kept].tolist(), y[kept].tolist())]


def _candidate_vertices(x: Array, y: Array) -> Places:
    """Return places among which all vertices are: no more than `FEW` of them, or the vertices alone."""
    # A vertex is where the line goes up just before and right just after.
    inner = np.flatnonzero((y[1:-1] > y[:-2]) & (x[2:] > x[1:-1])) + 1
    kept = np.concatenate([[0], inner, [len(x) - 1]])
    while len(kept) > FEW:  # what lies on or under the chord of its neighbours is no vertex
        under = _turns(x[kept], y[kept]) >= 0
        if not under.any():
            break
        kept = kept[np.concatenate([[True], ~under, [True]])]
    return kept


def _turns(x: Array, y: Array) -> Array:
    """Cross product at each inner point; negative where the line bends downward."""
    dx, dy = np.diff(x), np.diff(y)
    turns: Array = dx[:-1] * dy[1:] - dy[:-1] * dx[1:]
    return turns


def _chain(x: list[float], y: list[float]) -> list[int]:
    """Andrew's monotone chain."""
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (x[b] - x[a]) * (y[i] - y[b]) - (y[b] - y[a]) * (x[i] - x[b]) < 0:
                break
            kept.pop()
        kept.append(i)
    return kept


@dataclass(frozen=True, eq=False)
class IsotonicFit:
    """Shares of positives that never fall as the score rises, block by block of scores, ascending.

    Parameters
    ----------
    start, end : float64 arrays of shape (blocks,)
        Least and greatest score of each block.
    pos, neg : float64 arrays of shape (blocks,)
        Weight of positives and negatives in each block.
    """

    start: Array
    end: Array
    pos: Array
    neg: Array

    @property
    def rate(self) -> Array:
        """Share of positives in each block."""
        rate: Array = self.pos / (self.pos + self.neg)
        return rate

    @property
    def brier(self) -> float:
        """Brier score of answering the rate of its block to every row."""
        return inner(self.pos, 1 - self.rate) / float(self.pos.sum() + self.neg.sum())


def isotonic(scores: Array, path: tuple[Array, Array], corners: Places) -> IsotonicFit:
    """Return the isotonic fit of the truth on the scores.

    Parameters
    ----------
    scores : float64 array of shape (m,), ascending
    path : two float64 arrays of shape (m + 1,)
        Weight of true and false positives from the strictest threshold to the laxest, 0 first.
    corners : int array
        Places in the path of the vertices of its convex hull.

    Examples
    --------
    >>> scores, path = np.array([0.1, 0.4, 0.6]), (np.array([0.0, 1, 2, 2]), np.array([0.0, 1, 1, 2]))
    >>> isotonic(scores, path, hull(path[1], path[0])).rate.round(3)
    array([0.   , 0.667])
    """
    tp, fp = path
    steps = (slice(start, start + PIECE + 1) for start in range(0, len(scores), PIECE))
    if not is_stored(scores) and not all((np.diff(tp[b] + fp[b]) > 0).all() for b in steps):
        moves = np.append(True, np.diff(tp + fp) > 0)  # a score without weight, of which none is stored
        tp, fp, scores = tp[moves], fp[moves], scores[moves[:0:-1]]
        corners = hull(fp, tp)
    corners = corners[::-1]
    starts, ends = len(scores) - corners[:-1], len(scores) - corners[1:]
    pos, neg = tp[corners[:-1]] - tp[corners[1:]], fp[corners[:-1]] - fp[corners[1:]]
    return IsotonicFit(scores[starts], scores[ends - 1], pos, neg)
