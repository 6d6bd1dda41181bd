"""The metrics of the first screen, each with what it is in plain words; the head of a page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from evalreport.core.format import brief, count, format_date
from evalreport.core.result import Estimate, Finding
from evalreport.core.sentences import Sentence, with_options
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import by_order
from evalreport.metrics.catalogue import OF_ORDER, find
from evalreport.page.elements import Forest, ForestRow, forest_row
from evalreport.page.evaluation_terms import (
    confidence_percent,
    is_text,
    metric,
    tell,
    units,
    unread,
)

ROWS = 4
"""Most rows of the table."""
TOP = 8
"""Classes from which on the right answer among the top three says something."""

Entry = tuple[str, str]
"""Name and gloss of a metric; its title and how it is shown are the catalogue's."""


def forest(ev: Evaluation) -> Forest:
    """Return the headline metrics with interval and no-skill value, as whole per cent or two decimals."""
    rows = [_row(ev, *entry) for entry in _entries(ev)[:ROWS]]
    return Forest(tuple(rows), heads=("Metric", "Estimate", f"{confidence_percent(ev)} interval", "No skill"))


def _row(ev: Evaluation, name: str, gloss: str) -> ForestRow:
    """A row whose interval is in its gloss."""
    result, known = metric(ev, name), find(name, ev.task)
    words = tell(ev, gloss, unread=unread(ev), rows=ev.weight)
    row = forest_row(
        name, known.title.partition(" (")[0], words, result, known.style, reference=ev.no_skill.get(name)
    )
    if not isinstance(result, Estimate):
        return row
    low, high = ("" if end is None else brief(end, known.style) for end in (result.low, result.high))
    limits = f"{low.removesuffix('%')} to {high}" if low and high else ""
    row = replace(row, estimate=brief(result.value, known.style))
    return replace(row, interval=limits, missed=ev.off_coverage.get(name, ""))


def _entries(ev: Evaluation) -> tuple[Entry, ...]:
    match ev.space:
        case Binary():
            return _binary(ev)
        case Multiclass():
            return _multiclass(ev)
        case Multilabel():
            return _multilabel(ev)


def _binary(ev: Evaluation) -> tuple[Entry, ...]:
    recall: Entry = ("recall", "{positives} found")
    precision: Entry = ("precision", "predicted {positives} that are correct")
    f1: Entry = ("f1", "recall and precision combined")
    if ev.score_kind is None:
        text: Entry = _READ if is_text(ev) else ("specificity", "{negatives} not flagged")
        return recall, precision, text, f1
    ranking: tuple[Entry, ...] = (("roc_auc", "ranks {positives} above {negatives}"),)
    if ev.confusion is None:
        probability: Entry = ("brier", "probability error, lower is better")
        average: Entry = ("average_precision", "area under precision–recall")
        return (*ranking, average, *((probability,) if ev.score_kind != "decision" else ()))
    return (recall, precision, *ranking, f1)


_READ: Entry = ("parse_rate", "responses with exactly one label")


def _multiclass(ev: Evaluation) -> tuple[Entry, ...]:
    glosses = (
        "agreement by distance in the order",
        "steps from the true label, lower is better",
        "error of the cumulative probabilities, lower is better",
    )
    order: tuple[Entry, ...] = ()
    if by_order(ev) is not None:
        known = zip(OF_ORDER, glosses, strict=True)
        order = tuple(entry for entry in known if isinstance(metric(ev, entry[0]), Estimate))
    text: tuple[Entry, ...] = ()
    if is_text(ev):
        text = (("accuracy_parsed", "correct among parsed responses"), _READ)
    top: tuple[Entry, ...] = ()
    if len(ev.space) >= TOP and isinstance(metric(ev, "top_3_accuracy"), Estimate):
        top = (("top_3_accuracy", "true label among the top three"),)
    return (
        *order,
        ("accuracy", "{units} classified correctly"),
        *text,
        *top,
        ("f1_macro", "every class counts the same"),
        ("balanced_accuracy", "mean recall over classes"),
        ("mcc", "agreement beyond chance"),
    )


def _multilabel(ev: Evaluation) -> tuple[Entry, ...]:
    if not ev.classes:
        return (
            ("average_precision_macro", "ranks rows for each label"),
            ("roc_auc_macro", "ranks rows with a label above those without"),
            *((("average_precision_samples", "true labels ranked on top"),) if ev.score_kind else ()),
        )
    return (
        ("recall_micro", "true labels found"),
        ("precision_micro", "predicted labels that are correct"),
        ("f1_macro", "every label counts the same"),
        ("subset_accuracy", "{units} with every label correct"),
    )


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


def kicker(ev: Evaluation) -> tuple[str, ...]:
    """Return what follows task and run above the headline: data set, rows, date."""
    labels = f", {count(len(ev.space))} labels" if isinstance(ev.space, Multilabel) else ""
    known = ev.data_checks.get("effective_n")
    effective = "" if known is None else f" (effective {count(round(known))})"
    weighted = ", weighted" if ev.weighted else ""
    rows = f"{count(ev.rows)} {units(ev, ev.rows)}{labels}{weighted}{effective}"
    return tuple(filter(None, (ev.provenance.dataset, rows, _date(ev.provenance.made))))


def _date(made: str) -> str:
    """The day of a time that begins as ISO 8601 does: "21 Nov 2026"; other text as it stands."""
    try:
        return format_date(datetime.fromisoformat(made[:10]), year=True)
    except ValueError:
        return made


def warn(finding: Finding) -> Warned:
    """Return a finding as the page shows it."""
    return Warned(
        finding.severity,
        WORDS[finding.severity],
        finding.claim,
        with_options(finding.action),
        finding.section,
    )
