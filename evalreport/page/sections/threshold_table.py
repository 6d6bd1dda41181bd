"""The thresholds that a page names: the one in use, those that were chosen, and what each step costs.

All of them feed the same rows, flags and presets, so that no two places of a page tell two stories.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.core.format import count, percent, significant
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import Estimate, format_reference, with_interval
from evalreport.core.sentences import NOTHING, Sentence, say
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import Skill, ranking_skill
from evalreport.findings.score_quality import held_out_value, recommend_threshold
from evalreport.page.elements import Cell, Column, Row, Table
from evalreport.page.evaluation_terms import (
    estimate,
    four_counts,
    objective_style,
    objective_title,
    one_threshold,
    some,
    tell,
)
from evalreport.thresholds.best_threshold import Optimum
from evalreport.thresholds.bounds_on_new_rows import SURE, chance_of, fewest, find_limit_place, one_class
from evalreport.thresholds.objectives import METRICS, MISS, WITH_NUMBERS, Constraint, Objective
from evalreport.thresholds.sweep import Sweep

COIN = (0.4, 0.6)
"""Probabilities that are about one half."""
ROUGH = 100
"""A chance is shown in whole per cent: it is accurate to about five points."""
STANDARD = {"f1": "Best F1", "cost": "Cheapest", "recall>=0.95": "Recall ≥ 95%"}
"""What a report without a stated purpose looks at, and what a preset calls it."""
ORIGINS = {"default": "the default", "given": "given", "tuned": "chosen on held-out rows"}


@dataclass(frozen=True)
class NamedThreshold:
    """A threshold with what is flagged at it.

    Parameters
    ----------
    key, title, why : str
        Name for the script, what a preset and a flag call it, and a few words more.
    threshold, tp, fp : float
    best : Optimum or None
        The choice that it is; None for the one in use.
    safe : bool
        Whether it keeps the bound of `best` surely.
    """

    key: str
    title: str
    why: str
    threshold: float
    tp: float
    fp: float
    best: Optimum | None = None
    safe: bool = False


def candidates(
    ev: Evaluation, sweep: Sweep, asked: Mapping[str, Optimum] | None = None
) -> tuple[NamedThreshold, ...]:
    """Return the thresholds that the page names, fewest found first.

    Parameters
    ----------
    sweep : Sweep
        Of all thresholds that are at hand.
    asked : mapping from an objective's name to Optimum, optional
        What was chosen on purpose; else the standard ones.
    """
    found = list(_in_use(ev))
    for name, best in (_standard(sweep) if asked is None else asked).items():
        if not math.isfinite(best.threshold):
            continue
        title = STANDARD.get(name, objective_title(name)) if asked is None else objective_title(name)
        why = "met on these rows" if best.constraint else _why(name, best)
        counts = sweep.counts_at_threshold(best.threshold)
        found.append(
            NamedThreshold(name, title, why, best.threshold, float(counts.tp), float(counts.fp), best)
        )
        found += _safe(ev, sweep, title, name, best)
    kept = found
    if asked is None:
        kept = [one for one in found if one.best is None or not any(_beats(other, one) for other in found)]
    return tuple(sorted(kept, key=lambda one: (one.tp, one.fp)))


def _in_use(ev: Evaluation) -> list[NamedThreshold]:
    now, counts = one_threshold(ev), four_counts(ev)
    if now is None or counts is None or ev.threshold is None or not math.isfinite(now):
        return []
    why = ORIGINS.get(ev.threshold.origin, "as logged")
    return [NamedThreshold("now", "In use", why, now, float(counts.tp), float(counts.fp))]


def _standard(sweep: Sweep) -> dict[str, Optimum]:
    if not (sweep.positives and sweep.negatives):  # then no threshold is better than another
        return {}
    found = {name: sweep.best(name) for name in STANDARD}
    return {name: best for name, best in found.items() if isinstance(best, Optimum)}


def _why(name: str, best: Optimum) -> str:
    if name == "cost":
        return f"if a miss costs {MISS:g} false positives"
    return "" if name == best.metric else f"best {objective_title(best.metric)}"


def _beats(one: NamedThreshold, other: NamedThreshold) -> bool:
    """Whether one finds no fewer with no more false positives, and differs."""
    return (one.tp, one.fp) != (other.tp, other.fp) and one.tp >= other.tp and one.fp <= other.fp


def _safe(ev: Evaluation, sweep: Sweep, title: str, name: str, best: Optimum) -> list[NamedThreshold]:
    """The threshold that satisfies the constraint with confidence: the requested one, else the exact limit."""
    if best.constraint is None:
        return []
    if best.at_confidence is not None:
        at, sure = best.at_confidence.threshold, best.at_confidence.confidence
    else:
        at, sure = _exact(ev, sweep, best), SURE
    if at is None or _enough(best, at):
        return []
    counts = sweep.counts_at_threshold(at)
    why = f"met with {percent(sure, ROUGH)} confidence"
    tp, fp = float(counts.tp), float(counts.fp)
    return [NamedThreshold(f"{name}-safe", f"{title}, safe", why, at, tp, fp, best, safe=True)]


def _enough(best: Optimum, safe: float) -> bool:
    """Whether the suggested threshold is at least as careful as the safe one."""
    bound = threshold_constraint(best)
    sought = None if bound is None else one_class(bound)
    return sought is not None and (best.threshold <= safe if sought.positive else best.threshold >= safe)


def _exact(ev: Evaluation, sweep: Sweep, best: Optimum) -> float | None:
    """The limit of independent rows of equal weight that the choice was made on, of a rate of one class."""
    bound = threshold_constraint(best)
    other = best.out_of_sample
    applies = not ev.weighted and ev.clusters is None and other is not None and other.method == "cross-fitted"
    if bound is None or not applies:
        return None
    place = find_limit_place(sweep, bound, SURE)
    return None if place is None else float(sweep.thresholds[place])


def threshold_constraint(best: Optimum) -> Constraint | None:
    """Return the bound that a threshold was chosen under."""
    return (
        None
        if best.constraint is None
        else Constraint(best.constraint.metric, best.constraint.operator, best.constraint.number)
    )


def recommended_candidate(
    ev: Evaluation, found: Sequence[NamedThreshold], asked: Mapping[str, Optimum] | None
) -> str | None:
    """Return the key of the candidate that the page recommends: the first that was asked for, or none.

    Not recommended is any threshold of scores that do not rank significantly better than chance, a free
    choice that is no better on held-out rows than the threshold in use, and a constraint that is about as
    likely missed as met on new rows.
    """
    keys = {one.key for one in found}
    if asked is not None:
        first = next(iter(asked), None)
        if first is None or explain_no_recommendation(ev) or without_gain(ev, asked[first]) is not None:
            return None
        if f"{first}-safe" in keys:
            return f"{first}-safe"
        return first if first in keys and likely(asked[first]) else None
    return "f1" if "f1" in keys and recommend_threshold(ev) is not None else None


UNRANKED: Mapping[Skill, str] = {
    "none": "the scores rank no better than chance",
    "not_significant": "the scores do not rank significantly better than chance",
    "reversed": "the scores rank worse than chance",
}
"""Rankings from which no threshold is recommended."""


def explain_no_recommendation(ev: Evaluation) -> Sentence:
    """Return why no threshold of these scores is recommended; nothing where one may be."""
    if ev.data_checks.get("constant_scores"):
        return say("all scores are equal")
    why = UNRANKED.get(ranking_skill(ev) or "significant")
    return NOTHING if why is None else tell(ev, why + " (ROC AUC {roc_auc:ratio}, {roc_auc:ratio interval})")


def likely(best: Optimum) -> bool:
    """Return whether a choice will probably meet its constraint on new rows; a free choice has none."""
    if best.constraint is None:
        return True
    if best.at_confidence is not None:
        return best.at_confidence.threshold is not None
    return best.chance is not None and best.chance > COIN[1]


def without_gain(ev: Evaluation, best: Optimum) -> float | None:
    """Return the value at the threshold in use, where a free choice is not better on held-out data."""
    counts, other = four_counts(ev), held_out_value(best)
    if best.constraint is not None or counts is None or other is None or one_threshold(ev) is None:
        return None
    if best.metric not in (*METRICS, *WITH_NUMBERS):  # a metric of the user's own: its rows are not here
        return None
    objective = Objective.parse(best.text)
    now = float(objective.value(counts))
    return now if (now <= other.value if objective.lower else now >= other.value) else None


def steps(ev: Evaluation, sweep: Sweep, found: Sequence[NamedThreshold], advice: str | None) -> Table | None:
    """Return what each step to more finds costs; None where there is but one threshold."""
    if len(found) < 2:
        return None
    heads = ("Threshold", "Found", "Missed", "False positives", "FP per extra TP", "Held-out estimate")
    rows = [
        _step(ev, sweep, one, found[place - 1] if place else None, chosen=one.key == advice)
        for place, one in enumerate(found)
    ]
    return Table.from_rows(
        "threshold-steps", "What each threshold costs", (Column("Chosen for", "text"), *heads), rows
    )


def _step(
    ev: Evaluation, sweep: Sweep, one: NamedThreshold, before: NamedThreshold | None, *, chosen: bool
) -> Row:
    why = [*(["recommended"] if chosen else []), *([one.why] if one.why else []), *_cheapest(sweep, one)]
    price = _price(one, before)
    held_out, how = _held_out_estimate(ev, sweep, one)
    return (
        Cell(say("*{title}*", title=one.title) if chosen else one.title, "text", sub="; ".join(why)),
        threshold_text(one.threshold),
        count(one.tp),
        count(max(sweep.positives - one.tp, 0)),
        count(one.fp),
        price,
        Cell(held_out, sub=how),
    )


def _price(one: NamedThreshold, before: NamedThreshold | None) -> str:
    more = 0.0 if before is None else one.tp - before.tp
    if before is None or more <= 0:
        return "–"
    return significant((one.fp - before.fp) / more, 2)


def _cheapest(sweep: Sweep, one: NamedThreshold) -> list[str]:
    """For which costs of a miss no threshold is cheaper: on the hull, between the slopes of its edges."""
    more, extra = sweep.tp - one.tp, sweep.fp - one.fp
    if ((more >= 0) & (extra < 0)).any():
        return []
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = extra / more
    low = max(cost[more < 0].max(initial=0.0), 0.0)
    high = cost[more > 0].min(initial=math.inf)
    if low >= high:
        return []
    ends = (
        f"{significant(low, 2)} to {significant(high, 2)}"
        if math.isfinite(high)
        else f"{significant(low, 2)} or more"
    )
    return [f"{'also ' if one.best else ''}cheapest if a miss costs {ends} false positives"]


def _held_out_estimate(ev: Evaluation, sweep: Sweep, one: NamedThreshold) -> tuple[str, str]:
    """What to expect of it on rows that took no part in its choice, and by which measure."""
    if one.best is None:
        recall = estimate(ev, "recall")
        return ("–", "") if recall is None else (with_interval(recall, "percent"), "recall")
    if one.best.constraint is not None:
        chance = chance_at(sweep, one)
        bound = one.title.removesuffix(", safe")
        return (
            ("–", "") if chance is None else (percent(chance, ROUGH), f"probability of {bound} on new rows")
        )
    other = one.best.out_of_sample
    if other is None or not isinstance(other.value, Estimate):
        return "–", ""
    style, title = objective_style(one.best.metric), objective_title(one.best.metric)
    here = format_reference(one.best.apparent, other.value, style)
    return with_interval(other.value, style), f"{title}, {other.method}; here {here}"


def chance_at(sweep: Sweep, one: NamedThreshold) -> float | None:
    """Return the chance that a candidate meets the constraint on new rows; None where it is unknown."""
    if one.best is None or one.best.constraint is None:
        return None
    if not one.safe:
        return one.best.chance
    if one.best.at_confidence is not None:
        return None
    bound = threshold_constraint(one.best)
    sought = None if bound is None else one_class(bound)
    if sought is None:
        return None
    n, wrong = (sweep.positives, sweep.positives - one.tp) if sought.positive else (sweep.negatives, one.fp)
    chance = float(chance_of(round(wrong), round(n), sought.allowed))
    return chance if chance >= 0.5 else None


@dataclass(frozen=True)
class BoundStatement:
    """A bound in words: what the sample suggests, its chance, and what holds."""

    title: str
    words: Sentence


def bound_statements(
    ev: Evaluation, sweep: Sweep, found: Sequence[NamedThreshold]
) -> tuple[BoundStatement, ...]:
    """Return what may be promised of each bound."""
    made = []
    for one in found:
        if one.best is not None and one.best.constraint is not None and not one.safe:
            safe = next((other for other in found if other.key == f"{one.key}-safe"), None)
            made.append(_bound_statement(ev, sweep, one, safe))
    return tuple(made)


def _bound_statement(
    ev: Evaluation, sweep: Sweep, one: NamedThreshold, safe: NamedThreshold | None
) -> BoundStatement:
    assert one.best is not None and one.best.constraint is not None  # noqa: S101  asked before
    chance, bound = one.best.chance, one.best.constraint
    title = one.title
    coin = chance is not None and COIN[0] <= chance <= COIN[1]
    style = objective_style(bound.metric)
    here = "*{suggested:threshold}* reaches {reached:" + style + "} on these {units}."
    chances = "The probability that new {units} meet the constraint is *{chance:percent}*."
    words = tell(ev, here, suggested=one.threshold, reached=bound.in_sample, of=ev.rows)
    words += tell(ev, chances, chance=chance, of=ROUGH)
    words += _constraint_advice(ev, sweep, one, safe)
    return BoundStatement(title + (": about as likely violated as met" if coin else ""), words)


def _constraint_advice(
    ev: Evaluation, sweep: Sweep, one: NamedThreshold, safe: NamedThreshold | None
) -> Sentence:
    assert one.best is not None  # noqa: S101  asked before
    hold, bound = one.best.at_confidence, threshold_constraint(one.best)
    if safe is not None:
        words = "*{safe:threshold}* meets it with {sure:percent} confidence: {safe_tp:count} found and "
        return say(
            words + "{safe_fp:count} false positives, instead of {tp_here:count} and {fp_here:count}.",
            safe=safe.threshold,
            sure=SURE if hold is None else hold.confidence,
            safe_tp=safe.tp,
            safe_fp=safe.fp,
            tp_here=one.tp,
            fp_here=one.fp,
            of=ROUGH,
        )
    if hold is not None:
        return say("It {reason}.", reason=hold.reason) if hold.reason else NOTHING
    sought = None if bound is None else one_class(bound)
    if sought is None or ev.weighted or ev.clusters is not None:
        return NOTHING
    if _exact(ev, sweep, one.best) is not None:
        return say("It meets the constraint with {sure:percent} confidence.", sure=SURE, of=ROUGH)
    n, needed = sweep.positives if sought.positive else sweep.negatives, fewest(sought.allowed, SURE)
    what = some(ev, ev.space.display_labels[int(sought.positive)], n)
    if n >= needed:
        return tell(ev, "No useful threshold is certain to meet it.")
    words = "{few:count} {what} are too few to guarantee it with {sure:percent} confidence, which needs "
    return say(words + "{needed:count}.", few=n, what=what, needed=needed, sure=SURE, of=ROUGH)


def threshold_summary(found: Sequence[NamedThreshold], advice: str | None) -> Sentence:
    """Return what the section says first: the recommended threshold with its price, or none."""
    one = next((other for other in found if other.key == advice), None)
    now = next((other for other in found if other.key == "now"), None)
    if one is None:
        return NOTHING
    if now is None or now.threshold == one.threshold:
        return say(
            "The slider starts at *{to:threshold}*, chosen for {title}.", to=one.threshold, title=one.title
        )
    more, extra = one.tp - now.tp, one.fp - now.fp
    priced = one.key == "cost" or (one.best is not None and one.best.constraint)
    finds = "{found_more:count} more" if more >= 0 else "{found_fewer:count} fewer"
    extra_count = "{fp_more:count} more" if extra >= 0 else "{fp_fewer:count} fewer"
    return say(
        f"Use the threshold *{{to:threshold}}*: {finds} found for {extra_count} false {{extra:positive|positives}} than at {{threshold:threshold}}."
        + ("" if priced else " If you have costs or a constraint, use those instead."),
        {"found_more": more, "found_fewer": -more, "fp_more": extra, "fp_fewer": -extra},
        to=one.threshold,
        extra=abs(extra),
        threshold=now.threshold,
    )


def level_note(ev: Evaluation) -> Sentence:
    """Return how to read the table of steps."""
    return tell(
        ev,
        "Each row finds more than the row above.",
    )
