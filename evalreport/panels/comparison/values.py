"""Where the runs differ: the classes whose F1 moved most, drawn from run to run, and the slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from evalreport.comparison.parts import COUNTED
from evalreport.comparison.values import CLASS, Comparison, Difference
from evalreport.metrics.catalogue import find
from evalreport.panels.chart import tick_text
from evalreport.panels.comparison.stated import stated
from evalreport.panels.intervals import ForestRow, place
from evalreport.panels.parts import Cell, Column, Heading, PagePart, Section, Shown, Table
from evalreport.panels.words import NOTHING, Sentence, say

ShownOfDifference: TypeAlias = tuple[Column, Callable[[Difference], Shown]]
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
    columns: tuple[ShownOfDifference | None, ...] = (
        (Column("Class", "", "up"), lambda d: d.scope.removeprefix(CLASS)),
        (Column("Pair", "", "up"), _pair) if len(comparison.pairings) > 1 else None,
        (Column("Baseline → run", "n"), lambda d: f"{stated(d).before} → {stated(d).after}"),
        (Column(f"F1 from {tick_text(low)} to 1", "plot"), partial(_dumbbell, axis=(low, 1.0))),
        (Column("Difference", "n", "down"), lambda d: Cell(stated(d).gap, sort=d.difference, sub=_said(d))),
        (Column(f"{comparison.level * 100:.10g}% interval", "n"), lambda d: stated(d).limits),
    )
    return Table.by(
        "classes-table",
        "Classes whose F1 changed most",
        columns,
        shown,
        tall=len(shown) > CONTROLS,
        filters=((title, key) for key, title in choices.items()),
        marks=marks,
        noun="classes" if len(shown) > CONTROLS else "",
        find="name of a class",
    )


def _said(d: Difference) -> str:
    return d.verdict.replace("_", " ")


def _dumbbell(d: Difference, axis: tuple[float, float]) -> Cell:
    shown, (after, before) = stated(d), (place(value, axis) for value in d.values)
    words = (shown.after, shown.limits, shown.before)
    name = d.scope.removeprefix(CLASS)
    track = ForestRow(d.metric, name, NOTHING, *words, at=after, start=before, side=_side(d))
    return Cell("", track=track)


def _slices(comparison: Comparison, shown: Sequence[Difference]) -> Table:
    choices, marks = _keys(comparison, shown)
    columns: tuple[ShownOfDifference | None, ...] = (
        (Column("Slice", "", "up"), lambda d: d.scope),
        (Column("Metric", "", "up"), lambda d: find(d.metric).title),
        (Column("Pair", "", "up"), _pair) if len(comparison.pairings) > 1 else None,
        (Column("Baseline", "n", "down"), lambda d: Cell(stated(d).before, sort=d.values[1])),
        (Column("Run", "n", "down"), lambda d: Cell(stated(d).after, sort=d.values[0])),
        (Column("Difference", "n", "down"), lambda d: Cell(stated(d).gap, sort=d.difference)),
        (Column(f"{comparison.level * 100:.10g}% interval", "n"), lambda d: stated(d).limits),
        (Column("Verdict", "", "up"), _said),
    )
    return Table.by(
        "parts-table",
        "Differences by slice",
        columns,
        shown,
        tall=True,
        filters=((title, key) for key, title in choices.items()),
        marks=marks,
        noun="differences" if len(shown) > CONTROLS else "",
        find="value of a slice",
    )
