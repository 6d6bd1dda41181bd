"""What is worked on in blocks is the same whatever the block."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.core.result import Undefined
from evalreport.metrics.catalogue import BINARY
from evalreport.statistics import calibration_fits, rankings, score_table
from evalreport.statistics.score_table import ScoreTable
from tests.metrics.cases import Array, binary_cases, multiclass_cases


@pytest.mark.parametrize("block", [1, 3, 64])
def test_binary_values_do_not_depend_on_the_block(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in binary_cases(8, seed=5):
        whole = {metric.name: metric.compute_value(case.summary) for metric in BINARY}
        monkeypatch.setattr(score_table, "BLOCK", block)
        monkeypatch.setattr(calibration_fits, "BLOCK", block)
        again = type(case)(case.space, case.y, case.score, case.weights, case.threshold).summary
        for metric in BINARY:
            found, expected = metric.compute_value(again), whole[metric.name]
            if isinstance(expected, Undefined):
                assert isinstance(found, Undefined)
            else:
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), metric.name
        monkeypatch.undo()


@pytest.mark.parametrize("block", [1, 2, 5, 1 << 14])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_table_counts_every_distinct_score(block: int, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_table, "BLOCK", block)
    rng = np.random.default_rng(block)
    for n in (0, 1, 2, 7, 200):
        for distinct in (1, 3, 1000):
            scores: Array = (rng.integers(0, distinct, n) / distinct).astype(kind)
            positive = rng.random(n) < 0.4
            made = ScoreTable.from_scores(scores, positive)
            values, place = np.unique(scores, return_inverse=True)
            assert made.scores.tolist() == values.tolist()
            assert made.pos.tolist() == np.bincount(place, positive, len(values)).tolist()
            assert made.neg.tolist() == np.bincount(place, ~positive, len(values)).tolist()


def test_pooled_areas_do_not_depend_on_the_block() -> None:
    for case in multiclass_cases(6, seed=2):
        kept = np.ones(len(case.y), bool) if case.weights is None else case.weights > 0
        weights = None if case.weights is None else case.weights[kept]
        args = (case.score[kept], case.y[kept], weights)
        blocks, whole = rankings.rank_pooled(*args, pool=7), rankings.rank_pooled(*args)
        assert blocks[:2] == pytest.approx(whole[:2], rel=1e-12)
        np.testing.assert_allclose(blocks[2].neg, whole[2].neg, rtol=1e-12, atol=1e-9)


def test_recalibration_of_many_scores_is_exact() -> None:
    rng = np.random.default_rng(0)
    p: Array = np.sort(rng.beta(1, 3, 70_000))
    positive = rng.random(70_000) < 1 / (1 + np.exp(-(0.3 + 0.7 * np.log(p / (1 - p)))))
    made = ScoreTable.from_scores(p, positive)
    assert len(made) > calibration_fits.MANY
    weight = positive.astype(np.float64)
    assert made.recalibration == pytest.approx(calibration_fits.recalibrate(p, weight, 1 - weight), rel=1e-9)
    assert made.recalibration == pytest.approx((0.3, 0.7), abs=0.05)
    assert made.in_the_large == pytest.approx(calibration_fits.shift(p, weight, 1 - weight), rel=1e-12)


def test_log_loss_clips_as_scikit_learn() -> None:
    made = ScoreTable.from_scores(np.array([0.0, 1.0]), np.array([True, True]))
    assert score_table.ProbabilitySums.from_table(made).surprise == pytest.approx(
        -np.log(np.finfo(float).eps)
    )
