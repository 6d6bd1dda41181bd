"""Every metric that scikit-learn has, to 1e-12."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

from evalreport.core.result import Undefined
from evalreport.data.labels import Task
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.multiclass import class_estimates
from evalreport.metrics.catalogue import BINARY, MULTICLASS, MULTILABEL, PER_CLASS, find
from tests.metrics.cases import Case, binary_cases, multiclass_cases, multilabel_cases

Reference = Callable[[Case], float]


def _labels(function: Callable[..., Any], **options: Any) -> Reference:
    return lambda case: function(case.y, case.pred, sample_weight=case.weights, **options)


def _scores(function: Callable[..., Any], **options: Any) -> Reference:
    return lambda case: function(case.y, case.score.astype(np.float64), sample_weight=case.weights, **options)


def _cell(row: int, column: int) -> Reference:
    return lambda c: sk.confusion_matrix(c.y, c.pred, sample_weight=c.weights, labels=[0, 1])[row, column]


def _ratio(which: int) -> Reference:
    return lambda c: sk.class_likelihood_ratios(c.y, c.pred, sample_weight=c.weights, labels=[0, 1])[which]


NAN = {"zero_division": np.nan}
BINARY_REFERENCE: dict[str, Reference] = {
    "tn": _cell(0, 0),
    "fp": _cell(0, 1),
    "fn": _cell(1, 0),
    "tp": _cell(1, 1),
    "accuracy": _labels(sk.accuracy_score),
    "balanced_accuracy": _labels(sk.balanced_accuracy_score),
    "precision": _labels(sk.precision_score, **NAN),
    "recall": _labels(sk.recall_score, **NAN),
    "specificity": _labels(sk.recall_score, pos_label=0, **NAN),
    "npv": _labels(sk.precision_score, pos_label=0, **NAN),
    "f1": _labels(sk.f1_score, **NAN),
    "f05": _labels(sk.fbeta_score, beta=0.5, **NAN),
    "f2": _labels(sk.fbeta_score, beta=2, **NAN),
    "jaccard": _labels(sk.jaccard_score, zero_division=0),
    "mcc": _labels(sk.matthews_corrcoef),
    "cohen_kappa": _labels(sk.cohen_kappa_score),
    "lr_positive": _ratio(0),
    "lr_negative": _ratio(1),
    "roc_auc": _scores(sk.roc_auc_score),
    "gini": lambda case: 2 * _scores(sk.roc_auc_score)(case) - 1,
    "average_precision": _scores(sk.average_precision_score),
    "partial_auc_fpr10": _scores(sk.roc_auc_score, max_fpr=0.1),
    "log_loss": _scores(sk.log_loss, labels=[0, 1]),
    "brier": _scores(sk.brier_score_loss),
    "brier_skill": _scores(lambda y, s, **given: sk.d2_brier_score(y, s, **given)),  # noqa: PLW0108 - since 1.8
}


def _prf(name: str) -> Callable[..., Any]:
    match name:
        case "precision":
            function: Callable[..., Any] = sk.precision_score
        case "recall":
            function = sk.recall_score
        case _:
            function = sk.f1_score
    return function


def _declared(case: Case) -> Any:
    return np.arange(len(case.space))


def _counted(case: Case) -> Any:
    return slice(None) if case.weights is None else case.weights > 0


def _supported(case: Case) -> Any:
    return np.unique(case.y[_counted(case)])


def _union(case: Case) -> Any:
    kept = _counted(case)
    both = np.union1d(case.y[kept], case.pred[kept])
    return both[both >= 0]


def _over(function: Callable[..., Any], average: str, labels: Callable[[Case], Any]) -> Reference:
    def reference(c: Case) -> float:
        return float(
            function(c.y, c.pred, average=average, labels=labels(c), sample_weight=c.weights, zero_division=0)
        )

    return reference


def _indicator(case: Case) -> Any:
    return case.y[:, None] == np.arange(len(case.space))


def _ovo(case: Case) -> float:
    if case.weights is not None and len(np.unique(case.weights)) > 1:
        return _slow_ovo(case)
    return float(sk.roc_auc_score(case.y, case.score, multi_class="ovo", labels=_declared(case)))


def _slow_ovo(case: Case) -> float:
    """scikit-learn's one-vs-one takes no weights: the pairs by hand."""
    areas, weights, present = [], case.weights, _supported(case)
    assert weights is not None
    for a in present:
        for b in present:
            if a != b:
                rows = (case.y == a) | (case.y == b)
                areas.append(
                    sk.roc_auc_score(case.y[rows] == a, case.score[rows, a], sample_weight=weights[rows])
                )
    return float(np.mean(areas))


def _ovr(**options: Any) -> Reference:
    return lambda c: sk.roc_auc_score(_indicator(c), c.score, sample_weight=c.weights, **options)


def _ap(average: str) -> Reference:
    return lambda c: sk.average_precision_score(
        _indicator(c), c.score, average=average, sample_weight=c.weights
    )


def _of_measured(area: Callable[..., Any]) -> Reference:
    """The mean over the classes that have examples (for the AUC: and rows without them)."""

    def reference(case: Case) -> float:
        truth = case.y if case.y.ndim == 2 else _indicator(case)
        rows = np.ones(len(truth), bool) if case.weights is None else case.weights > 0
        least = 2 if area is sk.roc_auc_score else 1
        kinds = [len(np.unique(column)) for column in truth[rows].T]
        known = [k for k, kind in enumerate(kinds) if kind >= least and truth[rows, k].any()]
        weights = None if case.weights is None else case.weights[rows]
        areas = [area(truth[rows, k], case.score[rows, k], sample_weight=weights) for k in known]
        return float(np.mean(areas)) if areas else float("nan")

    return reference


def _whole_ap(case: Case) -> float:
    """scikit-learn's mean, which counts a class without examples as 0: then there is none here."""
    rows = np.ones(len(case.y), bool) if case.weights is None else case.weights > 0
    truth = case.y if case.y.ndim == 2 else _indicator(case)
    if not truth[rows].any(axis=0).all():
        return float("nan")
    found = sk.average_precision_score(truth, case.score, average="macro", sample_weight=case.weights)
    return float(found)


def _top(k: int) -> Reference:
    return lambda c: sk.top_k_accuracy_score(c.y, c.score, k=k, labels=_declared(c), sample_weight=c.weights)


MULTICLASS_REFERENCE: dict[str, Reference] = {
    "accuracy": _labels(sk.accuracy_score),
    "balanced_accuracy": _over(sk.recall_score, "macro", _supported),
    **{
        f"{name}_{ours}": _over(_prf(name), theirs, labels)
        for name in ("precision", "recall", "f1")
        for ours, theirs, labels in (
            ("micro", "micro", _declared),
            ("macro", "macro", _union),
            ("macro_supported", "macro", _supported),
            ("macro_declared", "macro", _declared),
            ("weighted", "weighted", _declared),
        )
    },
    "mcc": _labels(sk.matthews_corrcoef),
    "cohen_kappa": _labels(sk.cohen_kappa_score),
    "cohen_kappa_quadratic": lambda c: sk.cohen_kappa_score(
        c.y, c.pred, weights="quadratic", labels=_declared(c), sample_weight=c.weights
    ),
    "cohen_kappa_linear": lambda c: sk.cohen_kappa_score(
        c.y, c.pred, weights="linear", labels=_declared(c), sample_weight=c.weights
    ),
    "log_loss": lambda c: sk.log_loss(c.y, c.score, labels=_declared(c), sample_weight=c.weights),
    "brier": lambda c: sk.brier_score_loss(
        c.y, c.score, labels=_declared(c), sample_weight=c.weights, scale_by_half=False
    ),
    "top_2_accuracy": _top(2),
    "top_3_accuracy": _top(3),
    "top_5_accuracy": _top(5),
    "roc_auc_ovr_macro": _of_measured(sk.roc_auc_score),
    "roc_auc_ovr_macro_declared": _ovr(average="macro"),
    "roc_auc_ovr_weighted": _ovr(average="weighted"),
    "roc_auc_ovr_micro": _ovr(average="micro"),
    "roc_auc_ovo_macro": _ovo,
    "average_precision_macro": _of_measured(sk.average_precision_score),
    "average_precision_macro_declared": _whole_ap,
    "average_precision_micro": _ap("micro"),
}


def _sets(function: Callable[..., Any], average: str) -> Reference:
    return _labels(function, average=average, zero_division=0)


def _rows_that_count(case: Case) -> Any:
    rows = np.ones(len(case.y), bool) if case.weights is None else case.weights > 0
    return case.y[rows].any(axis=0)


def _prf_supported(function: Callable[..., Any]) -> Reference:
    def reference(c: Case) -> float:
        each = function(c.y, c.pred, average=None, sample_weight=c.weights, zero_division=0)
        return float(each[_rows_that_count(c)].mean())

    return reference


MULTILABEL_REFERENCE: dict[str, Reference] = {
    "subset_accuracy": _labels(sk.accuracy_score),
    "hamming_loss": _labels(sk.hamming_loss),
    "label_accuracy": lambda c: 1 - _labels(sk.hamming_loss)(c),
    **{f"jaccard_{way}": _sets(sk.jaccard_score, way) for way in ("samples", "macro", "micro")},
    **{
        f"{name}_{way}": _sets(_prf(name), way)
        for name in ("precision", "recall", "f1")
        for way in ("micro", "macro", "weighted", "samples")
    },
    **{f"{name}_macro_supported": _prf_supported(_prf(name)) for name in ("precision", "recall", "f1")},
    "roc_auc_macro": _of_measured(sk.roc_auc_score),
    "roc_auc_macro_declared": _scores(sk.roc_auc_score, average="macro"),
    "roc_auc_micro": _scores(sk.roc_auc_score, average="micro"),
    "roc_auc_weighted": _scores(sk.roc_auc_score, average="weighted"),
    "average_precision_macro": _of_measured(sk.average_precision_score),
    "average_precision_macro_declared": _whole_ap,
    "average_precision_micro": _scores(sk.average_precision_score, average="micro"),
    "average_precision_samples": _scores(sk.label_ranking_average_precision_score),
    "coverage_error": _scores(sk.coverage_error),
    "ranking_loss": _scores(sk.label_ranking_loss),
}
CASES: dict[Task, list[Case]] = {
    "binary": list(binary_cases(16)),
    "multiclass": list(multiclass_cases(20)),
    "multilabel": list(multilabel_cases(16)),
}
REFERENCES: dict[Task, dict[str, Reference]] = {
    "binary": BINARY_REFERENCE,
    "multiclass": MULTICLASS_REFERENCE,
    "multilabel": MULTILABEL_REFERENCE,
}


def quietly(reference: Reference, case: Case) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(reference(case))


@pytest.mark.parametrize(("task", "name"), [(task, name) for task in REFERENCES for name in REFERENCES[task]])
def test_agrees_with_scikit_learn(task: Task, name: str) -> None:
    metric, defined = find(name, task), 0
    for case in CASES[task]:
        ours, theirs = metric.compute_value(case.summary), quietly(REFERENCES[task][name], case)
        if isinstance(ours, Undefined):
            # scikit-learn's stand-ins for what has no value: NaN, infinity, and 0 (1 for a ratio).
            assert not np.isfinite(theirs) or theirs in (0, 1) or "parsed" in ours.reason, (name, ours)
            continue
        if np.isnan(theirs):
            assert name in ("roc_auc_ovr_weighted", "roc_auc_weighted")
            continue
        defined += 1
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)
        assert metric.low <= ours <= metric.high
    assert defined > len(CASES[task]) / 3


@pytest.mark.parametrize("task", ["multiclass", "multilabel"])
def test_per_class_values_agree(task: Task) -> None:
    for case in CASES[task]:
        truth = _indicator(case) if task == "multiclass" else case.y
        pred = case.pred[:, None] == np.arange(len(case.space)) if task == "multiclass" else case.pred
        each = class_estimates(PER_CLASS, case.summary, None, Sampling(intervals=False))
        ours = {m.name: np.array([r[m.name].value for r in each], dtype=np.float64) for m in PER_CLASS}
        for name, reference in (
            ("precision", sk.precision_score),
            ("recall", sk.recall_score),
            ("f1", sk.f1_score),
        ):
            theirs = reference(truth, pred, average=None, sample_weight=case.weights, zero_division=np.nan)
            np.testing.assert_allclose(ours[name], theirs, rtol=1e-12)
        for k in range(len(case.space)):
            kept = _counted(case)
            if truth[kept, k].any() and not truth[kept, k].all():
                args = (truth[:, k], case.score[:, k])
                auc = sk.roc_auc_score(*args, sample_weight=case.weights)
                ap = sk.average_precision_score(*args, sample_weight=case.weights)
                assert ours["roc_auc"][k] == pytest.approx(auc, rel=1e-12)
                assert ours["average_precision"][k] == pytest.approx(ap, rel=1e-12)
            else:
                assert np.isnan(ours["roc_auc"][k])


@pytest.mark.parametrize(
    "listed", [BINARY, MULTICLASS, MULTILABEL], ids=["binary", "multiclass", "multilabel"]
)
def test_names_are_distinct(listed: Any) -> None:
    assert len({metric.name for metric in listed}) == len(listed)
