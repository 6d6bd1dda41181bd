"""`evalreport compare`: two or more runs or files, with paired intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import (
    Console,
    align_columns,
    emphasised,
    indent_lines,
    warn_of_skipped,
    with_colors,
)
from evalreport.cli.options import SectionCommand
from evalreport.cli.print_evaluation import as_run, print_delivered
from evalreport.cli.requests import command_line, destination_of, request_of, selection_of, tracking_uri
from evalreport.comparison.compare import MOST_RUNS
from evalreport.core.format import percent
from evalreport.core.result import shown_value
from evalreport.metrics.catalogue import find
from evalreport.page.comparison.table import (
    DIFFERENCE_COLUMNS,
    RANKING_COLUMNS,
    comparison_ranking,
    head_texts,
    row_texts,
)
from evalreport.page.comparison.wording import (
    baseline_counts,
    headline,
    mistake_counts,
    pairing_sentence,
    positive_label,
    shared_pairing,
)

if TYPE_CHECKING:
    from evalreport.comparison.comparison import Comparison, Difference
    from evalreport.workflow.compare import Compared, CompareRequest


WIDE = 5
"""Runs in one table, a column each."""
NAME = 18
"""Characters of a run's name in the head of its column."""
VERDICTS = {"better": "green", "worse": "red"}
"""Colours of words of a verdict on a terminal."""
MOST_PARTS = 5
"""Classes and slices that are printed for each pair."""


def print_comparison(console: Console, done: Compared, line: Callable[[str], None]) -> None:
    """Print a comparison by `line`, and its warnings on stderr.

    Of more than two runs one table is printed; with -v also every metric and every pair.
    """
    found = done.comparison
    for note in found.notes:
        console.warn(note)
    for sentence in _unpaired_lines(found):
        console.warn(sentence)
    line(emphasised(headline(found).text))
    several = len(found.names) > 2
    if several:
        _print(line, ["", *_ranking(found)])
    if len(found.names) > MOST_RUNS:
        line(shared_pairing(found).text)
        return
    if several and console.verbosity > 0:
        _print(line, ["", *_values(found)])
    if not several or console.verbosity > 0:
        every = found.baseline is None and len(found.names) > 3
        for block in _primary_only(found) if every else _pairs(found):
            _print(line, ["", *block])
        _print(line, _crossings(found))
    matched = shared_pairing(found)
    pairings = [matched] if matched else [pairing_sentence(*how, found.unit) for how in found.pairings]
    label = positive_label(found)
    positive = [f"{label[0].upper()}{label[1:]}."] if label else []
    rules = () if done.checks is None else done.checks.lines()
    _print(line, ["", *(sentence.text for sentence in pairings), *positive, *rules])


def _crossings(found: Comparison) -> list[str]:
    """The false-positive rates at which the ROC curves of two runs cross."""
    return [
        f"ROC curves of {one.run} and {one.baseline} cross at a false-positive rate of {percent(one.fpr)}: "
        f"below it {one.ahead_below} finds more on these {found.unit[1]}, above it {one.ahead_above}"
        for one in found.crossings
    ]


def _print(out: Callable[[str], None], lines: Iterable[str]) -> None:
    for line in lines:
        out(line)


def _unpaired_lines(found: Comparison) -> list[str]:
    return [
        pairing_sentence(*entry, found.unit).text for entry in found.pairings if entry[2].kind == "unpaired"
    ]


def _values(found: Comparison) -> Iterator[str]:
    """A column per run; over five runs, five at a time."""
    metrics = list(dict.fromkeys(d.metric for d in found.differences))
    for start in range(0, len(found.names), WIDE):
        part = range(start, min(start + WIDE, len(found.names)))
        head = ["", *(_shorten_name(found.names[place]) for place in part)]
        rows = [[name, *(_value(found, place, name) for place in part)] for name in metrics]
        yield from indent_lines(align_columns([head, *rows]))


def _value(found: Comparison, place: int, metric: str) -> str:
    result = found.evaluations[place].metrics.get(metric)
    return shown_value(result, find(metric).style)


def _pairs(found: Comparison) -> Iterator[list[str]]:
    tests = {(test.run, test.baseline): test for test in found.mcnemar}
    moves = {(moved.run, moved.baseline): moved for moved in found.movement}
    for run, base, how in found.pairings:
        mine = [d for d in found.differences if (d.run, d.baseline) == (run, base)]
        level = f"{found.evaluations[0].sampling.level * 100:.10g}%"
        unpaired = "" if how.kind == "paired" else " unpaired"
        known = {"baseline": _shorten_name(base), "run": _shorten_name(run), "level": f"{level}{unpaired}"}
        head = ["", *head_texts(DIFFERENCE_COLUMNS, known, short=True)]
        lines = _align_rows([head, *([d.metric, *_row(d)] for d in mine)])
        if (run, base) in moves:
            lines.append("  " + mistake_counts(moves[run, base], tests.get((run, base))).text)
        yield [*lines, *_parts(found, run, base)]


def _row(d: Difference) -> list[str]:
    return list(row_texts(DIFFERENCE_COLUMNS, d).values())


def _parts(found: Comparison, run: str, base: str) -> list[str]:
    """Classes and slices with a significant difference, the largest first."""
    mine = [d for d in found.parts if (d.run, d.baseline) == (run, base) and d.is_significant]
    if not mine:
        return []
    more = f"; {len(mine) - MOST_PARTS} more in the page and the JSON" if len(mine) > MOST_PARTS else ""
    rows = [[f"{d.scope}, {d.metric}", *_row(d)] for d in mine[:MOST_PARTS]]
    return [f"  significant differences by class or slice (Holm){more}", *_align_rows(rows)]


def _primary_only(found: Comparison) -> Iterator[list[str]]:
    rows = [[f"{d.run} against {d.baseline}", *_row(d)] for d in found.differences_for(found.primary)]
    known = {"level": f"{found.level * 100:.10g}%", "baseline": "baseline", "run": "run"}
    head = [f"{found.primary}, all pairs", *head_texts(DIFFERENCE_COLUMNS, known, short=True)]
    yield _align_rows([head, *rows])


def _ranking(found: Comparison) -> Iterator[str]:
    """The runs by the primary metric, with the possible ranks of each, and which runs tie for best."""
    known = {"level": f"{found.level * 100:.10g}%", "metric": found.primary}
    rows = [["", *head_texts(RANKING_COLUMNS, known, short=True)]]
    rows += [[row.entry.run, *row_texts(RANKING_COLUMNS, row).values()] for row in comparison_ranking(found)]
    yield from _align_rows(rows)
    if found.baseline is not None:
        yield baseline_counts(found).text


def _shorten_name(name: str) -> str:
    return name if len(name) <= NAME else name[: NAME - 1] + "…"


def _align_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns: the first to the left, figures to the right, the last as it is."""
    last = len(rows[0]) - 1
    lines = indent_lines(align_columns(rows, {0, last} if last > 2 else {0}))
    return [with_colors(line, VERDICTS) for line in lines]


_compare = opt.HelpSection("Compare")
_added = opt.added_options("compare")


@click.command(
    "compare",
    cls=SectionCommand,
    shown="run-id experiment filter latest truth pred score positive id baseline by sort-by metrics "
    "require output "
    "log-to markdown",
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=opt.FILE)
@opt.selection
@opt.children
@opt.describe
@opt.compared
@opt.prevalence
@opt.min_difference
@opt.equivalent
@_compare(
    "--baseline",
    "NAME|ID|FILE|N",
    "Run to compare against (default: the first, or the best with --sort-by).",
)
@_compare("--all-pairs", opt.FLAG, "Compare every pair of runs.")
@_compare("--unpaired", opt.FLAG, "The runs were evaluated on different rows.")
@_compare("--sort-by", "METRIC", "Rank the runs by this metric and mark ties with the best.")
@_compare(
    "--cost",
    "N",
    "Cost of a miss in false positives, or fp=1,fn=10,tp=0,tn=0: also compare at the lowest cost.",
)
@opt.combine_options(*(group.options for group in _added))
@opt.title
@opt.page_texts
@opt.no_examples
@opt.output
@opt.markdown
@opt.log_all
@opt.write("--log", opt.FLAG, "Log into the parent of the runs, or the baseline.", envvar=None)
@opt.write("--log-to", "ID", "Log page and differences into this run.", envvar=None)
@opt.force
@opt.allow_running
@opt.dry_run
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> int:
    """Compare runs or files with paired intervals.

    Rows are matched by --id; without ids by order, if the true labels are identical. FILE may be an
    evaluation.json (unpaired). Every run but the baseline must satisfy the rules of --require, as in `check`;
    exit 1 unless all pass. With --by or --system each side is several runs, and the intervals cover new
    rows and new seeds.
    """
    from evalreport.cli.plan import equal_lines, needed_lines
    from evalreport.comparison.sample_size import equivalences
    from evalreport.workflow.compare import compare_items, deliver_comparison
    from evalreport.workflow.items import folds_of, items_of
    from evalreport.workflow.request import STDOUT

    console = ctx.ensure_object(Console)
    where = destination_of(options, log=bool(options["log"] or options["log_to"]))
    uri, to_stdout = tracking_uri(ctx), options["output"] == STDOUT
    request = request_of(options, command_line())
    for group in _added:
        if (code := group.instead(console, files, options, request, where, uri)) is not None:
            return code
    items = folds_of(items_of(files, selection_of(options), uri), files=False, children=options["children"])
    done = compare_items(items, request, _how(options))
    warn_of_skipped(console, done.skipped)
    try:  # a reader of our lines may stop early (`| head -3`): files are written first
        document, to = done.document(request), options["log_to"]
        made = deliver_comparison(
            document, done.items, request, where, base=done.base, log_to=to, tracking_uri=uri
        )
    finally:
        unit = done.comparison.evaluations[0].sample_unit
        print_comparison(console, done, console.say if to_stdout else console.print_result)
        more = (*needed_lines(done.needed, unit), *equal_lines(done.comparison, options["equivalent"]))
        (console.say if to_stdout else console.print_result)(*more)
    print_delivered(console, made, options)
    console.emit(
        runs=[as_run(ev) for ev in done.comparison.evaluations],
        ok=done.all_passed,
        comparison=document.result_presentation.content(),
        **({"rows_needed": done.needed} if options["min_difference"] else {}),
        **(
            {"equivalent": equivalences(done.comparison, within)} if (within := options["equivalent"]) else {}
        ),
        files=made.files,
        logged=made.logged_json,
    )
    return 0 if done.all_passed else 1


def _how(options: dict[str, Any]) -> CompareRequest:
    """Return what is compared with what, with what features add to it."""
    from evalreport.thresholds.objectives import stated_costs
    from evalreport.workflow.compare import CompareRequest

    how = CompareRequest(
        **{name: options[name] for name in ("baseline", "all_pairs", "sort_by", "unpaired")},
        detect=options["min_difference"],
        costs=None if options["cost"] is None else stated_costs(options["cost"]),
        skip=options["experiment"] is not None,
    )
    for group in _added:
        how = group.extend(how, options)
    return how


opt.global_options(command)
