"""Which metric to look at here, and why: a short guide from what is known of this evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from evalreport.evaluation.model import Evaluation
from evalreport.format import percent
from evalreport.labels import Binary, Multiclass, Multilabel

RARE = 0.2
"""Share below which a class counts as rare."""


@dataclass(frozen=True)
class Advice:
    """One piece of the guide: when, which metrics, why."""

    question: str
    metrics: tuple[str, ...]
    reason: str


def guide(ev: Evaluation) -> tuple[Advice, ...]:
    """Return which metrics answer which question for this evaluation.

    The questions are the ones that decide: is the threshold known, are the classes balanced, do the
    mistakes cost the same?

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.predictions import predictions
    >>> ev = evaluate_predictions(predictions(Multiclass(["a", "b", "c"]), ["a", "b", "c"], ["a", "b", "b"]))
    >>> guide(ev)[0].metrics
    ('accuracy', 'f1_macro')
    """
    match ev.space:
        case Binary():
            advice = tuple(_binary(ev))
        case Multiclass():
            advice = tuple(_multiclass(ev))
        case Multilabel():
            advice = tuple(_multilabel(ev))
        case never:
            assert_never(never)
    return tuple(one for one in advice if all(name in ev.metrics for name in one.metrics))


def _binary(ev: Evaluation) -> Iterator[Advice]:
    prevalence = ev.metrics.get("prevalence")
    share = prevalence.value if prevalence is not None else None
    decided = ev.threshold is not None and ev.threshold.origin in ("given", "tuned")
    if share is not None and min(share, 1 - share) < RARE:
        yield Advice(
            "The classes are unequal",
            ("recall", "precision", "average_precision", "mcc"),
            f"{percent(share)} are positive, so accuracy is mostly the majority's; these are not.",
        )
    else:
        yield Advice(
            "The classes are balanced",
            ("accuracy", "f1"),
            "No class can hide behind the other, so they are fair.",
        )
    if decided:
        yield Advice(
            "The threshold is chosen",
            ("recall", "precision", "specificity"),
            "They describe what will be done.",
        )
    elif ev.score_kind is not None:
        yield Advice(
            "The threshold is still open",
            ("roc_auc", "average_precision"),
            "They judge the ranking at every threshold; the counts hold for one only.",
        )
    if ev.score_kind in ("probability", "logit"):
        yield Advice(
            "A miss and a false alarm cost unequally",
            ("net_benefit",),
            "It weighs them at the odds of the threshold.",
        )
        yield Advice(
            "The probability itself is used", ("brier", "log_loss", "ece"), "They punish a wrong probability."
        )


def _multiclass(ev: Evaluation) -> Iterator[Advice]:
    support = [entry.support for entry in ev.classes if entry.support > 0]
    if support and max(support) <= 3 * min(support):
        yield Advice(
            "The classes are balanced",
            ("accuracy", "f1_macro"),
            "They agree unless some classes are abandoned.",
        )
    else:
        yield Advice(
            "The classes are unequal",
            ("f1_macro", "balanced_accuracy", "mcc"),
            "Accuracy and micro F1 are mostly the frequent classes'; these count each class the same.",
        )
    if ev.score_kind is not None:
        yield Advice(
            "Several answers may be shown",
            ("top_3_accuracy",),
            "It counts a right answer among the best three.",
        )
    if ev.score_kind in ("probability", "logit"):
        yield Advice(
            "Unsure answers may be left to a person",
            ("ece", "log_loss"),
            "A cut-off needs honest confidence.",
        )
    if ev.parsing is not None:
        yield Advice(
            "The labels are read from text",
            ("accuracy", "parse_rate"),
            "What cannot be read is wrong for whoever asked; accuracy among the readable leaves it out.",
        )


def _multilabel(ev: Evaluation) -> Iterator[Advice]:
    yield Advice(
        "Every label of a row must be right", ("subset_accuracy",), "One wrong label makes the row wrong."
    )
    yield Advice("Each label decision counts the same", ("f1_micro",), "Frequent labels dominate it.")
    yield Advice("Each label counts the same", ("f1_macro",), "Rare labels weigh as much as frequent ones.")
    if ev.score_kind is not None:
        yield Advice(
            "The thresholds are still open",
            ("average_precision_macro", "average_precision_samples"),
            "They judge the ranking, not one threshold.",
        )
