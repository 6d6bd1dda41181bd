"""`er.sweep`: thresholds of an evaluation, and the standing of a sweep's trials."""

from __future__ import annotations

import numpy as np

import evalreport as er


def test_a_threshold_comes_with_its_honest_value() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.2
    scores = er.Probabilities(1 / (1 + np.exp(-rng.normal(size=300) - 2 * truth + 1)))
    ev = er.evaluate(truth.astype(int), scores=scores)
    best = er.sweep(ev, "f1")
    assert best.honest.value.value < best.apparent
    elsewhere = er.sweep(ev, "f1", tune_on=ev)
    assert elsewhere.honest.method == "other rows"


def test_labels_get_a_threshold_each() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((200, 3)) < 0.3
    ev = er.evaluate(truth, scores=er.Probabilities(np.clip(rng.random((200, 3)) * 0.7 + 0.3 * truth, 0, 1)))
    assert set(er.sweep(ev).values) == {"0", "1", "2"}


def test_trials_become_a_study_with_a_page() -> None:
    rows = [{"params": {"C": c}, "value": 0.8 + 0.01 * (c % 3)} for c in range(12)]
    study = er.sweep(er.Trials.from_records(rows, objectives="accuracy"), judging=er.Judging(n=400))
    assert (study.best.number, len(study.tied)) == (2, 11)
    assert "cannot be told apart" in er.to_html(study)
