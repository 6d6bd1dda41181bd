"""What only rows with several labels can show: two accuracies, empty answers, too many or too few labels."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evalreport.curves import Curve, MultilabelCurves
from evalreport.evaluation.model import Evaluation
from evalreport.findings.chance import SURE, deviation, informative, margins
from evalreport.findings.words import Told, estimate, rule, value
from evalreport.labels import Multilabel
from evalreport.values import Estimate

SPARSE = 0.8
"""Share of label decisions that are "no" from which on their accuracy flatters."""
EMPTY = 0.05
"""Share of rows, beyond those that truly carry nothing, which get no label."""
LOAD = 1.25
"""Ratio of labels set to labels carried, either way, that is worth a sentence."""
GAIN = 0.02
"""Gain in micro F1 below which no other threshold is recommended."""


@rule(section="verdict", action="Quote subset accuracy, or F1 averaged over labels; never “accuracy” alone.")
def two_accuracies(ev: Evaluation) -> Told | None:
    """Accuracy over label decisions flatters when most decisions are "no"."""
    exact, each, carried = (
        value(ev, name) for name in ("subset_accuracy", "label_accuracy", "cardinality_true")
    )
    if exact is None or each is None or carried is None:
        return None
    none = 1 - carried / len(ev.space)
    if none < SPARSE or each - exact < 0.2:  # nearer ones mislead nobody: chosen by hand
        return None
    known = estimate(ev, "label_accuracy")
    low, high = (each, each) if known is None else (known.low or 0.0, known.high or 1.0)
    clear = low > none and each - none > (1 - none) / 2
    side = "better" if each > none else "worse"
    verdict = f"{{less:apart least most}} points {side}"
    if known is not None:
        verdict += " ({least:apart least most} to {most:apart least most})"
    if low <= none <= high:
        verdict = "no better" if each == none else f"not significantly {side}"
    gains = (each - none, low - none, high - none) if each > none else (none - each, none - high, none - low)
    return Told(
        "“Accuracy” is two numbers: {subset_accuracy:percent} of {n:units} have every label right, and "
        "{label_accuracy:percent} of single label decisions are right. Setting no label at all would get "
        "{all_zeros:of label_accuracy} of these right: the model is " + verdict + ".",
        {
            "subset_accuracy": exact,
            "label_accuracy": each,
            "all_zeros": none,
            "cardinality_true": carried,
            "n": ev.rows,
            "judged_by": "label_accuracy",
            **dict(zip(("less", "least", "most"), gains, strict=True)),
        },
        severity="note" if clear else "caution",
    )


@rule(section="threshold", action="Lower the threshold, or always set the label with the highest score.")
def empty_predictions(ev: Evaluation) -> Told | None:
    """Rows that get no label although they carry some."""
    empty, truly = value(ev, "empty_prediction_rate"), ev.no_skill.get("subset_accuracy")
    if empty is None or truly is None:
        return None
    got, bare = empty * ev.weight, truly * ev.weight
    if got - bare < EMPTY * ev.weight or deviation(ev, got - bare, got + bare) < SURE:
        return None
    return Told(
        "{empty:count} of {n:weight} ({share:of empty_prediction_rate}) get no label at all, "
        + ("and {bare:count} carry none" if bare >= 1 else "though all carry some")
        + ". On average {set:of cardinality_predicted} labels are set where {carried:of cardinality_true} belong.",
        {
            "empty": round(got, 9),
            "share": empty,
            "bare": round(bare, 9),
            "n": ev.weight,
            "set": sum(m.predicted for m in margins(ev)) / ev.weight,
            "carried": sum(m.support for m in margins(ev)) / ev.weight,
        },
        section="labels" if ev.score_kind is None else None,
    )


@rule(section="threshold", action="Move the threshold, or choose one for each label on validation data.")
def label_load(ev: Evaluation) -> Told | None:
    """Many more, or many fewer, labels are set than rows carry."""
    known = margins(ev)
    made, due = sum(m.predicted for m in known), sum(m.support for m in known)
    if not isinstance(ev.space, Multilabel) or not made or not due:
        return None
    off = deviation(ev, made - due, sum(m.discordant for m in known) * len(ev.space) ** 0.5)
    if max(made / due, due / made) < LOAD or abs(off) < SURE:
        return None
    return Told(
        "Too {many} labels are set: {made:count} in {n:weight}, where {carried:count} belong.",
        {"made": made, "carried": due, "n": ev.weight, "many": "many" if made > due else "few"},
        section="labels" if ev.score_kind is None else None,
    )


@rule(
    section="threshold",
    action="Choose one threshold, or one for each label, on validation data (--tune-on FILE).",
)
def one_threshold(ev: Evaluation) -> Told | None:
    """All labels are decided at the default although another common threshold is better by F1 and by MCC.

    The other is the best on these very rows, so that its gain has to exceed the whole width of the interval.
    """
    point, now = ev.threshold, ev.metrics.get("f1_micro")
    if not isinstance(ev.curves, MultilabelCurves) or not isinstance(ev.curves.pr, Curve):
        return None
    if point is None or point.origin not in ("default", "predictions") or not isinstance(now, Estimate):
        return None
    carried = sum(margin.support for margin in margins(ev))
    best = _best(ev.curves.pr)
    width = now.width if now.width is not None else 2 / math.sqrt(max(carried * informative(ev), 1.0))
    if best is None or best.f1 - now.value <= max(GAIN, width):
        return None
    cells, made = ev.weight * len(ev.space), sum(margin.predicted for margin in margins(ev))
    right = sum(margin.right for margin in margins(ev))
    if best.mcc(carried, cells) - _mcc(right, made, carried, cells) <= max(GAIN, width / 2):
        return None
    return Told(
        "All labels are decided at the default threshold {threshold:threshold}: at {best_threshold:threshold} micro F1 "
        "would be {best_f1:of f1_micro} instead of {f1:of f1_micro} on these {n:units}.",
        {
            "threshold": point.value,
            "f1": now.value,
            "best_threshold": best.threshold,
            "best_f1": best.f1,
            "n": ev.rows,
        },
    )


@dataclass(frozen=True)
class _Point:
    """A threshold with the recall and precision of all label decisions there."""

    threshold: float
    recall: float
    precision: float

    @property
    def f1(self) -> float:
        return 2 * self.recall * self.precision / (self.recall + self.precision)

    def mcc(self, carried: float, cells: float) -> float:
        right = self.recall * carried
        return _mcc(right, right / self.precision, carried, cells)


def _best(curve: Curve) -> _Point | None:
    rows = zip(curve.threshold or (), curve.x, curve.y, strict=True)
    points = [_Point(*row) for row in rows if math.isfinite(row[0]) and row[1] > 0]
    return max(points, key=lambda point: point.f1, default=None)


def _mcc(right: float, made: float, carried: float, cells: float) -> float:
    """Matthews correlation of label decisions from the hits and the margins; 0 where one margin is empty."""
    spread = made * (cells - made) * carried * (cells - carried)
    return (right * cells - made * carried) / math.sqrt(spread) if spread > 0 else 0.0
