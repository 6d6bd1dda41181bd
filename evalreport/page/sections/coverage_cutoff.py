"""Selective prediction: accuracy against coverage; thresholds chosen together, one for each label."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.core.estimate_format import format_estimate, format_reference, interval, shown_value
from evalreport.core.format import count, percent
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import Undefined
from evalreport.core.sentences import NOTHING, say
from evalreport.curves.curve import Curve
from evalreport.curves.multiclass import MulticlassCurves
from evalreport.data.labels import Multiclass
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.threshold_selection import PLAIN
from evalreport.page.charts import LEFT, Axes, Chart, Label, Path, clearest, x_axis, y_axis
from evalreport.page.elements import Cell, Column, Empty, Row, Section, Table
from evalreport.page.evaluation_terms import (
    defined_or_none,
    estimate,
    objective_style,
    objective_title,
    of_weights,
    tell,
    units,
)
from evalreport.page.sections.curves import evenly_spaced_places
from evalreport.page.sections.threshold import Meter, Preset, whole
from evalreport.thresholds.best_threshold import Cutoff, Method, Tuned

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
        return _no_scores(ev)
    return _section(ev, found.coverage, tuple(asked))


def _no_scores(ev: Evaluation) -> Section:
    kind = "No scores were logged." if ev.score_kind is None else "The scores are not probabilities."
    words = "Selective prediction needs one probability for each class."
    return Section.from_parts("cutoff", TITLE, TITLE, NOTHING, Empty(say(kind), say(words)))


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
        chart=_chart(ev, curve, here),
        values=_values(ev, points, presets),
    )
    summary = say("Predict above a confidence; leave the rest to a person.") + of_weights(ev)
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
    """Counts of rows are whole; shares of them come back as such."""
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


def _chart(ev: Evaluation, curve: Curve, here: CutoffPoint) -> Chart:
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
    """Return one row per objective: on the rows of the choice, elsewhere, and there without a choice.

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
    return Table.from_rows(id, "What is reached", ("For", *titles, Column("How", "text")), rows)


def _row(choice: Tuned, plain: str | None) -> Row:
    elsewhere, style = choice.out_of_sample.value, objective_style(choice.objective)
    unaided = "–" if choice.without is None else format_reference(choice.without, elsewhere, style)
    return (
        objective_title(choice.objective),
        format_reference(choice.apparent, elsewhere, style),
        Cell(shown_value(elsewhere, style), sub=_where(choice)),
        interval(elsewhere, style),
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
