"""The first screen: what the model gets wrong, in counts of real things, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evalreport.evaluation.model import Evaluation
from evalreport.format import count
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.panels.about import is_text, units
from evalreport.panels.history import dated
from evalreport.panels.intervals import Forest
from evalreport.panels.parts import Section
from evalreport.panels.verdict.forest import forest
from evalreport.panels.verdict.headline import headline
from evalreport.panels.verdict.summary import summary
from evalreport.panels.words import Sentence, with_options
from evalreport.values import Finding

MOST = 5
"""Warnings that are shown; the others are folded away."""
WORDS = {"error": "Warning.", "caution": "Caution.", "note": "Note."}


@dataclass(frozen=True)
class Warned:
    """A finding as the page shows it: its word, claim, what to do, and the section that shows more."""

    severity: str
    word: str
    claim: str
    action: Sentence
    section: str


@dataclass(frozen=True)
class Verdict:
    """Kicker, headline, summary, forest table and warnings.

    Parameters
    ----------
    task, run : str
        First parts of the kicker.
    kicker : tuple of str
        Its other parts: data set, number of examples, date.
    """

    task: str
    run: str
    kicker: tuple[str, ...]
    headline: Sentence
    summary: Sentence
    forest: Forest
    warnings: tuple[Warned, ...]
    more: tuple[Warned, ...]


def panel(ev: Evaluation) -> Section:
    """Return the verdict of an evaluation."""
    warnings = tuple(map(_warned, ev.findings))
    body = Verdict(
        task=task_name(ev),
        run=ev.provenance.run_name,
        kicker=_kicker(ev),
        headline=headline(ev),
        summary=summary(ev),
        forest=forest(ev),
        warnings=warnings[:MOST],
        more=warnings[MOST:],
    )
    return Section("verdict", "Verdict", "Verdict", "verdict", Sentence(), body)


def task_name(ev: Evaluation) -> str:
    """Return the kind of problem in words."""
    text = ", labels read from text" if is_text(ev) else ""
    match ev.space:
        case Binary():
            return f"Binary classification{text}"
        case Multiclass():
            return f"{count(len(ev.space))}-class classification{text}"
        case Multilabel():
            return f"Multilabel classification{text}"


def _kicker(ev: Evaluation) -> tuple[str, ...]:
    labels = f", {count(len(ev.space))} labels" if isinstance(ev.space, Multilabel) else ""
    known = ev.facts.get("effective_n")
    effective = "" if known is None else f" (effective {count(round(known))})"
    weighted = ", weighted" if ev.weighted else ""
    rows = f"{count(ev.rows)} {units(ev, ev.rows)}{labels}{weighted}{effective}"
    return tuple(filter(None, (ev.provenance.dataset, rows, _date(ev.provenance.made))))


def _date(made: str) -> str:
    """The day of a time that begins as ISO 8601 does: "21 Nov 2026"; other text as it stands."""
    try:
        return dated(datetime.fromisoformat(made[:10]), year=True)
    except ValueError:
        return made


def _warned(finding: Finding) -> Warned:
    return Warned(
        finding.severity,
        WORDS[finding.severity],
        finding.claim,
        with_options(finding.action),
        finding.section,
    )
