"""A seeded sample of `make faults`: each kind of fault once, at some request, against a real server."""

from __future__ import annotations

import random
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evalreport.tracking.client import Store, connect
from tests.faults.cases import Faults, end_case
from tests.faults.harness import check_mended, fresh_run, log_command, said
from tests.faults.proxy import KINDS, FaultyProxy
from tests.tracking import MlflowServer

SEED = 11
LESS_THAN_A_PAGE = 40_000
server = pytest.mark.server


@pytest.fixture(scope="module")
def faults(mlflow_server: MlflowServer) -> Iterator[Faults]:
    proxy = FaultyProxy(mlflow_server.uri)
    with proxy.running() as uri:
        yield Faults(proxy, uri, mlflow_server.uri)


@pytest.fixture(scope="module")
def requests(faults: Faults) -> int:
    """How many requests a logging takes."""
    return len(faults.requests())


@server
@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_loses_nothing_and_nothing_is_claimed(faults: Faults, requests: int, kind: str) -> None:
    draw = random.Random(f"{SEED} {kind}")  # noqa: S311
    faults.case(draw.randint(1, requests), kind, lasting=draw.random() < 0.5)


@server
def test_a_mark_that_was_set_is_ours_though_its_answer_was_cut(faults: Faults) -> None:
    at = 1 + next(n for n, request in enumerate(faults.requests()) if "set-tag" in request)
    assert faults.case(at, "truncated", lasting=False) == 0


@server
def test_a_run_that_is_deleted_while_it_is_logged(faults: Faults) -> None:
    made = fresh_run(faults.store)
    delete = lambda: faults.store.client.delete_run(made.run_id)  # noqa: E731
    faults.proxy.plan()
    said(*log_command(faults.uri, made.run_id), "--dry-run")
    reads = faults.proxy.count
    faults.proxy.plan(reads + 8, act=delete)
    done = said(*log_command(faults.uri, made.run_id))
    assert done.code == 3, done.err
    assert "is deleted" in done.err
    after = faults.proxy.requests[reads + 8 :]
    assert not [request for request in after if request.startswith("PUT")], "something more is uploaded"
    faults.proxy.plan()
    faults.store.client.restore_run(made.run_id)
    check_mended(faults.store, made)


@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_the_end_in_the_middle(sqlite_store: Store, tmp_path: Path, name: str) -> None:
    at = random.Random(f"{SEED} {name}").randint(15, 25)  # noqa: S311
    end_case(sqlite_store, tmp_path, at, name, after=True)


@contextmanager
def impatient() -> Iterator[None]:
    """Have SQLite wait a fifth of a second for a lock, not the 20 s that MLflow sets."""
    from sqlalchemy import Engine, event

    def hurried(_connection: object, _cursor: object, statement: str, values: object, *_: object) -> Any:
        return statement.replace("busy_timeout = 20000", "busy_timeout = 200"), values

    event.listen(Engine, "before_cursor_execute", hurried, retval=True)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", hurried)


def test_a_database_that_another_program_writes_to(sqlite_store: Store, tmp_path: Path) -> None:
    made = fresh_run(sqlite_store, tmp_path)
    other = sqlite3.connect(tmp_path / "mlflow.db", check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    free = threading.Timer(600, other.rollback)
    free.start()
    try:
        with impatient():
            done = said(*log_command(sqlite_store.uri, made.run_id))
        assert done.code == 4, done.err
        assert "locked" in done.err
    finally:
        free.cancel()
        other.rollback()
        other.close()
    check_mended(sqlite_store, made)


@server
def test_a_disk_that_is_full(mlflow_server: MlflowServer) -> None:
    """A limit on the size of files stands for the end of the disk on which files are made ready."""
    import resource

    store = connect(mlflow_server.uri)
    made = fresh_run(store)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LESS_THAN_A_PAGE, before[1]))
    try:
        done = said(*log_command(store.uri, made.run_id))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.code == 2, done.err
    assert "file too large" in done.err
    check_mended(store, made)


def test_artifacts_that_cannot_be_written(sqlite_store: Store, tmp_path: Path) -> None:
    made = fresh_run(sqlite_store, tmp_path)
    folder = tmp_path / "artifacts" / made.run_id / "artifacts"
    file = folder / "evalreport"
    file.write_bytes(b"a file stands where the folder should be")
    done = said(*log_command(sqlite_store.uri, made.run_id))
    assert done.code == 4, done.err
    file.unlink()
    check_mended(sqlite_store, made)
    shutil.rmtree(folder)
