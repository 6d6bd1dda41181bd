"""Averages over classes are over those that can be measured, and how many are left out is told."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.intervals import Sampling
from evalreport.labels import Multiclass
from evalreport.predictions import predictions
from evalreport.scores import Probabilities
from evalreport.values import Estimate, Undefined


def test_a_perfect_ranking_of_four_of_six_classes_is_perfect() -> None:
    truth = np.arange(80) % 4
    scores = 0.1 + 0.4 * np.eye(6)[truth]
    p = predictions(Multiclass(range(6)), truth, scores=Probabilities(scores))
    found = evaluate_predictions(p, Sampling(resamples=100))
    for name in ("average_precision_macro", "roc_auc_ovr_macro"):
        result = found[name]
        assert isinstance(result, Estimate)
        assert result.value == 1.0
        assert result.low is not None
        whole = found[f"{name}_declared"]
        assert isinstance(whole, Undefined)
        assert "2 of 6 classes" in whole.reason
    # Of each class a quarter of the rows is half off, the rest a tenth; of an absent one all are a tenth off.
    assert found["classwise_ece"].value == pytest.approx(0.2)
    assert found["classwise_ece_declared"].value == pytest.approx((4 * 0.2 + 2 * 0.1) / 6)
    assert found.facts["absent_labels"] == 2
    assert any("2 of 6 labels have no example" in note for note in found.notes)
