"""Can the scores be believed, and do the predictions follow from them?"""

from __future__ import annotations

import math

from evalreport.curves import Reliability
from evalreport.evaluation.model import Evaluation
from evalreport.findings.words import quoted, rows, value
from evalreport.format import count, percent, ratio
from evalreport.labels import Binary
from evalreport.sweep.optimum import Optimum
from evalreport.values import Estimate, Finding

SURE = 4.0
GAIN = 0.01
"""Smallest gain that is ever claimed."""


def miscalibrated(ev: Evaluation) -> Finding | None:
    """Probabilities that are too high, too low, too extreme or too timid, beyond chance.

    The sum of (observed - predicted) over its binomial standard error tests calibration in the large;
    half the rows on either side of the middle test whether confidence is overdone.
    """
    bins = getattr(ev.curves, "reliability", None)
    if not isinstance(bins, Reliability) or not bins.n:
        return None
    terms = list(zip(bins.score, bins.observed, bins.n, strict=True))
    total = sum(n for _, _, n in terms)
    mean = sum(score * n for score, _, n in terms) / total
    seen = sum(observed * n for _, observed, n in terms) / total
    slack = math.sqrt(sum(n * max(score * (1 - score), 1e-6) for score, _, n in terms))
    z = total * (seen - mean) / slack
    off = sum(n * abs(observed - score) for score, observed, n in terms) / total
    bend = sum(n * (observed - score) * _side(score, mean) for score, observed, n in terms) / slack
    if off < 0.03 or max(abs(z), abs(bend)) < SURE:
        return None
    return Finding(
        "miscalibrated",
        "caution",
        _calibration_words(ev, mean, seen, abs(z) >= SURE, bend),
        {"mean_score": mean, "observed": seen, "z": z, "mean_gap": off, "bend": bend},
        "Recalibrate on other rows (Platt, isotonic, temperature) before a probability is used as one.",
        "calibration",
    )


def _side(score: float, mean: float) -> int:
    return 1 if score > mean else -1


def _calibration_words(ev: Evaluation, mean: float, seen: float, shifted: bool, bend: float) -> str:
    if ev.task == "multiclass":
        side = "overconfident" if mean > seen else "too timid"
        return (
            f"The confidence is {side}: on average it says {percent(mean)}, and the answer is right for "
            f"{percent(seen)}."
        )
    what = "a label" if ev.task == "multilabel" else quoted(ev.space.names[1])
    if shifted:
        side = "too high" if mean > seen else "too low"
        return f"The probabilities are {side}: {what} is expected in {percent(mean)} and occurs in {percent(seen)}."
    kind = "too extreme: high ones promise too much, low ones too little" if bend < 0 else "too timid"
    return f"The probabilities of {what} are {kind}."


def off_scores(ev: Evaluation) -> Finding | None:
    """Predictions that are not what the scores say."""
    off = ev.facts.get("off_scores", 0)
    if not off:
        return None
    rule = "the label with the highest score" if ev.task == "multiclass" else "a score of at least 0.5"
    return Finding(
        "off_scores",
        "caution",
        f"{rows(ev, off)} of {count(ev.rows)} {'has a prediction' if off == 1 else 'have predictions'} that "
        f"{'does' if off == 1 else 'do'} not follow from the scores ({rule}).",
        {"off_scores": off, "n": ev.rows},
        "Another threshold or rule was used, or the columns belong to different models; "
        "counts use the predictions, curves the scores.",
        "provenance",
    )


def default_threshold(ev: Evaluation) -> Finding | None:
    """The threshold is the default although another is clearly better, by F1 and by MCC both."""
    if ev.sweep is None or ev.threshold is None or ev.threshold.origin not in ("default", "predictions"):
        return None
    now, agreement = ev.metrics.get("f1"), value(ev, "mcc")
    best = ev.sweep.best("f1")
    if not isinstance(best, Optimum) or not isinstance(now, Estimate) or agreement is None:
        return None
    honest = None if best.honest is None else best.honest.value.value
    if honest is None:
        return None
    half = (now.width or 0.0) / 2
    mcc = ev.sweep.best("mcc")
    gained = isinstance(mcc, Optimum) and mcc.apparent - agreement > max(GAIN, half / 2)
    if honest - now.value <= max(GAIN, half) or not gained:
        return None
    return Finding(
        "default_threshold",
        "caution",
        f"The threshold {ratio(_at(ev))} is the default, not a choice: at {ratio(best.threshold)} F1 would be "
        f"about {ratio(honest)} instead of {ratio(now.value)}, measured on rows that took no part in the choice.",
        {"threshold": _at(ev), "f1": now.value, "best_threshold": best.threshold, "best_f1": honest},
        "Choose the threshold on validation data: --threshold max-f1 --tune-on FILE, or by your costs.",
        "threshold",
    )


def _at(ev: Evaluation) -> float:
    point = ev.threshold.value if ev.threshold is not None else math.nan
    return point if isinstance(point, float) else math.nan


def unknown_threshold(ev: Evaluation) -> Finding | None:
    """Decision scores without predictions: nothing is decided yet."""
    if not isinstance(ev.space, Binary) or ev.confusion is not None:
        return None
    return Finding(
        "unknown_threshold",
        "caution",
        "Nothing is decided: these are decision scores without a threshold, so only the ranking is measured.",
        {},
        "Pass --threshold, or a column of predictions with --pred.",
        "threshold",
    )


def same_rows(ev: Evaluation) -> Finding | None:
    """The threshold was chosen on the rows that judge it; the value that counts is the cross-fitted one."""
    if ev.threshold is None or ev.threshold.origin != "cross-fitted":
        return None
    return Finding(
        "same_rows",
        "note",
        f"The threshold {ratio(_at(ev))} was chosen on these very rows: the metrics at it are a little too good.",
        {"threshold": _at(ev)},
        "Quote the cross-fitted value beside it, or choose on other rows with --tune-on.",
        "threshold",
    )
