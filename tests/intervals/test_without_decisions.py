"""Scores that nothing decides: what the truth alone tells has its value."""

from __future__ import annotations

import numpy as np

from evalreport.core.result import Estimate, Undefined
from evalreport.data.labels import Binary
from evalreport.data.predictions import predictions
from evalreport.data.scores import Decisions
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.intervals.interval_settings import Sampling


def test_the_majority_has_a_value_without_decisions() -> None:
    p = predictions(Binary(0, 1), [0, 1, 0, 1, 0] * 20, scores=Decisions(np.array([1.0, 2, 3, 4, 1] * 20)))
    metrics = evaluate_predictions(p, Sampling(resamples=400)).metrics
    majority = metrics["no_information_rate"]
    assert isinstance(majority, Estimate)
    assert (majority.value, majority.low) == (0.6, None)
    assert majority.reason == "no method with measured coverage"
    prevalence = metrics["prevalence"]
    assert isinstance(prevalence, Estimate)
    assert prevalence.low is not None
    assert prevalence.high is not None
    assert prevalence.low < prevalence.value < prevalence.high
    assert isinstance(metrics["recall"], Undefined)
