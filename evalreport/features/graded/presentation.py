"""Graded items as they are shown, written and logged; their first screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from evalreport.core.format import Style, brief, count, pluralize
from evalreport.core.result import Estimate, value_and_interval
from evalreport.core.sentences import NOTHING, Sentence, say
from evalreport.features.graded.evaluation import FULL, UNIT, GradedEvaluation, GradedExample, judge_sentence
from evalreport.features.graded.judge import Disagreement
from evalreport.features.graded.metrics import (
    AGREEMENT,
    JUDGE_TITLES,
    NO_GRADE,
    OF_JUDGE,
    PASS,
    PASS_GRADED,
    SCORE,
)
from evalreport.intervals.interval_settings import NOT_ASKED
from evalreport.metrics.catalogue import find
from evalreport.page.contents import EvaluationPresentation
from evalreport.page.elements import (
    Column,
    Forest,
    ForestRow,
    Heading,
    Note,
    PagePart,
    Section,
    Table,
    forest_row,
)
from evalreport.page.evaluation_terms import confidence_percent, tell
from evalreport.page.payload import UNIT_TAG, metric_keys
from evalreport.page.sections.appendix import DIGEST, metrics_section, provenance_section
from evalreport.page.sections.classes import groups_section
from evalreport.page.sections.first_screen import (
    MOST,
    NARROW,
    CountBars,
    FirstScreen,
    Look,
    SummaryItem,
    check_groups,
    find_weakest_group,
    make_bar,
)
from evalreport.page.sections.headline import brief_row, format_day
from evalreport.page.text_summary import MOST_ROWS, ResultSummary

SHOWN_RATES = 4
"""Rates on the first screen."""
GLOSS = {
    PASS: "attempts without a grade count as not passed",
    PASS_GRADED: "attempts with a grade only",
    NO_GRADE: "error, timeout or no grade",
    AGREEMENT: "two attempts at one item have the same outcome",
}


def shown_metrics(ev: GradedEvaluation) -> list[tuple[str, Estimate]]:
    """Return the metrics of a summary; of repeats those of two attempts and of all.

    Where every attempt has a grade, the rates of missing grades say nothing.
    """
    at_k = [name for name in ev.metrics if name.startswith("pass_at_")]
    kept = {name.removeprefix("pass_at_") for name in (*at_k[:1], *at_k[-1:])}
    return [
        (name, result)
        for name, result in ev.metrics.items()
        if isinstance(result, Estimate)
        and (ev.no_grade or name not in (PASS_GRADED, NO_GRADE))
        and (not name.startswith(("pass_at_", "pass_hat_")) or name.rsplit("_", 1)[1] in kept)
    ]


def first_screen(ev: GradedEvaluation) -> Section:
    """Return the first screen: headline, counts of items, rates, problems and checks."""
    words = "An attempt passes with a score {rule}. " if ev.rule else ""
    if ev.rule == FULL:
        words = "An attempt passes with a score of 1. "
    words += "Attempts without a grade count as not passed." if ev.no_grade else ""
    rows = [_row(ev, name, result) for name, result in _first_rates(ev)]
    if ev.judge is not None and isinstance(corrected := ev.judge.corrected, Estimate):
        row = forest_row("corrected", JUDGE_TITLES["corrected"], NOTHING, corrected, "percent")
        rows.insert(1, replace(brief_row(row, corrected, "percent"), reference=""))
    body = FirstScreen(
        task="Graded items",
        run=ev.provenance.run_name,
        kicker=tuple(filter(None, (ev.provenance.dataset, ev.size, format_day(ev.provenance.made)))),
        headline=ev.own_headline,
        left=_bars(ev),
        right=None,
        step=NOTHING,
        forest=Forest(
            tuple(rows[:SHOWN_RATES]), heads=("Metric", "Estimate", f"{confidence_percent(ev)} interval", "")
        ),
        wrong=tuple(_problems(ev))[:MOST],
        checks=tuple(_checks(ev)),
        author=(),
        hints=(),
        command=ev.provenance.command,
        below=say(words.strip(), rule=ev.rule),
    )
    return Section("verdict", "Summary", "Summary", "first_screen", NOTHING, body)


def _first_rates(ev: GradedEvaluation) -> list[tuple[str, Estimate]]:
    """Return the pass rate or score, then those of all repeats, then those of missing grades."""
    shown = shown_metrics(ev)
    first = [one for one in shown if one[0] in (PASS, SCORE)]
    repeats = [one for one in shown if one[0].startswith(("pass_at_", "pass_hat_"))][-2:]
    rest = [one for one in shown if one[0] in (PASS_GRADED, NO_GRADE, AGREEMENT)]
    return [*first, *repeats, *rest][:SHOWN_RATES]


def _row(ev: GradedEvaluation, name: str, result: Estimate) -> ForestRow:
    metric = find(name, "graded")
    if metric.high <= 1 or ev.scale == "unit":
        style: Style = "percent" if metric.high <= 1 else "ratio"
        gloss = GLOSS[name] if name in GLOSS and (ev.no_grade or name == AGREEMENT) else ""
        row = forest_row(name, metric.title, say(gloss), result, style)
        return replace(brief_row(row, result, style), reference="")
    row = forest_row(name, metric.title, NOTHING, result, "number")  # ratings have no axis of rates
    return replace(row, at=None, low=None, high=None, past="", reference="")


def _bars(ev: GradedEvaluation) -> CountBars | None:
    """Return how many items pass: with repeats in every attempt, in some, in none."""
    rate = ev.metrics.get(PASS)
    if not isinstance(rate, Estimate):
        return None
    parts: list[tuple[Look, float, str]]
    if ev.repeats is not None:
        never, some = ev.repeats.never, ev.repeats.some
        parts = [("ok", ev.items - never - some, "pass in every attempt")]
        parts += [("none", some, "in some"), ("no", never, "never pass")]
    elif ev.rows > ev.items or ev.weighted:
        return None
    else:
        passed = round(rate.value * ev.items)
        parts = [("ok", passed, "pass"), ("no", ev.items - passed - ev.no_grade, "fail")]
        parts += [("none", ev.no_grade, "no grade")] if ev.no_grade else []
    listed = ", ".join(f"{{part_{k}:count}} {one[2]}" for k, one in enumerate(parts))
    numbers = {f"part_{k}": one[1] for k, one in enumerate(parts)}
    key = tuple((look, count(n), text) for look, n, text in parts)
    bar = make_bar(ev.provenance.unit[1].capitalize(), parts, words=False)
    return CountBars(
        (bar,), tell(ev, f"Of {{n:count}} {{n:units}}: {listed}.", {"n": ev.items, **numbers}), key
    )


def _problems(ev: GradedEvaluation) -> Iterator[SummaryItem]:
    """Yield items that never pass, missing grades, the weakest group and what the judge passes too often."""
    if ev.repeats is not None and ev.repeats.never:
        title = f"{pluralize(ev.repeats.never, *ev.provenance.unit)} never passed"
        yield SummaryItem(title, f"{count(ev.repeats.some)} in some attempts only", "repeats", "failed")
    if ev.no_grade:
        missing = pluralize(ev.no_grade, *ev.row_unit)
        yield SummaryItem(f"{missing} without a grade", "error, timeout or not graded", "metrics", "failed")
    yield from find_weakest_group(ev)
    if ev.judge is not None and isinstance(ev.judge.specificity, Estimate) and ev.judge.disagreements:
        passes = 1 - ev.judge.specificity.value
        detail = f"the judge passes {brief(passes, 'percent')} of what people fail"
        yield SummaryItem("Judge and people differ", detail, "judge", "failed")


def _checks(ev: GradedEvaluation) -> Iterator[SummaryItem]:
    """Yield how well the first rate is known, what the intervals account for; judge and groups."""
    name, known = next(iter(_first_rates(ev)), ("", None))
    in_points = find(name, "graded").high <= 1 if name else False
    if in_points and known is not None and known.low is not None and known.high is not None:
        half = max(known.value - known.low, known.high - known.value)
        title, units = find(name, "graded").title.lower(), ev.provenance.unit[1]
        known_to = f"±{brief(half, 'percent').replace('%', ' points')}"
        if half <= NARROW:
            yield SummaryItem(f"Enough {units}", f"{title} is known to {known_to}")
        else:
            yield SummaryItem(f"Few {units}", f"{title} is known only to {known_to}", "", "failed")
    if ev.clusters is not None and ev.clusters < ev.items:
        yield SummaryItem("Intervals account for groups of items", pluralize(ev.clusters, "group"))
    elif ev.rows > ev.items:
        yield SummaryItem("Intervals are over items", "attempts at an item are not independent")
    if ev.judge is not None:
        found = ev.judge
        agree = brief(found.agreement.value, "percent") if isinstance(found.agreement, Estimate) else "–"
        yield SummaryItem(f"Judge checked by {count(found.n_human)} human grades", f"{agree} agree", "judge")
    if ev.slices:
        yield check_groups(ev, {})


class GradedPresentation(EvaluationPresentation):
    """The report of graded items."""

    of: GradedEvaluation

    @cached_property
    def figures(self) -> dict[str, bytes]:
        """Graded items have no figures."""
        return {}

    def sections(self) -> Sequence[Section]:
        """Return the sections of the page, the summary first."""
        ev = self.of
        made = (
            first_screen(ev),
            repeats_section(ev),
            judge_section(ev),
            groups_section(in_attempts(ev)) if ev.slices or ev.weak_slices else None,
            measures_section(ev),
            examples_section(ev),
            metrics_section(ev),
            provenance_section(ev, _origin(ev)),
        )
        return [section for section in made if section is not None]

    def summary(self) -> ResultSummary:
        """Return the evaluation in a few lines: repeats, judge and measures included."""
        ev, plain = self.of, super().summary()
        metrics = ((find(name, "graded"), result) for name, result in shown_metrics(ev))
        rows = [(metric.title, *value_and_interval(result, metric.style)) for metric, result in metrics]
        rows += [
            (f"{name}, {MEASURE_PARTS[part]}", *value_and_interval(result, "number"))
            for name, parts in ev.measures.items()
            for part, result in parts.items()
        ]
        return replace(plain, rows=tuple(rows[:MOST_ROWS]), cautions=(*ev.statements, *plain.cautions))

    def metrics(self) -> dict[str, float]:
        """Return the numbers that are logged, under their keys."""
        return super().metrics() | dict(_logged_values(self.of, self.prefix))

    def headline_metrics(self) -> dict[str, float]:
        """Return the headline metrics; of measures the mean, of a judge agreement and corrected rate."""
        ends = ("/mean", "judge/agreement", "judge/corrected")
        more = {key: value for key, value in _logged_values(self.of, self.prefix) if key.endswith(ends)}
        return super().headline_metrics() | more

    def tags(self) -> dict[str, str]:
        """Return the tags of a run; that rows are items needs no tag."""
        found = super().tags()
        if self.of.provenance.unit == UNIT:
            found.pop(UNIT_TAG, None)
        return found

    def series(self) -> dict[str, Any]:
        """Graded items have no curves."""
        return {}

    def exports(self) -> dict[str, bytes]:
        """Graded items are in `evaluation.json` alone."""
        return {}


def in_attempts(ev: GradedEvaluation) -> GradedEvaluation:
    """Return the evaluation with the unit of its rows, which slices count."""
    return replace(ev, provenance=replace(ev.provenance, unit=ev.row_unit))


def _origin(ev: GradedEvaluation) -> dict[str, Sentence]:
    """Return the entries of the provenance that are worded for grades."""
    found = {"Rows": tell(ev, "item ids, sha256 `{digest}`", digest=str(ev.label_digest)[:DIGEST] or None)}
    if any(one.text for one in ev.examples):
        found["Example texts"] = say("this page has texts of items that fail")
    if ev.rows > ev.items:
        words = "{rows:count} attempts at {items:count} items; intervals are over items"
        if ev.clusters is not None and ev.clusters < ev.items:
            words = "{rows:count} attempts at {items:count} items; intervals are by group ({groups:count})"
        found["Clusters"] = tell(ev, words, {"rows": ev.rows, "items": ev.items, "groups": ev.clusters})
        found["Weights"] = say("each item has the same weight, whatever its attempts" if ev.weighted else "")
    return found


def _logged_values(ev: GradedEvaluation, prefix: str) -> Iterator[tuple[str, float]]:
    for name, key in metric_keys(ev.measures, f"{prefix}measures/").items():
        for part, result in ev.measures[name].items():
            if isinstance(result, Estimate):
                yield f"{key}/{part}", result.value
    if ev.repeats is not None:
        for part in ("variance_items", "variance_repeats", "never", "some"):
            yield f"{prefix}repeats/{part}", float(getattr(ev.repeats, part))
    if ev.judge is not None:
        for part, result in ev.judge.estimates().items():
            if isinstance(result, Estimate):
                yield f"{prefix}judge/{part}", result.value


def repeats_section(ev: GradedEvaluation) -> Section | None:
    """Return the section on repeats: sources of variance, and items that pass only sometimes."""
    found = ev.repeats
    if found is None:
        return None
    words = (
        "{never:count} of {n:count} {n:units} never pass, and {some:count} pass in some attempts only. "
        "Of the variance of one attempt, {between:percent} is between items and {within:percent} between "
        "attempts at the same item."
    )
    total = found.variance_items + found.variance_repeats
    between = found.variance_items / total if total else 0.0
    values = {"between": between, "within": 1 - between if total else 0.0}
    summary = tell(ev, words, {"never": found.never, "some": found.some, "n": ev.items, **values})
    more = Note(say("More attempts reduce only the part between attempts; more items reduce both."))
    return Section.from_parts("repeats", "Repeats", "Repeats", summary, more)


def judge_section(ev: GradedEvaluation) -> Section | None:
    """Return how well the judge agrees with people, and the corrected pass rate."""
    found = ev.judge
    if found is None:
        return None
    rows = tuple(
        forest_row(name, JUDGE_TITLES[name], NOTHING, result, "ratio" if name == "kappa" else "percent")
        for name, result in found.estimates().items()
    )
    heads = ("Estimate of", "Estimate", f"{confidence_percent(ev)} interval", "")
    parts: list[PagePart] = [Forest(rows, heads=heads)]
    if found.slices:
        titles = ("Slice", "Human grades", "Agreement", Column("Interval", "n"))
        by_slice = [
            (
                f"{one.column} = {one.value}",
                count(one.rows),
                *value_and_interval(one.metrics.get(OF_JUDGE[AGREEMENT]), "percent"),
            )
            for one in found.slices
        ]
        parts.append(Table.from_rows("judge-slices", "Agreement by slice", titles, by_slice))
    if found.disagreements:
        parts.append(Heading("Items that the judge and people grade differently"))
        columns: list[tuple[Column, Callable[[Disagreement], str]]] = [
            (Column("Item"), lambda one: one.id),
            (Column("Judge"), lambda one: one.judge),
            (Column("People"), lambda one: one.human),
        ]
        if any(one.text for one in found.disagreements):
            columns.append((Column("Text", "text"), lambda one: one.text or ""))
        parts.append(
            Table.from_items("judge-items", "Disagreements", columns, found.disagreements, tall=True)
        )
    words = judge_sentence(found) + say("The items with human grades must be a random sample.")
    return Section.from_parts("judge", "Judge", "Judge and people", words, *parts)


MEASURE_PARTS = {"mean": "mean", "median": "median", "p95": "95th percentile"}


def measures_section(ev: GradedEvaluation) -> Section | None:
    """Return the measures: mean, median and 95th percentile."""
    if not ev.measures:
        return None
    level = f"{confidence_percent(ev)} interval"
    heads = ("Measure", "Mean", "Median", level, "95th percentile", level)
    rows = [
        (
            name,
            value_and_interval(parts["mean"], "number")[0],
            *(text for part in ("median", "p95") for text in value_and_interval(parts[part], "number")),
        )
        for name, parts in ev.measures.items()
    ]
    table = Table.from_rows("measures-table", "Measures", heads, rows)
    reasons = {
        (part, result.reason)
        for parts in ev.measures.values()
        for part, result in parts.items()
        if result.reason and result.reason != NOT_ASKED
    }
    notes = (
        Note(say("{part}: {reason}.", part=MEASURE_PARTS[part].capitalize(), reason=reason))
        for part, reason in sorted(reasons)
    )
    return Section.from_parts("measures", "Measures", "Measures", NOTHING, table, *notes)


def examples_section(ev: GradedEvaluation) -> Section | None:
    """Return items that fail; those that some attempts pass come first."""
    if not ev.examples or PASS not in ev.metrics:
        return None
    columns: list[tuple[Column, Callable[[GradedExample], str]]] = [(Column("Item"), lambda one: one.id)]
    words = "The first {n:count} {n:units} that do not pass."
    if ev.rows > ev.items:
        words = "The first {n:count} {n:units} that do not pass in every attempt."
        columns += [
            (Column("Passes", "n"), lambda one: count(one.passed)),
            (Column("Attempts", "n"), lambda one: count(one.attempts)),
        ]
    if any(one.no_grade for one in ev.examples):
        columns.append((Column("No grade", "n"), lambda one: count(one.no_grade)))
    if any(one.text for one in ev.examples):
        columns.append((Column("Text", "text"), lambda one: one.text or ""))
    table = Table.from_items("examples-table", "Items that fail", columns, ev.examples, tall=True)
    summary = tell(ev, words, n=len(ev.examples))
    return Section.from_parts("examples", "Examples", "Items that fail", summary, table)
