"""Costs and rates to choose by: the decision curve, other prevalences, and a cutoff that leaves rows undecided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.core.format import Style, count, format_fixed, percent
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import Result, Undefined, format_estimate, format_reference, interval, shown_value
from evalreport.core.sentences import NOTHING, Sentence, paragraph, say
from evalreport.curves.binary import BinaryCurves
from evalreport.curves.class_curves import MulticlassCurves
from evalreport.curves.curve import Curve
from evalreport.data.labels import Multiclass
from evalreport.evaluation.evaluation import PLAIN, Evaluation, ThresholdSelection
from evalreport.metrics.catalogue import find
from evalreport.metrics.operating_points import ALERTS, AT_PREVALENCE, stated_prevalence
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
from evalreport.page.elements import Cell, Column, Folded, Note, Row, Section, Table, TwoColumns
from evalreport.page.evaluation_terms import (
    confidence_percent,
    defined_or_none,
    estimate,
    four_counts,
    objective_style,
    objective_title,
    of_weights,
    one_threshold,
    tell,
    units,
)
from evalreport.page.sections.curves import evenly_spaced_places
from evalreport.page.sections.threshold import Meter, Preset, whole
from evalreport.thresholds.best_threshold import Cutoff, Method, Tuned

TITLES: Mapping[str, str] = {
    "precision": "PPV (precision)",
    "npv": "NPV",
    "net_benefit": "Net benefit",
    ALERTS: "Alerts per 1,000",
}
"""The metrics at a given prevalence, in the words of a table."""


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
    alerts = estimate(ev, f"{ALERTS}@prevalence={prevalence:g}")
    right = estimate(ev, f"precision@prevalence={prevalence:g}") if alerts else None
    counts = four_counts(ev)
    if counts is None:
        return say("No threshold is given, so there are no alerts.")
    would = "Of {thousand:count} {units}, {alerts:number} would be flagged."
    words = "Assumes the same recall and false positive rate as in these data, of which "
    return paragraph(
        tell(ev, would, thousand=1000, alerts=alerts),
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
    chart = _utility_chart(ev, *both)
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


def _utility_chart(ev: Evaluation, model: Curve, everyone: Curve) -> Chart:
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


TITLE = "Selective prediction"
WANTED = ((0.9, "90% accuracy"), (0.95, "95% accuracy"), (0.99, "99% accuracy"))
ROWS = 9
"""Rows of the table of confidences, spread evenly: one to a screen of a phone (chosen by eye)."""


@dataclass(frozen=True)
class CutoffBody:
    """Slider, presets, counts (answered, wrong among them, left to a person), chart and table."""

    shown: str
    start: int
    last: int
    presets: tuple[Preset, ...]
    answered: str
    wrong: str
    person: str
    meters: tuple[Meter, ...]
    chart: Chart
    values: Table


def cutoff_section(ev: Evaluation, asked: Iterable[Cutoff] = ()) -> Section | None:
    """Return the cut-off section of a multiclass evaluation; with cut-offs that were chosen, at these."""
    if not isinstance(ev.space, Multiclass):
        return None
    found = defined_or_none(ev.curves)
    if not isinstance(found, MulticlassCurves) or isinstance(found.coverage, Undefined):
        return None
    return _section(ev, found.coverage, tuple(asked))


def _section(ev: Evaluation, curve: Curve, asked: tuple[Cutoff, ...]) -> Section:
    points = _points(ev, curve, asked)
    presets = _presets(points, asked)
    start = presets[1].place if len(presets) > 1 else presets[0].place
    here = points[start]
    body = CutoffBody(
        shown=threshold_text(here.t),
        start=start,
        last=len(points) - 1,
        presets=presets,
        answered=count(here.answered),
        wrong=count(here.answered - here.right),
        person=count(ev.weight - here.answered),
        meters=_meters(ev, here),
        chart=_cutoff_chart(ev, curve, here),
        values=_values(ev, points, presets),
    )
    summary = say("Predict when the confidence is high; leave the rest to a person.") + of_weights(ev)
    data = {
        # rounded down, so that a row at the threshold is still among those at or above it
        "t": [0 if math.isinf(p.t) else math.floor(p.t * 1e6) / 1e6 or p.t for p in points],
        "answered": whole(np.array([p.answered for p in points])),
        "right": whole(np.array([p.right for p in points])),
        "n": ev.weight,
        "rows": ev.rows,
        "unit": units(ev),
    }
    return Section("cutoff", TITLE, TITLE, "cutoff", summary, body, data)


@dataclass(frozen=True)
class CutoffPoint:
    """Rows answered at a confidence of at least `t`, and how many of them rightly."""

    t: float
    answered: float
    right: float


def _points(ev: Evaluation, curve: Curve, asked: tuple[Cutoff, ...]) -> list[CutoffPoint]:
    """From answering everything to answering almost nothing, through what was chosen."""
    places = [*zip(curve.threshold or (), curve.x, curve.y, strict=True)]
    chosen = {cut.threshold: (cut.threshold, cut.coverage, cut.accuracy) for cut in asked}
    found = [
        CutoffPoint(t, _round_row_count(ev, x * ev.weight), _round_row_count(ev, x * y * ev.weight))
        for t, x, y in [*(place for place in places if place[0] not in chosen), *chosen.values()]
        if math.isfinite(t)
    ]
    return sorted(found, key=lambda point: point.t)


def _round_row_count(ev: Evaluation, value: float) -> float:
    """Counts of rows are whole numbers; proportions stay as they are."""
    return value if ev.weighted else float(round(value))


def _presets(points: list[CutoffPoint], asked: tuple[Cutoff, ...]) -> tuple[Preset, ...]:
    found = [Preset("all", "Predict all", 0)]
    if asked:
        at = {point.t: place for place, point in enumerate(points)}
        named = ((cut.wanted, at.get(cut.threshold)) for cut in asked)
        return (
            *found,
            *(Preset(f"{w:g}", f"{w * 100:.10g}% accuracy", place) for w, place in named if place),
        )
    for wanted, title in WANTED:
        place = next((i for i, p in enumerate(points) if p.answered and p.right / p.answered >= wanted), None)
        if place and place != found[-1].place:
            found.append(Preset(f"{wanted:g}", title, place))
    return tuple(found)


def _meters(ev: Evaluation, p: CutoffPoint) -> tuple[Meter, ...]:
    answered, right = p.answered / ev.weight, p.right / p.answered
    return (
        Meter("answered", "Coverage", percent(answered, ev.rows), round(100 * answered)),
        Meter("right", "Accuracy of these", percent(right, p.answered), round(100 * right)),
    )


def _cutoff_chart(ev: Evaluation, curve: Curve, here: CutoffPoint) -> Chart:
    least = min(curve.y, default=0.0)
    low = math.floor(least * 10 - 0.2) / 10 if least > 0.5 else 0.0
    axes = Axes(
        x_axis(0, 1, "Coverage"), y_axis(low, 1, f"Accuracy, from {low:g} ↑" if low else "Accuracy ↑")
    )
    accuracy = estimate(ev, "accuracy")
    base = 0.0 if accuracy is None else accuracy.value
    near = axes.outline(curve.x, curve.y)
    words = f"predict all: {percent(base) if accuracy is None else format_estimate(accuracy, 'percent')}"
    spot = clearest(
        [(LEFT + 6, axes.y_position(base) + 14), (LEFT + 6, axes.y_position(base) - 5)], 150, near
    )
    described = "Coverage of {units} against accuracy; predicting all "
    return Chart(
        id="coverage",
        title="Accuracy against coverage",
        note=NOTHING,
        description=tell(ev, described + "gives {accuracy:percent}.", accuracy=accuracy or base),
        axes=axes,
        paths=(Path("guide", axes.level(base)), Path("line", axes.polyline(curve.x, curve.y, steps=True))),
        labels=(Label(*spot, words),),
        ring=(axes.x_position(here.answered / ev.weight), axes.y_position(here.right / here.answered)),
    )


def _values(ev: Evaluation, points: list[CutoffPoint], presets: tuple[Preset, ...]) -> Table:
    named = {preset.place: preset.title for preset in presets}
    places = sorted({*evenly_spaced_places(len(points), ROWS), *named})
    rows = [
        (
            named.get(place, "confidence"),
            threshold_text(points[place].t),
            count(points[place].answered),
            count(points[place].answered - points[place].right),
            *(meter.shown for meter in _meters(ev, points[place])),
        )
        for place in places
    ]
    heads = ("At", "Confidence", "Predicted", "Wrong", "Coverage", "Accuracy")
    return Table.from_rows("cutoff-values", "Coverage and accuracy by confidence", heads, rows)


HOW: Mapping[Method, str] = {
    "exact": "exact optimum",
    "bayes": "from the costs",
    "coordinate ascent": "coordinate ascent",
    "optuna": "searched by Optuna",
}


def tuned_table(id: str, found: Sequence[Tuned]) -> Table:
    """Return one row per objective: value on the rows of the choice, held out, and without a choice.

    Parameters
    ----------
    id : str
        Of the element.
    found : sequence of Tuned
        At least one.

    Examples
    --------
    >>> from evalreport.core.result import Estimate
    >>> rows = (Estimate(0.4, 50, 0.3, 0.5), "other rows")
    >>> found = Tuned("f1_micro", {"a": 0.3}, 0.45, *rows, "exact", {"0.5": 0.2}, without=0.21)
    >>> table = tuned_table("tuned", [found])
    >>> [cell.words for cell in table.rows[0]]
    ['Micro F1', '0.45', '0.40', '0.30 to 0.50', '0.21', 'exact optimum']
    """
    plain = next((name for name in PLAIN if all(name in choice.starts for choice in found)), None)
    titles = ["Where chosen", "Held-out", "Interval"]
    titles += [] if plain is None else [f"Held-out with {PLAIN[plain]}"]
    rows = (_row(choice, plain) for choice in found)
    return Table.from_rows(id, "Results by objective", ("For", *titles, Column("How", "text")), rows)


def _row(choice: Tuned, plain: str | None) -> Row:
    held_out, style = choice.out_of_sample.value, objective_style(choice.objective)
    unaided = "–" if choice.without is None else format_reference(choice.without, held_out, style)
    return (
        objective_title(choice.objective),
        format_reference(choice.apparent, held_out, style),
        Cell(shown_value(held_out, style), sub=_where(choice)),
        interval(held_out, style),
        *(() if plain is None else (unaided,)),
        how(choice),
    )


def how(choice: Tuned) -> str:
    """Return how numbers were chosen; of a search that found nothing better, where it started from."""
    points = choice.trials.trials if choice.trials is not None else ()
    if points and choice.apparent == points[0].values[0]:
        return "the starting point; Optuna found nothing better"
    return HOW[choice.method]


def _where(choice: Tuned) -> str:
    value = choice.out_of_sample.value
    return choice.out_of_sample.method if value.value is not None else str(value.reason)
