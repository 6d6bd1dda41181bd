"""Weights: a common factor changes nothing, numbers of rows stand for rows, what they are worth is told."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from evalreport.core.errors import DataError
from evalreport.core.json_codec import encode
from evalreport.core.result import Estimate
from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import Predictions, WeightKind, predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.data_checks import row_facts
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.catalogue import find
from evalreport.statistics.summary import summarise

QUICK = Sampling(resamples=200)
ROWS = 120
RNG = np.random.default_rng(4)
TRUTH = RNG.integers(0, 2, ROWS)
SCORES = 1 / (1 + np.exp(-(RNG.normal(size=ROWS) + 2 * TRUTH - 1)))
WEIGHTS = RNG.lognormal(size=ROWS)
IDS = [f"r{k}" for k in range(ROWS)]


def _made(weights: npt.ArrayLike, kind: WeightKind = "sampling") -> Predictions:
    scores = Probabilities(SCORES)
    return predictions(Binary(0, 1), TRUTH, scores=scores, weights=weights, weight_kind=kind, ids=IDS)


@pytest.mark.parametrize("factor", [2.0**-20, 1024.0])
def test_a_common_factor_changes_no_byte(factor: float) -> None:
    """A power of two, so that not even rounding differs."""
    one, other = (encode(evaluate_predictions(_made(WEIGHTS * f), QUICK)) for f in (1.0, factor))
    assert one == other


def test_a_common_factor_that_rounds_changes_no_limit() -> None:
    one, other = (evaluate_predictions(_made(WEIGHTS * f), QUICK).metrics for f in (1.0, 1e6 / 3))
    for name, result in one.items():
        for part in ("value", "low", "high", "n"):
            mine, theirs = getattr(result, part, None), getattr(other[name], part, None)
            assert theirs == (mine if mine is None else pytest.approx(mine, rel=1e-6, abs=1e-9)), (name, part)


def test_equal_weights_are_those_of_rows_that_weigh_one() -> None:
    assert (_made(np.full(ROWS, 0.3)).weights == 1).all()


def test_weights_that_are_numbers_of_rows_are_rows() -> None:
    times = RNG.integers(0, 4, ROWS)
    counted = _made(times, "count")
    rows = np.repeat(np.arange(ROWS), times)
    written = predictions(Binary(0, 1), TRUTH[rows], scores=Probabilities(SCORES[rows]))
    assert len(counted) == times.sum()
    assert not counted.weighted
    assert counted.ids is not None
    assert len(set(counted.ids.tolist())) == len(counted)
    assert evaluate_predictions(counted, QUICK).metrics == evaluate_predictions(written, QUICK).metrics
    assert any("numbers of rows" in note for note in counted.notes)


def test_numbers_of_rows_are_whole_and_can_be_held() -> None:
    with pytest.raises(DataError, match="is not a number of rows"):
        _made(WEIGHTS, "count")
    with pytest.raises(DataError, match="at most 50,000,000"):
        _made(np.full(ROWS, 1e6), "count")


def test_the_effective_number_of_rows_by_hand() -> None:
    """Weights 3 and 1: (6 + 2)² / (18 + 2) of four rows."""
    p = predictions(Binary(0, 1), [0, 1, 0, 1], [0, 1, 0, 0], weights=[3, 3, 1, 1])
    assert row_facts(p)["effective_n"] == pytest.approx(64 / 20)
    p = predictions(Multiclass("ab"), list("aabb"), list("aaaa"), groups=[1, 1, 2, 2])
    # Residuals ½, ½, -½, -½: as rows 4/3 times their squares' sum of 1, as groups 2/1 times 2.
    assert row_facts(p) == pytest.approx({"design_effect": 3.0, "effective_n": 4 / 3, "groups": 2.0})
    assert "effective_n" not in row_facts(predictions(Binary(0, 1), [0, 1], [0, 1]))


def test_the_design_effect_is_that_of_intraclass_correlation() -> None:
    """Groups of eight that share half of the variance of their difficulty."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(2000), 8)
    right = (rng.normal(size=2000)[group] + rng.normal(size=16000) > 0).astype(int)
    p = predictions(Binary(0, 1), np.ones(16000, int), right, groups=group)
    within = 1 / 3  # of signs of normals with correlation 1/2: 2/π arcsin(1/2)
    assert row_facts(p)["design_effect"] == pytest.approx(1 + 7 * within, rel=0.08)


def test_equal_weights_are_no_weights_and_change_no_byte() -> None:
    """Nor the method of an interval: every row counts the same."""
    scores = Probabilities(SCORES)
    plain = encode(evaluate_predictions(predictions(Binary(0, 1), TRUTH, scores=scores, ids=IDS), QUICK))
    assert encode(evaluate_predictions(_made(np.full(ROWS, 0.3)), QUICK)) == plain
    assert encode(evaluate_predictions(_made(WEIGHTS), QUICK)) != plain


def test_a_lift_is_as_sure_as_the_positives_whatever_the_negatives_weigh() -> None:
    """Negatives of lognormal weights are worth 40 of 100; only the rows that are flagged move with them."""
    metric, errors = find("lift_at_10", "binary"), []
    for uneven in (0.0, 1.2):
        rng = np.random.default_rng(4)
        truth = np.arange(600) % 3 == 0
        scores = 1 / (1 + np.exp(-(rng.normal(size=600) + 1.5 * truth)))
        weights = np.exp(uneven * rng.normal(size=600))
        weights = np.where(truth, 1.0, weights / weights[~truth].mean())
        weights[0] = 1.01
        p = predictions(Binary(0, 1), truth.astype(int), scores=Probabilities(scores), weights=weights)
        found = estimates([metric], summarise(p), p, Sampling())[metric.name]
        assert isinstance(found, Estimate)
        errors.append(found.standard_error or 0.0)
    assert errors[0] < errors[1] < 1.3 * errors[0]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("given", ["weights", "groups"])
def test_an_empty_cell_is_as_sure_as_the_rows_that_could_fill_it(given: str, classes: int) -> None:
    """Twelve positives all found: no resample misses one, so that F1 had limits of 0.996 to 1."""
    rng = np.random.default_rng(0)
    truth = np.r_[np.zeros(12, dtype=int), 1 + np.arange(988) % (classes - 1)]
    kinds = {"weights": rng.lognormal(0, 0.2, 1000), "groups": np.arange(1000)}
    space = Binary(1, 0) if classes == 2 else Multiclass(range(classes))
    plain = predictions(space, truth.tolist(), truth.tolist())
    rows = predictions(space, truth.tolist(), truth.tolist(), **{given: kinds[given]})  # type: ignore[arg-type]
    one, other = (
        ev.classes[0].metrics if ev.classes else ev.metrics
        for ev in (evaluate_predictions(p, Sampling(resamples=400)) for p in (rows, plain))
    )
    names = {"f1"} if classes == 3 else {"f1", "jaccard", "mcc", "cohen_kappa", "balanced_accuracy", "g_mean"}
    for name in names:
        lows = [encode(metrics[name])["low"] for metrics in (one, other)]
        assert lows[0] == pytest.approx(lows[1], abs=0.03), name


@pytest.mark.parametrize("given", ["weights", "groups"])
def test_a_class_without_a_mistake_is_as_sure_in_an_average_as_alone(given: str) -> None:
    """Twelve rows of three classes, all found: their recall adds what it leaves to that of the average."""
    rng = np.random.default_rng(0)
    truth = np.r_[np.zeros(12, dtype=int), 1 + np.arange(388) % 2]
    answer = np.where(rng.random(400) < np.where(truth > 0, 0.1, 0), 3 - truth, truth)
    kinds = {"weights": rng.lognormal(0, 0.2, 400), "groups": np.arange(400)}
    p = predictions(Multiclass(range(3)), truth.tolist(), answer.tolist(), **{given: kinds[given]})  # type: ignore[arg-type]
    ev = evaluate_predictions(p, Sampling(resamples=400))
    whole, alone = encode(ev["recall_macro"]), encode(ev.classes[0].metrics["recall"])
    assert whole["value"] - whole["low"] > 0.5 * (alone["value"] - alone["low"]) / 3 > 0.03
