"""Folds and resamples of a sweep: from counts alone, or by row or group where these weigh or belong together.

All arrays hold weight at the m thresholds of a sweep: entry i is what is scored from threshold i up to
the next one. They are sums over rows, so that a fold or a resample costs the size of the sweep.
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
"""Rows up to which folds are exactly stratified; above it each count is split at random, which moves
a fold by about one per cent of its rows (1 / sqrt(5000))."""
MANY = 250_000
"""Grouped rows above which fewer resamples are made."""
DRAWS = 10_000_000
"""Numbers that are drawn for one interval: 80 MB."""


@dataclass(frozen=True, eq=False)
class SplitWeights:
    """Weight of positives and negatives at each threshold, one row per fold or resample.

    Parameters
    ----------
    pos, neg : float64 arrays of shape (parts, m)
    part_of_row : int array of shape (rows,), or None
        Fold of each row in the order of `RowGroups`, where there are groups.
    """

    pos: Array
    neg: Array
    part_of_row: Places | None = None

    def counts(self) -> SplitCounts:
        """Return the counts at every threshold of each part, fields of shape (parts, m)."""
        tp, fp = _upward(self.pos), _upward(self.neg)
        return SplitCounts(tp, fp, tp[:, :1] - tp, fp[:, :1] - fp)


class SplitCounts(BinaryCounts):
    """Counts of parts whose first threshold flags all: what it tells of the classes holds at every other."""

    def __getitem__(self, parts: slice | npt.NDArray[np.bool_]) -> SplitCounts:
        return SplitCounts(*(cell[parts] for cell in (self.tp, self.fp, self.fn, self.tn)))

    @property
    def positives(self) -> Array:
        """All of the class, shape (parts, 1)."""
        found: Array = self.tp[:, :1]
        return found

    @property
    def negatives(self) -> Array:
        """All that are not of the class, shape (parts, 1)."""
        found: Array = self.fp[:, :1]
        return found


def _upward(weight: Array) -> Array:
    total: Array = weight[..., ::-1].cumsum(axis=-1)[..., ::-1]
    return total


def kish(total: float, squares: float) -> float:
    """Return how many rows of equal weight some weights are worth, from their sum and sum of squares.

    Examples
    --------
    >>> kish(4.0, 4.0), kish(4.0, 10.0), kish(0.0, 0.0)
    (4.0, 1.6, 0.0)
    """
    return total**2 / squares if squares > 0 else 0.0


@dataclass(frozen=True, eq=False)
class SingleRows:
    """Rows that do not belong together: the sums of their weights and squared weights say enough.

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
            Number of rows of weighted counts. Without it, whole weights are treated as rows that
            weigh 1, and others for one row a score.
        counted : bool
            Whether every row is known to weigh 1.
        """
        if is_stored(sweep.tp) or (counted and len(sweep) > PIECE):  # only its sums are used
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
        """Return the units of weighted rows that a sweep was made of."""
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
        """Return how many positives, negatives and rows some of the thresholds are worth (Kish 1965)."""
        some = slice(start, stop)
        pos, neg, pos_squares, neg_squares = (float(part[some].sum()) for part in self._parts())
        return kish(pos, pos_squares), kish(neg, neg_squares), kish(pos + neg, pos_squares + neg_squares)

    def folds(self, folds: int, rng: np.random.Generator) -> SplitWeights:
        """Return a random split, stratified by class."""
        pos, neg = (self._fold(*part, folds, rng) for part in self._classes())
        return SplitWeights(pos, neg)

    def resamples(self, size: int, rng: np.random.Generator) -> SplitWeights:
        """Return Poisson resamples of the rows."""
        pos, neg = (self._resample(*part, size, rng) for part in self._classes())
        return SplitWeights(pos, neg)

    def draw_counts(self, counts: BinaryCounts, sampling: Sampling) -> BinaryCounts:
        """Return draws of the counts of an operating point, on as many rows as these are worth."""
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
        """Whole numbers of rows, at least one wherever there is weight."""
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
    """Rows that belong together: whole groups are folded and drawn.

    Parameters
    ----------
    pos, neg : float64 arrays of shape (m,)
        Weight at each threshold.
    cell : int array of shape (rows,)
        The threshold that each row's score reaches, plus m for a negative; ascending.
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
        """Return the units of grouped rows that a sweep was made of."""
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
        """Return the number of groups that hold the class which fewer groups hold."""
        positive = self.cell < len(self.pos)
        return min(len(np.unique(self.unit[positive == kind])) for kind in (True, False))

    def effective(self, start: int = 0, stop: int | None = None) -> tuple[float, float, float]:
        """Return how many positives, negatives and rows some of the thresholds are worth.

        A group counts as one row however many it holds, as if all of them were alike, which is right whatever
        their correlation is; `independent` knows it of one class.
        """
        m = len(self.pos)
        place, positive = self.cell % m, self.cell < m
        weight = self.weights * ((place >= start) & (place < (m if stop is None else stop)))
        sides = (np.bincount(self.unit, weight * kind) for kind in (positive, ~positive, True))
        pos, neg, every = (kish(float(part.sum()), float((part**2).sum())) for part in sides)
        return pos, neg, every

    def independent(self, share: float, *, positive: bool) -> float:
        """Return how many independent rows of one class those that are wrong at most by a share are worth.

        Rows of a group are as much alike as their scores are, in their ranks and in whether they are among
        the share that scores worst: the greater of both, each by its upper 95% limit. With fewer groups of
        several rows this is nearer to one row a group (design effect: Kish 1965).
        """
        m = len(self.pos)
        own = (self.cell < m) == positive
        unit, weights, place = self.unit[own], self.weights[own], self.cell[own] % m
        if not len(unit):
            return 0.0
        ranks = _ranks(place if positive else -place)
        worst = np.asarray(ranks <= share, dtype=np.float64)
        alike = max(upper_correlation(ranks, unit), upper_correlation(worst, unit))
        groups, rows = (float((part**2).sum()) for part in (np.bincount(unit, weights), weights))
        return kish(float(weights.sum()), alike * groups + (1 - alike) * rows)

    def folds(self, folds: int, rng: np.random.Generator) -> SplitWeights:
        """Return a random split of whole groups."""
        part, cells = self._dealt(folds, rng)[self.unit], 2 * len(self.pos)
        found = sums(part * cells + self.cell, self.weights, folds * cells).reshape(folds, 2, -1)
        return SplitWeights(found[:, 0], found[:, 1], part)

    def _dealt(self, folds: int, rng: np.random.Generator, times: Array | None = None) -> Places:
        """The fold of each group; those with the most positives first, so that folds hold about as many."""
        positives = np.asarray(np.bincount(self.unit, self.weights * (self.cell < len(self.pos))), np.float64)
        if times is not None:
            positives = positives * times
        order = rng.permutation(len(positives))
        order = order[np.argsort(-positives[order], kind="stable")]
        fold = np.empty(len(order), dtype=np.intp)
        fold[order] = (np.arange(len(order)) + rng.integers(folds)) % folds
        return fold

    def resamples(self, size: int, rng: np.random.Generator) -> SplitWeights:
        """Return Poisson resamples of the groups; of over 250,000 rows half as many."""
        starts = np.flatnonzero(np.append(True, np.diff(self.cell) > 0))
        size = size if len(self.cell) <= MANY else size // 2
        found, groups = np.zeros((size, 2 * len(self.pos))), int(self.unit.max()) + 1
        for row in found:
            (times,) = poisson_counts(np.ones(groups), 1, rng)
            row[self.cell[starts]] = np.add.reduceat(self.weights * times[self.unit], starts)
        return SplitWeights(*found.reshape(size, 2, -1).transpose(1, 0, 2))

    def resample_folds(self, folds: int, size: int, rng: np.random.Generator) -> SplitWeights:
        """Return Poisson resamples of the groups, each dealt into folds: one row per resample and fold.

        Of over 250,000 rows there are a quarter as many.
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
        """Return draws of the counts with each row decided at a place, one for all or one per row.

        RowGroups whose counts are the same are drawn together.
        """
        m, size = len(self.pos), int(self.unit.max()) + 1
        outcome = 2 * (self.cell // m) + (self.cell % m < at)  # tp, fn, fp, tn
        cells = sums(outcome * size + self.unit, self.weights, 4 * size).reshape(4, size)
        patterns, times = np.unique(cells, axis=1, return_counts=True)
        # 200 draws know a standard error to 5% (1 / sqrt(2 * 200))
        draws = max(200, min(sampling.resamples, DRAWS // len(times)))
        drawn = poisson_counts(times, draws, sampling.generator(Stream.SCORE_PATTERNS)) @ patterns.T
        tp, fn, fp, tn = drawn.T
        return BinaryCounts(tp, fp, fn, tn)


def _ranks(values: Places) -> Array:
    """Proportion of the values at or below each, ties at their middle."""
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
        Group of each.

    Returns
    -------
    float
        In [0, 1]; 1 where groups of one row, or a single group, leave it unknown; 0 where no value differs.

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
"""The random parts of splits and resamples."""


def _places(sweep: Sweep, rows: Predictions) -> Places:
    """The threshold that each row's score reaches."""
    assert not isinstance(rows.scores, NoScores)  # noqa: S101  a sweep was made of them
    place = np.searchsorted(sweep.thresholds, rows.scores.values.astype(np.float64), side="right") - 1
    return np.maximum(place, 0)  # a row without weight may lie below every threshold


def units_of(sweep: Sweep, rows: Predictions | None, count: float | None) -> Units:
    """Return the units of the rows that a sweep was made of.

    Parameters
    ----------
    rows : Predictions, optional
        Needed where they weigh or belong together.
    count : float, optional
        Number of rows behind weighted counts, when the rows are not at hand.
    """
    if rows is None or not by_rows(rows):
        return SingleRows.from_sweep(sweep, count, counted=rows is not None)
    return (
        RowGroups.from_grouped_rows(sweep, rows)
        if rows.groups is not None
        else SingleRows.from_weighted_rows(sweep, rows)
    )


def narrow_sweep(sweep: Sweep, units: Units, limit: int) -> tuple[Sweep, Units]:
    """Return a sweep at about `limit` thresholds, evenly along the ROC curve, its ends and optima kept.

    SingleRows between two kept thresholds are counted with the lower one.
    """
    if len(sweep) <= limit:
        return sweep, units

    def length(place: Places) -> Array:
        return -(
            sweep.tp[place] / max(sweep.positives, 1e-300) + sweep.fp[place] / max(sweep.negatives, 1e-300)
        )

    kept = np.union1d(evenly_spaced_places(length, len(sweep), limit), sweep.optimal())
    fewer = replace(sweep, thresholds=sweep.thresholds[kept], tp=sweep.tp[kept], fp=sweep.fp[kept])
    if is_stored(units.pos):  # rows that weigh 1: their numbers are exact in sums, too
        return fewer, SingleRows.from_sweep(fewer, counted=True)
    return fewer, units.narrow_thresholds(kept)
