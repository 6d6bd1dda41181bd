"""`evalreport report`: the HTML of a run or a file, without writing to MLflow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.options import SectionCommand, engine
from evalreport.cli.parallel import each_run
from evalreport.cli.print_evaluation import as_run, print_evaluation
from evalreport.cli.requests import command_line, destination_of, request_of, selection_of, tracking_uri
from evalreport.core.errors import UsageError
from evalreport.core.extensions import extension

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalreport.evaluation.evaluation import Evaluation
    from evalreport.workflow.deliver import Delivered
    from evalreport.workflow.items import Item
    from evalreport.workflow.request import Request


@click.command("report", cls=SectionCommand)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=opt.FILE)
@opt.selection
@opt.children
@opt.data("--folds", opt.FLAG, "Each FILE is a fold of one cross-validation; with --answers, a sample.")
@opt.describe
@opt.evaluation
@engine
@opt.hold
@opt.prevalence
@opt.page
@opt.write("-o --output", opt.FILE, "HTML file; - for stdout.")
@opt.write("--facts", opt.FILE, "Write the facts alone (.facts), to add up: report part-*.facts.")
@opt.out
@opt.summary
@opt.force
@opt.jobs
@opt.fail_fast
@opt.jsonl
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> int:
    """Write the HTML report of runs or files; a file touches no server. FILE may be - for stdin."""
    from evalreport.workflow.deliver import report_item
    from evalreport.workflow.items import folds_of, items_of
    from evalreport.workflow.request import STDOUT

    console = ctx.ensure_object(Console)
    items = items_of(files, selection_of(options), tracking_uri(ctx), options["table"])
    items = folds_of(items, files=options["folds"], children=options["children"])
    if options["engine"] == "stream" and len(files) == len(items) > 1:
        told = "each file is a table and a report of its own"
        console.warn(f"{told}; files of one table are named by their folder, or by a quoted pattern")
    request = request_of(options, command_line())
    if options["facts"]:
        return _facts(console, items, request, options)
    elsewhere = console.json or console.summary or options["jsonl"] or options["out"]
    page = not elsewhere or options["output"] is not None
    where = destination_of(options, page=page, several=len(items) > 1)

    work = partial(report_item, request=request, where=where)

    def show(done: Delivered[Evaluation]) -> dict[str, Any]:
        for warning in done.warnings:
            console.warn(warning)
        print_evaluation(console, done.delivered_result, done.taken, console.say)
        if options["output"] == STDOUT:
            console.document(done.document.html)
        console.print_result(*done.lines)
        console.summarise(done.delivered_result)
        return as_run(done.delivered_result) | {"files": done.files}

    return each_run(console, items, work, show, options)


def _facts(console: Console, items: Sequence[Item], request: Request, options: dict[str, Any]) -> int:
    """Write what was counted of one item, and no page."""
    write = extension("options", "--facts")
    if len(items) > 1:
        raise UsageError("--facts names one file for several inputs", fix="write the facts of one at a time")
    if options["output"] or options["out"]:
        raise UsageError(
            "--facts writes facts alone, no page",
            where="--facts",
            fix="leave -o out; report x.facts makes one",
        )
    write(items[0], options["facts"], request, force=options["force"])
    console.print_result(options["facts"])
    console.emit(runs=[{"source": items[0].display_name, "ok": True, "files": [options["facts"]]}], ok=True)
    return 0


opt.global_options(command)
