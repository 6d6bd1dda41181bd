"""`evalreport site`: an experiment as a folder of pages for reviewers and for any web host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.options import SectionCommand, Words
from evalreport.cli.parallel import outcomes, processes_for
from evalreport.cli.requests import request_of, selection_of, several_words, tracking_uri
from evalreport.cli.streams import Progress
from evalreport.core.errors import UsageError

if TYPE_CHECKING:
    from evalreport.features.site.build import MadeSite
    from evalreport.features.site.leaderboard import OverTime
    from evalreport.tracking.interface import Logged
    from evalreport.workflow.request import Destination, Request

_site = opt.HelpSection("Site")


@click.command("site", cls=SectionCommand)
@opt.selection
@opt.describe
@opt.compared
@_site("--sort-by", "METRIC", "Metric of the leaderboard; the first headline one.")
@_site("--columns", "LIST", "Metrics, parameters and tags that are shown.", type=Words())
@_site(
    "--champion",
    "TAG",
    "Tag of each run that is, or was, the champion; its value may be the day since when.",
    default="champion",
)
@opt.said
@opt.no_examples
@opt.write("-o --output", opt.FOLDER, "Folder of the site.")
@opt.write("--log", opt.FLAG, "Log into the run of the champion, or the best.", envvar=None)
@opt.write("--log-to", "ID", "Log the site into this run.", envvar=None)
@opt.force
@opt.allow_running
@opt.jobs
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Write an experiment as a static site: leaderboard, reports, comparisons with the champion.

    A second call makes only what has changed. Opens from a folder, without a server.
    """
    from evalreport.features.site.build import SiteFolder, SiteRequest, log_site, make_site
    from evalreport.workflow.items import items_of
    from evalreport.workflow.request import Destination

    console = ctx.ensure_object(Console)
    selection = selection_of(options, every_status=True)
    if selection is None:
        raise UsageError("no experiment is named", fix="pass --experiment NAME")
    if options["output"] is None:
        raise UsageError("no folder is named", fix="pass -o site/")
    wanted = SiteRequest(options["sort_by"], several_words(options["columns"]), options["champion"])
    folder = SiteFolder(Path(options["output"]), options["force"])
    items = items_of((), selection, tracking_uri(ctx))
    done = make_site(items, request_of(options, ""), wanted, folder, _doing(console, options["jobs"]))
    logged = None
    if options["log"] or options["log_to"]:
        where = Destination(log=True, force=options["force"], allow_running=options["allow_running"])
        logged = log_site(done, items[0].tracking_store, options["log_to"], where)
    _tell(console, done, options["output"], logged)
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
    for run in board.missing:
        console.say(f"{run.name} is not ranked: {run.reason}")
    console.print_result(
        board_headline(board).text,
        f"{pluralize(len(board.runs), 'run')} ranked, {len(board.missing)} not; {done.made} evaluated anew,"
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


ALONE = ("baseline", "sort_by", "by", "systems", "out", "log_to")
"""Options of a comparison that say nothing about time."""


def _over_time(
    console: Console,
    files: Sequence[str],
    options: dict[str, Any],
    request: Request,
    where: Destination,
    uri: str | None,
) -> int | None:
    """Print, and where asked write, the metric over time; None without --over-time."""
    if not options["over_time"]:
        return None
    from evalreport.core.format import pluralize
    from evalreport.features.site.leaderboard import over_time
    from evalreport.features.site.page import (
        day,
        notes_of,
        over_time_headline,
        render_over_time,
        run_in_words,
    )
    from evalreport.tracking.folder import write_page
    from evalreport.workflow.items import folds_of, items_of

    given = [name for name in ALONE if options.get(name)]
    if given or options["log"] or options["output"] == "-":
        raise UsageError(
            "--over-time is printed, written with -o FILE, or given as JSON", fix="leave the rest out"
        )
    selection, children = selection_of(options), options["children"]
    items = folds_of(items_of(files, selection, uri), files=False, children=children)
    found, failed = over_time(items, request, options["metric"])
    for name, error in failed.items():
        console.warn(f"{name} is skipped: {error.message}")
    notes = notes_of(found)
    console.print_result(over_time_headline(found).text)
    wide = max(len(run.run) for run in found.runs)
    for run in found.runs:
        value, ends = run_in_words(found, run)
        told = f"{day(run.started, year=True):>11}  {run.run:{wide}}  {value:>7}  {ends}"
        console.print_result(f"{told}  {notes.get(run.run, '')}".rstrip())
    files = []
    if options["output"]:
        names = dict.fromkeys(item.run.experiment for item in items if item.run is not None)
        page = render_over_time(found, ", ".join(names))
        files.append(str(write_page(Path(options["output"]), page.encode(), force=options["force"])))
        console.print_result(files[0])
    _emit(console, found, files)
    console.say(f"{pluralize(len(found.runs), 'run')} by the time of their start")
    return 0


def _emit(console: Console, found: OverTime, files: list[str]) -> None:
    from evalreport.core.json_codec import encode

    body = {
        "metric": found.metric.name,
        "level": found.level,
        "runs": encode(found.runs),
        "changes": encode(found.changes),
        "test_set_changed_at": [run.run for run in found.breaks],
    }
    named = [{"run_id": run.run_id, "run_name": run.run, "source": run.run, "ok": True} for run in found.runs]
    console.emit(runs=named, over_time=body, files=files)


_compare = opt.HelpSection("Compare")
compare_options = opt.AddedOptions(
    opt.combine_options(
        _compare("--over-time", opt.FLAG, "One metric of the runs by the time of their start."),
        _compare("--metric", "METRIC", "The metric of --over-time; the first headline one."),
    ),
    instead=_over_time,
)
