"""ROC and precision-recall of whatever runs or averages: one axis, one guide, one way to draw a curve.

Ranking and trade-offs of many classes: each against all others, averaged, and the hardest of them.

Ranking and trade-offs: ROC and precision-recall, with bands and the operating point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.format import percent, ratio
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import Estimate, Result, Undefined, with_interval
from evalreport.core.sentences import NOTHING, Sentence, say
from evalreport.curves.binary import BinaryCurves
from evalreport.curves.class_curves import MulticlassCurves, MultilabelCurves
from evalreport.curves.curve import Band, Curve
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.page.charts import (
    BOTTOM,
    LEFT,
    RIGHT,
    Axes,
    Chart,
    Label,
    Path,
    Shape,
    clearest,
    label_footprint,
    place_label,
    x_axis,
    y_axis,
)
from evalreport.page.elements import (
    Cell,
    Empty,
    Folded,
    Section,
    Table,
    TwoColumns,
    interval_cell,
    value_cell,
)
from evalreport.page.evaluation_terms import confidence_percent, defined_or_none, estimate, four_counts, tell

Kind: TypeAlias = Literal["roc", "pr"]
AXES = {"roc": ("False positive rate", "Recall ↑"), "pr": ("Recall", "Precision ↑")}
NAMES = {"roc": "ROC", "pr": "Precision-recall"}
ZOOM = 0.2
STEEP = 0.85
"""The end of the zoomed axis of false positive rates, and the recall at its middle from which it is zoomed."""
LETTER = 6.2
"""Width of a bold letter of a label, in units of the chart."""


def name_with_interval(name: str, result: Estimate | None) -> str:
    """Return the label of a curve: "AUC 0.99 (0.98 to 0.99)"; nothing where it is undefined.

    Examples
    --------
    >>> name_with_interval("AUC", Estimate(0.9, 50, 0.81, 0.95))
    'AUC 0.900 (0.810 to 0.950)'
    """
    return "" if result is None else f"{name} {with_interval(result, 'ratio')}"


def describe_curve(what: str, key: str, name: str, result: Estimate | None) -> Sentence:
    """Return the alternative text of curves: the area, if there is one."""
    if result is None:
        return say(what + ".")
    return say(what + "; " + name + " {" + key + ":ratio}.", {key: result})


@dataclass(frozen=True)
class RatePlot:
    """Curves of one kind, before they are named.

    Parameters
    ----------
    kind : str
        ``roc`` or ``pr``.
    lines : tuple of (shape, curve)
        In drawing order.
    luck : float or None
        Precision of a model that knows nothing; ROC has its diagonal.
    averaged : str
        After the name of the recall: over what it is averaged.
    """

    kind: Kind
    lines: tuple[tuple[Shape, Curve], ...]
    chance_line: float | None = None
    averaged: str = ""

    @property
    def axes(self) -> Axes:
        """Both axes, from 0 to 1."""
        across, up = AXES[self.kind]
        if self.zoomed:
            return Axes(x_axis(0, ZOOM, f"{across}, up to {ZOOM:g}"), y_axis(0, 1, up))
        return Axes(x_axis(0, 1, across + self.averaged), y_axis(0, 1, up))

    @property
    def zoomed(self) -> bool:
        """Whether a ROC curve is so steep that most of a whole axis would be empty."""
        steep = [np.interp(ZOOM / 2, curve.x, curve.y) > STEEP for _, curve in self.lines]
        return self.kind == "roc" and bool(steep) and all(steep)

    @property
    def curve_points(self) -> npt.NDArray[np.float64]:
        """Points of the curves, shape (m, 2), in units of the chart: what labels keep clear of."""
        return np.vstack([self.axes.outline(curve.x, curve.y) for _, curve in self.lines])

    def _guide(self) -> tuple[Path, ...]:
        if self.kind == "roc":
            return (Path("guide", self.axes.polyline([0, self.axes.x.high], [0, self.axes.x.high])),)
        return () if self.chance_line is None else (Path("guide", self.axes.level(self.chance_line)),)

    def chart(
        self,
        *,
        of: str = "",
        note: Sentence,
        description: Sentence,
        under: Sequence[Path] = (),
        over: Sequence[Path] = (),
        **rest: Any,
    ) -> Chart:
        """Return the chart: layers below the curves, the guide, the curves, layers above.

        Parameters
        ----------
        of : str
            After the name of the kind, in the title.
        rest
            Labels, ring and values of the chart.
        """
        axes = self.axes
        drawn = (
            Path(shape, axes.polyline(*_curve_up_to(c, axes.x.high), steps=c.steps))
            for shape, c in self.lines
        )
        paths = (*under, *self._guide(), *drawn, *over)
        title = NAMES[self.kind] + of
        return Chart(self.kind, title, note, description, axes, paths, **rest)


def _curve_up_to(curve: Curve, end: float) -> tuple[Sequence[float], Sequence[float]]:
    """The part of a curve that is on the axis, its last point on the edge."""
    if curve.x[-1] <= end:
        return curve.x, curve.y
    last = int(np.searchsorted(curve.x, end, side="right"))
    return (*curve.x[:last], end), (*curve.y[:last], float(np.interp(end, curve.x, curve.y)))


Points: TypeAlias = npt.NDArray[np.float64]
HARDEST = 5
"""Classes that the table under the charts names."""
RATES = (0.0, 0.01, 0.02, 0.05, *(step / 10 for step in range(1, 11)))
"""False positive rates, and recalls, in the tables of values."""
GAP = 18
"""Units between the two names."""
AVERAGED = ", classes averaged"
MISSING: Result = Undefined("was not computed")


def averaged_section(ev: Evaluation) -> Section | None:
    """Return macro and micro ROC and precision-recall of a multiclass evaluation; None without scores."""
    found = defined_or_none(ev.curves)
    if not isinstance(found, MulticlassCurves):
        return None
    charts = tuple(chart for chart in (_roc(ev, found), _pr(ev, found)) if chart is not None)
    if not charts:
        return None
    summary = say(
        "One class against the rest. Solid: mean of the classes (macro). Dotted: all decisions pooled (micro)."
    )
    hardest = _hardest(ev)
    curves = Folded("Averaged curves", (TwoColumns(charts),))
    table = None if hardest is None else Folded("Classes with the lowest ROC AUC", (hardest,))
    return Section.from_parts("curves", TITLE, TITLE, summary, curves, table)


def _roc(ev: Evaluation, found: MulticlassCurves) -> Chart | None:
    plot = RatePlot("roc", _lines(found.roc_macro, found.roc_micro))
    if not plot.lines:
        return None
    auc = estimate(ev, "roc_auc_ovr_macro")
    names = (
        name_with_interval("macro AUC", auc),
        name_with_interval("micro AUC", estimate(ev, "roc_auc_ovr_micro")),
    )
    return plot.chart(
        of=AVERAGED,
        note=NOTHING,
        description=describe_curve(
            "ROC curves of the classes, averaged", "roc_auc_ovr_macro", "macro area", auc
        ),
        labels=_labels(names, [(RIGHT, 240), (46, 44), (RIGHT, 150)], plot.curve_points),
        values=_values("roc", ("False positive rate", "Recall"), (found.roc_macro, found.roc_micro)),
    )


def _pr(ev: Evaluation, found: MulticlassCurves) -> Chart | None:
    base = 1 / len(ev.space)
    plot = RatePlot("pr", _lines(found.pr_macro, found.pr_micro), base)
    if not plot.lines:
        return None
    ap = estimate(ev, "average_precision_macro")
    names = (
        name_with_interval("macro AP", ap),
        name_with_interval("micro AP", estimate(ev, "average_precision_micro")),
    )
    drawn, height = plot.curve_points, plot.axes.y_position(base)
    near = np.vstack([drawn, [[at, height] for at in range(40, 331, 10)]])
    no_skill_place = clearest([(at, height - 5) for at in (LEFT + 6, 160, RIGHT - 66)], 62, drawn)
    what = "Precision-recall curves of the classes, averaged"
    return plot.chart(
        of=AVERAGED,
        note=NOTHING,
        description=describe_curve(what, "average_precision_macro", "macro average precision", ap),
        labels=(
            Label(*no_skill_place, f"no skill {percent(base)}"),
            *_labels(names, [(46, 200), (46, 150), (46, 80), (RIGHT, 44), (RIGHT, 120)], near),
        ),
        values=_values("pr", ("Recall", "Precision"), (found.pr_macro, found.pr_micro)),
    )


def _lines(macro: Curve | Undefined, micro: Curve | Undefined) -> tuple[tuple[Shape, Curve], ...]:
    """The micro line below, dotted; the macro line on top of it."""
    shapes: tuple[tuple[Shape, Curve | Undefined], ...] = (("line-3", micro), ("line", macro))
    return tuple((shape, curve) for shape, curve in shapes if not isinstance(curve, Undefined))


def _labels(names: tuple[str, str], spots: Sequence[tuple[float, float]], near: Points) -> tuple[Label, ...]:
    """The two names, one above the other, at the spot that is furthest from the lines."""
    width = LETTER * max(map(len, names))
    both = np.vstack([near, near + np.array([0, GAP])])  # what lies where the upper one would stand
    at = clearest([(min(x, RIGHT - 6 - width), y) for x, y in spots], width, both)
    macro = place_label((at[0], at[1] - GAP), width, names[0], "blue")
    micro = place_label(at, width, names[1])
    return tuple(label for label in (macro, micro) if label.text)


def _values(id: str, heads: tuple[str, str], lines: Sequence[Curve | Undefined]) -> Table:
    rates = RATES if id == "roc" else RATES[4:]
    rows = ((ratio(rate), *(_format_curve_height(line, rate) for line in lines)) for rate in rates)
    columns = (heads[0], f"{heads[1]}, macro", f"{heads[1]}, micro")
    return Table.from_rows(f"{id}-values", f"Points of the {id.upper()} curves", columns, rows)


def _format_curve_height(line: Curve | Undefined, rate: float) -> str:
    """The height of a line: of steps, of the one that reaches the rate."""
    if isinstance(line, Undefined):
        return "–"
    if line.steps:
        return ratio(line.y[min(int(np.searchsorted(line.x, rate - 1e-9)), len(line.y) - 1)])
    return ratio(float(np.interp(rate, line.x, line.y)))


def _hardest(ev: Evaluation) -> Table | None:
    """The classes that are hardest to tell from all others."""
    judged = [(entry, entry.metrics.get("roc_auc", MISSING)) for entry in ev.classes]
    ranked = sorted(
        ((entry, auc) for entry, auc in judged if isinstance(auc, Estimate)), key=lambda pair: pair[1].value
    )
    if len(ranked) <= HARDEST:
        return None
    heads = ("Lowest ROC AUC", "ROC AUC", f"{confidence_percent(ev)} interval", "AP")
    rows = (_hard_row(entry, auc) for entry, auc in ranked[:HARDEST])
    return Table.from_rows("hardest", "Classes with the lowest ROC AUC", heads, rows)


def _hard_row(entry: ClassResult, auc: Estimate) -> tuple[Cell, ...]:
    precision = entry.metrics.get("average_precision", MISSING)
    return (
        Cell(str(entry.label)),
        value_cell(auc, "ratio"),
        interval_cell(auc, "ratio"),
        value_cell(precision, "ratio"),
    )


TITLE = "ROC and precision-recall"
ROWS = 6
"""Rows of the table under a curve."""


def curves_section(ev: Evaluation) -> Section | None:
    """Return ROC and precision-recall; of a multilabel evaluation they stand beside the threshold."""
    match ev.space:
        case Binary():
            return _binary(ev)
        case Multiclass():
            return None  # they are averaged: see `averaged`
        case Multilabel():
            return _no_scores(ev) if ev.score_kind is None else None


def _binary(ev: Evaluation) -> Section | None:
    found = defined_or_none(ev.curves)
    if not isinstance(found, BinaryCurves):
        return None  # the section before this one says why
    charts = tuple(c for c in (roc_chart(ev, found), pr_chart(ev, found)) if c is not None)
    if not charts:
        reason = found.roc.reason if isinstance(found.roc, Undefined) else "they are undefined"
        empty = Empty(say("No curve can be drawn: {reason}.", reason=reason), say("Both classes are needed."))
        return Section.from_parts("curves", TITLE, TITLE, NOTHING, empty)
    summary = tell(ev, "Shaded: {level} band at each point.")
    if charts[0].ring is not None:
        summary = say("Ring: the threshold.") + summary
    return Section.from_parts("curves", TITLE, TITLE, summary, TwoColumns(charts))


def _no_scores(ev: Evaluation) -> Section:
    words = "Predicted labels have no ranking. Log one probability for each {unit}."
    empty = Empty(say("No scores were logged."), tell(ev, words))
    return Section.from_parts("curves", TITLE, TITLE, NOTHING, empty)


def roc_chart(ev: Evaluation, found: BinaryCurves) -> Chart | None:
    """Return the ROC curve."""
    if isinstance(found.roc, Undefined):
        return None
    plot = RatePlot("roc", (("line", found.roc),))
    auc, near = estimate(ev, "roc_auc"), plot.curve_points
    name = name_with_interval("AUC", auc)
    end = plot.axes.x.high
    aside = clearest(_beside_diagonal(plot, end), 45, near)
    near = np.vstack([near, plot.axes.outline([0, end], [0, end]), label_footprint(aside, 45)])
    width = LETTER * len(name)
    spot = clearest([(324 - width, 240), (60, 26), (190, 200), (324 - width, 150)], width, near)
    return plot.chart(
        note=NOTHING,
        description=describe_curve("ROC curve", "roc_auc", "area under it", auc),
        under=_band(plot, found.roc_band),
        labels=(Label(*aside, "no skill"), place_label(spot, LETTER * len(name), name, "blue")),
        ring=_ring(ev, plot),
        values=_table("roc", found.roc, ("False positive rate", "Recall")),
    )


def _beside_diagonal(plot: RatePlot, end: float) -> list[tuple[float, float]]:
    """Positions for the name of the line of no skill: below it, above it where there is no room."""

    def height(at: float) -> float:
        return plot.axes.y_position(end * (at - LEFT) / (RIGHT - LEFT))

    below = [(at, height(at) + 15) for at in (213.0, 238.0, 150.0)]
    above = [(at, height(at + 45) - 5) for at in (213.0, 238.0, 150.0)]
    return [(at, base) for at, base in (*below, *above) if base < BOTTOM - 4]


def pr_chart(ev: Evaluation, found: BinaryCurves | MultilabelCurves) -> Chart | None:
    """Return the precision-recall curve: of a binary problem, or of all labels of a multilabel one."""
    if isinstance(found.pr, Undefined):
        return None
    micro = isinstance(found, MultilabelCurves)
    line, prevalence = until_all_found(found.pr), _prevalence(ev)
    plot = RatePlot("pr", (("line", line),), prevalence, " (micro)" if micro else "")
    key = "average_precision_micro" if micro else "average_precision"
    ap = estimate(ev, key)
    name = name_with_interval("AP", ap)
    return plot.chart(
        of=", all labels together" if micro else "",
        note=NOTHING,
        description=describe_curve("Precision-recall curve", key, "average precision", ap),
        under=() if isinstance(found, MultilabelCurves) else _band(plot, found.pr_band),
        labels=_pr_labels(plot, name, prevalence),
        ring=_ring(ev, plot),
        values=_table("pr", found.pr, ("Recall", "Precision")),
    )


def _pr_labels(plot: RatePlot, name: str, prevalence: float) -> tuple[Label, ...]:
    """The level of no skill beside its line, and the area where there is room."""
    height, near, width = plot.axes.y_position(prevalence), plot.curve_points, LETTER * len(name)
    lines = np.vstack([near, [[at, height] for at in range(40, 331, 10)]])
    spot = clearest([(46, 240), (46, 200), (46, 150), (160, 60)], width, lines)
    under = height - 5 if prevalence < 0.9 else height + 14
    spots = [(RIGHT - 62, under), (LEFT + 6, under), (160, under), (LEFT + 6, under + 19)]
    beside = clearest(spots, 60, np.vstack([near, label_footprint(spot, width)]))
    return Label(*beside, f"no skill {percent(prevalence)}"), place_label(spot, width, name, "blue")


def until_all_found(curve: Curve) -> Curve:
    """Return the curve up to where everything is found: below it, precision only falls."""
    last = next((place for place, recall in enumerate(curve.x) if recall >= 1), len(curve.x) - 1)
    return Curve(curve.x[: last + 1], curve.y[: last + 1], None, curve.steps)


def _prevalence(ev: Evaluation) -> float:
    counts = four_counts(ev)
    if counts is not None:
        return float(counts.positives / counts.total)
    level_of = ev.no_skill.get("average_precision", ev.no_skill.get("average_precision_micro"))
    if level_of is not None:
        return level_of
    return sum(entry.support for entry in ev.classes) / max(ev.weight * len(ev.space), 1)


def _band(plot: RatePlot, band: Band | Undefined) -> tuple[Path, ...]:
    if isinstance(band, Undefined):
        return ()
    return (Path("band", plot.axes.region(band.x, band.low, band.high, steps=band.steps)),)


def _ring(ev: Evaluation, plot: RatePlot) -> tuple[float, float] | None:
    point = operating_point(ev, plot.kind)
    return None if point is None else (plot.axes.x_position(point[0]), plot.axes.y_position(point[1]))


def operating_point(ev: Evaluation, kind: str) -> tuple[float, float] | None:
    """Return where the decisions lie on the ROC (``roc``) or precision-recall (``pr``) curve."""
    if isinstance(ev.space, Multilabel):
        recall, precision = estimate(ev, "recall_micro"), estimate(ev, "precision_micro")
        if ev.threshold is None or recall is None or precision is None:
            return None
        return recall.value, precision.value
    counts = four_counts(ev)
    if counts is None or ev.threshold is None or not counts.positives or not counts.negatives:
        return None
    recall_here = counts.tp / counts.positives
    if kind == "roc":
        return counts.fp / counts.negatives, recall_here
    flagged = counts.tp + counts.fp
    return (recall_here, counts.tp / flagged) if flagged else None


def _table(name: str, curve: Curve, heads: tuple[str, str]) -> Table:
    places = evenly_spaced_places(len(curve.x), ROWS)
    rows = (
        (
            "above all" if curve.threshold is None else threshold_text(curve.threshold[place]),
            ratio(curve.x[place]),
            ratio(curve.y[place]),
        )
        for place in places
    )
    return Table.from_rows(
        f"{name}-values", f"Points of the {name.upper()} curve", ("Threshold", *heads), rows
    )


def evenly_spaced_places(n: int, wanted: int) -> Sequence[int]:
    """Return places spread evenly over n, both ends among them.

    Examples
    --------
    >>> evenly_spaced_places(5, 3), evenly_spaced_places(2, 20)
    ([0, 2, 4], [0, 1])
    """
    chosen: npt.NDArray[np.int64] = np.unique(np.linspace(0, n - 1, min(n, wanted)).round().astype(int))
    return [int(place) for place in chosen]
