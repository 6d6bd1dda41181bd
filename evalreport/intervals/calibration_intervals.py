"""Intervals of calibration errors, by test inversion.

**Binned errors.** A calibration error is a sum of absolute gaps. Noise adds to it, so the estimate is
biased upwards and bootstrap resamples even more: bootstrap intervals of the ECE of a calibrated model almost
never contain the true value. Here the observed gaps are scaled by a factor, and the errors of samples with
these gaps are simulated from the binomial noise of the bins. A factor is accepted if the observed error is
within the central 95% of its simulated errors; the interval contains the errors of the accepted factors. The
accepted range is not central near factor 0, the end of the range (`tails_near_end`), nor where noise adds so
much that no sample has an error below the true one (`Inversion`).

**Smooth calibration curve.** The mean gap of a calibrated model is greater than 0 in a sample, too. Its
interval is the same inversion over groups of neighbouring scores, whose gaps vary together because the
coefficients of the curve do. The covariance of the coefficients is that under the curve assumed to be true.
The confidence band of the curve also comes from the coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np

from evalreport.intervals.distributions import NORMAL, normal_quantile, tails_near_end
from evalreport.intervals.interval_settings import Sampling
from evalreport.statistics.calibration_fits import RIDGE, SmoothCurve
from evalreport.statistics.confusion import Array, Places, inner, run_starts, subtract_mean
from evalreport.statistics.resampling import Stream

FACTORS = 25
"""Number of factors that gaps are scaled by; limits are interpolated between them."""
NOISE_CELLS = 200_000
"""Most simulated gaps over factors, resamples and bins."""
BLOCK = 1 << 16
"""Numbers simulated at a time, so that they stay in cache."""
CERTAIN = 1e-3
"""Least distance of a bin's mean probability from 0 and 1 if the noise of the bins is given."""
FEW_EXPECTED = 25.0
"""Variance of a count below which its samples are binomial; from it on they are normal."""
FAR = 6.0
"""Counts are enumerated up to this many standard deviations plus rows above the mean; 1 in 1e8 is beyond."""
SMALLEST = 1e-15
"""Least rate, so that rate and complement differ from 0 and 1: a great weight makes two rows vanish."""

Statistic = Callable[[Array, Array], Array]
"""From gaps of shape (..., bins) and the weights of the bins to an error of shape (...)."""
Counted = tuple[Places, Array]
"""Order of each bin's normal samples, shape (bins, samples), and offset of its counts, in [0, 1)."""


@lru_cache(maxsize=16)
def independent(bins: int, sampling: Sampling) -> tuple[Array, Counted]:
    """Return standard normal samples of independent bins, and the order in which counts follow them.

    Cached, because all labels of a problem use the same; do not modify the arrays.

    Examples
    --------
    >>> normal, (order, start) = independent(3, Sampling(resamples=500))
    >>> normal.shape, order.shape, start.shape
    ((500, 3), (3, 500), (3,))
    """
    generator = sampling.generator(Stream.BIN_NOISE)
    normal = generator.standard_normal((gap_size(bins, sampling), bins))
    return normal, (normal.argsort(axis=0).T, generator.random(bins))


@lru_cache(maxsize=16)
def bin_placement_noise(draws: int, sampling: Sampling) -> Array:
    """Return standard normal samples for the variation of an error between bins; do not modify the array."""
    return sampling.generator(Stream.BIN_PLACES).standard_normal(draws)


def gap_size(bins: int, sampling: Sampling) -> int:
    """Return the number of simulated samples for a number of bins."""
    return max(100, min(sampling.resamples, NOISE_CELLS // (FACTORS * bins)))


@dataclass(frozen=True, eq=False)
class Noise:
    """Simulated deviations of the summed gaps of bins from their means.

    All means use the same random numbers, so that limits between two of them do not jitter.

    Parameters
    ----------
    weight, probability : float64 arrays of shape (bins,)
    design : float64 array of shape (bins,)
        Ratio of the standard deviation of each bin's gap to the binomial one.
    normal : float64 array of shape (draws, bins)
    certain : float
        Least distance of a probability from 0 and 1; 0 where the weights are numbers of rows.
    follow : Counted or None
        For independent bins: small counts are then sampled from the binomial distribution.
    rows : float64 array of shape (bins,)
        Effective rows of equal weight in each bin; equal to `weight` where all rows weigh 1.
    """

    weight: Array
    probability: Array
    design: Array
    normal: Array
    certain: float
    follow: Counted | None
    rows: Array

    def draw_errors(self, gaps: Array, statistic: Statistic) -> Array:
        """Return simulated errors of samples with the given expected gaps.

        Parameters
        ----------
        gaps : float64 array of shape (means, bins)
        statistic : callable

        Returns
        -------
        float64 array of shape (means, draws)
        """
        step = max(1, BLOCK // self.normal.size)
        parts = (gaps[start : start + step] for start in range(0, len(gaps), step))
        return np.concatenate(
            [
                statistic(self.draw_bin_noise(self.probability - part) + part[:, None], self.weight)
                for part in parts
            ]
        )

    def draw_bin_noise(self, positives: Array) -> Array:
        """Return simulated deviations of the summed gaps for the expected numbers of positives.

        Parameters
        ----------
        positives : float64 array of shape (means, bins)

        Returns
        -------
        float64 array of shape (means, draws, bins)
        """
        share = self.rows / self.weight
        rate = binomial_rate(self.rows, positives * share, self.probability * share, self.certain)
        variance = self.rows * rate * (1 - rate)
        scale = self.design / share * np.sqrt(variance)
        few = variance < FEW_EXPECTED
        drawn = self.normal.T[:, None] * scale.T[:, :, None]  # bins first: sums over them are of whole rows
        if self.follow is not None and few.any():
            mean, place = np.nonzero(few)
            whole = np.maximum(np.round(self.rows), 1)
            rows, design = whole[place], (self.design / share * np.sqrt(self.rows / whole))[place, None]
            order, start = self.follow
            short = few_counts(rows, rate[few], len(self.normal), start[place])
            drawn[place[:, None], mean[:, None], order[place]] = short * design
        return np.moveaxis(drawn, 0, -1)


def few_counts(rows: Array, rate: Array, draws: int, start: Array) -> Array:
    """Return how far binomial counts are below their means, by systematic sampling.

    Parameters
    ----------
    rows, rate : float64 arrays of shape (bins,)
    draws : int
    start : float64 array of shape (bins,), in [0, 1)
        Offset of the first sample. Samples are evenly spaced, so each count appears in proportion.

    Returns
    -------
    float64 array of shape (bins, draws)
        In order of the counts of positives, or of negatives where these are rarer.

    Examples
    --------
    >>> few_counts(np.array([2.0]), np.array([0.5]), 4, np.array([0.5]))
    array([[ 1.,  0.,  0., -1.]])
    """
    rare = np.minimum(rate, 1 - rate)
    mean = rows * rare
    count = np.arange(math.ceil(float((mean + FAR * np.sqrt(mean)).max()) + FAR))
    chance = np.empty((len(rows), len(count) + 1))
    chance[:, 0] = (1 - rare) ** rows
    chance[:, 1:] = np.maximum(rows[:, None] - count, 0) / (count + 1) * (rare / (1 - rare))[:, None]
    upto = (chance.cumprod(axis=1).cumsum(axis=1) * draws + start[:, None]).astype(np.int64)
    upto[:, -1] = draws
    times = np.diff(np.minimum(upto, draws), prepend=0)
    found = np.repeat(np.tile(np.arange(len(count) + 1), len(rows)), times.ravel()).reshape(len(rows), draws)
    short: Array = (mean[:, None] - found) * np.where(rate > rare, -1, 1)[:, None]
    return short


def binomial_noise(weight: Array, positives: Array, probability: Array, certain: float = 0.0) -> Array:
    """Return the standard deviation of the positives of each bin, never 0.

    Two rows are added to each bin, at the bin's mean predicted probability. At the rate of all rows instead,
    bins of few rows had so much noise that the ECE of three classes had 100% coverage.

    Examples
    --------
    >>> binomial_noise(np.array([10.0, 1.0]), np.array([5.0, 0.0]), np.array([5.0, 0.3])).round(2)
    array([1.58, 0.4 ])
    """
    rate = binomial_rate(weight, positives, probability, certain)
    spread: Array = np.sqrt(weight * rate * (1 - rate))
    return spread


def binomial_rate(weight: Array, positives: Array, probability: Array, certain: float = 0.0) -> Array:
    """Return the rate for the binomial noise of each bin: see `binomial_noise`.

    `certain` is the least distance of a probability from 0 and 1.

    Examples
    --------
    >>> binomial_rate(np.array([2.0]), np.array([2.0]), np.array([1.0]))
    array([0.75])
    """
    held = np.clip(positives, 0, weight)
    predicted = np.clip(probability / weight, certain, 1 - certain)
    rate: Array = np.clip((held + 2 * predicted) / (weight + 2), SMALLEST, 1 - SMALLEST)
    return rate


COARSE = 4
"""Step of the factors that are simulated first; the others are simulated only near the limits."""
TIE = 1e-12
"""Less than the difference of two values of counts: samples that tie with the value count on both sides."""
INFLATED = 0.25
"""Inflation by noise, in standard errors, up to which a calibration error counts as far above the noise."""
HALF_KEPT = 2.0
"""Standard deviations of its noise at which half of a gap is kept. With 1, 1.5 and 2, intervals for scores
with ten distinct values cover 91, 92 and 93% at 2,000 rows (90% if all gaps are scaled by the same factor),
and those of badly calibrated models become longer."""
FEW = 500
"""Fewest samples for quantiles; with fewer, limits come from their mean and standard deviation."""


def gap_limits(
    bins: tuple[Array, Array, Array],
    value: float,
    sampling: Sampling,
    noise: Array | None = None,
    draws: Array | None = None,
    error: float | None = None,
    doubt: Array | None = None,
    rows: Array | None = None,
) -> tuple[float, float]:
    """Return the limits of a calibration error over bins.

    Parameters
    ----------
    bins : three float64 arrays of shape (bins,)
        Rows, summed probability and positives of each bin.
    value : float
        The calibration error.
    noise : float64 array of shape (bins,), optional
        Standard deviation of the summed gap of each bin; binomial by default. Its ratio to the binomial is
        the same for every factor.
    draws : float64 array of shape (draws, bins), optional
        Standard normal samples of the bins, for units with rows in several bins; independent by default.
    error : float, optional
        Standard error of the calibration error if no gap is near 0; by default that of independent rows.
    doubt : float64 array of shape (bins,), optional
        Variance of the summed true labels of each bin if the probabilities of its rows are right, for bins
        with very different probabilities; by default the binomial one.
    rows : float64 array of shape (bins,), optional
        Effective rows of equal weight in each bin, if rows have weights: counts are simulated for these.

    Examples
    --------
    >>> bins = (np.full(5, 40.0), np.array([4.0, 12, 20, 28, 36]), np.array([5.0, 11, 22, 27, 37]))
    >>> limits = gap_limits(bins, 0.03, Sampling())
    >>> limits[0], round(limits[1], 2)
    (0.0, 0.06)
    """
    held = bins[0] > 0
    weight, probability, positives = (part[held] for part in bins)
    gaps, certain = probability - positives, CERTAIN if noise is not None else 0.0
    rows = weight if rows is None else rows[held]
    share = rows / weight
    spread = binomial_noise(rows, positives * share, probability * share, certain) / share
    design = np.ones(len(weight)) if noise is None else noise[held] / spread
    if doubt is not None:
        most = np.maximum(probability * (1 - probability / weight), SMALLEST)
        design = np.sqrt(np.minimum(doubt[held] / most, 1))
    normal, follow = independent(len(weight), sampling) if draws is None else (draws[:, held], None)
    noisy = Noise(weight, probability, design, normal, certain, follow, rows)
    factors = factors_up(float(mean_gap(design * spread, weight)), value)
    here = noisy.draw_errors(gaps[None], mean_gap)[0]
    moved = _between_bin_error(gaps, weight, share, here, error) * bin_placement_noise(len(normal), sampling)

    def ends(pattern: Array) -> tuple[float, float]:
        def draw_binned_errors(place: Places) -> Array:
            f = factors[place, None]
            return noisy.draw_errors(f * pattern, mean_gap) + f * moved

        return inversion.search_limits(draw_binned_errors, mean_gap(factors[:, None] * pattern, weight))

    # If the sample has no gaps, no pattern can be scaled; errors that a test cannot reject stay inside.
    least = sampling.z * float((normal @ (design * spread)).std()) / float(weight.sum())
    inversion = Inversion(value, sampling, near_end=True, least=least)
    low, high = ends(gaps)
    if draws is None:
        low = min(low, ends(shrink_noisy_gaps(gaps, design * spread))[0])
    low, high = _far(low, high, value, here + moved, sampling)
    return min(low, value), max(high, value, least)


def factors_up(noise: float, value: float) -> Array:
    """Return the factors for the gaps: from 0 to where the error is the value plus four times the noise."""
    return np.linspace(0, min(1 + 4 * noise / max(value, 1e-12), 1e6), FACTORS)


def shrink_noisy_gaps(gaps: Array, noise: Array) -> Array:
    """Return gaps of the same total size, concentrated in the bins with gaps above their noise.

    Noise adds the most to the absolute value of a gap of 0, and almost nothing to a gap far above the noise.
    The observed gaps have noise in every bin, so if they are only scaled, noise adds too little: with one
    miscalibrated bin of ten, the lower limit was above the true error in 10% of samples.
    """
    fourth = gaps**4
    shrunk = gaps * fourth / np.maximum(fourth + (HALF_KEPT * noise) ** 4, np.finfo(float).tiny)
    size = float(np.abs(shrunk).sum())
    return shrunk * (float(np.abs(gaps).sum()) / size) if size else gaps


def _far(low: float, high: float, value: float, here: Array, sampling: Sampling) -> tuple[float, float]:
    """Limits at least as long as those of a mean, if the gaps are far above their noise.

    Parameters
    ----------
    here : float64 array of shape (draws,)
        Simulated errors around the sample itself.
    """
    inflated, error = float(here.mean()) - value, float(here.std())
    if inflated > INFLATED * error:
        return low, high
    reach = sampling.z * error
    return max(min(low, value - inflated - reach), 0.0), max(high, value - inflated + reach)


@dataclass(frozen=True)
class Inversion:
    """The true values whose simulated samples have the observed value within their central probability.

    The upper limit is never below the value or `least`, so it cannot miss a true value that samples never
    fall below. If noise inflates the estimate, this applies to almost all true values: the whole error then
    goes to the lower limit, as near the end of a range.

    Parameters
    ----------
    value : float
        The observed value.
    sampling : Sampling
    near_end : bool
        Whether the first true value is the end of the range, so that it can be missed on one side only: see
        `tails_near_end`.
    least : float or None
        The caller raises the upper limit to this and to the value; None: to neither.

    Examples
    --------
    >>> drawn = np.linspace(0, 1, 11)[:, None] + np.linspace(-0.2, 0.2, 801)
    >>> [
    ...     round(limit, 2)
    ...     for limit in Inversion(0.5, Sampling()).limits_from_draws(drawn, np.linspace(0, 1, 11))
    ... ]
    [0.31, 0.69]
    """

    value: float
    sampling: Sampling
    near_end: bool = False
    least: float | None = None

    def limits_from_draws(self, drawn: Array, truths: Array) -> tuple[float, float]:
        """Return the lowest and the highest accepted true value.

        Parameters
        ----------
        drawn : float64 array of shape (truths, draws)
            Simulated values for each true value.
        truths : float64 array of shape (truths,), ascending
        """
        fewest, most = np.maximum.accumulate(self._tails(drawn, truths), axis=1)
        # simulated counts have ties: use the outermost true value
        low = float(np.interp(self.value - TIE, most, truths))
        return low, float(np.interp(self.value + TIE, fewest, truths))

    def search_limits(self, drawn: Callable[[Places], Array], truths: Array) -> tuple[float, float]:
        """Return the same limits; only some true values and those near the limits are simulated.

        Parameters
        ----------
        drawn : function from positions in `truths` to float64 array of shape (positions, draws)
        truths : float64 array of shape (truths,), ascending
        """
        some = np.arange(0, len(truths), COARSE)
        rows = drawn(some)
        fewest, most = np.maximum.accumulate(self._tails(rows, truths[some]), axis=1)
        first = some[max(int(np.searchsorted(most, self.value - TIE)) - 1, 0)]
        last = some[min(int(np.searchsorted(fewest, self.value + TIE, "right")), len(some) - 1)]
        near = np.concatenate([np.arange(end, end + COARSE) for end in (first, max(last - COARSE, 0))])
        more = np.setdiff1d(near[near < len(truths)], some)
        place = np.concatenate([some, more])
        order = np.argsort(place)
        if len(more):
            rows = np.concatenate([rows, drawn(more)])
        return self.limits_from_draws(rows[order], truths[place[order]])

    def _tails(self, drawn: Array, truths: Array) -> Array:
        """Acceptance limits of each row of samples; from mean and standard deviation if they are few."""
        centre, spread = drawn.mean(axis=1), np.maximum(drawn.std(axis=1), SMALLEST)
        apart = (centre - centre[0]) / spread if self.near_end else np.full(len(drawn), np.inf)
        below, few = tails_near_end(apart, self.sampling.level)[0], drawn.shape[1] < FEW
        if self.least is not None:
            short = (drawn < truths[:, None]).mean(axis=1)
            if few:
                short = np.array([NORMAL.cdf(far) for far in (truths - centre) / spread])
            below = np.minimum(below, np.where(truths > self.least, short, 0.0))
        chances = np.clip([below, self.sampling.level + below], 1e-9, 1 - 1e-9)
        if few:
            quantiles = np.array([[normal_quantile(chance) for chance in side] for side in chances])
            return np.asarray(centre + quantiles * spread)
        ordered, row = np.sort(drawn, axis=1), np.arange(len(drawn))
        place = chances * (drawn.shape[1] - 1)
        first = place.astype(np.int64)
        step = ordered[row, first + 1] - ordered[row, first]
        return np.asarray(ordered[row, first] + (place - first) * step)


def _between_bin_error(gaps: Array, weight: Array, share: Array, here: Array, error: float | None) -> float:
    """Standard error of a mean gap beyond the noise within bins: rows fall into different bins by chance."""
    size, total = np.abs(gaps) / weight, float(weight.sum())
    if error is not None:
        return math.sqrt(max(error**2 - float(here.var()), 0.0))
    return math.sqrt(inner(weight / share, subtract_mean(size, weight) ** 2)) / total


def unit_draws(own: Array, sampling: Sampling) -> Array:
    """Return standard normal samples of bins with the correlation of sums over units.

    Parameters
    ----------
    own : float64 array of shape (units, bins)
        Summed gap of each unit in each bin, minus the mean of the bin.

    Returns
    -------
    float64 array of shape (draws, bins)
    """
    generator, size = sampling.generator(Stream.GROUPED_BINS), gap_size(own.shape[1], sampling)
    centred = own - own.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    together = generator.standard_normal((size, len(own))) @ centred
    alone = generator.standard_normal((size, own.shape[1]))
    drawn: Array = np.where(spread > 0, together / np.where(spread > 0, spread, 1.0), alone)
    return drawn


def mean_gap(gaps: Array, weight: Array) -> Array:
    """Return the expected calibration error."""
    total: Array = np.abs(gaps).sum(axis=-1) / weight.sum()
    return total


EVENTS = 20
"""Fewest rows of the rarer class for an interval: with ten of 200, coverage was 82 to 96%."""
INFORMATION = 5.0
"""Least Σ p (1 - p) of the fit for an interval, in rows: four coefficients are estimated from it. With 200
rows whose classes hardly overlap (2 rows), intervals of quantiles of the gaps covered 74% and 84%."""
SMOOTH_DRAWS = 1000
"""Samples of the coefficients: with 500, the lower limit for scores with ten distinct values was too high in
1% more of the data sets."""
EVEN = 16
"""Sorted random lengths per sample, of which the middle one is used: the limits depend on the longest. With
500 random lengths, the limit of the mean gap for scores with ten distinct values was 2 to 4% too near."""
GROUPS = 45
"""Groups of neighbouring scores for simulated gaps: the curve has two bends and is straight in a group."""
CELLS_PER_GROUP = 8
"""Parts of a group; within one, a single score represents all when the information of rows is summed."""

MeanError: TypeAlias = Callable[[Callable[[Array], Array]], float]


def too_little(curve: SmoothCurve | None, fewest: float) -> str | None:
    """Return why gaps from the smooth curve have no interval, or None if they have one.

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
    value: float,
    curve: SmoothCurve,
    sampling: Sampling,
    root: Array | None = None,
    mean_error: MeanError | None = None,
) -> tuple[float, float]:
    """Return the limits of the mean gap between probability and smooth curve.

    Parameters
    ----------
    value : float
    curve : SmoothCurve
    root : float64 array of shape (k, m), optional
        Root of the covariance of the coefficients, widened where that is estimated; by default that of
        independent rows. m is k, or the number of groups if that is smaller.
    mean_error : callable, optional
        From a function of the score to the standard error of its mean over rows; by default for independent
        rows.

    Examples
    --------
    >>> from evalreport.statistics.score_table import ScoreTable
    >>> scores = np.linspace(0.05, 0.95, 19)
    >>> curve = ScoreTable(scores, 20 * scores, 20 * (1 - scores)).smooth
    >>> limits = smooth_gap_limits(0.0, curve, Sampling())
    >>> limits[0], bool(0.02 < limits[1] < 0.1)
    (0.0, True)
    """
    starts = _groups(curve, GROUPS)
    weight = np.add.reduceat(curve.weight, starts)
    predicted = np.add.reduceat(curve.weight * curve.scores, starts)
    seen = np.add.reduceat(curve.weight * (curve.scores - curve.fitted_rates), starts)
    moved = cache(_moves(curve, starts, root))
    size = (curve.root if root is None else root).shape[1]
    normal = _normals(size, SMOOTH_DRAWS, sampling)

    def draw_smooth_gaps(pattern: Array, factor: float) -> Array:
        found = normal @ moved(factor).T
        found += factor * pattern
        return np.clip(found, predicted - weight, predicted, out=found)

    here, beyond = mean_gap(draw_smooth_gaps(seen, 1.0), weight), draw_smooth_gaps(seen, 0.0).sum(axis=1)
    noise = np.sqrt((moved(1.0) ** 2).sum(axis=1))
    factors = factors_up(float(mean_gap(noise, weight)), value)
    least = sampling.z * float(beyond.std()) / float(weight.sum())
    between = (mean_error or _of_rows(curve))(lambda scores: np.abs(scores - curve.predict_rates(scores)))
    around = between * bin_placement_noise(len(here), sampling)
    inversion = Inversion(value, sampling, near_end=True, least=least)

    def ends(pattern: Array) -> tuple[float, float]:
        def draw_mean_gaps(place: Places) -> Array:
            return np.stack(
                [mean_gap(draw_smooth_gaps(pattern, f), weight) + f * around for f in factors[place]]
            )

        return inversion.search_limits(draw_mean_gaps, factors * mean_gap(pattern, weight))

    low, high = ends(seen)
    low = min(low, ends(shrink_noisy_gaps(seen, noise))[0])
    if root is not None:  # the noise of weighted or grouped rows may not follow the assumed curve
        high = max(high, value + sampling.z * float((here + around).std()))
    return min(low, value), max(high, value, least)


@lru_cache(maxsize=16)
def _normals(size: int, draws: int, sampling: Sampling) -> Array:
    """Standard normal samples with mean exactly 0 and covariance exactly I; do not modify the array.

    Their lengths are evenly spaced quantiles of the lengths of normal samples.
    """
    drawn = sampling.generator(Stream.CURVE_COEFFICIENTS).standard_normal((EVEN * draws, size))
    length = np.sqrt((drawn**2).sum(axis=1))
    drawn = drawn[:draws] / length[:draws, None]
    drawn *= np.sort(length)[EVEN // 2 :: EVEN, None][length[:draws].argsort().argsort()]
    drawn -= drawn.mean(axis=0)
    root = np.linalg.cholesky(drawn.T @ drawn / draws)
    return np.asarray(np.linalg.solve(root, drawn.T).T)


def _moves(curve: SmoothCurve, starts: Places, root: Array | None) -> Callable[[float], Array]:
    """Return the function from a factor to the matrix that maps normal samples to summed gaps of groups.

    The information of the rows about the coefficients depends on the true curve. With the information at the
    fitted curve, the median gap of 2,000 rows whose classes hardly overlap was outside its interval in 16%
    of samples; with that at the assumed curve in 4%.
    """
    cells = np.union1d(starts, _groups(curve, CELLS_PER_GROUP * GROUPS))
    weight = np.add.reduceat(curve.weight, cells)
    scores, fitted = (
        np.add.reduceat(curve.weight * p, cells) / weight for p in (curve.scores, curve.fitted_rates)
    )
    design, first = curve.design(scores), np.searchsorted(cells, starts)
    effect = np.eye(design.shape[1]) if root is None else np.linalg.cholesky(curve.curvature).T @ root

    def moves_at_factor(factor: float) -> Array:
        risk = np.clip(scores + factor * (fitted - scores), 0.0, 1.0)
        doubt = design * (weight * risk * (1 - risk))[:, None]
        factor_of_information = np.linalg.cholesky(design.T @ doubt + RIDGE * curve.curvature)
        return np.asarray(np.add.reduceat(doubt, first) @ np.linalg.inv(factor_of_information).T @ effect)

    return moves_at_factor


def _doubt(curve: SmoothCurve) -> float:
    """Σ p (1 - p) of the fit, in rows."""
    return float(curve.weight @ (curve.fitted_rates * (1 - curve.fitted_rates)))


def _of_rows(curve: SmoothCurve) -> MeanError:
    def mean_error(function: Callable[[Array], Array]) -> float:
        weight = curve.weight
        return math.sqrt(inner(weight, subtract_mean(function(curve.scores), weight) ** 2)) / float(
            weight.sum()
        )

    return mean_error


def _groups(curve: SmoothCurve, many: int) -> Places:
    """Start positions of groups of neighbouring scores with about equal weight."""
    weight = curve.weight
    middle = np.cumsum(weight) - weight / 2
    return run_starts(np.minimum((middle / weight.sum() * many * (1 + 1e-12)).astype(np.int64), many - 1))


def smooth_band(
    curve: SmoothCurve, scores: Array, quantile: float, root: Array | None = None
) -> tuple[Array, Array]:
    """Return pointwise confidence limits of the curve at some scores, normal on the logit scale.

    Examples
    --------
    >>> from evalreport.statistics.score_table import ScoreTable
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
