"""What the checks came to, for machines and for people: JUnit XML, Markdown and lines of a terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from evalreport.comparison.comparison import ChangedPrediction, Comparison
from evalreport.core.errors import EvalreportError
from evalreport.core.format import pluralize
from evalreport.core.json_codec import encode
from evalreport.core.text import break_links, printable
from evalreport.features.gate.rules import CheckResult, count_outcomes

MARK = {"passed": "✓", "failed": "✗", "inconclusive": "?"}
_NOT_XML = re.compile("[\ufffe\uffff]")
_MARKDOWN = re.compile(r"[\\`*\[\]#|~@]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<!\w)_|_(?!\w)")


@dataclass(frozen=True)
class CheckedRun:
    """The checks of one run or file, or the error that kept it from being checked.

    Parameters
    ----------
    name : str
    results : tuple of CheckResult
    about : str
        Task and size, in words.
    findings : tuple of str
        What else is worth knowing of the run, in sentences.
    error : EvalreportError or None
    against : Comparison or None
        With the baseline; the summary lists rows that changed.
    baseline_age : int or None
        Days since the run of the baseline began.
    """

    name: str
    results: tuple[CheckResult, ...] = ()
    about: str = ""
    findings: tuple[str, ...] = ()
    error: EvalreportError | None = None
    against: Comparison | None = None
    baseline_age: int | None = None


def junit(runs: Sequence[CheckedRun], *, inconclusive_fails: bool = True) -> str:
    """Return the checks as JUnit XML: one suite per run, one case per check.

    An inconclusive check is a failure, or skipped where it does not close the gate; a run that could not
    be read is an error.

    Examples
    --------
    >>> print(junit([CheckedRun("a<b", (CheckResult("recall >= 0.9", "passed", "0.95"),))]))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="evalreport check" tests="1" failures="0" errors="0" skipped="0">
      <testsuite name="a&lt;b" tests="1" failures="0" errors="0" skipped="0">
        <testcase classname="a&lt;b" name="recall &gt;= 0.9"><system-out>0.95</system-out></testcase>
      </testsuite>
    </testsuites>
    <BLANKLINE>
    """
    suites = [_suite(run, inconclusive_fails) for run in runs]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="evalreport check" {_totals([tag for tags, _ in suites for tag in tags])}>',
        *(line for _, lines in suites for line in lines),
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _suite(run: CheckedRun, inconclusive_fails: bool) -> tuple[list[str], list[str]]:
    name = _attribute(run.name)
    cases = [_case(result, inconclusive_fails) for result in run.results]
    if run.error is not None:
        cases.append(("can be evaluated", "error", run.error.as_lines()))
    lines = [f"  <testsuite name={name} {_totals([tag for _, tag, _ in cases])}>"]
    for title, tag, text in cases:
        lines.append(f"    <testcase classname={name} name={_attribute(title)}>{_body(tag, text)}</testcase>")
    return [tag for _, tag, _ in cases], [*lines, "  </testsuite>"]


def _case(result: CheckResult, inconclusive_fails: bool) -> tuple[str, str, str]:
    text = _sentence(result)
    if result.outcome == "passed":
        return result.name, "system-out", text
    if result.outcome == "inconclusive" and not inconclusive_fails:
        return result.name, "skipped", f"inconclusive: {text}"
    return result.name, "failure", text if result.outcome == "failed" else f"inconclusive: {text}"


def _body(tag: str, text: str) -> str:
    if tag == "system-out":
        return f"<system-out>{escape(_xml(text))}</system-out>"
    return f"<{tag} message={_attribute(text.splitlines()[0])}>{escape(_xml(text))}</{tag}>"


def _totals(tags: Sequence[str]) -> str:
    counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    totals = [f'{name}="{sum(tag == kind for tag in tags)}"' for name, kind in counts.items()]
    return " ".join([f'tests="{len(tags)}"', *totals])


def _xml(text: str) -> str:
    """Return text without the characters that XML 1.0 cannot hold."""
    return _NOT_XML.sub("�", "\n".join(map(printable, text.split("\n"))))


def _attribute(text: str) -> str:
    return quoteattr(_xml(text))


def _sentence(result: CheckResult) -> str:
    return f"{result.shown}; {result.detail}" if result.detail else result.shown


def markdown(runs: Sequence[CheckedRun]) -> str:
    """Return the checks as a summary for a pull request.

    Examples
    --------
    >>> check = CheckResult("recall >= 0.9", "failed", "0.717")
    >>> print(markdown([CheckedRun("calm-heron", (check,), "285 cases")]))
    ### evalreport check: 1 of 1 failed
    <BLANKLINE>
    **calm-heron** · 285 cases
    <BLANKLINE>
    | | check | found |
    |---|---|---|
    | ✗ failed | recall >= 0.9 | 0.717 |
    <BLANKLINE>
    """
    results = tuple(result for run in runs for result in run.results)
    failed = sum(run.error is not None for run in runs)
    tail = f", {failed} could not be evaluated" if failed else ""
    parts = [f"### evalreport check: {count_outcomes(results)}{tail}"]
    for run in runs:
        parts += _section(run)
    return "\n\n".join(parts) + "\n"


def _section(run: CheckedRun) -> list[str]:
    about = f" · {_cell(run.about)}" if run.about else ""
    parts = [f"**{_cell(run.name)}**{about}"]
    if run.error is not None:
        parts.append("✗ " + "<br>".join(_cell(line.strip()) for line in run.error.as_lines().split("\n")))
    if run.results:
        order = ("failed", "inconclusive", "passed")
        ranked = sorted(run.results, key=lambda result: order.index(result.outcome))
        parts.append("\n".join(["| | check | found |", "|---|---|---|", *map(_row, ranked)]))
    if run.findings:
        parts.append("\n".join(f"- {_cell(claim)}" for claim in run.findings))
    return [*parts, *_changes(run)]


MOST_CHANGED = 5
"""Rows of each kind that a summary lists."""


def _changes(run: CheckedRun) -> list[str]:
    """Return the age of the baseline, and rows that only one of the two predicts correctly."""
    if run.against is None:
        return []
    name = _cell(run.against.names[0])
    age = "" if run.baseline_age is None else f", {pluralize(run.baseline_age, 'day')} old"
    parts = [f"Baseline: {name}{age}"]
    for moved in run.against.movement[:1]:
        fixed = [one for one in moved.examples if one.run == one.truth][:MOST_CHANGED]
        broken = [one for one in moved.examples if one.run != one.truth][:MOST_CHANGED]
        parts[0] += f". Fixed rows: {moved.fixed:,}; broken rows: {moved.broken:,}."
        if fixed or broken:
            rows = [(kind, one) for kind, some in (("fixed", fixed), ("broken", broken)) for one in some]
            head = ["| | row | true label | before | now |", "|---|---|---|---|---|"]
            parts.append("\n".join([*head, *(_changed_row(kind, one) for kind, one in rows)]))
    return parts


def _changed_row(kind: str, one: ChangedPrediction) -> str:
    labels = (", ".join(names) or "none" for names in (one.truth, one.baseline, one.run))
    return f"| {kind} | {_cell(one.id)} | {' | '.join(map(_cell, labels))} |"


def _row(result: CheckResult) -> str:
    found = _cell(result.shown) + (f"<br>{_cell(result.detail)}" if result.detail else "")
    return f"| {MARK[result.outcome]} {result.outcome} | {_cell(result.name)} | {found} |"


def _cell(text: str) -> str:
    """Return text for one cell, without markup, mentions and links."""
    return _MARKDOWN.sub(lambda match: f"&#{ord(match[0])};", break_links(printable(text)))


def github_annotations(name: str, results: Sequence[CheckResult], *, strict: bool) -> list[str]:
    """Return workflow commands of GitHub: an error per failed check, a warning if it does not fail the gate.

    Examples
    --------
    >>> github_annotations("new", (CheckResult("recall >= 0.9", "failed", "0.717"),), strict=True)
    ['::error title=evalreport check::new: recall >= 0.9: 0.717']
    """
    lines = []
    for one in results:
        if one.outcome != "passed":
            level = "error" if strict or one.outcome == "failed" else "warning"
            text = printable(f"{name}: {one.name}: {one.shown}").replace("%", "%25")
            lines.append(f"::{level} title=evalreport check::{text}")
    return lines


def as_dicts(run: CheckedRun) -> list[dict[str, Any]]:
    """Return the results as the elements of `checks` in the JSON output.

    Examples
    --------
    >>> as_dicts(CheckedRun("a", (CheckResult("ids", "passed", "2"),)))[0]["run"]
    'a'
    """
    return [{"run": run.name, **encode(result)} for result in run.results]


def marks_for(*, utf8: bool) -> dict[str, str]:
    """Return the marks of outcomes: symbols on a UTF-8 terminal, else words.

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
