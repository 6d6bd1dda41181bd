"""`evalreport init`: the settings for a file or a run, from its columns."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalreport.cli.console import Console
from evalreport.cli.options import FILE, HelpSection, SectionCommand, global_options
from evalreport.cli.requests import request_of, selection_of, tracking_uri
from evalreport.core.errors import EvalreportError, UsageError
from evalreport.core.text import printable

if TYPE_CHECKING:
    from evalreport.core.result import ColumnDecision
    from evalreport.workflow.collect import Collected

KEYS: Mapping[str, str] = {
    "truth": "truth",
    "prediction": "pred",
    "score": "score",
    "scores": "scores",
    "score kind": "score_kind",
    "text": "response",
    "id": "id",
    "weight": "weight",
    "fold": "fold",
    "positive": "positive",
}
"""Parts of the columns that commands report as used, and the settings that name them."""
ROLES = {"truth": "label", "pred": "prediction", "score": "scores"}
"""Settings and the roles of their columns in the reasons."""
_init = HelpSection("Output")


@click.command(
    "init", cls=SectionCommand, shown="run-id truth pred score positive output", takes_settings=False
)
@click.argument("file", required=False, type=FILE)
@_init("--run-id", "ID", "Run whose predictions are read, instead of a FILE.", envvar=None)
@_init("--truth", "COL", "Column of true labels, where its name is unusual.", envvar=None)
@_init("--pred", "COL", "Column of predicted labels.", envvar=None)
@_init("--score", "COL", "Column of the positive class's score.", envvar=None)
@_init("--positive", "LABEL", "Positive class of a binary problem.", envvar=None)
@_init(
    "-o --output place",
    "TOML",
    "Settings file; - for stdout.",
    type=FILE,
    default="evalreport.toml",
    envvar=None,
)
@click.pass_context
def command(
    ctx: click.Context, /, file: str | None, run_id: str | None, place: str, **columns: str | None
) -> int:
    """Write settings from the columns of a file or run, so that later commands need no options."""
    console = ctx.ensure_object(Console)
    if (file is None) == (run_id is None):
        raise UsageError("init reads one file or one run", fix="pass FILE, or --run-id ID")
    from evalreport.core.json_codec import encode

    words = [file] if file is not None else ["--run-id", str(run_id)]
    words += [word for name, value in columns.items() if value is not None for word in (f"--{name}", value)]
    settings, decision = find_settings(words, tracking_uri(ctx))
    lines = ["[tool.evalreport]", *_setting_lines(settings, decision)]
    if place == "-":
        console.print_result(*lines)
    else:
        add_settings(Path(place), lines)
        console.print_result(*(f"  {line}" for line in lines), place)
    console.emit(
        runs=[], settings=settings, column_decision=encode(decision), files=[] if place == "-" else [place]
    )
    return 0


def _setting_lines(settings: Mapping[str, str], decision: ColumnDecision | None) -> Iterator[str]:
    """Yield the settings as TOML, each column below a comment that says why it has its role."""
    left = [] if decision is None else [*decision.lines]
    why = {} if decision is None else decision.lines_by_column()
    for key, value in settings.items():
        line = why.get((ROLES.get(key, key), value))
        if line is not None:
            left.remove(line)
            yield f"# {printable(line)}"
        yield f"{key} = {json.dumps(value)}"
    yield from (f"# {printable(line)}" for line in left)


def find_settings(words: list[str], uri: str | None) -> tuple[dict[str, str], ColumnDecision | None]:
    """Return the settings that select the columns which `report` uses without options, and why it uses them.

    Parameters
    ----------
    words : list of str
        The file, or ``--run-id`` and the id.
    uri : str or None
        Tracking server.

    Raises
    ------
    EvalreportError
        The predictions cannot be read without options.
    """
    collected = _collect(words, uri)
    used = dict(collected.taken)
    settings: dict[str, str] = {}
    for part, value in collected.taken:
        key = KEYS.get(part)
        if key is None or (key, value) == ("score_kind", "probability"):
            continue
        tried = {**settings, key: value}
        try:
            same = dict(_collect([*words, *_assignments(tried)], uri).taken) == used
        except EvalreportError:  # a list of columns, for example, is not one name
            continue
        settings = tried if same else settings
    return settings, collected.provenance.column_decision


def _assignments(settings: Mapping[str, str]) -> list[str]:
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def _collect(words: list[str], uri: str | None) -> Collected:
    """Return the predictions that `report` reads with some options."""
    from evalreport.cli.report import command as report
    from evalreport.workflow.items import items_of

    with report.make_context("report", list(words), obj=Console(verbosity=-2)) as ctx:
        options = ctx.params
        selection = None
        if options["run_ids"]:
            selection = selection_of(options)
        (item,) = items_of(options["files"], selection, uri)
        return item.collect(request_of(options, ""))


def add_settings(place: Path, lines: list[str]) -> None:
    """Append a table of settings to a TOML file, which is made where there is none.

    Raises
    ------
    UsageError
        The file is not TOML, or has settings of evalreport already.
    """
    from evalreport.tracking.folder import write_file

    before = place.read_text(encoding="utf-8") if os.path.isfile(place) else ""
    try:
        known = tomllib.loads(before)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"{place.name} is not valid TOML: {error}",
            where=str(place),
            fix="fix the file, or print with -o -",
        ) from error
    taken = known and (place.name != "pyproject.toml" or "evalreport" in known.get("tool", {}))
    if taken:
        raise UsageError(
            f"{place.name} already has settings",
            where=str(place),
            fix="edit it, or print the settings with -o -",
        )
    text = "\n".join([*([before.rstrip("\n"), ""] if before else []), *lines, ""])
    write_file(place, text.encode())


global_options(command)
