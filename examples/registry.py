"""The registry's story: three versions of a spam filter before the gate, and the alias follows what it says.

    python examples/registry.py [FOLDER]

The first version becomes the champion, a better one takes its place, and one with too many false positives is
refused. Everything goes into one folder (`registry-output/` without an argument), an SQLite store included.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
from demo import emptied
from mlflow import MlflowClient

from evalreport.cli import main as evalreport

SCORES = Path(__file__).parent / "data" / "sms_spam" / "oof_scores.parquet"
NAME = "spam-filter"
VERSIONS = {"naive Bayes": "score_nb", "logistic regression": "score_lr", "boosting": "score_histgb"}
RULES = ("--require", "precision >= 0.97", "--require", "recall drops <= 0.02")
"""At most 3 of 100 messages put away by mistake, and not less spam found than now."""


def register(client: MlflowClient, folder: Path) -> None:
    """Log the predictions of each model as a separate run, and register the model with that run."""
    experiment = client.create_experiment(NAME, artifact_location=(folder / "artifacts").as_uri())
    client.create_registered_model(NAME)
    frame = pd.read_parquet(SCORES)
    for model, column in VERSIONS.items():
        run_id = client.create_run(experiment, run_name=model).info.run_id
        predictions = folder / "predictions.parquet"
        frame[["example_id", "y_true"]].assign(score=frame[column]).to_parquet(predictions)
        client.log_artifact(run_id, str(predictions))
        client.set_terminated(run_id)
        client.create_model_version(NAME, f"runs:/{run_id}/model", run_id)


def check(version: int, *rules: str) -> int | str | None:
    """Hold a version against rules, as a pipeline would on a command line; return the exit code."""
    words = ["check", "--model", f"models:/{NAME}/{version}", "--positive", "spam", *rules]
    words += ["--promote", "champion"]
    print("\n$ evalreport", subprocess.list2cmdline(words), flush=True)
    try:
        evalreport(words)
    except SystemExit as end:
        return end.code
    return 0


def main(store: str, folder: Path) -> list[tuple[int | str | None, str]]:
    """Tell the story; return the exit code and the champion's version after each chapter."""
    os.environ["MLFLOW_TRACKING_URI"] = store
    client = MlflowClient(store)
    register(client, folder)
    told = []
    for version, model in enumerate(VERSIONS, start=1):
        against = ("--baseline", f"models:/{NAME}@champion", *RULES)
        code = check(version, *(against if version > 1 else RULES[:2]))
        champion = str(client.get_model_version_by_alias(NAME, "champion").version)
        print(f"-> {model}: exit code {code}; the champion is version {champion}", flush=True)
        told.append((code, champion))
    return told


if __name__ == "__main__":
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    output = emptied(Path(sys.argv[1] if len(sys.argv) > 1 else "registry-output").resolve())
    uri = f"sqlite:///{output / 'mlflow.db'}"
    main(uri, output)
    print(f"\nThe verdicts stand on the versions:\n  mlflow ui --backend-store-uri {uri}")
