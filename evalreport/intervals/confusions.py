"""Intervals of functions of a confusion matrix, from its cells alone.

The cells are drawn again (Poisson draws of the non-zero ones: the row bootstrap, up to the total, which
these functions do not feel) and the spread and the bias of the draws make an interval about the value less
its bias: a score interval or, of averages, one that stands off as `pull` says. Two things make it cover with
few rows per class. A class that was answered right every time, or never, would look certain: half a right
and half a wrong answer are added to each class before drawing. And averages over classes with few rows are
biased, by up to half a standard error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evalreport.facts import Counts, Marginals
from evalreport.facts.counts import Array, run_starts
from evalreport.intervals.pull import ClassMoves
from evalreport.intervals.quantiles import normal_quantile
from evalreport.intervals.sampling import Sampling
from evalreport.intervals.scales import Spread
from evalreport.intervals.unseen import deviations
from evalreport.metrics import Metric
from evalreport.metrics.averages import Gap
from evalreport.resampling import poisson_counts
from evalreport.stages import stage

DRAWS = (200, 500)
"""Fewest and most draws; only their spread and mean are used, so that many would not help."""
CELLS = 600_000
"""Cells drawn, beyond the fewest draws."""
HALF = 0.5
"""Right, and wrong, answers added to each class: Jeffreys' prior of its recall."""
BLOCK = 4_000_000
"""Cells drawn at a time."""
ALIKE, ROWS = 3.0, 5
"""Errors within which a gap may be the square of noise alone, and rows of each class for that to be told. Of
twenty uneven classes on 200 rows, the least of one or two, intervals held a point less without the latter."""
ONE_SIDED = normal_quantile(0.95)
"""How far, in standard deviations, what a slope of noise makes draws vary by may exceed its mean."""


def spreads(metrics: Sequence[Metric], counts: Counts, sampling: Sampling) -> dict[str, Spread]:
    """Return the standard error and bias of functions of the marginals.

    Those of averages are of the classes that have a value of their own: see `unseen`.

    Parameters
    ----------
    metrics : sequence of Metric
        Multiclass records that read counts.
    counts : Counts

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> counts = Counts.of(np.arange(60) % 3, np.arange(60) // 2 % 3, 3)
    >>> round(spreads([find("f1_macro", "multiclass")], counts, Sampling())["f1_macro"].error, 2)
    0.05
    """
    if not metrics:
        return {}
    smooth = smoothed(counts)
    generator = sampling.generator(4)
    draws = int(np.clip(CELLS // len(smooth.cells), *DRAWS))
    step = max(1, min(draws, BLOCK // len(smooth.cells)))
    found: dict[str, list[Array]] = {metric.name: [] for metric in metrics}
    bent: dict[str, list[Array]] = {metric.name: [] for metric in metrics}
    moves = {metric.name: ClassMoves.of(metric) for metric in metrics}
    for start in range(0, draws, step):
        stage("bootstrap draws", start, draws)
        size = min(step, draws - start)
        rate = smooth.weight * (counts.total / smooth.total)
        cells = poisson_counts(rate, size, generator)
        drawn, mirrored = _marginals(smooth, cells), _marginals(smooth, np.maximum(2 * rate - cells, 0))
        for metric in metrics:
            found[metric.name].append(deviations(metric, drawn, smooth.marginals))
            if isinstance(metric.function, Gap):
                other = deviations(metric, mirrored, smooth.marginals)
                bent[metric.name].append((found[metric.name][-1] + other) / 2)
            if (moved := moves[metric.name]) is not None:
                moved.add(drawn, smooth.marginals)
    spreads = {name: _spread(np.concatenate(parts)) for name, parts in found.items()}
    for metric in metrics:
        if parts := bent[metric.name]:
            value = float(metric.function(counts.marginals))
            spreads[metric.name] = _unbent(spreads[metric.name], np.concatenate(parts), value, counts)
    for name, moved in moves.items():
        if moved is not None:
            spreads[name] = moved.pulled(spreads[name], counts.marginals, smooth.marginals, sampling)
    return spreads


def _spread(values: Array) -> Spread:
    known = values[np.isfinite(values)]
    if len(known) < len(values) / 2:
        return Spread(np.nan, np.nan)
    return Spread(float(known.std()), float(known.mean()))


def _unbent(spread: Spread, bent: Array, value: float, counts: Counts) -> Spread:
    """Less the noise of draws about a sample that is noise itself, where a function has no slope.

    Of classes that are alike the gap of micro and macro average is a square of the noise: draws about the
    sample vary by three times its variance. `bent` is the part of the draws that the square makes. Where that
    can make the value too (three errors), and the draws vary by no more than it and a slope of noise alone
    do, there is no slope: twice its variance is taken up by the mean of as many squares of noise as there are
    classes. Classes need a few rows for that. With one square taken off everywhere, intervals of five classes
    that are alike held the truth in 99.9%; so they hold it in 96 to 98.
    """
    square = float(bent[np.isfinite(bent)].var())
    drawn = spread.error**2
    flat = abs(value - spread.bias) < ALIKE * math.sqrt(square)
    flat = flat and drawn < square * (3 + 2 * ONE_SIDED * math.sqrt(2 / counts.size))
    if flat and counts.marginals.support.min() >= ROWS:
        return replace(spread, error=math.sqrt(square))
    return replace(spread, error=math.sqrt(max(drawn - square, square)))


def smoothed(counts: Counts) -> Counts:
    """Return the counts with half a right and half a wrong answer for each class that has true examples.

    The wrong half goes to the neighbour in pairs (0 with 1, 2 with 3 …, of an odd number the last three in
    turn), so that each class also gains one half of a wrong prediction.

    Examples
    --------
    >>> smoothed(Counts.of(np.array([0, 1]), np.array([0, 0]), 2)).dense()
    array([[1.5, 0.5, 0. ],
           [1.5, 0.5, 0. ]])
    """
    present = np.flatnonzero(counts.marginals.support > 0)
    neighbour = np.arange(counts.size) ^ 1
    if counts.size % 2:  # the last three in turn: in pairs alone the last class gained no wrong prediction
        neighbour[-3:] = np.roll(np.arange(max(counts.size - 3, 0), counts.size), -1)
    partner = neighbour[present]
    right, wrong = present * (counts.size + 2), present * (counts.size + 1) + partner
    cells = np.sort(np.concatenate([right, wrong]))
    return counts + Counts(counts.size, cells, np.full(len(cells), HALF))


def _marginals(counts: Counts, drawn: Array) -> Marginals:
    """Marginals of draws of the cells, shape (draws, cells)."""
    size = counts.size
    on = np.flatnonzero(counts.rows == counts.columns)
    tp = np.zeros((len(drawn), size))
    tp[:, counts.rows[on]] = drawn[:, on]
    by_column = np.argsort(counts.columns, kind="stable")
    predicted = _sums(drawn[:, by_column], counts.columns[by_column], size + 1)
    read = np.nan if counts.unparsed else 1.0  # an unread answer stands nowhere in the order
    apart = read * np.abs(counts.rows - counts.columns)
    return Marginals(
        tp=tp,
        support=_sums(drawn, counts.rows, size),
        predicted=predicted[:, :size],
        total=drawn.sum(axis=1),
        squared_distance=drawn @ apart**2,
        distance=drawn @ apart,
    )


def _sums(drawn: Array, place: npt.NDArray[np.int64], size: int) -> Array:
    """Sum columns that share a place; places ascend."""
    starts = run_starts(place)
    total = np.zeros((len(drawn), size))
    total[:, place[starts]] = np.add.reduceat(drawn, starts, axis=1)
    return total
