"""Averages over classes are over those that can be measured, and how many are left out is told."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er
from evalreport.core.result import Estimate, Undefined
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.intervals.interval_settings import Sampling
from evalreport.page.payload import present
from evalreport.page.text_summary import headline_names, markdown


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
    assert found.data_checks["absent_labels"] == 2


def test_an_absent_class_is_reported_once_as_a_class() -> None:
    truth, scores = np.array(list("abcd") * 30), np.full((120, 6), 0.1)
    scores[np.arange(120), np.arange(120) % 4] = 0.5
    ev = er.evaluate(truth, scores=er.Probabilities(scores), labels=er.Multiclass("abcdef"))
    claims = [*(f.claim for f in ev.findings), *ev.remarks]
    assert [claim.partition(":")[0] for claim in claims if "of 6" in claim] == [
        "2 of 6 classes have no example in this sample"
    ]


def test_the_best_three_of_three_classes_are_no_headline() -> None:
    """All answers are among them: 100% that nothing was done for."""
    for labels, reported in (("abc", False), ("abcd", True)):
        size, top = len(labels), "top_3_accuracy"
        truth = np.array(list(labels) * 20)
        scores = np.random.default_rng(1).dirichlet(np.ones(size), 20 * size)
        ev = er.evaluate(truth, scores=er.Probabilities(scores), slices={"half": np.arange(20 * size) % 2})
        assert top in ev.metrics
        assert (top in headline_names(ev)) is (top in ev.slices[0].metrics) is reported
        assert ("Top-3" in markdown(present(ev).summary())) is reported
        assert bool(er.compare([ev, ev]).differences_for(top)) is reported
