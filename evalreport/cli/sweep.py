"""`evalreport sweep`: thresholds, an Optuna study, or the child runs of a sweep."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import options as opt
from evalreport.cli.console import Console, align_columns, emphasised, indent_lines
from evalreport.cli.options import SectionCommand, engine, write_examples
from evalreport.cli.parallel import each_run
from evalreport.cli.print_evaluation import column_line, print_delivered, success_record
from evalreport.cli.requests import command_line, destination_of, request_of, selection_of, tracking_uri
from evalreport.cli.settings import sweeps
from evalreport.core.bounds import number
from evalreport.core.errors import UsageError, nearest
from evalreport.core.extensions import extension, extensions
from evalreport.core.format import Style, count, format_decimals, percent, show, significant, threshold
from evalreport.core.progress import report_progress
from evalreport.core.result import Estimate, column_places, format_reference, value_and_interval
from evalreport.page.evaluation_terms import objective_style

if TYPE_CHECKING:
    from evalreport.core.result import Result
    from evalreport.evaluation.evaluation import ThresholdSelection
    from evalreport.thresholds.best_threshold import Cutoff, Hold, Optimum
    from evalreport.thresholds.trial_search import SearchProgress
    from evalreport.workflow.choose_thresholds import ThresholdRequest
    from evalreport.workflow.deliver import Delivered
    from evalreport.workflow.items import Item


HEADS = ("objective", "threshold", "its interval", "same rows", "held-out", "interval")
MOST_LABELS = 40
"""Labels whose thresholds are printed; the JSON and the page have all."""
WIDEST = 24
"""Characters of a label in a terminal's table of 80."""


def print_chosen(console: Console, done: Delivered[ThresholdSelection]) -> None:
    """Print the verdict and the chosen thresholds; with -v every column, which may take 200 characters."""
    from evalreport.cli.print_evaluation import title, warn_of
    from evalreport.page.sections.chosen_thresholds import headline

    found = done.delivered_result
    warn_of(console, found.evaluation)
    bounded: list[tuple[str, Optimum | Cutoff]] = [*found.optima.items(), *found.cutoffs.items()]
    for name, best in bounded:
        if best.at_confidence is not None and best.at_confidence.threshold is None:
            console.warn(f"{name} {best.at_confidence.reason}")
    for doubt in found.doubts:
        console.warn(doubt.removesuffix("."))
    console.print_result(emphasised(headline(found).text), title(found.evaluation))
    optima = _every_column(found) if console.verbosity > 0 else _optima(found)
    for table in (optima, _prevalence_table(found), _cutoffs(found), _tuned_table(found), _labels(found)):
        console.print_result(*indent_lines(table))


LONGEST_OBJECTIVE = 24
"""Characters of an objective in the table of 80 columns."""


def _objective(name: str, metric: str) -> str:
    """An objective and the metric that is best there; of a long name the end, the number, is kept."""
    value = "" if name == metric else f" ({metric})"
    room = max(LONGEST_OBJECTIVE - len(value), 10)
    return (name if len(name) <= room else f"{name[: room - 6]}…{name[-5:]}") + value


def _optima(found: ThresholdSelection) -> list[str]:
    """The thresholds with the held-out value of each objective, in at most 80 columns."""
    if not found.optima:
        return []
    values = {
        name: None if best.out_of_sample is None else best.out_of_sample.value
        for name, best in found.optima.items()
    }
    places = column_places(value for value in values.values() if isinstance(value, Estimate))
    bounded = any(best.constraint is not None for best in found.optima.values())
    level = found.evaluation.sampling.constraint_confidence if bounded else None
    counted = found.whole is not None and level is None
    heads = ("objective", "threshold", "held-out", "interval")
    safe = () if level is None else (f"met at {percent(level, 100)}",)
    rows = [(*heads, *(("met",) if bounded else ()), *safe, *(("missed", "FP") if counted else ()))]
    for name, best in found.optima.items():
        row = [
            _objective(name, best.metric),
            threshold(best.threshold),
            *_held_out_cells(values[name], places),
        ]
        if bounded:
            row.append("–" if best.chance is None else percent(best.chance, 100))
        if safe:
            row.append(_confidence_cell(best.at_confidence))
        if counted and found.whole is not None:
            here = found.whole.counts_at_threshold(best.threshold)
            row += [count(float(here.fn)), count(float(here.fp))]
        rows.append(tuple(row))
    return align_columns(rows)


def _held_out_cells(result: Result | None, places: int) -> tuple[str, str]:
    """The value on held-out rows and its interval, with the decimals of the column."""
    if not isinstance(result, Estimate):
        return "–", "–"
    value, low, high = (
        "–" if number is None else format_decimals(number, places, "number")
        for number in (result.value, result.low, result.high)
    )
    return value, f"{low}–{high}" if low != "–" else "–"


def _every_column(found: ThresholdSelection) -> list[str]:
    if not found.optima:
        return []
    bounded = any(best.constraint is not None for best in found.optima.values())
    level = found.evaluation.sampling.constraint_confidence
    promised: tuple[str, ...] = ("probability of being met",) if bounded else ()
    if bounded and level is not None:
        promised += (f"met at {percent(level, 100)}",)
    weighted = ", weighted" if found.evaluation.weighted else ""
    counted = (
        () if found.whole is None else (f"found{weighted}", f"missed{weighted}", f"false positives{weighted}")
    )
    known = any(best.no_skill is not None for best in found.optima.values())
    unskilled = ("flagging all",) if known else ()
    rows: list[tuple[str, ...]] = [(*HEADS, *unskilled, *promised, *counted)]
    for name, best in found.optima.items():
        style = objective_style(best.metric)
        metric = "" if name == best.metric else f" ({best.metric})"
        out_of_sample = None if best.out_of_sample is None else best.out_of_sample.value
        here = None if found.whole is None else found.whole.counts_at_threshold(best.threshold)
        counts = () if here is None else (here.tp, here.fn, here.fp)
        rows.append(
            (
                name + metric,
                threshold(best.threshold),
                _range_cell(best.low, best.high),
                _reference_cell(best.apparent, out_of_sample, style),
                *value_and_interval(out_of_sample, style),
                *(_no_skill_cell(best, style) for _ in unskilled),
                *_constraint_cells(best, promised),
                *(count(float(n)) for n in counts),
            )
        )
    return align_columns(rows)


def _no_skill_cell(best: Optimum, style: Style) -> str:
    """F1 of flagging every row."""
    return "–" if best.no_skill is None else show(best.no_skill, style)


def _prevalence_table(found: ThresholdSelection) -> list[str]:
    """The metrics at each threshold for the prevalence of deployment."""
    from evalreport.metrics.catalogue import find

    rows: list[tuple[str, ...]] = []
    for objective, results in found.deployed.items():
        shown = [value_and_interval(result, find(name).style) for name, result in results.items()]
        rows.append((objective, *(f"{value} ({limits})" for value, limits in shown)))
    names = next(iter(found.deployed.values()), {})
    return align_columns([("for", *names), *rows]) if rows else []


def _constraint_cells(best: Optimum, heads: tuple[str, ...]) -> tuple[str, ...]:
    """The chance that a constraint is met on new rows, and the threshold that meets it with confidence."""
    chance = "–" if best.chance is None else percent(best.chance, 100)
    return (chance, _confidence_cell(best.at_confidence))[: len(heads)]


def _cutoffs(found: ThresholdSelection) -> list[str]:
    if not found.cutoffs:
        return []
    level = found.evaluation.sampling.constraint_confidence
    promised: tuple[str, ...] = () if level is None else (f"met at {percent(level, 100)}",)
    heads = (
        "for",
        "confidence",
        "its interval",
        "answered",
        "right",
        "answered, held-out",
        "right, held-out",
    )
    rows: list[tuple[str, ...]] = [(*heads, *promised)]
    for name, cut in found.cutoffs.items():
        kept = cut.out_of_sample.kept
        coverage = cut.out_of_sample.value
        held_out = [value_and_interval(result, "percent")[0] for result in (coverage, kept)]
        here = (
            _reference_cell(cut.coverage, coverage, "percent"),
            _reference_cell(cut.accuracy, kept, "percent"),
        )
        held = (_confidence_cell(cut.at_confidence),) if promised else ()
        rows.append((name, threshold(cut.threshold), _range_cell(cut.low, cut.high), *here, *held_out, *held))
    return align_columns(rows)


def _confidence_cell(hold: Hold | None) -> str:
    return "–" if hold is None or hold.threshold is None else threshold(hold.threshold)


def _tuned_table(found: ThresholdSelection) -> list[str]:
    if not found.tuned_choices:
        return []
    weights = found.evaluation.task == "multiclass"
    rows: list[tuple[str, ...]] = [
        (
            "for",
            "same rows",
            "held-out",
            "interval",
            "with equal weights" if weights else "at 0.5",
            "how",
        )
    ]
    for name, best in found.tuned_choices.items():
        style, value = objective_style(name), best.out_of_sample.value
        shown = "–" if best.without is None else format_reference(best.without, value, style)
        here = format_reference(best.apparent, value, style)
        rows.append((name, here, *value_and_interval(value, style), shown, best.method))
    return align_columns(rows, left=(0, 5))


def _labels(found: ThresholdSelection) -> list[str]:
    if not found.tuned_choices:
        return []
    entries = sorted(found.evaluation.in_rows().classes, key=lambda entry: -entry.support)
    weights = found.evaluation.task == "multiclass"
    form = significant if weights else threshold
    rows = [("class" if weights else "label", "n", *found.tuned_choices)]
    rows += [
        (
            str(entry.label)[:WIDEST],
            count(entry.support),
            *(form(best.values[str(entry.label)]) for best in found.tuned_choices.values()),
        )
        for entry in entries[:MOST_LABELS]
    ]
    more = len(entries) - MOST_LABELS
    return ["", *align_columns(rows), *([f"and {more:,} more"] if more > 0 else [])]


def _range_cell(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{threshold(low)} to {threshold(high)}"


def _reference_cell(value: float, result: Result | None, style: Style) -> str:
    return show(value, style) if result is None else format_reference(value, result, style)


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
    """Find the best threshold for each objective.

    Each threshold has its held-out (cross-fitted) value.

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
        console.say(column_line(collected.taken))
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
    from evalreport.thresholds.trial_search import Search
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


class SweepGroup(click.Group):
    """Imports a command when it is used; the error of an unknown name lists the nearest."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return thresholds and the sweeps that features add."""
        return ["thresholds", *(one.name for one in extensions("sweeps") if one.is_installed)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; those of features are imported."""
        if cmd_name == "thresholds":
            return thresholds
        added: click.Command | None = extension("sweeps", cmd_name) if cmd_name in sweeps() else None
        return added

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write usage, examples and the commands."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        write_examples(self.name, formatter)
        self.format_commands(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of a name."""
        name = args[0]
        if name not in sweeps() and not name.startswith("-"):
            raise UsageError(
                f"no such command: sweep {name}", where="evalreport sweep", fix=nearest(name, sweeps())
            )
        return super().resolve_command(ctx, args)


@click.group("sweep", cls=SweepGroup)
def command() -> None:
    """Choose a threshold, or report on a finished sweep: an Optuna study, or child runs in MLflow."""


opt.global_options(thresholds)
opt.global_options(command)
