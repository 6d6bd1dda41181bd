"""What of a comparison, of runs or of systems, stands in an MLflow run and in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalreport.comparison.comparison import Comparison
from evalreport.core.json_codec import dumps, encode
from evalreport.features.systems.result import SystemResult, SystemsComparison
from evalreport.page.contents import LONGEST_VERDICT, lasting
from evalreport.page.csv_tables import as_csv
from evalreport.page.payload import (
    COMPARISON,
    COMPARISON_PAGE,
    MAX_STEPS,
    VERSION_TAG,
    Payload,
    Series,
    content_digest,
    metric_keys,
)
from evalreport.page.summary import described

SYSTEMS_PREFIX = "systems/"
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
    keys = metric_keys(short.values(), SYSTEMS_PREFIX)
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


PREFIX = "compare/"
LONGEST_RUN = 100
"""Letters of a run's name in a metric key."""


def comparison_payload(
    comparison: Comparison | SystemsComparison,
    content: Mapping[str, Any],
    page: str,
    *,
    version: str,
    notes: str = "",
) -> Payload:
    """Return everything that is logged of a comparison.

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
    series: dict[str, Series] = {}
    if isinstance(comparison, SystemsComparison):
        made_of: list[Any] = []
        metrics, series = systems_metrics(comparison)
    else:
        made_of = [[lasting(encode(ev)) for ev in comparison.evaluations]]
        metrics = differences(comparison)
    return Payload(
        digest=content_digest(dict(content), *made_of, version, notes),
        metrics=metrics,
        series=series,
        tags={VERSION_TAG: version, "evalreport.comparison": verdict[:LONGEST_VERDICT]},
        description=described(comparison, COMPARISON_PAGE),
        artifacts={COMPARISON_PAGE: page.encode(), COMPARISON: dumps(content).encode()},
        part="comparison",
    )


def comparison_files(
    comparison: Comparison | SystemsComparison, content: Mapping[str, Any], page: str
) -> dict[str, bytes]:
    """Return the files of ``--out``: page, `comparison.json`, every difference and system as CSV."""
    files = {COMPARISON_PAGE: page.encode(), "comparison.json": dumps(content).encode()}
    names = ["metric", "run", "baseline", "difference", "low", "high", "p", "p_adjusted", "verdict"]
    rows: list[Any] = list(comparison.differences)
    if isinstance(comparison, SystemsComparison):
        files["systems.csv"] = as_csv(systems_table(comparison))
    else:
        rows += comparison.parts
        names.insert(3, "scope")
    return files | {"differences.csv": as_csv({name: [getattr(d, name) for d in rows] for name in names})}


def differences(comparison: Comparison) -> dict[str, float]:
    """Return the metrics of the differences: ``compare/recall_difference`` with ``_low`` and ``_high``.

    Of more than two runs the run's name comes between; of all against all, only the primary metric.
    """
    found: dict[str, float] = {}
    chosen = comparison.differences
    if comparison.baseline is None:
        chosen = comparison.of(comparison.primary)
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
