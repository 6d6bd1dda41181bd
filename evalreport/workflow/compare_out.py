"""A comparison as JSON, as a page, into a folder, and into a run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalreport import __version__
from evalreport.errors import UsageError
from evalreport.panels.comparison.words import headline
from evalreport.report.comparison import comparison_files, comparison_payload
from evalreport.report.render import render_comparison
from evalreport.sinks.folder import write_file, write_folder
from evalreport.sinks.mlflow import Logged, check_run, log
from evalreport.sources.mlflow_client import Store, connect
from evalreport.sources.runs import find_run
from evalreport.workflow.compare import Compared
from evalreport.workflow.report import STDOUT, spare
from evalreport.workflow.request import Request

PARENT_TAG = "mlflow.parentRunId"


@dataclass(frozen=True)
class KeepOptions:
    """Where a comparison goes beside the terminal.

    Parameters
    ----------
    output : str or None
        HTML file, or ``-`` for standard output.
    out : str or None
        Folder for everything.
    logs : bool
        Into the parent that all compared runs share, else into the baseline.
    log_to : str or None
        Id of another run to log into.
    """

    output: str | None = None
    out: str | None = None
    logs: bool = False
    log_to: str | None = None
    force: bool = False
    dry_run: bool = False
    tracking_uri: str | None = None

    @property
    def page(self) -> bool:
        """Whether a page is made at all."""
        return bool(self.output or self.out or self.logs or self.log_to)


@dataclass(frozen=True)
class Kept:
    """What was written."""

    html: str = ""
    paths: tuple[Path, ...] = ()
    result: Logged | None = None
    run_id: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know."""
        return () if self.result is None else self.result.notes

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that the command prints."""
        told = [str(path) for path in self.paths]
        if self.result is not None:
            what = f"{len(self.result.metrics)} metrics and the page of the comparison: run {self.run_id[:8]}"
            match self.result.state:
                case "unchanged":
                    told.append("unchanged: the run holds exactly this, nothing was written")
                case "dry run":
                    told.append(f"would log {what}")
                    told += [f"  {name}" for name in (*self.result.metrics, *self.result.files)]
                case _:
                    told.append(f"logged {what}")
            told += [self.result.page] if self.result.page else []
        return tuple(told)

    @property
    def logged(self) -> dict[str, Any] | None:
        """The same for JSON."""
        if self.result is None:
            return None
        return {
            "state": self.result.state,
            "run_id": self.run_id,
            "metrics": list(self.result.metrics),
            "files": list(self.result.files),
            "page": self.result.page,
        }


def as_json(done: Compared) -> dict[str, Any]:
    """Return `comparison` of the JSON: the comparison, its verdict in words, the rules and the ranking."""
    ranking = None
    if done.ranking is not None:
        told = done.ranking.as_dict()
        ranking = {"best": told["baseline"], "metric": told["primary"], "differences": told["differences"]}
    return {
        **done.comparison.as_dict(),
        "headline": headline(done.comparison).text,
        "rules": [outcome.as_dict() for outcome in done.outcomes],
        "ranking": ranking,
    }


def kept(done: Compared, request: Request, how: KeepOptions) -> Kept:
    """Write the page, the folder, and the run, as far as they are asked for.

    Raises
    ------
    UsageError
        What is read would be written over, or there is no run to log into.
    """
    if not how.page:
        return Kept()
    store, run_id = _target(done, how) if how.logs or how.log_to else (None, "")
    html, told = render_comparison(done.comparison, request.title), as_json(done)
    result = None
    if store is not None:
        made = comparison_payload(done.comparison, told, html, version=__version__)
        now = time.time_ns() // 1_000_000
        result = log(made, run_id, store, timestamp=now, force=how.force, dry_run=how.dry_run)
    return Kept(html, _written(done, request, how, html), result, run_id)


def _written(done: Compared, request: Request, how: KeepOptions, html: str) -> tuple[Path, ...]:
    paths: tuple[Path, ...] = ()
    if how.output is not None and how.output != STDOUT:
        place = Path(how.output)
        spare([place], request, done.items)
        paths = (write_file(place, html.encode()),)
    if how.out is not None:
        files = comparison_files(done.comparison, as_json(done), html)
        spare([Path(how.out) / path for path in files], request, done.items)
        paths += write_folder(files, Path(how.out))
    return paths


def _target(done: Compared, how: KeepOptions) -> tuple[Store, str]:
    """The run to log into: it has to be finished, and hold nothing of others under our names."""
    stores = [item.store for item in done.items if item.store is not None]
    store = stores[0] if stores else connect(how.tracking_uri)
    run_id = find_run(store, how.log_to).run_id if how.log_to else _home(done)
    check_run(store, run_id, force=how.force)
    return store, run_id


def _home(done: Compared) -> str:
    runs = [item.run for item in done.items if item.run is not None]
    parents = {run.tags.get(PARENT_TAG, "") for run in runs}
    if len(runs) == len(done.items) and len(parents) == 1 and "" not in parents:
        return parents.pop()
    base = None if done.comparison.baseline is None else done.items[done.comparison.baseline].run
    if base is None:
        raise UsageError(
            "there is no run to log the comparison into", where="--log", fix="name one with --log-to ID"
        )
    return base.run_id
