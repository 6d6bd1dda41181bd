"""Functions of the four counts at an operating point.

Each takes `BinaryCounts` whose fields are numbers or float64 arrays of one shape and returns that shape:
a single operating point, every threshold of a sweep, one-vs-rest labels and bootstrap replicates alike.
NaN stands where a quantity is 0/0, infinity where only its denominator is 0. An answer that could not be
parsed is wrong: it counts in the total, among the positives or negatives it belongs to, and nowhere else.

Records of the binary count metrics.

Records of the binary count metrics that weigh several cells against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from evalreport.metrics.record import (
    CountDraws,
    Metric,
    NoInterval,
    NoMethod,
    Proportion,
    because,
    divide,
    view,
)
from evalreport.statistics.confusion import BinaryCounts
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary


def reweight_to_prevalence(c: BinaryCounts, share: float) -> BinaryCounts:
    """Return the counts of a population in which a share is positive, with this recall and this FPR.

    Their total is 1; NaN or infinite where one class has no example.

    >>> there = reweight_to_prevalence(BinaryCounts(tp=3, fp=1, fn=1, tn=4), 0.1)
    >>> [round(float(part), 3) for part in (there.tp, there.fp, there.fn, there.tn)]
    [0.075, 0.18, 0.025, 0.72]
    """
    up, down = divide(share, c.positives), divide(1 - share, c.negatives)
    with np.errstate(invalid="ignore"):
        read = (c.tp * up, c.fp * down, c.fn * up, c.tn * down)
        return BinaryCounts(*read, c.unread * down, c.threshold, c.unread_positive * up)


def prevalence(c: BinaryCounts | ScoreTable) -> Any:
    """Return the share of all rows that are positive, P / n, in [0, 1].

    >>> float(prevalence(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.4
    """
    return divide(c.positives, c.total)


def predicted_positive_rate(c: BinaryCounts) -> Any:
    """Return the share of all rows that are predicted positive, (TP + FP) / n, in [0, 1].

    >>> float(predicted_positive_rate(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.4
    """
    return divide(c.predicted_positives, c.total)


def accuracy(c: BinaryCounts) -> Any:
    """Return the share of right answers, (TP + TN) / n, in [0, 1].

    >>> float(accuracy(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.8
    """
    return divide(c.tp + c.tn, c.total)


def no_information_rate(c: BinaryCounts | ScoreTable) -> Any:
    """Return the accuracy of always answering the more frequent class, max(P, N) / n, in [0.5, 1].

    >>> float(no_information_rate(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.6
    """
    return divide(np.maximum(c.positives, c.negatives), c.total)


def precision(c: BinaryCounts) -> Any:
    """Return the share of positive predictions that are right, TP / (TP + FP), in [0, 1].

    >>> float(precision(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.75
    """
    return divide(c.tp, c.predicted_positives)


def recall(c: BinaryCounts) -> Any:
    """Return the share of positives that are found, TP / P, in [0, 1].

    >>> float(recall(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.75
    """
    return divide(c.tp, c.positives)


def specificity(c: BinaryCounts) -> Any:
    """Return the share of negatives that are called negative, TN / N, in [0, 1].

    >>> float(specificity(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.8
    """
    return divide(c.tn, c.negatives)


def npv(c: BinaryCounts) -> Any:
    """Return the share of negative predictions that are right, TN / (TN + FN), in [0, 1].

    >>> float(npv(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.8
    """
    return divide(c.tn, c.predicted_negatives)


def fpr(c: BinaryCounts) -> Any:
    """Return the share of negatives that are called positive, FP / N, in [0, 1].

    >>> float(fpr(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.2
    """
    return divide(c.fp, c.negatives)


def fnr(c: BinaryCounts) -> Any:
    """Return the share of positives that are missed, FN / P, in [0, 1].

    >>> float(fnr(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.25
    """
    return divide(c.fn, c.positives)


def balanced_accuracy(c: BinaryCounts) -> Any:
    """Return the mean of recall and specificity, in [0, 1]; NaN when one class has no example.

    >>> float(balanced_accuracy(BinaryCounts(tp=3, fp=1, fn=1, tn=1)))
    0.625
    """
    return (recall(c) + specificity(c)) / 2


def f_beta(c: BinaryCounts, beta: float) -> Any:
    """Return the weighted harmonic mean of precision and recall, in [0, 1]; recall weighs beta² as much.

    >>> float(f_beta(BinaryCounts(tp=3, fp=1, fn=1, tn=5), 2))
    0.75
    """
    square = beta * beta
    return divide((1 + square) * c.tp, (1 + square) * c.tp + square * c.fn + c.fp)


def f1(c: BinaryCounts) -> Any:
    """Return 2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall, in [0, 1].

    >>> float(f1(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.75
    """
    return f_beta(c, 1)


def f05(c: BinaryCounts) -> Any:
    """Return F with beta = 0.5 (precision weighs more), in [0, 1].

    >>> float(f05(BinaryCounts(tp=1, fp=0, fn=1, tn=5)))
    0.8333333333333334
    """
    return f_beta(c, 0.5)


def f2(c: BinaryCounts) -> Any:
    """Return F with beta = 2 (recall weighs more), in [0, 1].

    >>> float(f2(BinaryCounts(tp=1, fp=0, fn=1, tn=5)))
    0.5555555555555556
    """
    return f_beta(c, 2)


def jaccard(c: BinaryCounts) -> Any:
    """Return TP / (TP + FP + FN), the overlap of true and predicted positives, in [0, 1].

    >>> float(jaccard(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.6
    """
    return divide(c.tp, c.tp + c.fp + c.fn)


def _agreement(c: BinaryCounts) -> Any:
    """Right answers beyond what the marginals alone would give, times n: the numerator of MCC and kappa.

    Written without the squares of n of the textbook form, which lose the digits of rare classes.
    """
    missed = c.fn - c.unread_positive
    return c.negatives * (c.tp - missed) + c.positives * (c.tn - c.fp)


def mcc(c: BinaryCounts) -> Any:
    """Return Matthews' correlation of truth and prediction, in [-1, 1]; NaN when either is constant.

    With unparsed answers: Gorodkin's (2004) form, where they are a predicted category of their own.

    >>> float(mcc(BinaryCounts(tp=4, fp=1, fn=1, tn=4)))
    0.6
    """
    unread = c.unread + c.unread_positive
    predicted = c.predicted_positives * c.predicted_negatives + unread * (
        c.predicted_positives + c.predicted_negatives
    )
    return divide(_agreement(c), 2 * np.sqrt(predicted * (c.positives * c.negatives)))


def cohen_kappa(c: BinaryCounts) -> Any:
    """Return Cohen's kappa, (observed - expected) / (1 - expected) agreement, in [-1, 1].

    >>> float(cohen_kappa(BinaryCounts(tp=4, fp=1, fn=1, tn=4)))
    0.6
    """
    unread = c.unread + c.unread_positive
    disagreement = (
        c.predicted_positives * c.negatives + c.predicted_negatives * c.positives + unread * c.total
    )
    return divide(_agreement(c), disagreement)


def youden_j(c: BinaryCounts) -> Any:
    """Return recall + specificity - 1 (informedness), in [-1, 1].

    >>> round(float(youden_j(BinaryCounts(tp=3, fp=1, fn=1, tn=4))), 12)
    0.55
    """
    return recall(c) + specificity(c) - 1


def markedness(c: BinaryCounts) -> Any:
    """Return precision + npv - 1, in [-1, 1].

    >>> round(float(markedness(BinaryCounts(tp=3, fp=1, fn=1, tn=4))), 12)
    0.55
    """
    return precision(c) + npv(c) - 1


def g_mean(c: BinaryCounts) -> Any:
    """Return the geometric mean of recall and specificity, in [0, 1].

    >>> float(g_mean(BinaryCounts(tp=1, fp=0, fn=3, tn=4)))
    0.5
    """
    return np.sqrt(recall(c) * specificity(c))


def fowlkes_mallows(c: BinaryCounts) -> Any:
    """Return the geometric mean of precision and recall, in [0, 1].

    >>> float(fowlkes_mallows(BinaryCounts(tp=1, fp=0, fn=3, tn=4)))
    0.5
    """
    return np.sqrt(precision(c) * recall(c))


def lr_positive(c: BinaryCounts) -> Any:
    """Return recall / FPR, in [0, inf]: how much a positive prediction multiplies the odds.

    >>> float(lr_positive(BinaryCounts(tp=3, fp=1, fn=1, tn=3)))
    3.0
    """
    return divide(c.tp * c.negatives, c.fp * c.positives)


def lr_negative(c: BinaryCounts) -> Any:
    """Return FNR / specificity, in [0, inf]: how much a negative prediction multiplies the odds.

    >>> float(lr_negative(BinaryCounts(tp=3, fp=2, fn=1, tn=2)))
    0.5
    """
    return divide(c.fn * c.negatives, c.tn * c.positives)


def diagnostic_odds_ratio(c: BinaryCounts) -> Any:
    """Return (TP TN) / (FP FN), in [0, inf].

    >>> float(diagnostic_odds_ratio(BinaryCounts(tp=3, fp=1, fn=1, tn=3)))
    9.0
    """
    return divide(c.tp * c.tn, c.fp * c.fn)


def net_benefit(c: BinaryCounts) -> Any:
    """Return (TP - FP t / (1 - t)) / n at the probability threshold t, at most the prevalence.

    NaN where the threshold is not known or is not a probability below 1.

    >>> float(net_benefit(BinaryCounts(tp=3, fp=1, fn=1, tn=5, threshold=0.5)))
    0.2
    """
    t = np.asarray(c.threshold, dtype=np.float64)
    odds = divide(t, np.where((t >= 0) & (t < 1), 1 - t, np.nan))
    return divide(c.tp - c.fp * odds, c.total)


_metric = partial(
    Metric,
    task="binary",
    needs="counts",
    reads="counts",
    low=0.0,
    high=1.0,
    better="higher",
    strategy=CountDraws(),
)
_proportion = partial(_metric, strategy=Proportion())
_number = partial(_metric, high=math.inf, strategy=NoInterval(), monotone="always")

NO_POSITIVE = (lambda c: c.positives == 0, "no positive example in the truth")
NO_NEGATIVE = (lambda c: c.negatives == 0, "no negative example in the truth")
NONE_FLAGGED = (lambda c: c.predicted_positives == 0, "nothing was predicted positive")
NONE_CLEARED = (lambda c: c.predicted_negatives == 0, "nothing was predicted negative")
ONE_CLASS = (lambda c: c.positives == 0 or c.negatives == 0, "only one class occurs in the truth")
CONSTANT = (
    lambda c: c.predicted_positives == 0 or c.predicted_negatives == 0,
    "the predictions are constant",
)
CONFUSION = "scikit-learn confusion_matrix"
TIES = "The rule is score >= threshold; tools that use > differ where scores tie with the threshold."


def majority(summary: Summary) -> float:
    """Return the accuracy of always answering the more frequent class."""
    return float(no_information_rate(view(summary, "truth")))


def share(summary: Summary) -> float:
    """Return the prevalence: the precision of flagging at random."""
    return float(prevalence(view(summary, "truth")))


def constant_level(value: float) -> Callable[[Summary], float]:
    """Return the function that gives one level whatever the data."""
    return lambda _: value


COUNTS: tuple[Metric, ...] = (
    _number(
        name="tp",
        title="True positives",
        meaning="positives that are called positive",
        formula="#(truth positive, predicted positive)",
        function=lambda c: c.tp,
        source=CONFUSION,
        use="to put a rate back into numbers of cases",
        trap="with weights it is a sum of weights, not a number of rows",
    ),
    _number(
        name="fp",
        title="False positives",
        meaning="negatives that are called positive: false alarms",
        formula="#(truth negative, predicted positive)",
        better="lower",
        function=lambda c: c.fp,
        source=CONFUSION,
        use="to weigh the work that false alarms make",
        trap="grows with the number of negatives: compare rates, not counts, between data sets",
    ),
    _number(
        name="fn",
        title="False negatives",
        meaning="positives that are missed",
        formula="#(truth positive, not predicted positive)",
        better="lower",
        function=lambda c: c.fn,
        source=CONFUSION,
        use="to weigh the harm that misses do",
        trap="an answer to a positive that could not be parsed is counted here",
    ),
    _number(
        name="tn",
        title="True negatives",
        meaning="negatives that are called negative",
        formula="#(truth negative, predicted negative)",
        function=lambda c: c.tn,
        source=CONFUSION,
        use="to put specificity back into numbers of cases",
        trap="usually the largest cell: what leans on it looks good at low prevalence",
    ),
    _proportion(
        name="prevalence",
        title="Prevalence",
        meaning="share of all examples that are positive",
        formula="P / n",
        better="neither",
        needs="truth",
        reads="truth",
        function=prevalence,
        source="Altman & Bland 1994, BMJ 309:102",
        use="to read every other number: precision, accuracy and average precision move with it",
        trap="a sample enriched with positives does not have the prevalence of practice, nor its precision",
    ),
    _proportion(
        name="predicted_positive_rate",
        title="Predicted positive rate",
        meaning="share of all examples that are called positive",
        formula="(TP + FP) / n",
        better="neither",
        function=predicted_positive_rate,
        source="Provost & Fawcett 2013, Data Science for Business",
        use="when someone has to act on every positive: it is the workload",
        trap="close to the prevalence it may still be the wrong ones that are called positive",
    ),
    _proportion(
        name="accuracy",
        title="Accuracy",
        meaning="share of all answers that are right",
        formula="(TP + TN) / n",
        function=accuracy,
        monotone="always",
        no_skill=majority,
        source="scikit-learn accuracy_score",
        use="classes are about balanced and both mistakes cost the same",
        trap="at 1% prevalence, always saying no is 99% accurate: compare with the no-information rate",
    ),
    _metric(
        name="no_information_rate",
        rate=True,
        title="No-information rate",
        meaning="accuracy of always answering the more frequent class",
        formula="max(P, N) / n",
        low=0.5,
        better="neither",
        strategy=NoMethod("counts"),
        needs="truth",
        reads="truth",
        function=no_information_rate,
        source="Kuhn, caret confusionMatrix",
        use="the bar that accuracy has to pass",
        trap="describes the data, not the model",
    ),
    _proportion(
        name="precision",
        title="Precision (PPV)",
        meaning="share of positive predictions that are right",
        formula="TP / (TP + FP)",
        function=precision,
        monotone="above 0",
        undefined=because(NONE_FLAGGED),
        over="predicted_positives",
        no_skill=share,
        source="scikit-learn precision_score",
        use="acting on a false alarm is dear",
        trap="moves with prevalence, so it does not carry over to a population with another one. "
        "Where nothing is predicted positive scikit-learn returns 0; here it is undefined. " + TIES,
    ),
    _proportion(
        name="recall",
        title="Recall (sensitivity)",
        meaning="share of positives that are found",
        formula="TP / P",
        function=recall,
        monotone="always",
        undefined=because(NO_POSITIVE),
        over="positives",
        source="scikit-learn recall_score",
        use="missing a positive is dear",
        trap="calling everything positive gives 1: read it beside precision or specificity. " + TIES,
    ),
    _proportion(
        name="specificity",
        title="Specificity",
        meaning="share of negatives that are left alone",
        formula="TN / N",
        function=specificity,
        monotone="always",
        undefined=because(NO_NEGATIVE),
        over="negatives",
        source="Altman & Bland 1994, BMJ 308:1552",
        use="together with recall: neither depends on prevalence",
        trap="0.99 at a prevalence of 1% still means as many false alarms as positives",
    ),
    _proportion(
        name="npv",
        title="Negative predictive value",
        meaning="share of negative predictions that are right",
        formula="TN / (TN + FN)",
        function=npv,
        undefined=because(NONE_CLEARED),
        over="predicted_negatives",
        no_skill=lambda summary: 1 - share(summary),
        source="Altman & Bland 1994, BMJ 309:102",
        use="a negative answer is relied upon, as in ruling out a disease",
        trap="near 1 by itself when positives are rare: compare with 1 - prevalence",
    ),
    _proportion(
        name="fpr",
        title="False positive rate",
        meaning="share of negatives that are called positive",
        formula="FP / N",
        better="lower",
        function=fpr,
        monotone="always",
        undefined=because(NO_NEGATIVE),
        over="negatives",
        source="scikit-learn roc_curve",
        use="the number of false alarms per negative is limited",
        trap="not the share of alarms that are false; a small rate of many negatives is many false alarms. "
        "1 - specificity, unless answers to negatives could not be parsed",
    ),
    _proportion(
        name="fnr",
        title="False negative rate",
        meaning="share of positives that are missed",
        formula="FN / P",
        better="lower",
        function=fnr,
        monotone="always",
        undefined=because(NO_POSITIVE),
        over="positives",
        source="scikit-learn det_curve",
        use="the share of misses is limited",
        trap="1 - recall: not a second piece of evidence",
    ),
)


_binary_agreement_metric = partial(
    Metric,
    task="binary",
    needs="counts",
    reads="counts",
    low=0.0,
    high=1.0,
    better="higher",
    strategy=CountDraws(),
    monotone="always",
)


def _treat_all_or_none(summary: Summary) -> float:
    counts = view(summary, "counts")
    everyone = BinaryCounts(counts.positives, counts.negatives, 0, 0, threshold=counts.threshold)
    return max(0.0, float(net_benefit(everyone)))


AGREEMENT: tuple[Metric, ...] = (
    _binary_agreement_metric(
        name="balanced_accuracy",
        rate=True,
        title="Balanced accuracy",
        meaning="mean of recall and specificity",
        formula="(TP / P + TN / N) / 2",
        function=balanced_accuracy,
        undefined=because(ONE_CLASS),
        no_skill=constant_level(0.5),
        source="Brodersen et al. 2010, ICPR; scikit-learn balanced_accuracy_score",
        use="classes are unbalanced and both matter the same",
        trap="says nothing of how many alarms are false. "
        "With one class in the truth scikit-learn returns the recall of that class; here it is undefined",
    ),
    _binary_agreement_metric(
        name="f1",
        title="F1",
        meaning="harmonic mean of precision and recall",
        formula="2 TP / (2 TP + FP + FN)",
        function=f1,
        undefined="no positive example, and none was predicted",
        source="van Rijsbergen 1979; scikit-learn f1_score",
        use="positives are rare and false alarms and misses cost about the same",
        trap="leaves out true negatives and changes when the classes are swapped; moves with prevalence. "
        "Without a positive and a positive prediction scikit-learn returns 0; here it is undefined",
    ),
    _binary_agreement_metric(
        name="f05",
        title="F0.5",
        meaning="F-score in which precision weighs more",
        formula="1.25 TP / (1.25 TP + FP + 0.25 FN)",
        function=f05,
        undefined="no positive example, and none was predicted",
        source="van Rijsbergen 1979; scikit-learn fbeta_score(beta=0.5)",
        use="a false alarm is worse than a miss",
        trap="beta is a convention, not a cost: with known costs use cost or net benefit",
    ),
    _binary_agreement_metric(
        name="f2",
        title="F2",
        meaning="F-score in which recall weighs more",
        formula="5 TP / (5 TP + FP + 4 FN)",
        function=f2,
        undefined="no positive example, and none was predicted",
        source="van Rijsbergen 1979; scikit-learn fbeta_score(beta=2)",
        use="a miss is worse than a false alarm",
        trap="beta is a convention, not a cost: with known costs use cost or net benefit",
    ),
    _binary_agreement_metric(
        name="jaccard",
        title="Jaccard index",
        meaning="overlap of true and predicted positives",
        formula="TP / (TP + FP + FN)",
        function=jaccard,
        undefined="no positive example, and none was predicted",
        source="Jaccard 1912; scikit-learn jaccard_score",
        use="sets are compared, as in segmentation",
        trap="orders models as F1 does, at lower values: F1 = 2 J / (1 + J)",
    ),
    _binary_agreement_metric(
        name="mcc",
        title="MCC",
        meaning="correlation of truth and prediction",
        formula="(TP TN - FP FN) / sqrt((TP + FP) P N (TN + FN))",
        low=-1.0,
        function=mcc,
        monotone="above 0",
        undefined=because(ONE_CLASS, CONSTANT),
        no_skill=constant_level(0.0),
        source="Matthews 1975; Gorodkin 2004; scikit-learn matthews_corrcoef",
        use="one number for all four cells at the operating point",
        trap="of constant predictions it is 0/0: undefined here, 0 in scikit-learn. It moves with prevalence",
    ),
    _binary_agreement_metric(
        name="cohen_kappa",
        title="Cohen's kappa",
        meaning="agreement beyond what the two marginals give by chance",
        formula="(accuracy - expected) / (1 - expected)",
        low=-1.0,
        function=cohen_kappa,
        undefined="truth and predictions are constant and equal: chance alone agrees",
        no_skill=constant_level(0.0),
        source="Cohen 1960; scikit-learn cohen_kappa_score",
        use="the model is compared with human raters",
        trap="moves with prevalence and with bias; 0 of constant predictions while MCC is undefined there, "
        "and 0/0 itself when truth is constant too",
    ),
    _binary_agreement_metric(
        name="youden_j",
        title="Youden's J (informedness)",
        meaning="recall plus specificity minus 1",
        formula="TP / P + TN / N - 1",
        low=-1.0,
        function=youden_j,
        undefined=because(ONE_CLASS),
        no_skill=constant_level(0.0),
        source="Youden 1950, Cancer 3:32",
        use="choosing a threshold where both errors per class count the same",
        trap="its best threshold ignores prevalence and costs",
    ),
    _binary_agreement_metric(
        name="markedness",
        title="Markedness",
        meaning="precision plus negative predictive value minus 1",
        formula="TP / (TP + FP) + TN / (TN + FN) - 1",
        low=-1.0,
        function=markedness,
        monotone="above 0",
        undefined=because(NONE_FLAGGED, NONE_CLEARED),
        no_skill=constant_level(0.0),
        source="Powers 2011, J. Machine Learning Technologies 2:37",
        use="how far both kinds of answer can be trusted",
        trap="moves with prevalence",
    ),
    _binary_agreement_metric(
        name="g_mean",
        title="Geometric mean",
        meaning="geometric mean of recall and specificity",
        formula="sqrt(TP / P * TN / N)",
        function=g_mean,
        undefined=because(ONE_CLASS),
        source="Kubat & Matwin 1997, ICML; imbalanced-learn geometric_mean_score",
        use="both classes must be served: one at 0 makes it 0",
        trap="not the Fowlkes-Mallows index, which some call G-measure",
    ),
    _binary_agreement_metric(
        name="fowlkes_mallows",
        title="Fowlkes-Mallows index",
        meaning="geometric mean of precision and recall",
        formula="sqrt(TP / (TP + FP) * TP / P)",
        function=fowlkes_mallows,
        monotone="above 0",
        undefined=because(NO_POSITIVE, NONE_FLAGGED),
        source="Fowlkes & Mallows 1983, JASA 78:553",
        use="as F1, with a milder penalty where precision and recall differ",
        trap="of two labellings; scikit-learn's function of this name compares clusterings",
    ),
    _binary_agreement_metric(
        name="lr_positive",
        title="Positive likelihood ratio",
        meaning="factor by which a positive prediction multiplies the odds of being positive",
        formula="recall / FPR",
        high=math.inf,
        function=lr_positive,
        monotone=None,
        undefined=because(ONE_CLASS, (lambda c: c.fp == 0, "there is no false positive: no finite ratio")),
        no_skill=constant_level(1.0),
        source="Deeks & Altman 2004, BMJ 329:168; scikit-learn class_likelihood_ratios",
        use="to go from the odds before to the odds after a positive answer, at any prevalence",
        trap="rests on the number of false positives alone when they are few",
    ),
    _binary_agreement_metric(
        name="lr_negative",
        title="Negative likelihood ratio",
        meaning="factor by which a negative prediction multiplies the odds of being positive",
        formula="FNR / specificity",
        high=math.inf,
        better="lower",
        function=lr_negative,
        monotone=None,
        undefined=because(ONE_CLASS, (lambda c: c.tn == 0, "there is no true negative: no finite ratio")),
        no_skill=constant_level(1.0),
        source="Deeks & Altman 2004, BMJ 329:168; scikit-learn class_likelihood_ratios",
        use="to go from the odds before to the odds after a negative answer, at any prevalence",
        trap="rests on the number of misses alone when they are few",
    ),
    _binary_agreement_metric(
        name="diagnostic_odds_ratio",
        title="Diagnostic odds ratio",
        meaning="odds of a positive prediction among positives over those among negatives",
        formula="(TP TN) / (FP FN)",
        high=math.inf,
        function=diagnostic_odds_ratio,
        monotone=None,
        undefined=because(
            ONE_CLASS,
            (lambda c: c.fp == 0 or c.fn == 0, "there is no false positive or no miss: no finite ratio"),
        ),
        no_skill=constant_level(1.0),
        source="Glas et al. 2003, J. Clinical Epidemiology 56:1129",
        use="meta-analysis of tests",
        trap="one value stands for very different pairs of recall and specificity",
    ),
    _binary_agreement_metric(
        name="net_benefit",
        title="Net benefit",
        meaning="true positives per case, less the false ones at the threshold's exchange rate",
        formula="TP / n - FP / n * t / (1 - t)",
        needs="probabilities",
        low=-math.inf,
        function=net_benefit,
        monotone=None,
        undefined="the predictions follow no known threshold below 1 on the probability",
        no_skill=_treat_all_or_none,
        source="Vickers & Elkin 2006, Medical Decision Making 26:565",
        use="the threshold states how many false alarms one found case is worth",
        trap="means nothing at a threshold that was not chosen for its costs. "
        "Compare it with treating all and treating none",
    ),
)
