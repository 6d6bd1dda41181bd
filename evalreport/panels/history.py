"""Values with intervals by the time of their runs: points, whiskers, and a step line of champions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from evalreport.estimates import with_interval
from evalreport.metrics.record import Metric
from evalreport.panels.chart import nice_step, padded, tick_text
from evalreport.values import Estimate

HEIGHT = 260.0
"""Pixels of the plot."""
SIDES = (2.0, 97.0)
"""Where the first and the last run stand, in per cent of the width."""
DAY = 86_400_000
"""Milliseconds."""
STEPS = (1, 2, 5, 7, 14, 30, 61, 91, 182, 365, 730)
"""Days between ticks: round ones, weeks, months, quarters and years."""
MOST_TICKS = 5
"""Ticks that stand apart on a page of 360 pixels."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Moment:
    """A run in time: its value with its interval, and whether it stands out."""

    name: str
    at: int
    value: float
    low: float | None
    high: float | None
    strong: bool = False
    href: str = ""


@dataclass(frozen=True)
class PlacedMoment:
    """A point of the chart: per cent across, pixels down."""

    x: float
    y: float
    low: float
    high: float
    strong: bool
    ring: bool
    href: str
    title: str


@dataclass(frozen=True)
class History:
    """The chart.

    Parameters
    ----------
    title, ytitle : str
    points : tuple of PlacedMoment
    steps : tuple of (x1, y1, x2, y2)
        Lines of the champion, in per cent and pixels.
    breaks : tuple of (x, text)
        Where what comes after is not to be compared with what was before.
    xticks, yticks : tuple of (place, text)
    labels : tuple of (x, y, text, look)
    description : str
    """

    title: str
    ytitle: str
    points: tuple[PlacedMoment, ...]
    steps: tuple[tuple[float, float, float, float], ...]
    breaks: tuple[tuple[float, str], ...]
    xticks: tuple[tuple[float, str], ...]
    yticks: tuple[tuple[float, str], ...]
    labels: tuple[tuple[float, float, str, str], ...]
    description: str


def day(at: int, *, year: bool = False) -> str:
    """Return a time as its day, UTC.

    Examples
    --------
    >>> day(0), day(0, year=True)
    ('1 Jan', '1 Jan 1970')
    """
    return dated(datetime.fromtimestamp(at / 1000, UTC), year=year)


def dated(when: datetime, *, year: bool = False) -> str:
    """Return the day of a moment, in words that no language of the machine changes."""
    return f"{when.day} {MONTHS[when.month - 1]}" + (f" {when.year}" if year else "")


def days(first: int, last: int) -> str:
    """Return the days from one moment to another; one day alone once.

    Examples
    --------
    >>> days(0, 0), days(0, 3 * 86_400_000)
    ('1 Jan 1970', '1 Jan to 4 Jan 1970')
    """
    ends = day(first, year=True), day(last, year=True)
    return ends[1] if ends[0] == ends[1] else f"{day(first)} to {ends[1]}"


def history(
    metric: Metric,
    moments: Sequence[Moment],
    champions: Sequence[tuple[int, float, str]] = (),
    best: str = "",
    breaks: Sequence[tuple[int, str]] = (),
    joined: Sequence[str] = (),
) -> History:
    """Return the chart of runs by time.

    Parameters
    ----------
    metric : Metric
    moments : sequence of Moment
    champions : sequence of (since, value, name)
        In their order.
    best : str
        Name of the run that is labelled.
    breaks : sequence of (time, words)
    joined : sequence of str
        For each moment a key: neighbours of one key are joined by a line.
    """
    times = [*(m.at for m in moments), *(since for since, *_ in champions), *(at for at, _ in breaks)]
    first, last = min(times), max(times)
    low, high = padded([end for m in moments for end in (m.low, m.value, m.high) if end is not None])

    def x(at: float) -> float:
        share = 0.5 if last == first else (at - first) / (last - first)
        return round(SIDES[0] + share * (SIDES[1] - SIDES[0]), 2)

    def y(value: float) -> float:
        return round(HEIGHT - (value - low) / (high - low) * HEIGHT, 1)

    rings = {name for *_, name in champions}
    points = tuple(
        PlacedMoment(
            x(m.at),
            y(m.value),
            y(m.value if m.low is None else m.low),
            y(m.value if m.high is None else m.high),
            m.strong,
            m.name in rings,
            m.href,
            _title(metric, m),
        )
        for m in moments
    )
    labels = [(x(at), y(value), text, look) for at, value, text, look in _labels(moments, champions, best)]
    step = nice_step(high - low)
    ticks = [place * step for place in range(int(low // step) + 1, int(high // step) + 1)]
    arrow = "↓" if metric.better == "lower" else "↑"
    return History(
        f"{metric.title} of every run by date",
        f"{metric.title} {arrow}",
        points,
        (*_steps([(x(since), y(value)) for since, value, _ in champions]), *_links(points, joined)),
        tuple((x(at), words) for at, words in breaks),
        tuple((x(at), day(at)) for at in _days(first, last)),
        tuple((y(value), tick_text(round(value, 10))) for value in ticks),
        tuple(labels),
        f"{len(moments)} runs from {day(first, year=True)} to {day(last, year=True)}.",
    )


def _labels(
    moments: Sequence[Moment], champions: Sequence[tuple[int, float, str]], best: str
) -> list[tuple[int, float, str, str]]:
    """The best of the runs, and the champion where it is another: time, value, words, look."""
    found = [(m.at, m.value, f"{best} leads", "blue") for m in moments if m.name == best]
    if champions and champions[-1][2] != best:
        found.append((champions[-1][0], champions[-1][1], "champion", "strong"))
    return found


def _title(metric: Metric, m: Moment) -> str:
    return f"{m.name}: {with_interval(Estimate(m.value, 0, m.low, m.high), metric.style)}"


def _steps(places: Sequence[tuple[float, float]]) -> list[tuple[float, float, float, float]]:
    """Lines from champion to champion, and on to the right end."""
    found = []
    for (x1, y1), (x2, y2) in pairwise(places):
        found += [(x1, y1, x2, y1), (x2, y1, x2, y2)]
    return [*found, (*places[-1], 100.0, places[-1][1])] if places else found


def _links(points: Sequence[PlacedMoment], keys: Sequence[str]) -> list[tuple[float, float, float, float]]:
    """Lines between neighbours of one key."""
    pairs = zip(pairwise(points), pairwise(keys), strict=True) if keys else ()
    return [(a.x, a.y, b.x, b.y) for (a, b), (one, other) in pairs if one == other]


def _days(first: int, last: int) -> list[int]:
    """Days for the ticks: at most five, a round number of days apart."""
    span = (last - first) / DAY
    apart = next((step for step in STEPS if span / step <= MOST_TICKS), STEPS[-1]) * DAY
    start = -(-first // DAY) * DAY
    found = list(range(start, last + 1, apart))
    return found if found else [first]
