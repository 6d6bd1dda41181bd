"""How an evaluation is printed in a terminal and in JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from evalreport.cli.console import Console
from evalreport.core.format import count

if TYPE_CHECKING:
    from evalreport.core.result import Provenance
    from evalreport.evaluation.evaluation import Evaluation
    from evalreport.workflow.deliver import Delivered


def as_run(ev: Evaluation) -> dict[str, Any]:
    """Return an evaluation as an element of `runs` in the JSON output."""
    from evalreport.core.json_codec import encode

    return {**success_record(ev.provenance), **encode(ev)}


def success_record(origin: Provenance) -> dict[str, Any]:
    """Return what every element of `runs` begins with: what was worked on, and that it went well."""
    return {"run_id": origin.run_id or None, "run_name": origin.run_name, "source": origin.source, "ok": True}


BACKWARDS = ("inverted", "own_scores")
"""Findings about scores of another label: all other numbers would be wrong."""


def print_evaluation(
    console: Console, ev: Evaluation, taken: Sequence[tuple[str, str]], line: Callable[[str], None]
) -> None:
    """Print the columns in use and the warnings on stderr, then the headline metrics by `line`."""
    from evalreport.page.summary import FEW, headline_names

    console.say("took " + ", ".join(f"{part} {value}" for part, value in taken))
    warn_of(console, ev)
    for finding in ev.findings:
        if finding.severity != "note" and finding.rule not in BACKWARDS:
            console.warn(finding.claim)
    line(title(ev))
    for name in ev.metrics if len(ev.metrics) <= FEW else headline_names(ev):
        line("  " + metric_line(ev, name))
    for told in (*gaps(ev), *several_answers(ev), *ev.lines):
        line("  " + told)
    wrong = mistakes(ev)
    if wrong:
        line("  " + wrong)


def warn_of(console: Console, ev: Evaluation) -> None:
    """Warn about assumptions, ignored columns, and scores that seem to be of another label."""
    from evalreport.findings.scores import own_scores
    from evalreport.findings.skill import inverted

    for remark in ev.remarks:
        console.warn(remark)
    wrong = own_scores(ev) or inverted(ev)
    if wrong is not None:
        console.warn(f"{wrong.claim} {wrong.action}")


def title(ev: Evaluation) -> str:
    """Return the line that names the run, its task and its size.

    One of ``calm-heron-412  binary, 285 cases, threshold 0.500 (default)``.
    """
    from evalreport.page import summary as brief

    return brief.title(ev)


def metric_line(ev: Evaluation, name: str) -> str:
    """Return a metric with its interval, or why it is undefined."""
    from evalreport.core.estimate_format import format_estimate, interval
    from evalreport.core.result import Undefined
    from evalreport.metrics.catalogue import find

    result = ev.metrics[name]
    if isinstance(result, Undefined):
        return f"{name:26} undefined: {result.reason}"
    style = find(name, ev.task).style
    shown = f"{name:26} {format_estimate(result, style):8}"
    if result.low is None or result.high is None:
        return shown.rstrip()
    return f"{shown} {interval(result, style)}"


def several_answers(ev: Evaluation) -> list[str]:
    """Return what several answers to each row say, a line each."""
    from evalreport.core.estimate_format import format_estimate, interval
    from evalreport.core.result import Estimate

    if ev.repeated_responses is None:
        return []
    return [
        f"{name:26} {format_estimate(result, 'percent'):8} {interval(result, 'percent')}"
        for name, _, result in ev.repeated_responses.results()
        if isinstance(result, Estimate)
    ]


def gaps(ev: Evaluation) -> list[str]:
    """Return the greatest difference between groups of each column, by the metric for groups."""
    from evalreport.core.estimate_format import distance
    from evalreport.core.result import Estimate
    from evalreport.metrics.catalogue import OF_SLICES, find

    known = {one.column: one for one in reversed(ev.disparities) if one.metric in OF_SLICES[ev.task]}
    told = []
    for column, one in reversed(known.items()):
        if isinstance(one.difference, Estimate):
            apart, limits = distance(one.difference, find(one.metric, ev.task).style)
            ends = f"least {one.lowest}, greatest {one.highest}"
            told.append(f"{one.metric} differs by {apart} ({limits}) over {column}: {ends}")
    return told


def mistakes(ev: Evaluation) -> str:
    """Return the mistakes as counts, such as ``misses 30 of 106 malignant cases; 19 false alarms``."""
    from evalreport.data.labels import Binary, Multilabel
    from evalreport.page import evaluation_terms as about

    ev = ev.in_rows()
    four, wrong = about.four_counts(ev), about.mistakes(ev)
    if isinstance(ev.space, Binary) and four is not None:
        all_of_them = f"{count(four.positives)} {about.positive(ev, four.positives)}"
        missed = f"misses {count(four.positives - four.tp)} of {all_of_them}"
        return f"{missed}; {count(four.fp)} false alarm{'' if four.fp == 1 else 's'}"
    if wrong is None:
        return ""
    if isinstance(ev.space, Multilabel):
        left_out = sum(entry.support - entry.right for entry in ev.classes)
        added = sum(entry.predicted - entry.right for entry in ev.classes)
        carried = count(sum(entry.support for entry in ev.classes))
        return f"leaves out {count(left_out)} of {carried} labels; {count(added)} labels are added wrongly"
    return f"wrong for {count(wrong)} of {count(ev.weight)} {about.units(ev, ev.weight)}"


def print_delivered(console: Console, done: Delivered[Any], options: dict[str, Any]) -> None:
    """Print what was written and logged; the page itself for stdout."""
    for warning in done.warnings:
        console.warn(warning)
    if options["output"] == "-":
        console.document(done.document.html)
    console.print_result(*done.lines)
    console.summarise(done.delivered_result)


def open_page(console: Console, files: Sequence[str]) -> None:
    """Open the first page among files in the browser."""
    import webbrowser
    from pathlib import Path

    page = Path(next(name for name in files if name.endswith(".html"))).resolve()
    if not webbrowser.open(page.as_uri()):
        console.warn(f"no browser was found; open {page}")
