"""An evaluation or a comparison in a few lines, for a notebook."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.comparison.values import Comparison, Difference
from evalreport.estimates import interval, valued
from evalreport.evaluation.model import Evaluation
from evalreport.format import threshold
from evalreport.metrics.catalogue import find, telling
from evalreport.metrics.named_sets import HEADLINE
from evalreport.panels.intervals import ForestRow, forest_row
from evalreport.panels.verdict.headline import headline
from evalreport.panels.words import NOTHING
from evalreport.values import Finding, Undefined

FEW = 12
"""Metrics up to which all are shown: somebody asked for these."""
MOST_FINDINGS = 5
"""Findings that are spelled out."""


@dataclass(frozen=True)
class Line:
    """One metric: its name and title, its value, its interval or why there is none, and where it is drawn."""

    name: str
    title: str
    value: str
    interval: str
    row: ForestRow | None = None


@dataclass(frozen=True)
class Brief:
    """What a small table of an evaluation says.

    Parameters
    ----------
    title : str
        Name, task and size.
    verdict : str
        One sentence.
    level : str
        Of the intervals, as ``95%``.
    lines : tuple of Line
    findings : tuple of Finding
        The weightiest.
    more : int
        Findings that are not spelled out.
    metrics : int
        Metrics in all.
    """

    title: str
    verdict: str
    level: str
    lines: tuple[Line, ...]
    findings: tuple[Finding, ...]
    more: int
    metrics: int


def brief(ev: Evaluation) -> Brief:
    """Return the headline metrics and the weightiest findings.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> made = brief(evaluate_predictions(predictions(Binary(0, 1), [0, 1, 1, 0], [0, 1, 0, 0])))
    >>> made.title, made.lines[0].name
    ('binary, 4 cases', 'recall')
    """
    shown = tuple(ev.metrics) if len(ev.metrics) <= FEW else headline_names(ev)
    return Brief(
        title=title(ev),
        verdict=headline(ev).text,
        level=f"{ev.sampling.level * 100:.10g}%",
        lines=tuple(_line(ev, name) for name in shown),
        findings=ev.findings[:MOST_FINDINGS],
        more=max(0, len(ev.findings) - MOST_FINDINGS),
        metrics=len(ev.metrics),
    )


def headline_names(ev: Evaluation) -> tuple[str, ...]:
    """Return the names of the headline metrics that the evaluation has."""
    parsed = () if ev.parsing is None else ("accuracy_parsed", "parse_rate")
    asked = tuple(name for name in ev.metrics if "@" in name)
    known = telling(HEADLINE[ev.task], ev.space)
    return tuple(name for name in (*known, *parsed, *asked) if name in ev.metrics)


def title(ev: Evaluation) -> str:
    """Return the name (where there is one), the task and the size, as one line."""
    parts = [ev.task, f"{ev.rows:,} {ev.provenance.unit[0 if ev.rows == 1 else 1]}"]
    if ev.task != "binary":
        parts.insert(1, f"{len(ev.space)} labels")
    if ev.threshold is not None and isinstance(ev.threshold.value, float):
        parts.append(f"threshold {threshold(ev.threshold.value)} ({ev.threshold.origin})")
    name = ev.provenance.title or ev.provenance.run_name or ev.provenance.source
    return "  ".join(filter(None, (name, ", ".join(parts))))


def _line(ev: Evaluation, name: str) -> Line:
    metric, result = find(name, ev.task), ev.metrics[name]
    if isinstance(result, Undefined):
        return Line(name, metric.title, "", f"undefined: {result.reason}")
    known = result.low is not None and result.high is not None
    limits = interval(result, metric.style) if known else result.reason or ""
    row = forest_row(name, metric.title, NOTHING, result, metric.style, reference=ev.no_skill.get(name))
    inside = row if known and metric.style != "number" else None
    return Line(name, metric.title, valued(result, metric.style), limits, inside)


MOST_ROWS = 40
"""Rows that are shown."""


@dataclass(frozen=True)
class ComparisonBrief:
    """What a small table of a comparison says: its verdict, a row per difference, how runs were matched."""

    headline: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    matched: str
    notes: tuple[str, ...]


def comparison_brief(comparison: Comparison) -> ComparisonBrief:
    """Return every difference of two runs; of more, those by the primary metric.

    Parameters
    ----------
    comparison : Comparison
    """
    from evalreport.panels.comparison.words import headline, same_matching

    two = len(comparison.pairings) == 1
    chosen = comparison.differences if two else comparison.of(comparison.primary)
    names = (chosen[0].baseline, chosen[0].run) if two else ("baseline", "run")
    more = len(chosen) - MOST_ROWS
    tail = f" {more} more pairs: .differences" if more > 0 else ""
    return ComparisonBrief(
        headline=headline(comparison).text,
        heads=(
            "metric" if two else "pair",
            *names,
            "difference",
            f"{comparison.level * 100:.10g}%",
            "verdict",
        ),
        rows=tuple(_difference_row(d, two=two) for d in chosen[:MOST_ROWS]),
        matched=(same_matching(comparison).text or "Pairs were matched differently: .pairings") + tail,
        notes=comparison.notes,
    )


def _difference_row(d: Difference, *, two: bool) -> tuple[str, ...]:
    from evalreport.panels.comparison.stated import stated
    from evalreport.panels.comparison.words import verdict

    shown = stated(d)
    name = d.metric if two else f"{d.run} against {d.baseline}"
    return (name, shown.before, shown.after, shown.gap, shown.limits, verdict(d).text)
