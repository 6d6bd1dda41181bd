"""`evalreport compare --by` and `--system`: systems of several runs each against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalreport.cli.console import Console
from evalreport.cli.inputs import selection_of
from evalreport.cli.show import as_run, print_delivered
from evalreport.cli.show_systems import print_systems
from evalreport.errors import UsageError
from evalreport.workflow.request import STDOUT, Destination, Request
from evalreport.workflow.runs import folds_of, items_of
from evalreport.workflow.systems import (
    GroupedItems,
    compared_systems,
    deliver_systems,
    grouped,
    named_systems,
    systems_record,
)

OF_RUNS = ("cost", "baseline", "all_pairs", "unpaired", "detect", "require")
"""Options that are of single runs against each other."""


def show_systems(
    console: Console,
    files: Sequence[str],
    options: dict[str, Any],
    request: Request,
    where: Destination,
    uri: str | None,
) -> int:
    """Compare systems, print them, deliver the page, and return the exit code."""
    done = compared_systems(_groups(files, options, uri), request, options["sort_by"])
    to_stdout = options["output"] == STDOUT
    try:
        made = deliver_systems(done, request, where, log_to=options["log_to"], tracking_uri=uri)
    finally:
        print_systems(console, done.comparison, console.say if to_stdout else console.out)
    print_delivered(console, made, options)
    console.emit(
        runs=[as_run(ev) for ev in done.evaluations],
        comparison=systems_record(done),
        files=made.files,
        logged=made.logged_json,
    )
    return 0


def _groups(files: Sequence[str], options: dict[str, Any], uri: str | None) -> GroupedItems:
    given = [name for name in OF_RUNS if options.get(name)]
    if given:
        raise UsageError(
            f"--{given[0].replace('_', '-')} is of single runs",
            where="--system" if options["systems"] else "--by",
            fix="leave one of them out: systems are compared all with all, on the rows that they share",
        )
    selection = selection_of(options)
    if options["systems"] and (files or selection or options["by"]):
        raise UsageError(
            "--system names its runs itself",
            where="--system",
            fix="leave FILE, --by and the selection of runs out",
        )
    if options["systems"]:
        return named_systems(options["systems"], uri, children=options["children"])
    keys = tuple(
        dict.fromkeys(key.strip() for word in options["by"] for key in word.split(",") if key.strip())
    )
    items = folds_of(items_of(files, selection, uri), files=False, children=options["children"])
    return grouped(items, keys)
