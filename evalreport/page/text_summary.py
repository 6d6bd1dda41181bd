"""An evaluation or a comparison in a few lines, for a notebook.

A short summary of a result as Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.comparison.comparison import Comparison
from evalreport.core.format import threshold
from evalreport.core.result import Estimate, Finding, Undefined, format_estimate, interval
from evalreport.core.sentences import NOTHING
from evalreport.core.text import break_links
from evalreport.evaluation.evaluation import Evaluation
from evalreport.metrics.catalogue import DESCRIBED, HEADLINE, find, telling
from evalreport.metrics.own import is_own
from evalreport.page.elements import ForestRow, forest_row
from evalreport.page.sections.headline import headline

FEW = 12
"""Maximum number of selected metrics, which are all shown."""
BRIEF_MOST_FINDINGS = 5
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
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
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
        findings=ev.findings[:BRIEF_MOST_FINDINGS],
        more=max(0, len(ev.findings) - BRIEF_MOST_FINDINGS),
        metrics=len(ev.metrics),
    )


def headline_names(ev: Evaluation) -> tuple[str, ...]:
    """Return the names of the headline metrics that the evaluation has."""
    parsed = () if ev.parsing is None else ("accuracy_parsed", "parse_rate")
    asked = tuple(name for name in ev.metrics if "@" in name or is_own(name))
    known = telling(HEADLINE[ev.task], ev.space)
    return tuple(name for name in (*known, *parsed, *asked) if name in ev.metrics)


def title(ev: Evaluation) -> str:
    """Return the name (where there is one), the task and the size, as one line."""
    parts = [ev.task, ev.size]
    if ev.task not in ("binary", "graded"):
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
    return Line(name, metric.title, format_estimate(result, metric.style), limits, inside)


BRIEF_MOST_ROWS = 40
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
    from evalreport.page.comparison.table import DIFFERENCE_COLUMNS, head_texts, row_texts
    from evalreport.page.comparison.wording import headline, shared_pairing

    two = len(comparison.pairings) == 1
    chosen = comparison.differences if two else comparison.differences_for(comparison.primary)
    names = (chosen[0].baseline, chosen[0].run) if two else ("baseline", "run")
    known = {"level": f"{comparison.level * 100:.10g}%", "baseline": names[0], "run": names[1]}
    more = len(chosen) - BRIEF_MOST_ROWS
    tail = f" {more} more pairs: .differences" if more > 0 else ""
    return ComparisonBrief(
        headline=headline(comparison).text,
        heads=("metric" if two else "pair", *head_texts(DIFFERENCE_COLUMNS, known, short=True)),
        rows=tuple(
            (
                d.metric if two else f"{d.run} against {d.baseline}",
                *row_texts(DIFFERENCE_COLUMNS, d).values(),
            )
            for d in chosen[:BRIEF_MOST_ROWS]
        ),
        matched=(shared_pairing(comparison).text or "Pairs were matched differently: .pairings") + tail,
        notes=comparison.notes,
    )


_MARKDOWN = re.compile(r"([\\`*_\[\]#|~$])")


def as_text(text: str) -> str:
    """Return text that Markdown shows as it is, on one line; no link and no mention arises from it.

    Addresses and names after ``@`` are broken by a space of no width.

    Examples
    --------
    >>> as_text("a*b <script>")
    'a\\\\*b &lt;script&gt;'
    >>> as_text("@ada http://x.org").replace("\\u200b", "|")
    '@|ada http:|//x.org'
    """
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", break_links(plain))


MOST_FINDINGS = 3
"""Cautions that a summary repeats: it is pasted where a paragraph is read."""
MOST_ROWS = 20
"""Rows of the table: those of a comparison or a search may be many."""


@dataclass(frozen=True)
class ResultSummary:
    """A short summary of a result.

    Parameters
    ----------
    verdict : str
        One sentence, plain text.
    about : str
        Of what: name, task, size.
    heads : tuple of str
    rows : tuple of tuple of str
        A table of texts; the first column is words, the others are numbers.
    cautions : tuple of str
    """

    verdict: str
    about: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    cautions: tuple[str, ...] = ()


def described_metrics(ev: Evaluation) -> list[tuple[str, Estimate]]:
    """Return the metrics that a summary of an evaluation names."""
    names = telling(DESCRIBED[ev.task], ev.space)
    return [(name, r) for name in names if isinstance(r := ev.metrics.get(name), Estimate)]


def markdown(summary: ResultSummary) -> str:
    """Return a summary in the Markdown of GitHub, GitLab and MLflow; untrusted names are escaped.

    Examples
    --------
    >>> print(markdown(ResultSummary("Finds 3 of 4.", "", ("Metric", "Estimate"), (("Recall", "75%"),))))
    **Finds 3 of 4.**
    <BLANKLINE>
    | Metric | Estimate |
    |---|---:|
    | Recall | 75% |
    """
    parts = [f"**{as_text(summary.verdict)}**"]
    if summary.about:
        parts.append(as_text(summary.about))
    if summary.rows:
        rule = "|---|" + "---:|" * (len(summary.heads) - 1)
        parts.append("\n".join([_markdown_row(summary.heads), rule, *map(_markdown_row, summary.rows)]))
    if summary.cautions:
        parts.append("\n".join(f"- {as_text(caution)}" for caution in summary.cautions))
    return "\n\n".join(parts)


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(as_text, cells)) + " |"
