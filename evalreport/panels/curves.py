"""Ranking and trade-offs: ROC and precision-recall, with bands and the operating point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evalreport.curves import Band, BinaryCurves, Curve, MultilabelCurves
from evalreport.evaluation.model import Evaluation
from evalreport.format import percent, ratio
from evalreport.format import threshold as threshold_text
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.panels.about import estimate, four_counts, known, tell
from evalreport.panels.chart import LEFT, RIGHT, Chart, Label, Path
from evalreport.panels.parts import Beside, Empty, Section, Table
from evalreport.panels.placing import clearest, labelled, taken
from evalreport.panels.rates import LETTER, RatePlot, described, named
from evalreport.panels.words import NOTHING, say
from evalreport.values import Undefined

TITLE = "Ranking and trade-offs"
ROWS = 20
"""Rows of the table under a curve."""


def panel(ev: Evaluation) -> Section | None:
    """Return ROC and precision-recall; of a multilabel evaluation they stand beside the threshold."""
    match ev.space:
        case Binary():
            return _binary(ev)
        case Multiclass():
            return None  # they are averaged: see `averaged`
        case Multilabel():
            return _no_scores(ev) if ev.score_kind is None else None


def _binary(ev: Evaluation) -> Section | None:
    found = known(ev.curves)
    if not isinstance(found, BinaryCurves):
        return None  # the section before this one says why
    charts = tuple(c for c in (roc_chart(ev, found), pr_chart(ev, found)) if c is not None)
    if not charts:
        reason = found.roc.reason if isinstance(found.roc, Undefined) else "they are undefined"
        empty = Empty(say("No curve can be drawn: {reason}.", reason=reason), say("Both classes are needed."))
        return Section.of("curves", "Curves", TITLE, NOTHING, empty)
    summary = tell(ev, "Shaded: {level} band at each point.")
    if charts[0].ring is not None:
        summary = say("The ring marks the threshold.") + summary
    return Section.of("curves", "Curves", TITLE, summary, Beside(charts))


def _no_scores(ev: Evaluation) -> Section:
    words = "A label alone has no ranking. Log one probability per {unit}, then run `evalreport log` again."
    empty = Empty(say("No scores were logged."), tell(ev, words))
    return Section.of("curves", "Curves", TITLE, NOTHING, empty)


def roc_chart(ev: Evaluation, found: BinaryCurves) -> Chart | None:
    """Return the ROC curve."""
    if isinstance(found.roc, Undefined):
        return None
    plot = RatePlot("roc", (("line", found.roc),))
    auc, near = estimate(ev, "roc_auc"), plot.near
    name = named("AUC", auc)
    spot = clearest([(324 - LETTER * len(name), 240), (60, 26), (190, 200)], LETTER * len(name), near)
    aside = clearest([(213, 120), (238, 140), (150, 190)], 45, near)
    return plot.chart(
        note=say("Higher and further left is better."),
        description=described("ROC curve", "roc_auc", "area under it", auc),
        under=_band(plot, found.roc_band),
        labels=(Label(*aside, "no skill"), labelled(spot, LETTER * len(name), name, "blue")),
        ring=_ring(ev, plot),
        values=_table("roc", found.roc, ("False-alarm rate", "Recall")),
    )


def pr_chart(ev: Evaluation, found: BinaryCurves | MultilabelCurves) -> Chart | None:
    """Return the precision-recall curve: of a binary problem, or of all labels of a multilabel one."""
    if isinstance(found.pr, Undefined):
        return None
    micro = isinstance(found, MultilabelCurves)
    line, prevalence = until_all_found(found.pr), _prevalence(ev)
    plot = RatePlot("pr", (("line", line),), prevalence, " (micro)" if micro else "")
    key = "average_precision_micro" if micro else "average_precision"
    ap = estimate(ev, key)
    name = named("AP", ap)
    return plot.chart(
        of=", all labels together" if micro else "",
        note=say("The ring marks the threshold." if micro else "Says more than ROC when positives are rare."),
        description=described("Precision-recall curve", key, "average precision", ap),
        under=() if isinstance(found, MultilabelCurves) else _band(plot, found.pr_band),
        labels=_pr_labels(plot, name, prevalence),
        ring=_ring(ev, plot),
        values=_table("pr", found.pr, ("Recall", "Precision")),
    )


def _pr_labels(plot: RatePlot, name: str, prevalence: float) -> tuple[Label, ...]:
    """The level of no skill beside its line, and the area where there is room."""
    height, near, width = plot.axes.up(prevalence), plot.near, LETTER * len(name)
    lines = np.vstack([near, [[at, height] for at in range(40, 331, 10)]])
    spot = clearest([(46, 240), (46, 200), (46, 150), (160, 60)], width, lines)
    under = height - 5 if prevalence < 0.9 else height + 14
    spots = [(RIGHT - 62, under), (LEFT + 6, under), (160, under), (LEFT + 6, under + 19)]
    beside = clearest(spots, 60, np.vstack([near, taken(spot, width)]))
    return Label(*beside, f"no skill {percent(prevalence)}"), labelled(spot, width, name, "blue")


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
    return None if point is None else (plot.axes.across(point[0]), plot.axes.up(point[1]))


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
    places = spread(len(curve.x), ROWS)
    rows = (
        (
            "above all" if curve.threshold is None else threshold_text(curve.threshold[place]),
            ratio(curve.x[place]),
            ratio(curve.y[place]),
        )
        for place in places
    )
    return Table.of(f"{name}-values", f"Points of the {name.upper()} curve", ("Threshold", *heads), rows)


def spread(n: int, wanted: int) -> Sequence[int]:
    """Return places spread evenly over n, both ends among them.

    Examples
    --------
    >>> spread(5, 3), spread(2, 20)
    ([0, 2, 4], [0, 1])
    """
    chosen: npt.NDArray[np.int64] = np.unique(np.linspace(0, n - 1, min(n, wanted)).round().astype(int))
    return [int(place) for place in chosen]
