"""Whether another threshold is worth a sentence: the one that the page recommends, with its price."""

from __future__ import annotations

from evalreport.evaluation.model import Evaluation
from evalreport.findings.demonstrated import ranking_skill
from evalreport.findings.recommended import RecommendedThreshold, elsewhere, gains, recommended
from evalreport.format import significant
from evalreport.panels.about import estimate, one_threshold
from evalreport.panels.words import NOTHING, Sentence, compared, say
from evalreport.thresholds.optimum import Optimum


def better_threshold(ev: Evaluation) -> Sentence:
    """Return what the recommended threshold would do, or that none is demonstrated to help."""
    better = recommended(ev)
    if better is not None:
        return _price(better)
    now = estimate(ev, "f1")
    if ev.sweep is None or one_threshold(ev) is None or ranking_skill(ev) != "demonstrated":
        return NOTHING
    best = ev.sweep.best("f1")
    then = elsewhere(best)
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
        "A threshold of *{to:threshold}* "
        + " and ".join(parts)
        + "; on rows that took no part in its choice, "
        "F1 is {f1_elsewhere:ratio} instead of {f1:ratio}.",
        to=better.threshold,
        found_more=found,
        found_fewer=-found,
        alarms_more=flagged,
        alarms_fewer=-flagged,
        price=significant(flagged / found, 2) if found > 0 else "",
        p=better.now.positives,
        fp=better.now.fp,
        f1=better.f1_now,
        f1_elsewhere=better.f1,
    )
