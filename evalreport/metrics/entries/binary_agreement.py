"""Records of the binary count metrics that weigh several cells against each other."""

from __future__ import annotations

import math
from functools import partial

from evalreport.facts import BinaryCounts, Summary
from evalreport.metrics import binary_counts as count
from evalreport.metrics.entries.binary_counts import (
    CONSTANT,
    NO_POSITIVE,
    NONE_CLEARED,
    NONE_FLAGGED,
    ONE_CLASS,
    always,
)
from evalreport.metrics.record import Metric, because, view
from evalreport.metrics.strategies import CountDraws

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


def _treat_all_or_none(summary: Summary) -> float:
    counts = view(summary, "counts")
    everyone = BinaryCounts(counts.positives, counts.negatives, 0, 0, threshold=counts.threshold)
    return max(0.0, float(count.net_benefit(everyone)))


AGREEMENT: tuple[Metric, ...] = (
    _metric(
        name="balanced_accuracy",
        rate=True,
        title="Balanced accuracy",
        meaning="mean of recall and specificity",
        formula="(TP / P + TN / N) / 2",
        function=count.balanced_accuracy,
        undefined=because(ONE_CLASS),
        no_skill=always(0.5),
        source="Brodersen et al. 2010, ICPR; scikit-learn balanced_accuracy_score",
        use="classes are unbalanced and both matter the same",
        trap="says nothing of how many alarms are false. "
        "With one class in the truth scikit-learn returns the recall of that class; here it is undefined",
    ),
    _metric(
        name="f1",
        title="F1",
        meaning="harmonic mean of precision and recall",
        formula="2 TP / (2 TP + FP + FN)",
        function=count.f1,
        undefined="no positive example, and none was predicted",
        source="van Rijsbergen 1979; scikit-learn f1_score",
        use="positives are rare and false alarms and misses cost about the same",
        trap="leaves out true negatives and changes when the classes are swapped; moves with prevalence. "
        "Without a positive and a positive prediction scikit-learn returns 0; here it is undefined",
    ),
    _metric(
        name="f05",
        title="F0.5",
        meaning="F-score in which precision weighs more",
        formula="1.25 TP / (1.25 TP + FP + 0.25 FN)",
        function=count.f05,
        undefined="no positive example, and none was predicted",
        source="van Rijsbergen 1979; scikit-learn fbeta_score(beta=0.5)",
        use="a false alarm is worse than a miss",
        trap="beta is a convention, not a cost: with known costs use cost or net benefit",
    ),
    _metric(
        name="f2",
        title="F2",
        meaning="F-score in which recall weighs more",
        formula="5 TP / (5 TP + FP + 4 FN)",
        function=count.f2,
        undefined="no positive example, and none was predicted",
        source="van Rijsbergen 1979; scikit-learn fbeta_score(beta=2)",
        use="a miss is worse than a false alarm",
        trap="beta is a convention, not a cost: with known costs use cost or net benefit",
    ),
    _metric(
        name="jaccard",
        title="Jaccard index",
        meaning="overlap of true and predicted positives",
        formula="TP / (TP + FP + FN)",
        function=count.jaccard,
        undefined="no positive example, and none was predicted",
        source="Jaccard 1912; scikit-learn jaccard_score",
        use="sets are compared, as in segmentation",
        trap="orders models as F1 does, at lower values: F1 = 2 J / (1 + J)",
    ),
    _metric(
        name="mcc",
        title="MCC",
        meaning="correlation of truth and prediction",
        formula="(TP TN - FP FN) / sqrt((TP + FP) P N (TN + FN))",
        low=-1.0,
        function=count.mcc,
        undefined=because(ONE_CLASS, CONSTANT),
        no_skill=always(0.0),
        source="Matthews 1975; Gorodkin 2004; scikit-learn matthews_corrcoef",
        use="one number for all four cells at the operating point",
        trap="of constant predictions it is 0/0: undefined here, 0 in scikit-learn. It moves with prevalence",
    ),
    _metric(
        name="cohen_kappa",
        title="Cohen's kappa",
        meaning="agreement beyond what the two marginals give by chance",
        formula="(accuracy - expected) / (1 - expected)",
        low=-1.0,
        function=count.cohen_kappa,
        undefined="truth and predictions are constant and equal: chance alone agrees",
        no_skill=always(0.0),
        source="Cohen 1960; scikit-learn cohen_kappa_score",
        use="the model is compared with human raters",
        trap="moves with prevalence and with bias; 0 of constant predictions while MCC is undefined there, "
        "and 0/0 itself when truth is constant too",
    ),
    _metric(
        name="youden_j",
        title="Youden's J (informedness)",
        meaning="recall plus specificity minus 1",
        formula="TP / P + TN / N - 1",
        low=-1.0,
        function=count.youden_j,
        undefined=because(ONE_CLASS),
        no_skill=always(0.0),
        source="Youden 1950, Cancer 3:32",
        use="choosing a threshold where both errors per class count the same",
        trap="its best threshold ignores prevalence and costs",
    ),
    _metric(
        name="markedness",
        title="Markedness",
        meaning="precision plus negative predictive value minus 1",
        formula="TP / (TP + FP) + TN / (TN + FN) - 1",
        low=-1.0,
        function=count.markedness,
        undefined=because(NONE_FLAGGED, NONE_CLEARED),
        no_skill=always(0.0),
        source="Powers 2011, J. Machine Learning Technologies 2:37",
        use="how far both kinds of answer can be trusted",
        trap="moves with prevalence",
    ),
    _metric(
        name="g_mean",
        title="Geometric mean",
        meaning="geometric mean of recall and specificity",
        formula="sqrt(TP / P * TN / N)",
        function=count.g_mean,
        undefined=because(ONE_CLASS),
        source="Kubat & Matwin 1997, ICML; imbalanced-learn geometric_mean_score",
        use="both classes must be served: one at 0 makes it 0",
        trap="not the Fowlkes-Mallows index, which some call G-measure",
    ),
    _metric(
        name="fowlkes_mallows",
        title="Fowlkes-Mallows index",
        meaning="geometric mean of precision and recall",
        formula="sqrt(TP / (TP + FP) * TP / P)",
        function=count.fowlkes_mallows,
        undefined=because(NO_POSITIVE, NONE_FLAGGED),
        source="Fowlkes & Mallows 1983, JASA 78:553",
        use="as F1, with a milder penalty where precision and recall differ",
        trap="of two labellings; scikit-learn's function of this name compares clusterings",
    ),
    _metric(
        name="lr_positive",
        title="Positive likelihood ratio",
        meaning="factor by which a positive prediction multiplies the odds of being positive",
        formula="recall / FPR",
        high=math.inf,
        function=count.lr_positive,
        undefined=because(ONE_CLASS, (lambda c: c.fp == 0, "there is no false positive: no finite ratio")),
        no_skill=always(1.0),
        source="Deeks & Altman 2004, BMJ 329:168; scikit-learn class_likelihood_ratios",
        use="to go from the odds before to the odds after a positive answer, at any prevalence",
        trap="rests on the number of false positives alone when they are few",
    ),
    _metric(
        name="lr_negative",
        title="Negative likelihood ratio",
        meaning="factor by which a negative prediction multiplies the odds of being positive",
        formula="FNR / specificity",
        high=math.inf,
        better="lower",
        function=count.lr_negative,
        undefined=because(ONE_CLASS, (lambda c: c.tn == 0, "there is no true negative: no finite ratio")),
        no_skill=always(1.0),
        source="Deeks & Altman 2004, BMJ 329:168; scikit-learn class_likelihood_ratios",
        use="to go from the odds before to the odds after a negative answer, at any prevalence",
        trap="rests on the number of misses alone when they are few",
    ),
    _metric(
        name="diagnostic_odds_ratio",
        title="Diagnostic odds ratio",
        meaning="odds of a positive prediction among positives over those among negatives",
        formula="(TP TN) / (FP FN)",
        high=math.inf,
        function=count.diagnostic_odds_ratio,
        undefined=because(
            ONE_CLASS,
            (lambda c: c.fp == 0 or c.fn == 0, "there is no false positive or no miss: no finite ratio"),
        ),
        no_skill=always(1.0),
        source="Glas et al. 2003, J. Clinical Epidemiology 56:1129",
        use="meta-analysis of tests",
        trap="one value stands for very different pairs of recall and specificity",
    ),
    _metric(
        name="net_benefit",
        title="Net benefit",
        meaning="true positives per case, less the false ones at the threshold's exchange rate",
        formula="TP / n - FP / n * t / (1 - t)",
        needs="probabilities",
        low=-math.inf,
        function=count.net_benefit,
        undefined="the predictions follow no known threshold below 1 on the probability",
        no_skill=_treat_all_or_none,
        source="Vickers & Elkin 2006, Medical Decision Making 26:565",
        use="the threshold states how many false alarms one found case is worth",
        trap="means nothing at a threshold that was not chosen for its costs. "
        "Compare it with treating all and treating none",
    ),
)
