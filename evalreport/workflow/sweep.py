"""What becomes of a sweep: a page, files in a folder, and everything logged into an MLflow run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalreport import __version__, figures
from evalreport.panels.selection.verdict import headline as chosen_headline
from evalreport.panels.study.verdict import headline as study_headline
from evalreport.report.names import SWEEP_PAGE
from evalreport.report.render import render_thresholds, render_trials
from evalreport.report.sweep_contents import Swept, sweep_files, sweep_payload
from evalreport.sinks.folder import run_folder, write_file, write_folder
from evalreport.sinks.mlflow import Logged, check_run, log
from evalreport.sources.mlflow_client import Store
from evalreport.sources.runs import RunInfo
from evalreport.study.judged import Study
from evalreport.workflow.log import LogOptions, lines_of, logged_as_dict, warnings_of
from evalreport.workflow.report import STDOUT, spare_files


@dataclass(frozen=True)
class SweepOptions:
    """Where a sweep goes.

    Parameters
    ----------
    output : str or None
        HTML file, or ``-`` for standard output.
    out : str or None
        Folder for everything.
    log : LogOptions or None
        How it is logged, where it is.
    several : bool
        Whether each of several has a folder of its own in `out`.
    """

    output: str | None = None
    out: str | None = None
    log: LogOptions | None = None
    several: bool = False


@dataclass(frozen=True)
class Done:
    """A sweep, its page, the files that were written, and what was logged."""

    swept: Swept
    html: str
    paths: tuple[Path, ...]
    result: Logged | None

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that tell what was logged and written."""
        if self.result is None:
            return tuple(map(str, self.paths))
        size = len(self.html.encode()) / 1000
        what = f"{len(self.result.metrics)} metrics and {SWEEP_PAGE} ({size:.0f} kB)"
        return (*lines_of(self.result, what), *map(str, self.paths), *filter(None, [self.result.page]))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know of the run that was logged to."""
        return () if self.result is None else warnings_of(self.result)

    @property
    def logged(self) -> dict[str, Any] | None:
        """What was logged, for JSON."""
        return None if self.result is None else logged_as_dict(self.result)


def finished(
    swept: Swept,
    how: SweepOptions,
    *,
    store: Store | None = None,
    run: RunInfo | None = None,
    name: str = "",
    read: Sequence[str | None] = (),
) -> Done:
    """Write the page and the files of a sweep, and log it into a run.

    Parameters
    ----------
    store, run : Store and RunInfo, optional
        Needed where `how` says that it is logged.
    name : str
        Of the folder of one of several.
    read : sequence of str or None
        Files that were read, which are not written over.

    Raises
    ------
    EvalreportError
        A place that cannot be written to; a run that cannot be logged to.
    """
    html = page_of(swept)
    drawn = figures.sweep_figures(swept) if how.out is not None or how.log is not None else {}
    page = Path(how.output) if how.output is not None and how.output != STDOUT else None
    files = sweep_files(swept, html, drawn) if how.out is not None else {}
    folder = Path(how.out or ".")
    if how.several:
        folder = run_folder(folder, name, "" if run is None else run.run_id)
    spare_files([*(folder / path for path in files), *([] if page is None else [page])], read)
    result = None
    if how.log is not None and store is not None and run is not None:
        result = log_sweep(store, run.run_id, swept, how.log, html=html, drawn=drawn)
    if how.log is not None and how.log.dry_run:
        return Done(swept, html, (), result)
    paths = () if page is None else (write_file(page, html.encode()),)
    return Done(swept, html, (*paths, *write_folder(files, folder)), result)


def page_of(swept: Swept) -> str:
    """Return the page of a sweep."""
    return render_trials(swept) if isinstance(swept, Study) else render_thresholds(swept)


def verdict_of(swept: Swept) -> str:
    """Return the outcome of a sweep in one sentence."""
    found = study_headline(swept) if isinstance(swept, Study) else chosen_headline(swept)
    return found.text


def log_sweep(
    store: Store,
    run_id: str,
    swept: Swept,
    how: LogOptions,
    *,
    html: str | None = None,
    drawn: Mapping[str, bytes] | None = None,
) -> Logged:
    """Log a sweep into a finished run, beside what is logged of its own evaluation."""
    check_run(store, run_id, force=how.force)
    made = sweep_payload(
        swept,
        page_of(swept) if html is None else html,
        figures.sweep_figures(swept) if drawn is None else drawn,
        verdict=verdict_of(swept),
        version=__version__,
        prefix=how.prefix,
    )
    now = time.time_ns() // 1_000_000
    return log(made, run_id, store, timestamp=now, force=how.force, dry_run=how.dry_run)
