"""What is started for one of several items and serves the others, such as a session of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar

_STACK: ContextVar[ExitStack | None] = ContextVar("shared", default=None)


@contextmanager
def sharing() -> Iterator[None]:
    """Keep what is started inside for one item until the block ends.

    Examples
    --------
    >>> with sharing():
    ...     _ = current_stack().callback(print, "session ended")
    ...     print("next item")
    next item
    session ended
    """
    with ExitStack() as stack:
        before = _STACK.set(stack)
        try:
            yield
        finally:
            _STACK.reset(before)


def current_stack() -> ExitStack | None:
    """Return what ends with the block of `sharing`; None outside of one."""
    return _STACK.get()
