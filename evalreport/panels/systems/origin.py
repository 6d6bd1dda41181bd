"""Every metric of every system, and which runs each is made of."""

from __future__ import annotations

from evalreport.comparison.system_values import SystemResult, SystemsComparison
from evalreport.estimates import interval, valued
from evalreport.format import count
from evalreport.metrics.catalogue import find
from evalreport.panels.parts import Cell, Facts, Row, Section, Table
from evalreport.panels.systems.verdict import result_of
from evalreport.panels.words import say
from evalreport.values import Estimate


def values(found: SystemsComparison) -> Section:
    """Return every metric of every system: the mean over its runs, with its interval."""
    heads = ("Metric", *(one.system for one in found.systems))
    names = [
        name
        for name in found.systems[0].metrics
        if any(v.metrics[name].value is not None for v in found.systems)
    ]
    table = Table.of(
        "values-table", "Metrics of every system", heads, (_row(found, n) for n in names), tall=True
    )
    summary = say(
        "Means over the runs, with intervals that cover new {units} and new seeds.", units=found.unit[1]
    )
    return Section.of("values", "Metrics", "Every metric", summary, table)


def _row(found: SystemsComparison, name: str) -> Row:
    metric = find(name, found.task)
    return metric.title, *(_cell(found, one, name) for one in found.systems)


def _cell(found: SystemsComparison, one: SystemResult, name: str) -> Cell:
    result, style = result_of(one, found, name), find(name, found.task).style
    if not isinstance(result, Estimate):
        return Cell("–", sub=result.reason)
    return Cell(valued(result, style), sub=interval(result, style))


def provenance(found: SystemsComparison) -> Section:
    """Return the runs of each system, and on which rows they were compared."""
    facts = [(one.system, say("{runs}", runs=", ".join(one.runs))) for one in found.systems]
    facts.append((f"Shared {found.unit[1]}", say("{rows}", rows=count(found.rows))))
    summary = say(
        "Two-way random effects, {units} by runs, on what each of the {units} contributes to a metric "
        "(Obuchowski & Rockette 1995; Gallas 2006; Owen 2007); Student's t with Satterthwaite's degrees of "
        "freedom.",
        units=found.unit[1],
    )
    return Section.of("provenance", "Provenance", "Where the numbers come from", summary, Facts(tuple(facts)))
