"""Where numbers come from: the run, the file, the columns, the commit.

What a computed number is: an `Estimate` with its interval, or `Undefined` with its reason.

Undefined is not zero: a value that cannot be computed is null with a reason, all the way from the
formula to `evaluation.json`, MLflow and the page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar, Final, Literal, TypeAlias

from evalreport.core.format import count, decimals, format_decimals, show
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
            said = f"{one.reason} ({one.weight:+.1f})" if one.weight else one.reason
            found.setdefault((one.role, one.column), []).append(said)
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
