"""The command in a process that ends at a question to the store, begins with others, or has no power."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, TypeVar

from evalreport.cli import main
from evalreport.tracking.client import Store

T = TypeVar("T")


def end_at(
    at: int, number: int, after: bool, environment: Mapping[str, str], err: str, arguments: Sequence[str]
) -> None:
    """Run the command, and have the process send itself a signal just before or after a question."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job is started without it
    whole = Store.ask
    count = 0

    def ask(self: Store, call: Callable[[Any], T], where: str = "") -> T:
        nonlocal count
        count += 1
        if count == at and not after:
            os.kill(os.getpid(), number)
        answer = whole(self, call, where)
        if count == at and after:
            os.kill(os.getpid(), number)
        return answer

    Store.ask = ask  # type: ignore[method-assign]
    _run(environment, err, arguments)


def begin_together(
    barrier: Barrier, environment: Mapping[str, str], err: str, arguments: Sequence[str]
) -> None:
    """Run the command when all who are to begin together are ready."""
    barrier.wait()
    _run(environment, err, arguments)


def run_powerless(environment: Mapping[str, str], err: str, arguments: Sequence[str]) -> None:
    """Run the command without the capabilities by which root ignores permissions."""
    if os.geteuid() == 0:
        version, none = (ctypes.c_uint32 * 2)(0x20080522), (ctypes.c_uint32 * 6)()  # version 3 of the call
        assert ctypes.CDLL(None).capset(version, none) == 0
    _run(environment, err, arguments)


def _run(environment: Mapping[str, str], err: str, arguments: Sequence[str]) -> None:
    """Run the command with its words on stderr in a file."""
    os.environ.update(environment)
    with Path(err).open("w", encoding="utf-8") as words, Path(os.devnull).open("w") as nothing:
        sys.stderr, sys.stdout = words, nothing
        os.dup2(words.fileno(), 2)
        main(arguments)
