"""`evalreport sweep`: thresholds of predictions, an Optuna study, or the child runs of a sweep."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.inputs import command_line, request_of, selection_of, tracking_uri, written_now
from evalreport.cli.settings import SWEEPS
from evalreport.cli.several import each_run
from evalreport.errors import UsageError, nearest

if TYPE_CHECKING:
    from evalreport.evaluation.study import Study
    from evalreport.sources.mlflow_client import Store
    from evalreport.sources.runs import RunInfo
    from evalreport.workflow.sweep import Done, SweepOptions
    from evalreport.workflow.sweep_trials import StudyRequest

_SWEEP, _TRIALS, _WRITE = "Sweep", "Trials", "Write"
PAGE = "sweep.html"


class SweepGroup(click.Group):
    """Names the nearest command when there is none of that name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant."""
        name = args[0]
        if name not in SWEEPS and not name.startswith("-"):
            raise UsageError(
                f"no such command: sweep {name}", where="evalreport sweep", fix=nearest(name, SWEEPS)
            )
        return super().resolve_command(ctx, args)


@click.group("sweep", cls=SweepGroup)
def command() -> None:
    """Sweep thresholds, or report on a sweep that was run: an Optuna study, or child runs in MLflow."""


_output = opt.option(_WRITE, "-o", "--output", metavar="FILE", type=opt.FILE, help="HTML page; - for stdout.")
_log = opt.option(
    _WRITE, "--log", is_flag=True, envvar=None, help="Log into the run: page, table, best, series."
)
_writing = opt.together([_output, opt.out, _log, opt.prefix, opt.force, opt.dry_run])


@command.command("thresholds", cls=opt.SectionCommand)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=opt.FILE)
@opt.option(
    _SWEEP,
    "--objective",
    "objectives",
    metavar="OBJ",
    multiple=True,
    help="f1, youden, recall>=0.95, net_benefit:0.2, … | several labels: f1_macro, subset_accuracy, "
    "module:function, … | classes: accuracy>=0.95, f1_macro, …; repeat.",
)
@opt.option(_SWEEP, "--cost", metavar="N", help="What a miss costs in false alarms, or fp=1,fn=10,tp=0,tn=0.")
@opt.option(
    _SWEEP, "--costs", metavar="FILE", type=opt.FILE, help="Costs of each answer for each true class."
)
@opt.option(
    _SWEEP, "--trials", metavar="N", type=click.IntRange(min=1), help="Let Optuna search so many trials."
)
@opt.option(
    _SWEEP,
    "--timeout",
    metavar="S",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds it may search.",
)
@opt.option(_SWEEP, "--storage", metavar="URL|FILE", help="Where Optuna keeps its study.")
@opt.option(_SWEEP, "--study-name", metavar="NAME", help="What it calls the study.")
@opt.selection
@opt.describe
@opt.tune_on
@opt.confidence
@opt.resamples
@opt.seed
@opt.option("Report", "--title", metavar="TEXT", help="Title of the page, instead of the run's name.")
@opt.option("Report", "--unit", metavar="ONE,MANY", type=opt.Words(), help="What a row is.")
@_writing
@opt.fail_fast
@opt.jsonl
@click.pass_context
def thresholds(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> int:
    """Find the best threshold for each objective, with its value on rows that took no part in the choice.

    Several labels get a threshold each; classes get a cut-off of confidence or a weight each.
    """
    from evalreport.cli.show_sweep import print_chosen, run_of
    from evalreport.workflow.runs import Item, items_of
    from evalreport.workflow.sweep import finished
    from evalreport.workflow.sweep_thresholds import swept_item

    console = ctx.ensure_object(Console)
    _check_log(options, files)
    items = items_of(files, selection_of(options), tracking_uri(ctx))
    if options["output"] and len(items) > 1:
        raise UsageError("-o names one file for several pages", fix="use --out DIR")
    request = request_of({**options, "threshold": None, "metrics": None}, command_line())
    asked = _asked(options, console)
    how = _how(options, several=len(items) > 1)
    whole: dict[str, Any] = {}

    def work(item: Item) -> Done:
        _check_run(item.store, item.run, how)
        found, collected = swept_item(item, request, asked)
        console.say("took " + ", ".join(f"{part} {value}" for part, value in collected.taken))
        read = (item.path, request.truth_file, request.tune_on, options["costs"])
        return finished(found, how, store=item.store, run=item.run, name=item.name, read=read)

    def show(done: Done) -> dict[str, Any]:
        print_chosen(console, done)
        _print(console, done, options)
        body = run_of(done)
        if console.json:
            data = done.swept.as_dict()
            (body if len(items) > 1 or options["jsonl"] else whole).update(
                {"sweep": data} if len(items) > 1 or options["jsonl"] else data
            )
        return body

    return each_run(console, items, work, show, options, sweep=whole)


_trial_options = opt.together(
    [
        opt.option(
            _TRIALS,
            "--examples",
            metavar="N",
            type=click.IntRange(min=1),
            help="Examples that judged each trial: tells how lucky the best one is.",
        ),
        opt.option(
            _TRIALS,
            "--standard-error",
            metavar="S",
            type=click.FloatRange(min=0, min_open=True),
            help="Error of one trial's value, where it does not follow from --examples.",
        ),
        opt.option(
            _TRIALS,
            "--correlation",
            metavar="R",
            type=click.FloatRange(0, 1, max_open=True),
            help="Between the errors of two trials; independent when not given.",
        ),
        opt.option(
            _TRIALS,
            "--top",
            metavar="N",
            type=click.IntRange(min=1),
            default=20,
            show_default=True,
            help="Trials that are printed.",
        ),
        opt.confidence,
        opt.seed,
        opt.option("Report", "--title", metavar="TEXT", help="Title of the page."),
    ]
)


@command.command("optuna", cls=opt.SectionCommand)
@opt.option(
    _TRIALS,
    "--study",
    "storage",
    metavar="URL|FILE",
    required=True,
    help="Storage: sqlite:///study.db, or a journal file; read only, never created.",
)
@opt.option(_TRIALS, "--study-name", metavar="NAME", help="Which study, when the storage holds several.")
@opt.option(_TRIALS, "--metric", metavar="NAME", help="Which objective, or what the only one is called.")
@opt.option(_TRIALS, "--run-id", metavar="ID", help="MLflow parent run, to join trials with their runs.")
@_trial_options
@_writing
@click.pass_context
def optuna(ctx: click.Context, /, **options: Any) -> int:
    """Report on an Optuna study: history, importance, every trial, and how lucky the best one is."""
    from evalreport.workflow.sweep_trials import study_from_optuna

    how = _how(options)
    if how.log is not None and options["run_id"] is None:
        raise UsageError("--log needs the run to log into", fix="name the parent run with --run-id ID")
    store, parent = (None, None) if options["run_id"] is None else _parent(ctx, options["run_id"])
    _check_run(store, parent, how)
    metrics = () if options["metric"] is None else (options["metric"],)
    request = _study_request(options, metrics)
    study = study_from_optuna(options["storage"], options["study_name"], request, store=store, parent=parent)
    return _report(ctx, study, how, options, store, parent, read=options["storage"])


@command.command("runs", cls=opt.SectionCommand)
@opt.option(_TRIALS, "--run-id", metavar="ID", required=True, help="Parent run of the sweep.")
@opt.option(
    _TRIALS,
    "--metric",
    "metrics",
    metavar="NAME",
    multiple=True,
    help="What was optimised; repeat for several objectives, the one to report on first.",
)
@opt.option(
    _TRIALS,
    "--direction",
    "directions",
    type=click.Choice(["maximize", "minimize"]),
    multiple=True,
    help="Of each --metric, in their order.",
)
@_trial_options
@_writing
@click.pass_context
def runs(ctx: click.Context, /, **options: Any) -> int:
    """Report on a sweep whose trials are the child runs of a run, whoever made them."""
    from evalreport.workflow.sweep_trials import study_from_runs

    how = _how(options)
    store, parent = _parent(ctx, options["run_id"])
    _check_run(store, parent, how)
    request = _study_request(options, options["metrics"], options["directions"])
    study = study_from_runs(store, parent, request)
    return _report(ctx, study, how, options, store, parent)


def _report(
    ctx: click.Context,
    study: Study,
    how: SweepOptions,
    options: dict[str, Any],
    store: Store | None,
    parent: RunInfo | None,
    read: str | None = None,
) -> int:
    """Print, write and log a study."""
    from dataclasses import replace

    from evalreport.cli.show_sweep import print_study, trial_runs
    from evalreport.workflow.sweep import finished

    console = ctx.ensure_object(Console)
    if not (how.output or how.out or how.log or console.json):
        how = replace(how, output=PAGE)
    storage = None if read is None else read.partition(":///")[2] or read
    done = finished(study, how, store=store, run=parent, read=(storage,))
    print_study(console, study, options["top"])
    _print(console, done, options)
    files = [str(path) for path in done.paths]
    console.emit(runs=trial_runs(study), sweep={**study.as_dict(), "files": files, "logged": done.logged})
    return 0


def _print(console: Console, done: Done, options: dict[str, Any]) -> None:
    """Tell what was written and logged; the page itself where stdout was named."""
    for warning in done.warnings:
        console.warn(warning)
    if options["output"] == "-":
        sys.stdout.write(done.html)
    console.out(*done.lines)


def _how(options: dict[str, Any], *, several: bool = False) -> SweepOptions:
    from evalreport.workflow.log import LogOptions
    from evalreport.workflow.sweep import SweepOptions

    log = LogOptions(options["prefix"], options["force"], options["dry_run"]) if options["log"] else None
    if options["dry_run"] and log is None:
        raise UsageError("--dry-run is given without --log", fix="add --log, or leave --dry-run out")
    return SweepOptions(options["output"], options["out"], log, several)


def _check_log(options: dict[str, Any], files: tuple[str, ...]) -> None:
    if options["log"] and files:
        raise UsageError("--log needs the run to log into", fix="pass --run-id ID instead of a file")


def _check_run(store: Store | None, run: RunInfo | None, how: SweepOptions) -> None:
    """Refuse a run that cannot be logged to before anything is worked out."""
    from evalreport.sinks.mlflow import check_run

    if how.log is not None and store is not None and run is not None:
        check_run(store, run.run_id, force=how.log.force)


def _parent(ctx: click.Context, run_id: str) -> tuple[Store, RunInfo]:
    from evalreport.sources.mlflow_client import connect
    from evalreport.sources.runs import find_run

    store = connect(tracking_uri(ctx))
    return store, find_run(store, run_id)


def _asked(options: dict[str, Any], console: Console) -> Any:
    """What is sought, and how Optuna searches where it has to."""
    from evalreport.cli.show_sweep import progress_of
    from evalreport.sweep.search import Search
    from evalreport.workflow.sweep_thresholds import Asked

    cost = () if options["cost"] is None else (f"cost:{options['cost']}",)
    wanted = [options[name] for name in ("trials", "timeout", "storage", "study_name")]
    told = progress_of(console)
    search = Search(
        trials=options["trials"] or Search.trials,
        timeout=options["timeout"],
        seed=options["seed"],
        storage=options["storage"],
        study_name=options["study_name"],
        progress=told,
    )
    objectives = (*options["objectives"], *cost)
    return Asked(objectives, options["costs"], search if any(wanted) else None, told)


def _study_request(
    options: dict[str, Any], metrics: tuple[str, ...], directions: tuple[Any, ...] = ()
) -> StudyRequest:
    from evalreport.evaluation.study import Judging
    from evalreport.workflow.sweep_trials import StudyRequest

    return StudyRequest(
        metrics=metrics,
        directions=directions,
        judging=Judging(
            options["examples"], options["standard_error"], options["correlation"], options["confidence"]
        ),
        seed=options["seed"],
        title=options["title"] or "",
        command=command_line(),
        made=written_now(),
    )


for _sub in (thresholds, optuna, runs):
    opt.global_options(_sub)
opt.global_options(command)
