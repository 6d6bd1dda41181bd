"""Differences on an axis that reads itself: worse on the left of zero, better on the right, unit by unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from evalreport.comparison.values import Comparison, Difference
from evalreport.format import MINUS
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric
from evalreport.panels.comparison.stated import stated
from evalreport.panels.comparison.words import verdict
from evalreport.panels.intervals import place
from evalreport.panels.words import Sentence

SPANS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Ends of an axis within a power of ten: the next one above the largest interval, so that it is used."""
Units = tuple[str, bool]
"""What may share an axis: the style of a value, and whether lower is better."""
GROUPS: dict[Units, str] = {
    ("percent", False): "Rates",
    ("percent", True): "Rates, lower is better",
    ("ratio", False): "Areas and agreement",
    ("ratio", True): "Losses up to 1, lower is better",
    ("number", False): "Values without a limit",
    ("number", True): "Losses without a limit, lower is better",
}
"""Groups of metrics in the order of the page."""
Side = Literal["better", "worse", "none", "undefined"]


@dataclass(frozen=True)
class DifferenceRow:
    """One difference: its words, and its places on an axis of 1000 units with zero in the middle.

    `side` decides colour and dot: blue, orange, or hollow and grey where nothing is demonstrated.
    """

    title: str
    values: tuple[str, str]
    gap: str
    limits: str
    verdict: Sentence
    side: Side
    at: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class UnitGroup:
    """Differences in one unit on one symmetric axis, whose ends say which way is better."""

    title: str
    ends: tuple[str, str]
    rows: tuple[DifferenceRow, ...]


@dataclass(frozen=True)
class Differences:
    """Every difference of a pair of runs, group by group."""

    kind: ClassVar[str] = "differences"
    name: str
    columns: tuple[str, str, str]
    groups: tuple[UnitGroup, ...]


def differences_of(comparison: Comparison, found: Sequence[Difference], name: str) -> Differences:
    """Return differences in groups of one unit each, lower-is-better turned.

    Parameters
    ----------
    comparison : Comparison
    found : sequence of Difference
        Of one pair of runs.
    name : str
        Of the table, for assistive technology.
    """
    task = comparison.evaluations[0].task
    metrics = [(find(d.metric, task), d) for d in found]
    known = [units_of(metric) for metric, _ in metrics]
    groups = [
        _group(title, units, [pair for pair, own in zip(metrics, known, strict=True) if own == units])
        for units, title in GROUPS.items()
        if units in known
    ]
    first = found[0]
    level = f"{comparison.level * 100:.10g}%"
    heads = (f"{first.baseline} → {first.run}", f"Difference, {level} interval", "worse ← 0 → better")
    return Differences(name, heads, tuple(groups))


def units_of(metric: Metric) -> Units:
    """Return the group of a metric: what has no upper limit never shares an axis with what has.

    Examples
    --------
    >>> units_of(find("log_loss", "binary")), units_of(find("recall", "binary"))
    (('number', True), ('percent', False))
    """
    style = metric.style if metric.style == "percent" else "ratio" if metric.high <= 1 else "number"
    return style, metric.better in ("lower", "zero")


def _group(title: str, units: Units, found: list[tuple[Metric, Difference]]) -> UnitGroup:
    lower = units[1]
    span = axis_end([d for _, d in found])
    shown = f"{span * 100:g} points" if units[0] == "percent" else f"{span:g}"
    worse, better = ("+", MINUS) if lower else (MINUS, "+")
    title = found[0][0].title + ", lower is better" if lower and len(found) == 1 else title
    rows = tuple(difference_row(metric.title, d, span, turned=lower) for metric, d in found)
    return UnitGroup(title, (f"{worse}{shown} worse ←", f"→ better {better}{shown}"), rows)


def axis_end(found: Iterable[Difference]) -> float:
    """Return the round end of a symmetric axis that holds every interval.

    Examples
    --------
    >>> axis_end([Difference("f1", "a", "b", (0.5, 0.9), -0.4, -0.45, -0.35)])
    0.5
    """
    ends = [abs(end) for d in found for end in (*(d.limits or ()), d.difference) if end is not None]
    largest = max(ends, default=0.0)
    if not largest:
        return 1.0
    power = 1e-6
    while power * 10 < largest:
        power *= 10
    return next(round(power * step, 12) for step in SPANS if power * step >= largest * (1 - 1e-12))


def difference_row(title: str, d: Difference, span: float, *, turned: bool) -> DifferenceRow:
    """Return a row of a difference plot; `turned`: to the right is less."""
    shown = stated(d)
    axis = (span, -span) if turned else (-span, span)
    low, high = d.limits or (None, None)
    side: Side = "none"
    if d.demonstrated:
        side = "better" if d.verdict == "better" else "worse"
    elif d.difference is None:
        side = "undefined"
    ends = (shown.before, shown.after)
    places = (place(d.difference, axis), place(low, axis), place(high, axis))
    return DifferenceRow(title, ends, shown.gap, shown.limits, verdict(d), side, *places)
