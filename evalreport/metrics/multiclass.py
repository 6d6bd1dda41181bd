"""Functions of the marginals of a multiclass confusion matrix, and of the label distribution.

Each takes `Marginals` whose fields have shape (..., K) and returns shape (...): a single matrix or
bootstrap replicates. Unparsed predictions are wrong: they count in the total, and MCC and kappa count them as
a separate predicted category.

Records of the multiclass metrics of decisions.

Records of the multiclass metrics of scores and probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.metrics import probability_functions
from evalreport.metrics.averages import (
    AREAS_DECLARED,
    AREAS_MACRO,
    AREAS_MICRO,
    AREAS_PRECISION,
    AREAS_WEIGHTED,
    DECLARED,
    F1,
    MACRO,
    MICRO,
    PRECISION,
    RECALL,
    ROC_AUC,
    SUPPORTED,
    WEIGHTED,
    AreaAverage,
    Average,
    Gap,
    Mean,
    Pooled,
    area,
    make_average_metric,
)
from evalreport.metrics.binary_decisions import constant_level, f1, recall
from evalreport.metrics.binary_probability import BINS
from evalreport.metrics.record import (
    CalibrationGaps,
    CountDraws,
    LabelAreas,
    Metric,
    NoInterval,
    NoMethod,
    Proportion,
    RowMean,
    because,
    divide,
    view,
)
from evalreport.statistics.class_scores import ClassBins
from evalreport.statistics.confusion import Array, Marginals
from evalreport.statistics.summary import Summary


def accuracy(m: Marginals) -> Any:
    """Return the fraction of correct predictions, in [0, 1].

    >>> float(accuracy(Marginals(np.array([1.0, 2]), np.array([2.0, 2]), np.array([1.0, 3]), 4.0, 1.0)))
    0.75
    """
    return divide(m.right, m.total)


def no_information_rate(m: Marginals) -> Any:
    """Return the accuracy of always predicting the most frequent class, in [1 / K, 1].

    >>> float(no_information_rate(Marginals(np.ones(2), np.array([1.0, 3]), np.array([1.0, 3]), 4.0, 1.0)))
    0.75
    """
    return divide(m.support.max(axis=-1), m.total)


balanced_accuracy = Average(recall, "macro_supported")
"""Mean recall over the classes with true examples, in [0, 1]."""
micro_macro_gap = Gap(Pooled(f1), Average(f1, "macro"))
"""Micro F1 minus macro F1, in [-1, 1]."""


def _agreement(m: Marginals) -> Any:
    """n times the correct predictions beyond chance agreement."""
    return m.right * m.total - (m.support * m.predicted).sum(axis=-1)


def _marginal_dispersion(marginal: Array, rest: Any) -> Any:
    """n² minus the sum of squares of a marginal, without cancellation; `rest` is one more class."""
    others = marginal.sum(axis=-1, keepdims=True) - marginal
    return (marginal * np.maximum(others, 0)).sum(axis=-1) + 2 * rest * marginal.sum(axis=-1)


def mcc(m: Marginals) -> Any:
    """Return Gorodkin's (2004) multiclass MCC; NaN if true labels or predictions are constant.

    >>> float(mcc(Marginals(np.array([4.0, 4]), np.array([5.0, 5]), np.array([5.0, 5]), 10.0, 2.0)))
    0.6
    """
    predicted, true = (
        _marginal_dispersion(m.predicted, m.unparsed_weight),
        _marginal_dispersion(m.support, 0.0),
    )
    return divide(_agreement(m), np.sqrt(_less_noise(predicted, m) * _less_noise(true, m)))


def _less_noise(spread: Any, m: Marginals) -> Any:
    """Return the spread, 0 for a constant marginal (rounded sums of weights leave about 1e-13 of it)."""
    return np.where(spread > 1e-12 * np.square(m.total), spread, 0.0)


def cohen_kappa(m: Marginals) -> Any:
    """Return Cohen's kappa, in [-1, 1]; NaN if true labels and predictions are constant and equal.

    >>> float(cohen_kappa(Marginals(np.array([4.0, 4]), np.array([5.0, 5]), np.array([5.0, 5]), 10.0, 2.0)))
    0.6
    """
    chance = np.square(m.total) - (m.support * m.predicted).sum(axis=-1)
    return divide(_agreement(m), _less_noise(chance, m))


def cohen_kappa_quadratic(m: Marginals) -> Any:
    """Return kappa weighted by the squared distance of positions in the order of the labels.

    NaN if a prediction could not be parsed (it has no position in the order), or if all labels are equal.

    >>> m = Marginals(np.array([4.0, 4]), np.array([5.0, 5]), np.array([5.0, 5]), 10.0, 2.0)
    >>> float(cohen_kappa_quadratic(m))
    0.6
    """
    place = np.arange(m.support.shape[-1], dtype=np.float64)

    def moment(marginal: Array, power: int) -> Any:
        return marginal @ place**power

    apart = m.total * (moment(m.support, 2) + moment(m.predicted, 2))
    apart = apart - 2 * moment(m.support, 1) * moment(m.predicted, 1)
    return 1 - divide(m.squared_distance * m.total, _less_noise(apart, m))


def cohen_kappa_linear(m: Marginals) -> Any:
    """Return kappa weighted by the distance of positions in the label order; NaN as for quadratic weights.

    >>> m = Marginals(np.array([4.0, 4]), np.array([5.0, 5]), np.array([5.0, 5]), 10.0, 2.0, 2.0)
    >>> round(float(cohen_kappa_linear(m)), 12)
    0.6
    """
    # The mean distance of two independent draws sums, over cuts, P(one is below and the other above).
    true, predicted = m.support.cumsum(axis=-1), m.predicted.cumsum(axis=-1)
    total = np.asarray(m.total)[..., None]
    apart = (true * (total - predicted) + predicted * (total - true)).sum(axis=-1)
    return 1 - divide(m.distance * m.total, _less_noise(apart, m))


def n_labels(m: Marginals) -> Any:
    """Return the number of declared labels.

    >>> int(n_labels(Marginals(np.ones(2), np.ones(2), np.ones(2), 2.0, 0.0)))
    2
    """
    return np.full(m.support.shape[:-1], m.support.shape[-1])


def n_absent(m: Marginals) -> Any:
    """Return the number of labels without true examples.

    >>> int(n_absent(Marginals(np.array([1.0, 0]), np.array([1.0, 0]), np.ones(2), 2.0, 0.0)))
    1
    """
    return (m.support == 0).sum(axis=-1)


def n_never_predicted(m: Marginals) -> Any:
    """Return the number of labels that have true examples and are never predicted.

    >>> int(n_never_predicted(Marginals(np.array([1.0, 0]), np.ones(2), np.array([2.0, 0]), 2.0, 1.0)))
    1
    """
    return ((m.support > 0) & (m.predicted == 0)).sum(axis=-1)


def n_spurious(m: Marginals) -> Any:
    """Return the number of labels that are predicted and have no true examples.

    >>> int(n_spurious(Marginals(np.array([1.0, 0]), np.array([2.0, 0]), np.ones(2), 2.0, 1.0)))
    1
    """
    return ((m.support == 0) & (m.predicted > 0)).sum(axis=-1)


def class_gaps(bins: ClassBins) -> Array:
    """Return the ECE of each label's probability, over 15 equal-width bins, shape (K,).

    >>> class_gaps(ClassBins.from_scores(np.array([[1.0, 0.5]]), np.array([[True, False]]), np.ones(1)))
    array([0. , 0.5])
    """
    found: Array = divide(np.abs(bins.probability - bins.positives).sum(axis=1), bins.weight.sum(axis=1))
    return found


def with_gaps(bins: ClassBins, *, declared: bool) -> npt.NDArray[np.bool_]:
    """Return which labels `classwise_ece` averages over, shape (K,): those with examples, or all declared.

    >>> with_gaps(ClassBins.from_scores(np.array([[1.0, 0.5]]), np.array([[True, False]])), declared=False)
    array([ True, False])
    """
    counted: npt.NDArray[np.bool_] = (bins.positives.sum(axis=1) > 0) | declared
    return counted


def classwise_ece(bins: ClassBins, *, declared: bool = False) -> float:
    """Return the mean over labels of `class_gaps`, in [0, 1].

    >>> classwise_ece(ClassBins.from_scores(np.array([[1.0, 0.0]]), np.array([[True, False]]), np.ones(1)))
    0.0
    """
    return float(class_gaps(bins)[with_gaps(bins, declared=declared)].mean())


def always_majority(m: Marginals) -> Marginals:
    """Return the marginals of always predicting the most frequent class: the no-skill model.

    >>> always_majority(Marginals(np.ones(2), np.array([1.0, 3]), np.array([2.0, 2]), 4.0, 2.0)).tp
    array([0., 3.])
    """
    top = int(np.argmax(m.support))
    chosen = np.arange(len(m.support)) == top
    apart = float(m.support @ (np.arange(len(m.support)) - top) ** 2)
    return Marginals(
        np.where(chosen, m.support, 0.0), m.support, np.where(chosen, m.total, 0.0), m.total, apart
    )


_metric = partial(
    Metric,
    task="multiclass",
    needs="counts",
    reads="counts",
    low=0.0,
    high=1.0,
    better="higher",
    strategy=CountDraws(),
)
_number = partial(_metric, high=math.inf, better="neither", strategy=NoInterval())

UNPARSED = "Unparsed predictions count as a separate predicted category"


def majority(function: Callable[[Marginals], Any]) -> Callable[[Summary], float]:
    """Return the no-skill level of a metric: its value for always predicting the most frequent class."""
    return lambda summary: float(function(always_majority(view(summary, "counts"))))


def _top(k: int) -> Metric:
    def frequent(summary: Summary) -> float:
        support = view(summary, "counts").support
        return float(support[support.argsort()[-k:]].sum() / summary.weight)

    return _metric(
        name=f"top_{k}_accuracy",
        title=f"Top-{k} accuracy",
        meaning=f"fraction of rows whose true class is among the {k} highest scores",
        formula=f"#(rank of the true class <= {k}) / n",
        needs="scores",
        reads="tally",
        strategy=Proportion(certain=k),
        function=Mean(f"top_{k}_accuracy"),
        no_skill=frequent,
        source=f"scikit-learn top_k_accuracy_score(k={k})",
        use=f"a person chooses from {k} suggestions",
        trap=f"always 1 with {k} classes or fewer. Among tied scores the later class ranks first, as in "
        "scikit-learn: with constant scores, the last classes count as correct",
    )


def _one_class(m: Marginals) -> bool:
    return bool((m.support > 0).sum() < 2)


def _explain_undefined_order(m: Marginals) -> str:
    return (
        "some predictions could not be parsed and have no position in the order"
        if m.unparsed_weight
        else "true labels and predictions have no spread"
    )


RIGHT: tuple[Metric, ...] = (
    _metric(
        name="accuracy",
        title="Accuracy",
        meaning="fraction of all predictions that are correct",
        formula="correct predictions / n",
        strategy=Proportion(),
        function=accuracy,
        no_skill=majority(accuracy),
        source="scikit-learn accuracy_score",
        use="classes are about balanced and all errors cost the same",
        trap="can be high although the model never predicts some classes: read it together with macro F1",
    ),
    _metric(
        name="no_information_rate",
        rate=True,
        title="No-information rate",
        meaning="accuracy of always predicting the most frequent class",
        formula="max over classes of P / n",
        better="neither",
        strategy=NoMethod("counts"),
        function=no_information_rate,
        source="Kuhn, caret confusionMatrix",
        use="as the baseline for accuracy",
        trap="describes the data, not the model",
    ),
    _metric(
        name="balanced_accuracy",
        rate=True,
        title="Balanced accuracy",
        meaning="mean recall over the classes that have true examples",
        formula="mean of TP / P",
        function=balanced_accuracy,
        no_skill=majority(balanced_accuracy),
        source="scikit-learn balanced_accuracy_score",
        use="classes are imbalanced and all matter equally",
        trap="equals recall_macro_supported. Differs from recall_macro if absent classes are predicted",
    ),
    _top(2),
    _top(3),
    _top(5),
)
AVERAGES: tuple[Metric, ...] = tuple(
    make_average_metric("multiclass", base, way, majority)
    for base in (PRECISION, RECALL, F1)
    for way in (MICRO, MACRO, SUPPORTED, DECLARED, WEIGHTED)
)
AGREEMENT: tuple[Metric, ...] = (
    _metric(
        name="micro_macro_gap",
        title="Micro minus macro F1",
        meaning="how much higher F1 is on frequent classes than on the average class",
        formula="f1_micro - f1_macro",
        low=-1.0,
        better="zero",
        strategy=NoMethod("counts"),
        function=micro_macro_gap,
        undefined="no prediction could be parsed",
        source="Sokolova & Lapalme 2009, Information Processing & Management 45:427",
        use="to detect classes with a low F1, which accuracy hides",
        trap="also close to 0 for a model that fails equally on all classes. Predictions of classes without "
        "examples increase it, too",
    ),
    _metric(
        name="mcc",
        title="MCC",
        meaning="correlation of true labels and predictions",
        formula="cov(t, p) / sqrt(cov(t, t) cov(p, p))",
        low=-1.0,
        function=mcc,
        undefined=because(
            (_one_class, "only one class occurs among the true labels"),
            (lambda _: True, "the predictions are constant"),
        ),
        no_skill=constant_level(0.0),
        source="Gorodkin 2004, Computational Biology and Chemistry 28:367; scikit-learn matthews_corrcoef",
        use="to summarize the confusion matrix in one number that is not high for constant predictions",
        trap="0/0 for constant predictions: undefined here, 0 in scikit-learn. With more than two classes, "
        "its minimum is above -1. " + UNPARSED,
    ),
    _metric(
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
        trap="0 for constant predictions (MCC is undefined there), and 0/0 if the true labels are constant "
        "and equal, too. Depends on the class proportions. " + UNPARSED,
    ),
    _metric(
        name="cohen_kappa_quadratic",
        title="Quadratic weighted kappa",
        meaning="agreement beyond chance, with errors weighted by squared distance",
        formula="1 - sum (i - j)^2 observed / sum (i - j)^2 expected",
        needs="order",
        low=-1.0,
        function=cohen_kappa_quadratic,
        undefined=_explain_undefined_order,
        no_skill=constant_level(0.0),
        source="Cohen 1968; scikit-learn cohen_kappa_score(weights='quadratic')",
        use="labels are ordered grades",
        trap="distance is measured in positions: an error from 1 to 3 counts four times an error from 1 to "
        "2, whatever the labels mean. Can be high although exact agreement is low",
    ),
    _metric(
        name="cohen_kappa_linear",
        title="Linear weighted kappa",
        meaning="agreement beyond chance, with errors weighted by distance",
        formula="1 - sum |i - j| observed / sum |i - j| expected",
        needs="order",
        low=-1.0,
        function=cohen_kappa_linear,
        undefined=_explain_undefined_order,
        no_skill=constant_level(0.0),
        source="Cohen 1968; scikit-learn cohen_kappa_score(weights='linear')",
        use="labels are ordered grades, and each step counts the same",
        trap="distance is measured in positions, whatever the labels mean. Papers often report the quadratic"
        " version",
    ),
    _metric(
        name="mean_absolute_error",
        title="Mean absolute error (positions)",
        meaning="mean distance between predicted and true label, in positions of the order",
        formula="mean(|i - j|)",
        needs="order",
        reads="tally",
        high=math.inf,
        better="lower",
        strategy=RowMean(),
        function=Mean("mean_absolute_error"),
        undefined="a prediction is missing or could not be parsed and has no position in the order",
        source="Gaudette & Japkowicz 2009; scikit-learn mean_absolute_error of the positions",
        use="labels are ordered grades and each step costs the same",
        trap="depends on the class proportions: always predicting the middle grade may give a low error",
    ),
    _metric(
        name="ranked_probability_score",
        title="Ranked probability score",
        meaning="mean squared error of the cumulative probabilities over the cuts of the order",
        formula="mean over rows and cuts of (P(y <= k) - [y <= k])^2",
        needs="order",
        reads="tally",
        better="lower",
        strategy=RowMean(),
        function=Mean("ranked_probability_score"),
        undefined="needs probabilities",
        source="Epstein 1969, J. Applied Meteorology 8:985; Murphy 1971; divided by the number of cuts",
        use="probabilities of ordered grades are used, and distant errors cost more than near ones",
        trap="divided by the number of cuts here, so the range is 0 … 1. Other tools report the sum",
    ),
)
COLLAPSE: tuple[Metric, ...] = (
    _number(
        name="n_labels",
        title="Labels",
        meaning="number of declared labels",
        formula="K",
        function=n_labels,
        source="the label set",
        use="to interpret averages over classes",
        trap="if labels are not declared, this is the number of labels that occur in the data",
    ),
    _number(
        name="n_absent",
        title="Absent classes",
        meaning="classes without true examples, predicted or not: their recall is not measurable",
        formula="#(P = 0), P the (weighted) number of true examples",
        function=n_absent,
        source="this project: three states of a class",
        use="to see which classes this sample does not cover",
        trap="a property of the sample, not a failure of the model",
    ),
    _number(
        name="n_never_predicted",
        title="Classes never predicted",
        meaning="classes with true examples that the model never predicts",
        formula="#(P > 0 and predicted = 0)",
        better="lower",
        function=n_never_predicted,
        source="this project: three states of a class",
        use="to detect a model that predicts only a few classes, which accuracy hides",
        trap="in a small sample, a rare class may be missing from the predictions by chance",
    ),
    _number(
        name="n_spurious",
        title="Spurious classes",
        meaning="classes that are predicted but have no true examples",
        formula="#(P = 0 and predicted > 0)",
        better="lower",
        function=n_spurious,
        source="this project: three states of a class",
        use="to explain why macro averages differ",
        trap="the class may exist outside this sample",
    ),
)


_probability = partial(
    Metric,
    task="multiclass",
    needs="probabilities",
    low=0.0,
    better="lower",
)


def _entropy(summary: Summary) -> float:
    share = view(summary, "counts").support / summary.weight
    return -float((share * np.log(np.where(share > 0, share, 1.0))).sum())


def _variance(summary: Summary) -> float:
    share = view(summary, "counts").support / summary.weight
    return float(1 - share @ share)


def _classwise(*, declared: bool) -> Metric:
    classes = "all declared classes" if declared else "the classes that have examples"
    return _probability(
        name="classwise_ece_declared" if declared else "classwise_ece",
        title=f"Class-wise expected calibration error{' (all declared classes)' if declared else ''}",
        meaning=f"mean over {classes} of the ECE of each class's probability, 15 bins",
        formula="mean over classes of sum over bins of |sum p - sum y| / n",
        reads="bins",
        high=1.0,
        strategy=NoMethod("probabilities"),
        function=partial(classwise_ece, declared=declared),
        source="Kull et al. 2019, NeurIPS; Nixon et al. 2019",
        use="probabilities of all classes are used, not only that of the predicted class",
        trap="decreases with the number of classes, because most probabilities are correctly close to 0. "
        + (
            "A class without examples is well calibrated if its probabilities are close to 0. "
            if declared
            else ""
        )
        + BINS,
    )


PROBABILITIES: tuple[Metric, ...] = (
    _probability(
        name="log_loss",
        title="Log loss",
        meaning="negative mean log-likelihood of the true labels, in nats",
        formula="-mean(ln p of the true class)",
        reads="tally",
        high=math.inf,
        strategy=RowMean(),
        function=Mean("log_loss"),
        no_skill=_entropy,
        source="Good 1952; scikit-learn log_loss",
        use="probabilities feed decisions; models are compared on the same rows",
        trap="can be dominated by one confident, wrong prediction. Probabilities are clipped at the float64 "
        "epsilon, 2.2e-16; tools that clip at another value give another result",
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
        use="calibration and discrimination matter together",
        trap="summed over classes, as in Brier's definition: the maximum is 2, and with two classes it is "
        "twice the binary form. Some tools report the mean over classes",
    ),
    _probability(
        name="ece",
        title="Expected calibration error (top label)",
        meaning="mean gap between the confidence of the prediction and its accuracy, over 15 bins",
        formula="sum over bins of |sum confidence - sum correct| / n",
        reads="confidence",
        high=1.0,
        strategy=CalibrationGaps("width"),
        function=probability_functions.ece,
        source="Guo et al. 2017, ICML; bins right-closed, the first holding 0",
        use="the confidence of the prediction is shown or thresholded",
        trap="uses only the highest probability, and treats the class that has it as the prediction. " + BINS,
    ),
    _classwise(declared=False),
    _classwise(declared=True),
)
RANKING: tuple[Metric, ...] = (
    area("multiclass", ROC_AUC, AREAS_MACRO),
    area("multiclass", ROC_AUC, AREAS_DECLARED),
    area("multiclass", ROC_AUC, AREAS_WEIGHTED),
    area("multiclass", ROC_AUC, AREAS_MICRO),
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
        meaning="mean over pairs of classes of the ROC AUC that separates the two classes",
        formula="mean over pairs of (A(a|b) + A(b|a)) / 2",
        function=AreaAverage("roc_auc", "pairs"),
        undefined="fewer than two classes occur among the true labels",
        no_skill=constant_level(0.5),
        source="Hand & Till 2001, Machine Learning 45:171; scikit-learn roc_auc_score(multi_class='ovo')",
        use="to measure ranking independently of the class proportions",
        trap="over the classes that occur among the true labels, as in scikit-learn. One poorly separated "
        "pair among many is not visible",
    ),
    area("multiclass", AREAS_PRECISION, AREAS_MACRO),
    area("multiclass", AREAS_PRECISION, AREAS_DECLARED),
    area("multiclass", AREAS_PRECISION, AREAS_MICRO),
)
