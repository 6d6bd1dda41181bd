"""`evalreport log`: compute everything for finished runs and log it to MLflow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console, align_columns
from evalreport.cli.options import SectionCommand, engine
from evalreport.cli.parallel import each_run
from evalreport.cli.print_evaluation import as_run, metric_line, print_evaluation
from evalreport.cli.requests import command_line, destination_of, request_of, selection_of, tracking_uri
from evalreport.core.errors import EvalreportError, UsageError

if TYPE_CHECKING:
    from evalreport.evaluation.evaluation import Evaluation
    from evalreport.workflow.deliver import Delivered, StandingRun
    from evalreport.workflow.items import Item
    from evalreport.workflow.request import Destination, Request
    from evalreport.workflow.verify import VerifiedRuns

_check = opt.HelpSection("Check")


@click.command("log", cls=SectionCommand)
@opt.selection
@opt.children
@opt.describe
@opt.evaluation
@engine
@opt.hold
@opt.prevalence
@opt.prefix
@opt.out
@opt.page
@opt.force
@opt.allow_running
@_check("--verify", opt.FLAG, "Hold the run against what was logged into it.", envvar=None)
@_check("--repair", opt.FLAG, "Verify, and send again what is missing or changed.", envvar=None)
@opt.summary
@opt.dry_run
@opt.jobs
@opt.fail_fast
@opt.jsonl
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Compute metrics for finished runs and log them, with an HTML report, to MLflow."""
    from evalreport.workflow.deliver import StandingRun, log_item, report_item
    from evalreport.workflow.items import folds_of, items_of

    console = ctx.ensure_object(Console)
    selection = selection_of(options)
    if selection is None:
        raise UsageError("no run is named", fix="pass --run-id ID, --experiment NAME or --latest")
    request = request_of(options, command_line())
    items = items_of((), selection, tracking_uri(ctx), options["table"])
    items = folds_of(items, files=False, children=options["children"])
    where = destination_of(options, log=True, several=len(items) > 1)
    if options["verify"] or options["repair"]:
        return _verify_runs(console, items, request, where, options)

    told = console.json or console.summary or len(items) == 1  # its numbers are wanted, or every look at it
    work = partial(report_item if told else log_item, request=request, where=where)

    closing = [("run", "status", "result")]

    def show(done: Delivered[Evaluation] | StandingRun) -> dict[str, Any]:
        closing.append(_closing(done))
        if isinstance(done, StandingRun):
            console.print_result(f"{done.item.name}  unchanged since it was logged: {done.verdict}")
            return {"ok": True}
        for warning in done.warnings:
            console.warn(warning)
        print_evaluation(console, done.delivered_result, done.taken, console.print_result)
        console.print_result(*done.lines)
        console.summarise(done.delivered_result)
        return as_run(done.delivered_result) | {"logged": done.logged_json}

    code = each_run(console, items, work, show, options, lambda *what: closing.append(_failure_row(*what)))
    if len(items) > 1:
        console.print_result("", *align_columns(closing, left=(0, 1, 2)))
    return code


def _failure_row(item: Item, error: EvalreportError) -> tuple[str, str, str]:
    return item.name, f"failed, exit {error.exit_code}", error.message


def _closing(done: Delivered[Evaluation] | StandingRun) -> tuple[str, str, str]:
    """Return the line of a run in the table that closes the logging of several."""
    from evalreport.page.summary import headline_names
    from evalreport.workflow.deliver import StandingRun

    if isinstance(done, StandingRun):
        return done.item.name, "unchanged", done.verdict
    first = (
        metric_line(done.delivered_result, headline_names(done.delivered_result)[0])
        if headline_names(done.delivered_result)
        else ""
    )
    state = "tried only" if done.logged is None else done.logged.state
    return done.delivered_result.provenance.run_name, state, " ".join(first.split())


def _verify_runs(
    console: Console, items: Sequence[Item], request: Request, where: Destination, options: dict[str, Any]
) -> int:
    """Hold runs against what was logged into them, and mend them where that is asked for."""
    from evalreport.workflow.verify import verify_item

    if where.dry_run or where.out is not None:
        raise UsageError(
            "--verify writes nothing, and --repair writes into the run alone",
            fix="leave --dry-run and --out out",
        )

    work = partial(verify_item, request=request, where=where, repair=options["repair"])

    def show(done: VerifiedRuns) -> dict[str, Any]:
        for warning in done.warnings:
            console.warn(warning)
        console.print_result(
            *(f"{done.item.display_name}: {line}" if len(items) > 1 else line for line in done.lines)
        )
        return done.to_wire()

    return each_run(console, items, work, show, options)


opt.global_options(command)
