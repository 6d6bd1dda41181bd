"""How far the limits of an average over classes stand off its value, from the limits of each class.

Wilson's limits of one share stand off its value towards a half, the further the fewer rows it has: such a
share is skewed. The skewness of a sum is that of its parts, each by its share of the variance (the first
term of Cornish & Fisher 1938). So where one rare class makes nearly all of the variance of an average, the
limits stand off as that class's own do; where many alike make it, they stand off as little as those of
Price & Bonett (2004, Computational Statistics & Data Analysis 45:449), who deal two right and two wrong
rows out to all classes. Limits that only knew the average's own spread covered 87% with a class of one
row in a hundred at n = 2,000; these cover 96%.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evalreport.facts import ScoreTable
from evalreport.facts.counts import Array, inner
from evalreport.facts.rankings import Rankings
from evalreport.intervals.auc import SHRINK, auc_limits, delong
from evalreport.intervals.influence import influence, standard_error
from evalreport.intervals.proportions import wilson
from evalreport.intervals.quantiles import normal_quantile
from evalreport.intervals.sampling import FEWEST, Sampling
from evalreport.intervals.scales import Spread, area_limits
from evalreport.metrics import Metric
from evalreport.metrics.averages import AreaAverage, Average, Gap, labelwise
from evalreport.metrics.catalogue import find

KNOWN = 1e9
"""Degrees of freedom of a variance that is known."""


@dataclass
class ClassMoves:
    """What each class does to an average in draws of the counts.

    Parameters
    ----------
    average : Average
    gap : bool
        Whether the metric is what all classes together have beyond the average.
    total, squares : float64 arrays of shape (classes,)
        Sums over the draws of what a class does to the average, and of its square.
    draws : int
    """

    average: Average
    gap: bool = False
    total: Any = 0.0
    squares: Any = 0.0
    draws: int = 0

    @classmethod
    def of(cls, metric: Metric) -> ClassMoves | None:
        """Return the empty sums of a metric; None where it is no average over classes.

        Examples
        --------
        >>> from evalreport.metrics.catalogue import find
        >>> ClassMoves.of(find("micro_macro_gap", "multiclass")).average.over
        'macro'
        """
        match metric.function:
            case Average() as average:
                return cls(average)
            case Gap() as gap:
                return cls(gap.average, gap=True)
            case _:
                return None

    def add(self, drawn: Any, centre: Any) -> None:
        """Add draws of the counts, with one leading axis more than `centre`, what they were drawn about."""
        (values, weights), (base, _) = self.average.parts(drawn), self.average.parts(centre)
        known = ~np.isnan(values) & (weights > 0) & ~np.isnan(base)
        share = known * weights
        moves = np.where(known, values - base, 0.0) * (
            share / np.maximum(share.sum(-1, keepdims=True), 1e-300)
        )
        self.total, self.squares = self.total + moves.sum(axis=0), self.squares + (moves**2).sum(axis=0)
        self.draws += len(values)

    def pulled(self, spread: Spread, fact: Any, smooth: Any, sampling: Sampling) -> Spread:
        """Return the spread of the metric with how far its limits stand off the value.

        Parameters
        ----------
        spread : Spread
            Of the draws.
        fact, smooth : facts of counts
            As they are, and what the draws were drawn about: with one row more for each class.
        """
        variance = np.maximum(self.squares / self.draws - (self.total / self.draws) ** 2, 0.0)
        values, weights = self.average.parts(fact)
        soft = np.nan_to_num(self.average.parts(smooth)[0])
        used = ~np.isnan(values) & (weights > 0) & (variance > 0) & (soft > 0) & (soft < 1)
        if not used.any() or not np.isfinite(spread.error):
            return spread
        share = (weights / np.where(np.isnan(values), 0.0, weights).sum())[used]
        value, variance = values[used], variance[used]
        rows = np.maximum(soft[used] * (1 - soft[used]) * share**2 / variance - 1, 1e-3)
        low, high = wilson(value * rows, rows, sampling.level)
        reach, off = (high - low) / 2, (high + low) / 2 - value
        wider = math.sqrt(inner(share * reach, share * reach) / variance.sum()) / sampling.z
        pull = shared(share, reach, off)
        if self.gap:  # all classes together are their average by support, which stands off itself
            pull = shared(labelwise(fact).positives[used] / fact.total, reach, off) - pull
        return replace(spread, error=spread.error * max(wider, 1.0), pull=pull)


def shared(share: Array, reach: Array, off: Array) -> float:
    """Return how far a weighted sum stands off: its parts, each by its share of the variance.

    Parameters
    ----------
    share : float64 array of shape (classes,)
        Weights.
    reach, off : float64 arrays of shape (classes,)
        Half the width of each part's limits, and their middle less its value.

    Examples
    --------
    >>> round(shared(np.full(4, 0.25), np.full(4, 0.1), np.full(4, -0.02)), 4)
    -0.005
    """
    mine = (share * reach) ** 2
    return inner(mine, share * off) / max(float(mine.sum()), 1e-300)


@dataclass(frozen=True, eq=False)
class AreaLimits:
    """The area of each class with its limits as if its variance were known; NaN with too few rows.

    The limits of a class are those of its own area: DeLong's in Newcombe's form, or those of `area_limits`.

    Parameters
    ----------
    value, low, high, variance : float64 arrays of shape (K,)
    bias : float64 array of shape (K,)
        By how much the area is too high on average.
    """

    value: Array
    low: Array
    high: Array
    variance: Array
    bias: Array

    @classmethod
    def of(cls, area: str, ranked: Rankings, level: float) -> AreaLimits:
        """Return the limits of an area of each class, which all averages of it share."""
        parts, bias = np.full((len(ranked.positives), 4), np.nan), np.zeros(len(ranked.positives))
        for label, table in enumerate(ranked.tables):
            if area == "average_precision" and table.positives:
                bias[label] = average_precision_bias(table)
            if min(sizes := (table.positives, table.negatives)) < FEWEST:
                continue
            if area == "average_precision":
                parts[label] = _precision_limits(table, level)
            else:
                value, variance = delong(table)
                parts[label] = value, *sizes, variance
        known = ~np.isnan(parts[:, 0])
        if area == "roc_auc" and known.any():
            value, positives, negatives, variance = parts[known].T
            ends = auc_limits(value, variance, (positives, negatives), KNOWN, level)
            parts[known, 1:3] = np.transpose(ends)
        return cls(parts[:, 0], parts[:, 1], parts[:, 2], parts[:, 3], bias)


def area_spread(
    average: AreaAverage, ranked: Rankings, each: AreaLimits, error: float, df: float, level: float
) -> tuple[Spread, float]:
    """Return the spread of an average of areas with how far its limits stand off, from those of each class.

    As far as one class makes the average (among many such reserves are not needed at once) what its limits
    are wider than its standard error says is added to that of the average, or taken off. Of ROC AUC of
    classes against the rest the limits have the variance that a model moderates, known as that of as many
    rows more: the degrees of freedom are Satterthwaite's of both parts. With those of the other classes for
    what a class of ten rows without a mistake has by the model alone 99% were covered.

    Parameters
    ----------
    average : AreaAverage
        But a ``micro`` one.
    ranked : Rankings
    each : AreaLimits
        Of its area.
    error, df : float
        Standard error of the average, and its degrees of freedom.
    level : float
        Confidence level.

    Returns
    -------
    spread : Spread
    df : float
        Degrees of freedom of its error.

    Examples
    --------
    >>> from evalreport.facts import ClassScores
    >>> rng = np.random.default_rng(0)
    >>> truth = np.array([0] * 45 + [1] * 5)
    >>> scores = ClassScores(rng.random((50, 2)) + (truth[:, None] == np.arange(2)), truth, None)
    >>> each = AreaLimits.of("average_precision", scores.rankings, 0.95)
    >>> spread, df = area_spread(
    ...     AreaAverage("average_precision", "macro"), scores.rankings, each, 0.05, 6.0, 0.95
    ... )
    >>> spread.pull < 0, df
    (True, 6.0)
    """
    z, weight = normal_quantile((1 + level) / 2), average.weights(ranked)
    bias, used = inner(weight, each.bias), (weight > 0) & ~np.isnan(each.value)
    if not used.any():
        return Spread(error, bias, pull=0.0), df
    share = weight[used]
    value, low, high, variance = (part[used] for part in (each.value, each.low, each.high, each.variance))
    reach, off = (high - low) / 2, (high + low) / 2 - value
    squares = (share * reach) ** 2
    total = max(float(squares.sum()), 1e-300)
    one = inner(squares, squares) / total**2
    more = one * (total / z**2 - inner(share**2, variance))
    pull = shared(share, reach, off)
    if average.over == "pairs":
        return Spread(math.sqrt(error**2 + max(more, 0.0)), bias, pull=pull), df
    whole = max(error**2 + more, one * total / z**2)
    if average.area == "average_precision":  # of few examples too high already: nothing pulls it up
        return Spread(math.sqrt(whole), bias, pull=min(pull, 0.0)), df
    lent = max(1 - error**2 / whole, 0.0) if whole else 0.0
    rows = np.minimum(ranked.positives, ranked.tables[0].total - ranked.positives)[used]
    held = inner(squares**2, rows - 1 + SHRINK) / max(inner(squares, squares), 1e-300)
    df = 1 / ((1 - lent) ** 2 / (df + SHRINK * one) + lent**2 / max(held, 1.0))
    return Spread(math.sqrt(whole), bias, pull=pull), df


def average_precision_bias(table: ScoreTable) -> float:
    """Return by how much average precision is too high on average, to the second order.

    Each positive is its own proof, counted for sure where a new one would be with the chance of the recall;
    and a precision bends in its counts. Of twenty uneven classes of 200 rows it tells half of the bias, of
    labels of ten rows two thirds.

    Examples
    --------
    >>> table = ScoreTable.of(np.array([0.1, 0.2, 0.3, 0.4]), np.array([False, True, False, True]))
    >>> round(average_precision_bias(table), 4)
    0.037
    """
    found, false, positives = table.tp, table.fp, table.positives
    flagged, recall = np.where(found + false > 0, found + false, 1.0), found / positives
    own = (1 - recall) * false / flagged**2 + recall * found * false / flagged**3
    return inner(table.pos, own) / positives


def _precision_limits(table: ScoreTable, level: float) -> tuple[float, float, float, float]:
    """Average precision of one class, its limits as if its variance were known, and that variance."""
    metric = find("average_precision", "binary")
    value = float(metric.function(table))
    error = standard_error(table, influence(metric, table))
    smaller = min(table.positives, table.negatives)
    low, high = area_limits(metric, value, error, normal_quantile((1 + level) / 2), smaller, level)
    return value, low, high, error**2
