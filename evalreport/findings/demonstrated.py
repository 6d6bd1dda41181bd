"""Is a model demonstrated to know more than an answer that never looks, and is it demonstrated not to?

Not demonstrated is a third answer: the interval covers chance and a useful model alike. The headline, the summary
and the findings read this one judgement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias, assert_never

from evalreport.evaluation.model import Evaluation
from evalreport.findings.chance import informative, margins
from evalreport.findings.words import estimate, value
from evalreport.labels import Binary, Label, Multiclass, Multilabel, Task
from evalreport.metrics.named_sets import OF_RANKING

CHANCE = 0.5
"""ROC AUC of scores that know nothing, and balanced accuracy of answers that never look."""
USELESS = 0.6
"""Upper end of an interval of these below which next to nothing is known: 0.6 is called poor in any field."""
USELESS_MCC = 0.2
"""The same for agreement on a scale from 0 to 1: 2 · 0.6 − 1 for balanced classes."""
EACH = 10
"""Rows of each class from which on a model may be called useless rather than not demonstrated to be good."""
MIN_ANSWERS: Mapping[Task, int] = {"binary": 2, "multiclass": 2, "multilabel": 1}
"""Different answers below which a model never looks, whatever its sample."""
Skill: TypeAlias = Literal["demonstrated", "not_demonstrated", "none", "reversed"]
"""Better than chance; perhaps; next to no better; worse."""


def only_labels(ev: Evaluation) -> list[Label] | None:
    """Return the one label that occurs (multilabel: none occurs); None where the truth varies."""
    known = [margin.label for margin in margins(ev) if margin.support > 0]
    match ev.space:
        case Binary() if ev.confusion is None:
            share = value(ev, "prevalence")
            return [ev.space.shown[int(share)]] if share in (0, 1) else None
        case Binary() | Multiclass():
            return known if len(known) == 1 else None
        case Multilabel():
            return known if ev.classes and not known else None
        case never:
            assert_never(never)


def ranking_skill(ev: Evaluation) -> Skill | None:
    """Return what the data say of the ranking of the scores; None without scores, or where all are equal.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.predictions import predictions
    >>> from evalreport.scores import Probabilities
    >>> rows = predictions(Binary(0, 1), [0, 1] * 20, scores=Probabilities([0.2, 0.7] * 20))
    >>> ranking_skill(evaluate_predictions(rows))
    'demonstrated'
    """
    auc = estimate(ev, OF_RANKING[ev.task])
    if auc is None or auc.low is None or auc.high is None or ev.facts.get("constant_scores"):
        return None
    return _judged(auc.low, auc.high, CHANCE, USELESS, enough=_enough(ev))


def decision_skill(ev: Evaluation) -> Skill | None:
    """Return what the data say of the decisions, beside an answer that never looks; None without decisions.

    With rare classes a useful model may well be right less often than the constant answer, so that any one
    of the metrics demonstrates skill.
    """
    known = margins(ev)
    if not known or only_labels(ev) is not None:
        return None
    if sum(margin.predicted > 0 for margin in known) < MIN_ANSWERS[ev.task]:
        return "none"
    found = [
        _judged(low, high, level, useless, enough=_enough(ev)) for low, high, level, useless in _witnesses(ev)
    ]
    order: tuple[Skill, ...] = ("demonstrated", "reversed", "none", "not_demonstrated")
    return next((skill for skill in order if skill in found), None)


def _judged(low: float, high: float, level: float, useless: float, *, enough: bool) -> Skill:
    """Return where an interval lies: not demonstrated is not told as absent, unless it cannot reach far."""
    if low > level:
        return "demonstrated"
    if high < level:
        return "reversed"
    return "none" if high < useless and enough else "not_demonstrated"


def _witnesses(ev: Evaluation) -> Iterator[tuple[float, float, float, float]]:
    """Ends of the interval of each metric that decides, its level without skill, and that of hardly any."""
    match ev.space:
        case Binary():
            levels = {"balanced_accuracy": (CHANCE, USELESS)}
        case Multiclass():
            always = ev.no_skill.get("accuracy", 1 / len(ev.space))
            levels = {"mcc": (0.0, USELESS_MCC), "accuracy": (always, always)}
        case Multilabel():
            always = ev.no_skill.get("f1_micro", 1.0)
            levels = {"f1_micro": (always, always + USELESS_MCC * (1 - always))}
    for name, (level, useless) in levels.items():
        found = estimate(ev, name)
        if found is not None and found.low is not None and found.high is not None:
            reach = found.high if name != "accuracy" else max(found.high, level)  # a rare class may be found
            yield found.low, reach, level, useless


def _enough(ev: Evaluation) -> bool:
    return rarest(ev) * informative(ev) >= EACH


def rarest(ev: Evaluation) -> float:
    """Return the examples of the rarest of the classes that occur; of several labels, of the most frequent."""
    known = [margin.support for margin in margins(ev) if margin.support > 0]
    if not known and isinstance(ev.space, Binary):
        share = value(ev, "prevalence") or 0.0
        known = [ev.weight * share, ev.weight * (1 - share)]
    return (max if ev.task == "multilabel" else min)(known, default=0.0)
