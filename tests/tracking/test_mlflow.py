"""Into a finished run: everything or nothing, in place, and nothing of anybody else's."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from evalreport.core.errors import EvalreportError, RunNotFoundError, ServerError, UnsafeFileError, UsageError
from evalreport.page.payload import MANIFEST, STATE_TAG, Payload, Series, split_json
from evalreport.tracking.client import Store, connect, quiet
from evalreport.tracking.log_results import BEGIN, END, MlflowSink, check_run
from evalreport.tracking.ownership import UNFINISHED, CheckedPart, Manifest, check_part
from evalreport.tracking.runs import Logged
from tests.tracking import MadeRun, MlflowServer, files_of, fluent, log_bytes, make_run

T = TypeVar("T")
NOW = 1_800_000_000_000
WRITES = re.compile(r"^(log_|set_|delete_|update_|create_|restore_|rename_)")


@pytest.fixture
def local_run(sqlite_store: Store, tmp_path: Path) -> MadeRun:
    return make_run(sqlite_store, folder=tmp_path)


@pytest.fixture
def run(store: Store, tmp_path: Path) -> MadeRun:
    """A finished run of somebody's, with a metric, a table, a note and a file of its own."""
    tags = {"mlflow.note.content": "My own words.", "owner": "ada"}
    made = make_run(
        store,
        {"notes/readme.txt": "mine"},
        tables={"losses.json": {"epoch": [1], "loss": [0.5]}},
        tags=tags,
        folder=None if store.uri.startswith("http") else tmp_path,
    )
    store.ask(lambda client: client.log_metric(made.run_id, "loss", 0.5))
    return made


def png(colour: str = "red") -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (640, 480), colour).save(stream, "PNG")
    return stream.getvalue()


def curve(f1: float, every: int = 1) -> Series:
    """A line of 101 steps, or fewer: a store takes milliseconds for each."""
    return tuple((step, f1 * step / 100) for step in range(0, 101, every))


def payload(f1: float = 0.75, digest: str = "digest-1", colour: str = "red", **changes: Any) -> Payload:
    parts: dict[str, Any] = {
        "digest": digest,
        "metrics": {"eval/f1": f1, "eval/classes/f1/größe": 0.5},
        "series": {"eval/curves/roc_tpr_by_fpr_pct": curve(f1, 25)},
        "tags": {"evalreport.task": "binary", "evalreport.verdict": "Finds 3 of 4."},
        "description": f"**recall {f1}**",
        "artifacts": {
            "evalreport.html": f"<!doctype html>{f1}".encode(),
            "evalreport_roc_curve.png": png(colour),
            "evalreport/evaluation.json": json.dumps({"f1": f1}).encode(),
        },
        "tables": {"evalreport/classes.json": split_json({"label": ["a"], "f1": [f1]})},
        "images": {"eval/roc_curve": png(colour)},
    }
    return Payload(**{**parts, **changes})


def do(store: Store, run: MadeRun, what: Payload, **options: Any) -> Logged:
    logging = {name: options.pop(name) for name in ("dry_run", "timestamp") if name in options}
    return MlflowSink(store, run.run_id, **options).log(what, **{"timestamp": NOW, **logging})


def contents(store: Store, run: MadeRun) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        root = files_of(store, run.run_id, Path(folder))
        return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def snapshot(store: Store, run: MadeRun) -> dict[str, Any]:
    """Everything that can be known of a run."""
    held = store.ask(lambda client: client.get_run(run.run_id))
    history = {
        key: [
            (point.step, point.timestamp, point.value)
            for point in store.ask(lambda client, key=key: client.get_metric_history(run.run_id, key))  # type: ignore[misc]
        ]
        for key in held.data.metrics
    }
    return {
        "status": held.info.status,
        "end": held.info.end_time,
        "start": held.info.start_time,
        "name": held.info.run_name,
        "stage": held.info.lifecycle_stage,
        "tags": dict(held.data.tags),
        "params": dict(held.data.params),
        "metrics": dict(held.data.metrics),
        "history": history,
        "files": contents(store, run),
    }


class Watched:
    """A store that counts what is written through it, and breaks down when it is told to."""

    def __init__(self, store: Store, break_at: int | None = None) -> None:
        self.store, self.break_at = store, break_at
        self.writes: list[str] = []

    def ask(self, call: Callable[[Any], T], where: str = "") -> T:
        return self.store.ask(lambda client: call(_Recorder(client, self)), where)

    def page_of_run(self, experiment_id: str, run_id: str) -> str:
        return self.store.page_of_run(experiment_id, run_id)

    def artifact_root(self, uri: str, where: str) -> Path | None:
        return self.store.artifact_root(uri, where)

    def before(self, name: str) -> None:
        """Called with the name of each call, before it goes on."""


class _Recorder:
    def __init__(self, client: Any, watched: Watched) -> None:
        self._client, self._watched = client, watched

    def __getattr__(self, name: str) -> Any:
        self._watched.before(name)
        if WRITES.match(name):
            if len(self._watched.writes) == self._watched.break_at:
                raise OSError("connection reset by peer")
            self._watched.writes.append(name)
        return getattr(self._client, name)


def test_everything_stands_in_the_run_and_the_run_is_as_it_was(store: Store, run: MadeRun) -> None:
    before = snapshot(store, run)
    logged = do(store, run, payload())
    after = snapshot(store, run)
    for part in ("status", "end", "start", "name", "stage", "params"):
        assert after[part] == before[part]
    assert before["status"] == "FINISHED"
    assert after["metrics"] == {
        "loss": 0.5,
        "eval/f1": 0.75,
        "eval/classes/f1/größe": 0.5,
        "eval/curves/roc_tpr_by_fpr_pct": 0.75,
    }
    assert logged.state == "written"
    assert set(logged.files) | {MANIFEST} | set(before["files"]) == set(after["files"])
    assert after["files"]["evalreport.html"] == b"<!doctype html>0.75"
    assert after["files"]["notes/readme.txt"] == b"mine"
    assert after["tags"]["owner"] == "ada"
    assert after["tags"][STATE_TAG] == "digest-1"
    assert after["tags"]["evalreport.verdict"] == "Finds 3 of 4."


def test_a_failed_run_stays_failed(store: Store, tmp_path: Path) -> None:
    made = make_run(store, status="FAILED", folder=None if store.uri.startswith("http") else tmp_path)
    before = snapshot(store, made)
    do(store, made, payload())
    after = snapshot(store, made)
    assert (after["status"], after["end"]) == ("FAILED", before["end"])


def test_series_have_integer_steps_and_one_timestamp(sqlite_store: Store, local_run: MadeRun) -> None:
    do(sqlite_store, local_run, payload(series={"eval/curves/roc_tpr_by_fpr_pct": curve(0.75)}))
    history = snapshot(sqlite_store, local_run)["history"]
    assert [step for step, _, _ in history["eval/curves/roc_tpr_by_fpr_pct"]] == list(range(101))
    assert {at for key in history if key != "loss" for _, at, _ in history[key]} == {NOW}
    assert history["eval/f1"] == [(0, NOW, 0.75)]


def test_metrics_go_in_one_batch(sqlite_store: Store, tmp_path: Path) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    watched = Watched(sqlite_store)
    whole = payload(series={"eval/curves/roc_tpr_by_fpr_pct": curve(0.75)})
    MlflowSink(watched, made.run_id).log(whole, timestamp=NOW)
    files = ["log_artifacts"] * 4  # the manifest, then files, a table, an image with its preview
    assert watched.writes == ["set_tag", *files, "log_batch", "set_tag"]


def test_a_second_identical_call_writes_nothing(store: Store, run: MadeRun) -> None:
    do(store, run, payload())
    before = snapshot(store, run)
    watched = Watched(store)
    logged = MlflowSink(watched, run.run_id).log(payload(), timestamp=NOW + 5000)
    assert logged.state == "unchanged"
    assert not watched.writes
    assert snapshot(store, run) == before


def test_a_changed_payload_replaces_in_place(store: Store, run: MadeRun) -> None:
    do(store, run, payload(f1=0.75))
    first = snapshot(store, run)
    logged = do(store, run, payload(f1=0.25, digest="digest-2", colour="blue"), timestamp=NOW + 1)
    after = snapshot(store, run)
    assert set(after["files"]) == set(first["files"])
    assert after["files"]["evalreport.html"] == b"<!doctype html>0.25"
    assert after["metrics"]["eval/f1"] == 0.25
    assert after["metrics"]["eval/curves/roc_tpr_by_fpr_pct"] == 0.25
    assert set(logged.replaced) == set(logged.files)
    images = [path for path in after["files"] if path.startswith("images/")]
    assert len(images) == 2
    assert all(after["files"][path] != first["files"][path] for path in images)


def test_a_clock_that_went_back_hides_no_value(sqlite_store: Store, local_run: MadeRun) -> None:
    do(sqlite_store, local_run, payload(f1=0.75))
    for timestamp in (NOW, NOW - 60_000):
        do(sqlite_store, local_run, payload(f1=0.25, digest=f"digest-{timestamp}"), timestamp=timestamp)
        assert snapshot_metrics(sqlite_store, local_run)["eval/f1"] == 0.25


@pytest.mark.parametrize("ahead", [10 * 365 * 86_400_000, 9 * 10**17])
def test_a_clock_that_was_years_ahead_hides_no_value(
    sqlite_store: Store, local_run: MadeRun, ahead: int
) -> None:
    do(sqlite_store, local_run, payload(f1=0.75), timestamp=NOW + ahead)
    assert do(sqlite_store, local_run, payload(f1=0.75)).state == "unchanged"
    other = payload(f1=0.25, digest="digest-2")
    assert do(sqlite_store, local_run, other).state == "written"
    assert snapshot_metrics(sqlite_store, local_run)["eval/f1"] == 0.25
    assert do(sqlite_store, local_run, other).state == "unchanged"


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    "tag",
    [
        UNFINISHED,
        f"{UNFINISHED} abc on deadbeef0000/77 since 999999999999999 at 1 of x",
        f"{UNFINISHED} {'9' * 4000}",
        "9" * 40,
        "-5",
        "²",
    ],
)
def test_no_value_of_the_tag_locks_a_run(
    sqlite_store: Store, local_run: MadeRun, tag: str, force: bool
) -> None:
    sqlite_store.ask(lambda client: client.set_tag(local_run.run_id, STATE_TAG, tag))
    assert do(sqlite_store, local_run, payload(), force=force).state == "written"
    assert_whole(sqlite_store, local_run, payload())


def test_the_description_keeps_what_the_user_wrote(store: Store, run: MadeRun) -> None:
    do(store, run, payload())
    note = snapshot(store, run)["tags"]["mlflow.note.content"]
    assert note == f"My own words.\n\n{BEGIN}\n**recall 0.75**\n{END}"
    edited = f"Before.\n{note}\nAfter."
    store.ask(lambda client: client.set_tag(run.run_id, "mlflow.note.content", edited))
    do(store, run, payload(f1=0.25, digest="digest-2"))
    assert snapshot(store, run)["tags"]["mlflow.note.content"] == edited.replace("0.75", "0.25")


def test_a_description_without_room_is_left_alone(sqlite_store: Store, tmp_path: Path) -> None:
    long = "x" * 7990
    made = make_run(sqlite_store, tags={"mlflow.note.content": long}, folder=tmp_path)
    logged = do(sqlite_store, made, payload())
    assert snapshot(sqlite_store, made)["tags"]["mlflow.note.content"] == long
    assert "description is too long" in logged.notes[0]


def test_tables_join_those_of_the_user_and_load_as_log_table_does(store: Store, run: MadeRun) -> None:
    do(store, run, payload())
    listed = json.loads(snapshot(store, run)["tags"]["mlflow.loggedArtifacts"])
    assert listed == [
        {"path": "losses.json", "type": "table"},
        {"path": "evalreport/classes.json", "type": "table"},
    ]
    with fluent(store) as mlflow:
        mlflow.set_experiment(run.experiment)
        frame = mlflow.load_table("evalreport/classes.json", [run.run_id])
    assert frame.to_dict("list") == {"label": ["a"], "f1": [0.75]}


def test_images_have_the_names_that_log_image_gives(store: Store, run: MadeRun) -> None:
    from PIL import Image

    with quiet():
        store.client.log_image(run.run_id, Image.open(io.BytesIO(png())), key="theirs/roc", step=0)
    theirs = sorted(path for path in contents(store, run) if path.startswith("images/"))
    do(store, run, payload())
    files = contents(store, run)
    ours = sorted(path for path in files if path.startswith("images/") and path not in theirs)
    form = re.compile(r"(\+timestamp\+)\d+(\+)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

    def shape(paths: list[str]) -> list[str]:
        return [form.sub(r"\1N\2U", path) for path in paths]

    assert shape(ours) == [path.replace("theirs~roc", "eval~roc_curve") for path in shape(theirs)]
    for ending in (".png", ".webp"):
        sizes = [
            Image.open(io.BytesIO(files[path])).size for path in (*ours, *theirs) if path.endswith(ending)
        ]
        assert len(set(sizes)) == 1
    assert snapshot(store, run)["tags"]["mlflow.loggedImages"] == "True"


@pytest.mark.parametrize("path", ["evalreport.html", "evalreport/evaluation.json", "evalreport/classes.json"])
def test_a_file_of_somebody_else_is_never_touched(store: Store, run: MadeRun, path: str) -> None:
    log_bytes(store.client, run.run_id, path, b"theirs")
    before = snapshot(store, run)
    with pytest.raises(UsageError, match=path) as caught:
        do(store, run, payload())
    assert "--force" in caught.value.fix
    assert snapshot(store, run) == before
    do(store, run, payload(), force=True)
    assert contents(store, run)[path] == payload().files[path]


def test_our_file_that_somebody_replaced_is_theirs(sqlite_store: Store, local_run: MadeRun) -> None:
    do(sqlite_store, local_run, payload())
    log_bytes(sqlite_store.client, local_run.run_id, "evalreport.html", b"theirs now")
    for what in (payload(), payload(f1=0.25, digest="digest-2")):
        with pytest.raises(UsageError, match=r"evalreport\.html"):
            do(sqlite_store, local_run, what)
    assert contents(sqlite_store, local_run)["evalreport.html"] == b"theirs now"


def test_a_forged_manifest_makes_nothing_ours(sqlite_store: Store, tmp_path: Path) -> None:
    for manifest in (
        b"",
        b"[]",
        b'{"files": 3, "metrics": []}',
        b'{"files": {"evalreport.html": 3}}',
        b"\xff",
    ):
        assert Manifest.from_json_bytes(manifest) == Manifest()
    made = make_run(sqlite_store, {"evalreport.html": b"theirs", MANIFEST: b"junk"}, folder=tmp_path)
    with pytest.raises(UsageError):
        do(sqlite_store, made, payload())


@pytest.mark.parametrize(
    ("first", "break_at"), [*((False, write) for write in range(7)), *((True, write) for write in (0, 1, 3))]
)
def test_a_logging_that_was_cut_short_is_done_again(
    sqlite_store: Store, tmp_path: Path, first: bool, break_at: int
) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    old, new = payload(), payload(f1=0.25, digest="digest-2", colour="blue")
    if not first:
        do(sqlite_store, made, old)
    with pytest.raises(ServerError):
        MlflowSink(Watched(sqlite_store, break_at), made.run_id).log(new, timestamp=NOW + 1)
    digest = snapshot(sqlite_store, made)["tags"].get(STATE_TAG)
    assert digest != "digest-2"
    for what, at in ((old, 2), (new, 3)):
        logged = MlflowSink(sqlite_store, made.run_id).log(what, timestamp=NOW + at)
        assert logged.state == ("unchanged" if digest == what.digest else "written")
        digest = what.digest
        held = snapshot(sqlite_store, made)
        assert held["files"].items() >= what.files.items()
        assert held["metrics"]["eval/f1"] == what.metrics["eval/f1"]
        assert held["tags"][STATE_TAG] == what.digest


def test_while_it_is_under_way_the_digest_says_so(sqlite_store: Store, tmp_path: Path) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    do(sqlite_store, made, payload())
    with pytest.raises(ServerError):
        MlflowSink(Watched(sqlite_store, 1), made.run_id).log(payload(digest="digest-2"), timestamp=NOW)
    assert snapshot(sqlite_store, made)["tags"][STATE_TAG].startswith(UNFINISHED)


def test_a_store_that_takes_nothing_is_known_before_a_file_lies_there(
    sqlite_store: Store, tmp_path: Path
) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    before = snapshot(sqlite_store, made)
    with pytest.raises(ServerError):
        MlflowSink(Watched(sqlite_store, 0), made.run_id).log(payload(), timestamp=NOW)
    assert snapshot(sqlite_store, made) == before


class Nth(Watched):
    """A store in which another program acts once, just before the n-th call of a name."""

    def __init__(self, store: Store, call: str, at: int, act: Callable[[], object]) -> None:
        super().__init__(store)
        self.call, self.left, self.act = call, at, act

    def before(self, name: str) -> None:
        if name == self.call:
            self.left -= 1
            if self.left == -1:
                self.act()


class Interrupted(Watched):
    """A store in which somebody else acts once, just before a call of ours."""

    def __init__(self, store: Store, call: str, act: Callable[[], object]) -> None:
        super().__init__(store)
        self.call, self.act = call, act

    def before(self, name: str) -> None:
        if name == self.call:
            self.call = ""
            self.act()


def test_of_two_loggings_the_first_stops_and_names_the_repair(sqlite_store: Store, tmp_path: Path) -> None:
    """Whichever files the first one sends when the second one begins, the first one reports the mixture."""
    other = payload(f1=0.25, digest="digest-2", colour="blue")
    for at in range(3):
        made = make_run(sqlite_store, folder=tmp_path)
        second = Nth(sqlite_store, "log_artifacts", at, partial(do, sqlite_store, made, other))
        with pytest.raises(UsageError, match="another process is logging to this run") as caught:
            MlflowSink(second, made.run_id).log(payload(), timestamp=NOW)
        assert f"verify --run-id {made.run_id} --repair" in caught.value.fix
        assert not checked(sqlite_store, made).whole, "the file of the first came after those of the second"
        assert do(sqlite_store, made, other, repair=True, timestamp=NOW + 5).state == "written"
        assert_holds(sqlite_store, made, other)


def test_a_second_logging_before_the_first_write_is_no_mixture(sqlite_store: Store, tmp_path: Path) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    other = payload(f1=0.25, digest="digest-2", colour="blue")
    after_tag = Nth(sqlite_store, "get_run", 2, lambda: do(sqlite_store, made, other))
    with pytest.raises(UsageError, match=r"another process is logging to this run$") as caught:
        MlflowSink(after_tag, made.run_id).log(payload(), timestamp=NOW)
    assert caught.value.fix == "wait until it has ended, and log again"
    assert_whole(sqlite_store, made, other)


def test_a_logging_that_ends_between_plan_and_write_is_seen(sqlite_store: Store, tmp_path: Path) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    do(sqlite_store, made, payload())
    other = payload(f1=0.25, digest="digest-2", colour="blue")
    meanwhile = Nth(sqlite_store, "get_run", 1, lambda: do(sqlite_store, made, other))
    third = payload(f1=0.5, digest="digest-3")
    assert MlflowSink(meanwhile, made.run_id).log(third, timestamp=NOW).state == "written"
    assert_holds(sqlite_store, made, third)


def test_a_file_that_comes_late_from_another_logging_is_reported_and_repaired(
    sqlite_store: Store, tmp_path: Path
) -> None:
    """The first one has asked whether it may write, and its write arrives after the second has completed."""
    made = make_run(sqlite_store, folder=tmp_path)
    other = payload(f1=0.25, digest="digest-2", colour="blue")
    late = Nth(sqlite_store, "log_artifacts", 1, lambda: do(sqlite_store, made, other))
    with pytest.raises(UsageError, match="may now contain parts of both"):
        MlflowSink(late, made.run_id).log(payload(), timestamp=NOW)
    assert contents(sqlite_store, made)["evalreport.html"] == payload().files["evalreport.html"]
    found = checked(sqlite_store, made)
    assert not found.whole, "a mixture is seen"
    assert "evalreport.html" in found.missing.files
    assert do(sqlite_store, made, other, repair=True, timestamp=NOW + 5).state == "written"
    assert_holds(sqlite_store, made, other)


def test_a_manifest_of_another_logging_at_the_end_is_a_mixture(sqlite_store: Store, tmp_path: Path) -> None:
    made = make_run(sqlite_store, folder=tmp_path)

    def act() -> None:
        log_bytes(sqlite_store.client, made.run_id, MANIFEST, b"another one's")

    end = Nth(sqlite_store, "set_tag", 1, act)
    with pytest.raises(UsageError, match="may now contain parts of both"):
        MlflowSink(end, made.run_id).log(payload(), timestamp=NOW)
    assert do(sqlite_store, made, payload(), repair=True).state == "written"
    assert_whole(sqlite_store, made, payload())


def assert_holds(store: Store, made: MadeRun, what: Payload) -> None:
    """The run shows all of a payload, as its manifest says; earlier points stay in the histories."""
    held = snapshot(store, made)
    assert checked(store, made).whole
    assert held["files"].items() >= what.files.items()
    assert held["tags"][STATE_TAG] == what.digest
    assert held["metrics"].items() >= what.metrics.items()
    assert do(store, made, what, timestamp=NOW + 10).state == "unchanged"


def checked(store: Store, made: MadeRun) -> CheckedPart:
    run = store.ask(lambda client: client.get_run(made.run_id))
    found = check_part(store, run, "evaluation", "")
    assert found is not None
    return found


def test_a_dry_run_says_all_and_writes_nothing(store: Store, run: MadeRun) -> None:
    before = snapshot(store, run)
    logged = do(store, run, payload(), dry_run=True)
    assert logged.state == "dry run"
    assert "eval/f1" in logged.metrics
    assert "evalreport.html" in logged.files
    assert snapshot(store, run) == before
    log_bytes(store.client, run.run_id, "evalreport.html", b"theirs")
    with pytest.raises(UsageError):
        do(store, run, payload(), dry_run=True)


def refused(store: Store, made: MadeRun, **options: Any) -> EvalreportError:
    with pytest.raises(EvalreportError) as caught:
        do(store, made, payload(), **options)
    return caught.value


def test_an_unknown_run_is_exit_3(store: Store, run: MadeRun) -> None:
    assert refused(store, dataclasses.replace(run, run_id="f" * 32)).exit_code == 3


def test_a_deleted_run_gets_nothing(store: Store, run: MadeRun) -> None:
    store.ask(lambda client: client.delete_run(run.run_id))
    error = refused(store, run, force=True)
    assert isinstance(error, RunNotFoundError)
    store.ask(lambda client: client.restore_run(run.run_id))
    assert "evalreport.html" not in contents(store, run)


def test_a_running_run_is_written_to_only_when_requested(store: Store, tmp_path: Path) -> None:
    made = make_run(store, status="RUNNING", folder=None if store.uri.startswith("http") else tmp_path)
    before = snapshot(store, made)
    error = refused(store, made)
    assert (error.exit_code, "RUNNING" in error.message) == (2, True)
    assert snapshot(store, made) == before
    do(store, made, payload(), allow_running=True)
    after = snapshot(store, made)
    assert (after["status"], after["end"]) == ("RUNNING", before["end"])
    assert check_run(store, made.run_id, allow_running=True).info.status == "RUNNING"


def test_what_an_earlier_logging_left_is_named(sqlite_store: Store, local_run: MadeRun) -> None:
    do(sqlite_store, local_run, payload())
    less = payload(digest="digest-2", metrics={"eval/f1": 0.5}, tables={}, images={})
    logged = do(sqlite_store, local_run, less)
    assert logged.left[0] == "eval/classes/f1/größe"
    assert "evalreport/classes.json" in logged.left
    again = do(sqlite_store, local_run, dataclasses.replace(less, digest="digest-3"))
    assert again.left == logged.left


def test_metrics_of_somebody_else_are_mentioned(sqlite_store: Store, tmp_path: Path) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    sqlite_store.ask(lambda client: client.log_metric(made.run_id, "eval/f1", 0.1))
    assert "eval/f1" in do(sqlite_store, made, payload()).notes[0]
    assert not do(sqlite_store, made, payload(digest="digest-2")).notes


def test_parts_are_replaced_one_without_the_other(sqlite_store: Store, local_run: MadeRun) -> None:
    sweep = Payload(
        digest="sweep-1",
        metrics={"eval/sweep/best": 0.9},
        description="best 0.9",
        artifacts={"evalreport_sweep.html": b"<!doctype html>"},
        part="sweep",
    )
    for what in (payload(), sweep, payload(f1=0.5, digest="digest-2")):
        assert do(sqlite_store, local_run, what).left == ()
    assert do(sqlite_store, local_run, sweep).state == "unchanged"
    held = snapshot(sqlite_store, local_run)
    note = held["tags"]["mlflow.note.content"]
    assert [note.count(words) for words in ("recall 0.5", "recall 0.75", "best 0.9")] == [1, 0, 1]
    assert {MANIFEST, "evalreport/sweep_manifest.json", "evalreport_sweep.html"} <= set(held["files"])


@pytest.mark.server
def test_the_page_of_the_run_is_returned(mlflow_server: MlflowServer) -> None:
    store = connect(mlflow_server.uri)
    made = make_run(store)
    page = do(store, made, payload()).page
    assert page == f"{mlflow_server.uri}/#/experiments/{made.experiment_id}/runs/{made.run_id}/artifacts"


def test_thousands_of_metrics_go_through(store: Store, run: MadeRun) -> None:
    many = {f"eval/classes/f1/{number}": number / 3000 for number in range(3000)}
    do(store, run, payload(metrics=many))
    assert many.items() <= snapshot_metrics(store, run).items()


def snapshot_metrics(store: Store, run: MadeRun) -> dict[str, float]:
    return dict(store.ask(lambda client: client.get_run(run.run_id)).data.metrics)


def test_a_server_cannot_have_us_write_into_a_folder_of_this_machine(
    sqlite_store: Store, tmp_path: Path
) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    with pytest.raises(UnsafeFileError, match="a folder of this machine"):
        do(Store(sqlite_store.client, "https://host"), made, payload(), force=True)
    assert not contents(sqlite_store, made)


@pytest.mark.parametrize("path", ["evalreport.html", "evalreport", "evalreport/manifest.json"])
def test_links_among_the_artifacts_are_not_written_through(
    sqlite_store: Store, tmp_path: Path, path: str
) -> None:
    made = make_run(sqlite_store, {"a/b": b"1"}, folder=tmp_path)
    uri = sqlite_store.ask(lambda client: client.get_run(made.run_id)).info.artifact_uri
    root = sqlite_store.artifact_root(uri, "")
    assert root is not None
    secret = tmp_path / "secret"
    secret.mkdir()
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).symlink_to(secret)
    with pytest.raises(UsageError, match="is a link"):
        do(sqlite_store, made, payload(), force=True)
    assert not list(secret.iterdir())


def test_several_runs_are_logged_at_once(store: Store, tmp_path: Path) -> None:
    runs = [make_run(store, folder=None if store.uri.startswith("http") else tmp_path) for _ in range(4)]
    before = dict(os.environ)
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda run: do(store, run, payload()), runs))
    assert {logged.state for logged in done} == {"written"}
    for run in runs:
        assert snapshot_metrics(store, run)["eval/f1"] == 0.75
    assert dict(os.environ) == before


def with_model(run: MadeRun, store: Store, *, dataset: bool = False) -> str:
    """Give the run a logged model, as `log_model` does, and return its id."""
    from mlflow.data.meta_dataset import MetaDataset
    from mlflow.data.sources import LocalArtifactDatasetSource
    from mlflow.entities import DatasetInput, LoggedModelOutput

    model = store.ask(lambda client: client.create_logged_model(run.experiment_id, "clf", run.run_id))
    store.ask(lambda client: client.log_outputs(run.run_id, [LoggedModelOutput(model.model_id, 0)]))
    if dataset:
        data = MetaDataset(LocalArtifactDatasetSource("file:///data.csv"), name="test set")
        entry = DatasetInput(data._to_mlflow_entity(), [])
        store.ask(lambda client: client.log_inputs(run.run_id, datasets=[entry]))
    return str(model.model_id)


@pytest.mark.parametrize("dataset", [False, True], ids=["alone", "with its dataset"])
def test_numbers_show_on_the_one_model_of_a_run(store: Store, run: MadeRun, dataset: bool) -> None:
    model_id = with_model(run, store, dataset=dataset)
    done = MlflowSink(store, run.run_id).log(payload(model=model_id), timestamp=NOW)
    assert done.model == model_id
    held = store.ask(lambda client: client.get_logged_model(model_id)).metrics
    assert {entry.key: entry.value for entry in held} == {"eval/f1": 0.75, "eval/classes/f1/größe": 0.5}
    assert {entry.run_id for entry in held} == {run.run_id}
    assert {entry.dataset_name for entry in held} == ({"test set"} if dataset else {None})
    on_run = store.ask(lambda client: client.get_run(run.run_id)).data.metrics
    assert on_run["eval/f1"] == 0.75
    assert on_run["eval/curves/roc_tpr_by_fpr_pct"] == 0.75


def test_a_model_that_is_gone_keeps_nothing_from_the_run(store: Store, run: MadeRun) -> None:
    model_id = with_model(run, store)
    store.ask(lambda client: client.delete_logged_model(model_id))
    for gone in (model_id, "m-" + "0" * 32):
        done = MlflowSink(store, run.run_id).log(payload(model=gone, digest=gone), timestamp=NOW)
        assert (done.state, done.model) == ("written", None)
    assert store.ask(lambda client: client.get_run(run.run_id)).data.metrics["eval/f1"] == 0.75


class Swallowing(Watched):
    """A store that takes some calls without doing them, as a proxy's page with status 200 does."""

    def __init__(self, store: Store, call: str, times: int) -> None:
        super().__init__(store)
        self.call, self.times = call, times

    def ask(self, call: Callable[[Any], T], where: str = "") -> T:
        return self.store.ask(lambda client: call(_Swallower(client, self)), where)


class _Swallower:
    def __init__(self, client: Any, store: Swallowing) -> None:
        self._client, self._store = client, store

    def __getattr__(self, name: str) -> Any:
        if name == self._store.call and self._store.times > 0:
            self._store.times -= 1
            return lambda *_, **__: None
        return getattr(self._client, name)


@pytest.mark.parametrize("call", ["log_artifacts", "log_batch", "set_tag"])
def test_what_is_swallowed_once_is_sent_again_and_twice_is_an_error(
    sqlite_store: Store, tmp_path: Path, call: str
) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    with pytest.raises(ServerError, match="does not have") as caught:
        MlflowSink(Swallowing(sqlite_store, call, 99), made.run_id).log(payload(), timestamp=NOW)
    assert "the same command sends what is missing" in caught.value.fix
    assert snapshot(sqlite_store, made)["tags"].get(STATE_TAG) != "digest-1"
    if call != "set_tag":  # the mark itself
        sink = MlflowSink(Swallowing(sqlite_store, call, 1), made.run_id)
        assert sink.log(payload(), timestamp=NOW).state == "written"
    else:
        do(sqlite_store, made, payload())
    assert_whole(sqlite_store, made, payload())


def assert_whole(store: Store, made: MadeRun, what: Payload) -> None:
    """Everything of a payload is there, each point once, and a further call writes nothing."""
    held = snapshot(store, made)
    assert held["files"].items() >= what.files.items()
    assert held["tags"][STATE_TAG] == what.digest
    for key, value in what.metrics.items():
        assert [point[2] for point in held["history"][key]] == [value]
    for key, points in what.series.items():
        assert [(step, value) for step, _, value in sorted(held["history"][key])] == list(points)
    assert do(store, made, what, timestamp=NOW + 10).state == "unchanged"


def test_metrics_that_went_lost_are_noticed_and_sent_again(sqlite_store: Store, tmp_path: Path) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    do(sqlite_store, made, payload())
    database = sqlite3.connect(tmp_path / "mlflow.db")
    with database:
        database.execute("DELETE FROM metrics WHERE key LIKE 'eval/curves%' AND step < 50")
        database.execute("DELETE FROM metrics WHERE key = 'eval/f1'")
        database.execute("DELETE FROM latest_metrics WHERE key = 'eval/f1'")
    database.close()
    logged = do(sqlite_store, made, payload(), timestamp=NOW + 5)
    assert logged.state == "written"
    assert logged.notes == ("the run had lost 2 metrics: eval/curves/roc_tpr_by_fpr_pct, eval/f1",)
    assert_whole(sqlite_store, made, payload())


def test_a_value_that_somebody_logged_over_ours_shows_again(sqlite_store: Store, local_run: MadeRun) -> None:
    do(sqlite_store, local_run, payload())
    point = {"timestamp": NOW + 1000, "step": 0}
    sqlite_store.ask(lambda client: client.log_metric(local_run.run_id, "eval/f1", 0.99, **point))
    assert do(sqlite_store, local_run, payload(), timestamp=NOW + 2000).state == "written"
    assert snapshot_metrics(sqlite_store, local_run)["eval/f1"] == 0.75
    assert do(sqlite_store, local_run, payload(), timestamp=NOW + 3000).state == "unchanged"


def test_after_a_cut_logging_a_file_of_the_user_is_not_taken_for_ours(
    sqlite_store: Store, tmp_path: Path
) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    with pytest.raises(ServerError):
        MlflowSink(Watched(sqlite_store, 2), made.run_id).log(payload(), timestamp=NOW)
    log_bytes(sqlite_store.client, made.run_id, "evalreport_roc_curve.png", b"theirs")
    with pytest.raises(UsageError, match=r"evalreport_roc_curve\.png"):
        do(sqlite_store, made, payload())
    assert contents(sqlite_store, made)["evalreport_roc_curve.png"] == b"theirs"


@pytest.mark.parametrize("length", [0, 1500])
def test_half_a_file_of_ours_is_taken_up(sqlite_store: Store, tmp_path: Path, length: int) -> None:
    made = make_run(sqlite_store, folder=tmp_path)
    whole = payload().files["evalreport_roc_curve.png"]
    with pytest.raises(ServerError):
        MlflowSink(Watched(sqlite_store, 4), made.run_id).log(payload(), timestamp=NOW)
    log_bytes(sqlite_store.client, made.run_id, "evalreport_roc_curve.png", whole[:length])
    do(sqlite_store, made, payload())
    assert_whole(sqlite_store, made, payload())


def test_a_run_that_is_deleted_meanwhile_gets_no_further_file(sqlite_store: Store, tmp_path: Path) -> None:
    for call in ("log_artifacts", "log_batch"):
        made = make_run(sqlite_store, folder=tmp_path)
        delete = lambda made=made: sqlite_store.client.delete_run(made.run_id)  # noqa: E731
        with pytest.raises(RunNotFoundError, match="is deleted"):
            MlflowSink(Interrupted(sqlite_store, call, delete), made.run_id).log(payload(), timestamp=NOW)
        sqlite_store.client.restore_run(made.run_id)
        files = contents(sqlite_store, made)
        assert (set(files) <= {MANIFEST}) == (call == "log_artifacts")
        do(sqlite_store, made, payload())
        assert_whole(sqlite_store, made, payload())


@pytest.mark.parametrize("count", [6, 10])
def test_of_several_loggings_at_once_none_is_a_silent_mixture(store: Store, run: MadeRun, count: int) -> None:
    payloads = [payload(f1=0.1 * (k % 3), digest=f"digest-{k % 3}") for k in range(count)]

    def attempt(what: Payload) -> str:
        try:
            return do(connect(store.uri), run, what).state
        except EvalreportError as error:
            return error.message

    with ThreadPoolExecutor(count) as pool:
        ends = list(pool.map(attempt, payloads))
    if set(ends) <= {"written", "unchanged"}:
        assert checked(store, run).whole
    digest = "digest-1"
    assert do(store, run, payloads[1], repair=True, timestamp=NOW + 1000).state in ("written", "unchanged")
    assert snapshot(store, run)["tags"][STATE_TAG] == digest
    assert checked(store, run).whole
