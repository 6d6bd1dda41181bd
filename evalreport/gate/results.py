"""What a check came to, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.comparison.values import Detectable

CheckOutcome: TypeAlias = Literal["passed", "failed", "inconclusive"]
CheckKind: TypeAlias = Literal["rule", "change", "data"]


@dataclass(frozen=True)
class CheckResult:
    """What one check came to.

    Parameters
    ----------
    name : str
        The rule as it was asked for, or the name of the data check.
    outcome : {"passed", "failed", "inconclusive"}
        ``passed``: the interval excludes what breaks the rule; ``failed``: it excludes what keeps it, or the
        value is undefined; ``inconclusive``: it holds both.
    shown : str
        What was found, in a few words.
    detail : str
        Why, and what to do about it.
    kind : {"rule", "change", "data"}
        A bound of a value, a bound of the change from the baseline, a check of the rows.
    value, low, high, bound : float or None
        The number that was held against the bound, and its interval. Of a change: the difference, run minus
        baseline, and the change that is allowed. Of a data check: the number of rows that break it.
    detectable : Detectable or None
        Of an inconclusive rule: how far from its bound the truth would have to lie for a sample like this to
        decide with 80% probability.
    rows_needed : int or None
        Of an inconclusive rule: rows that decide it with 80% probability where the truth is what was found.
    """

    name: str
    outcome: CheckOutcome
    shown: str
    detail: str = ""
    kind: CheckKind = "rule"
    value: float | None = None
    low: float | None = None
    high: float | None = None
    bound: float | None = None
    detectable: Detectable | None = None
    rows_needed: int | None = None


def is_open(results: tuple[CheckResult, ...], *, inconclusive_fails: bool = True) -> bool:
    """Return whether the gate is open.

    Examples
    --------
    >>> open_question = CheckResult("recall >= 0.9", "inconclusive", "")
    >>> is_open((open_question,)), is_open((open_question,), inconclusive_fails=False)
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
