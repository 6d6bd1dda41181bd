"""`evalreport sweep … --log` on SQLite and over HTTP: what stands in the run, and that all else stays."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.sweeping import GRID, emotions, intents, nested_runs, optuna_study, parquet, spam, two_params
from tests.tracking import MadeRun, make_run
from tests.tracking.test_mlflow import snapshot

Capture = pytest.CaptureFixture[str]
Make = Callable[[Store, Path], tuple[MadeRun, list[str]]]


def place(store: Store, tmp_path: Path) -> Path | None:
    return None if store.uri.startswith("http") else tmp_path


def predicted(store: Store, tmp_path: Path, table: pd.DataFrame) -> MadeRun:
    tags = {"mlflow.note.content": "My own words.", "owner": "ada"}
    made = make_run(store, {"predictions.parquet": parquet(table)}, tags=tags, folder=place(store, tmp_path))
    store.ask(lambda client: client.log_param(made.run_id, "C", "1"))
    store.ask(lambda client: client.log_metric(made.run_id, "loss", 0.5))
    return made


def binary(store: Store, tmp_path: Path) -> tuple[MadeRun, list[str]]:
    made = predicted(store, tmp_path, spam())
    goals = ["--objective", "f1", "--objective", "recall>=0.95", "--cost", "10"]
    return made, ["thresholds", *goals, "--set", "resamples=100"]


def multilabel(store: Store, tmp_path: Path) -> tuple[MadeRun, list[str]]:
    return predicted(store, tmp_path, emotions("test", 4)), ["thresholds", "--set", "resamples=100"]


def searched(store: Store, tmp_path: Path) -> tuple[MadeRun, list[str]]:
    """Thresholds that Optuna seeks on other rows, in a study of its own."""
    emotions("dev", 4).to_parquet(tmp_path / "dev.parquet")
    goal = ["--objective", "f1_samples", "--trials", "15", "--set", "resamples=100"]
    made = predicted(store, tmp_path, emotions("test", 4))
    return made, ["thresholds", "--tune-on", str(tmp_path / "dev.parquet"), *goal]


def multiclass(store: Store, tmp_path: Path) -> tuple[MadeRun, list[str]]:
    made = predicted(store, tmp_path, intents())
    return made, ["thresholds", "--objective", "accuracy>=0.95", "--set", "resamples=100"]


def child_runs(store: Store, tmp_path: Path) -> tuple[MadeRun, list[str]]:
    return nested_runs(store, GRID, place(store, tmp_path)), ["runs", "--examples", "400"]


def optuna(store: Store, tmp_path: Path) -> tuple[MadeRun, list[str]]:
    storage = optuna_study(f"sqlite:///{tmp_path / 'study.db'}", "triage", two_params)
    made = nested_runs(store, [{}] * 14, place(store, tmp_path))
    return made, ["optuna", "--study", storage, "--metric", "accuracy", "--examples", "400"]


KINDS: dict[str, Make] = {
    "binary": binary,
    "multilabel": multilabel,
    "searched": searched,
    "multiclass": multiclass,
    "child runs": child_runs,
    "optuna": optuna,
}
DRY = ("binary", "child runs")
"""One of thresholds and one of a study: all of either are logged by one function."""


@pytest.mark.parametrize(
    ("store", "kind"),
    [
        *(("sqlite", kind) for kind in KINDS),
        pytest.param("http", "child runs", marks=pytest.mark.server),
    ],
    indirect=["store"],
)
def test_a_sweep_is_logged_once_and_the_run_stays_as_it_was(
    store: Store, tmp_path: Path, capsys: Capture, kind: str
) -> None:
    made, words = KINDS[kind](store, tmp_path)
    command = ["sweep", *words, "--run-id", made.run_id, "--tracking-uri", store.uri, "--log", "--log-all"]
    before = snapshot(store, made)
    if kind in DRY:
        dry = run(capsys, *command, "--dry-run")
        assert dry.code == 0, dry.err
        assert "would log" in dry.out
        assert snapshot(store, made) == before
    done = run(capsys, *command, "--json")
    assert done.code == 0, done.err
    after = snapshot(store, made)
    for name in ("status", "start", "end", "name", "stage", "params"):
        assert after[name] == before[name], name
    assert before["tags"].get("owner") == after["tags"].get("owner")
    assert after["tags"]["mlflow.note.content"].startswith(before["tags"].get("mlflow.note.content", ""))
    assert {path: after["files"][path] for path in before["files"]} == before["files"]
    check_series(after)
    CHECKS[kind](after, done.json["sweep"])
    again = run(capsys, *command)
    assert again.code == 0, again.err
    assert "unchanged: the run holds exactly this" in again.out
    assert snapshot(store, made) == after


def test_thresholds_and_held_out_values_are_logged_by_default(
    sqlite_store: Store, tmp_path: Path, capsys: Capture
) -> None:
    made = predicted(sqlite_store, tmp_path, spam(1000))
    command = ["sweep", "thresholds", "--run-id", made.run_id, "--objective", "f1", "--set", "resamples=100"]
    done = run(capsys, *command, "--tracking-uri", sqlite_store.uri, "--log", "--json", "-q")
    assert done.code == 0, done.err
    after = snapshot(sqlite_store, made)
    found = {name for name in after["metrics"] if name.startswith("eval/")}
    assert found == {"eval/sweep/f1_threshold", "eval/sweep/f1_held_out"}
    ours = {name for name in after["tags"] if name.startswith("evalreport.")}
    assert ours == {"evalreport.sweep.verdict", "evalreport.sweep.state"}


def test_a_parent_that_has_not_ended_is_written_to_only_when_requested(
    sqlite_store: Store, tmp_path: Path, capsys: Capture
) -> None:
    made = nested_runs(sqlite_store, GRID, tmp_path, status="RUNNING")
    command = ["sweep", "runs", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--log", "-q"]
    refused = run(capsys, *command)
    assert (refused.code, refused.out) == (2, "")
    assert "has not ended: its status is RUNNING" in refused.err
    assert run(capsys, *command, "--set", "allow_running").code == 0
    after = snapshot(sqlite_store, made)
    assert (after["status"], after["end"]) == ("RUNNING", None)
    assert after["metrics"]["eval/sweep/best/val_accuracy"] == pytest.approx(0.86)


def test_several_runs_are_logged_in_one_call(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    runs = [predicted(sqlite_store, tmp_path, spam(rows)) for rows in (1000, 1500)]
    ids = [word for made in runs for word in ("--run-id", made.run_id)]
    command = ["sweep", "thresholds", *ids, "--objective", "f1", "--set", "resamples=100"]
    done = run(capsys, *command, "--tracking-uri", sqlite_store.uri, "--log", "--jsonl", "-q")
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["run_id"] for line in lines] == [made.run_id for made in runs]
    for made, line in zip(runs, lines, strict=True):
        assert line["logged"]["state"] == "written"
        held = snapshot(sqlite_store, made)["metrics"]["eval/sweep/f1_threshold"]
        assert held == line["sweep"]["optima"]["f1"]["threshold"]


def check_series(after: dict[str, Any]) -> None:
    """Integer steps from 0 to 100 at most, one timestamp, nothing that MLflow cannot draw."""
    series = {key: points for key, points in after["history"].items() if "_pct" in key}
    assert series
    for key, points in series.items():
        steps = [step for step, _, _ in points]
        assert len(set(steps)) == len(steps) <= 101, key
        assert set(steps) <= set(range(101)), key
        assert all(abs(value) < 1e300 for _, _, value in points), key
    ours = [p for key, points in after["history"].items() if "/sweep/" in key for p in points]
    assert len({time for _, time, _ in ours}) == 1


def table(after: dict[str, Any]) -> pd.DataFrame:
    return pd.read_parquet(io.BytesIO(after["files"]["evalreport/thresholds.parquet"]))


def f1(rows: pd.DataFrame) -> pd.Series[float]:
    return 2 * rows["tp"] / (2 * rows["tp"] + rows["fp"] + rows["fn"])


def check_binary(after: dict[str, Any], sweep: dict[str, Any]) -> None:
    metrics, tags, best = after["metrics"], after["tags"], sweep["optima"]["f1"]
    assert metrics["eval/sweep/f1_threshold"] == best["threshold"]
    assert metrics["eval/sweep/f1_apparent"] == best["apparent"]
    assert metrics["eval/sweep/f1_held_out"] == best["held_out"]
    assert (
        metrics["eval/sweep/recall_at_least_0.95_threshold_low"] == (sweep["optima"]["recall>=0.95"]["low"])
    )
    assert tags["evalreport.sweep.threshold/f1"].startswith(f"{best['threshold']:.6g} ")
    points = {step: value for step, _, value in after["history"]["eval/sweep/f1_by_threshold_pct"]}
    rows = table(after)
    assert f1(rows).max() == pytest.approx(best["apparent"], abs=1e-12)
    for step in (10, 50):
        at = rows[rows["threshold"] >= step / 100].iloc[0]
        assert points[step] == pytest.approx(2 * at.tp / (2 * at.tp + at.fp + at.fn), abs=1e-12)


def check_multilabel(after: dict[str, Any], sweep: dict[str, Any]) -> None:
    best = sweep["optima"]["f1_macro"]
    assert json.loads(after["tags"]["evalreport.sweep.threshold/f1_macro"]) == best["values"]
    rows = table(after).assign(value=f1)
    assert rows.groupby("label")["value"].max().mean() == pytest.approx(best["apparent"], abs=1e-12)
    for label, at in best["values"].items():
        assert after["metrics"][f"eval/sweep/f1_macro/{label}"] == at
        assert at in set(rows.loc[rows["label"] == label, "threshold"])


def check_searched(after: dict[str, Any], sweep: dict[str, Any]) -> None:
    best = sweep["optima"]["f1_samples"]
    assert after["metrics"]["eval/sweep/f1_samples_held_out"] == best["held_out"] > best["without"]
    assert json.loads(after["tags"]["evalreport.sweep.threshold/f1_samples"]) == best["values"]
    assert len(best["trials"]["trials"]) == 15


def check_multiclass(after: dict[str, Any], sweep: dict[str, Any]) -> None:
    best = sweep["optima"]["accuracy>=0.95"]
    assert after["metrics"]["eval/sweep/accuracy_at_least_0.95_threshold"] == best["threshold"]
    assert "eval/sweep/accuracy_by_coverage_pct" in after["history"]
    rows = table(after)
    kept = rows[rows["accuracy"] >= 0.95]
    assert kept["coverage"].max() == pytest.approx(best["coverage"], abs=1e-12)


def check_study(after: dict[str, Any], sweep: dict[str, Any]) -> None:
    (goal,) = (goal["name"] for goal in sweep["objectives"])
    best = sweep["best"]
    assert after["metrics"][f"eval/sweep/best/{goal}"] == best["values"][goal]
    assert after["metrics"]["eval/sweep/corrected"] == sweep["winners_curse"]["corrected"]
    assert after["tags"]["evalreport.sweep.best_trial"] == str(best["number"])
    for name, value in best["params"].items():
        assert after["tags"][f"evalreport.sweep.best/{name}"] == str(value)
    history = after["history"][f"eval/sweep/best_so_far_by_trials_pct/{goal}"]
    course = {step: value for step, _, value in history}
    assert course[100] == best["values"][goal]
    assert sorted(course.values()) == list(course.values())
    rows = json.loads(after["files"]["evalreport/trials.json"])
    assert len(rows["data"]) == sweep["n_trials"]


CHECKS: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
    "binary": check_binary,
    "multilabel": check_multilabel,
    "searched": check_searched,
    "multiclass": check_multiclass,
    "child runs": check_study,
    "optuna": check_study,
}
