"""A command, and an option of `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console


@click.command("rows", cls=opt.SectionCommand)
@click.argument("file", type=opt.FILE)
@click.pass_context
def command(ctx: click.Context, /, file: str) -> int:
    """Count the rows of a file."""
    from evalreport.readers.formats import read_table

    console = ctx.ensure_object(Console)
    n = read_table(Path(file)).n
    console.print_result(f"{n} rows")
    console.emit(runs=[], rows=n)
    return 0


opt.global_options(command)


def _shout(console: Console, files: tuple[str, ...], options: dict[str, Any], *_: object) -> int | None:
    if not options["shout"]:
        return None
    console.print_result(" ".join(files).upper())
    return 0


SHOUT = opt.AddedOptions(
    opt.report("--shout", opt.FLAG, "Print the files in capital letters."), instead=_shout
)
