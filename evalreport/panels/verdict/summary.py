"""The summary: at most three sentences on what to do about it. No gain is claimed within the noise."""

from __future__ import annotations

from collections.abc import Sequence

from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.findings.chance import by_order, decision_skill, ranking_skill
from evalreport.findings.scores import RecommendedThreshold, gains, recommended, unchosen, value_elsewhere
from evalreport.format import significant
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.metrics.named_sets import BALANCED
from evalreport.panels.about import (
    SMALL_TABLE,
    bounds_of_none,
    complement,
    estimate,
    four_counts,
    is_text,
    mistakes,
    one_threshold,
    tell,
    unread,
)
from evalreport.panels.verdict.headline import most_frequent_mix_up, never_predicted, right_for
from evalreport.panels.words import NOTHING, Sentence, compared, listed, paragraph, say
from evalreport.thresholds.optimum import Optimum
from evalreport.values import Estimate


def better_threshold(ev: Evaluation) -> Sentence:
    """Return what the recommended threshold would do, or that none was chosen, or that no other one helps."""
    better = recommended(ev)
    if better is not None:
        return _price_in_shares(ev, better) if ev.weighted else _price(better)
    if unchosen(ev):
        words = (
            "That threshold was not chosen: choose one by what a miss costs, or by a constraint on recall."
        )
        return say(words)
    return _no_other(ev)


def _no_other(ev: Evaluation) -> Sentence:
    """That no other threshold is better; nothing where the one in use may be what fails."""
    if ev.sweep is None or one_threshold(ev) is None:
        return NOTHING
    if ranking_skill(ev) != "demonstrated" or decision_skill(ev) != "demonstrated":
        return NOTHING
    now, best = estimate(ev, "f1"), ev.sweep.best(BALANCED)
    then = value_elsewhere(best)
    if not isinstance(best, Optimum) or then is None or now is None or now.width is None:
        return NOTHING
    if gains(now, then.value):  # F1 alone does not recommend: what mistakes cost decides
        return NOTHING
    shown = compared("f1_best", best.apparent, now, "ratio")
    return say("No other threshold is demonstrated to help (best F1 {f1_best}).", f1_best=shown)


def _price(better: RecommendedThreshold) -> Sentence:
    """What is found and flagged beside now; counts that do not change are not named."""
    found, flagged = better.tp - better.now.tp, better.fp - better.now.fp
    parts = []
    if found > 0:
        parts.append("finds {found_more:count} more of {p:count}")
    elif found < 0:
        parts.append("misses {found_fewer:count} more of {p:count}")
    if flagged > 0:
        each = ", {price} for each" if found > 0 else ""
        parts.append("flags {alarms_more:count} more by mistake" + each)
    elif flagged < 0:
        parts.append("spares {alarms_fewer:count} of {fp:count} false alarms")
    return say(
        f"A threshold of *{{to:threshold}}* {' and '.join(parts)}; on rows that took no part in its choice, "
        "F1 is {f1_elsewhere} instead of {f1:ratio} (flagging all: {no_skill}).",
        {"found_more": found, "found_fewer": -found, "alarms_more": flagged, "alarms_fewer": -flagged},
        to=better.threshold,
        price=significant(flagged / found, 2) if found > 0 else "",
        p=better.now.positives,
        fp=better.now.fp,
        f1=better.f1_now,
        f1_elsewhere=compared("f1_elsewhere", better.f1.value, better.f1_now, "ratio"),
        no_skill=compared("no_skill", better.no_skill or 0.0, better.f1_now, "ratio"),
    )


def _price_in_shares(ev: Evaluation, better: RecommendedThreshold) -> Sentence:
    """The same where rows weigh: what lies above a threshold is a sum of weights, not a number of rows."""
    return tell(
        ev,
        "A threshold of *{to:threshold}* finds {found_share:percent} of {positives} instead of "
        "{recall:percent} and flags {flagged_share:percent} of {negatives} instead of {fpr:percent}; on rows "
        "that took no part in its choice, F1 is {f1_elsewhere} instead of {f1:ratio} (flagging all: "
        "{no_skill}).",
        of=ev.rows,
        to=better.threshold,
        found_share=better.tp / better.now.positives,
        flagged_share=better.fp / better.now.negatives,
        f1_elsewhere=compared("f1_elsewhere", better.f1.value, better.f1_now, "ratio"),
        no_skill=compared("no_skill", better.no_skill or 0.0, better.f1_now, "ratio"),
    )


WEAK = 3
"""Classes that the summary names."""
CLOSE = 0.1
"""Relative error up to which "one in four" may stand for a share."""
SPOKEN = 20
"""Rarest "one in so many" that is spoken of; beyond that counts are plainer."""
EVENTS = 10
"""Examples that a class needs before the summary names it as weak."""


def summary(ev: Evaluation) -> Sentence:
    """Return what to do about it, in at most three sentences, with counts of whole rows."""
    better, ev = better_threshold(ev), ev.in_rows()
    if mistakes(ev) == 0:
        return bounds_of_none(ev)
    match ev.space:
        case Binary():
            return paragraph(*_binary(ev, better)[:3])
        case Multiclass():
            return paragraph(*_multiclass(ev)[:3])
        case Multilabel():
            return paragraph(*_multilabel(ev, better)[:3])


def _binary(ev: Evaluation, better: Sentence) -> list[Sentence]:
    return [s for s in (_unnoticed(ev), _readable(ev), better, _ranking(ev)) if s]


def _unnoticed(ev: Evaluation) -> Sentence:
    counts = four_counts(ev)
    if counts is None or counts.positives == 0 or counts.fn == 0:
        return NOTHING
    at, threshold = "", one_threshold(ev)
    if threshold is not None and ev.threshold is not None:
        origin = "default " if ev.threshold.origin == "default" else ""
        at = "At the " + origin + "threshold of {threshold:threshold}, "
    share = counts.fn / counts.positives
    every = round(1 / share)
    if counts.tp == 0:
        words = "every {positive} goes unnoticed."
    elif 1 < every <= SPOKEN and abs(every * share - 1) < CLOSE:
        words = "about one in {every:count} {positives} goes unnoticed."
    else:
        words = "{fn:count} of {p:count} {positives} {fn:goes|go} unnoticed."
    return tell(ev, _sentence(at, words), every=every, fn=counts.fn, p=counts.positives, threshold=threshold)


def _sentence(at: str, words: str) -> str:
    return at + words if at else words[0].upper() + words[1:]


def _ranking(ev: Evaluation) -> Sentence:
    auc, poor = estimate(ev, "roc_auc"), decision_skill(ev) not in (None, "demonstrated")
    if auc is None or auc.low is None or ev.confusion is None:  # else the headline says it
        return NOTHING
    match ranking_skill(ev):
        case "none":
            words = "The scores rank no better than chance (ROC AUC {roc_auc:ratio})."
        case "barely":
            words = "The scores rank barely better than chance (ROC AUC {roc_auc:ratio}, "
            words += "{roc_auc:ratio interval})."
        case "not_demonstrated":
            words = "Better ranking than chance is not demonstrated (ROC AUC {roc_auc:ratio}, "
            words += "{roc_auc:ratio interval})."
        case "reversed":
            words = "The scores rank {negatives} above {positives} {turned:percent} of the time: "
            words += "they point the wrong way."
        case "demonstrated":
            words = "The scores rank {positives} above {negatives} {roc_auc:percent} of the time"
            words += "; the threshold is the problem." if poor else "."
        case None:
            return NOTHING
    return tell(ev, words, turned=complement(auc), of=ev.rows)


def _readable(ev: Evaluation) -> Sentence:
    """Text: what leaving unreadable answers out would do."""
    if not is_text(ev) or not unread(ev):
        return NOTHING
    words = "Leaving unreadable answers out would move accuracy from *{accuracy:percent}* to "
    return tell(ev, words + "{accuracy_parsed:percent}; both are shown.")


def _multiclass(ev: Evaluation) -> list[Sentence]:
    spoken = right_for(ev) if is_text(ev) and ev.confusion is not None else NOTHING
    if by_order(ev) is not None:
        return [s for s in (spoken, _distance(ev), _weakest(ev), _readable(ev)) if s]
    blind = len(never_predicted(ev)) > 1
    said = len(ev.space) <= SMALL_TABLE and not is_text(ev)  # by the headline
    rest = (
        _favourites(ev) if blind else _weakest(ev),
        _readable(ev),
        NOTHING if said else _mix_up(ev),
        _among_three(ev),
    )
    return [sentence for sentence in (spoken, *rest) if sentence]


def _distance(ev: Evaluation) -> Sentence:
    """How far predictions are from ordered labels."""
    words = "Predictions are on average {mean_absolute_error:number} steps from the true label"
    scored = tell(ev, words + "; the ranked probability score is {ranked_probability_score:ratio}.")
    return scored or tell(ev, words + ".")


def _favourites(ev: Evaluation) -> Sentence:
    """Classes that take the answers which others never get."""
    used = sorted((entry for entry in ev.classes if entry.predicted), key=lambda entry: -entry.predicted)
    if not used:
        return NOTHING
    first = used[0]
    return say(
        "All answers go to {used:count} {used:class|classes}, {predicted:count} of them to *{label}*, "
        "which is right for {right:count}.",
        {"used": len(used), "predicted": first.predicted, "label": str(first.label), "right": first.right},
    )


def _weakest(ev: Evaluation) -> Sentence:
    weak = weakest(ev.classes)[: 1 if len(ev.space) <= 2 * WEAK else WEAK]
    return _listed(weak, "Weakest {n:class|classes}: {list}.")


def _listed(weak: Sequence[ClassResult], words: str) -> Sentence:
    """Say with these words which the {n} classes in the {list} are; nothing of none."""
    found = listed([_with_f1(entry, place == 0) for place, entry in enumerate(weak)])
    return say(words, n=len(weak), list=found) if weak else NOTHING


def weakest(classes: Sequence[ClassResult]) -> list[ClassResult]:
    """Return the classes of lowest F1 among those with enough examples to say so."""
    judged = [
        entry
        for entry in classes
        if entry.support >= EVENTS and isinstance(entry.metrics.get("f1"), Estimate)
    ]
    return sorted(judged, key=lambda entry: entry.metrics["f1"].value or 0.0)[:WEAK]


def _with_f1(entry: ClassResult, first: bool) -> Sentence:
    name, f1 = "F1 " if first else "", entry.metrics["f1"]
    class_f1 = f1 if isinstance(f1, Estimate) else 0.0
    return say("*{label}* (" + name + "{class_f1:ratio})", label=str(entry.label), class_f1=class_f1)


def _mix_up(ev: Evaluation) -> Sentence:
    words = "Most frequent mix-up: {pair:count} of {support:count} *{truth}* read as *{answer}*."
    return most_frequent_mix_up(ev, words)


def _among_three(ev: Evaluation) -> Sentence:
    if len(ev.space) <= 2 * WEAK:
        return NOTHING
    return tell(ev, "The right answer is among the top three {top_3_accuracy:percent} of the time.")


def _multilabel(ev: Evaluation, better: Sentence) -> list[Sentence]:
    exact = tell(ev, "The full label set is exactly right for {subset_accuracy:percent} of {units}.")
    weak = _listed(weakest(ev.classes), "Weakest {n:label|labels}: {list}.")
    return [sentence for sentence in (exact, _cautious(ev), better, weak) if sentence]


def _cautious(ev: Evaluation) -> Sentence:
    true, predicted = estimate(ev, "cardinality_true"), estimate(ev, "cardinality_predicted")
    if true is None or predicted is None:
        return NOTHING
    if abs(predicted.value - true.value) < 0.1 * true.value:
        return NOTHING
    manner = "cautious" if predicted.value < true.value else "eager"
    words = f"The model is too {manner}: it adds {{cardinality_predicted:number}} labels per {{unit}} where "
    return tell(ev, words + "{cardinality_true:number} belong.")
