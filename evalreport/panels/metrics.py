"""Every number of the catalogue, and which of them answers which question here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalreport.estimates import beside, interval, valued
from evalreport.evaluation.model import Evaluation
from evalreport.findings.guide import guide
from evalreport.format import Style, count
from evalreport.metrics.catalogue import catalogue
from evalreport.metrics.record import Metric
from evalreport.panels.about import confidence_percent, is_text, missed, units
from evalreport.panels.parts import Cell, Column, Section, Table
from evalreport.panels.words import Sentence, listed, say, with_options
from evalreport.values import Result, Undefined


@dataclass(frozen=True)
class Tip:
    """One line of the guide: when, which metrics, why."""

    question: str
    metrics: Sentence
    reason: Sentence


@dataclass(frozen=True)
class Numbers:
    """The guide and the table."""

    tips: tuple[Tip, ...]
    table: Table


def panel(ev: Evaluation) -> Section:
    """Return the guide and every metric of the evaluation."""
    known = {metric.name: metric for metric in catalogue(ev.space, text=is_text(ev))}
    tips = tuple(
        Tip(
            advice.question,
            listed([_named(known, name) for name in advice.metrics]),
            with_options(advice.reason),
        )
        for advice in guide(ev)
    )
    undefined = sum(isinstance(result, Undefined) for result in ev.metrics.values())
    lede = say("{metrics:count} metrics.", metrics=len(ev.metrics))
    if undefined:
        lede = say(
            "{metrics:count} metrics, {undefined:count} of them undefined on these {units}.",
            metrics=len(ev.metrics),
            undefined=undefined,
            units=units(ev),
        )
    return Section(
        "metrics", "All metrics", "Every number", "metrics", lede, Numbers(tips, _table(ev, known))
    )


def _named(known: Mapping[str, Metric], name: str) -> Sentence:
    return say("{title}", title=known[name].title if name in known else name)


def _table(ev: Evaluation, known: Mapping[str, Metric]) -> Table:
    rows = tuple(
        _row(name, result, known.get(name), ev.no_skill.get(name)) for name, result in ev.metrics.items()
    )
    heads = (
        Column("Metric"),
        Column("Estimate", "n"),
        Column(f"{confidence_percent(ev)} interval", "n"),
        Column("No-skill", "n"),
        Column("What it is", "text"),
    )
    return Table("metrics-table", "Every metric", heads, rows, tall=True)


def _row(name: str, result: Result, metric: Metric | None, reference: float | None) -> tuple[Cell, ...]:
    style: Style = "number" if metric is None else metric.style
    title = name if metric is None else metric.title
    meaning = "" if metric is None else metric.meaning
    return (
        Cell(title, sub=name),
        Cell(_value(result, metric, style), "n"),
        Cell(interval(result, style), "n", sub="" if metric is None else missed(metric.task, name, result)),
        Cell("–" if reference is None else beside(reference, result, style), "n"),
        Cell(meaning, "text", sub=result.reason if isinstance(result, Undefined) else ""),
    )


def _value(result: Result, metric: Metric | None, style: Style) -> str:
    if isinstance(result, Undefined):
        return "undefined"
    if metric is not None and metric.interval == "none" and float(result.value).is_integer():
        return count(result.value)
    return valued(result, style)
