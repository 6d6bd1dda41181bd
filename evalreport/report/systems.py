"""The numbers of a comparison of systems in an MLflow run, and its tables in a folder."""

from __future__ import annotations

from typing import Any

from evalreport.comparison.system_values import SystemResult, SystemsComparison
from evalreport.report.keys import metric_keys
from evalreport.report.payload import MAX_STEPS, Series

PREFIX = "systems/"
LONGEST_SYSTEM = 100
"""Letters of a system's name in a metric key."""


def systems_metrics(found: SystemsComparison) -> tuple[dict[str, float], dict[str, Series]]:
    """Return the metrics of the systems, and those with a step for each run."""
    keys = _keys(found)
    return (
        {key: value for one in found.systems for key, value in _means(keys[one.system], one)},
        {key: values for one in found.systems for key, values in _runs(keys[one.system], one)},
    )


def _keys(found: SystemsComparison) -> dict[str, str]:
    """Where the metrics of each system stand."""
    short = {
        one.system: one.system[:LONGEST_SYSTEM].replace("/", "_")
        + ("" if len(one.system) <= LONGEST_SYSTEM else f"-{k}")
        for k, one in enumerate(found.systems)
    }
    keys = metric_keys(short.values(), PREFIX)
    return {name: f"{keys[key]}/" for name, key in short.items()}


def _means(key: str, one: SystemResult) -> list[tuple[str, float]]:
    """``systems/NAME/accuracy`` with ``_low`` and ``_high``: what MLflow draws as bars."""
    ends = [
        (f"{key}{name}{end}", found)
        for name, value in one.metrics.items()
        for end, found in (("", value.value), ("_low", value.low), ("_high", value.high))
    ]
    return [(name, value) for name, value in ends if value is not None]


def _runs(key: str, one: SystemResult) -> list[tuple[str, Series]]:
    """``systems/NAME/accuracy_by_run``: a step for each run, drawn as a line over runs."""
    found = []
    for name, metric in one.metrics.items():
        steps = tuple((k, v) for k, v in enumerate(metric.values[:MAX_STEPS], 1) if v is not None)
        if steps:
            found.append((f"{key}{name}_by_run", steps))
    return found


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
