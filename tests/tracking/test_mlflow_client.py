"""The way to a store: what is refused before MLflow is asked, and every failure as three clean lines."""

from __future__ import annotations

import http.server
import json
import logging
import os
import shutil
import sqlite3
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import urllib3.util.connection

from evalreport.core.errors import EvalreportError, ServerError
from evalreport.tracking.client import SETTINGS, Store, check_uri, connect, quiet, translate_error
from tests.tracking import MlflowServer, closed_port, make_run

CANARY = "c4n4ry-v4lue"


def failing(store: Store) -> EvalreportError:
    with pytest.raises(EvalreportError) as caught:
        store.ask(lambda client: client.get_run("f" * 32), "run ffffff")
    return caught.value


def test_a_missing_database_is_refused_and_not_created(tmp_path: Path) -> None:
    with pytest.raises(EvalreportError, match=r"there is no MLflow database .*typo\.db") as caught:
        connect(f"sqlite:///{tmp_path}/typo.db")
    assert caught.value.exit_code == 3
    assert "--tracking-uri" in caught.value.fix
    assert not list(tmp_path.iterdir())


def test_the_default_database_is_refused_when_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EvalreportError, match=r"no MLflow database mlflow\.db in this folder") as caught:
        connect()
    assert caught.value.exit_code == 3
    assert not list(tmp_path.iterdir())


def test_the_default_database_is_found(
    template_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mlflow.db").write_bytes(template_database.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert connect().uri == f"sqlite:///{tmp_path}/mlflow.db"


def test_the_environment_names_the_store(sqlite_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", sqlite_store.uri)
    assert connect().uri == sqlite_store.uri


def test_an_mlruns_folder_names_the_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mlruns" / "0").mkdir(parents=True)
    (tmp_path / "mlruns" / "0" / "meta.yaml").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EvalreportError, match=r"takes \./mlruns of this folder") as caught:
        connect()
    assert caught.value.exit_code == 2
    assert "mlflow migrate-filestore" in caught.value.fix


@pytest.mark.parametrize("uri", ["mlruns", "./mlruns", "file:///runs", r"C:\runs"])
def test_stores_made_of_files_are_refused(uri: str) -> None:
    with pytest.raises(EvalreportError, match="no longer reads stores made of files") as caught:
        check_uri(uri)
    assert "migrate-filestore" in caught.value.fix


@pytest.mark.parametrize(
    "uri", ["databricks", "databricks://profile", "uc:x", "postgresql://h/db", "https://h"]
)
def test_other_stores_are_left_to_mlflow(uri: str) -> None:
    check_uri(uri)


@pytest.mark.parametrize("uri", ["sqlite://", "sqlite:///:memory:", "sqlite:///"])
def test_a_database_in_memory_is_refused(uri: str) -> None:
    with pytest.raises(EvalreportError, match="in-memory"):
        check_uri(uri)


def test_a_broken_address_is_refused() -> None:
    with pytest.raises(EvalreportError, match="is not an address") as caught:
        check_uri(f"http://[x:{CANARY}@host/")
    assert CANARY not in caught.value.as_lines()


@pytest.mark.parametrize("content", [b"", b"not a database" * 99, None])
def test_a_database_of_something_else_stays_as_it_is(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "other.db"
    if content is None:
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE customers (name TEXT)")
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(EvalreportError, match="not an MLflow database") as caught:
        connect(f"sqlite:///{path}")
    assert caught.value.exit_code == 4
    assert path.read_bytes() == before


def test_a_database_of_another_mlflow_is_named(template_database: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.write_bytes(template_database.read_bytes())
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '867495a8f9d4'")
    with pytest.raises(EvalreportError, match="made by another version of MLflow") as caught:
        connect(f"sqlite:///{path}").ask(lambda client: client.search_experiments())
    assert caught.value.exit_code == 4
    assert "mlflow db upgrade" in caught.value.fix


def test_an_unknown_run_is_exit_3(sqlite_store: Store) -> None:
    error = failing(sqlite_store)
    assert (error.exit_code, error.code) == (3, "RUN_NOT_FOUND")
    assert "run ffffff" in error.where


def test_a_missing_driver_names_its_package() -> None:
    error = translate_error(
        ModuleNotFoundError("No module named 'psycopg'", name="psycopg"), "postgresql://h"
    )
    assert error is not None
    assert (error.exit_code, error.fix) == (2, "pip install psycopg")


def test_our_own_mistakes_pass(sqlite_store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        sqlite_store.ask(lambda _: 1 / 0)


def test_a_refused_connection_is_tried_a_few_times_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """MLflow itself would go on trying for four minutes."""
    tried = []
    connected = urllib3.util.connection.create_connection

    def connecting(*address: Any, **options: Any) -> Any:
        tried.append(address)
        return connected(*address, **options)

    monkeypatch.setattr(urllib3.util.connection, "create_connection", connecting)
    with closed_port() as port:
        error = failing(connect(f"http://ada:{CANARY}@127.0.0.1:{port}/team?token={CANARY}"))
    assert 1 <= len(tried) <= 3
    assert error.exit_code == 4
    assert "cannot be reached" in error.message
    assert CANARY not in error.as_lines()


class Answer(http.server.BaseHTTPRequestHandler):
    """A server that gives one answer, the one that the test has set."""

    status = 200
    body = b""
    headers_: tuple[tuple[str, str], ...] = ()

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(type(self).status)
        for name, value in (*type(self).headers_, ("content-length", str(len(type(self).body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(type(self).body)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def answering() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://ada:{CANARY}@127.0.0.1:{server.server_port}"
        server.shutdown()


LOGIN = b"<!doctype html><title>Sign in</title>"
REFUSED = json.dumps({"error_code": "PERMISSION_DENIED", "message": "Permission denied"}).encode()


@pytest.mark.parametrize(
    ("status", "body", "says", "remedy"),
    [
        (401, b"You are not authenticated.", "asks for a login", "MLFLOW_TRACKING_TOKEN"),
        (403, b"Permission denied", "permission denied", "ask for access"),
        (403, REFUSED, "permission denied", "ask for access"),
        (404, b"<html>nginx</html>", "no MLflow at this address", "path prefix"),
        (200, LOGIN, "a page instead of MLflow's data", "MLFLOW_TRACKING_TOKEN"),
        (302, b"", "sends us on", "redirects are not followed"),
        (500, b"oops", "answers with errors", "server's log"),
        (503, b"oops", "answers with errors", "server's log"),
        (429, b"slow down", "too many requests", "fewer at once"),
    ],
)
def test_each_refusal_has_its_words(answering: str, status: int, body: bytes, says: str, remedy: str) -> None:
    Answer.status, Answer.body = status, body
    Answer.headers_ = (("location", "http://169.254.169.254/"),) if status == 302 else ()
    error = failing(connect(answering))
    assert error.exit_code == 4
    assert says in error.message
    assert remedy in error.fix
    assert CANARY not in error.as_lines()


@pytest.mark.server
def test_a_real_server_is_asked(mlflow_server: MlflowServer) -> None:
    store = connect(mlflow_server.uri)
    run = make_run(store)
    assert store.ask(lambda client: client.get_run(run.run_id)).info.status == "FINISHED"
    assert failing(store).exit_code == 3
    assert store.page_of_run("3", "ab") == f"{mlflow_server.uri}/#/experiments/3/runs/ab/artifacts"


def test_the_page_of_a_run_keeps_the_prefix_and_loses_the_secrets() -> None:
    store = Store(None, f"https://ada:{CANARY}@mlflow.example.org/team/?token={CANARY}")
    assert store.page_of_run("3", "ab") == "https://mlflow.example.org/team/#/experiments/3/runs/ab/artifacts"
    assert Store(None, "sqlite:///x.db").page_of_run("3", "ab") == ""


@pytest.mark.parametrize(
    ("uri", "remote"),
    [
        ("sqlite:///x.db", False),
        ("http://localhost:5000", True),
        ("http://[::1]:5", True),
        ("https://h", True),
    ],
)
def test_a_server_is_remote_wherever_it_listens(uri: str, remote: bool) -> None:
    assert Store(None, uri).remote is remote


def test_a_store_never_prints_its_secret() -> None:
    assert CANARY not in repr(Store(None, f"http://ada:{CANARY}@h"))


def test_no_traceback_holds_the_secret() -> None:
    with closed_port() as port, pytest.raises(ServerError, match="cannot be reached") as caught:
        connect(f"http://ada:{CANARY}@127.0.0.1:{port}").ask(lambda client: client.search_experiments())
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_quiet_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "5")
    environment, filters = dict(os.environ), list(warnings.filters)
    level = logging.getLogger("mlflow").level
    with quiet(), quiet():
        assert os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] == "5"
        assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == SETTINGS["MLFLOW_DISABLE_TELEMETRY"]
        warnings.warn("nobody hears this", stacklevel=1)
    assert dict(os.environ) == environment
    assert list(warnings.filters) == filters
    assert logging.getLogger("mlflow").level == level


def test_quiet_holds_until_the_last_thread_leaves() -> None:
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with quiet():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=stay)
    thread.start()
    assert inside.wait(60)
    with quiet():
        pass
    assert "MLFLOW_DISABLE_TELEMETRY" in os.environ
    leave.set()
    thread.join()
    assert "MLFLOW_DISABLE_TELEMETRY" not in os.environ


def test_a_locked_database_is_said_to_be_locked(
    template_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0.2))  # in place of 5 s
    path = Path(shutil.copy(template_database, tmp_path / "mlflow.db"))
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ServerError, match="locked by another program") as caught:
            connect(f"sqlite:///{path}")
        other.rollback()
    assert caught.value.where == str(path)
    assert "try again" in caught.value.fix


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("(sqlite3.OperationalError) attempt to write a readonly database", "read-only"),
        ("(sqlite3.OperationalError) database is locked", "locked by another program"),
    ],
)
def test_what_sqlite_refuses_has_its_words(words: str, says: str) -> None:
    class OperationalError(Exception):
        __module__ = "sqlalchemy.exc"

    error = translate_error(OperationalError(words), "sqlite:///mlflow.db")
    assert isinstance(error, ServerError)
    assert says in error.message
