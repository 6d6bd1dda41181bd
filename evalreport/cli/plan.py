"""`evalreport plan`: the sample size for an interval or a difference, from a pilot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.options import SectionCommand
from evalreport.cli.parallel import each_run
from evalreport.cli.print_evaluation import warn_of
from evalreport.cli.requests import Amount, command_line, request_of, selection_of, tracking_uri
from evalreport.core.errors import UsageError

if TYPE_CHECKING:
    from evalreport.comparison.comparison import Comparison
    from evalreport.comparison.sample_size import RowsNeeded
    from evalreport.core.format import Style
    from evalreport.evaluation.evaluation import Evaluation
    from evalreport.workflow.items import Item

_plan = opt.HelpSection("Plan")


@click.command(
    "plan",
    cls=SectionCommand,
    shown="metric half-width min-difference run-id truth pred score positive threshold",
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=opt.FILE)
@_plan("--metric", "M", "Metric to plan for.", required=True)
@_plan("--half-width", "X", "Sample size for a confidence interval of ±X.", type=Amount())
@opt.min_difference
@opt.selection
@opt.describe
@opt.threshold
@opt.confidence
@opt.resamples
@opt.seed
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> int:
    """Compute the sample size for an interval or a difference from a pilot (a file or a run).

    For a difference between two models on the same rows use `compare --min-difference`, with two pilots.
    """
    from evalreport.comparison.sample_size import plan_sample
    from evalreport.metrics.catalogue import find
    from evalreport.workflow.compare import evaluation_of
    from evalreport.workflow.items import items_of

    console = ctx.ensure_object(Console)
    wanted = {"half_width": options["half_width"], "detect": options["min_difference"]}
    if not any(wanted.values()):
        raise UsageError("no question given", fix="pass --half-width 0.02 or --min-difference 0.02")
    items = items_of(files, selection_of(options), tracking_uri(ctx))
    metric = find(options["metric"]).name
    request = request_of({**options, "tune_on": None, "metrics": metric}, command_line())

    def work(item: Item) -> tuple[Evaluation, tuple[RowsNeeded, ...]]:
        ev = evaluation_of(item, request)
        return ev, plan_sample(ev, metric, **wanted)

    def show(done: tuple[Evaluation, tuple[RowsNeeded, ...]]) -> dict[str, Any]:
        from evalreport.cli.print_evaluation import metric_line, success_record, title

        ev, found = done
        warn_of(console, ev)
        console.print_result(title(ev), "  " + metric_line(ev, metric), *needed_lines(found, ev.sample_unit))
        return success_record(ev.provenance) | {"metric": ev[metric], "rows_needed": found}

    return each_run(console, items, work, show, options)


WORDS = {
    "half_width": "an interval of ± {wanted} needs {needed} (these {rows} give ± {reached})",
    "fixed": "a difference of {wanted} from a fixed value needs {needed} at 80% power "
    "(these {rows} detect {reached})",
    "other_rows": "a difference from another model on other {units} needs {needed} per model",
    "same_rows": "{metric}: a difference of {wanted} between {run} and {baseline} needs {needed} at 80% "
    "power (these {rows} detect {reached})",
}
"""What a question and its answer are in words."""


def needed_lines(found: Sequence[RowsNeeded], unit: tuple[str, str] = ("row", "rows")) -> list[str]:
    """Return the answers, one a line."""
    return ["  " + _words(one, unit) for one in found]


def equal_lines(found: Comparison, within: float | None) -> list[str]:
    """Return for which metrics two runs are equal within a margin, one a line; none without a margin."""
    from evalreport.comparison.sample_size import equivalences
    from evalreport.metrics.catalogue import find

    if within is None:
        return []
    lines = []
    for one in equivalences(found, within):
        margin = _format_target(within, find(one.metric).style)
        what = "equal" if one.equal else "not shown to be equal"
        lines.append(f"  {one.metric}: {one.run} and {one.baseline} are {what} within {margin}")
    return lines


def _words(one: RowsNeeded, unit: tuple[str, str]) -> str:
    from evalreport.comparison.sample_size import about_rows
    from evalreport.core.result import reach
    from evalreport.metrics.catalogue import find

    style = find(one.metric).style
    template = WORDS[one.question]
    if one.question == "other_rows" and one.run:
        template = WORDS["same_rows"].replace("{needed}", "{needed} of each")
    needed = f"no number of {unit[1]}" if one.needed is None else f"about {about_rows(one.needed, unit)}"
    if one.needed_most is not None and one.needed_most != one.needed:
        most = about_rows(one.needed_most, unit).removesuffix(f" {unit[1]}")
        needed += f", at most {most} within the pilot's interval"
    return template.format(
        metric=one.metric,
        run=one.run,
        baseline=one.baseline,
        wanted=_format_target(one.wanted, style),
        needed=needed,
        units=unit[1],
        rows=f"{one.rows:,}",
        reached="no difference" if one.reached is None else reach(one.reached, style),
    )


def _format_target(wanted: float, style: Style) -> str:
    """What was asked for, all its digits; of rates in points."""
    if style != "percent":
        return f"{wanted:.6g}"
    return f"{100 * wanted:.6g} point" + ("" if math.isclose(wanted, 0.01) else "s")


opt.global_options(command)
