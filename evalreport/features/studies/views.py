"""Views of a study, also as figures: history, time, trials, the front of two objectives, parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from evalreport.core.errors import UsageError
from evalreport.core.format import significant
from evalreport.core.result import Undefined
from evalreport.features.studies.study import Study
from evalreport.figures.plots import (
    BLUE,
    COLUMNS,
    GREY,
    INK,
    LINE,
    ORANGE,
    apply_figure_style,
    name_axes,
    new_figure,
    png,
    short_name,
    small_charts,
)
from evalreport.page.trial_history import MOST_POINTS, history_view, thin_positions
from evalreport.thresholds.trial import Param, ParameterColumn, State, Trial
from evalreport.thresholds.trial_search import Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_TICKS = 6
"""Labels of an axis that do not run into each other."""


def ticks_of(axis: ParameterColumn) -> list[tuple[float, str]]:
    """Return places in 0 … 1 with their text: categories, decades, or round numbers, whole where all are.

    Examples
    --------
    >>> ticks_of(ParameterColumn("C", "number", (), 0.01, 100.0, log=True))
    [(0.0, '0.01'), (0.25, '0.1'), (0.5, '1'), (0.75, '10'), (1.0, '100')]
    >>> [text for _, text in ticks_of(ParameterColumn("depth", "number", (), 2, 33, whole=True))]
    ['10', '20', '30']
    >>> [text for _, text in ticks_of(ParameterColumn("rate", "number", (), 0.03, 0.48))]
    ['0.1', '0.2', '0.3', '0.4']
    """
    if axis.choices:
        names = axis.choices[:: max(1, -(-len(axis.choices) // MOST_TICKS))]
        return [(axis.place(name) or 0.0, name) for name in names]
    if axis.high <= axis.low:
        return [(0.5, significant(axis.low))]
    values = _decades(axis.low, axis.high) if axis.log else _round(axis.low, axis.high, whole=axis.whole)
    return [(round(axis.place(value) or 0.0, 4), significant(value, 3)) for value in values]


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten; within less than two of them 1, 2 and 5 times these."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    inside = low * (1 - 1e-9), high * (1 + 1e-9)
    powers = [10.0**power for power in range(first, last + 1)]
    held = [value for value in powers if inside[0] <= value <= inside[1]]
    if len(held) < 2:
        finer = (times * power for power in powers for times in (1, 2, 5))
        held = [value for value in finer if inside[0] <= value <= inside[1]]
    return held[:: max(1, -(-len(held) // MOST_TICKS))] if len(held) > 1 else [low, high]


def _round(low: float, high: float, *, whole: bool) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10((high - low) / MOST_TICKS))
    step = next(times * power for times in (1, 2, 5, 10) if (high - low) / (times * power) < MOST_TICKS)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{place * step:.12g}") for place in range(first, last + 1)]


def best_first(trials: Trials, at: int) -> list[int]:
    """Return positions within `contenders`, best value of objective `at` first."""
    sign = trials.objectives[at].sign
    values = [sign * trial.values[at] for trial in trials.contenders]
    return sorted(range(len(values)), key=lambda position: -values[position])


MOST_CURVES = 60
MOST_STEPS = 100
MOST_BARS = 200
"""More curves, points of one, or bars in one drawing cannot be distinguished (chosen by eye)."""


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
    kept = thin_positions(len(curves), best, MOST_CURVES)
    return Intermediate(tuple(curves[position] for position in kept), len(curves))


def _curve(trial: Trial) -> StepCurve:
    points = [(step, value) for step, value in trial.intermediate if math.isfinite(value)]
    kept = [points[position] for position in thin_positions(len(points), [], MOST_STEPS)]
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
        tuple(bars[at] for at in thin_positions(len(bars), longest[:20], MOST_BARS)),
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


def ranked_trials(trials: Trials, most: int = MOST_POINTS) -> tuple[Trial, ...]:
    """Return the trials of a table: best first (the front first, of several objectives), then the rest.

    Parameters
    ----------
    trials : Trials
    most : int
        Rows at most.

    Examples
    --------
    >>> trials = Trials.from_records([{}, {"value": 0.4}, {"value": 0.5}], objectives="f1")
    >>> [trial.number for trial in ranked_trials(trials)]
    [2, 1, 0]
    """
    ranked = [trials.contenders[position] for position in best_first(trials, 0)]
    if len(trials.objectives) > 1 and ranked:
        front = {trial.number for trial in trials.pareto()}
        ranked.sort(key=lambda trial: trial.number not in front)
    placed = {trial.number for trial in ranked}
    ranked += [trial for trial in trials.trials if trial.number not in placed]
    return tuple(ranked[:most])


def sampled_param(trial: Trial, name: str) -> Param:
    """Return a parameter as a table shows it: a drawn None as text, None for what was not drawn.

    Examples
    --------
    >>> trial = Trial(0, "failed", params={"depth": None})
    >>> sampled_param(trial, "depth"), sampled_param(trial, "C")
    ('None', None)
    """
    value = trial.params.get(name)
    return "None" if value is None and name in trial.params else value


def front_view(trials: Trials) -> tuple[tuple[Trial, bool], ...]:
    """Return completed trials, each with whether it is on the Pareto front of all objectives.

    Raises
    ------
    UsageError
        One objective alone has no front.
    DataError
        No trial completed with finite values.

    Examples
    --------
    >>> from evalreport.thresholds.trial import StudyObjective
    >>> rows = [{"values": (0.9, 2.0)}, {"values": (0.8, 1.0)}, {"values": (0.7, 3.0)}]
    >>> goals = [StudyObjective("f1"), StudyObjective("seconds", "minimize")]
    >>> [on_front for _, on_front in front_view(Trials.from_records(rows, objectives=goals))]
    [True, True, False]
    """
    if len(trials.objectives) < 2:
        raise UsageError("one objective has no front", fix="look at the history of the study instead")
    front = {trial.number for trial in trials.pareto()}
    rivals = trials.contenders
    kept = thin_positions(len(rivals), [at for at, trial in enumerate(rivals) if trial.number in front])
    return tuple((rivals[at], rivals[at].number in front) for at in kept)


def infeasible_view(trials: Trials) -> tuple[Trial, ...]:
    """Return trials with finite values that break a constraint, to be drawn beside those that compete.

    Examples
    --------
    >>> rows = [{"value": 0.9, "state": "infeasible"}, {"value": 0.8}]
    >>> [trial.number for trial in infeasible_view(Trials.from_records(rows, objectives="f1"))]
    [0]
    """
    broken = [t for t in trials.trials if t.state == "infeasible" and all(map(math.isfinite, t.values))]
    return tuple(broken[place] for place in thin_positions(len(broken), []))


@dataclass(frozen=True, slots=True)
class SlicePoint:
    """One trial against one parameter."""

    number: int
    at: float | str
    value: float


@dataclass(frozen=True, slots=True)
class ParameterSlice:
    """The objective over one parameter: trials that have both."""

    axis: ParameterColumn
    points: tuple[SlicePoint, ...]


@dataclass(frozen=True, slots=True)
class ParallelLine:
    """One completed trial across all axes.

    Parameters
    ----------
    places : tuple of float or None
        Position in [0, 1] on each axis; None where the parameter was not drawn.
    rank : float
        Share of the shown trials that are worse, in [0, 1]: 1 is the best. For the colour.
    """

    places: tuple[float | None, ...]
    rank: float


@dataclass(frozen=True, slots=True)
class ParallelView:
    """Parallel coordinates: one axis per varying parameter, the objective last."""

    axes: tuple[ParameterColumn, ...]
    lines: tuple[ParallelLine, ...]


def slice_views(trials: Trials, objective: str | None = None) -> tuple[ParameterSlice, ...]:
    """Return the objective over each parameter that varies, completed trials alone.

    Raises
    ------
    UsageError
        No such objective, or several and none named.

    Examples
    --------
    >>> rows = [{"params": {"C": 1.0, "k": 3}, "value": 0.5}, {"params": {"C": 2.0, "k": 3}, "value": 0.7}]
    >>> only = slice_views(Trials.from_records(rows, objectives="f1"))
    >>> [(view.axis.name, [point.at for point in view.points]) for view in only]
    [('C', [1.0, 2.0])]
    """
    at = trials.index_of(objective)
    return tuple(_slice(trials, column, at) for column in _varying(trials))


def _slice(trials: Trials, column: ParameterColumn, at: int) -> ParameterSlice:
    points = [
        SlicePoint(trial.number, entry, trial.values[at])
        for trial, entry in zip(trials.contenders, column.values, strict=True)
        if entry is not None
    ]
    sign = trials.objectives[at].sign
    best = max(range(len(points)), key=lambda position: sign * points[position].value)
    kept = tuple(points[position] for position in thin_positions(len(points), [best]))
    return ParameterSlice(column, kept)


def parallel_view(
    trials: Trials, objective: str | None = None, names: Sequence[str] | None = None
) -> ParallelView:
    """Return every completed trial as a line across the parameters that vary, the objective last.

    Parameters
    ----------
    trials : Trials
    objective : str, optional
        Which one, of several.
    names : sequence of str, optional
        Parameters that have an axis, in this order; all of them without it.

    Raises
    ------
    UsageError
        No such objective, or several and none named.

    Examples
    --------
    >>> rows = [{"params": {"C": 1.0}, "value": 0.5}, {"params": {"C": 2.0}, "value": 0.7}]
    >>> parallel_view(Trials.from_records(rows, objectives="f1")).lines[1]
    ParallelLine(places=(1.0, 1.0), rank=1.0)
    """
    at = trials.index_of(objective)
    columns = [column for column in _varying(trials) if names is None or column.name in names]
    if names is not None:
        columns.sort(key=lambda column: names.index(column.name))
    values = [trial.values[at] for trial in trials.contenders]
    ends = min(values, default=0.0), max(values, default=0.0)
    axes = (*columns, ParameterColumn(trials.objectives[at].name, "number", tuple(values), *ends))
    order = best_first(trials, at)
    ranks = {position: 1 - place / max(len(order) - 1, 1) for place, position in enumerate(order)}
    lines = []
    for position in thin_positions(len(values), order[:20]):
        places = tuple(axis.place(axis.values[position]) for axis in axes)
        lines.append(ParallelLine(places, ranks[position]))
    return ParallelView(axes, tuple(lines))


def _varying(trials: Trials) -> list[ParameterColumn]:
    return [column for column in trials.columns_over(trials.contenders) if not column.constant]


MOST = 12
"""Parameters, or objectives, that have axes of their own."""
BEST = 0.9
"""Rank from which on a line of parallel coordinates is one of the best."""
LONGEST = 18
"""Characters of a parameter's name beside its axis."""
_short = partial(short_name, longest=LONGEST)


@apply_figure_style
def history(study: Study) -> Figure:
    """Draw the value of each trial, states apart, and the best so far."""
    view = history_view(study.trials, study.objective.name)
    figure, axes = new_figure(6.0, 4.2)
    marks = (
        ("complete", BLUE, "o"),
        ("infeasible", ORANGE, "^"),
        ("pruned", GREY, "x"),
        ("failed", ORANGE, "s"),
    )
    for state, colour, marker in marks:
        points = [(p.number, p.value) for p in view.points if p.state == state and p.value is not None]
        if points:
            axes.plot(*zip(*points, strict=True), marker, color=colour, markersize=4, label=state)
    best = [(p.number, p.best) for p in view.points if p.best is not None]
    axes.plot(*zip(*best, strict=True), color=BLUE, drawstyle="steps-post", label="best so far")
    name_axes(axes, "trial", study.objective.name, "Optimisation history")
    axes.legend(fontsize=9)
    return figure


@apply_figure_style
def importance(study: Study) -> Figure:
    """Draw the importance of each parameter, largest on top.

    Raises
    ------
    UsageError
        There are no shares, with the reason.
    """
    found = study.importance
    if isinstance(found, Undefined):
        raise UsageError(f"there is no importance: {found.reason}", fix="run more trials")
    shares = found.shares[:MOST][::-1]
    figure, axes = new_figure(6.0, 1.2 + 0.32 * len(shares))
    axes.barh([_short(name) for name, _ in shares], [share for _, share in shares], color=BLUE, height=0.6)
    for place, (_, share) in enumerate(shares):
        axes.text(share, place, f" {share:.0%}", va="center", fontsize=9, color=GREY)
    name_axes(axes, f"share ({found.method})", "", "Parameter importance")
    return figure


@apply_figure_style
def slices(study: Study) -> Figure:
    """Draw the objective over each parameter that varies, complete trials alone.

    Raises
    ------
    UsageError
        No parameter varies.
    """
    leading = study.leading(MOST)
    every = slice_views(study.trials, study.objective.name)
    views = [view for view in every if view.axis.name in leading]
    views.sort(key=lambda view: leading.index(view.axis.name))
    if not views:
        raise UsageError("no parameter differs between the complete trials", fix="vary one")
    figure, grid = small_charts(len(views))
    for place, (view, axes) in enumerate(zip(views, grid, strict=True)):
        places: Any = [view.axis.place(point.at) for point in view.points]
        axes.plot(places, [point.value for point in view.points], "o", color=BLUE, markersize=3)
        _ticks(axes, view.axis)
        name_axes(axes, "", study.objective.name if place % COLUMNS == 0 else "", _short(view.axis.name))
    return figure


@apply_figure_style
def parallel(study: Study) -> Figure:
    """Draw every complete trial across the parameters that vary, the best tenth in blue."""
    view = parallel_view(study.trials, study.objective.name, study.leading(MOST))
    figure, axes = new_figure(max(5.2, 1.15 * len(view.axes)), 4.2)
    for line in sorted(view.lines, key=lambda line: line.rank):
        drawn_at = [(at, place) for at, place in enumerate(line.places) if place is not None]
        best = line.rank >= BEST
        axes.plot(*zip(*drawn_at, strict=True), color=BLUE if best else LINE, linewidth=1.4 if best else 0.7)
    for at, axis in enumerate(view.axes):
        axes.axvline(at, color=GREY, linewidth=0.8)
        for place, text in ticks_of(axis):
            box = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8}
            axes.text(at + 0.04, place, _short(text), fontsize=7.5, color=INK, va="center", bbox=box)
    axes.set_xticks(range(len(view.axes)), [_short(axis.name) for axis in view.axes], rotation=20, fontsize=8)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_title("Parallel coordinates (blue: the best tenth)")
    return figure


@apply_figure_style
def intermediate(study: Study) -> Figure:
    """Draw what trials reported on their way, pruned ones dashed.

    Raises
    ------
    UsageError
        No trial reported a value.
    """
    view = intermediate_view(study.trials)
    if not view.curves:
        raise UsageError("no trial reported a value on its way", fix="report values to the study")
    best = {trial.number for trial in study.trials.pareto()} if study.trials.contenders else set()
    figure, axes = new_figure(6.0, 4.2)
    for curve in view.curves:
        is_best = curve.number in best
        axes.plot(
            curve.steps,
            curve.values,
            color=BLUE if is_best else GREY,
            linewidth=2.0 if is_best else 0.7,
            linestyle="solid" if curve.state == "complete" else "dashed",
            marker="." if len(curve.steps) == 1 else "",
        )
    name_axes(axes, "step", study.objective.name, "Intermediate values (blue: best, dashed: not complete)")
    return figure


@apply_figure_style
def timeline(study: Study) -> Figure:
    """Draw when each trial ran.

    Raises
    ------
    UsageError
        No trial has a known start and end.
    """
    view = timeline_view(study.trials)
    if not view.bars:
        raise UsageError("no trial has a known start and end", fix="record times")
    figure, axes = new_figure(6.0, 4.2)
    for bar in view.bars:
        colour = {"complete": BLUE, "failed": ORANGE, "infeasible": ORANGE}.get(bar.state, GREY)
        width = max(bar.end - bar.start, view.seconds / 500)
        axes.barh(bar.number, width, left=bar.start, color=colour, height=0.8)
    name_axes(axes, "seconds", "trial", "Timeline (blue: complete, orange: failed or infeasible)")
    return figure


@apply_figure_style
def front(study: Study) -> Figure:
    """Draw the first two objectives against each other, the Pareto front in blue.

    Raises
    ------
    UsageError
        The study has one objective.
    """
    view, (x, y, *_) = front_view(study.trials), study.trials.objectives
    figure, axes = new_figure()
    for on, colour, size in ((False, GREY, 3), (True, BLUE, 6)):
        points = [trial.values[:2] for trial, on_front in view if on_front is on]
        if points:
            axes.plot(*zip(*points, strict=True), "o", color=colour, markersize=size)
    broken = [trial.values[:2] for trial in infeasible_view(study.trials)]
    if broken:
        axes.plot(*zip(*broken, strict=True), "^", color=ORANGE, markersize=4, label="infeasible")
        axes.legend(fontsize=9)
    name_axes(axes, x.name, y.name, "Pareto front")
    return figure


STUDY: Mapping[str, tuple[Callable[[Study], Figure], Callable[[Study], bool]]] = {
    "sweep_history.png": (history, lambda _: True),
    "sweep_importance.png": (importance, lambda study: not isinstance(study.importance, Undefined)),
    "sweep_slices.png": (slices, lambda study: bool(slice_views(study.trials, study.objective.name))),
    "sweep_parallel.png": (
        parallel,
        lambda study: len(parallel_view(study.trials, study.objective.name).axes) > 2,
    ),
    "sweep_intermediate.png": (intermediate, lambda study: bool(intermediate_view(study.trials).curves)),
    "sweep_timeline.png": (timeline, lambda study: timeline_view(study.trials).seconds > 0),
    "sweep_front.png": (front, lambda study: study.several),
}
"""Figures of a study by file name, each with when it applies."""


def study_figures(study: Study) -> dict[str, bytes]:
    """Return the figures that apply to a study, as PNG by file name."""
    return {name: png(draw(study)) for name, (draw, applies) in STUDY.items() if applies(study)}


def _ticks(axes: Axes, axis: ParameterColumn) -> None:
    marks = ticks_of(axis)
    axes.set_xticks([place for place, _ in marks], [_short(text) for _, text in marks], fontsize=8)
    axes.set_xlim(-0.06, 1.06)
