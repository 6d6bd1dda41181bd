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
    """Return the mean over labels of the share of right decisions, 1 - Hamming loss, in [0, 1].

    >>> counts = BinaryCounts(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 1.0]))
    >>> float(label_accuracy(counts))
    0.75
    """
    return accuracy(c).mean(axis=-1)


def hamming_loss(c: BinaryCounts) -> Any:
    """Return the mean over labels of the share of wrong decisions, in [0, 1].

    >>> counts = BinaryCounts(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 1.0]))
    >>> float(hamming_loss(counts))
    0.25
    """
    return divide(c.fp + c.fn, c.total).mean(axis=-1)


def shuffled_f1(counts: BinaryCounts, *, macro: bool) -> float:
    """Return the expected F1 of the same answers dealt out to the rows at random.

    Each label keeps how often it is true and how often it is given; what is right by chance is the product of
    both over the number of rows.

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
    """Return the label accuracy of giving each label to all rows or to none, whichever is right more often.

    >>> counts = BinaryCounts(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 1.0]))
    >>> float(best_constant(counts))
    0.75
    """
    return no_information_rate(c).mean(axis=-1)


def cell_prevalence(c: BinaryCounts) -> Any:
    """Return the share of (row, label) cells that are positive: the micro precision of random labels.

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
    """Micro precision of labels given at random; macro has none, for it depends on how many are given."""
    if not isinstance(function, Pooled):
        return None
    return lambda summary: float(cell_prevalence(view(summary, "counts")))


def _shuffled_baseline(function: Callable[[Any], Any]) -> NoSkill:
    """F1 of the same answers dealt out to the rows at random: pooled, and as the mean of all labels."""
    if isinstance(function, Average) and function.over != "macro":
        return None
    macro = isinstance(function, Average)
    return lambda summary: shuffled_f1(view(summary, "counts"), macro=macro)


def _always_none(summary: Summary) -> float:
    """Share of rows without any label: the subset accuracy of never giving one."""
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
        meaning=f"mean over rows of the {base.word} of the row's set of labels",
        formula=f"mean over rows of {base.formula}",
        function=Mean(f"{base.name}_samples"),
        source=f"scikit-learn {base.name}_score(average='samples', zero_division=0)",
        use="each row is used as a whole and all rows count the same",
        trap=trap,
    )


SETS: tuple[Metric, ...] = (
    _rows(
        name="subset_accuracy",
        title="Exact match (subset accuracy)",
        meaning="share of rows with every label right",
        formula="#(predicted set = true set) / n",
        strategy=Proportion(),
        function=Mean("subset_accuracy"),
        no_skill=_always_none,
        source="scikit-learn accuracy_score of an indicator matrix",
        use="a row with one wrong label is of no use",
        trap="this is what scikit-learn calls accuracy here; one label too many counts as much as all wrong. "
        "Never giving a label is right on every row without one",
    ),
    _counts(
        name="label_accuracy",
        rate=True,
        title="Label accuracy",
        meaning="share of all (row, label) decisions that are right",
        formula="mean over labels of (TP + TN) / n = 1 - Hamming loss",
        function=label_accuracy,
        no_skill=_best_constant,
        source="Tsoumakas & Katakis 2007",
        use="together with subset accuracy, to see which accuracy a paper means",
        trap="near 1 by itself when rows carry few of many labels: compare with its no-skill level",
    ),
    _counts(
        name="hamming_loss",
        rate=True,
        title="Hamming loss",
        meaning="share of all (row, label) decisions that are wrong",
        formula="mean over labels of (FP + FN) / n",
        better="lower",
        function=hamming_loss,
        no_skill=lambda summary: 1 - _best_constant(summary),
        source="Schapire & Singer 2000; scikit-learn hamming_loss",
        use="every wrong label costs the same",
        trap="near 0 by itself when rows carry few of many labels",
    ),
    _rows(
        name="jaccard_samples",
        title="Jaccard index per row",
        meaning="mean over rows of the overlap of true and predicted labels",
        formula="mean over rows of |T and P| / |T or P|",
        function=Mean("jaccard_samples"),
        source="Godbole & Sarawagi 2004; scikit-learn jaccard_score(average='samples', zero_division=0)",
        use="rows are used as sets and half right is worth something",
        trap="a row without true and predicted labels is right and yet counts 0, as in scikit-learn's "
        "zero_division=0; some call this number accuracy",
    ),
    _counts(
        name="jaccard_macro",
        title="Macro Jaccard index",
        meaning="mean over labels of the overlap of true and predicted rows",
        formula="mean of TP / (TP + FP + FN)",
        function=Average(count.jaccard, "macro"),
        source="scikit-learn jaccard_score(average='macro', zero_division=0)",
        use="as macro F1, at lower values",
        trap="over all labels; one that neither occurs nor is predicted counts as 0",
    ),
    _counts(
        name="jaccard_micro",
        title="Micro Jaccard index",
        meaning="overlap of all true and predicted (row, label) cells",
        formula="TP / (TP + FP + FN) of summed counts",
        function=Pooled(count.jaccard),
        undefined="no label is true or predicted anywhere",
        source="scikit-learn jaccard_score(average='micro')",
        use="as micro F1, at lower values",
        trap="frequent labels rule it",
    ),
)
AVERAGES: tuple[Metric, ...] = (
    *(
        make_average_metric("multilabel", PRECISION, way, _random)
        for way in (MICRO, MACRO, SUPPORTED, WEIGHTED)
    ),
    _samples(PRECISION, "a row without predicted labels counts 0, right or not, as in scikit-learn"),
    *(
        make_average_metric("multilabel", RECALL, way, _no_baseline)
        for way in (MICRO, MACRO, SUPPORTED, WEIGHTED)
    ),
    _samples(RECALL, "a row without true labels counts 0, right or not, as in scikit-learn"),
    *(
        make_average_metric("multilabel", F1, way, _shuffled_baseline)
        for way in (MICRO, MACRO, SUPPORTED, WEIGHTED)
    ),
    _samples(F1, "a row without true and predicted labels is right and yet counts 0, as in scikit-learn"),
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
        meaning="mean over true labels of the share of true labels among those ranked as high",
        formula="mean over rows and true labels of |true ranked as high| / rank",
        function=Mean("average_precision_samples"),
        source="Schapire & Singer 2000; scikit-learn label_ranking_average_precision_score",
        use="labels are shown as a ranked list per row",
        trap="rows with all labels or none count 1, as in scikit-learn's ranking average precision; its "
        "average_precision_score(average='samples') counts those without any as 0",
    ),
    _row_ranking(
        name="coverage_error",
        title="Coverage error",
        meaning="how far down the ranked labels one has to go to meet all true ones, on average",
        formula="mean over rows of the greatest rank of a true label",
        high=math.inf,
        better="lower",
        function=Mean("coverage_error"),
        source="Schapire & Singer 2000; scikit-learn coverage_error",
        use="a person goes down a ranked list until all is found",
        trap="its best value is the mean number of true labels, not 0",
    ),
    _row_ranking(
        name="ranking_loss",
        title="Ranking loss",
        meaning="share of (true, other) label pairs of a row that are in the wrong order",
        formula="mean over rows of wrongly ordered pairs / pairs",
        better="lower",
        function=Mean("ranking_loss"),
        no_skill=constant_level(0.5),
        source="Schapire & Singer 2000; scikit-learn label_ranking_loss",
        use="only the order of labels within a row is used",
        trap="tied pairs count as wrong; rows with all labels or none count 0",
    ),
    _row_ranking(
        name="one_error",
        rate=True,
        title="One-error",
        meaning="share of rows whose highest-scored label is not true",
        formula="#(top label not true) / n",
        better="lower",
        function=Mean("one_error"),
        source="Schapire & Singer 2000",
        use="one label per row is used",
        trap="rows without true labels always count as wrong. "
        "Of labels tied at the top, the share that is not true counts",
    ),
)
SHAPE: tuple[Metric, ...] = (
    _rows(
        name="cardinality_true",
        title="Labels per row in the truth",
        meaning="mean number of true labels of a row",
        formula="mean over rows of |T|",
        needs="truth",
        high=math.inf,
        better="neither",
        function=Mean("cardinality_true"),
        source="Tsoumakas & Katakis 2007",
        use="beside that of the predictions",
        trap="describes the data, not the model",
    ),
    _rows(
        name="cardinality_predicted",
        title="Labels per row in the predictions",
        meaning="mean number of predicted labels of a row",
        formula="mean over rows of |P|",
        high=math.inf,
        better="neither",
        function=Mean("cardinality_predicted"),
        source="Tsoumakas & Katakis 2007",
        use="below that of the truth the model is too cautious, above it too eager",
        trap="equal to that of the truth it still says nothing of whether the labels are right",
    ),
    _rows(
        name="empty_prediction_rate",
        title="Rows without a predicted label",
        meaning="share of rows that get no label at all",
        formula="#(P empty) / n",
        better="neither",
        strategy=Proportion(),
        function=Mean("empty_prediction_rate"),
        source="this project",
        use="every row should get a label, or to see a threshold that is too high",
        trap="right for rows that carry no label: compare with their share",
    ),
)
