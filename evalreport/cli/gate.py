"""What `check` and `compare` share: the options of the gate, and how its outcomes are printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from click.types import StringParamType

from evalreport.cli import options as opt

if TYPE_CHECKING:
    from evalreport.gate.results import CheckResult
    from evalreport.workflow.request import RulesRequest


class Sentences(StringParamType):
    """Texts with spaces in them; semicolons separate several in an environment variable."""

    envvar_list_splitter = ";"


rules = opt.together(
    opt.gate(
        "--require",
        "RULE",
        "Rule, such as 'recall >= 0.9', 'f1[spam] > 80%', 'recall[site=a] > 0.7', or of the change"
        " from the baseline: 'recall drops <= 0.02', 'log_loss rises <= 0.01'; repeat.",
        multiple=True,
        type=Sentences(),
    ),
    opt.gate(
        "--use",
        ("interval", "estimate"),
        "What a rule is held against: the interval, which may leave it open, or the value alone.",
        default="interval",
    ),
    opt.gate(
        "--inconclusive",
        ("fail", "pass"),
        "What a rule counts as that the sample cannot decide.",
        default="fail",
    ),
)


def rules_of(options: dict[str, Any]) -> RulesRequest:
    """Return the rules that were asked for.

    Raises
    ------
    UsageError
        A text that is no rule.
    """
    from evalreport.bounds import Bound
    from evalreport.workflow.request import RulesRequest

    bounds = tuple(map(Bound.parse, options["require"]))
    return RulesRequest(bounds, options["use"], options["inconclusive"] == "fail")


def marks_for(*, utf8: bool) -> dict[str, str]:
    """Return how outcomes are marked: signs on a UTF-8 terminal, words elsewhere.

    Examples
    --------
    >>> marks_for(utf8=False)["failed"], marks_for(utf8=True)["failed"]
    ('FAILED      ', '✗')
    """
    if utf8:
        return {"passed": "✓", "failed": "✗", "inconclusive": "?"}
    return {"passed": "ok          ", "failed": "FAILED      ", "inconclusive": "inconclusive"}


def result_lines(results: Sequence[CheckResult]) -> list[str]:
    """Return a line per check: its mark, its name, what was found, and why it is not passed."""
    utf8 = sys.stdout.isatty() and (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    marks = marks_for(utf8=utf8)
    width = max((len(result.name) for result in results), default=0)
    return [f"{marks[result.outcome]} {_line(result, width)}" for result in results]


def _line(result: CheckResult, width: int) -> str:
    detail = f" ({result.detail})" if result.detail and result.outcome != "passed" else ""
    return f"{result.name:{width}}  {result.shown}{detail}"
