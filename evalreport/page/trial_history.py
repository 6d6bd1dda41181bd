"""How the trials of a search went: the value of each, and the best so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.core.format import significant
from evalreport.core.sentences import Sentence, say
from evalreport.page.charts import (
    Axes,
    Chart,
    Label,
    Path,
    clearest,
    pad_range,
    place_label,
    whole_ticks,
    x_axis,
    y_axis,
)
from evalreport.page.elements import Column, Table
from evalreport.page.sections.curves import evenly_spaced_places
from evalreport.thresholds.trial import State, StudyObjective
from evalreport.thresholds.trial_search import HistoryPoint, Trials

STATES: Mapping[State, str] = {
    "complete": "complete",
    "infeasible": "infeasible",
    "pruned": "pruned",
    "failed": "failed",
    "running": "still running",
    "waiting": "waiting",
}
ROWS = 20
"""Trials of a table beside a chart."""
READ = say("Each point is a trial. The line is the best value so far; the ring is the best trial.")
LETTER = 5.9
"""Width of a bold letter of a label, in units of the chart."""
MOST_POINTS = 400
"""Points of one drawing; more add nothing that is visible."""


def thin_positions(n: int, keep: Iterable[int], most: int = MOST_POINTS) -> tuple[int, ...]:
    """Return at most `most` positions of `n`: those to keep, and the rest evenly.

    Parameters
    ----------
    n : int
    keep : iterable of int
        Positions to keep, most important first; cut off when there are too many.
    most : int

    Examples
    --------
    >>> thin_positions(10, keep=[3], most=4)
    (0, 3, 5, 9)
    >>> thin_positions(3, keep=[])
    (0, 1, 2)
    """
    if n <= most:
        return tuple(range(n))
    kept = list(dict.fromkeys(keep))[:most]
    others = sorted(set(range(n)) - set(kept))
    room = most - len(kept)
    if room == 1:
        kept.append(others[0])
    elif room:
        kept += [others[round(at * (len(others) - 1) / (room - 1))] for at in range(room)]
    return tuple(sorted(kept))


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
    kept = tuple(points[position] for position in thin_positions(len(points), reversed(rises)))
    return HistoryView(trials.objectives[at], kept, len(trials))


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
    last_trial = max(view.n_trials - 1, 1)
    axes = Axes(
        x_axis(0, last_trial, "Trial", whole_ticks(0, last_trial)),
        y_axis(*pad_range(values), f"{view.objective.name} ↑"),
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
        else (axes.x_position(first.number), axes.y_position(first.value)),
        values=_history_table(view, place),
    )


def _best_label(axes: Axes, done: Sequence[HistoryPoint], last: float) -> Label:
    """The best value in words, where it covers the fewest points."""
    words = f"best {significant(last)}"
    taken = np.array(
        [(axes.x_position(p.number), axes.y_position(p.value)) for p in done if p.value is not None]
    )
    spots = [(left, base) for base in (250.0, 200.0, 30.0, 150.0, 100.0) for left in (240.0, 50.0, 150.0)]
    width = LETTER * len(words)
    return place_label(clearest(spots, width, taken), width, words, "blue")


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
    for at in evenly_spaced_places(len(view.points), ROWS):
        point = view.points[at]
        cells = ("–" if value is None else significant(value) for value in (point.value, point.best))
        rows.append((str(point.number), STATES[point.state], *cells))
    heads = ("Trial", Column("State"), "Value", "Best so far")
    return Table.from_rows(f"history-{place}-values", f"History of {view.objective.name}", heads, rows)
