"""`evalreport verify`: compare runs with the manifests of what was logged into them, and repair them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.options import SectionCommand, engine
from evalreport.cli.parallel import each_run
from evalreport.cli.requests import command_line, destination_of, request_of, selection_of, tracking_uri
from evalreport.core.errors import UsageError

if TYPE_CHECKING:
    from evalreport.workflow.deliver import VerifiedRuns


@click.command(
    "verify",
    cls=SectionCommand,
    shown="run-id experiment filter latest repair artifact truth pred score force",
)
@opt.selection
@opt.write("--repair", opt.FLAG, "Log again what is missing or changed.", envvar=None)
@opt.children
@opt.describe
@opt.evaluation
@engine
@opt.constraint_confidence
@opt.prevalence
@opt.prefix
@opt.page
@opt.force
@opt.allow_running
@opt.jobs
@opt.fail_fast
@opt.jsonl
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Check that everything evalreport logged is still in the run; exit 1 when something changed.

    --repair logs the missing parts again. It needs the options of the command that logged them only where the
    evaluation.json of the run is damaged.
    """
    from evalreport.workflow.deliver import verify_item
    from evalreport.workflow.items import folds_of, items_of

    console = ctx.ensure_object(Console)
    selection = selection_of(options)
    if selection is None:
        raise UsageError("no run is named", fix="pass --run-id ID, --experiment NAME or --latest")
    request = request_of(options, command_line())
    items = items_of((), selection, tracking_uri(ctx), options["table"])
    items = folds_of(items, files=False, children=options["children"])
    where = destination_of(options, log=True, several=len(items) > 1)
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
