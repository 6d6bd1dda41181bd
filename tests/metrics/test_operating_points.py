"""Operating points of the user's own: the named ones, and others held against a slow reading."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from evalreport.core.errors import UsageError
from evalreport.core.result import Estimate
from evalreport.data.labels import Binary
from evalreport.data.predictions import predictions
from evalreport.data.scores import Probabilities
from evalreport.intervals.curve_points import separated_limit
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.catalogue import find
from evalreport.statistics.summary import summarise

RNG = np.random.default_rng(6)
TRUTH = RNG.integers(0, 2, 400)
SCORES = 1 / (1 + np.exp(-(RNG.normal(size=400) + 2.5 * TRUTH - 1)))
SAME = {
    "recall@fpr=0.01": "tpr_at_fpr01",
    "tpr @ fpr <= 5%": "tpr_at_fpr05",
    "fpr@recall>=0.95": "fpr_at_tpr95",
    "precision@recall=0.9": "precision_at_recall90",
    "recall@precision=90%": "recall_at_precision90",
    "lift@0.1": "lift_at_10",
    "pauc@fpr<=0.1": "partial_auc_fpr10",
}


@pytest.mark.parametrize("name", SAME)
def test_the_named_points_are_these_at_their_limits(name: str) -> None:
    p = predictions(Binary(0, 1), TRUTH, scores=Probabilities(SCORES))
    asked, named = find(name), find(SAME[name], "binary")
    found = estimates([asked, named], summarise(p), p, Sampling(resamples=300))
    assert found[asked.name] == found[named.name]
    assert (asked.low, asked.high) == pytest.approx((named.low, named.high))


def test_other_points_are_what_a_slow_reading_gives() -> None:
    facts = summarise(predictions(Binary(0, 1), TRUTH, scores=Probabilities(SCORES)))
    points = []
    for threshold in SCORES:
        flagged = threshold <= SCORES
        tp, fp = (flagged & (TRUTH == 1)).sum(), (flagged & (TRUTH == 0)).sum()
        points.append((tp / TRUTH.sum(), fp / (TRUTH == 0).sum(), tp / (tp + fp)))
    recall, fpr, precision = np.array(points).T
    expected = {
        "recall@fpr=0.02": recall[fpr <= 0.02].max(),
        "fpr@recall=0.8": fpr[recall >= 0.8].min(),
        "precision@recall=0.7": precision[recall >= 0.7].max(),
        "recall@precision=0.95": recall[precision >= 0.95].max(),
        "pauc@fpr<=0.05": roc_auc_score(TRUTH, SCORES, max_fpr=0.05),
    }
    for name, value in expected.items():
        assert find(name).compute_value(facts) == pytest.approx(value), name
        assert find(name).name == name


@pytest.mark.parametrize("share", [0.01, 0.3])
def test_a_stated_prevalence_is_what_rows_weighted_to_it_give(share: float) -> None:
    """Bayes' rule on recall and FPR against the same metrics of rows weighted to the prevalence."""
    weights = np.where(TRUTH == 1, share / TRUTH.sum(), (1 - share) / (TRUTH == 0).sum())
    kinds = {"scores": Probabilities(SCORES), "threshold": 0.4}
    here = summarise(predictions(Binary(0, 1), TRUTH, **kinds))  # type: ignore[arg-type]
    there = summarise(predictions(Binary(0, 1), TRUTH, weights=weights, **kinds))  # type: ignore[arg-type]
    for name in ("precision", "npv", "net_benefit", "f1", "recall", "mcc"):
        assert find(f"{name}@prevalence={share}").compute_value(here) == pytest.approx(
            find(name).compute_value(there)
        ), name
    flagged_rate = find("predicted_positive_rate").compute_value(there)
    assert isinstance(flagged_rate, float)
    assert find(f"alerts_per_1000 @ prevalence = {share:%}").compute_value(here) == pytest.approx(
        1000 * flagged_rate
    )


def test_the_interval_at_a_prevalence_covers() -> None:
    """PPV at 2 % from 200 rows with as many positives as negatives: 400 samples."""
    rng, held = np.random.default_rng(5), 0
    metric = find("precision@prevalence=0.02")
    truth = np.arange(200) % 2
    for _ in range(400):
        answer = (rng.random(200) < np.where(truth, 0.8, 0.1)).astype(int)
        p = predictions(Binary(0, 1), truth, answer)
        found = estimates([metric], summarise(p), p, Sampling(resamples=300))[metric.name]
        assert isinstance(found, Estimate) and found.low is not None and found.high is not None
        held += found.low <= 0.016 / (0.016 + 0.098) <= found.high
    assert 0.92 <= held / 400 <= 0.98


@pytest.mark.parametrize("more", [{}, {"weights": 1.0 + TRUTH}, {"groups": np.arange(400) // 4}])
def test_every_point_has_an_interval(more: dict[str, object]) -> None:
    p = predictions(Binary(0, 1), TRUTH, scores=Probabilities(SCORES), **more)  # type: ignore[arg-type]
    metrics = [find(name) for name in ("recall@fpr=0.02", "fpr@recall=0.8", "lift@0.05", "pauc@fpr<=0.05")]
    for name, found in estimates(metrics, summarise(p), p, Sampling(resamples=200)).items():
        assert isinstance(found, Estimate)
        assert found.low is not None, name


@pytest.mark.parametrize("name", ["recall@fpr=2", "recall@fpr=0", "mcc@fpr=0.1", "recall@", "lift@fpr=0.1"])
def test_no_such_point_is_reported_with_examples(name: str) -> None:
    with pytest.raises(UsageError, match="unknown metric") as caught:
        find(name)
    assert "recall@fpr=0.02" in caught.value.fix


def test_the_limit_under_separation_is_exact_in_its_model() -> None:
    """Scores of one class are a power of the other's; at the limit 2.5 % of samples are ranked perfectly."""
    rng = np.random.default_rng(0)
    low = separated_limit(4, 8)
    power = low / (1 - low)
    clean = []
    for positives, negatives in ((4, 8), (8, 4)):
        one = rng.random((200_000, positives)) ** (1 / power)
        clean.append((one.min(axis=1) > rng.random((200_000, negatives)).max(axis=1)).mean())
    assert max(clean) == pytest.approx(0.025, abs=0.002)
    assert low > 0.5, "4 against 8 ranked perfectly has an exact p of 0.004"


def test_four_against_eight_ranked_perfectly() -> None:
    truth = np.arange(12) >= 8
    p = predictions(Binary(0, 1), truth.astype(int), scores=Probabilities(np.arange(12) / 12))
    for scores, ends in ((np.arange(12) / 12, (0.676, 1.0)), (1 - np.arange(12) / 12, (0.0, 0.324))):
        p = predictions(Binary(0, 1), truth.astype(int), scores=Probabilities(scores))
        found = estimates([find("roc_auc")], summarise(p), p, Sampling())["roc_auc"]
        assert isinstance(found, Estimate)
        assert (found.low, found.high) == pytest.approx(ends, abs=1e-3)
