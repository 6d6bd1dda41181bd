"""Ranking and trade-offs of many classes: each against all others, averaged, and the hardest of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.curves import Curve, MulticlassCurves
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.format import percent, ratio
from evalreport.panels.about import confidence_percent, estimate, known
from evalreport.panels.chart import LEFT, RIGHT, Chart, Label, Shape
from evalreport.panels.parts import Beside, Cell, Section, Table, interval_cell, value_cell
from evalreport.panels.placing import clearest, labelled
from evalreport.panels.rates import LETTER, RatePlot, described, named
from evalreport.panels.words import say
from evalreport.values import Estimate, Result, Undefined

Points: TypeAlias = npt.NDArray[np.float64]
HARDEST = 5
"""Classes that the table under the charts names."""
RATES = (0.0, 0.01, 0.02, 0.05, *(step / 10 for step in range(1, 11)))
"""False-alarm rates, and recalls, of the tables of values."""
GAP = 18
"""Units between the two names."""
AVERAGED = ", classes averaged"
MISSING: Result = Undefined("was not computed")


def panel(ev: Evaluation) -> Section | None:
    """Return macro and micro ROC and precision-recall of a multiclass evaluation; None without scores."""
    found = known(ev.curves)
    if not isinstance(found, MulticlassCurves):
        return None
    charts = tuple(chart for chart in (_roc(ev, found), _pr(ev, found)) if chart is not None)
    if not charts:
        return None
    summary = say(
        "Each class against all others. Solid: the mean of the classes (macro), each counting the same. "
        "Dotted: all decisions together (micro)."
    )
    return Section.of("curves", "Curves", "Ranking and trade-offs", summary, Beside(charts), _hardest(ev))


def _roc(ev: Evaluation, found: MulticlassCurves) -> Chart | None:
    plot = RatePlot("roc", _lines(found.roc_macro, found.roc_micro))
    if not plot.lines:
        return None
    auc = estimate(ev, "roc_auc_ovr_macro")
    names = named("macro AUC", auc), named("micro AUC", estimate(ev, "roc_auc_ovr_micro"))
    return plot.chart(
        of=AVERAGED,
        note=say("Higher and further left is better."),
        description=described("ROC curves of the classes, averaged", "roc_auc_ovr_macro", "macro area", auc),
        labels=_labels(names, [(RIGHT, 240), (46, 44), (RIGHT, 150)], plot.near),
        values=_values("roc", ("False-alarm rate", "Recall"), (found.roc_macro, found.roc_micro)),
    )


def _pr(ev: Evaluation, found: MulticlassCurves) -> Chart | None:
    base = 1 / len(ev.space)
    plot = RatePlot("pr", _lines(found.pr_macro, found.pr_micro), base)
    if not plot.lines:
        return None
    ap = estimate(ev, "average_precision_macro")
    names = named("macro AP", ap), named("micro AP", estimate(ev, "average_precision_micro"))
    drawn, height = plot.near, plot.axes.up(base)
    near = np.vstack([drawn, [[at, height] for at in range(40, 331, 10)]])
    luck = clearest([(at, height - 5) for at in (LEFT + 6, 160, RIGHT - 66)], 62, drawn)
    what = "Precision-recall curves of the classes, averaged"
    return plot.chart(
        of=AVERAGED,
        note=say("The dashed line is an answer by luck, all classes alike."),
        description=described(what, "average_precision_macro", "macro average precision", ap),
        labels=(
            Label(*luck, f"no skill {percent(base)}"),
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
    macro = labelled((at[0], at[1] - GAP), width, names[0], "blue")
    micro = labelled(at, width, names[1])
    return tuple(label for label in (macro, micro) if label.text)


def _values(id: str, heads: tuple[str, str], lines: Sequence[Curve | Undefined]) -> Table:
    rates = RATES if id == "roc" else RATES[4:]
    rows = ((ratio(rate), *(_at(line, rate) for line in lines)) for rate in rates)
    columns = (heads[0], f"{heads[1]}, macro", f"{heads[1]}, micro")
    return Table.of(f"{id}-values", f"Points of the {id.upper()} curves", columns, rows)


def _at(line: Curve | Undefined, rate: float) -> str:
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
    heads = ("Hardest to tell from the rest", "ROC AUC", f"{confidence_percent(ev)} interval", "AP")
    rows = (_hard_row(entry, auc) for entry, auc in ranked[:HARDEST])
    return Table.of("hardest", "Classes with the lowest ROC AUC", heads, rows)


def _hard_row(entry: ClassResult, auc: Estimate) -> tuple[Cell, ...]:
    precision = entry.metrics.get("average_precision", MISSING)
    return (
        Cell(str(entry.label)),
        value_cell(auc, "ratio"),
        interval_cell(auc, "ratio"),
        value_cell(precision, "ratio"),
    )
