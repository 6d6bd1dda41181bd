"""Estimates and differences as people read them: one number rule for the page, the terminal and the notebook.

Two significant digits of the interval's half-width decide the decimals, and the estimate and both ends
carry the same: more would state what the sample does not know, fewer would hide what it does. Rates are given
in per cent and their differences in points. An exact 0 or 1 has no decimals, so that "100%" is every row and
"100.0%" all but a few.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

from evalreport.core.format import (
    FINEST,
    SCALE,
    Style,
    change,
    decimals,
    format_decimals,
    format_fixed,
    gap_decimals,
)
from evalreport.core.result import Estimate, Result

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
