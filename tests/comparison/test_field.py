"""All pairs at once: against the comparison pair by pair, and by how often it is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.comparison.all_pairs import ContributionsOfRun, RunField, contributions_of_run, run_field
from evalreport.comparison.compare import compare
from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.metrics.catalogue import find


def runs_of(task: str, count: int, *, seed: int, **more: object) -> list[Predictions]:
    rng = np.random.default_rng(seed)
    n = 400
    truth = rng.integers(0, 2 if task == "binary" else 4, n)
    found = []
    for k in range(count):
        if task == "binary":
            scores = 1 / (1 + np.exp(-((0.6 + 0.1 * k) * (2 * truth - 1) + rng.normal(size=n))))
            found.append(predictions(Binary(0, 1), truth, scores=Probabilities(scores), **more))  # type: ignore[arg-type]
        else:
            answer = np.where(rng.random(n) < 0.6 + 0.05 * k, truth, rng.integers(0, 4, n))
            found.append(predictions(Multiclass([0, 1, 2, 3]), truth, answer, **more))  # type: ignore[arg-type]
    return found


def field_of(metric_name: str, task: str, rows: list[Predictions]) -> RunField:
    metric = find(metric_name, task)  # type: ignore[arg-type]
    given = [(f"r{k}", contributions_of_run(metric, p)) for k, p in enumerate(rows)]
    assert all(isinstance(run, ContributionsOfRun) for _, run in given)
    return run_field(metric, given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("metric", "task", "more"),
    [
        ("f1_macro", "multiclass", {}),
        ("mcc", "multiclass", {}),
        ("roc_auc", "binary", {}),
        ("log_loss", "binary", {}),
        ("roc_auc", "binary", {"groups": np.arange(400) // 4}),
        ("f1_macro", "multiclass", {"weights": np.linspace(0.5, 1.5, 400)}),
    ],
)
def test_errors_and_degrees_of_freedom_are_those_of_the_comparison(
    metric: str, task: str, more: dict[str, object]
) -> None:
    rows = runs_of(task, 4, seed=3, **more)
    field = field_of(metric, task, rows)
    pair = compare([evaluate_predictions(p) for p in rows], None, metrics=[metric], details=False)
    for d in pair.differences_for(metric):
        a, b = (int(name.split()[1]) - 1 for name in (d.run, d.baseline))
        assert d.low is not None and d.high is not None and d.difference is not None
        reach = (d.high - d.low) / 2
        own = RunField(
            field.names, field.metric, 0.95, field.values, field.errors, field.df, field.covariance
        )
        object.__setattr__(own, "pair_level", 0.95)
        assert field.values[a] - field.values[b] == pytest.approx(d.difference, abs=1e-9)
        assert own.reach[a, b] == pytest.approx(reach, rel=2e-4)


def test_the_critical_value_lies_between_one_pair_and_bonferroni() -> None:
    from scipy.stats import norm

    field = field_of("f1_macro", "multiclass", runs_of("multiclass", 12, seed=5))
    assert norm.ppf(0.975) < field.critical < norm.ppf(1 - 0.025 / 66)


def test_equal_runs_differ_significantly_in_at_most_five_per_cent_of_samples() -> None:
    rng = np.random.default_rng(11)
    metric, wrong, times, n = find("accuracy", "multiclass"), 0, 60, 300
    for _ in range(times):
        truth = rng.integers(0, 2, n)
        hard = rng.random(n)
        given = []
        for k in range(8):
            right = rng.random(n) < np.clip(0.55 + 0.4 * hard, 0, 1)
            p = predictions(Multiclass([0, 1]), truth, np.where(right, truth, 1 - truth))
            given.append((f"r{k}", contributions_of_run(metric, p)))
        wrong += any(d.is_significant for d in run_field(metric, given).pairs)  # type: ignore[arg-type]
    assert wrong / times < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / times)


def test_ids_bring_the_rows_into_one_order() -> None:
    rows = runs_of("multiclass", 2, seed=1)
    named = [predictions(p.space, p.y_true, p.y_pred, ids=np.arange(400).astype(str)) for p in rows]
    turned = named[1].take(np.random.default_rng(0).permutation(400))
    plain, mixed = (field_of("f1_macro", "multiclass", [named[0], p]) for p in (named[1], turned))
    assert mixed.errors[0, 1] == pytest.approx(plain.errors[0, 1], rel=1e-6)


def test_a_metric_that_does_not_add_up_says_so() -> None:
    found = contributions_of_run(find("ks", "binary"), runs_of("binary", 1, seed=0)[0])
    assert isinstance(found, Undefined) and "not a sum over rows" in found.reason
