"""One threshold for all labels against scikit-learn at each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import accuracy_score, f1_score

from evalreport.core.json_codec import encode
from evalreport.curves.class_curves import LabelSweep, MultilabelCurves, label_sweep, thresholds
from evalreport.data.labels import Multilabel
from evalreport.data.predictions import predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.evaluation.evaluation import curves
from evalreport.statistics.class_scores import ClassScores
from evalreport.statistics.summary import summarise


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_threshold_agrees_with_scikit_learn(dtype: type, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    scores: npt.NDArray[Any] = rng.random((150, 6)).round(2).astype(dtype)
    truth = rng.random((150, 6)) < scores * 0.7
    truth[:20] = False
    truth[20:25] = True
    weights = rng.integers(0, 4, 150) / 2 if weighted else None
    facts = ClassScores(scores, truth, weights)
    sweep = label_sweep(facts, thresholds(facts.pooled_table(), unit=True))
    assert len(sweep.threshold) > 100
    for t, found, added, macro, exact in zip(*encode(sweep).values(), strict=True):
        answer = scores.astype(np.float64) >= t
        each = facts.row_weights[:, None]
        assert found == pytest.approx((each * (answer & truth)).sum())
        assert added == pytest.approx((each * answer).sum())
        wanted = f1_score(truth, answer, average="macro", sample_weight=weights, zero_division=0)
        assert macro == pytest.approx(wanted, abs=1e-12)
        right = accuracy_score(truth, answer, sample_weight=weights)
        assert exact == pytest.approx(right * facts.row_weights.sum(), abs=1e-9)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    facts = ClassScores(rng.random((90, 3)), rng.random((90, 3)) < 0.3, None)
    whole = label_sweep(facts, np.linspace(0, 1, 21))
    monkeypatch.setattr("evalreport.statistics.class_scores.CELLS", 30)
    assert label_sweep(facts, np.linspace(0, 1, 21)) == whole


def test_the_best_micro_f1_is_on_the_grid() -> None:
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(400, 5))
    truth = rng.random((400, 5)) < 1 / (1 + np.exp(1 - 2 * scores))
    facts = ClassScores(scores, truth, None)
    sweep = label_sweep(facts, thresholds(facts.pooled_table(), unit=False))
    f1 = 2 * np.array(sweep.found) / (np.array(sweep.added) + truth.sum())
    given = [scores >= t for t in np.unique(scores)]
    every = [2 * np.count_nonzero(truth & one) / (truth.sum() + np.count_nonzero(one)) for one in given]
    assert f1.max() == pytest.approx(max(every), abs=1e-12)


def test_margins_have_a_sweep_too() -> None:
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(50, 3))
    space = Multilabel("abc")
    for kind in (Decisions(scores), Probabilities(1 / (1 + np.exp(-scores)))):
        found = curves(summarise(predictions(space, scores > 0.3, scores=kind)))
        assert isinstance(found, MultilabelCurves) and isinstance(found.sweep, LabelSweep)
        assert found.sweep.exact[0] < max(found.sweep.exact)
