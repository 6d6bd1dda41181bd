"""stdout is the result, stderr the conversation."""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli.columns import fitted
from evalreport.cli.streams import TO_FILE, StdoutError, forget, put, put_document, width_of
from evalreport.errors import EvalreportError, UsageError, shortened
from evalreport.text import printable, redact

if TYPE_CHECKING:
    from evalreport.report.summary import Concluded

SCHEMA = 1
"""Version of the object that `--json` prints."""
CLEAR = "\r\x1b[K"
"""Takes the line of progress off a terminal."""
_CLUSTER = re.compile(r"-[qvnh]+")
"""Short flags written together."""


@dataclass
class Console:
    """What a command prints with: verbosity, colour, JSON or text.

    Parameters
    ----------
    json : bool
        Print one JSON object on stdout instead of text.
    summary : str
        Form of the summary that stdout holds instead of text; what else is told goes to stderr.
    verbosity : int
        -2 nothing, -1 errors only, 0 normal, 1 what is read and written, 2 timings and tracebacks.
    color : {"auto", "always", "never"}
    """

    json: bool = False
    summary: str = ""
    verbosity: int = 0
    color: str = "auto"
    command: str = ""
    warnings: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    drawn: bool = False
    doing: Callable[[], str] | None = None
    stage: tuple[str, int, int] | None = None
    stage_from: tuple[float, int] = (0.0, 0)
    lock: AbstractContextManager[Any] = field(default_factory=RLock, repr=False)

    @classmethod
    def of_arguments(cls, arguments: Sequence[str], commands: Container[str]) -> Console:
        """Read what an error needs before the arguments are parsed: it must be JSON, too, if asked for."""
        flags = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
        short = "".join(flag[1:] for flag in flags if _CLUSTER.fullmatch(flag))
        quiet = short.count("q") + flags.count("--quiet") or _variable("QUIET")
        loud = short.count("v") + flags.count("--verbose") or _variable("VERBOSE")
        return cls(
            json="--json" in flags or "--jsonl" in flags or bool(_variable("JSON") or _variable("JSONL")),
            verbosity=loud - quiet,
            color=_color(flags),
            command=next((flag for flag in flags if flag in commands), ""),
        )

    @property
    def elapsed(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self.started

    @property
    def terminal(self) -> bool:
        """Whether stderr is a terminal that can take back what it shows."""
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def colored(self) -> bool:
        """Whether stderr takes colour: a terminal that is not dumb, or as the environment says."""
        if self.color != "auto":
            return self.color == "always"
        return bool(os.environ.get("FORCE_COLOR")) or (self.terminal and not os.environ.get("NO_COLOR"))

    def err(self, text: str) -> None:
        """Write to stderr, in place of the line of progress if there is one."""
        with self.lock:
            self.clear()
            try:
                click.echo(text, err=True, color=self.colored)
            except BrokenPipeError:
                raise
            except OSError:  # nobody can be told
                forget(2)

    def hear(self, what: str, done: int, of: int) -> None:
        """Take note of what is done now, for the line of progress, and of when it began."""
        if self.stage is None or self.stage[0] != what or done < self.stage[1]:
            self.stage_from = self.elapsed, done
        self.stage = (what, done, of)

    def clear(self) -> None:
        """Take the line of progress away."""
        with self.lock:
            if self.drawn:
                click.echo(CLEAR, nl=False, err=True, color=True)
                self.drawn = False

    def rest(self) -> None:
        """Take the line of progress away until something is done again."""
        with self.lock:
            self.doing = self.stage = None
            self.clear()

    def say(self, *lines: str, level: int = 0) -> None:
        """Tell the person something on stderr, when the verbosity allows it; data never break a line."""
        if self.verbosity >= level:
            for line in lines:
                self._tell(line)

    def warn(self, message: str) -> None:
        """Warn on stderr, and in the JSON."""
        self.warnings.append(message)
        if self.verbosity >= 0:
            self.head("warning:", "yellow", message)

    def head(self, word: str, color: str, message: str) -> None:
        """Tell a message on stderr behind a word in colour; its further lines stand under its first."""
        first, *rest = fitted(f"{word} {message}", width_of(sys.stderr), hang=len(word) + 1)
        self.err("\n".join([self.paint(word, color) + first.removeprefix(word), *rest]))

    def _tell(self, line: str) -> None:
        self.err("\n".join(fitted(line, width_of(sys.stderr))))

    def paint(self, text: str, color: str) -> str:
        """Return text in a colour where colour is wanted."""
        return click.style(text, fg=color, bold=True) if self.colored else text

    def out(self, *lines: str) -> None:
        """Print a result on stdout, except when JSON, a summary, or nothing is asked for."""
        if self.summary:
            self.say(*lines)
        elif not self.json and self.verbosity > -2:
            self.rest()
            for line in lines:
                for part in fitted(line, width_of(sys.stdout)):
                    put(part)

    def document(self, text: str) -> None:
        """Print a whole document on stdout: the result that was asked for."""
        self.rest()
        put_document(text)

    def summarise(self, made: Concluded) -> None:
        """Print the summary of a result on stdout, where one is asked for."""
        if not self.summary:
            return
        from evalreport.report.summary import FORMS, summary_of

        self.document(FORMS[self.summary](summary_of(made)) + "\n")

    def emit(self, *, runs: Sequence[Any], ok: bool = True, **parts: Any) -> None:
        """Print the JSON object of a command, when it is asked for."""
        if not self.json:
            return
        body = {"schema": SCHEMA, "ok": ok, "command": self.command, "runs": list(runs), **parts}
        self.line({**body, "warnings": self.warnings})

    def line(self, body: Any) -> None:
        """Print an object as one line of JSON on stdout."""
        from evalreport.codec import dumps

        self.document(dumps(body) + "\n")

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Show what the house says it reads and writes while inside: with -v, and with -vv its timings."""
        logger = logging.getLogger("evalreport")
        before = logger.level, logger.propagate
        handler = _LogLines(self)
        if self.verbosity > 0:
            logger.addHandler(handler)
            logger.setLevel(logging.DEBUG if self.verbosity > 1 else logging.INFO)
            logger.propagate = False
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.level, logger.propagate = before


class _LogLines(logging.Handler):
    """Log lines as a person reads them."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console

    def emit(self, record: logging.LogRecord) -> None:
        console = self.console
        time = f"[{console.elapsed:6.2f} s] " if console.verbosity > 1 else ""
        console.say(time + redact(record.getMessage()))


def _variable(name: str) -> int:
    value = os.environ.get(f"EVALREPORT_{name}", "").lower()
    if value.isdecimal():
        return int(value) if len(value) < 10 else 0  # the option itself refuses such a number
    return int(value in ("true", "yes", "on", "t", "y"))


def _color(flags: Sequence[str]) -> str:
    words = [word for flag in flags for word in flag.split("=", 1)]
    after = words[words.index("--color") + 1 :] if "--color" in words else []
    return after[0] if after and after[0] in ("always", "never") else "auto"


def error_as_json(console: Console, error: EvalreportError) -> dict[str, str]:
    """Return an error as JSON holds it, without secrets.

    Every error has all its parts: where nothing better is known, the command is the place.
    """
    command = f"evalreport {console.command}".strip()
    unsaid = {"where": command, "fix": f"{command} --help lists the options"}
    return {name: redact(text) or unsaid[name] for name, text in error.to_wire().items()}


def fail(console: Console, error: EvalreportError) -> int:
    """Print an error, as three lines or as JSON, and return its exit code."""
    parts = error_as_json(console, error)
    if console.json and not isinstance(error, StdoutError):
        try:
            console.line({"schema": SCHEMA, "ok": False, "command": console.command, "error": parts})
        except StdoutError as lost:
            show_error(console, error)
            show_error(console, lost)
    else:
        show_error(console, error)
    return error.exit_code


def show_error(console: Console, error: EvalreportError) -> None:
    """Print an error on stderr, as three lines; with -vv its traceback as well."""
    parts = error_as_json(console, error)
    if console.verbosity >= -1:
        console.head("error:", "red", parts["message"])
        console.say(f"  at   {parts['where']}", f"  fix  {parts['fix']}", level=-1)
    if console.verbosity >= 2:
        import traceback

        for line in redact("".join(traceback.format_exception(error)).rstrip()).split("\n"):
            console.err(f"  | {printable(line)}")  # no line of a message passes for one of ours


def internal(error: Exception) -> EvalreportError:
    """Return the error for what should not have happened; the cause stays with it for -vv.

    What the system refuses is no defect: a name too long, a loop of links, a full disk.

    Examples
    --------
    >>> internal(OSError(36, "File name too long", "xx")).as_lines().splitlines()[0]
    'error: xx cannot be used: file name too long'
    """
    if isinstance(error, OSError) and error.errno is not None:
        return _refused_by_system(error)
    found = EvalreportError(
        f"internal error: {type(error).__name__}: {error}",
        where="this is a defect of evalreport, not of your data",
        fix="run again with -vv for the traceback and report it with the command",
    )
    found.__cause__ = error
    return found


def _refused_by_system(error: OSError) -> EvalreportError:
    reason = os.strerror(error.errno or errno.EIO).lower()
    if error.filename is not None:
        name = error.filename if isinstance(error.filename, (str, bytes)) else str(error.filename)
        name = os.fsdecode(name)
        found: EvalreportError = UsageError(
            f"{shortened(Path(name).name)} cannot be used: {reason}",
            where=shortened(name),
            fix="check the path, its links and its permissions",
        )
    elif error.errno == errno.ENOENT:
        found = UsageError("the working directory was deleted", where="here", fix="change to one that exists")
    else:
        found = StdoutError(f"the result cannot be written: {reason}", where="stdout", fix=TO_FILE)
        forget(1)
    found.__cause__ = error
    return found
