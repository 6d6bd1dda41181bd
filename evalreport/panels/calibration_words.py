"""What the summary of the calibration section says: too high or low, too extreme or timid, by how much."""

from __future__ import annotations

from evalreport.curves import BinaryCurves
from evalreport.evaluation.model import Evaluation
from evalreport.findings.calibration import MOVED, clipped_slopes
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.panels.about import estimate, four_counts, known, tell
from evalreport.panels.words import NOTHING, Sentence, paragraph, say
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
    return summary + tell(ev, ECE)


ECE = "Calibration error (ECE, 15 bins of equal width): {ece:ratio}."


def _binary_summary(ev: Evaluation) -> Sentence:
    """Expected and observed, the straight line, the smooth curve, the bins: what is known of them."""
    slope, ici = estimate(ev, "calibration_slope"), estimate(ev, "ici")
    intercept = estimate(ev, "calibration_intercept")
    spread = "" if ici is None or ici.low is None else ", {ici:ratio interval}"
    smooth = f"On the smooth curve a probability is off by {{ici:ratio}} on average (ICI{spread}), "
    return paragraph(
        _expected(ev),
        NOTHING if slope is None else _slope(ev, slope),
        tell(ev, "Intercept {intercept:number} (0 is ideal).", intercept=intercept),
        tell(ev, smooth + "nine in ten by {e90:ratio} at most."),
        tell(ev, ECE),
    )


def _slope(ev: Evaluation, slope: Estimate) -> Sentence:
    """What the slope and its interval say of the spread of the scores, and what it depends on."""
    told = _spread(slope)
    least, most = clipped_slopes(ev) or (slope.value, slope.value)
    if most - least < MOVED:
        return told
    return told + say("It depends on where probabilities of exactly zero and one are clipped.")


def _spread(slope: Estimate) -> Sentence:
    if slope.low is None or slope.high is None:
        return say("Slope {slope:number} (1 is ideal).", slope=slope)
    meaning = "that the spread is off is not demonstrated"
    if not slope.low <= 1 <= slope.high:
        meaning = "the scores are too extreme" if slope.high < 1 else "the scores are too timid"
    return say("Slope {slope:number} ({slope:number interval}; 1 is ideal): " + meaning + ".", slope=slope)


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
    words = "Expected: {expected:count} {expected:positives}; observed: {observed:count}."
    return tell(ev, words, expected=round(total), observed=observed)
