"""Estimates with their intervals on an axis: the rows that a forest table, or a cell of any table, draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from evalreport.estimates import beside, interval, valued
from evalreport.format import Style
from evalreport.panels.words import Sentence, joined, say
from evalreport.values import Estimate, Result, Undefined


@dataclass(frozen=True)
class ForestRow:
    """One estimate of a forest table.

    Parameters
    ----------
    title, gloss : str
        Name of the metric, and what it is in plain words.
    estimate, interval, reference : str
        As shown; "–" where there is none.
    at, low, high, zero : float or None
        Places of estimate, limits and reference on the axis, 0 to 1000.
    past : str
        ``left`` or ``right`` when something lies beyond the axis and was clipped.
    name : str
        Key of the metric.
    missed : str
        Where the interval did not hold what it promises.
    lucky : (float, float) or None
        Part of the axis that is no better than the reference, to be shaded.
    start : float or None
        Where a bar to the value begins: what a run is compared with.
    side : str
        Of a bar: ``better`` (blue), ``worse`` (orange), ``none`` (not demonstrated, hollow).
    dots : tuple of float
        Places of single values, such as those of folds.
    """

    name: str
    title: str
    gloss: Sentence
    estimate: str
    interval: str
    reference: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    zero: float | None = None
    past: Literal["", "left", "right"] = ""
    missed: str = ""
    lucky: tuple[float, float] | None = None
    start: float | None = None
    side: str = ""
    dots: tuple[float, ...] = ()


@dataclass(frozen=True)
class Forest:
    """Estimates with intervals on a common axis.

    Parameters
    ----------
    rows : tuple of ForestRow
    ticks : tuple of (place in 0 … 1000, text)
    heads : tuple of str
        Titles of the columns: metric, estimate, interval, reference.
    broken : bool
        Whether the first third of the axis is 0 to 0.8 and the rest magnified, which the axis shows.
    """

    kind: ClassVar[str] = "forest"
    rows: tuple[ForestRow, ...]
    ticks: tuple[tuple[float, str], ...] = ((0, "0"), (500, "0.5"), (1000, "1"))
    heads: tuple[str, str, str, str] = ("Metric", "Estimate", "95% interval", "No-skill")
    broken: bool = False


HIGH = 800.0
"""Place above which all values lie where the top of the axis is magnified."""
THIRD = 1000 / 3
"""Where the magnified part of a broken axis begins."""


def magnified(forest: Forest) -> Forest:
    """Return a forest whose axis is magnified from 0.8 on, where all estimates and their limits lie above.

    Examples
    --------
    >>> row = forest_row("f1", "F1", Sentence(), Estimate(0.9, 50, 0.85, 0.95), "ratio", reference=0.4)
    >>> found = magnified(Forest((row,))).rows[0]
    >>> found.at, found.zero
    (666.7, 166.7)
    """
    ends = [end for row in forest.rows for end in (row.low, row.at, row.high) if end is not None]
    if not ends or min(ends) <= HIGH or len(forest.ticks) != 3:
        return forest
    ticks = ((0.0, "0"), (round(THIRD, 1), "0.8"), (round(2 * THIRD, 1), "0.9"), (1000.0, "1"))
    return replace(forest, rows=tuple(map(_stretched, forest.rows)), ticks=ticks, broken=True)


def _stretched(row: ForestRow) -> ForestRow:
    def to(at: float | None) -> float | None:
        if at is None:
            return None
        place = at / HIGH * THIRD if at <= HIGH else THIRD + (at - HIGH) / (1000 - HIGH) * 2 * THIRD
        return round(place, 1)

    lucky = None if row.lucky is None else (to(row.lucky[0]) or 0.0, to(row.lucky[1]) or 0.0)
    return replace(row, at=to(row.at), low=to(row.low), high=to(row.high), zero=to(row.zero), lucky=lucky)


def forest_row(
    name: str,
    title: str,
    gloss: Sentence,
    result: Result,
    style: Style,
    *,
    reference: float | None = None,
    axis: tuple[float, float] = (0.0, 1.0),
) -> ForestRow:
    """Return a row of a forest table.

    Parameters
    ----------
    reference : float or None
        Value to compare with: no skill.
    axis : (float, float)
        Ends of the axis.

    Examples
    --------
    >>> forest_row("mcc", "MCC", Sentence(), Estimate(0.2, 50, -0.1, 0.4), "ratio").past
    'left'
    >>> row = forest_row("f1", "F1", Sentence(), Estimate(0.838, 50, 0.79, 0.885), "ratio")
    >>> row.estimate, row.interval
    ('0.838', '0.790 to 0.885')
    >>> forest_row("auc", "AUC", Sentence(), Undefined("one class only"), "ratio").estimate
    'undefined'
    """
    shown = "–" if reference is None else beside(reference, result, style)
    why = reason(result)
    gloss = joined(gloss, say("; "), why) if gloss and why else gloss or why
    if isinstance(result, Undefined):
        return ForestRow(name, title, gloss, "undefined", "–", shown)
    ends = [end for end in (result.low, result.value, result.high) if end is not None]
    past: Literal["", "left", "right"] = (
        "left" if min(ends) < axis[0] else "right" if max(ends) > axis[1] else ""
    )
    return ForestRow(
        name=name,
        title=title,
        gloss=gloss,
        estimate=valued(result, style),
        interval=interval(result, style),
        reference=shown,
        at=place(result.value, axis),
        low=place(result.low, axis),
        high=place(result.high, axis),
        zero=place(reference, axis),
        past=past,
    )


def reason(result: Result) -> Sentence:
    """Return why there is no number, or no interval; of a single row that goes without saying."""
    if not result.reason or (isinstance(result, Estimate) and (result.n or 0) < 2):
        return Sentence()
    words = "{reason}" if isinstance(result, Undefined) else "no interval: {reason}"
    return say(words, reason=result.reason)


def place(value: float | None, axis: tuple[float, float]) -> float | None:
    """Return the place of a value on an axis of 1000 units, clipped at its ends.

    Examples
    --------
    >>> place(0.25, (0.0, 1.0)), place(-1.0, (0.0, 1.0)), place(None, (0.0, 1.0))
    (250.0, 0.0, None)
    """
    if value is None:
        return None
    share = (value - axis[0]) / (axis[1] - axis[0])
    return round(1000 * min(max(share, 0.0), 1.0), 1)
