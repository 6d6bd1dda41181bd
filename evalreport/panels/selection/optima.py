"""Each objective as a curve over the threshold."""

from __future__ import annotations

import math

import numpy as np

from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.format import Style, show
from evalreport.format import threshold as threshold_text
from evalreport.panels.about import objective_style, objective_title
from evalreport.panels.chart import BOTTOM, TOP, Axes, Chart, Label, Path, padded, x_axis, y_axis
from evalreport.panels.curves import spread
from evalreport.panels.parts import Beside, Column, Section, Table
from evalreport.panels.placing import clearest, labelled
from evalreport.panels.words import NOTHING, say
from evalreport.thresholds.objectives import Objective
from evalreport.thresholds.optimum import Optimum

MOST = 6
"""Objectives that have a chart."""
ROWS = 20
"""Steps of the table beside a chart."""
LETTER = 5.5
"""Width of a letter of a label, in units of the chart."""


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
    summary = say("The dashed line is the best threshold; the band is its interval.")
    if len(reached) > MOST:
        summary += say("Only the first {drawn:count} are drawn.", drawn=MOST)
    return Section.of("course", "Objectives", "Every objective over the threshold", summary, Beside(charts))


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
    way = ", lower is better" if objective.lower else " ↑"
    axes = Axes(
        x_axis(*((0.0, 1.0) if unit else padded(ts.tolist())), "Threshold"),
        y_axis(*padded([*values.tolist(), best.apparent]), f"{objective_title(best.metric)}{way}"),
    )
    title = objective_title(objective.name)
    style = objective_style(best.metric)
    described = "{title} over the threshold; best at {threshold:threshold}."
    band = (
        best.threshold if best.low is None else best.low,
        best.threshold if best.high is None else best.high,
    )
    return Chart(
        id=f"course-{place}",
        title=title,
        note=NOTHING if objective.constraint is None else say("Drawn where the bound is kept."),
        description=say(described, title=title, threshold=best.threshold),
        axes=axes,
        paths=(
            Path("band", axes.columns_between(band, (axes.y.low, axes.y.high))),
            Path("guide", f"M{axes.across(best.threshold):g} {TOP:g}V{BOTTOM:g}"),
            Path("line", axes.polyline(ts.tolist(), values.tolist())),
        ),
        labels=(_named(best, axes, axes.outline(ts.tolist(), values.tolist())),),
        values=_values(place, ts, values, title, style),
    )


def _named(best: Optimum, axes: Axes, near: np.ndarray) -> Label:
    """The best threshold in words, beside its guide where it covers least of the line."""
    at, words = axes.across(best.threshold), f"best {threshold_text(best.threshold)}"
    width = LETTER * len(words)
    sides = [at + 5, at - 5 - width][:: -1 if at > 200 else 1]
    spots = [(left, base) for base in (BOTTOM - 8, TOP + 12, (TOP + BOTTOM) / 2) for left in sides]
    return labelled(clearest(spots, width, near), width, words)


def _values(place: int, ts: np.ndarray, values: np.ndarray, title: str, style: Style) -> Table:
    rows = ((threshold_text(float(ts[at])), show(float(values[at]), style)) for at in spread(len(ts), ROWS))
    heads = (Column("Threshold", "n"), title)
    return Table.of(f"course-{place}-values", f"{title} at thresholds", heads, rows)
