"""The best threshold for each objective, as a table and as curves over the threshold."""

from __future__ import annotations

import math

import numpy as np

from evalreport.estimates import beside, interval, valued
from evalreport.evaluation.threshold_selection import Selected, ThresholdSelection
from evalreport.facts import BinaryCounts
from evalreport.format import Style, count, percent, show
from evalreport.format import threshold as threshold_text
from evalreport.panels.about import confidence_percent, units
from evalreport.panels.chart import (
    BOTTOM,
    TOP,
    Axis,
    Chart,
    Label,
    Path,
    across,
    columns_between,
    outline,
    padded,
    polyline,
    x_axis,
    y_axis,
)
from evalreport.panels.curves import spread
from evalreport.panels.objectives import objective_style, objective_title
from evalreport.panels.parts import Beside, Cell, Column, Note, Row, Section, Table
from evalreport.panels.placing import clearest, labelled
from evalreport.panels.words import NOTHING, say
from evalreport.thresholds.objectives import Objective
from evalreport.thresholds.optimum import Optimum, OutOfSample, Unreachable
from evalreport.thresholds.promise import Hold
from evalreport.values import Estimate, Undefined

MOST = 6
"""Objectives that have a chart."""
ROWS = 20
LETTER = 5.5
"""Width of a letter of a label, in units of the chart."""


def panel(found: ThresholdSelection) -> Section:
    """Return the table of all objectives."""
    ev = found.evaluation
    level = confidence_percent(ev)
    heads = (
        "For",
        Column("Threshold", "n", "up"),
        "Its interval",
        "Where chosen",
        "Elsewhere",
        f"{level} interval",
        *((f"Held with {percent(ev.sampling.hold, 100)}",) if ev.sampling.hold else ()),
        *(Column(title, "n", "down") for title in ("Found", "Missed", "False alarms")),
    )
    rows = (_row(found, name, best) for name, best in found.found.items())
    note = say(
        "The interval of a threshold is where {level} of resamples put it. Counts are of all {n:count} "
        "{units} of this data.",
        level=level,
        n=ev.weight,
        units=units(ev, ev.rows),
    )
    table = Table.of("optima-table", "Thresholds by purpose", heads, rows)
    title = "What is best for which purpose"
    return Section.of("optima", "Best thresholds", title, NOTHING, table, Note(note))


def _row(found: ThresholdSelection, name: str, best: Selected) -> Row:
    title = objective_title(name)
    if not isinstance(best, Optimum):
        reason = best.reason if isinstance(best, Undefined | Unreachable) else ""
        width = 8 + (found.evaluation.sampling.hold is not None)
        return (Cell(title, sub=reason), *["–"] * width)
    metric = "" if name == best.metric else objective_title(best.metric)
    elsewhere = best.out_of_sample or OutOfSample(Undefined("not worked out"), None, "")
    value, style = elsewhere.value, objective_style(best.metric)
    here = None if found.whole is None else found.whole.at(best.threshold)
    return (
        Cell(title, sub=_then(found, name, metric, elsewhere)),
        Cell(threshold_text(best.threshold), sort=best.threshold if math.isfinite(best.threshold) else None),
        _limits(best),
        beside(best.apparent, value, style),
        Cell("–" if isinstance(value, Undefined) else valued(value, style), sub=elsewhere.method),
        interval(value, style),
        *((_held(best.hold),) if found.evaluation.sampling.hold else ()),
        *_counts(here),
    )


def _then(found: ThresholdSelection, name: str, metric: str, elsewhere: OutOfSample) -> str:
    """What is sought within a bound, and whether the bound is kept elsewhere."""
    bound = found.objectives[name].constraint
    if bound is None:
        return f"then {metric}" if metric else ""
    told = [f"then {metric}"]
    if isinstance(elsewhere.kept, Estimate):
        told.append(f"elsewhere the bound is at {valued(elsewhere.kept, objective_style(bound.metric))}")
    if elsewhere.chance is not None:
        told.append(f"it holds on new data with a chance of {percent(elsewhere.chance, 100)}")
    return "; ".join(told)


def _held(hold: Hold | None) -> Cell:
    """The threshold that keeps the bound surely, with what it reaches there; or why there is none."""
    if hold is None:
        return Cell("–")
    if hold.threshold is None or hold.costs is None:
        return Cell("–", sub=hold.reason or "")
    metric, value = hold.costs.metric, hold.costs.value
    reached = "" if value is None else show(value, objective_style(metric))
    return Cell(threshold_text(hold.threshold), sub=f"{objective_title(metric)} {reached}".strip())


def _limits(best: Optimum) -> str:
    if best.low is None or best.high is None:
        return "–"
    return f"{threshold_text(best.low)} to {threshold_text(best.high)}"


def _counts(here: BinaryCounts | None) -> tuple[Cell, ...]:
    if here is None:
        return (Cell("–"),) * 3
    return tuple(Cell(count(float(n)), sort=float(n)) for n in (here.tp, here.fn, here.fp))


def course(found: ThresholdSelection) -> Section | None:
    """Return the value of the first objectives at every threshold."""
    reached = [(name, best) for name, best in found.optima.items() if math.isfinite(best.threshold)]
    charts = tuple(
        chart
        for place, (name, best) in enumerate(reached[:MOST])
        if (chart := _chart(found, found.objectives[name], best, place)) is not None
    )
    if not charts:
        return None
    lede = say("The dashed line is the best threshold; the band is its interval.")
    if len(reached) > MOST:
        lede += say("Only the first {drawn:count} are drawn.", drawn=MOST)
    return Section.of("course", "Objectives", "Every objective over the threshold", lede, Beside(charts))


def _chart(found: ThresholdSelection, objective: Objective, best: Optimum, place: int) -> Chart | None:
    sweep = found.evaluation.sweep
    if sweep is None:
        return None
    scores = np.asarray(objective.score(sweep.counts))
    kept = np.isfinite(scores) & np.isfinite(sweep.thresholds)
    if kept.sum() < 2:
        return None
    ts = sweep.thresholds[kept]
    values = -scores[kept] if objective.lower else scores[kept]
    unit = found.evaluation.score_kind == "probability"
    x = x_axis(*((0.0, 1.0) if unit else padded(ts.tolist())), "Threshold")
    way = ", lower is better" if objective.lower else " ↑"
    y = y_axis(*padded([*values.tolist(), best.apparent]), f"{objective_title(best.metric)}{way}")
    title = objective_title(objective.name)
    style = objective_style(best.metric)
    band = (
        best.threshold if best.low is None else best.low,
        best.threshold if best.high is None else best.high,
    )
    return Chart(
        id=f"course-{place}",
        title=title,
        note=NOTHING if objective.constraint is None else say("Drawn where the bound is kept."),
        description=say(
            "{title} over the threshold; best at {threshold:threshold}.",
            title=title,
            threshold=best.threshold,
        ),
        x=x,
        y=y,
        paths=(
            Path("band", columns_between(x, y, band, (y.low, y.high))),
            Path("guide", f"M{across(x, best.threshold):g} {TOP:g}V{BOTTOM:g}"),
            Path("line", polyline(x, y, ts.tolist(), values.tolist())),
        ),
        labels=(_named(best, x, outline(x, y, ts.tolist(), values.tolist())),),
        values=_values(place, ts, values, title, style),
    )


def _named(best: Optimum, x: Axis, near: np.ndarray) -> Label:
    """The best threshold in words, beside its guide where it covers least of the line."""
    at, words = across(x, best.threshold), f"best {threshold_text(best.threshold)}"
    width = LETTER * len(words)
    sides = [at + 5, at - 5 - width][:: -1 if at > 200 else 1]
    spots = [(left, base) for base in (BOTTOM - 8, TOP + 12, (TOP + BOTTOM) / 2) for left in sides]
    return labelled(clearest(spots, width, near), width, words)


def _values(place: int, ts: np.ndarray, values: np.ndarray, title: str, style: Style) -> Table:
    rows = ((threshold_text(float(ts[at])), show(float(values[at]), style)) for at in spread(len(ts), ROWS))
    heads = (Column("Threshold", "n"), title)
    return Table.of(f"course-{place}-values", f"{title} at thresholds", heads, rows)
