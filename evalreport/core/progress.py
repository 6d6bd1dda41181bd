"""Progress of long work: reported from any layer to a listener, if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str, int, int], None]
_LISTENERS: list[Listener] = []


def report_progress(what: str, done: int = 0, of: int = 0) -> None:
    """Report the current step and its progress; a tenth of a microsecond without a listener.

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
    """Call a function for every step while inside, in the thread that does the work."""
    _LISTENERS.append(hear)
    try:
        yield
    finally:
        _LISTENERS.remove(hear)
