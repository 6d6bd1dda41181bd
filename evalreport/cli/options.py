"""The options that commands share, in the groups of their help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from evalreport.cli.console import Console
from evalreport.cli.parameters import Amount, Confidence, Format, Level, Words
from evalreport.cli.sections import EVERYWHERE, GlobalOption, SectionOption
from evalreport.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])
FILE, FOLDER = click.Path(), click.Path(file_okay=False)
"""Types whose values the shell completes."""


class HelpSection:
    """A heading of the help, which makes the options below it.

    Parameters
    ----------
    title : str
    """

    def __init__(self, title: str) -> None:
        self._title = title

    def __call__(self, *names: str, **kwargs: Any) -> Callable[[F], F]:
        """Return a decorator: an option, with its environment variable `EVALREPORT_<OPTION>`.

        Its default is told, and its value is named by its type: FILE, DIR, N.
        """
        kwargs.setdefault("envvar", _variable(next(name for name in names if name.startswith("--"))))
        kwargs.setdefault("show_default", "default" in kwargs)
        kwargs.setdefault("metavar", _value_of(kwargs.get("type")))
        return click.option(*names, cls=SectionOption, section=self._title, **kwargs)


runs, data, evaluate = map(HelpSection, ("Select runs", "Describe the data", "Evaluate"))
report, write, gate = map(HelpSection, ("Report", "Write", "Gate"))


def _value_of(kind: Any) -> str | None:
    """What the help calls a value of a type; None where the option says it, or click."""
    return "N" if isinstance(kind, click.IntRange) else {FILE: "FILE", FOLDER: "DIR"}.get(kind)


def _variable(name: str) -> str:
    return "EVALREPORT_" + name.strip("-").replace("-", "_").upper()


def together(options: Sequence[Callable[[F], F]]) -> Callable[[F], F]:
    """Return one decorator for several options, listed in their order."""

    def decorate(function: F) -> F:
        for one in reversed(options):
            function = one(function)
        return function

    return decorate


def _sets(name: str) -> Callable[..., Any]:
    """Return a callback that tells the console, also when the value comes from a settings file."""

    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        console = ctx.find_object(Console)
        if console is not None and value not in (None, False):
            setattr(console, name, value)
        return value

    return callback


def _sets_summary(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    console = ctx.find_object(Console)
    if console is not None and value is not None and console.json:
        raise UsageError("--summary and --json both want stdout", fix="leave one of them out")
    _sets("summary")(ctx, param, value)


def _keep_uri(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value:
        ctx.meta["evalreport.tracking_uri"] = value
    return value


def _load_config(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    from evalreport.cli.settings import load

    if value is not None or "evalreport.settings" not in ctx.meta:
        settings = load(value)
        ctx.meta["evalreport.settings"] = settings
        console = ctx.find_object(Console)
        for warning in settings.warnings:
            if console is not None and warning not in console.warnings:
                console.warn(warning)
        if ctx.parent is None and isinstance(ctx.command, click.Group):
            ctx.default_map = {name: settings.defaults(name) for name in ctx.command.list_commands(ctx)}
        else:
            ctx.default_map = settings.defaults(ctx.info_name or "")
    if not isinstance(ctx.command, click.Group):  # a --config behind the command may still take their place
        for error in ctx.meta["evalreport.settings"].refused:
            raise error
    return value


def global_options(command: Any) -> Any:
    """Add the options that stand before and after a command."""
    command.params += [
        _global(
            "--config", metavar="FILE", type=FILE, is_eager=True, callback=_load_config, help="Settings file."
        ),
        _global(
            "--tracking-uri",
            metavar="URI",
            envvar="MLFLOW_TRACKING_URI",
            callback=_keep_uri,
            help="MLflow tracking server or store.",
        ),
        _global("--json", is_flag=True, callback=_sets("json"), help="One JSON object on stdout."),
        _global(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            callback=_sets("color"),
            help="Colour on stderr.",
        ),
        _global("-q", "--quiet", count=True, help="Only errors; -qq nothing."),
        _global("-v", "--verbose", count=True, help="What is read and written; -vv with timings."),
    ]
    return command


def _global(*names: str, **kwargs: Any) -> GlobalOption:
    kwargs.setdefault("envvar", _variable(names[-1]))
    return GlobalOption(names, section=EVERYWHERE, expose_value=False, **kwargs)


selection = together(
    [
        runs(
            "--run-id",
            "run_ids",
            metavar="ID",
            multiple=True,
            help="Run; repeat, or - to read ids from stdin.",
        ),
        runs("--experiment", metavar="NAME", help="All finished runs of an experiment (glob allowed)."),
        runs("--filter", metavar="EXPR", help="MLflow search expression, with --experiment."),
        runs(
            "--latest",
            metavar="[N]",
            type=click.IntRange(min=1),
            is_flag=False,
            flag_value="1",
            help="Only the newest N (1 when no number is given).",
        ),
        runs(
            "--max-runs",
            type=click.IntRange(min=1),
            default=100,
            help="Refuse to start on more runs than this.",
        ),
    ]
)

describe = together(
    [
        data("--artifact", metavar="GLOB", help="Predictions inside the run: a file, or a folder of parts."),
        data(
            "--format",
            type=Format(),
            help="Format of the predictions (csv, parquet …), when the file's name does not tell.",
        ),
        data(
            "--task",
            type=click.Choice(["auto", "binary", "multiclass", "multilabel"]),
            default="auto",
            help="What is predicted.",
        ),
        data("--truth", metavar="COL", help="True labels."),
        data("--truth-file", type=FILE, help="File with the truth, joined by id, one to one."),
        data("--pred", metavar="COL", help="Predicted labels."),
        data("--score", metavar="COL", help="Score of the positive class."),
        data("--scores", metavar="GLOB", help="Score columns, one per label, such as 'p_*'."),
        data(
            "--score-kind",
            type=click.Choice(["probability", "logit", "decision"]),
            help="What the scores are; needed when they leave [0, 1].",
        ),
        data("--text", metavar="COL", help="Answers of a language model, to be parsed."),
        data("--parse", metavar="HOW", help="auto | exact | json | regex:PATTERN | module:function"),
        data("--fuzzy", is_flag=True, help="Accept the nearest label of a misspelt answer."),
        data("--labels", type=Words(), metavar="LIST", help="A,B,… or @FILE (a JSON list, or one a line)."),
        data("--ordered", is_flag=True, help="The order of --labels means something."),
        data("--positive", metavar="LABEL", help="Positive class of a binary problem."),
        data("--id", metavar="COL", help="Ids of the examples."),
        data("--weight", metavar="COL", help="Weights of the examples."),
        data(
            "--group",
            metavar="COL",
            multiple=True,
            help="Rows that belong together: intervals by cluster; repeat for rows that agree in all.",
        ),
        data("--fold", metavar="COL", help="Fold of a cross-validation that each row was tested in."),
        data("--slice", "slices", metavar="COL", multiple=True, help="Metrics for each value; repeat."),
        data("--example-text", metavar="COL", help="Text that the report may show."),
        data("--batch-axis", is_flag=True, help="Arrays have a leading batch axis [batch, n, labels]."),
        data("--answers", is_flag=True, help="Rows of one --id, or a list, are samples of one row."),
        data("--no-scores", is_flag=True, help="Leave score columns alone; judge the labels."),
        data(
            "--where",
            metavar="COL=VALUE",
            multiple=True,
            help="Only rows with this value, such as split=val; repeat for rows that meet all.",
        ),
        data(
            "--missing",
            type=click.Choice(["wrong"]),
            help="wrong: a row without a prediction counts as an unread answer.",
        ),
        data(
            "--weight-kind",
            type=click.Choice(["sampling", "count"]),
            default="sampling",
            help="count: a weight is a number of equal rows.",
        ),
        data("--list-separator", metavar="CHAR", help="Separates label names in one cell of a CSV."),
    ]
)

children = runs("--children", is_flag=True, help="Child runs are folds; with --answers, samples.")
threshold = evaluate(
    "--threshold",
    metavar="T",
    help="0.5, or max-f1 | youden | recall>=0.95 | cost:10; chosen on --tune-on, or cross-fitted.",
)
tune_on = evaluate(
    "--tune-on", metavar="FILE|RUN", type=FILE, help="Other predictions, on which the threshold is chosen."
)
hold = evaluate("--hold", metavar="P", type=Level(), help="Confidence that bounds hold.")
detect = evaluate(
    "--detect",
    metavar="X",
    type=Amount(),
    help="Tell how many rows demonstrate a difference of X with 80% probability.",
)
prevalence = evaluate(
    "--prevalence",
    metavar="P",
    type=Amount(below=1),
    help="Share of positives where the model goes: PPV, NPV, net benefit and alarms there.",
)
confidence = evaluate("--confidence", metavar="P", type=Level(), default=0.95, help="Level of the intervals.")
confidence_or_none = evaluate(
    "--confidence",
    metavar="P|none",
    type=Confidence(),
    default=0.95,
    help="Level of the intervals; none: values alone, in a fraction of the time.",
)
resamples = evaluate(
    "--resamples", type=click.IntRange(min=100), default=2000, help="Draws of a resampled interval."
)
seed = evaluate("--seed", metavar="N", type=int, default=0, help="Seed of the draws.")
metrics = evaluate(
    "--metrics", type=Words(), metavar="LIST", help="Only these, comma separated; see `evalreport metrics`."
)
evaluation = together([threshold, tune_on, confidence_or_none, resamples, seed, metrics])
compared = together([threshold, tune_on, confidence, resamples, seed, metrics])

unit = report("--unit", type=Words(), metavar="ONE,MANY", help="What a row is, such as tumour,tumours.")
label_names = report(
    "--label-names",
    type=Words(),
    metavar="LABEL=NAME,…",
    help="What people call the labels, such as 1=failure,0=fine.",
)
notes = report("--notes", type=FILE, help="Markdown: intended use, limits, approval; a section.")
summary = write(
    "--summary",
    type=click.Choice(["md", "slack", "tex", "card"]),
    expose_value=False,
    callback=_sets_summary,
    help="A few lines on stdout: Markdown, Slack, LaTeX, or a model card.",
)
said = together([unit, label_names, notes])
no_examples = report("--no-examples", is_flag=True, help="Show no example, not even its id.")
page = together(
    [
        report("--title", metavar="TEXT", help="Title of the report, instead of the run's name."),
        said,
        no_examples,
        report("--checklist", type=click.Choice(["tripod-ai"]), help="Add a reporting checklist."),
    ]
)

pdf = write("--pdf", type=FILE, help="Two pages to print, drawn by matplotlib.")
out = write("--out", type=FOLDER, help="Also write the report and the tables here.")
force = write("--force", is_flag=True, help="Replace files that evalreport did not write.")
allow_running = write("--allow-running", is_flag=True, help="Log into a run that has not ended.")
dry_run = write("-n", "--dry-run", is_flag=True, help="Print what would be logged; write nothing.")
prefix = write("--prefix", metavar="TEXT", default="eval/", help="Prefix of metric names.")
fail_fast = write("--fail-fast", is_flag=True, help="Stop at the first run that fails.")
jobs = write(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    help="Processes that work on several runs; the cores, where a process has four runs or more.",
)
jsonl = HelpSection(EVERYWHERE)("--jsonl", is_flag=True, help="One JSON object per run and line.")
swept = together(
    [
        write("-o", "--output", type=FILE, help="HTML page; - for stdout."),
        pdf,
        out,
        summary,
        write("--log", is_flag=True, envvar=None, help="Log into the run: page, table, best, series."),
        prefix,
        force,
        allow_running,
        dry_run,
        fail_fast,
        jsonl,
    ]
)
"""Where all commands below `sweep` write to."""
