"""Differences on an axis that reads itself: worse on the left of zero, better on the right, unit by unit.

ROC and precision-recall curves of several runs in one chart, one line style per run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.comparison.comparison import Comparison, Difference
from evalreport.core.format import MINUS, ratio
from evalreport.core.sentences import NOTHING, Sentence, join_as_list, say, truncate_name
from evalreport.curves.binary import BinaryCurves
from evalreport.curves.class_curves import MulticlassCurves, MultilabelCurves
from evalreport.curves.curve import Curve
from evalreport.evaluation.evaluation import Evaluation
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric
from evalreport.page.charts import BOTTOM, LEFT, RIGHT, TOP, Chart, Label, Path, Shape, label_footprint
from evalreport.page.comparison.table import DIFFERENCE_COLUMNS, head_texts, other_columns, row_texts
from evalreport.page.comparison.wording import verdict
from evalreport.page.elements import Section, Table, TwoColumns, place
from evalreport.page.evaluation_terms import defined_or_none, estimate
from evalreport.page.sections.curves import TITLE, Kind, RatePlot, until_all_found

SPANS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Ends of an axis within a power of ten: the next one above the largest interval, so that it is used."""
Units = tuple[str, bool]
"""What may share an axis: the style of a value, and whether lower is better."""
GROUPS: dict[Units, str] = {
    ("percent", False): "Rates",
    ("percent", True): "Rates, lower is better",
    ("ratio", False): "Areas and agreement",
    ("ratio", True): "Losses up to 1, lower is better",
    ("number", False): "Values without a limit",
    ("number", True): "Losses without a limit, lower is better",
}
"""Groups of metrics in the order of the page."""
Side = Literal["better", "worse", "none", "undefined"]


@dataclass(frozen=True)
class DifferenceRow:
    """One difference: its words, and its places on an axis of 1000 units with zero in the middle.

    `shown` has the texts of its columns by name, `more` those of the columns that have cells of their own;
    `side` decides colour and dot: blue, orange, or hollow and grey where the difference is not significant.
    """

    title: str
    shown: Mapping[str, str]
    verdict: Sentence
    more: tuple[str, ...]
    side: Side
    at: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class UnitGroup:
    """Differences in one unit on one symmetric axis, whose ends say which way is better."""

    title: str
    ends: tuple[str, str]
    rows: tuple[DifferenceRow, ...]


@dataclass(frozen=True)
class Differences:
    """Every difference of a pair of runs, group by group."""

    kind: ClassVar[str] = "differences"
    name: str
    columns: tuple[str, ...]
    groups: tuple[UnitGroup, ...]


def difference_plot(comparison: Comparison, found: Sequence[Difference], name: str) -> Differences:
    """Return differences in groups of one unit each, lower-is-better turned.

    Parameters
    ----------
    comparison : Comparison
    found : sequence of Difference
        Of one pair of runs.
    name : str
        Of the table, for assistive technology.
    """
    task = comparison.evaluations[0].task
    metrics = [(find(d.metric, task), d) for d in found]
    kinds = [units_of(metric) for metric, _ in metrics]
    groups = [
        _group(title, units, [pair for pair, own in zip(metrics, kinds, strict=True) if own == units])
        for units, title in GROUPS.items()
        if units in kinds
    ]
    first = found[0]
    level = f"{comparison.level * 100:.10g}%"
    known = {"level": level, "baseline": first.baseline, "run": first.run}
    heads = (f"{first.baseline} → {first.run}", f"Difference, {level} interval")
    return Differences(name, (*heads, *head_texts(other_columns(), known)), tuple(groups))


def units_of(metric: Metric) -> Units:
    """Return the group of a metric: what has no upper limit never shares an axis with what has.

    Examples
    --------
    >>> units_of(find("log_loss", "binary")), units_of(find("recall", "binary"))
    (('number', True), ('percent', False))
    """
    style = metric.style if metric.style == "percent" else "ratio" if metric.high <= 1 else "number"
    return style, metric.better in ("lower", "zero")


def _group(title: str, units: Units, found: list[tuple[Metric, Difference]]) -> UnitGroup:
    lower = units[1]
    span = axis_end([d for _, d in found])
    shown = f"{span * 100:g} points" if units[0] == "percent" else f"{span:g}"
    worse, better = ("+", MINUS) if lower else (MINUS, "+")
    title = found[0][0].title + ", lower is better" if lower and len(found) == 1 else title
    rows = tuple(difference_row(metric.title, d, span, turned=lower) for metric, d in found)
    return UnitGroup(title, (f"{worse}{shown} worse ←", f"→ better {better}{shown}"), rows)


def axis_end(found: Iterable[Difference]) -> float:
    """Return the round end of a symmetric axis that holds every interval.

    Examples
    --------
    >>> axis_end([Difference("f1", "a", "b", (0.5, 0.9), -0.4, -0.45, -0.35)])
    0.5
    """
    ends = [abs(end) for d in found for end in (*(d.limits or ()), d.difference) if end is not None]
    largest = max(ends, default=0.0)
    if not largest:
        return 1.0
    power = 1e-6
    while power * 10 < largest:
        power *= 10
    return next(round(power * step, 12) for step in SPANS if power * step >= largest * (1 - 1e-12))


def difference_row(title: str, d: Difference, span: float, *, turned: bool) -> DifferenceRow:
    """Return a row of a difference plot; `turned`: to the right is less."""
    axis = (span, -span) if turned else (-span, span)
    low, high = d.limits or (None, None)
    side: Side = "none"
    if d.is_significant:
        side = "better" if d.verdict == "better" else "worse"
    elif d.difference is None:
        side = "undefined"
    places = (place(d.difference, axis), place(low, axis), place(high, axis))
    more = tuple(row_texts(other_columns(), d).values())
    short = say("not significant") if d.verdict == "not_significant" else verdict(d)
    return DifferenceRow(title, row_texts(DIFFERENCE_COLUMNS, d), short, more, side, *places)


STYLES: tuple[Shape, ...] = ("line-2", "line", "line-4", "line-3")
"""Colours of the lines, the baseline grey; one chart shows no more runs."""
ROW = 17.0
"""Units from a line of the key to the next: text of 12 units with air."""
NAME = 16
"""Characters of a run's name in the chart: all of its key fits beside the curves."""
MOST_CROSSINGS = 3
"""Maximum number of crossings in the text; all are in the JSON."""
Line = tuple[str, Evaluation, Curve]
SPOTS = ((150.0, 192.0), (60.0, 180.0), (60.0, 110.0), (170.0, 60.0))
"""Position of the key if there is room: left end, and line of its first row."""
LETTER = 6.0
"""Width of a letter, in units."""
BESIDE = (2.0, 9.0)
"""Distance of a name from its line."""
APART, ENOUGH = 6.0, 20.0
"""How much nearer it has to be to its own line than to any other; from when on more does not matter."""
Points: TypeAlias = npt.NDArray[np.float64]


def curves_section(comparison: Comparison) -> Section | None:
    """Return the curves overlaid: of two to four runs all, of more the baseline and the best."""
    chosen = _choose_runs(comparison)
    charts = tuple(made for kind in ("roc", "pr") if (made := _chart(chosen, kind)) is not None)
    summary = say("One line style per run.") + _crossing_sentence(comparison) if charts else NOTHING
    summary += _missing_curves(comparison)
    if not charts:
        return None
    if len(chosen) < len(comparison.names):
        by = find(comparison.primary, comparison.evaluations[0].task).title
        which = "the best by " + by if comparison.baseline is None else "the baseline and the best by " + by
        words = f"Drawn are {{drawn:count}} of {{runs:count}} runs: {which}."
        summary += say(words, drawn=len(chosen), runs=len(comparison.names))
    return Section.from_parts("curves", TITLE, TITLE, summary, TwoColumns(charts))


def _crossing_sentence(comparison: Comparison) -> Sentence:
    """Where the ROC curves of two runs cross, the lowest false positive rate first."""
    sentences = [
        say(
            "The ROC curves of {one.run:short} and {one.baseline:short} cross at a false positive rate of "
            "{one.fpr:percent}: below it {one.ahead_below:short} finds more on these {units}, above it "
            "{one.ahead_above:short}.",
            {"one": one},
            units=comparison.unit[1],
        )
        for one in comparison.crossings[:MOST_CROSSINGS]
    ]
    return sum(sentences, NOTHING)


def _missing_curves(comparison: Comparison) -> Sentence:
    """Runs without a curve, and why."""
    runs = zip(comparison.names, comparison.evaluations, strict=True)
    bare = [name for name, ev in runs if _curve(ev, "pr") is None]
    if not bare:
        return NOTHING
    named = join_as_list([say("{name:short}", name=name) for name in bare])
    return say("Not drawn: {names}, without scores that every class has.", names=named)


def _choose_runs(comparison: Comparison) -> list[tuple[str, Evaluation]]:
    runs = list(zip(comparison.names, comparison.evaluations, strict=True))
    if len(runs) <= len(STYLES):
        return runs
    sign = 1 if find(comparison.primary, comparison.evaluations[0].task).better == "lower" else -1

    def key(place: int) -> tuple[bool, float]:
        result = runs[place][1].metrics.get(comparison.primary)
        value = None if result is None else result.value
        return place != comparison.baseline, float("inf") if value is None else sign * value

    return [runs[place] for place in sorted(sorted(range(len(runs)), key=key)[: len(STYLES)])]


def _chart(runs: Sequence[tuple[str, Evaluation]], kind: Kind) -> Chart | None:
    lines = [(name, ev, curve) for name, ev in runs if (curve := _curve(ev, kind)) is not None]
    if len(lines) < 2:
        return None
    plot = RatePlot(kind, tuple(zip(STYLES, (curve for _, _, curve in lines), strict=False)))
    roc = kind == "roc"
    area = "roc_auc" if roc else "average_precision"
    line_names = _named_areas(lines, area)
    keys: tuple[Path, ...] = ()
    labels = _label_lines(plot, line_names)
    if not labels:
        keys, labels = _key(line_names, plot.curve_points)
    named = [(name, _area(ev, area)) for name, ev, _ in lines]
    described = [
        say("{run}: area {area:ratio}.", run=name, area=value) for name, value in named if value is not None
    ]
    title = "ROC AUC" if roc else "Average precision"
    rows = ((name, "–" if value is None else ratio(value)) for name, value in named)
    return plot.chart(
        of=", mean of the classes" if lines[0][1].task == "multiclass" else "",
        note=say("Higher and further left is better." if roc else "Higher and further right is better."),
        description=sum(described, say("Curves of {runs:count} runs.", runs=len(lines))),
        over=keys,
        labels=labels,
        values=Table.from_rows(f"{kind}-values", f"{title} of each run", ("Run", title), rows),
    )


def _curve(ev: Evaluation, kind: Kind) -> Curve | None:
    curves = defined_or_none(ev.curves)
    if isinstance(curves, MulticlassCurves):
        return defined_or_none(curves.roc_macro if kind == "roc" else curves.pr_macro)
    if isinstance(curves, BinaryCurves) and kind == "roc":
        return defined_or_none(curves.roc)
    if isinstance(curves, (BinaryCurves, MultilabelCurves)) and kind == "pr":
        found = defined_or_none(curves.pr)
        return None if found is None else until_all_found(found)
    return None


def _area(ev: Evaluation, name: str) -> float | None:
    macro = "_ovr_macro" if name.startswith("roc") else "_macro"
    found = estimate(ev, name) or estimate(ev, f"{name}_micro" if ev.task == "multilabel" else name + macro)
    return None if found is None else found.value


def _named_areas(lines: Sequence[Line], area: str) -> list[str]:
    """Each run's name with its area."""
    values = [_area(ev, area) for _, ev, _ in lines]
    return [
        truncate_name(name, NAME) + ("" if value is None else f" {ratio(value)}")
        for (name, _, _), value in zip(lines, values, strict=True)
    ]


def _label_lines(plot: RatePlot, texts: Sequence[str]) -> tuple[Label, ...]:
    """Each name beside its own line; none where one of them would stand as near to another line."""
    lines = [plot.axes.outline(curve.x, curve.y) for _, curve in plot.lines]
    labels: list[Label] = []
    covered = np.empty((0, 2))
    for own, (shape, _), text in zip(lines, plot.lines, texts, strict=True):
        others = np.vstack([*(line for line in lines if line is not own), covered])
        width = LETTER * len(text)
        spots = [
            spot for spot in _label_places(own, width) if BESIDE[0] <= _gap(spot, width, own) <= BESIDE[1]
        ]
        margins = [_gap(spot, width, others) - _gap(spot, width, own) for spot in spots]
        if not margins or max(margins) < APART:
            return ()
        spot = spots[int(np.argmax(np.minimum(margins, ENOUGH)))]
        covered = np.vstack([covered, label_footprint(spot, width)])
        labels.append(Label(*spot, text, look="blue" if shape == "line" else ""))
    return tuple(labels)


def _label_places(line: Points, width: float) -> list[tuple[float, float]]:
    """Places of a label below, above and at either side of each point of a line, inside the plot."""
    around = ((8.0, 14.0), (8.0, 4.0), (-8.0 - width, -4.0), (-8.0 - width, 14.0), (-width / 2, -8.0))
    spots = [(float(x) + dx, float(y) + dy) for x, y in line[::3] for dx, dy in around]
    inside = LEFT + 4, RIGHT - width - 4, TOP + 12, BOTTOM - 6
    return [s for s in spots if inside[0] <= s[0] <= inside[1] and inside[2] <= s[1] <= inside[3]]


def _gap(spot: tuple[float, float], width: float, points: Points) -> float:
    """Distance of a label from points."""
    return _distance(spot, (width, 0.0), points)


def _key(texts: Sequence[str], near: Points) -> tuple[tuple[Path, ...], tuple[Label, ...]]:
    """A sample of each line with its run's name, where there is most room."""
    size = (34 + LETTER * max(map(len, texts)), (len(texts) - 1) * ROW)
    lefts = np.arange(LEFT + 8, max(RIGHT - size[0], LEFT + 9), 12.0)
    tops = np.arange(TOP + 16, BOTTOM - size[1] - 6, 8.0)
    spots = [*SPOTS, *((float(left), float(top)) for top in tops[::-1] for left in lefts)]
    left, top = max(spots, key=lambda spot: min(_distance(spot, size, near), 12.0))
    paths, labels = [], []
    for index, (shape, text) in enumerate(zip(STYLES, texts, strict=False)):
        base = top + index * ROW
        paths.append(Path(shape, f"M{left:g} {base - 4:g}h28"))
        labels.append(Label(left + 34, base, text))
    return tuple(paths), tuple(labels)


def _distance(spot: tuple[float, float], size: tuple[float, float], near: Points) -> float:
    """Distance of lines of words, of a width and of a height between first and last, from points."""
    (left, top), (width, height) = spot, size
    dx = np.maximum(np.maximum(left - near[:, 0], near[:, 0] - left - width), 0)
    dy = np.maximum(np.maximum(top - 12 - near[:, 1], near[:, 1] - top - height - 4), 0)
    return float(np.hypot(dx, dy).min())
