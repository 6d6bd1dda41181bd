"""Records of the multiclass metrics of scores and probabilities."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from evalreport.facts import Summary
from evalreport.metrics import binary_probability, multiclass
from evalreport.metrics.averages import AreaAverage, Mean
from evalreport.metrics.entries.areas import DECLARED, MACRO, MICRO, PRECISION, ROC_AUC, WEIGHTED, area
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


def _entropy(summary: Summary) -> float:
    return float(np.log(multiclass.effective_labels_true(view(summary, "counts"))))


def _variance(summary: Summary) -> float:
    share = view(summary, "counts").support / summary.weight
    return float(1 - share @ share)


def _classwise(*, declared: bool) -> Metric:
    classes = "all declared classes" if declared else "the classes that have examples"
    return _probability(
        name="classwise_ece_declared" if declared else "classwise_ece",
        title=f"Class-wise expected calibration error{' (all declared classes)' if declared else ''}",
        meaning=f"mean over {classes} of the calibration error of each class's probability, 15 bins",
        formula="mean over classes of sum over bins of |sum p - sum y| / n",
        reads="bins",
        high=1.0,
        strategy=ClassGaps(declared=declared),
        function=partial(multiclass.classwise_ece, declared=declared),
        source="Kull et al. 2019, NeurIPS; Nixon et al. 2019",
        use="probabilities of all classes are used, not only that of the answer",
        trap="shrinks with the number of classes, most of which are rightly near 0 on most rows. "
        + ("A class without examples is well calibrated when it is near 0 everywhere. " if declared else "")
        + BINS,
    )


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
    _classwise(declared=False),
    _classwise(declared=True),
)
RANKING: tuple[Metric, ...] = (
    area("multiclass", ROC_AUC, MACRO),
    area("multiclass", ROC_AUC, DECLARED),
    area("multiclass", ROC_AUC, WEIGHTED),
    area("multiclass", ROC_AUC, MICRO),
    Metric(
        name="roc_auc_ovo_macro",
        task="multiclass",
        needs="scores",
        reads="scores",
        low=0.0,
        high=1.0,
        better="higher",
        strategy=LabelAreas(),
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
    area("multiclass", PRECISION, MACRO),
    area("multiclass", PRECISION, DECLARED),
    area("multiclass", PRECISION, MICRO),
)
