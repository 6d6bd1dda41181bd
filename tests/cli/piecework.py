"""What processes of their own do in tests: each of them imports this, which takes no time."""

from __future__ import annotations

import os
import signal

from evalreport.core.errors import DataError


def worked(item: int, dies: int) -> int:
    """Square a number; one of them ends its process, and multiples of three are bad."""
    if item == dies:
        os.kill(os.getpid(), signal.SIGKILL)
    if item % 3 == 0:
        raise DataError(f"{item} is a multiple of three", where="here", fix="take another")
    return item * item


def threads(_: int) -> str | None:
    """How many threads of linear algebra this process may start."""
    return os.environ.get("OPENBLAS_NUM_THREADS")
