"""An evaluation or a comparison in a few lines, for a notebook.

A result in a few lines, to carry elsewhere: one value, as Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from evalreport.comparison.comparison import Comparison, Difference
from evalreport.core.estimate_format import interval, value_and_interval, valued
from evalreport.core.format import threshold
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import Estimate, Finding, Result, Undefined
from evalreport.core.text import unlinked
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.features.studies.study import Study
from evalreport.features.systems.result import SystemsComparison
from evalreport.metrics.catalogue import DESCRIBED, HEADLINE, find, telling
from evalreport.page.elements import ForestRow, forest_row
from evalreport.page.evaluation_terms import objective_style, objective_title
from evalreport.page.sections.headline import headline
from evalreport.page.sentences import NOTHING

FEW = 12
"""Metrics up to which all are shown: somebody asked for these."""
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
    from evalreport.page.comparison.sentences import headline, same_matching

    two = len(comparison.pairings) == 1
    chosen = comparison.differences if two else comparison.of(comparison.primary)
    names = (chosen[0].baseline, chosen[0].run) if two else ("baseline", "run")
    more = len(chosen) - BRIEF_MOST_ROWS
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
        rows=tuple(_difference_row(d, two=two) for d in chosen[:BRIEF_MOST_ROWS]),
        matched=(same_matching(comparison).text or "Pairs were matched differently: .pairings") + tail,
        notes=comparison.notes,
    )


def _difference_row(d: Difference, *, two: bool) -> tuple[str, ...]:
    from evalreport.page.comparison.difference_text import stated
    from evalreport.page.comparison.sentences import verdict

    shown = stated(d)
    name = d.metric if two else f"{d.run} against {d.baseline}"
    return (name, shown.before, shown.after, shown.gap, shown.limits, verdict(d).text)


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
    return _MARKDOWN.sub(r"\\\1", unlinked(plain))


MOST_FINDINGS = 3
"""Cautions that a summary repeats: it is pasted where a paragraph is read."""
MOST_ROWS = 20
"""Rows of the table: those of a comparison or a search may be many."""
Concluded: TypeAlias = Evaluation | Comparison | SystemsComparison | ThresholdSelection | Study
"""What has a summary."""


@dataclass(frozen=True)
class ResultSummary:
    """What is said of a result in a few lines.

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


def summary_of(made: Concluded) -> ResultSummary:
    """Return the summary of an evaluation, a comparison, or what a sweep found."""
    match made:
        case Evaluation():
            return _of_evaluation(made)
        case Comparison():
            return _of_comparison(made)
        case SystemsComparison():
            return _of_systems(made)
        case ThresholdSelection():
            return _of_thresholds(made)
        case Study():
            return _of_study(made)


def described(made: Concluded, whole: str) -> str:
    """Return our block of a run's description.

    Parameters
    ----------
    whole : str
        Where all of it is: an artifact.
    """
    compared = {Comparison: "comparison", SystemsComparison: "comparison"}
    kind = {Evaluation: "report", **compared}.get(type(made), "sweep")
    short = replace(summary_of(made), about="")
    return f"{markdown(short)}\n\nThe whole {kind} is the artifact `{whole}`."


def _described(ev: Evaluation) -> list[tuple[str, Estimate]]:
    names = telling(DESCRIBED[ev.task], ev.space)
    return [(name, r) for name in names if isinstance(r := ev.metrics.get(name), Estimate)]


def _of_evaluation(ev: Evaluation) -> ResultSummary:
    known = _described(ev)
    styles = {name: find(name, ev.task) for name, _ in known}
    rows = [(styles[n].title, valued(r, styles[n].style), interval(r, styles[n].style)) for n, r in known]
    weighty = [finding.claim for finding in ev.findings if finding.severity != "note"]
    heads = ("Metric", "Estimate", f"{ev.sampling.level * 100:g}% interval")
    cautions = tuple(weighty[:MOST_FINDINGS])
    return ResultSummary(headline(ev).text, title(ev), heads, tuple(rows), cautions)


def _of_comparison(comparison: Comparison) -> ResultSummary:
    from evalreport.page.comparison.sentences import headline

    two = len(comparison.pairings) == 1
    chosen = comparison.differences if two else comparison.of(comparison.primary)
    level = f"{comparison.evaluations[0].sampling.level * 100:g}%"
    return ResultSummary(
        headline(comparison).text,
        " and ".join(comparison.names) if two else f"{len(comparison.names)} runs",
        ("Metric" if two else "Run", "Difference", f"{level} interval", "Verdict"),
        tuple(_difference(d, two=two) for d in chosen[:MOST_ROWS]),
    )


def _difference(d: Difference, *, two: bool) -> tuple[str, ...]:
    from evalreport.page.comparison.difference_text import stated

    shown = stated(d)
    name = find(d.metric).title if two else f"{d.run} against {d.baseline}"
    return (name, shown.gap, shown.limits, d.verdict.replace("_", " "))


def _of_systems(found: SystemsComparison) -> ResultSummary:
    from evalreport.features.systems.page import headline, result_of

    style = find(found.primary, found.task).style
    results = {one.system: result_of(one, found) for one in found.systems}
    rows = [
        (name, valued(result, style), interval(result, style))
        for name, result in results.items()
        if isinstance(result, Estimate)
    ]
    title = find(found.primary, found.task).title
    return ResultSummary(
        headline(found).text,
        f"{len(found.systems)} systems of {sum(len(one.runs) for one in found.systems)} runs",
        ("System", f"Mean {title}", f"{found.level * 100:g}% interval"),
        tuple(rows),
        found.notes[:MOST_FINDINGS],
    )


def _of_thresholds(found: ThresholdSelection) -> ResultSummary:
    from evalreport.page.sections.threshold_selection import headline

    values: list[tuple[str, str, str, Result | None]] = []
    for name, best in found.optima.items():
        value = None if best.out_of_sample is None else best.out_of_sample.value
        values.append((name, threshold_text(best.threshold), best.metric, value))
    for name, cut in found.cutoffs.items():
        values.append((name, threshold_text(cut.threshold), "accuracy", cut.out_of_sample.kept))
    for name, chosen in found.tuned.items():
        values.append((name, f"{len(chosen.values)} values", name, chosen.out_of_sample.value))
    return ResultSummary(
        headline(found).text,
        title(found.evaluation),
        ("Chosen for", "Threshold", "Elsewhere", f"{found.evaluation.sampling.level * 100:g}% interval"),
        tuple((objective_title(name), at, *_elsewhere(value, metric)) for name, at, metric, value in values),
        found.doubts[:MOST_FINDINGS],
    )


def _elsewhere(value: Result | None, metric: str) -> tuple[str, str]:
    return value_and_interval(value, objective_style(metric))


def _of_study(study: Study) -> ResultSummary:
    from evalreport.features.studies.page import headline

    best = study.best.params.items() if study.trials.contenders else ()
    rows = tuple((name, str(value)) for name, value in best)
    name = study.trials.study_name or study.provenance.run_name or "Sweep"
    about = f"{name}, {len(study.trials):,} trials, {study.objective.name}"
    return ResultSummary(headline(study).text, about, ("Parameter", "Best trial"), rows[:MOST_ROWS])


def markdown(summary: ResultSummary) -> str:
    """Return a summary in the Markdown of GitHub, GitLab and MLflow; names of strangers stand in it as text.

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
        parts.append("\n".join([_piped(summary.heads), rule, *map(_piped, summary.rows)]))
    if summary.cautions:
        parts.append("\n".join(f"- {as_text(caution)}" for caution in summary.cautions))
    return "\n\n".join(parts)


def _piped(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(as_text, cells)) + " |"
