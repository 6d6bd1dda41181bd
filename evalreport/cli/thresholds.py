"""`evalreport sweep thresholds`: the best threshold of predictions for each objective."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.options import SectionCommand, engine
from evalreport.cli.parallel import each_run
from evalreport.cli.print_evaluation import print_delivered
from evalreport.cli.requests import command_line, destination_of, request_of, selection_of, tracking_uri
from evalreport.core.errors import UsageError

if TYPE_CHECKING:
    from evalreport.evaluation.threshold_selection import ThresholdSelection
    from evalreport.workflow.choose_thresholds import ThresholdRequest
    from evalreport.workflow.deliver import Delivered
    from evalreport.workflow.items import Item

_sweep = opt.HelpSection("Sweep")


@click.command("thresholds", cls=SectionCommand)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=opt.FILE)
@_sweep(
    "--objective objectives",
    "OBJ",
    "f1, youden, recall>=0.95, net_benefit:0.2, … | several labels: f1_macro, subset_accuracy, "
    "module:function, recall>=0.9 of each, recall_micro>=0.9, … | classes: accuracy>=0.95, f1_macro, "
    "recall[CLASS]>=0.9, …; repeat.",
    multiple=True,
)
@_sweep("--cost", "N", "What a miss costs in false alarms, or fp=1,fn=10,tp=0,tn=0.")
@_sweep("--costs", opt.FILE, "Costs of each answer for each true class.")
@_sweep("--trials", click.IntRange(min=1), "Let Optuna search so many trials.")
@_sweep("--timeout", "S", "Seconds it may search.", type=click.FloatRange(min=0, min_open=True))
@_sweep("--storage", "URL|FILE", "Where Optuna keeps its study.")
@_sweep("--study-name", "NAME", "What it calls the study.")
@opt.selection
@opt.describe
@engine
@opt.tune_on
@opt.hold
@opt.prevalence
@opt.confidence
@opt.resamples
@opt.seed
@opt.report("--title", "TEXT", "Title of the page, instead of the run's name.")
@opt.said
@opt.swept
@click.pass_context
def thresholds(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> int:
    """Find the best threshold for each objective, with its value on rows that took no part in the choice.

    Several labels get a threshold each; classes get a cut-off of confidence or a weight each.
    """
    from evalreport.features.studies.cli import print_chosen, thresholds_run
    from evalreport.workflow.choose_thresholds import swept_item
    from evalreport.workflow.deliver import Deliverable, deliver, files_read, run_of
    from evalreport.workflow.items import items_of

    console = ctx.ensure_object(Console)
    if options["log"] and files:
        raise UsageError("--log needs the run to log into", fix="pass --run-id ID instead of a file")
    items = items_of(files, selection_of(options), tracking_uri(ctx), options["table"])
    request = request_of({**options, "threshold": None, "metrics": None}, command_line())
    asked = _asked(options, console)
    where = destination_of(options, log=options["log"], several=len(items) > 1)
    whole: dict[str, Any] = {}
    several = len(items) > 1 or options["jsonl"]

    def work(item: Item) -> Delivered[ThresholdSelection]:
        run = run_of(item, where)
        asked_here = replace(asked, item=item.name if len(items) > 1 else "", every=console.json)
        found, collected = swept_item(item, request, asked_here)
        console.say("took " + ", ".join(f"{part} {value}" for part, value in collected.taken))
        read = (*files_read(request, [item]), options["costs"])
        key = "" if item.run is None else item.run.run_id
        document = Deliverable(found, notes=request.notes)
        return deliver(document, where, run=run, name=item.name, key=key, read=read)

    def show(done: Delivered[ThresholdSelection]) -> dict[str, Any]:
        print_chosen(console, done)
        print_delivered(console, done, options)
        body = thresholds_run(done)
        if console.json:
            body["sweep"] = done.made.record(whole=True)
            whole.update(body.pop("sweep") if not several else {})
        return body

    parts: dict[str, Any] = {} if several else {"sweep": whole}
    return each_run(console, items, work, show, options, **parts)


def _asked(options: dict[str, Any], console: Console) -> ThresholdRequest:
    """What is sought, and how Optuna searches where it has to."""
    from evalreport.features.studies.cli import tell_search
    from evalreport.features.studies.search import Search
    from evalreport.workflow.choose_thresholds import ThresholdRequest

    cost = () if options["cost"] is None else (f"cost:{options['cost']}",)
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
    return ThresholdRequest(objectives, options["costs"], search if any(wanted) else None, tell_search)
