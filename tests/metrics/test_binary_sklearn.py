"""Every binary metric that scikit-learn has, to 1e-12."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

from evalreport.metrics.catalogue import BINARY, find
from evalreport.values import Undefined
from tests.metrics.cases import BinaryCase, binary_cases


def _on_predictions(function: Callable[..., Any], **options: Any) -> Callable[[BinaryCase], float]:
    return lambda case: function(case.y, case.pred, sample_weight=case.weights, **options)


def _on_scores(function: Callable[..., Any], **options: Any) -> Callable[[BinaryCase], float]:
    return lambda case: function(case.y, case.score.astype(np.float64), sample_weight=case.weights, **options)


def _cell(row: int, column: int) -> Callable[[BinaryCase], float]:
    return lambda c: sk.confusion_matrix(c.y, c.pred, sample_weight=c.weights, labels=[0, 1])[row, column]


def _ratio(which: int) -> Callable[[BinaryCase], float]:
    return lambda c: sk.class_likelihood_ratios(c.y, c.pred, sample_weight=c.weights, labels=[0, 1])[which]


NAN = {"zero_division": np.nan}
REFERENCE: dict[str, Callable[[BinaryCase], float]] = {
    "tn": _cell(0, 0),
    "fp": _cell(0, 1),
    "fn": _cell(1, 0),
    "tp": _cell(1, 1),
    "accuracy": _on_predictions(sk.accuracy_score),
    "balanced_accuracy": _on_predictions(sk.balanced_accuracy_score),
    "precision": _on_predictions(sk.precision_score, **NAN),
    "recall": _on_predictions(sk.recall_score, **NAN),
    "specificity": _on_predictions(sk.recall_score, pos_label=0, **NAN),
    "npv": _on_predictions(sk.precision_score, pos_label=0, **NAN),
    "f1": _on_predictions(sk.f1_score, **NAN),
    "f05": _on_predictions(sk.fbeta_score, beta=0.5, **NAN),
    "f2": _on_predictions(sk.fbeta_score, beta=2, **NAN),
    "jaccard": _on_predictions(sk.jaccard_score, zero_division=0),
    "mcc": _on_predictions(sk.matthews_corrcoef),
    "cohen_kappa": _on_predictions(sk.cohen_kappa_score),
    "lr_positive": _ratio(0),
    "lr_negative": _ratio(1),
    "roc_auc": _on_scores(sk.roc_auc_score),
    "gini": lambda case: 2 * _on_scores(sk.roc_auc_score)(case) - 1,
    "average_precision": _on_scores(sk.average_precision_score),
    "partial_auc_fpr10": _on_scores(sk.roc_auc_score, max_fpr=0.1),
    "log_loss": _on_scores(sk.log_loss, labels=[0, 1]),
    "brier": _on_scores(sk.brier_score_loss),
    "brier_skill": _on_scores(sk.d2_brier_score),
}
CASES = list(binary_cases(48))


@pytest.mark.parametrize("name", REFERENCE)
def test_agrees_with_scikit_learn(name: str) -> None:
    metric, defined = find(name, "binary"), 0
    for case in CASES:
        ours = metric.of(case.summary)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = float(REFERENCE[name](case))
        if isinstance(ours, Undefined):
            # scikit-learn's stand-ins for what has no value: NaN, infinity, and 0 (1 for a ratio).
            assert not np.isfinite(theirs) or theirs in (0, 1), (name, theirs, ours)
            continue
        defined += 1
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)
        assert metric.low <= ours <= metric.high
    assert defined > len(CASES) / 2


def test_names_are_distinct() -> None:
    assert len({metric.name for metric in BINARY}) == len(BINARY)
