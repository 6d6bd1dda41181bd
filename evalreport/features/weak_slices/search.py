"""The search: slices ranked on the first half of the rows, and tested on the second.

The slices are those of one column and the crossings of two. What is tested was not used in the choice of the
slices, and Holm's correction covers all that are tested: without a weak slice, one is confirmed in at most
one minus the level of all searches. The search is done twice, with each half as the first one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evalreport.features.weak_slices.columns import Codes, Mask, SearchColumn, ranges_of
from evalreport.intervals.distributions import two_sided_t

Array = npt.NDArray[np.float64]

FEWEST_ROWS = 200
"""Rows below which nothing is searched."""
FEWEST_GROUPS = 20
SMALLEST = 30
"""Rows of the smallest slice; at least `SMALLEST_PROPORTION` of all."""
SMALLEST_PROPORTION = 0.01
FEWEST_IN_HALF = 10
MOST_KEPT = 20
MOST_RANKED = 100
"""Slices of each kind, the worst first, among which nested ones are dropped."""
LEAST_Z = 2.0
LEAST_OF_BEST = 0.75
"""A slice is tested if its deviate on the first half is this proportion of the greatest one."""
SIMPLER = 0.9
"""Factor of the deviate of a range with two ends, so that a range with one end is preferred."""
NESTED = 0.8
"""Proportion of the smaller slice's rows in the other one, from which one of them is dropped."""


@dataclass(frozen=True)
class Condition:
    """A range of levels of one column."""

    column: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Quantity:
    """What is compared inside and outside of slices, one value per row.

    Parameters
    ----------
    kind : {"error", "calibration"}
    values : float64 array of shape (n,)
        1 for an error, 0 for a correct prediction; or observed minus predicted.
    two_sided : bool
        Whether a mean below that outside counts, too.
    is_binary : bool
        Whether values are 0 and 1, and an exact test applies.
    against_zero : bool
        Whether the mean inside is compared with 0 instead of the mean outside: for paired differences.
    variances : float64 array of shape (n,), optional
        Least variance of each value: where few rows vary, the variance among them is too small.
    """

    kind: str
    values: Array
    two_sided: bool = False
    is_binary: bool = False
    against_zero: bool = False
    variances: Array | None = None


@dataclass(frozen=True, eq=False)
class Data:
    """The rows of a search.

    Parameters
    ----------
    columns : sequence of SearchColumn
    first : bool array of shape (n,)
        Rows of the first half.
    weights : float64 array of shape (n,)
    groups : int array of shape (n,) or None
        Groups, which are not divided between the halves.
    is_weighted : bool
    """

    columns: Sequence[SearchColumn]
    first: Mask
    weights: Array
    groups: Codes | None = None
    is_weighted: bool = False

    def rows_of(self, conditions: Sequence[Condition]) -> Mask:
        """Return which rows meet all conditions."""
        inside = np.ones(len(self.first), dtype=bool)
        for one in conditions:
            codes = self.columns[one.column].codes
            inside &= (codes >= one.first) & (codes <= one.last)
        return inside

    @property
    def smallest(self) -> float:
        """Rows that a slice must have."""
        return max(SMALLEST, SMALLEST_PROPORTION * len(self.first))


@dataclass(frozen=True, eq=False)
class Tested:
    """A slice with its test on the second half.

    Parameters
    ----------
    quantity : Quantity
    conditions : tuple of Condition
    inside : bool array of shape (n,)
        Rows of the second half in the slice.
    mean, mean_outside, standard_error, df : float
        Weighted means of the quantity; the standard error is of the mean inside.
    p : float
        Of this test alone.
    """

    quantity: Quantity
    conditions: tuple[Condition, ...]
    inside: Mask
    mean: float
    mean_outside: float
    standard_error: float
    df: float
    p: float


@dataclass(eq=False)
class _RankedSlices:
    """Slices of the first half with their deviates, one entry per slice."""

    conditions: list[tuple[Condition, ...]] = field(default_factory=list)
    deviates: list[Array] = field(default_factory=list)

    def add(self, conditions: Sequence[tuple[Condition, ...]], deviates: Array) -> None:
        self.conditions += conditions
        self.deviates.append(deviates)


def split_halves(n: int, groups: Codes | None, generator: np.random.Generator) -> Mask:
    """Return which rows are in the first half: half of the rows, or of the groups, at random."""
    if groups is None:
        first = np.zeros(n, dtype=bool)
        first[generator.permutation(n)[: n // 2]] = True
        return first
    number = int(groups.max()) + 1
    chosen = np.zeros(number, dtype=bool)
    chosen[generator.permutation(number)[: number // 2]] = True
    return chosen[groups]


def search(data: Data, quantities: Sequence[Quantity]) -> tuple[int, list[Tested]]:
    """Return how many slices were looked at, and those that were tested on the second half.

    Parameters
    ----------
    data : Data
    quantities : sequence of Quantity
    """
    ranked, half = [_RankedSlices() for _ in quantities], _Half(data, quantities)
    looked = _rank_single(half, ranked) + _rank_crossings(half, ranked)
    kept = _kept(data, ranked)
    return looked, [_tested(data, quantities[which], conditions) for which, conditions in kept]


class _Half:
    """The rows of the first half with their quantities, and the positions of all others."""

    def __init__(self, data: Data, quantities: Sequence[Quantity]) -> None:
        self.data, self.quantities = data, quantities
        self.first, self.second = np.flatnonzero(data.first), np.flatnonzero(~data.first)
        self.weights = data.weights[self.first]
        self.values = [one.values[self.first] for one in quantities]
        self.spreads = [float(values.std()) for values in self.values]
        if data.is_weighted:
            self.values = [values * self.weights for values in self.values]

    def split(self, codes: Codes, size: int) -> tuple[Codes, Codes]:
        """Return the codes of a column in both halves; rows of no level get one more."""
        known = np.where(codes < 0, size, codes)
        return known[self.first], known[self.second]


def _rank_single(half: _Half, ranked: list[_RankedSlices]) -> int:
    looked = 0
    for place, column in enumerate(half.data.columns):
        size = len(column.levels)
        ranges = np.array(list(ranges_of(column)), dtype=np.int64)
        table = _Table(half, *half.split(column.codes, size), size + 1)
        low, high = ranges[:, 0], ranges[:, 1] + 1
        large, deviates = table.deviates_of(partial(_between, low=low, high=high))
        if column.is_ordered:  # "over 75" before "over 75, up to 92"
            open_ended = (low == 0) | (high >= column.ordered_levels)
            deviates = [np.where(open_ended[large], z, SIMPLER * z) for z in deviates]
        conditions = [(Condition(place, a, b),) for a, b in ranges[large].tolist()]
        looked += len(conditions)
        for one, found in zip(ranked, deviates, strict=True):
            one.add(conditions, found)
    return looked


def _between(sums: Array, low: Codes, high: Codes) -> Array:
    total = np.concatenate([[0.0], np.cumsum(sums)])
    between: Array = total[high] - total[low]
    return between


def _rank_crossings(half: _Half, ranked: list[_RankedSlices]) -> int:
    looked, coarse = 0, [column.coarse() for column in half.data.columns]
    codes = [half.split(one, len(ranges)) for one, ranges in coarse]
    for a, b in combinations(range(len(coarse)), 2):
        ranges, others = coarse[a][1], coarse[b][1]
        shape = len(ranges) + 1, len(others) + 1
        own, rest = (one * shape[1] + other for one, other in zip(codes[a], codes[b], strict=True))
        table = _Table(half, own, rest, shape[0] * shape[1])
        large, deviates = table.deviates_of(partial(_inner_cells, shape=shape))
        conditions = [
            (Condition(a, *ranges[cell // len(others)]), Condition(b, *others[cell % len(others)]))
            for cell in np.flatnonzero(large).tolist()
        ]
        looked += len(conditions)
        for one, found in zip(ranked, deviates, strict=True):
            one.add(conditions, found)
    return looked


def _inner_cells(sums: Array, shape: tuple[int, int]) -> Array:
    """Return the cells of a crossing without those of rows that have no level."""
    return sums.reshape(shape)[:-1, :-1].ravel()


class _Table:
    """Rows, weights and quantities of each cell of a column or of a crossing.

    Parameters
    ----------
    half : _Half
    own, rest : int arrays
        Cells of the rows of the first half, and of the other rows.
    size : int
        Number of cells.
    """

    def __init__(self, half: _Half, own: Codes, rest: Codes, size: int) -> None:
        self.half = half
        self.first = np.bincount(own, minlength=size).astype(np.float64)
        self.rows: Array = self.first + np.bincount(rest, minlength=size)
        self.weight: Array = self.first
        if half.data.is_weighted:
            self.weight = np.bincount(own, half.weights, size).astype(np.float64)
        self.sums = [np.bincount(own, values, size).astype(np.float64) for values in half.values]

    def deviates_of(self, select: Callable[[Array], Array]) -> tuple[Mask, list[Array]]:
        """Return which slices are large enough, and the deviate of each of these by each quantity."""
        half, n = self.half, len(self.half.first)
        rows, first, weight = (select(part) for part in (self.rows, self.first, self.weight))
        large = (rows >= half.data.smallest) & (first >= FEWEST_IN_HALF)
        large &= (rows - first >= FEWEST_IN_HALF) & (n - first >= FEWEST_IN_HALF)
        first, weight, found = first[large], weight[large], []
        total_weight = float(half.weights.sum())
        for sums, values, one, spread in zip(
            self.sums, half.values, half.quantities, half.spreads, strict=True
        ):
            inside = select(sums)[large]
            outside = (float(values.sum()) - inside) / np.maximum(total_weight - weight, 1e-300)
            mean = inside / np.maximum(weight, 1e-300)
            if one.against_zero:
                gap = np.where(mean > outside, mean, 0.0)
                error = spread / np.sqrt(first)
            else:
                gap, error = mean - outside, spread * np.sqrt(1 / first + 1 / (n - first))
            z = gap / error if spread > 0 else np.zeros(len(first))
            found.append(np.abs(z) if one.two_sided else z)
        return large, found


def _kept(data: Data, ranked: Sequence[_RankedSlices]) -> list[tuple[int, tuple[Condition, ...]]]:
    """Return the slices that are tested, the worst first: without nested ones, at most `MOST_KEPT`."""
    candidates: list[tuple[float, int, tuple[Condition, ...]]] = []
    for which, one in enumerate(ranked):
        deviates = np.concatenate(one.deviates) if one.deviates else np.empty(0)
        best = np.argsort(-deviates, kind="stable")[:MOST_RANKED]
        candidates += [(float(deviates[k]), which, one.conditions[k]) for k in best]
    if not candidates:
        return []
    candidates.sort(key=lambda one: -one[0])
    least = max(LEAST_Z, LEAST_OF_BEST * candidates[0][0])
    kept: list[tuple[int, tuple[Condition, ...]]] = []
    masks: list[tuple[int, Mask]] = []
    for deviate, which, conditions in candidates:
        if deviate < least or len(kept) == MOST_KEPT:
            break
        mask = data.rows_of(conditions)[data.first]
        if not any(kind == which and are_nested(mask, other) for kind, other in masks):
            masks.append((which, mask))
            kept.append((which, conditions))
    return kept


def are_nested(one: Mask, other: Mask) -> bool:
    """Return whether most rows of the smaller of two slices are in the other one."""
    smaller = min(int(one.sum()), int(other.sum()))
    return int((one & other).sum()) >= NESTED * smaller


def _tested(data: Data, quantity: Quantity, conditions: tuple[Condition, ...]) -> Tested:
    """Test a slice on the second half: exactly where rows are equal and independent, else by their sums."""
    inside, second = data.rows_of(conditions) & ~data.first, ~data.first
    outside = second & ~inside
    means = [_mean(quantity.values[rows], data.weights[rows]) for rows in (inside, outside)]
    error, df = _standard_error(data, quantity, ((inside, means[0]),))
    plain = data.groups is None and not data.is_weighted
    if plain and quantity.is_binary:
        p = _fisher(quantity.values[inside], quantity.values[outside])
    elif plain and quantity.against_zero:
        p = _sign_test(quantity.values[inside])
    else:
        parts = ((inside, means[0]),) if quantity.against_zero else ((inside, means[0]), (outside, means[1]))
        whole, _ = _standard_error(data, quantity, parts)
        gap = means[0] - (0.0 if quantity.against_zero else means[1])
        p = _p_of(gap, whole, df, two_sided=quantity.two_sided)
    return Tested(quantity, conditions, inside, means[0], means[1], error, df, p)


def _mean(values: Array, weights: Array) -> float:
    total = float(weights.sum())
    return float(values @ weights) / total if total > 0 else 0.0


def _standard_error(
    data: Data, quantity: Quantity, parts: Sequence[tuple[Mask, float]]
) -> tuple[float, float]:
    """Return the standard error of a mean, or of the difference of two, and its degrees of freedom.

    The units are groups, or rows. The degrees of freedom are those of the units of the first part.
    """
    moves = np.zeros(len(data.first))
    for sign, (rows, mean) in zip((1.0, -1.0), parts, strict=False):
        weights = data.weights[rows]
        moves[rows] = sign * weights * (quantity.values[rows] - mean) / max(float(weights.sum()), 1e-300)
    rows = parts[0][0]
    units, sums = int(rows.sum()), moves
    if data.groups is not None:
        units = len(np.unique(data.groups[rows]))
        sums = np.bincount(data.groups, moves).astype(np.float64)
    if units < 2:
        return math.inf, 1.0
    variance, df = units / (units - 1) * float(sums @ sums), float(units - 1)
    if quantity.variances is not None:
        weights = data.weights[rows]
        least = float(weights**2 @ quantity.variances[rows]) / max(float(weights.sum()), 1e-300) ** 2
        positive = int((quantity.values[rows] > 0).sum())
        variance = max(variance, least)
        df = max(1.0, min(df, positive - 1.0, int(rows.sum()) - positive - 1.0))
    return math.sqrt(variance), df


def _p_of(gap: float, error: float, df: float, *, two_sided: bool) -> float:
    if not math.isfinite(error) or error <= 0:
        return 1.0
    both = two_sided_t(gap / error, df)
    if two_sided:
        return both
    return both / 2 if gap > 0 else 1 - both / 2


def _log_factorials(n: int) -> Array:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])


def _fisher(inside: Array, outside: Array) -> float:
    """Return Fisher's exact one-sided p value of more errors inside than outside."""
    n, m = len(inside), len(outside)
    seen, errors = int(inside.sum()), int(inside.sum() + outside.sum())
    log = _log_factorials(n + m)
    k = np.arange(seen, min(n, errors) + 1)
    ways = log[n] - log[k] - log[n - k] + log[m] - log[errors - k] - log[m - errors + k]
    total = log[n + m] - log[errors] - log[n + m - errors]
    return float(min(np.exp(ways - total).sum(), 1.0))


def _sign_test(inside: Array) -> float:
    """Return the exact one-sided p value of more rows that got worse than rows that got better."""
    worse, better = int((inside > 0).sum()), int((inside < 0).sum())
    n = worse + better
    if n == 0:
        return 1.0
    log = _log_factorials(n)
    k = np.arange(worse, n + 1)
    return float(min(np.exp(log[n] - log[k] - log[n - k] - n * math.log(2)).sum(), 1.0))
