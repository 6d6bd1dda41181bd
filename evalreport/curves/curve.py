"""Types of curves, reliability and histograms: columns that are small enough for a page and survive JSON.

Also the choice of points that draw a line or steps without visible loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from heapq import heapify, heappop, heappush
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.json_codec import Infinite
from evalreport.intervals.distributions import wilson
from evalreport.statistics.confusion import Array, Places, search_lazily
from evalreport.statistics.score_table import ScoreTable

POINTS = 400
"""Most points of a curve."""

Numbers: TypeAlias = tuple[Infinite, ...]


def numbers(values: npt.ArrayLike) -> Numbers:
    """Return an array as a tuple of Python floats.

    Examples
    --------
    >>> numbers(np.array([1, 2]))
    (1.0, 2.0)
    """
    return tuple(np.asarray(values, dtype=np.float64).tolist())


@dataclass(frozen=True)
class Series:
    """Columns of equal length; an infinite threshold is null in JSON."""

    def __post_init__(self) -> None:
        lengths = self.lengths()
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise ValueError(f"columns of unequal length: {listed}")

    def lengths(self) -> dict[str, int]:
        """Return the number of rows of each column."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: len(column) for name, column in columns.items() if isinstance(column, tuple)}


@dataclass(frozen=True)
class Curve(Series):
    """A line through points.

    Parameters
    ----------
    x, y : tuple of float
        At most 400 points, `x` ascending.
    threshold : tuple of float, or None
        The threshold of each point (positive when ``score >= threshold``); infinite if nothing is flagged
        (null in JSON).
    steps : bool
        Whether `y[i]` applies on ``(x[i-1], x[i]]``: precision does not interpolate linearly between points
        (Davis & Goadrich 2006).

    Examples
    --------
    >>> from evalreport.core.json_codec import decode, encode
    >>> curve = Curve((0.0, 1.0), (0.0, 1.0), (float("inf"), 0.5))
    >>> encode(curve)["threshold"]
    [None, 0.5]
    >>> decode(Curve, encode(curve)) == curve
    True
    """

    x: Numbers
    y: Numbers
    threshold: Numbers | None = None
    steps: bool = False


@dataclass(frozen=True)
class Band(Series):
    """Pointwise confidence limits along `x`: each point has the confidence level, not the whole band.

    Examples
    --------
    >>> Band((0.0, 1.0), (0.0, 0.9), (0.2, 1.0)).level
    0.95
    """

    x: Numbers
    low: Numbers
    high: Numbers
    level: float = 0.95
    steps: bool = False


@dataclass(frozen=True)
class Reliability(Series):
    """Mean score against observed rate by bin; empty bins are skipped.

    Parameters
    ----------
    start, end : tuple of float
        Limits of each bin: its lowest and highest score (equal count) or its edges (equal width).
    score : tuple of float
        Mean score in the bin.
    observed, low, high : tuple of float
        Rate of positives (of correct predictions, for a top label) with Wilson limits.
    n : tuple of float
        Weight in the bin.
    equal : str
        ``count`` or ``width``: which property of the bins is equal.

    Examples
    --------
    >>> bins = Reliability((0.0,), (1.0,), (0.5,), (0.4,), (0.2,), (0.6,), (20.0,), equal="count")
    >>> len(bins.start)
    1
    """

    start: Numbers
    end: Numbers
    score: Numbers
    observed: Numbers
    low: Numbers
    high: Numbers
    n: Numbers
    equal: str
    level: float = 0.95


@dataclass(frozen=True)
class Histogram(Series):
    """Weight of scores in equal-width bins, by class.

    Parameters
    ----------
    edges : tuple of float
        One more than there are bins; bins are closed on the right, the first on both sides.
    positive, negative : tuple of float
        Weight of positives (correct predictions) and negatives (wrong predictions) in each bin.

    Examples
    --------
    >>> sum(Histogram((0.0, 0.5, 1.0), (1.0, 3.0), (4.0, 0.0)).positive)
    4.0
    """

    edges: Numbers
    positive: Numbers
    negative: Numbers

    def lengths(self) -> dict[str, int]:
        """Return the number of bins of each column; n + 1 edges have n bins."""
        return {**super().lengths(), "edges": len(self.edges) - 1}


@dataclass(frozen=True)
class Cardinality(Series):
    """Number of rows with 0, 1, 2, … labels.

    Parameters
    ----------
    labels : tuple of float
        Number of labels of a row.
    true, predicted : tuple of float
        Weight of rows with that many true labels, and predicted labels.

    Examples
    --------
    >>> Cardinality((0.0, 1.0), (1.0, 9.0), (4.0, 6.0)).true
    (1.0, 9.0)
    """

    labels: Numbers
    true: Numbers
    predicted: Numbers


RELIABILITY_BINS = 10
"""Tenths, as for the risk groups of Hosmer & Lemeshow (1980) and most published diagrams."""
HISTOGRAM_BINS = 25
"""Bars of 4% each: still distinct on a phone (chosen by eye)."""


def reliability(
    table: ScoreTable, equal: Literal["count", "width"], *, rows: float | None = None, level: float = 0.95
) -> Reliability:
    """Return mean score against observed rate in ten bins.

    Parameters
    ----------
    table : ScoreTable
        Score table of probabilities.
    equal : {"count", "width"}
        Bins of equal weight (tied scores stay together) or of equal width on [0, 1] (closed on the right,
        the first includes 0). Empty bins are skipped.
    rows : float, optional
        Number of rows of weighted counts, for the Wilson limits; without it weights count as numbers of
        rows.
    level : float
        Confidence level of the Wilson limits.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, False]))
    >>> bins = reliability(table, "width")
    >>> bins.start, bins.observed
    ((0.0, 0.1, 0.7..., 0.8), (0.0, 0.0, 1.0, 0.0))
    """
    edges = np.linspace(0, 1, RELIABILITY_BINS + 1)
    starts = _equal_width(table, edges) if equal == "width" else _equal_count(table)
    pos, neg = weights_between(table, starts)
    score = np.diff([table.mass_below(int(start)) for start in starts])
    kept = np.flatnonzero(pos + neg > 0)
    n = (pos + neg)[kept]
    scale = 1.0 if rows is None else rows / (table.positives + table.negatives)
    low, high = wilson(pos[kept] * scale, n * scale, level)
    first, last = table.scores[starts[:-1][kept]], table.scores[starts[1:][kept] - 1]
    return Reliability(
        start=numbers(edges[:-1][kept] if equal == "width" else first),
        end=numbers(edges[1:][kept] if equal == "width" else last),
        score=numbers(score[kept] / n),
        observed=numbers(pos[kept] / n),
        low=numbers(low),
        high=numbers(high),
        n=numbers(n),
        equal=equal,
        level=level,
    )


def histogram(table: ScoreTable, *, unit: bool, bins: int = HISTOGRAM_BINS) -> Histogram:
    """Return the weight of positives and negatives in equal-width bins of the score.

    Parameters
    ----------
    unit : bool
        Whether scores are probabilities: bins on [0, 1]; else from the lowest to the highest score.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.0, 0.5, 1.0]), np.array([False, True, True]))
    >>> histogram(table, unit=True, bins=2).positive
    (1.0, 1.0)
    """
    least, greatest = (0.0, 1.0) if unit else (float(table.scores[0]), float(table.scores[-1]))
    if least == greatest:
        least, greatest = least - 0.5, greatest + 0.5
    edges = np.linspace(least, greatest, bins + 1)
    pos, neg = weights_between(table, _equal_width(table, edges))
    return Histogram(numbers(edges), numbers(pos), numbers(neg))


def weights_between(table: ScoreTable, starts: Places) -> tuple[Array, Array]:
    """Return the weight of positives and negatives from each start up to the next.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.2, 0.3]), np.array([False, True, True]))
    >>> weights_between(table, np.array([0, 1, 3]))
    (array([0., 2.]), array([1., 0.]))
    """
    tp, fp = weights_above(table, starts)
    return tp[:-1] - tp[1:], fp[:-1] - fp[1:]


def weights_above(table: ScoreTable, places: Places) -> tuple[Array, Array]:
    """Return the weight of positives and negatives with at least the score at each position.

    Parameters
    ----------
    places : int array
        The position after the last one is above all scores.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.2, 0.3]), np.array([False, True, True]))
    >>> weights_above(table, np.array([1, 3]))
    (array([2., 0.]), array([0., 0.]))
    """
    inside, at = places < len(table), np.minimum(places, len(table) - 1)
    return np.where(inside, table.tp[at], 0.0), np.where(inside, table.fp[at], 0.0)


def _equal_width(table: ScoreTable, edges: Array) -> Places:
    inner = np.searchsorted(table.scores, edges[1:-1], side="right")
    return np.concatenate([[0], inner, [len(table)]])


def _equal_count(table: ScoreTable) -> Places:
    total = table.positives + table.negatives

    def middle(place: Places) -> Array:
        below = total - (table.tp[place] + table.fp[place])
        return below + (table.pos[place] + table.neg[place]) / 2

    wanted = np.arange(1, RELIABILITY_BINS) * total / RELIABILITY_BINS
    return np.concatenate([[0], search_lazily(middle, len(table), wanted, "right"), [len(table)]])


CANDIDATES = 2048
"""Points considered for drawing a curve, evenly along its length: finer than any screen."""
SHOWS = 1 / 2000
"""A bend smaller than this proportion of the axes is not visible (0.17 of 340 units)."""


def evenly_spaced_places(length: Callable[[Places], Array], size: int, count: int) -> Places:
    """Return evenly spaced positions along an ascending length, including the ends.

    Parameters
    ----------
    length : function from positions to values
    size : int
        Number of positions.
    count : int
        Most positions to return, plus one.

    Examples
    --------
    >>> length = np.array([0.0, 0.1, 0.2, 5.0, 10.0])
    >>> evenly_spaced_places(length.__getitem__, 5, 3)
    array([0, 3, 4])
    """
    if size <= count:
        return np.arange(size)
    first, last = length(np.array([0, size - 1]))
    found = search_lazily(length, size, np.linspace(first, last, count)).clip(0, size - 1)
    return np.unique(np.concatenate([[0], found, [size - 1]]))


def bends(x: Array, y: Array, keep: Places, limit: int, tolerance: float = SHOWS) -> Places:
    """Return the positions that draw a polyline: Ramer-Douglas-Peucker, the worst bend first.

    Parameters
    ----------
    x, y : float64 arrays of shape (n,)
        In units of the axes (0 to 1).
    keep : int array
        Positions that are always kept; the ends are added.
    limit : int
        Most positions to return.
    tolerance : float
        Greatest distance of the line from the points, if the limit allows it.

    Examples
    --------
    >>> bends(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 1.0]), np.array([], dtype=int), 10)
    array([0, 2])
    """
    kept = np.unique(np.concatenate([[0], keep, [len(x) - 1]]))
    chosen = set(kept.tolist())
    heap = [_worst(x, y, a, b) for a, b in zip(kept[:-1].tolist(), kept[1:].tolist(), strict=True)]
    heapify(heap)
    while heap and len(chosen) < limit:
        apart, a, middle, b = heappop(heap)
        if -apart <= tolerance:
            break
        chosen.add(middle)
        heappush(heap, _worst(x, y, a, middle))
        heappush(heap, _worst(x, y, middle, b))
    return np.array(sorted(chosen))


def _worst(x: Array, y: Array, a: int, b: int) -> tuple[float, int, int, int]:
    """Negative distance of the point furthest from the chord a-b, with its position."""
    if b - a < 2:
        return 0.0, a, a, b
    dx, dy = x[b] - x[a], y[b] - y[a]
    inner = slice(a + 1, b)
    chord = np.hypot(dx, dy)
    away = np.abs(dx * (y[inner] - y[a]) - dy * (x[inner] - x[a])) / chord if chord else y[inner] * 0
    place = int(away.argmax())
    return -float(away[place]), a, a + 1 + place, b


def stairs(x: Array, y: Array, limit: int) -> Places:
    """Return the positions that draw a step curve: a new one where x or y has changed visibly.

    Examples
    --------
    >>> stairs(np.array([0.0, 0.5, 0.5001, 1.0]), np.array([1.0, 0.8, 0.8, 0.6]), 10)
    array([0, 1, 3])
    """
    step = SHOWS
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    while (places := _thin_steps(points, step, limit)) is None:
        step *= 1.3  # chosen by hand: nine passes thin a monotone curve from 4000 points to 400
    return np.array(places)


def _thin_steps(points: list[tuple[float, float]], step: float, limit: int) -> list[int] | None:
    """Positions of a step curve, or None if they are too many."""
    kept = [0]
    last_x, last_y = points[0]
    for place, (x, y) in enumerate(points):
        if abs(x - last_x) >= step or abs(y - last_y) >= step:
            kept.append(place)
            last_x, last_y = x, y
            if len(kept) > limit:
                return None
    if kept[-1] != len(points) - 1:
        kept.append(len(points) - 1)
    return kept if len(kept) <= limit else None
