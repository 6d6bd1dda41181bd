"""Records of the multiclass metrics of scores and probabilities."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from evalreport.facts import ClassScores, Summary
from evalreport.metrics import binary_probability, multiclass
from evalreport.metrics.averages import AreaAverage, Mean
from evalreport.metrics.entries.binary_counts import always
from evalreport.metrics.entries.binary_probability import BINS
from evalreport.metrics.record import Metric, view
from evalreport.metrics.strategies import CalibrationGaps, ClassGaps, LabelAreas, RowMean

_probability = partial(
    Metric,
    task="multiclass",
    needs="probabilities",
    low=0.0,
    better="lower",
)
_ranking = partial(
    Metric,
    task="multiclass",
    needs="scores",
    reads="scores",
    low=0.0,
    high=1.0,
    better="higher",
    strategy=LabelAreas(),
)


def _entropy(summary: Summary) -> float:
    return float(np.log(multiclass.effective_labels_true(view(summary, "counts"))))


def _variance(summary: Summary) -> float:
    share = view(summary, "counts").support / summary.weight
    return float(1 - share @ share)


def missing(scores: ClassScores) -> str:
    """Say why an average of one-vs-rest AUC has no value."""
    absent = int((scores.rankings.positives == 0).sum())
    if absent:
        return f"{absent} of {scores.size} classes have no example in the truth"
    return "only one class occurs in the truth"


def chance_precision(summary: Summary) -> float:
    """Return the mean prevalence of the labels: average precision of a random ranking."""
    scores = view(summary, "scores")
    return float(scores.rankings.positives.mean() / summary.weight)


PROBABILITIES: tuple[Metric, ...] = (
    _probability(
        name="log_loss",
        title="Log loss",
        meaning="mean surprise at the true class, in nats",
        formula="-mean(ln p of the true class)",
        reads="tally",
        high=math.inf,
        strategy=RowMean(),
        function=Mean("log_loss"),
        no_skill=_entropy,
        source="Good 1952; scikit-learn log_loss",
        use="probabilities feed decisions; models are compared on the same rows",
        trap="one sure and wrong answer can rule it: probabilities are clipped at the float64 epsilon, "
        "2.2e-16; a tool that clips elsewhere gives another value",
    ),
    _probability(
        name="brier",
        title="Brier score",
        meaning="mean squared error of the probabilities, summed over classes",
        formula="mean(sum over classes of (p - y)^2)",
        reads="tally",
        high=2.0,
        strategy=RowMean(),
        function=Mean("brier"),
        no_skill=_variance,
        source="Brier 1950; scikit-learn brier_score_loss(scale_by_half=False)",
        use="calibration and discrimination are asked for at once",
        trap="summed over classes, as Brier did: up to 2, twice the binary form for two classes. "
        "Some tools take the mean over classes",
    ),
    _probability(
        name="ece",
        title="Expected calibration error (top label)",
        meaning="mean gap between the confidence of the answer and how often it is right, over 15 bins",
        formula="sum over bins of |sum confidence - sum right| / n",
        reads="confidence",
        high=1.0,
        strategy=CalibrationGaps("width", "mean"),
        function=binary_probability.ece,
        source="Guo et al. 2017, ICML; bins right-closed, the first holding 0",
        use="the confidence of the answer is shown or thresholded",
        trap="looks at the highest probability alone, and as the answer takes the class that has it. " + BINS,
    ),
    _probability(
        name="classwise_ece",
        title="Class-wise expected calibration error",
        meaning="mean over classes of the calibration error of each class's probability, 15 bins",
        formula="mean over classes of sum over bins of |sum p - sum y| / n",
        reads="bins",
        high=1.0,
        strategy=ClassGaps(),
        function=multiclass.classwise_ece,
        source="Kull et al. 2019, NeurIPS; Nixon et al. 2019",
        use="probabilities of all classes are used, not only that of the answer",
        trap="shrinks with the number of classes, most of which are rightly near 0 on most rows. " + BINS,
    ),
)
RANKING: tuple[Metric, ...] = (
    _ranking(
        name="roc_auc_ovr_macro",
        title="Macro ROC AUC (one-vs-rest)",
        meaning="mean over classes of the chance that its example outranks another by its score",
        formula="mean over classes of one-vs-rest AUC",
        function=AreaAverage("roc_auc", "macro"),
        undefined=missing,
        no_skill=always(0.5),
        source="Provost & Domingos 2000; scikit-learn roc_auc_score(multi_class='ovr')",
        use="the ranking by each class's score is used, each class counting the same",
        trap="undefined as soon as one class has no example, where scikit-learn returns NaN and others "
        "skip the class. With many classes each is rare, and 0.95 still means many false alarms",
    ),
    _ranking(
        name="roc_auc_ovr_weighted",
        title="Weighted ROC AUC (one-vs-rest)",
        meaning="mean one-vs-rest AUC over classes, by their number of true examples",
        formula="sum over classes of P AUC / n",
        function=AreaAverage("roc_auc", "weighted"),
        undefined="only one class occurs in the truth",
        no_skill=always(0.5),
        source="Fawcett 2006; scikit-learn roc_auc_score(multi_class='ovr', average='weighted')",
        use="frequent classes matter more",
        trap="a class without examples weighs nothing here, while scikit-learn returns NaN; "
        "moves with the mix of classes, unlike the AUC of two",
    ),
    _ranking(
        name="roc_auc_ovr_micro",
        title="Micro ROC AUC",
        meaning="chance that the score of a row's own class is above that of any other class of any row",
        formula="AUC of all (row, class) decisions pooled",
        function=AreaAverage("roc_auc", "micro"),
        undefined="there is only one class",
        no_skill=always(0.5),
        source="scikit-learn roc_auc_score(multi_class='ovr', average='micro')",
        use="one threshold is applied to all classes' scores",
        trap="high by itself with many classes, most of which are easily ruled out on each row",
    ),
    _ranking(
        name="roc_auc_ovo_macro",
        title="Macro ROC AUC (one-vs-one, Hand & Till)",
        meaning="mean over pairs of classes of how well their scores part the two",
        formula="mean over pairs of (A(a|b) + A(b|a)) / 2",
        function=AreaAverage("roc_auc", "pairs"),
        undefined="fewer than two classes occur in the truth",
        no_skill=always(0.5),
        source="Hand & Till 2001, Machine Learning 45:171; scikit-learn roc_auc_score(multi_class='ovo')",
        use="a measure that the mix of classes does not move",
        trap="over the classes that occur in the truth, as in scikit-learn. "
        "One hard pair among many does not show",
    ),
    _ranking(
        name="average_precision_macro",
        title="Macro average precision",
        meaning="mean over classes of the one-vs-rest average precision",
        formula="mean over classes of AP",
        function=AreaAverage("average_precision", "macro"),
        no_skill=chance_precision,
        zeros=AreaAverage("average_precision", "macro").zeros,
        source="scikit-learn average_precision_score(average='macro')",
        use="classes are rare and the top of each ranking counts",
        trap="a class without examples counts as 0, as in scikit-learn, and drags it down",
    ),
    _ranking(
        name="average_precision_micro",
        title="Micro average precision",
        meaning="average precision of all (row, class) decisions pooled",
        formula="AP of all (row, class) decisions",
        function=AreaAverage("average_precision", "micro"),
        no_skill=chance_precision,
        source="scikit-learn average_precision_score(average='micro')",
        use="one threshold is applied to all classes' scores",
        trap="frequent classes rule it",
    ),
)
