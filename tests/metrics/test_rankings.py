"""Areas of many rankings, from where scores fall among the examples of a class, against all pairs counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn import metrics as skm

from evalreport.statistics import rankings

KINDS: dict[str, Callable[[npt.NDArray[Any]], npt.NDArray[Any]]] = {
    "distinct": lambda s: s,
    "tenths, with ties and -0.0": lambda s: np.round(s, 1),
    "positive": np.abs,
    "one score alone": lambda s: np.full_like(s, 0.25),
    "most cells small": lambda s: np.exp(4 * s),
}


def rows(kind: str, dtype: type) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    rng = np.random.default_rng(1)
    truth = rng.integers(4, size=120)  # the last class has no example
    return KINDS[kind](rng.normal(size=(120, 5)) + np.eye(5)[truth]).astype(dtype), truth


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_areas_are_those_of_all_pairs(kind: str, dtype: type, weighted: bool) -> None:
    scores, truth = rows(kind, dtype)
    weights = np.random.default_rng(2).random(len(truth)) + 0.1 if weighted else None
    found = rankings.rank_classes(scores, truth, weights)
    mass = np.ones(len(truth)) if weights is None else weights
    for label in range(4):
        won = (scores[:, None, label] > scores[None, :, label]) + 0.5 * (
            scores[:, None, label] == scores[None, :, label]
        )
        won = won * mass[:, None] * mass[None, :]
        mine = truth == label
        area = won[mine][:, ~mine].sum() / (mass[mine].sum() * mass[~mine].sum())
        assert found.roc_auc[label] == pytest.approx(area, abs=1e-12)
        others = [truth == other for other in range(4) if other != label]
        pairs = [won[mine][:, one].sum() / (mass[mine].sum() * mass[one].sum()) for one in others]
        assert found.pairs[label] == pytest.approx(np.mean(pairs), abs=1e-12)
    assert np.isnan(found.roc_auc[4])


@pytest.mark.parametrize("ranges", [4, 1 << 18])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_pooled_areas_are_scikit_learns(
    monkeypatch: pytest.MonkeyPatch, kind: str, dtype: type, ranges: int
) -> None:
    monkeypatch.setattr(rankings, "MOST_RANGES", ranges)
    scores, truth = rows(kind, dtype)
    area, precision, _ = rankings.rank_pooled(scores, truth, None)
    cells = (truth[:, None] == np.arange(5)).ravel(), scores.ravel()
    assert area == pytest.approx(skm.roc_auc_score(*cells), abs=1e-12)
    assert precision == pytest.approx(skm.average_precision_score(*cells), abs=1e-12)


def test_ranges_add_up_over_blocks_of_rows() -> None:
    scores, truth = rows("distinct", np.float64)
    whole, parts = (rankings.rank_pooled(scores, truth, None, pool) for pool in (rankings.POOL, 35))
    assert whole[:2] == parts[:2]
