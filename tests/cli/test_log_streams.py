"""Predictions of runs that are counted as a stream: logged as ever, copies removed, faults named."""

from __future__ import annotations

import gzip
import io
import signal
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from evalreport.core.progress import on_progress
from evalreport.tracking import artifacts
from evalreport.tracking.client import Store, connect
from tests.cli.running import Ran, run
from tests.faults.harness import quick
from tests.faults.proxy import FaultyProxy
from tests.features.large.test_stream import table
from tests.features.large.test_stream_classes import SIZES, scored
from tests.features.large.test_stream_labels import LABELS, labelled
from tests.tracking import MlflowServer, make_run

Capture = pytest.CaptureFixture[str]
FLAGS = [f"{kind}_{label}" for label in LABELS for kind in ("true", "pred")]
TABLES: Mapping[str, tuple[pa.Table, tuple[str, ...], str]] = {
    "two labels": (table(precision=np.float32), (), "roc_auc"),
    "classes": (scored().select(["y_true", *(f"proba_{n}" for n in SIZES)]), (), "log_loss"),
    "several labels": (labelled().select(FLAGS), ("--truth", "true_*", "--pred", "pred_*"), "f1_macro"),
}


def content(rows: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(rows, out)
    return out.getvalue()


def in_parts(rows: pa.Table) -> dict[str, bytes]:
    """A folder as Spark writes it: four parts, one of them empty, and its own marks."""
    cuts = [0, 100, 100, 500, len(rows)]
    found = {
        f"out/preds/part-{n:05}-ab.snappy.parquet": content(rows.slice(cuts[n], cuts[n + 1] - cuts[n]))
        for n in range(4)
    }
    return {**found, "out/preds/_SUCCESS": b"", "model/part-1.txt": b"x"}


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files, which is empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


def on(capsys: Capture, store: Store, command: str, run_id: str, *more: str) -> Ran:
    uri = ("--tracking-uri", store.uri, "--set", "resamples=100")
    return run(capsys, *command.split(), "--run-id", run_id, *uri, *more)


def metrics(store: Store, run_id: str) -> dict[str, float]:
    found: dict[str, float] = store.client.get_run(run_id).data.metrics
    return found


@pytest.mark.parametrize("kind", TABLES)
def test_what_is_logged_of_a_stream_is_what_is_logged_of_the_rows_in_memory(
    kind: str, sqlite_store: Store, tmp_path: Path, copies: Path, capsys: Capture
) -> None:
    rows, asked, headline = TABLES[kind]
    whole = make_run(sqlite_store, {"predictions.parquet": content(rows)}, folder=tmp_path).run_id
    parts = make_run(sqlite_store, in_parts(rows), folder=tmp_path).run_id
    known = on(capsys, sqlite_store, "log", whole, "--set", "engine=memory", "--log-all", *asked)
    streamed = on(capsys, sqlite_store, "log", parts, "--log-all", *asked)
    assert (known.code, streamed.code) == (0, 0), known.err + streamed.err
    assert "stream of 4 files, by itself" in streamed.err
    assert "out/preds" in streamed.err
    expected = metrics(sqlite_store, whole)
    assert f"eval/{headline}" in expected
    assert metrics(sqlite_store, parts) == pytest.approx(expected, rel=1e-9)
    paths = {entry.path for entry in sqlite_store.client.list_artifacts(parts)}
    assert paths >= {"evalreport.html", "evalreport"}
    again = on(capsys, sqlite_store, "log", parts, "--log-all", *asked)
    assert "unchanged" in again.out and again.code == 0


def test_check_and_sweep_of_a_run_count_a_stream(
    sqlite_store: Store, tmp_path: Path, copies: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for taken in ("PAGE", "FIGURES", "MLFLOW"):  # what a process takes without rows: here there are few
        monkeypatch.setattr(f"evalreport.cli.requests.{taken}", 0)
    rows = content(TABLES["two labels"][0])
    made = make_run(sqlite_store, {"a/predictions.parquet": rows, "b.json": b"{}"}, folder=tmp_path).run_id
    stream = ("--set", "engine=stream", "--set", "memory=64kB")
    for command, more in (
        ("check", ("--require", "roc_auc >= 0.2")),
        ("sweep thresholds", ("--objective", "recall>=0.9")),
    ):
        found = [on(capsys, sqlite_store, command, made, *more, *engine, "--json") for engine in (stream, ())]
        assert [one.code for one in found] == [0, 0], found[0].err
        one, other = (_numbers(done.json) for done in found)
        assert one == other
    binned = on(capsys, sqlite_store, "check", made, "--set", "approximate", "--require", "roc_auc >= 0.2")
    assert binned.code == 0 and "(--set approximate)" in binned.err
    named = on(capsys, sqlite_store, "check", made, *stream, "--artifact", "a", "--require", "f1>0")
    assert named.code == 0, named.err


@pytest.mark.server
def test_artifacts_behind_a_server_stream_and_a_download_that_is_cut_leaves_nothing(
    mlflow_server: MlflowServer, copies: Path, capsys: Capture
) -> None:
    rows = TABLES["two labels"][0]
    text = io.BytesIO()
    pc.write_csv(rows, text)
    store = connect(mlflow_server.uri)
    files = {"preds.csv.gz": gzip.compress(text.getvalue())}
    runs = [make_run(store, kept).run_id for kept in (in_parts(rows), files)]
    proxy = FaultyProxy(mlflow_server.uri)
    with proxy.running() as uri, quick():
        asked = ("--set", "jobs=1", "--set", "engine=stream", "--tracking-uri", uri)
        for run_id, cut in zip(runs, ("part-00003", "preds.csv.gz"), strict=True):
            proxy.plan(kind="truncated", on=cut)
            done = on(capsys, store, "log", run_id, *asked)
            lines = [line[:5] for line in done.err.splitlines() if not line.startswith(("Using", "warn"))]
            assert done.code == 4 and lines.count("error") == 1, done.err
            assert lines[lines.index("error") :][:3] == ["error", "  at ", "  fix"], done.err
            assert not list(copies.iterdir()) and not metrics(store, run_id)
        proxy.plan()
        both = (runs[1], "--run-id", runs[0], *asked)
        assert on(capsys, store, "log", *both).code == 0
        one, other = (metrics(store, run_id) for run_id in runs)
        assert one["eval/roc_auc"] == other["eval/roc_auc"]
        proxy.plan()
        again = on(capsys, store, "log", *both)
        seen = len(proxy.requests)
        ids = ", ".join(f"'{run_id}'" for run_id in runs)
        found = ("--experiment", "exp-*", "--filter", f"attributes.run_id IN ({ids})", *asked)
        searched = run(capsys, "log", *found, "--set", "resamples=100")
        costs = [name for name in proxy.requests[seen:] if runs[1] in name]
    assert searched.out.count("unchanged since it was logged") == 2, searched.out + searched.err
    assert len(costs) == 1, costs
    assert again.out.count("unchanged since it was logged") == 2, again.out + again.err
    assert not [name for name in proxy.requests if "/mlflow-artifacts/artifacts/" in name]


def _numbers(found: dict[str, Any]) -> Any:
    return found.get("sweep") or [one["metrics"] for one in found["runs"]]


def test_large_files_stream_by_themselves_and_stand_when_they_are_logged(
    sqlite_store: Store, tmp_path: Path, copies: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = TABLES["two labels"][0]
    files = {"predictions.parquet": content(rows), "data/train.parquet": content(rows.select(["score"]))}
    large = make_run(sqlite_store, files, folder=tmp_path).run_id
    small = make_run(sqlite_store, in_parts(rows.slice(0, 60)), folder=tmp_path).run_id
    monkeypatch.setattr("evalreport.workflow.request.SMALL", 0)
    monkeypatch.setattr("evalreport.workflow.request._free", lambda: 900)
    both = ("--run-id", small, "--set", "jobs=1")
    first = on(capsys, sqlite_store, "log", large, *both)
    assert first.code == 0, first.err
    assert "stream of 1 file, by itself" in first.err
    monkeypatch.setattr(artifacts, "download_artifact", None)  # nothing is copied any more
    again = on(capsys, sqlite_store, "log", large, *both)
    assert again.out.count("unchanged since it was logged") == 2, again.out + again.err


def test_a_gap_in_a_part_stops_all_and_is_named(
    sqlite_store: Store, tmp_path: Path, copies: Path, capsys: Capture
) -> None:
    rows = TABLES["two labels"][0]
    scores = rows["score"].to_numpy().copy()
    scores[507] = np.nan
    made = make_run(
        sqlite_store, in_parts(rows.set_column(1, "score", pa.array(scores))), folder=tmp_path
    ).run_id
    done = on(capsys, sqlite_store, "log", made)
    assert done.code == 5
    assert "has 1 value that is NaN" in done.err and "row 7" in done.err
    assert f"run {made[:8]}" in done.err and "at   run" in done.err
    assert "out/preds/part-00003-ab.snappy.parquet" in done.err
    assert str(copies) not in done.err + done.out
    assert not metrics(sqlite_store, made)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_stream_leaves_nothing(
    stop: signal.Signals, sqlite_store: Store, tmp_path: Path, copies: Path, capsys: Capture
) -> None:
    made = make_run(sqlite_store, in_parts(TABLES["two labels"][0]), folder=tmp_path).run_id

    def interrupt(what: str, *_: int) -> None:
        if what == "rows counted":
            assert list(copies.iterdir())
            signal.raise_signal(stop)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts us may ignore it
    try:
        with on_progress(interrupt):
            assert on(capsys, sqlite_store, "log", made).code == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert not metrics(sqlite_store, made)


def test_parts_are_one_table_where_rows_are_held_too(
    sqlite_store: Store, tmp_path: Path, copies: Path, capsys: Capture
) -> None:
    """Folds of a cross-validation, runs that are compared, and the engine in memory."""
    rows = TABLES["two labels"][0]
    half = len(rows) // 2
    kept: dict[str, Any] = {"experiment": "cv", "folder": tmp_path}
    parent = make_run(sqlite_store, {}, **kept).run_id
    for part in (rows.slice(0, half), rows.slice(half)):
        make_run(sqlite_store, in_parts(part), tags={"mlflow.parentRunId": parent}, **kept)
    found = on(capsys, sqlite_store, "log", parent, "--children", "--dry-run", "--json")
    assert found.code == 0 and found.json["runs"][0]["metrics"]["accuracy"]["n"] == len(rows), found.err
    reported = on(capsys, sqlite_store, "log", parent, "--children", "--set", "engine=stream")
    assert "each child run separately" in reported.err
    runs = [make_run(sqlite_store, in_parts(rows), folder=tmp_path).run_id for _ in range(2)]
    for more in ((), ("--artifact", "out/preds")):
        done = on(
            capsys, sqlite_store, "log", runs[0], "--dry-run", "--set", "engine=memory", "--json", *more
        )
        assert done.code == 0, done.err
        assert done.json["runs"][0]["metrics"]["accuracy"]["n"] == len(rows)
    compared = on(capsys, sqlite_store, "compare", runs[0], "--run-id", runs[1])
    assert compared.code == 0, compared.err
    bad = {**in_parts(rows), "out/preds/part-00002-ab.snappy.parquet": b"PAR1"}
    cut = make_run(sqlite_store, bad, folder=tmp_path).run_id
    broken = on(capsys, sqlite_store, "compare", cut, "--run-id", runs[0])
    assert "part-00002" in broken.err and str(copies) not in broken.err


def test_runs_that_hold_no_stream_say_so(
    sqlite_store: Store, tmp_path: Path, copies: Path, capsys: Capture
) -> None:
    empty = make_run(sqlite_store, {}, folder=tmp_path).run_id
    done = on(capsys, sqlite_store, "log", empty, "--set", "engine=stream")
    assert "the run has no predictions" in done.err
    tables = {"t.json": {"y_true": [0, 1], "y_pred": [0, 1]}}
    held = make_run(sqlite_store, tables=tables, folder=tmp_path).run_id
    done = on(capsys, sqlite_store, "log", held, "--set", "engine=stream")
    assert "artifact t.json is read as a whole" in done.err and "parquet" in done.err
    parts = make_run(sqlite_store, in_parts(TABLES["two labels"][0]), folder=tmp_path).run_id
    done = on(capsys, sqlite_store, "log", parts, "--set", "group=score")
    assert "intervals by cluster need all rows" in done.err and "--set engine=memory" in done.err


def test_a_disk_without_room_is_reported_before_and_while_copying(
    small_disk: Path, sqlite_store: Store, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = table(20_000)
    made = make_run(sqlite_store, {"predictions.parquet": content(rows)}, folder=tmp_path).run_id
    asked = ("--set", "engine=stream")
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    done = on(capsys, sqlite_store, "log", made, *asked)
    assert "the artifact needs 0.1 MB of disk and" in done.err and "TMPDIR" in done.err
    monkeypatch.setattr(artifacts, "check_room", lambda *_, **__: None)  # others took it since
    done = on(capsys, sqlite_store, "log", made, *asked)
    assert done.code != 0 and "disk is full" in done.err
    assert not list(small_disk.iterdir())
    assert not metrics(sqlite_store, made)
