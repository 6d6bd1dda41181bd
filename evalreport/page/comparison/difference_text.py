"""A difference of two runs in figures, for every place that states one."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.comparison.comparison import Difference
from evalreport.core.estimate_format import NONE, gap
from evalreport.core.format import Style, at, decimals, gap_decimals
from evalreport.core.sentences import NOTHING, Number, Run, Sentence, bracketed
from evalreport.metrics.catalogue import find


@dataclass(frozen=True)
class StatedDifference:
    """The values of baseline and run, their difference and its interval, all with the same decimals."""

    before: str
    after: str
    gap: str
    limits: str


def stated(d: Difference) -> StatedDifference:
    """Return a difference as it is shown; its interval is the one that the verdict goes by.

    Examples
    --------
    >>> stated(Difference("recall", "a", "b", (0.684, 0.814), -0.13, -0.185, -0.076))
    StatedDifference(before='81.4%', after='68.4%', gap='−13.0 points', limits='−18.5 to −7.6')
    """
    style = style_of(d)
    low, high = d.limits or (None, None)
    places = None if low is None or high is None else gap_decimals(low, high, style)
    after, before = (NONE if value is None else at(value, places, style) for value in d.values)
    shown = (NONE, NONE) if d.difference is None else gap(d.difference, low, high, style)
    return StatedDifference(before, after, *shown)


def style_of(d: Difference) -> Style:
    """Return how values of the metric of a difference are shown."""
    return find(d.metric).style


def in_words(d: Difference) -> Sentence:
    """Return a difference with its interval in brackets, as part of a sentence.

    Examples
    --------
    >>> in_words(Difference("f1", "a", "b", (0.81, 0.8), 0.01, -0.02, 0.04)).text
    '+0.010 (−0.020 to +0.040)'
    """
    if d.difference is None:
        return NOTHING
    shown, (low, high) = stated(d), d.limits or (None, None)
    return bracketed(shown.gap, shown.limits, difference=d.difference, low=low, high=high)


def size(name: str, value: float, low: float | None, high: float | None, style: Style) -> Sentence:
    """Return the size of a difference, without its sign, with the decimals of an interval.

    Examples
    --------
    >>> size("gap", 0.0412, 0.8, 0.9, "percent").text, size("gap", 0.0412, 0.8, 0.9, "ratio").text
    ('4.1 points', '0.041')
    """
    shown = gap(value, low, high, style)[0]
    if low is not None and high is not None:
        shown = at(value, decimals(low, high, style), style).replace("%", " points")
    shown = shown.removeprefix("+")
    return Sentence((Run(shown),), (Number(name, value, shown),))
