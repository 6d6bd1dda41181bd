"""Multilabel: one threshold for all labels, over the pooled decisions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evalreport.core.format import count, format_fixed, percent, ratio
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import Undefined
from evalreport.core.sentences import Sentence, say
from evalreport.curves.class_curves import LabelSweep, MultilabelCurves
from evalreport.data.labels import Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.metrics.catalogue import find
from evalreport.page.charts import Chart
from evalreport.page.elements import Section, Table
from evalreport.page.evaluation_terms import defined_or_none, estimate, of_weights, one_threshold, tell, units
from evalreport.page.sections.choices import tuned_table
from evalreport.page.sections.curves import evenly_spaced_places, pr_chart
from evalreport.page.sections.threshold import Meter, Preset, whole

ROWS = 9
"""Steps of the table beside the chart, the thresholds with a name apart."""
BEST = {"f1": "Best micro F1", "macro": "Best macro F1", "exact": "Most exact matches"}
"""Goals of the presets, by the name of what is greatest there."""


@dataclass(frozen=True)
class MicroPoint:
    """What one threshold for all labels reaches: labels added rightly and wrongly, rows wholly right."""

    t: float
    found: float
    wrong: float
    wanted: float
    macro: float
    exact: float

    @property
    def missed_labels(self) -> float:
        """Labels left out."""
        return self.wanted - self.found

    @property
    def f1(self) -> float:
        """Micro F1."""
        return 2 * self.found / max(self.found + self.wrong + self.wanted, 1e-300)


@dataclass(frozen=True)
class Micro:
    """Slider, tiles, chart and table; what thresholds chosen label by label reach."""

    shown: str
    start: int
    last: int
    presets: tuple[Preset, ...]
    found: str
    left: str
    wrong: str
    meters: tuple[Meter, ...]
    chart: Chart | None
    values: Table
    tuned: Table | None


def micro_section(ev: Evaluation) -> Section | None:
    """Return the threshold section of a multilabel evaluation."""
    curves = defined_or_none(ev.curves)
    if not isinstance(ev.space, Multilabel) or not isinstance(curves, MultilabelCurves):
        return None
    if isinstance(curves.sweep, Undefined) or not ev.classes:
        return None
    points = _points(ev, curves.sweep)
    start = _start(ev, points)
    here = points[start]
    presets = _presets(ev, points, start)
    body = Micro(
        shown=threshold_text(here.t),
        start=start,
        last=len(points) - 1,
        presets=presets,
        found=count(here.found),
        left=count(here.missed_labels),
        wrong=count(here.wrong),
        meters=meters_of(ev, here),
        chart=pr_chart(ev, curves),
        values=_values(ev, points, presets),
        tuned=None if ev.tuned is None else tuned_table("threshold-tuned", [ev.tuned]),
    )
    data = {
        "t": [float(f"{p.t:.9g}") for p in points],
        "tp": whole(np.array([p.found for p in points])),
        "fp": whole(np.array([p.wrong for p in points])),
        "macro": [float(f"{p.macro:.9g}") for p in points],
        "exact": whole(np.array([p.exact for p in points])),
        "P": here.wanted,
        "n": ev.weight,
        "rows": ev.rows,
    }
    return Section("threshold", "Choose a threshold", "Choose a threshold", "micro", _summary(ev), body, data)


def _summary(ev: Evaluation) -> Sentence:
    summary = tell(ev, "The slider moves one threshold for all labels. Choose thresholds on validation data.")
    if ev.tuned is not None:
        summary += say("This run has one threshold per label; see the table of labels.")
    elif one_threshold(ev) is None:
        summary += say(
            "No single threshold gives the predictions of this run; this section uses the scores only."
        )
    return summary + of_weights(ev)


def _points(ev: Evaluation, sweep: LabelSweep) -> list[MicroPoint]:
    """From adding everything to adding almost nothing; where the decisions were taken, these themselves."""
    wanted = sum(entry.support for entry in ev.classes)
    columns = (sweep.threshold, sweep.found, sweep.added, sweep.f1_macro, sweep.exact)
    points = [
        MicroPoint(t, found, added - found, wanted, macro, exact)
        for t, found, added, macro, exact in zip(*columns, strict=True)
    ]
    now, macro, exact = one_threshold(ev), estimate(ev, "f1_macro"), estimate(ev, "subset_accuracy")
    if now is not None and math.isfinite(now) and macro is not None and exact is not None:
        right = sum(entry.right for entry in ev.classes)
        added = sum(entry.predicted for entry in ev.classes)
        rows = exact.value * ev.weight
        here = MicroPoint(
            now, right, added - right, wanted, macro.value, rows if ev.weighted else round(rows)
        )
        points = [p for p in points if p.t != now] + [here]
    return sorted(points, key=lambda p: p.t)


def _start(ev: Evaluation, points: list[MicroPoint]) -> int:
    now = one_threshold(ev)
    wanted = 0.5 if now is None else now
    return min(range(len(points)), key=lambda place: abs(points[place].t - wanted))


def _presets(ev: Evaluation, points: list[MicroPoint], start: int) -> tuple[Preset, ...]:
    found = []
    now = one_threshold(ev)
    if now is not None and ev.threshold is not None:
        found.append(Preset("now", f"In use {threshold_text(now)}", start))
    for key, title in BEST.items():
        best = max(range(len(points)), key=lambda place: float(getattr(points[place], key)))
        if getattr(points[best], key) > 0:
            found.append(Preset(key, title, best))
    return tuple(found)


TITLES = {
    name: find(name, "multilabel").title
    for name in ("precision_micro", "recall_micro", "f1_micro", "f1_macro", "subset_accuracy")
}


def meters_of(ev: Evaluation, p: MicroPoint) -> tuple[Meter, ...]:
    """Return the lines under the counts."""
    added = p.found + p.wrong
    precision = p.found / added if added else None
    recall = p.found / p.wanted if p.wanted else None
    return (
        _share("precision", TITLES["precision_micro"], precision, ev.rows),
        _share("recall", TITLES["recall_micro"], recall, ev.rows),
        Meter("f1", TITLES["f1_micro"], ratio(p.f1), round(100 * p.f1)),
        Meter("macro", TITLES["f1_macro"], ratio(p.macro), round(100 * p.macro)),
        _share("exact", TITLES["subset_accuracy"], p.exact / ev.weight, ev.rows),
        Meter("added", f"Labels predicted per {units(ev, 1)}", format_fixed(added / ev.weight, 2)),
    )


def _share(key: str, title: str, value: float | None, n: float) -> Meter:
    if value is None:
        return Meter(key, title, "–")
    return Meter(key, title, percent(value, n), round(100 * value))


def _values(ev: Evaluation, points: list[MicroPoint], presets: tuple[Preset, ...]) -> Table:
    named: dict[int, str] = {}
    for preset in presets:
        named[preset.place] = ", ".join(filter(None, (named.get(preset.place), preset.title)))
    rows = []
    for place in sorted({*evenly_spaced_places(len(points), ROWS), *named}):
        p = points[place]
        counts = map(count, (p.found, p.missed_labels, p.wrong))
        meters = (meter.shown for meter in meters_of(ev, p))
        rows.append((named.get(place, "threshold"), threshold_text(p.t), *counts, *meters))
    heads = (
        *("At", "Threshold", "Found", "Missed", "Added"),
        *(*TITLES.values(), f"Per {units(ev, 1)}"),
    )
    return Table.from_rows("threshold-values", "Counts at thresholds", heads, rows)
