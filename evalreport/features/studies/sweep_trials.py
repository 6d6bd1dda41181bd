"""Sweeps that others ran: an Optuna study or the child runs of an MLflow run, with what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from evalreport.api.evaluate import convert_to_view, draw
from evalreport.api.input import public_api
from evalreport.comparison.all_pairs import in_common_order
from evalreport.core.errors import DataError, EvalreportError, UsageError
from evalreport.core.result import Provenance
from evalreport.data.predictions import Predictions
from evalreport.features.studies import study, views
from evalreport.features.studies.read import trials_from_children, trials_from_optuna, with_runs
from evalreport.features.studies.study import DEFAULT_JUDGING, UNNAMED, Study, analyse_study, bare_name
from evalreport.features.studies.winners_curse import error_correlation
from evalreport.intervals.row_influence import Counted
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric, Proportion
from evalreport.page.payload import present
from evalreport.page.render import Result, render_summary
from evalreport.statistics.resampling import unit_sums
from evalreport.thresholds.per_label import units_of
from evalreport.thresholds.trial import Direction, Judging, StudyObjective, Trial
from evalreport.thresholds.trial_search import Trials
from evalreport.tracking.client import Store
from evalreport.tracking.runs import RunInfo, find_run
from evalreport.workflow.collect import collect_run
from evalreport.workflow.request import PageRequest, Request

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST = 20
"""Trials whose predictions are read, the best ones: the best is one of those that compete with it."""
IN_VAIN = 3
"""Runs without predictions after which no other is asked: trials are logged alike."""
ROUNDED = 0.002
"""How far a logged value may be from that of the rows: values are logged with three decimals at worst."""


@dataclass(frozen=True)
class MeasuredErrors:
    """What the rows of several trials say of their errors.

    Parameters
    ----------
    correlation : float
        Mean over pairs of trials, in [0, 1).
    standard_error : float
        Root mean square over trials.
    rows, trials : int
    share : bool
        Whether the metric is a share of all these rows, each counted alike: its error follows from their
        number.
    """

    correlation: float
    standard_error: float
    rows: int
    trials: int
    share: bool


def measured_errors(metric: Metric, rows: Sequence[Predictions]) -> MeasuredErrors | None:
    """Return how the errors of trials on the same rows go together; None where that is unknown.

    The error of a metric is the sum of what the rows contribute to it (the infinitesimal jackknife), so that
    the correlation of two trials' contributions is that of their errors. Rows that belong together are one.

    Parameters
    ----------
    metric : Metric
    rows : sequence of Predictions
        Of the same examples in the same order, one for each trial.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> answers = ([1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0])
    >>> trials = [predictions(Binary(0, 1), [1, 1, 1, 1], answer) for answer in answers]
    >>> round(measured_errors(find("accuracy", "binary"), trials).correlation, 3)
    0.333
    """
    moves = []
    for p in rows:
        counted = Counted.from_predictions(p)
        found = (
            counted.contributions(metric) if isinstance(metric.compute_value(counted.facts), float) else None
        )
        if found is not None:
            unit = units_of(p)
            moves.append(unit_sums(unit, found, int(unit.max()) + 1))
    if len(moves) < 2:
        return None
    try:
        correlation = error_correlation(moves)
    except DataError:  # fewer than two trials that vary
        return None
    error = float(np.sqrt(np.mean([(each**2).sum() for each in moves])))
    first = rows[0]
    plain_rows = not first.weighted and first.groups is None
    share = plain_rows and isinstance(metric.strategy, Proportion) and metric.over is None
    return MeasuredErrors(min(correlation, 0.999), error, len(first), len(moves), share)


def judging_of(store: Store, trials: Trials, judging: Judging) -> tuple[Judging, str]:
    """Return what is known of the trials' errors with what their runs' predictions tell, and that in words.

    Nothing is added to what the user says, nor where there are several objectives.
    """
    if judging.correlation is not None or len(trials.objectives) != 1:
        return judging, ""
    goal = trials.objectives[0]
    order = sorted(trials.contenders, key=lambda trial: -goal.sign * trial.values[0])
    read = _read_predictions(store, order)
    found, note = _measure_errors(goal.name, read)
    if found is None:
        return judging, note
    if judging.n is None and judging.standard_error is None:
        known = {"n": found.rows} if found.share else {"standard_error": found.standard_error}
        judging = replace(judging, **known)
    return replace(judging, correlation=found.correlation), note


def _read_predictions(store: Store, order: Sequence[Trial]) -> list[tuple[float, Predictions]]:
    """Logged values and predictions of the best trials, on the rows that the best of them has."""
    read: list[tuple[float, Predictions]] = []
    vain = 0
    for trial in order[:MOST]:
        if vain >= IN_VAIN or not trial.run_id:
            break
        try:
            rows = collect_run(store, find_run(store, trial.run_id), Request()).predictions
        except EvalreportError:
            vain += 1
            continue
        if not read or rows.truth_digest == read[0][1].truth_digest:
            read.append((trial.values[0], in_common_order(rows)))
    return read


def _measure_errors(
    name: str, read: Sequence[tuple[float, Predictions]]
) -> tuple[MeasuredErrors | None, str]:
    if len(read) < 2:
        return None, ""
    metric = _metric(name, read[0][1])
    if metric is None:
        return None, ""
    values = [metric.compute_value(Counted.from_predictions(rows).facts) for _, rows in read]
    pairs = zip(values, read, strict=True)
    if any(not isinstance(own, float) or abs(own - logged) > ROUNDED for own, (logged, _) in pairs):
        return None, (
            f"the predictions of the child runs give another {name} than these logged: they are not the rows "
            "that judged the trials, and the correlation of errors is not measured on them"
        )
    found = measured_errors(metric, [rows for _, rows in read])
    if found is None:
        return None, ""
    return found, (
        f"the errors of two trials correlate by {found.correlation:.2f}, measured on the {found.rows:,} rows "
        f"of {found.trials} child runs with predictions"
    )


def _metric(name: str, rows: Predictions) -> Metric | None:
    for known in bare_name(name):
        try:
            return find(known, rows.space.task)
        except UsageError:
            continue
    return None


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
    judging: Judging = field(default=DEFAULT_JUDGING)
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
        trials = _name_objective(trials, request.metrics[0])
    if store is not None and parent is not None:
        trials = with_runs(trials, store, parent.run_id)
    return _study_from_trials(trials, request, store, parent)


def _name_objective(trials: Trials, metric: str) -> Trials:
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
    return _study_from_trials(
        trials_from_children(store, parent.run_id, goals or None), request, store, parent
    )


def _study_from_trials(
    trials: Trials, request: StudyRequest, store: Store | None, parent: RunInfo | None
) -> Study:
    origin = Provenance(**request.origin())
    if store is not None and parent is not None:
        origin = replace(
            origin,
            run_id=parent.run_id,
            run_name=parent.name,
            experiment=parent.experiment,
            tracking=store.display_name,
        )
    judging = request.judging
    if len(trials.objectives) == 1 and judging.n is not None and judging.standard_error is not None:
        raise UsageError(
            "the standard error is given, and the number of examples has no effect beside it",
            where="--examples, --standard-error",
            fix="leave --examples out; for a proportion such as accuracy leave --standard-error out",
        )
    objective = request.metrics[0] if request.metrics else None
    judging, note = (request.judging, "") if store is None else judging_of(store, trials, request.judging)
    trials = replace(trials, notes=(*trials.notes, note)) if note else trials
    return analyse_study(trials, objective, judging=judging, seed=request.seed, provenance=origin)


class PlottedStudy(Result, study.Study):
    """How the trials of a sweep stand; made by `sweep`. `to_html`, `report` and `log` take it."""

    def __repr__(self) -> str:
        return f"Study({present(self).headline})"

    def _repr_html_(self) -> str:
        return render_summary(self)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per trial: number, state, objectives, ``params.*``, times and run."""
        return self.trials.to_frame()

    @property
    def plot(self) -> StudyPlots:
        """The figures of this study, each a matplotlib `Figure`."""
        return StudyPlots(self)


@dataclass(frozen=True)
class StudyPlots:
    """The figures of a study; one that does not apply raises a `UsageError`; with `ax` on these axes."""

    study: study.Study

    def history(self, ax: Axes | None = None) -> Figure:
        """Value of each trial, and the best so far."""
        return draw(views.history, self.study, ax)

    def importance(self, ax: Axes | None = None) -> Figure:
        """Share of each parameter."""
        return draw(views.importance, self.study, ax)

    def slices(self, ax: Axes | None = None) -> Figure:
        """The objective over each parameter that varies."""
        return draw(views.slices, self.study, ax)

    def parallel(self, ax: Axes | None = None) -> Figure:
        """Every trial across its parameters."""
        return draw(views.parallel, self.study, ax)

    def intermediate(self, ax: Axes | None = None) -> Figure:
        """What trials reported on their way."""
        return draw(views.intermediate, self.study, ax)

    def timeline(self, ax: Axes | None = None) -> Figure:
        """When each trial ran."""
        return draw(views.timeline, self.study, ax)

    def front(self, ax: Axes | None = None) -> Figure:
        """The first two of several objectives against each other."""
        return draw(views.front, self.study, ax)


@public_api
def sweep_trials(what: Trials, objective: str | None = None, judging: Judging | None = None) -> PlottedStudy:
    """Return how the trials of a sweep stand; see `evalreport.sweep`."""
    return convert_to_view(
        PlottedStudy, study.analyse_study(what, objective, judging=judging or study.DEFAULT_JUDGING)
    )
