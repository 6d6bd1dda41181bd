"""Can a probability be taken at its word: too high, too low, too extreme, too timid?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalreport.core.format import count
from evalreport.curves.curve import Reliability
from evalreport.data.labels import Binary
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import SURE, chi_square_deviate, informative
from evalreport.findings.rule import FindingDraft, estimate, rule
from evalreport.metrics.catalogue import CLIPPED
from evalreport.statistics.confusion import Array

OFF = 0.05
"""Mean gap between probability and frequency that is worth a sentence."""
RATIO = 1.25
"""Ratio of expected to observed events, either way, that is worth a sentence."""
STEEP = 1.25
"""Calibration slope, or its inverse, beyond which the spread of the scores is worth a sentence."""


@dataclass(frozen=True)
class Gaps:
    """Events that probabilities promise and events that occur, bin by bin.

    Parameters
    ----------
    n, expected, observed : float64 arrays, one entry per bin
        Weight in the bin, of the events that its probabilities promise, and of those that occur.
    variance : float64 array
        Of `observed` if the probabilities were right.
    informative : float
        Independent rows behind one unit of weight.

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
        """Events beyond those promised, in standard errors: calibration in the large."""
        return self._deviation(np.ones(len(self.n)))

    @property
    def bend(self) -> float:
        """The same with the sign turned below the middle: negative where probabilities are too extreme."""
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
        """The bin with the greatest gap for its size."""
        spread = np.sqrt(np.maximum(self.variance, 1 / self.informative))
        return int((np.abs(self.observed - self.expected) / spread).argmax())

    def _deviation(self, sign: Array) -> float:
        variance = float(self.variance.sum())
        excess = float(((self.observed - self.expected) * sign).sum())
        return excess * math.sqrt(self.informative / variance) if variance > 0 else 0.0


def gaps(ev: Evaluation) -> Gaps | None:
    """Return the bins of the reliability diagram; None without probabilities.

    The labels of one row may all hang together: the decisions of a row count as one independent row.
    """
    bins = getattr(ev.curves, "reliability", None)
    if not isinstance(bins, Reliability) or not bins.n:
        return None
    n, score, observed = np.array(bins.n), np.array(bins.score), np.array(bins.observed)
    per_row = len(ev.space) if ev.task == "multilabel" else 1
    return Gaps(n, n * score, n * observed, n * score * (1 - score), informative(ev) / per_row)


CERTAIN = 0.01
"""Part of the probabilities that are exactly 0 or 1 from which on that is worth a sentence."""


def clipped_slopes(ev: Evaluation) -> tuple[float, float] | None:
    """Return the least and the greatest calibration slope that clips of 1e-6 and 1e-2 give; None where no
    probability is 0 or 1."""
    slopes = [ev.data_checks[name] for name in ("slope_at_1e-6", "slope_at_1e-2") if name in ev.data_checks]
    return (min(slopes), max(slopes)) if slopes else None


def clip_note(ev: Evaluation, name: str) -> str:
    """Return what is to be known of a metric that depends on a clip here; nothing for others."""
    wrong, exact = ev.data_checks.get("ruled_out", 0), ev.data_checks.get("certain_scores", 0)
    if name not in CLIPPED or not (wrong or exact):
        return ""
    if not exact:
        return f"depends on the clip: the true label of {count(wrong)} rows has the probability 0"
    return f"depends on the clip: {count(exact)} probabilities are exactly 0 or 1"


@rule(
    section="calibration",
    action="Compare by the Brier score, which needs no clip, or log probabilities that are never exactly zero or one.",
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
"""Difference of calibration slopes that is worth a sentence."""


@rule(
    section="calibration",
    action="Recalibrate on other rows (Platt, isotonic, temperature) before a probability is used as one.",
)
def miscalibrated(ev: Evaluation) -> FindingDraft | None:
    """Probabilities that are off beyond chance, and in which direction."""
    found = gaps(ev)
    if found is None:
        return None
    promised, occurred = float(found.expected.sum()), float(found.observed.sum())
    apart = max(promised, occurred) > RATIO * min(promised, occurred)
    shifted = abs(found.shift) > SURE and (apart or found.mean_gap > OFF)
    shaped = found.mean_gap > OFF and max(abs(found.bend), found.uneven) > SURE
    spread = _describe_slope(ev)
    if not shifted and not shaped and not spread:
        return None
    template, evidence = ("", {}) if not shifted and not shaped else _in_a_bin(ev, found)
    if shifted:
        template, evidence = _in_the_large(ev, found)
    template = f"{template} Their {spread}" if template and spread else template or f"The scores' {spread}"
    slope = estimate(ev, "calibration_slope") if spread else None
    if slope is not None:
        evidence |= {"calibration_slope": slope.value, "slope_low": slope.low, "slope_high": slope.high}
    known = {"shift": found.shift, "bend": found.bend, "uneven": found.uneven, "mean_gap": found.mean_gap}
    return FindingDraft(template, evidence | known)


def _describe_slope(ev: Evaluation) -> str:
    """What the slope says beside any shift, where its whole interval is far from one."""
    slope = estimate(ev, "calibration_slope")
    if slope is None or slope.low is None or slope.high is None:
        return ""
    least, most = clipped_slopes(ev) or (slope.value, slope.value)
    low, high = slope.low + min(least - slope.value, 0), slope.high + max(most - slope.value, 0)
    if high >= 1 / STEEP and low <= STEEP:
        return ""
    side = "extreme" if slope.high < 1 else "timid"
    ends = "{slope_low:of calibration_slope} to {slope_high:of calibration_slope}"
    return f"spread is too {side}: the calibration slope is {{calibration_slope:two}} ({ends})."


def _in_the_large(ev: Evaluation, found: Gaps) -> tuple[str, dict[str, Any]]:
    evidence: dict[str, Any] = {
        "promised": float(found.expected.sum()),
        "occurred": round(float(found.observed.sum()), 9),
        "n": ev.weight,
    }
    side = "high" if found.shift < 0 else "low"
    match ev.task:
        case "binary":
            return (
                f"The probabilities are too {side}: by their sum {{promised:about}} of {{n:weight}} should be {{label:label}}, and {{occurred:count}} {{occurred:is|are}}.",
                evidence | {"label": ev.space.display_labels[1]},
            )
        case "multiclass":
            return (
                f"The confidence is too {side}: by its sum {{promised:about}} of {{n:weight}} should be right, and {{occurred:count}} {{occurred:is|are}}.",
                evidence,
            )
        case "multilabel":
            return (
                f"The probabilities are too {side}: by their sum {{n:weight}} should carry {{promised:about}}, and they carry {{occurred:carried}}.",
                evidence,
            )
    raise AssertionError(ev.task)


def _in_a_bin(ev: Evaluation, found: Gaps) -> tuple[str, dict[str, Any]]:
    worst = found.worst
    evidence: dict[str, Any] = {
        "promised": float(found.expected[worst] / found.n[worst]),
        "occurred": round(float(found.observed[worst]), 9),
        "n": float(found.n[worst]),
    }
    kind = "off in places"
    if abs(found.bend) > SURE and not _describe_slope(ev):  # the slope says it
        kind = "too extreme" if found.bend < 0 else "too timid"
    match ev.task:
        case "binary":
            happens, evidence["label"] = (
                "of {n:weight} {occurred:is|are} {label:label}",
                ev.space.display_labels[1],
            )
        case "multiclass":
            happens = "of {n:weight} {occurred:is|are} right"
        case "multilabel":
            happens = "of {n:carried} {occurred:is|are} carried"
    subject = "confidence is" if ev.task == "multiclass" else "probabilities are"
    return f"The {subject} {kind}: at about {{promised:whole}}, {{occurred:count}} {happens}.", evidence
