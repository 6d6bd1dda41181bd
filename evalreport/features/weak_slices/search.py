"""The search: slices ranked on the first half of the rows, and tested on the second.

The slices are those of one column and the crossings of two; columns become levels (values, quantile bins,
lengths of texts, missing values) by the rows of the first half only. What is tested was not used to choose
the slices, and Holm's correction covers all that are tested: without a weak slice, one is confirmed in at
most one minus the level of all searches. The search is done twice, with each half as the first one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.text import printable
from evalreport.data.arrays import is_gap, range_text
from evalreport.intervals.distributions import two_sided_t

Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

MOST_COLUMNS = 50
MOST_VALUES = 20
"""Values of a column that are separate slices, the most frequent first."""
FEW_NUMBERS = 10
"""Distinct numbers up to which each number is a separate slice."""
QUANTILES = np.unique([0.01, 0.02, *(np.arange(1, 40) / 40), 0.98, 0.99])
"""Where a numeric column is cut into bins; a slice is any range of them."""
COARSE = 5
"""Quantile bins of a numeric column in the crossing of two columns."""
MOSTLY = 0.5
"""Proportion of the rows that frequent values must have; else a text is searched by its length."""
LONGEST_VALUE = 40
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")
MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class SearchColumn:
    """A column as codes of levels, in order, and the slices that are made of them.

    Parameters
    ----------
    name : str
    codes : int array of shape (n,)
        Level of each row; -1 for a level that is not a slice.
    levels : tuple of str
        A level in words, after the name: ``= north``, ``over 20, up to 30``.
    is_ordered : bool
        Whether ranges of levels are slices, too.
    edges : float array
        Of ordered levels, the upper ends of all but the last one.
    missing : int or None
        The level of rows without a value.
    dates : bool
        Whether the edges are days.
    """

    name: str
    codes: Codes
    levels: tuple[str, ...]
    is_ordered: bool = False
    edges: npt.NDArray[np.float64] | None = None
    missing: int | None = None
    dates: bool = False

    @property
    def ordered_levels(self) -> int:
        """Number of levels that have an order; a level of missing values follows them."""
        return len(self.levels) - (self.missing is not None)

    def text(self, first: int, last: int) -> str:
        """Return a range of levels in words."""
        if self.edges is None or first == self.missing:
            return self.levels[first]
        show = _show_day if self.dates else _show_number
        return range_text([show(edge) for edge in self.edges.tolist()], first, last)

    def coarse(self) -> tuple[Codes, tuple[tuple[int, int], ...]]:
        """Return the codes and ranges of few levels, for the crossing of two columns."""
        if not self.is_ordered:
            return self.codes, tuple((level, level) for level in range(len(self.levels)))
        size = self.ordered_levels
        starts = np.unique(np.round(np.linspace(0, size, min(COARSE, size) + 1)).astype(np.int64))[:-1]
        ends = [*(starts[1:] - 1).tolist(), size - 1]
        ranges = [*zip(starts.tolist(), ends, strict=True)]
        place = np.searchsorted(starts, np.arange(size), side="right") - 1
        if self.missing is not None:
            ranges.append((self.missing, self.missing))
            place = np.append(place, len(ranges) - 1)
        return np.where(self.codes < 0, -1, place[self.codes]), tuple(ranges)


def _show_day(edge: float) -> str:
    return str(np.datetime64(int(edge), "D"))


def _show_number(edge: float) -> str:
    return f"{edge:.15g}"


def search_columns(
    columns: Mapping[str, npt.NDArray[Any]], names: list[str], halves: Sequence[Mask]
) -> list[list[SearchColumn]]:
    """Return for each half the columns that can be searched; ids and columns with one value are not.

    Parameters
    ----------
    columns : mapping from name to array of shape (n,)
    names : list of str
        Which of them are searched, at most the first fifty that can be.
    halves : sequence of bool arrays of shape (n,)
        Rows that choose the slices.
    """
    found: list[list[SearchColumn]] = [[] for _ in halves]
    for name in names:
        values = columns[name]
        texts = _texts(values) if values.dtype.kind not in "iufM" else None
        for half, one in zip(halves, found, strict=True):
            column = _of_texts(name, *texts, half) if texts else _of_numbers(name, values, half)
            if column is not None and len(np.unique(column.codes[column.codes >= 0])) > 1:
                one.append(column)
        if max(map(len, found)) >= MOST_COLUMNS:
            break
    return found


def _of_numbers(name: str, values: npt.NDArray[Any], first: Mask) -> SearchColumn | None:
    if values.dtype.kind in "iuf":
        if values.dtype.kind in "iu" and len(np.unique(values)) == len(values):
            return None  # as many numbers as rows: an id
        return _numeric(name, values.astype(np.float64), first)
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        return _numeric(name, np.where(np.isnat(days), np.nan, days.astype(np.float64)), first, dates=True)
    return None


def _numeric(
    name: str, numbers: npt.NDArray[np.float64], first: Mask, *, dates: bool = False
) -> SearchColumn | None:
    known = np.isfinite(numbers)
    seen = np.unique(numbers[known & first])
    if len(seen) + (not known.all()) < 2:
        return None
    if len(seen) <= FEW_NUMBERS and not dates:
        return _categorical(name, numbers, known, seen)
    edges = np.quantile(numbers[known & first], QUANTILES, method="higher")
    if not dates:  # rounded before rows are binned, so that the numbers in words are exact
        edges = np.array([float(f"{edge:.4g}") for edge in edges])
    edges = np.unique(edges)
    edges = edges[edges < seen[-1]]
    if not len(edges):
        return None
    codes = np.searchsorted(edges, np.where(known, numbers, 0.0), side="left")
    levels = tuple("" for _ in range(len(edges) + 1))
    missing = None
    if not known.all():
        missing, levels = len(levels), (*levels, f"= {MISSING}")
        codes = np.where(known, codes, missing)
    return SearchColumn(name, codes.astype(np.int64), levels, True, edges, missing, dates)


def _categorical(
    name: str, numbers: npt.NDArray[np.float64], known: Mask, seen: npt.NDArray[np.float64]
) -> SearchColumn:
    place = np.minimum(np.searchsorted(seen, np.where(known, numbers, seen[0])), len(seen) - 1)
    codes = np.where(known & (seen[place] == numbers), place, -1)
    levels = tuple(f"= {value:.15g}" for value in seen)
    if not known.all():
        codes, levels = np.where(known, codes, len(levels)), (*levels, f"= {MISSING}")
    return SearchColumn(name, codes.astype(np.int64), levels)


def _texts(values: npt.NDArray[Any]) -> tuple[Codes, list[str]] | None:
    """Return a column of texts, booleans or mixed values as codes of distinct texts; None for lists."""
    cells = values.tolist()
    if any(isinstance(cell, (list, tuple, dict, set, np.ndarray)) for cell in cells[:1000]):
        return None
    if not set(map(type, cells)) <= {str, type(None)}:
        cells = [MISSING if is_gap(cell) else str(cell) for cell in cells]
    raw: dict[Any, int] = {}
    codes = np.fromiter((raw.setdefault(cell, len(raw)) for cell in cells), np.int64, len(cells))
    places: dict[str, int] = {}
    texts = (MISSING if is_gap(cell) else cell for cell in raw)
    place = np.array([places.setdefault(text, len(places)) for text in texts], dtype=np.int64)
    return place[codes], list(places)


def _of_texts(name: str, codes: Codes, names: list[str], first: Mask) -> SearchColumn | None:
    """Return frequent values, dates, or the length of texts."""
    counts = np.bincount(codes, minlength=len(names))
    numbers = _as_dates(names)
    if numbers is not None and len(names) > FEW_NUMBERS:
        return _numeric(name, numbers[codes], first, dates=True)
    frequent = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    if counts[frequent].sum() < MOSTLY * len(codes):
        lengths = np.array([np.nan if text == MISSING else len(text) for text in names])
        return _numeric(f"length of {name}", lengths[codes], first)
    if MISSING in names and names.index(MISSING) not in frequent:
        frequent = np.append(frequent, names.index(MISSING))
    level = np.full(len(names), -1, dtype=np.int64)
    level[frequent] = np.arange(len(frequent))
    return SearchColumn(name, level[codes], tuple(f"= {_short(names[code])}" for code in frequent))


def _as_dates(names: list[str]) -> npt.NDArray[np.float64] | None:
    """Return distinct texts as days since 1970; None where some are not dates."""
    given = [text for text in names if text != MISSING]
    if not given or not all(_DATE.fullmatch(text) for text in given[:100]):
        return None
    try:
        days = {text: float(np.datetime64(text[:10], "D").astype(np.int64)) for text in given}
    except ValueError:
        return None
    return np.array([days.get(text, np.nan) for text in names])


def _short(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= LONGEST_VALUE else shown[: LONGEST_VALUE - 1] + "…"


def ranges_of(column: SearchColumn) -> Iterator[tuple[int, int]]:
    """Yield the ranges of levels that are slices of one column."""
    if not column.is_ordered:
        yield from ((level, level) for level in range(len(column.levels)))
        return
    size = column.ordered_levels
    yield from ((low, high) for low in range(size) for high in range(low, size) if high - low + 1 < size)
    if column.missing is not None:
        yield column.missing, column.missing


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
    kept = _kept_slices(data, ranked)
    return looked, [_test_slice(data, quantities[which], conditions) for which, conditions in kept]


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
        large, deviates = table.deviates_of(partial(_sums_between, low=low, high=high))
        if column.is_ordered:  # "over 75" before "over 75, up to 92"
            open_ended = (low == 0) | (high >= column.ordered_levels)
            deviates = [np.where(open_ended[large], z, SIMPLER * z) for z in deviates]
        conditions = [(Condition(place, a, b),) for a, b in ranges[large].tolist()]
        looked += len(conditions)
        for one, found in zip(ranked, deviates, strict=True):
            one.add(conditions, found)
    return looked


def _sums_between(sums: Array, low: Codes, high: Codes) -> Array:
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


def _kept_slices(data: Data, ranked: Sequence[_RankedSlices]) -> list[tuple[int, tuple[Condition, ...]]]:
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


def _test_slice(data: Data, quantity: Quantity, conditions: tuple[Condition, ...]) -> Tested:
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
