"""Intervals of functions of counts, by draws of the counts themselves: the cost does not know the rows.

The counts of an operating point are one draw from a multinomial. Posterior draws of its probabilities
under Jeffreys' prior, Dirichlet(1/2, …), are laid through any function of the counts at once; their
quantiles covered best of the methods tried (see `coverage.json`), also where a cell is empty.

Resampling of rows that weigh or belong together: clusters left out whole, or rows by Poisson weights.

A replicate is the facts with each unit counted as often as it was drawn. Facts add up, so that a replicate
of any sum is the draws times the units' own sums: one product of matrices for all replicates.

Few clusters are left out one by one, the jackknife (CV3 of MacKinnon, Nielsen & Webb 2023, Journal of Applied
Econometrics 38:671): with thirty of unequal size the spread of a bootstrap of clusters is too small by a
twentieth, and Student's quantile with one degree of freedom less than there are clusters too small again
when a few of them make most of the variance. Degrees of freedom here are Satterthwaite's, from the kurtosis
of the replicates. Together they took coverage at thirty clusters from 88-94% to 93-97%.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.progress import report_progress
from evalreport.data.predictions import Predictions
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.standard_errors import tail_df
from evalreport.metrics.record import Metric
from evalreport.statistics.confusion import Array, BinaryCounts, Marginals, inner, run_starts, sums
from evalreport.statistics.resampling import Stream, poisson_counts, posterior_shares, unit_sums
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import row_values

MOST = 1_000_000
"""Draws over all labels, and values worked out at a time: a thousand labels get a thousand each."""

Bounds: TypeAlias = tuple[Array, Array, Array]
"""Low, high and standard error, one entry per label."""


def posterior(counts: BinaryCounts, sampling: Sampling) -> BinaryCounts:
    """Return Dirichlet(1/2) posterior draws of the counts, fields of shape (resamples, *shape).

    Cells of unparsed answers are drawn only where there are any: elsewhere they cannot occur.

    Examples
    --------
    >>> drawn = posterior(BinaryCounts(3, 0, 2, 5), Sampling(resamples=500))
    >>> drawn.tp.shape, bool((drawn.fp > 0).all()), bool(abs(drawn.total - 1).max() < 1e-12)
    ((500,), True, True)
    """
    missed = np.asarray(counts.fn) - counts.unread_positive
    parts = (counts.tp, counts.fp, missed, counts.tn, counts.unread, counts.unread_positive)
    cells = np.stack(np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in parts)), axis=-1)
    size = max(200, min(sampling.resamples, MOST // max(1, cells[..., 0].size)))
    possible = (cells > 0) | (np.arange(6) < 4)
    drawn = posterior_shares(cells, possible, size, (-1,), sampling.generator(Stream.COUNT_POSTERIOR))
    tp, fp, fn, tn, unread, unread_positive = np.moveaxis(drawn, -1, 0)
    return BinaryCounts(tp, fp, fn + unread_positive, tn, unread, counts.threshold, unread_positive)


def count_bounds(metrics: Sequence[Metric], counts: BinaryCounts, sampling: Sampling) -> dict[str, Bounds]:
    """Return the limits of functions of the counts, each of the shape of the counts.

    Parameters
    ----------
    metrics : sequence of Metric
        Binary records of the family ``counts``.
    counts : BinaryCounts

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> found = count_bounds([find("f1", "binary")], BinaryCounts(40, 10, 10, 40), Sampling())
    >>> low, high, error = found["f1"]
    >>> round(float(low), 1), round(float(high), 1)
    (0.7, 0.9)
    """
    if not metrics:
        return {}
    found: dict[str, Bounds] = {}
    drawn, ends = posterior(counts, sampling), [(1 - sampling.level) / 2, (1 + sampling.level) / 2]
    step = max(1, MOST // np.size(drawn.tp))
    for some in (metrics[start : start + step] for start in range(0, len(metrics), step)):
        values = np.array([metric.function(drawn) for metric in some], dtype=np.float64)
        low, high = np.quantile(values, ends, axis=1)
        names = (metric.name for metric in some)
        found |= dict(zip(names, zip(low, high, values.std(axis=1), strict=True), strict=True))
    return found


DRAWS = 500
"""Replicates; their spread and mean are used, not their tails."""
UNITS = 1000
"""Units from which they are merged at random: sums of rows drawn together vary as the rows do."""
EMPTY = 100
"""Sums of units at places for each row from which nearly all of them are 0, and rows are added instead."""
FEW_UNITS = 100
"""Clusters up to which each is left out; more are drawn with replacement."""


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn: clusters, or rows where none are named.

    Parameters
    ----------
    codes : int array of shape (n,)
        Unit of each row, 0 … units - 1.
    drawn : float64 array of shape (replicates, units)
        How often each unit is in each replicate.
    weights : float64 array of shape (n,)
        Weights of the rows.
    size : float
        Clusters, or rows' effective number, before any merging.
    method : str
        ``cluster jackknife``, ``cluster bootstrap`` or ``poisson bootstrap``.
    labels : int
        Labels of the problem.
    """

    codes: npt.NDArray[np.int64]
    drawn: Array
    weights: Array
    size: float
    method: str
    labels: int

    @classmethod
    def from_predictions(cls, p: Predictions, sampling: Sampling, *, leave_out: bool = True) -> Units:
        """Return the units of predictions and the draws of them.

        Parameters
        ----------
        p : Predictions
        sampling : Sampling
        leave_out : bool
            Whether few clusters are left out one by one. Only what is smooth in the rows may be told from
            that: for thresholds that jump (KS, recall at an FPR) the jackknife's variance is wrong.

        Examples
        --------
        >>> from evalreport.data.labels import Binary
        >>> from evalreport.data.predictions import predictions
        >>> p = predictions(Binary(0, 1), [0, 1, 1, 0], [0, 1, 1, 0], groups=["a", "a", "b", "b"])
        >>> units = Units.from_predictions(p, Sampling())
        >>> units.size, units.drawn.shape, set(units.drawn.sum(axis=1).tolist())
        (2.0, (2, 2), {2.0})
        """
        generator = sampling.generator(Stream.UNITS)
        kept = p.weights > 0
        if p.groups is None:
            codes, number = np.arange(len(p)), len(p)
            size = float(p.weights.sum() ** 2 / (p.weights**2).sum())
        else:
            found, codes = np.unique(np.where(kept, p.groups.codes, -1), return_inverse=True)
            codes, number = codes - (found[0] < 0), len(found) - (found[0] < 0)
            codes, size = np.where(kept, codes, 0), float(number)
        if number > UNITS:
            codes, number = (generator.permutation(number) % UNITS)[codes], UNITS
        method, drawn = _draw_units(
            number,
            min(sampling.resamples, DRAWS),
            generator,
            grouped=p.groups is not None,
            most_left_out=FEW_UNITS if leave_out else 0,
        )
        drawn = drawn[np.einsum("bu,u->b", drawn, sums(codes, p.weights, number)) > 0]
        return cls(codes, drawn, p.weights, size, method, len(p.space))

    @property
    def number(self) -> int:
        """Units that are drawn."""
        return int(self.drawn.shape[1])

    def totals(self, place: npt.NDArray[Any], size: int, values: npt.NDArray[Any] | None = None) -> Array:
        """Return replicates of the weight (times values) at each place, shape (replicates, size)."""
        if self.number * size < EMPTY * len(place):
            return self.replicate_sums(self.sums(place, size, values))
        weights = self.weights if values is None else self.weights * values
        held = np.flatnonzero(weights)
        held = held[np.argsort(place[held], kind="stable")]
        starts, found = run_starts(place[held]), np.zeros((size, len(self.drawn)))
        rows = self.drawn.T[self.codes[held]] * weights[held, None]
        found[place[held[starts]]] = np.add.reduceat(rows, starts, axis=0)
        return np.ascontiguousarray(found.T)

    def sums(self, place: npt.NDArray[Any], size: int, values: npt.NDArray[Any] | None = None) -> Array:
        """Return the weight (times values) of each unit at each place, shape (units, size)."""
        weights = self.weights if values is None else self.weights * values
        return sums(self.codes * size + place, weights, self.number * size).reshape(self.number, size)

    def replicate_sums(self, mine: Array) -> Array:
        """Return replicates of sums, from those of each unit, shape (units, …)."""
        replicates: Array = np.tensordot(self.drawn, mine, 1)
        return replicates

    @property
    def name(self) -> str:
        """What the units are."""
        return "weighted rows" if self.method == "poisson bootstrap" else "clusters"

    @property
    def jackknife(self) -> bool:
        """Whether each unit is left out, and none drawn."""
        return self.method == "cluster jackknife"

    @property
    def factor(self) -> float:
        """From the mean square of replicates about their mean to a variance."""
        if self.jackknife:
            return float(self.number - 1)
        return self.size / max(self.size - 1, 1)

    def error(self, replicates: Array) -> Array:
        """Return the standard error of what has these replicates, along the first axis; NaN are left out.

        A variance over units, with n / (n - 1) for their mean.
        """
        known = np.isfinite(replicates)
        many = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, replicates, 0.0).sum(axis=0) / many
        squares = np.where(known, replicates - mean, 0.0) ** 2
        errors: Array = np.sqrt(self.factor * squares.sum(axis=0) / many)
        return errors

    def bias(self, replicates: Array, value: float) -> float:
        """Return the bias of a value from its replicates (for clusters: Quenouille's)."""
        moved = float(replicates[np.isfinite(replicates)].mean()) - value
        return (self.number - 1) * moved if self.jackknife else moved

    def freedom(self, replicates: Array) -> float:
        """Return the degrees of freedom of `error`: one less than the units, or Satterthwaite's."""
        known = replicates[np.isfinite(replicates)]
        df = self.most_freedom
        if self.jackknife and len(known) and np.ptp(known) > 0:
            df = min(df, tail_df(known - known.mean(), np.ones(len(known))))
        return max(df, 1.0)

    @property
    def most_freedom(self) -> float:
        """Degrees of freedom of a mean over the units: one less than them.

        Where rows weigh, no more than Satterthwaite's of a normal quantity, (Σw²)² / Σw⁴: a few heavy rows
        make nearly all of the variance.
        """
        if self.method != "poisson bootstrap":
            return self.size - 1
        squares = self.weights**2
        return min(self.size - 1, float(squares.sum() ** 2 / inner(squares, squares)))

    def leverage(self, rows: Array, weight: float) -> float:
        """Return by how much a standard error grows when each row is held against the others alone.

        A heavy row pulls the value towards itself, so that what it departs from it is too small; divided by
        one less its share it is what the jackknife takes (HC3: MacKinnon & White 1985).

        Parameters
        ----------
        rows : float64 array of shape (n,)
            What each row contributes to the value.
        weight : float
            What the value is taken over.
        """
        if self.method != "poisson bootstrap":
            return 1.0
        held = rows / (1 - np.minimum(self.weights / weight, 0.5))
        return math.sqrt(inner(held, held) / max(inner(rows, rows), np.finfo(float).tiny))

    def variance(self, rows: Array) -> float:
        """Return the variance of the sum of a row quantity whose sum is 0, from the sums of the units."""
        own = self.sum_by_unit(rows)
        return self.number / max(self.number - 1, 1) * float(np.square(own - own.mean()).sum())

    def sum_by_unit(self, rows: Array) -> Array:
        """Return the sum of row quantities within each unit, shape (units, …); weights are not applied."""
        return unit_sums(self.codes, rows, self.number)


def _draw_units(
    number: int, draws: int, generator: np.random.Generator, *, grouped: bool, most_left_out: int
) -> tuple[str, Array]:
    """How units are drawn, and how often each is in each replicate."""
    report_progress("bootstrap draws", 0, draws)
    if not grouped:
        return "poisson bootstrap", poisson_counts(np.ones(number), draws, generator)
    if number <= most_left_out:
        return "cluster jackknife", (1 - np.eye(number)) * (number / max(number - 1, 1))
    drawn = generator.multinomial(number, np.full(number, 1 / number), draws)
    return "cluster bootstrap", drawn.astype(np.float64)


def resampled_rows(p: Predictions, sampling: Sampling) -> Iterator[npt.NDArray[np.intp]]:
    """Yield the positions of the rows in each bootstrap resample: of rows, or of whole groups.

    As many rows, or groups, are drawn as there are, with replacement. Two sets of predictions for the same
    rows and the same settings get the same positions, so that their differences are paired.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Binary(0, 1), [0, 1, 1, 0], [0, 1, 1, 0], groups=["a", "a", "b", "b"])
    >>> {tuple(rows.tolist()) for rows in resampled_rows(p, Sampling())} <= {
    ...     (0, 1, 0, 1), (0, 1, 2, 3), (2, 3, 0, 1), (2, 3, 2, 3)
    ... }
    True
    """
    generator, n = sampling.generator(Stream.OWN_METRICS), len(p)
    times = min(sampling.resamples, DRAWS)
    if p.groups is None:
        for _ in range(times):
            yield generator.integers(0, n, n)
        return
    _, codes = np.unique(p.groups.codes, return_inverse=True)
    order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    for _ in range(times):
        drawn = generator.integers(0, len(sizes), len(sizes))
        size = sizes[drawn]
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        yield order[np.repeat(starts[drawn], size) + within]


def binary_replicates(p: Predictions, units: Units) -> BinaryCounts:
    """Return replicates of the counts, fields of shape (replicates,).

    Where nothing decides, the counts of the truth alone, as if every answer were right.
    """
    answer = p.y_true if p.y_pred is None else p.y_pred
    cells = units.totals(p.y_true * 3 + np.where(answer < 0, 2, answer), 6)
    tn, fp, unread, miss, tp, lost = cells.T
    point = p.threshold.value if p.threshold and isinstance(p.threshold.value, float) else np.nan
    return BinaryCounts(tp, fp, miss + lost, tn, unread, point, lost)


def class_replicates(p: Predictions, units: Units) -> Marginals:
    """Return replicates of the marginals, fields of shape (replicates, labels)."""
    size, answer = len(p.space), np.asarray(p.y_pred)
    right = (p.y_true == answer).astype(np.float64)
    read = np.where((answer < 0).any(), np.nan, 1.0)  # an unread answer stands nowhere in the order
    apart = np.abs(p.y_true - answer).astype(np.float64)
    place = np.zeros(len(p), np.int64)
    return Marginals(
        tp=units.totals(p.y_true, size, right),
        support=units.totals(p.y_true, size),
        predicted=units.totals(np.where(answer < 0, size, answer), size + 1)[:, :size],
        total=units.totals(place, 1)[:, 0],
        squared_distance=read * units.totals(place, 1, apart**2)[:, 0],
        distance=read * units.totals(place, 1, apart)[:, 0],
    )


def label_replicates(p: Predictions, units: Units) -> BinaryCounts:
    """Return replicates of the counts of each label, fields of shape (replicates, labels)."""
    truth, answer = p.y_true.astype(bool), np.asarray(p.y_true if p.y_pred is None else p.y_pred).astype(bool)
    tp, positives, flagged = (
        units.replicate_sums(units.sum_by_unit(part * p.weights[:, None]))
        for part in (truth & answer, truth, answer)
    )
    total = units.replicate_sums(units.sum_by_unit(units.weights))[:, None]
    fp, fn = np.maximum(flagged - tp, 0), np.maximum(positives - tp, 0)
    point = np.nan if p.threshold is None else p.threshold.value
    return BinaryCounts(tp, fp, fn, np.maximum(total - tp - fp - fn, 0), np.zeros_like(tp), point)


def mean_replicates(p: Predictions, units: Units) -> Mapping[str, Array]:
    """Return replicates of the means over rows, by name, each of shape (replicates,)."""
    weight = np.maximum(units.replicate_sums(units.sum_by_unit(units.weights)), np.finfo(float).tiny)
    return {
        name: units.replicate_sums(units.sum_by_unit(units.weights * rows)) / weight
        for name, rows in row_values(p).items()
    }


def table_replicates(
    table: ScoreTable, scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_], units: Units
) -> tuple[ScoreTable, list[ScoreTable]]:
    """Return the table in blocks of adjacent scores, and its replicates.

    Blocks hold at most a few thousandths of either class: their spread is that of the table. A small table is
    its own blocks, so that no threshold falls into one of them.
    """
    tiny = np.finfo(float).tiny
    share = np.cumsum(table.pos) / max(table.positives, tiny) + np.cumsum(table.neg) / max(
        table.negatives, tiny
    )
    share /= share[-1]
    block = np.arange(len(table))
    if len(table) > BLOCKS:
        _, block = np.unique(np.ceil(share * BLOCKS - 1e-9).astype(np.int64), return_inverse=True)
    size = int(block[-1]) + 1
    weight = table.pos + table.neg
    middle = sums(block, weight * table.scores, size) / sums(block, weight, size)
    place = block[np.minimum(np.searchsorted(table.scores, scores), len(table) - 1)]
    pos = units.totals(place, size, positive.astype(np.float64))
    neg = units.totals(place, size, 1.0 - positive)
    coarse = ScoreTable(middle, sums(block, table.pos, size), sums(block, table.neg, size))
    return coarse, [ScoreTable(middle, *pair) for pair in zip(pos, neg, strict=True)]


BLOCKS = 800
"""Blocks of scores in a replicate's table."""
