"""Errors of trials measured on their rows: against resamples by hand, in a store, and what is promised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.features.studies.sweep_trials import StudyRequest, measured_errors, study_from_runs
from evalreport.features.studies.winners_curse import winner_limits
from evalreport.metrics.catalogue import find
from evalreport.tracking.client import Store
from evalreport.tracking.runs import find_run
from tests.sweeping import nested_runs

F1 = find("f1", "binary")


def trials(
    rng: np.random.Generator, n: int, number: int, skills: np.ndarray | None = None
) -> list[Predictions]:
    """Trials whose scores share half of their noise, on one sample."""
    truth = rng.random(n) < 0.3
    common, skill = rng.normal(size=n), np.full(number, 1.8) if skills is None else skills
    noise = (0.5**0.5 * (common + rng.normal(size=n)) for _ in range(number))
    logits = (each + one * truth - 1.2 for each, one in zip(noise, skill, strict=True))
    scored = (Probabilities(1 / (1 + np.exp(-logit))) for logit in logits)
    return [predictions(Binary(0, 1), truth.astype(int), scores=scores) for scores in scored]


def f1_of(p: Predictions, rows: np.ndarray) -> float:
    assert p.y_pred is not None
    truth, answer = p.y_true[rows], p.y_pred[rows]
    return float(2 * (truth & answer).sum() / (truth.sum() + answer.sum()))


def test_correlation_and_error_are_those_of_resamples() -> None:
    """F1 of 400 resamples of the same rows for all trials, one by one."""
    rng = np.random.default_rng(3)
    rows = trials(rng, 600, 4)
    found = measured_errors(F1, rows)
    assert found is not None and (found.rows, found.trials, found.share) == (600, 4, False)
    drawn = [rng.integers(0, 600, 600) for _ in range(400)]
    values = np.array([[f1_of(p, at) for at in drawn] for p in rows])
    pairs = np.corrcoef(values)[np.triu_indices(4, k=1)]
    assert found.correlation == pytest.approx(pairs.mean(), abs=0.08)
    assert found.standard_error == pytest.approx(np.sqrt(values.var(axis=1).mean()), rel=0.1)


def test_the_interval_holds_with_what_is_measured() -> None:
    """The best of ten by F1, none truly better: its true value is in the interval in 95 % of 120 studies."""
    whole = trials(np.random.default_rng(99), 200_000, 1)[0]
    true, held = f1_of(whole, np.arange(200_000)), 0
    rng = np.random.default_rng(5)
    for _ in range(120):
        rows = trials(rng, 400, 10)
        found = measured_errors(F1, rows)
        assert found is not None
        values = np.array([f1_of(p, np.arange(400)) for p in rows])
        low, high = winner_limits(values, 1.0, found.standard_error, found.correlation, 0.95, None)
        held += low <= true <= high
    assert held / 120 >= 0.95 - 2.6 * np.sqrt(0.95 * 0.05 / 120)


def logged(store: Store, folder: Path, rows: list[Predictions], shift: float = 0.0) -> str:
    """A parent whose children hold their predictions and log their F1."""
    every = np.arange(len(rows[0]))
    metrics = [{"f1": round(f1_of(p, every), 3) + shift} for p in rows]
    settings = [{"params": {"C": str(place)}, "metrics": each} for place, each in enumerate(metrics)]
    parent = nested_runs(store, settings, folder)
    children = store.client.search_runs(
        [parent.experiment_id], f"tags.`mlflow.parentRunId` = '{parent.run_id}'"
    )
    for child in children:
        p, path = rows[int(child.data.params["C"])], folder / "predictions.csv"
        scores = p.scores.values  # type: ignore[union-attr]
        lines = [f"{i},{t},{s:.17g}" for i, (t, s) in enumerate(zip(p.y_true, scores, strict=True))]
        path.write_text("\n".join(["id,y_true,score", *lines]) + "\n")
        store.client.log_artifact(child.info.run_id, str(path))
    return str(parent.run_id)


def test_runs_that_hold_predictions_are_measured(sqlite_store: Store, tmp_path: Path) -> None:

    rows = trials(np.random.default_rng(8), 300, 4)
    store, expected = sqlite_store, measured_errors(F1, rows)
    parent = find_run(store, logged(sqlite_store, tmp_path, rows))
    study = study_from_runs(store, parent, StudyRequest(("f1",)))
    assert expected is not None
    assert study.curse.correlation == pytest.approx(expected.correlation, abs=1e-6)  # type: ignore[union-attr]
    assert study.curse.method == "limits given which trial is the best"  # type: ignore[union-attr]
    assert any("measured on the 300 rows of 4 child runs" in note for note in study.trials.notes)
    other = find_run(store, logged(sqlite_store, tmp_path, rows, shift=0.05))
    reported = study_from_runs(store, other, StudyRequest(("f1",)))
    assert any("not the rows that judged the trials" in note for note in reported.trials.notes)
