"""The sections of a comparison page: first screen, differences, ranking, classes and slices, changed predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final, TypeAlias, TypeVar

from evalreport import __version__
from evalreport.comparison.compare import COUNTED
from evalreport.comparison.comparison import (
    CLASS,
    SIGNIFICANT,
    ChangedPrediction,
    ChangedPredictions,
    Comparison,
    Difference,
    RankedRun,
)
from evalreport.core.extensions import load_extensions
from evalreport.core.format import SCALE, count
from evalreport.core.json_codec import encode
from evalreport.core.result import Estimate, Result, Undefined, format_estimate, interval, value_and_interval
from evalreport.core.result import gap as signed_gap
from evalreport.core.sentences import NOTHING, Sentence, join_as_list, paragraph, say
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.rule import spoken
from evalreport.metrics.catalogue import find
from evalreport.page.charts import tick_text
from evalreport.page.comparison import comparison_charts, matched
from evalreport.page.comparison.comparison_charts import difference_plot, units_of
from evalreport.page.comparison.comparison_choices import (
    SAME_MISTAKES,
    WHICH_ONE,
    AgreementBars,
    agreement_bars,
    choice_table,
    run_lines,
    zoomed_axis,
)
from evalreport.page.comparison.matched import matched_sentence
from evalreport.page.comparison.table import (
    DIFFERENCE_COLUMNS,
    RANKING_COLUMNS,
    RankingRow,
    TableColumn,
    comparison_ranking,
    head_texts,
    other_columns,
    page_columns,
    row_texts,
    table_data,
)
from evalreport.page.comparison.wording import (
    baseline_counts,
    detectable_size,
    difference_texts,
    headline,
    p_value,
    pairing_sentence,
    positive_label,
    shared_pairing,
    title_of_metric,
)
from evalreport.page.csv_tables import as_csv
from evalreport.page.elements import (
    Cell,
    Column,
    Empty,
    Facts,
    Folded,
    ForestRow,
    Heading,
    Look,
    Note,
    PagePart,
    Row,
    Section,
    Shown,
    Table,
    forest_row,
    place,
)
from evalreport.page.evaluation_terms import one_threshold, tell
from evalreport.page.payload import (
    COMPARISON,
    COMPARISON_PAGE,
    LONGEST_VERDICT,
    Presentation,
    lasting,
    metric_keys,
)
from evalreport.page.sections.appendix import origin
from evalreport.page.sections.confusion_matrix import UNPARSED, format_row_id
from evalreport.page.sections.first_screen import SummaryItem
from evalreport.page.text_summary import MOST_ROWS, ResultSummary

SIDE_BY_SIDE = 5
"""Maximum number of runs shown as columns; more runs are rows, with as many metrics as columns."""
GROUNDS: dict[str, Look] = {"better": "right", "worse": "wrong"}
"""Background of a cell by verdict."""


def leaderboard(comparison: Comparison) -> Table:
    """Return the runs, best first: possible ranks, value, interval, and the verdict compared with the best."""
    metric = find(comparison.primary, comparison.evaluations[0].task)
    known = [entry for entry in comparison.ranking if entry.value is not None]
    low, high = zoomed_axis(known, (metric.low, metric.high))
    scale, unit = SCALE[metric.style]
    ends = " to ".join(tick_text(round(end * scale, 9)) + unit for end in (low, high))
    level = f"{comparison.level * 100:.10g}%"
    columns: list[tuple[Column, Callable[[RankingRow], Shown]]] = [
        (
            replace(head, title=f"{head.title}, {ends}") if head.look == "plot" else head,
            partial(_ranking_cell, column, axis=(low, high)),
        )
        for column in RANKING_COLUMNS
        for head, _ in page_columns([column], {"level": level, "metric": metric.title})
    ]
    columns.insert(1, (Column("Run"), lambda row: Cell(row.entry.run, _best_look(row.entry))))
    rows = comparison_ranking(comparison)
    return Table.from_items("ranking-table", f"Runs ranked by {metric.title}", columns, rows)


def _best_look(entry: RankedRun) -> Look:
    return "right" if entry.best_group else ""


def _ranking_cell(column: TableColumn[RankingRow], row: RankingRow, axis: tuple[float, float]) -> Shown:
    """A cell of the ranking; intervals are drawn, the best group is highlighted."""
    entry, metric = row.entry, row.metric
    text = (column.full or column.text or str)(row)
    if column.look != "plot":
        return Cell(text, _best_look(entry)) if column.name == "against_best" else text
    if entry.value is None:
        return Cell(text, "none")
    return Cell(
        text, track=forest_row(metric.name, entry.run, NOTHING, entry.result, metric.style, axis=axis)
    )


def every_value(comparison: Comparison) -> Table:
    """Return every metric of every run over all of its rows, with the verdict compared with the baseline."""
    task = comparison.evaluations[0].task
    names = list(dict.fromkeys(d.metric for d in comparison.differences))
    known = {(d.metric, d.run): d for d in comparison.differences if comparison.baseline is not None}
    if len(comparison.names) > SIDE_BY_SIDE:
        names = names[:SIDE_BY_SIDE]
        rows: Iterable[Row] = (
            (run, *(_value(comparison, place, name, known) for name in names))
            for place, run in enumerate(comparison.names)
        )
        heads: tuple[Column | str, ...] = (
            "Run",
            *(Column(title_of_metric(comparison, name)) for name in names),
        )
    else:
        rows = (
            (
                Cell(
                    title_of_metric(comparison, name),
                    sub="lower is better" if find(name, task).better == "lower" else "",
                ),
                *(_value(comparison, place, name, known) for place in order(comparison)),
            )
            for name in names
        )
        heads = ("Metric", *(Column(comparison.names[place]) for place in order(comparison)))
    return Table.from_rows("values-table", "Every metric of every run", heads, rows)


def order(comparison: Comparison) -> list[int]:
    """Return the positions of the runs as columns: the baseline first, then as they were given."""
    return sorted(range(len(comparison.names)), key=lambda place: place != comparison.baseline)


def _value(comparison: Comparison, place: int, name: str, known: dict[tuple[str, str], Difference]) -> Cell:
    task, run = comparison.evaluations[0].task, comparison.names[place]
    result = comparison.evaluations[place].metrics.get(name, Undefined("not in this evaluation"))
    style = find(name, task).style
    if not isinstance(result, Estimate):
        return Cell("–", "none", sub=result.reason)
    text = (
        say("*{value}*", value=format_estimate(result, style))
        if run in _best(comparison, name)
        else format_estimate(result, style)
    )
    parts = [] if result.low is None else [interval(result, style)]
    d = known.get((name, run))
    if d is not None and d.difference is not None:
        parts.append(f"{difference_texts(d).gap} {d.verdict.replace('_', ' ')}".removesuffix(" undefined"))
    ground = GROUNDS.get(d.verdict, "") if d is not None else ""
    return Cell(text, ground, round(result.value, 6), sub="; ".join(parts))


def _best(comparison: Comparison, name: str) -> list[str]:
    """The runs with the best value."""
    sign = {"higher": 1.0, "lower": -1.0}.get(find(name, comparison.evaluations[0].task).better)
    results: list[Result] = [ev.metrics.get(name, Undefined("")) for ev in comparison.evaluations]
    known = [
        (sign * r.value, run)
        for r, run in zip(results, comparison.names, strict=True)
        if sign and r.value is not None
    ]
    return [run for value, run in known if value == max(known)[0]]


def leaderboard_section(comparison: Comparison) -> Section | None:
    """Return every metric of every run; None for two runs, where it is folded under their differences."""
    if len(comparison.names) == 2:
        return None
    summary = say("Each run over all of its rows, with intervals; the best value is bold.")
    if comparison.baseline is not None:
        base = comparison.names[comparison.baseline]
        summary = say("Blue is better than {base}, orange worse.", base=base) + summary
    if (
        len(comparison.names) > SIDE_BY_SIDE
        and len({d.metric for d in comparison.differences}) > SIDE_BY_SIDE
    ):
        summary += say("The other metrics are in the JSON.")
    ranked = Folded("All runs, ranked", (leaderboard(comparison),))
    values = Folded("Every metric of every run", (every_value(comparison),))
    return Section.from_parts("values", "Every metric", "Every metric", summary, ranked, values)


MOST = 12
"""Maximum number of classes and slices of each pair: those with the most changes."""
DETAILED = 6
"""Maximum number of pairs for which classes and examples are shown; for more only counts and ids."""
LISTED = 19
"""Maximum number of pairs for which ids are listed; for more only counts."""
KINDS = ("Fixed", "Broken", "Both wrong")
AT_EQUAL_RECALL = ("Fixed at equal recall", "Broken at equal recall")
NONE = (0, 0, 0)


def changed_predictions_section(comparison: Comparison) -> Section:
    """Return the examples that one run gets right and another wrong."""
    graded = comparison.evaluations[0].task == "graded"
    title = "Which items changed" if graded else "Which predictions changed"
    if not comparison.movement:
        remedy = "This needs predictions of both runs on the same examples: log their predictions with ids."
        empty = Empty(say("No example can be matched between the runs."), say(remedy))
        return Section.from_parts("movement", title, title, NOTHING, empty)
    tests = {(test.run, test.baseline): test.p for test in comparison.mcnemar}
    heads = ("Run against baseline", *KINDS, "Both right", "McNemar")
    rows = (_counts(moved, tests.get((moved.run, moved.baseline))) for moved in comparison.movement)
    table: PagePart = Table.from_rows("moves-table", "Predictions that changed", heads, rows)
    if len(comparison.movement) == 1:  # the first screen has the counts
        table = Folded("Counts and McNemar's test", (table,))
    summary = say("Fixed: right only in the run. Broken: right only in the baseline.")
    if graded:
        summary = say("Fixed: passes only in the run. Broken: passes only in the baseline.")
    if any(moved.at_equal_recall for moved in comparison.movement):
        summary += say("At equal recall: at the threshold where both find the same number of positives.")
    if any(ev.data_checks.get("withheld") for ev in comparison.evaluations):
        summary += say("Single examples are withheld.")
    number = len(comparison.movement)
    sure = all(ev.score_kind and ev.task != "multilabel" for ev in comparison.evaluations)
    if number > LISTED:
        summary += say("Their ids are in the JSON.")
    listed = comparison.movement if number <= LISTED else ()
    parts = [
        part
        for place, moved in enumerate(listed)
        for part in _pair(
            moved, place, detailed=number <= DETAILED, several=number > 1, sure=sure, graded=graded
        )
    ]
    return Section.from_parts("movement", title, title, summary, table, *parts)


def _counts(moved: ChangedPredictions, p: float | None) -> Row:
    numbers = (moved.fixed, moved.broken, moved.both_wrong, moved.both_right)
    test = "–" if p is None else p_value(p).text.removeprefix("; McNemar ")
    return (f"{moved.run} against {moved.baseline}", *map(_number, numbers), Cell(test, sort=p))


def _number(value: int) -> Cell:
    return Cell(count(value), sort=value)


def _pair(
    moved: ChangedPredictions, place: int, *, detailed: bool, several: bool, sure: bool, graded: bool
) -> list[PagePart]:
    """Tables and ids of the changed predictions of two runs, folded where there are several pairs."""
    where, examples = (
        (_where(moved, place), _examples(moved, place, graded=graded)) if detailed else (None, None)
    )
    tables = (
        ("By slice, most changes first" if graded else "By class and slice, most changes first", where),
        ("Examples" + (", the most confident mistakes first" if sure else ""), examples),
    )
    parts: list[PagePart] = []
    for name, table in tables:
        if table is not None:
            parts.append(Folded(name, (table,)))
    ids: list[PagePart] = []
    for name, some in _ids(moved):
        ids += [Heading(name), Note(join_as_list([say("`{id}`", id=id) for id in some], ","))]
    parts += [Folded("Ids", tuple(ids))] if ids else []
    return [Folded(f"{moved.run} against {moved.baseline}", tuple(parts))] if several and parts else parts


def _where(moved: ChangedPredictions, place: int) -> Table | None:
    """Classes and slices, those with the most changed predictions first."""
    every = [*moved.by_class.items(), *moved.by_slice.items()]
    changed = sorted((row for row in every if row[1][0] or row[1][1]), key=lambda row: -sum(row[1][:2]))
    if not changed:
        return None
    at_equal_recall = moved.at_equal_recall
    rows: Iterable[Row] = (
        (name, *map(_number, (*counts, *(at_equal_recall.get(name, NONE)[:2] if at_equal_recall else ()))))
        for name, counts in changed[:MOST]
    )
    heads = (
        "True class, or slice" if moved.by_class else "Slice",
        *KINDS,
        *(AT_EQUAL_RECALL if at_equal_recall else ()),
    )
    name = f"Where predictions of {moved.run} differ from {moved.baseline}"
    return Table.from_rows(f"moves-where-{place}", name, heads, rows)


def _examples(moved: ChangedPredictions, place: int, *, graded: bool) -> Table | None:
    if not moved.examples:
        return None
    texts = any(one.text is not None for one in moved.examples)
    missing = "no grade" if graded else UNPARSED
    columns: tuple[tuple[Column, Callable[[ChangedPrediction], Shown]] | None, ...] = (
        (Column("Example"), lambda one: Cell(format_row_id(one.id), "id")),
        (Column("Now"), lambda one: say("*fixed*" if one.run == one.truth else "_broken_")),
        (Column("Text", "text"), lambda one: one.text or "") if texts else None,
        None if graded else (Column("True label"), lambda one: ", ".join(one.truth) or "–"),
        (Column(moved.baseline), lambda one: _answer(one.baseline, (one.answers or ("", ""))[1], missing)),
        (Column(moved.run), lambda one: _answer(one.run, (one.answers or ("", ""))[0], missing)),
    )
    name = f"Predictions of {moved.run} that differ from {moved.baseline}"
    tall = len(moved.examples) > MOST
    return Table.from_items(f"moves-answers-{place}", name, columns, moved.examples, tall=tall)


def _answer(names: Sequence[str], written: str, missing: str) -> Cell:
    return Cell(", ".join(names) or missing, sub=f"“{written}”" if written else "")


def _ids(moved: ChangedPredictions) -> tuple[tuple[str, tuple[str, ...]], ...]:
    numbers = (moved.fixed, moved.broken, moved.both_wrong)
    ids = (moved.fixed_ids, moved.broken_ids, moved.both_wrong_ids)
    return tuple(
        (f"{word}: {'ids' if len(found) == n else f'the first {len(found)} of {n:,} ids'}", found)
        for word, n, found in zip(KINDS, numbers, ids, strict=True)
        if found
    )


ShownOfDifference: TypeAlias = tuple[Column, Callable[[Difference], Shown]]
VALUES_MOST = 30
"""Maximum number of rows of a table; the others are in the JSON and in the CSV."""
CONTROLS = 8
"""Number of rows above which a table can be searched and filtered."""
OF_CLASSES = COUNTED[-1].name
"""The metric that is drawn for each class: F1."""


def parts(comparison: Comparison) -> Section | None:
    """Return differences class by class, drawn from the baseline to the run, and slice by slice."""
    classes = [d for d in comparison.parts if d.scope.startswith(CLASS) and d.metric == OF_CLASSES]
    slices = [d for d in comparison.parts if not d.scope.startswith(CLASS)]
    made = [part for make in load_extensions("comparison_parts") for part in make(comparison)]
    if classes:
        made.append(Folded("F1 of the classes", (_dumbbells(comparison, _largest(comparison, classes)),)))
    if slices:
        made.append(Folded("Slices", (_slices(comparison, _largest(comparison, slices)),)))
    if not made:
        return None
    summary = _count_sentence(comparison, classes, "classes") + _count_sentence(
        comparison, slices, "values of slices"
    )
    drawn = say("The line is the baseline, the dot the run, hollow if the difference is not significant.")
    return Section.from_parts(
        "parts", "Where they differ", "Where they differ", summary + (drawn if classes else NOTHING), *made
    )


def _largest(comparison: Comparison, found: Sequence[Difference]) -> list[Difference]:
    """The largest differences, equally many per pair, so that every pair has some after filtering."""
    ranked = sorted(found, key=lambda d: -abs(d.difference or 0.0))
    most = max(VALUES_MOST // len(comparison.pairings), 1)
    kept: dict[tuple[str, str], int] = {}
    chosen = []
    for d in ranked:
        pair = (d.run, d.baseline)
        kept[pair] = kept.get(pair, 0) + 1
        chosen += [d] if kept[pair] <= most else []
    return chosen[:VALUES_MOST]


def _count_sentence(comparison: Comparison, found: Sequence[Difference], what: str) -> Sentence:
    if not found:
        return NOTHING
    words = "{shown:count} of {parts:count} differences of " + what + " are significant (Holm)"
    rows = len(_largest(comparison, found))
    words += "; the table has the {rows:count} largest, the JSON has all." if rows < len(found) else "."
    return say(words, shown=sum(d.is_significant for d in found), parts=len(found), rows=rows)


def _keys(comparison: Comparison, found: Sequence[Difference]) -> tuple[dict[str, str], list[str]]:
    """Choices of the filter by key, and the keys of each row: its verdict and, with several pairs, its pair."""
    pairs = [f"{run} against {base}" for run, base, _ in comparison.pairings]
    several = {f"p{place}": name for place, name in enumerate(pairs)} if len(pairs) > 1 else {}
    keys = {name: key for key, name in several.items()}
    rows = [f"{_side(d)} {keys.get(_values_pair(d), '')}".strip() for d in found]
    return {**several, "better": "better", "worse": "worse", "none": "not significant"}, rows


def _values_pair(d: Difference) -> str:
    return f"{d.run} against {d.baseline}"


def _side(d: Difference) -> str:
    return d.verdict if d.is_significant else "none"


def _dumbbells(comparison: Comparison, shown: Sequence[Difference]) -> Table:
    values = [value for d in shown for value in d.values if value is not None]
    low = min(values, default=0.0) // 0.1 / 10
    choices, marks = _keys(comparison, shown)
    columns: tuple[ShownOfDifference | None, ...] = (
        (Column("Class", "", "up"), lambda d: d.scope.removeprefix(CLASS)),
        (Column("Pair", "", "up"), _values_pair) if len(comparison.pairings) > 1 else None,
        (
            Column("Baseline → run", "n"),
            lambda d: f"{difference_texts(d).before} → {difference_texts(d).after}",
        ),
        (Column(f"F1 from {tick_text(low)} to 1", "plot"), partial(_dumbbell, axis=(low, 1.0))),
        (Column("Difference", "n", "down"), _gap_and_verdict),
        *page_columns(other_columns("interval"), _heads(comparison)),
    )
    return Table.from_items(
        "classes-table",
        "Classes whose F1 changed most",
        columns,
        shown,
        tall=len(shown) > CONTROLS,
        filters=((title, key) for key, title in choices.items()),
        marks=marks,
        noun="classes" if len(shown) > CONTROLS else "",
        find="name of a class",
    )


def _heads(comparison: Comparison) -> dict[str, str]:
    return {"level": f"{comparison.level * 100:.10g}%", "baseline": "Baseline", "run": "Run"}


def _gap_and_verdict(d: Difference) -> Cell:
    shown = row_texts(DIFFERENCE_COLUMNS, d, short=True)
    return Cell(shown["difference"], sort=d.difference, sub=shown["verdict"])


def _dumbbell(d: Difference, axis: tuple[float, float]) -> Cell:
    shown, (after, before) = difference_texts(d), (place(value, axis) for value in d.values)
    words = (shown.after, shown.limits, shown.before)
    name = d.scope.removeprefix(CLASS)
    track = ForestRow(d.metric, name, NOTHING, *words, at=after, start=before, side=_side(d))
    return Cell("", track=track)


def _slices(comparison: Comparison, shown: Sequence[Difference]) -> Table:
    choices, marks = _keys(comparison, shown)
    columns: tuple[ShownOfDifference | None, ...] = (
        (Column("Slice", "", "up"), lambda d: d.scope),
        (Column("Metric", "", "up"), lambda d: find(d.metric).title),
        (Column("Pair", "", "up"), _values_pair) if len(comparison.pairings) > 1 else None,
        *page_columns(DIFFERENCE_COLUMNS, _heads(comparison)),
    )
    return Table.from_items(
        "parts-table",
        "Differences by slice",
        columns,
        shown,
        tall=True,
        filters=((title, key) for key, title in choices.items()),
        marks=marks,
        noun="differences" if len(shown) > CONTROLS else "",
        find="value of a slice",
    )


@dataclass(frozen=True)
class ComparisonHeader:
    """The first screen: kicker, headline, summary and the main figures."""

    runs: int
    kicker: tuple[str, ...]
    headline: Sentence
    summary: Sentence
    parts: tuple[PagePart, ...]
    columns: tuple[tuple[str, Table | AgreementBars], ...]
    checks: tuple[SummaryItem, ...]
    notes: tuple[str, ...]

    @property
    def shortest(self) -> str:
        """Title of the column with fewest rows, under which the checks are; of equal ones the last."""
        rows = [(len(part.rows), -k, title) for k, (title, part) in enumerate(self.columns)]
        return min(rows, default=(0, 0, ""))[2]


def verdict_section(comparison: Comparison) -> Section:
    """Return the first screen: one line per run, which run for which purpose, and common mistakes."""
    columns = (
        (WHICH_ONE, choice_table(comparison)),
        (SAME_MISTAKES, agreement_bars(comparison)),
    )
    body = ComparisonHeader(
        runs=len(comparison.names),
        kicker=_kicker(comparison),
        headline=headline(comparison),
        summary=summary(comparison),
        parts=(run_lines(comparison),),
        columns=tuple((title, part) for title, part in columns if part is not None),
        checks=tuple(_checks(comparison)),
        notes=comparison.notes,
    )
    return Section("verdict", "Summary", "Summary", "versus", NOTHING, body)


def _checks(comparison: Comparison) -> Iterator[SummaryItem]:
    """Whether the runs are compared on the same rows."""
    apart = [how for _, _, how in comparison.pairings if how.kind == "unpaired"]
    if apart:
        yield SummaryItem("Runs are not paired row by row", apart[0].reason, "", "failed")
    elif comparison.pairings:
        runs = "Both" if len(comparison.names) == 2 else "All"
        how = comparison.pairings[0][2]
        yield SummaryItem(f"{runs} runs on the same {comparison.unit[1]}", f"paired, {how.reason}")


def _kicker(comparison: Comparison) -> tuple[str, ...]:
    first = comparison.evaluations[0]
    datasets = {ev.provenance.dataset for ev in comparison.evaluations if ev.provenance.dataset}
    base = "all pairs" if comparison.baseline is None else f"baseline {comparison.names[comparison.baseline]}"
    task = "graded items" if first.task == "graded" else first.task
    known = (task, positive_label(comparison), *(datasets if len(datasets) == 1 else ()), base)
    return tuple(filter(None, known))


def summary(comparison: Comparison) -> Sentence:
    """Return what the verdict is based on: matched thresholds, or the smallest detectable difference."""
    return paragraph(
        matched_sentence(comparison), baseline_counts(comparison), _detectable_sentence(comparison)
    )


def _detectable_sentence(comparison: Comparison) -> Sentence:
    """The minimum detectable difference of the primary metric."""
    (first, *others) = comparison.verdicts
    main = first.primary
    if others or first.verdict != "not_significant" or main is None or main.detectable is None:
        return NOTHING
    words = "Too few rows: no difference is detectable"
    if main.detectable.difference is not None:
        title = spoken(title_of_metric(comparison, comparison.primary))
        words = f"The minimum detectable difference in {title} is {{difference}}"
    return say(
        words + " at {power:percent} power.",
        difference=detectable_size(main, main.detectable),
        power=main.detectable.power,
    )


def _correction_sentence(comparison: Comparison) -> Sentence:
    """The metrics behind the verdicts, and the correction for multiple comparisons."""
    if not any(one.over for one in comparison.verdicts):
        return NOTHING
    over = max((one.over for one in comparison.verdicts), key=len)
    classes = sum(name.startswith("recall[") for name in over)
    titles = [spoken(title_of_metric(comparison, name)) for name in over if not name.startswith("recall[")]
    named = join_as_list([say("{title}", title=title) for title in titles])
    words = "Verdicts are by {named}"
    if classes:
        words += " and the recall of {classes:count} {classes:class|classes}"
    pairs = len(comparison.pairings)
    if len(over) > 1 or pairs > 1:
        words += ", with Holm's correction"
        words += " for {pairs:count} comparisons" if pairs > 1 else ""
    return say(words + ".", named=named, classes=classes, pairs=pairs)


def pairs(comparison: Comparison) -> Section | None:
    """Return every difference of two runs; None for more, where the grid of values shows them."""
    if len(comparison.names) != 2:
        return None
    run, base, _ = comparison.pairings[0]
    task, name = comparison.evaluations[0].task, f"{run} against {base}"
    losses = [d for d in comparison.differences if units_of(find(d.metric, task))[1]]
    others = [d for d in comparison.differences if d not in losses] or losses
    plot = difference_plot(comparison, others, name)
    folds = [Folded("Values of each run with their intervals", (every_value(comparison),))]
    if losses and others is not losses:
        folds.insert(0, Folded("Losses", (difference_plot(comparison, losses, f"{name}, losses"),)))
    better, worse = (sum(d.verdict == word for d in comparison.differences) for word in SIGNIFICANT)
    words = (
        "{run:short} is significantly *better* by {better:count} of {metrics:count} metrics, _worse_ by "
        "{worse:count} (not adjusted). Hollow: not significant."
    )
    summary = say(words, run=run, better=better, worse=worse, metrics=len(comparison.differences))
    return Section.from_parts("differences", "Differences", "Differences", summary, plot, *folds)


def judge_section(comparison: Comparison) -> Section | None:
    """Return the pass rates as people would grade all items, where one judge graded the runs."""
    if not comparison.judge:
        return None
    level = f"{comparison.level * 100:.10g}% interval"
    rows: list[Row] = []
    for pair in comparison.judge:
        found, grades = pair.corrected, count(pair.n_human)
        for name, rate in zip((pair.run, pair.baseline), pair.rates, strict=True):
            rows.append((name, *value_and_interval(rate, "percent"), grades))
        gap = signed_gap(*found.ends, "percent")
        rows.append((f"{pair.run} minus {pair.baseline}", *gap, grades))
    heads = ("Run", "Corrected pass rate", level, "Human grades")
    table = Table.from_rows("judge-table", "Pass rates corrected by people", heads, list(dict.fromkeys(rows)))
    words = "The pass rates as people would grade all items, estimated through the judge; {method}."
    summary = say(words, method=comparison.judge[0].corrected.method)
    return Section.from_parts("judge", "Judge", "Pass rates corrected by people", summary, table)


def provenance(comparison: Comparison) -> Section:
    """Return how rows are paired, the origin of each run, and the command."""
    facts = [
        (name, _run_facts(ev)) for name, ev in zip(comparison.names, comparison.evaluations, strict=True)
    ]
    made = comparison.evaluations[0].provenance
    if made.made:
        facts.append(("Made", say("{made}", made=made.made)))
    commands = {ev.provenance.command for ev in comparison.evaluations if ev.predictions is not None}
    section = origin("Provenance", facts, commands.pop() if len(commands) == 1 else "")
    pairs = tuple(
        (f"{run} against {base}", pairing_sentence(run, base, how, comparison.unit))
        for run, base, how in comparison.pairings
    )
    summary = paragraph(shared_pairing(comparison), _correction_sentence(comparison))
    return replace(section, summary=summary, body=(*section.body, Folded("Paired rows", (Facts(pairs),))))


def _run_facts(ev: Evaluation) -> Sentence:
    p = ev.provenance
    parts = (
        say("{rows} rows", rows=count(ev.rows)),
        tell(ev, "`{source}`", source=p.source or None),
        tell(ev, "run `{run}`", run=p.run_id[:8] or None),
        tell(ev, "sha256 `{digest}`", digest=p.sha256[:12] or None),
        tell(ev, "truth `{digest}`", digest=None if ev.task == "graded" else ev.label_digest[:12] or None),
        tell(ev, "threshold {threshold:threshold}", threshold=one_threshold(ev)),
    )
    return join_as_list([part for part in parts if part], ",")


R = TypeVar("R")
PANELS: Final[tuple[Callable[[Comparison], Section | None], ...]] = (
    verdict_section,
    matched.points_section,
    matched.matched_section,
    pairs,
    judge_section,
    leaderboard_section,
    comparison_charts.curves_section,
    parts,
    changed_predictions_section,
    provenance,
)
"""Panels of a comparison in the order of the page; one that does not apply returns None."""
PREFIX = "compare/"
LONGEST_RUN = 100
"""Letters of a run's name in a metric key."""


class ComparisonBase(Presentation[R]):
    """The common part of comparisons of runs and of systems."""

    page_name = COMPARISON_PAGE
    document = COMPARISON
    noun = "comparison"
    part = "comparison"
    cards = ()

    def content(self) -> dict[str, Any]:
        """Return the JSON: the comparison with its verdict in words."""
        return {**self.encoded_result, "headline": self.headline, **self.extra}

    def lasting(self) -> tuple[Any, ...]:
        """Return the parts of the digest."""
        return self.content(), __version__, self.notes

    def tags(self) -> dict[str, str]:
        """Return the tags of a run."""
        return {"evalreport.comparison": self.headline[:LONGEST_VERDICT]}


class ComparisonPresentation(ComparisonBase[Comparison]):
    """The page of a comparison of runs."""

    @property
    def title(self) -> str:
        """Title of the page."""
        names = self.of.names
        return f"Comparison of {' and '.join(names) if len(names) == 2 else f'{len(names)} runs'}"

    @cached_property
    def headline(self) -> str:
        """The verdict in one sentence, plain text."""
        return headline(self.of).text

    def sections(self) -> Sequence[Section]:
        """Return the sections of the page, the verdict first."""
        return [section for panel in PANELS if (section := panel(self.of)) is not None]

    @property
    def intervals(self) -> str:
        """The confidence level, in the last line of the page."""
        return f" · intervals are {self.of.evaluations[0].sampling.level * 100:.10g}%"

    def summary(self) -> ResultSummary:
        """Return the comparison in a few lines: every metric of two runs, or the ranking of several."""
        found, level = self.of, {"level": f"{self.of.level * 100:.10g}%"}
        if len(found.names) == 2:
            (run, baseline, _), about = found.pairings[0], " and ".join(found.names)
            heads = ["Metric", *head_texts(DIFFERENCE_COLUMNS, level | {"baseline": baseline, "run": run})]
            rows = [
                [find(d.metric).title, *row_texts(DIFFERENCE_COLUMNS, d, short=True).values()]
                for d in found.differences
            ]
        else:
            about, ranked = f"{len(found.names)} runs", comparison_ranking(found)
            heads = ["Run", *head_texts(RANKING_COLUMNS, level | {"metric": ranked[0].metric.title})]
            rows = [[row.entry.run, *row_texts(RANKING_COLUMNS, row).values()] for row in ranked]
        return ResultSummary(self.headline, about, tuple(heads), tuple(map(tuple, rows[:MOST_ROWS])))

    def lasting(self) -> tuple[Any, ...]:
        """Return what the digest is made of: of the evaluations, too."""
        content, *rest = super().lasting()
        return content, [lasting(encode(ev)) for ev in self.of.evaluations], *rest

    def metrics(self) -> dict[str, float]:
        """Return every number that can be logged, by key."""
        return differences(self.of)

    def headline_metrics(self) -> dict[str, float]:
        """Return the differences of the primary metric: of two runs with the ends of the interval."""
        name, every = f"{self.of.primary}_difference", self.metrics()
        ends = (name, f"{name}_low", f"{name}_high")[: 3 if len(self.of.pairings) == 1 else 1]
        return {key: value for key, value in every.items() if key.rpartition("/")[2] in ends}

    def exports(self) -> dict[str, bytes]:
        """Return the files of an output folder beside page and JSON: every difference and the ranking as CSV."""
        differences = table_data(DIFFERENCE_COLUMNS, [*self.of.differences, *self.of.parts])
        ranked = table_data(RANKING_COLUMNS, comparison_ranking(self.of))
        return {"differences.csv": as_csv(differences), "ranking.csv": as_csv(ranked)}


def differences(comparison: Comparison) -> dict[str, float]:
    """Return the metrics of the differences: ``compare/recall_difference`` with ``_low`` and ``_high``.

    Of more than two runs the run's name comes between; of all against all, only the primary metric.
    """
    found: dict[str, float] = {}
    chosen = comparison.differences
    if comparison.baseline is None:
        chosen = comparison.differences_for(comparison.primary)
    sections = _sections(comparison)
    for d in chosen:
        stem = f"{sections[d.run, d.baseline]}{d.metric}_difference"
        ends = {stem: d.difference, f"{stem}_low": d.low, f"{stem}_high": d.high}
        found |= {key: value for key, value in ends.items() if value is not None}
    return found


def _sections(comparison: Comparison) -> dict[tuple[str, str], str]:
    """Where the metrics of each pair stand."""
    pairs = [(run, base) for run, base, _ in comparison.pairings]
    if len(pairs) == 1:
        return {pairs[0]: PREFIX}
    all_pairs = comparison.baseline is None
    names = [f"{run} against {base}" if all_pairs else run for run, base in pairs]
    short = [
        name if len(name) <= LONGEST_RUN else f"{name[:LONGEST_RUN]}-{place}"
        for place, name in enumerate(names)
    ]
    keys = metric_keys((name.replace("/", "_") for name in short), PREFIX)
    return {pair: keys[name.replace("/", "_")] + "/" for pair, name in zip(pairs, short, strict=True)}
