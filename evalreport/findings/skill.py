"""Findings about skill: better than chance, better than a constant prediction, suspiciously perfect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from evalreport.core.result import Estimate, Undefined
from evalreport.core.text import printable
from evalreport.data.labels import Binary, Task
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import (
    CHANCE,
    EACH,
    SURE,
    Skill,
    association,
    by_order,
    decision_skill,
    enough,
    gain_over_majority_class,
    informative,
    margins,
    only_labels,
    ranking_skill,
    rarest,
    right_by_chance,
)
from evalreport.findings.rule import FindingDraft, estimate, rule, value
from evalreport.metrics.catalogue import OF_ORDER, OF_RANKING

FEW_EVENTS = 100
"""Number of examples below which a class is small (Collins, Ogundimu & Altman 2016)."""
HEAVY = 0.3
"""Proportion of the weight of a class above which one row dominates its metrics."""
Cause: TypeAlias = Literal["rows", "groups", "weight", "weights"]
ADVICE: Mapping[Cause, str] = {
    "rows": "Add examples of this class: examples of other classes hardly narrow the interval.",
    "groups": "Add groups: more rows of the same groups hardly narrow the interval.",
    "weight": "Check this weight: while one row dominates, more rows hardly narrow the interval.",
    "weights": "Check the largest weights: while they are so uneven, more rows hardly narrow the interval.",
}


@dataclass(frozen=True)
class Scarcity:
    """What makes intervals wide.

    Parameters
    ----------
    kind : str
    why : str
        A clause over the evidence: "40 examples of the rarest class are too few to tell".
    evidence : mapping from name to number
    n : float
        About how many independent rows there are.
    """

    kind: Cause
    why: str
    evidence: Mapping[str, float]
    n: float


def scarcest(ev: Evaluation, support: float) -> Scarcity | None:
    """Return the main cause of wide intervals over all classes; `support` is that of the rarest class.

    Binary problems count the rows of each class; others count all rows.
    """
    if not isinstance(ev.space, Binary):
        return scarcity(ev, None, support)
    found = [
        scarcity(ev, code, max(margins(ev)[code].support, support) if margins(ev) else support)
        for code in (0, 1)
    ]
    return min(filter(None, found), key=lambda cause: cause.n, default=None)


def scarcity(ev: Evaluation, code: int | None, support: float) -> Scarcity | None:
    """Return the main cause of a wide interval of a class; None where rows, groups and weights suffice.

    Parameters
    ----------
    ev : Evaluation
    code : int or None
        The class of a binary problem, whose rows are counted; None for all rows.
    support : float
        Its examples.
    """
    which = "" if code is None else f"_{code}"
    groups = ev.clusters if code is None else ev.data_checks.get(f"groups{which}", ev.clusters)
    effective = ev.data_checks.get(f"effective_weights{which}", support) if ev.weighted else support
    if code is None and ev.weighted:
        effective *= support / ev.rows
    top = ev.data_checks.get(f"largest_weight{which}", 0.0) if ev.weighted else 0.0
    of = "" if code is None else " of one class"
    # the scarcest is the cause: more of the others would not help
    words = "{fewest:examples} of the rarest class {fewest:is|are} too few to tell"
    found = [Scarcity("rows", words, {"fewest": support}, support)]
    if groups is not None:
        words = f"{{groups:count}} {{groups:group|groups}}{of} {{groups:is|are}} too few to tell"
        found.append(Scarcity("groups", words, {"groups": groups}, groups))
    if top >= HEAVY:
        words = f"one row has {{largest:whole}} of the weight{of}"
        found.append(Scarcity("weight", words, {"largest": top}, effective))
    elif effective < support / 2:
        words = f"the weights are so uneven that the rows{of} count as {{effective:about}}"
        found.append(Scarcity("weights", words, {"effective": effective}, effective))
    least = min(found, key=lambda cause: (cause.n, cause.kind == "rows"))
    return least if least.n < FEW_EVENTS else None


ENOUGH = 20
"""Minimum number of rows for a finding about a perfect result."""
UNEQUAL = 0.8
"""Proportion of the most frequent class above which accuracy is mostly the accuracy of that class."""
REVERSED = -0.5
"""Quadratic weighted kappa below which the order is reversed: half of the greatest disagreement."""
ASSOCIATED = 1.96
"""Standard errors above which the association of labels and predictions is significant."""
RANKING: Mapping[Task, str] = {"binary": "curves", "multiclass": "cutoff", "multilabel": "labels"}
"""Section that shows the quality of the ranking, by task."""
BACKWARDS: Mapping[Task, str] = {**RANKING, "multiclass": "confusions"}
"""The same for inverted predictions."""


@rule("error", section="provenance", action="Evaluate on a sample in which every class occurs.")
def one_class(ev: Evaluation) -> FindingDraft | None:
    """Only one true label occurs: most metrics are undefined."""
    only = only_labels(ev)
    if only is None:
        return None
    what = "Only {labels:labels} occurs" if only else "No label occurs"
    return FindingDraft(
        what
        + " as a true label: {n_undefined:count} metrics are undefined, including all that compare classes.",
        {"labels": only, "n_undefined": sum(isinstance(r, Undefined) for r in ev.metrics.values())},
    )


@rule(
    "error",
    section="verdict",
    action="Check that labels and predictions belong to the same rows in the same order; then check the model.",
)
def no_skill(ev: Evaluation) -> FindingDraft | None:
    """The model is hardly better than a constant prediction, and the sample is large enough to show it."""
    found = _report_no_skill(ev, "none")
    return found and replace(found, template=f"No skill: {found.template}.")


@rule(section="verdict", action="Compare this gain with the cost of using the model.")
def barely_better(ev: Evaluation) -> FindingDraft | None:
    """Significantly better than a constant prediction, but hardly useful."""
    found = _report_no_skill(ev, "barely")
    return found and replace(found, template=f"Barely better than chance: {found.template}.")


@rule(section="verdict")
def skill_not_significant(ev: Evaluation) -> FindingDraft | None:
    """The interval covers both a constant prediction and a useful model: the sample is too small."""
    found = _report_no_skill(ev, "not_significant")
    if found is None:
        return None
    fewest = rarest(ev)
    cause, why = scarcest(ev, fewest), "this could be chance"
    if cause is not None and (cause.kind != "rows" or ev.task != "multilabel"):
        why = cause.why
    more = {} if cause is None else cause.evidence
    return FindingDraft(
        f"Not significantly better than chance: {found.template}; {why}.",
        {**found.evidence, "fewest": fewest, **more},
        action=ADVICE["rows" if cause is None else cause.kind],
    )


def _report_no_skill(ev: Evaluation, skill: Skill) -> FindingDraft | None:
    """The draft for a model of this skill, by its ranking if there is one, else by its decisions."""
    if only_labels(ev) is not None:
        return None
    ranked = ranking_skill(ev) if ev.task != "multiclass" else None
    if ranked is not None:
        return _ranks_by_chance(ev) if ranked == skill else None
    decided = decision_skill(ev)
    if decided == "none" and not enough(ev):  # a constant prediction may be right for all of so few rows
        decided = "not_significant"
    if decided != skill or ev.data_checks.get("constant_scores"):
        return None
    if (kappa := by_order(ev)) is not None:
        return _order_by_chance(kappa)
    return _sets_by_chance(ev) if ev.task == "multilabel" else _predictions_by_chance(ev)


def _report_ranking(ev: Evaluation, template: str, evidence: Mapping[str, Any]) -> FindingDraft:
    """A draft whose numbers have the decimals of ROC AUC."""
    return FindingDraft(template.replace("NAME", f"of {OF_RANKING[ev.task]}"), evidence)


def _ranks_by_chance(ev: Evaluation) -> FindingDraft | None:
    auc = estimate(ev, OF_RANKING[ev.task])
    if auc is None:
        return None
    title = "ROC AUC" if ev.task == "binary" else "macro ROC AUC"
    return _report_ranking(
        ev,
        title + " is {roc_auc:NAME} ({low:NAME} to {high:NAME}), and chance level is {no_skill:NAME}",
        {"roc_auc": auc.value, "low": auc.low, "high": auc.high, "no_skill": CHANCE},
    )


def _order_by_chance(kappa: Estimate) -> FindingDraft:
    words = "quadratic weighted kappa is {kappa:NAME} ({low:NAME} to {high:NAME}), and chance level is {chance:NAME}"
    return FindingDraft(
        words.replace("NAME", "of " + OF_ORDER[0]),
        {"kappa": kappa.value, "low": kappa.low, "high": kappa.high, "chance": 0.0},
    )


def _predictions_by_chance(ev: Evaluation) -> FindingDraft:
    known = margins(ev)
    most = max(known, key=lambda margin: margin.support)
    return FindingDraft(
        "{right:count} of {n:weight} {right:is|are} right; the same predictions shuffled would be right for about {shuffled:about}, and always predicting {majority:label} for {always:count}",
        {
            "right": sum(margin.right for margin in known),
            "n": ev.weight,
            "shuffled": right_by_chance(ev),
            "majority": most.label,
            "always": most.support,
        },
    )


def _sets_by_chance(ev: Evaluation) -> FindingDraft:
    known = margins(ev)
    found, due = sum(m.right for m in known), sum(m.support * m.predicted for m in known) / ev.weight
    return FindingDraft(
        "{found:count} of {carried:count} {carried:label|labels} {carried:is|are} found; the same predictions shuffled would find about {shuffled:about}",
        {"found": found, "carried": sum(m.support for m in known), "shuffled": due},
    )


@rule("error", section=BACKWARDS)
def inverted(ev: Evaluation) -> FindingDraft | None:
    """Significantly worse than chance: scores or labels are probably reversed."""
    if by_order(ev) is not None:
        return _order_backwards(ev)
    found = _ranks_backwards(ev) or _predictions_backwards(ev)
    fix = "Check that each score column belongs to its label."
    if ev.score_kind is None:
        fix = "Check that labels and predictions use the same names for the classes and belong to the same rows."
    elif isinstance(ev.space, Binary):
        fix = f"Check which label the scores belong to: --positive {printable(str(ev.space.display_labels[0]))}, or another column."
    return found and replace(found, action=fix)


def _ranks_backwards(ev: Evaluation) -> FindingDraft | None:
    auc = estimate(ev, OF_RANKING[ev.task])
    if auc is None or ranking_skill(ev) != "reversed":
        return None
    evidence = {"roc_auc": auc.value, "low": auc.low, "high": auc.high, "reversed": 1 - auc.value}
    if isinstance(ev.space, Binary):
        return _report_ranking(
            ev,
            "The scores are inverted: ROC AUC is {roc_auc:NAME} ({low:NAME} to {high:NAME}), so {negative:label} is ranked above {positive:label}. Reversed scores would reach {reversed:NAME}.",
            evidence | {"negative": ev.space.display_labels[0], "positive": ev.space.display_labels[1]},
        )
    return _report_ranking(
        ev,
        "The scores are inverted: macro ROC AUC is {roc_auc:NAME} ({low:NAME} to {high:NAME}), worse than chance.",
        evidence,
    )


def _order_backwards(ev: Evaluation) -> FindingDraft | None:
    kappa = by_order(ev)
    if kappa is None or decision_skill(ev) != "reversed":
        return None
    draft = _order_by_chance(kappa)
    what = "The order is reversed" if kappa.value < REVERSED else "The predictions contradict the order"
    return FindingDraft(
        f"{what}: {draft.template}.",
        draft.evidence,
        action="Check that labels and predictions use the same order of the classes.",
    )


def _predictions_backwards(ev: Evaluation) -> FindingDraft | None:
    known = margins(ev)
    if ev.task == "multilabel" or not known or association(ev) > -SURE:
        return None
    return FindingDraft(
        "Worse than chance: {right:count} of {n:weight} {right:is|are} right, and the same predictions shuffled would be right for about {shuffled:about}. The labels may be swapped.",
        {"right": sum(margin.right for margin in known), "n": ev.weight, "shuffled": right_by_chance(ev)},
    )


@rule("error", section=RANKING, action="Check that the right score column is used.")
def constant_scores(ev: Evaluation) -> FindingDraft | None:
    """All scores are equal."""
    if not ev.data_checks.get("constant_scores"):
        return None
    return FindingDraft(
        "All scores are equal: they do not rank the rows, and a threshold predicts every row positive or none.",
        {"constant_scores": 1},
    )


@rule(section="calibration", action="Log the probabilities before they are rounded (predict_proba).")
def hard_scores(ev: Evaluation) -> FindingDraft | None:
    """All scores are 0 or 1."""
    if not ev.data_checks.get("hard_scores"):
        return None
    return FindingDraft(
        "Every score is either zero or one: these are decisions, not probabilities. They do not rank the rows within a class, and log loss and calibration are meaningless.",
        {"hard_scores": 1},
    )


@rule(
    section="verdict",
    action="Check for target leakage in the features, and for test rows in the training data.",
)
def too_perfect(ev: Evaluation) -> FindingDraft | None:
    """No mistake at all, which is rare in real data."""
    if ev.rows < ENOUGH:
        return None
    known = margins(ev)
    if known and all(margin.discordant == 0 for margin in known):
        if _constant_mistakes(ev) * informative(ev) < EACH:  # a constant prediction does about as well
            return None
        template = "All {n:rows} are right"
    elif isinstance(ev.space, Binary) and value(ev, "roc_auc") == 1 and enough(ev):
        template = "The scores separate all {n:rows} perfectly"
    else:
        return None
    return FindingDraft(
        template + ". Real data are rarely that clean: the true labels may have leaked into the predictions.",
        {"n": ev.rows, "roc_auc": value(ev, "roc_auc")},
    )


def _constant_mistakes(ev: Evaluation) -> float:
    """Mistakes of always predicting the most frequent class (multilabel: each label always, or never)."""
    support = [margin.support for margin in margins(ev)]
    if ev.task == "multilabel":
        return sum(min(carried, ev.weight - carried) for carried in support)
    return ev.weight - max(support, default=0.0)


@rule(
    section="metrics",
    action="Use recall and precision of the rare classes, average precision, or MCC.",
)
def imbalance(ev: Evaluation) -> FindingDraft | None:
    """Accuracy misleads: a constant prediction would reach most of it."""
    known = margins(ev)
    if ev.task == "multilabel" or not known:
        return None
    most = max(known, key=lambda margin: margin.support)
    base, accuracy = most.support / ev.weight, sum(margin.right for margin in known) / ev.weight
    if only_labels(ev) is not None:
        return None
    if base < UNEQUAL and (accuracy > base or association(ev) < ASSOCIATED):
        return None
    gain, low, high = gain_over_majority_class(ev)
    clear = low > 0 and gain > (1 - base) / 2
    ends = "{less:apart least most} points {side} ({least:apart least most} to {most:apart least most})"
    verdict = ends if low > 0 or high < 0 else "not significantly {side}"
    if gain == 0:
        verdict = "no better"
    turned = (gain, low, high) if gain > 0 else (-gain, -high, -low)
    template = (
        "Accuracy of {accuracy:percent} is less impressive than it looks: always predicting {majority:label} would already reach {always:of accuracy}."
        if clear
        else "Accuracy misleads: always predicting {majority:label} is right for {always:of accuracy} of {n:units}; the model, at {accuracy:percent}, is "
        + verdict
        + "."
    )
    return FindingDraft(
        template,
        {
            "accuracy": accuracy,
            "always": base,
            "majority": most.label,
            "n": ev.weight,
            "judged_by": "accuracy",
            **dict(zip(("less", "least", "most"), turned, strict=True)),
            "side": "better" if gain > 0 else "worse",
        },
        severity="note" if clear else "caution",
    )
