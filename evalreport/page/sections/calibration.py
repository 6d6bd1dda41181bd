"""What the summary of the calibration section says: too high or low, too extreme or timid, by how much.

The reliability diagram: groups with whiskers, the smooth curve with its band, the isotonic one.

Can the probabilities be believed? Reliability, and where the scores lie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from evalreport.core.estimate_format import distinct_decimals, format_estimate, interval
from evalreport.core.format import count, format_fixed
from evalreport.core.result import Estimate, Undefined
from evalreport.core.sentences import NOTHING, Sentence, paragraph, say
from evalreport.curves.binary import BinaryCurves
from evalreport.curves.curve import Cardinality, Histogram, Reliability
from evalreport.curves.multiclass import MulticlassCurves, MultilabelCurves
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.calibration import MOVED, clipped_slopes
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
from evalreport.page.elements import Empty, Section, Table, TwoColumns
from evalreport.page.evaluation_terms import (
    confidence_percent,
    defined_or_none,
    display_label,
    estimate,
    four_counts,
    of_weights,
    tell,
    units,
)


def summary(ev: Evaluation) -> Sentence:
    """Return what the calibration is in words."""
    match ev.space:
        case Binary():
            return _binary_summary(ev)
        case Multiclass():
            summary = say("Of the label it chose.")
        case Multilabel():
            summary = say("All labels pooled, which can hide opposite errors in single labels.")
    return summary + tell(ev, ECE)


ECE = "Calibration error (ECE, 15 bins of equal width): {ece:ratio}."


def _binary_summary(ev: Evaluation) -> Sentence:
    """Expected and observed, the straight line, the smooth curve, the bins: what is known of them."""
    slope, ici = estimate(ev, "calibration_slope"), estimate(ev, "ici")
    intercept = estimate(ev, "calibration_intercept")
    spread = "" if ici is None or ici.low is None else ", {ici:ratio interval}"
    smooth = f"On the smooth curve a probability is off by {{ici:ratio}} on average (ICI{spread})."
    return paragraph(
        _expected_sentence(ev),
        NOTHING if slope is None else _slope(ev, slope),
        tell(ev, "Intercept {intercept:number} (0 is ideal).", intercept=intercept),
        tell(ev, smooth),
        tell(ev, ECE),
    )


def _slope(ev: Evaluation, slope: Estimate) -> Sentence:
    """What the slope and its interval say of the spread of the scores, and what it depends on."""
    told = _slope_sentence(slope)
    least, most = clipped_slopes(ev) or (slope.value, slope.value)
    if most - least < MOVED:
        return told
    return told + say("It depends on where probabilities of exactly zero and one are clipped.")


def _slope_sentence(slope: Estimate) -> Sentence:
    if slope.low is None or slope.high is None:
        return say("Slope {slope:number} (1 is ideal).", slope=slope)
    meaning = "that the spread is off is not demonstrated"
    if not slope.low <= 1 <= slope.high:
        meaning = "the scores are too extreme" if slope.high < 1 else "the scores are too timid"
    return say("Slope {slope:number} ({slope:number interval}; 1 is ideal): " + meaning + ".", slope=slope)


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
    words = "Expected: {expected:count} {expected:positives}; observed: {observed:count}."
    return tell(ev, words, expected=round(total), observed=observed)


RARE_SHARE = 0.1
"""Share of the rarer class below which the reliability diagram is drawn in log odds."""
OUTERMOST = 1e-4
"""Share, and its complement, at the ends of an axis of log odds."""
TICKS = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999)
"""Probabilities that an axis of log odds names: a power of ten each way."""
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
    name = _summary(ev)
    score, observed, low, high = (
        [scale(at) for at in part] for part in (bins.score, bins.observed, bins.low, bins.high)
    )
    return Chart(
        id="reliability",
        title="Reliability",
        note=_groups(ev, bins),
        description=say("Mean score against observed share in {bins:count} groups.", bins=len(bins.n)),
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
        + "; whiskers are {level} intervals. On the dashed line, {what} is right."
        + _describe_lines(ev),
        bins=len(bins.n),
        what=y_title_word(ev),
        least=min(bins.n),
        most=max(bins.n),
    )


def _describe_lines(ev: Evaluation) -> str:
    """What the lines are."""
    found = defined_or_none(ev.curves)
    if not isinstance(found, BinaryCurves):
        return ""
    lines = " The thin line is the best that never falls (isotonic)."
    if not isinstance(found.smooth, Undefined):
        shaded = "" if isinstance(found.smooth_band, Undefined) else ", shaded its {level} band at each point"
        lines = (
            f" The line is the smooth curve{shaded}; the thin one is the best that never falls (isotonic)."
        )
    return lines + (" Both axes are in log odds: the rarer class has room." if _rare(ev) else "")


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


def y_title_word(ev: Evaluation) -> str:
    """Return what the reliability diagram judges."""
    return "confidence" if isinstance(ev.space, Multiclass) else "the probability"


def _axes(ev: Evaluation) -> tuple[str, str]:
    match ev.space:
        case Binary():
            return "Predicted probability", "Observed share ↑"
        case Multiclass():
            return "Stated confidence", "Share right ↑"
        case Multilabel():
            return "Score", "Share that belong ↑"


def _summary(ev: Evaluation) -> str:
    slope, ece = estimate(ev, "calibration_slope"), estimate(ev, "ece")
    total, counts = expected_positives(ev), four_counts(ev)
    if slope is not None and total and counts is not None:
        return f"slope {format_estimate(slope, 'number')}, observed/expected {format_fixed(counts.positives / total, 2)}"
    return "" if ece is None else f"calibration error {format_estimate(ece, 'ratio')}"


def _bins(ev: Evaluation, bins: Reliability) -> Table:
    places = distinct_decimals([*bins.start, *bins.end])
    rows = []
    for start, end, n, score, observed, low, high in zip(
        bins.start, bins.end, bins.n, bins.score, bins.observed, bins.low, bins.high, strict=True
    ):
        share = Estimate(observed, n, min(low, observed), max(high, observed))
        scores = [format_fixed(value, places) for value in dict.fromkeys((start, end))]
        shown = (format_estimate(share, "ratio"), interval(share, "ratio"))
        rows.append((" to ".join(scores), count(n), format_fixed(score, places), *shown))
    heads = ("Score", "Count", "Mean score", "Observed", f"{confidence_percent(ev)} interval")
    return Table.from_rows("reliability-values", "Reliability by score", heads, rows)


TITLE = "Can the probabilities be believed?"
RARE = 4
"""How many times as frequent a class may be before a histogram shows shares of each class."""
CARDINALITIES = 8
"""Label counts that have columns of their own; what is above falls together."""


def calibration_section(ev: Evaluation) -> Section | None:
    """Return reliability diagram and score histogram."""
    match found := defined_or_none(ev.curves):
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
    return Section.from_parts(
        "calibration",
        "Calibration",
        _title(ev),
        summary(ev) + of_weights(ev),
        TwoColumns(shown) if shown else None,
    )


def _no_probabilities(ev: Evaluation, charts: tuple[Chart, ...]) -> Section:
    empty = Empty(
        say("The scores are no probabilities."),
        say(
            "Only probabilities can be too sure or not sure enough. Log probabilities, or logits with `--score-kind logit`."
        ),
    )
    shown = TwoColumns(charts) if charts else None
    return Section.from_parts("calibration", "Calibration", _title(ev), NOTHING, empty, shown)


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
        (display_label(ev, ev.space.display_labels[1]), display_label(ev, ev.space.display_labels[0]))
        if binary
        else ("right", "wrong")
    )
    positive_side, negative_side, what = _sides(ev, bins)
    axes = Axes(
        x_axis(bins.edges[0], bins.edges[-1], "Score" if binary else "Confidence"),
        _mirrored_axis(positive_side, negative_side, f"{what} per bin, {above} up, {below} down"),
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
            Path("axis", f"M{LEFT:g} {axes.y_position(0)}H{RIGHT:g}"),
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


def _mirrored_axis(above: Sequence[float], below: Sequence[float], title: str) -> Axis:
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
