"""What the sweep found: the trials as a table, and the front of two objectives."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.errors import UsageError
from evalreport.study import Param, State, StudyObjective, Trial, Trials
from evalreport.study.views.axes import MOST_POINTS, best_first, thinned


@dataclass(frozen=True, slots=True)
class TableRow:
    """One trial of the table; cells in the order of the columns."""

    number: int
    state: State
    values: tuple[float | None, ...]
    params: tuple[Param, ...]
    duration: float | None
    run_id: str | None


@dataclass(frozen=True, slots=True)
class TrialTable:
    """The trials as a table: best first, then the other states.

    Parameters
    ----------
    objectives, params : tuple of str
        Column names.
    rows : tuple of TableRow
    n_trials : int
        All of the study.
    """

    objectives: tuple[str, ...]
    params: tuple[str, ...]
    rows: tuple[TableRow, ...]
    n_trials: int


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """One completed trial in the plane of two objectives."""

    number: int
    x: float
    y: float
    on_front: bool


@dataclass(frozen=True, slots=True)
class Front:
    """Two objectives against each other, with the Pareto front of all objectives."""

    x: StudyObjective
    y: StudyObjective
    points: tuple[FrontPoint, ...]
    n_trials: int


def table_view(trials: Trials, most: int = MOST_POINTS) -> TrialTable:
    """Return the trials as rows: best first (the front first, of several objectives), then the rest.

    Parameters
    ----------
    trials : Trials
    most : int
        Rows at most; the study's own count stays with the table.

    Examples
    --------
    >>> trials = Trials.from_records([{}, {"value": 0.4}, {"value": 0.5}], objectives="f1")
    >>> [row.number for row in table_view(trials).rows]
    [2, 1, 0]
    """
    ranked = [trials.contenders[position] for position in best_first(trials, 0)]
    if len(trials.objectives) > 1 and ranked:
        front = {trial.number for trial in trials.pareto()}
        ranked.sort(key=lambda trial: trial.number not in front)
    placed = {trial.number for trial in ranked}
    ranked += [trial for trial in trials.trials if trial.number not in placed]
    rows = tuple(_row(trials, trial) for trial in ranked[:most])
    return TrialTable(tuple(goal.name for goal in trials.objectives), trials.params, rows, len(trials))


def _row(trials: Trials, trial: Trial) -> TableRow:
    values = (*trial.values, *[None] * len(trials.objectives))[: len(trials.objectives)]
    params = tuple(drawn(trial, name) for name in trials.params)
    return TableRow(trial.number, trial.state, values, params, trial.duration, trial.run_id)


def drawn(trial: Trial, name: str) -> Param:
    """Return a parameter as a table shows it: a drawn None as text, None for what was not drawn.

    Examples
    --------
    >>> trial = Trial(0, "failed", params={"depth": None})
    >>> drawn(trial, "depth"), drawn(trial, "C")
    ('None', None)
    """
    value = trial.params.get(name)
    return "None" if value is None and name in trial.params else value


def front_view(trials: Trials, x: str | None = None, y: str | None = None) -> Front:
    """Return the completed trials in the plane of two objectives, the first two unless named.

    Raises
    ------
    UsageError
        One objective alone has no front; no such objective.
    DataError
        No trial completed with finite values.

    Examples
    --------
    >>> rows = [{"values": (0.9, 2.0)}, {"values": (0.8, 1.0)}, {"values": (0.7, 3.0)}]
    >>> goals = [StudyObjective("f1"), StudyObjective("seconds", "minimize")]
    >>> [point.on_front for point in front_view(Trials.from_records(rows, objectives=goals)).points]
    [True, True, False]
    """
    goals = trials.objectives
    if len(goals) < 2:
        raise UsageError("one objective has no front", fix="look at the history of the study instead")
    first, second = trials.index_of(x or goals[0].name), trials.index_of(y or goals[1].name)
    front = {trial.number for trial in trials.pareto()}
    rivals = trials.contenders
    kept = thinned(len(rivals), [at for at, trial in enumerate(rivals) if trial.number in front])
    points = tuple(
        FrontPoint(trial.number, trial.values[first], trial.values[second], trial.number in front)
        for trial in (rivals[at] for at in kept)
    )
    return Front(goals[first], goals[second], points, len(rivals))
