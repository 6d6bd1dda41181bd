"""Functions of the four counts at an operating point.

Each takes `BinaryCounts` whose fields are numbers or float64 arrays of one shape and returns that shape:
a single operating point, every threshold of a sweep, one-vs-rest labels or bootstrap replicates.
A value is NaN if the quantity is 0/0, and infinite if only the denominator is 0. An unparsed prediction is
wrong: it counts in the total and among the positives or negatives, by its true label, and in no other count.

Records of the binary count metrics.

Records of the binary count metrics that combine several cells.
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
    """Return the counts of a population with another prevalence, with the same recall and FPR.

    The total is 1. Counts are NaN or infinite if one class has no examples.

    >>> there = reweight_to_prevalence(BinaryCounts(tp=3, fp=1, fn=1, tn=4), 0.1)
    >>> [round(float(part), 3) for part in (there.tp, there.fp, there.fn, there.tn)]
    [0.075, 0.18, 0.025, 0.72]
    """
    up, down = divide(share, c.positives), divide(1 - share, c.negatives)
    with np.errstate(invalid="ignore"):
        read = (c.tp * up, c.fp * down, c.fn * up, c.tn * down)
        return BinaryCounts(*read, c.unread * down, c.threshold, c.unread_positive * up)


def prevalence(c: BinaryCounts | ScoreTable) -> Any:
    """Return the fraction of all rows that are positive, P / n, in [0, 1].

    >>> float(prevalence(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.4
    """
    return divide(c.positives, c.total)


def predicted_positive_rate(c: BinaryCounts) -> Any:
    """Return the fraction of all rows that are predicted positive, (TP + FP) / n, in [0, 1].

    >>> float(predicted_positive_rate(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.4
    """
    return divide(c.predicted_positives, c.total)


def accuracy(c: BinaryCounts) -> Any:
    """Return the fraction of correct predictions, (TP + TN) / n, in [0, 1].

    >>> float(accuracy(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.8
    """
    return divide(c.tp + c.tn, c.total)


def no_information_rate(c: BinaryCounts | ScoreTable) -> Any:
    """Return the accuracy of always predicting the more frequent class, max(P, N) / n, in [0.5, 1].

    >>> float(no_information_rate(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.6
    """
    return divide(np.maximum(c.positives, c.negatives), c.total)


def precision(c: BinaryCounts) -> Any:
    """Return the fraction of predicted positives that are positive, TP / (TP + FP), in [0, 1].

    >>> float(precision(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.75
    """
    return divide(c.tp, c.predicted_positives)


def recall(c: BinaryCounts) -> Any:
    """Return the fraction of positives that are predicted positive, TP / P, in [0, 1].

    >>> float(recall(BinaryCounts(tp=3, fp=1, fn=1, tn=5)))
    0.75
    """
    return divide(c.tp, c.positives)


def specificity(c: BinaryCounts) -> Any:
    """Return the fraction of negatives that are predicted negative, TN / N, in [0, 1].

    >>> float(specificity(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.8
    """
    return divide(c.tn, c.negatives)


def npv(c: BinaryCounts) -> Any:
    """Return the fraction of predicted negatives that are negative, TN / (TN + FN), in [0, 1].

    >>> float(npv(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.8
    """
    return divide(c.tn, c.predicted_negatives)


def fpr(c: BinaryCounts) -> Any:
    """Return the fraction of negatives that are predicted positive, FP / N, in [0, 1].

    >>> float(fpr(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.2
    """
    return divide(c.fp, c.negatives)


def fnr(c: BinaryCounts) -> Any:
    """Return the fraction of positives that are missed, FN / P, in [0, 1].

    >>> float(fnr(BinaryCounts(tp=3, fp=1, fn=1, tn=4)))
    0.25
    """
    return divide(c.fn, c.positives)


def balanced_accuracy(c: BinaryCounts) -> Any:
    """Return the mean of recall and specificity, in [0, 1]; NaN if one class has no examples.

    >>> float(balanced_accuracy(BinaryCounts(tp=3, fp=1, fn=1, tn=1)))
    0.625
    """
    return (recall(c) + specificity(c)) / 2


def f_beta(c: BinaryCounts, beta: float) -> Any:
    """Return the weighted harmonic mean of precision and recall, in [0, 1]; recall has weight beta².

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
    """Return F with beta = 0.5 (more weight on precision), in [0, 1].

    >>> float(f05(BinaryCounts(tp=1, fp=0, fn=1, tn=5)))
    0.8333333333333334
    """
    return f_beta(c, 0.5)


def f2(c: BinaryCounts) -> Any:
    """Return F with beta = 2 (more weight on recall), in [0, 1].

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
    """n times the correct predictions beyond chance agreement: the numerator of MCC and kappa.

    The textbook form with n² loses precision for rare classes; this form avoids it.
    """
    missed = c.fn - c.unread_positive
    return c.negatives * (c.tp - missed) + c.positives * (c.tn - c.fp)


def mcc(c: BinaryCounts) -> Any:
    """Return the Matthews correlation of labels and predictions, in [-1, 1]; NaN if either is constant.

    With unparsed predictions: Gorodkin's (2004) form, in which they are a separate predicted category.

    >>> float(mcc(BinaryCounts(tp=4, fp=1, fn=1, tn=4)))
    0.6
    """
    unparsed = c.unread + c.unread_positive
    predicted = c.predicted_positives * c.predicted_negatives + unparsed * (
        c.predicted_positives + c.predicted_negatives
    )
    return divide(_agreement(c), 2 * np.sqrt(predicted * (c.positives * c.negatives)))


def cohen_kappa(c: BinaryCounts) -> Any:
    """Return Cohen's kappa, (observed - expected) / (1 - expected) agreement, in [-1, 1].

    >>> float(cohen_kappa(BinaryCounts(tp=4, fp=1, fn=1, tn=4)))
    0.6
    """
    unparsed = c.unread + c.unread_positive
    disagreement = (
        c.predicted_positives * c.negatives + c.predicted_negatives * c.positives + unparsed * c.total
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

    NaN if the threshold is unknown or is not a probability below 1.

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

NO_POSITIVE = (lambda c: c.positives == 0, "no positive examples among the true labels")
NO_NEGATIVE = (lambda c: c.negatives == 0, "no negative examples among the true labels")
NONE_FLAGGED = (lambda c: c.predicted_positives == 0, "nothing was predicted positive")
NONE_CLEARED = (lambda c: c.predicted_negatives == 0, "nothing was predicted negative")
ONE_CLASS = (lambda c: c.positives == 0 or c.negatives == 0, "only one class occurs among the true labels")
CONSTANT = (
    lambda c: c.predicted_positives == 0 or c.predicted_negatives == 0,
    "the predictions are constant",
)
CONFUSION = "scikit-learn confusion_matrix"
TIES = "The rule is score >= threshold; tools that use > differ if scores equal the threshold."


def majority(summary: Summary) -> float:
    """Return the accuracy of always predicting the more frequent class."""
    return float(no_information_rate(view(summary, "truth")))


def share(summary: Summary) -> float:
    """Return the prevalence: the precision of flagging at random."""
    return float(prevalence(view(summary, "truth")))


def constant_level(value: float) -> Callable[[Summary], float]:
    """Return a function that returns the same level for all data."""
    return lambda _: value


COUNTS: tuple[Metric, ...] = (
    _number(
        name="tp",
        title="True positives",
        meaning="positives that are predicted positive",
        formula="#(truth positive, predicted positive)",
        function=lambda c: c.tp,
        source=CONFUSION,
        use="to convert a rate back into a number of cases",
        trap="with weights, this is a sum of weights, not a number of rows",
    ),
    _number(
        name="fp",
        title="False positives",
        meaning="negatives that are predicted positive",
        formula="#(truth negative, predicted positive)",
        better="lower",
        function=lambda c: c.fp,
        source=CONFUSION,
        use="to estimate the work that false positives cause",
        trap="grows with the number of negatives: compare rates, not counts, between data sets",
    ),
    _number(
        name="fn",
        title="False negatives",
        meaning="positives that are not predicted positive",
        formula="#(truth positive, not predicted positive)",
        better="lower",
        function=lambda c: c.fn,
        source=CONFUSION,
        use="to estimate the harm that missed positives cause",
        trap="includes positives with an unparsed prediction",
    ),
    _number(
        name="tn",
        title="True negatives",
        meaning="negatives that are predicted negative",
        formula="#(truth negative, predicted negative)",
        function=lambda c: c.tn,
        source=CONFUSION,
        use="to convert specificity back into a number of cases",
        trap="usually the largest cell: metrics that depend on it look good at low prevalence",
    ),
    _proportion(
        name="prevalence",
        title="Prevalence",
        meaning="fraction of all examples that are positive",
        formula="P / n",
        better="neither",
        needs="truth",
        reads="truth",
        function=prevalence,
        source="Altman & Bland 1994, BMJ 309:102",
        use="to interpret the other metrics: precision, accuracy and average precision depend on it",
        trap="a sample enriched with positives has a higher prevalence, and a higher precision, than "
        "production data",
    ),
    _proportion(
        name="predicted_positive_rate",
        title="Predicted positive rate",
        meaning="fraction of all examples that are predicted positive",
        formula="(TP + FP) / n",
        better="neither",
        function=predicted_positive_rate,
        source="Provost & Fawcett 2013, Data Science for Business",
        use="someone has to act on every predicted positive: this is the workload",
        trap="a rate close to the prevalence does not show that the right examples are predicted positive",
    ),
    _proportion(
        name="accuracy",
        title="Accuracy",
        meaning="fraction of all predictions that are correct",
        formula="(TP + TN) / n",
        function=accuracy,
        monotone="always",
        no_skill=majority,
        source="scikit-learn accuracy_score",
        use="classes are about balanced and both kinds of error cost the same",
        trap="at 1% prevalence, always predicting negative is 99% accurate: compare with the no-information "
        "rate",
    ),
    _metric(
        name="no_information_rate",
        rate=True,
        title="No-information rate",
        meaning="accuracy of always predicting the more frequent class",
        formula="max(P, N) / n",
        low=0.5,
        better="neither",
        strategy=NoMethod("counts"),
        needs="truth",
        reads="truth",
        function=no_information_rate,
        source="Kuhn, caret confusionMatrix",
        use="as the baseline for accuracy",
        trap="describes the data, not the model",
    ),
    _proportion(
        name="precision",
        title="Precision (PPV)",
        meaning="fraction of predicted positives that are positive",
        formula="TP / (TP + FP)",
        function=precision,
        monotone="above 0",
        undefined=because(NONE_FLAGGED),
        over="predicted_positives",
        no_skill=share,
        source="scikit-learn precision_score",
        use="a false positive is expensive",
        trap="depends on prevalence, so it does not transfer to a population with another prevalence. "
        "If nothing is predicted positive, scikit-learn returns 0; here it is undefined. " + TIES,
    ),
    _proportion(
        name="recall",
        title="Recall (sensitivity)",
        meaning="fraction of positives that are predicted positive",
        formula="TP / P",
        function=recall,
        monotone="always",
        undefined=because(NO_POSITIVE),
        over="positives",
        source="scikit-learn recall_score",
        use="a missed positive is expensive",
        trap="predicting everything positive gives 1: read it together with precision or specificity. "
        + TIES,
    ),
    _proportion(
        name="specificity",
        title="Specificity",
        meaning="fraction of negatives that are predicted negative",
        formula="TN / N",
        function=specificity,
        monotone="always",
        undefined=because(NO_NEGATIVE),
        over="negatives",
        source="Altman & Bland 1994, BMJ 308:1552",
        use="together with recall: neither depends on prevalence",
        trap="0.99 at a prevalence of 1% still means about as many false positives as positives",
    ),
    _proportion(
        name="npv",
        title="Negative predictive value",
        meaning="fraction of predicted negatives that are negative",
        formula="TN / (TN + FN)",
        function=npv,
        undefined=because(NONE_CLEARED),
        over="predicted_negatives",
        no_skill=lambda summary: 1 - share(summary),
        source="Altman & Bland 1994, BMJ 309:102",
        use="people rely on negative predictions, for example to rule out a disease",
        trap="close to 1 for any model when positives are rare: compare with 1 - prevalence",
    ),
    _proportion(
        name="fpr",
        title="False positive rate",
        meaning="fraction of negatives that are predicted positive",
        formula="FP / N",
        better="lower",
        function=fpr,
        monotone="always",
        undefined=because(NO_NEGATIVE),
        over="negatives",
        source="scikit-learn roc_curve",
        use="the number of false positives per negative is limited",
        trap="not the fraction of predicted positives that are false. A small rate of many negatives is many"
        " false positives. Equals 1 - specificity if all predictions of negatives were parsed",
    ),
    _proportion(
        name="fnr",
        title="False negative rate",
        meaning="fraction of positives that are not predicted positive",
        formula="FN / P",
        better="lower",
        function=fnr,
        monotone="always",
        undefined=because(NO_POSITIVE),
        over="positives",
        source="scikit-learn det_curve",
        use="the fraction of missed positives is limited",
        trap="equals 1 - recall, so it adds no information to recall",
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
        use="classes are imbalanced and both matter equally",
        trap="does not show what fraction of predicted positives is false. If only one class occurs among "
        "the true labels, scikit-learn returns the recall of that class; here it is undefined",
    ),
    _binary_agreement_metric(
        name="f1",
        title="F1",
        meaning="harmonic mean of precision and recall",
        formula="2 TP / (2 TP + FP + FN)",
        function=f1,
        undefined="no positive examples and no predicted positives",
        source="van Rijsbergen 1979; scikit-learn f1_score",
        use="positives are rare, and false positives and false negatives cost about the same",
        trap="ignores true negatives and changes when the classes are swapped. Depends on prevalence. "
        "Without positives and predicted positives, scikit-learn returns 0; here it is undefined",
    ),
    _binary_agreement_metric(
        name="f05",
        title="F0.5",
        meaning="F-score that weights precision more than recall",
        formula="1.25 TP / (1.25 TP + FP + 0.25 FN)",
        function=f05,
        undefined="no positive examples and no predicted positives",
        source="van Rijsbergen 1979; scikit-learn fbeta_score(beta=0.5)",
        use="a false positive is worse than a false negative",
        trap="beta is a convention, not a cost: if costs are known, use cost or net benefit",
    ),
    _binary_agreement_metric(
        name="f2",
        title="F2",
        meaning="F-score that weights recall more than precision",
        formula="5 TP / (5 TP + FP + 4 FN)",
        function=f2,
        undefined="no positive examples and no predicted positives",
        source="van Rijsbergen 1979; scikit-learn fbeta_score(beta=2)",
        use="a false negative is worse than a false positive",
        trap="beta is a convention, not a cost: if costs are known, use cost or net benefit",
    ),
    _binary_agreement_metric(
        name="jaccard",
        title="Jaccard index",
        meaning="overlap of true and predicted positives",
        formula="TP / (TP + FP + FN)",
        function=jaccard,
        undefined="no positive examples and no predicted positives",
        source="Jaccard 1912; scikit-learn jaccard_score",
        use="to compare sets, for example in segmentation",
        trap="ranks models in the same order as F1, at lower values: F1 = 2 J / (1 + J)",
    ),
    _binary_agreement_metric(
        name="mcc",
        title="MCC",
        meaning="correlation of true labels and predictions",
        formula="(TP TN - FP FN) / sqrt((TP + FP) P N (TN + FN))",
        low=-1.0,
        function=mcc,
        monotone="above 0",
        undefined=because(ONE_CLASS, CONSTANT),
        no_skill=constant_level(0.0),
        source="Matthews 1975; Gorodkin 2004; scikit-learn matthews_corrcoef",
        use="to summarize all four cells at the operating point in one number",
        trap="0/0 for constant predictions: undefined here, 0 in scikit-learn. Depends on prevalence",
    ),
    _binary_agreement_metric(
        name="cohen_kappa",
        title="Cohen's kappa",
        meaning="agreement beyond the chance agreement of the two marginals",
        formula="(accuracy - expected) / (1 - expected)",
        low=-1.0,
        function=cohen_kappa,
        undefined="true labels and predictions are constant and equal, so chance agreement is 1",
        no_skill=constant_level(0.0),
        source="Cohen 1960; scikit-learn cohen_kappa_score",
        use="to compare the model with human raters",
        trap="depends on prevalence and on bias. 0 for constant predictions (MCC is undefined there), and "
        "0/0 if the true labels are constant and equal, too",
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
        use="to choose a threshold when recall and specificity matter equally",
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
        use="to measure how reliable positive and negative predictions are",
        trap="depends on prevalence",
    ),
    _binary_agreement_metric(
        name="g_mean",
        title="Geometric mean",
        meaning="geometric mean of recall and specificity",
        formula="sqrt(TP / P * TN / N)",
        function=g_mean,
        undefined=because(ONE_CLASS),
        source="Kubat & Matwin 1997, ICML; imbalanced-learn geometric_mean_score",
        use="both classes matter: a rate of 0 for one class makes it 0",
        trap="not the Fowlkes-Mallows index, which some authors call G-measure",
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
        use="like F1, with a smaller penalty if precision and recall differ",
        trap="compares labels with predictions; the scikit-learn function of this name compares clusterings",
    ),
    _binary_agreement_metric(
        name="lr_positive",
        title="Positive likelihood ratio",
        meaning="factor by which a positive prediction multiplies the odds of being positive",
        formula="recall / FPR",
        high=math.inf,
        function=lr_positive,
        monotone=None,
        undefined=because(ONE_CLASS, (lambda c: c.fp == 0, "no false positives: the ratio is not finite")),
        no_skill=constant_level(1.0),
        source="Deeks & Altman 2004, BMJ 329:168; scikit-learn class_likelihood_ratios",
        use="to convert prior odds into the odds after a positive prediction, at any prevalence",
        trap="depends almost entirely on the number of false positives if they are few",
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
        undefined=because(ONE_CLASS, (lambda c: c.tn == 0, "no true negatives: the ratio is not finite")),
        no_skill=constant_level(1.0),
        source="Deeks & Altman 2004, BMJ 329:168; scikit-learn class_likelihood_ratios",
        use="to convert prior odds into the odds after a negative prediction, at any prevalence",
        trap="depends almost entirely on the number of false negatives if they are few",
    ),
    _binary_agreement_metric(
        name="diagnostic_odds_ratio",
        title="Diagnostic odds ratio",
        meaning="odds of a positive prediction among positives, divided by the odds among negatives",
        formula="(TP TN) / (FP FN)",
        high=math.inf,
        function=diagnostic_odds_ratio,
        monotone=None,
        undefined=because(
            ONE_CLASS,
            (
                lambda c: c.fp == 0 or c.fn == 0,
                "no false positives or no false negatives: the ratio is not finite",
            ),
        ),
        no_skill=constant_level(1.0),
        source="Glas et al. 2003, J. Clinical Epidemiology 56:1129",
        use="meta-analysis of diagnostic tests",
        trap="very different pairs of recall and specificity give the same value",
    ),
    _binary_agreement_metric(
        name="net_benefit",
        title="Net benefit",
        meaning="true positives per case minus false positives per case times the odds of the threshold",
        formula="TP / n - FP / n * t / (1 - t)",
        needs="probabilities",
        low=-math.inf,
        function=net_benefit,
        monotone=None,
        undefined="the predictions do not use a known probability threshold below 1",
        no_skill=_treat_all_or_none,
        source="Vickers & Elkin 2006, Medical Decision Making 26:565",
        use="the threshold expresses how many false positives one true positive is worth",
        trap="not meaningful at a threshold that was not chosen from costs. Compare it with treating all and"
        " treating none",
    ),
)
