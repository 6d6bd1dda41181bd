"""Intervals of gaps from a smooth calibration curve, and its band: both from the fit's coefficients.

The mean gap of a calibrated model is not 0 in a sample, as no binned calibration error is: its interval is
the inversion that these have (`calibration`), over groups of neighbouring scores whose gaps move together
as the coefficients do, by as much as the rows tell of them if the curve is the one held to be true.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np

from evalreport.facts.counts import Array, Places, centred, inner, run_starts
from evalreport.facts.smoothing import RIDGE, SmoothCurve, reaching
from evalreport.intervals.calibration import Inversion, concentrated, factors_up, mean_gap
from evalreport.intervals.noise import Statistic, beside
from evalreport.intervals.sampling import Sampling
from evalreport.metrics.strategies import SmoothGaps

EVENTS = 20
"""Rows of the rarer class that an interval needs at least: with ten of 200 it held the truth 82 to 96%."""
INFORMATION = 5.0
"""Doubt, Σ p (1 - p) of the fit, that an interval needs at least, in rows: four coefficients are known to
it. Of 200 rows whose classes hardly overlap (2 worth) intervals of E50 and E90 held the truth 74 and 84%."""
DRAWS, MEAN_DRAWS = 500, 1000
"""Draws of the coefficients for a quantile of gaps, whose ends a hundred or two do not tell, and for their
mean: with 500 its lower limit of scores in ten steps was too high in 1% of samples more."""
EVEN = 16
"""Draws of which one length stands for: it is from the longest that limits are told, and of 500 as they come
the end of the mean gap of scores in ten steps lay 2 to 4% too near."""
GROUPS = 45
"""Groups of neighbouring scores in which gaps are drawn: the curve bends twice, and is straight in each. The
half and nine tenths of so many lie in the middle of one; of 40 a quantile of groups is below that of rows."""
CELLS = 8
"""Parts of a group within which one score stands for all where what rows tell is summed."""
LAST = 63
"""Bits that hold a group, of which there are no more."""

MeanError: TypeAlias = Callable[[Callable[[Array], Array]], float]


def too_little(curve: SmoothCurve | None, fewest: float) -> str | None:
    """Return why gaps from the smooth curve have no interval, if so.

    Parameters
    ----------
    curve : SmoothCurve or None
    fewest : float
        Rows of the rarer class.
    """
    if curve is None or fewest < EVENTS:
        return f"an interval needs {EVENTS} rows of each class"
    few = "the scores hardly leave doubt, and little to fit a curve to"
    return few if _doubt(curve) < INFORMATION else None


def smooth_gap_limits(
    gaps: SmoothGaps,
    value: float,
    curve: SmoothCurve,
    sampling: Sampling,
    root: Array | None = None,
    mean_error: MeanError | None = None,
) -> tuple[float, float]:
    """Return the limits of a mean or a quantile of the gaps between probability and smooth curve.

    Parameters
    ----------
    gaps : SmoothGaps
    value : float
    curve : SmoothCurve
    root : float64 array of shape (k, m), optional
        Root of the covariance of the coefficients, times what is not known of it; that of independent rows
        by default. m is k, or the number of groups where these are fewer.
    mean_error : callable, optional
        From a function of the score to the standard error of its mean over rows; independent ones by default.

    Examples
    --------
    >>> from evalreport.facts import ScoreTable
    >>> scores = np.linspace(0.05, 0.95, 19)
    >>> curve = ScoreTable(scores, 20 * scores, 20 * (1 - scores)).smooth
    >>> limits = smooth_gap_limits(SmoothGaps(), 0.0, curve, Sampling())
    >>> limits[0], bool(0.02 < limits[1] < 0.1)
    (0.0, True)
    """
    starts, statistic = _groups(curve, GROUPS), _statistic(gaps)
    weight = np.add.reduceat(curve.weight, starts)
    said = np.add.reduceat(curve.weight * curve.scores, starts)
    seen = np.add.reduceat(curve.weight * (curve.scores - curve.fitted), starts)
    moved = cache(_moves(curve, starts, root))
    size = (curve.root if root is None else root).shape[1]
    normal = _normals(size, MEAN_DRAWS if gaps.quantile is None else DRAWS, sampling)

    def drawn(pattern: Array, factor: float) -> Array:
        found = normal @ moved(factor).T
        found += factor * pattern
        return np.clip(found, said - weight, said, out=found)

    here, beyond = statistic(drawn(seen, 1.0), weight), drawn(seen, 0.0).sum(axis=1)
    noise = np.sqrt((moved(1.0) ** 2).sum(axis=1))
    factors = factors_up(float(statistic(noise, weight)), value)
    least = sampling.z * float(beyond.std()) / float(weight.sum())
    around = _between(gaps, curve, mean_error or _of_rows(curve)) * beside(len(here), sampling)
    inversion = Inversion(value, sampling, near_end=True, least=least)

    def ends(pattern: Array) -> tuple[float, float]:
        def found(place: Places) -> Array:
            return np.stack([statistic(drawn(pattern, f), weight) + f * around for f in factors[place]])

        return inversion.between(found, factors * statistic(pattern, weight))

    low, high = ends(seen)
    if gaps.quantile is None:
        low = min(low, ends(concentrated(seen, noise))[0])
    if root is not None:  # their noise need not follow the curve held to be true
        high = max(high, value + sampling.z * float((here + around).std()))
    return min(low, value), max(high, value, least)


@lru_cache(maxsize=16)
def _normals(size: int, draws: int, sampling: Sampling) -> Array:
    """Standard normal draws with exactly the means and covariances of normals; not to be changed.

    Their lengths are spread evenly over those of normals.
    """
    drawn = sampling.generator(11).standard_normal((EVEN * draws, size))
    length = np.sqrt((drawn**2).sum(axis=1))
    drawn = drawn[:draws] / length[:draws, None]
    drawn *= np.sort(length)[EVEN // 2 :: EVEN, None][length[:draws].argsort().argsort()]
    drawn -= drawn.mean(axis=0)
    root = np.linalg.cholesky(drawn.T @ drawn / draws)
    return np.asarray(np.linalg.solve(root, drawn.T).T)


def _moves(curve: SmoothCurve, starts: Places, root: Array | None) -> Callable[[float], Array]:
    """Return, from a factor of the gaps seen, how standard normal draws move the summed gap of each group.

    What rows tell of the coefficients depends on the curve held to be true. By what they tell of the one
    fitted, E50 of 2,000 rows whose classes hardly overlap lay beyond its 95% in 16% of samples, so in 4%.
    """
    cells = np.union1d(starts, _groups(curve, CELLS * GROUPS))
    weight = np.add.reduceat(curve.weight, cells)
    scores, fitted = (np.add.reduceat(curve.weight * p, cells) / weight for p in (curve.scores, curve.fitted))
    design, first = curve.design(scores), np.searchsorted(cells, starts)
    effect = np.eye(design.shape[1]) if root is None else np.linalg.cholesky(curve.curvature).T @ root

    def moved(factor: float) -> Array:
        risk = np.clip(scores + factor * (fitted - scores), 0.0, 1.0)
        doubt = design * (weight * risk * (1 - risk))[:, None]
        told = np.linalg.cholesky(design.T @ doubt + RIDGE * curve.curvature)
        return np.asarray(np.add.reduceat(doubt, first) @ np.linalg.inv(told).T @ effect)

    return moved


def _doubt(curve: SmoothCurve) -> float:
    """Variance of the outcomes that the fit expects, in rows."""
    return float(curve.weight @ (curve.fitted * (1 - curve.fitted)))


def _between(gaps: SmoothGaps, curve: SmoothCurve, mean_error: MeanError) -> float:
    """Standard error that comes from which scores were drawn; of a quantile Woodruff's (1952)."""
    quantile = gaps.quantile
    if quantile is None:
        return mean_error(lambda scores: np.abs(scores - curve.at(scores)))
    limit = curve.gap(quantile)
    reach = mean_error(lambda scores: (np.abs(scores - curve.at(scores)) <= limit).astype(np.float64))
    low, high = reaching(*curve.gaps, np.clip([quantile - reach, quantile + reach], 0, 1))
    return float(high - low) / 2


def _of_rows(curve: SmoothCurve) -> MeanError:
    def mean_error(function: Callable[[Array], Array]) -> float:
        weight = curve.weight
        return math.sqrt(inner(weight, centred(function(curve.scores), weight) ** 2)) / float(weight.sum())

    return mean_error


def _statistic(gaps: SmoothGaps) -> Statistic:
    quantile = gaps.quantile
    if quantile is None:
        return mean_gap

    def of_rows(gaps: Array, weight: Array) -> Array:
        # The group in the last bits of its gap, 1e-14 of it: numbers sort in a third of an argsort's time.
        words = np.ascontiguousarray(np.abs(gaps) / weight).view(np.uint64)
        words &= ~np.uint64(LAST)
        words |= np.arange(len(weight), dtype=np.uint64)
        words.sort(axis=-1)
        upto = weight[(words & np.uint64(LAST)).astype(np.intp)]
        upto.cumsum(axis=-1, out=upto)
        place = np.count_nonzero(upto < quantile * weight.sum() * (1 - 1e-9), axis=-1)
        found: Array = np.take_along_axis(words, place[..., None], -1)[..., 0].view(np.float64)
        return found

    return of_rows


def _groups(curve: SmoothCurve, many: int) -> Places:
    """Where so many groups of neighbouring scores of about equal weight start."""
    weight = curve.weight
    middle = np.cumsum(weight) - weight / 2
    return run_starts(np.minimum((middle / weight.sum() * many * (1 + 1e-12)).astype(np.int64), many - 1))


def smooth_band(
    curve: SmoothCurve, scores: Array, quantile: float, root: Array | None = None
) -> tuple[Array, Array]:
    """Return pointwise limits of the curve at some scores: normal on the logit.

    Examples
    --------
    >>> from evalreport.facts import ScoreTable
    >>> scores = np.linspace(0.05, 0.95, 19)
    >>> curve = ScoreTable(scores, 20 * scores, 20 * (1 - scores)).smooth
    >>> [limit.round(2).tolist() for limit in smooth_band(curve, np.array([0.5]), 1.96)]
    [[0.43], [0.57]]
    """
    design = curve.design(scores)
    reach = quantile * np.sqrt(((design @ (curve.root if root is None else root)) ** 2).sum(axis=1))
    centre = design @ curve.coefficients
    low, high = (1 / (1 + np.exp(-np.clip(centre + side * reach, -700, 700))) for side in (-1, 1))
    return low, high
