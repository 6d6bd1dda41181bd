"""Intervals of what a curve reads where it crosses a limit: recall at an FPR, equal error rate, lift.

Such a value moves for two reasons: the crossing moves, and so does the curve at the crossing. Both are
drawn from the posterior of the two empirical distributions (the Bayesian bootstrap), with half a row
beyond each end, without which a limit that lies beyond the last row seen would look certain: of 100
negatives none may lie in the top 1%. Only the few ranks about the crossing are touched, so the cost does
not grow with the number of draws times the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evalreport.intervals.distributions import normal_quantile, two_sided_p
from evalreport.intervals.proportions import newcombe
from evalreport.intervals.settings import Sampling
from evalreport.metrics.record import CurvePoint, Reading
from evalreport.statistics.confusion import Array
from evalreport.statistics.resampling import Stream
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.stored_columns import PIECE

STEP = 10
"""Rows to a score from which a curve is a stair: what it reads jumps with the step that the limit meets."""
SHARED = 1.5
"""Rows at the highest score from which they are tied; a single one weighs 1, or about 1."""
WALKS, THRESHOLDS = 40, 200
"""Resamples in which the best threshold is sought, and at how many it is: their mean is used alone."""
FURTHEST = 3.0
"""Standard errors of its difference below the best gap from which on a resample hardly ever has its own."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of what a curve reads, and of where it is read.

    Parameters
    ----------
    values : float64 array of shape (draws,)
    places : integer array of shape (draws,)
        All 0 of what is read on a line between points.
    """

    values: Array
    places: npt.NDArray[np.int64]

    @classmethod
    def smooth(cls, values: Array) -> Drawn:
        """Return draws of what is read on a line."""
        return cls(values, np.zeros(len(values), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class RocDraws:
    """The ROC curve as counts from the strictest threshold to the laxest, starting at none flagged.

    Parameters
    ----------
    tp, fp : float64 arrays of shape (distinct scores + 1,)
    size : int
        Number of draws.
    generator : numpy.random.Generator
    mix : pair of float or None
        Positives and negatives that would make the ratio of positives to flagged negatives as sure, were they
        independent; None: those counted.
    pull : float
        By how much the logarithm of that ratio moves with the recall, by a recall of 1: rows weigh on both.
    """

    tp: Array
    fp: Array
    size: int
    generator: np.random.Generator
    mix: tuple[float, float] | None = None
    pull: float = 0.0

    @property
    def positives(self) -> float:
        """All positives."""
        return float(self.tp[-1])

    @property
    def negatives(self) -> float:
        """All negatives."""
        return float(self.fp[-1])

    def rate(self, count: npt.ArrayLike, total: float) -> Array:
        """Draw a rate given its count: Jeffreys' posterior."""
        count = np.asarray(count)
        drawn: Array = self.generator.beta(count + 0.5, total - count + 0.5, self.size)
        return drawn

    def rows_within(self, share: float, total: float) -> npt.NDArray[np.int64]:
        """Draw how many rows the outermost `share` of a population holds; -1: it ends before the first."""
        beyond = self.generator.beta(0.5, total + 0.5, self.size)
        left = np.clip((share - beyond) / (1 - beyond), 0, 1)
        return np.where(beyond > share, -1, self.generator.binomial(round(total), left))

    def limits(self, drawn: Drawn, upper: float) -> tuple[float, float]:
        """Return limits of draws: quantiles, both tails on one side where the truth may lie beyond all rows.

        It is then missed on one side alone; with a tail on either side 97 to 100% were covered.
        """
        tail = 1 - upper
        steps = len(np.unique(drawn.places))
        if self.positives + self.negatives >= STEP * (len(self.tp) - 1) and steps > 1:
            return stair_limits(drawn, upper)
        lower = higher = False  # the side on which the truth may be missed
        beyond = (drawn.places < 0) | (drawn.places >= len(self.tp))
        if beyond.mean() > tail:
            higher = bool(np.median(drawn.values[beyond]) < np.median(drawn.values))
            lower = not higher
        chances = [2 * tail if lower else tail, 1 - 2 * tail if higher else upper]
        low, high = np.quantile(drawn.values, chances)
        return float(low), float(high)

    def fpr_at_recall(self, recall: float) -> Drawn:
        """Draw the FPR at the strictest threshold that reaches a recall."""
        missed = self.rows_within(1 - recall, self.positives)
        place = np.searchsorted(self.tp, self.positives - np.maximum(missed, 0), side="left")
        fpr = np.where(missed < 0, 1.0, self.rate(self.fp[place], self.negatives))
        return Drawn(fpr, np.where(missed < 0, len(self.fp), place))


def stair_limits(drawn: Drawn, upper: float) -> tuple[float, float]:
    """Return the lowest and highest limit of all steps, each as far as its own chance leaves of the level.

    Which step it is and what is read there are told by different rows: two normal deviates, and a pair is
    ruled out whose squares sum to more than the quantile's. Limits of all draws together left the less likely
    step next to nothing, and covered 86 to 92%.

    >>> places = np.repeat([1, 2], [900, 100])
    >>> drawn = Drawn(places + np.tile(np.linspace(-0.1, 0.1, 100), 10), places)
    >>> [round(x, 2) for x in stair_limits(drawn, 0.975)]
    [0.9, 2.09]
    """
    size, quantile = len(drawn.places), normal_quantile(upper)
    _, place, times = np.unique(drawn.places, return_inverse=True, return_counts=True)
    ends = []
    for k, past in enumerate(np.cumsum(times)):
        chance = min(past, size - past + times[k]) / size  # that it is as strict, or as lax
        far = normal_quantile(chance) if chance < 0.5 else 0.0
        if abs(far) < quantile:
            own = 1 - two_sided_p(math.sqrt(quantile**2 - far**2)) / 2
            ends.append(np.quantile(drawn.values[place == k], [1 - own, own]))
    low, high = np.transpose(ends)
    return float(low.min()), float(high.max())


def tpr_at_fpr(curve: RocDraws, limit: float) -> Drawn:
    """Draw the recall at the laxest threshold within an FPR."""
    within = curve.rows_within(limit, curve.negatives)
    place = np.searchsorted(curve.fp, np.maximum(within, 0), side="right") - 1
    # Above a first score that several rows share there may be no threshold at all: none is flagged then.
    tied = (place == 0) & (curve.tp[1] + curve.fp[1] > SHARED)
    none = (within < 0) | tied & (curve.generator.random(curve.size) < 0.5)
    return Drawn(np.where(none, 0.0, curve.rate(curve.tp[place], curve.positives)), np.where(none, -1, place))


def precision_at_recall(curve: RocDraws, recall: float) -> Drawn:
    """Draw the precision at a recall: from the positives to the negatives flagged there.

    Between two positives any threshold is as likely as another (interpolated order statistics, Hettmansperger
    & Sheather 1986): read at the strictest, it was held in 98 to 99% of samples of ten positives. A step of
    tied scores reaches further than the recall, by those of its positives that lie beyond.
    """
    draw, size, P = curve.generator, curve.size, curve.positives
    beyond = draw.beta(0.5, P + 0.5, size) > 1 - recall
    within = P - np.where(beyond, 0, draw.binomial(round(P), 1 - recall, size))
    first, after = (np.searchsorted(curve.tp, within + more, side="left") for more in (0, 1))
    room = np.where(within < P, after - first, 0)
    # Either end half as often as those between: of a step at which the recall is just reached, each as often.
    place = np.minimum(first + np.floor(draw.random(size) * room + 0.5).astype(np.int64), len(curve.tp) - 1)
    place[beyond] = len(curve.tp) - 1
    positives, negatives = curve.mix or (P, curve.negatives)
    right = draw.beta(positives + 0.5, curve.fp[place] / curve.negatives * negatives + 0.5)
    inside = draw.standard_gamma(np.maximum(curve.tp[place] - within, 0))
    outside = draw.standard_gamma(np.maximum(P - curve.tp[place], 0) + 0.5)
    reached = recall + (1 - recall) * inside / (inside + outside)
    reached *= np.exp(curve.pull * (recall - within / P))
    values = reached * right / (reached * right + 1 - right)
    return Drawn(values, np.where(beyond, len(curve.tp), place))


def recall_at_precision(curve: RocDraws, precision: float) -> Drawn:
    """Draw the recall at the laxest threshold of a precision; 0 where no threshold reaches it.

    A threshold is the one when the score test of its precision says no more than a standard normal draw:
    thresholds that the sample puts on the wrong side of the limit by chance are then among the draws, whole
    steps of tied scores too. Draws about the sample's own crossing alone covered 79 to 91%.
    """
    drawn = curve.generator.standard_normal(curve.size)
    place = np.full(curve.size, -1)
    best = -np.inf  # of all thresholds that were looked at, the laxest first
    for stop in range(len(curve.tp), 0, -PIECE):
        b = slice(max(stop - PIECE, 0), stop)
        flagged = np.maximum(curve.tp[b] + curve.fp[b], 1e-300)
        ahead = (curve.tp[b] - precision * flagged) / np.sqrt(precision * (1 - precision) * flagged)
        if b.start == 0:
            ahead[0] = -np.inf  # nothing flagged has no precision
        laxest = np.maximum.accumulate(ahead[::-1])
        found = (drawn > best) & (drawn <= laxest[-1])
        place[found] = stop - 1 - np.searchsorted(laxest, drawn[found])
        best = max(best, float(laxest[-1]))
    return Drawn(np.where(place < 0, 0.0, curve.rate(curve.tp[place], curve.positives)), place)


def equal_errors(curve: RocDraws, _: float) -> Drawn:
    """Draw the rate at which FPR and FNR are equal."""
    fpr, fnr = curve.fp / curve.negatives, 1 - curve.tp / curve.positives
    value = float(np.interp(0.0, fpr - fnr, fpr))
    false = curve.rate(value * curve.negatives, curve.negatives) - value
    missed = curve.rate(value * curve.positives, curve.positives) - value
    return Drawn.smooth(np.clip(np.interp(missed - false, fpr - fnr, fpr) + false, 0, 1))


def lift(curve: RocDraws, share: float) -> Drawn:
    """Draw the lift in the top share of rows: the recall where so many are flagged, over the share."""
    flagged, total = curve.tp + curve.fp, curve.positives + curve.negatives
    tp = float(np.interp(share * total, flagged, curve.tp))
    fp = share * total - tp
    cells = np.array([tp, fp, curve.positives - tp, curve.negatives - fp])
    drawn = curve.generator.dirichlet(np.maximum(cells, 0) + 0.5, curve.size)
    recall = drawn[:, 0] / (drawn[:, 0] + drawn[:, 2])
    # The rows flagged at this threshold are drawn; the threshold then moves to flag the share of them again.
    place = share * total - total * (drawn[:, 0] + drawn[:, 1] - share)
    moved = (np.interp(place, flagged, curve.tp) - tp) / curve.positives
    return Drawn.smooth(np.clip(recall + moved, 0, 1) / share)


def ks_limits(table: ScoreTable, sampling: Sampling) -> tuple[float, float]:
    """Return limits of the greatest TPR - FPR: Newcombe's at the best threshold, less what that flatters.

    Examples
    --------
    >>> low, high = ks_limits(ScoreTable.from_scores(np.arange(20.0), np.arange(20) > 9), Sampling())
    >>> round(low, 2), bool(high > 0.9)
    (0.59, True)
    """
    P, N = table.positives, table.negatives
    best = table.ranking.best
    value, low, high = newcombe(table.tp[best], P, table.fp[best], N, sampling.level)
    place = _places(len(table), best)
    tp, fp = table.tp[place], table.fp[place]  # there alone: the columns of a stream may be on a disk
    shift = _flattery(tp / P - fp / N, (P - tp) / P**2 + (N - fp) / N**2, sampling)
    return low - shift, high - min(shift, high - float(value)) / 2


def flattery(gaps: Array, variances: Array, sampling: Sampling) -> float:
    """Return by how much the greatest of gaps along a ranking flatters: how far that of resamples exceeds it.

    Resamples add noise to the gaps, independent from score to score, so that it is a walk; only what it
    does away from the best threshold counts. Without it lower limits of the KS were too high in 5 to 6% of
    samples. Of upper limits half of it is taken off: those of Wilson stand off for the rest, and with all of
    it those of ten positives were too low in 7%.

    Parameters
    ----------
    gaps : float64 array of shape (distinct scores,)
        TPR - FPR at each score as the threshold, from the lowest on.
    variances : float64 array of shape (distinct scores,)
        What the rows of each score add to the variance of the gap: sums of squares of their shares.
    sampling : Sampling
    """
    place = _places(len(gaps), int(gaps.argmax()))
    return _flattery(gaps[place], (np.cumsum(variances) - variances)[place], sampling)


def _places(rows: int, best: int) -> npt.NDArray[np.int64]:
    """Some places along a ranking, the best among them."""
    return np.unique(np.append(np.linspace(0, rows - 1, THRESHOLDS).astype(np.int64), best))


def _flattery(gaps: Array, before: Array, sampling: Sampling) -> float:
    """The same of gaps at some places, with the variance that all scores below each add up to."""
    best = gaps.argmax()
    near = gaps[best] - gaps <= FURTHEST * np.sqrt(abs(before - before[best]))
    gaps, before = gaps[near], before[near]
    steps = np.sqrt(np.maximum(np.diff(before, prepend=before[0]), 0.0))
    walk = np.cumsum(_normal(sampling.seed)[:, : len(gaps)] * steps, axis=1)
    walk -= walk[:, gaps.argmax(), None]
    return float((gaps - gaps.max() + walk).max(axis=1).mean())


@lru_cache(maxsize=4)
def _normal(seed: int) -> Array:
    return Sampling(seed=seed).generator(Stream.BEST_THRESHOLD).standard_normal((WALKS, THRESHOLDS + 1))


def _first_true(found: npt.NDArray[np.bool_]) -> int | None:
    return int(np.argmax(found)) if found.any() else None


def _last_true(found: npt.NDArray[np.bool_]) -> int | None:
    return len(found) - 1 - int(np.argmax(found[::-1])) if found.any() else None


@dataclass(frozen=True)
class Crossing:
    """One kind of reading of a curve, at a limit.

    Parameters
    ----------
    drawn : callable
        From a curve and the limit to draws of what is read.
    place : callable
        From a table and the limit to where in the table it is read; None: at no score.
    mixed : bool
        Whether it also reads how many rows are positive.
    smooth : bool
        Whether it is read on the line between points of the curve, of which blocks have enough.
    """

    drawn: Callable[[RocDraws, float], Drawn]
    place: Callable[[ScoreTable, float], int | None]
    mixed: bool = False
    smooth: bool = False


CROSSINGS: dict[Reading, Crossing] = {
    "equal errors": Crossing(
        equal_errors,
        lambda t, _: int(np.argmin(np.abs(t.fp / t.negatives - 1 + t.tp / t.positives))),
        smooth=True,
    ),
    "tpr at fpr": Crossing(tpr_at_fpr, lambda t, at: _first_true(t.fp <= at * t.negatives)),
    "fpr at tpr": Crossing(RocDraws.fpr_at_recall, lambda t, at: _last_true(t.tp >= at * t.positives)),
    "precision at recall": Crossing(
        precision_at_recall, lambda t, at: _last_true(t.tp >= at * t.positives), mixed=True
    ),
    "recall at precision": Crossing(
        recall_at_precision, lambda t, at: _first_true(t.tp >= at * (t.tp + t.fp)), mixed=True
    ),
    "lift": Crossing(lift, lambda t, at: _last_true(t.tp + t.fp >= at * t.total), mixed=True, smooth=True),
}


def crossing_generator(point: CurvePoint, sampling: Sampling) -> np.random.Generator:
    """Return the random generator of a reading, the same whatever other readings are asked for.

    Examples
    --------
    >>> at = CurvePoint("tpr at fpr", 0.01)
    >>> one, other = (crossing_generator(at, Sampling()).random() for _ in range(2))
    >>> one == other
    True
    """
    return sampling.generator(
        Stream.CURVE_CROSSINGS, list(CROSSINGS).index(point.reading), round(1e6 * point.at)
    )
