"""The first screen of a page of thresholds: the best one, here and elsewhere."""

from __future__ import annotations

import math

from evalreport.estimates import valued
from evalreport.evaluation.threshold_selection import PLAIN, Selected, ThresholdSelection
from evalreport.format import count, show
from evalreport.format import threshold as threshold_text
from evalreport.panels.about import (
    complement,
    confidence_percent,
    objective_style,
    objective_title,
    of_weights,
    one_threshold,
    tell,
    units,
)
from evalreport.panels.intervals import Forest, ForestRow, forest_row
from evalreport.panels.operating import (
    COIN,
    ROUGH,
    advised,
    candidates,
    likely,
    story,
    unranked,
    without_gain,
)
from evalreport.panels.parts import Section
from evalreport.panels.provenance import in_utc
from evalreport.panels.tuned import how
from evalreport.panels.verdict import MOST, WORDS, Verdict, Warned
from evalreport.panels.words import NOTHING, Sentence, compared, paragraph, say
from evalreport.thresholds.optimum import Optimum, Unreachable
from evalreport.thresholds.records import Cutoff, OutOfSample, Tuned
from evalreport.values import Estimate, Result, Undefined

ROWS = 7
"""Objectives that the first screen has room for; all are in the table."""
MIDDLE = 0.5
"""The threshold that everybody has who chose none."""
NO_VALUE = OutOfSample(Undefined("not worked out"), None, "")


def forest(found: ThresholdSelection) -> Forest:
    """Return each choice with its value elsewhere, and what is reached without it."""
    rows = [row for name, best in found.found.items() if (row := _row(found, name, best)) is not None]
    without = "At 0.5" if found.evaluation.task == "binary" else "Without"
    heads = ("Chosen for", "Elsewhere", f"{confidence_percent(found.evaluation)} interval", without)
    return Forest(tuple(rows[:ROWS]), heads=heads)


def _row(found: ThresholdSelection, name: str, best: Selected) -> ForestRow | None:
    """A row where values lie between 0 and 1, or -1 and 1."""
    match best:
        case Optimum() if (style := objective_style(best.metric)) != "number":
            out_of_sample = best.out_of_sample or NO_VALUE
            gloss = _gloss(name, best)
            return forest_row(
                name,
                objective_title(name),
                gloss,
                out_of_sample.value,
                style,
                reference=_at_half(found, name),
            )
        case Cutoff():
            gloss = say("share answered, from a confidence of {at} on", at=threshold_text(best.threshold))
            return forest_row(
                name, objective_title(name), gloss, best.out_of_sample.value, "percent", reference=1.0
            )
        case Tuned() if (style := objective_style(name)) != "number":
            gloss = say("{how}", how=how(best))
            value, title = best.out_of_sample.value, objective_title(name)
            return forest_row(name, title, gloss, value, style, reference=best.without)
        case _:
            return None


def _gloss(name: str, best: Optimum) -> Sentence:
    at = threshold_text(best.threshold)
    if name == best.metric:
        level = (
            "" if best.no_skill is None else f"; flagging all {show(best.no_skill, objective_style(name))}"
        )
        return say("at a threshold of {at}{level}", at=at, level=level)
    return say("{metric} at a threshold of {at}", metric=objective_title(best.metric), at=at)


def _at_half(found: ThresholdSelection, name: str) -> float | None:
    """The value at a threshold of 0.5, of probabilities; none where the bound is missed there."""
    if found.whole is None or found.evaluation.score_kind != "probability":
        return None
    objective = found.objectives[name]
    score = float(objective.score(found.whole.at(MIDDLE)))
    return (-score if objective.lower else score) if math.isfinite(score) else None


TITLES = {
    "binary": "Decision thresholds",
    "multiclass": "Cut-offs and class weights",
    "multilabel": "Thresholds of labels",
}


def panel(found: ThresholdSelection) -> Section:
    """Return the verdict of a choice."""
    ev = found.evaluation
    rows = f"{count(ev.rows)} {units(ev, ev.rows)}"
    warnings = tuple(Warned("note", WORDS["note"], text, NOTHING, "") for text in found.doubts)
    body = Verdict(
        task=TITLES[ev.task],
        run=ev.provenance.title or ev.provenance.run_name,
        kicker=tuple(filter(None, (ev.provenance.dataset, rows, in_utc(ev.provenance.made)))),
        headline=headline(found),
        summary=summary(found),
        forest=forest(found),
        warnings=warnings[:MOST],
        more=warnings[MOST:],
    )
    return Section("verdict", "Verdict", "Verdict", "verdict", NOTHING, body)


def headline(found: ThresholdSelection) -> Sentence:
    """Return what was chosen for the first objective, and what it is worth elsewhere.

    An objective without a value is passed over; a constraint that no threshold meets is reported.
    """
    name, best = next(
        ((name, best) for name, best in found.found.items() if not isinstance(best, Undefined)),
        next(iter(found.found.items())),
    )
    match best:
        case Optimum():
            why = unranked(found.evaluation)
            return say("_No threshold is recommended_: {why}.", why=why) if why else _threshold(name, best)
        case Cutoff():
            return _cutoff(found, best)
        case Tuned():
            return _several(found, name, best)
        case Unreachable() | Undefined():
            return say("_Nothing can be chosen_: {reason}.", reason=best.reason)


def _cutoff(found: ThresholdSelection, best: Cutoff) -> Sentence:
    """How often it is right and how much it leaves, on rows that took no part where that is known."""
    kept, coverage = best.out_of_sample.kept, best.out_of_sample.value
    known = isinstance(coverage, Estimate) and isinstance(kept, Estimate)
    right = kept if isinstance(kept, Estimate) and known else best.accuracy
    left = complement(coverage) if isinstance(coverage, Estimate) and known else 1 - best.coverage
    expected = ("expect it to be", "and to leave") if known else ("it is", "and leaves")
    words = f"Answering from a confidence of {{threshold:threshold}} on, {expected[0]} right for "
    words += f"{{right:percent}} {expected[1]} _{{left:percent}}_ to others."
    return say(words, threshold=best.threshold, right=right, left=left, of=found.evaluation.rows)


def _threshold(name: str, best: Optimum) -> Sentence:
    values = _here_and_elsewhere(
        best.apparent, best.out_of_sample.value if best.out_of_sample else None, best.metric
    )
    title = objective_title(name)
    if best.bound is None:
        words = "{title} is best at {threshold:threshold}: {values}"
        chosen = say(words, title=title, threshold=best.threshold, values=values)
        return chosen + _flagging_all(best)
    if best.hold is not None:
        return _held(title, best)
    at = say("{title} here at {threshold:threshold}", title=title, threshold=best.threshold)
    if best.chance is not None:
        words = "{at}; that it holds on new data has a chance of *{chance:percent}*"
        at = say(words + _coin(best.chance), at=at, chance=best.chance, of=ROUGH)
    return say("{at}. {metric}: {values}", at=at, metric=objective_title(best.metric), values=values)


def _flagging_all(best: Optimum) -> Sentence:
    """What F1 is without skill."""
    if best.no_skill is None:
        return NOTHING
    style, value = (
        objective_style(best.metric),
        best.out_of_sample.value if best.out_of_sample else Undefined(""),
    )
    return say(
        "Flagging all would reach {no_skill}.", no_skill=compared("no_skill", best.no_skill, value, style)
    )


def _coin(chance: float) -> str:
    low, high = COIN
    return ", a coin toss" if low <= chance <= high else ""


def _held(title: str, best: Optimum) -> Sentence:
    """What holding the bound costs, or why it cannot be held."""
    hold = best.hold
    assert hold is not None  # noqa: S101  asked before
    if hold.threshold is None or hold.costs is None:
        return say("{title} _{reason}_.", title=title, reason=hold.reason or "")
    at = say(
        "{title} holds on new data with {confidence:percent} confidence at *{held:threshold}*",
        title=title,
        confidence=hold.confidence,
        held=hold.threshold,
        of=ROUGH,
    )
    style = objective_style(best.metric)
    reached = hold.costs.value
    if reached is None or show(reached, style) == show(best.apparent, style):
        return say("{at}.", at=at)
    return say(
        "{at}; {metric} is {held_value:" + style + "} there, not {apparent:" + style + "}.",
        at=at,
        metric=objective_title(best.metric),
        held_value=reached,
        apparent=best.apparent,
    )


def _here_and_elsewhere(apparent: float, elsewhere: Result | None, metric: str) -> Sentence:
    style = objective_style(metric)
    if not isinstance(elsewhere, Estimate):
        return say("{apparent:" + style + "} on the rows of the choice.", apparent=apparent)
    here, there = compared("apparent", apparent, elsewhere, style), f"*{{elsewhere:{style}}}*"
    words = f"expect {there} on new data, not the {{here}} of the choice."
    if valued(elsewhere, style) == here.text:
        words = f"{there}, also on rows that took no part in the choice."
    return say(words, here=here, elsewhere=elsewhere)


def _several(found: ThresholdSelection, name: str, best: Tuned) -> Sentence:
    what = "One weight per class" if found.evaluation.task == "multiclass" else "One threshold per label"
    values = _here_and_elsewhere(best.apparent, best.out_of_sample.value, name)
    return say(what + " for {title}: {values}", title=objective_title(name), values=values)


def summary(found: ThresholdSelection) -> Sentence:
    """Return how to read the two values."""
    words = (
        "Chosen on {source}; “elsewhere” is this data, which took no part in the choice."
        if found.tuned_on
        else "“Elsewhere” is cross-fitted: chosen on nine folds, measured on the tenth. That is what to "
        "expect on new data; the value where it was chosen is on average too good."
    )
    told = tell(found.evaluation, words + " Intervals are {level}.", source=found.tuned_on)
    return paragraph(_changed(found), _without(found), told, of_weights(found.evaluation))


def _changed(found: ThresholdSelection) -> Sentence:
    """What the choice changes beside the threshold in use, of a binary problem."""
    if found.whole is None or not found.optima:
        return NOTHING
    best, now = next(iter(found.optima.values())), one_threshold(found.evaluation)
    if unranked(found.evaluation):  # which the headline says
        return NOTHING
    in_use = without_gain(found.evaluation, best)
    if in_use is not None:
        other = best.out_of_sample.value if best.out_of_sample else Undefined("")
        here = compared("in_use", in_use, other, objective_style(best.metric))
        words = (
            "Elsewhere that is no better than {in_use} at {threshold:threshold}, which is in use: nothing "
        )
        return say(
            words + "is gained by the change.", in_use=here, threshold=math.nan if now is None else now
        )
    named = candidates(found.evaluation, found.whole, found.optima)
    advice = advised(found.evaluation, named, found.optima)
    if advice is None and not likely(best):
        return say("No threshold is recommended: the constraint may well be missed on new data.")
    return story(named, advice)


def _without(found: ThresholdSelection) -> Sentence:
    """What the first objective would be without a choice, of labels and classes."""
    name, best = next(iter(found.found.items()))
    if not isinstance(best, Tuned) or best.without is None:
        return NOTHING
    plain = next(words for start, words in PLAIN.items() if start in best.starts)
    without = compared("without", best.without, best.out_of_sample.value, objective_style(name))
    return say("With {plain} it would be {without}.", plain=plain, without=without)
