"""Intervals of gaps from a smooth calibration curve, and its band: both from the fit's coefficients.

The mean gap of a calibrated model is not 0 in a sample, as no binned calibration error is: its interval is
the inversion that these have (`calibration`), over groups of neighbouring scores whose gaps move together
as the coefficients do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from evalreport.facts.counts import Array, centred, inner, run_starts
from evalreport.facts.smoothing import SmoothCurve, reaching
from evalreport.intervals.calibration import gap_limits, mean_gap
from evalreport.intervals.noise import Statistic, gap_size
from evalreport.intervals.quantiles import t_quantile
from evalreport.intervals.sampling import Sampling
from evalreport.metrics.strategies import SmoothGaps

EVENTS = 20
"""Rows of the rarer class that an interval needs at least: with ten of 200 it held the truth 82 to 96%."""
INFORMATION = 5.0
"""Doubt, Σ p (1 - p) of the fit, that an interval needs at least, in rows: four coefficients are known to
it. Of 200 rows whose classes hardly overlap (2 worth) intervals of E50 and E90 held the truth 74 and 84%."""
DOUBT = 25.0
"""Doubt, in rows, from which quantiles of gaps are missed on one side alone where there are none. Of 2,000
rows whose classes hardly overlap (20 worth) E50 was held in 89% so, and with both sides alike in 96."""
GROUPS = 40
"""Groups of neighbouring scores in which gaps are drawn: the curve bends twice, and is straight in each."""
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
    root : float64 array of shape (k, k), optional
        Root of the covariance of the coefficients, times what is not known of it; that of independent rows
        by default.
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
    weight, probability, fitted = _grouped(curve)
    unsure = 1.0 if gaps.quantile is None else _unsure(curve, sampling)
    moved = curve.design(probability) @ (curve.root * unsure if root is None else root)
    deviation = np.sqrt((moved**2).sum(axis=1))
    generator = sampling.generator(11)
    normal = generator.standard_normal((gap_size(len(weight), sampling), moved.shape[1]))
    draws = normal @ (moved / np.maximum(deviation, np.finfo(float).tiny)[:, None]).T
    noise = weight * fitted * (1 - fitted) * deviation
    statistic = _statistic(gaps)
    difference = weight * (probability - fitted)
    error = float(statistic(difference + draws * noise, weight).std())
    error = math.hypot(error, _between(gaps, curve, mean_error or _of_rows(curve)))
    bins = (weight, weight * probability, weight * fitted)
    near_end = gaps.quantile is None or _doubt(curve) >= DOUBT
    return gap_limits(bins, value, statistic, sampling, noise, draws, error, fixed=True, near_end=near_end)


def _unsure(curve: SmoothCurve, sampling: Sampling) -> float:
    """Student's quantile over the normal one: the doubt is the rows that tell the covariance of the fit.

    Of 200 rows they are about 30. With normal limits E50 of a calibrated model was held in 91%, so in 94;
    the mean gap needs none of it: it was held in 99% where models are far from calibrated.
    """
    return t_quantile(sampling.upper, max(_doubt(curve) - len(curve.coefficients), 1.0)) / sampling.z


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


def _grouped(curve: SmoothCurve) -> tuple[Array, Array, Array]:
    """Weight, mean probability and mean fit of groups of about equal weight."""
    weight = curve.weight
    middle = np.cumsum(weight) - weight / 2
    group = np.minimum((middle / weight.sum() * GROUPS * (1 + 1e-12)).astype(np.int64), GROUPS - 1)
    starts = run_starts(group)
    mass, probability, fitted = (
        np.add.reduceat(part, starts) for part in (weight, weight * curve.scores, weight * curve.fitted)
    )
    return mass, probability / mass, fitted / mass


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
