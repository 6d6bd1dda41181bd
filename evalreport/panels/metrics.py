"""Every number of the catalogue, and which of them answers which question here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from evalreport.estimates import beside, interval, valued
from evalreport.evaluation.model import Evaluation
from evalreport.findings.calibration import clip_note
from evalreport.findings.guide import Advice, guide
from evalreport.format import Style, count
from evalreport.metrics.catalogue import catalogue, find
from evalreport.metrics.record import Metric
from evalreport.panels.about import confidence_percent, is_text, tell
from evalreport.panels.parts import Cell, Column, Facts, Folded, Heading, Note, Row, Section, Table
from evalreport.panels.words import Sentence, listed, say, with_options
from evalreport.values import Result, Undefined

OFTEN = 3
"""Metrics from which on a reason is told once, above the table, with a mark at each."""
MARKS = "*†‡§"


def panel(ev: Evaluation) -> Section:
    """Return the guide and every metric of the evaluation."""
    known = {metric.name: metric for metric in catalogue(ev.space, text=is_text(ev))}
    known |= {name: find(name) for name in ev.metrics if "@" in name}
    tips = tuple((advice.question, _tip(known, advice)) for advice in guide(ev))
    guided = (Heading("Which number to look at here"), Facts(tips)) if tips else ()
    undefined = sum(isinstance(result, Undefined) for result in ev.metrics.values())
    told = ", {undefined:count} of them undefined on these {units}." if undefined else "."
    summary = tell(ev, "{metrics:count} metrics" + told, metrics=len(ev.metrics), undefined=undefined)
    shared = _shared(ev)
    notes = (Note(say("{mark} {reason}.", mark=mark, reason=reason)) for reason, mark in shared.items())
    every = Folded("All metrics", (*notes, _table(ev, known, shared)))
    return Section.of("metrics", "All metrics", "Every number", summary, *guided, every)


def _tip(known: Mapping[str, Metric], advice: Advice) -> Sentence:
    """Which metrics answer the question, and why."""
    named = [say("*{title}*", title=known[name].title if name in known else name) for name in advice.metrics]
    return say("{metrics}.", metrics=listed(named)) + with_options(advice.reason)


def _shared(ev: Evaluation) -> dict[str, str]:
    """The mark of each reason that keeps several metrics undefined, and is told once."""
    times = Counter(result.reason for result in ev.metrics.values() if isinstance(result, Undefined))
    often = (reason for reason, number in times.items() if number >= OFTEN)
    return dict(zip(often, MARKS, strict=False))


def _table(ev: Evaluation, known: Mapping[str, Metric], shared: Mapping[str, str]) -> Table:
    rows = (_row(ev, name, result, known.get(name), shared) for name, result in ev.metrics.items())
    level = f"{confidence_percent(ev)} interval"
    heads = ("Metric", "Estimate", level, "No-skill", Column("What it is", "text"))
    return Table.of("metrics-table", "Every metric", heads, rows, tall=True)


def _row(ev: Evaluation, name: str, result: Result, metric: Metric | None, shared: Mapping[str, str]) -> Row:
    reference = ev.no_skill.get(name)
    style: Style = "number" if metric is None else metric.style
    title = name if metric is None else metric.title
    meaning = "" if metric is None else metric.meaning
    reason = result.reason if isinstance(result, Undefined) else ""
    mark = f" {shared[reason]}" if reason in shared else ""
    return (
        Cell(title, sub=name),
        _value(result, metric, style) + mark,
        Cell(interval(result, style), sub=ev.off_coverage.get(name, "")),
        "–" if reference is None else beside(reference, result, style),
        Cell(meaning, sub=clip_note(ev, name) if not reason else "" if mark else reason),
    )


def _value(result: Result, metric: Metric | None, style: Style) -> str:
    if isinstance(result, Undefined):
        return "undefined"
    if metric is not None and metric.interval == "none" and float(result.value).is_integer():
        return count(result.value)
    return valued(result, style)
