"""A proxy in front of a tracking server that fails at a request of one's choice, in a way of one's choice."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias
from urllib.parse import urlsplit

BLOCK_PAGE = b"<!doctype html><title>Blocked</title><p>Your administrator has blocked this page."
HANG = 4.0
"""Seconds; longer than the time limit that the tests give MLflow."""
UNCHANGED = frozenset({"connection", "transfer-encoding", "content-length", "keep-alive"})
"""Headers of one connection, which are not handed on."""


class FaultyProxy:
    """The proxy: it hands on what it gets until its fault is due.

    Parameters
    ----------
    upstream : str
        Address of the real server.
    """

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self.upstream = (str(parts.hostname), int(parts.port or 80))
        self.lock = threading.Lock()
        self.plan()

    def plan(
        self,
        at: int = 0,
        kind: str = "",
        *,
        lasting: bool = False,
        act: Callable[[], object] | None = None,
        on: str = "",
    ) -> None:
        """Count from 1 again; fail at request `at`, or from there on, or at each that names something.

        Just before it something may be done.
        """
        self.count, self.at, self.kind, self.lasting, self.act, self.on = 0, at, kind, lasting, act, on
        self.requests: list[str] = []

    def due(self, name: str) -> str:
        """Count a request, and return the fault that it meets; empty for none."""
        with self.lock:
            self.count += 1
            self.requests.append(name)
            met = self.at and (self.count == self.at or (self.lasting and self.count > self.at))
            met = met or bool(self.on and self.on in name)
        if met and self.act is not None:
            self.act()
        return self.kind if met else ""

    @contextmanager
    def running(self) -> Iterator[str]:
        """Listen on a free port while inside; the address."""
        handler = type("Handler", (_Handler,), {"proxy": self})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    proxy: FaultyProxy
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _any(self) -> None:
        body = self._body()
        self.close_connection = True
        fault = self.proxy.due(f"{self.command} {self.path}")
        FAULTS[fault](self, body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _any  # noqa: N815 (http.server's names)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def asked(self, body: bytes) -> tuple[HTTPResponse, bytes]:
        """Ask the real server."""
        connection = HTTPConnection(*self.proxy.upstream, timeout=60)
        headers = {name: text for name, text in self.headers.items() if name.lower() not in UNCHANGED}
        try:
            connection.request(self.command, self.path, body or None, headers)
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    def answer(self, status: int, body: bytes, kind: str = "text/html", **headers: str) -> None:
        """Answer in the server's place."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, text in headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _hand_on(handler: _Handler, body: bytes, cut: bool = False) -> None:
    try:
        response, data = handler.asked(body)
    except (OSError, HTTPException):
        return handler.answer(502, b"no server")
    handler.send_response(response.status)
    for name, text in response.getheaders():
        if name.lower() not in UNCHANGED:
            handler.send_header(name, text)
    handler.send_header("Content-Length", str(len(data)))
    handler.send_header("Connection", "close")
    handler.end_headers()
    if handler.command != "HEAD":
        with suppress(OSError):
            handler.wfile.write(data[: len(data) // 2] if cut else data)
    return None


def _reset(handler: _Handler, body: bytes) -> None:
    linger = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.connection.close()
    handler.wfile = handler.rfile  # nothing is left to flush


def _lose_answer(handler: _Handler, body: bytes) -> None:
    with suppress(OSError, HTTPException):
        handler.asked(body)
    _reset(handler, body)


def _hang(handler: _Handler, body: bytes) -> None:
    threading.Event().wait(HANG)


def _answering(status: int, text: bytes, kind: str = "text/html", **headers: str) -> Fault:
    def fault(handler: _Handler, body: bytes) -> None:
        handler.answer(status, text, kind, **headers)

    return fault


def _truncate(handler: _Handler, body: bytes) -> None:
    _hand_on(handler, body, cut=True)


Fault: TypeAlias = Callable[[_Handler, bytes], None]
FAULTS: dict[str, Fault] = {
    "": _hand_on,
    "500": _answering(500, b"internal error"),
    "502": _answering(502, b"<html>bad gateway</html>"),
    "429": _answering(429, b"too many requests"),
    "reset": _reset,
    "answer lost": _lose_answer,
    "truncated": _truncate,
    "hang": _hang,
    "block page": _answering(200, BLOCK_PAGE),
    "swallowed": _answering(200, b"{}", "application/json"),
    "redirect": _answering(302, b"", Location="http://127.0.0.1:9/elsewhere"),
}
KINDS = tuple(kind for kind in FAULTS if kind)
