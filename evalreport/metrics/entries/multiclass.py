"""Records of the multiclass metrics of decisions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from evalreport.facts import Marginals, Summary
from evalreport.metrics import multiclass as multi
from evalreport.metrics.averages import Mean
from evalreport.metrics.entries.averages import (
    DECLARED,
    F1,
    MACRO,
    MICRO,
    PRECISION,
    RECALL,
    SUPPORTED,
    WEIGHTED,
    averaged,
)
from evalreport.metrics.entries.binary_counts import always
from evalreport.metrics.record import Metric, because, view
from evalreport.metrics.strategies import CountDraws, Evenness, MostFrequent, NoInterval, Proportion, RowMean

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

UNPARSED = "An answer that could not be parsed is a predicted category of its own"


def majority(function: Callable[[Marginals], Any]) -> Callable[[Summary], float]:
    """Return the level that always answering the most frequent class has."""
    return lambda summary: float(function(multi.always_majority(view(summary, "counts"))))


def _top(k: int) -> Metric:
    def frequent(summary: Summary) -> float:
        support = view(summary, "counts").support
        return float(support[support.argsort()[-k:]].sum() / summary.weight)

    return _metric(
        name=f"top_{k}_accuracy",
        title=f"Top-{k} accuracy",
        meaning=f"share of rows whose true class is among the {k} highest scores",
        formula=f"#(rank of the true class <= {k}) / n",
        needs="scores",
        reads="tally",
        strategy=Proportion(certain=k),
        function=Mean(f"top_{k}_accuracy"),
        no_skill=frequent,
        source=f"scikit-learn top_k_accuracy_score(k={k})",
        use=f"a person picks from {k} suggestions",
        trap=f"always 1 with {k} classes or fewer. Of tied scores the later class stands first, as in "
        "scikit-learn: a constant model is right for the last classes",
    )


def _one_class(m: Marginals) -> bool:
    return bool((m.support > 0).sum() < 2)


def _unordered(m: Marginals) -> str:
    return "some answers could not be parsed: they stand nowhere in the order" if m.unparsed else "no spread"


RIGHT: tuple[Metric, ...] = (
    _metric(
        name="accuracy",
        title="Accuracy",
        meaning="share of all answers that are right",
        formula="right answers / n",
        strategy=Proportion(),
        function=multi.accuracy,
        no_skill=majority(multi.accuracy),
        source="scikit-learn accuracy_score",
        use="classes are about balanced and all mistakes cost the same",
        trap="half the classes may be given up while it looks well: read it beside macro F1",
    ),
    _metric(
        name="no_information_rate",
        rate=True,
        title="No-information rate",
        meaning="accuracy of always answering the most frequent class",
        formula="max over classes of P / n",
        better="neither",
        strategy=MostFrequent(),
        function=multi.no_information_rate,
        source="Kuhn, caret confusionMatrix",
        use="the bar that accuracy has to pass",
        trap="describes the data, not the model",
    ),
    _metric(
        name="accuracy_gain",
        rate=True,
        title="Accuracy gain",
        meaning="accuracy above that of always answering the most frequent class",
        formula="accuracy - no_information_rate",
        low=-1.0,
        strategy=MostFrequent(gain=True),
        function=multi.accuracy_gain,
        no_skill=always(0.0),
        source="Kuhn, caret confusionMatrix",
        use="to see at once whether accuracy means anything here",
        trap="cannot exceed 1 - no_information_rate, so it does not compare across data sets",
    ),
    _metric(
        name="balanced_accuracy",
        rate=True,
        title="Balanced accuracy",
        meaning="mean recall over the classes that have true examples",
        formula="mean of TP / P",
        function=multi.balanced_accuracy,
        no_skill=majority(multi.balanced_accuracy),
        source="scikit-learn balanced_accuracy_score",
        use="classes are unbalanced and all matter the same",
        trap="the same number as recall_macro_supported; not recall_macro when absent classes are predicted",
    ),
    _top(2),
    _top(3),
    _top(5),
)
AVERAGES: tuple[Metric, ...] = tuple(
    averaged("multiclass", base, way, majority)
    for base in (PRECISION, RECALL, F1)
    for way in (MICRO, MACRO, SUPPORTED, DECLARED, WEIGHTED)
)
AGREEMENT: tuple[Metric, ...] = (
    _metric(
        name="micro_macro_gap",
        title="Micro minus macro F1",
        meaning="how much better the model does on frequent classes than on the mean class",
        formula="f1_micro - f1_macro",
        low=-1.0,
        better="zero",
        function=multi.micro_macro_gap,
        undefined="no answer could be parsed",
        source="Sokolova & Lapalme 2009, Information Processing & Management 45:427",
        use="to notice classes that were given up, which accuracy hides",
        trap="near 0 for a model that fails everywhere alike; also grows with spurious classes",
    ),
    _metric(
        name="mcc",
        title="MCC",
        meaning="correlation of truth and answers",
        formula="cov(t, p) / sqrt(cov(t, t) cov(p, p))",
        low=-1.0,
        function=multi.mcc,
        undefined=because(
            (_one_class, "only one class occurs in the truth"), (lambda _: True, "the answers are constant")
        ),
        no_skill=always(0.0),
        source="Gorodkin 2004, Computational Biology and Chemistry 28:367; scikit-learn matthews_corrcoef",
        use="one number for the whole matrix that a constant answer cannot fool",
        trap="of constant answers it is 0/0: undefined here, 0 in scikit-learn. With more than two classes "
        "its minimum is above -1. " + UNPARSED,
    ),
    _metric(
        name="cohen_kappa",
        title="Cohen's kappa",
        meaning="agreement beyond what the two marginals give by chance",
        formula="(accuracy - expected) / (1 - expected)",
        low=-1.0,
        function=multi.cohen_kappa,
        undefined="truth and answers are constant and equal: chance alone agrees",
        no_skill=always(0.0),
        source="Cohen 1960; scikit-learn cohen_kappa_score",
        use="the model is compared with human raters",
        trap="0 of constant answers while MCC is undefined there, 0/0 itself when truth is constant too; "
        "moves with the mix of classes. " + UNPARSED,
    ),
    _metric(
        name="cohen_kappa_quadratic",
        title="Quadratic weighted kappa",
        meaning="agreement beyond chance where a mistake counts by the square of its distance",
        formula="1 - sum (i - j)^2 observed / sum (i - j)^2 expected",
        needs="order",
        low=-1.0,
        function=multi.cohen_kappa_quadratic,
        undefined=_unordered,
        no_skill=always(0.0),
        source="Cohen 1968; scikit-learn cohen_kappa_score(weights='quadratic')",
        use="labels are grades in an order",
        trap="distance is in positions: 1 to 3 is four times 1 to 2, whatever the labels mean; "
        "may be high while exact agreement is low",
    ),
    _metric(
        name="cohen_kappa_linear",
        title="Linear weighted kappa",
        meaning="agreement beyond chance where a mistake counts by its distance",
        formula="1 - sum |i - j| observed / sum |i - j| expected",
        needs="order",
        low=-1.0,
        function=multi.cohen_kappa_linear,
        undefined=_unordered,
        no_skill=always(0.0),
        source="Cohen 1968; scikit-learn cohen_kappa_score(weights='linear')",
        use="labels are grades in an order, and a step is a step wherever it is",
        trap="distance is in positions, whatever the labels mean; papers often mean the quadratic one",
    ),
    _metric(
        name="mean_absolute_error",
        title="Mean absolute error (positions)",
        meaning="mean distance of the answer from the truth, in positions of the order",
        formula="mean(|i - j|)",
        needs="order",
        reads="tally",
        high=math.inf,
        better="lower",
        strategy=RowMean(),
        function=Mean("mean_absolute_error"),
        undefined="some answers could not be parsed, or nothing decides: they stand nowhere in the order",
        source="Gaudette & Japkowicz 2009; scikit-learn mean_absolute_error of the positions",
        use="labels are grades in an order and a step costs the same everywhere",
        trap="moves with the mix of classes: always answering the middle grade may do well",
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
        use="probabilities of grades in an order are used: far misses cost more than near ones",
        trap="divided by the number of cuts here, so that it lies in 0 … 1: others leave the sum",
    ),
)
COLLAPSE: tuple[Metric, ...] = (
    _number(
        name="n_labels",
        title="Labels",
        meaning="number of declared labels",
        formula="K",
        function=multi.n_labels,
        source="the label set",
        use="to read every average over classes",
        trap="when labels are not declared it is the number of those that occur somewhere",
    ),
    _number(
        name="n_absent",
        title="Absent classes",
        meaning="classes without a true example, predicted or not: they cannot be measured",
        formula="#(P = 0), P the (weighted) number of true examples",
        function=multi.n_absent,
        source="this project: three states of a class",
        use="to know what this sample says nothing about",
        trap="a property of the sample, not a failure of the model",
    ),
    _number(
        name="n_never_predicted",
        title="Classes never predicted",
        meaning="classes with true examples that the model never answers: blind spots",
        formula="#(P > 0 and predicted = 0)",
        better="lower",
        function=multi.n_never_predicted,
        source="this project: three states of a class",
        use="to find a model that has collapsed into a few answers, which accuracy hides",
        trap="in a small sample a rare class may be missed by chance",
    ),
    _number(
        name="n_spurious",
        title="Spurious classes",
        meaning="classes that are predicted without a true example",
        formula="#(P = 0 and predicted > 0)",
        better="lower",
        function=multi.n_spurious,
        source="this project: three states of a class",
        use="to explain why macro averages differ",
        trap="the class may exist outside this sample",
    ),
    _metric(
        name="effective_labels_true",
        title="Effective labels in the truth",
        meaning="number of equally frequent classes that the truth is worth",
        formula="exp(-sum p ln p) over true classes",
        low=1.0,
        high=math.inf,
        better="neither",
        strategy=Evenness("truth"),
        function=multi.effective_labels_true,
        source="Hill 1973, Ecology 54:427 (order 1)",
        use="beside that of the answers",
        trap="too low on average in small samples",
    ),
    _metric(
        name="effective_labels_predicted",
        title="Effective labels in the answers",
        meaning="number of equally frequent classes that the answers are worth",
        formula="exp(-sum p ln p) over answered classes",
        low=1.0,
        high=math.inf,
        better="neither",
        strategy=Evenness("answers"),
        function=multi.effective_labels_predicted,
        undefined="no answer could be parsed",
        no_skill=always(1.0),
        source="Hill 1973, Ecology 54:427 (order 1)",
        use="far below that of the truth, the model has collapsed into favourite answers",
        trap="equal to that of the truth it still says nothing of whether the answers are right",
    ),
    _metric(
        name="top_predicted_share",
        rate=True,
        title="Share of the most frequent answer",
        meaning="share of all answers that go to the single most answered class",
        formula="max over classes of predicted / n",
        better="neither",
        strategy=MostFrequent("answers"),
        function=multi.top_predicted_share,
        source="Berger & Parker 1970, Science 168:1345",
        use="to find one class that absorbs the others",
        trap="compare it with the no-information rate: a frequent class may rightly be answered often",
    ),
)
