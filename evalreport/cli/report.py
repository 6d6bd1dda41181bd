"""`evalreport report`: the HTML of a run or a file, without writing to MLflow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.options import SectionCommand, engine
from evalreport.cli.parallel import each_run
from evalreport.cli.print_evaluation import as_run, open_page, print_evaluation
from evalreport.cli.requests import command_line, destination_of, request_of, selection_of, tracking_uri
from evalreport.core.errors import UsageError
from evalreport.core.extensions import extension

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalreport.evaluation.evaluation import Evaluation
    from evalreport.workflow.deliver import Delivered
    from evalreport.workflow.items import Item
    from evalreport.workflow.request import Request


@click.command(
    "report",
    cls=SectionCommand,
    shown="run-id experiment truth pred score scores score-kind positive labels id response slice where "
    "threshold "
    "tune-on output title markdown open",
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=opt.FILE)
@opt.selection
@opt.children
@opt.data("--folds", opt.FLAG, "Each FILE is a fold of one cross-validation; with --repeats, a response.")
@opt.describe
@opt.evaluation
@engine
@opt.constraint_confidence
@opt.prevalence
@opt.page
@opt.output
@opt.markdown
@opt.write("--open", opt.FLAG, "Open the page in the browser.", envvar=None)
@opt.large(
    "--save-statistics",
    opt.FILE,
    "Write only the sufficient statistics (.stats); `report part-*.stats` adds them up.",
)
@opt.force
@opt.jobs
@opt.fail_fast
@opt.jsonl
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> int:
    """Write the HTML report of files or runs; files need no MLflow server. FILE may be - for stdin."""
    from evalreport.workflow.deliver import report_item
    from evalreport.workflow.items import folds_of, items_of
    from evalreport.workflow.request import STDOUT

    console = ctx.ensure_object(Console)
    items = items_of(files, selection_of(options), tracking_uri(ctx), options["table"])
    items = folds_of(items, files=options["folds"], children=options["children"])
    if options["engine"] == "stream" and len(files) == len(items) > 1:
        console.warn(
            "each file gets its own report; name the files of one table by their folder or a quoted pattern"
        )
    request = request_of(options, command_line())
    if options["save_statistics"]:
        return _save_statistics(console, items, request, options)
    other = console.json or console.replaces_page or options["jsonl"] or options["out"]
    page = not other or options["output"] is not None
    where = destination_of(options, page=page, several=len(items) > 1)
    if options["open"] and (len(items) > 1 or options["output"] == STDOUT or not (page or options["out"])):
        raise UsageError(
            "--open needs one page in a file",
            where="--open",
            fix="name one run or file, and -o page.html" if len(items) == 1 else "name one run or file",
        )

    work = partial(report_item, request=request, where=where)

    def show(done: Delivered[Evaluation]) -> dict[str, Any]:
        for warning in done.warnings:
            console.warn(warning)
        print_evaluation(console, done.delivered_result, done.taken, console.say)
        if options["output"] == STDOUT:
            console.document(done.document.html)
        console.print_result(*done.lines)
        console.summarise(done.delivered_result)
        if options["open"]:
            open_page(console, done.files)
        return as_run(done.delivered_result) | {"files": done.files}

    return each_run(console, items, work, show, options)


def _save_statistics(
    console: Console, items: Sequence[Item], request: Request, options: dict[str, Any]
) -> int:
    """Write the sufficient statistics of one item, and no page."""
    write = extension("options", "--save-statistics")
    if len(items) > 1:
        raise UsageError(
            "--save-statistics names one file for several inputs",
            where="--save-statistics",
            fix="write the statistics of one input at a time",
        )
    if options["output"] or options["out"] or console.markdown:
        raise UsageError(
            "--save-statistics writes no page and no summary",
            where="--save-statistics",
            fix="remove -o and --markdown; `evalreport report x.stats` writes the page",
        )
    write(items[0], options["save_statistics"], request, force=options["force"])
    console.print_result(options["save_statistics"])
    console.emit(
        runs=[{"source": items[0].display_name, "ok": True, "files": [options["save_statistics"]]}], ok=True
    )
    return 0


opt.global_options(command)
