"""Rules that a difference may break: ``recall drops > 0.02``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from evalreport.comparison.values import Comparison, Difference
from evalreport.errors import UsageError

State: TypeAlias = Literal["held", "broken", "undefined"]
_RULE = re.compile(r"\s*([A-Za-z_][\w@.]*)\s+(drops|rises)\s*(?:>|by more than)\s*(\d+(?:\.\d*)?|\.\d+)\s*")


@dataclass(frozen=True)
class Rule:
    """A metric may not drop, or rise, by more than an amount.

    It is broken when the difference is beyond the amount and is shown: its interval excludes 0, also
    after the correction for several runs.
    """

    text: str
    metric: str
    way: Literal["drops", "rises"]
    amount: float

    @classmethod
    def of(cls, text: str) -> Rule:
        """Read a rule.

        Raises
        ------
        UsageError
            It is not a metric, ``drops`` or ``rises``, ``>`` and a number.

        Examples
        --------
        >>> Rule.of("recall drops > 0.02").amount
        0.02
        """
        found = _RULE.fullmatch(text)
        if found is None:
            raise UsageError(
                f"{text!r} is not a rule",
                where="--fail-on",
                fix='write a metric, drops or rises, and a number: "recall drops > 0.02"',
            )
        way: Literal["drops", "rises"] = "drops" if found[2] == "drops" else "rises"
        return cls(" ".join(text.split()), found[1], way, float(found[3]))

    def state(self, d: Difference) -> State:
        """Return whether a difference breaks the rule."""
        if d.difference is None or d.low is None or d.high is None:
            return "undefined"
        moved = -d.difference if self.way == "drops" else d.difference
        return "broken" if moved > self.amount and d.verdict in ("better", "worse") else "held"


@dataclass(frozen=True)
class Outcome:
    """A rule held against one difference."""

    rule: str
    run: str
    baseline: str
    metric: str
    state: State
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it as `--json` prints it."""
        return asdict(self)


def judged_by(rules: Sequence[Rule], comparison: Comparison) -> tuple[Outcome, ...]:
    """Return one outcome per rule and run; a rule whose metric is undefined counts as not held."""
    return tuple(
        Outcome(
            rule.text, d.run, d.baseline, d.metric, rule.state(d), d.difference, d.low, d.high, _why(rule, d)
        )
        for rule in rules
        for d in comparison.of(rule.metric)
    )


def _why(rule: Rule, d: Difference) -> str:
    return d.reason or "it has no interval" if rule.state(d) == "undefined" else ""
