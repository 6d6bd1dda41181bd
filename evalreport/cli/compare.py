"""`evalreport compare`: two or more runs or files side by side, with paired intervals."""

from __future__ import annotations

from typing import Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.inputs import command_line, request_of, selection_of, tracking_uri
from evalreport.cli.show import as_run

_COMPARE = "Compare"


@click.command("compare", cls=opt.SectionCommand)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@opt.selection
@opt.describe
@opt.evaluation
@opt.option(
    _COMPARE,
    "--baseline",
    metavar="NAME|ID|FILE|N",
    help="What the others are held against; the first (with --sort-by the best) when not given.",
)
@opt.option(_COMPARE, "--all-pairs", is_flag=True, help="Compare all with all.")
@opt.option(
    _COMPARE,
    "--fail-on",
    "rules",
    metavar="RULE",
    multiple=True,
    help='Exit 1 when a drop (or rise) beyond this is shown: "recall drops > 0.02"; repeat.',
)
@opt.option(
    _COMPARE, "--sort-by", metavar="METRIC", help="Best first, and which cannot be told from the best."
)
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> int:
    """Compare runs or files with paired intervals; FILE may be an evaluation.json (then unpaired).

    Examples are matched by --id; without ids by order, if the truth is the same. A rule of --fail-on is
    broken when the difference is beyond its number and is shown: the interval excludes 0, also after
    Holm's correction for several runs.
    """
    from evalreport.cli.show_comparison import print_comparison
    from evalreport.panels.comparison.words import headline
    from evalreport.workflow.compare import CompareOptions, as_json, compared
    from evalreport.workflow.rules import Rule
    from evalreport.workflow.runs import items_of

    console = ctx.ensure_object(Console)
    rules = tuple(map(Rule.of, options["rules"]))
    how = CompareOptions(options["baseline"], options["all_pairs"], rules, options["sort_by"])
    items = items_of(files, selection_of(options), tracking_uri(ctx))
    done = compared(items, request_of(options, command_line()), how)
    print_comparison(console, done)
    ok = all(outcome.state == "held" for outcome in done.outcomes)
    console.emit(
        runs=[as_run(ev) for ev in done.comparison.evaluations],
        ok=ok,
        comparison=as_json(done, headline(done.comparison).text),
    )
    return 0 if ok else 1


opt.global_options(command)
