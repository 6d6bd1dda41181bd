"""How a sweep is printed in a terminal, and what of it stands in `runs` of the JSON.

`evalreport sweep optuna` and `evalreport sweep runs`: sweeps that others ran.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console, aligned, indented
from evalreport.cli.options import SectionCommand
from evalreport.cli.parallel import each_run
from evalreport.cli.print_evaluation import as_done, print_delivered
from evalreport.cli.requests import command_line, destination_of, read_notes, tracking_uri, written_now
from evalreport.core.errors import UsageError
from evalreport.core.estimate_format import beside, value_and_interval
from evalreport.core.format import Style, count, percent, show, significant, threshold
from evalreport.core.progress import stage
from evalreport.page.evaluation_terms import objective_style

if TYPE_CHECKING:
    from evalreport.core.result import Result
    from evalreport.evaluation.threshold_selection import ThresholdSelection
    from evalreport.features.studies.search import SearchProgress
    from evalreport.features.studies.study import Study
    from evalreport.features.studies.sweep_trials import StudyRequest
    from evalreport.features.studies.trial import Trial
    from evalreport.thresholds.best_threshold import Cutoff, Hold, Optimum
    from evalreport.tracking.client import Store
    from evalreport.tracking.runs import RunInfo
    from evalreport.workflow.deliver import Delivered
    from evalreport.workflow.request import Destination

HEADS = ("for", "threshold", "its interval", "chosen", "elsewhere", "interval")
MOST_LABELS = 40
"""Labels whose thresholds are printed; all are in the JSON and on the page."""
WIDEST = 24
"""Characters of a label or a setting in a terminal's table of 80."""


def thresholds_run(done: Delivered[ThresholdSelection]) -> dict[str, Any]:
    """Return the run or file whose thresholds were swept as an element of `runs`."""
    return _element(done, done.made.provenance.source)


def study_run(done: Delivered[Study]) -> dict[str, Any]:
    """Return a study as an element of `runs`, its parent run with it where it is known."""
    return _element(done, done.made.trials.source)


def _element(done: Delivered[Any], source: str) -> dict[str, Any]:
    begun = as_done(done.made.provenance) | {"source": source}
    return {**begun, "files": done.files, "logged": done.logged_json}


def print_chosen(console: Console, done: Delivered[ThresholdSelection]) -> None:
    """Print the chosen thresholds as a table, and what to beware of on stderr."""
    from evalreport.cli.print_evaluation import title, warn_of

    found = done.made
    warn_of(console, found.evaluation)
    bounded: list[tuple[str, Optimum | Cutoff]] = [*found.optima.items(), *found.cutoffs.items()]
    for name, best in bounded:
        if best.hold is not None and best.hold.threshold is None:
            console.warn(f"{name} {best.hold.reason}")
    for doubt in found.doubts:
        console.warn(doubt.removesuffix("."))
    console.out(title(found.evaluation))
    for table in (_optima(found), _there(found), _cutoffs(found), _tuned(found), _labels(found)):
        console.out(*indented(table))


def _optima(found: ThresholdSelection) -> list[str]:
    if not found.optima:
        return []
    bounded = any(best.bound is not None for best in found.optima.values())
    level = found.evaluation.sampling.hold
    promised: tuple[str, ...] = ("chance to hold",) if bounded else ()
    if bounded and level is not None:
        promised += (f"held with {percent(level, 100)}",)
    weighted = ", weighted" if found.evaluation.weighted else ""
    counted = () if found.whole is None else (f"found{weighted}", f"missed{weighted}", f"alarms{weighted}")
    known = any(best.no_skill is not None for best in found.optima.values())
    unskilled = ("flagging all",) if known else ()
    rows: list[tuple[str, ...]] = [(*HEADS, *unskilled, *promised, *counted)]
    for name, best in found.optima.items():
        style = objective_style(best.metric)
        metric = "" if name == best.metric else f" ({best.metric})"
        out_of_sample = None if best.out_of_sample is None else best.out_of_sample.value
        here = None if found.whole is None else found.whole.at(best.threshold)
        counts = () if here is None else (here.tp, here.fn, here.fp)
        rows.append(
            (
                name + metric,
                threshold(best.threshold),
                _between(best.low, best.high),
                _beside(best.apparent, out_of_sample, style),
                *value_and_interval(out_of_sample, style),
                *(_unskilled(best, style) for _ in unskilled),
                *_promised(best, promised),
                *(count(float(n)) for n in counts),
            )
        )
    return aligned(rows)


def _unskilled(best: Optimum, style: Style) -> str:
    """F1 of flagging every row."""
    return "–" if best.no_skill is None else show(best.no_skill, style)


def _there(found: ThresholdSelection) -> list[str]:
    """What each threshold does at the prevalence of deployment."""
    from evalreport.metrics.catalogue import find

    rows: list[tuple[str, ...]] = []
    for objective, results in found.deployed.items():
        shown = [value_and_interval(result, find(name).style) for name, result in results.items()]
        rows.append((objective, *(f"{value} ({limits})" for value, limits in shown)))
    names = next(iter(found.deployed.values()), {})
    return aligned([("for", *names), *rows]) if rows else []


def _promised(best: Optimum, heads: tuple[str, ...]) -> tuple[str, ...]:
    """The chance that a bound holds on new rows, and the threshold that keeps it surely."""
    chance = "–" if best.chance is None else percent(best.chance, 100)
    return (chance, _held(best.hold))[: len(heads)]


def _cutoffs(found: ThresholdSelection) -> list[str]:
    if not found.cutoffs:
        return []
    level = found.evaluation.sampling.hold
    promised: tuple[str, ...] = () if level is None else (f"held with {percent(level, 100)}",)
    heads = (
        "for",
        "confidence",
        "its interval",
        "answered",
        "right",
        "answered elsewhere",
        "right elsewhere",
    )
    rows: list[tuple[str, ...]] = [(*heads, *promised)]
    for name, cut in found.cutoffs.items():
        kept = cut.out_of_sample.kept
        coverage = cut.out_of_sample.value
        elsewhere = [value_and_interval(result, "percent")[0] for result in (coverage, kept)]
        here = (_beside(cut.coverage, coverage, "percent"), _beside(cut.accuracy, kept, "percent"))
        held = (_held(cut.hold),) if promised else ()
        rows.append((name, threshold(cut.threshold), _between(cut.low, cut.high), *here, *elsewhere, *held))
    return aligned(rows)


def _held(hold: Hold | None) -> str:
    return "–" if hold is None or hold.threshold is None else threshold(hold.threshold)


def _tuned(found: ThresholdSelection) -> list[str]:
    if not found.tuned:
        return []
    weights = found.evaluation.task == "multiclass"
    rows: list[tuple[str, ...]] = [
        (
            "for",
            "chosen",
            "elsewhere",
            "interval",
            "there with equal weights" if weights else "there at 0.5",
            "how",
        )
    ]
    for name, best in found.tuned.items():
        style, value = objective_style(name), best.out_of_sample.value
        shown = "–" if best.without is None else beside(best.without, value, style)
        here = beside(best.apparent, value, style)
        rows.append((name, here, *value_and_interval(value, style), shown, best.method))
    return aligned(rows, left=(0, 5))


def _labels(found: ThresholdSelection) -> list[str]:
    if not found.tuned:
        return []
    entries = sorted(found.evaluation.in_rows().classes, key=lambda entry: -entry.support)
    weights = found.evaluation.task == "multiclass"
    form = significant if weights else threshold
    rows = [("class" if weights else "label", "n", *found.tuned)]
    rows += [
        (
            str(entry.label)[:WIDEST],
            count(entry.support),
            *(form(best.values[str(entry.label)]) for best in found.tuned.values()),
        )
        for entry in entries[:MOST_LABELS]
    ]
    more = len(entries) - MOST_LABELS
    return ["", *aligned(rows), *([f"and {more:,} more"] if more > 0 else [])]


def _between(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{threshold(low)} to {threshold(high)}"


def _beside(value: float, result: Result | None, style: Style) -> str:
    return show(value, style) if result is None else beside(value, result, style)


def print_study(console: Console, study: Study, top: int) -> None:
    """Print the best trials as a table, with their luck; what to beware of goes to stderr."""
    from evalreport.features.studies.page import doubts, headline, summary

    for doubt in doubts(study):
        console.warn(f"{doubt.claim} {doubt.action.text}".strip().removesuffix("."))
    counts = ", ".join(f"{n:,} {state}" for state, n in study.trials.counts.items() if n)
    goals = " and ".join(f"{goal.direction} {goal.name}" for goal in study.trials.objectives)
    console.out(f"{study.trials.study_name or 'sweep'}  {len(study.trials):,} trials: {counts}; {goals}")
    console.out(*indented(_trials(study, top)))
    shares = [line for one in study.each for line in _importance(one)]
    console.out(headline(study).text, *filter(None, [summary(study).text]), *shares)


def _trials(study: Study, top: int) -> list[str]:
    from evalreport.features.studies.page import against_the_best
    from evalreport.features.studies.views import drawn, ranked_trials

    trials, names = ranked_trials(study.trials, top), study.trials.params
    goals = [goal.name for goal in study.trials.objectives]
    runs = any(trial.run_id for trial in trials)
    near = ["against best"] if study.tied else []
    rows: list[list[str]] = [["trial", "state", *near, *goals, *names, *(["run"] if runs else [])]]
    for trial in trials:
        done = trial.state == "complete"
        rows.append(
            [
                str(trial.number),
                trial.state,
                *([against_the_best(study, trial.number) if done else "–"] if near else []),
                *(_value(trial.value_of(at)) for at in range(len(goals))),
                *(_param(drawn(trial, name)) for name in names),
                *([(trial.run_id or "–")[:8]] if runs else []),
            ]
        )
    more = len(study.trials) - len(trials)
    return [*aligned(rows, left=range(2 + len(near))), *([f"and {more:,} more"] if more else [])]


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
    from evalreport.features.studies.sentences import about

    found, what = study.importance, about(study, "importance").replace(": ", " for ")
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


def tell_search(progress: SearchProgress) -> None:
    """Say how far a search is."""
    stage(f"best {significant(progress.best)}, trial", progress.done, progress.of)


_studies_trials = opt.HelpSection("Trials")

_trial_options = opt.together(
    _studies_trials(
        "--examples",
        click.IntRange(min=1),
        "Validation examples of each trial (for recall: positive ones). For a proportion, such as "
        "accuracy, their number alone gives the selection bias of the best trial.",
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
        "Between the errors of two trials; measured where their runs hold predictions.",
        type=click.FloatRange(0, 1, max_open=True),
    ),
    _studies_trials("--top", click.IntRange(min=1), "Trials that are printed.", default=20),
    opt.confidence,
    opt.seed,
    opt.report("--title", "TEXT", "Title of the page."),
    opt.notes,
    opt.swept,
)


@click.command("optuna", cls=SectionCommand)
@_studies_trials(
    "--study storage",
    "URL|FILE",
    "Storage: sqlite:///study.db, or a journal file; read only, never created.",
    required=True,
)
@_studies_trials(
    "--study-name study_names", "NAME", "Which study, when the storage holds several; repeat.", multiple=True
)
@_studies_trials("--metric", "NAME", "Which objective, or what the only one is called.")
@_studies_trials("--run-id", "ID", "MLflow parent run, to join trials with their runs.")
@_trial_options
@click.pass_context
def optuna(ctx: click.Context, /, **options: Any) -> int:
    """Report on an Optuna study: history, importance, every trial, and how lucky the best one is."""
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
    def read(request: StudyRequest, store: Store | None, parent: RunInfo | None) -> Study:
        from evalreport.features.studies.sweep_trials import study_from_optuna

        return study_from_optuna(storage, name, request, store=store, parent=parent)

    return read


@click.command("runs", cls=SectionCommand)
@_studies_trials("--run-id run_ids", "ID", "Parent run of the sweep; repeat.", multiple=True, required=True)
@_studies_trials(
    "--metric metrics",
    "NAME",
    "What was optimised; repeat for several objectives, the one to report on first.",
    multiple=True,
)
@_studies_trials(
    "--direction directions", ("maximize", "minimize"), "Of each --metric, in their order.", multiple=True
)
@_trial_options
@click.pass_context
def runs(ctx: click.Context, /, **options: Any) -> int:
    """Report on a sweep whose trials are the child runs of a run, whoever made them."""
    sweeps = [_Sweep(f"run {run_id}", _child_runs, run_id) for run_id in dict.fromkeys(options["run_ids"])]
    return _report(ctx, sweeps, options, options["metrics"], options["directions"])


def _child_runs(request: StudyRequest, store: Store | None, parent: RunInfo | None) -> Study:
    from evalreport.features.studies.sweep_trials import study_from_runs

    assert store is not None and parent is not None  # noqa: S101  each sweep of this kind names a run
    return study_from_runs(store, parent, request)


Reader = Callable[["StudyRequest", "Store | None", "RunInfo | None"], "Study"]


@dataclass(frozen=True)
class _Sweep:
    """One sweep: how it is told, how it is read, and its parent run."""

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
    if not (where.output or where.out or where.log or console.json or console.summary or several):
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

    study = done.made
    print_study(console, study, options["top"])
    print_delivered(console, done, options)
    return {**study_run(done), "trials": trial_runs(study), "sweep": encode(study)}


def _store(ctx: click.Context) -> Store:
    from evalreport.tracking.client import connect

    return connect(tracking_uri(ctx))


def _request(options: dict[str, Any], metrics: tuple[str, ...], directions: tuple[Any, ...]) -> StudyRequest:
    from evalreport.features.studies.study import Judging
    from evalreport.features.studies.sweep_trials import StudyRequest

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
