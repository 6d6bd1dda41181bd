"""Train and log as any project would: finished MLflow runs that hold their predictions, nothing more.

Four tasks, eight runs, into the tracking store that `MLFLOW_TRACKING_URI` names:

* banking77: 77 intents of bank customers; two models are really trained here, a third (trained on six
  intents only) and a language model's answers come from shipped predictions;
* sms-spam and machine-failure: binary, imbalanced, two models each, from shipped out-of-fold scores;
* emotions: 28 labels, any number per comment, from shipped scores.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd

DATA = Path(__file__).parent / "data"


def log_predictions(run_name: str, frame: pd.DataFrame, params: dict[str, object]) -> str:
    """Log a finished run with its predictions as one Parquet artifact; return the run's id."""
    with mlflow.start_run(run_name=run_name) as run, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.parquet"
        frame.to_parquet(path, index=False)
        mlflow.log_artifact(str(path))
        mlflow.log_params(params)
    run_id: str = run.info.run_id
    return run_id


def banking77() -> list[str]:
    """Train two intent classifiers on 10,003 messages, predict 3,080, and log both."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    mlflow.set_experiment("banking77")
    train, test = (pd.read_csv(DATA / "banking77" / name) for name in ("train.csv", "test.csv"))
    words = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=10, max_iter=200))
    chars = make_pipeline(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True, min_df=2), LinearSVC(C=0.5)
    )
    ids = []
    for name, model, prefix in (("words-logistic", words, "proba"), ("chars-svm", chars, "logit")):
        model.fit(train["text"], train["label"])
        scores = (
            model.predict_proba(test["text"]) if prefix == "proba" else model.decision_function(test["text"])
        )
        columns = pd.DataFrame(
            scores.astype(np.float32), columns=[f"{prefix}_{label}" for label in model.classes_]
        )
        known = pd.DataFrame(
            {
                "example_id": test["example_id"],
                "text": test["text"],
                "y_true": test["label"],
                "y_pred": model.classes_[scores.argmax(axis=1)],
            }
        )
        ids.append(
            log_predictions(name, pd.concat([known, columns], axis=1), {"model": name, "split": "test"})
        )
    collapsed = pd.read_parquet(DATA / "banking77" / "pred_collapsed6.parquet").merge(
        test[["example_id", "text"]], on="example_id", validate="one_to_one"
    )
    ids.append(
        log_predictions("bayes-six-intents", collapsed, {"model": "bayes-six-intents", "split": "test"})
    )
    return ids


def language_model() -> list[str]:
    """Log the (simulated) answers of a language model to the same 3,080 messages, as a JSON-lines file."""
    mlflow.set_experiment("banking77")
    with mlflow.start_run(run_name="language-model") as run:
        mlflow.log_artifact(str(DATA / "banking77" / "llm_generations.jsonl"))
        mlflow.log_param("model", "language-model")
    return [run.info.run_id]


def binary(experiment: str, folder: str, models: dict[str, str], keep: tuple[str, ...] = ()) -> list[str]:
    """Log one run per model from a table of out-of-fold scores."""
    mlflow.set_experiment(experiment)
    table = pd.read_parquet(DATA / folder / "oof_scores.parquet")
    return [
        log_predictions(
            name,
            table[["example_id", "y_true", *keep]].assign(score=table[column]),
            {"model": name, "split": "5-fold, out of fold"},
        )
        for name, column in models.items()
    ]


def emotions() -> list[str]:
    """Log the test predictions of one classifier per emotion."""
    mlflow.set_experiment("emotions")
    folder = DATA / "goemotions"
    scores = pd.read_parquet(folder / "pred_test_ovr_lr_proba.parquet")
    truth = pd.read_parquet(folder / "y_true_test.parquet")
    frame = truth.merge(scores, on="example_id", validate="one_to_one")
    name = "one-vs-rest-logistic"
    return [log_predictions(name, frame, {"model": name, "split": "test"})]


def sms_spam() -> list[str]:
    """Log two spam filters."""
    return binary("sms-spam", "sms_spam", {"logistic": "score_lr", "naive-bayes": "score_nb"})


def machine_failure() -> list[str]:
    """Log two models of a machine's failure, with the type of the machine."""
    models = {"boosting": "score_histgb", "balanced-logistic": "score_lr_balanced"}
    return binary("machine-failure", "ai4i_failure", models, keep=("product_type",))


TASKS: dict[str, Callable[[], list[str]]] = {
    "banking77": banking77,
    "language model": language_model,
    "sms-spam": sms_spam,
    "machine-failure": machine_failure,
    "emotions": emotions,
}
"""What is trained and logged, in this order."""


def main(only: Collection[str] = ()) -> dict[str, list[str]]:
    """Log every run, or those of some tasks only; return their ids by task."""
    return {name: log() for name, log in TASKS.items() if not only or name in only}


if __name__ == "__main__":
    for experiment, run_ids in main().items():
        print(experiment, *run_ids)
