"""`evalreport metrics`: list the metrics of a task, or explain one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evalreport.cli.console import Console
from evalreport.cli.options import FLAG, HelpSection, SectionCommand, global_options

if TYPE_CHECKING:
    from evalreport.metrics.record import Metric

TASKS = ("binary", "multiclass", "multilabel")
JSON_FIELDS = (
    "name",
    "title",
    "task",
    "meaning",
    "formula",
    "needs",
    "better",
    "interval",
    "source",
    "use",
    "trap",
)


@click.command("metrics", cls=SectionCommand)
@click.argument("name", required=False, metavar="[NAME|TASK]")
@HelpSection("Metrics")("--coverage", FLAG, "Show the measured coverage of the interval, setting by setting.")
@click.pass_obj
def command(console: Console, name: str | None, coverage: bool) -> None:
    """List the metrics (of a TASK: binary, multiclass, multilabel), or explain one."""
    from evalreport.metrics.catalogue import everything, find

    task, name = (name, None) if name in TASKS else (None, name)
    of_task = [metric for metric in everything() if task in (None, metric.task)]
    chosen = [metric for metric in of_task if name in (None, metric.name)]
    if name is not None and not chosen:
        chosen = [find(name)]
    for metric in chosen:
        if name is None:
            console.print_result(f"{metric.name:28} {metric.task:11} {metric.meaning}")
        else:
            console.print_result(*_describe_metric(metric, coverage=coverage))
    console.emit(runs=[], metrics=[_as_json(metric) for metric in chosen])


def _as_json(metric: Metric) -> dict[str, Any]:
    from evalreport.intervals.estimates import measured_coverage

    return {
        **{name: getattr(metric, name) for name in JSON_FIELDS},
        "range": (metric.low, metric.high),
        "coverage": measured_coverage(metric.task, metric.name),
    }


def _describe_metric(metric: Metric, *, coverage: bool) -> list[str]:
    """What it is in about ten lines; the simulations of its interval where they are asked for."""
    rows = [
        ("formula", metric.formula),
        ("range", f"{metric.low:g} to {metric.high:g}; better: {metric.better}"),
        ("needs", metric.needs),
        ("interval", metric.interval),
        *(_methods(metric) if coverage else ()),
        ("source", metric.source),
        ("use it when", metric.use),
        ("trap", metric.trap),
    ]
    lines = [f"{metric.name}  {metric.title}  ({metric.task})", f"  {metric.meaning}"]
    more = _list_coverage(metric) if coverage else _summarise_coverage(metric)
    return [*lines, *(f"  {title:12} {text}" for title, text in rows if text), *more, ""]


def _methods(metric: Metric) -> list[tuple[str, str]]:
    from evalreport.intervals.estimates import METHODS, measured_methods

    return [("", f"{name}: {METHODS[name]}") for name in measured_methods(metric.task, metric.name)]


def _summarise_coverage(metric: Metric) -> list[str]:
    """The worst and the best measured coverage, in one line."""
    from evalreport.core.format import percent
    from evalreport.intervals.estimates import measured_coverage

    found = [row.coverage for row in measured_coverage(metric.task, metric.name)]
    if not found:
        return []
    ends = f"{percent(min(found))} to {percent(max(found))} in {len(found)} settings"
    return [f"  {'coverage':12} {ends}; `--coverage` lists them"]


def _list_coverage(metric: Metric) -> list[str]:
    """The measured coverage of the interval, setting by setting."""
    from evalreport.core.format import percent
    from evalreport.intervals.estimates import measured_coverage

    rows = measured_coverage(metric.task, metric.name)
    return [
        f"  {'coverage' if row is rows[0] else '':12} {percent(row.coverage)} of {row.simulations:,}: "
        f"n = {row.n:,}, {row.setting} ({row.method})"
        for row in rows
    ]


global_options(command)
