"""An evaluation in plain English: every rule in order, ranked by how much it matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from evalreport.evaluation.model import Evaluation
from evalreport.findings import labels, scores, skill, special
from evalreport.values import Finding

Rule: TypeAlias = Callable[[Evaluation], Finding | None]

RULES: tuple[Rule, ...] = (
    skill.one_class,
    skill.no_skill,
    skill.inverted,
    skill.constant_scores,
    labels.never_predicted,
    labels.favourite_labels,
    special.parse_failures,
    skill.too_perfect,
    skill.imbalance,
    labels.micro_macro_gap,
    labels.top_confusions,
    scores.default_threshold,
    scores.unknown_threshold,
    special.two_accuracies,
    special.empty_predictions,
    special.slice_gap,
    scores.miscalibrated,
    scores.off_scores,
    special.refusals,
    skill.few_events,
    skill.small_classes,
    special.duplicates,
    labels.spurious_classes,
    labels.absent_classes,
    labels.macro_definitions,
    labels.class_shares,
    scores.same_rows,
    special.format_drift,
    special.data_notes,
)
"""Every rule, the weightier first; within a severity findings keep this order."""
SEVERITIES = ("error", "caution", "note")


def find(ev: Evaluation) -> tuple[Finding, ...]:
    """Return what the rules find, errors first, then cautions, then notes.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.labels import Multiclass
    >>> from evalreport.predictions import predictions
    >>> truth = ["a", "b", "c"] * 40
    >>> ev = evaluate_predictions(predictions(Multiclass("abc"), truth, ["a"] * 120))
    >>> [finding.rule for finding in find(ev)][:2]
    ['no_skill', 'never_predicted']
    """
    found = [finding for rule in RULES if (finding := rule(ev)) is not None]
    return tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))
