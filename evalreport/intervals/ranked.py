"""One ranking whose rows weigh or belong together: crossings of its curve, KS, calibration errors.

What a curve reads where it crosses a limit is not smooth in the rows: a bootstrap of it is too narrow where
few rows lie beyond the limit (FPR at recall 0.95: 87% at thirty clusters). Independent rows have draws of
the posterior at the crossing (`crossings`), and these serve here too, with each class counted not as its
rows but as the number of independent rows that would make its rate at the crossing as sure: the effective
sample size (Kish 1965; Korn & Graubard 1998, Survey Methodology 24:193).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.facts import ScoreTable
from evalreport.facts.classes import BINS, bin_of
from evalreport.facts.counts import Array, centred, inner, sums
from evalreport.intervals.binary import OVERFIT, binned, too_few_share
from evalreport.intervals.calibration import STATISTICS, gap_limits, unit_draws
from evalreport.intervals.crossings import CROSSINGS, RocDraws, crossing_generator, flattery
from evalreport.intervals.noise import SMALLEST, binomial_noise
from evalreport.intervals.proportions import score_limits
from evalreport.intervals.quantiles import normal_quantile, t_quantile
from evalreport.intervals.sampling import Limits, Sampling, no_limits
from evalreport.intervals.smooth import smooth_gap_limits, too_little
from evalreport.intervals.units import Units
from evalreport.metrics.binary_probability import mass_cuts
from evalreport.metrics.strategies import BestThreshold, CalibrationGaps, CurvePoint, Isotonic, SmoothGaps


@dataclass(frozen=True, eq=False)
class Ranked:
    """The score table of one class against the rest, its rows, and how they are drawn.

    Parameters
    ----------
    table : ScoreTable
    scores : float array of shape (n,)
    positive : bool array of shape (n,)
    units : Units
    """

    table: ScoreTable
    scores: npt.NDArray[Any]
    positive: npt.NDArray[np.bool_]
    units: Units

    @cached_property
    def _sizes(self) -> Array:
        """Negatives and positives, by weight."""
        return np.array([self.table.negatives, self.table.positives])

    @cached_property
    def _trials(self) -> Array:
        """Units that each class is worth at most."""
        trials: Array = np.maximum(self.units.size * self._sizes / self._sizes.sum(), 1.0)
        return trials

    def _rates(self, threshold: float) -> tuple[Array, Array]:
        """FPR and TPR at a threshold, and the variances of both."""
        flagged = (self.scores.astype(np.float64) >= threshold).astype(np.float64)
        rates, variances = np.zeros(2), np.zeros(2)
        for side, mine in enumerate((~self.positive, self.positive)):
            weight = np.where(mine, self.units.weights, 0.0)
            rates[side] = inner(weight, flagged) / self._sizes[side]
            moved = weight * (flagged - rates[side])
            leverage = self.units.leverage(moved, self._sizes[side])
            variances[side] = self.units.variance(moved) * (leverage / self._sizes[side]) ** 2
        return rates, variances

    def _effective(self, threshold: float) -> Array:
        """Independent rows that would make FPR and TPR as sure, of negatives and of positives."""
        rates, variances = self._rates(threshold)
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = rates * (1 - rates) / variances / unsure(self.units.most_freedom)
        most = np.array([(~self.positive).sum(), self.positive.sum()], dtype=np.float64)
        return np.minimum(np.where(np.isfinite(rows) & (rows > 0), rows, self._trials), most)

    def _ratio(self, threshold: float) -> tuple[float, float]:
        """What the ratio of positives to flagged negatives is worth, and how its log moves with the recall.

        Counted by the less sure class, the precision at a recall was held in 98 to 99% of weighted rows.

        Returns
        -------
        share : float
            Independent rows to the weight that would make it as sure, given the recall.
        pull : float
            Its regression on the recall over units, as far as it explains more than chance (adjusted R²).
        """
        flagged = (self.scores.astype(np.float64) >= threshold).astype(np.float64)
        right, wrong = (np.where(mine, self.units.weights, 0.0) for mine in (self.positive, ~self.positive))
        wrong *= flagged
        sizes = np.array([size for size in (right.sum(), wrong.sum()) if size > 0])
        missed = 1 - flagged  # of these none leave exactly 0
        recall = right * (inner(right, missed) / sizes[0] - missed) / sizes[0]
        ratio = right / sizes[0] - wrong / sizes[-1]
        ratio, recall = (own - own.mean() for own in map(self.units.summed, (ratio, recall)))
        both, together, alone = inner(ratio, ratio), inner(ratio, recall), inner(recall, recall)
        tiny = np.finfo(float).tiny
        explained = together**2 / max(alone * both, tiny)
        chance = (1 - explained) / max(self.units.most_freedom - 1, 1)
        pull = together / alone * (1 - chance / explained) if explained > chance else 0.0
        rest = ratio - pull * recall
        variance = max(self.units.number / max(self.units.number - 1, 1) * inner(rest, rest), tiny)
        variance *= unsure(self.units.freedom(rest))
        return min(float((1 / sizes).sum()) / variance, len(self.scores) / float(self._sizes.sum())), pull

    def crossing_limits(self, point: CurvePoint, sampling: Sampling) -> Limits:
        """Return the limits of what the curve reads at a limit.

        A recall at a precision and a lift also read how many rows are positive, so that both classes are then
        counted by one share: that of the less sure one, of a lift that of the positives, whose recall it is.
        Counted by the less sure, a lift was held in 98 to 99% of fifty clusters and of few uneven weights.
        """
        table, crossing = self.table, CROSSINGS[point.reading]
        place = crossing.place(table, point.at)
        threshold = np.inf if place is None else float(table.scores[place])
        rows = self._effective(threshold)
        mix, pull = None, 0.0
        if point.reading == "precision at recall":
            worth, pull = self._ratio(threshold)
            mix = (self._sizes[1] * worth, self._sizes[0] * worth)
        elif crossing.mixed:
            share = rows / self._sizes
            rows = self._sizes * float(share[1] if point.reading == "lift" else share.min())
        tp, fp = (np.append(0.0, part[::-1] / part[0]) for part in (table.tp, table.fp))
        generator = crossing_generator(point, sampling)
        curve = RocDraws(tp * rows[1], fp * rows[0], sampling.resamples, generator, mix, pull)
        drawn = crossing.drawn(curve, point.at)
        method = f"posterior at the crossing, {self.units.name}"
        return Limits(*curve.limits(drawn, sampling.upper), method, float(drawn.values.std()))

    def ks_limits(self, sampling: Sampling) -> Limits:
        """Return square-and-add limits of TPR - FPR at the best threshold, as of independent rows."""
        table, units = self.table, self.units
        best = int(np.argmax(table.tp / table.positives - table.fp / table.negatives))
        rates, variances = self._rates(float(table.scores[best]))
        quantile = t_quantile(sampling.upper, max(units.most_freedom, 1))
        low, high = score_limits(rates, np.sqrt(variances), self._trials, quantile)
        value = float(rates[1] - rates[0])
        below = float(np.hypot(rates[1] - low[1], high[0] - rates[0]))
        above = float(np.hypot(high[1] - rates[1], rates[0] - low[0]))
        shift = self._flattery(sampling) if units.method == "poisson bootstrap" else 0.0
        return Limits(value - below - shift, value + above - min(shift, above) / 2, units.method)

    def _flattery(self, sampling: Sampling) -> float:
        """By how much the greatest gap flatters, where rows weigh unevenly."""
        table = self.table
        share = self.units.weights / np.where(self.positive, table.positives, table.negatives)
        variances = sums(np.searchsorted(table.scores, self.scores), share**2, len(table))
        gaps = table.tp / table.positives - table.fp / table.negatives
        return flattery(gaps, variances, sampling)

    def gap_limits(self, gaps: CalibrationGaps, value: float, sampling: Sampling) -> Limits:
        """Return the limits of a calibration error."""
        reason = too_few_share(gaps, self.table, len(self.scores))
        if reason is not None:
            return no_limits(reason)
        bins = binned(gaps, self.table)
        place = self._bins(gaps)
        noise, own = bin_noise(self.units, place, self.scores, self.positive, len(bins[0]))
        wide = t_quantile(sampling.upper, self.units.freedom(own.sum(axis=1))) / sampling.z
        error = None
        if gaps.gap == "mean":
            side = np.sign(bins[1] - bins[2])[place]
            error = self._mean_error(side * (self.scores - self.positive)) * wide
        if self.units.method == "poisson bootstrap":  # rows stand alone, and count as so many of one weight
            rows = bin_rows(self.units.weights, place, len(bins[0]))
            ends = gap_limits(bins, value, STATISTICS[gaps.gap], sampling, error=error, rows=rows)
        else:
            draws = unit_draws(own, sampling)
            ends = gap_limits(bins, value, STATISTICS[gaps.gap], sampling, noise * wide, draws, error)
        return Limits(*ends, self.units.method)

    def smooth_limits(self, gaps: SmoothGaps, value: float, sampling: Sampling) -> Limits:
        """Return the limits of gaps from the smooth calibration curve, by the sandwich over units."""
        curve = self.table.smooth
        reason = too_little(curve, min(self.positive.sum(), (~self.positive).sum()))
        if curve is None or reason is not None:
            return no_limits(reason or "")
        scores = self.scores.astype(np.float64)
        residual = self.units.weights * (self.positive - curve.at(scores))
        own = self.units.summed(residual[:, None] * curve.design(scores))
        wide = t_quantile(sampling.upper, self.units.freedom(own[:, 0])) / sampling.z
        wide *= np.sqrt(len(own) / max(len(own) - 1, 1))
        root = np.linalg.solve(curve.curvature, np.linalg.qr(own)[1].T) * wide

        def mean_error(function: Callable[[Array], Array]) -> float:
            return self._mean_error(function(scores)) * float(wide)

        ends = smooth_gap_limits(gaps, value, curve, sampling, root, mean_error)
        return Limits(*ends, self.units.method)

    def _mean_error(self, values: Array) -> float:
        """Standard error of the mean of a quantity of rows."""
        weights = self.units.weights
        moved = weights * centred(values, weights)
        return math.sqrt(self.units.variance(moved)) / float(weights.sum())

    def _bins(self, gaps: CalibrationGaps) -> npt.NDArray[Any]:
        """The bin of each row, as the calibration error takes them."""
        if gaps.bins == "width":
            return bin_of(self.scores)
        rank = np.searchsorted(self.table.scores, self.scores)
        return rank if gaps.bins == "score" else np.searchsorted(mass_cuts(self.table), rank, side="right")


def unsure(freedom: float) -> float:
    """Return by how much a variance grows that is itself known to few units.

    >>> round(unsure(9), 2), round(unsure(1e6), 2)
    (1.33, 1.0)
    """
    return (t_quantile(0.975, max(freedom, 1)) / normal_quantile(0.975)) ** 2


Rough: TypeAlias = BestThreshold | CurvePoint | CalibrationGaps | SmoothGaps | Isotonic
"""Strategies of what is not smooth in the rows."""


def ranked_limits(strategy: Rough, value: float, ranked: Ranked, sampling: Sampling) -> Limits:
    """Return the limits of a metric that is not smooth in the rows.

    Parameters
    ----------
    strategy : BestThreshold, CurvePoint, CalibrationGaps, SmoothGaps or Isotonic
    value : float
    ranked : Ranked
    sampling : Sampling
    """
    if isinstance(strategy, CalibrationGaps):
        return ranked.gap_limits(strategy, value, sampling)
    if isinstance(strategy, Isotonic):
        return no_limits(OVERFIT)
    if isinstance(strategy, SmoothGaps):
        return ranked.smooth_limits(strategy, value, sampling)
    if min(ranked.table.positives, ranked.table.negatives) <= 0:
        return no_limits("an interval needs positives and negatives")
    if isinstance(strategy, BestThreshold):
        return ranked.ks_limits(sampling)
    return ranked.crossing_limits(strategy, sampling)


def bin_noise(
    units: Units,
    place: npt.NDArray[Any],
    scores: npt.NDArray[Any],
    positive: npt.NDArray[np.bool_],
    size: int = BINS,
) -> tuple[Array, Array]:
    """Return the noise of the summed gap of each bin, and the gaps of each unit.

    Gaps are taken from the mean of their bin: a bin with more rows has a greater sum, but the same gap. The
    noise is not below that of independent rows of their effective weight, so that one row has some.

    Returns
    -------
    noise : float64 array of shape (size,)
    own : float64 array of shape (units, size)
    """
    weights, gaps = units.weights, scores - positive
    parts = (weights, weights * positive, weights * scores)
    weight, right, said = (np.bincount(place, part, size) for part in parts)
    mean = np.bincount(place, weights * gaps, size) / np.maximum(weight, np.finfo(float).tiny)
    own = units.sums(place, size, gaps - mean[place])
    squares = np.square(own - own.mean(axis=0)).sum(axis=0)
    rows = bin_rows(weights, place, size)
    if units.method == "poisson bootstrap":  # rows stand alone: what each bin's own rows are worth is known
        held = np.maximum(rows, SMALLEST)
        share = held / np.maximum(weight, np.finfo(float).tiny)
        return weight / held * binomial_noise(held, right * share, said * share), own
    noise = np.sqrt(squares * rows / np.maximum(rows - 1, 1))
    heavy = inner(weights, weights) / inner(weights, np.ones(len(weights)))
    held = np.maximum(weight / heavy, np.finfo(float).tiny)
    return np.maximum(noise, heavy * binomial_noise(held, right / heavy, said / heavy)), own


def bin_rows(weights: Array, place: npt.NDArray[Any], size: int = BINS) -> Array:
    """Return the rows of one weight that those of each bin are worth (Kish 1965), shape (size,).

    Examples
    --------
    >>> bin_rows(np.array([1.0, 1.0, 3.0, 1.0]), np.array([0, 0, 1, 1]), 2)
    array([2. , 1.6])
    """
    squares = np.bincount(place, weights**2, size)
    found: Array = np.bincount(place, weights, size) ** 2 / np.maximum(squares, np.finfo(float).tiny)
    return found
