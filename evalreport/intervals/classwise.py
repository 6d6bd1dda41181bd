"""Intervals of class-wise calibration errors, whose bins hang together: a row is in one of each class."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evalreport.facts import ClassBins, LabelScores, Summary
from evalreport.facts.classes import BINS, bin_of
from evalreport.facts.counts import Array
from evalreport.intervals.calibration import gap_limits, mean_gap
from evalreport.intervals.noise import CELLS, FACTORS, binomial_noise
from evalreport.intervals.quantiles import normal_quantile
from evalreport.intervals.sampling import Sampling
from evalreport.metrics import view
from evalreport.metrics.multiclass import with_gaps
from evalreport.metrics.strategies import ClassGaps

MORE = 10
"""Times that more cells are drawn than for bins of one label."""
ROWS = 2000
"""Rows that tell how the bins of several classes go together, at least (or all)."""
TOGETHER = 1000
"""Rows whose outcomes are drawn to tell so, at most."""
FAR = 6.0
"""Standard deviations from which on a gap moves its size by what it moves."""
PLACE = 8
"""Place of the random numbers."""


def class_gap_limits(
    gaps: ClassGaps, value: float, summary: Summary, sampling: Sampling, noise: Array | None = None
) -> tuple[float, float]:
    """Return the limits of a class-wise calibration error.

    Parameters
    ----------
    gaps : ClassGaps
    value : float
    summary : Summary
        With the bins and the scores of several classes.
    sampling : Sampling
    noise : float64 array of shape (labels * 15,), optional
        Standard deviation of the summed gap of each bin; binomial by default.
    """
    bins: ClassBins = view(summary, "bins")
    counted = with_gaps(bins, declared=gaps.declared)
    parts = (bins.weight[counted].ravel(), bins.probability[counted].ravel(), bins.positives[counted].ravel())
    cells, scores = np.repeat(counted, BINS), view(summary, "scores")
    draws = class_draws(scores, sampling)[:, cells]
    if noise is not None:
        return gap_limits(parts, value, mean_gap, sampling, noise[cells], draws, several=True)
    more = _error(bins, counted, scores, sampling) ** 2 - _noise_alone(parts, draws) ** 2
    between = math.sqrt(max(more, 0.0))
    return gap_limits(parts, value, mean_gap, sampling, draws=draws, between=between, several=True)


def class_rows(rows: int, size: int, generator: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the rows that tell how the bins of several classes go together, ascending.

    Examples
    --------
    >>> class_rows(3, 2, Sampling().generator(PLACE))
    array([0, 1, 2])
    """
    return np.sort(generator.permutation(rows)[: max(ROWS, CELLS // size)])


def _slope(weight: Array, said: Array, positives: Array) -> tuple[Array, Array]:
    """By how much the mean size of a gap changes with the gap, 2Φ(gap / noise) - 1, and its noise.

    Within its noise a gap is seen as large whatever it is; Φ is Page's (1977, Applied Statistics 26:75).
    """
    noise = binomial_noise(np.maximum(weight, np.finfo(float).tiny), positives, said)
    apart = np.clip((said - positives) / noise, -FAR, FAR)
    return np.tanh(math.sqrt(2 / math.pi) * (apart + 0.044715 * apart**3)), noise


def _noise_alone(parts: tuple[Array, Array, Array], draws: Array) -> float:
    """Standard error that comes from the noise of the bins, by the delta method."""
    slope, noise = _slope(*parts)
    return float((draws @ (slope * noise)).std()) / float(parts[0].sum())


def _error(bins: ClassBins, counted: npt.NDArray[np.bool_], scores: LabelScores, sampling: Sampling) -> float:
    """Standard error of the class-wise calibration error, by the delta method.

    A row lies in one bin of each class: what it does to all of them is added before it is squared. Taken as
    independent, the bins of three uneven classes covered 90%.
    """
    rows = scores.take(class_rows(len(scores), scores.size, sampling.generator(PLACE)))
    moved = np.zeros(len(rows))
    for label in np.flatnonzero(counted):
        own = rows.scores[:, label].astype(np.float64)
        slope, _ = _slope(bins.weight[label], bins.probability[label], bins.positives[label])
        moved += slope[bin_of(own)] * (own - rows.positive(int(label)))
    return float(moved.std()) / int(counted.sum()) / math.sqrt(len(scores))


def class_draws(scores: LabelScores, sampling: Sampling) -> Array:
    """Return standard normal draws of the bins of all classes, correlated as outcomes are.

    A row lies in one bin of each class, and has one outcome: taken as independent, the bins of three classes
    covered 80%, those of twenty 100%. Outcomes are drawn as the probabilities say; normal scores of the
    counts go together as these do. Correlations of the outcomes seen are off by chance, and made errors of
    twenty classes vary half as much again.

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
    rows = generator.permutation(class_rows(len(scores), scores.size, generator))[:TOGETHER]
    said = scores.take(np.sort(rows)).scores
    place = np.stack([bin_of(column) for column in said.T]) + np.arange(scores.size)[:, None] * BINS
    row = np.arange(len(said))
    chance = np.cumsum(np.ascontiguousarray(said.T), axis=0, dtype=np.float64)
    chance = chance[:-1] / chance[-1]  # classes first: sums over them are of whole rows
    number = int(np.clip(MORE * CELLS // (FACTORS * size), 100, sampling.resamples))
    drawn = generator.random((number, size))  # of the same counts any may be the first
    for draw in range(number):
        label = (generator.random(len(said)) > chance).sum(axis=0)
        drawn[draw] += np.bincount(place[label, row], minlength=size)
    scale = np.array([normal_quantile((rank + 0.5) / number) for rank in range(number)])
    normal: Array = scale[np.argsort(np.argsort(-drawn, axis=0), axis=0)]
    return normal
