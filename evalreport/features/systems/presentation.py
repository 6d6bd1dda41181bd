"""A comparison of systems, each of several runs, as it is shown, written and logged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final

from evalreport.comparison.verdicts import ranking
from evalreport.features.systems import page
from evalreport.features.systems.result import SystemsComparison
from evalreport.page.comparison.payload import ComparisonBase
from evalreport.page.comparison.table import (
    DIFFERENCE_COLUMNS,
    RANKING_COLUMNS,
    head_texts,
    ranking_rows,
    row_texts,
    table_data,
)
from evalreport.page.csv_tables import as_csv
from evalreport.page.elements import Section
from evalreport.page.payload import MAX_STEPS, Series, metric_keys
from evalreport.page.summary import MOST_FINDINGS, ResultSummary

PANELS: Final[tuple[Callable[[SystemsComparison], Section], ...]] = (
    page.verdict_section,
    page.differences,
    page.sources,
    page.answers,
    page.values,
    page.provenance,
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
        return page.headline(self.of).text

    def sections(self) -> Sequence[Section]:
        """Return the sections of the page, the verdict first."""
        return [panel(self.of) for panel in PANELS]

    @property
    def intervals(self) -> str:
        """What the last line of the page says of the intervals."""
        return f" · intervals are {self.of.level * 100:.10g}%"

    def summary(self) -> ResultSummary:
        """Return the systems ranked by the mean of the primary metric."""
        found, metric = self.of, page.main_metric(self.of)
        results = {one.system: page.result_of(one, found) for one in found.systems}
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
