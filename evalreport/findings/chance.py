"""Tests against chance for the findings: counts per label, expected agreement, skill."""

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
"""Standard errors above which a difference of counts is reported: p < 1/16,000."""
BY_CHANCE = 0.01
"""p-value below which chance is ruled out."""


@dataclass(frozen=True)
class Margin:
    """Counts of a label: true, predicted, correctly predicted, and true for an unparsed response."""

    label: Label
    support: float
    predicted: float
    right: float
    unparsed: float = 0.0

    @property
    def excess(self) -> float:
        """Predictions minus examples."""
        return self.predicted - self.support

    @property
    def discordant(self) -> float:
        """Examples and predictions that disagree: the variance of `excess` under marginal homogeneity
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
    Margin(label='no', support=1.0, predicted=2.0, right=1.0, unparsed=0.0)
    """
    if ev.confusion is None:
        return tuple(Margin(c.label, c.support, c.predicted, c.right) for c in ev.classes)
    counts, known = ev.confusion, ev.confusion.marginals
    lost = counts.columns == counts.size
    unparsed = sums(counts.rows[lost], counts.weight[lost], counts.size)
    columns = (known.support, known.predicted, known.tp, unparsed)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(Margin(label, *row) for label, row in zip(ev.space.display_labels, rows, strict=True))


def informative(ev: Evaluation) -> float:
    """Return the number of independent rows per unit of weight.

    Rows of one group may all be copies of one row, so only groups count as independent; uneven weights reduce
    the effective number of rows (Kish 1965).
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
    """Return correct predictions minus those of shuffled predictions, in standard errors.

    Shuffling keeps the frequencies of true and predicted labels; the variance is that of a permutation
    statistic (Hoeffding 1951). The labels of a multilabel problem are shuffled separately.
    """
    known = margins(ev)
    together = [[margin] for margin in known] if ev.confusion is None else [known]
    shuffled = [_chance_agreement(ev.weight, group) for group in together]
    right = sum(margin.right for margin in known)
    return deviation(ev, right - sum(due for due, _ in shuffled), sum(variance for _, variance in shuffled))


def right_by_chance(ev: Evaluation) -> float:
    """Return how many predictions of a single-label problem would be right after shuffling."""
    return _chance_agreement(ev.weight, margins(ev))[0]


def _chance_agreement(n: float, known: Sequence[Margin]) -> tuple[float, float]:
    """Expected number of correct predictions after shuffling, and its variance."""
    truth = np.array([margin.support for margin in known])
    answers = np.array([margin.predicted for margin in known])
    both = truth * answers
    due = float(both.sum() / n)
    return due, due - float((both * (truth + answers)).sum() / n**2) + due**2 / n


CHANCE = 0.5
"""ROC AUC of random scores, and balanced accuracy of a constant prediction."""
USELESS = 0.6
"""Upper end of an interval of these below which there is practically no skill: 0.6 is poor in any field."""
USELESS_MCC = 0.2
"""The same for agreement on a scale from 0 to 1: 2 · 0.6 − 1 for balanced classes."""
EACH = 10
"""Minimum number of rows of each class to report that there is no skill; with fewer: not significant."""
MIN_PREDICTED: Mapping[Task, int] = {"binary": 2, "multiclass": 2, "multilabel": 1}
"""Minimum number of distinct predicted labels; a model with fewer is constant, and has no skill."""
Skill: TypeAlias = Literal["significant", "barely", "not_significant", "none", "reversed"]
"""Better than chance; better, but hardly; inconclusive; no better or hardly better; worse."""


def only_labels(ev: Evaluation) -> list[Label] | None:
    """Return the only true label (multilabel: none occurs); None where several occur."""
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
    """Return the skill of the scores as a ranking; None without scores, or where all are equal.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.scores import Probabilities
    >>> rows = predictions(Binary(0, 1), [0, 1] * 20, scores=Probabilities([0.2, 0.7] * 20))
    >>> ranking_skill(evaluate_predictions(rows))
    'significant'
    """
    auc = estimate(ev, OF_RANKING[ev.task])
    if auc is None or auc.low is None or auc.high is None or ev.data_checks.get("constant_scores"):
        return None
    return _classify_skill(auc.low, auc.high, CHANCE, USELESS, enough=enough(ev))


def decision_skill(ev: Evaluation) -> Skill | None:
    """Return the skill of the decisions compared with a constant prediction; None without decisions.

    With rare classes a useful model may be right less often than the constant prediction, so one significant
    metric suffices.
    """
    known = margins(ev)
    if not known or only_labels(ev) is not None:
        return None
    if sum(margin.predicted > 0 for margin in known) < MIN_PREDICTED[ev.task]:
        return "none"
    found = [
        _classify_skill(low, high, level, useless, enough=enough(ev))
        for low, high, level, useless in _skill_metrics(ev)
    ]
    order: tuple[Skill, ...] = ("significant", "reversed", "barely", "none", "not_significant")
    skill = next((skill for skill in order if skill in found), None)
    ranked = skill == "barely" and isinstance(ev.space, Binary) and ranking_skill(ev) == "significant"
    return "significant" if ranked else skill  # few positives at this threshold, from a useful ranking


def _classify_skill(low: float, high: float, level: float, useless: float, *, enough: bool) -> Skill:
    """Return the skill that an interval shows. Skill is absent only where the upper end is useless, too."""
    if low > level:
        return "significant" if high >= useless else "barely"
    if high < level:
        return "reversed"
    return "none" if high < useless and enough else "not_significant"


def _skill_metrics(ev: Evaluation) -> Iterator[tuple[float, float, float, float]]:
    """Ends of the interval of each metric that decides, its no-skill level, and the level of hardly any skill."""
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
        if name != "accuracy" or found.low > level:  # below it, rare classes may still be predicted well
            yield found.low, found.high, level, useless


def gain_over_majority_class(ev: Evaluation) -> tuple[float, float, float]:
    """Return the gain of accuracy over always predicting the most frequent label, with its interval.

    The difference is paired: only rows that exactly one of the two has right contribute (as in McNemar's test).
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

    It measures skill for ordered labels. Accuracy and MCC count every miss the same: grades that are all one
    too high are never right, but follow the order.
    """
    ordered = isinstance(ev.space, Multiclass) and ev.space.ordered
    found = estimate(ev, OF_ORDER[0]) if ordered else None
    return None if found is None or found.low is None or found.high is None else found


def enough(ev: Evaluation) -> bool:
    """Return whether every class has enough examples to report that there is no skill."""
    return rarest(ev) * informative(ev) >= EACH


def rarest(ev: Evaluation) -> float:
    """Return the examples of the rarest class that occurs; in multilabel problems, of the most frequent label."""
    known = [margin.support for margin in margins(ev) if margin.support > 0]
    if not known and isinstance(ev.space, Binary):
        share = value(ev, "prevalence") or 0.0
        known = [ev.weight * share, ev.weight * (1 - share)]
    return (max if ev.task == "multilabel" else min)(known, default=0.0)
