"""A real sweep to report on: an Optuna study whose trials are nested MLflow runs as well.

Sixty-four pipelines (hashed n-grams, a linear model trained epoch by epoch, bad ones pruned) sort the
messages of banking77's twenty largest intents. Each is evaluated on the same 400 messages, few enough for
chance to matter; 2,000 more that chose nothing show afterwards how good the best one really is.

    python examples/sweep_study.py [FOLDER]      makes FOLDER/study.db and FOLDER/mlflow.db
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import optuna
import pandas as pd
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.linear_model import SGDClassifier

DATA = Path(__file__).parent / "data" / "banking77" / "train.csv"
STUDY = "banking77-intents"
INTENTS = 20
TRAINED, JUDGED, FRESH = 1000, 400, 2000
EPOCHS = 4


@dataclass(frozen=True)
class Sweep:
    """The results of the example: its location, and the best trial.

    Parameters
    ----------
    storage : str
        Optuna's.
    tracking_uri, parent_run_id : str
        MLflow's.
    correct : array of bool, shape (n_complete, 400)
        Which messages each completed trial got right.
    fresh_accuracy : float
        Of the best trial, on 2,000 messages that chose nothing.
    """

    storage: str
    tracking_uri: str
    parent_run_id: str
    correct: np.ndarray[Any, np.dtype[np.bool_]]
    fresh_accuracy: float


@lru_cache(maxsize=1)
def messages() -> tuple[tuple[pd.Series, pd.Series], ...]:
    """Texts and intents to train on, to judge by, and to look at once in the end."""
    table = pd.read_csv(DATA)
    largest = table["label"].value_counts().index[:INTENTS]
    table = table[table["label"].isin(largest)].sample(frac=1, random_state=0)
    ends = np.cumsum([0, TRAINED, JUDGED, FRESH])
    parts = (table[start:end] for start, end in pairwise(ends))
    return tuple((part["text"], part["label"]) for part in parts)


@lru_cache
def counts(analyzer: str, longest: int) -> list[Any]:
    """Hashed n-grams of the three parts."""
    shortest = 1 if analyzer == "word" else 2
    hashing = HashingVectorizer(
        analyzer=analyzer, ngram_range=(shortest, longest), n_features=2**14, alternate_sign=False, norm=None
    )
    return [hashing.transform(texts) for texts, _ in messages()]


def suggest(trial: optuna.Trial) -> tuple[list[Any], SGDClassifier]:
    """Draw a pipeline; how long the n-grams are depends on what they are made of."""
    analyzer = trial.suggest_categorical("analyzer", ["word", "char_wb"])
    if analyzer == "word":
        longest = trial.suggest_int("word_ngrams", 1, 2)
    else:
        longest = trial.suggest_int("char_ngrams", 3, 5)
    weighting = TfidfTransformer(
        sublinear_tf=trial.suggest_categorical("sublinear_tf", [True, False]),
        use_idf=trial.suggest_categorical("use_idf", [True, False]),
    )
    model = SGDClassifier(
        loss=trial.suggest_categorical("loss", ["log_loss", "modified_huber", "hinge"]),
        alpha=trial.suggest_float("alpha", 1e-6, 1e-2, log=True),
        random_state=trial.number,
    )
    parts = counts(analyzer, longest)
    weighting.fit(parts[0])
    return [weighting.transform(part) for part in parts], model


def epochs(parts: list[Any], model: SGDClassifier) -> Iterator[float]:
    """Train, and return the accuracy on the evaluation messages after each epoch."""
    (_, intents), (_, truth), _ = messages()
    every = np.unique(intents)
    for _ in range(EPOCHS):
        model.partial_fit(parts[0], intents, classes=every)
        yield float((model.predict(parts[1]) == truth).mean())


def run_trial(trial: optuna.Trial) -> float:
    """Train one pipeline inside a nested MLflow run; a pruned one ends as KILLED."""
    with mlflow.start_run(run_name=f"trial-{trial.number}", nested=True) as run:
        trial.set_user_attr("mlflow_run_id", run.info.run_id)
        parts, model = suggest(trial)
        mlflow.log_params(trial.params)
        accuracy = 0.0
        for epoch, accuracy in enumerate(epochs(parts, model)):
            mlflow.log_metric("accuracy", accuracy, step=epoch)
            trial.report(accuracy, epoch)
            if trial.should_prune():
                mlflow.end_run("KILLED")
                raise optuna.TrialPruned
        right = model.predict(parts[1]) == messages()[1][1]
        trial.set_user_attr("right", np.packbits(right).tobytes().hex())
        trial.set_user_attr("fresh_accuracy", float((model.predict(parts[2]) == messages()[2][1]).mean()))
    return accuracy


def main(folder: Path, n_trials: int = 64) -> Sweep:
    """Run the sweep into a folder; return what it made."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    folder.mkdir(parents=True, exist_ok=True)
    storage, tracking_uri = (f"sqlite:///{folder / name}" for name in ("study.db", "mlflow.db"))
    mlflow.set_tracking_uri(tracking_uri)
    experiment = mlflow.create_experiment(STUDY, artifact_location=(folder / "artifacts").as_uri())
    study = optuna.create_study(
        storage=storage,
        study_name=STUDY,
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=7),
        pruner=optuna.pruners.PercentilePruner(70, n_startup_trials=8, n_warmup_steps=1),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names(["accuracy"])
    with mlflow.start_run(run_name=STUDY, experiment_id=experiment) as parent:
        mlflow.log_param("examples_judged", JUDGED)
        study.optimize(run_trial, n_trials=n_trials)
    done = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]
    bits = [np.frombuffer(bytes.fromhex(trial.user_attrs["right"]), np.uint8) for trial in done]
    correct = np.unpackbits(np.array(bits), axis=1, count=JUDGED).astype(bool)
    fresh = study.best_trial.user_attrs["fresh_accuracy"]
    return Sweep(storage, tracking_uri, parent.info.run_id, correct, fresh)


if __name__ == "__main__":
    made = main(Path(sys.argv[1] if len(sys.argv) > 1 else "sweep-output").resolve())
    print(f"study:  {made.storage}  ({STUDY})")
    print(f"runs:   {made.tracking_uri}  children of {made.parent_run_id}")
    print(f"best trial on {len(messages()[2][1])} messages that chose nothing: {made.fresh_accuracy:.3f}")
