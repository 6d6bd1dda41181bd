"""Intervals of functions of counts, and resampling of weighted or grouped rows.

**Functions of counts.** The counts at an operating point are one multinomial sample. Posterior samples of its
probabilities under Jeffreys' prior, Dirichlet(1/2, …), go through each function; the quantiles of the values
are the limits. Of the methods tried they had the best coverage (`coverage.json`), also with an empty cell.
The cost does not depend on the number of rows.

**Weighted or grouped rows.** A replicate counts each unit (row or cluster) as often as it was drawn. The
statistics are sums over rows, so all replicates are one matrix product: counts of the units times the sums of
each unit. Weighted rows get Poisson(1) counts.

Up to `FEW_UNITS` clusters use the jackknife (CV3 of MacKinnon, Nielsen & Webb 2023, Journal of Applied
Econometrics 38:671) with Satterthwaite's degrees of freedom from the kurtosis of the replicates. With thirty
clusters of unequal size the standard error of a cluster bootstrap is 5% too small, and Student's t with
(clusters - 1) degrees of freedom is too narrow where a few clusters make most of the variance. The two
corrections together raised coverage with thirty clusters from 88-94% to 93-97%.

**The user's own metrics.** The interval is the expanded percentile interval (Hesterberg 2015, The American
Statistician 69:371): quantiles of the resamples at a level adjusted for the number of rows or groups as by
Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.progress import report_progress
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.predictions import Predictions
from evalreport.intervals.distributions import t_quantile, two_sided_p
from evalreport.intervals.interval_settings import FEWEST, NOT_ASKED, Sampling
from evalreport.intervals.paired import SampledError
from evalreport.intervals.standard_errors import tail_df
from evalreport.metrics.own import NEEDS_ROWS, OwnRows
from evalreport.metrics.record import Metric
from evalreport.statistics.confusion import Array, BinaryCounts, Marginals, inner, run_starts, sums
from evalreport.statistics.resampling import Stream, poisson_counts, posterior_shares, unit_sums
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import row_values

MOST = 1_000_000
"""Most posterior samples over all labels, and most values computed at a time: 1,000 labels get 1,000 each."""

Bounds: TypeAlias = tuple[Array, Array, Array]
"""Lower limit, upper limit and standard error, one entry per label."""


def posterior(counts: BinaryCounts, sampling: Sampling) -> BinaryCounts:
    """Return Dirichlet(1/2) posterior samples of cell proportions, shape (resamples, *shape).

    A cell of unparsed predictions is sampled only if its count is not 0.

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
    tp, fp, fn, tn, unparsed, unparsed_positive = np.moveaxis(drawn, -1, 0)
    return BinaryCounts(tp, fp, fn + unparsed_positive, tn, unparsed, counts.threshold, unparsed_positive)


def count_bounds(metrics: Sequence[Metric], counts: BinaryCounts, sampling: Sampling) -> dict[str, Bounds]:
    """Return the limits of functions of the counts, each with the shape of the counts.

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
"""Most replicates; only their mean and standard deviation are used, not their tails."""
UNITS = 1000
"""Most units: more are merged at random into this many. Sums over merged units have the same variance."""
EMPTY = 100
"""With this many (unit, place) sums per row nearly all sums are 0, and the replicates add up rows instead."""
FEW_UNITS = 100
"""Most clusters for the jackknife; more are drawn with replacement."""


@dataclass(frozen=True, eq=False)
class Units:
    """Sampling units: clusters, or rows if no groups are given.

    Parameters
    ----------
    codes : int array of shape (n,)
        Unit of each row, 0 … units - 1.
    drawn : float64 array of shape (replicates, units)
        Count of each unit in each replicate.
    weights : float64 array of shape (n,)
        Weights of the rows.
    size : float
        Number of clusters, or effective number of rows, before any merging.
    method : str
        ``cluster jackknife``, ``cluster bootstrap`` or ``poisson bootstrap``.
    labels : int
        Number of labels of the problem.
    """

    codes: npt.NDArray[np.int64]
    drawn: Array
    weights: Array
    size: float
    method: str
    labels: int

    @classmethod
    def from_predictions(cls, p: Predictions, sampling: Sampling, *, leave_out: bool = True) -> Units:
        """Return the units of predictions with their counts in each replicate.

        Parameters
        ----------
        p : Predictions
        sampling : Sampling
        leave_out : bool
            Whether up to `FEW_UNITS` clusters use the jackknife. Pass False for metrics that are not smooth
            in the rows (KS, recall at an FPR): the jackknife's variance is wrong for them.

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
        """Number of units, after merging."""
        return int(self.drawn.shape[1])

    def totals(self, place: npt.NDArray[Any], size: int, values: npt.NDArray[Any] | None = None) -> Array:
        """Return replicates of the summed weight (times values) at each place, shape (replicates, size)."""
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
        """Return the summed weight (times values) of each unit at each place, shape (units, size)."""
        weights = self.weights if values is None else self.weights * values
        return sums(self.codes * size + place, weights, self.number * size).reshape(self.number, size)

    def replicate_sums(self, mine: Array) -> Array:
        """Return replicates of sums from the sums of each unit, shape (units, …)."""
        replicates: Array = np.tensordot(self.drawn, mine, 1)
        return replicates

    @property
    def name(self) -> str:
        """The units as a page names them."""
        return "weighted rows" if self.method == "poisson bootstrap" else "clusters"

    @property
    def jackknife(self) -> bool:
        """Whether each replicate leaves out one unit."""
        return self.method == "cluster jackknife"

    @property
    def factor(self) -> float:
        """Factor from the mean squared deviation of the replicates to a variance."""
        if self.jackknife:
            return float(self.number - 1)
        return self.size / max(self.size - 1, 1)

    def error(self, replicates: Array) -> Array:
        """Return the standard error of a statistic from its replicates (first axis), without NaN."""
        known = np.isfinite(replicates)
        many = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, replicates, 0.0).sum(axis=0) / many
        squares = np.where(known, replicates - mean, 0.0) ** 2
        errors: Array = np.sqrt(self.factor * squares.sum(axis=0) / many)
        return errors

    def bias(self, replicates: Array, value: float) -> float:
        """Return the bias of a value from its replicates (jackknife: Quenouille's)."""
        moved = float(replicates[np.isfinite(replicates)].mean()) - value
        return (self.number - 1) * moved if self.jackknife else moved

    def freedom(self, replicates: Array) -> float:
        """Return the degrees of freedom of `error`; the jackknife's are Satterthwaite's."""
        known = replicates[np.isfinite(replicates)]
        df = self.most_freedom
        if self.jackknife and len(known) and np.ptp(known) > 0:
            df = min(df, tail_df(known - known.mean(), np.ones(len(known))))
        return max(df, 1.0)

    @property
    def most_freedom(self) -> float:
        """Degrees of freedom of a mean over the units: one less than their number.

        With weights, at most Satterthwaite's of a normal quantity, (Σw²)² / Σw⁴: a few heavy rows make nearly
        all of the variance.
        """
        if self.method != "poisson bootstrap":
            return self.size - 1
        squares = self.weights**2
        return min(self.size - 1, float(squares.sum() ** 2 / inner(squares, squares)))

    def leverage(self, rows: Array, weight: float) -> float:
        """Return the factor by which a standard error grows if each row is compared with the other rows only.

        A heavy row pulls the value towards itself, so its deviation from the value is too small. Dividing the
        deviation by one minus the row's proportion of the weight gives the jackknife's (HC3: MacKinnon &
        White 1985).

        Parameters
        ----------
        rows : float64 array of shape (n,)
            Contribution of each row to the value.
        weight : float
            Total weight that the value is computed over.
        """
        if self.method != "poisson bootstrap":
            return 1.0
        held = rows / (1 - np.minimum(self.weights / weight, 0.5))
        return math.sqrt(inner(held, held) / max(inner(rows, rows), np.finfo(float).tiny))

    def variance(self, rows: Array) -> float:
        """Return the variance of the sum over rows of a quantity, from its sums by unit."""
        own = self.sum_by_unit(rows)
        return self.number / max(self.number - 1, 1) * float(np.square(own - own.mean()).sum())

    def sum_by_unit(self, rows: Array) -> Array:
        """Return the sum of row quantities within each unit, shape (units, …). Weights are not applied."""
        return unit_sums(self.codes, rows, self.number)


def _draw_units(
    number: int, draws: int, generator: np.random.Generator, *, grouped: bool, most_left_out: int
) -> tuple[str, Array]:
    """Return the name of the method and the count of each unit in each replicate."""
    report_progress("bootstrap draws", 0, draws)
    if not grouped:
        return "poisson bootstrap", poisson_counts(np.ones(number), draws, generator)
    if number <= most_left_out:
        return "cluster jackknife", (1 - np.eye(number)) * (number / max(number - 1, 1))
    drawn = generator.multinomial(number, np.full(number, 1 / number), draws)
    return "cluster bootstrap", drawn.astype(np.float64)


def resampled_rows(p: Predictions, sampling: Sampling) -> Iterator[npt.NDArray[np.intp]]:
    """Yield the row positions of each bootstrap resample: rows, or whole groups, drawn with replacement.

    A resample has as many rows, or groups, as the data. Two sets of predictions for the same rows with the
    same settings get the same positions, so their differences are paired.

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

    Without predictions each row counts as predicted correctly: only the counts of true labels have a meaning.
    """
    answer = p.y_true if p.y_pred is None else p.y_pred
    cells = units.totals(p.y_true * 3 + np.where(answer < 0, 2, answer), 6)
    tn, fp, unparsed, miss, tp, lost = cells.T
    point = p.threshold.value if p.threshold and isinstance(p.threshold.value, float) else np.nan
    return BinaryCounts(tp, fp, miss + lost, tn, unparsed, point, lost)


def class_replicates(p: Predictions, units: Units) -> Marginals:
    """Return replicates of the marginals, fields of shape (replicates, labels)."""
    size, answer = len(p.space), np.asarray(p.y_pred)
    right = (p.y_true == answer).astype(np.float64)
    read = np.where((answer < 0).any(), np.nan, 1.0)  # an unparsed prediction has no distance to a label
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
    """Return the table with neighbouring scores merged into blocks, and the replicates of that table.

    A block contains at most a few thousandths of either class, so the variance is that of the full table. A
    table of up to `BLOCKS` scores is not merged, so no threshold falls inside a block.
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
"""Most blocks of scores in the table of a replicate."""


TOO_FEW_VALUES = "fewer than half of the bootstrap resamples have a value"
ALL_THE_SAME = "every bootstrap resample has this value"


def own_value(name: str, p: Predictions) -> float | Undefined:
    """Return the value of an own metric of predictions, or why it has none."""
    if name not in p.own_metrics:
        return Undefined(NEEDS_ROWS, float(p.weights.sum()))
    return OwnRows(p).call(name, p.own_metrics[name])


def own_estimates(
    metrics: Sequence[Metric], p: Predictions | None, n: float, sampling: Sampling
) -> dict[str, Result]:
    """Return each own metric with its interval, or why it is undefined.

    Parameters
    ----------
    metrics : sequence of Metric
        Records of own metrics.
    p : Predictions or None
        The rows, with the functions; None if they are not in memory.
    n : float
        Weight of the rows.
    sampling : Sampling
    """
    if not metrics:
        return {}
    functions = {} if p is None else p.own_metrics
    found: dict[str, Result] = {m.name: Undefined(NEEDS_ROWS, n) for m in metrics if m.name not in functions}
    if p is None:
        return found
    rows, values = OwnRows(p), dict[str, float]()
    for name in (metric.name for metric in metrics if metric.name in functions):
        value = rows.call(name, functions[name])
        if isinstance(value, Undefined):
            found[name] = Undefined(value.reason, n)
        else:
            values[name] = value
    units = units_of(p)
    if not sampling.intervals or units < FEWEST:
        reason = NOT_ASKED if not sampling.intervals else "an interval needs at least 2 rows, or groups"
        return found | {name: Estimate(value, n, reason=reason) for name, value in values.items()}
    drawn = replicates(list(values), p, sampling) if values else {}
    return found | {
        name: _with_limits(value, drawn[name], n, units, sampling) for name, value in values.items()
    }


def units_of(p: Predictions) -> int:
    """Return the number of rows, or groups, that are resampled."""
    return len(p) if p.groups is None else len(np.unique(p.groups.codes))


def replicates(names: Sequence[str], p: Predictions, sampling: Sampling) -> dict[str, Array]:
    """Return the values of own metrics over the bootstrap resamples; NaN where one has no value."""
    rows = OwnRows(p)
    values: dict[str, list[float]] = {name: [] for name in names}
    for number, drawn in enumerate(resampled_rows(p, sampling)):
        report_progress("bootstrap resamples of your metrics", number, sampling.resamples)
        for name in names:
            values[name].append(rows.replicate(name, p.own_metrics[name], drawn))
    return {name: np.array(found) for name, found in values.items()}


def _with_limits(value: float, drawn: Array, n: float, units: int, sampling: Sampling) -> Estimate:
    known = drawn[np.isfinite(drawn)]
    if 2 * len(known) < len(drawn):
        return Estimate(value, n, reason=TOO_FEW_VALUES)
    if np.ptp(known) <= 1e-12 * max(1.0, abs(value)):
        return Estimate(value, n, reason=ALL_THE_SAME)
    tail = two_sided_p(math.sqrt(units / (units - 1)) * t_quantile(sampling.upper, units - 1)) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return Estimate(
        value, n, min(float(low), value), max(float(high), value), "bootstrap", float(known.std())
    )


def own_difference_error(
    name: str, run: Predictions, baseline: Predictions, sampling: Sampling
) -> SampledError | str:
    """Return the standard error of a difference of an own metric over paired resamples, or why it has none.

    Parameters
    ----------
    run, baseline : Predictions
        Of the same rows in the same order.
    """
    if units_of(run) < FEWEST:
        return "an interval needs at least 2 rows, or groups"
    first, second = (replicates([name], p, sampling)[name] for p in (run, baseline))
    gaps = first - second
    known = gaps[np.isfinite(gaps)]
    if 2 * len(known) < len(gaps):
        return TOO_FEW_VALUES
    free = max(units_of(run) - 1, 1.0)
    return SampledError(float(known.std()) * math.sqrt((free + 1) / free), free)
