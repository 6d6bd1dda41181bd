"""The decision curve, and what to expect where positives are rarer, or more frequent, than in these data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from evalreport.core.estimate_format import format_estimate, interval
from evalreport.core.format import Style, format_fixed
from evalreport.core.result import Result, Undefined
from evalreport.core.sentences import NOTHING, Sentence, paragraph, say
from evalreport.curves.binary import BinaryCurves
from evalreport.curves.curve import Curve
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.metrics.catalogue import find
from evalreport.metrics.operating_points import ALARMS, AT_PREVALENCE, stated_prevalence
from evalreport.page.charts import (
    BOTTOM,
    LEFT,
    RIGHT,
    Axes,
    Chart,
    Label,
    Path,
    Points,
    clearest,
    label_footprint,
    place_label,
    x_axis,
    y_axis,
)
from evalreport.page.elements import Cell, Folded, Note, Row, Section, Table, TwoColumns
from evalreport.page.evaluation_terms import (
    confidence_percent,
    defined_or_none,
    estimate,
    four_counts,
    objective_title,
    one_threshold,
    tell,
    units,
)

TITLES: Mapping[str, str] = {
    "precision": "PPV (precision)",
    "npv": "NPV",
    "net_benefit": "Net benefit",
    ALARMS: "Alerts per 1,000",
}
"""What is asked for at a stated prevalence, in words of a table."""


def share_text(prevalence: float) -> str:
    """Return a stated prevalence as it was stated.

    Examples
    --------
    >>> share_text(0.0125)
    '1.25%'
    """
    return f"{100 * prevalence:.6g}%"


def deployment_section(ev: Evaluation) -> Section | None:
    """Return what the model does at the prevalence that was stated; None where none was."""
    prevalence = stated_prevalence(ev.metrics)
    if prevalence is None:
        return None
    rows = ((TITLES[name], _both(result, style)) for name, result, style in _of_interest(ev, prevalence))
    heads = ("At this prevalence", f"Estimate, {confidence_percent(ev)} interval")
    table = Table.from_rows("deployment-table", f"At a prevalence of {share_text(prevalence)}", heads, rows)
    title = f"Prevalence of {share_text(prevalence)}"
    return Section.from_parts("deployment", title, title, _summary(ev, prevalence), table)


def _of_interest(ev: Evaluation, prevalence: float) -> list[tuple[str, Result, Style]]:
    found = []
    for name in AT_PREVALENCE:
        key = f"{name}@prevalence={prevalence:g}"
        if key in ev.metrics:
            found.append((name, ev.metrics[key], find(key).style))
    return found


def _both(result: Result, style: Style) -> Cell:
    """An estimate over its interval."""
    if isinstance(result, Undefined):
        return Cell("undefined", sub=result.reason)
    return Cell(format_estimate(result, style), sub=interval(result, style))


def _summary(ev: Evaluation, prevalence: float) -> Sentence:
    alarms = estimate(ev, f"{ALARMS}@prevalence={prevalence:g}")
    right = estimate(ev, f"precision@prevalence={prevalence:g}") if alarms else None
    counts = four_counts(ev)
    if counts is None:
        return say("No threshold is given, so there are no alerts.")
    would = "Of {thousand:count} {units}, {alarms:number} would be flagged."
    words = "Assumes the same recall and false positive rate as in these data, of which "
    return paragraph(
        tell(ev, would, thousand=1000, alarms=alarms),
        tell(ev, "{right_there:percent} of these would be correct.", right_there=right),
        tell(ev, words + "{prevalence:percent} are {positives}.", prevalence=counts.positives / counts.total),
    )


def thresholds_at_prevalence_section(found: ThresholdSelection) -> Section | None:
    """Return what the best threshold of each objective does at the prevalence that was stated."""
    named = dict.fromkeys(name for results in found.deployed.values() for name in results)
    prevalence = stated_prevalence(named)
    if prevalence is None:
        return None
    rows: list[Row] = []
    for objective, results in found.deployed.items():
        shown = (_both(result, find(name).style) for name, result in results.items())
        rows.append((objective_title(objective), *shown))
    title = f"The thresholds at a prevalence of {share_text(prevalence)}"
    summary = say("Assumes the same recall and false positive rate as in these data.")
    table = Table.from_rows("deployment-table", title, ("For", *TITLES.values()), rows)
    return Section.from_parts("deployment", title, title, summary, table)


THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Threshold probabilities of the table: a miss costs 19, 9, 4, 2.3 and 1 false positives."""
FLOOR = -0.05
"""Lowest net benefit that is drawn."""
REACH = 0.8
"""Threshold probability up to which the curve is drawn."""


def utility_section(ev: Evaluation) -> Section | None:
    """Return the decision curve of binary probabilities."""
    both = benefits(ev)
    if both is None:
        return None
    chart = _chart(ev, *both)
    table = Folded("Net benefit in numbers", (_table(ev, *both), Note(_note(ev))))
    words = "Net benefit: {positives} found, minus false positives weighted by the odds of the threshold. "
    beside = (Note(tell(ev, words + "The model helps where its line is above both others.")), table)
    return Section.from_parts(
        "utility", "Decision curve", "Decision curve", NOTHING, TwoColumns((chart, beside))
    )


def benefits(ev: Evaluation) -> tuple[Curve, Curve] | None:
    """Return the net benefit of the model and of flagging everyone; None where one class alone occurs."""
    found = defined_or_none(ev.curves)
    if not isinstance(found, BinaryCurves) or isinstance(found.roc, Undefined):
        return None
    if isinstance(found.benefit, Undefined) or isinstance(found.benefit_all, Undefined):
        return None
    return found.benefit, found.benefit_all


def _chart(ev: Evaluation, model: Curve, everyone: Curve) -> Chart:
    drawn = [place for place, at in enumerate(model.x) if at <= REACH]
    xs = [model.x[place] for place in drawn]
    ys = [model.y[place] for place in drawn]
    high = max(*ys, everyone.y[0], 0.02)
    low = FLOOR if high > 0.1 else -high / 2
    axes = Axes(x_axis(0, REACH, "Threshold probability"), y_axis(low, high * 1.05, "Net benefit ↑"))
    all_y = [everyone.y[place] for place in drawn]
    ring = _ring(ev, axes)
    lines = np.vstack(
        [
            axes.outline(xs, ys),
            axes.outline(xs, all_y),
            [[at, axes.y_position(0)] for at in range(40, 331, 5)],
        ]
    )
    everyone_at = _clearest_label_spot(
        _chart_points(axes, xs, all_y),
        np.vstack([lines, label_footprint((RIGHT - 70, axes.y_position(0) - 5), 70)]),
        78,
    )
    model_at = _clearest_label_spot(
        _chart_points(axes, xs, ys), np.vstack([lines, label_footprint(everyone_at, 78)]), 62
    )
    return Chart(
        id="utility-chart",
        title="Net benefit by threshold",
        note=say("After Vickers and Elkin 2006."),
        description=say("Net benefit of the model against flagging everyone and flagging no one."),
        axes=axes,
        paths=(
            Path("guide", axes.level(0)),
            Path("line-3", _falling(axes, xs, all_y)),
            Path("line", axes.polyline(xs, ys)),
        ),
        labels=(
            Label(RIGHT, axes.y_position(0) - 5, "flag no one", "end"),
            place_label(everyone_at, 78, "flag everyone"),
            place_label(model_at, 62, "this model", "blue"),
        ),
        ring=ring,
    )


def _chart_points(axes: Axes, xs: list[float], ys: list[float]) -> Points:
    return [(axes.x_position(a), axes.y_position(b)) for a, b in zip(xs, ys, strict=True)]


def _falling(axes: Axes, xs: list[float], ys: list[float]) -> str:
    """A falling line as far as it leaves the plot."""
    last = next((place for place, value in enumerate(ys) if value < axes.y.low), len(ys) - 1)
    return axes.polyline(xs[: last + 1], ys[: last + 1])


def _clearest_label_spot(own: Points, lines: npt.NDArray[np.float64], width: float) -> tuple[float, float]:
    """The clearest place near a line."""
    spots = []
    for a, b in own[1::3]:
        if b < BOTTOM:
            spots += [(a + 6, b - 6), (a + 6, b + 14), (a - width - 6, b + 14)]
    inside = [(a, b) for a, b in spots if a > LEFT + 2 and a + width < RIGHT and b > 18]
    return clearest([*inside, (RIGHT - width - 4, 30.0), (RIGHT - width - 4, 60.0)], width, lines, 5.0)


def _ring(ev: Evaluation, axes: Axes) -> tuple[float, float] | None:
    now, counts = one_threshold(ev), four_counts(ev)
    if now is None or counts is None or not 0 < now <= REACH:
        return None
    benefit = counts.tp / counts.total - counts.fp / counts.total * now / (1 - now)
    return axes.x_position(now), axes.y_position(benefit)


def _table(ev: Evaluation, model: Curve, everyone: Curve) -> Table:
    rows = []
    for threshold in THRESHOLDS:
        place = min(range(len(model.x)), key=lambda i: abs(model.x[i] - threshold))
        own, all_of_them = 100 * model.y[place], 100 * everyone.y[place]
        best = max(all_of_them, 0.0)
        rows.append(
            (
                format_fixed(threshold, 2),
                format_fixed(own, 1),
                format_fixed(all_of_them, 1),
                _format_signed(own - best),
            )
        )
    heads = ("Threshold", "This model", "Flag everyone", "Gain")
    return Table.from_rows("utility-table", f"Net benefit per 100 {units(ev)}", heads, rows)


def _format_signed(value: float) -> str:
    text = format_fixed(value, 1)
    return "+" + text if value > 0 and text != "0.0" else text


def _note(ev: Evaluation) -> Sentence:
    return tell(
        ev,
        "Net benefit per 100 {units}; gain: over the better of flagging everyone and flagging no one. At a threshold of 0.10 one miss is as bad as nine false positives.",
    )
