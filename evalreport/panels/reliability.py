"""The reliability diagram: groups with whiskers, the smooth curve with its band, the isotonic one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from evalreport.curves import BinaryCurves, MulticlassCurves, MultilabelCurves, Reliability
from evalreport.estimates import apart, interval, valued
from evalreport.evaluation.model import Evaluation
from evalreport.format import count, fixed
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.panels.about import confidence_percent, estimate, four_counts, known, tell
from evalreport.panels.calibration_words import expected
from evalreport.panels.chart import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Axes,
    Axis,
    Chart,
    Label,
    Path,
    tick_text,
    x_axis,
    y_axis,
)
from evalreport.panels.parts import Table
from evalreport.panels.placing import clearest
from evalreport.panels.words import Sentence, say
from evalreport.values import Estimate, Undefined

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
    found = known(ev.curves)
    if isinstance(found, BinaryCurves | MulticlassCurves | MultilabelCurves):
        bins = known(found.reliability)
        return bins if bins is not None and bins.n else None
    return None


def reliability_chart(ev: Evaluation) -> Chart | None:
    """Return mean score against observed share, with the smooth curve and the isotonic one."""
    bins = reliability(ev)
    if bins is None:
        return None
    x_title, y_title = _axes(ev)
    scale = log_odds if _rare(ev) else _plain
    axes = Axes(_scaled(x_axis, scale, x_title), _scaled(y_axis, scale, y_title))
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
        labels=(_named(name, axes, (score, observed, low, high)),) if name else (),
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


def _scaled(axis: Callable[..., Axis], scale: Scale, title: str) -> Axis:
    """An axis of shares; on the scale of log odds the ticks still tell shares."""
    if scale is _plain:
        return axis(0, 1, title)
    made = axis(scale(0.0), scale(1.0), title, [scale(at) for at in TICKS])
    ticks = tuple((place, tick_text(at)) for (place, _), at in zip(made.ticks, TICKS, strict=True))
    return Axis(made.low, made.high, title, ticks)


def _lines(ev: Evaluation, axes: Axes, scale: Scale) -> tuple[Path, ...]:
    """The smooth curve with its band, and the isotonic one."""
    found = known(ev.curves)
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
        "{bins:count} {bins:group|groups} " + _size(bins) + "; whiskers are {level} intervals. "
        "On the dashed line, {what} is right." + _drawn(ev),
        bins=len(bins.n),
        what=y_title_word(ev),
        least=min(bins.n),
        most=max(bins.n),
    )


def _drawn(ev: Evaluation) -> str:
    """What the lines are."""
    found = known(ev.curves)
    if not isinstance(found, BinaryCurves):
        return ""
    lines = " The thin line is the best that never falls (isotonic)."
    if not isinstance(found.smooth, Undefined):
        shaded = "" if isinstance(found.smooth_band, Undefined) else ", shaded its {level} band at each point"
        lines = (
            f" The line is the smooth curve{shaded}; the thin one is the best that never falls (isotonic)."
        )
    return lines + (" Both axes are in log odds: the rarer class has room." if _rare(ev) else "")


def _named(name: str, axes: Axes, at: tuple[Sequence[float], ...]) -> Label:
    """The label where it covers least of the dots, the whiskers and the diagonal."""
    score, observed, low, high = at
    dotted = [[axes.across(a), axes.up(b)] for a, b in zip(score, observed, strict=True)]
    steps = np.linspace(axes.x.low, axes.x.high, 21).tolist()
    diagonal = [[axes.across(step), axes.up(step)] for step in steps]
    width = LETTER * len(name)
    spots = [(324 - width, 240), (46, 26), (46, 60), (324 - width, 130)]
    near = np.array(dotted + _whisker_points(axes, (score, low, high)) + diagonal)
    return Label(*clearest(spots, width, near), name, look="blue")


def _whisker_points(axes: Axes, at: tuple[Sequence[float], ...]) -> list[list[float]]:
    """Points along the whiskers, for the label to keep clear of."""
    return [
        [axes.across(score), axes.up(low + (high - low) * step / 8)]
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
    total, counts = expected(ev), four_counts(ev)
    if slope is not None and total and counts is not None:
        return f"slope {valued(slope, 'number')}, observed/expected {fixed(counts.positives / total, 2)}"
    return "" if ece is None else f"calibration error {valued(ece, 'ratio')}"


def _bins(ev: Evaluation, bins: Reliability) -> Table:
    places = apart([*bins.start, *bins.end])
    rows = []
    for start, end, n, score, observed, low, high in zip(
        bins.start, bins.end, bins.n, bins.score, bins.observed, bins.low, bins.high, strict=True
    ):
        share = Estimate(observed, n, min(low, observed), max(high, observed))
        scores = [fixed(value, places) for value in dict.fromkeys((start, end))]
        shown = (valued(share, "ratio"), interval(share, "ratio"))
        rows.append((" to ".join(scores), count(n), fixed(score, places), *shown))
    heads = ("Score", "Count", "Mean score", "Observed", f"{confidence_percent(ev)} interval")
    return Table.of("reliability-values", "Reliability by score", heads, rows)
