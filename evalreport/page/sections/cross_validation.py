"""Variation across folds: the metrics of a cross-validation with the value of each fold as a dot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from evalreport.core.format import count
from evalreport.core.result import Estimate, Result, format_estimate, interval
from evalreport.core.sentences import NOTHING
from evalreport.evaluation.evaluation import Evaluation
from evalreport.intervals.folds import FoldedMetric, Folds
from evalreport.metrics.catalogue import COMPARED, find, telling
from evalreport.metrics.record import Metric
from evalreport.page.elements import Cell, Column, Folded, Row, Section, Table, forest_row, place
from evalreport.page.evaluation_terms import confidence_percent, tell

MOST = 30
"""Folds that have a column; a table of more is read in evaluation.json."""


def folds_section(ev: Evaluation) -> Section | None:
    """Return the folds of a cross-validation; None where there are none."""
    folds = ev.folds
    if folds is None:
        return None
    known = [find(name, ev.task) for name in telling(COMPARED[ev.task], ev.space) if name in folds.metrics]
    shown = [metric for metric in known if folds[metric.name].mean is not None]
    summary = tell(
        ev,
        "{number:count} models, each evaluated on {units} that it was not trained on. Counts are pooled; ranking and calibration are the mean of the folds, because scores of different models are not on one scale. The interval is for these models on new {units}, the last column for models retrained on other data.",
        number=len(folds.names),
    )
    heads = (
        "Metric",
        "Value",
        Column("How"),
        Column(f"{confidence_percent(ev)} interval, a dot for each fold", "plot"),
        Column("Retrained", "n"),
    )
    rows, names = (_row(ev, m, folds[m.name]) for m in shown), map(_name, folds.names[:MOST])
    table = Table.from_rows("folds-table", "Metrics over the folds", heads, rows)
    each = Table.from_rows("folds-each", "Fold by fold", ("Fold", *names), _each(folds, shown))
    closed = Folded("Fold by fold", (each,))
    return Section.from_parts("folds", "Folds", "How far do the folds agree?", summary, table, closed)


def _name(fold: str) -> str:
    return fold if len(fold) <= 24 else f"{fold[:23]}…"


def _row(ev: Evaluation, metric: Metric, line: FoldedMetric) -> Row:
    result = ev[metric.name]
    dots = [value for value in line.folds if value is not None]
    axis = _axis(metric, result, dots)
    track = forest_row(metric.name, metric.title, NOTHING, result, metric.style, axis=axis)
    places = tuple(at for at in (place(value, axis) for value in dots) if at is not None)
    retrained = "–"
    if line.retrained is not None and line.value is not None:
        retrained = interval(Estimate(line.value, 0, line.retrained.low, line.retrained.high), metric.style)
    return (
        metric.title,
        track.estimate,
        line.how,
        Cell(track.interval, track=replace(track, dots=places)),
        retrained,
    )


def _axis(metric: Metric, result: Result, dots: list[float]) -> tuple[float, float]:
    """The range of the metric, or of what there is to draw where it has no end."""
    known = (result.low, result.high) if isinstance(result, Estimate) else ()
    drawn = [*dots, *(end for end in known if end is not None)]
    low = metric.low if math.isfinite(metric.low) else min(drawn)
    return low, metric.high if math.isfinite(metric.high) else 1.05 * max(drawn)


def _each(folds: Folds, metrics: list[Metric]) -> Iterator[Row]:
    yield ("Rows", *(count(rows) for rows in folds.rows[:MOST]))
    for metric in metrics:
        values = folds[metric.name].folds[:MOST]
        yield (
            metric.title,
            *("–" if v is None else format_estimate(Estimate(v, 0), metric.style) for v in values),
        )
