"""MLflow without its chatter: no warnings, progress bars, endless retries or telemetry while it is asked."""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType

SETTINGS = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # its own 7 hang for minutes on a refused connection
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_ALLOW_HTTP_REDIRECTS": "false",  # a redirect may lead to a host that nobody chose
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",  # requests go to the tracking server only
}
"""What holds while MLflow is asked, unless the user has set it."""
LOGGERS = ("mlflow", "alembic", "urllib3")


class _Quiet:
    """Settings made by the first who enters, in whatever thread, and undone by the last who leaves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._hush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()

    def _hush(self) -> None:
        self._ours = {name: value for name, value in SETTINGS.items() if name not in os.environ}
        os.environ.update(self._ours)
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        warnings.simplefilter("ignore")
        self._levels = {name: logging.getLogger(name).level for name in LOGGERS}
        _set_levels(dict.fromkeys(LOGGERS, logging.CRITICAL))

    def _restore(self) -> None:
        held = {name: logging.getLogger(name).level for name in LOGGERS}
        undone = {name: self._levels[name] for name in LOGGERS if held[name] == logging.CRITICAL}
        _set_levels(held | undone)  # others an import has just set
        self._warnings.__exit__(None, None, None)
        for name in self._ours:
            os.environ.pop(name, None)


def _set_levels(levels: Mapping[str, int]) -> None:
    """Set levels of loggers; what hundreds of others remember of them is forgotten once, not for each."""
    for name, level in levels.items():
        logging.getLogger(name).level = level
    logging.getLogger(name).setLevel(level)


_QUIET = _Quiet()


@contextmanager
def quiet() -> Iterator[None]:
    """Keep MLflow's warnings, log lines, progress bars, retries and telemetry away while inside.

    The user's own environment variables win; everything is as before afterwards. May be entered by
    several threads at once.

    Examples
    --------
    >>> import os
    >>> with quiet():
    ...     os.environ["MLFLOW_DISABLE_TELEMETRY"]
    'true'
    """
    with _QUIET:
        yield
