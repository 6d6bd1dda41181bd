"""Answer only when sure: the cut-off against a slow loop, and what it keeps on other rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from evalreport.core.errors import UsageError
from evalreport.core.json_codec import decode, encode
from evalreport.core.result import Estimate, Undefined
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.thresholds.best_threshold import Cutoff, Unreachable
from evalreport.thresholds.cross_fitting import cutoff


def made(n: int, seed: int, **named: Any) -> Predictions:
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(4, 0.6), n)
    truth = (rng.random(n)[:, None] > probabilities.cumsum(axis=1)).sum(axis=1)
    return predictions(Multiclass(range(4)), truth, scores=Probabilities(probabilities), **named)


def sure(rows: Predictions) -> tuple[Any, Any]:
    assert isinstance(rows.scores, Probabilities)
    values = rows.scores.values
    return values.max(axis=1), values.argmax(axis=1) == rows.y_true


def found(rows: Predictions, wanted: float, **named: Any) -> Cutoff:
    choice = cutoff(rows, wanted, **named)
    assert isinstance(choice, Cutoff)
    return choice


@pytest.mark.parametrize("wanted", [0.6, 0.8, 0.9])
def test_it_is_the_widest_coverage_with_the_wanted_accuracy(wanted: float) -> None:
    rows = made(300, 0)
    confidence, right = sure(rows)
    best = max((confidence >= t).mean() for t in confidence if right[confidence >= t].mean() >= wanted)
    choice = found(rows, wanted)
    answered = confidence >= choice.threshold
    assert choice.coverage == pytest.approx(best) == pytest.approx(answered.mean())
    assert choice.accuracy == pytest.approx(right[answered].mean()) and choice.accuracy >= wanted
    assert choice.low <= choice.threshold <= choice.high
    assert decode(Cutoff, json.loads(json.dumps(encode(choice), allow_nan=False))) == choice


def test_the_held_out_accuracy_is_reported() -> None:
    kept, later = [], []
    fresh_confidence, fresh_right = sure(made(20_000, 99))
    for seed in range(20):
        choice = found(made(150, seed), 0.7)
        assert isinstance(choice.out_of_sample.kept, Estimate) and isinstance(
            choice.out_of_sample.value, Estimate
        )
        kept.append(choice.out_of_sample.kept.value)
        later.append(fresh_right[fresh_confidence >= choice.threshold].mean())
    assert abs(np.mean(kept) - np.mean(later)) < 0.02
    other = found(made(500, 1), 0.8, tune_on=made(500, 2))
    assert other.out_of_sample.method == "other rows" and isinstance(other.out_of_sample.kept, Estimate)
    confidence, right = sure(made(500, 1))
    assert other.out_of_sample.kept.value == pytest.approx(right[confidence >= other.threshold].mean())


def test_groups_and_weights_are_heard() -> None:
    group = np.repeat(np.arange(50), 4)
    rows = made(200, 3)
    assert isinstance(rows.scores, Probabilities)
    grouped = predictions(rows.space, rows.y_true, scores=rows.scores, groups=group)
    assert found(grouped, 0.8).threshold == found(rows, 0.8).threshold
    weights = (np.arange(200) < 100).astype(float)
    weighted = predictions(rows.space, rows.y_true, scores=rows.scores, weights=weights)
    assert found(weighted, 0.8).coverage == found(rows.take(np.arange(100)), 0.8).coverage


def test_what_cannot_be_had_is_said() -> None:
    wrong = predictions(
        Multiclass("ab"), ["a", "a"], scores=Probabilities(np.array([[0.1, 0.9], [0.4, 0.6]]))
    )
    choice = cutoff(wrong, 0.5)
    assert isinstance(choice, Unreachable) and choice.best == 0
    assert "no threshold reaches accuracy>=0.5" in choice.reason
    for scores in (Decisions(np.array([[0.1, 0.9]])), None):
        rows = predictions(Multiclass("ab"), ["a"], ["a"], scores)
        assert isinstance(cutoff(rows), Undefined)
    with pytest.raises(UsageError, match="out of range"):
        cutoff(wrong, 95)
