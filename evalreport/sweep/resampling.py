"""Folds and resamples of a sweep: from counts alone, or by row or group where these weigh or belong together.

All arrays hold weight at the m thresholds of a sweep: entry i is what is scored from threshold i up to
the next one. They are sums over rows, so that a fold or a resample costs the size of the sweep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.curves.thin import Places, along
from evalreport.facts import BinaryCounts
from evalreport.facts.counts import Array, sums
from evalreport.intervals.draws import posterior
from evalreport.intervals.sampling import Sampling
from evalreport.predictions import Predictions
from evalreport.scores import NoScores
from evalreport.sweep.thresholds import Sweep

EXACT = 50_000
"""Rows up to which folds are exactly stratified; above it each count is split at random."""


@dataclass(frozen=True, eq=False)
class Split:
    """Weight of positives and negatives at each threshold, one row per fold or resample.

    Parameters
    ----------
    pos, neg : float64 arrays of shape (parts, m)
    part_of_row : int array of shape (rows,), or None
        Fold of each row, where rows are known.
    """

    pos: Array
    neg: Array
    part_of_row: Places | None = None

    def counts(self) -> BinaryCounts:
        """Return the counts at every threshold of each part, fields of shape (parts, m)."""
        tp, fp = _upward(self.pos), _upward(self.neg)
        return BinaryCounts(tp, fp, tp[:, :1] - tp, fp[:, :1] - fp)


def _upward(weight: Array) -> Array:
    total: Array = weight[..., ::-1].cumsum(axis=-1)[..., ::-1]
    return total


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that all weigh 1 and do not belong together: the counts say everything.

    Weighted counts without their rows are drawn distinct score by distinct score.
    """

    pos: Array
    neg: Array
    scale: float = 1.0

    @classmethod
    def of(cls, sweep: Sweep, rows: float | None = None) -> Rows:
        """Return the units of a sweep; `rows` is the number of rows behind weighted counts."""
        pos, neg = (np.append(-np.diff(above), 0.0) for above in (sweep.tp, sweep.fp))
        total = sweep.positives + sweep.negatives
        return cls(pos, neg, 1.0 if rows is None else rows / total)

    def fewest(self) -> int:
        """Return the number of units in the smaller class."""
        return int(min(self._units(self.pos).sum(), self._units(self.neg).sum()))

    def folds(self, folds: int, rng: np.random.Generator) -> Split:
        """Return a random split, stratified by class."""
        return Split(self._fold(self.pos, folds, rng), self._fold(self.neg, folds, rng))

    def resamples(self, size: int, rng: np.random.Generator) -> Split:
        """Return Poisson resamples of the rows."""
        return Split(self._resample(self.pos, size, rng), self._resample(self.neg, size, rng))

    def drawn(self, counts: BinaryCounts, sampling: Sampling) -> BinaryCounts:
        """Return draws of the counts of an operating point."""
        scaled = BinaryCounts(*(cell * self.scale for cell in (counts.tp, counts.fp, counts.fn, counts.tn)))
        return posterior(scaled, sampling)

    def _units(self, weight: Array) -> Array:
        whole = bool((weight == np.rint(weight)).all())
        return weight if whole else (weight > 0).astype(np.float64)

    def _resample(self, weight: Array, size: int, rng: np.random.Generator) -> Array:
        units = self._units(weight)
        each = np.divide(weight, units, out=np.zeros_like(weight), where=units > 0)
        return rng.poisson(units, (size, len(weight))).astype(np.float64) * each

    def _fold(self, weight: Array, folds: int, rng: np.random.Generator) -> Array:
        units = self._units(weight).astype(np.int64)
        each = np.divide(weight, units, out=np.zeros_like(weight), where=units > 0)
        if units.sum() > EXACT:
            return rng.multinomial(units, np.full(folds, 1 / folds)).T.astype(np.float64) * each
        place = np.repeat(np.arange(len(units)), units)
        fold = rng.permutation(len(place)) % folds
        found = np.bincount(fold * len(units) + place, minlength=folds * len(units))
        return found.reshape(folds, len(units)).astype(np.float64) * each


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows with weights, or rows that belong together: whole groups are folded and drawn.

    Parameters
    ----------
    place : int array of shape (rows,)
        The threshold that each row's score reaches.
    unit : int array of shape (rows,)
        Group of each row; the row itself where there are no groups.
    """

    pos: Array
    neg: Array
    place: Places
    unit: Places
    positive: npt.NDArray[np.bool_]
    weights: Array
    thresholds: Array

    @classmethod
    def of(cls, sweep: Sweep, rows: Predictions) -> Groups:
        """Return the units of rows at the thresholds of a sweep that was made of them."""
        assert not isinstance(rows.scores, NoScores)  # noqa: S101  a sweep was made of them
        place = np.searchsorted(sweep.thresholds, rows.scores.values.astype(np.float64), side="right") - 1
        place = np.maximum(place, 0)  # a row without weight may lie below every threshold
        unit = np.arange(len(rows)) if rows.groups is None else rows.groups.codes.astype(np.intp)
        positive = rows.y_true.astype(bool)
        empty = np.zeros(len(sweep))
        made = cls(empty, empty, place, unit, positive, rows.weights, sweep.thresholds)
        whole = made._placed(rows.weights, np.zeros(len(rows), dtype=np.intp), 1)
        return replace(made, pos=whole.pos[0], neg=whole.neg[0])

    def fewest(self) -> int:
        """Return the number of groups that hold the class which fewer groups hold."""
        return min(len(np.unique(self.unit[self.positive == kind])) for kind in (True, False))

    def folds(self, folds: int, rng: np.random.Generator) -> Split:
        """Deal groups out, those with the most positives first, so that folds hold about as many."""
        positives = np.bincount(self.unit, self.weights * self.positive)
        order = rng.permutation(len(positives))
        order = order[np.argsort(-positives[order], kind="stable")]
        fold = np.empty(len(order), dtype=np.intp)
        fold[order] = (np.arange(len(order)) + rng.integers(folds)) % folds
        return self._placed(self.weights, fold[self.unit], folds)

    def resamples(self, size: int, rng: np.random.Generator) -> Split:
        """Return Poisson resamples of the groups."""
        drawn = rng.poisson(1.0, (size, int(self.unit.max()) + 1))
        parts = [
            self._placed(self.weights * times[self.unit], np.zeros_like(self.unit), 1) for times in drawn
        ]
        return Split(np.concatenate([p.pos for p in parts]), np.concatenate([p.neg for p in parts]))

    def drawn(self, at: Array, sampling: Sampling) -> BinaryCounts:
        """Return draws of the counts with each row decided at a threshold, one for all or one per row."""
        flagged = self.thresholds[self.place] >= at
        size = int(self.unit.max()) + 1
        cells = [
            sums(self.unit, self.weights * (flagged == flag) * (self.positive == kind), size)
            for flag, kind in ((True, True), (True, False), (False, True), (False, False))
        ]
        rng = sampling.generator(5)
        times = rng.poisson(1.0, (min(sampling.resamples, max(200, 20_000_000 // size)), size))
        return BinaryCounts(*(times @ np.stack(cells, axis=1)).T)

    def _placed(self, weights: Array, part: Places, parts: int) -> Split:
        m = len(self.pos)
        where = part * m + self.place
        pos, neg = (
            sums(where, weights * (self.positive == kind), parts * m).reshape(parts, m)
            for kind in (True, False)
        )
        return Split(pos, neg, part)


Units: TypeAlias = Rows | Groups
"""What is drawn when a sample is split or drawn anew."""


def coarse(sweep: Sweep, limit: int) -> Sweep:
    """Return a sweep at about `limit` thresholds, evenly along the ROC curve, its ends and optima kept.

    Rows between two kept thresholds are counted with the lower one.
    """
    if len(sweep) <= limit:
        return sweep
    length = sweep.tp / max(sweep.positives, 1e-300) + sweep.fp / max(sweep.negatives, 1e-300)
    kept = np.union1d(along(-length, limit), sweep.optimal())
    return replace(sweep, thresholds=sweep.thresholds[kept], tp=sweep.tp[kept], fp=sweep.fp[kept])
