"""`evalreport demo`: a report, a comparison and a threshold page from data that the package contains."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from evalreport.cli.console import Console
from evalreport.cli.options import FLAG, FOLDER, HelpSection, SectionCommand, global_options
from evalreport.cli.print_evaluation import open_page
from evalreport.core.errors import UsageError

DATA = Path(__file__).parent / "demo_data"
FILES = ("spam-old.csv", "spam-new.csv")
COMMANDS = (
    "report {folder}/spam-new.csv --positive spam -o {folder}/report.html",
    "compare {folder}/spam-old.csv {folder}/spam-new.csv --positive spam --id id -o {folder}/compare.html",
    'sweep thresholds {folder}/spam-new.csv --positive spam --objective f1 --objective "recall >= 0.95" '
    "-o {folder}/thresholds.html",
)
_demo = HelpSection("Output")


@click.command("demo", cls=SectionCommand, shown="output open")
@_demo("-o --output folder", FOLDER, "Folder for data and pages.", default="evalreport-demo", envvar=None)
@_demo("--open", FLAG, "Open the report in the browser.", envvar=None)
@click.pass_context
def command(ctx: click.Context, folder: str, open: bool) -> int:
    """Write a report, a comparison and a threshold page from example data; no server is needed."""
    from evalreport.cli import group
    from evalreport.tracking.folder import write_files

    console = ctx.ensure_object(Console)
    place = Path(folder)
    data = {place / name: (DATA / name).read_bytes() for name in FILES}
    for path, content in data.items():
        if os.path.exists(path) and (os.path.isdir(path) or path.read_bytes() != content):
            raise UsageError(
                f"{path.name} is in the folder and is not from the demo",
                where=str(path),
                fix="name a new folder with -o FOLDER",
            )
    write_files(data)
    pages = []
    ctx.meta["evalreport.said"] = {}  # --json and -v are about this command
    for line in COMMANDS:
        typed = line.format(folder=shlex.quote(place.as_posix()))
        words = shlex.split(typed)
        # a context below ours: settings of this folder are about other data
        quiet = Console(verbosity=-2, color=console.color, command=words[0])
        group.main(words, prog_name="evalreport", standalone_mode=False, obj=quiet, parent=ctx)
        pages.append(words[-1])
        console.print_result(f"$ evalreport {typed}", f"  {words[-1]}")
    console.print_result(
        "",
        "Next, try your own predictions (a CSV or Parquet file with a label column and a score column):",
        "  evalreport report predictions.csv",
        "or an MLflow run with logged predictions:",
        "  evalreport log --run-id ID",
    )
    console.emit(runs=[], files=[*map(str, data), *pages])
    if open:
        open_page(console, pages)
    return 0


global_options(command)
