"""How a sweep went: best so far, values on the way, time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalreport.format import fixed, significant
from evalreport.panels.chart import (
    Axis,
    Chart,
    Label,
    Path,
    Shape,
    across,
    columns_between,
    dots,
    padded,
    polyline,
    up,
    x_axis,
    y_axis,
)
from evalreport.panels.curves import Charts, spread
from evalreport.panels.parts import Cell, Column, Section, Table
from evalreport.panels.trials.study import STATES, Study
from evalreport.panels.words import Sentence, say
from evalreport.sweep.views import (
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


def history(study: Study) -> Section | None:
    """Return the value of each trial, the best so far, and what trials reported on their way."""
    charts: list[Chart] = []
    for goal in study.trials.objectives:
        course = history_view(study.trials, goal.name)
        if any(point.value is not None for point in course.points):
            charts.append(_history(course, len(charts)))
    if not charts:
        return None
    lede = say("Each point is a trial, in the order of the study; the line is the best so far.")
    gone = study.trials.n_non_finite
    if gone:
        lede += say("{gone:count} completed without a finite value and are left out.", gone=gone)
    view = intermediate_view(study.trials)
    if view.curves:
        lede += say("{curves:count} reported values on their way.", curves=view.n_curves)
        charts.append(_intermediate(study, view))
    return Section("history", "History", "How the search went", "charts", lede, Charts(tuple(charts)))


def _history(view: HistoryView, place: int) -> Chart:
    done = [p for p in view.points if p.value is not None]
    values = [p.value for p in done if p.value is not None]
    x = x_axis(0, max(view.n_trials - 1, 1), "Trial")
    y = y_axis(*padded(values), f"{view.objective.name} ↑")
    best = [(p.number, p.best) for p in view.points if p.best is not None]
    complete = [(p.number, p.value) for p in done if p.value is not None and p.state == "complete"]
    others = [(p.number, p.value) for p in done if p.value is not None and p.state != "complete"]
    last = best[-1][1] if best else None
    return Chart(
        id=f"history-{place}",
        title=view.objective.name,
        note=say("Lower is better." if view.objective.sign < 0 else "Higher is better."),
        description=_best_of(view, last),
        x=x,
        y=y,
        paths=(
            Path("dots-2", dots(x, y, *_pairs(others))),
            Path("dots", dots(x, y, *_pairs(complete))),
            *((Path("line", polyline(x, y, *_steps(best))),) if len(best) > 1 else ()),
        ),
        labels=()
        if last is None
        else (Label(*_near_end(x, y, last), f"best {significant(last)}", "end", "blue"),),
        values=_history_table(view, place),
    )


def _near_end(x: Axis, y: Axis, value: float) -> tuple[float, float]:
    height = up(y, value)
    return across(x, x.high) - 2, height - 6 if height > 24 else height + 14


def _best_of(view: HistoryView, last: float | None) -> Sentence:
    if last is None:
        return say("No trial completed.")
    return say(
        "Value of each of {trials:count} trials; the best is {last:significant}.",
        trials=view.n_trials,
        last=last,
    )


def _pairs(points: Sequence[tuple[int, float]]) -> tuple[list[float], list[float]]:
    return [float(a) for a, _ in points], [b for _, b in points]


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
        rows.append(
            (Cell(str(point.number)), Cell(STATES[point.state]), *(Cell(text, "n") for text in cells))
        )
    heads = (Column("Trial"), Column("State"), Column("Value", "n"), Column("Best so far", "n"))
    return Table(f"history-{place}-values", f"Course of {view.objective.name}", heads, tuple(rows))


def _intermediate(study: Study, view: Intermediate) -> Chart:
    steps = [float(step) for curve in view.curves for step in curve.steps]
    values = [value for curve in view.curves for value in curve.values]
    x = x_axis(min(steps), max(*steps, min(steps) + 1), "Step")
    y = y_axis(*padded(values), f"{study.objective.name} ↑")
    ended = [curve for curve in view.curves if curve.state == "complete"]
    cut = [curve for curve in view.curves if curve.state != "complete"]
    rows = [
        (
            Cell(str(curve.number)),
            Cell(STATES[curve.state]),
            Cell(f"{curve.steps[-1]:,}", "n"),
            Cell(significant(curve.values[-1]), "n"),
        )
        for curve in view.curves
    ]
    heads = (Column("Trial"), Column("State"), Column("Last step", "n"), Column("Value there", "n"))
    return Chart(
        id="intermediate-chart",
        title="Learning curves",
        note=say("Solid: complete. Dashed: pruned or not complete."),
        description=say("Values by step of {shown:count} trials.", shown=len(view.curves)),
        x=x,
        y=y,
        paths=(Path("thin", _lines(x, y, ended)), Path("thin-2", _lines(x, y, cut))),
        values=Table("intermediate-values", "Last reported values", heads, tuple(rows), tall=True),
    )


def _lines(x: Axis, y: Axis, curves: Iterable[StepCurve]) -> str:
    return "".join(polyline(x, y, [float(s) for s in c.steps], c.values) for c in curves if len(c.steps) > 1)


def timeline(study: Study) -> Section | None:
    """Return when each trial ran."""
    view = timeline_view(study.trials)
    if not view.bars or not view.seconds:
        return None
    lede = say(
        "{timed:count} trials ran for {total} in all, {median} each in the median, at most {lanes:count} at "
        "once.",
        timed=len(study.trials) - view.n_unknown,
        total=duration(view.seconds),
        median=duration(view.median),
        lanes=view.lanes,
    )
    return Section("timeline", "Time", "Where the time went", "charts", lede, Charts((_timeline(view),)))


def _timeline(view: Timeline) -> Chart:
    scale, unit = (
        (3600.0, "hours")
        if view.seconds > 7200
        else (60.0, "minutes")
        if view.seconds > 120
        else (1.0, "seconds")
    )
    x = x_axis(0, view.seconds / scale, f"Time ({unit})")
    y = y_axis(0, view.lanes, "At once ↑", range(view.lanes + 1) if view.lanes <= 10 else None)
    kinds: tuple[tuple[Shape, tuple[str, ...]], ...] = (
        ("bars", ("complete",)),
        ("bars-2", ("pruned", "running", "waiting")),
        ("bars-wrong", ("failed",)),
    )
    rows = [
        (
            Cell(str(bar.number)),
            Cell(STATES[bar.state]),
            Cell(duration(bar.start), "n"),
            Cell(duration(bar.end - bar.start), "n"),
        )
        for bar in sorted(view.bars, key=lambda bar: bar.start - bar.end)[:ROWS]
    ]
    heads = (Column("Trial"), Column("State"), Column("Started after", "n"), Column("Took", "n"))
    return Chart(
        id="timeline-chart",
        title="Trials in time",
        note=say("Blue: complete. Grey: pruned or not complete. Orange: failed."),
        description=say("Start and end of {bars:count} trials.", bars=len(view.bars)),
        x=x,
        y=y,
        paths=tuple(Path(shape, _bars(x, y, view.bars, states, scale)) for shape, states in kinds),
        values=Table("timeline-values", "The longest trials", heads, tuple(rows)),
    )


def _bars(x: Axis, y: Axis, bars: Iterable[Bar], states: tuple[str, ...], scale: float) -> str:
    return "".join(
        columns_between(x, y, (bar.start / scale, bar.end / scale), (bar.lane + 0.1, bar.lane + 0.9))
        for bar in bars
        if bar.state in states
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
