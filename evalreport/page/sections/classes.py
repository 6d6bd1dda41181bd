"""The table of classes or labels: weakest first, with counts, intervals and the most frequent confusion.

Performance by group: the headline metrics of each value of a slice column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TypeAlias

from evalreport.core.extensions import load_extensions
from evalreport.core.format import Style, count, format_fixed, ratio, threshold
from evalreport.core.result import Estimate, Result, Undefined, distance, value_and_interval
from evalreport.core.sentences import NOTHING, Sentence, interval_sentence, say
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import ClassResult, Slice
from evalreport.metrics.catalogue import OF_CALIBRATION, OF_SLICES, find
from evalreport.metrics.record import Metric
from evalreport.page.elements import (
    Cell,
    Column,
    Empty,
    Folded,
    Heading,
    Note,
    PagePart,
    Row,
    Section,
    Table,
    column_decimals,
    forest_row,
    interval_cell,
    interval_text,
    value_cell,
)
from evalreport.page.evaluation_terms import confidence_percent, tell, units

DRAWN = 40
"""Maximum number of classes with drawn intervals, 300 bytes a row; for more they are numbers."""
MOST_ROWS = 2_000
"""Classes in the table: some 450 bytes each, of a page of at most 2 MB."""
FIRST = 8
"""Classes that are shown; the others are folded."""
CONTROLS = 8
"""Classes from which on the table can be searched and filtered."""
WEAK, FEW, SKEWED = 0.6, 20, 0.3
"""F1, examples, and the excess or lack of predictions as a proportion of the examples, of the
filters."""
FILTERS = (("F1 below 0.60", "weak"), ("fewer than 20", "few"), ("over- or underused by 30%", "skewed"))
UNKNOWN = ("absent", "spurious")
"""States of a class of which nothing can be measured: it has no examples."""
MISSING: Result = Undefined("was not computed")


def classes_section(ev: Evaluation) -> Section | None:
    """Return the table of classes (multiclass) or labels (multilabel), with counts of whole rows."""
    ev = ev.in_rows()
    match ev.space:
        case Binary():
            return None
        case Multiclass():
            return _section(ev, "classes", "Classes", _class_summary(ev))
        case Multilabel():
            return _section(ev, "labels", "Labels", _label_summary(ev))


def _section(ev: Evaluation, noun: str, title: str, summary: Sentence) -> Section:
    name = {"classes": "Classes", "labels": "Labels"}[noun]
    if not ev.classes:
        empty = Empty(
            say("No decisions were logged."),
            say("Scores that only rank decide nothing. Log predictions, or pass `--threshold`."),
        )
        return Section.from_parts(noun, name, title, NOTHING, empty)
    table = _table(ev, noun)
    parts: tuple[PagePart, ...] = (table,)
    if len(table.rows) > FIRST + 2:
        short = replace(
            table,
            id=f"{noun}-first",
            name=f"Weakest {noun}",
            rows=table.rows[:FIRST],
            marks=(),
            noun="",
            tall=False,
        )
        short = replace(short, columns=tuple(replace(column, sorts="") for column in short.columns))
        parts = short, Folded(f"All {count(len(table.rows))} {noun}", (table,))
    return Section.from_parts(noun, name, title, summary + _rest(len(ev.classes)), *parts)


def _rest(total: int) -> Sentence:
    """Return the note for a table that does not show all classes."""
    if total <= MOST_ROWS:
        return NOTHING
    return say(
        "The weakest {shown:count} of {classes:count} are listed; all are in `evaluation.json`.",
        shown=MOST_ROWS,
        classes=total,
    )


def _class_summary(ev: Evaluation) -> Sentence:
    summary = say("Weakest first. “Predicted”: predictions per true example.")
    absent = sum(entry.state in UNKNOWN for entry in ev.classes)
    words = "{absent:count} {absent:class does|classes do} not occur among these {units}."
    return summary + (tell(ev, words, absent=absent) if absent else NOTHING)


def _label_summary(ev: Evaluation) -> Sentence:
    summary = say("Weakest first.")
    if ev.score_kind is not None:
        summary += say("AP: average precision.")
    if _best_known(ev):
        summary += say("“Best at”: the threshold with the highest F1 on these rows, which is optimistic.")
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
    return Table.from_items(
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
    places = partial(_places, ev)
    return [
        (Column("Class", sorts="up"), _name),
        (Column(units(ev).capitalize(), "n", "up"), lambda entry: _count(entry.support)),
        (Column("F1", "n", "up", "ascending"), partial(_f1, places=places("f1", "ratio"))),
        (
            Column(
                f"F1, {confidence_percent(ev)} interval" + (", 0 to 1" if bars else ""),
                "plot" if bars else "n",
            ),
            partial(_interval_cell, drawn=bars, places=places("f1", "ratio")),
        ),
        (
            Column("Precision", "n", "up"),
            _metric_column(ev, "precision", "percent"),
        ),
        (
            Column("Recall", "n", "up"),
            _metric_column(ev, "recall", "percent"),
        ),
        (Column("Predicted", "n", "down"), _prediction_ratio_cell),
        (Column("Most often predicted as", "text", "up"), _confusion_cell),
    ]


def _places(ev: Evaluation, name: str, style: Style) -> int | None:
    return column_decimals((entry.metrics.get(name, MISSING) for entry in ev.classes), style)


def _count(rows: float) -> Cell:
    return Cell(count(rows), sort=rows)


def _metric_column(ev: Evaluation, name: str, style: Style) -> Callable[[ClassResult], Cell]:
    """Cells of a metric, with one number of decimals."""
    return partial(_metric, name=name, style=style, places=_places(ev, name, style))


def _metric(entry: ClassResult, *, name: str, style: Style, places: int | None) -> Cell:
    return value_cell(entry.metrics.get(name, MISSING), style, places)


def _name(entry: ClassResult) -> Cell:
    states = {
        "ok": "",
        "absent": "does not occur",
        "never_predicted": "never predicted",
        "spurious": "predicted, never true",
    }
    return Cell(str(entry.label), sub=states[entry.state])


def _f1(entry: ClassResult, *, places: int | None) -> Cell:
    """Sorted by F1, but what cannot be measured comes last."""
    return (
        Cell("–", "n") if entry.state in UNKNOWN else _metric(entry, name="f1", style="ratio", places=places)
    )


def _interval_cell(entry: ClassResult, *, drawn: bool, places: int | None) -> Cell:
    """The interval as a dot on an axis from 0 to 1; of very many classes in numbers alone."""
    f1 = entry.metrics.get("f1", MISSING)
    if entry.state in UNKNOWN or not isinstance(f1, Estimate):
        return Cell("–", "none")
    shown = interval_text(f1, "ratio", places)
    return Cell(shown, track=forest_row("f1", "F1", NOTHING, f1, "ratio") if drawn else None)


def _prediction_ratio_cell(entry: ClassResult) -> Cell:
    if not entry.support:
        return Cell("–", "n")
    times = entry.predicted / entry.support
    return Cell(format_fixed(times, 2) + "×", "n", round(times, 4))


def _confusion_cell(entry: ClassResult) -> Cell:
    if not entry.confusions:
        return Cell("–", "text")
    first = entry.confusions[0]
    name = "unparsed" if first.label is None else str(first.label)
    return Cell(f"{name} ({count(first.weight)})", "text", first.weight)


def _label_columns(ev: Evaluation) -> list[ShownOfClass]:
    places = partial(_places, ev)
    shown: list[ShownOfClass] = [
        (Column("Label", sorts="up"), _name),
        (Column(units(ev).capitalize(), "n", "up"), lambda entry: _count(entry.support)),
        (Column("Found", "n", "up"), lambda entry: _count(entry.right)),
        (Column("Missed", "n", "down"), lambda entry: _count(entry.support - entry.right)),
        (Column("Added", "n", "down"), lambda entry: _count(entry.predicted - entry.right)),
        (
            Column("Precision", "n", "up"),
            _metric_column(ev, "precision", "percent"),
        ),
        (
            Column("Recall", "n", "up"),
            _metric_column(ev, "recall", "percent"),
        ),
        (
            Column(f"Recall {confidence_percent(ev)}", "n"),
            partial(_recall_interval, places=places("recall", "percent")),
        ),
        (Column("F1", "q", "up", "ascending"), partial(_f1, places=places("f1", "ratio"))),
    ]
    if ev.score_kind is not None:
        shown.append(
            (
                Column("AP", "n", "up"),
                _metric_column(ev, "average_precision", "ratio"),
            )
        )
        shown.append(
            (
                Column("AUC", "n", "up"),
                _metric_column(ev, "roc_auc", "ratio"),
            )
        )
    if len({entry.threshold for entry in ev.classes}) > 1:
        shown.append((Column("Threshold", "n", "up"), lambda entry: _threshold_cell(entry.threshold)))
    if _best_known(ev):
        shown.append((Column("Best at", "n", "up"), lambda entry: _threshold_cell(_best(entry)[0])))
        shown.append((Column("F1 there", "n", "up"), _best_f1))
    return shown


def _recall_interval(entry: ClassResult, *, places: int | None) -> Cell:
    return interval_cell(entry.metrics.get("recall", MISSING), "percent", places)


def _best_known(ev: Evaluation) -> bool:
    return any(entry.best is not None for entry in ev.classes)


def _best(entry: ClassResult) -> tuple[float | None, float | None]:
    """The threshold with the highest F1, and that F1, of a label that has examples."""
    return entry.best if entry.best is not None and entry.support else (None, None)


def _best_f1(entry: ClassResult) -> Cell:
    _, there = _best(entry)
    return Cell("–" if there is None else ratio(there), "n", there)


def _threshold_cell(at: float | None) -> Cell:
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


SURE = 0.05
"""Adjusted p-value below which a slice differs significantly from the rest."""
SHOWN = 2
"""Metrics that are shown of each slice."""
PARITY = {
    "predicted_positive_rate": "Predicted positive rate (demographic parity)",
    "recall": "Recall (equal opportunity)",
    "equalized_odds": "Worse of recall and false positive rate (equalized odds)",
}
"""What gaps between groups are known as."""
MOST = 30
"""Values of a column that are shown, the weakest first."""


def groups_section(ev: Evaluation) -> Section | None:
    """Return the slices of an evaluation; None without a group column."""
    title = "Performance by group"
    found_parts = tuple(part for make in load_extensions("group_parts") for part in make(ev))
    if not ev.slices and found_parts:
        return Section.from_parts("groups", title, title, NOTHING, *found_parts)
    if not ev.slices:
        return None
    columns = [(name, list(found)) for name, found in groupby(ev.slices, key=lambda part: part.column)]
    summary = NOTHING
    for name, found in columns:
        summary += _verdict(ev, name, found) + _furthest(ev, name)
    summary += tell(ev, "Groups with fewer than ten {units} show counts only.")
    parts = [part for place, pair in enumerate(columns) for part in _group_tables(ev, place, *pair)]
    return Section.from_parts("groups", title, title, summary, *found_parts, *parts)


def headline(ev: Evaluation) -> tuple[Metric, ...]:
    """Return the metrics by which slices are compared."""
    known = {name for part in ev.slices for name in part.metrics}
    return tuple(find(name, ev.task) for name in OF_SLICES[ev.task] if name in known)[:SHOWN]


def _furthest(ev: Evaluation, column: str) -> Sentence:
    """The gap between groups by these metrics, and the uncertainty of the smallest group."""
    judged = {metric.name for metric in headline(ev)}
    among = [one for one in ev.disparities if one.column == column and one.metric in judged]
    one = among[0] if among else None
    if one is None or not isinstance(one.difference, Estimate) or one.difference.low is None:
        return NOTHING
    metric = find(one.metric, ev.task)
    words = f"{metric.title} differs by {{gap}} between {{one.lowest}} and {{one.highest}}."
    apart = one.difference
    gap = interval_sentence(
        *distance(apart, metric.style), gap=apart.value, gap_low=apart.low, gap_high=apart.high
    )
    sentence = say(words, {"one": one}, gap=gap)
    if isinstance(one.smallest_value, Estimate) and one.smallest_value.low is not None:
        words = (
            "The smallest group, {one.smallest}, has {one.smallest_rows:count} {one.smallest_rows:units}: "
        )
        words += f"its interval is {{one.smallest_value:{metric.style} interval}}."
        sentence += tell(ev, words, {"one": one})
    return sentence


def _group_tables(ev: Evaluation, place: int, column: str, found: list[Slice]) -> Iterator[PagePart]:
    """The table of one column, under its name."""
    metrics, level = headline(ev), f"{confidence_percent(ev)} interval"
    ordered = sorted(found, key=lambda part: _worst_first(part, metrics[0].name if metrics else ""))
    measured = (head for metric in metrics for head in (metric.title, Column(level, "plot")))
    heads = ("Group", units(ev).capitalize(), *measured, Column("Compared with the rest"))
    yield Heading(column)
    yield Table.from_rows(
        f"groups-{place}", f"By {column}", heads, (_row(ev, part) for part in ordered[:MOST])
    )
    more = (
        *_group_calibration_table(ev, place, column, ordered[:MOST]),
        *_disparity_table(ev, place, column),
    )
    if more:
        what = "Calibration and gaps" if OF_CALIBRATION[ev.task] else "Gaps"
        yield Folded(f"{what} by {column}", more)
    if len(ordered) > MOST:
        yield Note(say("{more:count} more groups are in evaluation.json.", more=len(ordered) - MOST))


def _group_calibration_table(
    ev: Evaluation, place: int, column: str, found: list[Slice]
) -> Iterator[PagePart]:
    """The table of calibration metrics of each group."""
    known = {name for part in found for name, value in part.metrics.items() if isinstance(value, Estimate)}
    metrics = [find(name, ev.task) for name in OF_CALIBRATION[ev.task] if name in known]
    if not metrics:
        return
    level = f"{confidence_percent(ev)} interval"
    heads = (
        "Group",
        units(ev).capitalize(),
        *(head for metric in metrics for head in (metric.title, level)),
        "Compared with the rest",
    )
    rows = (
        (
            part.value,
            count(part.rows),
            *(text for metric in metrics for text in _calibration_ratio_cells(part, metric)),
            "; ".join(_differences(part, metrics)) or "No significant difference",
        )
        for part in found
    )
    yield Table.from_rows(f"calibration-{place}", f"Calibration by {column} (1 is ideal)", heads, rows)


def _calibration_ratio_cells(part: Slice, metric: Metric) -> tuple[str, str]:
    result = part.metrics.get(metric.name)
    return ("–", "too few to say") if result is None else _ratio(result)


def _disparity_table(ev: Evaluation, place: int, column: str) -> Iterator[PagePart]:
    """How far the groups of a column lie apart, metric by metric."""
    found = [one for one in ev.disparities if one.column == column and one.groups > 1]
    if not found:
        return
    level = f"{confidence_percent(ev)} interval"
    heads = ("Between groups", "Largest gap", level, "Lowest / highest", level, "From", "To")
    rows = (
        (
            PARITY.get(one.metric) or find(one.metric, ev.task).title,
            *_format_disparity(one.difference, _style(ev, one.metric)),
            *_ratio(one.ratio),
            one.lowest,
            one.highest,
        )
        for one in found
    )
    yield Table.from_rows(f"gaps-{place}", f"Gaps by {column}", heads, rows)


def _style(ev: Evaluation, name: str) -> Style:
    return "percent" if name in PARITY else find(name, ev.task).style


def _format_disparity(result: Result, style: Style) -> tuple[str, str]:
    """A gap and its interval; those of rates are in points."""
    return ("–", result.reason) if isinstance(result, Undefined) else distance(result, style)


def _ratio(result: Result) -> tuple[str, str]:
    return ("–", result.reason) if isinstance(result, Undefined) else value_and_interval(result, "ratio")


def _worst_first(part: Slice, name: str) -> tuple[bool, float]:
    value = part.metrics[name].value if name in part.metrics else None
    return value is None, 0.0 if value is None else value


def _row(ev: Evaluation, part: Slice) -> Row:
    cells = (cell for metric in headline(ev) for cell in _metric_interval_cells(part, metric))
    return (
        part.value,
        count(part.rows),
        *cells,
        "–" if part.too_few else "; ".join(_differences(part, headline(ev))) or "No significant difference",
    )


def _metric_interval_cells(part: Slice, metric: Metric) -> tuple[Cell | str, Cell]:
    """A metric of a group and its interval, drawn."""
    result = part.metrics.get(metric.name)
    if part.too_few or not isinstance(result, Estimate):
        return "–", Cell("too few to say" if part.too_few else "undefined", "none")
    row = forest_row(metric.name, metric.title, NOTHING, result, metric.style)
    return row.estimate, Cell(row.interval, track=row)


def _differences(part: Slice, metrics: Iterable[Metric]) -> Iterator[str]:
    for metric in metrics:
        manner = differs(part.differences.get(metric.name), part.p_adjusted.get(metric.name))
        if manner:
            yield f"{metric.title} {manner} than the rest"


def differs(difference: Result | None, p_adjusted: float | None) -> str:
    """Return ``lower`` or ``higher`` when a slice is shown to differ from the rest, else nothing.

    Examples
    --------
    >>> differs(Estimate(-0.2, 50, -0.3, -0.1), 0.01), differs(Estimate(-0.2, 50, -0.5, 0.1), 0.4)
    ('lower', '')
    """
    if not isinstance(difference, Estimate) or difference.low is None or difference.high is None:
        return ""
    if p_adjusted is not None and p_adjusted >= SURE:
        return ""
    return "lower" if difference.high < 0 else "higher" if difference.low > 0 else ""


@dataclass(frozen=True)
class WorseGroup:
    """A group whose metric is significantly lower than that of the rest."""

    column: str
    group: str
    metric: Metric
    value: float
    gap: float


def find_worse_groups(ev: Evaluation) -> list[WorseGroup]:
    """Return the groups of which the table says that a metric is lower than for the rest."""
    found = []
    for part in ev.slices:
        for metric in headline(ev):
            own, gap = part.metrics.get(metric.name), part.differences.get(metric.name)
            if not isinstance(own, Estimate) or not isinstance(gap, Estimate):
                continue
            if differs(gap, part.p_adjusted.get(metric.name)) == "lower":
                found.append(WorseGroup(part.column, part.value, metric, own.value, gap.value))
    return found


def _verdict(ev: Evaluation, column: str, found: list[Slice]) -> Sentence:
    """The weakest value of the column, and whether it is shown to be weaker than the rest."""
    metrics = headline(ev)
    if not metrics:
        return NOTHING
    name, title, style = metrics[0].name, metrics[0].title, metrics[0].style
    judged = [part for part in found if isinstance(part.metrics.get(name), Estimate)]
    if len(judged) < 2:
        return NOTHING
    weakest = min(judged, key=lambda part: part.metrics[name].value or 0.0)
    value = weakest.metrics[name]
    shown = differs(weakest.differences.get(name), weakest.p_adjusted.get(name)) == "lower"
    how = "significantly lower than the rest" if shown else "not significantly different from the rest"
    return say(
        f"{title} is lowest for *{{value}}* of {{column}} ({{slice_low:{style}}}), {how}.",
        value=weakest.value,
        column=column,
        slice_low=value if isinstance(value, Estimate) else 0.0,
        of=weakest.rows,
    )
