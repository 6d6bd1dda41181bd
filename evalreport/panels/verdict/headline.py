"""The headline: one sentence of counts, the failing half in the colour of errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.facts import BinaryCounts
from evalreport.findings.chance import Skill, decision_skill, ranking_skill
from evalreport.findings.families import kinship
from evalreport.format import count, of_how_many, plural
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.panels.about import (
    SMALL_TABLE,
    complement,
    estimate,
    four_counts,
    is_text,
    majority,
    mistakes,
    negative,
    positive,
    units,
    unread,
)
from evalreport.panels.words import NOTHING, Sentence, compared, quoted, say, shortened
from evalreport.values import Estimate

LENGTH = 120
"""Characters that a headline should not exceed."""
SMALL = 1000
"""Rows below which counts stand in place of percentages."""
POOR = 0.2
"""Recall below which a class is named in the headline."""
MANY = 0.25
"""Share of mistakes inside families from which on the families are the headline."""


def headline(ev: Evaluation) -> Sentence:
    """Return the verdict in one sentence, with counts of whole rows."""
    ev = ev.in_rows()
    if mistakes(ev) == 0 and not _one_sided(ev):
        return say("No mistakes in {n:count} {units}.", n=ev.rows, units=units(ev, ev.rows))
    skill = ranking_skill(ev) if mistakes(ev) is None else decision_skill(ev)
    if skill is not None and skill != "demonstrated":
        return _no_better(ev, skill)
    match ev.space:
        case Binary():
            return _text(ev) if is_text(ev) else _binary(ev)
        case Multiclass():
            return _text(ev) if is_text(ev) else _multiclass(ev)
        case Multilabel():
            return _multilabel(ev)


def _one_sided(ev: Evaluation) -> bool:
    counts = four_counts(ev)
    return counts is not None and (counts.positives == 0 or counts.negatives == 0)


LACKING: Mapping[Skill, str] = {
    "none": "_No better than {rival}:_",
    "not_demonstrated": "_Not demonstrated to beat {rival}:_",
    "reversed": "_Worse than {rival}:_",
}
"""How a model without demonstrated skill is introduced."""


def _no_better(ev: Evaluation, skill: Skill) -> Sentence:
    match ev.space:
        case Binary():
            return _binary_no_better(ev, skill)
        case Multiclass():
            return _multiclass_no_better(ev, skill)
        case Multilabel():
            f1 = estimate(ev, "f1_micro")
            if f1 is None:
                return say(LACKING[skill], rival="chance") + _multilabel(ev)
            return say(LACKING[skill], rival="adding labels without looking") + say(
                "micro F1 {f1_micro:ratio} against {level}.",
                f1_micro=f1,
                level=compared("level", ev.no_skill["f1_micro"], f1, "ratio"),
            )


def _binary_no_better(ev: Evaluation, skill: Skill) -> Sentence:
    counts = four_counts(ev)
    if counts is None:
        auc = estimate(ev, "roc_auc")
        return say(LACKING[skill], rival="chance") + say(
            "it ranks {a} above {b} {auc:percent} of the time.",
            a=positive(ev),
            b=negative(ev),
            auc=0.5 if auc is None else auc,
        )
    always = ev.space.names[0] if counts.negatives >= counts.positives else ev.space.names[1]
    return say(LACKING[skill], rival=_always(always)) + say(
        "it finds {tp:count} of {p:count} {positives} and flags {fp:count} of {n:count} {negatives}.",
        tp=counts.tp,
        p=counts.positives,
        positives=positive(ev, counts.positives),
        fp=counts.fp,
        n=counts.negatives,
        negatives=negative(ev, counts.negatives),
    )


def _always(label: str) -> Sentence:
    return say("_always saying {label}_", label=quoted(shortened(label)))


def _multiclass_no_better(ev: Evaluation, skill: Skill) -> Sentence:
    counts = ev.confusion
    if counts is None:
        return NOTHING
    right = float(counts.marginals.tp.sum())
    return say(LACKING[skill], rival=_always(majority(ev, counts))) + say(
        "right for {right:count} of {n:count} {units}, against {always:count}.",
        right=right,
        n=counts.total,
        units=units(ev, counts.total),
        always=float(counts.marginals.support.max()),
    )


def _binary(ev: Evaluation) -> Sentence:
    counts = four_counts(ev)
    if counts is None:
        auc = estimate(ev, "roc_auc")
        if auc is None:
            one = "All {n:count} {units} are of one class, and _no threshold was given_: nothing is judged."
            return say(one, n=ev.rows, units=units(ev, ev.rows))
        return say(
            "Ranks {a} above {b} {auc:percent} of the time; _no threshold was given_, so it decides nothing.",
            a=positive(ev),
            b=negative(ev),
            auc=auc,
        )
    return found(ev, counts) + alarms(ev, counts)


def found(ev: Evaluation, counts: BinaryCounts) -> Sentence:
    """Return the first half of a binary headline: positives found and missed."""
    total, tp, fn = counts.positives, counts.tp, counts.fn
    what = positive(ev, total)
    if total == 0:
        return say("_No {what} occurs_, so recall cannot be measured;", what=positive(ev, 1))
    if fn == 0:
        every = "the only {what};" if total == 1 else "all {p:count} {what};"
        return say("Finds " + every, p=total, what=what)
    return say(
        "Finds {tp:count} of {p:count} {what} and _misses {fn:count}_;", tp=tp, p=total, what=what, fn=fn
    )


def alarms(ev: Evaluation, counts: BinaryCounts) -> Sentence:
    """Return the second half of a binary headline: negatives flagged."""
    total, fp = counts.negatives, counts.fp
    if total == 0:
        return say("_no {what} occurs_, so false alarms cannot be measured.", what=negative(ev, 1))
    if fp == 0:
        return say("none of {n:count} {what} is flagged by mistake.", n=total, what=negative(ev, total))
    verb = "is" if fp == 1 else "are"
    return say(
        "{fp:count} of {n:count} {what} " + verb + " flagged by mistake.",
        fp=fp,
        n=total,
        what=negative(ev, total),
    )


def _multiclass(ev: Evaluation) -> Sentence:
    if ev.confusion is None:
        return NOTHING
    lead = right_for(ev)
    for rest in (_blind(ev), _poor(ev), _families(ev), _top_pair(ev)):
        if rest:
            return lead + rest
    return lead


def right_for(ev: Evaluation) -> Sentence:
    """Return how often the answer was right: a count below 1,000 rows, else k in 10."""
    if ev.confusion is None:
        return NOTHING
    total, right = ev.confusion.total, float(ev.confusion.marginals.tp.sum())
    share = of_how_many(right / total)
    if total < SMALL or share is None:
        return say(
            "Right for {right:count} of {n:count} {units}.", right=right, n=total, units=units(ev, total)
        )
    return say(
        "Right for {k:count} {units} in {size:count}.", k=share[0], units=units(ev, share[0]), size=share[1]
    )


def never_predicted(ev: Evaluation) -> list[ClassResult]:
    """Return classes that occur and are never predicted."""
    return [entry for entry in ev.classes if entry.state == "never_predicted"]


def _blind(ev: Evaluation) -> Sentence:
    blind = never_predicted(ev)
    if not blind:
        return NOTHING
    if len(blind) == 1:
        return say(
            "_It never answers {label}_, though {support:count} are.",
            label=quoted(shortened(str(blind[0].label))),
            support=blind[0].support,
        )
    return say(
        "_{blind:count} of {classes:count} classes are never predicted._",
        blind=len(blind),
        classes=len(ev.space),
    )


def _poor(ev: Evaluation) -> Sentence:
    poor = [entry for entry in ev.classes if entry.support > 0 and entry.right / entry.support < POOR]
    if not poor:
        return NOTHING
    if len(poor) == 1:
        return say(
            "_It finds only {found:count} of {support:count} {label}._",
            found=poor[0].right,
            support=poor[0].support,
            label=quoted(shortened(str(poor[0].label))),
        )
    return say(
        "_Of {poor:count} of {classes:count} classes it finds less than a fifth._",
        poor=len(poor),
        classes=len(ev.space),
    )


def _families(ev: Evaluation) -> Sentence:
    if len(ev.space) <= SMALL_TABLE or ev.confusion is None:
        return NOTHING
    kin, wrong = kinship(ev.confusion), mistakes(ev) or 1.0
    if kin.mistakes < MANY * wrong:
        off = ev.confusion.rows != ev.confusion.columns
        return say("Its mistakes are _spread over {pairs:count} pairs_ of classes.", pairs=int(off.sum()))
    one = len(kin.families) == 1
    return say(
        "_{inside:percent} of its mistakes_ are mix-ups inside {families:count} small "
        + ("family" if one else "families")
        + " of look-alike classes.",
        inside=kin.mistakes / wrong,
        families=len(kin.families),
    )


def most_frequent_mix_up(ev: Evaluation, words: str, named: Callable[[str], str] = quoted) -> Sentence:
    """Say with these words how often, {pair} of {support}, which {truth} is taken for which {answer}."""
    counts = ev.confusion
    if counts is None or not len(counts.misread):
        return NOTHING
    cell = counts.misread[0]
    row = int(counts.rows[cell])
    return say(
        words,
        truth=named(ev.space.names[row]),
        answer=named(ev.space.names[int(counts.columns[cell])]),
        pair=float(counts.weight[cell]),
        support=float(counts.marginals.support[row]),
    )


def _top_pair(ev: Evaluation) -> Sentence:
    """Few classes: the most frequent mix-up."""
    words = "Most often _{truth} is taken for {answer}_: {pair:count} of {support:count}."
    return most_frequent_mix_up(ev, words, lambda name: quoted(shortened(name, 20)))


def critical(ev: Evaluation) -> ClassResult | None:
    """Return the class of which most is overlooked, of those with at least 20 examples (or of all)."""
    supported = [entry for entry in ev.classes if entry.support > 0]
    often = [entry for entry in supported if entry.support >= 20] or supported
    return min(often, key=lambda entry: entry.right / entry.support, default=None)


def _text(ev: Evaluation) -> Sentence:
    lead = _overlooks(ev)
    whole = lead + _unreadable(ev, " as a label")
    return whole if len(whole.text) <= LENGTH else lead + _unreadable(ev, "")


def _overlooks(ev: Evaluation) -> Sentence:
    counts = four_counts(ev)
    if counts is not None:
        if counts.fn == 0:
            return say("Finds all {p:count} {what}.", p=counts.positives, what=positive(ev, counts.positives))
        return say(
            "Overlooks _{fn:count} of {p:count}_ {what}.",
            fn=counts.fn,
            p=counts.positives,
            what=positive(ev, counts.positives),
        )
    blind, worst = never_predicted(ev), critical(ev)
    if len(blind) > 1 or worst is None:
        return right_for(ev) + _blind(ev)
    return say(
        "Overlooks _{missed:count} of {support:count}_ {label} {units}.",
        missed=worst.support - worst.right,
        support=worst.support,
        label=shortened(str(worst.label)),
        units=units(ev, worst.support),
    )


def _unreadable(ev: Evaluation, what: str) -> Sentence:
    lost = unread(ev)
    if not lost:
        return say(f"Every answer could be read{what}.")
    words = "answer" if lost == 1 else "answers"
    verb = "counts" if lost == 1 else "count"
    return say(
        "{unread:count} " + words + f" could not be read{what} and _" + verb + " as wrong_.", unread=lost
    )


def _multilabel(ev: Evaluation) -> Sentence:
    recall, precision = estimate(ev, "recall_micro"), estimate(ev, "precision_micro")
    if not ev.classes or recall is None:
        return say("_No decisions were logged_, so only the ranking of labels can be judged.")
    return _of_ten(ev, recall) + _added(ev, precision)


def _of_ten(ev: Evaluation, recall: Estimate) -> Sentence:
    wanted = sum(entry.support for entry in ev.classes)
    hit = sum(entry.right for entry in ev.classes)
    share = of_how_many(recall.value)
    if share is None or ev.rows < SMALL:
        labels = plural(wanted, ("label that belongs", "labels that belong"))
        return say(
            "Of {wanted:count} " + labels + " it finds {hit:count} and _leaves out {left:count}_;",
            wanted=wanted,
            hit=hit,
            left=wanted - hit,
        )
    return say(
        "Of every " + ("ten" if share[1] == 10 else count(share[1])) + " labels a {unit} should carry "
        "it finds {a:count} and _leaves out {b:count}_;",
        unit=units(ev, 1),
        a=share[0],
        b=share[1] - share[0],
    )


def _added(ev: Evaluation, precision: Estimate | None) -> Sentence:
    if precision is None:
        return say("it adds no label at all.")
    if ev.rows < SMALL:
        added = sum(entry.predicted for entry in ev.classes)
        wrong = sum(entry.predicted - entry.right for entry in ev.classes)
        if added == 1:
            return say("the only label it adds is " + ("wrong." if wrong else "right."))
        return say("{wrong:count} of the {added:count} labels it adds are wrong.", wrong=wrong, added=added)
    return say("{false:percent} of the labels it adds are wrong.", false=complement(precision))
