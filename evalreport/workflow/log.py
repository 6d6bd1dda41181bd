"""Evaluate finished runs and log the numbers, the page and the figures into them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalreport import __version__
from evalreport.evaluation.model import Evaluation
from evalreport.panels.verdict.headline import headline
from evalreport.report.contents import PREFIX, payload
from evalreport.report.names import PAGE
from evalreport.report.render import render
from evalreport.sinks.mlflow import Logged, check_run, log
from evalreport.sources.mlflow_client import Store
from evalreport.sources.runs import RunInfo
from evalreport.workflow.evaluate import evaluated
from evalreport.workflow.report import drawn, page_of, write_out
from evalreport.workflow.request import Request
from evalreport.workflow.runs import Item

MOST_LEFT = 5
"""Names of what an earlier logging left that a warning lists."""


@dataclass(frozen=True)
class LogOptions:
    """How a run is written to."""

    prefix: str = PREFIX
    force: bool = False
    dry_run: bool = False
    out: str | None = None


@dataclass(frozen=True)
class Done:
    """What was logged of a run, and how it is told."""

    evaluation: Evaluation
    taken: tuple[tuple[str, str], ...]
    result: Logged
    size: int
    paths: tuple[Path, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know of what the run held before."""
        return warnings_of(self.result)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that the command prints."""
        figures = sum(path.endswith(".png") and "/" not in path for path in self.result.files)
        what = f"{len(self.result.metrics)} metrics, {PAGE} ({self.size / 1000:.0f} kB)"
        what += f" and {figures} figure{'s' if figures != 1 else ''}"
        return (*lines_of(self.result, what), *map(str, self.paths), *filter(None, [self.result.page]))

    @property
    def logged(self) -> dict[str, Any]:
        """The same for JSON."""
        return logged_as_dict(self.result)


def lines_of(result: Logged, what: str) -> tuple[str, ...]:
    """Return what became of a logging in words; of a dry run, everything that would be logged."""
    match result.state:
        case "unchanged":
            return ("unchanged: the run holds exactly this, nothing was written",)
        case "dry run":
            return (f"would log {what}", *_in_full(result))
        case _:
            return (f"logged {what}",)


def _in_full(result: Logged) -> list[str]:
    """Every metric with its value, every curve and every file, a line each."""
    width = max(map(len, result.values), default=0)
    shown = (
        f"{name:{width}}  {result.values[name]:.6g}" if name in result.values else f"{name:{width}}  a curve"
        for name in result.metrics
    )
    return [f"  {line}" for line in (*shown, *result.files)]


def warnings_of(result: Logged) -> tuple[str, ...]:
    """Return what the user should know of a run that was logged to, and of what it held before."""
    left = result.left
    more = f" and {len(left) - MOST_LEFT} more" if len(left) > MOST_LEFT else ""
    remains = (
        f"an earlier logging left what this one does not have: {', '.join(left[:MOST_LEFT])}{more}; "
        "MLflow cannot delete it, so it stays",
    )
    return (*result.notes, *(remains if left else ()))


def logged_as_dict(result: Logged) -> dict[str, Any]:
    """Return what a logging did as JSON holds it."""
    return {
        "state": result.state,
        "metrics": list(result.metrics),
        "files": list(result.files),
        "replaced": list(result.replaced),
        "left": list(result.left),
        "page": result.page,
        "model": result.model or None,
    }


def log_run(store: Store, run: RunInfo, request: Request, how: LogOptions, *, several: bool = False) -> Done:
    """Evaluate one run and log everything into it; nothing is written before all is known to be good."""
    check_run(store, run.run_id, force=how.force)
    item = Item(run=run, store=store)
    collected = item.collect(request)
    ev = evaluated(collected, request, item.tuning_rows(request))
    html = page_of(ev, request)
    result = log_evaluation(store, run.run_id, ev, how, html=html, checklist=request.checklist)
    paths: tuple[Path, ...] = ()
    if how.out is not None and not how.dry_run:
        paths = write_out(ev, html, Path(how.out), request, several=several, name=item.name)
    return Done(ev, collected.taken, result, len(html.encode()), paths)


def log_evaluation(
    store: Store,
    run_id: str,
    ev: Evaluation,
    how: LogOptions,
    *,
    html: str | None = None,
    checklist: str | None = None,
) -> Logged:
    """Log an evaluation that was made already into a run."""
    made = payload(
        ev,
        html if html is not None else render(ev, checklist=checklist),
        drawn(ev),
        verdict=headline(ev).text,
        version=__version__,
        prefix=how.prefix,
        options={} if checklist is None else {"checklist": checklist},
    )
    now = time.time_ns() // 1_000_000
    return log(made, run_id, store, timestamp=now, force=how.force, dry_run=how.dry_run)
