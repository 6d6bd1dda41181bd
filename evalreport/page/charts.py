"""Charts as values: scales, ticks, outlines. A template writes them as SVG; nothing is computed there.

Lines and shapes are path data in units of the view box, rounded to a tenth; polylines are simplified
after Ramer (1972) and Douglas & Peucker (1973).

Positions of labels in a chart: next to their line, without overlap, inside the plot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.format import MINUS
from evalreport.core.sentences import Sentence
from evalreport.page.elements import Table

WIDTH, HEIGHT = 340, 300
"""Units of the view box."""
LEFT, RIGHT, TOP, BOTTOM = 40.0, 330.0, 8.0, 262.0
"""The plot's rectangle inside the view box."""
TOLERANCE = 0.25
"""A simplified line is nowhere further than this from the one it stands for, in units."""

Points: TypeAlias = Sequence[tuple[float, float]]
Shape: TypeAlias = Literal[
    "line",
    "line-2",
    "line-3",
    "line-4",
    "band",
    "guide",
    "dots",
    "whisker",
    "bars",
    "bars-2",
    "bars-wrong",
    "axis",
    "dots-2",
    "dots-wrong",
    "thin",
    "thin-2",
    "thin-3",
    "span",
    "span-2",
    "span-wrong",
]
"""Class of a path: what it shows decides how it looks; lines differ by dashes, too."""
Look: TypeAlias = Literal["", "blue", "wrong"]
"""Colour of a label: ink, right predictions, wrong predictions."""


@dataclass(frozen=True)
class Axis:
    """A linear scale with its ticks.

    Parameters
    ----------
    low, high : float
    title : str
    ticks : tuple of (place in the view box, text)
    """

    low: float
    high: float
    title: str
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Path:
    """An outline: class and path data."""

    shape: Shape
    d: str


@dataclass(frozen=True)
class Label:
    """Words in a chart.

    Parameters
    ----------
    x, y : float
        Anchor and baseline, in units.
    anchor : str
        ``start``, ``middle`` or ``end``.
    look : str
        ``""`` (ink), ``blue`` or ``wrong``.
    """

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "start"
    look: Look = ""

    @property
    def dress(self) -> str:
        """Its classes."""
        ends = {"start": "", "middle": "mid", "end": "end"}[self.anchor]
        return f"{ends} {'bad' if self.look == 'wrong' else self.look}".strip()


@dataclass(frozen=True)
class Axes:
    """Both axes of a chart: where values lie on it, and the path data of what is drawn."""

    x: Axis
    y: Axis

    def x_position(self, value: float) -> float:
        """Return the horizontal place of a value, clipped to the plot.

        Examples
        --------
        >>> axes = Axes(x_axis(0, 1, ""), y_axis(0, 1, ""))
        >>> axes.x_position(0.5), axes.x_position(7), axes.y_position(1.0)
        (185.0, 330.0, 8.0)
        """
        return min(max(_axis_position(value, self.x.low, self.x.high, (LEFT, RIGHT)), LEFT), RIGHT)

    def y_position(self, value: float) -> float:
        """Return the vertical place of a value, clipped to the plot."""
        return min(max(_axis_position(value, self.y.low, self.y.high, (BOTTOM, TOP)), TOP), BOTTOM)

    def polyline(self, xs: Sequence[float], ys: Sequence[float], *, steps: bool = False) -> str:
        """Return path data of a line, simplified; `steps`: `ys[i]` holds on (xs[i-1], xs[i]].

        Examples
        --------
        >>> Axes(x_axis(0, 1, ""), y_axis(0, 1, "")).polyline([0, 0.5, 1], [0, 0.5, 1])
        'M40 262L330 8'
        """
        return _path(self._places(xs, ys, steps=steps))

    def outline(self, xs: Sequence[float], ys: Sequence[float]) -> npt.NDArray[np.float64]:
        """Return points along a line, no further than four units apart, shape (m, 2): what a label avoids."""
        points = self._places(xs, ys, steps=False)
        along = np.append(0.0, np.hypot(*np.diff(points, axis=0).T).cumsum())
        at = np.linspace(0, along[-1], int(along[-1] / 4) + 2)
        return np.column_stack([np.interp(at, along, points[:, 0]), np.interp(at, along, points[:, 1])])

    def region(
        self, xs: Sequence[float], low: Sequence[float], high: Sequence[float], *, steps: bool = False
    ) -> str:
        """Return path data of the area between two lines over the same xs."""
        top = self._places(xs, high, steps=steps)
        bottom = self._places(xs, low, steps=steps)
        return _path(np.concatenate([simplify(top), simplify(bottom)[::-1]]), whole=True) + "Z"

    def whiskers(self, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> str:
        """Return path data of vertical lines."""
        return "".join(
            f"M{_short(self.x_position(at))} {_short(self.y_position(a))}V{_short(self.y_position(b))}"
            for at, a, b in zip(xs, low, high, strict=True)
        )

    def dots(self, points: Iterable[Sequence[float]]) -> str:
        """Return path data of points: lines of no length, which round caps make into dots."""
        return "".join(f"M{_short(self.x_position(x))} {_short(self.y_position(y))}h0" for x, y in points)

    def columns(self, edges: Sequence[tuple[float, float]], heights: Sequence[float]) -> str:
        """Return path data of columns from zero, with a gap of one unit between neighbours."""
        base = self.y_position(0.0)
        made = []
        for (a, b), height in zip(edges, heights, strict=True):
            left, right, top = self.x_position(a) + 0.5, self.x_position(b) - 0.5, self.y_position(height)
            if height and right > left:
                made.append(f"M{_short(left)} {_short(base)}V{_short(top)}H{_short(right)}V{_short(base)}Z")
        return "".join(made)

    def columns_between(self, ends: tuple[float, float], heights: tuple[float, float]) -> str:
        """Return path data of one rectangle.

        Examples
        --------
        >>> Axes(x_axis(0, 1, ""), y_axis(0, 1, "")).columns_between((0, 0.5), (0, 1))
        'M40 262V8H185V262Z'
        """
        left, right = self.x_position(ends[0]), max(self.x_position(ends[1]), self.x_position(ends[0]) + 0.5)
        low, high = self.y_position(heights[0]), self.y_position(heights[1])
        return f"M{_short(left)} {_short(low)}V{_short(high)}H{_short(right)}V{_short(low)}Z"

    def span(self, ends: tuple[float, float], height: float) -> str:
        """Return path data of a horizontal line.

        Examples
        --------
        >>> Axes(x_axis(0, 1, ""), y_axis(0, 1, "")).span((0, 0.5), 1)
        'M40 8H185'
        """
        left, right = self.x_position(ends[0]), max(self.x_position(ends[1]), self.x_position(ends[0]) + 0.5)
        return f"M{_short(left)} {_short(self.y_position(height))}H{_short(right)}"

    def level(self, value: float) -> str:
        """Return path data of a horizontal line across the plot."""
        return f"M{_short(LEFT)} {_short(self.y_position(value))}H{_short(RIGHT)}"

    def _places(self, xs: Sequence[float], ys: Sequence[float], *, steps: bool) -> npt.NDArray[np.float64]:
        across_all = np.clip(
            LEFT + (np.asarray(xs, float) - self.x.low) / (self.x.high - self.x.low) * (RIGHT - LEFT),
            LEFT,
            RIGHT,
        )
        up_all = np.clip(
            BOTTOM + (np.asarray(ys, float) - self.y.low) / (self.y.high - self.y.low) * (TOP - BOTTOM),
            TOP,
            BOTTOM,
        )
        if steps:
            across_all, up_all = np.repeat(across_all, 2)[:-1], np.repeat(up_all, 2)[1:]
        return np.column_stack([across_all, up_all])


@dataclass(frozen=True)
class Chart:
    """A chart of 340 by 300 units.

    Parameters
    ----------
    id, title : str
    note : Sentence
        What to look for, above the chart.
    description : Sentence
        What it shows, for those who cannot see it.
    axes : Axes
    paths, labels : tuple
        In drawing order.
    ring : (float, float) or None
        The operating point, which the script moves.
    values : Table or None
        The figures behind the chart.
    """

    kind: ClassVar[str] = "chart"
    id: str
    title: str
    note: Sentence
    description: Sentence
    axes: Axes
    paths: tuple[Path, ...]
    labels: tuple[Label, ...] = ()
    ring: tuple[float, float] | None = None
    values: Table | None = None

    @property
    def range(self) -> str:
        """Ends of both axes for the script that moves the ring; empty without one."""
        ends = (self.x.low, self.x.high, self.y.low, self.y.high)
        return " ".join(f"{end:g}" for end in ends) if self.ring else ""

    @property
    def x(self) -> Axis:
        """The horizontal axis."""
        return self.axes.x

    @property
    def y(self) -> Axis:
        """The vertical axis."""
        return self.axes.y


def nice_step(span: float, wanted: int = 5) -> float:
    """Return a round step (1, 2, 2.5 or 5 times a power of ten) that cuts the span in about `wanted`.

    Examples
    --------
    >>> nice_step(1.0), nice_step(930, 4), nice_step(0.43)
    (0.2, 250.0, 0.1)
    """
    rough = span / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    return min((1.0, 2.0, 2.5, 5.0, 10.0), key=lambda m: abs(math.log(m * power / rough))) * power


def x_axis(low: float, high: float, title: str, ticks: Iterable[float] | None = None) -> Axis:
    """Return a horizontal axis.

    Examples
    --------
    >>> [text for _, text in x_axis(0, 1, "Recall").ticks]
    ['0', '0.2', '0.4', '0.6', '0.8', '1']
    """
    return Axis(low, high, title, _ticks(low, high, (LEFT, RIGHT), ticks))


def y_axis(low: float, high: float, title: str, ticks: Iterable[float] | None = None) -> Axis:
    """Return a vertical axis, its low end at the bottom."""
    return Axis(low, high, title, _ticks(low, high, (BOTTOM, TOP), ticks))


def whole_ticks(low: float, high: float) -> list[float]:
    """Return the ticks of an axis of counts or ranks, which are whole numbers.

    Examples
    --------
    >>> whole_ticks(0, 9), whole_ticks(0, 3)
    ([0.0, 2.0, 4.0, 6.0, 8.0], [0.0, 1.0, 2.0, 3.0])
    """
    step = max(1.0, float(round(nice_step(high - low))))
    return [place * step for place in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def named_axis(low: float, high: float, title: str, named: Iterable[tuple[float, str]]) -> Axis:
    """Return a horizontal axis whose ticks are words, each at its value."""
    return Axis(
        low, high, title, tuple((_axis_position(at, low, high, (LEFT, RIGHT)), text) for at, text in named)
    )


def _ticks(
    low: float, high: float, ends: tuple[float, float], given: Iterable[float] | None
) -> tuple[tuple[float, str], ...]:
    if given is None:
        step = nice_step(high - low)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        given = [place * step for place in range(first, last + 1)]
    return tuple((_axis_position(value, low, high, ends), tick_text(value)) for value in given)


def tick_text(value: float) -> str:
    """Return a tick's number: no more digits than it needs, thousands with commas, a real minus.

    Examples
    --------
    >>> tick_text(0.2), tick_text(1500.0), tick_text(-0.5), tick_text(0.30000000000000004)
    ('0.2', '1,500', '−0.5', '0.3')
    """
    text = f"{abs(value):,.10g}" if abs(value) >= 1e-4 or value == 0 else f"{abs(value):.1e}"
    text = f"{round(abs(value), 10):,}".removesuffix(".0") if abs(value) >= 1e-4 else text
    return MINUS + text if value < 0 and text != "0" else text


def _axis_position(value: float, low: float, high: float, ends: tuple[float, float]) -> float:
    return round(ends[0] + (value - low) / (high - low) * (ends[1] - ends[0]), 1)


def pad_range(values: Sequence[float]) -> tuple[float, float]:
    """Return ends of an axis that leave a little room around values.

    Examples
    --------
    >>> pad_range([0.5, 0.7]), pad_range([3.0])
    ((0.49, 0.71), (2.5, 3.5))
    """
    low, high = min(values), max(values)
    room = (high - low) * 0.05 or max(0.5, abs(high) * 0.05)
    return round(low - room, 12), round(high + room, 12)


def simplify(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the points of a polyline that draw it within the tolerance.

    Parameters
    ----------
    points : float64, shape (n, 2)

    Examples
    --------
    >>> simplify(np.array([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0]])).tolist()
    [[0.0, 0.0], [2.0, 0.0]]
    """
    kept = np.zeros(len(points), dtype=bool)
    kept[[0, -1]] = True
    spans = [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        away = _distance_to_segment(points[first + 1 : last], points[first], points[last])
        worst = int(away.argmax())
        if away[worst] > TOLERANCE:
            middle = first + 1 + worst
            kept[middle] = True
            spans += [(first, middle), (middle, last)]
    return points[kept]


def _distance_to_segment(
    points: npt.NDArray[np.float64], a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Distance of points from the segment a-b."""
    along = b - a
    length = float(along @ along)
    share = np.clip((points - a) @ along / length, 0, 1) if length else np.zeros(len(points))
    apart = points - (a + share[:, None] * along)
    distance: npt.NDArray[np.float64] = np.hypot(apart[:, 0], apart[:, 1])
    return distance


def _path(points: npt.NDArray[np.float64], *, whole: bool = False) -> str:
    """Path data, with H and V where only one coordinate changes."""
    kept = (points if whole else simplify(points)).round(1).tolist()
    made = [f"M{_short(kept[0][0])} {_short(kept[0][1])}"]
    for (x0, y0), (x1, y1) in pairwise(kept):
        if (x0, y0) == (x1, y1):
            continue
        if y0 == y1:
            made.append(f"H{_short(x1)}")
        elif x0 == x1:
            made.append(f"V{_short(y1)}")
        else:
            made.append(f"L{_short(x1)} {_short(y1)}")
    return "".join(made)


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def place_label(spot: tuple[float, float], width: float, text: str, look: Look = "") -> Label:
    """Return a label at a spot; one near the right edge ends there, whatever its letters measure."""
    if spot[0] + width > RIGHT - 14:
        return Label(RIGHT - 4, spot[1], text, "end", look)
    return Label(*spot, text, look=look)


def label_footprint(spot: tuple[float, float], width: float) -> npt.NDArray[np.float64]:
    """Return points that a label at a spot covers, for the next one to keep clear of."""
    across_label = np.arange(spot[0], spot[0] + width + 1, 4.0)
    return np.column_stack([across_label, np.full(len(across_label), spot[1] - 4)])


def clearest(
    spots: Sequence[tuple[float, float]],
    width: float,
    obstacles: npt.NDArray[np.float64],
    enough: float = 12.0,
) -> tuple[float, float]:
    """Return the position for a label (its left end and baseline) that is furthest from the points.

    Parameters
    ----------
    spots : sequence of (x, y)
        Candidates, the preferred first.
    width : float
        Of the label, in units.
    obstacles : float64, shape (n, 2)
        Points that it should not cover.
    enough : float
        Distance at which a spot is as good as any further one.

    Examples
    --------
    >>> clearest([(50, 20), (50, 250)], 100, np.array([[60.0, 22.0], [90.0, 25.0]]))
    (50, 250)
    """

    def room(spot: tuple[float, float]) -> float:
        left, base = spot
        dx = np.maximum(np.maximum(left - obstacles[:, 0], obstacles[:, 0] - left - width), 0)
        dy = np.maximum(np.maximum(base - 10 - obstacles[:, 1], obstacles[:, 1] - base - 3), 0)
        return min(float(np.hypot(dx, dy).min(initial=np.inf)), enough)

    return max(spots, key=room)
