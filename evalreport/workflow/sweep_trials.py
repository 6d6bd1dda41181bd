"""Sweeps that others ran: an Optuna study or the child runs of an MLflow run, with what follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from evalreport.errors import UsageError
from evalreport.provenance import Provenance
from evalreport.sources.children import trials_from_children, with_runs
from evalreport.sources.mlflow_client import Store
from evalreport.sources.runs import RunInfo
from evalreport.sources.studies import trials_from_optuna
from evalreport.study import Direction, StudyObjective, Trials
from evalreport.study.judged import NOT_SAID, Judging, Study, studied
from evalreport.workflow.request import PageRequest
from evalreport.workflow.trial_rows import judging_of

UNNAMED = "value"
"""What Optuna calls an objective that has no name."""


@dataclass(frozen=True)
class StudyRequest(PageRequest):
    """What is said about a sweep, and its page.

    Parameters
    ----------
    metrics : tuple of str
        Objectives, the one that the page is about first; those of the study when empty.
    directions : tuple of str
        Of `metrics` one by one, where nothing else says them.
    judging : Judging
    seed : int
    """

    metrics: tuple[str, ...] = ()
    directions: tuple[Direction, ...] = ()
    judging: Judging = field(default=NOT_SAID)
    seed: int = 0


def study_from_optuna(
    storage: str,
    study_name: str | None,
    request: StudyRequest,
    *,
    store: Store | None = None,
    parent: RunInfo | None = None,
) -> Study:
    """Read a study from an Optuna storage; with a parent run, its trials are joined with their MLflow runs.

    Raises
    ------
    EvalreportError
        See `trials_from_optuna`; a metric that is none of the study's objectives; no completed trial.
    """
    if request.directions:
        raise UsageError("a study states its directions itself", fix="leave --direction out")
    if len(request.metrics) > 1:
        raise UsageError("a study has its objectives itself", fix="name one of them with --metric")
    trials = trials_from_optuna(storage, study_name)
    if request.metrics:
        trials = _named(trials, request.metrics[0])
    if store is not None and parent is not None:
        trials = with_runs(trials, store, parent.run_id)
    return _studied(trials, request, store, parent)


def _named(trials: Trials, metric: str) -> Trials:
    """The trials, their only objective named as the user names it where the study gives it no name."""
    (first, *others) = trials.objectives
    if others or first.name != UNNAMED or metric == UNNAMED:
        trials.index_of(metric)
        return trials
    note = f"the study does not name its value; it is taken for {metric}"
    goal = StudyObjective(metric, first.direction)
    return replace(trials, objectives=(goal,), notes=(*trials.notes, note))


def study_from_runs(store: Store, parent: RunInfo, request: StudyRequest) -> Study:
    """Read the child runs of a run as a study.

    Raises
    ------
    EvalreportError
        See `trials_from_children`; no completed trial.
    """
    metrics, ways = request.metrics, request.directions
    if ways and len(ways) != len(metrics):
        raise UsageError(
            f"{len(ways)} directions for {len(metrics)} metrics",
            fix="give --direction once for each --metric, in the same order",
        )
    goals: list[str | StudyObjective] = list(metrics)
    if ways:
        goals = [StudyObjective(name, way) for name, way in zip(metrics, ways, strict=True)]
    return _studied(trials_from_children(store, parent.run_id, goals or None), request, store, parent)


def _studied(trials: Trials, request: StudyRequest, store: Store | None, parent: RunInfo | None) -> Study:
    origin = Provenance(**request.origin())
    if store is not None and parent is not None:
        origin = replace(
            origin,
            run_id=parent.run_id,
            run_name=parent.name,
            experiment=parent.experiment,
            tracking=store.shown,
        )
    objective = request.metrics[0] if request.metrics else None
    judging, told = (request.judging, "") if store is None else judging_of(store, trials, request.judging)
    trials = replace(trials, notes=(*trials.notes, told)) if told else trials
    return studied(trials, objective, judging=judging, seed=request.seed, provenance=origin)
