"""Every threshold against a slow loop over thresholds and scikit-learn's curves."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_recall_curve, roc_curve

from evalreport.core.bounds import CLOSE
from evalreport.core.json_codec import decode, encode
from evalreport.core.result import Undefined
from evalreport.statistics.confusion import BinaryCounts
from evalreport.statistics.score_table import ScoreTable, hull
from evalreport.thresholds.best_threshold import Optimum, Unreachable
from evalreport.thresholds.objectives import METRICS, STANDARD, Objective
from evalreport.thresholds.sweep import BLOCK, Sweep, middle_of_longest_run

ALL = tuple(Objective.parse(name) for name, metric in METRICS.items() if metric.better in ("higher", "lower"))
ODD = tuple(
    Objective.parse(text)
    for text in (
        *("precision>=0", "tp>=1", "mcc>=0.1", "fp<=2", "npv>=0.5", "markedness>=-0.5"),
        *("cost:fp=-1,fn=1", "cost:fp=1,fn=1,tp=2", "net_benefit:0.9", "predicted_positive_rate>=0.3"),
        *("lr_positive>=2", "fnr<=0.2", "f1>=0.3", "youden_j>=-1"),
    )
)
Rows = tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]


def rows(n: int, *, decimals: int = 16, prevalence: float = 0.3) -> Rows:
    rng = np.random.default_rng(0)
    y = rng.random(n) < prevalence
    return y, (1 / (1 + np.exp(-(rng.normal(size=n) + 1.5 * y - 1)))).round(decimals)


def swept(y: npt.NDArray[Any], s: npt.NDArray[Any], w: npt.NDArray[Any] | None = None) -> Sweep:
    return Sweep.from_table(ScoreTable.from_scores(s, y, w))


def slowly(y: npt.NDArray[Any], s: npt.NDArray[Any]) -> Iterator[tuple[float, BinaryCounts]]:
    for threshold in [*sorted(set(s.tolist())), math.inf]:
        p = s >= threshold
        cells = ((p & y).sum(), (p & ~y).sum(), (~p & y).sum(), (~p & ~y).sum())
        yield threshold, BinaryCounts(*(float(cell) for cell in cells))


def best_slowly(y: npt.NDArray[Any], s: npt.NDArray[Any], objective: Objective) -> tuple[float, float] | None:
    """Threshold and value: the middle of the longest run of equal optimum."""
    scored = [(t, float(objective.score(c)), float(objective.value(c))) for t, c in slowly(y, s)]
    top = max(score for _, score, _ in scored)
    if top == -math.inf:
        return None
    runs: list[list[int]] = [[]]
    for i, (_, score, _) in enumerate(scored):
        if score >= top - 1e-12 * max(1, abs(top)):
            runs[-1].append(i)
        elif runs[-1]:
            runs.append([])
    longest = max(runs, key=len)
    place = longest[(len(longest) - 1) // 2]
    return scored[place][0], scored[place][2]


def optimum(choice: object) -> Optimum:
    assert isinstance(choice, Optimum)
    return choice


def test_counts_are_scikit_learns_curves() -> None:
    y, s = rows(400, decimals=2)
    sweep = swept(y, s)
    fpr, tpr, thresholds = roc_curve(y, s, drop_intermediate=False)
    np.testing.assert_array_equal(sweep.thresholds[::-1], thresholds)
    np.testing.assert_allclose(sweep.tp[::-1] / sweep.positives, tpr, atol=1e-15)
    np.testing.assert_allclose(sweep.fp[::-1] / sweep.negatives, fpr, atol=1e-15)
    precision, recall, thresholds = precision_recall_curve(y, s)
    np.testing.assert_allclose(Objective("precision").value(sweep.counts)[:-1], precision[:-1], atol=1e-15)
    np.testing.assert_allclose(Objective("recall").value(sweep.counts), recall, atol=1e-15)


@pytest.mark.parametrize("decimals", [1, 2, 16])
def test_every_optimum_is_the_slow_loops(decimals: int) -> None:
    y, s = rows(160, decimals=decimals)
    sweep = swept(y, s)
    for objective in (*ALL, *STANDARD):
        expected, found = best_slowly(y, s, objective), sweep.best(objective)
        if expected is None:
            assert not isinstance(found, Optimum)
            continue
        found = optimum(found)
        assert (found.threshold, found.apparent) == pytest.approx(expected, abs=1e-12), objective.name
        flagged = s >= found.threshold
        assert (found.tp, found.fp) == ((flagged & y).sum(), (flagged & ~y).sum())
    assert optimum(sweep.best("f1")).apparent == pytest.approx(
        f1_score(y, s >= optimum(sweep.best("f1")).threshold)
    )


@settings(max_examples=50)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=1, max_size=25))
def test_any_small_sample_agrees_with_the_slow_loop(sample: list[tuple[bool, int]]) -> None:
    y, s = np.array([a for a, _ in sample]), np.array([b for _, b in sample]) / 8
    sweep = swept(y, s)
    for objective in {*STANDARD, *ALL, *ODD}:
        expected, found = best_slowly(y, s, objective), sweep.best(objective)
        if expected is None:
            assert isinstance(found, Undefined | Unreachable)
        else:
            assert (optimum(found).threshold, optimum(found).apparent) == pytest.approx(expected)


@pytest.mark.parametrize("case", ["good", "useless", "inverted", "sorted out", "rare", "weighted"])
def test_no_block_that_is_left_out_holds_anything_as_good(case: str) -> None:
    y, s = rows(5 * BLOCK + 7, prevalence=1e-3 if case == "rare" else 0.3)
    s = {"useless": s[::-1], "inverted": 1 - s, "sorted out": s + y}.get(case, s)
    weights = np.random.default_rng(1).random(len(y)) if case == "weighted" else None
    sweep = swept(y, s, weights)
    for objective, found in zip((*ALL, *ODD), sweep.choose((*ALL, *ODD)), strict=True):
        score = objective.score(sweep.counts)
        equal = score >= score.max() - CLOSE * max(1.0, abs(score.max()))
        if isinstance(found, Optimum):
            assert found.threshold == sweep.thresholds[middle_of_longest_run(equal)], objective.text
        else:
            assert score.max() == -math.inf, objective.text


def test_ties_go_to_the_middle_of_the_longest_run() -> None:
    # accuracy by threshold: 0.1 → 4/6, 0.2 → 5/6, 0.3 → 4/6, 0.4 → 5/6, …: runs are of scores in a row
    y = np.array([0, 0, 1, 1, 1, 1], bool)
    s = np.array([0.1, 0.2, 0.3, 0.3, 0.3, 0.3])
    assert optimum(swept(y, s).best("recall>=1")).threshold == 0.3
    # One missed or one false alarm: the same cost from 0.2 to 0.6, five thresholds long.
    y = np.array([0, 1, 0, 1, 0, 1, 1], bool)
    s = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    values = [float(Objective("tp").value(c)) for _, c in slowly(y, s)]
    assert values[:2] == [4, 4] and optimum(swept(y, s).best("tp")).threshold == 0.1
    found = [int(middle_of_longest_run(np.array(mask, bool))) for mask in ([1, 1, 0, 1], [1, 0, 1, 1, 1])]
    assert found == [0, 3]


def test_at_is_the_rule_score_at_least_threshold() -> None:
    y, s = rows(90, decimals=1)
    sweep = swept(y, s)
    for threshold in (-1.0, 0.0, 0.3, 0.35, 1.0, 2.0):
        counts, flagged = sweep.counts_at_threshold(threshold), s >= threshold
        assert (counts.tp, counts.fp) == ((flagged & y).sum(), (flagged & ~y).sum())
        assert counts.total == 90 and counts.threshold == threshold
    assert sweep.counts_at_threshold([0.2, 0.4]).tp.shape == (2,)


def test_weights_are_repetition() -> None:
    y, s = rows(60, decimals=1)
    w = np.random.default_rng(1).integers(0, 4, 60)
    weighted = swept(y, s, w.astype(float)).with_optima()
    repeated = swept(np.repeat(y, w), np.repeat(s, w)).with_optima()
    assert encode(weighted) == encode(repeated)


def test_unreachable_says_the_best_reachable() -> None:
    y, s = np.array([0, 1, 0, 1], bool), np.array([0.9, 0.8, 0.2, 0.1])
    found = swept(y, s).best("precision>=0.9")
    assert isinstance(found, Unreachable)
    assert (found.best, found.threshold) == (0.5, 0.1)
    assert "best reachable is 0.5, at 0.1" in found.reason
    assert optimum(swept(y, s).best("fpr<=0.01")).threshold == math.inf


def test_one_class_and_constant_scores() -> None:
    s = np.array([0.2, 0.4, 0.6])
    none = swept(np.zeros(3, bool), s)
    found = none.best("recall>=0.95")
    assert isinstance(found, Undefined) and "no positive example" in found.reason
    assert isinstance(swept(np.ones(3, bool), s).best("youden"), Undefined)
    assert optimum(none.best("accuracy")).threshold == math.inf
    flat = swept(np.array([True, False]), np.array([0.5, 0.5])).with_optima()
    assert optimum(flat.best("f1")).threshold == 0.5 and len(flat) == 2
    assert encode(decode(Sweep, encode(flat))) == encode(flat)


@pytest.mark.parametrize("decimals", [2, 16])
def test_thin_moves_no_optimum(decimals: int) -> None:
    y, s = rows(30_000, decimals=decimals)
    whole = swept(y, s)
    thin = whole.thin()
    assert len(thin) <= 400
    for objective in STANDARD:
        (choice,) = whole.choose([objective])
        assert thin.best(objective) == choice
        if isinstance(choice, Optimum):
            again = optimum(thin.choose([objective])[0])  # from the kept points alone
            assert again.apparent == choice.apparent
    grid = np.arange(101) / 100
    np.testing.assert_array_equal(thin.counts_at_threshold(grid).tp, whole.counts_at_threshold(grid).tp)
    flagged = (thin.tp + thin.fp) / len(y)
    assert max(-np.diff(flagged)) < 0.02  # percentiles of the scores, and ties
    x, up = whole.fp[::-1], whole.tp[::-1]
    kept = set(zip(thin.fp, thin.tp, strict=True))
    assert {(x[i], up[i]) for i in hull(x, up)} <= kept


def test_thin_keeps_to_its_limit_on_any_scale() -> None:
    rng = np.random.default_rng(2)
    y = rng.random(20_000) < 0.5
    sweep = swept(y, rng.normal(size=20_000) * 40 + 30 * y)
    assert len(sweep.thin()) <= 400 and len(sweep.thin(300)) <= 300


def test_round_trip_through_json_loses_nothing() -> None:
    y, s = rows(3_000, prevalence=0.02)
    data = encode(swept(y, s).with_optima())
    again = decode(Sweep, json.loads(json.dumps(data, allow_nan=False)))
    assert encode(again) == data
    assert set(data["optima"]) == {objective.name for objective in STANDARD}
    assert {"threshold", "low", "high", "apparent", "held_out"} <= set(data["optima"]["f1"])
    assert data["points"][-1]["threshold"] is None and data["points"][-1]["tp"] == 0


def test_tables_hold_every_threshold() -> None:
    y, s = rows(50)
    sweep = swept(y, s)
    frame = sweep.to_frame()
    assert len(frame) == 51 and frame["f1"].max() == optimum(sweep.best("f1")).apparent
    assert list(frame)[:5] == ["threshold", "tp", "fp", "fn", "tn"]
    assert frame["tp"].tolist() == sweep.tp.tolist()


def test_weights_that_round_past_their_total_leave_no_negative_count() -> None:
    rng = np.random.default_rng(3)
    truth, weights = rng.random(500) < 0.3, rng.random(500)
    sweep = Sweep.from_table(ScoreTable.from_scores(rng.random(500), truth, weights))
    assert min(sweep.counts.fn.min(), sweep.counts.tn.min()) >= 0
    assert not isinstance(sweep.best("g_mean"), Undefined)
