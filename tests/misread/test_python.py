"""Arrays and lists in Python are checked as files are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.core.errors import DataError


def test_lists_of_0_and_1_are_indicators() -> None:
    truth, predicted = [[0, 1, 1], [1, 0, 0], [0, 0, 1]], [[0, 1, 1], [1, 0, 1], [0, 0, 1]]
    found = er.evaluate(truth, predicted, confidence=None)
    assert found.task == "multilabel"
    assert found["subset_accuracy"].value == pytest.approx(2 / 3)


def test_labels_without_one_in_common_are_refused() -> None:
    with pytest.raises(DataError, match="no label in common"):
        er.evaluate(["a", "b", "a"], ["x", "y", "x"])


N = 300
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(4, size=N)
WORDS = np.array(["ant", "bee", "cow", "dog"])


def scores_of(truth: np.ndarray) -> np.ndarray:
    found = RNG.random((N, 4)) + 2 * np.eye(4)[truth]
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def test_one_true_label_and_several_predicted_ones_are_refused() -> None:
    with pytest.raises(DataError, match="is ant in every row") as caught:
        er.evaluate(["ant"] * N, WORDS[TRUTH])
    assert "labels=" in caught.value.fix
    assert er.evaluate(["ant"] * N, WORDS[TRUTH], labels=WORDS.tolist(), confidence=None).rows == N
    assert er.evaluate(["ant"] * N, WORDS[TRUTH % 2], confidence=None).rows == N


def test_predictions_with_exchanged_labels_are_refused() -> None:
    with pytest.raises(DataError, match="with exchanged labels"):
        er.evaluate(TRUTH, (TRUTH + 1) % 4)


def test_predictions_that_are_not_those_of_the_scores_are_refused() -> None:
    scores = scores_of(TRUTH)
    answers = WORDS[scores.argmax(axis=1)]
    with pytest.raises(DataError, match="belongs to the predicted label in") as caught:
        er.evaluate(WORDS[TRUTH], answers, er.Probabilities(np.roll(scores, 1, axis=1)))
    assert "labels=er.Multiclass" in caught.value.fix
    turned = er.Multiclass(np.roll(WORDS, 1).tolist())
    scored = er.Probabilities(np.roll(scores, 1, axis=1))
    assert er.evaluate(WORDS[TRUTH], answers, scored, labels=turned, confidence=None).rows == N


def test_reversed_scores_are_refused() -> None:
    ill = TRUTH > 1
    scores = np.where(ill, 0.2, 0.7) + RNG.random(N) / 5
    with pytest.raises(DataError, match="rank true True last") as caught:
        er.evaluate(ill, scores=er.Probabilities(scores))
    assert "--" not in caught.value.message + caught.value.fix
    declared = er.Binary(False, True)
    assert er.evaluate(ill, scores=er.Probabilities(scores), labels=declared, confidence=None).rows == N
    with pytest.raises(DataError, match="rank every true label last"):
        er.evaluate(WORDS[TRUTH], scores=er.Probabilities((1 - scores_of(TRUTH)) / 3))


def test_several_evaluations_in_a_frame_are_refused() -> None:
    truth = list("abbabaabbbaaba")
    frame = pd.DataFrame({"model": ["m"] * 14 + ["n"] * 14, "y_true": truth * 2, "y_pred": truth * 2})
    with pytest.raises(DataError, match="'model' separates 2 evaluations"):
        er.evaluate(frame)
    assert er.evaluate(frame, where="model=m").rows == 14
