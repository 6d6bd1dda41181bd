"""`evalreport verify`: a run compared with the manifests of what was logged into it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import jsonschema
import pytest

from evalreport.page.payload import EVALUATION, MANIFEST, PAGE, STATE_TAG
from evalreport.tracking.client import Store
from tests.cli.running import Ran, run
from tests.faults.harness import SCORES, check_mended, fresh_run, log_command
from tests.tracking import MadeRun, log_bytes

Capture = pytest.CaptureFixture[str]
SCHEMA = json.loads((Path(__file__).parent / "output.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def logged(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> MadeRun:
    made = fresh_run(sqlite_store, tmp_path, SCORES)
    done = run(capsys, *log_command(sqlite_store.uri, made.run_id))
    assert done.code == 0, done.err
    return made


def place(made: MadeRun, folder: Path) -> Path:
    return folder / "artifacts" / made.run_id / "artifacts"


def verify(capsys: Capture, store: Store, made: MadeRun, *more: str) -> Ran:
    return run(capsys, *log_command(store.uri, made.run_id, "verify"), *more)


def test_a_whole_run_is_verified_and_nothing_is_written(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, logged: MadeRun
) -> None:
    files = {path: path.stat().st_mtime_ns for path in place(logged, tmp_path).rglob("*")}
    for option in ((), ("--repair",)):
        done = verify(capsys, sqlite_store, logged, *option)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("evaluation: verified ")
    assert {path: path.stat().st_mtime_ns for path in place(logged, tmp_path).rglob("*")} == files


def test_what_is_missing_or_changed_is_named_and_mended(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, logged: MadeRun
) -> None:
    folder = place(logged, tmp_path)
    whole = (folder / PAGE).read_bytes()
    (folder / PAGE).write_bytes(whole[:-1] + b"x")
    (folder / "evalreport/metrics.json").unlink()
    with sqlite3.connect(tmp_path / "mlflow.db") as database:
        database.execute("DELETE FROM metrics WHERE key = 'eval/curves/roc_tpr_by_fpr_pct' AND step = 10")
    database.close()
    sqlite_store.client.delete_tag(logged.run_id, "evalreport.task")
    done = verify(capsys, sqlite_store, logged, "--json")
    assert done.code == 1
    jsonschema.validate(done.json, SCHEMA)
    (found,) = done.json["runs"][0]["verified"]
    assert found["missing"] == {
        "files": {PAGE: "changed", "evalreport/metrics.json": "missing"},
        "metrics": ["eval/curves/roc_tpr_by_fpr_pct"],
        "tags": ["evalreport.task"],
    }
    plain = verify(capsys, sqlite_store, logged)
    assert "evaluation: not whole: lost or changed 2 files and 1 metric and 1 tag: " in plain.out
    mended = verify(capsys, sqlite_store, logged, "--repair")
    assert mended.code == 0, mended.out
    assert mended.out.startswith("evaluation: repaired, it had lost or changed 2 files")
    assert (folder / PAGE).read_bytes() == whole, "the page is made from the run's own evaluation"
    check_mended(sqlite_store, logged)


@pytest.mark.parametrize("lost", [EVALUATION, MANIFEST])
def test_without_its_evaluation_a_run_is_evaluated_again(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, logged: MadeRun, lost: str
) -> None:
    (place(logged, tmp_path) / lost).unlink()
    assert verify(capsys, sqlite_store, logged).code == 1
    mended = verify(capsys, sqlite_store, logged, "--repair")
    assert mended.code == 0, mended.err
    check_mended(sqlite_store, logged)


def test_without_its_manifest_what_is_changed_and_missing_is_mended(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, logged: MadeRun
) -> None:
    folder = place(logged, tmp_path)
    whole = (folder / PAGE).read_bytes()
    (folder / MANIFEST).write_bytes(b"{")
    (folder / PAGE).write_bytes(b"theirs")
    (folder / "evalreport/metrics.json").unlink()
    assert verify(capsys, sqlite_store, logged, "--repair").code == 0
    assert (folder / PAGE).read_bytes() == whole
    check_mended(sqlite_store, logged)


def test_a_half_logged_run_is_finished(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, logged: MadeRun
) -> None:
    sqlite_store.client.set_tag(logged.run_id, STATE_TAG, "unfinished")
    (place(logged, tmp_path) / PAGE).unlink()
    done = verify(capsys, sqlite_store, logged)
    assert (done.code, "an unfinished logging and lost or changed 1 file" in done.out) == (1, True)
    assert verify(capsys, sqlite_store, logged, "--repair").code == 0
    check_mended(sqlite_store, logged)


def test_another_part_is_reported_and_left_to_its_own_command(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, logged: MadeRun
) -> None:
    sweep = ["sweep", "thresholds", "--run-id", logged.run_id, "--tracking-uri", sqlite_store.uri, "--log"]
    assert run(capsys, *sweep).code == 0
    assert "sweep: verified " in verify(capsys, sqlite_store, logged).out
    (place(logged, tmp_path) / "evalreport_sweep.html").unlink()
    done = verify(capsys, sqlite_store, logged, "--repair")
    assert done.code == 1
    assert "the command that logged the sweep sends it again" in done.err
    assert run(capsys, *sweep).code == 0
    assert verify(capsys, sqlite_store, logged).code == 0


def test_a_run_without_anything_of_ours_is_not_found(
    sqlite_store: Store, tmp_path: Path, capsys: Capture
) -> None:
    made = fresh_run(sqlite_store, tmp_path)
    log_bytes(sqlite_store.client, made.run_id, "evalreport/notes.txt", b"theirs")
    done = verify(capsys, sqlite_store, made)
    assert (done.code, done.err.splitlines()[0]) == (3, "error: nothing of evalreport's is in this run")
