"""What a shell hands over: its stop, and streams: closed, full, of an encoding that lacks our characters."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import TextIO

import click

from evalreport.core.errors import UsageError

NARROWEST = 40
"""Columns for which lines are still broken; a narrower terminal breaks them itself."""


TO_FILE = "name a file with -o, or make room"


class StdoutError(UsageError):
    """stdout takes no more: the disk that it leads to is full, or gone."""

    code = "STDOUT"


def ready() -> None:
    """Make all streams usable: closed ones lead nowhere, what an encoding lacks is written as an escape."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 (until the process ends)
            setattr(sys, name, nowhere)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def interrupt_on_sigterm() -> Iterator[None]:
    """Have SIGTERM, as of a scheduler or `timeout`, end us as Ctrl-C does: copies and files are removed."""
    ours = current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def interrupt(_: int, __: FrameType | None) -> None:
    """Take a signal for Ctrl-C; another one does not disturb what is cleared away."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def width_of(stream: TextIO) -> int | None:
    """Return the columns of a terminal, at least 40: `COLUMNS` before its own word; None if it is none.

    Examples
    --------
    >>> width_of(io.StringIO()) is None
    True
    """
    if not stream.isatty():
        return None
    try:
        own = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # a stand-in for a terminal
        own = 0
    return max(NARROWEST, shutil.get_terminal_size((own or 80, 24)).columns)


def write_line(text: str) -> None:
    """Write a line for a person on stdout, in the terminal's encoding.

    Raises
    ------
    StdoutError
    """
    _write(text, nl=True)


def put_document(text: str) -> None:
    """Write a document (HTML, JSON, Markdown) on stdout: UTF-8, whatever the encoding of the terminal.

    Raises
    ------
    StdoutError
    """
    is_binary = hasattr(sys.stdout, "buffer")
    _write(text.encode("utf-8", errors="backslashreplace") if is_binary else text, nl=False)


def _write(what: str | bytes, *, nl: bool) -> None:
    try:
        click.echo(what, nl=nl, color=True)  # callers that ask for styles know that the stream supports them
    except BrokenPipeError:
        raise
    except OSError as error:
        forget(1)
        reason = (error.strerror or "input/output error").lower()
        raise StdoutError(f"the result cannot be written: {reason}", where="stdout", fix=TO_FILE) from error


def forget(descriptor: int) -> None:
    """Lead a stream nowhere, so that what is left in its buffer does not fail again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
