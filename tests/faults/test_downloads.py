"""Faults while predictions are downloaded: a server's fault, told in three lines, never somebody's data."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.faults.harness import quick, said
from tests.faults.proxy import FaultyProxy

TABLE = "y_true,score\n" + "".join(f"{row % 2},0.{row % 7 + 1}\n" for row in range(40))
RUN_ID = "5f" * 16
FILES = "/api/2.0/mlflow-artifacts/artifacts"
CANARY = "c4n4ry-t0ken"
NEVER = 600.0
"""Seconds for which a server says nothing: the command gives up long before."""


class Server(ThreadingHTTPServer):
    """As much of a tracking server as reading one run takes; it keeps what it was asked, and with what."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.heard: list[tuple[str, str]] = []

    @property
    def uri(self) -> str:
        """Address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @classmethod
    @contextmanager
    def started(cls) -> Iterator[Server]:
        """Listen on a free port while inside."""
        server = cls()
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _Answers(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.server.heard.append((self.path, self.headers.get("Authorization", "")))
        path = self.path.partition("?")[0]
        if path.startswith(f"{FILES}/"):
            return self._send(TABLE.encode(), "text/csv")
        return self._send(json.dumps(_answer(path)).encode())

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def _send(self, body: bytes, kind: str = "application/json", status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _answer(path: str) -> object:
    info = {
        "run_id": RUN_ID,
        "run_uuid": RUN_ID,
        "run_name": "calm-heron-412",
        "experiment_id": "1",
        "status": "FINISHED",
        "start_time": 1_700_000_000_000,
        "end_time": 1_700_000_060_000,
        "artifact_uri": f"mlflow-artifacts:/1/{RUN_ID}/artifacts",
        "lifecycle_stage": "active",
    }
    if path.endswith("/runs/get"):
        return {"run": {"info": info, "data": {}, "inputs": {}}}
    if path.endswith("/experiments/get"):
        experiment = {"experiment_id": "1", "name": "faults", "lifecycle_stage": "active"}
        return {"experiment": {**experiment, "artifact_location": "mlflow-artifacts:/1"}}
    if path.endswith("/artifacts") and "mlflow-artifacts" in path:
        return {"files": [{"path": "predictions.csv", "is_dir": False, "file_size": len(TABLE)}]}
    return {}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server.started() as running:
        yield running


@pytest.fixture(scope="module")
def proxy(server: Server) -> FaultyProxy:
    return FaultyProxy(server.uri)


@pytest.fixture(scope="module")
def address(proxy: FaultyProxy) -> Iterator[str]:
    with proxy.running() as uri:
        yield uri


def command(uri: str) -> tuple[str, ...]:
    return ("log", "--run-id", RUN_ID, "--tracking-uri", uri, "--dry-run")


@pytest.fixture(scope="module")
def downloading(proxy: FaultyProxy, address: str) -> int:
    """Which of the requests asks for the file."""
    proxy.plan()
    done = said(*command(address))
    assert done.code == 0, done.err
    return 1 + next(n for n, name in enumerate(proxy.requests) if f"{FILES}/" in name)


KINDS = ("500", "502", "429", "reset", "truncated", "hang", "block page", "redirect")


@pytest.mark.parametrize("kind", KINDS)
def test_a_download_that_fails_is_a_fault_of_the_server(
    proxy: FaultyProxy, address: str, downloading: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.faults.proxy.HANG", NEVER)  # so that the client ends it, or nobody
    proxy.plan(downloading, kind, lasting=True)
    before = time.monotonic()
    with quick():
        done = said(*command(address))
    asked = proxy.requests[downloading - 1 :]
    proxy.plan()
    assert asked, "the file was not asked for"
    assert all(f"{FILES}/" in name for name in asked), "something else has failed"
    assert done.code == 4, done.err
    lines = [line for line in done.err.splitlines() if not line.startswith("warning:")]
    assert [line[:5] for line in lines] == ["error", "  at ", "  fix"], done.err
    assert not done.out
    assert time.monotonic() - before < NEVER


def test_one_fault_of_a_passing_kind_costs_nothing(
    proxy: FaultyProxy, address: str, downloading: int
) -> None:
    proxy.plan(downloading, "502")
    done = said(*command(address))
    proxy.plan()
    assert done.code == 0, done.err


Place = Callable[[str], str]
REDIRECTED: tuple[tuple[str, str], ...] = (("the file", f"{FILES}/"), ("the run", "/runs/get"))


@pytest.mark.parametrize(("what", "part"), REDIRECTED, ids=[what for what, _ in REDIRECTED])
def test_no_token_follows_a_redirect(
    server: Server, monkeypatch: pytest.MonkeyPatch, what: str, part: str
) -> None:
    """The other server, of another origin, hears no token, whatever was redirected to it."""
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", CANARY)

    class Redirecting(_Answers):
        def do_GET(self) -> None:
            if part not in self.path:
                return super().do_GET()
            self.server.heard.append((self.path, self.headers.get("Authorization", "")))
            self.send_response(307)
            self.send_header("Location", f"{other.uri}{self.path}")
            self.send_header("Content-Length", "0")
            return self.end_headers()

    with Server.started() as other, Server.started() as first, quick():
        first.RequestHandlerClass = Redirecting
        done = said(*command(first.uri))
    assert any(CANARY in token for path, token in first.heard if part in path), "the token was never sent"
    assert not [path for path, token in other.heard if token], f"{what} was asked for with the token"
    assert done.code == 4, done.err
    assert CANARY not in done.err + done.out
