"""What the summary of the calibration section says: too high or low, too extreme or timid, by how much."""

from __future__ import annotations

from evalreport.curves import BinaryCurves
from evalreport.evaluation.model import Evaluation
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.panels.about import estimate, four_counts, known, positive
from evalreport.panels.words import NOTHING, Sentence, say
from evalreport.values import Estimate, Undefined


def summary(ev: Evaluation) -> Sentence:
    """Return what the calibration is in words."""
    match ev.space:
        case Binary():
            return _binary_summary(ev)
        case Multiclass():
            summary = say("Of the label it chose.")
        case Multilabel():
            summary = say("All labels pooled, which can hide opposite errors in single labels.")
    return summary + _ece(ev)


def _ece(ev: Evaluation) -> Sentence:
    ece = estimate(ev, "ece")
    if ece is None:
        return NOTHING
    return say("Calibration error (ECE, 15 bins of equal width): {ece:ratio}.", ece=ece)


def _binary_summary(ev: Evaluation) -> Sentence:
    slope, intercept = estimate(ev, "calibration_slope"), estimate(ev, "calibration_intercept")
    summary = _expected(ev)
    if slope is not None:
        summary += _slope(slope)
    if intercept is not None:
        summary += say("Intercept {intercept:number} (0 is ideal).", intercept=intercept)
    return summary + _smooth(ev) + _ece(ev)


def _smooth(ev: Evaluation) -> Sentence:
    """How far the usual and the far-off probability are from the smooth curve."""
    ici, e90 = estimate(ev, "ici"), estimate(ev, "e90")
    if ici is None or e90 is None:
        return NOTHING
    return say(
        "On the smooth curve a probability is off by {ici:ratio} on average (ICI"
        + ("" if ici.low is None else ", {ici:ratio interval}")
        + "), nine in ten by {e90:ratio} at most.",
        ici=ici,
        e90=e90,
    )


def _slope(slope: Estimate) -> Sentence:
    """What the slope and its interval say of the spread of the scores."""
    if slope.low is None or slope.high is None:
        return say("Slope {slope:number} (1 is ideal).", slope=slope)
    meaning = "that the spread is off is not demonstrated"
    if not slope.low <= 1 <= slope.high:
        meaning = "the scores are too extreme" if slope.high < 1 else "the scores are too timid"
    return say(
        "Slope {slope:number} ({slope:number interval}; 1 is ideal): " + meaning + ".",
        slope=slope,
    )


def expected(ev: Evaluation) -> float | None:
    """Return the sum of the predicted probabilities, from the reliability bins."""
    found = known(ev.curves)
    if not isinstance(found, BinaryCurves) or isinstance(found.reliability, Undefined):
        return None
    return sum(n * score for n, score in zip(found.reliability.n, found.reliability.score, strict=True))


def _expected(ev: Evaluation) -> Sentence:
    found = known(ev.curves)
    total = expected(ev)
    if total is None or not isinstance(found, BinaryCurves) or isinstance(found.reliability, Undefined):
        return NOTHING
    counts = four_counts(ev)
    bins = found.reliability
    observed = sum(n * share for n, share in zip(bins.n, bins.observed, strict=True))
    if counts is not None:
        observed = counts.positives
    return say(
        "Expected: {expected:count} {what}; observed: {observed:count}.",
        expected=round(total),
        observed=observed,
        what=positive(ev, round(total)),
    )
