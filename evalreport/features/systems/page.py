"""What a comparison of systems says in sentences, for the page, the terminal and the notebook alike.

What the seeds do: where the uncertainty of a system comes from, and which answers change with the seed.

The first screen of a comparison of systems, and the differences of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

from evalreport.comparison.differences import ranking
from evalreport.core.estimate_format import format_estimate, format_reference, gap, interval
from evalreport.core.format import Style, count, decimals, format_decimals, percent, pluralize
from evalreport.core.result import Estimate, Result, Undefined
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
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric
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
    Forest,
    ForestRow,
    Heading,
    Note,
    PagePart,
    Row,
    Section,
    Shown,
    Table,
    TwoColumns,
    forest_row,
    place,
    share_cell,
)
from evalreport.page.payload import MAX_STEPS, Series, metric_keys
from evalreport.page.sections.confusion_matrix import UNPARSED, format_row_id
from evalreport.page.text_summary import MOST_FINDINGS, ResultSummary

WHATEVER = 0.95
"""Share of the pairs of runs in which a system has to be ahead for it to be "whatever the seed"."""


def main_metric(found: SystemsComparison) -> Metric:
    """Return the metric that the verdict is about."""
    return find(found.primary, found.task)


def headline(found: SystemsComparison) -> Sentence:
    """Return which system beats the next one, by how much, and whether the seed decides."""
    d = found.differences_for(found.primary)[0]

    if d.verdict == "better":
        words = f"{{d.run:short}} *beats* {{d.baseline:short}} in {main_metric(found).title} by {{gap}}"
        told = say(words, {"d": d}, gap=by_how_much(d, main_metric(found)))
        return join_sentences(told, _whatever(found, d), say("."))
    return difference_sentence(found, d)


def difference_sentence(found: SystemsComparison, d: SystemDifference) -> Sentence:
    """Return that two systems cannot be told apart, or what one beats the other by."""
    first, second = "{d.run:short}", "{d.baseline:short}"
    if d.difference is None or d.limits is None:
        words = f"{first} and {second} cannot be compared: {{why}}."
        return say(words, {"d": d}, why=d.reason or "no interval")
    words, gap = f"{first} and {second} *cannot be told apart*: {{gap}}", difference_phrase(d)
    if d.verdict == "better":
        words, gap = f"{first} beats {second} by {{gap}}", by_how_much(d, main_metric(found))
    return join_sentences(say(words, {"d": d}, gap=gap), _ahead(d), say("."))


def by_how_much(d: SystemDifference, metric: Metric) -> Sentence:
    """Return a demonstrated difference as a size, better being more, with its interval."""
    sign = -1 if metric.better == "lower" else 1
    value, (low, high) = sign * (d.difference or 0.0), sorted(sign * end for end in d.limits or (0.0, 0.0))
    shown, limits = (text.replace("+", "") for text in gap(value, low, high, style_of(d)))
    return interval_sentence(shown, limits, gap=value, low=low, high=high)


def _whatever(found: SystemsComparison, d: SystemDifference) -> Sentence:
    seeds = min(len(one.runs) for one in found.systems if one.system in (d.run, d.baseline))
    if d.pairs is None or d.pairs.ahead < WHATEVER * d.pairs.of or seeds < 2:
        return _ahead(d)
    return say(", whatever the seed: in {ahead:count} of {of:count} pairs of runs", _counts(d))


def _ahead(d: SystemDifference) -> Sentence:
    if d.pairs is None or d.pairs.of < 2:
        return NOTHING
    tied = " and level in {ties:count}" if d.pairs.ties else ""
    return say(", ahead in {ahead:count}" + tied + " of {of:count} pairs of runs", _counts(d))


def _counts(d: SystemDifference) -> dict[str, float | str | Sentence]:
    pairs = d.pairs
    return {} if pairs is None else {"ahead": pairs.ahead, "ties": pairs.ties, "of": pairs.of}


def summary(found: SystemsComparison) -> Sentence:
    """Return what becomes of the other neighbours, how much one run may flatter, and the correction."""
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
    end = ": report the mean of the runs, not the best."
    if min(gaps, default=0.0) < (most or 0.0):
        end = ", more than two of the systems are apart: report the mean of the runs."
    words = "The best of {runs:count} runs of {system:short} looks {size} better than the system"
    return say(words + end, runs=runs, system=system, size=size)


def points(value: float, low: float | None, high: float | None, style: Style) -> Sentence:
    """Return the size of a difference with a decimal more than the interval that it stands beside has."""
    places = None if low is None or high is None else decimals(low, high, style)
    shown = format_decimals(value, None if places is None else places + 1, style).replace("%", " points")
    return Sentence((Run(shown),), (Number("size", value, shown),))


def _correction_sentence(found: SystemsComparison) -> Sentence:
    pairs = len(found.differences_for(found.primary))
    if pairs == 1:
        return NOTHING
    return say("Intervals of differences allow for {pairs:count} pairs of systems (Holm).", pairs=pairs)


def verdict(d: SystemDifference) -> str:
    """Return what is demonstrated of a pair.

    Examples
    --------
    >>> verdict(SystemDifference("f1", "a", "b", (0.8, 0.7), 0.1, 0.02, 0.18, verdict="better"))
    'demonstrated'
    """
    if d.verdict == "undefined":
        return d.reason or "undefined"
    return "demonstrated" if d.is_significant else "not demonstrated"


def pairs_ahead(d: SystemDifference) -> str:
    """Return in how many pairs of runs the first system is ahead, "–" where there is no direction."""
    if d.pairs is None:
        return "–"
    ties = f", {d.pairs.ties:,} level" if d.pairs.ties else ""
    return f"{d.pairs.ahead:,} of {d.pairs.of:,}{ties}"


def pair_columns() -> list[TableColumn[SystemDifference]]:
    """Return the columns of the difference of two systems, whose values are in a table of their own."""
    ahead = TableColumn("ahead", "Ahead in", text=pairs_ahead)
    shared = [c for c in DIFFERENCE_COLUMNS if c.name not in ("baseline_value", "run_value")]
    return [ahead, *shared]


MOST = 5
"""Examples that are shown of each system."""
CLASSES = 12
"""Classes that are shown of each system: those with most answers that change."""
KINDS = ("Not all the same", "Two runs differ", "Right or wrong")
ANSWERS = "Answers that change with the seed"


def answers(found: SystemsComparison) -> Section:
    """Return how many answers the seed decides."""
    known = [(one, one.churn) for one in found.systems if one.churn is not None]
    if not known:
        empty = Empty(
            say("Nothing can be said of changing answers."),
            say("That takes two runs of a system that decide on the same {units}.", units=found.unit[1]),
        )
        return Section.from_parts("answers", "Changing answers", ANSWERS, NOTHING, empty)
    heads = ("System", *KINDS)
    rows = ((one.system, *_shares(found, churn)) for one, churn in known)
    table = Table.from_rows("churn-table", "Shares of answers that change", heads, rows)
    hang = [(one, one.examples[:MOST]) for one, _ in known if one.examples]
    parts: list[PagePart] = [table]
    if hang:
        one, shown = hang[0]
        parts = [
            TwoColumns(
                (
                    table,
                    (
                        Heading(f"Right or wrong by the seed, {one.system}"),
                        _examples(found, 0, one.system, shown),
                    ),
                )
            )
        ]
        parts += [
            Folded(f"The same of {other.system}", (_examples(found, k, other.system, more),))
            for k, (other, more) in enumerate(hang[1:], 1)
        ]
    by_class = [] if found.task == "graded" else [one for one, _ in known if one.churn_by_class]
    classes = [_classes(found, one, k) for k, one in enumerate(by_class)]
    folded = Folded("By class", tuple(classes)) if classes else None
    return Section.from_parts(
        "answers", "Changing answers", ANSWERS, _churn_summary(found, *known[0]), *parts, folded
    )


def _shares(found: SystemsComparison, churn: Churn) -> tuple[str, str, str]:
    first, second, third = (percent(s, found.rows) for s in (churn.any, churn.two, churn.correctness))
    return first, second, third


def _churn_summary(found: SystemsComparison, one: SystemResult, churn: Churn) -> Sentence:
    return say(
        "For *{churn.any:percent} of the {units}* the {runs:count} runs of {system:short} do not all give "
        "the same answer; two of its runs differ on {churn.two:percent}. On {churn.correctness:percent} "
        "({rows:count} of {n:count}) the seed decides between right and wrong.",
        {"churn": churn, "system": one.system, "units": found.unit[1]},
        of=found.rows,
        rows=one.only_sometimes_right or 0,
        n=found.rows,
        runs=len(one.runs),
    )


def _examples(found: SystemsComparison, k: int, system: str, shown: tuple[ChangingAnswer, ...]) -> Table:
    unit, order = found.unit[0].capitalize(), Column("Runs in order")
    heads: tuple[str | Column, ...] = (unit, Column("Truth"), order, Column("Else answered"))
    rows = [_example(entry) for entry in shown]
    if found.task == "graded":
        heads, rows = (unit, order), [(row[0], row[2]) for row in rows]
    name = f"Answers that some runs of {system} get right and others wrong"
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
    return Table.from_rows(f"churn-{k}", f"Classes whose answers change most, {one.system}", heads, rows)


HARDLY = 0.9
"""Of the half-width now: more runs that leave so much of it hardly narrow it."""
SOURCES = "Where the uncertainty comes from"


def sources(found: SystemsComparison) -> Section:
    """Return the shares of each system's variance, and its interval with more runs or more rows."""
    known = [(one, value) for one in found.systems if (value := one.metrics[found.primary]).variance]
    if not known:
        remedy = "That takes two runs of a system, and a metric to which each row has its share."
        empty = Empty(say("Nothing is known of the seeds."), say(remedy))
        return Section.from_parts("sources", "Uncertainty", SOURCES, NOTHING, empty)
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
    table = Table.from_rows("sources-table", "Shares of the variance of each system", heads, rows)
    key = say(
        "By {units}: some are hard for every run. Seeds: some runs are better on all. Both: a run gets other "
        "{units} right. Negative estimates are 0.",
        units=unit,
    )
    return Section.from_parts(
        "sources", "Uncertainty", SOURCES, _sources_summary(found, *known[0]), table, Note(key)
    )


def _sources_summary(found: SystemsComparison, one: SystemResult, value: SystemValue) -> Sentence:
    shares, widths = value.variance, value.half_widths
    if shares is None or widths is None:
        return NOTHING
    hardly = "hardly narrow it" if widths.runs_20 > HARDLY * widths.now else "narrow it to {runs:percent}"
    return say(
        "*{rows:percent} of it for {system:short} comes from which {units} were drawn*, {rest:percent} from "
        f"the seeds, alone or together with the {{units}}. Twenty runs would {hardly}, four times the "
        "{units} would leave {more:percent} of it.",
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
    told = (
        points(width, value.low, value.high, style).text
        for width in (widths.now, widths.runs_20, widths.rows_4)
    )
    return (
        one.system,
        *(share_cell(share) for share in (shares.rows, shares.seeds, shares.both)),
        *(Cell(f"± {width}") for width in told),
    )


def verdict_section(found: SystemsComparison) -> Section:
    """Return the verdict: every system with its interval, and a dot for each run."""
    words = "A dot is one run. Bar: the mean of the runs, over new {units} and new seeds together."
    told = say(words, units=found.unit[1])
    body = ComparisonHeader(
        runs=sum(len(one.runs) for one in found.systems),
        kicker=_kicker(found),
        headline=headline(found),
        summary=summary(found),
        parts=(forest(found), Note(told)),
        columns=(),
        notes=found.notes,
    )
    return Section("verdict", "Verdict", "Verdict", "versus", NOTHING, body)


def _kicker(found: SystemsComparison) -> tuple[str, ...]:
    by = (f"by {', '.join(found.by)}",) if found.by else ()
    dataset = (found.dataset,) if found.dataset else ()
    return (
        pluralize(len(found.systems), "system"),
        *by,
        *dataset,
        pluralize(found.rows, *found.unit),
    )


def forest(found: SystemsComparison) -> Forest:
    """Return every system by the primary metric: mean, interval, the best run's flattery, a dot per run."""
    metric = main_metric(found)
    results = {one.system: result_of(one, found) for one in found.systems}
    dots = [
        value for one in found.systems for value in one.metrics[found.primary].values if value is not None
    ]
    ends = [end for result in results.values() if isinstance(result, Estimate) for end in _ends(result)]
    axis = axis_range([*dots, *ends], (metric.low, metric.high))
    places = decimals(*axis, metric.style)
    values = (axis[0], sum(axis) / 2, axis[1])
    ticks = tuple(
        (1000 * k / 2, format_decimals(value, places, metric.style)) for k, value in enumerate(values)
    )
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


def _row(one: SystemResult, found: SystemsComparison, result: Result, axis: tuple[float, float]) -> ForestRow:
    metric, value = main_metric(found), one.metrics[found.primary]
    # A run is no estimate of the system: it may lie outside of the interval of the mean.
    known = [x for x in value.values if x is not None]
    gloss = say(pluralize(len(one.runs), "run"))
    if len(known) > 1:
        low, high = (format_reference(x, result, metric.style) for x in (min(known), max(known)))
        gloss = say(f"{pluralize(len(one.runs), 'run')}, {low} to {high}")
    row = forest_row(found.primary, one.system, gloss, result, metric.style, axis=axis)
    flattery = value.best_run_flatters
    reference = "–" if flattery is None else points(flattery, value.low, value.high, metric.style).text
    places = tuple(at for at in (place(x, axis) for x in known) if at is not None)
    return replace(row, reference=reference, dots=places)


def differences(found: SystemsComparison) -> Section:
    """Return the difference of every pair of systems by the primary metric, and by the other metrics."""
    main = found.differences_for(found.primary)
    summary = say(
        "First less second, on the same {units}. A dot is a run of the one against a run of the other; the "
        "bar covers new {units} and new seeds. Pairs ahead are a description, not a test: pairs that share a "
        "run are not independent.",
        units=found.unit[1],
    )
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
    others = Folded("By every metric", (_by_metric(found),))
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
        Cell(only, sub=f"{found.unit[1]}, by most runs"),
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
    table = Table.from_rows("values-table", "Metrics of every system", heads, rows, tall=True)
    words = "Means over the runs, with intervals that cover new {units} and new seeds."
    summary = say(words, units=found.unit[1])
    return Section.from_parts("values", "Metrics", "Every metric", summary, table)


def _values_row(found: SystemsComparison, name: str) -> Row:
    metric = find(name, found.task)
    return metric.title, *(_value_cell(found, one, name) for one in found.systems)


def _value_cell(found: SystemsComparison, one: SystemResult, name: str) -> Cell:
    result, style = result_of(one, found, name), find(name, found.task).style
    if not isinstance(result, Estimate):
        return Cell("–", sub=result.reason)
    return Cell(format_estimate(result, style), sub=interval(result, style))


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
    return Section.from_parts(
        "provenance", "Provenance", "Where the numbers come from", summary, Facts(tuple(facts))
    )


PANELS: Final[tuple[Callable[[SystemsComparison], Section], ...]] = (
    verdict_section,
    differences,
    sources,
    answers,
    values,
    provenance,
)
"""Panels in the order of the page."""
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
        """The verdict in one sentence, plain text."""
        return headline(self.of).text

    def sections(self) -> Sequence[Section]:
        """Return the sections of the page, the verdict first."""
        return [panel(self.of) for panel in PANELS]

    @property
    def intervals(self) -> str:
        """What the last line of the page says of the intervals."""
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
    """Where the metrics of each system stand."""
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
