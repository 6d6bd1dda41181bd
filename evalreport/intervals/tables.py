"""A score table as intervals read it: what they share of it is made once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from evalreport.intervals.roc_auc import delong
from evalreport.intervals.standard_errors import freedom
from evalreport.metrics.influence import roc_auc
from evalreport.statistics.confusion import Array
from evalreport.statistics.score_table import ScoreTable


@dataclass(frozen=True, eq=False)
class Tables:
    """A score table with what several intervals need of it.

    Parameters
    ----------
    exact : ScoreTable

    Examples
    --------
    >>> import numpy as np
    >>> tables = Tables(ScoreTable.from_scores(np.array([0.1, 0.5, 0.5]), np.array([False, True, False])))
    >>> tables.curve
    (array([0., 1., 1.]), array([0., 1., 2.]))
    """

    exact: ScoreTable

    @cached_property
    def delong(self) -> tuple[float, float, float]:
        """ROC AUC of the blocks, DeLong's variance of it, and what is left of its degrees of freedom."""
        auc, variance = delong(self.exact.coarse)
        return auc, variance, freedom(roc_auc(self.exact.coarse), self.exact.coarse)

    @cached_property
    def curve(self) -> tuple[Array, Array]:
        """Counts of true and false positives from the strictest threshold to the laxest, 0 first."""
        return self.exact.path

    @cached_property
    def coarse_curve(self) -> tuple[Array, Array]:
        """The curve of the blocks."""
        return self.exact.coarse.path
