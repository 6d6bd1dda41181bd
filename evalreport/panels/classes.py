"""Class by class, label by label: weakest first, with counts, intervals and what it is taken for."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from evalreport.estimates import interval
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.format import Style, count, fixed, ratio, threshold
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.panels.about import confidence_percent, tell, units
from evalreport.panels.intervals import forest_row
from evalreport.panels.parts import Cell, Column, Empty, Section, Table, interval_cell, value_cell
from evalreport.panels.words import NOTHING, Sentence, say
from evalreport.values import Estimate, Result, Undefined

DRAWN = 40
"""Classes up to which the interval of each is drawn, 300 bytes a row; of more it stands in numbers."""
MOST_ROWS = 2_000
"""Classes in the table: some 450 bytes each, of a page of at most 2 MB."""
CONTROLS = 8
"""Classes from which on the table can be searched and filtered."""
WEAK, FEW, SKEWED = 0.6, 20, 0.3
"""F1, examples, and share of its examples by which a class is predicted too often or too seldom, of the
filters."""
FILTERS = (("F1 below 0.60", "weak"), ("fewer than 20", "few"), ("over- or underused by 30%", "skewed"))
UNKNOWN = ("absent", "spurious")
"""States of a class of which nothing can be measured: it has no examples."""
MISSING: Result = Undefined("was not computed")


def panel(ev: Evaluation) -> Section | None:
    """Return the table of classes (multiclass) or labels (multilabel), with counts of whole rows."""
    ev = ev.in_rows()
    match ev.space:
        case Binary():
            return None
        case Multiclass():
            return _section(ev, "classes", "Class by class", _class_summary(ev))
        case Multilabel():
            return _section(ev, "labels", "Label by label", _label_summary(ev))


def _section(ev: Evaluation, noun: str, title: str, summary: Sentence) -> Section:
    name = {"classes": "Classes", "labels": "Labels"}[noun]
    if not ev.classes:
        empty = Empty(
            say("No decisions were logged."),
            say("Scores that only rank decide nothing. Log predictions, or pass `--threshold`."),
        )
        return Section.of(noun, name, title, NOTHING, empty)
    return Section.of(noun, name, title, summary + _rest(len(ev.classes)), _table(ev, noun))


def _rest(total: int) -> Sentence:
    """Return what is said where the table cannot hold all."""
    if total <= MOST_ROWS:
        return NOTHING
    return say(
        "These are the weakest {shown:count} of {classes:count}; all are in `classes.csv` of a folder, and "
        "in `evalreport/classes.json` of a run.",
        shown=MOST_ROWS,
        classes=total,
    )


def _class_summary(ev: Evaluation) -> Sentence:
    summary = say(
        "Weakest first. “Predicted” is how often the class is predicted relative to how often it is true."
    )
    absent = sum(entry.state in UNKNOWN for entry in ev.classes)
    words = (
        "{absent:count} {absent:class does|classes do} not occur among these {units}: nothing can be said "
    )
    return summary + (tell(ev, words + "of {absent:it|them}.", absent=absent) if absent else NOTHING)


def _label_summary(ev: Evaluation) -> Sentence:
    summary = say("Weakest first.")
    if ev.score_kind is not None:
        summary += say("AP is average precision, which needs no threshold.")
    if _best_known(ev):
        summary += say(
            "“Best at” is the threshold with the highest F1 on these rows: an upper bound, not a promise."
        )
    return summary


def order(classes: tuple[ClassResult, ...]) -> list[ClassResult]:
    """Return classes by F1, weakest first; undefined last, in their order."""

    def key(entry: ClassResult) -> tuple[bool, float]:
        f1 = entry.metrics.get("f1", MISSING).value
        unknown = f1 is None or entry.state in UNKNOWN
        return unknown, 0.0 if f1 is None else f1

    return sorted(classes, key=key)


def _table(ev: Evaluation, noun: str) -> Table:
    ordered = order(ev.classes)[:MOST_ROWS]
    multilabel = noun == "labels"
    return Table.by(
        f"{noun}-table",
        f"Every {'label' if multilabel else 'class'} with its figures",
        _label_columns(ev) if multilabel else _class_columns(ev, len(ordered) <= DRAWN),
        ordered,
        tall=True,
        filters=FILTERS,
        marks=map(_marks, ordered),
        noun=noun if len(ordered) >= CONTROLS else "",
        find=f"part of a {'label' if multilabel else 'class'} name",
    )


ShownOfClass: TypeAlias = tuple[Column, Callable[[ClassResult], Cell]]
"""A column: its head, and its cell of a class or label."""


def _class_columns(ev: Evaluation, bars: bool) -> list[ShownOfClass]:
    return [
        (Column("Class", sorts="up"), _name),
        (Column(units(ev).capitalize(), "n", "up"), lambda entry: _count(entry.support)),
        (Column("F1", "n", "up", "ascending"), _f1),
        (Column(f"F1, {confidence_percent(ev)} interval, 0 to 1", "plot"), partial(_drawn, drawn=bars)),
        (Column("Precision", "n", "up"), partial(_metric, name="precision", style="percent")),
        (Column("Recall", "n", "up"), partial(_metric, name="recall", style="percent")),
        (Column("Predicted", "n", "down"), _used),
        (Column("Most often read as", "text", "up"), _read_as),
    ]


def _count(rows: float) -> Cell:
    return Cell(count(rows), sort=rows)


def _metric(entry: ClassResult, *, name: str, style: Style) -> Cell:
    return value_cell(entry.metrics.get(name, MISSING), style)


def _name(entry: ClassResult) -> Cell:
    states = {
        "ok": "",
        "absent": "does not occur",
        "never_predicted": "never predicted",
        "spurious": "predicted, never true",
    }
    return Cell(str(entry.label), sub=states[entry.state])


def _f1(entry: ClassResult) -> Cell:
    """Sorted by F1, but what cannot be measured comes last."""
    return Cell("–", "n") if entry.state in UNKNOWN else _metric(entry, name="f1", style="ratio")


def _drawn(entry: ClassResult, *, drawn: bool) -> Cell:
    """The interval as a dot on an axis from 0 to 1; of very many classes in numbers alone."""
    f1 = entry.metrics.get("f1", MISSING)
    if entry.state in UNKNOWN or not isinstance(f1, Estimate):
        return Cell("–", "none")
    shown = interval(f1, "ratio")
    return Cell(shown, track=forest_row("f1", "F1", NOTHING, f1, "ratio") if drawn else None)


def _used(entry: ClassResult) -> Cell:
    if not entry.support:
        return Cell("–", "n")
    times = entry.predicted / entry.support
    return Cell(fixed(times, 2) + "×", "n", round(times, 4))


def _read_as(entry: ClassResult) -> Cell:
    if not entry.confusions:
        return Cell("–", "text")
    first = entry.confusions[0]
    name = "not readable" if first.label is None else str(first.label)
    return Cell(f"{name} ({count(first.weight)})", "text", first.weight)


def _label_columns(ev: Evaluation) -> list[ShownOfClass]:
    shown: list[ShownOfClass] = [
        (Column("Label", sorts="up"), _name),
        (Column(units(ev).capitalize(), "n", "up"), lambda entry: _count(entry.support)),
        (Column("Found", "n", "up"), lambda entry: _count(entry.right)),
        (Column("Left out", "n", "down"), lambda entry: _count(entry.support - entry.right)),
        (Column("Added wrongly", "n", "down"), lambda entry: _count(entry.predicted - entry.right)),
        (Column("Precision", "n", "up"), partial(_metric, name="precision", style="percent")),
        (Column("Recall", "n", "up"), partial(_metric, name="recall", style="percent")),
        (Column(f"Recall {confidence_percent(ev)}", "n"), _recall_interval),
        (Column("F1", "q", "up", "ascending"), _f1),
    ]
    if ev.score_kind is not None:
        shown.append((Column("AP", "n", "up"), partial(_metric, name="average_precision", style="ratio")))
        shown.append((Column("AUC", "n", "up"), partial(_metric, name="roc_auc", style="ratio")))
    if len({entry.threshold for entry in ev.classes}) > 1:
        shown.append((Column("Threshold", "n", "up"), lambda entry: _cut(entry.threshold)))
    if _best_known(ev):
        shown.append((Column("Best at", "n", "up"), lambda entry: _cut(_best(entry)[0])))
        shown.append((Column("F1 there", "n", "up"), _best_f1))
    return shown


def _recall_interval(entry: ClassResult) -> Cell:
    return interval_cell(entry.metrics.get("recall", MISSING), "percent")


def _best_known(ev: Evaluation) -> bool:
    return any(entry.best is not None for entry in ev.classes)


def _best(entry: ClassResult) -> tuple[float | None, float | None]:
    """The threshold with the highest F1, and that F1, of a label that has examples."""
    return entry.best if entry.best is not None and entry.support else (None, None)


def _best_f1(entry: ClassResult) -> Cell:
    _, there = _best(entry)
    return Cell("–" if there is None else ratio(there), "n", there)


def _cut(at: float | None) -> Cell:
    if at is None:
        return Cell("–", "n")
    return Cell(threshold(at), "n", at if math.isfinite(at) else None)


def _marks(entry: ClassResult) -> str:
    f1 = entry.metrics.get("f1", MISSING)
    found = []
    if isinstance(f1, Estimate) and f1.value < WEAK and entry.support:
        found.append("weak")
    if entry.support < FEW:
        found.append("few")
    if entry.support and abs(entry.predicted / entry.support - 1) > SKEWED:
        found.append("skewed")
    return " ".join(found)
