"""Curves of multiclass and multilabel problems against the rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import precision_recall_curve

from evalreport.core.json_codec import decode, encode
from evalreport.core.result import Undefined
from evalreport.curves.class_curves import MulticlassCurves, MultilabelCurves
from evalreport.curves.curve import Curve
from evalreport.data.labels import Multiclass, Multilabel
from evalreport.data.predictions import predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.evaluation.evaluation import curves
from evalreport.statistics.summary import summarise


def multiclass(n: int = 300) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    rng = np.random.default_rng(1)
    scores = rng.dirichlet(np.ones(4) * 0.5, size=n)
    truth = np.array([rng.choice(4, p=row) for row in scores])
    return truth, scores


def test_coverage_is_accuracy_among_the_most_confident() -> None:
    truth, scores = multiclass()
    space = Multiclass(range(4))
    found = curves(summarise(predictions(space, truth, scores=Probabilities(scores))))
    assert isinstance(found, MulticlassCurves) and isinstance(found.coverage, Curve)
    assert found.coverage.threshold is not None and found.coverage.threshold[0] == np.inf
    confidence, right = scores.max(axis=1), scores.argmax(axis=1) == truth
    points = zip(found.coverage.x, found.coverage.y, found.coverage.threshold, strict=True)
    for x, y, at in list(points)[1:]:
        answered = confidence >= at - 1e-15
        assert x == pytest.approx(answered.mean()) and y == pytest.approx(right[answered].mean())
    assert not isinstance(found.histogram, Undefined)
    assert sum(found.histogram.positive) == right.sum()
    again = decode(type(found), json.loads(json.dumps(encode(found), allow_nan=False)))
    assert again == found


def test_multilabel_pools_and_counts_labels() -> None:
    rng = np.random.default_rng(2)
    scores = rng.random((200, 5))
    truth = rng.random((200, 5)) < scores * 0.6
    space = Multilabel("abcde")
    found = curves(summarise(predictions(space, truth, scores=Probabilities(scores))))
    assert isinstance(found, MultilabelCurves) and isinstance(found.pr, Curve)
    precision, recall, _ = precision_recall_curve(truth.ravel(), scores.ravel())
    points = {(round(r, 12), round(p, 12)) for r, p in zip(recall, precision, strict=True)}
    drawn = zip(found.pr.x[1:], found.pr.y[1:], strict=True)
    assert {(round(r, 12), round(p, 12)) for r, p in drawn} <= points
    assert not isinstance(found.cardinality, Undefined)
    for k, true, predicted in zip(
        found.cardinality.labels, found.cardinality.true, found.cardinality.predicted, strict=True
    ):
        assert true == (truth.sum(axis=1) == k).sum()
        assert predicted == ((scores >= 0.5).sum(axis=1) == k).sum()
    assert decode(type(found), json.loads(json.dumps(encode(found), allow_nan=False))) == found


def test_what_is_missing_is_said() -> None:
    truth, scores = multiclass(20)
    space = Multiclass(range(4))
    margins = curves(summarise(predictions(space, truth, scores=Decisions(scores))))
    assert isinstance(margins, MulticlassCurves) and isinstance(margins.roc_macro, Curve)
    assert isinstance(margins.coverage, Undefined) and "decision scores" in margins.coverage.reason
    labels = curves(summarise(predictions(space, truth, truth)))
    assert isinstance(labels, Undefined) and "only labels" in labels.reason
    several = predictions(Multilabel("ab"), scores[:, :2] > 0.5, scores=Decisions(scores[:, :2] - 0.5))
    found = curves(summarise(several))
    assert isinstance(found, MultilabelCurves)
    assert isinstance(found.cardinality, Undefined) and isinstance(found.reliability, Undefined)
