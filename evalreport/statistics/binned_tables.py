"""Scores in bins that are the same for all data: fixed memory, and counts that are exact at their edges.

A bin holds the scores that agree in their first binary digits: those of a score below 0.5, and of its
distance from 1 above, so that chances near 0 and near 1 are told apart alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import UsageError
from evalreport.statistics.confusion import Array
from evalreport.statistics.score_table import ScoreTable, keys_of, scores_of

DIGITS = 11
"""Binary digits behind the first one that tell a bin: 2,048 bins from 1/4 to 1/2, and as many from 1/8. Two
million uniform scores fill 38,000 bins and have a bound of 3.3e-5 on ROC AUC (measured)."""
_SHIFT = 52 - DIGITS
NOT_TOLD = "scores in bins do not tell it: leave --set approximate out"
"""Why a number of scores in bins is undefined."""
_HALF, _ONE = (int(keys_of(np.array([at]))[0]) >> _SHIFT for at in (0.5, 1.0))

Bins = npt.NDArray[np.int64]


def bins_of(scores: npt.NDArray[Any]) -> Bins:
    """Return the bin of each score: whole numbers that sort as scores do.

    Examples
    --------
    >>> places = bins_of(np.array([-2.0, 0.1, 0.10001, 0.5, 0.99999, 1.0, 3.0]))
    >>> int(np.diff(places).min()), int(places[2] - places[1])
    (1, 1)
    """
    scores = scores.astype(np.float64)
    found: Bins = keys_of(scores) >> _SHIFT
    upper = (scores >= 0.5) & (scores <= 1)
    found[upper] = 2 * _HALF + (-keys_of(1 - scores[upper]) >> _SHIFT)  # both steps without rounding
    found[scores > 1] += 2 * _HALF - _ONE
    return found


def edges_of(bins: Bins) -> Array:
    """Return the least score of each bin.

    Examples
    --------
    >>> edges_of(bins_of(np.array([0.1, 0.5, 0.75, 1.0]))).tolist()
    [0.0999755859375, 0.5, 0.75, 1.0]
    """
    upper, beyond = (bins >= _HALF) & (bins <= 2 * _HALF), bins > 2 * _HALF
    keys = np.where(upper, 2 * _HALF - bins, np.where(beyond, bins - 2 * _HALF + _ONE, bins))
    found = scores_of(keys << _SHIFT)
    found[upper] = 1 - found[upper]
    least: Array = np.maximum(found, np.finfo(np.float64).min)
    return least


@dataclass(frozen=True, eq=False)
class BinnedTable(ScoreTable):
    """Positives and negatives in each bin of scores; `scores` are the least that each bin may hold.

    At these, as thresholds, counts are exact. Metrics of the scores are given with bounds, or not at all.

    Examples
    --------
    >>> table = BinnedTable(edges_of(bins_of(np.array([0.1, 0.7]))), np.ones(2), np.zeros(2))
    >>> table.tp, bool((table.ends > [0.1, 0.7]).all())
    (array([2., 1.]), True)
    """

    @cached_property
    def ends(self) -> Array:
        """What the scores of each bin stay below."""
        return edges_of(bins_of(self.scores) + 1)

    @staticmethod
    def merge_parts(tables: Sequence[ScoreTable]) -> BinnedTable:
        """Return the sum of tables of bins."""
        whole = ScoreTable.merge_parts(tables)
        return BinnedTable(whole.scores, whole.pos, whole.neg)

    def check_edge(self, threshold: float) -> None:
        """Refuse a threshold on whose both sides a bin has scores.

        Raises
        ------
        UsageError
            Names the edges next to it.
        """
        inside = bins_of(np.array([threshold]))
        below, above = edges_of(np.append(inside, inside + 1)).tolist()
        if below < threshold and below in self.scores:
            raise UsageError(
                f"a threshold of {threshold:.10g} cuts a bin of scores in two",
                where="--set approximate",
                fix=f"pass {below!r} or {above!r}, edges of the bin, or leave --set approximate out",
            )
