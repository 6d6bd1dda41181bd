"""Folds and resamples of a sweep: from counts only, or by row or group if rows have weights or groups.

All arrays contain the weight at the m thresholds of a sweep: entry i is the weight of scores from threshold i
up to the next. They are sums over rows, so a fold or a resample costs the size of the sweep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from evalreport.curves.curve import evenly_spaced_places
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores
from evalreport.intervals.bootstrap import posterior
from evalreport.intervals.interval_settings import Sampling, by_rows
from evalreport.statistics.confusion import Array, BinaryCounts, Places, sums
from evalreport.statistics.resampling import Stream, poisson_counts
from evalreport.statistics.stored_columns import PIECE, is_stored, run_sums, to_stored_column
from evalreport.thresholds.sweep import Sweep

EXACT = 50_000
"""Most rows for exactly stratified folds. Above, each count is split at random, which changes a fold by about
1% of its rows (1 / sqrt(5000))."""
MANY = 250_000
"""Grouped rows above which there are fewer resamples."""
DRAWS = 10_000_000
"""Most random numbers for one interval: 80 MB."""


@dataclass(frozen=True, eq=False)
class SplitWeights:
    """Weight of positives and negatives at each threshold, one row per fold or resample.

    Parameters
    ----------
    pos, neg : float64 arrays of shape (parts, m)
    part_of_row : int array of shape (rows,), or None
        Fold of each row in the order of `RowGroups`, if there are groups.
    """

    pos: Array
    neg: Array
    part_of_row: Places | None = None

    def counts(self) -> SplitCounts:
        """Return the counts at every threshold of each part, fields of shape (parts, m)."""
        tp, fp = _upward(self.pos), _upward(self.neg)
        return SplitCounts(tp, fp, tp[:, :1] - tp, fp[:, :1] - fp)


class SplitCounts(BinaryCounts):
    """Counts of parts whose first threshold flags all rows, so that it gives the class sizes."""

    def __getitem__(self, parts: slice | npt.NDArray[np.bool_]) -> SplitCounts:
        return SplitCounts(*(cell[parts] for cell in (self.tp, self.fp, self.fn, self.tn)))

    @property
    def positives(self) -> Array:
        """All positives, shape (parts, 1)."""
        found: Array = self.tp[:, :1]
        return found

    @property
    def negatives(self) -> Array:
        """All negatives, shape (parts, 1)."""
        found: Array = self.fp[:, :1]
        return found


def _upward(weight: Array) -> Array:
    total: Array = weight[..., ::-1].cumsum(axis=-1)[..., ::-1]
    return total


def kish(total: float, squares: float) -> float:
    """Return the effective number of rows of some weights, from their sum and sum of squares (Kish 1965).

    Examples
    --------
    >>> kish(4.0, 4.0), kish(4.0, 10.0), kish(0.0, 0.0)
    (4.0, 1.6, 0.0)
    """
    return total**2 / squares if squares > 0 else 0.0


@dataclass(frozen=True, eq=False)
class SingleRows:
    """Rows without groups: sums of their weights and squared weights are sufficient.

    Parameters
    ----------
    pos, neg : float64 arrays of shape (m,)
        Weight at each threshold.
    pos_squares, neg_squares : float64 arrays of shape (m,)
        Sum of squared weights; with the weight it gives the effective number of rows (Kish 1965).
    """

    pos: Array
    neg: Array
    pos_squares: Array
    neg_squares: Array

    @classmethod
    def from_sweep(cls, sweep: Sweep, count: float | None = None, *, counted: bool = False) -> SingleRows:
        """Return the units of a sweep.

        Parameters
        ----------
        count : float, optional
            Number of rows of weighted counts. Without it, integer weights count as rows of weight 1, and
            other weights as one row per score.
        counted : bool
            Whether every row is known to have weight 1.
        """
        if is_stored(sweep.tp) or (counted and len(sweep) > PIECE):  # only sums of it are needed
            pos, neg = (cast(Array, to_stored_column(above).steps()) for above in (sweep.tp, sweep.fp))
            return cls(pos, neg, pos, neg)
        pos, neg = (np.zeros(len(sweep)), np.zeros(len(sweep)))
        np.subtract(sweep.tp[:-1], sweep.tp[1:], out=pos[:-1])
        np.subtract(sweep.fp[:-1], sweep.fp[1:], out=neg[:-1])
        if count is not None:
            each = (sweep.positives + sweep.negatives) / count
            return cls(pos, neg, pos * each, neg * each)
        whole = counted or all(bool((part == np.rint(part)).all()) for part in (pos, neg))
        return cls(pos, neg, *((pos, neg) if whole else (pos**2, neg**2)))

    @classmethod
    def from_weighted_rows(cls, sweep: Sweep, rows: Predictions) -> SingleRows:
        """Return the units of the weighted rows of a sweep."""
        place, positive, m = _places(sweep, rows), rows.y_true.astype(bool), len(sweep)
        pos, neg = (sums(place, rows.weights * (positive == kind), m) for kind in (True, False))
        squares = (sums(place, rows.weights**2 * (positive == kind), m) for kind in (True, False))
        return cls(pos, neg, *squares)

    def narrow_thresholds(self, kept: Places) -> SingleRows:
        """Return the units at some of the thresholds."""
        pos, neg = (run_sums(part, kept) for part in (self.pos, self.neg))
        if self.pos_squares is self.pos:
            return SingleRows(pos, neg, pos, neg)
        return SingleRows(
            pos, neg, *(np.add.reduceat(part, kept) for part in (self.pos_squares, self.neg_squares))
        )

    def fewest(self) -> int:
        """Return the number of rows of the smaller class."""
        return int(min(self._units(*part).sum() for part in self._classes()))

    def effective(self, start: int = 0, stop: int | None = None) -> tuple[float, float, float]:
        """Return the effective numbers of positives, negatives and rows at some thresholds (Kish 1965)."""
        some = slice(start, stop)
        pos, neg, pos_squares, neg_squares = (float(part[some].sum()) for part in self._parts())
        return kish(pos, pos_squares), kish(neg, neg_squares), kish(pos + neg, pos_squares + neg_squares)

    def folds(self, folds: int, rng: np.random.Generator) -> SplitWeights:
        """Return a random split into folds, stratified by class."""
        pos, neg = (self._fold(*part, folds, rng) for part in self._classes())
        return SplitWeights(pos, neg)

    def resamples(self, size: int, rng: np.random.Generator) -> SplitWeights:
        """Return Poisson resamples of the rows."""
        pos, neg = (self._resample(*part, size, rng) for part in self._classes())
        return SplitWeights(pos, neg)

    def draw_counts(self, counts: BinaryCounts, sampling: Sampling) -> BinaryCounts:
        """Return posterior samples of the counts of an operating point, with the effective number of rows."""
        pos, neg, pos_squares, neg_squares = (float(part.sum()) for part in self._parts())
        scale = (pos + neg) / (pos_squares + neg_squares)
        cells = (counts.tp, counts.fp, counts.fn, counts.tn)
        drawn = posterior(BinaryCounts(*(cell * scale for cell in cells)), sampling)
        total = float(counts.total)  # proportions of all rows, converted to numbers of rows
        return BinaryCounts(*(cell * total for cell in (drawn.tp, drawn.fp, drawn.fn, drawn.tn)))

    def _parts(self) -> tuple[Array, Array, Array, Array]:
        return self.pos, self.neg, self.pos_squares, self.neg_squares

    def _classes(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        return (self.pos, self.pos_squares), (self.neg, self.neg_squares)

    @staticmethod
    def _effective(weight: Array, squares: Array) -> Array:
        return np.divide(weight**2, squares, out=np.zeros_like(weight), where=squares > 0)

    def _units(self, weight: Array, squares: Array) -> npt.NDArray[np.int64]:
        """Integer numbers of rows, at least one where there is weight."""
        rows = np.rint(self._effective(weight, squares)).astype(np.int64)
        return np.maximum(rows, (weight > 0).astype(np.int64))

    def _resample(self, weight: Array, squares: Array, size: int, rng: np.random.Generator) -> Array:
        rows = self._effective(weight, squares)
        each = np.divide(weight, rows, out=np.zeros_like(weight), where=rows > 0)
        return poisson_counts(rows, size, rng) * each

    def _fold(self, weight: Array, squares: Array, folds: int, rng: np.random.Generator) -> Array:
        units = self._units(weight, squares)
        each = np.divide(weight, units, out=np.zeros_like(weight), where=units > 0)
        if units.sum() > EXACT:
            return rng.multinomial(units, np.full(folds, 1 / folds)).T.astype(np.float64) * each
        place = np.repeat(np.arange(len(units)), units)
        fold = rng.permutation(len(place)) % folds
        found = np.bincount(fold * len(units) + place, minlength=folds * len(units))
        return found.reshape(folds, len(units)).astype(np.float64) * each


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Grouped rows: whole groups are put into folds and resampled.

    Parameters
    ----------
    pos, neg : float64 arrays of shape (m,)
        Weight at each threshold.
    cell : int array of shape (rows,)
        Position of the threshold that each row's score reaches, plus m for a negative; ascending.
    unit : int array of shape (rows,)
        Group of each row.
    weights : float64 array of shape (rows,)
    """

    pos: Array
    neg: Array
    cell: Places
    unit: Places
    weights: Array

    @classmethod
    def from_grouped_rows(cls, sweep: Sweep, rows: Predictions) -> RowGroups:
        """Return the units of the grouped rows of a sweep."""
        unit = np.arange(len(rows)) if rows.groups is None else rows.groups.codes.astype(np.intp)
        cell = _places(sweep, rows) + len(sweep) * (rows.y_true == 0)
        order = np.argsort(cell, kind="stable")
        pos, neg = sums(cell, rows.weights, 2 * len(sweep)).reshape(2, -1)
        return cls(pos, neg, cell[order], unit[order], rows.weights[order])

    def narrow_thresholds(self, kept: Places) -> RowGroups:
        """Return the units at some of the thresholds."""
        m = len(self.pos)
        at = np.repeat(np.arange(len(kept)), np.diff(np.append(kept, m)))
        cell = at[self.cell % m] + len(kept) * (self.cell // m)
        pos, neg = (np.add.reduceat(part, kept) for part in (self.pos, self.neg))
        return replace(self, pos=pos, neg=neg, cell=cell)

    def fewest(self) -> int:
        """Return the number of groups with positives, or with negatives, whichever is smaller."""
        positive = self.cell < len(self.pos)
        return min(len(np.unique(self.unit[positive == kind])) for kind in (True, False))

    def effective(self, start: int = 0, stop: int | None = None) -> tuple[float, float, float]:
        """Return the effective numbers of positives, negatives and rows at some thresholds.

        A group counts as one row, as if its rows were all the same. This is safe for any correlation within
        groups; `independent` estimates the correlation for one class.
        """
        m = len(self.pos)
        place, positive = self.cell % m, self.cell < m
        weight = self.weights * ((place >= start) & (place < (m if stop is None else stop)))
        sides = (np.bincount(self.unit, weight * kind) for kind in (positive, ~positive, True))
        pos, neg, every = (kish(float(part.sum()), float((part**2).sum())) for part in sides)
        return pos, neg, every

    def independent(self, share: float, *, positive: bool) -> float:
        """Return the effective number of rows of one class for a limit on its proportion of wrong rows.

        The correlation of rows in a group is that of their ranks, or of whether they are among the worst
        `share` of the scores: the greater of both upper 95% limits. With few groups of several rows the
        result is close to one row per group (design effect: Kish 1965).
        """
        m = len(self.pos)
        own = (self.cell < m) == positive
        unit, weights, place = self.unit[own], self.weights[own], self.cell[own] % m
        if not len(unit):
            return 0.0
        ranks = _ranks(place if positive else -place)
        worst = np.asarray(ranks <= share, dtype=np.float64)
        correlation = max(upper_correlation(ranks, unit), upper_correlation(worst, unit))
        groups, rows = (float((part**2).sum()) for part in (np.bincount(unit, weights), weights))
        return kish(float(weights.sum()), correlation * groups + (1 - correlation) * rows)

    def folds(self, folds: int, rng: np.random.Generator) -> SplitWeights:
        """Return a random split of whole groups into folds."""
        part, cells = self._dealt(folds, rng)[self.unit], 2 * len(self.pos)
        found = sums(part * cells + self.cell, self.weights, folds * cells).reshape(folds, 2, -1)
        return SplitWeights(found[:, 0], found[:, 1], part)

    def _dealt(self, folds: int, rng: np.random.Generator, times: Array | None = None) -> Places:
        """The fold of each group; those with most positives first, so that folds have similar numbers."""
        positives = np.asarray(np.bincount(self.unit, self.weights * (self.cell < len(self.pos))), np.float64)
        if times is not None:
            positives = positives * times
        order = rng.permutation(len(positives))
        order = order[np.argsort(-positives[order], kind="stable")]
        fold = np.empty(len(order), dtype=np.intp)
        fold[order] = (np.arange(len(order)) + rng.integers(folds)) % folds
        return fold

    def resamples(self, size: int, rng: np.random.Generator) -> SplitWeights:
        """Return Poisson resamples of the groups; above 250,000 rows half as many."""
        starts = np.flatnonzero(np.append(True, np.diff(self.cell) > 0))
        size = size if len(self.cell) <= MANY else size // 2
        found, groups = np.zeros((size, 2 * len(self.pos))), int(self.unit.max()) + 1
        for row in found:
            (times,) = poisson_counts(np.ones(groups), 1, rng)
            row[self.cell[starts]] = np.add.reduceat(self.weights * times[self.unit], starts)
        return SplitWeights(*found.reshape(size, 2, -1).transpose(1, 0, 2))

    def resample_folds(self, folds: int, size: int, rng: np.random.Generator) -> SplitWeights:
        """Return Poisson resamples of the groups, each split into folds: one row per resample and fold.

        Above 250,000 rows there are a quarter as many.
        """
        size = size if len(self.cell) <= MANY else size // 4
        cells, groups = 2 * len(self.pos), int(self.unit.max()) + 1
        found = np.zeros((size, folds, cells))
        for resample in found:
            (times,) = poisson_counts(np.ones(groups), 1, rng)
            at = self._dealt(folds, rng, times)[self.unit] * cells + self.cell
            resample[:] = sums(at, self.weights * times[self.unit], folds * cells).reshape(folds, cells)
        pos, neg = found.reshape(size * folds, 2, -1).transpose(1, 0, 2)
        return SplitWeights(pos, neg)

    def draw_counts(self, at: Places, sampling: Sampling) -> BinaryCounts:
        """Return resamples of the counts with thresholds at positions, one for all rows or one per row.

        Groups with the same counts are resampled together.
        """
        m, size = len(self.pos), int(self.unit.max()) + 1
        outcome = 2 * (self.cell // m) + (self.cell % m < at)  # tp, fn, fp, tn
        cells = sums(outcome * size + self.unit, self.weights, 4 * size).reshape(4, size)
        patterns, times = np.unique(cells, axis=1, return_counts=True)
        # 200 resamples estimate a standard error to 5% (1 / sqrt(2 * 200))
        draws = max(200, min(sampling.resamples, DRAWS // len(times)))
        drawn = poisson_counts(times, draws, sampling.generator(Stream.SCORE_PATTERNS)) @ patterns.T
        tp, fn, fp, tn = drawn.T
        return BinaryCounts(tp, fp, fn, tn)


def _ranks(values: Places) -> Array:
    """Mid-rank of each value, divided by the number of values."""
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    middles = np.asarray((np.cumsum(times) - (times - 1) / 2) / len(values))
    found: Array = middles[place]
    return found


def upper_correlation(values: Array, unit: Places) -> float:
    """Return the upper 95% limit of the intraclass correlation.

    Parameters
    ----------
    values : float64 array of shape (rows,)
    unit : int array of shape (rows,)
        Group of each row.

    Returns
    -------
    float
        In [0, 1]; 1 if there is one group or no group with several rows; 0 if all values are equal.

    References
    ----------
    Donner 1986, International Statistical Review 54:67; Searle 1971 for the limit.

    Examples
    --------
    >>> unit = np.repeat(np.arange(30), 4)
    >>> rng = np.random.default_rng(0)
    >>> alike = rng.normal(size=30)[unit]
    >>> [round(upper_correlation(x, unit), 1) for x in (alike, alike + rng.normal(size=120))]
    [1.0, 0.5]
    """
    from scipy.special import fdtri

    sizes = np.bincount(unit)
    sizes = sizes[sizes > 0]
    rows, groups = len(values), len(sizes)
    if groups < 2 or rows == groups:
        return 1.0
    if values.min() == values.max():
        return 0.0
    unit = np.unique(unit, return_inverse=True)[1]
    means = np.bincount(unit, values) / sizes
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (groups - 1)
    within = float(((values - means[unit]) ** 2).sum()) / (rows - groups)
    if within <= 0:
        return 1.0
    size, ratio = (rows - float((sizes**2).sum()) / rows) / (groups - 1), between / within
    ratio /= float(fdtri(groups - 1, rows - groups, 0.05))
    return float(np.clip((ratio - 1) / (ratio + size - 1), 0, 1))


Units: TypeAlias = SingleRows | RowGroups
"""The units that splits and resamples are made of."""


def _places(sweep: Sweep, rows: Predictions) -> Places:
    """Position of the threshold that each row's score reaches."""
    assert not isinstance(rows.scores, NoScores)  # noqa: S101  the sweep comes from them
    place = np.searchsorted(sweep.thresholds, rows.scores.values.astype(np.float64), side="right") - 1
    return np.maximum(place, 0)  # a row without weight can be below every threshold


def units_of(sweep: Sweep, rows: Predictions | None, count: float | None) -> Units:
    """Return the units of the rows of a sweep.

    Parameters
    ----------
    rows : Predictions, optional
        Needed if they have weights or groups.
    count : float, optional
        Number of rows of weighted counts without the rows.
    """
    if rows is None or not by_rows(rows):
        return SingleRows.from_sweep(sweep, count, counted=rows is not None)
    return (
        RowGroups.from_grouped_rows(sweep, rows)
        if rows.groups is not None
        else SingleRows.from_weighted_rows(sweep, rows)
    )


def narrow_sweep(sweep: Sweep, units: Units, limit: int) -> tuple[Sweep, Units]:
    """Return a sweep at about `limit` thresholds, evenly along the ROC curve, with its ends and optima.

    The weight between two kept thresholds is added to the lower one.
    """
    if len(sweep) <= limit:
        return sweep, units

    def length(place: Places) -> Array:
        return -(
            sweep.tp[place] / max(sweep.positives, 1e-300) + sweep.fp[place] / max(sweep.negatives, 1e-300)
        )

    kept = np.union1d(evenly_spaced_places(length, len(sweep), limit), sweep.optimal())
    fewer = replace(sweep, thresholds=sweep.thresholds[kept], tp=sweep.tp[kept], fp=sweep.fp[kept])
    if is_stored(units.pos):  # rows of weight 1: their sums are exact, too
        return fewer, SingleRows.from_sweep(fewer, counted=True)
    return fewer, units.narrow_thresholds(kept)
