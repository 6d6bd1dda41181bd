"""The runs' own values, and where they differ: by class and by slice."""

from __future__ import annotations

from evalreport.comparison.values import Comparison, Difference
from evalreport.estimates import interval, valued
from evalreport.metrics.catalogue import find
from evalreport.panels.classes import Classes
from evalreport.panels.comparison.stated import stated
from evalreport.panels.comparison.words import title_of_metric
from evalreport.panels.parts import Cell, Column, Section, Table
from evalreport.panels.words import say
from evalreport.values import Estimate

MOST = 1000
"""Rows of the table of classes and slices."""


def panel(comparison: Comparison) -> Section:
    """Return every metric of every run, each over all its own rows."""
    names = list(dict.fromkeys(d.metric for d in comparison.differences))
    heads = (Column("Metric"), *(Column(name, "n") for name in comparison.names))
    rows = tuple(
        (
            Cell(title_of_metric(comparison, name)),
            *(_cell(name, ev.metrics.get(name)) for ev in comparison.evaluations),
        )
        for name in names
    )
    table = Table("values-table", "Values of each run", heads, rows)
    body = Classes(table, "metrics", "name", len(rows), controls=False)
    lede = say("Each over all of its own rows, with its interval.")
    return Section("values", "Values", "What each run reaches", "classes", lede, body)


def _cell(name: str, result: object) -> Cell:
    if not isinstance(result, Estimate):
        return Cell("–", "n")
    style = find(name).style
    limits = "" if result.low is None else interval(result, style)
    return Cell(valued(result, style), "n", round(result.value, 6), sub=limits)


def parts(comparison: Comparison) -> Section | None:
    """Return differences class by class and slice by slice, the largest first."""
    if not comparison.parts:
        return None
    found = sorted(comparison.parts, key=lambda d: -abs(d.difference or 0.0))
    shown = [d for d in found if d.demonstrated]
    table = Table(
        id="parts-table",
        name="Differences by class and slice",
        columns=_heads(comparison),
        rows=tuple(_row(comparison, d) for d in found[:MOST]),
        tall=True,
        filters=(("better", "better"), ("worse", "worse"), ("not demonstrated", "none")),
        marks=tuple(d.verdict if d.demonstrated else "none" for d in found[:MOST]),
    )
    lede = say(
        "{shown:count} of {parts:count} differences are demonstrated (Holm). The largest first.",
        shown=len(shown),
        parts=len(found),
    )
    if len(found) > MOST:
        lede += say("{rows:count} stand here, all in the JSON.", rows=MOST)
    total = min(len(found), MOST)
    body = Classes(table, "differences", "name of a class", total, controls=total > 8)
    return Section("parts", "Classes and slices", "Where they differ", "classes", lede, body)


def _heads(comparison: Comparison) -> tuple[Column, ...]:
    pair = (Column("Pair", "", "up"),) if len(comparison.pairings) > 1 else ()
    return (
        Column("Class or slice", "", "up"),
        Column("Metric", "", "up"),
        *pair,
        Column("Baseline", "n", "down"),
        Column("Run", "n", "down"),
        Column("Difference", "n", "down"),
        Column(f"{comparison.evaluations[0].sampling.level * 100:.10g}% interval", "n"),
        Column("Verdict", "", "up"),
    )


def _row(comparison: Comparison, d: Difference) -> tuple[Cell, ...]:
    pair = (Cell(f"{d.run} against {d.baseline}"),) if len(comparison.pairings) > 1 else ()
    shown = stated(d)
    return (
        Cell(d.scope),
        Cell(find(d.metric).title),
        *pair,
        Cell(shown.before, "n", d.values[1]),
        Cell(shown.after, "n", d.values[0]),
        Cell(shown.gap, "n", d.difference),
        Cell(shown.limits, "n"),
        Cell(d.verdict.replace("_", " ")),
    )
