"""What of a comparison of systems stands in an MLflow run, and in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalreport.codec import dumps
from evalreport.comparison.system_values import SystemResult, SystemsComparison
from evalreport.report.contents import LONGEST_VERDICT
from evalreport.report.keys import metric_keys
from evalreport.report.names import COMPARISON, COMPARISON_PAGE, VERSION_TAG
from evalreport.report.payload import MAX_STEPS, Payload, Series, content_digest
from evalreport.report.summary import described
from evalreport.report.tables import as_csv

PREFIX = "systems/"
LONGEST_SYSTEM = 100
"""Letters of a system's name in a metric key."""


def systems_payload(
    found: SystemsComparison, content: Mapping[str, Any], page: str, *, version: str, notes: str = ""
) -> Payload:
    """Return everything that is logged of a comparison of systems.

    Parameters
    ----------
    content : mapping
        The comparison as JSON, with its `headline`.
    page : str
        HTML.
    version : str
        Of evalreport.
    notes : str
        Of the page.
    """
    verdict = str(content["headline"])
    keys = _keys(found)
    return Payload(
        digest=content_digest(dict(content), version, notes),
        metrics={key: value for one in found.systems for key, value in _means(keys[one.system], one)},
        series={key: values for one in found.systems for key, values in _runs(keys[one.system], one)},
        tags={VERSION_TAG: version, "evalreport.comparison": verdict[:LONGEST_VERDICT]},
        description=described(found, COMPARISON_PAGE),
        artifacts={COMPARISON_PAGE: page.encode(), COMPARISON: dumps(content).encode()},
        part="comparison",
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


def systems_files(found: SystemsComparison, content: Mapping[str, Any], page: str) -> dict[str, bytes]:
    """Return the files of ``--out``: the page, `comparison.json`, systems and differences as CSV."""
    names = ("metric", "run", "baseline", "difference", "low", "high", "p", "p_adjusted", "verdict")
    every = [(one.system, name, value) for one in found.systems for name, value in one.metrics.items()]
    ends = ("value", "low", "high", "best_run_flatters", "standard_error", "df")
    systems: dict[str, list[Any]] = {
        "system": [system for system, _, _ in every],
        "metric": [name for _, name, _ in every],
        "runs": [len(value.values) for _, _, value in every],
    }
    systems |= {end: [getattr(value, end) for _, _, value in every] for end in ends}
    return {
        COMPARISON_PAGE: page.encode(),
        "comparison.json": dumps(content).encode(),
        "systems.csv": as_csv(systems),
        "differences.csv": as_csv({name: [getattr(d, name) for d in found.differences] for name in names}),
    }
