"""Every finding in one line of the first screen: a title, one number, and the next step."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from evalreport.core.extensions import load_extensions
from evalreport.core.result import Finding
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.rule import ShortClaim, fill


def _no_skill(evidence: Mapping[str, Any]) -> str:
    if "roc_auc" in evidence:
        return "ROC AUC {roc_auc:two}"
    if "kappa" in evidence:
        return "quadratic weighted kappa {kappa:two}"
    if "found" in evidence:
        return "{found:count} of {carried:count} labels found"
    return "{right:count} of {n:count} right, {shuffled:about} by chance"


def _miscalibrated(evidence: Mapping[str, Any]) -> str:
    if "promised" not in evidence:
        return "calibration slope {calibration_slope:two}"
    if evidence["promised"] > 1:
        return "{promised:about} expected, {occurred:count} observed"
    return "predicted {promised:whole}: {occurred:count} of {n:count}"


SKILL = ShortClaim("No better than chance", _no_skill)
SHORT: Mapping[str, ShortClaim] = {
    "one_class": ShortClaim("Only one class occurs", "{n_undefined:count} metrics are undefined", "data"),
    "lookalikes": ShortClaim(
        "Labels differ only in {how}", "{mistaken:weight} counted as wrong", "data", "mistaken"
    ),
    "own_scores": ShortClaim("Scores of the predicted label", "not of {positive:label}", "data"),
    "no_skill": SKILL,
    "inverted": ShortClaim("Worse than chance", _no_skill),
    "barely_better": ShortClaim("Barely better than chance", _no_skill),
    "skill_not_demonstrated": ShortClaim("Not significantly better than chance", _no_skill),
    "constant_scores": ShortClaim("All scores are equal", "no ranking is possible"),
    "never_predicted": ShortClaim(
        "{n_never_predicted:count} of {n_with_examples:classes} never predicted",
        "{support:count} {support:mistake|mistakes}",
        mistakes="support",
        step="Check that these classes are in the training data and among the allowed predictions.",
    ),
    "micro_macro_gap": ShortClaim(
        "{n_weak:count} weak {nouns}",
        "macro F1 {f1_macro_supported:two}, micro {f1_micro:two}",
        step="Add examples of the weak {nouns}, or choose a threshold for each.",
    ),
    "favourite_labels": ShortClaim(
        "{top:label} is over-predicted", "{predicted:count} predicted, {support:count} true"
    ),
    "too_perfect": ShortClaim("No mistakes at all", "check for leaked labels", "data"),
    "imbalance": ShortClaim("Accuracy misleads", "always {majority:label}: {always:whole}", "author"),
    "off_scores": ShortClaim(
        "Predictions do not follow the scores", "{off:count} of {n:count} differ", "data"
    ),
    "hard_scores": ShortClaim("Scores are only zero or one", "no ranking, no calibration", "data"),
    "unknown_threshold": ShortClaim("No threshold is given", "only the ranking is measured", "data"),
    "two_accuracies": ShortClaim(
        "“Accuracy” has two meanings",
        "all labels right: {subset_accuracy:whole}; single labels: {label_accuracy:whole}",
        "data",
    ),
    "empty_predictions": ShortClaim(
        "{empty:count} of {n:weight} get no label", "only {bare:count} have none", mistakes="empty"
    ),
    "label_load": ShortClaim("Too {many} labels predicted", "{made:count} predicted, {carried:count} true"),
    "default_threshold": ShortClaim(
        "Threshold left at {threshold:threshold}", "the default, not a choice"
    ),
    "threshold_not_chosen": ShortClaim(
        "Threshold left at {threshold:threshold}",
        "{found:count} of {positives:count} found",
        step="Choose the threshold on validation data, by the cost of a miss or by a constraint on recall.",
    ),
    "one_threshold": ShortClaim(
        "Threshold left at {threshold:threshold}",
        "micro F1 {best_f1:two} at {best_threshold:threshold}, now {f1:two}",
        step="Choose one threshold, or one for each label, on validation data.",
    ),
    "slice_gap": ShortClaim(
        "{column} {value:label} is significantly worse",
        "{metric} {own:within least most}, {less:apart least most} lower",
    ),
    "slice_calibration": ShortClaim(
        "Miscalibrated for {column} {value:label}", "{metric} {own:within low high}, ideal is one"
    ),
    "families": ShortClaim(
        "Look-alike classes are confused",
        "{inside:count} of {mistakes:count} mistakes",
        mistakes="inside",
    ),
    "top_confusions": ShortClaim(
        "{pairs[0][truth]:label} misclassified as {pairs[0][predicted]:label}",
        "{pairs[0][weight]:count} of {pairs[0][support]:count}",
        mistakes="weight",
    ),
    "miscalibrated": ShortClaim(detail=_miscalibrated),
    "certain_scores": ShortClaim(
        "Probabilities of exactly zero or one", "{ruled_out:count} of them wrong", "data"
    ),
    "unread_labels": ShortClaim(
        "No response parsed for {labels:few}", "{support:weight}", mistakes="support"
    ),
    "few_events": ShortClaim("Few {label:label}", "{support:count} of {n:count}", "data"),
    "small_classes": ShortClaim(
        "{n_small:count} of {n:classes} are small", "under {few:count} examples each", "data"
    ),
    "duplicates": ShortClaim("{again:count} texts repeat", "intervals may be too narrow", "data"),
    "repeated_rows": ShortClaim("{again:count} rows repeat", "intervals may be too narrow", "data"),
    "effective_rows": ShortClaim("Uneven or grouped rows", "count as {effective_n:about}", "data"),
    "class_shares": ShortClaim("Class frequencies are off", "{label:label}: {predicted:count} predicted, {support:count} true"),
    "spurious_classes": ShortClaim(
        "Predicts classes without examples", "{predicted:count} {predicted:prediction|predictions}"
    ),
    "absent_classes": ShortClaim("{n_absent:count} of {n_labels:classes} have no example", "{labels:few}", "data"),
    "macro_definitions": ShortClaim("Macro F1 has several definitions", "", "author"),
    "other_threshold": ShortClaim("Another threshold decided", "about {near_threshold:threshold}", "author"),
    "same_rows": ShortClaim("Threshold chosen on these rows", "metrics are optimistic", "data"),
    "data_notes": ShortClaim(about="author"),
}  # fmt: skip
"""By rule; features add theirs with the rule (`AddedRule.short`)."""


@cache
def _every() -> Mapping[str, ShortClaim]:
    return {**SHORT, **{one.rule.__name__: one.short for one in load_extensions("findings")}}


def find_short_claim(finding: Finding) -> ShortClaim:
    """Return the short form of a finding; of an unknown rule, its claim."""
    return _every().get(finding.rule, ShortClaim())


def format_short(ev: Evaluation, finding: Finding) -> tuple[str, str]:
    """Return title and detail of a finding.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.findings.catalogue import find
    >>> ev = evaluate_predictions(predictions(Multiclass("abc"), ["a", "b", "c"] * 40, ["a"] * 120))
    >>> [format_short(ev, finding) for finding in find(ev) if finding.rule == "never_predicted"]
    [('2 of 3 classes never predicted', '80 mistakes')]
    """
    short = find_short_claim(finding)
    first = finding.claim.partition(": ")[0].partition(". ")[0].removesuffix(".").removeprefix("The ")
    title, detail = (_fill_gaps(ev, part, finding) for part in (short.title, short.detail))
    return title or first[:1].upper() + first[1:], detail


def _fill_gaps(ev: Evaluation, part: object, finding: Finding) -> str:
    template = part(finding.evidence) if callable(part) else str(part)
    return fill(ev, template, finding.evidence) if template else ""
