"""`evalreport compare`: two or more runs or files, with paired intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console, warn_of_skipped
from evalreport.cli.options import SectionCommand
from evalreport.cli.print_comparison import print_comparison
from evalreport.cli.print_evaluation import as_run, print_delivered
from evalreport.cli.requests import command_line, destination_of, request_of, selection_of, tracking_uri

if TYPE_CHECKING:
    from evalreport.workflow.compare import CompareRequest

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
@_compare("--sort-by", "METRIC", "Rank the runs by this metric, with the runs tied with the best.")
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
        print_comparison(console, done, console.say if to_stdout else console.print_result)
        more = (*needed_lines(done.needed), *equal_lines(done.comparison, options["equivalent"]))
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
