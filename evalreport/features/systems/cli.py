"""`evalreport compare --by` and `--system`: systems of several runs each, against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evalreport.cli import options as opt
from evalreport.cli.console import Console, align_columns, indent_lines
from evalreport.cli.print_evaluation import as_run, print_delivered
from evalreport.cli.requests import selection_of
from evalreport.core.errors import UsageError
from evalreport.core.format import percent
from evalreport.core.result import interval, shown_value
from evalreport.features.systems.compare import (
    GroupedItems,
    compared_systems,
    group_items,
    named_systems,
)
from evalreport.features.systems.page import (
    headline,
    main_metric,
    pair_columns,
    points,
    result_of,
    summary,
)
from evalreport.page.comparison.table import head_texts, row_texts
from evalreport.workflow.compare import deliver_comparison
from evalreport.workflow.deliver import Deliverable
from evalreport.workflow.items import folds_of, items_of
from evalreport.workflow.request import STDOUT, Destination, Request

if TYPE_CHECKING:
    from evalreport.features.systems.variance import SystemResult, SystemsComparison


def print_systems(console: Console, found: SystemsComparison, line: Callable[[str], None]) -> None:
    """Print a comparison of systems: notes on stderr, figures and verdicts by `line`."""
    for note in found.notes:
        console.warn(note)
    line(headline(found).text)
    for sentence in filter(None, (summary(found).text,)):
        line(sentence)
    heads = ["", "runs", main_metric(found).title.lower(), f"{found.level * 100:.10g}%", "best run +"]
    heads += ["rows", "seeds", "both", "answers change"]
    table = [heads, *(_system(found, one) for one in found.systems)]
    for text in ("", *_indent_rows(table), "", *_pairs(found)):
        line(text)


def _system(found: SystemsComparison, one: SystemResult) -> list[str]:
    value, result = one.metrics[found.primary], result_of(one, found)
    style, shares = main_metric(found).style, value.variance
    flattery = value.best_run_flatters
    return [
        one.system,
        str(len(one.runs)),
        shown_value(result, style),
        interval(result, style),
        "–" if flattery is None else points(flattery, value.low, value.high, style).text,
        *(["–"] * 3 if shares is None else map(percent, (shares.rows, shares.seeds, shares.both))),
        "–" if one.churn is None else percent(one.churn.any, found.rows),
    ]


def _pairs(found: SystemsComparison) -> Iterator[str]:
    columns = pair_columns()
    rows = [["", *head_texts(columns, {"level": f"{found.level * 100:.10g}%"}, short=True)]]
    rows += [
        [f"{d.run} − {d.baseline}", *row_texts(columns, d).values()]
        for d in found.differences_for(found.primary)
    ]
    yield from _indent_rows(rows)


def _indent_rows(rows: list[list[str]]) -> list[str]:
    return indent_lines(align_columns(rows, {0, len(rows[0]) - 1} if len(rows[0]) == 5 else {0}))


OF_RUNS = ("cost", "baseline", "all_pairs", "unpaired", "min_difference", "equivalent", "require")
"""Options that apply to single runs only."""


def _show_systems(
    console: Console,
    files: Sequence[str],
    options: dict[str, Any],
    request: Request,
    where: Destination,
    uri: str | None,
) -> int | None:
    """Compare systems, print them, deliver the page, and return the exit code; None without systems."""
    if not (options["by"] or options["systems"]):
        return None
    done = compared_systems(_groups(files, options, uri), request, options["sort_by"])
    to_stdout = options["output"] == STDOUT
    try:
        document = Deliverable(done.comparison, request.title, request.notes)
        to = options["log_to"]
        made = deliver_comparison(document, done.items, request, where, log_to=to, tracking_uri=uri)
    finally:
        print_systems(console, done.comparison, console.say if to_stdout else console.print_result)
    print_delivered(console, made, options)
    console.emit(
        runs=[as_run(ev) for ev in done.evaluations],
        comparison=document.result_presentation.content(),
        files=made.files,
        logged=made.logged_json,
    )
    return 0


def _groups(files: Sequence[str], options: dict[str, Any], uri: str | None) -> GroupedItems:
    given = [name for name in OF_RUNS if options.get(name)]
    if given:
        raise UsageError(
            f"--{given[0].replace('_', '-')} applies to single runs only",
            where="--system" if options["systems"] else "--by",
            fix="remove one of them: all pairs of systems are compared, on their common rows",
        )
    selection = selection_of(options)
    if options["systems"] and (files or selection or options["by"]):
        raise UsageError(
            "--system already names its runs",
            where="--system",
            fix="remove FILE, --by and the selection of runs",
        )
    if options["systems"]:
        return named_systems(options["systems"], uri, children=options["children"])
    keys = tuple(
        dict.fromkeys(key.strip() for word in options["by"] for key in word.split(",") if key.strip())
    )
    items = folds_of(items_of(files, selection, uri), files=False, children=options["children"])
    return group_items(items, keys)


_compare = opt.HelpSection("Compare")
compare_options = opt.AddedOptions(
    opt.combine_options(
        _compare(
            "--by",
            "KEY",
            "Group runs by a param or tag; each group is one system trained with several seeds.",
            multiple=True,
        ),
        _compare(
            "--system systems",
            "NAME=RUN,FILE,…",
            "One system trained with several seeds; repeat.",
            multiple=True,
            envvar=None,
        ),
    ),
    instead=_show_systems,
)
