"""Averaged curves of many classes against scikit-learn, class by class and pooled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from evalreport.core.result import Undefined
from evalreport.curves.class_curves import average_curves
from evalreport.curves.curve import Curve
from evalreport.statistics.class_scores import ClassScores

Data = tuple[npt.NDArray[Any], npt.NDArray[np.float64]]


def some(n: int, k: int, *, digits: int = 12, seed: int = 0) -> Data:
    rng = np.random.default_rng(seed)
    truth = np.append(np.arange(k), rng.integers(0, k, n - k))
    scores = rng.random((n, k)) + 0.4 * (truth[:, None] == np.arange(k))
    return truth, scores.round(digits)


def drawn(found: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    assert isinstance(found, Curve) and len(found.x) <= 400
    assert (np.diff(found.x) >= 0).all()
    return np.array(found.x), np.array(found.y)


def recalls(fpr: npt.NDArray[Any], tpr: npt.NDArray[Any], at: float) -> tuple[float, float]:
    """Recall just before and just after the step at a false positive rate."""
    before = np.interp(at - 1e-11, fpr, tpr) if at > 0 else 0.0
    return float(before), float(np.interp(at + 1e-11, fpr, tpr))


@pytest.mark.parametrize(("n", "k", "digits"), [(60, 3, 12), (300, 7, 1), (2500, 12, 12)])
def test_macro_roc_is_the_mean_of_the_classes(n: int, k: int, digits: int) -> None:
    truth, scores = some(n, k, digits=digits)
    x, y = drawn(average_curves(ClassScores(scores, truth, None))["roc_macro"])
    each = [roc_curve(truth == c, scores[:, c])[:2] for c in range(k)]
    for fpr, tpr in zip(x, y, strict=True):
        before, after = np.mean([recalls(a, b, fpr) for a, b in each], axis=0)
        assert before - 1e-6 <= tpr <= after + 1e-6
    area = roc_auc_score(np.eye(k)[truth], scores, average="macro")
    assert np.trapezoid(y, x) == pytest.approx(area, abs=5e-4)


@pytest.mark.parametrize(("n", "k", "digits"), [(60, 3, 12), (300, 7, 1), (2500, 12, 12)])
def test_micro_curves_are_those_of_all_decisions(n: int, k: int, digits: int) -> None:
    truth, scores = some(n, k, digits=digits)
    found = average_curves(ClassScores(scores, truth, None))
    pooled = np.eye(k, dtype=bool)[truth].ravel(), scores.ravel()
    fpr, tpr, _ = roc_curve(*pooled, drop_intermediate=False)
    for a, b in zip(*drawn(found["roc_micro"]), strict=True):
        assert np.hypot(fpr - a, tpr - b).min() < 1e-12 or recalls(fpr, tpr, a)[1] == pytest.approx(b)
    x, y = drawn(found["roc_micro"])
    assert np.trapezoid(y, x) == pytest.approx(roc_auc_score(*pooled), abs=5e-4)
    precision, recall, _ = precision_recall_curve(*pooled)
    points = {(round(r, 10), round(p, 10)) for r, p in zip(recall, precision, strict=True)}
    x, y = drawn(found["pr_micro"])
    assert {
        (round(r, 10), round(p, 10)) for r, p in zip(x[1:].tolist(), y[1:].tolist(), strict=True)
    } <= points
    assert np.sum(np.diff(x) * y[1:]) == pytest.approx(average_precision_score(*pooled), abs=2e-3)


@pytest.mark.parametrize(("n", "k", "digits"), [(60, 3, 12), (300, 7, 1)])
def test_macro_precision_is_the_mean_of_the_classes(n: int, k: int, digits: int) -> None:
    truth, scores = some(n, k, digits=digits)
    x, y = drawn(average_curves(ClassScores(scores, truth, None))["pr_macro"])
    each = []
    for c in range(k):
        precision, recall, _ = precision_recall_curve(truth == c, scores[:, c])
        each.append((recall[::-1], precision[::-1]))
    for r, p in zip(x[1:], y[1:], strict=True):
        steps = [
            max(precision[recall >= r - 1e-9][recall[recall >= r - 1e-9] == recall[recall >= r - 1e-9].min()])
            for recall, precision in each
        ]
        assert p == pytest.approx(np.mean(steps), abs=1e-9)
    area = average_precision_score(np.eye(k)[truth], scores, average="macro")
    assert np.sum(np.diff(x) * y[1:]) == pytest.approx(area, abs=2e-3)


def test_weights_repeat_rows_and_nothing_removes_them() -> None:
    truth, scores = some(80, 4)
    times = np.random.default_rng(1).integers(0, 3, 80)
    times[:4] = 1
    weighted = average_curves(ClassScores(scores, truth, times.astype(float)))
    repeated = average_curves(ClassScores(scores.repeat(times, axis=0), truth.repeat(times), None))
    for name, found in weighted.items():
        for a, b in zip(drawn(found), drawn(repeated[name]), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)


def test_macro_curves_are_over_the_classes_with_examples() -> None:
    truth, scores = some(40, 3)
    truth = np.where(truth == 2, 1, truth)
    found = average_curves(ClassScores(scores, truth, None))
    x, y = drawn(found["roc_macro"])
    areas = [roc_auc_score(truth == c, scores[:, c]) for c in (0, 1)]
    assert np.trapezoid(y, x) == pytest.approx(np.mean(areas), abs=2e-3)
    x, y = drawn(found["pr_macro"])
    wanted = [average_precision_score(truth == c, scores[:, c]) for c in (0, 1)]
    assert np.sum(np.diff(x) * y[1:]) == pytest.approx(np.mean(wanted), abs=2e-3)
    alone = average_curves(ClassScores(scores[:, :1], np.zeros(40, dtype=int), None))
    assert all(isinstance(part, Undefined) for part in alone.values())
