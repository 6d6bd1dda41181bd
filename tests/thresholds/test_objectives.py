"""Objectives: what is understood, what is refused and how."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.core.errors import UsageError
from evalreport.statistics.confusion import BinaryCounts
from evalreport.thresholds.objectives import METRICS, STANDARD, Costs, Objective

COUNTS = BinaryCounts(tp=8.0, fp=4.0, fn=2.0, tn=86.0)


@pytest.mark.parametrize(
    ("text", "name", "metric", "value"),
    [
        ("f1", "f1", "f1", 16 / 22),
        ("max-f1", "f1", "f1", 16 / 22),
        ("youden", "youden_j", "youden_j", 0.8 - 4 / 90),
        ("min-fpr", "fpr", "fpr", 4 / 90),
        ("cost:10", "cost", "cost", (4 + 20) / 100),
        ("cost", "cost", "cost", (4 + 20) / 100),
        ("cost:fp=1, fn=10, tp=-2", "cost", "cost", (4 + 20 - 16) / 100),
        ("cost:fp=3, fn=10, tn=-1", "cost", "cost", (12 + 20 - 86) / 100),
        ("net_benefit:0.2", "net_benefit", "net_benefit", (8 - 4 / 4) / 100),
        ("net_benefit", "net_benefit", "net_benefit", (8 - 4) / 100),
        ("recall>=0.95", "recall>=0.95", "precision", 8 / 12),
        ("precision >= 0.9", "precision>=0.9", "recall", 0.8),
        ("fpr<=0.01", "fpr<=0.01", "recall", 0.8),
        ("predicted_positive_rate<=0.02", "predicted_positive_rate<=0.02", "recall", 0.8),
        ("predicted_positive_rate>=0.02", "predicted_positive_rate>=0.02", "precision", 8 / 12),
        ("npv>=0.99", "npv>=0.99", "specificity", 86 / 90),
        ("fp<=10", "fp<=10", "recall", 0.8),
        ("recall ≥ 95 %", "recall>=0.95", "precision", 8 / 12),
        ("precision @ recall = 95%", "recall>=0.95", "precision", 8 / 12),
        ("fpr < 1%", "fpr<0.01", "recall", 0.8),
    ],
)
def test_what_is_understood(text: str, name: str, metric: str, value: float) -> None:
    objective = Objective.parse(text)
    assert (objective.name, objective.metric) == (name, metric)
    assert float(objective.value(COUNTS)) == pytest.approx(value)
    assert Objective.parse(objective.text) == objective


def test_every_count_metric_with_a_direction_is_an_objective() -> None:
    for name, metric in METRICS.items():
        if metric.better in ("higher", "lower"):
            objective = Objective.parse(name)
            assert objective.lower == (metric.better == "lower")
            assert float(objective.score(COUNTS)) == pytest.approx(
                float(metric.function(COUNTS)) * (-1 if objective.lower else 1)
            )
    assert len({objective.name for objective in STANDARD}) == len(STANDARD) > 15


def test_what_is_called_monotone_never_gets_worse_by_more_true_and_fewer_false_positives() -> None:
    """The search for the best threshold looks at corners of the ROC curve alone where a record says so."""
    rng = np.random.default_rng(5)
    positives, negatives = rng.integers(1, 30, 4000), rng.integers(1, 30, 4000)
    tp, fp = rng.integers(0, positives + 1), rng.integers(0, negatives + 1)
    more, fewer = rng.integers(tp, positives + 1), rng.integers(0, fp + 1)
    one, other = (
        BinaryCounts(*(part.astype(float) for part in (t, f, positives - t, negatives - f)))
        for t, f in ((tp, fp), (more, fewer))
    )
    for metric in METRICS.values():
        sign = -1 if metric.better == "lower" else 1
        before, after = sign * metric.function(one), sign * metric.function(other)
        known = np.isfinite(before)
        kept = after[known] >= before[known] - 1e-12  # nor does it become undefined
        above = before[known] > 0
        assert metric.monotone != "always" or kept.all(), metric.name
        assert metric.monotone != "above 0" or kept[above].all(), metric.name


@pytest.mark.parametrize(
    ("text", "says", "mends"),
    [
        ("recal", "no objective 'recal'", "Did you mean recall"),
        ("predicted_positive_rate", "no better direction", "predicted_positive_rate<=0.1"),
        ("recall=0.9", "not a bound", "METRIC >= NUMBER"),
        ("recall drops<=0.1", "a change", "METRIC >= NUMBER"),
        ("recall[site=a]>=0.9", "a part of the rows", "METRIC >= NUMBER"),
        ("recall<=0.9", "requires a worse value", "recall>=0.9"),
        ("fpr>=0.9", "requires a worse value", "fpr<=0.9"),
        ("recall>=1.5", "can never be met", "a fraction or a percentage"),
        ("recall>1", "can never be met", "a fraction or a percentage"),
        ("recall>=much", "not a bound", "METRIC >= NUMBER"),
        ("prevalence<=0.1", "does not depend", "another"),
        ("cost:lots", "not a number", ""),
        ("cost:fx=1", "no outcome 'fx'", "fp, fn, tp and tn"),
        ("net_benefit:1", "not a threshold probability", "between 0 and 1"),
        ("roc_auc", "no objective 'roc_auc'", ""),
    ],
)
def test_what_is_refused(text: str, says: str, mends: str) -> None:
    with pytest.raises(UsageError) as caught:
        Objective.parse(text)
    assert says in caught.value.message and mends in caught.value.fix


def test_a_broken_constraint_is_no_candidate() -> None:
    many = BinaryCounts(
        tp=np.array([9.0, 5.0]), fp=np.array([9.0, 0.0]), fn=np.array([1.0, 5.0]), tn=np.array([1.0, 10.0])
    )
    assert Objective.parse("recall>=0.9").score(many).tolist() == [0.5, -np.inf]
    assert Objective.parse("recall>0.9").score(many).tolist() == [-np.inf, -np.inf]
    assert Costs(fn=3).mean(many).tolist() == [(9 + 3) / 20, 15 / 20]
