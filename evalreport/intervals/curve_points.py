"""Intervals of binary metrics: readings of a curve at a crossing, areas under a curve, sums and counts.

A reading at a crossing (recall at an FPR, equal error rate, lift) varies because the crossing varies and
because the curve varies there. Both are sampled from the posterior of the two empirical distributions (the
Bayesian bootstrap), with half a row added beyond each end: without it a limit beyond the last row would look
certain, although of 100 negatives none may be in the top 1%. Only the ranks around the crossing are sampled,
so the cost is not the number of samples times the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.intervals.bootstrap import count_bounds
from evalreport.intervals.calibration_intervals import gap_limits, smooth_gap_limits, too_little
from evalreport.intervals.distributions import (
    newcombe,
    normal_quantile,
    t_quantile,
    t_quantiles,
    two_sided_p,
    wilson,
)
from evalreport.intervals.interval_settings import ALL_EQUAL, FEWEST, Limits, Sampling, no_limits
from evalreport.intervals.standard_errors import (
    area_limits,
    freedom,
    influence,
    promised_error,
    standard_error,
    transformed_scale_limits,
)
from evalreport.metrics.influence import placements, roc_auc
from evalreport.metrics.probability_functions import equal_mass, equal_width, mass_cuts
from evalreport.metrics.record import (
    BestThreshold,
    CalibrationGaps,
    CountDraws,
    CurvePoint,
    DeLong,
    Metric,
    Proportion,
    Reading,
    SmoothGaps,
    view,
)
from evalreport.statistics.confusion import Array, BinaryCounts, inner, sums
from evalreport.statistics.resampling import Stream
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.stored_columns import PIECE
from evalreport.statistics.summary import Summary

STEP = 10
"""Rows per distinct score from which a curve is treated as a staircase: its reading jumps between steps."""
SHARED = 1.5
"""Weight at the highest score from which it counts as tied; a single row weighs about 1."""
WALKS, THRESHOLDS = 40, 200
"""Resamples and thresholds for the selection bias of the best threshold; only the mean is used."""
FURTHEST = 3.0
"""Standard errors below the best gap, beyond which a threshold is hardly ever the best in a resample."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Posterior samples of a reading of a curve, and of its position.

    Parameters
    ----------
    values : float64 array of shape (draws,)
    places : integer array of shape (draws,)
        All 0 for a reading on the line between points.
    """

    values: Array
    places: npt.NDArray[np.int64]

    @classmethod
    def smooth(cls, values: Array) -> Drawn:
        """Return samples of a reading on the line between points."""
        return cls(values, np.zeros(len(values), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class RocDraws:
    """The ROC curve as counts, from the strictest threshold (nothing flagged) to the laxest.

    Parameters
    ----------
    tp, fp : float64 arrays of shape (distinct scores + 1,)
    size : int
        Number of posterior samples.
    generator : numpy.random.Generator
    mix : pair of float or None
        Numbers of independent positives and negatives that give the ratio of positives to flagged negatives
        the same variance; None: the counted ones.
    pull : float
        Change of the logarithm of that ratio per unit of recall: weights affect both.
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
        """Sample a rate given its count, from Jeffreys' posterior."""
        count = np.asarray(count)
        drawn: Array = self.generator.beta(count + 0.5, total - count + 0.5, self.size)
        return drawn

    def rows_within(self, share: float, total: float) -> npt.NDArray[np.int64]:
        """Sample the number of rows in the outermost `share` of a population; -1: it ends before them."""
        beyond = self.generator.beta(0.5, total + 0.5, self.size)
        left = np.clip((share - beyond) / (1 - beyond), 0, 1)
        return np.where(beyond > share, -1, self.generator.binomial(round(total), left))

    def limits(self, drawn: Drawn, upper: float) -> tuple[float, float]:
        """Return the limits of posterior samples: quantiles, or both tails on one side.

        If the true value may be beyond all rows it can be missed on one side only; with a tail on each side
        coverage was 97 to 100%.
        """
        tail = 1 - upper
        steps = len(np.unique(drawn.places))
        if self.positives + self.negatives >= STEP * (len(self.tp) - 1) and steps > 1:
            return stair_limits(drawn, upper)
        lower = higher = False  # the side on which the true value can be missed
        beyond = (drawn.places < 0) | (drawn.places >= len(self.tp))
        if beyond.mean() > tail:
            higher = bool(np.median(drawn.values[beyond]) < np.median(drawn.values))
            lower = not higher
        chances = [2 * tail if lower else tail, 1 - 2 * tail if higher else upper]
        low, high = np.quantile(drawn.values, chances)
        return float(low), float(high)

    def fpr_at_recall(self, recall: float) -> Drawn:
        """Sample the FPR at the strictest threshold that reaches a recall."""
        missed = self.rows_within(1 - recall, self.positives)
        place = np.searchsorted(self.tp, self.positives - np.maximum(missed, 0), side="left")
        fpr = np.where(missed < 0, 1.0, self.rate(self.fp[place], self.negatives))
        return Drawn(fpr, np.where(missed < 0, len(self.fp), place))


def stair_limits(drawn: Drawn, upper: float) -> tuple[float, float]:
    """Return the lowest and the highest limit over all steps, each at the level left by its probability.

    Different rows determine the step and the reading on it. So they are two independent normal deviates, and
    a pair is rejected if its squares sum to more than the squared quantile. Quantiles of all samples together
    gave almost no weight to the less likely step and covered 86 to 92%.

    >>> places = np.repeat([1, 2], [900, 100])
    >>> drawn = Drawn(places + np.tile(np.linspace(-0.1, 0.1, 100), 10), places)
    >>> [round(x, 2) for x in stair_limits(drawn, 0.975)]
    [0.9, 2.09]
    """
    size, quantile = len(drawn.places), normal_quantile(upper)
    _, place, times = np.unique(drawn.places, return_inverse=True, return_counts=True)
    ends = []
    for k, past in enumerate(np.cumsum(times)):
        chance = min(past, size - past + times[k]) / size  # of a step at least as strict, or as lax
        far = normal_quantile(chance) if chance < 0.5 else 0.0
        if abs(far) < quantile:
            own = 1 - two_sided_p(math.sqrt(quantile**2 - far**2)) / 2
            ends.append(np.quantile(drawn.values[place == k], [1 - own, own]))
    low, high = np.transpose(ends)
    return float(low.min()), float(high.max())


def tpr_at_fpr(curve: RocDraws, limit: float) -> Drawn:
    """Sample the recall at the laxest threshold within an FPR."""
    within = curve.rows_within(limit, curve.negatives)
    place = np.searchsorted(curve.fp, np.maximum(within, 0), side="right") - 1
    # If several rows share the highest score there may be no threshold above it: then nothing is flagged.
    tied = (place == 0) & (curve.tp[1] + curve.fp[1] > SHARED)
    none = (within < 0) | tied & (curve.generator.random(curve.size) < 0.5)
    return Drawn(np.where(none, 0.0, curve.rate(curve.tp[place], curve.positives)), np.where(none, -1, place))


def precision_at_recall(curve: RocDraws, recall: float) -> Drawn:
    """Sample the precision at a recall, from the positives and negatives flagged there.

    Any threshold between two positives is equally likely (interpolated order statistics, Hettmansperger &
    Sheather 1986); at the strictest one coverage was 98 to 99% with ten positives. A step of tied scores can
    exceed the recall, by its positives beyond it.
    """
    draw, size, P = curve.generator, curve.size, curve.positives
    beyond = draw.beta(0.5, P + 0.5, size) > 1 - recall
    within = P - np.where(beyond, 0, draw.binomial(round(P), 1 - recall, size))
    first, after = (np.searchsorted(curve.tp, within + more, side="left") for more in (0, 1))
    room = np.where(within < P, after - first, 0)
    # The two ends are half as likely as positions between them; of two positions, both are equally likely.
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
    """Sample the recall at the laxest threshold with a precision; 0 if no threshold has it.

    A threshold qualifies if the score statistic of its precision is at least a standard normal sample. So
    thresholds that are on the wrong side of the limit by chance can be sampled, including whole steps of tied
    scores. Samples only around the observed crossing covered 79 to 91%.
    """
    drawn = curve.generator.standard_normal(curve.size)
    place = np.full(curve.size, -1)
    best = -np.inf  # maximum over the thresholds seen so far, laxest first
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
    """Sample the rate at which FPR and FNR are equal."""
    fpr, fnr = curve.fp / curve.negatives, 1 - curve.tp / curve.positives
    value = float(np.interp(0.0, fpr - fnr, fpr))
    false = curve.rate(value * curve.negatives, curve.negatives) - value
    missed = curve.rate(value * curve.positives, curve.positives) - value
    return Drawn.smooth(np.clip(np.interp(missed - false, fpr - fnr, fpr) + false, 0, 1))


def lift(curve: RocDraws, share: float) -> Drawn:
    """Sample the lift in the top rows: the recall if a proportion is flagged, over that proportion."""
    flagged, total = curve.tp + curve.fp, curve.positives + curve.negatives
    tp = float(np.interp(share * total, flagged, curve.tp))
    fp = share * total - tp
    cells = np.array([tp, fp, curve.positives - tp, curve.negatives - fp])
    drawn = curve.generator.dirichlet(np.maximum(cells, 0) + 0.5, curve.size)
    recall = drawn[:, 0] / (drawn[:, 0] + drawn[:, 2])
    # The proportion flagged at this threshold varies; the threshold moves until it is `share` again.
    place = share * total - total * (drawn[:, 0] + drawn[:, 1] - share)
    moved = (np.interp(place, flagged, curve.tp) - tp) / curve.positives
    return Drawn.smooth(np.clip(recall + moved, 0, 1) / share)


def ks_limits(table: ScoreTable, sampling: Sampling) -> tuple[float, float]:
    """Return limits of the greatest TPR - FPR: Newcombe's at the best threshold minus the selection bias.

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
    tp, fp = table.tp[place], table.fp[place]  # only there: columns of a stream may be on disk
    shift = _flattery(tp / P - fp / N, (P - tp) / P**2 + (N - fp) / N**2, sampling)
    return low - shift, high - min(shift, high - float(value)) / 2


def flattery(gaps: Array, variances: Array, sampling: Sampling) -> float:
    """Return the selection bias of the greatest gap along a ranking: its mean excess in resamples.

    Resamples add noise to the gaps that is independent from score to score, so it is a random walk; only its
    difference from the best threshold matters. Without this correction lower limits of KS were too high in 5
    to 6% of samples. Upper limits subtract half of it: Wilson's limits are already shifted, and with all
    upper limits with ten positives were too low in 7%.

    Parameters
    ----------
    gaps : float64 array of shape (distinct scores,)
        TPR - FPR at each score as the threshold, from the lowest score on.
    variances : float64 array of shape (distinct scores,)
        What the rows of each score add to the variance of the gap: their summed squared proportions.
    sampling : Sampling
    """
    place = _places(len(gaps), int(gaps.argmax()))
    return _flattery(gaps[place], (np.cumsum(variances) - variances)[place], sampling)


def _places(rows: int, best: int) -> npt.NDArray[np.int64]:
    """Positions along a ranking, the best among them."""
    return np.unique(np.append(np.linspace(0, rows - 1, THRESHOLDS).astype(np.int64), best))


def _flattery(gaps: Array, before: Array, sampling: Sampling) -> float:
    """The selection bias from some positions, with the summed variance of all scores below each."""
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
    """How a reading of a curve is sampled.

    Parameters
    ----------
    drawn : callable
        From a curve and the limit to posterior samples of the reading.
    place : callable
        From a table and the limit to the position of the reading in the table; None: at no score.
    mixed : bool
        Whether the reading also depends on the prevalence.
    smooth : bool
        Whether it is read on the line between points, for which score blocks are enough.
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
    """Return the random generator of a reading, which does not depend on the other readings.

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


SHRINK = 10
"""Size of the smaller class at which sample and model weigh the same in the variance, and the degrees of
freedom that the model adds: see `auc_limits`."""


def delong(table: ScoreTable) -> tuple[float, float]:
    """Return ROC AUC and DeLong's variance of it.

    Parameters
    ----------
    table : ScoreTable
        With only one class the AUC is NaN; with fewer than two rows of either the variance is.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988; mid-ranks as Sun & Xu 2014, here from the sorted table.

    Examples
    --------
    >>> auc, variance = delong(
    ...     ScoreTable.from_scores(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1], bool))
    ... )
    >>> auc, round(variance, 4)
    (0.75, 0.125)
    """
    P, N = table.positives, table.negatives
    if not P or not N:
        return np.nan, np.nan
    ten, one = placements(table)
    auc = inner(table.pos, ten) / P
    if P < 2 or N < 2:
        return auc, np.nan
    spread_pos = inner(table.pos, (ten - auc) ** 2) / (P - 1)
    spread_neg = inner(table.neg, (one - auc) ** 2) / (N - 1)
    return auc, spread_pos / P + spread_neg / N


def auc_limits(
    auc: npt.ArrayLike,
    variance: npt.ArrayLike,
    sizes: tuple[npt.ArrayLike, npt.ArrayLike],
    df: npt.ArrayLike,
    level: float = 0.95,
) -> tuple[Array, Array]:
    """Return score limits of ROC AUC from DeLong's variance.

    Newcombe's method 5 solves ``(auc - a)² = q² V(a)``. Its limits are in [0, 1] and differ even at AUC = 1,
    but its V is a model of Hanley & McNeil's form: with scores of unequal variance it covers 86 to 100% for
    any n. Here V is that form times the ratio of DeLong's variance to it at the estimate. If the model's
    variance is the greater, the ratio is shrunk towards it: its logarithm is multiplied by m / (m + 10) for m
    rows of the smaller class. q is a quantile of Student's t with `SHRINK` more degrees of freedom (Smyth
    2004), for the rows that the model counts as. With DeLong's degrees of freedom, labels of five to ten rows
    had 98 to 99% coverage. If the ratio is also shrunk where the model's variance is smaller, an AUC of ten
    rows with unequal variance had 91%.

    Parameters
    ----------
    auc, variance : float or array
        As from `delong`.
    sizes : tuple of float or array
        Positives and negatives; limits are NaN if one is below 2.
    df : float or array
        Degrees of freedom of DeLong's variance.

    References
    ----------
    Newcombe 2006, Statistics in Medicine 25:559, method 5; Hanley & McNeil 1982; Smyth 2004, Statistical
    Applications in Genetics and Molecular Biology 3:3.

    Examples
    --------
    >>> low, high = auc_limits(1.0, 0.0, (10, 190), 9)
    >>> float(low.round(3)), float(high)
    (0.882, 1.0)
    """
    auc, P, N = (np.asarray(x, dtype=np.float64) for x in (auc, *sizes))
    smaller = np.minimum(P, N)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.asarray(variance, dtype=np.float64) / _model(auc, P, N)
        ratio = np.where(np.isfinite(ratio) & (ratio > 0), ratio, 1.0)
        quantile = t_quantiles((1 + level) / 2, np.maximum(df, 1) + SHRINK)
        scale = np.maximum(ratio, ratio ** (smaller / (smaller + SHRINK))) * quantile**2

    known = smaller >= 2
    parts: tuple[Any, ...] = (auc + 0 * scale, np.where(known, P, 2.0), np.where(known, N, 2.0), scale)
    if scale.ndim == 0:  # Python floats take a tenth of the time of arrays without a dimension
        parts = tuple(part.item() for part in parts)
    low, high = (_edge(end, *parts) for end in (0, 1))
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


@lru_cache(maxsize=1024)
def separated_limit(positives: float, negatives: float, level: float = 0.95) -> float:
    """Return the lower limit of ROC AUC if every positive scores above every negative.

    The sample then has no variance. The limit is the AUC at which a perfect ranking has probability
    (1 - level) / 2. It is exact in Hanley & McNeil's model, in which one class's scores are a power of the
    other's (Lehmann 1953): with θ = AUC / (1 - AUC) and a = N / θ the probability is
    Γ(a + 1) P! / Γ(a + P + 1). The model is not symmetric in the classes; the lower of both limits is used.

    Examples
    --------
    >>> round(separated_limit(4, 8), 3)
    0.676
    """
    wanted = math.log((1 - level) / 2)
    limits = []
    for one, other in ((positives, negatives), (negatives, positives)):
        low, high = 0.0, 1.0
        for _ in range(60):
            auc = (low + high) / 2
            a = other * (1 - auc) / auc
            chance = math.lgamma(a + 1) + math.lgamma(one + 1) - math.lgamma(a + one + 1)
            low, high = (auc, high) if chance < wanted else (low, auc)
        limits.append(low)
    return min(limits)


def _model(auc: Any, positives: Any, negatives: Any) -> Any:
    """Newcombe's form of Hanley & McNeil's variance: both class sizes replaced by their mean."""
    star = (positives + negatives) / 2 - 1
    spread = 1 + star * (1 - auc) / (2 - auc) + star * auc / (1 + auc)
    return auc * (1 - auc) * spread / (positives * negatives)


def _edge(end: int, auc: Any, positives: Any, negatives: Any, scale: Any) -> Any:
    """The limit between the estimate and an end of the range, by bisection; floats or arrays of one shape."""
    far, near = 0 * auc + end, auc
    for _ in range(60):
        middle = (far + near) / 2
        gap = auc - middle
        out = gap * gap > scale * _model(middle, positives, negatives)
        if isinstance(out, bool):
            far, near = (middle, near) if out else (far, middle)
        else:
            far, near = np.where(out, middle, far), np.where(out, near, middle)
    return far


@dataclass(frozen=True, eq=False)
class Tables:
    """A score table with cached inputs that several intervals use.

    Parameters
    ----------
    exact : ScoreTable

    Examples
    --------
    >>> import numpy as np
    >>> tables = Tables(ScoreTable.from_scores(np.array([0.1, 0.5, 0.5]), np.array([False, True, False])))
    >>> tables.curve
    (array([0., 1., 1.]), array([0., 1., 2.]))
    """

    exact: ScoreTable

    @cached_property
    def delong(self) -> tuple[float, float, float]:
        """ROC AUC of the score blocks, its DeLong variance, and the degrees of freedom of that."""
        auc, variance = delong(self.exact.coarse)
        return auc, variance, freedom(roc_auc(self.exact.coarse), self.exact.coarse)

    @cached_property
    def curve(self) -> tuple[Array, Array]:
        """Counts of true and false positives from the strictest threshold to the laxest, 0 first."""
        return self.exact.path

    @cached_property
    def coarse_curve(self) -> tuple[Array, Array]:
        """The curve of the score blocks."""
        return self.exact.coarse.path


def sum_calibration_bins(gaps: CalibrationGaps, table: ScoreTable) -> tuple[Array, Array, Array]:
    """Return rows, summed probability and positives of each bin.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.25, 0.75]), np.array([False, True]))
    >>> [part[:4].tolist() for part in sum_calibration_bins(CalibrationGaps("width"), table)]
    [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.25], [0.0, 0.0, 0.0, 0.0]]
    """
    return equal_width(table) if gaps.bins == "width" else equal_mass(table)


def count_limits(metrics: Sequence[Metric], counts: BinaryCounts, sampling: Sampling) -> dict[str, Limits]:
    """Return the limits of functions of the counts of one operating point.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> count_limits([find("f1", "binary")], BinaryCounts(40, 10, 10, 40), Sampling())["f1"].method
    'dirichlet'
    """
    return {
        name: Limits(float(low), float(high), "dirichlet", float(error))
        for name, (low, high, error) in count_bounds(metrics, counts, sampling).items()
    }


def proportion_limits(share: float, trials: float, sampling: Sampling) -> Limits:
    """Return Wilson's limits of a proportion.

    Examples
    --------
    >>> limits = proportion_limits(1.0, 10, Sampling())
    >>> round(limits.low, 3), limits.high, limits.method
    (0.722, 1.0, 'wilson')
    """
    low, high = wilson(share * trials, trials, sampling.level)
    return Limits(float(low), float(high), "wilson", math.sqrt(max(0.0, share * (1 - share)) / trials))


def table_limits(metric: Metric, value: float, tables: Tables, sampling: Sampling) -> Limits:
    """Return the limits of a function of the score table.

    Parameters
    ----------
    metric : Metric
        A function of the score table.
    value : float
        Its value.
    tables : Tables
        Of the score table.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> table = ScoreTable.from_scores(
    ...     np.array([0.1, 0.4, 0.35, 0.8, 0.9, 0.3]), np.array([0, 0, 1, 1, 1, 0], bool)
    ... )
    >>> limits = table_limits(find("average_precision", "binary"), 0.917, Tables(table), Sampling())
    >>> limits.method, bool(limits.low < 0.917 < limits.high)
    ('influence', True)
    """
    table = tables.exact
    few = min(table.positives, table.negatives) < FEWEST
    match metric.strategy:
        case DeLong():
            limits = rescale_auc_limits(metric, delong_limits(tables, sampling))
        case strategy if strategy.family == "ranking" and few:
            limits = no_limits("an interval needs two positives and two negatives")
        case BestThreshold():
            limits = Limits(*ks_limits(table, sampling), "newcombe")
        case CalibrationGaps() as gaps:
            limits = _gap_limits(gaps, value, tables, sampling)
        case SmoothGaps():
            limits = _smooth_limits(value, table, sampling)
        case CurvePoint() as point:
            limits = _crossing_limits(point, tables, sampling)
        case _:
            limits = _influence_limits(metric, value, tables, sampling)
    return limits


def delong_limits(tables: Tables, sampling: Sampling) -> Limits:
    """Return the limits of ROC AUC with DeLong's standard error.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]))
    >>> delong_limits(Tables(table), Sampling()).high
    1.0
    """
    table = tables.exact.coarse
    if min(table.positives, table.negatives) < FEWEST:
        return no_limits("an interval of the AUC needs two positives and two negatives")
    if len(table) == 1:
        return no_limits(ALL_EQUAL)
    auc, variance, df = tables.delong
    sizes = (table.positives, table.negatives)
    df = min(df, min(sizes) - 1)
    if variance == 0 and auc in (0.0, 1.0):
        limit = separated_limit(*sizes, sampling.level)
        return Limits(*((limit, 1.0) if auc else (0.0, 1 - limit)), "exact under separation", 0.0)
    low, high = auc_limits(auc, variance, sizes, df, sampling.level)
    return Limits(float(low), float(high), "delong", math.sqrt(variance))


def rescale_auc_limits(metric: Metric, limits: Limits) -> Limits:
    """Return the limits of ROC AUC in the range of a metric that is linear in it (gini: -1 to 1)."""
    if limits.reason is not None:
        return limits
    wide = metric.high - metric.low
    error = None if limits.standard_error is None else wide * limits.standard_error
    return Limits(metric.low + wide * limits.low, metric.low + wide * limits.high, limits.method, error)


def _gap_limits(gaps: CalibrationGaps, value: float, tables: Tables, sampling: Sampling) -> Limits:
    table = tables.exact
    doubt = _doubt(table.coarse) if gaps.bins == "mass" else None
    ends = gap_limits(sum_calibration_bins(gaps, table), value, sampling, doubt=doubt)
    return Limits(*ends, "test inversion")


def _doubt(table: ScoreTable) -> Array:
    """Variance of the true labels in each equal-mass bin, whose probabilities may differ much."""
    place = np.zeros(len(table), dtype=np.int64)
    cuts = mass_cuts(table)
    np.add.at(place, [cut for cut in cuts if cut < len(table)], 1)
    variance = (table.pos + table.neg) * table.scores * (1 - table.scores)
    return sums(np.cumsum(place), variance, len(cuts) + 1)


def _smooth_limits(value: float, table: ScoreTable, sampling: Sampling) -> Limits:
    reason = too_little(table.smooth, min(table.positives, table.negatives))
    if table.smooth is None or reason is not None:
        return no_limits(reason or "")
    return Limits(*smooth_gap_limits(value, table.smooth, sampling), "test inversion")


def _crossing_limits(point: CurvePoint, tables: Tables, sampling: Sampling) -> Limits:
    crossing = CROSSINGS[point.reading]
    tp, fp = tables.coarse_curve if crossing.smooth else tables.curve
    curve = RocDraws(tp, fp, sampling.resamples, crossing_generator(point, sampling))
    drawn = crossing.drawn(curve, point.at)
    ends = curve.limits(drawn, sampling.upper)
    return Limits(*ends, "bayesian bootstrap at the crossing", float(drawn.values.std()))


def _influence_limits(metric: Metric, value: float, tables: Tables, sampling: Sampling) -> Limits:
    table = tables.exact.coarse
    found = influence(metric, table)
    n, smaller = table.positives + table.negatives, min(table.positives, table.negatives)
    error, df = standard_error(table, found), freedom(found, table)
    if error == 0 and not (math.isfinite(metric.low) and math.isfinite(metric.high)):
        return no_limits("all rows have the same value")
    if metric.better == "one" and math.isfinite(metric.low):  # a ratio that is 1 if probabilities are right
        error, df = promised_error(table, found, error, df, moderated=True)
    ranking = metric.interval == "ranking"
    events = smaller if ranking else n
    quantile = t_quantile(sampling.upper, max(min(df, events - 1), 1))
    if ranking:
        ends = area_limits(metric, value, error, quantile, events, sampling.level)
        return Limits(*ends, "influence", error)
    low, high = transformed_scale_limits(metric, value, error, quantile, events)
    if metric.needs == "probabilities" and metric.better in ("lower", "higher"):
        lent, more = promised_error(table, found, error, df)
        far = t_quantile(sampling.upper, more) * lent
        low, high = (
            (low, max(high, value + far)) if metric.better == "lower" else (min(low, value - far), high)
        )
    return Limits(low, high, "influence", error)


def binary_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], summary: Summary, sampling: Sampling
) -> dict[str, Limits]:
    """Return the limits of binary metrics.

    Parameters
    ----------
    metrics : sequence of Metric
        Binary records with a value.
    values : mapping from their names to their values
    summary : Summary
    """
    counts = [metric for metric in metrics if isinstance(metric.strategy, CountDraws)]
    limits = count_limits(counts, view(summary, "counts"), sampling) if counts else {}
    tables = Tables(view(summary, "scores"))
    for metric in metrics:
        if isinstance(metric.strategy, Proportion):
            limits[metric.name] = proportion_limits(values[metric.name], metric.weight(summary), sampling)
        elif metric.reads == "scores":
            limits[metric.name] = table_limits(metric, values[metric.name], tables, sampling)
    return limits
