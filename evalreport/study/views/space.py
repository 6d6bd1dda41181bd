"""Where the sweep looked: one parameter at a time, and all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.study import ParameterColumn, Trials
from evalreport.study.views.axes import best_first, thinned


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
    kept = tuple(points[position] for position in thinned(len(points), [best]))
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
    for position in thinned(len(values), order[:20]):
        places = tuple(axis.place(axis.values[position]) for axis in axes)
        lines.append(ParallelLine(places, ranks[position]))
    return ParallelView(axes, tuple(lines))


def _varying(trials: Trials) -> list[ParameterColumn]:
    return [column for column in trials.columns_over(trials.contenders) if not column.constant]
