"""No better than an answer that never looks: the sentence that wins over all others."""

from __future__ import annotations

from evalreport.evaluation.model import Evaluation
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.panels.about import estimate, metric
from evalreport.values import Estimate

Witness = tuple[str, float]
"""A metric and the value that an answer which never looks would reach."""


def witnesses(ev: Evaluation) -> tuple[Witness, ...]:
    """Return the metrics whose intervals decide whether the model is better than no skill.

    All of them have to cover their value: with rare classes a useful model may well be right less often
    than the constant answer, so that accuracy alone decides nothing.
    """
    match ev.space:
        case Binary():
            if ev.confusion is not None:
                return (("balanced_accuracy", 0.5),)
            return (("roc_auc", 0.5),)
        case Multiclass():
            return (("accuracy", ev.no_skill.get("accuracy", 1 / len(ev.space))), ("mcc", 0.0))
        case Multilabel():
            if "f1_micro" in ev.no_skill:
                return (("f1_micro", ev.no_skill["f1_micro"]),)
            return ()


def no_better(ev: Evaluation) -> bool:
    """Whether the data do not show the model to be better than an answer that never looks."""
    found = [(estimate(ev, name), level) for name, level in witnesses(ev)]
    if any(result is None for result, _ in found):
        return _undefined_is_constant(ev)
    return bool(found) and all(_covers(result, level) for result, level in found if result is not None)


def _covers(result: Estimate, level: float) -> bool:
    return (result.value if result.low is None else result.low) <= level


def _undefined_is_constant(ev: Evaluation) -> bool:
    """MCC is undefined when the answer or the truth never changes; accuracy then decides."""
    if not isinstance(ev.space, Multiclass):
        return False
    accuracy = metric(ev, "accuracy")
    supported = 0 if ev.confusion is None else int((ev.confusion.marginals.support > 0).sum())
    return isinstance(accuracy, Estimate) and supported > 1 and _covers(accuracy, ev.no_skill["accuracy"])
