"""Can the probabilities be believed? Reliability, and where the scores lie."""

from __future__ import annotations

from collections.abc import Sequence

from evalreport.curves import BinaryCurves, Cardinality, Histogram, MulticlassCurves, MultilabelCurves
from evalreport.estimates import apart
from evalreport.evaluation.model import Evaluation
from evalreport.format import count, fixed
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.panels.about import called, known, of_weights, tell, units
from evalreport.panels.calibration_words import summary
from evalreport.panels.chart import (
    LEFT,
    RIGHT,
    Axes,
    Axis,
    Chart,
    Label,
    Path,
    named_axis,
    nice_step,
    tick_text,
    x_axis,
    y_axis,
)
from evalreport.panels.parts import Beside, Empty, Section, Table
from evalreport.panels.reliability import reliability_chart
from evalreport.panels.words import NOTHING, say
from evalreport.values import Undefined

TITLE = "Can the probabilities be believed?"
RARE = 4
"""How many times as frequent a class may be before a histogram shows shares of each class."""
CARDINALITIES = 8
"""Label counts that have columns of their own; what is above falls together."""


def panel(ev: Evaluation) -> Section | None:
    """Return reliability diagram and score histogram."""
    match found := known(ev.curves):
        case BinaryCurves() | MulticlassCurves():
            beside = _histogram(ev, found.histogram)
        case MultilabelCurves():
            beside = _cardinality(ev, found.cardinality)
        case None:
            beside = None
    charts = (reliability_chart(ev), beside)
    shown = tuple(chart for chart in charts if chart is not None)
    if ev.score_kind is None:
        return None  # the sections before this one say so
    if ev.score_kind == "decision":
        return _no_probabilities(ev, shown)
    return Section.of(
        "calibration",
        "Calibration",
        _title(ev),
        summary(ev) + of_weights(ev),
        Beside(shown) if shown else None,
    )


def _no_probabilities(ev: Evaluation, charts: tuple[Chart, ...]) -> Section:
    empty = Empty(
        say("The scores are no probabilities."),
        say(
            "Only probabilities can be too sure or not sure enough. Log probabilities, or logits with "
            "`--score-kind logit`."
        ),
    )
    shown = Beside(charts) if charts else None
    return Section.of("calibration", "Calibration", _title(ev), NOTHING, empty, shown)


def _title(ev: Evaluation) -> str:
    match ev.space:
        case Binary():
            return TITLE
        case Multiclass():
            return "Can the confidence be believed?"
        case Multilabel():
            return "Calibration and label counts"


def _histogram(ev: Evaluation, bins: Histogram | Undefined) -> Chart | None:
    if isinstance(bins, Undefined) or not bins.positive:
        return None
    binary = isinstance(ev.space, Binary)
    above, below = (
        (called(ev, ev.space.shown[1]), called(ev, ev.space.shown[0])) if binary else ("right", "wrong")
    )
    positive_side, negative_side, what = _sides(ev, bins)
    axes = Axes(
        x_axis(bins.edges[0], bins.edges[-1], "Score" if binary else "Confidence"),
        _mirrored(positive_side, negative_side, f"{what} per bin, {above} up, {below} down"),
    )
    sides = list(zip(bins.edges[:-1], bins.edges[1:], strict=True))
    left_heavy = sum(bins.positive[:5]) > sum(bins.positive[-5:])
    left_low = sum(bins.negative[:5]) > sum(bins.negative[-5:])
    return Chart(
        id="histogram",
        title="Scores by true class" if binary else "Right and wrong",
        note=say(
            "Overlap is where the mistakes are." if binary else "A good model keeps its mistakes on the left."
        ),
        description=say(
            "Histogram of the scores: "
            + ("{a} above, {b} below." if binary else "{a} answers above, {b} ones below."),
            a=above,
            b=below,
        ),
        axes=axes,
        paths=(
            Path("bars", axes.columns(sides, positive_side)),
            Path("bars-2" if binary else "bars-wrong", axes.columns(sides, [-n for n in negative_side])),
            Path("axis", f"M{LEFT:g} {axes.up(0)}H{RIGHT:g}"),
        ),
        labels=(
            _corner(above, 22.0, left_heavy, "blue"),
            _corner(below, 252.0, left_low, "wrong" if not binary else ""),
        ),
        values=_counts(bins, above, below),
    )


def _sides(ev: Evaluation, bins: Histogram) -> tuple[Sequence[float], Sequence[float], str]:
    """The two sides of a histogram: counts, or shares of each class where a rare one would not be seen."""
    rare, common = sorted((sum(bins.positive), sum(bins.negative)))
    if isinstance(ev.space, Binary) and 0 < RARE * rare < common:
        shares = [[n / sum(side) for n in side] for side in (bins.positive, bins.negative)]
        return shares[0], shares[1], "Share of each class"
    return bins.positive, bins.negative, f"{units(ev).capitalize()}"


def _corner(text: str, y: float, right: bool, look: str) -> Label:
    x = RIGHT - 4 if right else LEFT + 6
    return Label(x, y, text, "end" if right else "start", look)  # type: ignore[arg-type]


def _mirrored(above: Sequence[float], below: Sequence[float], title: str) -> Axis:
    """An axis of counts upward and downward from zero."""
    high, low = max(*above, 1e-9), max(*below, 1e-9)
    step = nice_step(high + low, 5)
    step = step if high < 1 and low < 1 else max(step, 1.0)  # counts are whole, shares are not
    top, bottom = _ceil(high, step), _ceil(low, step)
    steps = [place * step for place in range(-round(bottom / step), round(top / step) + 1)]
    axis = y_axis(-bottom, top, title, steps)
    return Axis(axis.low, axis.high, title, tuple((at, text.lstrip("−")) for at, text in axis.ticks))


def _ceil(value: float, step: float) -> float:
    return max(1, -int(-value // step)) * step


def _counts(bins: Histogram, above: str, below: str) -> Table:
    places = apart(bins.edges)
    rows = (
        (f"{fixed(a, places)} to {fixed(b, places)}", count(p), count(n))
        for a, b, p, n in zip(bins.edges[:-1], bins.edges[1:], bins.positive, bins.negative, strict=True)
    )
    heads = ("Score", above.capitalize(), below.capitalize())
    return Table.of("histogram-values", "Counts by score", heads, rows)


def _cardinality(ev: Evaluation, found: Cardinality | Undefined) -> Chart | None:
    if isinstance(found, Undefined):
        return None
    names, true, predicted = _folded(found)
    ticks = ((place + 0.5, name) for place, name in enumerate(names))
    high = max(*true, *predicted)
    axes = Axes(
        named_axis(0, len(names), f"Labels on a {units(ev, 1)}", ticks),
        y_axis(0, _ceil(high, max(nice_step(high, 5), 1.0)), f"{units(ev).capitalize()} ↑"),
    )
    left = [(place + 0.12, place + 0.5) for place in range(len(names))]
    right = [(place + 0.5, place + 0.88) for place in range(len(names))]
    rows = ((name, count(a), count(b)) for name, a, b in zip(names, true, predicted, strict=True))
    return Chart(
        id="cardinality",
        title=f"Labels per {units(ev, 1)}",
        note=say("Grey, on the left: true. Blue, on the right: predicted."),
        description=tell(ev, "How many {units} carry no label, one, two and so on, in truth and predicted."),
        axes=axes,
        paths=(Path("bars-2", axes.columns(left, true)), Path("bars", axes.columns(right, predicted))),
        values=Table.of("cardinality-values", "Labels per row", ("Labels", "True", "Predicted"), rows),
    )


def _folded(found: Cardinality) -> tuple[list[str], list[float], list[float]]:
    """The last column takes everything above."""
    names = [tick_text(n) for n in found.labels[: CARDINALITIES + 1]]
    true, predicted = list(found.true[: len(names)]), list(found.predicted[: len(names)])
    if len(found.labels) > len(names):
        names[-1] += "+"
        true[-1] += sum(found.true[len(names) :])
        predicted[-1] += sum(found.predicted[len(names) :])
    return names, true, predicted
