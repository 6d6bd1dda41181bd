"""What long work is doing: said from any floor, heard by whoever listens, and by nobody unless asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str, int, int], None]
_LISTENERS: list[Listener] = []


def report_progress(what: str, done: int = 0, of: int = 0) -> None:
    """Say what is done now, and how much of it; a tenth of a microsecond where nobody listens.

    Parameters
    ----------
    what : str
        In words, such as "bootstrap draws".
    done, of : int
        Of how many; 0 where it is not known.

    Examples
    --------
    >>> heard = []
    >>> with on_progress(lambda *said: heard.append(said)):
    ...     report_progress("bootstrap draws", 50, 2000)
    >>> report_progress("bootstrap draws", 100, 2000)
    >>> heard
    [('bootstrap draws', 50, 2000)]
    """
    for hear in _LISTENERS:
        hear(what, done, of)


@contextmanager
def on_progress(hear: Listener) -> Iterator[None]:
    """Have a function told of every stage while inside, in the thread that does the work."""
    _LISTENERS.append(hear)
    try:
        yield
    finally:
        _LISTENERS.remove(hear)
