"""Which metric to look at here, and why: a short guide from what is known of this evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from evalreport.core.result import Estimate
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import margins
from evalreport.findings.rule import value

RARE = 0.2
"""Share below which a class of two counts as rare."""
UNEQUAL = 3
"""Ratio of the most to the least frequent class from which on classes count as unequal."""
MANY = 5
"""Classes from which on the right answer among the best three says something."""


@dataclass(frozen=True)
class Advice:
    """One piece of the guide.

    Parameters
    ----------
    question : str
        What holds, or may be asked for, here.
    metrics : tuple of str
        The metrics that answer, the best first; all of them have a value here.
    reason : str
        Why these.
    """

    question: str
    metrics: tuple[str, ...]
    reason: str


def guide(ev: Evaluation) -> tuple[Advice, ...]:
    """Return which metrics answer which question for this evaluation.

    The questions are the ones that decide: are the classes balanced, is the threshold known, do the
    mistakes cost the same, is the probability itself used?

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.predictions import predictions
    >>> ev = evaluate_predictions(predictions(Multiclass(["a", "b", "c"]), ["a", "b", "c"], ["a", "b", "b"]))
    >>> guide(ev)[0].metrics
    ('accuracy', 'f1_macro')
    """
    match ev.space:
        case Binary():
            advice = (*_balance(ev), *_threshold(ev), *_costs(ev))
        case Multiclass():
            advice = tuple(_multiclass(ev, ev.space))
        case Multilabel():
            advice = tuple(_multilabel(ev))
        case never:
            assert_never(never)
    valued = {name for name, result in ev.metrics.items() if isinstance(result, Estimate)}
    known = [replace(one, metrics=tuple(m for m in one.metrics if m in valued)) for one in advice]
    return tuple(one for one in known if one.metrics)


def _is_probability(ev: Evaluation) -> bool:
    return ev.score_kind in ("probability", "logit")


def _balance(ev: Evaluation) -> Iterator[Advice]:
    share = value(ev, "prevalence")
    if share is None:
        return
    if share in (0, 1):
        return  # nothing to weigh against each other
    if RARE <= share <= 1 - RARE:
        yield Advice(
            "The classes are balanced",
            ("accuracy", "f1", "mcc"),
            "Neither class can hide behind the other, so that even accuracy is fair.",
        )
        return
    metrics = ("recall", "precision", "average_precision") if share < RARE else ("specificity", "npv")
    yield Advice(
        "The classes are unequal",
        (*metrics, "mcc"),
        "One class is rare: accuracy is mostly about the other, these are not.",
    )


def _threshold(ev: Evaluation) -> Iterator[Advice]:
    if ev.score_kind is None or (ev.threshold is not None and ev.threshold.origin in ("given", "tuned")):
        yield Advice(
            "The decisions are taken as they are",
            ("recall", "precision", "specificity"),
            "They say what happens when the model is used in this way.",
        )
        return
    rare = (value(ev, "prevalence") or 0.0) < RARE
    yield Advice(
        "The threshold is still open",
        ("average_precision", "roc_auc") if rare else ("roc_auc", "average_precision"),
        "They judge the ranking at every threshold"
        + ("; with few positives ROC AUC looks good beside many false alarms." if rare else "."),
    )


def _costs(ev: Evaluation) -> Iterator[Advice]:
    if _is_probability(ev):
        yield Advice(
            "A miss and a false alarm do not cost the same",
            ("net_benefit",),
            "It weighs them by the odds of the threshold.",
        )
        yield Advice(
            "The probability itself is used",
            ("brier", "log_loss", "calibration_slope"),
            "They punish a wrong probability, also where the decision is right.",
        )
    else:
        yield Advice(
            "A miss and a false alarm do not cost the same",
            ("recall", "specificity"),
            "Each counts one kind of mistake, so that each can be given its own price.",
        )


def _multiclass(ev: Evaluation, space: Multiclass) -> Iterator[Advice]:
    support = [margin.support for margin in margins(ev) if margin.support > 0]
    if support and max(support) <= UNEQUAL * min(support):
        yield Advice(
            "The classes are balanced",
            ("accuracy", "f1_macro"),
            "They agree here, unless some classes are abandoned.",
        )
    else:
        yield Advice(
            "The classes are unequal",
            ("f1_macro", "balanced_accuracy", "mcc"),
            "Accuracy and micro F1 are made by the frequent classes; here every class counts, or chance is taken off.",
        )
    if space.ordered:
        yield Advice(
            "The classes have an order",
            ("cohen_kappa_quadratic",),
            "A mistake of two steps counts four times as much as one of a single step.",
        )
    if ev.parsing is not None:
        yield Advice(
            "The labels are read from text",
            ("accuracy", "parse_rate"),
            "Whoever asked gets no label from an unreadable answer; accuracy among the readable leaves that out.",
        )
    if len(space) >= MANY:
        yield Advice(
            "Several answers may be shown",
            ("top_3_accuracy",),
            "It counts a right answer among the best three.",
        )
    if _is_probability(ev):
        yield Advice(
            "Unsure answers may be left to a person",
            ("ece", "log_loss"),
            "A cut-off is only as good as the confidence that it cuts.",
        )


def _multilabel(ev: Evaluation) -> Iterator[Advice]:
    yield Advice(
        "A row is of use only if every label is right",
        ("subset_accuracy",),
        "One wrong label makes the row wrong.",
    )
    yield Advice(
        "Every single label decision counts the same",
        ("f1_micro", "precision_micro", "recall_micro"),
        "Frequent labels weigh more; label accuracy would be near one by saying no throughout.",
    )
    yield Advice("Every label counts the same", ("f1_macro",), "Rare labels weigh as much as frequent ones.")
    if ev.score_kind is not None:
        yield Advice(
            "The thresholds are still open",
            ("average_precision_macro", "average_precision_samples"),
            "They judge the ranking: over rows for each label, over labels for each row.",
        )
