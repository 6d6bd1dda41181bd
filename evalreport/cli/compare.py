"""`evalreport compare`: two or more runs or files side by side, with paired intervals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import gate
from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.inputs import command_line, destination_of, request_of, selection_of, tracking_uri
from evalreport.cli.sections import SectionCommand
from evalreport.cli.show import as_run, print_delivered
from evalreport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalreport.comparison.over_time import OverTime
    from evalreport.workflow.compare import CompareRequest
    from evalreport.workflow.request import Request
    from evalreport.workflow.runs import Item

_compare = opt.HelpSection("Compare")


@click.command("compare", cls=SectionCommand)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=opt.FILE)
@opt.selection
@opt.children
@opt.describe
@opt.compared
@opt.prevalence
@opt.detect
@opt.equivalent
@_compare(
    "--baseline",
    "NAME|ID|FILE|N",
    "What the others are held against; the first (with --sort-by the best) when not given.",
)
@_compare(
    "--by", "KEY", "Runs alike in params.NAME or tags.NAME are one system of several seeds.", multiple=True
)
@_compare(
    "--system systems", "NAME=RUN,FILE,…", "A system of several seeds; repeated.", multiple=True, envvar=None
)
@_compare("--all-pairs", opt.FLAG, "Compare all with all.")
@_compare("--unpaired", opt.FLAG, "The runs were scored on different examples.")
@_compare("--sort-by", "METRIC", "Best first, and which cannot be told from the best.")
@_compare(
    "--cost",
    "N",
    "What a miss costs in false alarms, or fp=1,fn=10,tp=0,tn=0: matched where that is lowest, too.",
)
@_compare("--over-time", opt.FLAG, "One metric of the runs by the time of their start.")
@_compare("--metric", "METRIC", "The metric of --over-time; the first headline one.")
@gate.rules
@opt.report("--title", "TEXT", "Title of the page.")
@opt.said
@opt.no_examples
@opt.write("-o --output", opt.FILE, "HTML page; - for stdout.")
@opt.pdf
@opt.out
@opt.summary
@opt.write("--log", opt.FLAG, "Log into the runs' parent, or the baseline.", envvar=None)
@opt.write("--log-to", "ID", "Log page and differences into this run.", envvar=None)
@opt.force
@opt.allow_running
@opt.dry_run
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> int:
    """Compare runs or files with paired intervals; FILE may be an evaluation.json (then unpaired).

    Examples are matched by --id; without ids by order, if the truth is the same. Every run but
    the baseline is held against the rules of --require, as `check` holds it alone; exit 1 unless all pass.
    With --by or --system each side is several runs: intervals cover new rows and new seeds.
    """
    from evalreport.cli.plan import equal_lines, needed_lines
    from evalreport.cli.show_comparison import print_comparison
    from evalreport.cli.systems import show_systems
    from evalreport.comparison.planning import equivalences
    from evalreport.workflow.compare import compared
    from evalreport.workflow.compare_deliver import as_record, deliver_comparison
    from evalreport.workflow.request import STDOUT
    from evalreport.workflow.runs import folds_of, items_of

    console = ctx.ensure_object(Console)
    where = destination_of(options, log=bool(options["log"] or options["log_to"]))
    uri, to_stdout = tracking_uri(ctx), options["output"] == STDOUT
    request = request_of(options, command_line())
    if options["by"] or options["systems"]:
        return show_systems(console, files, options, request, where, uri)
    items = folds_of(items_of(files, selection_of(options), uri), files=False, children=options["children"])
    if options["over_time"]:
        return compared_over_time(console, items, request, options)
    done = compared(items, request, _how(options))
    for name, error in done.skipped.items():
        console.warn(f"{name} is skipped: {error.message}")
    try:  # whoever reads our lines may stop early (`| head -3`): what was asked for is written before
        made = deliver_comparison(done, request, where, log_to=options["log_to"], tracking_uri=uri)
    finally:
        print_comparison(console, done, console.say if to_stdout else console.out)
        more = (*needed_lines(done.needed), *equal_lines(done.comparison, options["equivalent"]))
        (console.say if to_stdout else console.out)(*more)
    print_delivered(console, made, options)
    console.emit(
        runs=[as_run(ev) for ev in done.comparison.evaluations],
        ok=done.open,
        comparison=as_record(done),
        **({"rows_needed": done.needed} if options["detect"] else {}),
        **(
            {"equivalent": equivalences(done.comparison, within)} if (within := options["equivalent"]) else {}
        ),
        files=made.files,
        logged=made.logged_json,
    )
    return 0 if done.open else 1


def _how(options: dict[str, Any]) -> CompareRequest:
    """What is compared with what, and by which rules."""
    from evalreport.thresholds.objectives import stated_costs
    from evalreport.workflow.compare import CompareRequest

    return CompareRequest(
        **vars(gate.rules_of(options)),
        **{name: options[name] for name in ("baseline", "all_pairs", "sort_by", "unpaired", "detect")},
        costs=None if options["cost"] is None else stated_costs(options["cost"]),
        skip=not options["run_ids"],
    )


opt.global_options(command)


ALONE = ("baseline", "sort_by", "out", "log_to")
"""Options of a comparison that say nothing about time."""


def compared_over_time(
    console: Console, items: Sequence[Item], request: Request, options: dict[str, Any]
) -> int:
    """Print, and where asked write, the metric over time."""
    from evalreport.format import counted
    from evalreport.panels.history import day
    from evalreport.panels.over_time import notes_of, over_time_headline, run_in_words
    from evalreport.report.site import render_over_time
    from evalreport.sinks.folder import write_page
    from evalreport.workflow.compare import over_time

    given = [name for name in ALONE if options[name]]
    if given or options["log"] or options["output"] == "-":
        raise UsageError(
            "--over-time is printed, written with -o FILE, or given as JSON", fix="leave the rest out"
        )
    found, failed = over_time(items, request, options["metric"])
    for name, error in failed.items():
        console.warn(f"{name} is skipped: {error.message}")
    notes = notes_of(found)
    console.out(over_time_headline(found).text)
    wide = max(len(run.run) for run in found.runs)
    for run in found.runs:
        value, ends = run_in_words(found, run)
        told = f"{day(run.started, year=True):>11}  {run.run:{wide}}  {value:>7}  {ends}"
        console.out(f"{told}  {notes.get(run.run, '')}".rstrip())
    files = []
    if options["output"]:
        names = dict.fromkeys(item.run.experiment for item in items if item.run is not None)
        page = render_over_time(found, ", ".join(names))
        files.append(str(write_page(Path(options["output"]), page.encode(), force=options["force"])))
        console.out(files[0])
    _emit(console, found, files)
    console.say(f"{counted(len(found.runs), 'run')} by the time of their start")
    return 0


def _emit(console: Console, found: OverTime, files: list[str]) -> None:
    from evalreport.codec import encode

    body = {
        "metric": found.metric.name,
        "level": found.level,
        "runs": encode(found.runs),
        "changes": encode(found.changes),
        "test_set_changed_at": [run.run for run in found.breaks],
    }
    named = [{"run_id": run.run_id, "run_name": run.run, "source": run.run, "ok": True} for run in found.runs]
    console.emit(runs=named, over_time=body, files=files)
