"""`evalreport sweep optuna` and `evalreport sweep runs`: sweeps that others ran."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console, align_columns, indent_lines
from evalreport.cli.options import SectionCommand
from evalreport.cli.parallel import each_run
from evalreport.cli.print_evaluation import print_delivered, success_record
from evalreport.cli.requests import command_line, destination_of, read_notes, tracking_uri, written_now
from evalreport.core.errors import UsageError
from evalreport.core.format import percent, significant

if TYPE_CHECKING:
    from evalreport.features.studies.study import Study
    from evalreport.features.studies.sweep_trials import StudyRequest
    from evalreport.thresholds.trial import Trial
    from evalreport.tracking.client import Store
    from evalreport.tracking.runs import RunInfo
    from evalreport.workflow.deliver import Delivered
    from evalreport.workflow.request import Destination

WIDEST = 24
"""Characters of a label or a setting in a terminal's table of 80."""


def study_run(done: Delivered[Study]) -> dict[str, Any]:
    """Return a study as an element of `runs`, its parent run with it where it is known."""
    begun = success_record(done.delivered_result.provenance) | {"source": done.delivered_result.trials.source}
    return {**begun, "files": done.files, "logged": done.logged_json}


def print_study(console: Console, study: Study, top: int) -> None:
    """Print the best trials as a table, with their selection bias; warnings go to stderr."""
    from evalreport.features.studies.page import headline, summary
    from evalreport.features.studies.study import doubts

    for doubt in doubts(study):
        console.warn(f"{doubt.claim} {doubt.action.text}".strip().removesuffix("."))
    counts = ", ".join(f"{n:,} {state}" for state, n in study.trials.counts.items() if n)
    goals = " and ".join(f"{goal.direction} {goal.name}" for goal in study.trials.objectives)
    console.print_result(
        f"{study.trials.study_name or 'sweep'}  {len(study.trials):,} trials: {counts}; {goals}"
    )
    console.print_result(*indent_lines(_trials(study, top)))
    shares = [line for one in study.each for line in _importance(one)]
    console.print_result(headline(study).text, *filter(None, [summary(study).text]), *shares)


def _trials(study: Study, top: int) -> list[str]:
    from evalreport.features.studies.page import against_the_best
    from evalreport.features.studies.views import ranked_trials, sampled_param

    trials, names = ranked_trials(study.trials, top), study.trials.params
    goals = [goal.name for goal in study.trials.objectives]
    runs = any(trial.run_id for trial in trials)
    near = ["against best"] if study.tied_trials else []
    rows: list[list[str]] = [["trial", "state", *near, *goals, *names, *(["run"] if runs else [])]]
    for trial in trials:
        done = trial.state == "complete"
        rows.append(
            [
                str(trial.number),
                trial.state,
                *([against_the_best(study, trial.number) if done else "–"] if near else []),
                *(_value(trial.value_of(at)) for at in range(len(goals))),
                *(_param(sampled_param(trial, name)) for name in names),
                *([(trial.run_id or "–")[:8]] if runs else []),
            ]
        )
    more = len(study.trials) - len(trials)
    return [*align_columns(rows, left=range(2 + len(near))), *([f"and {more:,} more"] if more else [])]


def _value(value: float | None) -> str:
    if value is None:
        return "–"
    return significant(value) if math.isfinite(value) else str(value)


def _param(value: Any) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return significant(value)
    return "–" if value is None else str(value)[:WIDEST]


def _importance(study: Study) -> list[str]:
    from evalreport.core.result import Undefined
    from evalreport.features.studies.page import objective_title

    found, what = study.importance, objective_title(study, "importance").replace(": ", " for ")
    if isinstance(found, Undefined):
        return [f"{what}: {found.reason}"]
    shares = ", ".join(f"{name} {percent(share)}" for name, share in found.shares[:8])
    return [f"{what} ({found.method}): {shares}"]


def trial_runs(study: Study) -> list[dict[str, Any]]:
    """Return the MLflow runs of the trials as elements of `runs`, the best first."""
    from evalreport.features.studies.views import ranked_trials

    ranked = ranked_trials(study.trials, len(study.trials))
    return [_as_run(study, trial) for trial in ranked if trial.run_id]


def _as_run(study: Study, trial: Trial) -> dict[str, Any]:
    goals = [goal.name for goal in study.trials.objectives]
    params = {name: value if _is_json(value) else str(value) for name, value in trial.params.items()}
    return {
        "run_id": trial.run_id,
        "trial": trial.number,
        "state": trial.state,
        "ok": trial.state == "complete",
        "values": dict(zip(goals, trial.values, strict=False)),
        "params": params,
    }


def _is_json(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


_studies_trials = opt.HelpSection("Trials")
_SHOWN = "run-id metric direction examples standard-error top output log markdown"

_trial_options = opt.combine_options(
    _studies_trials(
        "--examples",
        click.IntRange(min=1),
        "Validation set size per trial; used to correct the best value for selection bias.",
    ),
    _studies_trials(
        "--standard-error",
        "S",
        "Standard error of one trial's value, for a metric that is not a proportion.",
        type=click.FloatRange(min=0, min_open=True),
    ),
    _studies_trials(
        "--correlation",
        "R",
        "Correlation of the errors of two trials; measured where their runs have predictions.",
        type=click.FloatRange(0, 1, max_open=True),
    ),
    _studies_trials("--top", click.IntRange(min=1), "Number of trials to print.", default=20),
    opt.confidence,
    opt.seed,
    opt.title,
    opt.notes,
    opt.swept,
)


@click.command("optuna", cls=SectionCommand, shown=_SHOWN.replace("direction", "study study-name"))
@_studies_trials(
    "--study storage",
    "URL|FILE",
    "Storage of the study: sqlite:///study.db or a journal file; only read.",
    required=True,
)
@_studies_trials(
    "--study-name study_names",
    "NAME",
    "Name of the study, if the storage has several; repeat.",
    multiple=True,
)
@_studies_trials("--metric", "NAME", "Objective to report on, or a name for the only one.")
@_studies_trials("--run-id", "ID", "MLflow parent run; its child runs are joined with the trials.")
@_trial_options
@click.pass_context
def optuna(ctx: click.Context, /, **options: Any) -> int:
    """Report on an Optuna study.

    History, importance, all trials, and the selection bias of the best.
    """
    names = list(dict.fromkeys(options["study_names"])) or [None]
    run_id = options["run_id"]
    if options["log"] and run_id is None:
        raise UsageError("--log needs the run to log into", fix="name the parent run with --run-id ID")
    if len(names) > 1 and run_id is not None:
        raise UsageError("--run-id is the parent of one study", fix="name one study with --study-name")
    storage = options["storage"]
    sweeps = [
        _Sweep(f"study {name or 'of ' + storage}", _optuna_study(storage, name), run_id) for name in names
    ]
    metrics = () if options["metric"] is None else (options["metric"],)
    path = storage.partition(":///")[2] or storage
    return _report(ctx, sweeps, options, metrics, path=path)


def _optuna_study(storage: str, name: str | None) -> Reader:
    def read_study(request: StudyRequest, store: Store | None, parent: RunInfo | None) -> Study:
        from evalreport.features.studies.sweep_trials import study_from_optuna

        return study_from_optuna(storage, name, request, store=store, parent=parent)

    return read_study


@click.command("runs", cls=SectionCommand, shown=_SHOWN)
@_studies_trials("--run-id run_ids", "ID", "Parent run of the sweep; repeat.", multiple=True, required=True)
@_studies_trials(
    "--metric metrics",
    "NAME",
    "Optimised metric; repeat for several objectives, the main one first.",
    multiple=True,
)
@_studies_trials(
    "--direction directions",
    ("maximize", "minimize"),
    "Direction of each --metric, in the same order.",
    multiple=True,
)
@_trial_options
@click.pass_context
def runs(ctx: click.Context, /, **options: Any) -> int:
    """Report on a sweep logged as child runs, from any tool."""
    sweeps = [_Sweep(f"run {run_id}", _child_runs, run_id) for run_id in dict.fromkeys(options["run_ids"])]
    return _report(ctx, sweeps, options, options["metrics"], options["directions"])


def _child_runs(request: StudyRequest, store: Store | None, parent: RunInfo | None) -> Study:
    from evalreport.features.studies.sweep_trials import study_from_runs

    assert store is not None and parent is not None  # noqa: S101  each sweep of this kind names a run
    return study_from_runs(store, parent, request)


Reader = Callable[["StudyRequest", "Store | None", "RunInfo | None"], "Study"]


@dataclass(frozen=True)
class _Sweep:
    """One sweep: its name, how it is read, and its parent run."""

    shown: str
    read: Reader
    run_id: str | None


def _report(
    ctx: click.Context,
    sweeps: Sequence[_Sweep],
    options: dict[str, Any],
    metrics: tuple[str, ...],
    directions: tuple[Any, ...] = (),
    *,
    path: str | None = None,
) -> int:
    """Read, print, write and log every sweep."""
    from evalreport.core.json_codec import encode

    console = ctx.ensure_object(Console)
    where = destination_of(options, log=options["log"], several=len(sweeps) > 1)
    several = where.several or options["jsonl"]
    if not (where.output or where.out or where.log or console.json or console.replaces_page or several):
        where = replace(where, page=True)
    request = _request(options, metrics, directions)
    needed = any(sweep.run_id for sweep in sweeps)
    store = _store(ctx) if needed else None
    work = partial(_work, store=store, request=request, where=where, path=path)
    if several:
        return each_run(console, sweeps, work, partial(_show, console, options), options)
    done = work(sweeps[0])
    body = _show(console, options, done)
    written = {name: body[name] for name in ("files", "logged")}
    console.emit(runs=body["trials"], sweep={**encode(body["sweep"]), **written})
    return 0


def _work(
    sweep: _Sweep, store: Store | None, request: StudyRequest, where: Destination, path: str | None
) -> Delivered[Study]:
    from evalreport.tracking.runs import find_run
    from evalreport.workflow.deliver import Deliverable, deliver, run_of
    from evalreport.workflow.items import Item

    parent = None if store is None or sweep.run_id is None else find_run(store, sweep.run_id)
    run = run_of(Item(run=parent, store=store), where)
    study = sweep.read(request, store, parent)
    name = study.trials.study_name or sweep.shown
    key = "" if parent is None else parent.run_id
    document, origin = Deliverable(study, notes=request.notes), f"sweep {sweep.shown} {name} {key}"
    return deliver(document, where, run=run, name=name, key=key, origin=origin, read=(path,))


def _show(console: Console, options: dict[str, Any], done: Delivered[Study]) -> dict[str, Any]:
    """Print a study, and return it as the element of `runs` that it is among several."""
    from evalreport.core.json_codec import encode

    study = done.delivered_result
    print_study(console, study, options["top"])
    print_delivered(console, done, options)
    return {**study_run(done), "trials": trial_runs(study), "sweep": encode(study)}


def _store(ctx: click.Context) -> Store:
    from evalreport.tracking.client import connect

    return connect(tracking_uri(ctx))


def _request(options: dict[str, Any], metrics: tuple[str, ...], directions: tuple[Any, ...]) -> StudyRequest:
    from evalreport.features.studies.sweep_trials import StudyRequest
    from evalreport.thresholds.trial import Judging

    return StudyRequest(
        metrics=metrics,
        directions=directions,
        judging=Judging(
            options["examples"], options["standard_error"], options["correlation"], options["confidence"]
        ),
        seed=options["seed"],
        title=options["title"] or "",
        notes=read_notes(options["notes"]),
        command=command_line(),
        made=written_now(),
    )


opt.global_options(optuna)
opt.global_options(runs)
