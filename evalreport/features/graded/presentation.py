"""Graded items as they are shown, written and logged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from evalreport.core.estimate_format import value_and_interval
from evalreport.core.format import count
from evalreport.core.result import Estimate
from evalreport.core.sentences import NOTHING, Sentence, say
from evalreport.features.graded.evaluation import UNIT, GradedEvaluation, GradedExample, judge_sentence
from evalreport.features.graded.first_screen import first_screen, shown_metrics
from evalreport.features.graded.judge import Disagreement
from evalreport.features.graded.metrics import (
    AGREEMENT,
    JUDGE_TITLES,
    OF_JUDGE,
    PASS,
)
from evalreport.intervals.interval_settings import NOT_ASKED
from evalreport.metrics.catalogue import find
from evalreport.page.contents import EvaluationPresentation
from evalreport.page.elements import Column, Forest, Heading, Note, PagePart, Section, Table, forest_row
from evalreport.page.evaluation_terms import confidence_percent, tell
from evalreport.page.payload import UNIT_TAG, metric_keys
from evalreport.page.sections.appendix import DIGEST, metrics_section, provenance_section
from evalreport.page.sections.classes import groups_section
from evalreport.page.text_summary import MOST_ROWS, ResultSummary


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
        return super().metrics() | dict(_logged(self.of, self.prefix))

    def headline_metrics(self) -> dict[str, float]:
        """Return the headline metrics; of measures the mean, of a judge agreement and corrected rate."""
        ends = ("/mean", "judge/agreement", "judge/corrected")
        more = {key: value for key, value in _logged(self.of, self.prefix) if key.endswith(ends)}
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


def _logged(ev: GradedEvaluation, prefix: str) -> Iterator[tuple[str, float]]:
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
