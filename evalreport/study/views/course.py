"""How the sweep went: history, values on the way, and time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from evalreport.study import HistoryPoint, State, StudyObjective, Trial, Trials
from evalreport.study.views.axes import thinned

MOST_CURVES = 60
MOST_STEPS = 100
MOST_BARS = 200
"""More curves, points of one, or bars in one drawing cannot be told apart (chosen by eye)."""


@dataclass(frozen=True, slots=True)
class HistoryView:
    """Optimisation history: each trial's value, and the best so far.

    Parameters
    ----------
    objective : StudyObjective
    points : tuple of HistoryPoint
        At most `MOST_POINTS`, every improvement among them.
    n_trials : int
        All of the study.
    """

    objective: StudyObjective
    points: tuple[HistoryPoint, ...]
    n_trials: int


@dataclass(frozen=True, slots=True)
class StepCurve:
    """Values that one trial reported on its way."""

    number: int
    state: State
    steps: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Intermediate:
    """Learning curves of the trials, pruned ones beside complete ones.

    Parameters
    ----------
    curves : tuple of StepCurve
        At most `MOST_CURVES`, the best trial among them; steps without a finite value left out.
    n_curves : int
        Trials that reported values.
    """

    curves: tuple[StepCurve, ...]
    n_curves: int


@dataclass(frozen=True, slots=True)
class Bar:
    """When one trial ran: seconds since the first start, and the row in which it is drawn."""

    number: int
    state: State
    start: float
    end: float
    lane: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """Start, duration and overlap of the trials.

    Parameters
    ----------
    bars : tuple of Bar
        Trials whose start and end are known, by start.
    seconds : float
        From the first start to the last end.
    lanes : int
        Most trials running at once.
    median : float
        Median duration in seconds, of all with known times.
    n_unknown : int
        Trials without a start or an end.
    """

    bars: tuple[Bar, ...]
    seconds: float
    lanes: int
    median: float
    n_unknown: int


def history_view(trials: Trials, objective: str | None = None) -> HistoryView:
    """Return value and best so far by trial number.

    Raises
    ------
    UsageError
        No such objective, or several and none named.

    Examples
    --------
    >>> trials = Trials.from_records([{"value": 0.5}, {"value": 0.4}], objectives="f1")
    >>> [point.best for point in history_view(trials).points]
    [0.5, 0.5]
    """
    at = trials.index_of(objective)
    points = trials.history(objective)
    rises = [
        position
        for position, point in enumerate(points)
        if point.best is not None and (position == 0 or points[position - 1].best != point.best)
    ]
    kept = tuple(points[position] for position in thinned(len(points), reversed(rises)))
    return HistoryView(trials.objectives[at], kept, len(trials))


def intermediate_view(trials: Trials) -> Intermediate:
    """Return what the trials reported on their way; no curve where none did.

    Examples
    --------
    >>> rows = [{"value": 0.5, "intermediate": {0: 0.1, 1: 0.4}}, {"value": 0.6}]
    >>> intermediate_view(Trials.from_records(rows, objectives="f1")).curves[0].values
    (0.1, 0.4)
    """
    curves = [curve for trial in trials.trials if (curve := _curve(trial)).steps]
    front = {trial.number for trial in trials.pareto()} if trials.contenders else set()
    best = [position for position, curve in enumerate(curves) if curve.number in front]
    kept = thinned(len(curves), best, MOST_CURVES)
    return Intermediate(tuple(curves[position] for position in kept), len(curves))


def _curve(trial: Trial) -> StepCurve:
    points = [(step, value) for step, value in trial.intermediate if math.isfinite(value)]
    kept = [points[position] for position in thinned(len(points), [], MOST_STEPS)]
    return StepCurve(
        trial.number, trial.state, tuple(step for step, _ in kept), tuple(value for _, value in kept)
    )


def timeline_view(trials: Trials) -> Timeline:
    """Return when each trial ran, in as many rows as ran at once.

    Examples
    --------
    >>> rows = [{"started": 5.0, "finished": 8.0}, {"started": 6.0, "finished": 7.0}]
    >>> timeline = timeline_view(Trials.from_records(rows, objectives="f1"))
    >>> timeline.lanes, timeline.seconds, timeline.median
    (2, 3.0, 2.0)
    """
    bars = _lanes(trials)
    if not bars:
        return Timeline((), 0.0, 0, 0.0, len(trials))
    longest = sorted(range(len(bars)), key=lambda at: bars[at].start - bars[at].end)
    return Timeline(
        tuple(bars[at] for at in thinned(len(bars), longest[:20], MOST_BARS)),
        max(bar.end for bar in bars),
        1 + max(bar.lane for bar in bars),
        median(bar.end - bar.start for bar in bars),
        len(trials) - len(bars),
    )


def _lanes(trials: Trials) -> list[Bar]:
    """Each timed trial in the first row that is free when it starts."""
    timed = sorted(
        (trial.started, trial.started + trial.duration, trial.number, trial.state)
        for trial in trials.trials
        if trial.started is not None and trial.duration is not None
    )
    free: list[float] = []
    bars = []
    for start, end, number, state in timed:
        lane = next((at for at, until in enumerate(free) if until <= start), len(free))
        free[lane : lane + 1] = [end]
        bars.append(Bar(number, state, start - timed[0][0], end - timed[0][0], lane))
    return bars
