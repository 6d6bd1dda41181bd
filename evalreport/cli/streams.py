"""Progress of long work: one moving line on a terminal; otherwise one line per run."""

from __future__ import annotations

import sys
from threading import Event, Thread
from types import TracebackType
from typing import Self

import click

from evalreport.cli.console import CLEAR, Console
from evalreport.cli.stdio import NARROWEST, width_of
from evalreport.core.progress import on_progress
from evalreport.core.text import printable

QUIET_FOR = 1.0
"""Seconds before a terminal shows progress."""
BEAT = 0.25
"""Seconds between two pictures of what is done."""
BAR = 20
"""Characters of the bar."""


class Pulse:
    """The line of long work on a terminal: what is done now, from the first second on."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._over = Event()
        self._thread = Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Self:
        self._wanted = self.console.terminal and self.console.verbosity >= 0
        if self._wanted:
            self._heard = on_progress(self.console.show_progress)
            self._heard.__enter__()
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._wanted:
            self._heard.__exit__(kind, error, trace)
            self._over.set()
            self._thread.join()
            self.console.clear()

    def _beat(self) -> None:
        while not self._over.wait(BEAT):
            if self.console.elapsed_seconds >= QUIET_FOR:
                draw(self.console)


def draw(console: Console) -> None:
    """Show what is done now, if anything is."""
    with console.lock:
        if console.stage or console.doing:
            seconds, first = console.elapsed_seconds - console.stage_from[0], console.stage_from[1]
            parts = (
                console.doing() if console.doing else "",
                describe_stage(*console.stage, seconds, first) if console.stage else "",
            )
            width = width_of(sys.stderr) or NARROWEST
            line = ": ".join(filter(None, parts))[: width - 1]
            click.echo(CLEAR + line, nl=False, err=True, color=True)
            console.drawn = True


def describe_stage(what: str, done: int, of: int, seconds: float = 0.0, first: int = 0) -> str:
    """Return a stage in words; with its pace, where so many seconds took it on from a first number.

    Examples
    --------
    >>> describe_stage("bootstrap draws", 1200, 2000), describe_stage("reading the study", 0, 0)
    ('bootstrap draws 1,200 of 2,000', 'reading the study')
    >>> describe_stage("rows counted", 5_000_000, 20_000_000, 10.0)
    'rows counted 5,000,000 of 20,000,000, 00:30 left, 500,000/s'
    """
    told = what + (f" {done:,}" if done or of else "") + (f" of {of:,}" if of else "")
    if done <= first or done == of or seconds < BEAT:
        return told
    pace = (done - first) / seconds
    left = f", {_clock((of - done) / pace)} left" if of > done else ""
    return f"{told}{left}, " + (f"{pace / 1e6:.1f}M/s" if pace >= 1e6 else f"{pace:,.0f}/s")


class Progress:
    """Progress of several runs, on stderr; nothing with ``-q``, or in the first second."""

    def __init__(self, console: Console, total: int) -> None:
        self.console, self.total = console, total
        self.begun, self.done, self.name = 0, 0, ""
        self.wanted = console.verbosity >= 0 and (total > 1 or console.terminal)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def begin(self, name: str) -> None:
        """Report the run that is worked on next."""
        self.name = name
        self.begun += 1
        if self.wanted and self.console.terminal:
            self.console.doing = self.line
            if self.console.elapsed_seconds >= QUIET_FOR:
                draw(self.console)
        elif self.wanted:
            self.console.say(f"{self.begun}/{self.total} {name}")

    def end(self) -> None:
        """Count a run as done, and make room for what is printed of it."""
        self.done += 1
        self.console.rest()

    def line(self) -> str:
        """Return the line as a terminal shows it.

        Examples
        --------
        >>> progress = Progress(Console(), 4)
        >>> progress.done, progress.name = 1, "calm-heron"
        >>> progress.line().endswith("| 1/4 [00:00<00:00] calm-heron")
        True
        """
        if self.total == 1:
            return f"[{_clock(self.console.elapsed_seconds)}] {printable(self.name)}"
        fill, rest = ("█", "░") if _unicode() else ("#", "-")
        full = BAR * self.done // self.total
        left = self.console.elapsed_seconds / self.done * (self.total - self.done) if self.done else None
        times = f"{_clock(self.console.elapsed_seconds)}<{'?' if left is None else _clock(left)}"
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
