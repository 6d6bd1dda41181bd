"""What is asked for, and what came out, as values."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from evalreport.errors import UsageError

Outcome: TypeAlias = Literal["passed", "failed", "inconclusive"]
Operator: TypeAlias = Literal[">=", "<=", ">", "<"]
Kind: TypeAlias = Literal["rule", "drop", "data"]
_RULE = re.compile(r"([A-Za-z]\w*)\s*(?:\[(.+)\])?\s*(>=|<=|>|<)\s*(\S+)")
_DROP = re.compile(r"([A-Za-z]\w*)\s*(?:by\s+|>\s*)?(\S+)")
RELATIVE = 1e-12
"""Numbers that differ by less are equal: sums of weights carry rounding."""


@dataclass(frozen=True)
class Rule:
    """A bound that a metric has to keep.

    Parameters
    ----------
    metric : str
    operator : {">=", "<=", ">", "<"}
    bound : float
        Finite, on the scale of the metric.
    label : str
        The class that the metric is of, or the slice as ``column=value``; empty for the whole.

    Examples
    --------
    >>> Rule.parse("recall>=0.9")
    Rule(metric='recall', operator='>=', bound=0.9, label='')
    >>> Rule.parse("recall[product_type=H] >= 0.5").label
    'product_type=H'
    >>> Rule.parse("f1[card arrival] >= 50%").text
    'f1[card arrival] >= 0.5'
    """

    metric: str
    operator: Operator
    bound: float
    label: str = ""

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Return the rule that a text says.

        Raises
        ------
        UsageError
            Not a metric, an operator and a number.
        """
        match = _RULE.fullmatch(text.strip())
        bound = None if match is None else number(match[4])
        if match is None or bound is None:
            raise UsageError(
                f"{text!r} is not a rule",
                where="--require",
                fix='write METRIC >= NUMBER, as in "recall >= 0.9"',
            )
        return cls(match[1], match[3], bound, match[2] or "")  # type: ignore[arg-type]

    @property
    def text(self) -> str:
        """The rule as it is shown."""
        return f"{self.metric}{f'[{self.label}]' if self.label else ''} {self.operator} {self.bound:.12g}"

    @property
    def demands(self) -> Literal["high", "low"]:
        """Whether the rule asks for a high or for a low value."""
        return "high" if self.operator in (">=", ">") else "low"

    def holds(self, value: float) -> bool:
        """Return whether a value keeps the bound.

        Examples
        --------
        >>> Rule.parse("recall >= 0.3").holds(0.1 + 0.2), Rule.parse("recall > 0.3").holds(0.1 + 0.2)
        (True, False)
        """
        if math.isclose(value, self.bound, rel_tol=RELATIVE, abs_tol=RELATIVE):
            return self.operator in (">=", "<=")
        return value > self.bound if self.demands == "high" else value < self.bound


@dataclass(frozen=True)
class AllowedDrop:
    """How much worse than its baseline a run may be by a metric.

    Parameters
    ----------
    metric : str
    amount : float
        At least 0, on the scale of the metric; a rise where lower is better.

    Examples
    --------
    >>> AllowedDrop.parse("f1_macro 0.01")
    AllowedDrop(metric='f1_macro', amount=0.01)
    """

    metric: str
    amount: float

    @classmethod
    def parse(cls, text: str) -> AllowedDrop:
        """Return the allowed drop that a text says.

        Raises
        ------
        UsageError
            Not a metric and a number of at least 0.
        """
        match = _DROP.fullmatch(text.strip())
        amount = None if match is None else number(match[2])
        if match is None or amount is None or amount < 0:
            raise UsageError(
                f"{text!r} is not an allowed drop",
                where="--allow-drop",
                fix='write a metric and a number of at least 0, as in "f1_macro 0.01"',
            )
        return cls(match[1], amount)


def number(text: str) -> float | None:
    """Return a finite number, also one written in percent; None for anything else.

    Examples
    --------
    >>> number("0.9"), number("90%"), number("nan"), number("high")
    (0.9, 0.9, None, None)
    """
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return value / 100 if text.endswith("%") else value


@dataclass(frozen=True)
class CheckResult:
    """What one check came to.

    Parameters
    ----------
    name : str
        The rule as it was asked for, or the name of the data check.
    outcome : {"passed", "failed", "inconclusive"}
    shown : str
        What was found, in a few words.
    detail : str
        Why, and what to do about it.
    kind : {"rule", "drop", "data"}
    value, low, high, bound : float or None
        The number that was held against the bound, and its interval. Of a drop: the difference, run minus
        baseline, and the drop that is allowed. Of a data check: the number of rows that break it.
    smallest : float or None
        Of a drop: the smallest difference that this sample could have shown.
    """

    name: str
    outcome: Outcome
    shown: str
    detail: str = ""
    kind: Kind = "rule"
    value: float | None = None
    low: float | None = None
    high: float | None = None
    bound: float | None = None
    smallest: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the result as `check --json` prints it."""
        return asdict(self)


def verdict(results: tuple[CheckResult, ...], *, inconclusive_fails: bool = True) -> bool:
    """Return whether the gate is open.

    Examples
    --------
    >>> open_question = CheckResult("drop", "inconclusive", "")
    >>> verdict((open_question,)), verdict((open_question,), inconclusive_fails=False)
    (False, True)
    """
    broken = ("failed", "inconclusive") if inconclusive_fails else ("failed",)
    return not any(result.outcome in broken for result in results)


def tally(results: tuple[CheckResult, ...]) -> str:
    """Return how the checks came out, in one line.

    Examples
    --------
    >>> tally((CheckResult("a", "failed", ""), CheckResult("b", "passed", "")))
    '1 of 2 failed'
    >>> tally((CheckResult("a", "passed", ""), CheckResult("b", "inconclusive", "")))
    '1 of 2 inconclusive'
    """
    total = len(results)
    counts = {name: sum(r.outcome == name for r in results) for name in ("failed", "inconclusive")}
    found = [f"{count} of {total} {name}" for name, count in counts.items() if count]
    return ", ".join(found) or ("nothing was checked" if not total else f"{total} of {total} passed")
