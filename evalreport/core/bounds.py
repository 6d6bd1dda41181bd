"""A bound of a metric in words: one grammar for rules of a gate, objectives and thresholds.

``recall >= 0.9``, ``f1[spam] > 80%``, ``recall[site=a] ≥ .7``, ``recall drops <= 0.02``. Whoever accepts a
bound reads it here, so that what is written in one place is understood in every other.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.core.errors import UsageError

Operator: TypeAlias = Literal[">=", "<=", ">", "<"]
Change: TypeAlias = Literal["", "drops", "rises"]

CLOSE = 1e-12
"""Numbers that differ by less, relative to the greater of 1 and themselves, are equal: 0.1 + 0.2 keeps
``>= 0.3``. Sums of a million weights carry rounding of about 1e-13; no bound is meant to twelve digits."""

_POINT = r"@[A-Za-z]\w*(?:<=|>=|=)[\d.]+%?"
"""An operating point in a metric's name, as in ``recall@fpr=0.02`` or ``pauc@fpr<=0.05``."""
_METRIC = rf"[A-Za-z]\w*(?:{_POINT}|@[\w.]+|(?:\.\w+)*:[A-Za-z_]\w*(?:\.\w+)*)?"
_BOUND = re.compile(
    rf"({_METRIC})\s*(?:\[(.+)\])?\s*(?:(?<=[\s\]])(drops|rises)\b)?\s*(>=|<=|>|<|≥|≤)\s*([^\s%<>=]+)\s*(%?)"
)
_PLAIN: dict[str, Operator] = {"≥": ">=", "≤": "<=", ">=": ">=", "<=": "<=", ">": ">", "<": "<"}
_COMPARES = re.compile(r"[<>≤≥=]")


@dataclass(frozen=True)
class Bound:
    """A number that a metric, or its change from a baseline, has to keep.

    Parameters
    ----------
    metric : str
    operator : {">=", "<=", ">", "<"}
        ``>`` and ``<`` are strict: a value that equals the number breaks them.
    number : float
        Finite, on the scale of the metric; per cent are read as hundredths.
    part : str
        The class that the metric is of, or the slice as ``column=value``; empty for all rows.
    change : {"", "drops", "rises"}
        Of a change: what is bounded is baseline minus run (``drops``) or run minus baseline (``rises``).

    Examples
    --------
    >>> Bound.parse("recall>=90%")
    Bound(metric='recall', operator='>=', number=0.9, part='', change='')
    >>> Bound.parse("recall[site=a] ≥ .7").text
    'recall[site=a] >= 0.7'
    >>> Bound.parse("recall drops <= 2 %").text
    'recall drops <= 0.02'
    """

    metric: str
    operator: Operator
    number: float
    part: str = ""
    change: Change = ""

    @classmethod
    def parse(cls, text: str, *, where: str = "--require") -> Bound:
        """Read a bound.

        Parameters
        ----------
        text : str
            ``METRIC[class or slice] >= NUMBER``, or ``METRIC drops <= NUMBER``. Spaces make no difference;
            the operators are ``>=``, ``<=``, ``>``, ``<``, ``≥`` and ``≤``.
        where : str
            What the error names as its place.

        Raises
        ------
        UsageError
            Anything else; a change that is bounded by a number below 0.
        """
        match = _BOUND.fullmatch(text.strip())
        value = None if match is None else number(match[5] + match[6])
        if match is None or value is None:
            raise UsageError(
                f"{text!r} is not a bound",
                where=where,
                fix='write METRIC >= NUMBER, as in "recall >= 0.9", or "recall drops <= 0.02"',
            )
        change: Change = match[3] or ""  # type: ignore[assignment]
        if change and value < 0:
            other = "rises" if change == "drops" else "drops"
            raise UsageError(
                f"{text!r} limits a change by a negative number",
                where=where,
                fix=f'write the amount without a sign; for the other direction write "{match[1]} {other}"',
            )
        return cls(match[1], _PLAIN[match[4]], value, (match[2] or "").strip(), change)

    @property
    def text(self) -> str:
        """The bound as it is shown, and as `parse` reads it back."""
        part = f"[{self.part}]" if self.part else ""
        change = f" {self.change}" if self.change else ""
        return f"{self.metric}{part}{change} {self.operator} {self.number:.12g}"

    @property
    def key(self) -> str:
        """The bound without spaces around its operator: its name among objectives and in keys.

        Examples
        --------
        >>> Bound.parse("recall >= 95 %").key
        'recall>=0.95'
        """
        head, _, amount = self.text.rpartition(f" {self.operator} ")
        return f"{head}{self.operator}{amount}"

    @property
    def demands(self) -> Literal["high", "low"]:
        """Whether a high or a low value is asked for."""
        return "high" if self.operator in (">=", ">") else "low"

    @property
    def strict(self) -> bool:
        """Whether a value that equals the number breaks the bound."""
        return self.operator in (">", "<")

    def holds(self, value: float) -> bool:
        """Return whether a value satisfies the constraint.

        Examples
        --------
        >>> Bound.parse("recall >= 0.3").holds(0.1 + 0.2), Bound.parse("recall > 0.3").holds(0.1 + 0.2)
        (True, False)
        """
        if math.isclose(value, self.number, rel_tol=CLOSE, abs_tol=CLOSE):
            return not self.strict
        return value > self.number if self.demands == "high" else value < self.number

    def check_possible(self, low: float, high: float, *, where: str = "--require") -> None:
        """Refuse a bound that no value of the metric can keep.

        Parameters
        ----------
        low, high : float
            Range of the metric, or of its change.

        Raises
        ------
        UsageError

        Examples
        --------
        >>> Bound.parse("recall >= 90").check_possible(0, 1)
        Traceback (most recent call last):
        ...
        evalreport.core.errors.UsageError: 'recall >= 90' can never be met: recall is within 0 to 1
        """
        if self.holds(high if self.demands == "high" else low):
            return
        verb = f" {self.change} by" if self.change else " is within"
        raise UsageError(
            f"{self.text!r} can never be met: {self.metric}{verb} {low:g} to {high:g}",
            where=where,
            fix="write a fraction or a percentage: 0.9 or 90%",
        )


def is_bound(text: str) -> bool:
    """Return whether a text is meant as a bound: it compares something, well or badly written.

    What is meant as one is to be read by `Bound.parse`, whose error says how it is written.

    Examples
    --------
    >>> [is_bound(text) for text in ("recall >= 0.9", "recall=0.9", "max-f1", "cost:fp=1,fn=10")]
    [True, True, False, False]
    >>> is_bound("pauc@fpr<=0.05"), is_bound("pauc@fpr<=0.05 > 0.9")
    (False, True)
    """
    plain = re.sub(_POINT, "", text)
    return ":" not in plain.partition("=")[0] and _COMPARES.search(plain) is not None


def number(text: str) -> float | None:
    """Return a finite number, also one written in per cent; None for anything else.

    Examples
    --------
    >>> number("0.9"), number("90%"), number("90 %"), number("nan"), number("high")
    (0.9, 0.9, 0.9, None, None)
    """
    plain = text.strip()
    try:
        value = float(plain.removesuffix("%"))
    except ValueError:
        return None
    if not math.isfinite(value) or "_" in plain:
        return None
    return value / 100 if plain.endswith("%") else value
