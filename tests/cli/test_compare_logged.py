"""`evalreport compare --log` over HTTP: onto a run and onto the parent of the runs, once."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalreport.tracking.client import Store, connect
from tests.cli.running import run
from tests.tracking import MlflowServer, make_run

pytestmark = pytest.mark.server
Capture = pytest.CaptureFixture[str]
SMS = Path(__file__).parents[2] / "examples" / "data" / "sms_spam" / "oof_scores.parquet"
ENDS = ("difference", "low", "high")


@pytest.fixture(scope="module")
def store(mlflow_server: MlflowServer) -> Store:
    return connect(mlflow_server.uri)


def logged(store: Store, model: str, tags: dict[str, str] | None = None) -> str:
    """A run with the predictions of one model of the SMS data."""
    table = pd.read_parquet(SMS).iloc[:800]
    out = io.BytesIO()
    table[["example_id", "y_true"]].assign(score=table[f"score_{model}"]).to_parquet(out, index=False)
    files = {"predictions.parquet": out.getvalue()}
    return make_run(store, files, experiment="compared", name=model, tags=tags).run_id


def compare(capsys: Capture, store: Store, ids: list[str], *more: str) -> dict[str, Any]:
    """The JSON of a comparison that is logged."""
    chosen = [word for one in ids for word in ("--run-id", one)]
    done = run(capsys, "compare", *chosen, "--tracking-uri", store.uri, "--json", *more)
    assert done.code == 0, done.err
    return done.json


def state(store: Store, run_id: str) -> dict[str, Any]:
    """Everything of a run that a second call could change."""
    held = store.client.get_run(run_id)
    histories = {key: len(store.client.get_metric_history(run_id, key)) for key in held.data.metrics}
    return {
        "info": (held.info.status, held.info.end_time),
        "tags": dict(held.data.tags),
        "histories": histories,
        "files": sorted(entry.path for entry in store.client.list_artifacts(run_id)),
    }


def check_metrics(store: Store, run_id: str, reported: dict[str, Any], section: dict[str, str]) -> None:
    """Each difference of the JSON is a metric, with its ends."""
    found = store.client.get_run(run_id).data.metrics
    defined = [d for d in reported["comparison"]["differences"] if d["difference"] is not None]
    assert defined
    for d in defined:
        stem = f"compare/{section[d['run']]}{d['metric']}_difference"
        for end in ENDS:
            key = stem if end == "difference" else f"{stem}_{end}"
            assert found.get(key) == (None if d[end] is None else pytest.approx(d[end])), key


def test_onto_the_baseline_and_a_second_call_writes_nothing(store: Store, capsys: Capture) -> None:
    ids = [logged(store, model) for model in ("lr", "nb")]
    before = store.client.get_run(ids[0]).info
    reported = compare(capsys, store, ids, "--log")
    assert (reported["logged"]["state"], reported["logged"]["run_id"]) == ("written", ids[0])
    name = f"compare/{reported['comparison']['primary']}_difference"
    few = store.client.get_run(ids[0]).data.metrics
    assert {key for key in few if key.startswith("compare/")} == {name, f"{name}_low", f"{name}_high"}
    assert compare(capsys, store, ids, "--log", "--log-all")["logged"]["state"] == "written"
    check_metrics(store, ids[0], reported, {"nb": ""})
    after = state(store, ids[0])
    assert after["info"] == (before.status, before.end_time)
    assert "evalreport_comparison.html" in after["files"]
    assert reported["comparison"]["headline"].split(":")[0] in after["tags"]["mlflow.note.content"]
    assert compare(capsys, store, ids, "--log", "--log-all")["logged"]["state"] == "unchanged"
    assert state(store, ids[0]) == after
    assert "compare/" not in json.dumps(state(store, ids[1])["histories"])


def test_onto_the_parent_that_all_share(store: Store, capsys: Capture) -> None:
    parent = make_run(store, experiment="compared", name="sweep").run_id
    ids = [logged(store, model, {"mlflow.parentRunId": parent}) for model in ("lr", "nb", "rf")]
    reported = compare(capsys, store, ids, "--log", "--log-all")
    assert reported["logged"]["run_id"] == parent
    check_metrics(store, parent, reported, {"nb": "nb/", "rf": "rf/"})
    after = state(store, parent)
    assert compare(capsys, store, ids, "--log", "--log-all")["logged"]["state"] == "unchanged"
    assert state(store, parent) == after
    other = compare(capsys, store, ids, "--log", "--log-all", "--baseline", "rf")
    assert other["logged"]["state"] == "written", "another baseline says something else"


def test_a_dry_run_writes_nothing_anywhere(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [logged(sqlite_store, model) for model in ("lr", "nb")]
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*")), state(sqlite_store, ids[0])
    words = [word for one in ids for word in ("--run-id", one)]
    words += ["--tracking-uri", sqlite_store.uri, "--log", "-n", "--output", "D", "-o", "F.html"]
    done = run(capsys, "compare", *words)
    assert done.code == 0, done.err
    assert (sorted(tmp_path.rglob("*")), state(sqlite_store, ids[0])) == before
    lines = done.out.splitlines()
    assert "would write F.html" in lines
    assert "would write D/comparison.json" in lines
    assert any(line.startswith("would log ") for line in lines)
    reported = run(capsys, "compare", *words, "--json").json
    assert (reported["files"], reported["logged"]["state"]) == ([], "dry run")


def test_a_dry_run_of_nothing_is_refused(capsys: Capture) -> None:
    done = run(capsys, "compare", "a.csv", "b.csv", "-n")
    assert (done.code, done.out) == (2, "")
    assert "nothing would be written" in done.err


def test_it_says_what_an_earlier_logging_left(sqlite_store: Store, capsys: Capture) -> None:
    ids = [logged(sqlite_store, model) for model in ("lr", "nb", "rf")]
    assert not compare(capsys, sqlite_store, ids, "--log")["logged"]["left"]
    reported = compare(capsys, sqlite_store, ids[:2], "--log")
    left = reported["logged"]["left"]
    assert "compare/rf/roc_auc_difference" in left
    (warning,) = [text for text in reported["warnings"] if "an earlier logging left" in text]
    assert left[0] in warning
    assert warning.endswith("MLflow cannot delete it, so it stays")
