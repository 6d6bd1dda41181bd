"""`make demo`: train, log, then `evalreport log` on every run, in a new SQLite store.

    python examples/demo.py [FOLDER [TASK …]]

Everything goes into one folder (`demo-output/` without an argument), which is emptied first; a folder
with other files is not touched. TASK is one of the names below; without it
all of them, and a sweep.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

OPTIONS = {
    "banking77": ["--set", "show_text=text", "--set", "unit=message,messages"],
    "language model": [
        *("--truth", "label", "--response", "generation"),
        *("--set", "show_text=text", "--set", "unit=message,messages"),
    ],
    "sms-spam": ["--positive", "spam", "--set", "unit=message,messages"],
    "machine-failure": ["--positive", "1", "--slice", "product_type", "--set", "unit=machine,machines"],
    "emotions": ["--set", "unit=comment,comments"],
}
"""What a person would add to `evalreport log` for each experiment."""


TRIALS = 16
"""Trials of the study: few, for a demonstration."""


def sweep(words: list[str], output: Path) -> None:
    """Run `evalreport sweep` and log what it finds."""
    print("\n== evalreport sweep", *words, flush=True)
    command = [sys.executable, "-m", "evalreport", "sweep", *words, "--log"]
    subprocess.run([*command, "--output", str(output / "reports" / f"sweep-{words[0]}")], check=True)


def study(output: Path) -> None:
    """Search a pipeline with Optuna, every trial a nested run, and report on it."""
    import sweep_study

    print("\nsearching a pipeline with Optuna, every trial a nested run …", flush=True)
    made = sweep_study.main(output, n_trials=TRIALS)
    wanted = ["--study-name", sweep_study.STUDY, "--examples", str(sweep_study.JUDGED), "--top", "3"]
    sweep(["optuna", "--study", made.storage, "--run-id", made.parent_run_id, *wanted], output)


def emptied(output: Path) -> Path:
    """Return the folder, new and empty; only what an earlier demo left is ever deleted."""
    if output.exists() and any(output.iterdir()) and not (output / "mlflow.db").is_file():
        raise SystemExit(f"{output} holds other things than a demo; name a folder that is new")
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    return output


def main() -> None:
    """Run all steps and print the folder."""
    output = emptied(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output").resolve())
    store = f"sqlite:///{output / 'mlflow.db'}"
    os.environ["MLFLOW_TRACKING_URI"] = store
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    import mlflow

    mlflow.set_tracking_uri(store)
    for name in ("banking77", "sms-spam", "machine-failure", "emotions"):
        mlflow.create_experiment(name, artifact_location=(output / "artifacts" / name).as_uri())
    sys.path.insert(0, str(Path(__file__).parent))
    import train

    print("training and logging runs, as any project would …", flush=True)
    for group, run_ids in train.main(sys.argv[2:]).items():
        print(f"\n== {group}: evalreport log", *OPTIONS[group], flush=True)
        selection = [part for run_id in run_ids for part in ("--run-id", run_id)]
        command = [sys.executable, "-m", "evalreport", "log", *selection, *OPTIONS[group]]
        command += ["--output", str(output / "reports" / group.replace(" ", "-"))]
        subprocess.run(command, check=True)
        if group == "sms-spam":
            goals = ["--objective", "f1", "--cost", "10"]
            sweep(["thresholds", *selection, "--positive", "spam", *goals], output)
    if not sys.argv[2:]:
        study(output)
    print("\nThe reports, as files:")
    for page in sorted(output.glob("reports/**/*.html")):
        print(f"  {page}")
    print("\nCompare the runs in MLflow:")
    print(f"  mlflow ui --backend-store-uri {store}")


if __name__ == "__main__":
    main()
