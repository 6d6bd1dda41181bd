"""How far several runs are: one line that moves on a terminal, one line per run elsewhere."""

from __future__ import annotations

import shutil
import sys
from threading import Lock, Timer
from types import TracebackType
from typing import Self

import click

from evalreport.cli.console import CLEAR, Console
from evalreport.text import printable

QUIET_FOR = 1.0
"""Seconds before a terminal shows progress."""
BAR = 20
"""Characters of the bar."""


class Progress:
    """Progress of several runs, on stderr; nothing for one run, with ``-q``, or in the first second."""

    def __init__(self, console: Console, total: int) -> None:
        self.console, self.total = console, total
        self.begun, self.done, self.name = 0, 0, ""
        self.wanted = total > 1 and console.verbosity >= 0
        self._lock = Lock()
        self._timer = Timer(max(0.0, QUIET_FOR - console.elapsed), self._first)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self.wanted and self.console.terminal:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self.wanted = False
            self.console.clear()

    def begin(self, name: str) -> None:
        """Say which run is worked on next."""
        with self._lock:
            self.name = name
            self.begun += 1
            if self.wanted and not self.console.terminal:
                self.console.say(f"{self.begun}/{self.total} {name}")
            elif self.wanted and self.console.elapsed >= QUIET_FOR:
                self._draw()

    def end(self) -> None:
        """Count a run as done, and make room for what is printed of it."""
        with self._lock:
            self.done += 1
            self.console.clear()

    def _first(self) -> None:
        with self._lock:
            if self.wanted:
                self._draw()

    def _draw(self) -> None:
        width = shutil.get_terminal_size().columns
        click.echo(CLEAR + self.line()[: width - 1], nl=False, err=True, color=True)
        self.console.drawn = True

    def line(self) -> str:
        """Return the line as a terminal shows it.

        Examples
        --------
        >>> progress = Progress(Console(), 4)
        >>> progress.done, progress.name = 1, "calm-heron"
        >>> progress.line().endswith("| 1/4 [00:00<00:00] calm-heron")
        True
        """
        fill, rest = ("█", "░") if _unicode() else ("#", "-")
        full = BAR * self.done // self.total
        left = self.console.elapsed / self.done * (self.total - self.done) if self.done else None
        times = f"{_clock(self.console.elapsed)}<{'?' if left is None else _clock(left)}"
        bar = fill * full + rest * (BAR - full)
        return (
            f"{self.done / self.total:4.0%}|{bar}| {self.done}/{self.total} [{times}] {printable(self.name)}"
        )


def _unicode() -> bool:
    return (getattr(sys.stderr, "encoding", None) or "").lower().startswith("utf")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
