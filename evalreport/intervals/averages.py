"""Standard errors of averages over labels of rankings, from the influence of each row on all of them.

A row is a positive of its own labels and a negative of all others, so the labels' areas are not
independent: the influences of a row on each label are added before they are squared. What each label
varies by itself is exact; what labels vary together is estimated from a sample of rows when they are many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.facts import ClassScores, LabelScores, ScoreTable
from evalreport.facts.counts import Array, inner, sums
from evalreport.facts.ladders import Ladder, cumulated
from evalreport.facts.rankings import Rankings, slots
from evalreport.intervals.influence import tail_df
from evalreport.intervals.sampling import FEWEST, Sampling
from evalreport.metrics import derivatives
from evalreport.metrics.averages import AreaAverage
from evalreport.metrics.record import Influence

LEAST = 0.1
"""Share of the variance of independent labels that is left at least. What labels vary together is told from
some of the rows, and may by chance be below minus that variance; a covariance cannot take it all."""
CELLS = 200_000
"""(row, label) cells that are looked at, about."""
ROWS, POOLED_ROWS = 2000, 500
"""Rows that are looked at, at least (or all); fewer where all cells are sorted together."""
DERIVATIVES: dict[str, Callable[[ScoreTable], Influence]] = {
    "roc_auc": derivatives.roc_auc,
    "average_precision": derivatives.average_precision,
}

Floats: TypeAlias = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class AverageInfluence:
    """How an average over labels moves when a row weighs more by one.

    Parameters
    ----------
    rows : float64 array of shape (rows looked at,)
        Through all labels together.
    alone : float
        Sum over labels of the variance that each has by itself.
    seen : float
        What the squares of `rows` hold of it.
    own : float64 array of shape (labels,)
        The variance that each label's own examples make.
    """

    rows: Array
    alone: float
    seen: float
    own: Array


def ranking_errors(
    averages: Sequence[AreaAverage], scores: LabelScores, sampling: Sampling
) -> list[tuple[float, float]]:
    """Return the standard error and degrees of freedom of averages of rankings.

    Parameters
    ----------
    averages : sequence of AreaAverage
    scores : LabelScores
        Without weights.

    Returns
    -------
    list of (standard error, degrees of freedom), one for each average; NaN where a label has too few rows.

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
    some = scores.take(looked_at(n, scores.size, sampling))
    fewer = some.take(_chosen(len(some), some.size, sampling.generator(9), POOLED_ROWS))
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


def looked_at(rows: int, size: int, sampling: Sampling) -> npt.NDArray[np.intp]:
    """Return the rows from which it is told what labels vary together, ascending.

    Examples
    --------
    >>> len(looked_at(10, 3, Sampling())), len(looked_at(10**6, 100, Sampling()))
    (10, 2000)
    """
    return _chosen(rows, size, sampling.generator(5), ROWS)


def _chosen(rows: int, size: int, generator: np.random.Generator, least: int) -> npt.NDArray[np.intp]:
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
    """Return how areas of all (row, label) decisions together move with each row, each of shape (n,).

    Examples
    --------
    >>> scores = ClassScores(np.array([[0.9, 0.5], [0.2, 0.5]]), np.array([0, 1]), None)
    >>> (moves,) = pooled_moves([AreaAverage("average_precision", "micro")], scores)
    >>> moves.round(3)
    array([ 0.028, -0.028])
    """
    if not averages:
        return []
    table = scores.pooled()
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
    """Return how averages over labels of an area move with each row.

    Parameters
    ----------
    averages : sequence of AreaAverage
        But ``micro`` ones.
    some : ClassScores
    everything : LabelScores
        The rows that are looked at, and those that the averages are taken over.

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
        else _shared_out(average, found[average], some, ranked)
        for average in averages
    ]


def _shared_out(
    average: AreaAverage, moves: AverageInfluence, some: ClassScores, ranked: Rankings
) -> AverageInfluence:
    """Add what a row moves by the share of its labels, where the average is by support."""
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
    """Give a label with one example, which shows no variance, that of an example of the others, pooled.

    Collapsed strata: Cochran 1977, Sampling Techniques, section 5A.12.
    """
    several = positives > 1
    if not several.any():
        return own
    pooled = squares[several].sum() / (positives[several] - 1).sum()
    return np.where(several | (positives == 0), own, weight**2 * pooled)


def merged_place(table: ScoreTable, scores: Floats) -> npt.NDArray[np.intp]:
    """Return where scores stand in a table whose negatives are merged between positives.

    Examples
    --------
    >>> scores = ClassScores(np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]), np.array([0, 1, 0]), None)
    >>> merged_place(scores.rankings.tables[0], np.array([0.2, 0.4, 0.9, 1.0]))
    array([0, 1, 3, 4])
    """
    return slots(scores, table.scores[1::2])


def _pairs(some: ClassScores, everything: LabelScores, weight: Array) -> AverageInfluence:
    """Influence on the mean AUC over pairs of classes: negatives count the same for each class.

    What a class's own examples do is told from all of them, against the negatives that are looked at.
    """
    size, mass = everything.size, some.row_weights
    support, sampled = everything.rankings.positives, sums(some.truth, mass, everything.size)
    others = max(np.count_nonzero(sampled) - 1, 1)
    each = mass / (np.maximum(sampled, np.finfo(float).tiny)[some.truth] * others)
    rows, alone, seen, own = np.zeros(len(some)), 0.0, 0.0, np.zeros(size)
    held = np.where(support > 0, support, 1.0)[some.truth]  # rows of no weight may be all that a class has
    for label in np.flatnonzero((weight > 0) & (sampled > 0)):
        order = np.argsort(some.scores[:, label])  # what is sorted is found fast in what is sorted
        column, classes = some.scores[order, label], some.truth[order]
        mine = classes == label
        others_here = Ladder(column[~mine], cumulated(each[order[~mine]]))
        held_here = Ladder.of(*everything.own(int(label)))
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
