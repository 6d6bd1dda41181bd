"""Is the model any better than an answer that never looks, and is a number too good to be true?"""

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
"""Examples of a class below which it is small (Collins, Ogundimu & Altman 2016)."""
HEAVY = 0.3
"""Part of the weight of a class from which on one row decides what is measured of it."""
Cause: TypeAlias = Literal["rows", "groups", "weight", "weights"]
ADVICE: Mapping[Cause, str] = {
    "rows": "Add examples of this class: more of another hardly narrow the interval.",
    "groups": "Add groups: more rows of the same groups hardly narrow the interval.",
    "weight": "Check this weight: as long as one row has so much of it, more rows hardly narrow the interval.",
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
    """Return what most limits what is known of all classes, the rarest of which has so many examples.

    Of two classes the rows of each are counted; of several only all rows are.
    """
    if not isinstance(ev.space, Binary):
        return scarcity(ev, None, support)
    found = [
        scarcity(ev, code, max(margins(ev)[code].support, support) if margins(ev) else support)
        for code in (0, 1)
    ]
    return min(filter(None, found), key=lambda cause: cause.n, default=None)


def scarcity(ev: Evaluation, code: int | None, support: float) -> Scarcity | None:
    """Return what most limits what is known of a class; None where there is enough of everything.

    Parameters
    ----------
    ev : Evaluation
    code : int or None
        The class of a binary problem, whose own rows are counted; None for all rows.
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
    # what is scarcest is the cause: more of the others would not help
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
"""Rows from which on a flawless or a useless result is remarkable."""
UNEQUAL = 0.8
"""Share of the most frequent class from which on accuracy is mostly that class's."""
REVERSED = -0.5
"""Quadratic weighted kappa below which an order is called reversed: half of the agreement that there can be."""
ASSOCIATED = 1.96
"""Standard errors from which on an association of truth and answers is demonstrated."""
RANKING: Mapping[Task, str] = {"binary": "curves", "multiclass": "cutoff", "multilabel": "labels"}
"""Section that shows how good a ranking is, by task."""
BACKWARDS: Mapping[Task, str] = {**RANKING, "multiclass": "confusions"}
"""The same where the answers may be what points the wrong way."""


@rule("error", section="provenance", action="Evaluate on a sample in which every class occurs.")
def one_class(ev: Evaluation) -> FindingDraft | None:
    """The truth never varies: most metrics have no value."""
    only = only_labels(ev)
    if only is None:
        return None
    what = "Only {labels:labels} occurs" if only else "No label occurs"
    return FindingDraft(
        what
        + " in the truth: {n_undefined:count} metrics cannot be known, among them all that compare classes.",
        {"labels": only, "n_undefined": sum(isinstance(r, Undefined) for r in ev.metrics.values())},
    )


@rule(
    "error",
    section="verdict",
    action="Check that truth and predictions belong to the same rows in the same order; then the model.",
)
def no_skill(ev: Evaluation) -> FindingDraft | None:
    """The model knows next to nothing beyond an answer that never looks, and the sample can tell."""
    found = _report_no_skill(ev, "none")
    return found and replace(found, template=f"No skill: {found.template}.")


@rule(section="verdict", action="Compare this gain with what using the model costs before it is used.")
def barely_better(ev: Evaluation) -> FindingDraft | None:
    """Significantly better than an answer that never looks, and still of next to no use."""
    found = _report_no_skill(ev, "barely")
    return found and replace(found, template=f"Barely better than chance: {found.template}.")


@rule(section="verdict")
def skill_not_demonstrated(ev: Evaluation) -> FindingDraft | None:
    """The interval covers an answer that never looks, and also a useful model: the sample cannot tell."""
    found = _report_no_skill(ev, "not_demonstrated")
    if found is None:
        return None
    what, fewest = "rank" if "roc_auc" in found.evidence else "decide", rarest(ev)
    cause, why = scarcest(ev, fewest), "this could be chance"
    if cause is not None and (cause.kind != "rows" or ev.task != "multilabel"):
        why = cause.why
    more = {} if cause is None else cause.evidence
    return FindingDraft(
        f"Not demonstrated to {what} better than chance: {found.template}; {why}.",
        {**found.evidence, "fewest": fewest, **more},
        action=ADVICE["rows" if cause is None else cause.kind],
    )


def _report_no_skill(ev: Evaluation, skill: Skill) -> FindingDraft | None:
    """What is told of a model without (demonstrated) skill: by its ranking, else by its decisions."""
    if only_labels(ev) is not None:
        return None
    ranked = ranking_skill(ev) if ev.task != "multiclass" else None
    if ranked is not None:
        return _ranks_by_chance(ev) if ranked == skill else None
    decided = decision_skill(ev)
    if decided == "none" and not enough(ev):  # one answer throughout may be right for all of so few
        decided = "not_demonstrated"
    if decided != skill or ev.data_checks.get("constant_scores"):
        return None
    if (kappa := by_order(ev)) is not None:
        return _order_by_chance(kappa)
    return _sets_by_chance(ev) if ev.task == "multilabel" else _answers_by_chance(ev)


def _report_ranking(ev: Evaluation, template: str, evidence: Mapping[str, Any]) -> FindingDraft:
    """What is told where the numbers have the decimals of the area under the curve."""
    return FindingDraft(template.replace("NAME", f"of {OF_RANKING[ev.task]}"), evidence)


def _ranks_by_chance(ev: Evaluation) -> FindingDraft | None:
    auc = estimate(ev, OF_RANKING[ev.task])
    if auc is None:
        return None
    title = "ROC AUC" if ev.task == "binary" else "macro ROC AUC"
    return _report_ranking(
        ev,
        title + " is {roc_auc:NAME} ({low:NAME} to {high:NAME}), and chance reaches {no_skill:NAME}",
        {"roc_auc": auc.value, "low": auc.low, "high": auc.high, "no_skill": CHANCE},
    )


def _order_by_chance(kappa: Estimate) -> FindingDraft:
    words = "quadratic weighted kappa is {kappa:NAME} ({low:NAME} to {high:NAME}), and chance reaches {chance:NAME}"
    return FindingDraft(
        words.replace("NAME", "of " + OF_ORDER[0]),
        {"kappa": kappa.value, "low": kappa.low, "high": kappa.high, "chance": 0.0},
    )


def _answers_by_chance(ev: Evaluation) -> FindingDraft:
    known = margins(ev)
    most = max(known, key=lambda margin: margin.support)
    return FindingDraft(
        "{right:count} of {n:weight} {right:is|are} right; the same answers shuffled would be right for about {shuffled:about}, and always {majority:label} for {always:count}",
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
        "{found:count} of {carried:count} {carried:label|labels} {carried:is|are} found; the same answers shuffled would find about {shuffled:about}",
        {"found": found, "carried": sum(m.support for m in known), "shuffled": due},
    )


@rule("error", section=BACKWARDS)
def inverted(ev: Evaluation) -> FindingDraft | None:
    """Worse than chance beyond doubt: scores or labels point the other way."""
    if by_order(ev) is not None:
        return _order_backwards(ev)
    found = _ranks_backwards(ev) or _answers_backwards(ev)
    fix = "Check that score columns and labels belong together."
    if ev.score_kind is None:
        fix = "Check that truth and predictions mean the same by each label, and belong to the same rows."
    elif isinstance(ev.space, Binary):
        fix = f"Check which label the scores are of: --positive {printable(str(ev.space.display_labels[0]))}, or another column."
    return found and replace(found, action=fix)


def _ranks_backwards(ev: Evaluation) -> FindingDraft | None:
    auc = estimate(ev, OF_RANKING[ev.task])
    if auc is None or ranking_skill(ev) != "reversed":
        return None
    evidence = {"roc_auc": auc.value, "low": auc.low, "high": auc.high, "turned_round": 1 - auc.value}
    if isinstance(ev.space, Binary):
        return _report_ranking(
            ev,
            "The scores point the wrong way: ROC AUC is {roc_auc:NAME} ({low:NAME} to {high:NAME}), so {negative:label} is ranked above {positive:label}. Turned round they would reach {turned_round:NAME}.",
            evidence | {"negative": ev.space.display_labels[0], "positive": ev.space.display_labels[1]},
        )
    return _report_ranking(
        ev,
        "The scores point the wrong way: macro ROC AUC is {roc_auc:NAME} ({low:NAME} to {high:NAME}), worse than chance.",
        evidence,
    )


def _order_backwards(ev: Evaluation) -> FindingDraft | None:
    kappa = by_order(ev)
    if kappa is None or decision_skill(ev) != "reversed":
        return None
    told = _order_by_chance(kappa)
    what = "The order is reversed" if kappa.value < REVERSED else "The predictions run against the order"
    return FindingDraft(
        f"{what}: {told.template}.",
        told.evidence,
        action="Check that truth and predictions use the same order of the labels.",
    )


def _answers_backwards(ev: Evaluation) -> FindingDraft | None:
    known = margins(ev)
    if ev.task == "multilabel" or not known or association(ev) > -SURE:
        return None
    return FindingDraft(
        "Worse than chance: {right:count} of {n:weight} {right:is|are} right, and the same answers shuffled would be right for about {shuffled:about}. The labels may be swapped.",
        {"right": sum(margin.right for margin in known), "n": ev.weight, "shuffled": right_by_chance(ev)},
    )


@rule("error", section=RANKING, action="Check that the right column was taken.")
def constant_scores(ev: Evaluation) -> FindingDraft | None:
    """All scores are equal."""
    if not ev.data_checks.get("constant_scores"):
        return None
    return FindingDraft(
        "All scores are equal: the model ranks nothing, and a threshold flags every row or none.",
        {"constant_scores": 1},
    )


@rule(section="calibration", action="Log what the model computes before it is rounded (predict_proba).")
def hard_scores(ev: Evaluation) -> FindingDraft | None:
    """The scores are labels in disguise."""
    if not ev.data_checks.get("hard_scores"):
        return None
    return FindingDraft(
        "Every score is either zero or one: these are decisions, not probabilities. They rank nothing within a class, and log loss and calibration say nothing.",
        {"hard_scores": 1},
    )


@rule(
    section="verdict",
    action="Check that no feature holds the answer, and that no row of the test set was in training.",
)
def too_perfect(ev: Evaluation) -> FindingDraft | None:
    """No mistake at all, which real data hardly ever allow."""
    if ev.rows < ENOUGH:
        return None
    known = margins(ev)
    if known and all(margin.discordant == 0 for margin in known):
        if _constant_mistakes(ev) * informative(ev) < EACH:  # always predicting one answer does about as well
            return None
        template = "All {n:rows} are right, without one mistake"
    elif isinstance(ev.space, Binary) and value(ev, "roc_auc") == 1 and enough(ev):
        template = "The scores separate all {n:rows} without one exception"
    else:
        return None
    return FindingDraft(
        template + ". Real data are seldom that clean: the truth may have leaked into the predictions.",
        {"n": ev.rows, "roc_auc": value(ev, "roc_auc")},
    )


def _constant_mistakes(ev: Evaluation) -> float:
    """How many mistakes always predicting the most frequent class makes (of labels: each set always, or never)."""
    support = [margin.support for margin in margins(ev)]
    if ev.task == "multilabel":
        return sum(min(carried, ev.weight - carried) for carried in support)
    return ev.weight - max(support, default=0.0)


@rule(
    section="metrics",
    action="Judge by recall and precision of the rare classes, by average precision, or by MCC.",
)
def imbalance(ev: Evaluation) -> FindingDraft | None:
    """Accuracy misleads: one answer, always given, would already reach most of it."""
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
