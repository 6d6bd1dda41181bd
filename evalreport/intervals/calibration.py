"""Intervals of binned calibration errors, by inversion of a test.

A sum of absolute gaps is never 0 in a sample, so its estimate lies above the truth and a bootstrap of it
further above: of a calibrated model, bootstrap intervals of the ECE cover next to never. Here the gaps are
scaled by a factor; a factor whose gaps, with the binomial noise of the bins, give the estimate seen within
the central 95 % is not rejected, and the interval holds the errors of these factors. No gap at all is the end
of the range, near which the share is not central (`tails`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from evalreport.facts import ClassBins, LabelScores, Summary
from evalreport.facts.classes import BINS, bin_of
from evalreport.facts.counts import Array, Places, centred, inner
from evalreport.intervals.noise import (
    CELLS,
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
from evalreport.intervals.quantiles import normal_quantile
from evalreport.intervals.sampling import Sampling
from evalreport.intervals.tails import tails_near_end
from evalreport.metrics import view
from evalreport.metrics.multiclass import with_gaps
from evalreport.metrics.strategies import ClassGaps

COARSE = 4
"""Of so many factors one is drawn at first; the rest where the limits lie."""
TIE = 1e-12
"""Less than any two values of counts are apart: draws that tie with the value are counted on both sides."""
INFLATED = 0.25
"""Standard errors by which noise may inflate a calibration error for it to count as well beyond the noise."""
FEW = 500
"""Draws below which tails come from their mean and spread."""
ROWS = 2000
"""Rows that tell how the bins of several labels go together, at least (or all)."""
PLACE = 8
"""Place of the random numbers of bins of several labels."""
UNITS = 400
"""Sums that these rows are merged into at random."""


def gap_limits(
    bins: tuple[Array, Array, Array],
    value: float,
    statistic: Statistic,
    sampling: Sampling,
    noise: Array | None = None,
    draws: Array | None = None,
    error: float | None = None,
    doubt: Array | None = None,
    *,
    near_end: bool = True,
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
    doubt : float64 array of shape (bins,), optional
        Variance of the summed outcomes of each bin if the probabilities of its rows are right, where they
        differ much within a bin; binomial by default.
    near_end : bool
        Whether no error is missed on one side alone: see `tails`.

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
    spread = binomial_noise(weight, positives, probability, certain)
    design = np.ones(len(weight)) if noise is None else noise[held] / spread
    if doubt is not None:
        said = probability / weight
        design = np.sqrt(np.minimum(doubt[held] / np.maximum(weight * said * (1 - said), SMALLEST), 1))
    normal, follow = independent(len(weight), sampling) if draws is None else (draws[:, held], None)
    noisy = Noise(weight, probability, design, normal, certain, follow)
    widest = 1 + 4 * float(statistic(design * spread, weight)) / max(value, 1e-12)
    factors = np.linspace(0, min(widest, 1e6), FACTORS)
    if statistic is greatest_gap:
        here, moved = None, np.zeros(len(normal))
    else:
        here = noisy.about(gaps[None], statistic)[0]
        apart = _between(gaps, weight, here, error, squared=statistic is mean_square)
        moved = apart * beside(len(normal), sampling)

    def drawn(place: Places) -> Array:
        f = factors[place, None]
        return noisy.about(f * gaps, statistic) + f * moved * near_end

    truths = statistic(factors[:, None] * gaps, weight)
    low, high = inverted_between(value, drawn, truths, sampling, near_end=near_end)
    if here is not None:
        low, high = _far(low, high, value, here + moved, sampling, least=near_end)
    # A sample of no gaps has no pattern to scale; what no test tells from none is left in.
    least = sampling.z * float((normal @ (design * spread)).std()) / float(weight.sum())
    return min(low, value), max(high, value, least**2 if statistic is mean_square else least)


def _far(
    low: float, high: float, value: float, here: Array, sampling: Sampling, *, least: bool
) -> tuple[float, float]:
    """Limits that are not shorter than those of any mean, where gaps lie well beyond their noise.

    Parameters
    ----------
    here : float64 array of shape (draws,)
        Draws about the sample itself.
    least : bool
        Whether those of gaps within their noise may be shorter.
    """
    inflated, error = (float(here.mean()) - value) * least, float(here.std())
    if inflated > INFLATED * error:
        return low, high
    reach = sampling.z * error
    return max(min(low, value - inflated - reach), 0.0), max(high, value - inflated + reach)


def inverted(
    value: float, drawn: Array, truths: Array, sampling: Sampling, *, near_end: bool = False
) -> tuple[float, float]:
    """Return the least and the greatest truth whose draws have the value within their central share.

    Parameters
    ----------
    value : float
        What was seen.
    drawn : float64 array of shape (factors, draws)
        What samples of each truth give.
    truths : float64 array of shape (factors,), ascending
    near_end : bool
        Whether the first truth is the end of the range and missed on one side alone: see `tails`.

    Examples
    --------
    >>> drawn = np.linspace(0, 1, 11)[:, None] + np.linspace(-0.2, 0.2, 801)
    >>> [round(limit, 2) for limit in inverted(0.5, drawn, np.linspace(0, 1, 11), Sampling())]
    [0.31, 0.69]
    """
    least, most = np.maximum.accumulate(_tails(drawn, sampling, near_end=near_end), axis=1)
    low = float(np.interp(value - TIE, most, truths))  # draws of counts are tied: the outermost truth counts
    return low, float(np.interp(value + TIE, least, truths))


def inverted_between(
    value: float, drawn: Callable[[Places], Array], truths: Array, sampling: Sampling, *, near_end: bool
) -> tuple[float, float]:
    """Return what `inverted` does, with draws only of some truths and of those near the limits.

    Parameters
    ----------
    drawn : function from places of truths to float64 array of shape (places, draws)
    """
    some = np.arange(0, len(truths), COARSE)
    rows = drawn(some)
    least, most = np.maximum.accumulate(_tails(rows, sampling, near_end=near_end), axis=1)
    first = some[max(int(np.searchsorted(most, value - TIE)) - 1, 0)]
    last = some[min(int(np.searchsorted(least, value + TIE, "right")), len(some) - 1)]
    more = np.setdiff1d(np.arange(first, last), some)
    place = np.concatenate([some, more])
    order = np.argsort(place)
    if len(more):
        rows = np.concatenate([rows, drawn(more)])
    return inverted(value, rows[order], truths[place[order]], sampling, near_end=near_end)


def _tails(drawn: Array, sampling: Sampling, *, near_end: bool) -> Array:
    """Central limits of each row of draws; of few (their bins are many, the sum is normal) by moments."""
    centre, spread = drawn.mean(axis=1), drawn.std(axis=1)
    apart = (centre - centre[0]) / np.maximum(spread, SMALLEST) if near_end else np.full(len(drawn), np.inf)
    below, above = tails_near_end(apart, sampling.level)
    chances = np.clip([below, 1 - above], 1e-9, 1 - 1e-9)
    if drawn.shape[1] < FEW:
        quantiles = np.array([[normal_quantile(chance) for chance in side] for side in chances])
        return np.asarray(centre + quantiles * spread)
    ordered, row = np.sort(drawn, axis=1), np.arange(len(drawn))
    place = chances * (drawn.shape[1] - 1)
    first = place.astype(np.int64)
    step = ordered[row, first + 1] - ordered[row, first]
    return np.asarray(ordered[row, first] + (place - first) * step)


def _between(gaps: Array, weight: Array, here: Array, error: float | None, *, squared: bool) -> float:
    """Standard error of a mean of gaps beyond the noise of bins: which rows fall into which bin varies."""
    size, total = np.abs(gaps) / weight, float(weight.sum())
    if error is not None:
        return math.sqrt(max(error**2 - float(here.var()), 0.0))
    each = size**2 if squared else size
    return math.sqrt(inner(weight, centred(each, weight) ** 2)) / total


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


def class_bins(gaps: ClassGaps, summary: Summary) -> tuple[tuple[Array, Array, Array], npt.NDArray[np.bool_]]:
    """Return rows, summed probability and positives of the bins of the labels that count, and which.

    Returns
    -------
    bins : three float64 arrays of shape (cells that count,)
    cells : bool array of shape (labels * 15,)
    """
    bins: ClassBins = view(summary, "bins")
    counted = with_gaps(bins, declared=gaps.declared)
    parts = (bins.weight[counted].ravel(), bins.probability[counted].ravel(), bins.positives[counted].ravel())
    return parts, np.repeat(counted, BINS)


def class_rows(rows: int, size: int, generator: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the rows that tell how the bins of several labels go together, ascending.

    Examples
    --------
    >>> class_rows(3, 2, Sampling().generator(PLACE))
    array([0, 1, 2])
    """
    return np.sort(generator.permutation(rows)[: max(ROWS, CELLS // size)])


def class_error(gaps: ClassGaps, summary: Summary, sampling: Sampling) -> float:
    """Return the standard error of a class-wise calibration error where no gap is near 0: the delta method.

    A row lies in one bin of each label: what it does to all of them is added before it is squared. Taken as
    independent, the bins of three uneven classes covered 90 %.
    """
    bins: ClassBins = view(summary, "bins")
    scores: LabelScores = view(summary, "scores")
    some = scores.take(class_rows(len(scores), scores.size, sampling.generator(PLACE)))
    counted = with_gaps(bins, declared=gaps.declared)
    moved = np.zeros(len(some))
    for label in np.flatnonzero(counted):
        own = some.scores[:, label].astype(np.float64)
        side = np.sign(bins.probability[label] - bins.positives[label])[bin_of(own)]
        moved += side * (own - some.positive(int(label))) / counted.sum()
    return float(moved.std()) / math.sqrt(len(scores))


def class_draws(scores: LabelScores, sampling: Sampling) -> Array:
    """Return standard normal draws of the bins of all labels, correlated as the rows' residuals are.

    A row lies in one bin of each label, and its probabilities add up: taken as independent, the bins of
    three classes covered 80 %, those of twenty 100 %.

    Returns
    -------
    float64 array of shape (draws, labels * 15)

    Examples
    --------
    >>> from evalreport.facts import ClassScores
    >>> scores = ClassScores(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), None)
    >>> class_draws(scores, Sampling()).shape
    (2000, 30)
    """
    generator, size = sampling.generator(PLACE), scores.size * BINS
    rows = class_rows(len(scores), scores.size, generator)
    some = scores.take(rows)
    values, truth = some.scores, some.truth
    positive = truth if truth.ndim == 2 else truth[:, None] == np.arange(scores.size)
    unit = generator.integers(0, UNITS, len(rows)) if len(rows) > UNITS else np.arange(len(rows))
    bins = np.stack([bin_of(column) for column in values.T], axis=1)
    place = unit[:, None] * size + np.arange(scores.size) * BINS + bins
    sums = np.bincount(place.ravel(), (values - positive).ravel(), (unit.max() + 1) * size).reshape(-1, size)
    sums -= sums.mean(axis=0)
    spread = np.sqrt((sums**2).sum(axis=0))
    number = int(np.clip(10 * CELLS // (FACTORS * size), 100, sampling.resamples))
    drawn = generator.standard_normal((number, len(sums))) @ sums
    alone = generator.standard_normal((number, size))
    correlated: Array = np.where(spread > 0, drawn / np.where(spread > 0, spread, 1.0), alone)
    return correlated


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
