"""An evaluation in plain English: every rule in order, ranked by how much it matters.

A finding has to be significant (`chance.SURE`, `chance.BY_CHANCE`, intervals) and large enough to matter. Limits
of size without a reference are chosen by hand, so that a finding can change a decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from evalreport.core.extensions import load_extensions
from evalreport.core.result import Finding
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings import confusions, predicted_labels, sample, score_quality, skill
from evalreport.findings.rule import Rule

RULES: tuple[Rule, ...] = (
    skill.one_class,
    predicted_labels.lookalikes,
    score_quality.own_scores,
    skill.no_skill,
    skill.inverted,
    skill.barely_better,
    skill.skill_not_significant,
    skill.constant_scores,
    predicted_labels.never_predicted,
    predicted_labels.micro_macro_gap,
    predicted_labels.overpredicted_labels,
    skill.too_perfect,
    skill.imbalance,
    score_quality.off_scores,
    skill.hard_scores,
    score_quality.unknown_threshold,
    predicted_labels.two_accuracies,
    predicted_labels.empty_predictions,
    predicted_labels.label_load,
    score_quality.default_threshold,
    score_quality.threshold_not_chosen,
    predicted_labels.one_threshold,
    sample.slice_gap,
    sample.slice_calibration,
    confusions.families,
    confusions.top_confusions,
    score_quality.miscalibrated,
    score_quality.certain_scores,
    predicted_labels.unparsed_labels,
    sample.few_events,
    sample.small_classes,
    sample.duplicates,
    sample.repeated_rows,
    sample.effective_rows,
    confusions.class_shares,
    predicted_labels.spurious_classes,
    predicted_labels.absent_classes,
    predicted_labels.macro_definitions,
    score_quality.other_threshold,
    score_quality.same_rows,
    sample.data_notes,
)
"""Every rule of the core, most important first; findings of one severity keep this order."""
OF_ROWS: tuple[Rule, ...] = (
    skill.one_class,
    predicted_labels.lookalikes,
    skill.no_skill,
    skill.inverted,
    skill.barely_better,
    skill.skill_not_significant,
    predicted_labels.never_predicted,
    predicted_labels.overpredicted_labels,
    predicted_labels.label_load,
    confusions.families,
    confusions.top_confusions,
    predicted_labels.unparsed_labels,
    sample.few_events,
    sample.small_classes,
    confusions.class_shares,
    predicted_labels.spurious_classes,
)
"""Rules whose sentences count rows: they use unweighted counts where rows have weights."""
SUPPRESSED_BY: Mapping[str, tuple[str, ...]] = {
    "imbalance": ("one_class",),
    "too_perfect": ("one_class",),
    "class_shares": (
        "one_class",
        "never_predicted",
        "overpredicted_labels",
        "no_skill",
        "skill_not_significant",
    ),
    "spurious_classes": ("one_class", "lookalikes"),
    "macro_definitions": ("one_class",),
    "no_skill": ("own_scores", "inverted"),
    "barely_better": ("own_scores", "inverted", "too_perfect"),
    "skill_not_significant": ("own_scores", "inverted", "too_perfect"),
    "inverted": ("own_scores",),
    "off_scores": ("own_scores",),
    "other_threshold": ("off_scores",),
    "repeated_rows": ("duplicates", "constant_scores", "hard_scores"),
    "label_load": ("empty_predictions",),
    "top_confusions": ("no_skill",),
    "families": ("no_skill",),
    "certain_scores": ("one_class", "own_scores", "constant_scores", "hard_scores"),
    "slice_calibration": ("own_scores", "inverted", "constant_scores", "hard_scores"),
    "miscalibrated": ("own_scores", "inverted", "constant_scores", "hard_scores"),
    "never_predicted": ("threshold_not_chosen",),
    "threshold_not_chosen": ("own_scores", "no_skill", "inverted", "constant_scores", "hard_scores"),
    "default_threshold": ("own_scores", "no_skill", "inverted", "constant_scores", "hard_scores"),
}
"""Findings that are suppressed where one of these reports the cause."""
SEVERITIES = ("error", "caution", "note")


@cache
def rules() -> tuple[Rule, ...]:
    """Return every rule in order, with those of features: at the point "findings" each adds an `AddedRule`."""
    every = list(RULES)
    for one in load_extensions("findings"):
        names = [rule.__name__ for rule in every]
        every.insert(names.index(one.before) if one.before in names else len(every), one.rule)
    return tuple(every)


def find(ev: Evaluation) -> tuple[Finding, ...]:
    """Return the findings of all rules: errors, then cautions, then notes.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> truth = ["a", "b", "c"] * 40
    >>> ev = evaluate_predictions(predictions(Multiclass("abc"), truth, ["a"] * 120))
    >>> [finding.rule for finding in find(ev)][:2]
    ['no_skill', 'never_predicted']
    """
    rows = ev.in_rows()
    made = (rule(rows if rule in OF_ROWS else ev) for rule in rules())
    found = {finding.rule: finding for finding in made if finding is not None}
    kept = [
        finding
        for name, finding in found.items()
        if not any(cause in found for cause in SUPPRESSED_BY.get(name, ()))
    ]
    return tuple(sorted(kept, key=lambda finding: SEVERITIES.index(finding.severity)))
