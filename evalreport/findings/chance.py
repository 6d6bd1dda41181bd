"""What chance alone would do, what is known of each label by counting, and whether skill is demonstrated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias, assert_never

import numpy as np

from evalreport.core.result import Estimate
from evalreport.data.labels import Binary, Label, Multiclass, Multilabel, Task
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.rule import estimate, value
from evalreport.metrics.catalogue import OF_ORDER, OF_RANKING
from evalreport.statistics.confusion import sums

SURE = 4.0
"""Standard errors beyond which a difference of counts is claimed: one false alarm in 16,000 tries."""
LUCK = 0.01
"""Probability below which "it was luck" is ruled out."""


@dataclass(frozen=True)
class Margin:
    """How often a label is true, predicted, both, and true of an answer that could not be read."""

    label: Label
    support: float
    predicted: float
    right: float
    unread: float = 0.0

    @property
    def excess(self) -> float:
        """Predictions beyond the examples."""
        return self.predicted - self.support

    @property
    def discordant(self) -> float:
        """Examples and predictions that do not agree: the variance of `excess` when nothing is favoured
        (Stuart 1955, Maxwell 1970)."""
        return self.predicted + self.support - 2 * self.right


def margins(ev: Evaluation) -> tuple[Margin, ...]:
    """Return the counts of each label, in order; none without decisions.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> margins(evaluate_predictions(predictions(Binary("no", "yes"), ["no", "yes"], ["no", "no"])))[0]
    Margin(label='no', support=1.0, predicted=2.0, right=1.0, unread=0.0)
    """
    if ev.confusion is None:
        return tuple(Margin(c.label, c.support, c.predicted, c.right) for c in ev.classes)
    counts, known = ev.confusion, ev.confusion.marginals
    lost = counts.columns == counts.size
    unread = sums(counts.rows[lost], counts.weight[lost], counts.size)
    columns = (known.support, known.predicted, known.tp, unread)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(Margin(label, *row) for label, row in zip(ev.space.display_labels, rows, strict=True))


def informative(ev: Evaluation) -> float:
    """Return how many independent rows stand behind one unit of weight.

    Rows of one group may all be the same row again, so that only groups are sure to be independent; uneven
    weights leave fewer effective rows (Kish 1965).
    """
    known: float = ev.rows if ev.clusters is None else min(ev.rows, ev.clusters)
    if ev.weighted and ev.clusters is None:
        known = ev.data_checks.get("effective_n", known)
    return known / ev.weight if ev.weight else 0.0


def deviation(ev: Evaluation, excess: float, variance: float) -> float:
    """Return a difference of weighted counts in standard errors; 0 where nothing varies."""
    return excess * math.sqrt(informative(ev) / variance) if variance > 0 else 0.0


def poisson_tail(k: int, mean: float) -> float:
    """Return the probability of k or more events where `mean` are expected.

    Examples
    --------
    >>> round(poisson_tail(1, 0.01), 4), poisson_tail(0, 3.0)
    (0.01, 1.0)
    """
    terms = (
        math.exp(-mean + i * math.log(mean) - math.lgamma(i + 1)) if mean else float(i == 0) for i in range(k)
    )
    return max(0.0, 1.0 - math.fsum(terms))


def chi_square_deviate(statistic: float, df: int) -> float:
    """Return the standard normal deviate of a chi-square statistic (Wilson & Hilferty 1931).

    Examples
    --------
    >>> round(chi_square_deviate(18.307, 10), 2)
    1.65
    """
    spread = 2 / (9 * df)
    return float((np.cbrt(statistic / df) - (1 - spread)) / math.sqrt(spread))


def association(ev: Evaluation) -> float:
    """Return right answers beyond those of shuffled answers, in standard errors.

    Shuffling keeps how often each label is true and how often it is predicted; the variance is that of a
    permutation statistic (Hoeffding 1951). The labels of a multilabel problem are shuffled apart.
    """
    known = margins(ev)
    together = [[margin] for margin in known] if ev.confusion is None else [known]
    shuffled = [_chance_agreement(ev.weight, group) for group in together]
    right = sum(margin.right for margin in known)
    return deviation(ev, right - sum(due for due, _ in shuffled), sum(variance for _, variance in shuffled))


def right_by_chance(ev: Evaluation) -> float:
    """Return how many answers of a single-label problem would be right if they were shuffled."""
    return _chance_agreement(ev.weight, margins(ev))[0]


def _chance_agreement(n: float, known: Sequence[Margin]) -> tuple[float, float]:
    """Right answers that are due to shuffled answers, and their variance."""
    truth = np.array([margin.support for margin in known])
    answers = np.array([margin.predicted for margin in known])
    both = truth * answers
    due = float(both.sum() / n)
    return due, due - float((both * (truth + answers)).sum() / n**2) + due**2 / n


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
Skill: TypeAlias = Literal["demonstrated", "barely", "not_demonstrated", "none", "reversed"]
"""Better than chance; better, but by next to nothing; perhaps; not better or by next to nothing; worse."""


def only_labels(ev: Evaluation) -> list[Label] | None:
    """Return the one label that occurs (multilabel: none occurs); None where the truth varies."""
    known = [margin.label for margin in margins(ev) if margin.support > 0]
    match ev.space:
        case Binary() if ev.confusion is None:
            share = value(ev, "prevalence")
            return [ev.space.display_labels[int(share)]] if share in (0, 1) else None
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
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.scores import Probabilities
    >>> rows = predictions(Binary(0, 1), [0, 1] * 20, scores=Probabilities([0.2, 0.7] * 20))
    >>> ranking_skill(evaluate_predictions(rows))
    'demonstrated'
    """
    auc = estimate(ev, OF_RANKING[ev.task])
    if auc is None or auc.low is None or auc.high is None or ev.data_checks.get("constant_scores"):
        return None
    return _classify_skill(auc.low, auc.high, CHANCE, USELESS, enough=enough(ev))


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
        _classify_skill(low, high, level, useless, enough=enough(ev))
        for low, high, level, useless in _witnesses(ev)
    ]
    order: tuple[Skill, ...] = ("demonstrated", "reversed", "barely", "none", "not_demonstrated")
    skill = next((skill for skill in order if skill in found), None)
    ranked = skill == "barely" and isinstance(ev.space, Binary) and ranking_skill(ev) == "demonstrated"
    return "demonstrated" if ranked else skill  # few decisions at this threshold, of a useful ranking


def _classify_skill(low: float, high: float, level: float, useless: float, *, enough: bool) -> Skill:
    """Return where an interval is: significant is not useful, and not significant is not absent, unless the
    interval cannot reach far."""
    if low > level:
        return "demonstrated" if high >= useless else "barely"
    if high < level:
        return "reversed"
    return "none" if high < useless and enough else "not_demonstrated"


def _witnesses(ev: Evaluation) -> Iterator[tuple[float, float, float, float]]:
    """Ends of the interval of each metric that decides, its level without skill, and that of hardly any."""
    match ev.space:
        case Binary():
            levels = {"balanced_accuracy": (CHANCE, USELESS)}
        case Multiclass() if by_order(ev) is not None:
            levels = {OF_ORDER[0]: (0.0, USELESS_MCC)}
        case Multiclass():
            always = ev.no_skill.get("accuracy", 1 / len(ev.space))
            levels = {"mcc": (0.0, USELESS_MCC), "accuracy": (always, always + USELESS_MCC * (1 - always))}
        case Multilabel():
            always = ev.no_skill.get("f1_micro", 1.0)
            levels = {"f1_micro": (always, always + USELESS_MCC * (1 - always))}
    for name, (level, useless) in levels.items():
        found = estimate(ev, name)
        if found is None or found.low is None or found.high is None:
            continue
        if name != "accuracy" or found.low > level:  # below it a rare class may still be found
            yield found.low, found.high, level, useless


def gain_over_majority_class(ev: Evaluation) -> tuple[float, float, float]:
    """Return by how much accuracy exceeds that of always predicting the most frequent label, and its ends.

    The two are of the same rows: only rows that exactly one of them has right vary (as in McNemar's test).
    """
    known = margins(ev)
    most = max(known, key=lambda margin: margin.support)
    gained = sum(margin.right for margin in known if margin is not most)
    lost = most.support - most.right
    gain = (gained - lost) / ev.weight
    variance = max((gained + lost) / ev.weight - gain**2, 0.0)
    half = NormalDist().inv_cdf(0.5 + ev.sampling.level / 2) * math.sqrt(
        variance / (ev.weight * informative(ev))
    )
    return gain, gain - half, gain + half


def by_order(ev: Evaluation) -> Estimate | None:
    """Return quadratic weighted kappa where labels are ordered; None where they are not, or it is undefined.

    Grades that are all one too high are never right and follow the order well: of ordered labels this is what
    shows skill, and neither accuracy nor MCC, which count every miss the same.
    """
    ordered = isinstance(ev.space, Multiclass) and ev.space.ordered
    found = estimate(ev, OF_ORDER[0]) if ordered else None
    return None if found is None or found.low is None or found.high is None else found


def enough(ev: Evaluation) -> bool:
    """Return whether every class has the examples that a model needs to be called useless."""
    return rarest(ev) * informative(ev) >= EACH


def rarest(ev: Evaluation) -> float:
    """Return the examples of the rarest of the classes that occur; of several labels, of the most frequent."""
    known = [margin.support for margin in margins(ev) if margin.support > 0]
    if not known and isinstance(ev.space, Binary):
        share = value(ev, "prevalence") or 0.0
        known = [ev.weight * share, ev.weight * (1 - share)]
    return (max if ev.task == "multilabel" else min)(known, default=0.0)
