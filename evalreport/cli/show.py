"""How an evaluation is printed in a terminal and in JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from evalreport.cli.console import Console
from evalreport.format import fixed

if TYPE_CHECKING:
    from evalreport.evaluation.model import Evaluation


def as_run(ev: Evaluation) -> dict[str, Any]:
    """Return an evaluation as an element of `runs` in the JSON output."""
    body: dict[str, Any] = json.loads(ev.to_json())
    origin = ev.provenance
    return {
        "run_id": origin.run_id or None,
        "run_name": origin.run_name,
        "source": origin.source,
        "ok": True,
        **body,
    }


def print_evaluation(
    console: Console, ev: Evaluation, taken: Sequence[tuple[str, str]], line: Callable[[str], None]
) -> None:
    """Print what was taken for what and the warnings on stderr, then the headline metrics by `line`."""
    from evalreport.metrics.catalogue import HEADLINE

    console.say("took " + ", ".join(f"{part} {value}" for part, value in taken))
    for finding in ev.findings:
        if finding.severity != "note":
            console.warn(finding.claim)
    line(title(ev))
    names = [name for name in HEADLINE[ev.task] if name in ev.metrics] or list(ev.metrics)[:8]
    if ev.parsing is not None:
        names = [*names, "accuracy_parsed", "parse_rate"]
    for name in names:
        if name in ev.metrics:
            line("  " + metric_line(ev, name))


def title(ev: Evaluation) -> str:
    """Return the line that names the run, its task and its size.

    One of ``calm-heron-412  binary, 285 cases, threshold 0.50``.
    """
    parts = [ev.task, f"{ev.rows:,} {ev.provenance.unit[0 if ev.rows == 1 else 1]}"]
    if ev.task != "binary":
        parts.insert(1, f"{len(ev.space)} labels")
    if ev.threshold is not None and isinstance(ev.threshold.value, float):
        parts.append(f"threshold {_cut(ev.threshold.value)} ({ev.threshold.origin})")
    name = ev.provenance.title or ev.provenance.run_name or ev.provenance.source or "evaluation"
    return f"{name}  {', '.join(parts)}"


def _cut(threshold: float) -> str:
    return fixed(threshold, 2) if math.isfinite(threshold) else "above all scores"


def metric_line(ev: Evaluation, name: str) -> str:
    """Return a metric with its interval, or why it is undefined."""
    result = ev.metrics[name]
    if result.value is None:
        return f"{name:26} undefined: {result.as_dict()['reason']}"
    data = result.as_dict()
    limits = "" if data["low"] is None else f"   {fixed(data['low'], 3)} to {fixed(data['high'], 3)}"
    return f"{name:26} {fixed(result.value, 3)}{limits}"
