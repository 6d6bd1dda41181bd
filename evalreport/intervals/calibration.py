"""Intervals of binned calibration errors, by inversion of a test.

A sum of absolute gaps is never 0 in a sample, so its estimate lies above the truth and a bootstrap of it
further above: of a calibrated model, bootstrap intervals of the ECE cover next to never. Here the gaps are
scaled by a factor; a factor whose gaps, with the binomial noise of the bins, give the estimate seen within
the central 95% is not rejected, and the interval holds the errors of these factors. No gap at all is the end
of the range, near which the share is not central (`tails`); nor is it where noise adds so much that no sample
falls short of the truth (`Inversion`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evalreport.facts.counts import Array, Places, centred, inner
from evalreport.intervals.noise import (
    CERTAIN,
    FACTORS,
    SMALLEST,
    Noise,
    Statistic,
    beside,
    binomial_noise,
    gap_size,
    independent,
)
from evalreport.intervals.quantiles import NORMAL, normal_quantile, tails_near_end
from evalreport.intervals.sampling import Sampling

COARSE = 4
"""Of so many factors one is drawn at first; the rest where the limits lie."""
TIE = 1e-12
"""Less than any two values of counts are apart: draws that tie with the value are counted on both sides."""
INFLATED = 0.25
"""Standard errors by which noise may inflate a calibration error for it to count as well beyond the noise."""
TOLD = 2.0
"""Standard deviations of its noise from which on a gap is mostly taken for one: with 1, 1.5 and 2 limits of
the error of scores in ten steps hold it in 91, 92 and 93% at 2,000 rows (in 90% if all gaps are scaled
alike), and those of models far from calibrated become longer."""
FEW = 500
"""Draws below which tails come from their mean and spread."""


def gap_limits(
    bins: tuple[Array, Array, Array],
    value: float,
    statistic: Statistic,
    sampling: Sampling,
    noise: Array | None = None,
    draws: Array | None = None,
    error: float | None = None,
    between: float | None = None,
    doubt: Array | None = None,
    rows: Array | None = None,
    *,
    several: bool = False,
) -> tuple[float, float]:
    """Return the limits of a calibration error over bins.

    Parameters
    ----------
    bins : three float64 arrays of shape (bins,)
        Rows, summed probability and positives of each bin.
    value : float
        The calibration error.
    statistic : `mean_gap`, `mean_square` or `greatest_gap`
    noise : float64 array of shape (bins,), optional
        Standard deviation of the summed gap of each bin; binomial by default. Its ratio to the binomial is
        taken to be the same for every factor.
    draws : float64 array of shape (draws, bins), optional
        Standard normal draws of the bins, for rows that lie in several of them; independent by default.
    error : float, optional
        Standard error of the calibration error where no gap is near 0; from the noise of independent bins
        by default.
    between : float, optional
        The part of it that comes from which rows fall into which bin, where it is known by itself.
    doubt : float64 array of shape (bins,), optional
        Variance of the summed outcomes of each bin if the probabilities of its rows are right, where they
        differ much within a bin; binomial by default.
    rows : float64 array of shape (bins,), optional
        Rows of one weight that each bin's are worth, where they weigh: what they count is drawn as theirs.
    several : bool
        Whether the bins are those of several classes, most of which hold hardly a row.

    Examples
    --------
    >>> bins = (np.full(5, 40.0), np.array([4.0, 12, 20, 28, 36]), np.array([5.0, 11, 22, 27, 37]))
    >>> limits = gap_limits(bins, 0.03, mean_gap, Sampling())
    >>> limits[0], round(limits[1], 2)
    (0.0, 0.06)
    """
    held = bins[0] > 0
    weight, probability, positives = (part[held] for part in bins)
    gaps, certain = probability - positives, CERTAIN if noise is not None else 0.0
    rows = weight if rows is None else rows[held]
    share, nearest = rows / weight, statistic is greatest_gap and rows is not weight
    spread = binomial_noise(rows, positives * share, probability * share, certain) / share
    design = np.ones(len(weight)) if noise is None else noise[held] / spread
    if doubt is not None:
        most = np.maximum(probability * (1 - probability / weight), SMALLEST)
        design = np.sqrt(np.minimum(doubt[held] / most, 1))
    normal, follow = independent(len(weight), sampling) if draws is None else (draws[:, held], None)
    noisy = Noise(weight, probability, design, normal, certain, follow, rows)
    factors = factors_up(float(statistic(design * spread, weight)), value)
    if statistic is greatest_gap:
        here, moved = None, np.zeros(len(normal))
    else:
        here = noisy.about(gaps[None], statistic)[0]
        if between is None:
            between = _between(gaps, weight, share, here, error, squared=statistic is mean_square)
        moved = between * beside(len(normal), sampling)

    def ends(pattern: Array) -> tuple[float, float]:
        def drawn(place: Places) -> Array:
            f = factors[place, None]
            return noisy.about(_scaled(f, pattern, weight, nearest=nearest), statistic) + f * moved

        truths = statistic(_scaled(factors[:, None], pattern, weight, nearest=nearest), weight)
        return inversion.between(drawn, truths)

    # A sample of no gaps has no pattern to scale; what no test tells from none is left in.
    least = sampling.z * float((normal @ (design * spread)).std()) / float(weight.sum())
    least = least**2 if statistic is mean_square else least
    inversion = Inversion(value, sampling, near_end=True, least=least)
    low, high = ends(gaps)
    if statistic is mean_gap and draws is None:
        low = min(low, ends(concentrated(gaps, design * spread))[0])
    if several and value:
        low += _by_noise(gaps, design * spread) * (ends(_as_doubt(gaps, design * spread))[0] - low)
    far = (low, high) if here is None else _far(low, high, value, here + moved, sampling)
    return min(far[0], value), max(far[1], value, least)


def factors_up(noise: float, value: float) -> Array:
    """Return the factors that gaps are scaled by: up to where four times the noise is added to the value."""
    return np.linspace(0, min(1 + 4 * noise / max(value, 1e-12), 1e6), FACTORS)


def concentrated(gaps: Array, noise: Array) -> Array:
    """Gaps that add up to the same, in the bins that noise alone does not explain.

    Noise adds more to a sum of sizes the fewer gaps make it: to one of size 0 all of it, to one far beyond
    it nothing. The gaps seen have noise in every bin, so that scaled they leave too little to it: where one
    bin of ten was off, lower limits of the error were too high in 10% of samples.
    """
    fourth = gaps**4
    told = gaps * fourth / np.maximum(fourth + (TOLD * noise) ** 4, np.finfo(float).tiny)
    size = float(np.abs(told).sum())
    return told * (float(np.abs(gaps).sum()) / size) if size else gaps


def _by_noise(gaps: Array, noise: Array) -> float:
    """Share of the squared gaps that noise explains, by which nothing is known of where the gaps are.

    Scaled as seen, those of bins of a row or two leave too little to noise: of twenty uneven classes of 200
    rows, where it explains two fifths, 8% of lower limits were too high; as great as the doubt, 2%.
    """
    return min(float((noise**2).sum() / (gaps**2).sum()), 1.0)


def _as_doubt(gaps: Array, noise: Array) -> Array:
    """Gaps that add up to the same, if a shift of the logits made them: the more doubt in a bin, the greater.

    How far they are off is told by what their squares exceed those of the noise by, or the error of that
    (DerSimonian & Laird 1986); in bins of next to nothing but noise less is left of them.
    """
    doubt = noise**2
    squared = float((doubt**2).sum())
    beyond = max(float((gaps**2 - doubt).sum()), math.sqrt(2 * squared))
    off = beyond * doubt / (squared or 1.0)
    found = gaps * np.sqrt(off / (off + 1))
    size = float(np.abs(found).sum())
    return np.asarray(found * (float(np.abs(gaps).sum()) / size)) if size else gaps


def _scaled(factor: Array, gaps: Array, weight: Array, *, nearest: bool) -> Array:
    """Gaps of which each is a multiple of the one seen, or the greatest is and the others lie next to them.

    Which bin is the furthest off is uncertain: those that are further off than the greatest may be are
    about as far off as it, and the others as far as they are seen. With all gaps scaled alike, limits of
    weighted rows, several of whose bins were about as far off, were missed on both sides, by 10% together.
    Of rows of one weight it would be the other way round: of bins of a row or two 99% would be held.
    """
    if not nearest:
        return np.asarray(factor * gaps)
    size = np.abs(gaps) / weight
    greatest = factor * size.max()
    found: Array = np.sign(gaps) * weight * np.where(size == size.max(), greatest, np.minimum(size, greatest))
    return found


def _far(low: float, high: float, value: float, here: Array, sampling: Sampling) -> tuple[float, float]:
    """Limits that are not shorter than those of any mean, where gaps lie well beyond their noise.

    Parameters
    ----------
    here : float64 array of shape (draws,)
        Draws about the sample itself.
    """
    inflated, error = float(here.mean()) - value, float(here.std())
    if inflated > INFLATED * error:
        return low, high
    reach = sampling.z * error
    return max(min(low, value - inflated - reach), 0.0), max(high, value - inflated + reach)


@dataclass(frozen=True)
class Inversion:
    """The truths whose draws have the value seen within their central share.

    An upper limit that is never below the value, nor below the least one of all, misses no truth that samples
    do not fall short of. Where noise adds to what is estimated that is next to all of them: the whole error
    is then that of the lower limit, as it is near the end of a range.

    Parameters
    ----------
    value : float
        What was seen.
    sampling : Sampling
    near_end : bool
        Whether the first truth is the end of the range and missed on one side alone: see `tails`.
    least : float or None
        What the upper limit is moved to at least, whatever the sample, and to the value; None: to neither.

    Examples
    --------
    >>> drawn = np.linspace(0, 1, 11)[:, None] + np.linspace(-0.2, 0.2, 801)
    >>> [round(limit, 2) for limit in Inversion(0.5, Sampling()).of(drawn, np.linspace(0, 1, 11))]
    [0.31, 0.69]
    """

    value: float
    sampling: Sampling
    near_end: bool = False
    least: float | None = None

    def of(self, drawn: Array, truths: Array) -> tuple[float, float]:
        """Return the least and the greatest of them.

        Parameters
        ----------
        drawn : float64 array of shape (truths, draws)
            What samples of each truth give.
        truths : float64 array of shape (truths,), ascending
        """
        fewest, most = np.maximum.accumulate(self._tails(drawn, truths), axis=1)
        # draws of counts are tied: the outermost truth counts
        low = float(np.interp(self.value - TIE, most, truths))
        return low, float(np.interp(self.value + TIE, fewest, truths))

    def between(self, drawn: Callable[[Places], Array], truths: Array) -> tuple[float, float]:
        """Return the same, with draws only of some truths and of those near the limits.

        Parameters
        ----------
        drawn : function from places of truths to float64 array of shape (places, draws)
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
        return self.of(rows[order], truths[place[order]])

    def _tails(self, drawn: Array, truths: Array) -> Array:
        """Limits of each row of draws; of few draws (their bins are many, the sum is normal) by moments."""
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


def _between(
    gaps: Array, weight: Array, share: Array, here: Array, error: float | None, *, squared: bool
) -> float:
    """Standard error of a mean of gaps beyond the noise of bins: which rows fall into which bin varies."""
    size, total = np.abs(gaps) / weight, float(weight.sum())
    if error is not None:
        return math.sqrt(max(error**2 - float(here.var()), 0.0))
    each = size**2 if squared else size
    return math.sqrt(inner(weight / share, centred(each, weight) ** 2)) / total


def unit_draws(own: Array, sampling: Sampling) -> Array:
    """Return standard normal draws of bins, correlated as sums over units are.

    Parameters
    ----------
    own : float64 array of shape (units, bins)
        Summed gap of each unit in each bin, about the mean of the bin.

    Returns
    -------
    float64 array of shape (draws, bins)
    """
    generator, size = sampling.generator(8), gap_size(own.shape[1], sampling)
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


def mean_square(gaps: Array, weight: Array) -> Array:
    """Return the mean squared gap: a term of Murphy's decomposition."""
    total: Array = (gaps**2 / weight).sum(axis=-1) / weight.sum()
    return total


def greatest_gap(gaps: Array, weight: Array) -> Array:
    """Return the maximum calibration error."""
    greatest: Array = (np.abs(gaps) / weight).max(axis=-1)
    return greatest


STATISTICS: dict[str, Statistic] = {"mean": mean_gap, "square": mean_square, "greatest": greatest_gap}
"""What may be made of gaps, by its name in a record."""
