"""stdout is the result, stderr the conversation."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from evalreport.errors import EvalreportError
from evalreport.text import printable

SCHEMA = 1
"""Version of the object that `--json` prints."""


@dataclass
class Console:
    """What a command prints with: verbosity, colour, JSON or text.

    Parameters
    ----------
    json : bool
        Print one JSON object on stdout instead of text.
    verbosity : int
        -2 nothing, -1 errors only, 0 normal, 1 what is read and written, 2 timings and tracebacks.
    color : {"auto", "always", "never"}
    """

    json: bool = False
    verbosity: int = 0
    color: str = "auto"
    command: str = ""
    warnings: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def of_arguments(cls, arguments: Sequence[str]) -> Console:
        """Read what an error needs before the arguments are parsed: it must be JSON, too, if asked for."""
        flags = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
        quiet = sum(flag.count("q") for flag in flags if flag in ("-q", "-qq")) + flags.count("--quiet")
        loud = sum(flag.count("v") for flag in flags if flag in ("-v", "-vv")) + flags.count("--verbose")
        command = next((flag for flag in flags if not flag.startswith("-")), "")
        return cls(json="--json" in flags or "--jsonl" in flags, verbosity=loud - quiet, command=command)

    @property
    def colored(self) -> bool:
        """Whether stderr takes colour: a terminal that is not dumb, or as the environment says."""
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("FORCE_COLOR"):
            return True
        return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def say(self, message: str, *, level: int = 0) -> None:
        """Tell the person something on stderr, when the verbosity allows it."""
        if self.verbosity >= level:
            if level >= 2:
                message = f"[{time.monotonic() - self.started:.2f} s] {message}"
            click.echo(_lines(message), err=True)

    def warn(self, message: str) -> None:
        """Warn on stderr, and in the JSON."""
        self.warnings.append(message)
        self.say(f"{self.paint('warning:', 'yellow')} {message}")

    def paint(self, text: str, color: str) -> str:
        """Return text in a colour where colour is wanted."""
        return click.style(text, fg=color, bold=True) if self.colored else text

    def out(self, text: str) -> None:
        """Print a result on stdout, except when JSON is asked for."""
        if not self.json:
            click.echo(_lines(text))

    def emit(self, *, runs: Sequence[Any], ok: bool = True, **parts: Any) -> None:
        """Print the JSON object of a command, when it is asked for."""
        if not self.json:
            return
        body = {"schema": SCHEMA, "ok": ok, "command": self.command, "runs": list(runs), **parts}
        body["warnings"] = self.warnings
        click.echo(json.dumps(body, ensure_ascii=False, allow_nan=False, default=float))


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def fail(console: Console, error: EvalreportError) -> int:
    """Print an error, as three lines or as JSON, and return its exit code."""
    if console.json:
        body = {"schema": SCHEMA, "ok": False, "command": console.command, "error": error.as_dict()}
        click.echo(json.dumps(body, ensure_ascii=False))
    if console.verbosity >= -1 and not console.json:
        lines = _lines(error.as_lines())
        click.echo(lines.replace("error:", console.paint("error:", "red"), 1), err=True)
    if console.verbosity >= 2:
        import traceback

        traceback.print_exception(error)
    return error.exit_code
