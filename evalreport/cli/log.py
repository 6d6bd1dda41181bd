"""`evalreport log`: evaluate finished runs and log the results to MLflow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console, align_columns
from evalreport.cli.options import SectionCommand, engine
from evalreport.cli.parallel import each_run
from evalreport.cli.print_evaluation import as_run, metric_line, print_evaluation
from evalreport.cli.requests import command_line, destination_of, request_of, selection_of, tracking_uri
from evalreport.core.errors import EvalreportError, NoPredictionsError, UsageError

if TYPE_CHECKING:
    from evalreport.evaluation.evaluation import Evaluation
    from evalreport.workflow.deliver import Delivered, StandingRun
    from evalreport.workflow.items import Item


_added = opt.added_options("log")


@click.command(
    "log",
    cls=SectionCommand,
    shown="run-id experiment filter latest artifact predict-on truth pred score scores positive response "
    "slice "
    "threshold tune-on output log-all dry-run force",
)
@opt.selection
@opt.combine_options(*(group.options for group in _added))
@opt.children
@opt.describe
@opt.evaluation
@engine
@opt.constraint_confidence
@opt.prevalence
@opt.prefix
@opt.log_all
@opt.output
@opt.markdown
@opt.page
@opt.force
@opt.allow_running
@opt.dry_run
@opt.jobs
@opt.fail_fast
@opt.jsonl
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Evaluate finished runs and log metrics, figures and an HTML report to MLflow."""
    from evalreport.workflow.deliver import StandingRun, log_item, report_item
    from evalreport.workflow.items import folds_of, items_of

    console = ctx.ensure_object(Console)
    selection = selection_of(options)
    if selection is None:
        raise UsageError(
            "no run is named",
            fix="pass --run-id ID, --experiment NAME or --latest; `evalreport report FILE` reads files",
        )
    request = request_of(options, command_line())
    items = items_of((), selection, tracking_uri(ctx), options["table"])
    items = folds_of(items, files=False, children=options["children"])
    where = destination_of(options, log=True, several=len(items) > 1)
    all_numbers = console.json or console.markdown or len(items) == 1
    work: Any = partial(report_item if all_numbers else log_item, request=request, where=where)
    for group in _added:
        work = group.extend(work, options)
        group.announce(console, items, options)

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

    def record_failure(item: Item, error: EvalreportError) -> None:
        if not isinstance(error, NoPredictionsError):
            closing.append((item.name, f"failed, exit {error.exit_code}", error.message))

    code = each_run(console, items, work, show, options, record_failure)
    if len(items) > 1:
        console.print_result("", *align_columns(closing, left=(0, 1, 2)))
    return code


def _closing(done: Delivered[Evaluation] | StandingRun) -> tuple[str, str, str]:
    """Return the line of a run in the final table of several runs."""
    from evalreport.page.text_summary import headline_names
    from evalreport.workflow.deliver import StandingRun

    if isinstance(done, StandingRun):
        return done.item.name, "unchanged", done.verdict
    first = (
        metric_line(done.delivered_result, headline_names(done.delivered_result)[0])
        if headline_names(done.delivered_result)
        else ""
    )
    state = "not written" if done.logged is None else done.logged.state
    return done.delivered_result.provenance.run_name, state, " ".join(first.split())


opt.global_options(command)
