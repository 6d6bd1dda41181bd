"""Thresholds of labels and weights of classes: what they reach, each of them, and how Optuna searched."""

from __future__ import annotations

import math
from collections.abc import Iterable

from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.format import count, number
from evalreport.format import threshold as threshold_text
from evalreport.panels.about import objective_title, tell, units
from evalreport.panels.parts import Beside, Cell, Column, Note, Row, Section, Table
from evalreport.panels.study.course import READ, history_chart
from evalreport.panels.tuned import tuned_table
from evalreport.panels.words import NOTHING, say
from evalreport.study.views.course import history_view

CONTROLS = 12
"""Labels from which on the table has controls to search and sort it."""


def reached(found: ThresholdSelection) -> Section | None:
    """Return what the numbers of each objective reach together."""
    if not found.tuned:
        return None
    note = tell(found.evaluation, "“Elsewhere” is judged on {units} that took no part in the choice.")
    table = tuned_table("tuned-table", list(found.tuned.values()))
    return Section.of("tuned", "What is reached", "What the chosen numbers reach", NOTHING, table, Note(note))


def panel(found: ThresholdSelection) -> Section | None:
    """Return the number of each label, for each objective; labels with most examples first."""
    if not found.tuned:
        return None
    ev = found.evaluation
    weights = ev.task == "multiclass"
    noun = "classes" if weights else "labels"
    heads = (
        Column("Class" if weights else "Label", "", "up"),
        Column(units(ev).capitalize(), "n", "down", "descending"),
        *(Column(objective_title(name), "n", "up") for name in found.tuned),
    )
    entries = sorted(ev.in_rows().classes, key=lambda entry: -entry.support)
    rows: Iterable[Row] = (
        (
            str(entry.label),
            Cell(count(entry.support), sort=entry.support),
            *(_cell(best.values[str(entry.label)], weights=weights) for best in found.tuned.values()),
        )
        for entry in entries
    )
    table = Table.of(
        f"{noun}-table",
        f"Numbers of {noun}",
        heads,
        rows,
        tall=True,
        noun=noun if len(entries) >= CONTROLS else "",
        find=f"part of a {'class' if weights else 'label'} name",
    )
    summary = say(
        "Each probability is multiplied with the weight of its class; the greatest product is the answer."
        if weights
        else "A label is set when its score is at least its threshold; “above all” is never set."
    )
    return Section.of(noun, noun.capitalize(), "One number for each", summary, table)


def _cell(value: float, *, weights: bool) -> Cell:
    shown = number(value) if weights else threshold_text(value)
    return Cell(shown, sort=value if math.isfinite(value) else None)


def searches(found: ThresholdSelection) -> Section | None:
    """Return the history of each search."""
    searched = [best.trials for best in found.tuned.values() if best.trials is not None]
    if not searched:
        return None
    charts = (history_chart(history_view(trials), place) for place, trials in enumerate(searched))
    summary = READ + say("The first trials are the starting points.")
    return Section.of("history", "Search", "How the search went", summary, Beside(tuple(charts)))
