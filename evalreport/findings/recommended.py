"""The one threshold that a page recommends in place of the one in use, or none."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.evaluation.model import Evaluation
from evalreport.facts import BinaryCounts
from evalreport.findings.demonstrated import ranking_skill
from evalreport.thresholds.optimum import Choice, Optimum
from evalreport.values import Estimate, Result

GAIN = 0.01
"""Smallest gain of F1 or MCC that is ever claimed; half of the interval is asked for, too."""
COSTLY = 0.5
"""Share of the negatives that may be flagged before a threshold is no advice: a choice by judgement."""


@dataclass(frozen=True)
class RecommendedThreshold:
    """Another threshold, and what it would change.

    Parameters
    ----------
    threshold : float
    now : BinaryCounts
        At the threshold in use.
    tp, fp : float
        At the recommended one.
    f1_now : Estimate
    f1 : Estimate
        At the recommended one, on rows that took no part in its choice.
    """

    threshold: float
    now: BinaryCounts
    tp: float
    fp: float
    f1_now: Estimate
    f1: Estimate


def recommended(ev: Evaluation) -> RecommendedThreshold | None:
    """Return the threshold of the best F1, where nobody chose the one in use and better is demonstrated.

    F1 alone prefers low thresholds on calibrated scores, where the right one is a matter of what mistakes
    cost: MCC has to agree, both on rows that did not choose, and the scores must not be calibrated. A threshold
    that calls nothing positive has no MCC; there it is enough that another one has, beyond its interval.
    """
    point, now = ev.threshold, ev.metrics.get("f1")
    if (
        ev.sweep is None
        or ev.confusion is None
        or point is None
        or point.origin not in ("default", "predictions")
    ):
        return None
    best = ev.sweep.best("f1")
    f1, mcc = elsewhere(best), elsewhere(ev.sweep.best("mcc"))
    here = ev.confusion.binary(float("nan"))
    if not isinstance(best, Optimum) or not isinstance(now, Estimate) or f1 is None or mcc is None:
        return None
    if best.fp > COSTLY * here.negatives or ranking_skill(ev) != "demonstrated" or not gains(now, f1.value):
        return None
    silent = here.tp + here.fp == 0
    agreed = (
        (mcc.low or 0.0) > 0 if silent else gains(ev.metrics.get("mcc"), mcc.value) and not calibrated(ev)
    )
    return RecommendedThreshold(best.threshold, here, best.tp, best.fp, now, f1) if agreed else None


def calibrated(ev: Evaluation) -> bool:
    """Return whether the intervals of slope and intercept hold what they are for right probabilities."""
    ideal = {"calibration_slope": 1.0, "calibration_intercept": 0.0}
    known = {name: ev.metrics.get(name) for name in ideal}
    return all(
        isinstance(one, Estimate) and one.low is not None and one.high is not None
        and one.low <= ideal[name] <= one.high
        for name, one in known.items()
    )  # fmt: skip


def elsewhere(choice: Choice) -> Estimate | None:
    """Return the value of a choice on rows that took no part in it."""
    if not isinstance(choice, Optimum) or choice.out_of_sample is None:
        return None
    return choice.out_of_sample.value if isinstance(choice.out_of_sample.value, Estimate) else None


def gains(now: Result | None, after: float) -> bool:
    """Return whether a value beats another by more than 0.01 and half its interval; never without one.

    Examples
    --------
    >>> gains(Estimate(0.85, 100, 0.80, 0.90), 0.88), gains(Estimate(0.85, 100, 0.84, 0.86), 0.88)
    (False, True)
    """
    if not isinstance(now, Estimate) or now.width is None:
        return False
    return after - now.value > max(GAIN, now.width / 2)
