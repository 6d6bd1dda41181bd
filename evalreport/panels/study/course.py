"""How a sweep went: best so far, values on the way, time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

import numpy as np

from evalreport.format import fixed, significant
from evalreport.panels.chart import Axes, Chart, Label, Path, Shape, nice_step, padded, x_axis, y_axis
from evalreport.panels.curves import spread
from evalreport.panels.parts import Beside, Column, Heading, Section, Table
from evalreport.panels.placing import clearest, labelled
from evalreport.panels.study.words import STATES
from evalreport.panels.words import Sentence, say
from evalreport.study import HistoryPoint
from evalreport.study.judged import Study
from evalreport.study.views.course import (
    Bar,
    HistoryView,
    Intermediate,
    StepCurve,
    Timeline,
    history_view,
    intermediate_view,
    timeline_view,
)

ROWS = 20
"""Trials of a table beside a chart."""
READ = say(
    "Each point is a trial, in the order of the study; the line is the best so far, the ring the first to "
    "reach it."
)
LETTER = 5.9
"""Width of a bold letter of a label, in units of the chart."""


def history(study: Study) -> Section | None:
    """Return the value of each trial, the best so far, and what trials reported on their way."""
    charts: list[Chart] = []
    for goal in study.trials.objectives:
        course = history_view(study.trials, goal.name)
        if any(point.value is not None for point in course.points):
            charts.append(history_chart(course, len(charts)))
    if not charts:
        return None
    summary = READ
    gone = study.trials.n_non_finite
    if gone:
        summary += say("{gone:count} completed without a finite value and are left out.", gone=gone)
    broken = study.trials.counts["infeasible"]
    if broken:
        summary += say("Orange: {broken:count} infeasible, which cannot be the best.", broken=broken)
    view = intermediate_view(study.trials)
    if view.curves:
        summary += say("{curves:count} reported values on their way.", curves=view.n_curves)
        charts.append(_intermediate(study, view))
    return Section.of("history", "History", "How the search went", summary, Beside(tuple(charts)))


def history_chart(view: HistoryView, place: int) -> Chart:
    """Return the value of each trial and the best so far.

    Parameters
    ----------
    view : HistoryView
    place : int
        Of the chart among others on its page.
    """
    done = [p for p in view.points if p.value is not None]
    values = [p.value for p in done if p.value is not None]
    axes = Axes(
        x_axis(0, max(view.n_trials - 1, 1), "Trial"), y_axis(*padded(values), f"{view.objective.name} ↑")
    )
    best = [(p.number, p.best) for p in view.points if p.best is not None]
    complete = [(p.number, p.value) for p in done if p.value is not None and p.state == "complete"]
    broken = [(p.number, p.value) for p in done if p.value is not None and p.state == "infeasible"]
    others = [
        (p.number, p.value) for p in done if p.value is not None and p.state not in {"complete", "infeasible"}
    ]
    last = best[-1][1] if best else None
    first = next((p for p in done if p.value == last and p.state == "complete"), None)
    return Chart(
        id=f"history-{place}",
        title=view.objective.name,
        note=say("Lower is better." if view.objective.sign < 0 else "Higher is better."),
        description=_best_of(view, last),
        axes=axes,
        paths=(
            Path("dots-2", axes.dots(others)),
            *((Path("dots-wrong", axes.dots(broken)),) if broken else ()),
            Path("dots", axes.dots(complete)),
            *((Path("line", axes.polyline(*_steps(best))),) if len(best) > 1 else ()),
        ),
        labels=() if last is None else (_best_label(axes, done, last),),
        ring=None
        if first is None or first.value is None
        else (axes.across(first.number), axes.up(first.value)),
        values=_history_table(view, place),
    )


def _best_label(axes: Axes, done: Sequence[HistoryPoint], last: float) -> Label:
    """The best value in words, where it covers the fewest points."""
    words = f"best {significant(last)}"
    taken = np.array([(axes.across(p.number), axes.up(p.value)) for p in done if p.value is not None])
    spots = [(left, base) for base in (250.0, 200.0, 30.0, 150.0, 100.0) for left in (240.0, 50.0, 150.0)]
    width = LETTER * len(words)
    return labelled(clearest(spots, width, taken), width, words, "blue")


def _best_of(view: HistoryView, last: float | None) -> Sentence:
    if last is None:
        return say("No trial can be the best.")
    words = "Value of each of {trials:count} trials; the best is {last:significant}."
    return say(words, trials=view.n_trials, last=last)


def _steps(best: Sequence[tuple[int, float | None]]) -> tuple[list[float], list[float]]:
    """A line that stays until the next improvement."""
    xs: list[float] = []
    ys: list[float] = []
    for number, value in best:
        if value is None:
            continue
        if ys and ys[-1] != value:
            xs.append(float(number))
            ys.append(ys[-1])
        xs.append(float(number))
        ys.append(value)
    return xs, ys


def _history_table(view: HistoryView, place: int) -> Table:
    rows = []
    for at in spread(len(view.points), ROWS):
        point = view.points[at]
        cells = ("–" if value is None else significant(value) for value in (point.value, point.best))
        rows.append((str(point.number), STATES[point.state], *cells))
    heads = ("Trial", Column("State"), "Value", "Best so far")
    return Table.of(f"history-{place}-values", f"Course of {view.objective.name}", heads, rows)


def _intermediate(study: Study, view: Intermediate) -> Chart:
    steps = [float(step) for curve in view.curves for step in curve.steps]
    values = [value for curve in view.curves for value in curve.values]
    low, high = min(steps), max(*steps, min(steps) + 1)
    step = max(1.0, nice_step(high - low))
    ticks = np.arange(np.ceil(low / step) * step, high + 0.1, step).tolist()
    axes = Axes(x_axis(low, high, "Step", ticks), y_axis(*padded(values), f"{study.objective.name} ↑"))
    front = {trial.number for trial in study.trials.pareto()} if study.trials.contenders else set()
    best = [curve for curve in view.curves if curve.number in front]
    ended = [c for c in view.curves if c.state == "complete" and c.number not in front]
    cut = [curve for curve in view.curves if curve.state != "complete"]
    rows = (
        (str(curve.number), STATES[curve.state], f"{curve.steps[-1]:,}", significant(curve.values[-1]))
        for curve in view.curves
    )
    heads = ("Trial", Column("State"), "Last step", "Value there")
    return Chart(
        id="intermediate-chart",
        title="Learning curves",
        note=say("Blue: the best. Grey: other complete trials. Dashed: pruned, infeasible or not complete."),
        description=say("Values by step of {shown:count} trials.", shown=len(view.curves)),
        axes=axes,
        paths=(
            Path("thin-3", _lines(axes, ended)),
            Path("thin-2", _lines(axes, cut)),
            Path("line", _lines(axes, best)),
        ),
        values=Table.of("intermediate-values", "Last reported values", heads, rows, tall=True),
    )


def _lines(axes: Axes, curves: Iterable[StepCurve]) -> str:
    return "".join(axes.polyline([float(s) for s in c.steps], c.values) for c in curves if len(c.steps) > 1)


def timeline(study: Study) -> Section | None:
    """Return when each trial ran, and how long trials of each state took."""
    view = timeline_view(study.trials)
    if not view.bars or not view.seconds:
        return None
    words = "{timed:count} trials ran for {total} in all, {median} each in the median, at most {lanes:count} "
    took = {"total": duration(view.seconds), "median": duration(view.median)}
    summary = say(words + "at once.", took, timed=len(study.trials) - view.n_unknown, lanes=view.lanes)
    parts = Beside((_timeline(view), (Heading("By state"), _by_state(study))))
    return Section.of("timeline", "Time", "Where the time went", summary, parts)


def _by_state(study: Study) -> Table:
    rows = []
    for state, words in STATES.items():
        every = [trial.duration for trial in study.trials.trials if trial.state == state]
        took = [seconds for seconds in every if seconds is not None]
        if every:
            cells = [duration(f(took)) if took else "–" for f in (median, max, sum)]
            rows.append((words, f"{len(every):,}", *cells))
    heads = ("State", "Trials", "Median", "Longest", "In all")
    return Table.of("timeline-states", "Time by state", heads, rows)


def _timeline(view: Timeline) -> Chart:
    long = ((3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
    scale, unit = next((pair for pair in long if view.seconds > 2 * pair[0]), long[-1])
    numbers = [bar.number for bar in view.bars]
    trials = y_axis(min(numbers) - 1, max(numbers) + 1, "Trial ↑")
    axes = Axes(x_axis(0, view.seconds / scale, f"Time ({unit})"), trials)
    kinds: tuple[tuple[Shape, tuple[str, ...]], ...] = (
        ("span", ("complete",)),
        ("span-2", ("pruned", "running", "waiting")),
        ("span-wrong", ("failed", "infeasible")),
    )
    rows = (
        (str(bar.number), STATES[bar.state], duration(bar.start), duration(bar.end - bar.start))
        for bar in sorted(view.bars, key=lambda bar: bar.start - bar.end)[:ROWS]
    )
    heads = ("Trial", Column("State"), "Started after", "Took")
    return Chart(
        id="timeline-chart",
        title="Trials in time",
        note=say("Blue: complete. Grey: pruned or not complete. Orange: failed or infeasible."),
        description=say("Start and end of {bars:count} trials.", bars=len(view.bars)),
        axes=axes,
        paths=tuple(Path(shape, _spans(axes, view.bars, states, scale)) for shape, states in kinds),
        values=Table.of("timeline-values", "The longest trials", heads, rows),
    )


def _spans(axes: Axes, bars: Iterable[Bar], states: tuple[str, ...], scale: float) -> str:
    """A line from start to end at the height of each trial; one of no length is a dot."""
    return "".join(
        axes.span((bar.start / scale, bar.end / scale), bar.number) for bar in bars if bar.state in states
    )


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(0.042), duration(5), duration(90), duration(7500)
    ('42 ms', '5.0 s', '1.5 min', '2.1 h')
    """
    for unit, size, digits in (("h", 3600, 1), ("min", 60, 1), ("s", 1, 1)):
        if seconds >= size:
            return f"{fixed(seconds / size, digits)} {unit}"
    return f"{fixed(seconds * 1000, 0)} ms"
