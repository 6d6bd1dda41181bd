"""How an evaluation is printed in a terminal and in JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from evalreport.cli.console import Console, align_columns, emphasised, indent_lines
from evalreport.core.format import Style, format_decimals, format_fixed, pluralize

if TYPE_CHECKING:
    from evalreport.core.result import Provenance
    from evalreport.evaluation.evaluation import Evaluation
    from evalreport.workflow.deliver import Delivered


def as_run(ev: Evaluation) -> dict[str, Any]:
    """Return an evaluation as an element of `runs` in the JSON output."""
    from evalreport.core.json_codec import encode

    return {**success_record(ev.provenance), **encode(ev)}


def success_record(origin: Provenance) -> dict[str, Any]:
    """Return the first fields of every element of `runs`: the run or file, and that it succeeded."""
    return {"run_id": origin.run_id or None, "run_name": origin.run_name, "source": origin.source, "ok": True}


BACKWARDS = ("inverted", "own_scores")
"""Findings about scores of another label: all other numbers would be wrong."""


def column_line(taken: Sequence[tuple[str, str]]) -> str:
    """Return how the columns were read.

    Examples
    --------
    >>> column_line([("truth", "y"), ("score", "p"), ("task", "binary")])
    'Using: truth=y, score=p, task=binary'
    """
    return "Using: " + ", ".join(f"{part}={value}" for part, value in taken)


def print_evaluation(
    console: Console, ev: Evaluation, taken: Sequence[tuple[str, str]], line: Callable[[str], None]
) -> None:
    """Print the verdict, the headline metrics and the number of findings by `line`, warnings on stderr.

    With -v the findings themselves are printed on stderr, and the metrics that the table leaves out.
    """
    from evalreport.page.payload import present

    console.say(column_line(taken))
    if console.verbosity > 0 and ev.provenance.column_decision is not None:
        console.say(*ev.provenance.column_decision.lines)
    warn_of(console, ev)
    line(emphasised(present(ev).headline))
    line(title(ev))
    for row in indent_lines(metrics_table(ev)):
        line(row)
    for text in (*gaps(ev), *several_answers(ev), *ev.lines):
        line("  " + text)
    shown = [finding for finding in ev.findings if finding.rule not in BACKWARDS]
    notes = [finding.claim for finding in shown if finding.severity == "note"]
    cautions = [finding.claim for finding in shown if finding.severity != "note"]
    if console.verbosity > 0:
        for claim in cautions:
            console.warn(claim)
        console.say(*(f"note: {claim}" for claim in notes))
    elif shown:
        line(f"{_counted_findings(len(cautions), len(notes))} (-v shows them)")


def _counted_findings(cautions: int, notes: int) -> str:
    known = ((cautions, "caution"), (notes, "note"))
    return ", ".join(pluralize(n, word) for n, word in known if n)


def metrics_table(ev: Evaluation) -> list[str]:
    """Return the headline metrics as lines: name, value, bar and interval, with one number of decimals."""
    from evalreport.core.result import Estimate, Undefined, column_places
    from evalreport.metrics.catalogue import find
    from evalreport.page.text_summary import FEW, headline_names

    names = ev.metrics if len(ev.metrics) <= FEW else headline_names(ev)
    results = {name: ev.metrics[name] for name in names}
    known = {name: result for name, result in results.items() if isinstance(result, Estimate)}
    places = column_places(known.values())
    rows = []
    for name, result in results.items():
        if isinstance(result, Undefined):
            rows.append((name, "–", "", f"undefined: {result.reason}"))
            continue
        within = find(name, ev.task).style != "number"
        style: Style = "ratio" if within else "number"
        exact = result.value in (0, 1)
        own = places if exact else _places_below_one(result.value, places)
        value = _decimal(result.value, own, style)
        ends = ["" if end is None else _decimal(end, places, style) for end in (result.low, result.high)]
        limits = " to ".join(ends) if all(ends) else ""
        rows.append((name, value, bar(result.value) if within else "", limits))
    level = f"{ev.sampling.level * 100:.10g}% interval" if ev.sampling.intervals else ""
    return align_columns([("metric", "value", "", level), *rows], left=(0, 2, 3)) if rows else []


def _decimal(value: float, places: int, style: Style) -> str:
    """Return a number with the decimals of its column."""
    return format_fixed(value, places) if value in (0, 1) else format_decimals(value, places, style)


MOST_PLACES = 6


def _places_below_one(value: float, places: int) -> int:
    """Return the decimals of a column, or more where a number would be rounded to 0 or 1."""
    while places < MOST_PLACES and round(value, places) in (0, 1):
        places += 1
    return places


CELLS = 10
"""Characters of a bar."""
_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(value: float) -> str:
    """Return a value from 0 to 1 as a bar of at most ten characters.

    Examples
    --------
    >>> bar(0.5), bar(0.99), bar(1.0), bar(0.0)
    ('█████', '█████████▉', '██████████', '')
    """
    eighths = int(max(0.0, min(value, 1.0)) * CELLS * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def warn_of(console: Console, ev: Evaluation) -> None:
    """Warn about assumptions, ignored columns, and scores that seem to be of another label."""
    from evalreport.findings.score_quality import own_scores
    from evalreport.findings.skill import inverted

    for remark in ev.remarks:
        console.warn(remark)
    wrong = None if ev.task == "graded" else own_scores(ev) or inverted(ev)
    if wrong is not None:
        console.warn(f"{wrong.claim} {wrong.action}")


def title(ev: Evaluation) -> str:
    """Return the name, task and size: ``calm-heron-412  binary, 285 cases, threshold 0.500 (default)``."""
    from evalreport.page import text_summary as brief

    return brief.title(ev)


def metric_line(ev: Evaluation, name: str) -> str:
    """Return a metric with its interval, or the reason why it is undefined."""
    from evalreport.core.result import Undefined, format_estimate, interval
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
    """Return the metrics of several responses per row, a line each."""
    from evalreport.core.result import Estimate, format_estimate, interval

    if ev.repeated_responses is None:
        return []
    return [
        f"{name:26} {format_estimate(result, 'percent'):8} {interval(result, 'percent')}"
        for name, _, result in ev.repeated_responses.results()
        if isinstance(result, Estimate)
    ]


def gaps(ev: Evaluation) -> list[str]:
    """Return the largest difference between the groups of each column, a line each."""
    from evalreport.core.result import Estimate, distance
    from evalreport.metrics.catalogue import OF_SLICES, find

    known = {one.column: one for one in reversed(ev.disparities) if one.metric in OF_SLICES[ev.task]}
    lines = []
    for column, one in reversed(known.items()):
        if isinstance(one.difference, Estimate):
            apart, limits = distance(one.difference, find(one.metric, ev.task).style)
            ends = f"lowest {one.lowest}, highest {one.highest}"
            lines.append(f"{one.metric} differs by {apart} ({limits}) over {column}: {ends}")
    return lines


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
    import os
    import webbrowser
    from pathlib import Path

    page = Path(os.path.realpath(next(name for name in files if name.endswith(".html"))))
    if not webbrowser.open(page.as_uri()):
        console.warn(f"no browser was found; open {page}")
