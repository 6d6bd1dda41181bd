"""A cross-validation: values against scikit-learn, intervals against a jackknife and a simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from evalreport.comparison.compare import compare
from evalreport.core.errors import DataError
from evalreport.core.result import Estimate
from evalreport.data.labels import Binary
from evalreport.data.predictions import predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.intervals.folds import evaluate_folds
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.catalogue import find

N, K = 240, 5
RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, N)
part_of = np.arange(N) % K
SHIFT = np.linspace(-2, 2, K)[part_of]
"""Scores of each fold are on a scale of their own."""
S = 1 / (1 + np.exp(-(1.5 * Y - 0.75 + RNG.normal(size=N) + SHIFT)))
FEW = Sampling(resamples=100)


def evaluated(s: Any = S, *, fold: Any = part_of, **more: Any) -> Evaluation:
    p = predictions(Binary(0, 1), Y, scores=Probabilities(s), folds=fold, ids=np.arange(N), **more)
    return evaluate_predictions(p, FEW)


EV = evaluated()


def without(metric: Any, values: list[float], row: int) -> float:
    """The mean over folds when one row is left out, which changes the value of its own fold."""
    rows = (part_of == part_of[row]) & (np.arange(N) != row)
    return float(np.mean([*values[: part_of[row]], metric(Y[rows], S[rows]), *values[part_of[row] + 1 :]]))


@pytest.mark.parametrize(("name", "metric"), [("roc_auc", roc_auc_score), ("log_loss", log_loss)])
def test_ranking_and_calibration_are_means_over_folds(name: str, metric: Any) -> None:
    assert EV.folds is not None
    line, result = EV.folds[name], EV[name]
    assert (line.how, line.value) == ("mean over folds", result.value)
    values = [float(metric(Y[part_of == k], S[part_of == k])) for k in range(K)]
    assert result.value == pytest.approx(np.mean(values))
    assert line.pooled == pytest.approx(metric(Y, S))
    assert line.pooled is not None and result.value is not None
    if name == "roc_auc":
        assert abs(line.pooled - result.value) > 0.01  # the scales of the folds differ
    left_out = [without(metric, values, row) for row in range(N)]
    error = math.sqrt((N - 1) * np.var(left_out))  # the jackknife, row by row
    assert isinstance(result, Estimate)
    assert result.standard_error == pytest.approx(error, rel=0.03)
    assert result.low is not None and result.high is not None and result.low < result.value < result.high


def test_counts_are_pooled_and_keep_their_interval() -> None:
    plain = evaluate_predictions(predictions(Binary(0, 1), Y, scores=Probabilities(S)), FEW)
    assert EV["accuracy"] == plain["accuracy"]
    assert EV["recall"] == plain["recall"]
    assert EV.folds is not None
    line = EV.folds["accuracy"]
    found = [accuracy_score(Y[part_of == k], S[part_of == k] >= 0.5) for k in range(K)]
    assert line.folds == pytest.approx(found)
    half = stats.t.ppf(0.975, K - 1) * math.sqrt((1 / K + 1 / (K - 1)) * np.var(found, ddof=1))
    assert line.retrained is not None
    assert line.retrained.high == pytest.approx(min(line.pooled + half, 1))  # Nadeau & Bengio 2003


def test_it_is_read_back_from_its_json() -> None:
    again = Evaluation.from_json(EV.to_json())
    assert again == EV
    assert again.folds is not None
    assert again.folds.to_frame().loc["roc_auc", "how"] == "mean over folds"


def test_what_is_no_cross_validation_is_refused() -> None:
    with pytest.raises(DataError, match="their rows are not disjoint: 1 id occurs more than once"):
        predictions(Binary(0, 1), [0, 1, 1], [0, 1, 1], folds=[1, 1, 2], ids=["a", "b", "a"])
    with pytest.raises(DataError, match="and this is one"):
        predictions(Binary(0, 1), [0, 1, 1], [0, 1, 1], folds=[1, 1, 1])


def test_groups_that_cross_folds_are_reported() -> None:
    reported = evaluated(groups=np.arange(N) // 4)
    assert any("60 groups have rows in several folds" in note for note in reported.notes)
    inside = evaluated(groups=part_of * 100 + np.arange(N) // 20)
    assert not any("groups" in note for note in inside.notes)


def test_two_cross_validations_are_compared_fold_by_fold_on_the_same_rows() -> None:
    worse = 1 / (1 + np.exp(-(0.4 * Y - 0.2 + RNG.normal(size=N) + SHIFT)))
    other = evaluated(worse, fold=(np.arange(N) // 7) % 4)  # its own folds
    (found,) = compare([EV, other], baseline=1, names=("a", "b"), metrics=("roc_auc",)).differences
    assert EV["roc_auc"].value is not None and other["roc_auc"].value is not None
    assert found.difference == pytest.approx(EV["roc_auc"].value - other["roc_auc"].value)
    assert found.verdict == "better"
    same = compare([EV, evaluated()], baseline=1, names=("a", "b"), metrics=("roc_auc",)).differences[0]
    assert (same.difference, same.verdict) == (0.0, "not_significant")


@pytest.mark.parametrize(("n", "k"), [(200, 5), (200, 10)])
def test_the_interval_of_a_mean_over_folds_holds(n: int, k: int) -> None:
    """Models are given, with scores of their own scale and quality: the target is the mean of their AUCs."""
    rng = np.random.default_rng(n + k)
    gains = rng.uniform(0.8, 1.6, k)
    target = float(stats.norm.cdf(gains / math.sqrt(2)).mean())
    held, draws = 0, 150
    fold = np.arange(n) % k
    for _ in range(draws):
        y = rng.integers(0, 2, n)
        s = stats.norm.cdf(gains[fold] * y + rng.normal(size=n) + 3 * fold / k)
        p = predictions(Binary(0, 1), y, scores=Probabilities(s), folds=fold)
        found = evaluate_folds((find("roc_auc", "binary"),), p, {}, FEW)[0]["roc_auc"]
        assert isinstance(found, Estimate) and found.low is not None and found.high is not None
        held += found.low <= target <= found.high
    assert 0.91 <= held / draws <= 0.985  # 400 draws gave 96.2 and 97.0 %, of 1,000 rows 97.0 %
