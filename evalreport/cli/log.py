"""`evalreport log`: compute everything for finished runs and log it to MLflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.inputs import command_line, request_of, selection_of, tracking_uri
from evalreport.cli.several import each_run
from evalreport.cli.show import as_run, print_evaluation
from evalreport.errors import UsageError

if TYPE_CHECKING:
    from evalreport.workflow.log import Done


@click.command("log", cls=opt.SectionCommand)
@opt.selection
@opt.describe
@opt.evaluation
@opt.prefix
@opt.out
@opt.page
@opt.force
@opt.dry_run
@opt.jobs
@opt.fail_fast
@opt.jsonl
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Compute metrics for finished runs and log them, with an HTML report, to MLflow."""
    from evalreport.workflow.log import LogOptions, log_run
    from evalreport.workflow.runs import open_runs

    console = ctx.ensure_object(Console)
    selection = selection_of(options)
    if selection is None:
        raise UsageError("no run is named", fix="pass --run-id ID, --experiment NAME or --latest")
    request = request_of(options, command_line())
    how = LogOptions(options["prefix"], options["force"], options["dry_run"], options["out"])
    store, runs = open_runs(tracking_uri(ctx), selection)

    def work(run: Any) -> Done:
        return log_run(store, run, request, how, several=len(runs) > 1)

    def show(done: Done) -> dict[str, Any]:
        for warning in done.warnings:
            console.warn(warning)
        print_evaluation(console, done.evaluation, done.taken, console.out)
        console.out(*done.lines)
        return as_run(done.evaluation) | {"logged": done.logged}

    return each_run(console, runs, work, show, options)


opt.global_options(command)
