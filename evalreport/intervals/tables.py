"""A score table as intervals read it: exact, in blocks, and as a curve, each made once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evalreport.facts import ScoreTable
from evalreport.facts.columns import run_sums
from evalreport.facts.counts import Array, Places, reached, run_starts
from evalreport.intervals.auc import delong
from evalreport.intervals.influence import freedom
from evalreport.metrics.derivatives import roc_auc

LARGE = 16_384
"""Distinct scores from which variances are taken over blocks."""
BLOCKS = 4000
"""Blocks, each with at most one in so many of the positives and of the negatives."""
TAIL = 500
"""Distinct scores at either end that stay by themselves: there one row can matter."""


@dataclass(frozen=True, eq=False)
class Tables:
    """A score table with what several intervals need of it.

    Parameters
    ----------
    exact : ScoreTable

    Examples
    --------
    >>> tables = Tables(ScoreTable.of(np.array([0.1, 0.5, 0.5]), np.array([False, True, False])))
    >>> tables.curve[0], len(tables.coarse)
    (array([0., 1., 1.]), 2)
    """

    exact: ScoreTable

    @cached_property
    def coarse(self) -> ScoreTable:
        """The table in blocks of neighbouring scores, when it is large.

        A variance over blocks is that over rows to a ten-thousandth: what rows of one block differ in is
        a ten-thousandth of what they differ in at all.
        """
        t = self.exact
        if len(t) <= LARGE:
            return t

        def after(place: Places) -> Array:
            share = (t.tp[place] / max(t.positives, 1.0) + t.fp[place] / max(t.negatives, 1.0)) * (BLOCKS / 2)
            passed: Array = -np.floor(share)
            return passed

        starts = reached(after, len(t), np.arange(-BLOCKS, 1.0))
        starts = starts[starts < len(t)]
        ends = np.arange(TAIL)
        starts = np.sort(np.concatenate([starts, ends, len(t) - 1 - ends]))
        starts = starts[run_starts(starts)]  # np.unique of ascending numbers would hash them
        pos, neg = run_sums(t.pos, starts), run_sums(t.neg, starts)
        mass = np.concatenate([_masses(t, part) for part in _spans(starts, len(t))])
        return ScoreTable(mass / np.maximum(pos + neg, np.finfo(np.float64).tiny), pos, neg)

    @cached_property
    def delong(self) -> tuple[float, float, float]:
        """ROC AUC of the blocks, DeLong's variance of it, and what is left of its degrees of freedom."""
        auc, variance = delong(self.coarse)
        return auc, variance, freedom(roc_auc(self.coarse), self.coarse)

    @cached_property
    def curve(self) -> tuple[Array, Array]:
        """Counts of true and false positives from the strictest threshold to the laxest, 0 first."""
        return self.exact.path

    @cached_property
    def coarse_curve(self) -> tuple[Array, Array]:
        """The curve of the blocks."""
        return self.coarse.path


def _spans(starts: Places, size: int) -> Iterator[tuple[Places, int]]:
    """Starts of blocks in groups that reach over `LARGE` scores or little more, each with its end."""
    first = 0
    ends = np.append(starts[1:], size)
    while first < len(starts):
        last = max(int(np.searchsorted(ends, starts[first] + LARGE, side="right")), first + 1)
        yield starts[first:last], int(ends[last - 1])
        first = last


def _masses(t: ScoreTable, span: tuple[Places, int]) -> Array:
    """Sum of weight times score of each block of a span."""
    starts, stop = span
    here = slice(int(starts[0]), stop)
    pos, neg, scores = (np.asarray(part[here]) for part in (t.pos, t.neg, t.scores))
    mass: Array = np.add.reduceat((pos + neg) * scores, starts - starts[0])
    return mass
