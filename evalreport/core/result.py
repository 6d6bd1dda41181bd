"""Results of a computation: an `Estimate` with its interval, or `Undefined` with its reason; their format.

Undefined is not zero: a value that cannot be computed is null with a reason, all the way from the
formula to `evaluation.json`, MLflow and the page.

Two significant digits of the interval's half-width decide the decimals, and the estimate and both ends have
the same number. Rates are given in per cent and their differences in points. An exact 0 or 1 has no decimals,
so "100%" is every row and "100.0%" all but a few.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any, ClassVar, Final, Literal, TypeAlias

from evalreport.core.format import (
    FINEST,
    SCALE,
    Style,
    change,
    count,
    decimals,
    format_decimals,
    format_fixed,
    gap_decimals,
    show,
)
from evalreport.core.json_codec import Mass
from evalreport.core.text import printable


@dataclass(frozen=True)
class ColumnReason:
    """One piece of evidence that a column has a role; a negative weight is evidence against it."""

    role: str
    column: str
    weight: float
    reason: str


BY_NAME: Final = "the name"
"""Beginning of the reasons that come from the name of a column, not from its contents."""


@dataclass(frozen=True)
class ColumnDecision:
    """Why the columns have their roles, and the margin over the second best assignment.

    `runner_up` has the roles and columns of the second best assignment with another result; it is empty and
    `margin` is null where there is none.
    """

    reasons: tuple[ColumnReason, ...]
    runner_up: tuple[tuple[str, str], ...] = ()
    margin: float | None = None

    @property
    def weight(self) -> float:
        """The weight of all reasons."""
        return sum(one.weight for one in self.reasons)

    @property
    def content_weight(self) -> float:
        """The weight of the reasons that come from the contents, not from names."""
        return sum(one.weight for one in self.reasons if not one.reason.startswith(BY_NAME))

    def lines_by_column(self) -> dict[tuple[str, str], str]:
        """Return the reasons as one line of text for each role and column."""
        found: dict[tuple[str, str], list[str]] = {}
        for one in self.reasons:
            reason = f"{one.reason} ({one.weight:+.1f})" if one.weight else one.reason
            found.setdefault((one.role, one.column), []).append(reason)
        return {key: f"{key[0]} {key[1]}: {'; '.join(why)}" for key, why in found.items()}

    @property
    def lines(self) -> tuple[str, ...]:
        """The reasons as text: one line per role and column, and the second best assignment."""
        lines = [*self.lines_by_column().values()]
        if self.margin is not None:
            other = ", ".join(f"{role} {column}" for role, column in self.runner_up)
            lines.append(f"second best: {other}; its weight is {self.margin:.1f} less")
        return tuple(lines)


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from; passed in, never read from the clock or the machine by the core.

    All text, shown as it is. Times are UTC, ISO 8601. `label_names` are pairs of a label as it stands in the
    data and what people call it, which is what everything else says.
    """

    run_id: str = ""
    run_name: str = ""
    experiment: str = ""
    dataset: str = ""
    source: str = ""
    sha256: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    column_decision: ColumnDecision | None = None
    parser: str = ""
    model: str = ""
    tracking: str = ""
    made: str = ""
    command: str = ""
    commit: str = ""
    software: tuple[tuple[str, str], ...] = ()
    title: str = ""
    unit: tuple[str, str] = ("case", "cases")
    label_names: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with the interval that says how well this sample knows it.

    Parameters
    ----------
    value : float
        Finite.
    n : float
        The (weighted) number of rows that the value was computed over.
    low, high : float or None
        Confidence limits with ``low <= value <= high``, or None where there is no interval.
    method : str or None
        How the interval was made: ``wilson``, ``delong``, …
    standard_error : float or None
        Standard error of `value` on its own scale, where the method has one.
    reason : str or None
        Why there is no interval, when there is none.

    Examples
    --------
    >>> Estimate(0.75, n=40, low=0.6, high=0.86, method="wilson").width
    0.26
    """

    KEYS: ClassVar = ("value", "low", "high", "method", "n", "standard_error", "reason")

    value: float
    n: Mass
    low: float | None = None
    high: float | None = None
    method: str | None = None
    standard_error: float | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"an Estimate is finite, not {self.value}; use Undefined(reason)")
        if self.low is not None and self.high is not None and not self.low <= self.value <= self.high:
            raise ValueError(f"interval {self.low} to {self.high} does not contain its value {self.value}")

    @property
    def width(self) -> float | None:
        """Width of the interval, or None where there is none."""
        if self.low is None or self.high is None:
            return None
        return round(self.high - self.low, 12)

    def _repr_html_(self) -> str:
        """Value, interval and how it was made, for a notebook."""
        if self.low is None or self.high is None:
            why = _as_html(self.reason or "none was made")
            return f"<b>{show(self.value, 'ratio')}</b> (no interval: {why})"
        places = decimals(self.low, self.high, "ratio", self.value)
        value, low, high = (
            format_decimals(each, places, "ratio") for each in (self.value, self.low, self.high)
        )
        return f"<b>{value}</b> ({low} to {high}; n {count(self.n)}, {_as_html(self.method or 'given')})"


@dataclass(frozen=True, slots=True)
class Undefined:
    """No number, and why.

    Parameters
    ----------
    reason : str
    n : float
        The (weighted) number of rows that there were.

    Examples
    --------
    >>> Undefined("no positive example").value is None
    True
    """

    KEYS: ClassVar = Estimate.KEYS

    reason: str
    n: Mass = 0.0

    @property
    def value(self) -> None:
        """None, so that ``result.value`` can be read of either kind."""
        return None

    def _repr_html_(self) -> str:
        """Why there is no number, for a notebook."""
        return f"<i>undefined</i>: {_as_html(self.reason)}"

    @classmethod
    def claims(cls, data: Mapping[str, Any]) -> bool:
        """Return whether JSON data with the keys of a result are undefined: there is no value."""
        return data["value"] is None


def _as_html(text: str) -> str:
    return escape(printable(text))


Result: TypeAlias = Undefined | Estimate


Severity: TypeAlias = Literal["error", "caution", "note"]


@dataclass(frozen=True)
class Finding:
    """One thing worth knowing, in plain English, provable from its evidence.

    Parameters
    ----------
    rule : str
        Name of the rule that fired, e.g. ``never_predicted``.
    severity : {"error", "caution", "note"}
        ``error``: the model, or the evaluation, is broken; ``caution``: a number misleads; ``note``.
    claim : str
        What is the case, in one or two sentences.
    evidence : mapping
        The numbers behind the claim, by name.
    action : str
        What to do about it.
    section : str
        Id of the report's section that shows more; may be empty.

    Examples
    --------
    >>> Finding("never_predicted", "error", "“b” is never predicted.", {"labels": ["b"]}).rule
    'never_predicted'
    """

    rule: str
    severity: Severity
    claim: str
    evidence: Mapping[str, Any]
    action: str = ""
    section: str = ""


NONE = "–"


def _interval_decimals(result: Estimate, style: Style) -> int | None:
    if result.low is None or result.high is None:
        return None
    return decimals(result.low, result.high, style, result.value)


def format_estimate(result: Estimate, style: Style) -> str:
    """Return the value of an estimate, with the decimals of its interval.

    Examples
    --------
    >>> format_estimate(Estimate(0.71698, n=106, low=0.625, high=0.794), "percent")
    '71.7%'
    >>> format_estimate(Estimate(0.0294, n=5572, low=0.0261, high=0.0327), "ratio")
    '0.0294'
    >>> format_estimate(Estimate(0.71698, n=106), "percent")
    '72%'
    """
    return format_decimals(result.value, _interval_decimals(result, style), style, result.n)


def interval(result: Result, style: Style) -> str:
    """Return "a to b", both ends with the decimals of the estimate; "–" where there is none.

    Examples
    --------
    >>> interval(Estimate(0.9, n=50, low=0.81, high=0.95), "percent")
    '81.0% to 95.0%'
    >>> interval(Estimate(0.9803, n=1e6, low=0.98012, high=0.98042), "ratio")
    '0.98012 to 0.98042'
    >>> interval(Estimate(1.0, n=40, low=0.912, high=1.0), "percent")
    '91.2% to 100%'
    """
    if not isinstance(result, Estimate) or result.low is None or result.high is None:
        return NONE
    return " to ".join(ends(result, style))


def shown_value(result: Result | None, style: Style) -> str:
    """Return the value of a result as `valued` does; "–" where there is none.

    Examples
    --------
    >>> shown_value(Estimate(0.9, n=50, low=0.81, high=0.95), "percent"), shown_value(None, "percent")
    ('90.0%', '–')
    """
    return format_estimate(result, style) if isinstance(result, Estimate) else NONE


def value_and_interval(result: Result | None, style: Style) -> tuple[str, str]:
    """Return the value of a result and its interval, each "–" where there is none.

    Examples
    --------
    >>> value_and_interval(Estimate(0.9, n=50, low=0.81, high=0.95), "percent")
    ('90.0%', '81.0% to 95.0%')
    """
    return shown_value(result, style), NONE if result is None else interval(result, style)


def with_interval(result: Estimate, style: Style) -> str:
    """Return the value of an estimate with its interval in brackets, where it has one.

    Examples
    --------
    >>> with_interval(Estimate(0.9, n=50, low=0.81, high=0.95), "percent")
    '90.0% (81.0% to 95.0%)'
    """
    limits = interval(result, style)
    return format_estimate(result, style) + ("" if limits == NONE else f" ({limits})")


def ends(result: Estimate, style: Style) -> tuple[str, str]:
    """Return both ends of an interval as they are shown.

    Examples
    --------
    >>> ends(Estimate(0.9, n=50, low=0.81, high=0.95), "ratio"), ends(Estimate(0.9, n=1), "ratio")
    (('0.810', '0.950'), ('–', '–'))
    """
    if result.low is None or result.high is None:
        return NONE, NONE
    places = _interval_decimals(result, style)
    return format_decimals(result.low, places, style, result.n), format_decimals(
        result.high, places, style, result.n
    )


def format_reference(value: float, result: Result, style: Style) -> str:
    """Return a number that is compared with an estimate, such as no-skill, with the estimate's decimals.

    Examples
    --------
    >>> format_reference(0.371929, Estimate(0.717, n=285, low=0.66, high=0.77), "percent")
    '37.2%'
    >>> format_reference(0.5, Estimate(0.9825, n=5572, low=0.9749, high=0.9878), "ratio")
    '0.5'
    """
    places = _interval_decimals(result, style) if isinstance(result, Estimate) else None
    scaled = value * SCALE[style][0]
    if places is not None and scaled == round(scaled, 1):  # known exactly, not from a sample
        places = min(places, int(not scaled.is_integer()))
    return format_decimals(value, places, style, result.n)


def column_places(results: Iterable[Estimate]) -> int:
    """Return the decimals of a column, at least 2: up to the first digit of the median half-width.

    Examples
    --------
    >>> wide, narrow = Estimate(0.9, n=50, low=0.81, high=0.95), Estimate(0.98, n=9000, low=0.975, high=0.985)
    >>> column_places([wide]), column_places([narrow, narrow, wide]), column_places([])
    (2, 3, 2)
    """
    half = sorted((r.high - r.low) / 2 for r in results if r.low is not None and r.high is not None)
    middle = half[(len(half) - 1) // 2] if half else 0.0
    return max(2, min(FINEST, math.ceil(-math.log10(middle)))) if middle > 0 else 2


def gap(value: float, low: float | None, high: float | None, style: Style) -> tuple[str, str]:
    """Return a difference with its sign and its interval; those of rates are in points.

    Parameters
    ----------
    value : float
    low, high : float or None
        Of the interval, None where there is none.
    style : {"percent", "ratio", "number"}
        Of the two numbers that differ.

    Examples
    --------
    >>> gap(0.0231, -0.006, 0.051, "percent")
    ('+2.3 points', '−0.6 to +5.1')
    >>> gap(-0.0015, -0.0094, 0.0064, "ratio"), gap(0.5, None, None, "ratio")
    (('−0.0015', '−0.0094 to +0.0064'), ('+0.500', '–'))

    An interval without 0 is not shown as one that contains it:

    >>> gap(0.0454, 0.0004, 0.0904, "percent")
    ('+4.54 points', '+0.04 to +9.04')
    """
    scale, _ = SCALE[style]
    unit = " points" if style == "percent" else ""
    if low is None or high is None:
        return (_format_signed(value * scale, 1) if unit else change(value)) + unit, NONE
    places = gap_decimals(low, high, style, value)
    ends = [_format_signed(end * scale, places) for end in (low, high)]
    return _format_signed(value * scale, places) + unit, f"{ends[0]} to {ends[1]}"


def reach(value: float, style: Style) -> str:
    """Return a half-width, or a detectable difference: two digits, rates in points.

    Examples
    --------
    >>> reach(0.0328, "percent"), reach(0.01232, "number"), reach(0.469, "percent")
    ('3.3 points', '0.012', '47 points')
    """
    text = format_fixed(value * SCALE[style][0], decimals(-value, value, style) or 0)
    return text + (" points" if style == "percent" else "")


def distance(result: Estimate, style: Style) -> tuple[str, str]:
    """Return how far two numbers lie apart, whichever is greater: `gap` without a plus sign.

    Examples
    --------
    >>> distance(Estimate(0.35, n=904, low=0.264, high=0.428), "percent")
    ('35.0 points', '26.4 to 42.8')
    """
    shown, limits = gap(result.value, result.low, result.high, style)
    return shown.removeprefix("+"), limits.replace("+", "")


def _format_signed(scaled: float, places: int | None) -> str:
    if places is None or not math.isfinite(scaled):
        return change(scaled)
    text = format_fixed(scaled, 0 if scaled == 0 else places)
    return "+" + text if scaled > 0 else text


def distinct_decimals(values: Iterable[float], digits: int = 2) -> int:
    """Return the decimals with which different numbers look different, such as the edges of bins.

    Examples
    --------
    >>> distinct_decimals([0.0, 0.0004, 0.0011, 1.0]), distinct_decimals([0.0, 0.5, 1.0, 0.5])
    (4, 2)
    """
    known = sorted(set(values))
    for places in range(digits, FINEST):
        shown = [format_fixed(value, places) for value in known]
        if all(a != b for a, b in pairwise(shown)):
            return places
    return FINEST
