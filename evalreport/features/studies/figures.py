"""A study as figures: history, importance, parameters, values on the way, time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from evalreport.core.errors import UsageError
from evalreport.core.result import Undefined
from evalreport.features.studies.study import Study
from evalreport.features.studies.views import (
    front_view,
    infeasible_view,
    intermediate_view,
    parallel_view,
    slice_views,
    ticks_of,
    timeline_view,
)
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
from evalreport.page.trial_history import history_view
from evalreport.thresholds.trial import ParameterColumn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    """Draw the share of each parameter, greatest on top.

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
