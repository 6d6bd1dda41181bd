"""MLflow stores for tests: a migrated SQLite file to copy, a real server, and runs with artifacts."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import wraps
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from evalreport.tracking.client import Store, connect, quiet

LISTENING = re.compile(r"(?:running on|Listening at:) http://127\.0\.0\.1:(\d+)")
"""What uvicorn says, and gunicorn in MLflow 2."""


def new_database(path: Path) -> Path:
    """Make the file of an empty MLflow store, whose first experiment keeps its artifacts beside it."""
    with quiet():
        from mlflow import MlflowClient
    with quiet(), chdir(path.parent):
        MlflowClient(tracking_uri=f"sqlite:///{path}").search_experiments()
    return path


def compiled_once(create: Callable[[str], Any]) -> Callable[[str], Any]:
    """Have the engine of every store take the statements that those before it have compiled.

    That is half of what a store of a few requests costs.
    """
    first: list[Any] = []

    @wraps(create)
    def engine_of(uri: str) -> Any:
        engine = create(uri)
        first[:] = first or [engine]
        engine.dialect, engine._compiled_cache = first[0].dialect, first[0]._compiled_cache
        return engine

    return engine_of


def empty_store(template: Path, folder: Path) -> Store:
    """Copy an empty store into a folder and connect from there: MLflow keeps artifacts where it began."""
    shutil.copy(template, folder / "mlflow.db")
    with chdir(folder):
        return connect(f"sqlite:///{folder / 'mlflow.db'}")


@dataclass(frozen=True)
class MlflowServer:
    """A running `mlflow server`."""

    uri: str
    log: Path

    @classmethod
    @contextmanager
    def started(cls, template: Path, folder: Path) -> Iterator[MlflowServer]:
        """Start a server on a free port, wait until it is healthy, and end it afterwards."""
        shutil.copy(template, folder / "mlflow.db")
        command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", "0"]
        command += ["--workers", "1", "--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"]
        command += ["--artifacts-destination", str(folder / "artifacts")]
        environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
        log = folder / "server.log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command, stdout=stream, stderr=stream, cwd=folder, env=environment, start_new_session=True
            )
            try:
                yield cls(f"http://127.0.0.1:{port_when_healthy(process, log)}", log)
            finally:
                end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


@contextmanager
def closed_port() -> Iterator[int]:
    """Hold a port on which nobody listens: it refuses connections, and nobody else can take it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


def port_when_healthy(process: subprocess.Popen[bytes], log: Path, seconds: float = 300) -> int:
    """Return the port that a server chose (`--port 0`) when its `/health` answers 200.

    Fails when the process ends or time is over.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        said = LISTENING.search(log.read_text(encoding="utf-8"))
        if said and healthy(int(said[1])):
            return int(said[1])
        time.sleep(0.1)
    raise AssertionError(f"mlflow server did not start: {log.read_text(encoding='utf-8')[-2000:]}")


def healthy(port: int) -> bool:
    """Ask a server how it is."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


@dataclass(frozen=True)
class MadeRun:
    """A run that a test has made."""

    run_id: str
    experiment_id: str
    experiment: str


def make_run(
    store: Store,
    artifacts: Mapping[str, str | bytes] | None = None,
    *,
    experiment: str = "",
    name: str = "calm-heron-412",
    status: str = "FINISHED",
    tags: Mapping[str, str] | None = None,
    tables: Mapping[str, Any] | None = None,
    folder: Path | None = None,
    started: int | None = None,
) -> MadeRun:
    """Make a run, by default a finished one in an experiment of its own.

    Parameters
    ----------
    artifacts : from path inside the run to content
    tables : from path to what `log_table` takes
    folder : where an SQLite store is to keep artifacts; by default beside its file
    """
    experiment = experiment or f"exp-{uuid.uuid4().hex[:8]}"
    with quiet():
        client = store.client
        known = client.get_experiment_by_name(experiment)
        place = (folder / "artifacts").as_uri() if folder else None
        experiment_id = known.experiment_id if known else client.create_experiment(experiment, place)
        run_id = client.create_run(experiment_id, started, dict(tags or {}), name).info.run_id
        for path, content in (artifacts or {}).items():
            log_bytes(client, run_id, path, content.encode() if isinstance(content, str) else content)
        for path, table in (tables or {}).items():
            client.log_table(run_id, table, path)
        if status == "RUNNING":
            return MadeRun(run_id, experiment_id, experiment)
        with redirect_stdout(io.StringIO()):  # a server's client prints the address of the run
            client.set_terminated(run_id, status)
    return MadeRun(run_id, experiment_id, experiment)


def log_bytes(client: Any, run_id: str, path: str, content: bytes) -> None:
    """Log bytes as one artifact."""
    with tempfile.TemporaryDirectory() as folder, quiet():
        parent, _, name = path.rpartition("/")
        file = Path(folder) / name
        file.write_bytes(content)
        client.log_artifact(run_id, str(file), parent or None)


def files_of(store: Store, run_id: str, folder: Path) -> Path:
    """Download all artifacts of a run by MLflow's own client."""
    with quiet():
        from mlflow import MlflowClient

        if not store.client.list_artifacts(run_id):  # MLflow 2 has nothing to download then
            return folder
        return Path(MlflowClient(tracking_uri=store.uri).download_artifacts(run_id, "", str(folder)))


@contextmanager
def fluent(store: Store) -> Iterator[Any]:
    """The fluent API (`mlflow`) on a store, without a word, and all it sets for the process undone."""
    silence = io.StringIO()
    with quiet(), redirect_stdout(silence), redirect_stderr(silence), pytest.MonkeyPatch.context() as patch:
        import mlflow
        from mlflow.tracking import fluent as state

        patch.setattr(state, "_active_experiment_id", None)
        patch.setenv("MLFLOW_EXPERIMENT_ID", "")  # so that what `set_experiment` puts there goes
        patch.delenv("MLFLOW_EXPERIMENT_ID")
        mlflow.set_tracking_uri(store.uri)
        try:
            yield mlflow
        finally:
            mlflow.flush_trace_async_logging()
            mlflow.set_tracking_uri(None)
