"""A run without a file of predictions: whether it holds traces is the server's to say, not its faults'."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.faults.harness import quick, said
from tests.faults.proxy import FaultyProxy
from tests.faults.test_downloads import KINDS, Server, _Answers, command

V3, V2 = "/api/3.0/mlflow/traces/search", "/api/2.0/mlflow/traces"
PAGE = (404, b"<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n", "text/html; charset=utf-8")
"""What `mlflow server` 2.22, 3.1, 3.6 and 3.17 say of an endpoint that they do not know."""
CODED = (
    404,
    json.dumps({"error_code": "ENDPOINT_NOT_FOUND", "message": "No API"}).encode(),
    "application/json",
)
NONE = (200, b"{}", "application/json")
REFUSED = (403, json.dumps({"error_code": "PERMISSION_DENIED", "message": "no"}).encode(), "application/json")
RELEASES = {
    "2.13, before traces": {V3: PAGE, V2: PAGE},
    "2.22 and 3.1": {V3: PAGE, V2: NONE},
    "3.6 and 3.17": {V3: NONE},
    "hosted": {V3: CODED, V2: CODED},
}


@contextmanager
def without_predictions(answers: dict[str, tuple[int, bytes, str]]) -> Iterator[Server]:
    """A server whose run holds nothing, and that answers so when it is asked for traces."""

    class Answers(_Answers):
        def do_GET(self) -> None:  # noqa: N802 (http.server's name)
            path = self.path.partition("?")[0]
            if "/traces" not in path:
                return self._send(b"{}") if path.endswith("/artifacts") else super().do_GET()
            self.server.heard.append((self.path, ""))
            status, body, kind = answers[path]
            return self._send(body, kind, status)

    with Server.started() as server:
        server.RequestHandlerClass = Answers
        yield server


@pytest.mark.parametrize("release", RELEASES)
def test_a_server_that_knows_of_no_traces_holds_none(release: str) -> None:
    with without_predictions(RELEASES[release]) as server, quick():
        done = said(*command(server.uri))
    asked = {path.partition("?")[0] for path, _ in server.heard if "/traces" in path}
    assert asked == set(RELEASES[release])
    assert done.code == 3, done.err
    assert "no predictions" in done.err


def test_a_refusal_is_not_an_answer() -> None:
    with without_predictions({V3: REFUSED}) as server, quick():
        done = said(*command(server.uri))
    assert done.code == 4, done.err
    assert "permission denied" in done.err


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "truncated"])  # half of `{}` is as broken
def test_a_fault_is_not_an_answer(kind: str) -> None:
    with without_predictions({V3: NONE}) as server:
        proxy = FaultyProxy(server.uri)
        with proxy.running() as uri, quick():
            assert said(*command(uri)).code == 3
            asking = 1 + next(n for n, name in enumerate(proxy.requests) if "/traces" in name)
            proxy.plan(asking, kind, lasting=True)
            done = said(*command(uri))
    assert all("/traces" in name for name in proxy.requests[asking - 1 :]), "something else has failed"
    assert done.code == 4, done.err
    assert [line[:5] for line in done.err.splitlines()] == ["error", "  at ", "  fix"], done.err
