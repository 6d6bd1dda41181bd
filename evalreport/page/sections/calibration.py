"""Calibration: the reliability diagram with its numbers, and where the mistakes are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from evalreport.core.format import count, format_fixed
from evalreport.core.result import Estimate, Undefined, distinct_decimals, format_estimate, interval
from evalreport.core.sentences import NOTHING, Sentence, join_sentences, say
from evalreport.curves.binary import BinaryCurves
from evalreport.curves.class_curves import MulticlassCurves, MultilabelCurves
from evalreport.curves.curve import Cardinality, Histogram, Reliability
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.score_quality import MOVED, clipped_slopes
from evalreport.page.charts import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Axes,
    Axis,
    Chart,
    Label,
    Path,
    clearest,
    named_axis,
    nice_step,
    tick_text,
    x_axis,
    y_axis,
)
from evalreport.page.elements import Empty, Facts, PagePart, Section, Table, TwoColumns
from evalreport.page.evaluation_terms import (
    confidence_percent,
    defined_or_none,
    estimate,
    four_counts,
    of_weights,
    tell,
    units,
)


def summary(ev: Evaluation) -> Sentence:
    """Return what the diagram is of, and the calibration error."""
    match ev.space:
        case Binary():
            return NOTHING
        case Multiclass():
            summary = say("Confidence of the predicted class.")
        case Multilabel():
            summary = say("All labels pooled; opposite errors of single labels cancel out.")
    return summary + tell(ev, "Calibration error (ECE, 15 bins of equal width): {ece:ratio}.")


def calibration_facts(ev: Evaluation) -> Facts | None:
    """Return the calibration metrics of a binary problem."""
    if not isinstance(ev.space, Binary):
        return None
    slope, ici = estimate(ev, "calibration_slope"), estimate(ev, "ici")
    off = "{ici:ratio}" + ("" if ici is None or ici.low is None else " ({ici:ratio interval})")
    pairs = (
        (tell(ev, "Expected {positives}"), _expected_sentence(ev)),
        (say("Slope"), NOTHING if slope is None else _slope(ev, slope)),
        (say("Mean error (ICI)"), tell(ev, off)),
        (say("ECE, 15 bins of equal width"), tell(ev, "{ece:ratio}")),
    )
    return Facts(tuple(pair for pair in pairs if pair[1]))


def _slope(ev: Evaluation, slope: Estimate) -> Sentence:
    """What the slope and its interval say of the spread of the scores, and what it depends on."""
    spread = _slope_sentence(slope)
    least, most = clipped_slopes(ev) or (slope.value, slope.value)
    if most - least < MOVED:
        return spread
    return join_sentences(
        spread, say(". It depends on where probabilities of exactly zero and one are clipped.")
    )


def _slope_sentence(slope: Estimate) -> Sentence:
    if slope.low is None or slope.high is None:
        return say("{slope:number} (1 is ideal)", slope=slope)
    meaning = "not significantly different"
    if not slope.low <= 1 <= slope.high:
        meaning = "overconfident" if slope.high < 1 else "underconfident"
    return say("{slope:number} ({slope:number interval}; 1 is ideal): " + meaning, slope=slope)


def expected_positives(ev: Evaluation) -> float | None:
    """Return the sum of the predicted probabilities, from the reliability bins."""
    found = defined_or_none(ev.curves)
    if not isinstance(found, BinaryCurves) or isinstance(found.reliability, Undefined):
        return None
    return sum(n * score for n, score in zip(found.reliability.n, found.reliability.score, strict=True))


def _expected_sentence(ev: Evaluation) -> Sentence:
    found = defined_or_none(ev.curves)
    total = expected_positives(ev)
    if total is None or not isinstance(found, BinaryCurves) or isinstance(found.reliability, Undefined):
        return NOTHING
    counts = four_counts(ev)
    bins = found.reliability
    observed = sum(n * share for n, share in zip(bins.n, bins.observed, strict=True))
    if counts is not None:
        observed = counts.positives
    words = "{expected:count}; observed {observed:count}"
    return tell(ev, words, expected=round(total), observed=observed)


RARE_SHARE = 0.1
"""Proportion of the rarer class below which the reliability diagram uses log odds."""
OUTERMOST = 1e-4
"""Share, and its complement, at the ends of an axis of log odds."""
TICKS = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)
"""Probabilities that an axis of log odds names: as many as have room side by side."""
LETTER = 5.9
"""Width of a letter of a chart on average: keeps words off the dots."""


def reliability(ev: Evaluation) -> Reliability | None:
    """Return the groups of the reliability diagram; None where there are no probabilities."""
    found = defined_or_none(ev.curves)
    if isinstance(found, BinaryCurves | MulticlassCurves | MultilabelCurves):
        bins = defined_or_none(found.reliability)
        return bins if bins is not None and bins.n else None
    return None


def reliability_chart(ev: Evaluation) -> Chart | None:
    """Return mean score against observed share, with the smooth curve and the isotonic one."""
    bins = reliability(ev)
    if bins is None:
        return None
    x_title, y_title = _axes(ev)
    scale = log_odds if _rare(ev) else _plain
    axes = Axes(_probability_axis(x_axis, scale, x_title), _probability_axis(y_axis, scale, y_title))
    name = _label(ev)
    score, observed, low, high = (
        [scale(at) for at in part] for part in (bins.score, bins.observed, bins.low, bins.high)
    )
    return Chart(
        id="reliability",
        title="Reliability",
        note=_groups(ev, bins),
        description=say("Mean score against observed rate in {bins:count} groups.", bins=len(bins.n)),
        axes=axes,
        paths=(
            Path("guide", f"M{LEFT:g} {BOTTOM:g}L{RIGHT:g} {TOP:g}"),
            *_lines(ev, axes, scale),
            Path("whisker", axes.whiskers(score, low, high)),
            Path("dots", axes.dots(zip(score, observed, strict=True))),
        ),
        labels=(_place_curve_label(name, axes, (score, observed, low, high)),) if name else (),
        values=_bins(ev, bins),
    )


Scale: TypeAlias = Callable[[float], float]


def _plain(share: float) -> float:
    return share


def log_odds(share: float) -> float:
    """Return the log odds of a share, no further out than one in 10,000.

    Examples
    --------
    >>> log_odds(0.5), log_odds(0.0) == log_odds(1e-9)
    (0.0, True)
    """
    held = min(max(share, OUTERMOST), 1 - OUTERMOST)
    return math.log(held / (1 - held))


def _rare(ev: Evaluation) -> bool:
    """Whether one class is so rare that on a straight axis all would lie in one corner."""
    bins = reliability(ev)
    if bins is None or not isinstance(ev.space, Binary):
        return False
    share = sum(n * at for n, at in zip(bins.n, bins.observed, strict=True)) / sum(bins.n)
    return min(share, 1 - share) < RARE_SHARE


def _probability_axis(axis: Callable[..., Axis], scale: Scale, title: str) -> Axis:
    """An axis of shares; on the scale of log odds the ticks still tell shares."""
    if scale is _plain:
        return axis(0, 1, title)
    made = axis(scale(0.0), scale(1.0), title, [scale(at) for at in TICKS])
    ticks = tuple((place, tick_text(at)) for (place, _), at in zip(made.ticks, TICKS, strict=True))
    return Axis(made.low, made.high, title, ticks)


def _lines(ev: Evaluation, axes: Axes, scale: Scale) -> tuple[Path, ...]:
    """The smooth curve with its band, and the isotonic one."""
    found = defined_or_none(ev.curves)
    if not isinstance(found, BinaryCurves):
        return ()
    paths = []
    if not isinstance(found.smooth_band, Undefined):
        ends = ([scale(at) for at in part] for part in (found.smooth_band.low, found.smooth_band.high))
        paths.append(Path("band", axes.region([scale(at) for at in found.smooth_band.x], *ends)))
    for shape, curve in (("thin", found.isotonic), ("line", found.smooth)):
        if not isinstance(curve, Undefined):
            drawn = axes.polyline([scale(at) for at in curve.x], [scale(at) for at in curve.y])
            paths.append(Path(shape, drawn))  # type: ignore[arg-type]
    return tuple(paths)


def _groups(ev: Evaluation, bins: Reliability) -> Sentence:
    return tell(
        ev,
        "{bins:count} {bins:group|groups} "
        + _size(bins)
        + " with {level} intervals. Dashed: ideal."
        + _describe_lines(ev),
        bins=len(bins.n),
        least=min(bins.n),
        most=max(bins.n),
    )


def _describe_lines(ev: Evaluation) -> str:
    """What the lines are."""
    found = defined_or_none(ev.curves)
    if not isinstance(found, BinaryCurves):
        return ""
    lines = " Thin: isotonic regression."
    if not isinstance(found.smooth, Undefined):
        lines = " Line: smooth fit. Thin: isotonic regression."
    return lines + (" Axes in log odds." if _rare(ev) else "")


def _place_curve_label(name: str, axes: Axes, at: tuple[Sequence[float], ...]) -> Label:
    """The label where it covers least of the dots, the whiskers and the diagonal."""
    score, observed, low, high = at
    dotted = [[axes.x_position(a), axes.y_position(b)] for a, b in zip(score, observed, strict=True)]
    steps = np.linspace(axes.x.low, axes.x.high, 21).tolist()
    diagonal = [[axes.x_position(step), axes.y_position(step)] for step in steps]
    width = LETTER * len(name)
    spots = [(324 - width, 240), (46, 26), (46, 60), (324 - width, 130)]
    near = np.array(dotted + _whisker_points(axes, (score, low, high)) + diagonal)
    return Label(*clearest(spots, width, near), name, look="blue")


def _whisker_points(axes: Axes, at: tuple[Sequence[float], ...]) -> list[list[float]]:
    """Points along the whiskers, for the label to keep clear of."""
    return [
        [axes.x_position(score), axes.y_position(low + (high - low) * step / 8)]
        for score, low, high in zip(*at, strict=True)
        for step in range(9)
    ]


def _size(bins: Reliability) -> str:
    """How large the groups are: ties keep those of equal count from being equal."""
    if bins.equal != "count":
        return "of equal width"
    return ("of " if min(bins.n) == max(bins.n) else "of {least:count} to ") + "{most:count} {most:units}"


def _axes(ev: Evaluation) -> tuple[str, str]:
    match ev.space:
        case Binary():
            return "Predicted probability", "Observed rate ↑"
        case Multiclass():
            return "Confidence", "Accuracy ↑"
        case Multilabel():
            return "Score", "Observed rate ↑"


def _label(ev: Evaluation) -> str:
    ece = None if isinstance(ev.space, Binary) else estimate(ev, "ece")
    return "" if ece is None else f"calibration error {format_estimate(ece, 'ratio')}"


def _bins(ev: Evaluation, bins: Reliability) -> Table:
    places = distinct_decimals([*bins.start, *bins.end])
    rows = []
    for start, end, n, observed, low, high in zip(
        bins.start, bins.end, bins.n, bins.observed, bins.low, bins.high, strict=True
    ):
        share = Estimate(observed, n, min(low, observed), max(high, observed))
        scores = [format_fixed(value, places) for value in dict.fromkeys((start, end))]
        shown = (format_estimate(share, "ratio"), interval(share, "ratio"))
        rows.append((" to ".join(scores), count(n), *shown))
    heads = ("Score", "Count", "Observed", f"{confidence_percent(ev)} interval")
    return Table.from_rows("reliability-values", "Reliability by score", heads, rows)


TITLE = "Calibration"
CARDINALITIES = 8
"""Label counts that have columns of their own; what is above falls together."""


def calibration_section(ev: Evaluation) -> Section | None:
    """Return reliability diagram and score histogram."""
    match found := defined_or_none(ev.curves):
        case BinaryCurves():
            beside: PagePart | None = calibration_facts(ev)
        case MulticlassCurves():
            beside = _histogram(found.histogram)
        case MultilabelCurves():
            beside = _cardinality(ev, found.cardinality)
        case None:
            beside = None
    charts = (reliability_chart(ev), beside)
    shown = tuple(chart for chart in charts if chart is not None)
    if ev.score_kind is None:
        return None  # the sections before this one say so
    if ev.score_kind == "decision":
        return _no_probabilities(tuple(part for part in shown if isinstance(part, Chart)))
    return Section.from_parts(
        "calibration",
        TITLE,
        TITLE,
        summary(ev) + of_weights(ev),
        TwoColumns(shown) if shown else None,
    )


def _no_probabilities(charts: tuple[PagePart, ...]) -> Section:
    empty = Empty(
        say("The scores are not probabilities."),
        say("Only probabilities can be calibrated. Log probabilities, or logits."),
    )
    shown = TwoColumns(charts) if charts else None
    return Section.from_parts("calibration", TITLE, TITLE, NOTHING, empty, shown)


def _histogram(bins: Histogram | Undefined) -> Chart | None:
    """Where the mistakes are: their counts by confidence."""
    if isinstance(bins, Undefined) or not bins.positive:
        return None
    most = max(*bins.negative, 1.0)
    axes = Axes(
        x_axis(bins.edges[0], bins.edges[-1], "Confidence"),
        y_axis(0, _ceil(most, max(nice_step(most, 5), 1.0)), "Mistakes ↑"),
    )
    sides = list(zip(bins.edges[:-1], bins.edges[1:], strict=True))
    return Chart(
        id="histogram",
        title="Mistakes by confidence",
        note=say("Mistakes with high confidence are the most harmful."),
        description=say("Histogram of the confidence of wrong predictions."),
        axes=axes,
        paths=(Path("bars-wrong", axes.columns(sides, bins.negative)),),
        values=_counts(bins, "right", "wrong"),
    )


def _ceil(value: float, step: float) -> float:
    return max(1, -int(-value // step)) * step


def _counts(bins: Histogram, above: str, below: str) -> Table:
    places = distinct_decimals(bins.edges)
    rows = (
        (f"{format_fixed(a, places)} to {format_fixed(b, places)}", count(p), count(n))
        for a, b, p, n in zip(bins.edges[:-1], bins.edges[1:], bins.positive, bins.negative, strict=True)
    )
    heads = ("Score", above.capitalize(), below.capitalize())
    return Table.from_rows("histogram-values", "Counts by score", heads, rows)


def _cardinality(ev: Evaluation, found: Cardinality | Undefined) -> Chart | None:
    if isinstance(found, Undefined):
        return None
    names, true, predicted = _fold_last_column(found)
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
        values=Table.from_rows("cardinality-values", "Labels per row", ("Labels", "True", "Predicted"), rows),
    )


def _fold_last_column(found: Cardinality) -> tuple[list[str], list[float], list[float]]:
    """The last column takes everything above."""
    names = [tick_text(n) for n in found.labels[: CARDINALITIES + 1]]
    true, predicted = list(found.true[: len(names)]), list(found.predicted[: len(names)])
    if len(found.labels) > len(names):
        names[-1] += "+"
        true[-1] += sum(found.true[len(names) :])
        predicted[-1] += sum(found.predicted[len(names) :])
    return names, true, predicted
