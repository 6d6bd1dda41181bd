"""A server that repeats what it was sent: no login of any kind reaches a stream, JSON or a file."""

from __future__ import annotations

import html
import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest

from evalreport.core import text
from tests.faults.harness import quick, said
from tests.faults.test_downloads import FILES, RUN_ID, Server, _Answers
from tests.security.test_secrets import written

PASSWORD = "c4n4ry/ü&'pw"  # noqa: S105
USER = "ada"
TOKEN = "t0ken-c4n4ry-9"  # noqa: S105


def repeated(sent: str) -> str:
    """What came in the header: as it is, alone, decoded, and as a page and an address would write that."""
    word = sent.partition(" ")[2]
    try:
        plain = b64decode(word, validate=True).decode()
    except ValueError:
        plain = word
    secret = plain.partition(":")[2] or plain
    forms = (sent, word, plain, secret, html.escape(secret), quote(secret, safe=""), json.dumps(secret))
    return " | ".join(forms)


def repeat(handler: BaseHTTPRequestHandler, answer: tuple[int, str], sent: str) -> None:
    """Repeat it in body and headers."""
    status, code = answer
    said = f"no access with {repeated(sent)}"
    text = json.dumps({"error_code": code, "message": said}) if code else f"<html><h1>{said}</h1>"
    body = text.encode()
    handler.send_response(status)
    for name in ("WWW-Authenticate", "X-Echo", "Location"):
        handler.send_header(name, quote(f"http://127.0.0.1:9/{sent}", safe=":/ =+"))
    handler.send_header("Content-Type", "application/json" if code else "text/html")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


class Echo(BaseHTTPRequestHandler):
    """Answers each request with what it was sent."""

    answer: tuple[int, str]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        sent = self.headers.get("Authorization", "")
        assert sent, "no login came"
        repeat(self, self.answer, sent)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()


REPORTED = ((400, "INVALID_PARAMETER_VALUE"), (404, "RESOURCE_DOES_NOT_EXIST"), (409, "OWN_CODE"))
"""Answers whose words an error repeats."""
ANSWERS = (
    *REPORTED,
    *((status, "") for status in (200, 302, 401, 403, 500)),
    *((401, "UNAUTHENTICATED"), (403, "PERMISSION_DENIED"), (500, "INTERNAL_ERROR")),
)
LOGINS = ("password", "token", "address", "token in the address", "file", "netrc")


LOGINS_AS_SENT = tuple(
    b64encode(login.encode(code)).decode().rstrip("=")
    for login in (f"{USER}:{PASSWORD}", f"{USER}:{TOKEN}", f"{TOKEN}:")
    for code in ("utf-8", "latin-1")
)


@contextmanager
def login(kind: str, server: str, home: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    """Log in so, and yield the tracking URI."""
    patch.setattr(text, "_KEPT", set())
    patch.setenv("HOME", str(home))
    file, host = home / ".mlflow" / "credentials", server.partition("//")[2]
    if kind == "password":
        patch.setenv("MLFLOW_TRACKING_USERNAME", USER)
        patch.setenv("MLFLOW_TRACKING_PASSWORD", PASSWORD)
    elif kind == "token":
        patch.setenv("MLFLOW_TRACKING_TOKEN", TOKEN)
    elif kind == "file":
        file.parent.mkdir()
        file.write_text(
            f"[mlflow]\nmlflow_tracking_username = {USER}\nmlflow_tracking_password = {PASSWORD}\n"
        )
    elif kind == "netrc":
        (home / ".netrc").write_text(f"machine 127.0.0.1 login {USER} password {TOKEN}\n")
    own = {"address": f"{USER}:{quote(PASSWORD, safe='')}@", "token in the address": f"{TOKEN}:@"}
    with quick():
        patch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
        yield f"http://{own.get(kind, '')}{host}"


def check(shown: str) -> None:
    """No form of any secret is in what was shown."""
    for secret in (PASSWORD, TOKEN, "c4n4ry", *LOGINS_AS_SENT):
        assert secret not in shown, shown


@pytest.mark.parametrize("kind", LOGINS)
def test_no_answer_of_a_server_tells_the_login(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        with login(kind, f"http://127.0.0.1:{server.server_port}", tmp_path, monkeypatch) as uri:
            for Echo.answer in ANSWERS if kind == "password" else REPORTED:
                for last in ("-vv", "--json"):
                    done = said("log", "--run-id", RUN_ID, "--tracking-uri", uri, last)
                    assert done.code in (2, 3, 4), (Echo.answer, done.err)
                    assert Echo.answer not in REPORTED or text.HIDDEN in done.out + done.err
                    check(done.out + done.err)
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("kind", ["password", "token in the address"])
def test_no_failing_download_tells_the_login(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(_Answers):
        def do_GET(self) -> None:  # noqa: N802 (http.server's name)
            if f"{FILES}/" not in self.path:
                return super().do_GET()
            return repeat(self, (403, "PERMISSION_DENIED"), self.headers.get("Authorization", ""))

    with Server.started() as server, login(kind, server.uri, tmp_path, monkeypatch) as uri:
        server.RequestHandlerClass = Failing
        done = said(
            "report", "--run-id", RUN_ID, "--tracking-uri", uri, "--output", str(tmp_path / "out"), "-vv"
        )
    assert done.code == 4, done.err
    assert server.heard
    check(done.out + done.err + (written(tmp_path / "out") if (tmp_path / "out").exists() else ""))
