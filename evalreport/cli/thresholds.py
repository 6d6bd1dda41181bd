"""`evalreport sweep thresholds`: the best threshold of predictions for each objective."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.options import SectionCommand, engine
from evalreport.cli.parallel import each_run
from evalreport.cli.print_evaluation import print_delivered, success_record
from evalreport.cli.print_thresholds import print_chosen
from evalreport.cli.requests import command_line, destination_of, request_of, selection_of, tracking_uri
from evalreport.core.bounds import number
from evalreport.core.errors import UsageError
from evalreport.core.format import significant
from evalreport.core.progress import report_progress

if TYPE_CHECKING:
    from evalreport.evaluation.threshold_selection import ThresholdSelection
    from evalreport.thresholds.search import SearchProgress
    from evalreport.workflow.choose_thresholds import ThresholdRequest
    from evalreport.workflow.deliver import Delivered
    from evalreport.workflow.items import Item

_sweep = opt.HelpSection("Sweep")


@click.command(
    "thresholds",
    cls=SectionCommand,
    shown="run-id objective cost tune-on truth score scores positive id output log",
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=opt.FILE)
@_sweep(
    "--objective objectives",
    "OBJ",
    "f1, youden, recall>=0.95, net_benefit:0.2; several labels: f1_macro, recall>=0.9 of each; classes: "
    "accuracy>=0.95, recall[CLASS]>=0.9; or module:function; repeat.",
    multiple=True,
)
@_sweep("--cost", "N|FILE", "Cost of a miss in false positives, fp=1,fn=10,tp=0,tn=0, or a table of costs.")
@_sweep("--trials", click.IntRange(min=1), "Let Optuna search with N trials.")
@_sweep.setting(
    "timeout", "S", "Time limit of the search in seconds.", type=click.FloatRange(min=0, min_open=True)
)
@_sweep("--study storage", "URL|FILE", "Storage of the Optuna study.")
@_sweep("--study-name", "NAME", "Name of the Optuna study.")
@opt.selection
@opt.describe
@engine
@opt.tune_on
@opt.constraint_confidence
@opt.prevalence
@opt.confidence
@opt.resamples
@opt.seed
@opt.title
@opt.page_texts
@opt.swept
@click.pass_context
def thresholds(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> int:
    """Find the best threshold for each objective, with its held-out (cross-fitted) value.

    Multilabel data get one threshold per label; multiclass data get a confidence cutoff or one weight per
    class.
    """
    from evalreport.workflow.choose_thresholds import swept_item
    from evalreport.workflow.deliver import Deliverable, deliver, files_read, run_of
    from evalreport.workflow.items import items_of

    console = ctx.ensure_object(Console)
    if options["log"] and files:
        raise UsageError("--log needs the run to log into", fix="pass --run-id ID instead of a file")
    items = items_of(files, selection_of(options), tracking_uri(ctx), options["table"])
    request = request_of({**options, "threshold": None, "metrics": None}, command_line())
    cost_file = _cost_file(options["cost"])
    asked = _threshold_request(options, cost_file)
    where = destination_of(options, log=options["log"], several=len(items) > 1)
    whole: dict[str, Any] = {}
    several = len(items) > 1 or options["jsonl"]

    def work(item: Item) -> Delivered[ThresholdSelection]:
        run = run_of(item, where)
        asked_here = replace(asked, item=item.name if len(items) > 1 else "", every=console.json)
        found, collected = swept_item(item, request, asked_here)
        console.say("took " + ", ".join(f"{part} {value}" for part, value in collected.taken))
        read = (*files_read(request, [item]), cost_file)
        key = "" if item.run is None else item.run.run_id
        document = Deliverable(found, notes=request.notes)
        return deliver(document, where, run=run, name=item.name, key=key, read=read)

    def show(done: Delivered[ThresholdSelection]) -> dict[str, Any]:
        print_chosen(console, done)
        print_delivered(console, done, options)
        body = thresholds_run(done)
        if console.json:
            body["sweep"] = done.delivered_result.record(whole=True)
            whole.update(body.pop("sweep") if not several else {})
        return body

    parts: dict[str, Any] = {} if several else {"sweep": whole}
    return each_run(console, items, work, show, options, **parts)


def _cost_file(cost: str | None) -> str | None:
    """Return the value of --cost where it names a file: it is neither a number nor a list of costs."""
    is_file = cost is not None and "=" not in cost and (Path(cost).suffix != "" or os.path.exists(cost))
    return cost if is_file and number(str(cost)) is None else None


def _threshold_request(options: dict[str, Any], cost_file: str | None) -> ThresholdRequest:
    """Return the objectives, and the settings of the Optuna search."""
    from evalreport.thresholds.search import Search
    from evalreport.workflow.choose_thresholds import ThresholdRequest

    cost = () if options["cost"] in (None, cost_file) else (f"cost:{options['cost']}",)
    wanted = [options[name] for name in ("trials", "timeout", "storage", "study_name")]
    search = Search(
        trials=options["trials"] or Search.trials,
        timeout=options["timeout"],
        seed=options["seed"],
        storage=options["storage"],
        study_name=options["study_name"],
        progress=tell_search,
    )
    objectives = (*options["objectives"], *cost)
    return ThresholdRequest(objectives, cost_file, search if any(wanted) else None, tell_search)


def tell_search(progress: SearchProgress) -> None:
    """Report the progress of a search."""
    report_progress(f"best {significant(progress.best)}, trial", progress.done, progress.of)


def thresholds_run(done: Delivered[ThresholdSelection]) -> dict[str, Any]:
    """Return the run or file whose thresholds were swept as an element of `runs`."""
    begun = success_record(done.delivered_result.provenance)
    return {**begun, "files": done.files, "logged": done.logged_json}
