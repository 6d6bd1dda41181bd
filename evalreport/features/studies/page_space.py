"""Where a sweep looked, and which parameters mattered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evalreport.core.format import significant
from evalreport.core.result import Undefined
from evalreport.core.sentences import NOTHING, Sentence, say, truncate_name
from evalreport.features.studies.page import param_cell
from evalreport.features.studies.sentences import objective_title, own
from evalreport.features.studies.study import Study
from evalreport.features.studies.views import ParameterSlice, parallel_view, slice_views, ticks_of
from evalreport.page.charts import Axes, Chart, Path, named_axis, pad_range, y_axis
from evalreport.page.elements import Cell, Column, Empty, Note, Section, Table, TwoColumns, share_cell
from evalreport.thresholds.trial import ParameterColumn

MOST = 12
"""Parameters that have a chart of their own; of several objectives each has its part of them."""
AXES = 10
"""Parameters that have an axis among the parallel ones."""
WIDE, TALL = 700.0, 300.0
"""View box of the parallel coordinates."""
BEST = 0.9
"""Rank from which on a line is drawn as one of the best."""
LETTERS = 12
"""Letters of a category beside an axis."""


@dataclass(frozen=True)
class Pole:
    """One upright axis of the parallel coordinates."""

    x: float
    name: str
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Parallel:
    """Parallel coordinates: poles, and the lines of the best and of the others."""

    kind: ClassVar[str] = "parallel"
    id: ClassVar[str] = "parallel-chart"
    poles: tuple[Pole, ...]
    best: str
    others: str
    width: float
    description: Sentence


def importance(study: Study) -> Section | None:
    """Return which parameters mattered."""
    if not study.trials.contenders:
        return None
    found = study.importance
    title = "Which parameters mattered"
    if isinstance(found, Undefined):
        why = say("{reason}.", reason=found.reason[:1].upper() + found.reason[1:])
        empty = Empty(say("No importance is shown."), why)
        return Section.from_parts("importance", "Importance", title, NOTHING, empty)
    words = "{method} on {n:count} complete trials: {meaning}."
    summary = say(words, method=found.method, n=found.n_trials, meaning=found.meaning)
    rows = tuple((Cell(name), share_cell(share)) for name, share in found.shares)
    name = objective_title(study, "Importance")
    heads = ("Parameter", Column("Share", "q"))
    table = Table.from_rows(own(study, "importance-table"), name, heads, rows)
    out = [f"{name} ({why})" for name, why in found.left_out]
    note = Note(say("Left out: {names}.", names=", ".join(out))) if out else None
    return Section.from_parts("importance", "Importance", title, summary, table, note)


def slices(study: Study) -> Section | None:
    """Return the objective over each parameter."""
    views = slice_views(study.trials, study.objective.name) if study.trials.contenders else ()
    if not views:
        return None
    most = MOST // len(study.trials.objectives)
    leading = study.leading(most)
    shown = sorted(
        (view for view in views if view.axis.name in leading), key=lambda view: leading.index(view.axis.name)
    )
    charts = tuple(_slice(study, view, place) for place, view in enumerate(shown))
    summary = say("Each point is a complete trial; the ring is the best.")
    if not isinstance(study.importance, Undefined):
        summary += say("The most important parameter is first.")
    if len(views) > len(shown):
        summary += say("{more:count} less important ones are not drawn.", more=len(views) - len(shown))
    return Section.from_parts("slices", "Parameters", "One parameter at a time", summary, TwoColumns(charts))


def _slice(study: Study, view: ParameterSlice, place: int) -> Chart:
    values = [point.value for point in view.points]
    shown = view.axis.name + (" (logarithmic)" if view.axis.log else "")
    heights = y_axis(*pad_range(values), f"{study.objective.name} ↑")
    axes = Axes(named_axis(0, 1, shown, _ticks(view.axis)), heights)
    places = [view.axis.place(point.at) for point in view.points]
    xs = [0.5 if at is None else at for at in places]
    best = max(view.points, key=lambda point: study.objective.sign * point.value)
    best_at = view.axis.place(best.at)
    rows = [
        (str(point.number), param_cell(point.at), significant(point.value))
        for point in sorted(view.points, key=lambda point: -study.objective.sign * point.value)[:20]
    ]
    id, heads = own(study, f"slice-{place}"), ("Trial", Column(view.axis.name), study.objective.name)
    return Chart(
        id=id,
        title=view.axis.name,
        note=NOTHING,
        description=say(
            "{study.objective.name} over {view.axis.name} in {points:count} trials; the best is at {best}.",
            {"study": study, "view": view, "points": len(view.points), "best": param_cell(best.at).words},
        ),
        axes=axes,
        paths=(Path("dots", axes.dots(zip(xs, values, strict=True))),),
        ring=None if best_at is None else (axes.x_position(best_at), axes.y_position(best.value)),
        values=Table.from_rows(
            f"{id}-values", objective_title(study, f"The best by {view.axis.name}"), heads, rows
        ),
    )


def _ticks(axis: ParameterColumn) -> list[tuple[float, str]]:
    return [(at, truncate_name(text, LETTERS)) for at, text in ticks_of(axis)]


def parallel(study: Study) -> Section | None:
    """Return all parameters at once."""
    if not study.trials.contenders:
        return None
    view = parallel_view(study.trials, study.objective.name, study.leading(AXES))
    if len(view.axes) < 3:
        return None
    gap = max(WIDE / (len(view.axes) - 1), 90.0)
    poles = tuple(
        Pole(round(50 + place * gap, 1), axis.name, tuple((_height(at), text) for at, text in _ticks(axis)))
        for place, axis in enumerate(view.axes)
    )
    best = [line.places for line in view.lines if line.rank >= BEST]
    rest = [line.places for line in view.lines if line.rank < BEST]
    body = Parallel(
        poles=poles,
        best=_lines(poles, best),
        others=_lines(poles, rest),
        width=round(100 + gap * (len(view.axes) - 1), 1),
        description=say(
            "Each of {lines:count} complete trials as a line across its parameters; the best tenth is blue.",
            lines=len(view.lines),
        ),
    )
    best_by = say("best tenth by {name}", name=study.objective.name) if study.several else say("best tenth")
    summary = say(
        "Each line is a complete trial; the {best_by} is blue and strong, the others are grey.",
        best_by=best_by,
    )
    more = len(slice_views(study.trials, study.objective.name)) - len(view.axes) + 1
    if more > 0:
        summary += say("{more:count} less important parameters have no axis.", more=more)
    if any(None in line.places for line in view.lines):
        summary += say("A line passes straight by a parameter that its trial did not have.")
    return Section.from_parts("parallel", "All parameters", "All parameters at once", summary, body)


def _height(at: float) -> float:
    return round(TALL - 40 - at * (TALL - 80), 1)


def _lines(poles: tuple[Pole, ...], lines: list[tuple[float | None, ...]]) -> str:
    """Lines that pass straight by an axis whose parameter was not drawn."""
    made = []
    for places in lines:
        pen = "M"
        for pole, at in zip(poles, places, strict=True):
            if at is None:
                continue
            made.append(f"{pen}{pole.x:g} {_height(at):g}")
            pen = "L"
    return "".join(made)
