"""`evalreport site`: an experiment as a folder of pages for reviewers and for any web host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console, Progress
from evalreport.cli.options import SectionCommand
from evalreport.cli.parallel import outcomes, processes_for
from evalreport.cli.requests import Words, request_of, selection_of, several_words, tracking_uri
from evalreport.core.errors import UsageError

if TYPE_CHECKING:
    from evalreport.features.site.build import MadeSite
    from evalreport.tracking.runs import Logged

_site = opt.HelpSection("Site")


@click.command(
    "site",
    cls=SectionCommand,
    shown="experiment filter latest run-id truth pred score positive id sort-by metrics output log "
    "log-to force",
)
@opt.selection
@opt.describe
@opt.compared
@_site("--sort-by", "METRIC", "Metric of the leaderboard (default: the main metric of the task).")
@_site.setting("columns", "LIST", "Metrics, parameters and tags to show.", type=Words())
@_site.setting(
    "champion",
    "TAG",
    "Tag of the champion runs; its value may be the first day as champion.",
    default="champion",
)
@opt.page_texts
@opt.no_examples
@opt.write("-o --output folder", opt.FOLDER, "Folder of the site.")
@opt.write("--log", opt.FLAG, "Log into the run of the champion, or the best run.", envvar=None)
@opt.write("--log-to", "ID", "Log the site into this run.", envvar=None)
@opt.force
@opt.allow_running
@opt.jobs
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Write an experiment as a static site: leaderboard, reports, comparisons with the champion.

    A second call updates only what has changed. The site opens from a folder, without a server.
    """
    from evalreport.features.site.build import SiteFolder, SiteRequest, log_site, make_site
    from evalreport.workflow.items import items_of
    from evalreport.workflow.request import Destination

    console = ctx.ensure_object(Console)
    selection = selection_of(options, every_status=True)
    if selection is None:
        raise UsageError("no experiment is named", fix="pass --experiment NAME")
    if options["folder"] is None:
        raise UsageError("no folder is named", fix="pass -o site/")
    wanted = SiteRequest(options["sort_by"], several_words(options["columns"]), options["champion"])
    folder = SiteFolder(Path(options["folder"]), options["force"])
    items = items_of((), selection, tracking_uri(ctx))
    done = make_site(items, request_of(options, ""), wanted, folder, _doing(console, options["jobs"]))
    logged = None
    if options["log"] or options["log_to"]:
        where = Destination(log=True, force=options["force"], allow_running=options["allow_running"])
        logged = log_site(done, items[0].tracking_store, options["log_to"], where)
    _tell(console, done, options["folder"], logged)
    return 0


def _doing(console: Console, jobs: int | None) -> Callable[..., Iterator[tuple[Any, Any]]]:
    """How work is done: in processes, with one line of progress."""

    def do(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        count = processes_for(len(items), jobs)
        with (
            Progress(console, len(items)) as progress,
            closing(outcomes(items, work, count, progress)) as found,
        ):
            for item, outcome in found:
                progress.end()
                yield item, outcome

    return do


def _tell(console: Console, done: MadeSite, folder: str, logged: Logged | None) -> None:
    from evalreport.core.format import pluralize
    from evalreport.core.json_codec import encode
    from evalreport.features.site.page import board_headline

    board = done.board
    for warning in done.warnings:
        console.warn(warning)
    without = [run for run in board.missing if not run.has_predictions]
    for run in board.missing:
        if run.has_predictions or len(without) == 1:
            console.say(f"{run.name} is not ranked: {run.reason}")
    if len(without) > 1:
        console.say(f"{len(without)} runs are not ranked: no predictions; the site shows how to add them")
    console.print_result(
        board_headline(board).text,
        f"{pluralize(len(board.runs), 'run')} ranked, {len(board.missing)} not; {done.made} evaluated,"
        f" {pluralize(done.written, 'file')} written, {done.removed} removed",
        f"{folder.rstrip('/')}/index.html",
    )
    if logged is not None:
        console.print_result(
            f"logged into the run: {pluralize(len(logged.files), 'file')}, {logged.state}", logged.page
        )
    console.emit(
        runs=[
            {"run_id": run.run_id, "run_name": run.name, "source": run.name, "ok": True} for run in board.runs
        ],
        site={
            "metric": board.metric.name,
            "ranking": encode(board.ranking),
            "missing": encode(board.missing),
            "made": done.made,
            "written": done.written,
            "removed": done.removed,
            "files": list(done.paths),
            "logged": None if logged is None else encode(logged),
        },
    )


opt.global_options(command)
