"""`evalreport log` on finished runs, on SQLite and over HTTP: what stands in the run afterwards."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalreport.tracking.client import Store, connect
from tests.cli.running import run
from tests.faults.harness import SCORES
from tests.tracking import MlflowServer, files_of, make_run

Capture = pytest.CaptureFixture[str]
DATA = Path(__file__).parents[2] / "examples" / "data"


def parquet(frame: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.to_parquet(out, index=False)
    return out.getvalue()


def spam() -> bytes:
    table = pd.read_parquet(DATA / "sms_spam" / "oof_scores.parquet")
    return parquet(table[["example_id", "y_true"]].assign(score=table["score_lr"]))


def paths(store: Store, run_id: str, folder: str | None = None) -> set[str]:
    found: set[str] = set()
    for entry in store.client.list_artifacts(run_id, folder):
        found |= paths(store, run_id, entry.path) if entry.is_dir else {entry.path}
    return found


def state(store: Store, run_id: str) -> tuple[Any, ...]:
    info = store.client.get_run(run_id).info
    return info.status, info.start_time, info.end_time, info.lifecycle_stage


def folder(store: Store, tmp_path: Path) -> Path | None:
    return None if store.uri.startswith("http") else tmp_path


def test_a_finished_run_gets_everything_and_stays_as_it_was(
    store: Store, tmp_path: Path, capsys: Capture
) -> None:
    made = make_run(store, {"out/predictions.parquet": spam()}, folder=folder(store, tmp_path))
    before = state(store, made.run_id)
    done = run(
        capsys,
        *("log", "--run-id", made.run_id[:8], "--tracking-uri", store.uri, "--log-all"),
        *("--set", "unit=message,messages"),
    )
    assert done.code == 0, done.err
    assert "logged" in done.out
    assert state(store, made.run_id) == before
    there = paths(store, made.run_id)
    assert there >= {
        "evalreport.html",
        *(f"evalreport_{name}.png" for name in ("confusion_matrix", "roc_curve", "pr_curve")),
    }
    assert there >= {"evalreport/evaluation.json", "evalreport/metrics.json", "evalreport/thresholds.json"}
    logged = store.client.get_run(made.run_id).data
    assert logged.metrics["eval/roc_auc"] == pytest.approx(0.99353545, abs=1e-6)
    assert "messages" in logged.tags["mlflow.note.content"]
    steps = [
        entry.step for entry in store.client.get_metric_history(made.run_id, "eval/curves/roc_tpr_by_fpr_pct")
    ]
    assert set(range(0, 101, 10)) <= set(steps) <= set(range(101))
    assert {entry["path"] for entry in json.loads(logged.tags["mlflow.loggedArtifacts"])} >= {
        "evalreport/metrics.json"
    }


def test_a_second_call_writes_nothing_and_a_changed_one_replaces(
    store: Store, tmp_path: Path, capsys: Capture
) -> None:
    made = make_run(store, {"predictions.csv": SCORES}, folder=folder(store, tmp_path))
    call = ["log", "--run-id", made.run_id, "--tracking-uri", store.uri]
    assert run(capsys, *call).code == 0
    before = len(store.client.get_metric_history(made.run_id, "eval/f1")), paths(store, made.run_id)
    again = run(capsys, *call)
    assert "unchanged" in again.out
    assert (len(store.client.get_metric_history(made.run_id, "eval/f1")), paths(store, made.run_id)) == before
    changed = run(capsys, *call, "--threshold", "0.2", "--json")
    assert changed.json["runs"][0]["logged"]["state"] == "written"
    shown = store.client.get_run(made.run_id).data.metrics
    assert shown["eval/threshold"] == 0.2
    assert shown["eval/f1"] == pytest.approx(changed.json["runs"][0]["metrics"]["f1"]["value"])


def test_twelve_metrics_are_logged_by_default(store: Store, tmp_path: Path, capsys: Capture) -> None:
    made = make_run(store, {"predictions.csv": SCORES}, folder=folder(store, tmp_path))
    call = ["log", "--run-id", made.run_id, "--tracking-uri", store.uri]
    done = run(capsys, *call, "--json")
    assert done.code == 0, done.err
    held = store.client.get_run(made.run_id).data
    assert {*held.metrics} == {*done.json["runs"][0]["logged"]["metrics"]}
    assert len(held.metrics) <= 12
    ours = {name for name in held.tags if name.startswith("evalreport.")}
    assert ours == {"evalreport.verdict", "evalreport.task", "evalreport.state"}
    whole = run(capsys, *call, "--log-all", "--json").json["runs"][0]["logged"]
    assert (whole["state"], whole["left"]) == ("written", [])
    assert "eval/ci/f1_low" in store.client.get_run(made.run_id).data.metrics
    assert run(capsys, *call, "--log-all", "--json").json["runs"][0]["logged"]["state"] == "unchanged"


def test_dry_run_writes_nothing(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    made = make_run(sqlite_store, {"predictions.csv": SCORES}, folder=tmp_path)
    command = ("log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--dry-run", "--log-all")
    done = run(capsys, *command)
    reported = [line.split() for line in done.out.split("would log")[1].splitlines()[1:]]
    values = {name: rest for name, *rest in reported}
    in_json = run(capsys, *command, "--json").json["runs"][0]
    for name in ("f1", "roc_auc", "log_loss"):
        assert float(values[f"eval/{name}"][0]) == pytest.approx(in_json["metrics"][name]["value"], rel=1e-5)
    assert values["eval/curves/roc_tpr_by_fpr_pct"] == ["a", "curve"]
    assert values["evalreport.html"] == []
    assert paths(sqlite_store, made.run_id) == {"predictions.csv"}
    assert not sqlite_store.client.get_run(made.run_id).data.metrics


def test_several_runs_of_an_experiment(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    first = make_run(sqlite_store, {"predictions.csv": SCORES}, experiment="bank-a", folder=tmp_path)
    make_run(sqlite_store, {"notes.txt": "nothing"}, experiment="bank-a", folder=tmp_path)
    command = ("log", "--experiment", "bank-*", "--tracking-uri", sqlite_store.uri, "--set", "resamples=100")
    reported = run(capsys, *command).out.splitlines()
    closing = reported[reported.index("") + 1 :]
    assert [re.split(r"  +", line)[:2] for line in sorted(closing)] == [
        ["calm-heron-412", "written"],
        ["run", "status"],
    ]
    assert re.search(r"written +recall \d+% \d+% to \d+%$", "\n".join(closing), re.MULTILINE)
    done = run(capsys, *command, "--json")
    assert done.code == 3
    assert {entry["ok"] for entry in done.json["runs"]} == {True, False}
    assert "eval/f1" in sqlite_store.client.get_run(first.run_id).data.metrics


def test_a_sensitive_run_shows_no_example(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    rows = "y_true,y_pred,text\n" + "".join(
        f"{'ab'[k % 2]},{'ab'[k % 3 > 0]},secret-{k}\n" for k in range(30)
    )
    made = make_run(
        sqlite_store, {"predictions.csv": rows}, tags={"evalreport.sensitive": "true"}, folder=tmp_path
    )
    done = run(
        capsys, "log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--set", "show_text=text",
        "--output", str(tmp_path / "out"),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "secret-" not in (tmp_path / "out" / "evalreport.html").read_text()
    assert "secret-" not in (tmp_path / "out" / "evaluation.json").read_text()


def test_rows_read_from_text_are_an_artifact(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    answers = (DATA / "banking77" / "llm_generations.jsonl").read_text().splitlines()[:200]
    made = make_run(sqlite_store, {"answers.jsonl": "\n".join(answers)}, folder=tmp_path)
    call = ["log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--truth", "label"]
    call += ["--labels", f"@{DATA / 'banking77' / 'labels.json'}"]
    assert run(capsys, *call, "--response", "generation").code == 0
    local = sqlite_store.client.download_artifacts(made.run_id, "evalreport/rows.parquet", str(tmp_path))
    rows = pd.read_parquet(local)
    assert list(rows.columns) == ["example_id", "y_true", "y_pred", "status", "reason", "text_digest"]
    assert set(rows["status"]) == {"right", "wrong", "unparsed"}
    assert (rows.loc[rows["status"] == "unparsed", "reason"] != "").all()
    assert rows["text_digest"].str.fullmatch("[0-9a-f]{16}").all()
    assert "unchanged" in run(capsys, *call, "--response", "generation").out


ERRORS = [
    (["--run-id", "0" * 32], 3, "RUN_NOT_FOUND"),
    (["--experiment", "nowhere"], 3, "RUN_NOT_FOUND"),
    ([], 2, "USAGE"),
    (["--run-id", "abc"], 2, "USAGE"),
    (["--filter", "metrics.a > 1"], 2, "USAGE"),
]


@pytest.mark.parametrize(("arguments", "code", "name"), ERRORS, ids=str)
def test_what_cannot_be_found(
    sqlite_store: Store, capsys: Capture, arguments: list[str], code: int, name: str
) -> None:
    done = run(capsys, "log", *arguments, "--tracking-uri", sqlite_store.uri, "--json")
    assert (done.code, done.json["error"]["code"]) == (code, name)
    plain = run(capsys, "log", *arguments, "--tracking-uri", sqlite_store.uri)
    assert plain.out == ""
    assert plain.err.startswith("error: ")


def test_a_missing_database_is_not_made(tmp_path: Path, capsys: Capture) -> None:
    done = run(capsys, "log", "--latest", "--tracking-uri", f"sqlite:///{tmp_path / 'none.db'}")
    assert done.code in (3, 4)
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("uri", ["foo://x", "postgres://host/name", "sqlite:/x.db"])
def test_an_address_of_no_store_is_reported_with_those_that_there_are(capsys: Capture, uri: str) -> None:
    done = run(capsys, "log", "--latest", "--tracking-uri", uri)
    assert done.code == 2
    assert done.err.startswith("error: MLflow has no tracking store at an address like this\n")
    assert "pass https://HOST, sqlite:///FILE, postgresql://" in done.err


def test_a_server_that_refuses_is_reported_quickly(capsys: Capture) -> None:
    done = run(capsys, "log", "--latest", "--tracking-uri", "http://127.0.0.1:9")
    assert done.code == 4
    assert done.err.count("\n") <= 3


def test_a_running_run_is_left_alone(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    made = make_run(sqlite_store, {"predictions.csv": SCORES}, status="RUNNING", folder=tmp_path)
    done = run(capsys, "log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri)
    assert done.code == 2
    assert not sqlite_store.client.get_run(made.run_id).data.metrics
    assert "--set allow_running" in done.err
    reported = run(
        capsys, "log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--set", "allow_running"
    )
    assert reported.code == 0, reported.err
    assert re.search(r"^verified \d+ files, \d+ metrics$", reported.out, re.MULTILINE)
    assert sqlite_store.client.get_run(made.run_id).info.status == "RUNNING"


@pytest.mark.parametrize("status", ["FAILED", "KILLED"])
def test_a_run_that_did_not_finish_is_said_to(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, status: str
) -> None:
    made = make_run(sqlite_store, {"predictions.csv": SCORES}, status=status, folder=tmp_path)
    done = run(capsys, "log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--json")
    assert done.code == 0, done.err
    reported = f"did not finish ({status}): rows of it may be missing"
    assert reported in done.err
    assert reported in str(done.json["runs"][0]["provenance"]["notes"])


@pytest.mark.parametrize("models", [1, 2])
def test_only_a_run_with_one_model_shows_its_numbers_there(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, models: int
) -> None:
    from mlflow.entities import LoggedModelOutput

    made = make_run(sqlite_store, {"predictions.csv": SCORES}, folder=tmp_path)
    client = sqlite_store.client
    logged = [client.create_logged_model(made.experiment_id, f"clf{i}", made.run_id) for i in range(models)]
    client.log_outputs(made.run_id, [LoggedModelOutput(model.model_id, 0) for model in logged])
    done = run(capsys, "log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--json")
    assert done.code == 0, done.err
    (body,) = json.loads(done.out)["runs"]
    assert body["logged"]["model"] == (logged[0].model_id if models == 1 else None)
    assert body["provenance"]["model"] == (logged[0].model_id if models == 1 else "")
    for model in logged:
        held = {entry.key: entry.value for entry in client.get_logged_model(model.model_id).metrics or ()}
        shown = {
            key for key in body["logged"]["metrics"] if "curves/" not in key and "thresholds/" not in key
        }
        assert set(held) == (shown if models == 1 else set())
        assert held.get("eval/recall") == (body["metrics"]["recall"]["value"] if models == 1 else None)


def test_beside_mlflow_s_own_evaluation_nothing_is_in_the_way(
    sqlite_store: Store, tmp_path: Path, capsys: Capture
) -> None:
    theirs: dict[str, str | bytes] = {"confusion_matrix.png": b"theirs", "roc_curve.png": b"theirs"}
    made = make_run(sqlite_store, theirs | {"predictions.csv": SCORES}, folder=tmp_path)
    done = run(capsys, "log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri)
    assert done.code == 0, done.err
    held = files_of(sqlite_store, made.run_id, tmp_path)
    assert (held / "confusion_matrix.png").read_bytes() == b"theirs"
    assert (held / "evalreport_confusion_matrix.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.server
def test_another_address_is_the_same_run(mlflow_server: MlflowServer, capsys: Capture) -> None:
    store = connect(mlflow_server.uri)
    made = make_run(store, {"predictions.csv": SCORES})
    again = mlflow_server.uri.replace("127.0.0.1", "localhost")
    sweep = ["sweep", "thresholds", "--log", "--set", "resamples=100"]
    for command in (["log", "--set", "confidence=none", "--metrics", "f1"], sweep):
        for uri, word in ((store.uri, "logged"), (again, "unchanged"), (f"{store.uri}/", "unchanged")):
            done = run(capsys, *command, "--run-id", made.run_id, "--tracking-uri", uri)
            assert done.code == 0, done.err
            assert word in done.out
