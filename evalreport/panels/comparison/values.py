"""The runs' own values, and where they differ: by class and by slice."""

from __future__ import annotations

from evalreport.comparison.values import Comparison, Difference
from evalreport.metrics.catalogue import find
from evalreport.panels.comparison.stated import stated
from evalreport.panels.parts import Cell, Column, Row, Section, Table
from evalreport.panels.words import say

MOST = 30
"""Rows of the table of classes and slices."""
CONTROLS = 8
"""Rows above which it can be searched and filtered."""


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
