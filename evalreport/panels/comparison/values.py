"""The runs' own values, and where they differ: by class and by slice."""

from __future__ import annotations

from collections.abc import Iterable

from evalreport.comparison.values import Comparison, Difference
from evalreport.estimates import interval, valued
from evalreport.metrics.catalogue import find
from evalreport.panels.comparison.stated import stated
from evalreport.panels.comparison.words import title_of_metric
from evalreport.panels.parts import Cell, Column, Row, Section, Table
from evalreport.panels.words import say
from evalreport.values import Estimate

MOST = 1000
"""Rows of the table of classes and slices."""
CONTROLS = 8
"""Rows above which it can be searched and filtered."""


def panel(comparison: Comparison) -> Section:
    """Return every metric of every run, each over all its own rows."""
    names = list(dict.fromkeys(d.metric for d in comparison.differences))
    rows: Iterable[Row] = (
        (
            title_of_metric(comparison, name),
            *(_cell(name, ev.metrics.get(name)) for ev in comparison.evaluations),
        )
        for name in names
    )
    table = Table.of("values-table", "Values of each run", ("Metric", *comparison.names), rows)
    lede = say("Each over all of its own rows, with its interval.")
    return Section.of("values", "Values", "What each run reaches", lede, table)


def _cell(name: str, result: object) -> Cell:
    if not isinstance(result, Estimate):
        return Cell("–")
    style = find(name).style
    limits = "" if result.low is None else interval(result, style)
    return Cell(valued(result, style), sort=round(result.value, 6), sub=limits)


def parts(comparison: Comparison) -> Section | None:
    """Return differences class by class and slice by slice, the largest first."""
    if not comparison.parts:
        return None
    found = sorted(comparison.parts, key=lambda d: -abs(d.difference or 0.0))
    shown = [d for d in found if d.demonstrated]
    table = Table.of(
        "parts-table",
        "Differences by class and slice",
        _heads(comparison),
        (_row(comparison, d) for d in found[:MOST]),
        tall=True,
        filters=(("better", "better"), ("worse", "worse"), ("not demonstrated", "none")),
        marks=(d.verdict if d.demonstrated else "none" for d in found[:MOST]),
        noun="differences" if len(found) > CONTROLS else "",
        find="name of a class",
    )
    lede = say(
        "{shown:count} of {parts:count} differences are demonstrated (Holm). The largest first.",
        shown=len(shown),
        parts=len(found),
    )
    if len(found) > MOST:
        lede += say("{rows:count} stand here, all in the JSON.", rows=MOST)
    return Section.of("parts", "Classes and slices", "Where they differ", lede, table)


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


def _row(comparison: Comparison, d: Difference) -> Row:
    pair = (f"{d.run} against {d.baseline}",) if len(comparison.pairings) > 1 else ()
    shown = stated(d)
    return (
        d.scope,
        find(d.metric).title,
        *pair,
        Cell(shown.before, sort=d.values[1]),
        Cell(shown.after, sort=d.values[0]),
        Cell(shown.gap, sort=d.difference),
        shown.limits,
        d.verdict.replace("_", " "),
    )
