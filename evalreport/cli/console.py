"""The terminal: results on stdout, messages and progress on stderr, errors in three lines."""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from threading import Event, RLock, Thread
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Self, TextIO
from unicodedata import combining, east_asian_width

import click
from click.core import ParameterSource

from evalreport.cli.stdio import NARROWEST, TO_FILE, StdoutError, forget, put_document, width_of, write_line
from evalreport.core.errors import EvalreportError, NoPredictionsError, UsageError, nearest, truncate_middle
from evalreport.core.extensions import extensions
from evalreport.core.progress import on_progress
from evalreport.core.text import printable, redact

ROOM = 24
"""Columns in which a text is still folded next to the text before it: three or four words of English."""
_FILL = "\0"
"""Second half of a wide character while lines are broken; `printable` leaves none in a text."""
_GLUE = "\1"
"""A space at which no line is broken, that between a sign and its number."""


class Piece(NamedTuple):
    """A cell of a table, or the text between two gaps of a line."""

    text: str
    wide: int
    gap: int = 2
    left: bool = True


class StyledLine(str):
    """A line that is bold, or has words in colour, on a terminal that shows them."""

    bold: bool = False
    colors: Mapping[str, str] = MappingProxyType({})


def emphasised(text: str) -> StyledLine:
    """Return a text that a terminal prints in bold."""
    line = StyledLine(text)
    line.bold = True
    return line


def with_colors(line: str, colors: Mapping[str, str]) -> str:
    """Return a line of which a terminal prints some words in colour."""
    styled = line if isinstance(line, StyledLine) else StyledLine(line)
    styled.colors = colors
    return styled


class TableLine(StyledLine):
    """A line of a table with its cells; if it is not printed on a terminal, it is its text."""

    indent: int = 0
    whole: int = 0
    """Columns that the table takes, unfolded and without its indent."""
    pieces: tuple[Piece, ...] = ()
    narrow: tuple[Piece, ...] = ()
    """The same cells, with the head folded to the width of its column."""


def align_columns(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Return rows as lines in columns: words to the left, figures to the right.

    Parameters
    ----------
    rows : sequence of rows of equal length
        The first is the head.
    left : collection of int
        Columns of words.

    Examples
    --------
    >>> align_columns([("for", "threshold"), ("f1", "0.5")])
    ['for  threshold', 'f1         0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    shown = [[printable(cell) for cell in row] for row in rows]
    wide = [max(map(display_width, column)) for column in zip(*shown, strict=True)]
    whole = sum(wide) + 2 * (len(wide) - 1)
    narrow = [
        max(_longest_word(head), *map(display_width, body), 0) for head, *body in zip(*shown, strict=True)
    ]
    lines: list[str] = []
    for row, cells in zip(rows, shown, strict=True):
        padded = (
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        line = TableLine("  ".join(padded).rstrip())
        line.whole, line.pieces, line.narrow = whole, _row(cells, wide, left), _row(cells, narrow, left)
        lines.append(line)
    return lines


def _row(cells: Sequence[str], widths: Sequence[int], left: Collection[int]) -> tuple[Piece, ...]:
    """The cells, padded to the width of their column, except a last one of text."""
    own = len(cells) - 1 if len(cells) - 1 in left else len(cells)
    return tuple(
        Piece(cell, display_width(cell) if place == own else widths[place], 2, place in left)
        for place, cell in enumerate(cells)
    )


def indent_lines(lines: Iterable[str]) -> list[str]:
    """Return lines two columns further in."""
    return [_indent_line(line) for line in lines]


def _indent_line(line: str) -> str:
    if not isinstance(line, TableLine):
        return "  " + line
    moved = TableLine("  " + line)
    vars(moved).update(vars(line), indent=line.indent + 2)
    return moved


def display_width(text: str) -> int:
    """Return how many columns a text takes on a terminal: East Asian wide characters take two.

    Examples
    --------
    >>> display_width("模型 a"), display_width("naïve")
    (6, 5)
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(char: str) -> int:
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1


def wrap_line(line: str, width: int | None, hang: int = 2) -> list[str]:
    """Return a line as a terminal holds it: whole columns, then whole words, go to lines of their own.

    Parameters
    ----------
    line : str
        Control characters are written as escapes.
    width : int or None
        Columns of the terminal; None where there is none: the line stays as it is.
    hang : int, default 2
        Columns that the lines after the first stand further in.

    Examples
    --------
    >>> print(*wrap_line("  needs  a score of every row of the table", 32), sep="\\n")
      needs  a score of every row of
             the table
    """
    text = printable(line)
    if width is None:
        return [text]
    if isinstance(line, TableLine):
        indent = line.indent
        pieces = line.pieces if indent + line.whole <= width else line.narrow
    elif display_width(text) <= width:
        return [text]
    else:
        indent, pieces = len(text) - len(text.lstrip(" ")), _pieces(text)
    lines = [one for group in _groups(pieces, indent, width, hang) for one in group]
    return lines or [""]


def _pieces(text: str) -> tuple[Piece, ...]:
    """The texts between gaps of two or more spaces."""
    found: list[Piece] = []
    gap = 0
    for part in text.strip(" ").split("  "):
        if part:
            stripped = part.lstrip(" ")
            found.append(Piece(stripped, display_width(stripped), gap + len(part) - len(stripped)))
            gap = 0
        gap += 2
    return tuple(found)


def _groups(pieces: Iterable[Piece], indent: int, width: int, hang: int) -> Iterator[list[str]]:
    """Lines of the pieces that stand beside each other; what does not fit starts a new line, indented."""
    group: list[tuple[int, bool, list[str]]] = []
    at, further = indent, hang
    for piece in pieces:
        start = at + piece.gap if group else at
        apart = start > width - ROOM or not piece.left or start + _longest_word(piece.text) > width
        if group and start + piece.wide > width and apart:
            yield list(_join_cells(group))
            group, start, further = [], indent + hang, 0
        room = max(min(piece.wide, width - start), 1)
        folded = _wrap_text(piece.text, room, 0 if group else further)
        group.append((start if piece.left else start + room, piece.left, folded))
        at = start + room
    yield list(_join_cells(group))


def _longest_word(text: str) -> int:
    return max(map(display_width, text.split(" ")))


def _wrap_text(text: str, room: int, hang: int) -> list[str]:
    if display_width(text) <= room:
        return [text]
    doubled = "".join(char + _FILL if _width(char) == 2 else char for char in text.replace("± ", "±" + _GLUE))
    lines = textwrap.wrap(
        doubled, room, subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(_FILL, "").replace(_GLUE, " ") for line in lines]


def _join_cells(group: Iterable[tuple[int, bool, list[str]]]) -> Iterator[str]:
    """Lines of cells beside each other, each from where it starts or up to where it ends."""
    for parts in zip_longest(*(cell for _, _, cell in group), fillvalue=""):
        line = ""
        for (place, left, _), part in zip(group, parts, strict=True):
            line += " " * (place - display_width(line) - (0 if left else display_width(part))) + part
        if line.strip():
            yield line.rstrip()


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
    markdown : str
        File of the summary in Markdown, or ``-``: then stdout has the summary, and stderr all other text.
    replaces_page : bool
        Whether the summary is written in place of the page.
    verbosity : int
        -2 nothing, -1 errors only, 0 normal, 1 files that are read and written, 2 timings and tracebacks.
    color : {"auto", "always", "never"}
    """

    json: bool = False
    markdown: str = ""
    replaces_page: bool = False
    summaries: list[str] = field(default_factory=list)
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
    def elapsed_seconds(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self.started

    @property
    def terminal(self) -> bool:
        """Whether stderr is a terminal that can take back what it shows."""
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def uses_color(self) -> bool:
        """Whether stderr takes colour."""
        return self.shows_colors(sys.stderr)

    def shows_colors(self, stream: TextIO) -> bool:
        """Return whether a stream takes colour: a terminal that is not dumb, or as the environment says."""
        if self.color != "auto":
            return self.color == "always"
        terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        return bool(os.environ.get("FORCE_COLOR")) or (terminal and not os.environ.get("NO_COLOR"))

    def err(self, text: str) -> None:
        """Write to stderr, in place of the line of progress if there is one."""
        with self.lock:
            self.clear()
            try:
                click.echo(text, err=True, color=self.uses_color)
            except BrokenPipeError:
                raise
            except OSError:  # there is no stream for the message
                forget(2)

    def show_progress(self, what: str, done: int, of: int) -> None:
        """Take note of what is done now, for the line of progress, and of when it began."""
        if self.stage is None or self.stage[0] != what or done < self.stage[1]:
            self.stage_from = self.elapsed_seconds, done
        self.stage = (what, done, of)

    def clear(self) -> None:
        """Take the line of progress away."""
        with self.lock:
            if self.drawn:
                click.echo(CLEAR, nl=False, err=True, color=True)
                self.drawn = False

    def rest(self) -> None:
        """Remove the progress line until the next step."""
        with self.lock:
            self.doing = self.stage = None
            self.clear()

    def say(self, *lines: str, level: int = 0) -> None:
        """Print lines on stderr if the verbosity allows it; data never break a line."""
        if self.verbosity >= level:
            for line in lines:
                self._tell(line)

    def warn(self, message: str) -> None:
        """Warn on stderr, and in the JSON."""
        self.warnings.append(message)
        if self.verbosity >= 0:
            self.head("warning:", "yellow", message)

    def head(self, word: str, color: str, message: str) -> None:
        """Print a message on stderr after a coloured word; further lines are aligned with the first."""
        first, *rest = wrap_line(f"{word} {message}", width_of(sys.stderr), hang=len(word) + 1)
        self.err("\n".join([self.paint(word, color) + first.removeprefix(word), *rest]))

    def _tell(self, line: str) -> None:
        parts = wrap_line(line, width_of(sys.stderr))
        self.err("\n".join(self.styled(line, part, colored=self.uses_color) for part in parts))

    def styled(self, line: str, part: str, *, colored: bool) -> str:
        """Return a part of a line with the style of the line, where the stream shows styles."""
        if not colored or not isinstance(line, StyledLine):
            return part
        if line.bold:
            return click.style(part, bold=True)
        for word, color in line.colors.items():
            part = re.sub(rf"\b{re.escape(word)}\b", click.style(word, fg=color), part)
        return part

    def paint(self, text: str, color: str) -> str:
        """Return text in a colour where colour is wanted."""
        return click.style(text, fg=color, bold=True) if self.uses_color else text

    def print_result(self, *lines: str) -> None:
        """Print a result on stdout, except when JSON, a summary, or nothing is asked for."""
        if self.markdown == "-":
            self.say(*lines)
        elif not self.json and self.verbosity > -2:
            self.rest()
            for line in lines:
                for part in wrap_line(line, width_of(sys.stdout)):
                    write_line(self.styled(line, part, colored=self.shows_colors(sys.stdout)))

    def document(self, text: str) -> None:
        """Print a whole document on stdout: the result that was asked for."""
        self.rest()
        put_document(text)

    def summarise(self, made: Any) -> None:
        """Write the Markdown summary of a result, where one is wanted; several follow one another."""
        if not self.markdown:
            return
        from evalreport.page.payload import present
        from evalreport.page.text_summary import markdown

        text = markdown(present(made).summary()) + "\n"
        if self.markdown == "-":
            self.document(text)
            return
        from evalreport.tracking.folder import write_file

        self.summaries.append(text)
        write_file(Path(self.markdown), "\n".join(self.summaries).encode())
        if len(self.summaries) == 1:
            self.print_result(self.markdown)

    def emit(self, *, runs: Sequence[Any], ok: bool = True, **parts: Any) -> None:
        """Print the JSON object of a command, when it is asked for."""
        if not self.json:
            return
        body = {"schema": SCHEMA, "ok": ok, "command": self.command, "runs": list(runs), **parts}
        self.line({**body, "warnings": self.warnings})

    def line(self, body: Any) -> None:
        """Print an object as one line of JSON on stdout."""
        from evalreport.core.json_codec import dumps

        self.document(dumps(body) + "\n")

    @contextmanager
    def show_logs(self) -> Iterator[None]:
        """Show what the package reports that it reads and writes: with -v, and with -vv its timings."""
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
        time = f"[{console.elapsed_seconds:6.2f} s] " if console.verbosity > 1 else ""
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


def warn_of_skipped(console: Console, failed: Mapping[str, EvalreportError]) -> None:
    """Warn about runs that were skipped: those without predictions in one line, any other in its own."""
    without = [name for name, error in failed.items() if isinstance(error, NoPredictionsError)]
    if len(without) == 1:
        without = []
    for name, error in failed.items():
        if name not in without:
            console.warn(f"{name} is skipped: {error.message}")
    if without:
        console.warn(
            f"{len(without)} runs skipped: no predictions; `evalreport report --run-id ID` shows how to add "
            f"them, first: {without[0]}"
        )


def show_error(console: Console, error: EvalreportError) -> None:
    """Print an error on stderr, as three lines; with -vv its traceback as well."""
    parts = error_as_json(console, error)
    if console.verbosity >= -1:
        console.head("error:", "red", parts["message"])
        console.say(f"  at   {parts['where']}", f"  fix  {parts['fix']}", level=-1)
    if console.verbosity >= 2:
        import traceback

        for line in redact("".join(traceback.format_exception(error)).rstrip()).split("\n"):
            console.err(f"  | {printable(line)}")  # a line of a message cannot look like a line of evalreport


def internal(error: Exception) -> EvalreportError:
    """Return the error for what should not have happened; the cause stays with it for -vv.

    A refusal of the system is not a defect: a name too long, a loop of links, a full disk.

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
            f"{truncate_middle(Path(name).name)} cannot be used: {reason}",
            where=truncate_middle(name),
            fix="check the path, its links and its permissions",
        )
    elif error.errno == errno.ENOENT:
        found = UsageError("the working directory was deleted", where="here", fix="change to one that exists")
    else:
        found = StdoutError(f"the result cannot be written: {reason}", where="stdout", fix=TO_FILE)
        forget(1)
    found.__cause__ = error
    return found


_NUMBERS = {"a valid float range": "a number", "a valid integer range": "a whole number"}
"""Words of click that name its types, and what they mean."""


def usage(error: click.ClickException, command: str) -> UsageError:
    """Return the error for what click did not understand.

    The place is the command, or the variable or file that a wrong value comes from.

    Examples
    --------
    >>> found = usage(click.UsageError("Got unexpected extra argument (b)."), "report")
    >>> found.message, found.fix
    ('got unexpected extra argument (b)', 'evalreport report --help lists the options')
    """
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else f"evalreport {command}".strip()
    fix = f"{path} --help lists the options"
    message = error.format_message().rstrip(".")
    for theirs, ours in _NUMBERS.items():
        message = message.replace(theirs, ours)
    match error:
        case click.NoSuchOption():
            for one in extensions("options"):
                if error.option_name in one.name.split() and not one.is_installed:
                    return one.missing(error.option_name)
            message = f"no such option: {error.option_name}"
            fix = (_suggest_option(error.option_name, ctx) if ctx else "") or fix
        case click.UsageError() if "unexpected extra argument" in message and command in ("log", "verify"):
            file = message.partition("(")[2].rstrip(")")
            fix = f"name a run with --run-id ID; `evalreport report {file}` reads a file"
        case click.BadParameter(param=click.Option() as param) if ctx is not None and param.name:
            fix = f"{_typed_form(param)}: {param.help or ''}".rstrip(".")
            path = _origin(ctx, param) or path
    message = truncate_middle(message, 400)
    return UsageError(message[:1].lower() + message[1:], where=path, fix=fix)


def _suggest_option(name: str, ctx: click.Context) -> str:
    """Return which option or setting was meant, or a command below a group that has it; "" for none."""
    if isinstance(ctx.command, click.Group):
        commands = {word: ctx.command.get_command(ctx, word) for word in ctx.command.list_commands(ctx)}
        below = [word for word, command in commands.items() if command and name in _names(command, ctx)]
        if below:
            return "write the command before its options: " + " or ".join(
                f"{ctx.command_path} {word} {name}" for word in below
            )
    params = [param for param in ctx.command.get_params(ctx) if isinstance(param, click.Option)]
    for param in params:
        if name in param.opts:
            return f"it is a setting: write {_typed_form(param)}"
    known = {
        word: _typed_form(param).partition("=")[0] if hasattr(param, "typed") else word
        for param in params
        for word in param.opts
    }
    found = nearest(name, known)
    return (
        ""
        if found.startswith("Known")
        else " ".join(known.get(word, word) for word in re.split(r" |\?", found)).rstrip() + "?"
    )


def _names(command: click.Command, ctx: click.Context) -> list[str]:
    return [name for param in command.get_params(ctx) for name in param.opts]


def _typed_form(param: click.Option) -> str:
    """Return an option or a setting as it is typed, with its placeholder."""
    return str(getattr(param, "typed", " ".join(filter(None, (param.opts[0], param.metavar)))))


def _origin(ctx: click.Context, param: click.Option) -> str:
    """Return where the value of an option comes from, when it is not the command line."""
    source = ctx.meta.get("evalreport.sources", {}).get(param.name)
    if source is ParameterSource.ENVIRONMENT:
        return f"the environment, {param.envvar}"
    if source is ParameterSource.DEFAULT_MAP:
        settings: Any = ctx.meta.get("evalreport.settings")
        return str(settings.origin_of(param.name)) if settings is not None else ""
    return ""


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
    stage = what + (f" {done:,}" if done or of else "") + (f" of {of:,}" if of else "")
    if done <= first or done == of or seconds < BEAT:
        return stage
    pace = (done - first) / seconds
    left = f", {_clock((of - done) / pace)} left" if of > done else ""
    return f"{stage}{left}, " + (f"{pace / 1e6:.1f}M/s" if pace >= 1e6 else f"{pace:,.0f}/s")


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
