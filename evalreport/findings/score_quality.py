"""Findings about scores: agreement with the predictions, the threshold in use, calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalreport.core.format import count
from evalreport.core.result import Estimate, Result
from evalreport.curves.curve import Reliability
from evalreport.data.labels import Binary
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import SURE, chi_square_deviate, informative, ranking_skill
from evalreport.findings.rule import FindingDraft, estimate, rule
from evalreport.metrics.catalogue import BALANCED, CLIPPED
from evalreport.statistics.confusion import Array, BinaryCounts
from evalreport.thresholds.best_threshold import Choice, Optimum
from evalreport.thresholds.objectives import MISS

GAIN = 0.01
"""Minimum gain of F1 or MCC; it must also exceed half the width of the interval."""
RARE = 0.2
"""Prevalence below which calibrated probabilities rarely reach one half."""
SILENT = 0.1
"""Ratio of predicted positives to positives up to which almost nothing is predicted positive."""
COSTLY = 0.5
"""Maximum false positive rate of a recommended threshold: chosen by hand."""


@dataclass(frozen=True)
class RecommendedThreshold:
    """A better threshold, with the counts and F1 at both.

    Parameters
    ----------
    threshold : float
    now : BinaryCounts
        At the threshold in use.
    tp, fp : float
        At the recommended one.
    f1_now : Estimate
    f1 : Estimate
        At the recommended one, on held-out rows.
    no_skill : float
        F1 of predicting every row positive.
    """

    threshold: float
    now: BinaryCounts
    tp: float
    fp: float
    f1_now: Estimate
    f1: Estimate
    no_skill: float | None


def recommend_threshold(ev: Evaluation) -> RecommendedThreshold | None:
    """Return the threshold of the best F1, where the one in use is a default and the gain is significant.

    F1 prefers low thresholds on calibrated scores, where the right threshold depends on the cost of mistakes.
    So held-out MCC has to improve, too, and the scores must not be calibrated. MCC is undefined where nothing is
    predicted positive; then the lower end of the new MCC must be above zero.
    """
    point, now = ev.threshold, ev.metrics.get(BALANCED)
    if (
        ev.sweep is None
        or ev.confusion is None
        or point is None
        or point.origin not in ("default", "predictions")
    ):
        return None
    best = ev.sweep.best(BALANCED)
    f1, mcc = held_out_value(best), held_out_value(ev.sweep.best("mcc"))
    here = ev.confusion.binary(float("nan"))
    if not isinstance(best, Optimum) or not isinstance(now, Estimate) or f1 is None or mcc is None:
        return None
    if almost_none(here) and here.positives < RARE * here.total:  # what a miss costs decides, not F1
        return None
    if best.fp > COSTLY * here.negatives or ranking_skill(ev) != "significant" or not gains(now, f1.value):
        return None
    silent = here.tp + here.fp == 0
    agreed = not is_well_calibrated(ev) and (
        (mcc.low or 0.0) > 0 if silent else gains(ev.metrics.get("mcc"), mcc.value)
    )
    return (
        RecommendedThreshold(best.threshold, here, best.tp, best.fp, now, f1, best.no_skill)
        if agreed
        else None
    )


def unchosen(ev: Evaluation) -> bool:
    """Return whether almost nothing is predicted positive at a default threshold.

    Calibrated probabilities of a rare class rarely reach one half. The scores have to rank better than chance,
    and no other threshold is recommended.
    """
    point = ev.threshold
    if not isinstance(ev.space, Binary) or ev.confusion is None or point is None or point.origin != "default":
        return False
    if not almost_none(ev.confusion.binary(float("nan"))) or ranking_skill(ev) != "significant":
        return False
    return recommend_threshold(ev) is None


def almost_none(counts: BinaryCounts) -> bool:
    """Return whether far fewer rows are predicted positive than are positive.

    Examples
    --------
    >>> almost_none(BinaryCounts(1, 0, 109, 4000)), almost_none(BinaryCounts(20, 5, 90, 4000))
    (True, False)
    """
    return bool(counts.tp + counts.fp <= SILENT * counts.positives)


def is_well_calibrated(ev: Evaluation) -> bool:
    """Return whether the intervals of calibration slope and intercept contain 1 and 0."""
    ideal = {"calibration_slope": 1.0, "calibration_intercept": 0.0}
    known = {name: ev.metrics.get(name) for name in ideal}
    return all(
        isinstance(one, Estimate) and one.low is not None and one.high is not None
        and one.low <= ideal[name] <= one.high
        for name, one in known.items()
    )  # fmt: skip


def held_out_value(choice: Choice) -> Estimate | None:
    """Return the held-out value of a chosen threshold."""
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


MEANT = 0.005
"""Maximum proportion of decisions that a threshold may not explain."""


@rule(
    section="provenance",
    action="Check whether another decision rule was used, or whether the columns belong to different models.",
)
def off_scores(ev: Evaluation) -> FindingDraft | None:
    """Predictions that no threshold on the scores reproduces."""
    off = ev.data_checks.get("off_scores", 0)
    if not off:
        return None
    evidence: dict[str, Any] = {"off": off, "n": ev.rows}
    near = ev.data_checks.get("near_threshold")
    if ev.task == "multiclass":
        claim = "For {off:rows} of {n:count} the prediction is not the label with the highest score."
    elif near is not None:
        evidence["near_threshold"] = near
        claim = "{off:count} of {n:count} predictions {off:does|do} not match any threshold on the scores; the closest is {near_threshold:threshold}."
    else:
        evidence["n"] = ev.rows * (len(ev.space) if ev.task == "multilabel" else 1)
        claim = "{off:count} of {n:count} decisions {off:does|do} not match any threshold on the scores."
    return FindingDraft(claim + " Counts use the predictions; curves use the scores.", evidence)


@rule(
    "error",
    section="provenance",
    action="Log the score of the positive label: one minus the score wherever the prediction is the other label.",
)
def own_scores(ev: Evaluation) -> FindingDraft | None:
    """The scores belong to the predicted label, not to the positive label."""
    rows = ev.data_checks.get("own_scores", 0)
    if not rows or not isinstance(ev.space, Binary):
        return None
    return FindingDraft(
        "No score is below one half, even for the {negative:rows} predicted {label:label}: these are scores of the predicted label, not of {positive:label}. Ranking, thresholds and calibration are wrong.",
        {"negative": rows, "label": ev.space.display_labels[0], "positive": ev.space.display_labels[1]},
    )


@rule(
    "note",
    section="threshold",
    action="Pass it with --threshold, so that the report can compare other thresholds with it.",
)
def other_threshold(ev: Evaluation) -> FindingDraft | None:
    """Predictions follow from the scores at a threshold other than the default."""
    near = ev.data_checks.get("near_threshold")
    if near is None or ev.score_kind == "decision" or ev.data_checks.get("off_scores", 0) > MEANT * ev.rows:
        return None
    return FindingDraft(
        "The predictions use a threshold of about {near_threshold:threshold}, not the default.",
        {"near_threshold": near, "off": ev.data_checks.get("off_scores", 0)},
    )


@rule(
    section="threshold",
    action="Choose it on validation data, by a metric or by the cost of mistakes: --threshold max-f1 --tune-on FILE.",
)
def default_threshold(ev: Evaluation) -> FindingDraft | None:
    """The threshold is the default although another is significantly better."""
    better = recommend_threshold(ev)
    if better is None or ev.threshold is None:
        return None
    finds = "{best_tp:count} instead of {tp:count}" if better.tp != better.now.tp else "the same {tp:count}"
    cost = "with {best_fp:count} instead of {fp:false_positives}"
    if better.fp == better.now.fp:
        cost = "with the same {fp:false_positives}" if better.fp else "still without a false positive"
    return FindingDraft(
        f"The threshold {{threshold:threshold}} is the default, not a choice: {{best_threshold:threshold}} would find {finds} of {{positives:weight}} labelled {{label:label}}, {cost}. F1 would be {{best_f1:of f1}} on held-out rows instead of {{f1:of f1}}; predicting every row positive reaches {{no_skill:of f1}}.",
        {
            "threshold": ev.threshold.value,
            "best_threshold": better.threshold,
            "label": ev.space.display_labels[1],
            "positives": better.now.positives,
            "tp": better.now.tp,
            "best_tp": better.tp,
            "fp": better.now.fp,
            "best_fp": better.fp,
            "f1": better.f1_now.value,
            "best_f1": better.f1.value,
            "best_f1_low": better.f1.low,
            "best_f1_high": better.f1.high,
            "no_skill": better.no_skill,
        },
    )


@rule(
    section="threshold",
    action="Choose it on validation data: by the cost of a miss, as in --threshold cost:10 --tune-on FILE, or by a constraint on recall or on predicted positives.",
)
def threshold_not_chosen(ev: Evaluation) -> FindingDraft | None:
    """Almost nothing is predicted positive at the default threshold."""
    if not unchosen(ev) or ev.sweep is None or ev.threshold is None or ev.confusion is None:
        return None
    here, (f1, cost) = ev.confusion.binary(float("nan")), (ev.sweep.best(name) for name in (BALANCED, "cost"))
    evidence: dict[str, Any] = {
        "threshold": ev.threshold.value,
        "found": here.tp,
        "positives": here.positives,
        "label": ev.space.display_labels[1],
    }
    words = "At the default threshold of {threshold:threshold}, {found:count} of {positives:weight} labelled {label:label} {found:is|are} found. "
    words += "That threshold was not chosen"
    rare = here.positives < RARE * here.total and is_well_calibrated(ev)
    words += ": calibrated probabilities of a rare label rarely reach it." if rare else "."
    if isinstance(cost, Optimum) and cost.tp > here.tp and math.isfinite(cost.threshold):
        evidence |= {"miss": MISS, "cost_threshold": cost.threshold, "cost_tp": cost.tp, "cost_fp": cost.fp}
        words += " If a miss costs as much as {miss:false_positives}, {cost_threshold:threshold} would find {cost_tp:count} with {cost_fp:false_positives}."
    value = held_out_value(f1)
    if isinstance(f1, Optimum) and value is not None:
        now = ev.metrics.get(f1.metric)
        evidence |= {
            "f1_now": None if now is None else now.value,
            "best_f1": value.value,
            "no_skill": f1.no_skill,
        }
        words += " F1 is {f1_now:of f1}; at a threshold chosen for it, {best_f1:of f1} on held-out rows; predicting "
        words += "every row positive reaches {no_skill:of f1}."
    return FindingDraft(words, evidence)


@rule(section="threshold", action="Pass --threshold, or a column of predictions with --pred.")
def unknown_threshold(ev: Evaluation) -> FindingDraft | None:
    """Decision scores without predictions or threshold."""
    if ev.confusion is not None or ev.classes or ev.score_kind != "decision":
        return None
    return FindingDraft(
        "There are no predictions: these are decision scores without a threshold, so only the ranking is evaluated.",
        {"score_kind": ev.score_kind},
    )


@rule(
    "note",
    section="threshold",
    action="Quote the cross-fitted value next to it, or choose on other rows with --tune-on.",
)
def same_rows(ev: Evaluation) -> FindingDraft | None:
    """The threshold was chosen on the evaluated rows."""
    point = ev.threshold
    if point is None or point.origin != "cross-fitted" or not isinstance(ev.space, Binary):
        return None
    return FindingDraft(
        "The threshold of {threshold:threshold} was chosen on this same data, so metrics at it are optimistic.",
        {"threshold": point.value},
    )


OFF = 0.05
"""Minimum mean gap between predicted probability and observed frequency."""
RATIO = 1.25
"""Minimum ratio of expected and observed events, in either direction."""
STEEP = 1.25
"""Calibration slope, or its inverse, above which there is a finding."""


@dataclass(frozen=True)
class Gaps:
    """Expected and observed events per bin.

    Parameters
    ----------
    n, expected, observed : float64 arrays, one entry per bin
        Weight in the bin, sum of its probabilities, and weight of its events.
    variance : float64 array
        Of `observed` if the probabilities were right.
    informative : float
        Independent rows per unit of weight.

    Examples
    --------
    >>> gaps = Gaps(np.array([100.0]), np.array([50.0]), np.array([70.0]), np.array([25.0]), 1.0)
    >>> gaps.shift, gaps.mean_gap
    (4.0, 0.2)
    """

    n: Array
    expected: Array
    observed: Array
    variance: Array
    informative: float

    @property
    def shift(self) -> float:
        """Observed minus expected events, in standard errors: calibration in the large."""
        return self._deviation(np.ones(len(self.n)))

    @property
    def bend(self) -> float:
        """The same with the sign reversed below the mean: negative where probabilities are overconfident."""
        return self._deviation(np.sign(self.expected / self.n - self.expected.sum() / self.n.sum()))

    @property
    def uneven(self) -> float:
        """Squared gaps of all bins (Hosmer & Lemeshow 1980), as a normal deviate."""
        squares = (self.observed - self.expected) ** 2 / np.maximum(self.variance, 1 / self.informative)
        return chi_square_deviate(float(squares.sum()) * self.informative, len(self.n))

    @property
    def mean_gap(self) -> float:
        """Mean gap between probability and frequency."""
        return float(np.abs(self.observed - self.expected).sum() / self.n.sum())

    @property
    def worst(self) -> int:
        """The bin with the largest gap in standard errors."""
        spread = np.sqrt(np.maximum(self.variance, 1 / self.informative))
        return int((np.abs(self.observed - self.expected) / spread).argmax())

    def _deviation(self, sign: Array) -> float:
        variance = float(self.variance.sum())
        excess = float(((self.observed - self.expected) * sign).sum())
        return excess * math.sqrt(self.informative / variance) if variance > 0 else 0.0


def gaps(ev: Evaluation) -> Gaps | None:
    """Return the bins of the reliability diagram; None without probabilities.

    The labels of one row may be correlated: all decisions of a row count as one independent row.
    """
    bins = getattr(ev.curves, "reliability", None)
    if not isinstance(bins, Reliability) or not bins.n:
        return None
    n, score, observed = np.array(bins.n), np.array(bins.score), np.array(bins.observed)
    per_row = len(ev.space) if ev.task == "multilabel" else 1
    return Gaps(n, n * score, n * observed, n * score * (1 - score), informative(ev) / per_row)


CERTAIN = 0.01
"""Minimum proportion of probabilities that are exactly 0 or 1."""


def clipped_slopes(ev: Evaluation) -> tuple[float, float] | None:
    """Return the range of the calibration slope for clips of 1e-6 and 1e-2; None where no probability is 0 or 1."""
    slopes = [ev.data_checks[name] for name in ("slope_at_1e-6", "slope_at_1e-2") if name in ev.data_checks]
    return (min(slopes), max(slopes)) if slopes else None


def clip_note(ev: Evaluation, name: str) -> str:
    """Return a note for a metric that depends on the clip here; empty for others."""
    wrong, exact = ev.data_checks.get("ruled_out", 0), ev.data_checks.get("certain_scores", 0)
    if name not in CLIPPED or not (wrong or exact):
        return ""
    if not exact:
        return f"depends on the clip: the true label of {count(wrong)} rows has the probability 0"
    return f"depends on the clip: {count(exact)} probabilities are exactly 0 or 1"


@rule(
    section="calibration",
    action="Compare by the Brier score, which needs no clipping, or log probabilities that are never exactly zero or one.",
)
def certain_scores(ev: Evaluation) -> FindingDraft | None:
    """Probabilities of exactly 0 and 1, so that log loss and calibration slope depend on where they are clipped."""
    exact, wrong, slopes = (
        ev.data_checks.get("certain_scores", 0),
        ev.data_checks.get("ruled_out", 0),
        clipped_slopes(ev),
    )
    if not wrong and exact < CERTAIN * ev.rows:
        return None
    evidence: dict[str, Any] = {"certain": exact, "ruled_out": wrong, "n": ev.rows}
    if not isinstance(ev.space, Binary):
        claim = "{ruled_out:rows} of {n:count} {ruled_out:has|have} a predicted probability of exactly zero for the true label: "
        return FindingDraft(claim + "log loss depends on where it is clipped.", evidence)
    claim = "{certain:count} of {n:count} probabilities are exactly zero or one"
    claim += ", {ruled_out:count} of them wrong" if wrong else ""
    claim += ": log loss and calibration slope depend on where they are clipped"
    moved = slopes is not None and slopes[1] - slopes[0] >= MOVED
    if slopes is not None and moved:
        claim += (
            " (the slope is {least:two} to {most:two} for clips of {fine:threshold} to {coarse:threshold})"
        )
        evidence |= {"least": slopes[0], "most": slopes[1], "fine": 1e-6, "coarse": 1e-2}
    return FindingDraft(claim + ".", evidence, severity="caution" if wrong or moved else "note")


MOVED = 0.05
"""Minimum difference of the calibration slopes."""


@rule(
    section="calibration",
    action="Recalibrate on other rows (Platt, isotonic, temperature) before you use the scores as probabilities.",
)
def miscalibrated(ev: Evaluation) -> FindingDraft | None:
    """Probabilities that are significantly off, with the direction."""
    found = gaps(ev)
    if found is None:
        return None
    expected, observed = float(found.expected.sum()), float(found.observed.sum())
    apart = max(expected, observed) > RATIO * min(expected, observed)
    shifted = abs(found.shift) > SURE and (apart or found.mean_gap > OFF)
    shaped = found.mean_gap > OFF and max(abs(found.bend), found.uneven) > SURE
    spread = _describe_slope(ev)
    if not shifted and not shaped and not spread:
        return None
    template, evidence = ("", {}) if not shifted and not shaped else _in_a_bin(ev, found)
    if shifted:
        template, evidence = _in_the_large(ev, found)
    template = " ".join(filter(None, (template, spread)))
    slope = estimate(ev, "calibration_slope") if spread else None
    if slope is not None:
        evidence |= {"calibration_slope": slope.value, "slope_low": slope.low, "slope_high": slope.high}
    known = {"shift": found.shift, "bend": found.bend, "uneven": found.uneven, "mean_gap": found.mean_gap}
    return FindingDraft(template, evidence | known)


def _describe_slope(ev: Evaluation) -> str:
    """A sentence about the calibration slope, where its whole interval is far from one."""
    slope = estimate(ev, "calibration_slope")
    if slope is None or slope.low is None or slope.high is None:
        return ""
    least, most = clipped_slopes(ev) or (slope.value, slope.value)
    low, high = slope.low + min(least - slope.value, 0), slope.high + max(most - slope.value, 0)
    if high >= 1 / STEEP and low <= STEEP:
        return ""
    side = "overconfident" if slope.high < 1 else "underconfident"
    ends = "{slope_low:of calibration_slope} to {slope_high:of calibration_slope}"
    return f"The probabilities are {side}: the calibration slope is {{calibration_slope:two}} ({ends})."


def _in_the_large(ev: Evaluation, found: Gaps) -> tuple[str, dict[str, Any]]:
    evidence: dict[str, Any] = {
        "expected": float(found.expected.sum()),
        "observed": round(float(found.observed.sum()), 9),
        "n": ev.weight,
    }
    side = "high" if found.shift < 0 else "low"
    match ev.task:
        case "binary":
            return (
                f"The probabilities are too {side}: of {{n:weight}}, {{expected:about}} are expected to be {{label:label}}, and {{observed:count}} {{observed:is|are}}.",
                evidence | {"label": ev.space.display_labels[1]},
            )
        case "multiclass":
            return (
                f"The confidence is too {side}: of {{n:weight}}, {{expected:about}} are expected to be right, and {{observed:count}} {{observed:is|are}}.",
                evidence | {"what": "right"},
            )
        case "multilabel":
            return (
                f"The probabilities are too {side}: {{expected:about}} labels are expected in {{n:weight}}, and {{observed:count}} {{observed:is|are}} true.",
                evidence | {"what": "labels"},
            )
    raise AssertionError(ev.task)


def _in_a_bin(ev: Evaluation, found: Gaps) -> tuple[str, dict[str, Any]]:
    worst = found.worst
    evidence: dict[str, Any] = {
        "expected": float(found.expected[worst] / found.n[worst]),
        "observed": round(float(found.observed[worst]), 9),
        "n": float(found.n[worst]),
    }
    side = ""
    if abs(found.bend) > SURE and not _describe_slope(ev):  # else the slope shows it
        side = "overconfident" if found.bend < 0 else "underconfident"
    match ev.task:
        case "binary":
            happens, evidence["label"] = (
                "of {n:weight} {observed:is|are} {label:label}",
                ev.space.display_labels[1],
            )
        case "multiclass":
            happens = "of {n:weight} {observed:is|are} right"
        case "multilabel":
            happens = "of {n:carried} {observed:is|are} true"
    single = ev.task == "multiclass"
    subject = (
        "The model is" if single and side else "The confidence is" if single else "The probabilities are"
    )
    what = side or "off in some ranges"
    return f"{subject} {what}: at a predicted {{expected:whole}}, {{observed:count}} {happens}.", evidence
