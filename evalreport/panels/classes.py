"""Class by class, label by label: weakest first, with counts, intervals and what it is taken for."""

from __future__ import annotations

import math

from evalreport.estimates import interval
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.format import count, fixed, ratio, threshold
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
    absent = sum(entry.state in ("absent", "spurious") for entry in ev.classes)
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
        unknown = f1 is None or entry.state in ("absent", "spurious")
        return unknown, 0.0 if f1 is None else f1

    return sorted(classes, key=key)


def _table(ev: Evaluation, noun: str) -> Table:
    ordered = order(ev.classes)[:MOST_ROWS]
    multilabel = noun == "labels"
    bars = len(ordered) <= DRAWN
    return Table.of(
        f"{noun}-table",
        f"Every {'label' if multilabel else 'class'} with its figures",
        _label_columns(ev) if multilabel else _class_columns(ev),
        [_label_row(ev, entry) if multilabel else _class_row(entry, bars) for entry in ordered],
        tall=True,
        filters=FILTERS,
        marks=map(_marks, ordered),
        noun=noun if len(ordered) >= CONTROLS else "",
        find=f"part of a {'label' if multilabel else 'class'} name",
    )


def _class_columns(ev: Evaluation) -> tuple[Column, ...]:
    return (
        Column("Class", sorts="up"),
        Column(units(ev).capitalize(), "n", "up"),
        Column("F1", "n", "up", "ascending"),
        Column(f"F1, {confidence_percent(ev)} interval, 0 to 1", "plot"),
        Column("Precision", "n", "up"),
        Column("Recall", "n", "up"),
        Column("Predicted", "n", "down"),
        Column("Most often read as", "text", "up"),
    )


def _class_row(entry: ClassResult, bars: bool) -> tuple[Cell, ...]:
    precision, recall, f1 = (entry.metrics.get(name, MISSING) for name in ("precision", "recall", "f1"))
    return (
        _name(entry),
        Cell(count(entry.support), sort=entry.support),
        _f1(entry, f1),
        _drawn(entry, f1, bars),
        value_cell(precision, "percent"),
        value_cell(recall, "percent"),
        _used(entry),
        _read_as(entry),
    )


def _name(entry: ClassResult) -> Cell:
    states = {
        "ok": "",
        "absent": "does not occur",
        "never_predicted": "never predicted",
        "spurious": "predicted, never true",
    }
    return Cell(str(entry.label), sub=states[entry.state])


def _f1(entry: ClassResult, f1: Result) -> Cell:
    """Sorted by F1, but what cannot be measured comes last."""
    if entry.state in ("absent", "spurious"):
        return Cell("–", "n")
    return value_cell(f1, "ratio")


def _drawn(entry: ClassResult, f1: Result, drawn: bool) -> Cell:
    """The interval as a dot on an axis from 0 to 1; of very many classes in numbers alone."""
    if entry.state in ("absent", "spurious") or not isinstance(f1, Estimate):
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


def _label_columns(ev: Evaluation) -> tuple[Column, ...]:
    scored = (Column("AP", "n", "up"), Column("AUC", "n", "up")) if ev.score_kind is not None else ()
    cut = (Column("Threshold", "n", "up"),) if _own_thresholds(ev) else ()
    best = (Column("Best at", "n", "up"), Column("F1 there", "n", "up")) if _best_known(ev) else ()
    return (
        Column("Label", sorts="up"),
        Column(units(ev).capitalize(), "n", "up"),
        Column("Found", "n", "up"),
        Column("Left out", "n", "down"),
        Column("Added wrongly", "n", "down"),
        Column("Precision", "n", "up"),
        Column("Recall", "n", "up"),
        Column(f"Recall {confidence_percent(ev)}", "n"),
        Column("F1", "q", "up", "ascending"),
        *scored,
        *cut,
        *best,
    )


def _best_known(ev: Evaluation) -> bool:
    return any(entry.best is not None for entry in ev.classes)


def _own_thresholds(ev: Evaluation) -> bool:
    return len({entry.threshold for entry in ev.classes}) > 1


def _label_row(ev: Evaluation, entry: ClassResult) -> tuple[Cell, ...]:
    names = ("precision", "recall", "f1", "average_precision", "roc_auc")
    precision, recall, f1, ap, auc = (entry.metrics.get(name, MISSING) for name in names)
    left, wrong = entry.support - entry.right, entry.predicted - entry.right
    cells = [
        _name(entry),
        *(Cell(count(n), sort=n) for n in (entry.support, entry.right, left, wrong)),
        value_cell(precision, "percent"),
        value_cell(recall, "percent"),
        interval_cell(recall, "percent"),
        _f1(entry, f1),
    ]
    if ev.score_kind is not None:
        cells += [value_cell(ap, "ratio"), value_cell(auc, "ratio")]
    if _own_thresholds(ev):
        cells.append(_cut(entry.threshold))
    if _best_known(ev):
        at, there = entry.best if entry.best is not None and entry.support else (None, None)
        cells.append(Cell("–" if at is None else threshold(at), "n", at))
        cells.append(Cell("–" if there is None else ratio(there), "n", there))
    return tuple(cells)


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
