"""The first screen of a comparison of systems, and the differences of all pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evalreport.comparison.system_values import SystemDifference, SystemResult, SystemsComparison
from evalreport.estimates import beside, interval, valued
from evalreport.format import at, count, counted, decimals
from evalreport.metrics.catalogue import find
from evalreport.panels.comparison.stated import stated
from evalreport.panels.comparison.verdict import Versus
from evalreport.panels.intervals import Forest, ForestRow, forest_row, place
from evalreport.panels.parts import Cell, Column, Facts, Folded, Note, Row, Section, Table
from evalreport.panels.systems.words import headline, main_metric, pairs_ahead, points, summary, verdict
from evalreport.panels.words import NOTHING, say
from evalreport.values import Estimate, Result, Undefined


def panel(found: SystemsComparison) -> Section:
    """Return the verdict: every system with its interval, and a dot for each run."""
    words = "A dot is one run. Bar: the mean of the runs, over new {units} and new seeds together."
    told = say(words, units=found.unit[1])
    body = Versus(
        runs=sum(len(one.runs) for one in found.systems),
        kicker=_kicker(found),
        headline=headline(found),
        summary=summary(found),
        parts=(forest(found), Note(told)),
        notes=found.notes,
    )
    return Section("verdict", "Verdict", "Verdict", "versus", NOTHING, body)


def _kicker(found: SystemsComparison) -> tuple[str, ...]:
    by = (f"by {', '.join(found.by)}",) if found.by else ()
    dataset = (found.dataset,) if found.dataset else ()
    return (counted(len(found.systems), "system"), *by, *dataset, counted(found.rows, *found.unit))


def forest(found: SystemsComparison) -> Forest:
    """Return every system by the primary metric: mean, interval, the best run's flattery, a dot per run."""
    metric = main_metric(found)
    results = {one.system: result_of(one, found) for one in found.systems}
    dots = [
        value for one in found.systems for value in one.metrics[found.primary].values if value is not None
    ]
    ends = [end for result in results.values() if isinstance(result, Estimate) for end in _ends(result)]
    axis = around([*dots, *ends], (metric.low, metric.high))
    places = decimals(*axis, metric.style)
    values = (axis[0], sum(axis) / 2, axis[1])
    ticks = tuple((1000 * k / 2, at(value, places, metric.style)) for k, value in enumerate(values))
    rows = tuple(_row(one, found, results[one.system], axis) for one in found.systems)
    level = f"{found.level * 100:.10g}% interval"
    return Forest(rows, ticks, (metric.title, "Mean", level, "Best run looks better by"))


def result_of(one: SystemResult, found: SystemsComparison, metric: str | None = None) -> Result:
    """Return a metric of a system as a result."""
    value = one.metrics[metric or found.primary]
    if value.value is None:
        return Undefined(value.reason)
    return Estimate(value.value, found.rows, value.low, value.high, reason=value.reason)


def _ends(result: Estimate) -> Iterable[float]:
    return [end for end in (result.low, result.high) if end is not None]


def around(values: Iterable[float], bounds: tuple[float, float] = (-1e300, 1e300)) -> tuple[float, float]:
    """Return an axis about values, with a little room, within bounds.

    Examples
    --------
    >>> around([0.8, 0.9], (0.0, 1.0))
    (0.79, 0.91)
    """
    known = list(values)
    room = 0.1 * (max(known) - min(known)) or 0.05 * max(abs(known[0]), 0.1)
    return max(round(min(known) - room, 9), bounds[0]), min(round(max(known) + room, 9), bounds[1])


def _row(one: SystemResult, found: SystemsComparison, result: Result, axis: tuple[float, float]) -> ForestRow:
    metric, value = main_metric(found), one.metrics[found.primary]
    # A run is no estimate of the system: it may lie outside of the interval of the mean.
    known = [x for x in value.values if x is not None]
    gloss = say(counted(len(one.runs), "run"))
    if len(known) > 1:
        low, high = (beside(x, result, metric.style) for x in (min(known), max(known)))
        gloss = say(f"{counted(len(one.runs), 'run')}, {low} to {high}")
    row = forest_row(found.primary, one.system, gloss, result, metric.style, axis=axis)
    flattery = value.best_run_flatters
    reference = "–" if flattery is None else points(flattery, value.low, value.high, metric.style).text
    places = tuple(at for at in (place(x, axis) for x in known) if at is not None)
    return replace(row, reference=reference, dots=places)


def differences(found: SystemsComparison) -> Section:
    """Return the difference of every pair of systems by the primary metric, and by the other metrics."""
    main = found.of(found.primary)
    summary = say(
        "First less second, on the same {units}. A dot is a run of the one against a run of the other; the "
        "bar covers new {units} and new seeds. Pairs ahead are a description, not a test: pairs that share a "
        "run are not independent.",
        units=found.unit[1],
    )
    values = [end for d in main for end in (*(d.limits or ()), *_gaps(found, d))]
    axis = around([0.0, *values])
    rows = (_pair(found, d, axis) for d in main)
    heads = (
        "Pair",
        Column("Difference", "n"),
        Column("Dashed: no difference", "plot"),
        Column("First is ahead in", "n"),
        Column("Only one is right", "n"),
    )
    table = Table.of("differences-table", "Differences of all pairs of systems", heads, rows)
    others = Folded("By every metric", (_by_metric(found),))
    return Section.of("differences", "Differences", "Differences", summary, table, others)


def _gaps(found: SystemsComparison, d: SystemDifference) -> list[float]:
    first, second = found.named(d.run).values, found.named(d.baseline).values
    return [a - b for a in first for b in second if a is not None and b is not None]


def _pair(found: SystemsComparison, d: SystemDifference, axis: tuple[float, float]) -> Row:
    shown = stated(d)
    low, high = d.limits or (None, None)
    result = Undefined(d.reason) if d.difference is None else Estimate(d.difference, 0, low, high)
    track = forest_row(d.metric, "", NOTHING, result, find(d.metric).style, reference=0.0, axis=axis)
    dots = tuple(at for at in (place(gap, axis) for gap in _gaps(found, d)) if at is not None)
    side = d.verdict if d.demonstrated else "none"
    only = "–" if d.only_right is None else f"{d.only_right[0]:,} : {d.only_right[1]:,}"
    return (
        Cell(f"{d.run} − {d.baseline}", sub=verdict(d)),
        Cell(shown.gap, sub=shown.limits),
        Cell("", track=replace(track, dots=dots, side=side)),
        Cell(pairs_ahead(d), sub="pairs of runs"),
        Cell(only, sub=f"{found.unit[1]}, by most runs"),
    )


def _by_metric(found: SystemsComparison) -> Table:
    heads = ("Metric", Column("Pair"), "Difference", "Interval", Column("Verdict"))
    rows = (
        (find(d.metric, found.task).title, f"{d.run} − {d.baseline}", shown.gap, shown.limits, _said(d))
        for d in found.differences
        if d.difference is not None
        for shown in (stated(d),)
    )
    return Table.of("metrics-table", "Differences by every metric", heads, rows, tall=True)


def _said(d: SystemDifference) -> str:
    return d.verdict.replace("_", " ") if d.verdict != "undefined" else d.reason


def values(found: SystemsComparison) -> Section:
    """Return every metric of every system: the mean over its runs, with its interval."""
    heads = ("Metric", *(one.system for one in found.systems))
    known = found.systems[0].metrics
    names = [name for name in known if any(v.metrics[name].value is not None for v in found.systems)]
    rows = (_values_row(found, name) for name in names)
    table = Table.of("values-table", "Metrics of every system", heads, rows, tall=True)
    words = "Means over the runs, with intervals that cover new {units} and new seeds."
    summary = say(words, units=found.unit[1])
    return Section.of("values", "Metrics", "Every metric", summary, table)


def _values_row(found: SystemsComparison, name: str) -> Row:
    metric = find(name, found.task)
    return metric.title, *(_value_cell(found, one, name) for one in found.systems)


def _value_cell(found: SystemsComparison, one: SystemResult, name: str) -> Cell:
    result, style = result_of(one, found, name), find(name, found.task).style
    if not isinstance(result, Estimate):
        return Cell("–", sub=result.reason)
    return Cell(valued(result, style), sub=interval(result, style))


def provenance(found: SystemsComparison) -> Section:
    """Return the runs of each system, and on which rows they were compared."""
    facts = [(one.system, say("{runs}", runs=", ".join(one.runs))) for one in found.systems]
    facts.append((f"Shared {found.unit[1]}", say("{rows}", rows=count(found.rows))))
    summary = say(
        "Two-way random effects, {units} by runs, on what each of the {units} contributes to a metric "
        "(Obuchowski & Rockette 1995; Gallas 2006; Owen 2007); Student's t with Satterthwaite's degrees of "
        "freedom.",
        units=found.unit[1],
    )
    return Section.of("provenance", "Provenance", "Where the numbers come from", summary, Facts(tuple(facts)))
