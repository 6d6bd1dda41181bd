"""Functions of the counts of each label of a multilabel problem, arrays of shape (..., K).

Records of the multilabel metrics.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from evalreport.metrics import averages
from evalreport.metrics import binary_decisions as count
from evalreport.metrics.averages import (
    F1,
    MACRO,
    MICRO,
    PRECISION,
    RECALL,
    ROC_AUC,
    SUPPORTED,
    WEIGHTED,
    Average,
    Base,
    Mean,
    NoSkill,
    Pooled,
    area,
    make_average_metric,
)
from evalreport.metrics.binary_decisions import accuracy, constant_level, no_information_rate
from evalreport.metrics.record import CountDraws, Metric, Proportion, RowMean, divide, view
from evalreport.statistics.confusion import BinaryCounts
from evalreport.statistics.summary import Summary


def label_accuracy(c: BinaryCounts) -> Any:
    """Return the mean over labels of the fraction of correct decisions, 1 - Hamming loss, in [0, 1].

    >>> counts = BinaryCounts(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 1.0]))
    >>> float(label_accuracy(counts))
    0.75
    """
    return accuracy(c).mean(axis=-1)


def hamming_loss(c: BinaryCounts) -> Any:
    """Return the mean over labels of the fraction of wrong decisions, in [0, 1].

    >>> counts = BinaryCounts(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 1.0]))
    >>> float(hamming_loss(counts))
    0.25
    """
    return divide(c.fp + c.fn, c.total).mean(axis=-1)


def shuffled_f1(counts: BinaryCounts, *, macro: bool) -> float:
    """Return the expected F1 of the same predictions, randomly permuted over the rows.

    Each label keeps its number of true and predicted rows. The expected number of true positives is their
    product divided by the number of rows.

    >>> all_right = BinaryCounts(np.array([2.0]), np.array([0.0]), np.array([0.0]), np.array([2.0]))
    >>> shuffled_f1(all_right, macro=False)
    0.5
    """
    true, given = counts.tp + counts.fn, counts.tp + counts.fp
    right = true * given / counts.total
    if macro:
        return float(np.nan_to_num(divide(2 * right, true + given)).mean())
    return float(divide(2 * right.sum(), (true + given).sum()))


def best_constant(c: BinaryCounts) -> Any:
    """Return the label accuracy of predicting each label for all rows or for none, whichever is better.

    >>> counts = BinaryCounts(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 1.0]))
    >>> float(best_constant(counts))
    0.75
    """
    return no_information_rate(c).mean(axis=-1)


def cell_prevalence(c: BinaryCounts) -> Any:
    """Return the fraction of (row, label) cells that are positive: the micro precision of random labels.

    >>> counts = BinaryCounts(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 1.0]))
    >>> float(cell_prevalence(counts))
    0.25
    """
    return divide(c.positives.sum(axis=-1), c.total.sum(axis=-1))


_counts = partial(
    Metric,
    task="multilabel",
    needs="counts",
    reads="counts",
    low=0.0,
    high=1.0,
    better="higher",
    strategy=CountDraws(),
)
_rows = partial(_counts, reads="tally", strategy=RowMean())
_row_ranking = partial(_rows, needs="scores")


def _no_baseline(_: Callable[[Any], Any]) -> NoSkill:
    return None


def _random(function: Callable[[Any], Any]) -> NoSkill:
    """Return the micro precision of random labels; None for macro, which depends on their number."""
    if not isinstance(function, Pooled):
        return None
    return lambda summary: float(cell_prevalence(view(summary, "counts")))


def _shuffled_baseline(function: Callable[[Any], Any]) -> NoSkill:
    """Return the F1 of randomly permuted predictions, for the micro average and the mean over all labels."""
    if isinstance(function, Average) and function.over != "macro":
        return None
    macro = isinstance(function, Average)
    return lambda summary: shuffled_f1(view(summary, "counts"), macro=macro)


def _always_none(summary: Summary) -> float:
    """Return the fraction of rows without labels: the subset accuracy of predicting no labels."""
    if summary.cardinality is None:
        return math.nan
    return float(summary.cardinality.marginals.support[0] / summary.weight)


def _best_constant(summary: Summary) -> float:
    return float(best_constant(view(summary, "counts")))


def _samples(base: Base, trap: str) -> Metric:
    return _rows(
        name=f"{base.name}_samples",
        rate=base.rate,
        title=f"{base.word[0].upper()}{base.word[1:]} per row",
        meaning=f"mean over rows of the {base.word} of the row's labels",
        formula=f"mean over rows of {base.formula}",
        function=Mean(f"{base.name}_samples"),
        source=f"scikit-learn {base.name}_score(average='samples', zero_division=0)",
        use="rows are used as a whole and all rows count the same",
        trap=trap,
    )


SETS: tuple[Metric, ...] = (
    _rows(
        name="subset_accuracy",
        title="Exact match (subset accuracy)",
        meaning="fraction of rows with all labels correct",
        formula="#(predicted set = true set) / n",
        strategy=Proportion(),
        function=Mean("subset_accuracy"),
        no_skill=_always_none,
        source="scikit-learn accuracy_score of an indicator matrix",
        use="a row with one wrong label is useless",
        trap="scikit-learn calls this accuracy. One extra label counts as much as all labels wrong. "
        "Predicting no labels is correct for every row without labels",
    ),
    _counts(
        name="label_accuracy",
        rate=True,
        title="Label accuracy",
        meaning="fraction of all (row, label) decisions that are correct",
        formula="mean over labels of (TP + TN) / n = 1 - Hamming loss",
        function=label_accuracy,
        no_skill=_best_constant,
        source="Tsoumakas & Katakis 2007",
        use="together with subset accuracy, to see which accuracy a paper reports",
        trap="close to 1 for any model if rows have few of many labels: compare with its no-skill level",
    ),
    _counts(
        name="hamming_loss",
        rate=True,
        title="Hamming loss",
        meaning="fraction of all (row, label) decisions that are wrong",
        formula="mean over labels of (FP + FN) / n",
        better="lower",
        function=hamming_loss,
        no_skill=lambda summary: 1 - _best_constant(summary),
        source="Schapire & Singer 2000; scikit-learn hamming_loss",
        use="every wrong label costs the same",
        trap="close to 0 for any model if rows have few of many labels",
    ),
    _rows(
        name="jaccard_samples",
        title="Jaccard index per row",
        meaning="mean over rows of the overlap of true and predicted labels",
        formula="mean over rows of |T and P| / |T or P|",
        function=Mean("jaccard_samples"),
        source="Godbole & Sarawagi 2004; scikit-learn jaccard_score(average='samples', zero_division=0)",
        use="rows are used as sets of labels and partially correct sets are useful",
        trap="a row without true and predicted labels is correct but counts as 0, as in scikit-learn with "
        "zero_division=0. Some authors call this metric accuracy",
    ),
    _counts(
        name="jaccard_macro",
        title="Macro Jaccard index",
        meaning="mean over labels of the overlap of true and predicted rows",
        formula="mean of TP / (TP + FP + FN)",
        function=Average(count.jaccard, "macro"),
        source="scikit-learn jaccard_score(average='macro', zero_division=0)",
        use="like macro F1, with lower values",
        trap="over all labels; a label that neither occurs nor is predicted counts as 0",
    ),
    _counts(
        name="jaccard_micro",
        title="Micro Jaccard index",
        meaning="overlap of all true and predicted (row, label) cells",
        formula="TP / (TP + FP + FN) of summed counts",
        function=Pooled(count.jaccard),
        undefined="no row has a true or predicted label",
        source="scikit-learn jaccard_score(average='micro')",
        use="like micro F1, with lower values",
        trap="dominated by frequent labels",
    ),
)
AVERAGES: tuple[Metric, ...] = (
    *(
        make_average_metric("multilabel", PRECISION, way, _random)
        for way in (MICRO, MACRO, SUPPORTED, WEIGHTED)
    ),
    _samples(PRECISION, "a row without predicted labels counts as 0, correct or not, as in scikit-learn"),
    *(
        make_average_metric("multilabel", RECALL, way, _no_baseline)
        for way in (MICRO, MACRO, SUPPORTED, WEIGHTED)
    ),
    _samples(RECALL, "a row without true labels counts as 0, correct or not, as in scikit-learn"),
    *(
        make_average_metric("multilabel", F1, way, _shuffled_baseline)
        for way in (MICRO, MACRO, SUPPORTED, WEIGHTED)
    ),
    _samples(F1, "a row without true and predicted labels is correct but counts as 0, as in scikit-learn"),
)
RANKING: tuple[Metric, ...] = (
    *(
        area("multilabel", ROC_AUC, way)
        for way in (
            averages.AREAS_MACRO,
            averages.AREAS_DECLARED,
            averages.AREAS_MICRO,
            averages.AREAS_WEIGHTED,
        )
    ),
    *(
        area("multilabel", averages.AREAS_PRECISION, way)
        for way in (averages.AREAS_MACRO, averages.AREAS_DECLARED, averages.AREAS_MICRO)
    ),
    _row_ranking(
        name="average_precision_samples",
        title="Ranking precision per row (LRAP)",
        meaning="mean over true labels of the fraction of true labels among those ranked as high or higher",
        formula="mean over rows and true labels of |true ranked as high| / rank",
        function=Mean("average_precision_samples"),
        source="Schapire & Singer 2000; scikit-learn label_ranking_average_precision_score",
        use="each row shows a ranked list of labels",
        trap="rows with all labels or no labels count as 1, as in scikit-learn's "
        "label_ranking_average_precision_score. Its average_precision_score(average='samples') counts "
        "rows without labels as 0",
    ),
    _row_ranking(
        name="coverage_error",
        title="Coverage error",
        meaning="mean number of top-ranked labels needed to include all true labels",
        formula="mean over rows of the greatest rank of a true label",
        high=math.inf,
        better="lower",
        function=Mean("coverage_error"),
        source="Schapire & Singer 2000; scikit-learn coverage_error",
        use="a person reads a ranked list until all true labels are found",
        trap="its best value is the mean number of true labels, not 0",
    ),
    _row_ranking(
        name="ranking_loss",
        title="Ranking loss",
        meaning="fraction of (true, other) label pairs of a row that are in the wrong order",
        formula="mean over rows of wrongly ordered pairs / pairs",
        better="lower",
        function=Mean("ranking_loss"),
        no_skill=constant_level(0.5),
        source="Schapire & Singer 2000; scikit-learn label_ranking_loss",
        use="only the order of labels within a row is used",
        trap="tied pairs count as wrong; rows with all labels or no labels count as 0",
    ),
    _row_ranking(
        name="one_error",
        rate=True,
        title="One-error",
        meaning="fraction of rows whose highest-scored label is not a true label",
        formula="#(top label not true) / n",
        better="lower",
        function=Mean("one_error"),
        source="Schapire & Singer 2000",
        use="only one label per row is used",
        trap="rows without true labels always count as wrong. If several labels tie at the top, the fraction"
        " of them that are not true labels counts",
    ),
)
SHAPE: tuple[Metric, ...] = (
    _rows(
        name="cardinality_true",
        title="True labels per row",
        meaning="mean number of true labels of a row",
        formula="mean over rows of |T|",
        needs="truth",
        high=math.inf,
        better="neither",
        function=Mean("cardinality_true"),
        source="Tsoumakas & Katakis 2007",
        use="to compare with the predicted labels per row",
        trap="describes the data, not the model",
    ),
    _rows(
        name="cardinality_predicted",
        title="Predicted labels per row",
        meaning="mean number of predicted labels of a row",
        formula="mean over rows of |P|",
        high=math.inf,
        better="neither",
        function=Mean("cardinality_predicted"),
        source="Tsoumakas & Katakis 2007",
        use="lower than the number of true labels: too few labels are predicted; higher: too many",
        trap="the same number as for the true labels does not show that the predicted labels are correct",
    ),
    _rows(
        name="empty_prediction_rate",
        title="Rows without a predicted label",
        meaning="fraction of rows without any predicted label",
        formula="#(P empty) / n",
        better="neither",
        strategy=Proportion(),
        function=Mean("empty_prediction_rate"),
        source="this project",
        use="every row should get a label, or to detect a threshold that is too high",
        trap="correct for rows that have no true label: compare with their fraction",
    ),
)
