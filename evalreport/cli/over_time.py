"""`evalreport compare --over-time`: a metric of an experiment's runs by the time of their start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalreport.cli.console import Console
from evalreport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalreport.comparison.over_time import OverTime
    from evalreport.workflow.request import Request
    from evalreport.workflow.runs import Item

ALONE = ("baseline", "sort_by", "out", "log_to")
"""Options of a comparison that say nothing about time."""


def compared_over_time(
    console: Console, items: Sequence[Item], request: Request, options: dict[str, Any]
) -> int:
    """Print, and where asked write, the metric over time."""
    from evalreport.format import counted
    from evalreport.panels.history import day
    from evalreport.panels.over_time import notes_of, over_time_headline, run_in_words
    from evalreport.report.site import render_over_time
    from evalreport.sinks.folder import write_page
    from evalreport.workflow.over_time import over_time

    given = [name for name in ALONE if options[name]]
    if given or options["log"] or options["output"] == "-":
        raise UsageError(
            "--over-time is printed, written with -o FILE, or given as JSON", fix="leave the rest out"
        )
    found, failed = over_time(items, request, options["metric"])
    for name, error in failed.items():
        console.warn(f"{name} is left out: {error.message}")
    notes = notes_of(found)
    console.out(over_time_headline(found).text)
    wide = max(len(run.run) for run in found.runs)
    for run in found.runs:
        value, ends = run_in_words(found, run)
        told = f"{day(run.started, year=True):>11}  {run.run:{wide}}  {value:>7}  {ends}"
        console.out(f"{told}  {notes.get(run.run, '')}".rstrip())
    files = []
    if options["output"]:
        names = dict.fromkeys(item.run.experiment for item in items if item.run is not None)
        page = render_over_time(found, ", ".join(names))
        files.append(str(write_page(Path(options["output"]), page.encode(), force=options["force"])))
        console.out(files[0])
    _emit(console, found, files)
    console.say(f"{counted(len(found.runs), 'run')} by the time of their start")
    return 0


def _emit(console: Console, found: OverTime, files: list[str]) -> None:
    from evalreport.codec import encode

    body = {
        "metric": found.metric.name,
        "level": found.level,
        "runs": encode(found.runs),
        "changes": encode(found.changes),
        "test_set_changed_at": [run.run for run in found.breaks],
    }
    named = [{"run_id": run.run_id, "run_name": run.run, "source": run.run, "ok": True} for run in found.runs]
    console.emit(runs=named, over_time=body, files=files)
