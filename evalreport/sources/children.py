"""Trials from the child runs of an MLflow run, whoever laid them out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evalreport.errors import DataError, UsageError, nearest
from evalreport.metrics.catalogue import find
from evalreport.sources.child_layouts import Layout, layout_of
from evalreport.sources.mlflow_client import Store
from evalreport.sources.runs import PARENT_TAG, all_experiments, pages
from evalreport.study import StudyObjective, Trial, Trials
from evalreport.study.constraints import mark_infeasible
from evalreport.study.values import joined

_LARGEST = 1.797e308
"""MLflow's SQL stores hold ±inf as the greatest finite number."""
_STEPWISE = ("intermediate_value",)
"""Metrics that are reports even when there is but one, at step 0."""
_SMALLER = frozenset(
    ["loss", "error", "rmse", "mse", "mae", "nll", "perplexity", "latency", "seconds", "duration", "cost"]
)

Metric = str | StudyObjective | Sequence[str | StudyObjective]


def trials_from_children(store: Store, parent_run_id: str, metric: Metric | None = None) -> Trials:
    """Read the child runs of a run as the trials of a sweep.

    Three layouts are known by their tags: those of Optuna's MLflow callback, of MLflow's own Optuna
    storage, and plain nested runs with parameters and a metric.

    Parameters
    ----------
    store : Store
    parent_run_id : str
    metric : str, StudyObjective or a sequence of them, optional
        What was optimised. Left out: the objectives of the study, or the only metric that plain nested runs
        have. A bare name takes the direction that the study or evalreport's catalogue knows; a direction
        that only the name suggests is told in the notes.

    Returns
    -------
    Trials
        A run that ended without a value of every objective counts as failed, which the notes say.

    Raises
    ------
    RunNotFoundError
        No such run.
    DataError
        The run has no child runs, or none with a metric.
    UsageError
        Several metrics and none named, or no such metric.
    ServerError
        The store cannot be reached.
    """
    parent = store.ask(lambda client: client.get_run(parent_run_id), f"run {parent_run_id}")
    runs = _children(store, parent)
    layout = layout_of(parent, runs)
    trial_runs = [run for run in runs if layout.is_trial(run)]
    others = len(runs) - len(trial_runs)
    notes = [f"{others} child runs are not trials of the study and are left out"] if others else []
    goals = _objectives(layout, trial_runs, metric, notes)
    numbered = zip(trial_runs, _numbers(layout, trial_runs), strict=True)
    ended = _settled([_trial(store, layout, run, number, goals) for run, number in numbered], goals, notes)
    trials, unknown = mark_infeasible(ended, [layout.constraints(run) for run in trial_runs])
    notes += unknown
    name = parent.info.run_name or parent_run_id
    spaces = joined(space for run in trial_runs for space in layout.spaces(run))
    return Trials(goals, trials, f"child runs of the MLflow run {name}", name, spaces, tuple(notes))


def with_runs(trials: Trials, store: Store, parent_run_id: str) -> Trials:
    """Return the trials of a study with the MLflow run of each, found among the children of a run.

    Runs are matched by the trial number that they state, else by their order where there are as many
    runs as trials that were started.

    Parameters
    ----------
    trials : Trials
    store : Store
    parent_run_id : str

    Raises
    ------
    RunNotFoundError
        No such run.
    DataError
        The run has no child runs.
    """
    parent = store.ask(lambda client: client.get_run(parent_run_id), f"run {parent_run_id}")
    runs = _children(store, parent)
    layout = layout_of(parent, runs)
    runs = [run for run in runs if layout.is_trial(run)]
    started = [trial.number for trial in trials.trials if trial.state != "waiting"]
    stated = [layout.number(run) for run in runs]
    if None in stated and len(runs) != len(started):
        note = (
            f"{len(runs)} child runs state no trial number and are not as many as the {len(started)} trials"
        )
        return replace(trials, notes=(*trials.notes, note))
    numbers = started if None in stated else stated
    found = {number: run.info.run_id for number, run in zip(numbers, runs, strict=True)}
    joined_trials = [replace(trial, run_id=found.get(trial.number, trial.run_id)) for trial in trials.trials]
    return replace(trials, trials=tuple(joined_trials))


def _children(store: Store, parent: Any) -> list[Any]:
    """All child runs by start: of the parent's experiment, or of any where Optuna's callback put them."""
    query, where = f"tags.{PARENT_TAG} = '{parent.info.run_id}'", f"run {parent.info.run_id}"
    found = list(pages(store, query, [parent.info.experiment_id], where=where))
    if not found:
        every = [experiment.experiment_id for experiment in all_experiments(store)]
        found = list(pages(store, query, every, where=where))
    if not found:
        raise DataError(
            "the run has no child runs",
            where=where,
            fix="name the parent run of the sweep; its trials are nested runs",
        )
    return sorted(found, key=lambda run: (run.info.start_time or 0, run.info.run_id))


def _objectives(
    layout: Layout, runs: Sequence[Any], metric: Metric | None, notes: list[str]
) -> tuple[StudyObjective, ...]:
    there = Counter(key for run in runs for key in run.data.metrics if not key.startswith("system/"))
    own = layout.objectives(there)
    if metric is None:
        return own or (_only(there, notes),)
    wanted = [metric] if isinstance(metric, str | StudyObjective) else list(metric)
    names = [goal if isinstance(goal, str) else goal.name for goal in wanted]
    for name in names:
        if name not in there:
            raise UsageError(f"no child run has the metric {name!r}", fix=nearest(name, there))
    known = {goal.name: goal for goal in own}
    if not own and len(wanted) == len(layout.directions):
        known = {name: StudyObjective(name, way) for name, way in zip(names, layout.directions, strict=True)}
    return tuple(
        goal if isinstance(goal, StudyObjective) else known.get(goal) or _by_name(goal, notes)
        for goal in wanted
    )


def _only(there: Counter[str], notes: list[str]) -> StudyObjective:
    if not there:
        raise DataError("no child run has a metric", fix="log what the sweep optimises in every child run")
    if len(there) > 1:
        listed = ", ".join(f"{key} ({count} runs)" for key, count in sorted(there.items())[:20])
        raise UsageError(
            f"the child runs have {len(there)} metrics",
            fix=f"name what was optimised with --metric: {listed}",
        )
    return _by_name(next(iter(there)), notes)


def _by_name(name: str, notes: list[str]) -> StudyObjective:
    """An objective with the direction of the catalogue, else the one that its name suggests."""
    last = name.rpartition("/")[2]
    try:
        lower = find(last).better in {"lower", "zero"}
    except UsageError:
        lower = any(word in _SMALLER for word in last.lower().replace("-", "_").split("_"))
        notes.append(f"{name} taken as {'smaller' if lower else 'greater'} is better, by its name")
    return StudyObjective(name, "minimize" if lower else "maximize")


def _numbers(layout: Layout, runs: Sequence[Any]) -> Sequence[int]:
    """The numbers that the runs state, or their order by start where not every run states its own."""
    stated = [number for run in runs if (number := layout.number(run)) is not None]
    return stated if len(set(stated)) == len(runs) else range(len(runs))


def _trial(store: Store, layout: Layout, run: Any, number: int, goals: tuple[StudyObjective, ...]) -> Trial:
    metrics = run.data.metrics
    values = tuple(_infinite(metrics[goal.name]) for goal in goals if goal.name in metrics)
    started, finished = layout.times(run)
    return Trial(
        number=number,
        state=layout.state(run),
        values=values if len(values) == len(goals) else (),
        params=layout.params(run),
        intermediate=_reported(store, run, layout.reported or goals[0].name),
        started=started,
        finished=finished,
        run_id=run.info.run_id,
    )


def _reported(store: Store, run: Any, key: str) -> tuple[tuple[int, float], ...]:
    """Values by step; asked of the store only where the run's last step is not its first."""
    last = {metric.key: metric.step for metric in run.data.to_proto().metrics}.get(key)
    if last is None or (last < 1 and key not in _STEPWISE):
        return ()
    history = store.ask(
        lambda client: client.get_metric_history(run.info.run_id, key), f"run {run.info.run_id}"
    )
    return tuple({point.step: _infinite(point.value) for point in history}.items())


def _infinite(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= _LARGEST else value


def _settled(trials: list[Trial], goals: tuple[StudyObjective, ...], notes: list[str]) -> tuple[Trial, ...]:
    """Trials, those that ended without a value of every objective as failed."""
    ended = {trial.number for trial in trials if trial.state == "complete" and not trial.values}
    if ended:
        names = " and ".join(goal.name for goal in goals)
        notes.append(f"runs that ended without {names}, counted as failed: {len(ended)}")
    return tuple(replace(trial, state="failed") if trial.number in ended else trial for trial in trials)
