"""A large score table in blocks of neighbouring scores, from which variances are taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from evalreport.facts.columns import run_sums
from evalreport.facts.counts import Array, Places, reached, run_starts

if TYPE_CHECKING:
    from evalreport.facts.table import ScoreTable

LARGE = 16_384
"""Distinct scores from which variances are taken over blocks."""
BLOCKS = 4000
"""Blocks, each with at most one in so many of the positives and of the negatives."""
TAIL = 500
"""Distinct scores at either end that stay by themselves: there one row can matter."""


def coarse(t: ScoreTable) -> tuple[Array, Array, Array]:
    """Return the mean score of each block, with the weight of its positives and negatives.

    A variance over blocks is that over rows to a ten-thousandth: what rows of one block differ in is
    a ten-thousandth of what they differ in at all.

    Examples
    --------
    >>> from evalreport.facts import ScoreTable
    >>> even = np.arange(100_000)
    >>> scores, pos, neg = coarse(ScoreTable.of(even / 100_000, even % 2 == 0))
    >>> len(scores), float(pos.sum()), float(neg.sum())
    (4960, 50000.0, 50000.0)
    """

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
    return mass / np.maximum(pos + neg, np.finfo(np.float64).tiny), pos, neg


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
