"""Standard errors and limits of averages over classes or labels.

**Averages of areas under curves.** A row is a positive of its true labels and a negative of all others, so
the labels' areas are not independent: the influences of a row on all labels are added before they are
squared. The variance of each label is exact. The covariance between labels is estimated from a sample of the
rows if there are many.

**The middle of the limits.** Wilson's limits of a proportion are not centred on its value but shifted towards
1/2, the more the fewer rows it has, because the proportion is skewed. The skewness of a sum is that of its
parts, each weighted by its proportion of the variance (the first term of Cornish & Fisher 1938). If one rare
class makes nearly all of the variance, the limits of the average are shifted like those of that class; if
many similar classes make it, they are shifted as little as those of Price & Bonett (2004, Computational
Statistics & Data Analysis 45:449), who add two right and two wrong rows in total. With a class of 1% of the
rows at n = 2,000, limits from the standard error of the average covered 87%; these cover 96%.

**Functions of a confusion matrix.** The non-zero cells get Poisson counts: this is the row bootstrap except
for its fixed total, which does not affect these functions. Bias and standard error of the resamples give a
score interval around the bias-corrected value; an average is shifted as above. Two details keep the coverage
with few rows per class. A class whose rows are all right, or all wrong, would have no variance, so half a
right and half a wrong row are added to each class. Averages over classes with few rows are biased by up to
half a standard error, so the bias is subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.progress import report_progress
from evalreport.intervals.curve_points import SHRINK, auc_limits, delong
from evalreport.intervals.distributions import normal_quantile, wilson
from evalreport.intervals.interval_settings import FEWEST, Sampling
from evalreport.intervals.standard_errors import Spread, area_limits, deviations, standard_error, tail_df
from evalreport.intervals.standard_errors import influence as standard_errors_influence
from evalreport.metrics import influence
from evalreport.metrics.averages import AreaAverage, Average
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Influence, Metric
from evalreport.statistics.class_scores import ClassScores, LabelScores
from evalreport.statistics.confusion import Array, Counts, Marginals, inner, run_starts, sums
from evalreport.statistics.rankings import CumulativeWeights, Rankings, cumulate_weights, slots
from evalreport.statistics.resampling import Stream, poisson_counts
from evalreport.statistics.score_table import ScoreTable

LEAST = 0.1
"""Lower limit of the variance, as a proportion of that of independent labels. The covariance between labels
is estimated from a sample of rows and can by chance cancel the variance; the true covariance cannot."""
CELLS = 200_000
"""About how many (row, label) cells are sampled."""
ROWS, POOLED_ROWS = 2000, 500
"""Fewest rows in the sample (or all rows); fewer where all cells are sorted together."""
DERIVATIVES: dict[str, Callable[[ScoreTable], Influence]] = {
    "roc_auc": influence.roc_auc,
    "average_precision": influence.average_precision,
}

Floats: TypeAlias = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class AverageInfluence:
    """Influence of each row on an average over labels: its change per unit of weight.

    Parameters
    ----------
    rows : float64 array of shape (rows looked at,)
        Sum over all labels.
    alone : float
        Sum over labels of the variance of each label without covariances.
    seen : float
        Part of the sum of squares of `rows` that belongs to single labels.
    own : float64 array of shape (labels,)
        Variance from each label's own examples.
    """

    rows: Array
    alone: float
    seen: float
    own: Array


def ranking_errors(
    averages: Sequence[AreaAverage], scores: LabelScores, sampling: Sampling
) -> list[tuple[float, float]]:
    """Return the standard error and the degrees of freedom of averages of areas under curves.

    Parameters
    ----------
    averages : sequence of AreaAverage
    scores : LabelScores
        Without weights.

    Returns
    -------
    list of (standard error, degrees of freedom), one for each average; NaN if a label has too few rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(90) % 3
    >>> scores = ClassScores(rng.random((90, 3)) + (truth[:, None] == np.arange(3)), truth, None)
    >>> ((error, df),) = ranking_errors([AreaAverage("roc_auc", "macro")], scores, Sampling())
    >>> 0.0 <= error < 0.02, df > 28
    (True, True)
    """
    n = len(scores)
    some = scores.take(sample_covariance_rows(n, scores.size, sampling))
    fewer = some.take(_sample_rows(len(some), some.size, sampling.generator(Stream.POOLED_ROWS), POOLED_ROWS))
    apart = [average for average in averages if average.over != "micro"]
    moves = dict(zip(apart, average_moves(apart, some, scores), strict=True))
    together = [average for average in averages if average.over == "micro"]
    pooled = dict(zip(together, pooled_moves(together, fewer), strict=True))
    found = []
    for average in averages:
        if average.over == "micro":
            rows = pooled[average]
            error = math.nan if rows is None else math.sqrt(inner(rows, rows) * len(fewer) / n)
            found.append((error, 1.0 if rows is None else _freedom(rows, n)))
        else:
            found.append(_average_error(average, moves[average], scores))
    return found


def sample_covariance_rows(rows: int, size: int, sampling: Sampling) -> npt.NDArray[np.intp]:
    """Return the rows that the covariance between labels is estimated from, ascending.

    Examples
    --------
    >>> len(sample_covariance_rows(10, 3, Sampling())), len(sample_covariance_rows(10**6, 100, Sampling()))
    (10, 2000)
    """
    return _sample_rows(rows, size, sampling.generator(Stream.RANKED_ROWS), ROWS)


def _sample_rows(rows: int, size: int, generator: np.random.Generator, least: int) -> npt.NDArray[np.intp]:
    most = max(CELLS // size, least)
    return np.arange(rows) if rows <= most else np.sort(generator.choice(rows, most, replace=False))


def _average_error(
    average: AreaAverage, moves: AverageInfluence, everything: LabelScores
) -> tuple[float, float]:
    ranked, n = everything.rankings, len(everything)
    if average.area == "roc_auc":
        fewest = np.minimum(ranked.positives, n - ranked.positives)[average.weights(ranked) > 0]
        if not len(fewest) or not fewest.min() or fewest.max() < FEWEST:
            return math.nan, math.nan
    together = (inner(moves.rows, moves.rows) - moves.seen) * n / len(moves.rows)
    variance = max(moves.alone + together, LEAST * moves.alone)
    several = ranked.positives > 1
    more = ranked.positives[several] - 1
    spread = inner(moves.own[several] ** 2, 1 / more)
    if len(more):
        spread += moves.own[~several].sum() ** 2 / more.sum()
    df = float(moves.own.sum() ** 2 / spread) if spread > 0 else n - 1.0
    return math.sqrt(variance), min(df, _freedom(moves.rows, n))


def _freedom(rows: Array, n: int) -> float:
    return tail_df(rows, np.ones(len(rows))) * n / len(rows)


def pooled_moves(averages: Sequence[AreaAverage], scores: ClassScores) -> list[Array | None]:
    """Return the influence of each row on areas of all (row, label) decisions pooled, each of shape (n,).

    Examples
    --------
    >>> scores = ClassScores(np.array([[0.9, 0.5], [0.2, 0.5]]), np.array([0, 1]), None)
    >>> (moves,) = pooled_moves([AreaAverage("average_precision", "micro")], scores)
    >>> moves.round(3)
    array([ 0.028, -0.028])
    """
    if not averages:
        return []
    table = scores.pooled_table()
    if not table.positives or not table.negatives:
        return [None for _ in averages]
    truth = scores.truth if scores.truth.ndim == 2 else scores.truth[:, None] == np.arange(scores.size)
    place = np.minimum(np.searchsorted(table.scores, scores.scores), len(table) - 1)
    total = table.positives + table.negatives
    found: list[Array | None] = []
    for up, down in (DERIVATIVES[average.area](table) for average in averages):
        found.append(np.where(truth, up[place], down[place]).sum(axis=1) / total)
    return found


def average_moves(
    averages: Sequence[AreaAverage], some: ClassScores, everything: LabelScores
) -> list[AverageInfluence]:
    """Return the influence of each row on averages over labels of an area.

    Parameters
    ----------
    averages : sequence of AreaAverage
        Without ``micro``.
    some : ClassScores
    everything : LabelScores
        The sampled rows, and all rows of the averages.

    Examples
    --------
    >>> scores = ClassScores(np.array([[0.9, 0.5], [0.2, 0.4], [0.4, 0.3]]), np.array([0, 1, 0]), None)
    >>> (moves,) = average_moves([AreaAverage("roc_auc", "macro")], scores, scores)
    >>> bool(abs(moves.rows.sum()) < 1e-12)
    True
    """
    ranked = everything.rankings
    found: dict[AreaAverage, AverageInfluence] = {}
    for area in DERIVATIVES:
        mine = [one for one in averages if one.area == area and one.over != "pairs"]
        weights = [average.weights(ranked) for average in mine]
        found |= dict(zip(mine, _areas(area, some, everything, np.array(weights)), strict=True))
    return [
        _pairs(some, everything, average.weights(ranked))
        if average.over == "pairs"
        else _add_weight_influence(average, found[average], some, ranked)
        for average in averages
    ]


def _add_weight_influence(
    average: AreaAverage, moves: AverageInfluence, some: ClassScores, ranked: Rankings
) -> AverageInfluence:
    """Add the influence of a row through the weights of the labels, for averages weighted by support."""
    if average.over != "weighted":
        return moves
    weight = average.weights(ranked)
    gap = np.where(weight > 0, ranked.roc_auc, 0.0)
    gap = (gap - inner(weight, gap)) / ranked.positives.sum()
    between = np.einsum("nk,k->n", some.truth, gap) if some.truth.ndim == 2 else gap[some.truth]
    return replace(moves, rows=moves.rows + between)


def _areas(
    area: str, some: ClassScores, everything: LabelScores, weights: Array
) -> Iterator[AverageInfluence]:
    """Yield the influence on weighted means of the labels' areas, one for each row of `weights`."""
    rows, alone, seen = (np.zeros((len(weights), size)) for size in (len(some), 1, 1))
    own, squares = np.zeros((2, everything.size))
    for label, table in enumerate(everything.rankings.tables if len(weights) else ()):
        P, N, share = table.positives, table.negatives, weights[:, label, None]
        if not share.any() or not P or not N:
            continue
        up, down = (part / (P + N) for part in DERIVATIVES[area](table))
        square = inner(table.pos, up**2)
        squares[label], own[label] = square * P**2, square * P / max(P - 1, 1)
        alone += share**2 * inner(table.neg, down**2) * N / max(N - 1, 1)
        place = merged_place(table, some.scores[:, label])
        here = np.where(some.positive(label), up[place], down[place])
        rows += share * here
        seen += share**2 * inner(here, here)
    for weight, *moved in zip(weights, rows, alone[:, 0], seen[:, 0], strict=True):
        mine = _with_singles(own * weight**2, squares, weight, everything.rankings.positives)
        yield AverageInfluence(moved[0], float(moved[1] + mine.sum()), float(moved[2]), mine)


def _with_singles(own: Array, squares: Array, weight: Array, positives: Array) -> Array:
    """Replace the variance of a label with one example, which is unknown, by the pooled one of the others.

    Collapsed strata: Cochran 1977, Sampling Techniques, section 5A.12.
    """
    several = positives > 1
    if not several.any():
        return own
    pooled = squares[several].sum() / (positives[several] - 1).sum()
    return np.where(several | (positives == 0), own, weight**2 * pooled)


def merged_place(table: ScoreTable, scores: Floats) -> npt.NDArray[np.intp]:
    """Return the positions of scores in a table whose negatives are merged between positives.

    Examples
    --------
    >>> scores = ClassScores(np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]), np.array([0, 1, 0]), None)
    >>> merged_place(scores.rankings.tables[0], np.array([0.2, 0.4, 0.9, 1.0]))
    array([0, 1, 3, 4])
    """
    return slots(scores, table.scores[1::2])


def _pairs(some: ClassScores, everything: LabelScores, weight: Array) -> AverageInfluence:
    """Influence on the mean AUC over pairs of classes, in which all negative classes have the same weight.

    The influence of a class's own examples is computed from all of them against the sampled negatives.
    """
    size, mass = everything.size, some.row_weights
    support, sampled = everything.rankings.positives, sums(some.truth, mass, everything.size)
    others = max(np.count_nonzero(sampled) - 1, 1)
    each = mass / (np.maximum(sampled, np.finfo(float).tiny)[some.truth] * others)
    rows, alone, seen, own = np.zeros(len(some)), 0.0, 0.0, np.zeros(size)
    held = np.where(support > 0, support, 1.0)[some.truth]  # a class may have only rows of weight 0
    for label in np.flatnonzero((weight > 0) & (sampled > 0)):
        order = np.argsort(some.scores[:, label])  # sorted values are searched faster in sorted values
        column, classes = some.scores[order, label], some.truth[order]
        mine = classes == label
        others_here = CumulativeWeights(column[~mine], cumulate_weights(each[order[~mine]]))
        held_here = CumulativeWeights.from_values(*everything.own(int(label)))
        below, heavy = others_here.middle(held_here.values), held_here.weights
        centre, factor = inner(heavy, below) / support[label], weight[label] / support[label]
        spread = inner(heavy, (below - centre) ** 2) * support[label] / max(support[label] - 1, 1)
        own[label] = factor**2 * spread
        above = 1 - held_here.middle(column) / support[label]
        mean = sums(classes, mass[order] * above, size) / np.where(sampled > 0, sampled, 1.0)
        down = weight[label] * (above - mean[classes]) / (others * held[order])
        up = factor * (others_here.middle(column) - centre)
        here = np.where(mine, up, down)
        rows[order] += here
        seen += inner(here, here)
        alone += own[label] + inner(down[~mine], down[~mine]) * len(everything) / len(some)
    return AverageInfluence(rows, alone, seen, own)


KNOWN = 1e9
"""Degrees of freedom of a known variance."""


@dataclass
class ClassMoves:
    """Effect of each class on an average, over bootstrap resamples of the counts.

    Parameters
    ----------
    average : Average
    total, squares : float64 arrays of shape (classes,)
        Sums over the resamples of the effect of each class, and of its square.
    draws : int
    """

    average: Average
    total: Any = 0.0
    squares: Any = 0.0
    draws: int = 0

    @classmethod
    def from_metric(cls, metric: Metric) -> ClassMoves | None:
        """Return the empty sums of a metric; None if it is not an average over classes.

        Examples
        --------
        >>> from evalreport.metrics.catalogue import find
        >>> ClassMoves.from_metric(find("f1_macro", "multiclass")).average.over
        'macro'
        """
        return cls(metric.function) if isinstance(metric.function, Average) else None

    def add(self, drawn: Any, centre: Any) -> None:
        """Add resamples of the counts `centre`; they have one leading axis more."""
        (values, weights), (base, _) = self.average.parts(drawn), self.average.parts(centre)
        known = ~np.isnan(values) & (weights > 0) & ~np.isnan(base)
        share = known * weights
        moves = np.where(known, values - base, 0.0) * (
            share / np.maximum(share.sum(-1, keepdims=True), 1e-300)
        )
        self.total, self.squares = self.total + moves.sum(axis=0), self.squares + (moves**2).sum(axis=0)
        self.draws += len(values)

    def adjust_spread(self, spread: Spread, fact: Any, smooth: Any, sampling: Sampling) -> Spread:
        """Return the spread of the metric with the shift of its limits.

        Parameters
        ----------
        spread : Spread
            Of the resamples.
        fact, smooth : counts
            The observed counts, and those of `smooth_counts` that were resampled.
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
        return replace(
            spread, error=spread.error * max(wider, 1.0), pull=variance_weighted_offset(share, reach, off)
        )


def variance_weighted_offset(share: Array, reach: Array, off: Array) -> float:
    """Return the shift of the limits of a weighted sum: that of its parts, weighted by their variances.

    Parameters
    ----------
    share : float64 array of shape (classes,)
        Weights.
    reach, off : float64 arrays of shape (classes,)
        Half the width of the limits of each part, and their middle minus the value.

    Examples
    --------
    >>> round(variance_weighted_offset(np.full(4, 0.25), np.full(4, 0.1), np.full(4, -0.02)), 4)
    -0.005
    """
    mine = (share * reach) ** 2
    return inner(mine, share * off) / max(float(mine.sum()), 1e-300)


@dataclass(frozen=True, eq=False)
class AreaLimits:
    """The area of each class with limits for a known variance; NaN with too few rows.

    The limits are those of a single area: DeLong's variance in Newcombe's form, or `area_limits`.

    Parameters
    ----------
    value, low, high, variance : float64 arrays of shape (K,)
    bias : float64 array of shape (K,)
        Upward bias of the area.
    """

    value: Array
    low: Array
    high: Array
    variance: Array
    bias: Array

    @classmethod
    def from_rankings(cls, area: str, ranked: Rankings, level: float) -> AreaLimits:
        """Return the limits of an area of each class, which all averages of it use."""
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
    """Return the spread of an average of areas, with the shift of its limits from those of the classes.

    The limits of a class can be wider, or narrower, than its variance implies. This difference is added to
    the variance of the average in proportion to how much one class dominates it: among many classes the
    reserves are not all needed at once. The limits of a one-vs-rest ROC AUC use a variance that is moderated
    by a model, as if `SHRINK` more rows were known, so the degrees of freedom are Satterthwaite's of both
    parts. With the degrees of freedom of the other classes for a perfect class of ten rows, whose variance
    comes only from the model, coverage was 99%.

    Parameters
    ----------
    average : AreaAverage
        Any except ``micro``.
    ranked : Rankings
    each : AreaLimits
        Limits of the averaged area.
    error, df : float
        Standard error of the average, and its degrees of freedom.
    level : float
        Confidence level.

    Returns
    -------
    spread : Spread
    df : float
        Degrees of freedom of the error.

    Examples
    --------
    >>> from evalreport.statistics.class_scores import ClassScores
    >>> rng = np.random.default_rng(0)
    >>> truth = np.array([0] * 45 + [1] * 5)
    >>> scores = ClassScores(rng.random((50, 2)) + (truth[:, None] == np.arange(2)), truth, None)
    >>> each = AreaLimits.from_rankings("average_precision", scores.rankings, 0.95)
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
    pull = variance_weighted_offset(share, reach, off)
    if average.over == "pairs":
        return Spread(math.sqrt(error**2 + max(more, 0.0)), bias, pull=pull), df
    whole = max(error**2 + more, one * total / z**2)
    if average.area == "average_precision":  # with few examples it is biased upwards: no upward shift
        return Spread(math.sqrt(whole), bias, pull=min(pull, 0.0)), df
    lent = max(1 - error**2 / whole, 0.0) if whole else 0.0
    rows = np.minimum(ranked.positives, ranked.tables[0].total - ranked.positives)[used]
    held = inner(squares**2, rows - 1 + SHRINK) / max(inner(squares, squares), 1e-300)
    df = 1 / ((1 - lent) ** 2 / (df + SHRINK * one) + lent**2 / max(held, 1.0))
    return Spread(math.sqrt(whole), bias, pull=pull), df


def average_precision_bias(table: ScoreTable) -> float:
    """Return the upward bias of average precision, to the second order.

    At its own threshold each positive is found with certainty; a new positive would be found there with
    probability recall. Precision is also a nonlinear function of its counts. The formula gives half of the
    bias for twenty uneven classes of 200 rows, and two thirds for labels of ten rows.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.2, 0.3, 0.4]), np.array([False, True, False, True]))
    >>> round(average_precision_bias(table), 4)
    0.037
    """
    found, false, positives = table.tp, table.fp, table.positives
    flagged, recall = np.where(found + false > 0, found + false, 1.0), found / positives
    own = (1 - recall) * false / flagged**2 + recall * found * false / flagged**3
    return inner(table.pos, own) / positives


def _precision_limits(table: ScoreTable, level: float) -> tuple[float, float, float, float]:
    """Average precision of one class, its limits for a known variance, and that variance."""
    metric = find("average_precision", "binary")
    value = float(metric.function(table))
    error = standard_error(table, standard_errors_influence(metric, table))
    smaller = min(table.positives, table.negatives)
    low, high = area_limits(metric, value, error, normal_quantile((1 + level) / 2), smaller, level)
    return value, low, high, error**2


DRAWS = (200, 500)
"""Fewest and most resamples; only their mean and standard deviation are used, so more would not help."""
CONFUSIONS_CELLS = 600_000
"""Cells sampled over all resamples, if that gives more than the fewest resamples."""
HALF = 0.5
"""Right rows, and wrong rows, added to each class: Jeffreys' prior of its recall."""
BLOCK = 4_000_000
"""Cells sampled at a time."""


def spreads(metrics: Sequence[Metric], counts: Counts, sampling: Sampling) -> dict[str, Spread]:
    """Return the standard error and bias of functions of the marginals.

    For an average they are those of the average over the classes that have a value: see `missing_classes`.

    Parameters
    ----------
    metrics : sequence of Metric
        Multiclass records that read counts.
    counts : Counts

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> counts = Counts.from_codes(np.arange(60) % 3, np.arange(60) // 2 % 3, 3)
    >>> round(spreads([find("f1_macro", "multiclass")], counts, Sampling())["f1_macro"].error, 2)
    0.05
    """
    if not metrics:
        return {}
    smooth = smooth_counts(counts)
    generator = sampling.generator(Stream.CONFUSION_CELLS)
    draws = int(np.clip(CONFUSIONS_CELLS // len(smooth.cells), *DRAWS))
    step = max(1, min(draws, BLOCK // len(smooth.cells)))
    found: dict[str, list[Array]] = {metric.name: [] for metric in metrics}
    moves = {metric.name: ClassMoves.from_metric(metric) for metric in metrics}
    for start in range(0, draws, step):
        report_progress("bootstrap draws", start, draws)
        size = min(step, draws - start)
        rate = smooth.weight * (counts.total / smooth.total)
        cells = poisson_counts(rate, size, generator)
        drawn = _marginals(smooth, cells)
        for metric in metrics:
            found[metric.name].append(deviations(metric, drawn, smooth.marginals))
            if (moved := moves[metric.name]) is not None:
                moved.add(drawn, smooth.marginals)
    spreads = {name: _spread_from_draws(np.concatenate(parts)) for name, parts in found.items()}
    for name, moved in moves.items():
        if moved is not None:
            spreads[name] = moved.adjust_spread(spreads[name], counts.marginals, smooth.marginals, sampling)
    return spreads


def _spread_from_draws(values: Array) -> Spread:
    known = values[np.isfinite(values)]
    if len(known) < len(values) / 2:
        return Spread(np.nan, np.nan)
    return Spread(float(known.std()), float(known.mean()))


def smooth_counts(counts: Counts) -> Counts:
    """Return the counts with half a right and half a wrong row added to each class with true examples.

    Neighbouring classes exchange their wrong halves (0 with 1, 2 with 3, …; with an odd number of classes the
    last three in a cycle), so each class also gains half a wrong prediction.

    Examples
    --------
    >>> smooth_counts(Counts.from_codes(np.array([0, 1]), np.array([0, 0]), 2)).dense()
    array([[1.5, 0.5, 0. ],
           [1.5, 0.5, 0. ]])
    """
    present = np.flatnonzero(counts.marginals.support > 0)
    neighbour = np.arange(counts.size) ^ 1
    if counts.size % 2:  # a cycle of three: with pairs only, the last class would gain no wrong prediction
        neighbour[-3:] = np.roll(np.arange(max(counts.size - 3, 0), counts.size), -1)
    partner = neighbour[present]
    right, wrong = present * (counts.size + 2), present * (counts.size + 1) + partner
    cells = np.sort(np.concatenate([right, wrong]))
    return counts + Counts(counts.size, cells, np.full(len(cells), HALF))


def _marginals(counts: Counts, drawn: Array) -> Marginals:
    """Marginals of draws of the cells, shape (draws, cells)."""
    size = counts.size
    on = np.flatnonzero(counts.rows == counts.columns)
    tp = np.zeros((len(drawn), size))
    tp[:, counts.rows[on]] = drawn[:, on]
    by_column = np.argsort(counts.columns, kind="stable")
    predicted = _sums(drawn[:, by_column], counts.columns[by_column], size + 1)
    read = np.nan if counts.unparsed_weight else 1.0  # an unparsed prediction has no distance to a label
    apart = read * np.abs(counts.rows - counts.columns)
    return Marginals(
        tp=tp,
        support=_sums(drawn, counts.rows, size),
        predicted=predicted[:, :size],
        total=drawn.sum(axis=1),
        squared_distance=drawn @ apart**2,
        distance=drawn @ apart,
    )


def _sums(drawn: Array, place: npt.NDArray[np.int64], size: int) -> Array:
    """Sum columns that share a place; places ascend."""
    starts = run_starts(place)
    total = np.zeros((len(drawn), size))
    total[:, place[starts]] = np.add.reduceat(drawn, starts, axis=1)
    return total
