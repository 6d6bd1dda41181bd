"""Whether another threshold is worth a sentence: only beyond 0.01 and half the interval."""

from __future__ import annotations

from evalreport.evaluation.model import Evaluation
from evalreport.facts import BinaryCounts
from evalreport.panels.about import estimate, four_counts, is_gain, metric, one_threshold
from evalreport.panels.words import NOTHING, Sentence, compared, say
from evalreport.thresholds.optimum import Optimum
from evalreport.thresholds.sweep import Sweep
from evalreport.values import Estimate

WANTED = "recall>=0.95"
COSTLY = 0.5
"""Share of negatives that may be flagged before a threshold is no advice."""


def better_threshold(ev: Evaluation) -> Sentence:
    """Return what another threshold would do, or that none helps; nothing without scores."""
    counts, sweep = four_counts(ev), ev.sweep
    if counts is None or sweep is None or one_threshold(ev) is None:
        return NOTHING
    if not counts.positives or not counts.negatives or not _ranks(ev):
        return NOTHING
    return _more_recall(ev, counts, sweep) or _more_f1(ev, sweep)


def _ranks(ev: Evaluation) -> bool:
    """Without a ranking, a better threshold is one that flags all or none."""
    auc = estimate(ev, "roc_auc")
    return auc is not None and auc.low is not None and auc.low > 0.5


def _more_recall(ev: Evaluation, counts: BinaryCounts, sweep: Sweep) -> Sentence:
    best = sweep.best(WANTED)
    if not isinstance(best, Optimum) or best.fp > COSTLY * counts.negatives:
        return NOTHING
    if not is_gain(metric(ev, "recall"), best.tp / counts.positives):
        return NOTHING
    now = one_threshold(ev)
    verb = "Lowering" if now is not None and best.threshold < now else "Moving"
    return say(
        verb + " it to *{to:threshold}* would have found {tp_then:count} of {p:count}, at the price of "
        "{fp_then:count} false alarms instead of {fp:count}.",
        to=best.threshold,
        tp_then=best.tp,
        p=counts.positives,
        fp_then=best.fp,
        fp=counts.fp,
    )


def _more_f1(ev: Evaluation, sweep: Sweep) -> Sentence:
    best, now = sweep.best("f1"), estimate(ev, "f1")
    if not isinstance(best, Optimum) or now is None or best.fp > COSTLY * sweep.negatives:
        return NOTHING
    elsewhere = None if best.out_of_sample is None else best.out_of_sample.value
    then = elsewhere.value if isinstance(elsewhere, Estimate) else best.apparent
    if not is_gain(now, then):
        if now.width is None:
            return NOTHING
        shown = compared("f1_best", best.apparent, now, "ratio")
        return say("No other threshold is demonstrated to help (best F1 {f1_best}).", f1_best=shown)
    if not isinstance(elsewhere, Estimate):
        return say(
            "Moving it to *{to:threshold}* gives F1 {f1_best} in place of {f1:ratio} on these rows, "
            "an upper bound.",
            to=best.threshold,
            f1_best=compared("f1_best", best.apparent, now, "ratio"),
            f1=now,
        )
    return say(
        "Moving it to *{to:threshold}* lifts F1 from {f1:ratio} to {f1_honest:ratio}, judged on rows that "
        "took no part in the choice.",
        to=best.threshold,
        f1=now,
        f1_honest=elsewhere,
    )
