"""Records of the binary count metrics."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from evalreport.facts import Summary
from evalreport.metrics import binary_counts as count
from evalreport.metrics.record import Metric, because, view
from evalreport.metrics.strategies import CountDraws, MostFrequent, NoInterval, Proportion

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
NONE_FLAGGED = (lambda c: c.flagged == 0, "nothing was predicted positive")
NONE_CLEARED = (lambda c: c.cleared == 0, "nothing was predicted negative")
ONE_CLASS = (lambda c: c.positives == 0 or c.negatives == 0, "only one class occurs in the truth")
CONSTANT = (lambda c: c.flagged == 0 or c.cleared == 0, "the predictions are constant")
CONFUSION = "scikit-learn confusion_matrix"
TIES = "The rule is score >= threshold; tools that use > differ where scores tie with the threshold."


def majority(summary: Summary) -> float:
    """Return the accuracy of always answering the more frequent class."""
    return float(count.no_information_rate(view(summary, "truth")))


def share(summary: Summary) -> float:
    """Return the prevalence: the precision of flagging at random."""
    return float(count.prevalence(view(summary, "truth")))


def always(value: float) -> Callable[[Summary], float]:
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
        function=count.prevalence,
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
        function=count.predicted_positive_rate,
        source="Provost & Fawcett 2013, Data Science for Business",
        use="when someone has to act on every positive: it is the workload",
        trap="close to the prevalence it may still be the wrong ones that are called positive",
    ),
    _proportion(
        name="accuracy",
        title="Accuracy",
        meaning="share of all answers that are right",
        formula="(TP + TN) / n",
        function=count.accuracy,
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
        strategy=MostFrequent(),
        needs="truth",
        reads="truth",
        function=count.no_information_rate,
        source="Kuhn, caret confusionMatrix",
        use="the bar that accuracy has to pass",
        trap="describes the data, not the model",
    ),
    _metric(
        name="accuracy_gain",
        rate=True,
        title="Accuracy gain",
        meaning="accuracy above that of always answering the more frequent class",
        formula="accuracy - no_information_rate",
        low=-1.0,
        high=0.5,
        strategy=MostFrequent(gain=True),
        function=count.accuracy_gain,
        monotone="always",
        no_skill=always(0.0),
        source="Kuhn, caret confusionMatrix",
        use="to see at once whether accuracy means anything here",
        trap="a useful model of a rare class can have a gain below 0: look at recall and precision",
    ),
    _proportion(
        name="precision",
        title="Precision (PPV)",
        meaning="share of positive predictions that are right",
        formula="TP / (TP + FP)",
        function=count.precision,
        monotone="above 0",
        undefined=because(NONE_FLAGGED),
        over="flagged",
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
        function=count.recall,
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
        function=count.specificity,
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
        function=count.npv,
        undefined=because(NONE_CLEARED),
        over="cleared",
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
        function=count.fpr,
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
        function=count.fnr,
        monotone="always",
        undefined=because(NO_POSITIVE),
        over="positives",
        source="scikit-learn det_curve",
        use="the share of misses is limited",
        trap="1 - recall: not a second piece of evidence",
    ),
)
