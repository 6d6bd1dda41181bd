"""Fewer points for the same line: the bends that show, the steps that show."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

import numpy as np

from evalreport.facts.counts import Array, Places, reached

CANDIDATES = 2048
"""Points that a curve is first cut down to, evenly along its length: finer than any screen."""
SHOWS = 1 / 2000
"""A bend smaller than this share of the axes does not show (0.17 of 340 units)."""


def along(length: Callable[[Places], Array], size: int, count: int) -> Places:
    """Return places spread evenly over an ascending length, the ends included.

    Parameters
    ----------
    length : function from places to values
    size : int
        Number of places.
    count : int
        The most places to return, but for one.

    Examples
    --------
    >>> length = np.array([0.0, 0.1, 0.2, 5.0, 10.0])
    >>> along(length.__getitem__, 5, 3)
    array([0, 3, 4])
    """
    if size <= count:
        return np.arange(size)
    first, last = length(np.array([0, size - 1]))
    found = reached(length, size, np.linspace(first, last, count)).clip(0, size - 1)
    return np.unique(np.concatenate([[0], found, [size - 1]]))


def bends(x: Array, y: Array, keep: Places, limit: int, tolerance: float = SHOWS) -> Places:
    """Return the places that draw a polyline: Ramer-Douglas-Peucker, the worst bend first.

    Parameters
    ----------
    x, y : float64 arrays of shape (n,)
        In units of the axes (0 to 1).
    keep : int array
        Places that stay in any case; the ends are added.
    limit : int
        The most places to return.
    tolerance : float
        The line may leave the points by this much where the limit allows.

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
    """Negative distance of the point furthest from the chord a-b, with its place."""
    if b - a < 2:
        return 0.0, a, a, b
    dx, dy = x[b] - x[a], y[b] - y[a]
    inner = slice(a + 1, b)
    chord = np.hypot(dx, dy)
    away = np.abs(dx * (y[inner] - y[a]) - dy * (x[inner] - x[a])) / chord if chord else y[inner] * 0
    place = int(away.argmax())
    return -float(away[place]), a, a + 1 + place, b


def stairs(x: Array, y: Array, limit: int) -> Places:
    """Return the places that draw a step curve: a new one where x or y has moved far enough to show.

    Examples
    --------
    >>> stairs(np.array([0.0, 0.5, 0.5001, 1.0]), np.array([1.0, 0.8, 0.8, 0.6]), 10)
    array([0, 1, 3])
    """
    step = SHOWS
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    while (places := _moved(points, step, limit)) is None:
        step *= 1.3  # chosen by hand: nine passes thin a monotone curve from 4000 points to 400
    return np.array(places)


def _moved(points: list[tuple[float, float]], step: float, limit: int) -> list[int] | None:
    """Places of a step curve, None as soon as they are too many."""
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
