"""The page of a comparison of systems: run lines, differences, uncertainty, changing predictions.

Also what is written of it, and its tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Literal

from evalreport.comparison.differences import ranking
from evalreport.core.format import Style, count, decimals, format_decimals, percent, pluralize
from evalreport.core.result import Estimate, Result, Undefined, format_estimate, gap, interval
from evalreport.core.sentences import (
    NOTHING,
    Number,
    Run,
    Sentence,
    interval_sentence,
    join_sentences,
    paragraph,
    say,
)
from evalreport.features.systems.variance import (
    ChangingAnswer,
    Churn,
    SystemDifference,
    SystemResult,
    SystemsComparison,
    SystemValue,
)
from evalreport.findings.rule import spoken
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric
from evalreport.page.comparison.comparison_choices import (
    SAME_MISTAKES,
    WHICH_ONE,
    AgreementBars,
    RunLine,
    RunLines,
    Share,
    bar_of_counts,
    draw_bars,
    key_of_band,
    next_best,
    purposes_table,
    use_cell,
)
from evalreport.page.comparison.sections import ComparisonBase, ComparisonHeader
from evalreport.page.comparison.table import (
    DIFFERENCE_COLUMNS,
    RANKING_COLUMNS,
    TableColumn,
    head_texts,
    page_columns,
    ranking_rows,
    row_texts,
    table_data,
)
from evalreport.page.comparison.wording import difference_phrase, difference_texts, style_of
from evalreport.page.csv_tables import as_csv
from evalreport.page.elements import (
    Cell,
    Column,
    Empty,
    Facts,
    Folded,
    Row,
    Section,
    Shown,
    Table,
    forest_row,
    place,
    share_cell,
)
from evalreport.page.payload import MAX_STEPS, Series, metric_keys
from evalreport.page.sections.confusion_matrix import UNPARSED, format_row_id
from evalreport.page.sections.first_screen import SummaryItem
from evalreport.page.text_summary import MOST_FINDINGS, ResultSummary


def main_metric(found: SystemsComparison) -> Metric:
    """Return the metric of the headline."""
    return find(found.primary, found.task)


def headline(found: SystemsComparison) -> Sentence:
    """Return which system is better than the next one, and by how much."""
    d = found.differences_for(found.primary)[0]

    if d.verdict == "better":
        words = (
            f"{{d.run:short}} is *better* than {{d.baseline:short}} in {main_metric(found).title} by {{gap}}"
        )
        return say(words + ".", {"d": d}, gap=by_how_much(d, main_metric(found)))
    return difference_sentence(found, d)


def difference_sentence(found: SystemsComparison, d: SystemDifference) -> Sentence:
    """Return by how much a system is better than another, or that the difference is not significant."""
    first, second = "{d.run:short}", "{d.baseline:short}"
    if d.difference == 0 and d.limits is None:
        words = f"*No significant difference* between {first} and {second}: {{why}}."
        return say(words, {"d": d}, why=d.reason)
    if d.difference is None or d.limits is None:
        words = f"{first} and {second} cannot be compared: {{why}}."
        return say(words, {"d": d}, why=d.reason or "no interval")
    words, gap = f"*No significant difference* between {first} and {second}: {{gap}}", difference_phrase(d)
    if d.verdict == "better":
        words, gap = f"{first} is better than {second} by {{gap}}", by_how_much(d, main_metric(found))
    return say(words + ".", {"d": d}, gap=gap)


def by_how_much(d: SystemDifference, metric: Metric) -> Sentence:
    """Return a significant difference as a size, positive for better, with its interval."""
    sign = -1 if metric.better == "lower" else 1
    value, (low, high) = sign * (d.difference or 0.0), sorted(sign * end for end in d.limits or (0.0, 0.0))
    shown, limits = (text.replace("+", "") for text in gap(value, low, high, style_of(d)))
    return interval_sentence(shown, limits, gap=value, low=low, high=high)


def summary(found: SystemsComparison) -> Sentence:
    """Return the other differences of neighbours, the selection bias of the best run, and the correction."""
    main = found.differences_for(found.primary)
    names = [one.system for one in found.systems]
    after = {(a, b) for a, b in pairwise(names[1:])}
    others = [difference_sentence(found, d) for d in main if (d.run, d.baseline) in after]
    return paragraph(*others, _flattery(found), _correction_sentence(found))


def _flattery(found: SystemsComparison) -> Sentence:
    known = [
        (value.best_run_flatters, one.system, len(one.runs), value)
        for one in found.systems
        if (value := one.metrics[found.primary]).best_run_flatters
    ]
    if not known:
        return NOTHING
    most, system, runs, value = max(known, key=lambda entry: entry[0] or 0.0)
    size = points(most or 0.0, value.low, value.high, main_metric(found).style)
    gaps = [abs(d.difference) for d in found.differences_for(found.primary) if d.difference is not None]
    words = "Report the mean: the best of {runs:count} runs of {system:short} is {size} better"
    if min(gaps, default=0.0) < (most or 0.0):
        words += ", more than the two systems differ" if len(gaps) == 1 else ", more than some systems differ"
    return say(words + ".", runs=runs, system=system, size=size)


def points(value: float, low: float | None, high: float | None, style: Style) -> Sentence:
    """Return the size of a difference with one decimal more than the interval of its system."""
    places = None if low is None or high is None else decimals(low, high, style)
    shown = format_decimals(value, None if places is None else places + 1, style).replace("%", " points")
    return Sentence((Run(shown),), (Number("size", value, shown),))


def _correction_sentence(found: SystemsComparison) -> Sentence:
    pairs = len(found.differences_for(found.primary))
    if pairs == 1:
        return NOTHING
    return say(
        "Intervals of differences are adjusted for {pairs:count} pairs of systems (Holm).", pairs=pairs
    )


def verdict(d: SystemDifference) -> str:
    """Return whether the difference of a pair is significant.

    Examples
    --------
    >>> verdict(SystemDifference("f1", "a", "b", (0.8, 0.7), 0.1, 0.02, 0.18, verdict="better"))
    'significant'
    """
    if d.verdict == "undefined":
        return d.reason or "undefined"
    return "significant" if d.is_significant else "not significant"


def pairs_ahead(d: SystemDifference) -> str:
    """Return in how many pairs of runs the first system is ahead, "–" where there is no direction."""
    if d.pairs is None:
        return "–"
    ties = f", {d.pairs.ties:,} equal" if d.pairs.ties else ""
    return f"{d.pairs.ahead:,} of {d.pairs.of:,}{ties}"


def pair_columns() -> list[TableColumn[SystemDifference]]:
    """Return the columns of the difference of two systems; their values are in another table."""
    ahead = TableColumn("ahead", "Ahead in", text=pairs_ahead)
    shared = [c for c in DIFFERENCE_COLUMNS if c.name not in ("baseline_value", "run_value")]
    return [ahead, *shared]


MOST = 5
"""Examples of each system."""
CLASSES = 12
"""Classes of each system: those with most changing predictions."""
KINDS = ("Any run differs", "Two runs differ", "Correctness differs")
ANSWERS = "Changing predictions"


def answers(found: SystemsComparison) -> Section:
    """Return how many predictions change with the seed."""
    known = [(one, one.churn) for one in found.systems if one.churn is not None]
    if not known:
        empty = Empty(
            say("Changing predictions are not known."),
            say("They need two runs of a system that predict the same {units}.", units=found.unit[1]),
        )
        return Section.from_parts("answers", ANSWERS, ANSWERS, NOTHING, empty)
    heads = ("System", *KINDS)
    rows = ((one.system, *_shares(found, churn)) for one, churn in known)
    table = Table.from_rows("churn-table", "Proportion of predictions that change", heads, rows)
    folds = [
        Folded(f"Examples of {one.system}", (_examples(found, k, one.system, one.examples[:MOST]),))
        for k, (one, _) in enumerate(known)
        if one.examples
    ]
    by_class = [] if found.task == "graded" else [one for one, _ in known if one.churn_by_class]
    classes = tuple(_classes(found, one, k) for k, one in enumerate(by_class))
    folded = Folded("By class", classes) if classes else None
    summary = _churn_summary(found, *known[0])
    return Section.from_parts("answers", ANSWERS, ANSWERS, summary, table, *folds, folded)


def _shares(found: SystemsComparison, churn: Churn) -> tuple[str, str, str]:
    first, second, third = (percent(s, found.rows) for s in (churn.any, churn.two, churn.correctness))
    return first, second, third


def _churn_summary(found: SystemsComparison, one: SystemResult, churn: Churn) -> Sentence:
    return say(
        "On *{churn.any:percent} of the {units}* the {runs:count} runs of {system:short} disagree; two runs "
        "disagree on {churn.two:percent}. On {churn.correctness:percent} ({rows:count} of {n:count}) some "
        "runs are correct and others are not.",
        {"churn": churn, "system": one.system, "units": found.unit[1]},
        of=found.rows,
        rows=one.only_sometimes_right or 0,
        n=found.rows,
        runs=len(one.runs),
    )


def _examples(found: SystemsComparison, k: int, system: str, shown: tuple[ChangingAnswer, ...]) -> Table:
    unit, order = found.unit[0].capitalize(), Column("Runs")
    heads: tuple[str | Column, ...] = (unit, Column("True label"), order, Column("Wrong predictions"))
    rows = [_example(entry) for entry in shown]
    if found.task == "graded":
        heads, rows = (unit, order), [(row[0], row[2]) for row in rows]
    name = f"Predictions that some runs of {system} get right and others wrong"
    return Table.from_rows(f"changing-{k}", name, heads, rows)


def _example(entry: ChangingAnswer) -> Row:
    wrong = [
        ", ".join(answer) or UNPARSED
        for answer, right in zip(entry.answers, entry.right, strict=True)
        if not right
    ]
    marks = " ".join("✓" if right else "✗" for right in entry.right)
    return (
        Cell(format_row_id(entry.id))
        if entry.text is None
        else Cell(entry.text, sub=format_row_id(entry.id)),
        ", ".join(entry.truth),
        Cell(marks, sub=f"{sum(entry.right)} of {len(entry.right)} right"),
        "; ".join(dict.fromkeys(wrong)),
    )


def _classes(found: SystemsComparison, one: SystemResult, k: int) -> Table:
    most = sorted(one.churn_by_class.items(), key=lambda entry: -entry[1].correctness)[:CLASSES]
    heads = (f"Class, {one.system}", *KINDS)
    rows = ((name, *_shares(found, churn)) for name, churn in most)
    return Table.from_rows(f"churn-{k}", f"Classes whose predictions change most, {one.system}", heads, rows)


SOURCES = "Sources of uncertainty"


def sources(found: SystemsComparison) -> Section:
    """Return the variance components of each system, and its interval with more runs or more rows."""
    known = [(one, value) for one in found.systems if (value := one.metrics[found.primary]).variance]
    if not known:
        remedy = "They need two runs of a system, and a metric that is a mean over rows."
        empty = Empty(say("The variance components are not known."), say(remedy))
        return Section.from_parts("sources", SOURCES, SOURCES, NOTHING, empty)
    rows, unit = (_source_row(found, one, value) for one, value in known), found.unit[1]
    heads = (
        "System",
        Column(f"By {unit}", "q"),
        Column("By seeds", "q"),
        Column("By both", "q"),
        "Interval now",
        "With 20 runs",
        f"With 4 × {unit}",
    )
    table = Table.from_rows("sources-table", "Variance components of each system", heads, rows)
    return Section.from_parts("sources", SOURCES, SOURCES, _sources_summary(found, *known[0]), table)


def _sources_summary(found: SystemsComparison, one: SystemResult, value: SystemValue) -> Sentence:
    shares, widths = value.variance, value.half_widths
    if shares is None or widths is None:
        return NOTHING
    return say(
        "*{rows:percent} of the variance of {system:short} comes from the sample of {units}*, {rest:percent} "
        "from the seeds. With 20 runs the interval would be {runs:percent} as wide, with four times "
        "the {units} {more:percent}.",
        {"system": one.system, "units": found.unit[1]},
        rows=shares.rows,
        rest=1 - shares.rows,
        runs=widths.runs_20 / widths.now,
        more=widths.rows_4 / widths.now,
    )


def _source_row(found: SystemsComparison, one: SystemResult, value: SystemValue) -> Row:
    shares, widths, style = value.variance, value.half_widths, main_metric(found).style
    if shares is None or widths is None:
        return (one.system, *("–",) * 6)
    half_widths = (
        points(width, value.low, value.high, style).text
        for width in (widths.now, widths.runs_20, widths.rows_4)
    )
    return (
        one.system,
        *(share_cell(share) for share in (shares.rows, shares.seeds, shares.both)),
        *(Cell(f"± {width}") for width in half_widths),
    )


def verdict_section(found: SystemsComparison) -> Section:
    """Return the first screen: one line per system, which one for which purpose, and common mistakes."""
    columns = (
        (WHICH_ONE, choice_table(found)),
        (SAME_MISTAKES, agreement(found)),
    )
    body = ComparisonHeader(
        runs=sum(len(one.runs) for one in found.systems),
        kicker=_kicker(found),
        headline=headline(found),
        summary=summary(found),
        parts=(run_lines(found),),
        columns=tuple((title, part) for title, part in columns if part is not None),
        checks=tuple(_checks(found)),
        notes=found.notes,
    )
    return Section("verdict", "Summary", "Summary", "versus", NOTHING, body)


def _checks(found: SystemsComparison) -> Iterator[SummaryItem]:
    """Whether all runs have the same rows, and what the intervals cover."""
    if any(found.left_out.values()):
        yield SummaryItem("Some rows are not in all runs", "they are left out", "", "failed")
    else:
        yield SummaryItem(f"All runs on the same {found.unit[1]}", "paired row by row")
    fewest = min(len(one.runs) for one in found.systems)
    if fewest > 1:
        how = "runs" if all(len(one.runs) == fewest for one in found.systems) else "runs or more"
        title = f"Intervals cover new {found.unit[1]} and new seeds"
        yield SummaryItem(title, f"{fewest} {how} of each system", "sources")
    else:
        yield SummaryItem("Variation between seeds is not known", "a system has one run", "", "unchecked")


def _kicker(found: SystemsComparison) -> tuple[str, ...]:
    by = (f"by {', '.join(found.by)}",) if found.by else ()
    dataset = (found.dataset,) if found.dataset else ()
    return (
        pluralize(len(found.systems), "system"),
        *by,
        *dataset,
        pluralize(found.rows, *found.unit),
    )


def run_lines(found: SystemsComparison) -> RunLines:
    """Return one line for each system, the best first: mean, interval, runs, changing predictions."""
    metric = main_metric(found)
    results = {one.system: result_of(one, found) for one in found.systems}
    dots = [
        value for one in found.systems for value in one.metrics[found.primary].values if value is not None
    ]
    ends = [end for result in results.values() if isinstance(result, Estimate) for end in _ends(result)]
    axis = axis_range([*dots, *ends], (metric.low, metric.high))
    places = decimals(*axis, metric.style)
    most = max((one.churn.any for one in found.systems if one.churn is not None), default=0.0)
    lines = tuple(_line(found, one, results[one.system], axis, most) for one in found.systems)
    best = results[found.systems[0].system]
    band = None
    if isinstance(best, Estimate) and best.low is not None and best.high is not None:
        band = (place(best.low, axis) or 0.0, place(best.high, axis) or 0.0)
    bars = any(line.bar for line in lines)
    return RunLines(
        heads=(
            "System",
            f"{metric.title}, {found.level * 100:.10g}% interval",
            f"Predictions that change, of {pluralize(found.rows, *found.unit)}" if bars else "",
            "",
        ),
        lines=lines,
        band=band,
        keys=(
            *(() if band is None else (key_of_band(found.systems[0].system),)),
            *((("none", "prediction changes with the seed"),) if bars else ()),
        ),
        more=say("Each dot is a run."),
        ends=tuple(format_decimals(end, places, metric.style) for end in axis),
    )


def _line(
    found: SystemsComparison, one: SystemResult, result: Result, axis: tuple[float, float], most: float
) -> RunLine:
    metric = main_metric(found)
    # A run is not an estimate of the system: it may be outside the interval of the mean.
    known = [x for x in one.metrics[found.primary].values if x is not None]
    status, look = _status(found, one)
    runs = pluralize(len(one.runs), "run")
    track = forest_row(found.primary, one.system, NOTHING, result, metric.style, axis=axis)
    track = replace(track, dots=tuple(at for at in (place(x, axis) for x in known) if at is not None))
    parts: tuple[Share, ...] = ()
    described = ""
    if one.churn is not None:
        changed = round(one.churn.any * found.rows)
        parts, described = bar_of_counts((("none", changed, "change"),), most * found.rows)
    return RunLine(
        one.system,
        join_sentences(status, say(f", {runs}")) if status else say(f"mean of {runs}"),
        look,
        track.estimate,
        track if isinstance(result, Estimate) else None,
        parts,
        described,
    )


def _tied_systems(found: SystemsComparison) -> list[str]:
    """The best system and those that are not significantly worse."""
    best = found.systems[0].system
    worse = {d.baseline for d in found.differences_for(found.primary) if d.run == best and d.is_significant}
    return [one.system for one in found.systems if one.system not in worse]


def _status(found: SystemsComparison, one: SystemResult) -> tuple[Sentence, Literal["best", "worse", ""]]:
    tied, best = _tied_systems(found), found.systems[0]
    if one.metrics[found.primary].value is None:
        return say("undefined"), ""
    if len(tied) == len(found.systems):
        return NOTHING, ""
    if one.system in tied:
        return (say("tied for best") if len(tied) > 1 else say("best")), "best"
    behind = next(
        d for d in found.differences_for(found.primary) if (d.run, d.baseline) == (best.system, one.system)
    )
    low, high = behind.limits or (None, None)
    return say(
        "{gap} worse",
        gap=points(abs(behind.difference or 0.0), low, high, main_metric(found).style),
    ), "worse"


def choice_table(found: SystemsComparison) -> Table | None:
    """Return which system to use for the best mean and for stable predictions; None for a single one."""
    if len(found.systems) < 2:
        return None
    metric, tied = main_metric(found), _tied_systems(found)
    shown = {one.system: result_of(one, found) for one in found.systems}
    texts = {
        name: format_estimate(one, metric.style) for name, one in shown.items() if isinstance(one, Estimate)
    }
    rows: list[Row] = []
    names = [one.system for one in found.systems]
    if len(texts) > 1:
        rest = [name for name in texts if name not in tied]
        best, last = texts[next(iter(texts))], texts[tied[-1]]
        why = say("{best} and {last}: not significant", best=best, last=last)
        if rest:
            why = say("{best},", best=best) + next_best(rest, len(texts)) + say("{next}", next=texts[rest[0]])
        rows.append((f"the best {spoken(metric.title)}", use_cell(tied, names), why))
    stable = sorted((one.churn.any, one.system) for one in found.systems if one.churn is not None)
    if len(stable) > 1:
        first, second = (percent(value, found.rows) for value, _ in stable[:2])
        after = next_best([name for _, name in stable[1:]], len(stable))
        why = say("{first} change with the seed,", first=first) + after + say("{second}", second=second)
        rows.append(("stable predictions", use_cell([stable[0][1]], names), why))
    return purposes_table("system", rows)


def agreement(found: SystemsComparison) -> AgreementBars | None:
    """Return how many rows all, some and none of the systems get right; None where it is not known."""
    if found.right_by is None:
        return None
    all_right, some, none = found.right_by
    parts: list[tuple[Sentence, str, int]] = [(say("some right"), "g2", some)]
    words = "both" if len(found.systems) == 2 else "all"
    if len(found.systems) == 2:
        d = found.differences_for(found.primary)[0]
        pair = zip((d.run, d.baseline), d.only_right or (), strict=False)
        parts = [(say("only {name:short} right", name=name), "g2", n) for name, n in pair]
    parts = [(say(f"{words} right"), "g1", all_right), *parts, (say(f"{words} wrong"), "g3", none)]
    return AgreementBars(draw_bars(parts), say("By the majority of the runs of each system."))


def result_of(one: SystemResult, found: SystemsComparison, metric: str | None = None) -> Result:
    """Return a metric of a system as a result."""
    value = one.metrics[metric or found.primary]
    if value.value is None:
        return Undefined(value.reason)
    return Estimate(value.value, found.rows, value.low, value.high, reason=value.reason)


def _ends(result: Estimate) -> Iterable[float]:
    return [end for end in (result.low, result.high) if end is not None]


def axis_range(values: Iterable[float], bounds: tuple[float, float] = (-1e300, 1e300)) -> tuple[float, float]:
    """Return an axis about values, with a little room, within bounds.

    Examples
    --------
    >>> axis_range([0.8, 0.9], (0.0, 1.0))
    (0.79, 0.91)
    """
    known = list(values)
    room = 0.1 * (max(known) - min(known)) or 0.05 * max(abs(known[0]), 0.1)
    return max(round(min(known) - room, 9), bounds[0]), min(round(max(known) + room, 9), bounds[1])


def differences(found: SystemsComparison) -> Section:
    """Return the difference of every pair of systems by the primary metric, and by the other metrics."""
    main = found.differences_for(found.primary)
    summary = say("First minus second. Dots: pairs of runs.")
    values = [end for d in main for end in (*(d.limits or ()), *_gaps(found, d))]
    axis = axis_range([0.0, *values])
    rows = (_pair(found, d, axis) for d in main)
    heads = (
        "Pair",
        Column("Difference", "n"),
        Column("Dashed: no difference", "plot"),
        Column("First is ahead in", "n"),
        Column("Only one is right", "n"),
    )
    table = Table.from_rows("differences-table", "Differences of all pairs of systems", heads, rows)
    others = Folded("All metrics", (_by_metric(found),))
    return Section.from_parts("differences", "Differences", "Differences", summary, table, others)


def _gaps(found: SystemsComparison, d: SystemDifference) -> list[float]:
    first, second = found.system_value(d.run).values, found.system_value(d.baseline).values
    return [a - b for a in first for b in second if a is not None and b is not None]


def _pair(found: SystemsComparison, d: SystemDifference, axis: tuple[float, float]) -> Row:
    shown = difference_texts(d)
    low, high = d.limits or (None, None)
    result = Undefined(d.reason) if d.difference is None else Estimate(d.difference, 0, low, high)
    track = forest_row(d.metric, "", NOTHING, result, find(d.metric).style, reference=0.0, axis=axis)
    dots = tuple(at for at in (place(gap, axis) for gap in _gaps(found, d)) if at is not None)
    side = d.verdict if d.is_significant else "none"
    only = "–" if d.only_right is None else f"{d.only_right[0]:,} : {d.only_right[1]:,}"
    return (
        Cell(f"{d.run} − {d.baseline}", sub=verdict(d)),
        Cell(shown.gap, sub=shown.limits),
        Cell("", track=replace(track, dots=dots, side=side)),
        Cell(pairs_ahead(d), sub="pairs of runs"),
        Cell(only, sub=found.unit[1]),
    )


def _by_metric(found: SystemsComparison) -> Table:
    columns: list[tuple[Column, Callable[[SystemDifference], Shown]]] = [
        (Column("Metric"), lambda d: find(d.metric, found.task).title),
        (Column("Pair"), lambda d: f"{d.run} − {d.baseline}"),
        *page_columns(pair_columns(), {"level": f"{found.level * 100:.10g}%"}),
    ]
    rows = (d for d in found.differences if d.difference is not None)
    return Table.from_items("metrics-table", "Differences by every metric", columns, rows, tall=True)


def values(found: SystemsComparison) -> Section:
    """Return every metric of every system: the mean over its runs, with its interval."""
    heads = ("Metric", *(one.system for one in found.systems))
    known = found.systems[0].metrics
    names = [name for name in known if any(v.metrics[name].value is not None for v in found.systems)]
    rows = (_values_row(found, name) for name in names)
    table = Table.from_rows("values-table", "All metrics of every system", heads, rows, tall=True)
    summary = say("Mean over the runs. Intervals cover new {units} and new seeds.", units=found.unit[1])
    return Section.from_parts(
        "values", "All metrics", "All metrics", summary, Folded("Metrics of every system", (table,))
    )


def _values_row(found: SystemsComparison, name: str) -> Row:
    metric = find(name, found.task)
    return metric.title, *(_value_cell(found, one, name) for one in found.systems)


def _value_cell(found: SystemsComparison, one: SystemResult, name: str) -> Cell:
    result, style = result_of(one, found, name), find(name, found.task).style
    if not isinstance(result, Estimate):
        return Cell("–", sub=result.reason)
    return Cell(format_estimate(result, style), sub=interval(result, style))


def provenance(found: SystemsComparison) -> Section:
    """Return the runs of each system, the rows and the method."""
    facts = [(one.system, say("{runs}", runs=", ".join(one.runs))) for one in found.systems]
    facts.append((f"Shared {found.unit[1]}", say("{rows}", rows=count(found.rows))))
    summary = say(
        "Two-way random effects model of {units} and runs (Obuchowski & Rockette 1995; Gallas 2006; Owen "
        "2007); Student's t with Satterthwaite's degrees of freedom.",
        units=found.unit[1],
    )
    return Section.from_parts("provenance", "Provenance", "Provenance", summary, Facts(tuple(facts)))


PANELS: Final[tuple[Callable[[SystemsComparison], Section], ...]] = (
    verdict_section,
    differences,
    sources,
    answers,
    values,
    provenance,
)
"""Sections in the order of the page."""
SYSTEMS_PREFIX = "systems/"
LONGEST_SYSTEM = 100
"""Letters of a system's name in a metric key."""


class SystemsPresentation(ComparisonBase[SystemsComparison]):
    """The page of a comparison of systems."""

    @property
    def title(self) -> str:
        """Title of the page."""
        return f"Comparison of {len(self.of.systems)} systems"

    @cached_property
    def headline(self) -> str:
        """The headline as plain text."""
        return headline(self.of).text

    def sections(self) -> Sequence[Section]:
        """Return the sections of the page, the first screen first."""
        return [panel(self.of) for panel in PANELS]

    @property
    def intervals(self) -> str:
        """The last line of the page on intervals."""
        return f" · intervals are {self.of.level * 100:.10g}%"

    def summary(self) -> ResultSummary:
        """Return the systems ranked by the mean of the primary metric."""
        found, metric = self.of, main_metric(self.of)
        results = {one.system: result_of(one, found) for one in found.systems}
        rows = ranking_rows(ranking(results, found.differences_for(found.primary), metric.better), metric)
        known = {"metric": f"Mean {metric.title}", "level": f"{found.level * 100:.10g}%"}
        return ResultSummary(
            self.headline,
            f"{len(found.systems)} systems of {sum(len(one.runs) for one in found.systems)} runs",
            ("System", *head_texts(RANKING_COLUMNS, known)),
            tuple((row.entry.run, *row_texts(RANKING_COLUMNS, row).values()) for row in rows),
            found.notes[:MOST_FINDINGS],
        )

    def metrics(self) -> dict[str, float]:
        """Return the mean of each metric with ``_low`` and ``_high``: what MLflow draws as bars."""
        keys = _keys(self.of)
        ends = {
            f"{keys[one.system]}{name}{end}": found
            for one in self.of.systems
            for name, value in one.metrics.items()
            for end, found in (("", value.value), ("_low", value.low), ("_high", value.high))
        }
        return {name: value for name, value in ends.items() if value is not None}

    def headline_metrics(self) -> dict[str, float]:
        """Return the mean of the primary metric of each system."""
        every = self.metrics()
        keys = [f"{stem}{self.of.primary}" for stem in _keys(self.of).values()]
        return {key: every[key] for key in keys if key in every}

    def series(self) -> dict[str, Series]:
        """Return ``systems/NAME/accuracy_by_run``: a step for each run, drawn as a line over runs."""
        keys = _keys(self.of)
        found = {
            f"{keys[one.system]}{name}_by_run": tuple(
                (k, v) for k, v in enumerate(metric.values[:MAX_STEPS], 1) if v is not None
            )
            for one in self.of.systems
            for name, metric in one.metrics.items()
        }
        return {key: steps for key, steps in found.items() if steps}

    def exports(self) -> dict[str, bytes]:
        """Return the systems and their differences as CSV."""
        differences = table_data(DIFFERENCE_COLUMNS, self.of.differences)
        return {"systems.csv": as_csv(systems_table(self.of)), "differences.csv": as_csv(differences)}


def _keys(found: SystemsComparison) -> dict[str, str]:
    """The prefix of the metric keys of each system."""
    short = {
        one.system: one.system[:LONGEST_SYSTEM].replace("/", "_")
        + ("" if len(one.system) <= LONGEST_SYSTEM else f"-{k}")
        for k, one in enumerate(found.systems)
    }
    keys = metric_keys(short.values(), SYSTEMS_PREFIX)
    return {name: f"{keys[key]}/" for name, key in short.items()}


def systems_table(found: SystemsComparison) -> dict[str, list[Any]]:
    """Return the columns of the table of systems: a row for each system and metric."""
    every = [(one.system, name, value) for one in found.systems for name, value in one.metrics.items()]
    ends = ("value", "low", "high", "best_run_flatters", "standard_error", "df")
    systems: dict[str, list[Any]] = {
        "system": [system for system, _, _ in every],
        "metric": [name for _, name, _ in every],
        "runs": [len(value.values) for _, _, value in every],
    }
    return systems | {end: [getattr(value, end) for _, _, value in every] for end in ends}
