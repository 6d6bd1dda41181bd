"""Numbers for readers. Rounding never reaches the ends: 99.96% is not 100%, 0.4% is not 0%.

The page's script holds the same rules (`fmt` in `templates/script.js`); a test compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Literal, TypeAlias

Style: TypeAlias = Literal["percent", "ratio", "number"]
"""``percent``: a share of rows; ``ratio``: a score between ends; ``number``: without ends (slope, loss)."""

MINUS = "−"
EXACT = 1e15
"""Size from which not every decimal of a float is its own (2**53 is 9e15)."""
FINE = 2000
"""Rows above which a percentage shows a decimal."""
MOST = 4
"""Decimals that a ratio shows at most."""


_OWN = Context(prec=800, rounding=ROUND_HALF_UP, traps=[])
"""Of our rounding: the caller's context may have three digits and raise on anything, and stays as it is."""


def rounded_half_up(value: float, digits: int) -> Decimal:
    """Return a number with a count of decimals, half away from zero, whatever the caller's `decimal` context.

    The float is read with 15 significant digits, so that 0.865 is rounded to 0.87 as 86.5% is to 87%.

    Examples
    --------
    >>> rounded_half_up(0.125, 2), rounded_half_up(-2.5, 0), rounded_half_up(0.865, 2)
    (Decimal('0.13'), Decimal('-3'), Decimal('0.87'))
    """
    return Decimal(f"{float(value):.15g}").quantize(Decimal((0, (1,), -digits)), context=_OWN)


def format_fixed(value: float, digits: int) -> str:
    """Return a number with a fixed count of decimals: half away from zero, comma, real minus, no "−0".

    From 10^15 on a float has no decimals left, and the number is given by its power of ten.

    Examples
    --------
    >>> format_fixed(1234.5, 0), format_fixed(-0.125, 2), format_fixed(-0.001, 2), format_fixed(-2e30, 3)
    ('1,235', '−0.13', '0.00', '−2.0e+30')
    """
    if abs(value) >= EXACT:
        return f"{value:.1e}".replace("-", MINUS)
    rounded = rounded_half_up(value, digits)
    text = f"{rounded.copy_abs():,f}"
    return MINUS + text if rounded < 0 else text


def count(value: float) -> str:
    """Return a count; a weighted one keeps one decimal.

    Examples
    --------
    >>> count(4825.0), count(12.25), count(399.9999999999)
    ('4,825', '12.3', '400')
    """
    whole = math.isclose(value, round(value), rel_tol=1e-12, abs_tol=1e-9)  # sums of weights are rounded
    return format_fixed(round(value) if whole else value, 0 if whole else 1)


def percent(share: float, n: float | None = None) -> str:
    """Return a share as a percentage: whole, with a decimal above 2,000 rows.

    Examples
    --------
    >>> percent(0.717), percent(0.717, 3080), percent(0.9996), percent(1.0), percent(0.004), percent(1e-9)
    ('72%', '71.7%', '99.96%', '100%', '0.4%', '<0.01%')
    """
    fine = 1 if n is not None and n > FINE and share not in (0, 1) else 0
    return _format_inside(share * 100, 100.0, fine, 2) + "%"


def ratio(value: float) -> str:
    """Return a score of range 0 to 1 (or -1 to 1) with two decimals, more where two would show an end.

    Examples
    --------
    >>> ratio(0.905), ratio(0.9996), ratio(-0.3), ratio(1.0), ratio(0.004), ratio(0.0)
    ('0.91', '0.9996', '−0.30', '1.00', '0.004', '0.00')
    """
    return _format_inside(value, 1.0, 2, MOST)


def number(value: float) -> str:
    """Return a number without ends: two decimals from 0.1 to 100, else three digits.

    Examples
    --------
    >>> number(1.116), number(0.0312), number(812.4), number(-2.0), number(float("inf"))
    ('1.12', '0.0312', '812', '−2.00', '∞')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else MINUS + "∞"
    size = abs(value)
    if size == 0 or 0.1 <= size < 100:
        return format_fixed(value, 2)
    if size >= 100:
        return format_fixed(value, 0)
    if size < 1e-6:
        return f"{value:.1e}".replace("-", MINUS)
    return format_fixed(value, 2 - math.floor(math.log10(size)))


def confidence(value: float) -> str:
    """Return a probability or a score with three decimals, more where three would show 0 or 1.

    Examples
    --------
    >>> confidence(0.9926), confidence(0.99996)
    ('0.993', '0.99996')
    """
    return _format_inside(value, 1.0, 3, 8)


def threshold(value: float) -> str:
    """Return a threshold rounded down to three decimals, more where three would show 0.

    Rounded down, so that typing the printed number flags every row that the threshold does.

    Examples
    --------
    >>> threshold(0.5), threshold(0.4879), threshold(0.35), threshold(0.0004), threshold(float("inf"))
    ('0.500', '0.487', '0.350', '0.0004', 'above all')
    """
    if math.isinf(value):
        return "above all"
    if abs(value) < EXACT:  # a millionth of a step: a binary fraction may lie below the decimal it stands for
        value = math.floor(value * 1000 + 1e-6) / 1000 or value
    return _format_inside(value, 1.0, 3, 8)


def significant(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits: for values that differ little, as those of trials.

    Examples
    --------
    >>> significant(0.893051), significant(-1234.56), significant(0.0), significant(1e-7)
    ('0.8931', '−1,235', '0', '1e-07')
    """
    text = f"{abs(value):,.{digits}g}" if abs(value) < 1e5 else f"{abs(value):,.0f}"
    if "e+" in text:
        text = f"{abs(value):,.0f}"
    return MINUS + text if value < 0 else text


def change(value: float) -> str:
    """Return the difference of two scores with its sign: three decimals, more where they would show 0.

    Examples
    --------
    >>> change(0.038), change(-0.0104), change(0.0), change(-0.0002)
    ('+0.038', '−0.010', '0.000', '−0.0002')
    """
    text = number(value) if abs(value) >= 10 else _format_inside(value, math.inf, 3, 5)
    return "+" + text if value > 0 and text[0] not in "<>" else text


def brief(value: float, style: Style) -> str:
    """Return a number for the first screen: whole per cent or two decimals, one more near 0 and near 1.

    Examples
    --------
    >>> brief(0.6988, "percent"), brief(0.9942, "percent"), brief(0.99996, "percent"), brief(1.0, "percent")
    ('70%', '99.4%', '>99.99%', '100%')
    >>> brief(0.9825, "ratio"), brief(0.0034, "ratio"), brief(1.0, "ratio")
    ('0.98', '0.003', '1.00')
    """
    if style == "number":
        return number(value)
    near = 0 < abs(value) < 0.01 or 0.99 < abs(value) < 1
    if style == "ratio":
        return _format_inside(value, 1.0, 3 if near else 2, MOST)
    return _format_inside(value * 100, 100.0, 1 if near else 0, 2) + "%"


def show(value: float, style: Style, n: float | None = None) -> str:
    """Return a number in the named style.

    Examples
    --------
    >>> show(0.5, "percent"), show(0.5, "ratio")
    ('50%', '0.50')
    """
    match style:
        case "percent":
            return percent(value, n)
        case "ratio":
            return ratio(value)
        case "number":
            return number(value)


def _format_inside(value: float, end: float, digits: int, most: int) -> str:
    """Decimals until a value that is not 0 or `end` does not look like it."""
    if value in (0, end, -end):
        return format_fixed(value, digits)
    if abs(value) >= EXACT:
        return format_fixed(value, digits)
    ends = (0.0, end, -end)
    for places in range(digits, most + 1):
        if float(rounded_half_up(value, places)) not in ends:
            return format_fixed(value, places)
    step = 10.0**-most
    if abs(value) < end / 2:
        return f"<{format_fixed(step, most)}" if value > 0 else f">{format_fixed(-step, most)}"
    return f">{format_fixed(end - step, most)}" if value > 0 else f"<{format_fixed(step - end, most)}"


def plural(n: float, unit: tuple[str, str]) -> str:
    """Return the word for one or for several.

    Examples
    --------
    >>> plural(1, ("case", "cases")), plural(0, ("case", "cases"))
    ('case', 'cases')
    """
    return unit[0] if n == 1 else unit[1]


def pluralize(n: float, one: str, many: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> pluralize(1, "file"), pluralize(1200, "file"), pluralize(2, "query", "queries")
    ('1 file', '1,200 files', '2 queries')
    """
    return f"{count(n)} {plural(n, (one, many or one + 's'))}"


FORMATS: dict[str, Callable[[float, float | None], str]] = {
    "count": lambda value, _: count(value),
    "percent": percent,
    "ratio": lambda value, _: ratio(value),
    "number": lambda value, _: number(value),
    "threshold": lambda value, _: threshold(value),
    "significant": lambda value, _: significant(value),
    "rough": lambda value, _: significant(value, 2),
    "two": lambda value, _: format_fixed(value, 2),
    "three": lambda value, _: format_fixed(value, 3),
    "change": lambda value, _: change(value),
}
"""What a field of a sentence may be shown as: ``{tp:count}``."""


DIGITS = 2
"""Significant digits of the half-width: the second is off by a tenth of it at most (as in PDG and GUM)."""
FINEST = 9
"""Maximum number of decimals: sums of weighted floats are not more precise."""
SCALE: dict[Style, tuple[float, str]] = {"percent": (100.0, "%"), "ratio": (1.0, ""), "number": (1.0, "")}
"""What a number is multiplied with, and its unit."""


def decimals(low: float, high: float, style: Style, *beside: float) -> int | None:
    """Return the decimals of an interval and of numbers next to it; None where it has no width.

    Parameters
    ----------
    low, high : float
        Its ends, unrounded.
    style : {"percent", "ratio", "number"}
    *beside : float
        What is shown with it, its estimate for one.

    Examples
    --------
    >>> decimals(0.625, 0.794, "percent"), decimals(0.625, 0.794, "ratio"), decimals(0.5, 0.5, "ratio")
    (1, 3, None)
    """
    scale, _ = SCALE[style]
    if math.isinf(high) and beside:  # a ratio of counts may be as large as anything: its lower half tells
        high = 2 * beside[0] - low
    half = (high - low) / 2 * scale
    if not math.isfinite(half) or math.isclose(low, high, rel_tol=1e-9, abs_tol=1e-12):  # but for rounding
        return None
    half = float(f"{half:.{DIGITS - 1}e}")  # 0.0996 is 0.10, not 0.100
    places = min(max(0, DIGITS - 1 - math.floor(math.log10(half))), FINEST)
    if places:
        return places
    # whole numbers have no "0.0" that tells a rounded end from an exact one
    return int(any(_looks_exact(value * scale, style) for value in (low, high, *beside)))


def gap_decimals(low: float, high: float, style: Style, *beside: float) -> int | None:
    """Return the decimals of the interval of a difference: an interval without 0 shows no end as 0.

    Examples
    --------
    >>> gap_decimals(0.0004, 0.0904, "percent"), gap_decimals(-0.0004, 0.0904, "percent")
    (2, 1)
    """
    places = decimals(low, high, style, *beside)
    near = min(abs(low), abs(high)) * SCALE[style][0]
    while places is not None and low * high > 0 and places < FINEST and near < 0.5 * 10.0**-places:
        places += 1
    return places


def _looks_exact(scaled: float, style: Style) -> bool:
    """Whether a whole number would show an end that the value is not."""
    whole = float(rounded_half_up(scaled, 0)) if abs(scaled) < 1e15 else scaled
    return whole != scaled and whole in _ends(style)


def _ends(style: Style) -> tuple[float, ...]:
    scale, _ = SCALE[style]
    return (0.0,) if style == "number" else (0.0, scale, -scale)


def format_decimals(value: float, places: int | None, style: Style, n: float | None = None) -> str:
    """Return a number with so many decimals; one that is exactly 0 or 1 has none.

    Parameters
    ----------
    places : int or None
        None: as a number without interval.

    Examples
    --------
    >>> (
    ...     format_decimals(0.7166, 1, "percent"),
    ...     format_decimals(1.0, 1, "percent"),
    ...     format_decimals(0.9999, 1, "percent"),
    ...     format_decimals(1.0, 3, "ratio"),
    ... )
    ('71.7%', '100%', '100.0%', '1')
    """
    if places is None or not math.isfinite(value):
        return show(value, style, n)
    scale, unit = SCALE[style]
    scaled = value * scale
    return format_fixed(scaled, 0 if scaled in _ends(style) else places) + unit


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def format_date(when: date, *, year: bool = False) -> str:
    """Return a day in words that no language of the machine changes.

    Examples
    --------
    >>> format_date(date(2026, 11, 21)), format_date(date(2026, 11, 21), year=True)
    ('21 Nov', '21 Nov 2026')
    """
    return f"{when.day} {MONTHS[when.month - 1]}" + (f" {when.year}" if year else "")
