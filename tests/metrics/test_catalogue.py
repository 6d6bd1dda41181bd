"""The catalogue as a whole: complete records, levels of no skill, tables, what is undefined and why."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from evalreport.core.errors import UsageError
from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, Graded, Multiclass, Multilabel, Task
from evalreport.data.predictions import predictions
from evalreport.data.scores import Decisions
from evalreport.metrics import multiclass
from evalreport.metrics.catalogue import (
    BINARY,
    COMPARED,
    HEADLINE,
    MULTICLASS,
    MULTILABEL,
    catalogue,
    find,
    no_skill,
)
from evalreport.statistics.confusion import Marginals
from evalreport.statistics.summary import summarise
from tests.metrics.cases import Case
from tests.metrics.test_oracles import CASES, class_weights

SPACE = Binary(0, 1)


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel"])
def test_every_record_is_complete(task: Task) -> None:
    for metric in catalogue(CASES[task][0].space, text=True):
        texts = (metric.title, metric.meaning, metric.formula, metric.source, metric.use, metric.trap)
        assert all(texts), metric.name
        assert "{" not in "".join(texts), metric.name
        assert "\n" not in metric.meaning and not metric.meaning.endswith("."), metric.name
        assert metric.low < metric.high
        assert metric.task == task


def test_no_skill_is_what_knowing_nothing_gives() -> None:
    rng = np.random.default_rng(3)
    n = 40_000
    y = (rng.random(n) < 0.2).astype(int)
    guess = Case(SPACE, y, rng.random(n), threshold=0.7).summary
    guessed = (
        "precision npv mcc cohen_kappa youden_j markedness balanced_accuracy roc_auc gini average_precision "
        "partial_auc_fpr10 ks eer tpr_at_fpr01 tpr_at_fpr05 fpr_at_tpr95 precision_at_recall90 lift_at_10 "
        "lr_positive lr_negative diagnostic_odds_ratio"
    )
    for name in guessed.split():
        metric = find(name, "binary")
        assert metric.compute_value(guess) == pytest.approx(no_skill(metric, guess), abs=0.07), name
    constant = Case(SPACE, y, np.full(n, y.mean()), threshold=0.5).summary
    for name in (
        "accuracy",
        "log_loss",
        "brier",
        "brier_skill",
        "brier_resolution",
        "net_benefit",
    ):
        metric = find(name, "binary")
        assert metric.compute_value(constant) == pytest.approx(no_skill(metric, constant), abs=1e-9), name


def test_no_skill_of_classes_is_the_majority() -> None:
    for case in CASES["multiclass"]:
        codes = np.full(len(case.y), int(np.argmax(class_weights(case.y, case))))
        constant = Case(case.space, case.y, case.score, case.weights, codes=codes).summary
        for metric in catalogue(case.space):
            level = no_skill(metric, case.summary)
            if (
                metric.reads == "counts"
                and level is not None
                and not isinstance(metric.compute_value(constant), Undefined)
            ):
                assert metric.compute_value(constant) == pytest.approx(level, abs=1e-9), metric.name


def test_quadratic_kappa_needs_an_order() -> None:
    y = np.array([0, 1, 2, 2])
    named = Case(Multiclass(["a", "b", "c"]), y, np.eye(3)[y], codes=y).summary
    found = find("cohen_kappa_quadratic").compute_value(named)
    assert isinstance(found, Undefined) and "ordered labels" in found.reason


def test_weights_that_do_not_sum_exactly_leave_no_trace() -> None:
    """Constant answers stay constant although their sums of weights round differently."""
    rng = np.random.default_rng(0)
    weights = rng.random(1001) * 0.1
    for truth in (rng.integers(0, 3, 1001), np.zeros(1001, dtype=int)):
        codes = np.zeros(1001, dtype=int)
        facts = Case(Multiclass("abc"), truth, np.eye(3)[codes], weights, codes=codes).summary
        assert isinstance(find("mcc", "multiclass").compute_value(facts), Undefined)
    marginals = Marginals(np.array([3.0, 0]), np.array([3.0, 0]), np.array([3.0, 0]), 3.0, 0.0)
    assert np.isnan(multiclass.mcc(marginals)) and np.isnan(multiclass.cohen_kappa(marginals))


SAID: tuple[tuple[Task, str, str], ...] = (
    ("binary", "average_precision", "trapezoid"),
    ("binary", "ece", "number of bins"),
    ("multiclass", "ece", "number of bins"),
    ("binary", "brier", "sums over both classes"),
    ("multiclass", "brier", "summed over classes"),
    ("multiclass", "f1_macro", "absent class"),
    ("binary", "roc_auc", "one class"),
    ("multiclass", "roc_auc_ovr_macro", "NaN"),
    ("binary", "mcc", "constant"),
    ("multiclass", "mcc", "constant"),
    ("binary", "cohen_kappa", "constant"),
    ("binary", "roc_auc", "Ties"),
    ("multiclass", "top_3_accuracy", "tied"),
    ("binary", "recall", ">="),
    ("multilabel", "subset_accuracy", "scikit-learn calls this accuracy"),
)


@pytest.mark.parametrize(("task", "name", "words"), SAID)
def test_where_tools_differ_is_said(task: Task, name: str, words: str) -> None:
    assert words in find(name, task).trap


def test_decision_scores_alone_rank_and_nothing_more() -> None:
    y, margin = np.array([0, 0, 1, 1]), np.array([-3.0, 1.0, 0.5, 2.0])
    facts = summarise(predictions(SPACE, y, scores=Decisions(margin)))
    assert find("roc_auc").compute_value(facts) == 0.75
    assert find("prevalence", "binary").compute_value(facts) == 0.5
    for name, reason in (("log_loss", "needs probabilities"), ("recall", "needs predictions or a threshold")):
        found = find(name, "binary").compute_value(facts)
        assert isinstance(found, Undefined) and reason in found.reason
        assert find(name, "binary").weight(facts) == 4


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="there is no multiclass metric 'f1_marco'") as caught:
        find("f1_marco", "multiclass")
    assert "f1_macro" in caught.value.fix


LISTS = {
    "binary": BINARY,
    "multiclass": MULTICLASS,
    "multilabel": MULTILABEL,
    "text": catalogue(Multiclass("abc"), text=True),
    "graded": catalogue(Graded()),
}


def test_the_tables_name_metrics_that_there_are() -> None:
    for tables in (HEADLINE, COMPARED):
        for task, names in tables.items():
            known = {m.name for m in LISTS[task]}
            assert set(names) <= known


def test_one_class_in_the_truth_is_said() -> None:
    facts = Case(SPACE, np.ones(5, dtype=int), np.linspace(0.1, 0.9, 5), threshold=0.5).summary
    for name in (
        "roc_auc",
        "specificity",
        "balanced_accuracy",
        "mcc",
        "brier_skill",
        "calibration_slope",
        "ks",
    ):
        found = find(name, "binary").compute_value(facts)
        assert isinstance(found, Undefined), name
        assert "only one class" in found.reason or "no negative example" in found.reason, name
    assert find("recall").compute_value(facts) == 0.6
    assert find("average_precision").compute_value(facts) == 1


@pytest.mark.slow
def test_no_skill_of_label_sets_is_the_mean_over_shuffled_answers() -> None:
    rng = np.random.default_rng(0)
    truth, answer = rng.random((60, 4)) < [0.05, 0.3, 0.5, 0.9], rng.random((60, 4)) < [0.3, 0.1, 0.5, 0.6]
    facts = summarise(predictions(Multilabel("abcd"), truth, answer))
    for way in ("micro", "macro"):
        shuffled = [f1_score(truth, rng.permutation(answer), average=way) for _ in range(500)]
        level = no_skill(find(f"f1_{way}", "multilabel"), facts)
        assert level == pytest.approx(np.mean(shuffled), abs=4 * np.std(shuffled) / 500**0.5)
