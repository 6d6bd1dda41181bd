"""Where the sub-commands of `evalreport sweep` write to: a page, a folder, the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.errors import UsageError

if TYPE_CHECKING:
    from evalreport.sources.mlflow_client import Store
    from evalreport.sources.runs import RunInfo
    from evalreport.workflow.sweep import Done, SweepOptions

_WRITE = "Write"
writing = opt.together(
    [
        opt.option(_WRITE, "-o", "--output", metavar="FILE", type=opt.FILE, help="HTML page; - for stdout."),
        opt.out,
        opt.option(
            _WRITE, "--log", is_flag=True, envvar=None, help="Log into the run: page, table, best, series."
        ),
        opt.prefix,
        opt.force,
        opt.dry_run,
        opt.fail_fast,
        opt.jsonl,
    ]
)
"""Options of all three."""


def how_of(options: dict[str, Any], count: int) -> SweepOptions:
    """Return where so many sweeps go.

    Raises
    ------
    UsageError
        One file for several pages; a dry run of nothing.
    """
    from evalreport.workflow.log import LogOptions
    from evalreport.workflow.sweep import SweepOptions

    if options["output"] and count > 1:
        raise UsageError("-o names one file for several pages", fix="use --out DIR")
    log = LogOptions(options["prefix"], options["force"], options["dry_run"]) if options["log"] else None
    if options["dry_run"] and log is None:
        raise UsageError("--dry-run is given without --log", fix="add --log, or leave --dry-run out")
    return SweepOptions(options["output"], options["out"], log, count > 1)


def check_run_of(store: Store | None, run: RunInfo | None, how: SweepOptions) -> None:
    """Refuse a run that cannot be logged to before anything is worked out."""
    from evalreport.sinks.mlflow import check_run

    if how.log is not None and store is not None and run is not None:
        check_run(store, run.run_id, force=how.log.force)


def print_done(console: Console, done: Done, options: dict[str, Any]) -> None:
    """Tell what was written and logged; the page itself where stdout was named."""
    for warning in done.warnings:
        console.warn(warning)
    if options["output"] == "-":
        console.document(done.html)
    console.out(*done.lines)
