"""Sweeps for tests: an Optuna study, the same as nested runs of MLflow, and rows of real predictions."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evalreport.thresholds.trial_search import quiet_optuna
from evalreport.tracking.client import Store, quiet
from tests.tracking import MadeRun, make_run

DATA = Path(__file__).parents[1] / "examples" / "data"


def parquet(frame: pd.DataFrame) -> bytes:
    """A table as Parquet."""
    out = io.BytesIO()
    frame.to_parquet(out, index=False)
    return out.getvalue()


def spam(rows: int = 2000) -> pd.DataFrame:
    """Binary: naive Bayes on the spam collection."""
    table = pd.read_parquet(DATA / "sms_spam" / "oof_scores.parquet").head(rows)
    return table[["example_id", "y_true"]].assign(score=table["score_nb"])


def intents() -> pd.DataFrame:
    """77 classes."""
    return pd.read_parquet(DATA / "banking77" / "pred_tfidf_lr.parquet")


def emotions(split: str, labels: int = 28) -> pd.DataFrame:
    """28 labels: ``dev`` or ``test``."""
    truth = pd.read_parquet(DATA / "goemotions" / f"y_true_{split}.parquet")
    rows = truth.merge(pd.read_parquet(DATA / "goemotions" / f"pred_{split}_ovr_lr_proba.parquet"))
    names = [name.removeprefix("true_") for name in map(str, truth) if name != "example_id"][:labels]
    return rows[["example_id", *(f"{kind}_{name}" for kind in ("true", "proba") for name in names)]]


def optuna_study(storage: str, name: str, objective: Any, n: int = 14, **settings: Any) -> str:
    """Run a study of random trials into an SQLite database or a journal file; returns the storage."""
    with quiet_optuna() as optuna:
        sampler = optuna.samplers.RandomSampler(seed=0)
        settings.setdefault("direction", "maximize")
        place: Any = storage
        if "://" not in storage:
            place = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(storage))
        study = optuna.create_study(storage=place, study_name=name, sampler=sampler, **settings)
        study.optimize(objective, n_trials=n, catch=(RuntimeError,))
    return storage


def two_params(trial: Any) -> float:
    """A share of right answers that depends on one of two parameters."""
    alpha = float(trial.suggest_float("alpha", 1e-4, 1.0, log=True))
    trial.suggest_categorical("kernel", ["rbf", "linear"])
    return round(0.9 - 0.2 * abs(alpha - 0.1), 3)


def nested_runs(
    store: Store, rows: Sequence[Mapping[str, Any]], folder: Path | None = None, **settings: Any
) -> MadeRun:
    """A finished parent with one child per row: ``params``, ``metrics``, and ``status`` if not finished."""
    parent = make_run(store, folder=folder, name="grid", **settings)
    with quiet():
        for place, row in enumerate(rows):
            tags = {"mlflow.parentRunId": parent.run_id}
            run = store.client.create_run(
                parent.experiment_id, start_time=1_700_000_000_000 + place * 1000, tags=tags
            )
            for name, value in row.get("params", {}).items():
                store.client.log_param(run.info.run_id, name, value)
            for name, value in row.get("metrics", {}).items():
                store.client.log_metric(run.info.run_id, name, value)
            status = row.get("status", "FINISHED")
            if status != "RUNNING":
                store.client.set_terminated(run.info.run_id, status, 1_700_000_000_500 + place * 1000)
    return parent


GRID: tuple[dict[str, Any], ...] = tuple(
    {
        "params": {"C": str(0.1 * 4**c), "kernel": k},
        "metrics": {"val_accuracy": 0.8 + 0.01 * c + 0.02 * (k == "rbf")},
    }
    for c in range(5)
    for k in ("rbf", "linear")
)
"""Ten trials of a plain grid search."""
