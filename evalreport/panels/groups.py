"""Does it work equally well for everyone? The headline metrics of each value of a slice column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from evalreport.estimates import distance, value_and_interval
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.parts import Slice
from evalreport.format import Style, count
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import OF_CALIBRATION, OF_SLICES
from evalreport.metrics.record import Metric
from evalreport.panels.about import confidence_percent, tell, units
from evalreport.panels.intervals import forest_row
from evalreport.panels.parts import Cell, Column, Empty, Heading, Note, PagePart, Row, Section, Table
from evalreport.panels.words import NOTHING, Sentence, bracketed, say
from evalreport.values import Estimate, Result, Undefined

SURE = 0.05
"""Adjusted p-value below which a slice is said to differ from the rest."""
SHOWN = 2
"""Metrics that are shown of each slice."""
PARITY = {
    "predicted_positive_rate": "Predicted positive rate (demographic parity)",
    "recall": "Recall (equal opportunity)",
    "equalized_odds": "Worse of recall and false positive rate (equalized odds)",
}
"""What gaps between groups are known as."""
MOST = 30
"""Values of a column that are shown, the weakest first."""


def panel(ev: Evaluation) -> Section:
    """Return the slices of an evaluation."""
    title = "Does it work equally well for everyone?"
    if not ev.slices:
        words = "To see whether some {units} get worse answers, log a column such as `language` and pass "
        empty = Empty(say("No slice column was named."), tell(ev, words + "`--slice language`."))
        return Section.of("groups", "Groups", title, NOTHING, empty)
    columns = [(name, list(found)) for name, found in groupby(ev.slices, key=lambda part: part.column)]
    summary = NOTHING
    for name, found in columns:
        summary += _verdict(ev, name, found) + _furthest(ev, name)
    summary += tell(ev, "Groups with fewer than ten {units} show counts, not rates.")
    parts = [part for place, pair in enumerate(columns) for part in _split(ev, place, *pair)]
    return Section.of("groups", "Groups", title, summary, *parts)


def headline(ev: Evaluation) -> tuple[Metric, ...]:
    """Return the metrics that slices are judged by."""
    known = {name for part in ev.slices for name in part.metrics}
    return tuple(find(name, ev.task) for name in OF_SLICES[ev.task] if name in known)[:SHOWN]


def _furthest(ev: Evaluation, column: str) -> Sentence:
    """The gap between groups by what they are judged by, and how surely the smallest group is known."""
    judged = {metric.name for metric in headline(ev)}
    among = [one for one in ev.disparities if one.column == column and one.metric in judged]
    one = among[0] if among else None
    if one is None or not isinstance(one.difference, Estimate) or one.difference.low is None:
        return NOTHING
    metric = find(one.metric, ev.task)
    words = f"{metric.title} differs by {{gap}} between {{one.lowest}} and {{one.highest}}."
    apart = one.difference
    gap = bracketed(*distance(apart, metric.style), gap=apart.value, gap_low=apart.low, gap_high=apart.high)
    told = say(words, {"one": one}, gap=gap)
    if isinstance(one.smallest_value, Estimate) and one.smallest_value.low is not None:
        words = (
            "The smallest group, {one.smallest}, has {one.smallest_rows:count} {one.smallest_rows:units}: "
        )
        words += f"its own value may be anywhere from {{one.smallest_value:{metric.style} interval}}."
        told += tell(ev, words, {"one": one})
    return told


def _split(ev: Evaluation, place: int, column: str, found: list[Slice]) -> Iterator[PagePart]:
    """The table of one column, under its name."""
    metrics, level = headline(ev), f"{confidence_percent(ev)} interval"
    ordered = sorted(found, key=lambda part: _worst_first(part, metrics[0].name if metrics else ""))
    measured = (head for metric in metrics for head in (metric.title, Column(level, "plot")))
    heads = ("Group", units(ev).capitalize(), *measured, Column("Compared with the rest"))
    yield Heading(column)
    yield Table.of(f"groups-{place}", f"By {column}", heads, (_row(ev, part) for part in ordered[:MOST]))
    yield from _calibrated(ev, place, column, ordered[:MOST])
    yield from _apart(ev, place, column)
    if len(ordered) > MOST:
        yield Note(say("{more:count} more groups are in evaluation.json.", more=len(ordered) - MOST))


def _calibrated(ev: Evaluation, place: int, column: str, found: list[Slice]) -> Iterator[PagePart]:
    """The table of what the probabilities of each group are judged by."""
    metrics = [find(name, ev.task) for name in OF_CALIBRATION[ev.task]]
    if not any(isinstance(part.metrics.get(metric.name), Estimate) for part in found for metric in metrics):
        return
    level = f"{confidence_percent(ev)} interval"
    heads = (
        "Group",
        units(ev).capitalize(),
        *(head for metric in metrics for head in (metric.title, level)),
        "Compared with the rest",
    )
    rows = (
        (
            part.value,
            count(part.rows),
            *(text for metric in metrics for text in _judged(part, metric)),
            "; ".join(_differences(part, metrics)) or "No significant difference",
        )
        for part in found
    )
    yield Table.of(f"calibration-{place}", f"Calibration by {column} (1 is ideal)", heads, rows)


def _judged(part: Slice, metric: Metric) -> tuple[str, str]:
    result = part.metrics.get(metric.name)
    return ("–", "too few to say") if result is None else _ratio(result)


def _apart(ev: Evaluation, place: int, column: str) -> Iterator[PagePart]:
    """How far the groups of a column lie apart, metric by metric."""
    found = [one for one in ev.disparities if one.column == column and one.groups > 1]
    if not found:
        return
    level = f"{confidence_percent(ev)} interval"
    heads = ("Between groups", "Greatest gap", level, "Least / greatest", level, "From", "To")
    rows = (
        (
            PARITY.get(one.metric) or find(one.metric, ev.task).title,
            *_apart_by(one.difference, _style(ev, one.metric)),
            *_ratio(one.ratio),
            one.lowest,
            one.highest,
        )
        for one in found
    )
    yield Table.of(f"gaps-{place}", f"Gaps by {column}", heads, rows)


def _style(ev: Evaluation, name: str) -> Style:
    return "percent" if name in PARITY else find(name, ev.task).style


def _apart_by(result: Result, style: Style) -> tuple[str, str]:
    """A gap and its interval; those of rates are in points."""
    return ("–", result.reason) if isinstance(result, Undefined) else distance(result, style)


def _ratio(result: Result) -> tuple[str, str]:
    return ("–", result.reason) if isinstance(result, Undefined) else value_and_interval(result, "ratio")


def _worst_first(part: Slice, name: str) -> tuple[bool, float]:
    value = part.metrics[name].value if name in part.metrics else None
    return value is None, 0.0 if value is None else value


def _row(ev: Evaluation, part: Slice) -> Row:
    cells = (cell for metric in headline(ev) for cell in _measured(part, metric))
    return (
        part.value,
        count(part.rows),
        *cells,
        "; ".join(_differences(part, headline(ev))) or "No difference demonstrated",
    )


def _measured(part: Slice, metric: Metric) -> tuple[Cell | str, Cell]:
    """A metric of a group and its interval, drawn."""
    result = part.metrics.get(metric.name)
    if part.too_few or not isinstance(result, Estimate):
        return "–", Cell("too few to say" if part.too_few else "undefined", "none")
    row = forest_row(metric.name, metric.title, NOTHING, result, metric.style)
    return row.estimate, Cell(row.interval, track=row)


def _differences(part: Slice, metrics: Iterable[Metric]) -> Iterator[str]:
    for metric in metrics:
        manner = differs(part.differences.get(metric.name), part.p_adjusted.get(metric.name))
        if manner:
            yield f"{metric.title} {manner} than the rest"


def differs(difference: Result | None, p_adjusted: float | None) -> str:
    """Return ``lower`` or ``higher`` when a slice is shown to differ from the rest, else nothing.

    Examples
    --------
    >>> differs(Estimate(-0.2, 50, -0.3, -0.1), 0.01), differs(Estimate(-0.2, 50, -0.5, 0.1), 0.4)
    ('lower', '')
    """
    if not isinstance(difference, Estimate) or difference.low is None or difference.high is None:
        return ""
    if p_adjusted is not None and p_adjusted >= SURE:
        return ""
    return "lower" if difference.high < 0 else "higher" if difference.low > 0 else ""


def _verdict(ev: Evaluation, column: str, found: list[Slice]) -> Sentence:
    """The weakest value of the column, and whether it is shown to be weaker than the rest."""
    metrics = headline(ev)
    if not metrics:
        return NOTHING
    name, title, style = metrics[0].name, metrics[0].title, metrics[0].style
    judged = [part for part in found if isinstance(part.metrics.get(name), Estimate)]
    if len(judged) < 2:
        return NOTHING
    weakest = min(judged, key=lambda part: part.metrics[name].value or 0.0)
    value = weakest.metrics[name]
    shown = differs(weakest.differences.get(name), weakest.p_adjusted.get(name)) == "lower"
    how = "lower than the rest" if shown else "but no difference from the rest is demonstrated"
    return say(
        f"{title} is lowest for *{{value}}* of {{column}} ({{slice_low:{style}}}), {how}.",
        value=weakest.value,
        column=column,
        slice_low=value if isinstance(value, Estimate) else 0.0,
        of=weakest.rows,
    )
