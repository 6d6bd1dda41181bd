"""Where the runs differ: the classes whose F1 moved most, drawn from run to run, and the slices."""

from __future__ import annotations

from collections.abc import Sequence

from evalreport.comparison.parts import COUNTED
from evalreport.comparison.values import CLASS, Comparison, Difference
from evalreport.metrics.catalogue import find
from evalreport.panels.chart import tick_text
from evalreport.panels.comparison.stated import stated
from evalreport.panels.intervals import ForestRow, place
from evalreport.panels.parts import Cell, Column, Heading, PagePart, Row, Section, Table
from evalreport.panels.words import NOTHING, Sentence, say

MOST = 30
"""Rows of a table; the others are in the JSON and in the CSV."""
CONTROLS = 8
"""Rows above which it can be searched and filtered."""
OF_CLASSES = COUNTED[-1].name
"""The metric that is drawn of each class: F1."""


def parts(comparison: Comparison) -> Section | None:
    """Return differences class by class, drawn from the baseline to the run, and slice by slice."""
    classes = [d for d in comparison.parts if d.scope.startswith(CLASS) and d.metric == OF_CLASSES]
    slices = [d for d in comparison.parts if not d.scope.startswith(CLASS)]
    made: list[PagePart] = []
    if classes:
        made += [Heading("F1 of the classes"), _dumbbells(comparison, _largest(comparison, classes))]
    if slices:
        made += [Heading("Slices")] if classes else []
        made.append(_slices(comparison, _largest(comparison, slices)))
    if not made:
        return None
    summary = _counted(comparison, classes, "classes") + _counted(comparison, slices, "values of slices")
    drawn = say("The largest first; the stroke is the baseline, the dot the run, hollow if not demonstrated.")
    return Section.of(
        "parts", "Where they differ", "Where they differ", summary + (drawn if classes else NOTHING), *made
    )


def _largest(comparison: Comparison, found: Sequence[Difference]) -> list[Difference]:
    """The largest differences, as many of each pair, so that a filter by pair finds some of it."""
    ranked = sorted(found, key=lambda d: -abs(d.difference or 0.0))
    most = max(MOST // len(comparison.pairings), 1)
    kept: dict[tuple[str, str], int] = {}
    chosen = []
    for d in ranked:
        pair = (d.run, d.baseline)
        kept[pair] = kept.get(pair, 0) + 1
        chosen += [d] if kept[pair] <= most else []
    return chosen[:MOST]


def _counted(comparison: Comparison, found: Sequence[Difference], what: str) -> Sentence:
    if not found:
        return NOTHING
    words = "{shown:count} of {parts:count} differences of " + what + " are demonstrated (Holm)"
    rows = len(_largest(comparison, found))
    words += ", {rows:count} stand here, all in the JSON." if rows < len(found) else "."
    return say(words, shown=sum(d.demonstrated for d in found), parts=len(found), rows=rows)


def _keys(comparison: Comparison, found: Sequence[Difference]) -> tuple[dict[str, str], list[str]]:
    """Choices of the filter by key, and the keys of each row: its verdict, and its pair of several."""
    pairs = [f"{run} against {base}" for run, base, _ in comparison.pairings]
    several = {f"p{place}": name for place, name in enumerate(pairs)} if len(pairs) > 1 else {}
    keys = {name: key for key, name in several.items()}
    rows = [f"{_side(d)} {keys.get(_pair(d), '')}".strip() for d in found]
    return {**several, "better": "better", "worse": "worse", "none": "not demonstrated"}, rows


def _pair(d: Difference) -> str:
    return f"{d.run} against {d.baseline}"


def _side(d: Difference) -> str:
    return d.verdict if d.demonstrated else "none"


def _dumbbells(comparison: Comparison, shown: Sequence[Difference]) -> Table:
    values = [value for d in shown for value in d.values if value is not None]
    low = min(values, default=0.0) // 0.1 / 10
    choices, marks = _keys(comparison, shown)
    several = len(comparison.pairings) > 1
    heads = (
        Column("Class", "", "up"),
        *((Column("Pair", "", "up"),) if several else ()),
        Column("Baseline → run", "n"),
        Column(f"F1 from {tick_text(low)} to 1", "plot"),
        Column("Difference", "n", "down"),
        Column(f"{comparison.level * 100:.10g}% interval", "n"),
    )
    return Table.of(
        "classes-table",
        "Classes whose F1 changed most",
        heads,
        (_dumbbell(d, (low, 1.0), several=several) for d in shown),
        tall=len(shown) > CONTROLS,
        filters=((title, key) for key, title in choices.items()),
        marks=marks,
        noun="classes" if len(shown) > CONTROLS else "",
        find="name of a class",
    )


def _dumbbell(d: Difference, axis: tuple[float, float], *, several: bool) -> Row:
    shown, name = stated(d), d.scope.removeprefix(CLASS)
    track = ForestRow(
        d.metric,
        name,
        NOTHING,
        shown.after,
        shown.limits,
        shown.before,
        at=place(d.values[0], axis),
        start=place(d.values[1], axis),
        side=_side(d),
    )
    verdict = d.verdict.replace("_", " ")
    return (
        name,
        *((_pair(d),) if several else ()),
        f"{shown.before} → {shown.after}",
        Cell("", track=track),
        Cell(shown.gap, sort=d.difference, sub=verdict),
        shown.limits,
    )


def _slices(comparison: Comparison, shown: Sequence[Difference]) -> Table:
    choices, marks = _keys(comparison, shown)
    return Table.of(
        "parts-table",
        "Differences by slice",
        _heads(comparison),
        (_row(comparison, d) for d in shown),
        tall=True,
        filters=((title, key) for key, title in choices.items()),
        marks=marks,
        noun="differences" if len(shown) > CONTROLS else "",
        find="value of a slice",
    )


def _heads(comparison: Comparison) -> tuple[Column, ...]:
    pair = (Column("Pair", "", "up"),) if len(comparison.pairings) > 1 else ()
    return (
        Column("Slice", "", "up"),
        Column("Metric", "", "up"),
        *pair,
        Column("Baseline", "n", "down"),
        Column("Run", "n", "down"),
        Column("Difference", "n", "down"),
        Column(f"{comparison.level * 100:.10g}% interval", "n"),
        Column("Verdict", "", "up"),
    )


def _row(comparison: Comparison, d: Difference) -> Row:
    shown = stated(d)
    return (
        d.scope,
        find(d.metric).title,
        *((_pair(d),) if len(comparison.pairings) > 1 else ()),
        Cell(shown.before, sort=d.values[1]),
        Cell(shown.after, sort=d.values[0]),
        Cell(shown.gap, sort=d.difference),
        shown.limits,
        d.verdict.replace("_", " "),
    )
