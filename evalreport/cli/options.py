"""Types of options: what a value may be, and how the shell completes it.

Options under headings, and commands whose help lists them so, with examples at its end.

The options that commands share, in the groups of their help.

The options of what counts the rows: an engine, what it may take, and where a table of Spark is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from evalreport.cli.console import Console
from evalreport.cli.help_examples import EXAMPLES
from evalreport.core.bounds import number
from evalreport.core.errors import UsageError
from evalreport.core.extensions import extensions

LEVEL = click.FloatRange(0.5, 0.999)


class Level(click.ParamType):  # type: ignore[type-arg]
    """A level, also written in per cent."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the level as a share."""
        share = number(str(value))
        return LEVEL.convert(value if share is None else share, param, ctx)


class Words(click.ParamType):  # type: ignore[type-arg]
    """Text, or the list that a settings file may hold in its place."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return lists as they are, all else as text."""
        return value if isinstance(value, list) else str(value)


class Confidence(click.ParamType):  # type: ignore[type-arg]
    """A level, or ``none`` for values without intervals."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        """Return the level; None for ``none``."""
        return None if value == "none" else Level().convert(value, param, ctx)


class Amount(click.ParamType):  # type: ignore[type-arg]
    """A number above 0 and, of a share, below 1; also written in per cent."""

    name = "number"

    def __init__(self, below: float = math.inf) -> None:
        self.below = below

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        wanted = number(str(value))
        if wanted is None or not 0 < wanted < self.below:
            kind = "share between 0 and 1" if self.below == 1 else "number above 0"
            self.fail(f"{value!r} is no {kind}, such as 0.02 or 2%.", param, ctx)
        return wanted


class Bytes(click.ParamType):  # type: ignore[type-arg]
    """A size: ``500MB``, ``2GB``, or a number of bytes."""

    name = "size"
    UNITS: ClassVar = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?b?)", str(value).strip(), flags=re.IGNORECASE)
        wide = 0 if found is None else float(found[1]) * self.UNITS.get(found[2].upper(), 0)
        size = int(wide) if math.isfinite(wide) else 0
        if size <= 0:
            self.fail(f"{value!r} is no size, such as 500MB or 2GB.", param, ctx)
        return size


class Format(click.ParamType):  # type: ignore[type-arg]
    """The name of a reader, asked for only when it is needed, because readers bring NumPy."""

    name = "format"

    @property
    def names(self) -> tuple[str, ...]:
        """What the readers call themselves."""
        from evalreport.readers.formats import format_names

        return format_names()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name of a format that there is."""
        if value not in self.names:
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self.names))}.", param, ctx)
        return value

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return a word for the help, which has no time for NumPy; a wrong name is told them all."""
        return "NAME"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Return the names that begin so."""
        return [CompletionItem(name) for name in self.names if name.startswith(incomplete)]


EVERYWHERE = "Everywhere"


def write_examples(name: str | None, formatter: click.HelpFormatter) -> None:
    """Write the examples of a command at the end of its help.

    Examples
    --------
    >>> formatter = click.HelpFormatter()
    >>> write_examples("config", formatter)
    >>> formatter.getvalue().splitlines()[1]
    '  evalreport config'
    """
    with formatter.section("Examples"):
        for words in EXAMPLES.get(name or "", ()):
            formatter.write(f"{'':{formatter.current_indent}}evalreport {words}\n")


class SectionOption(click.Option):
    """An option that knows under which heading the help lists it, and where its value came from."""

    def __init__(self, *args: Any, section: str = "Options", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Leave ranges out of the help; an error names them."""
        return {name: value for name, value in super().get_help_extra(ctx).items() if name != "range"}

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        """Return the value and its source, which an error about the value will name."""
        value, source = super().consume_value(ctx, opts)
        ctx.meta["evalreport.sources"] = {**ctx.meta.get("evalreport.sources", {}), self.name: source}
        return value, source


class GlobalOption(SectionOption):
    """An option that stands before or after the command; before it, it still beats the environment."""

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        """Return the value of this place, or what was said before the command."""
        value, source = super().consume_value(ctx, opts)
        said = ctx.meta.setdefault("evalreport.said", {})
        if source is ParameterSource.COMMANDLINE:
            said[self.name] = value
        elif self.name in said:
            return said[self.name], ParameterSource.COMMANDLINE
        return value, source


class SectionCommand(click.Command):
    """A command whose help lists its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, one section after the other."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(param, "section", EVERYWHERE), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
        write_examples(self.name, formatter)


F = TypeVar("F", bound=Callable[..., Any])
FILE, FOLDER = click.Path(), click.Path(file_okay=False)
"""Types whose values the shell completes."""
MOST_RESAMPLES = 1_000_000
FLAG = ""
"""In place of a value, where there is none."""


class HelpSection:
    """A heading of the help, which makes the options below it.

    Parameters
    ----------
    title : str
    """

    def __init__(self, title: str) -> None:
        self._title = title

    def __call__(self, names: str, value: Any, help: str, **kwargs: Any) -> Callable[[F], F]:
        """Return a decorator: an option, with its environment variable `EVALREPORT_<OPTION>`.

        Its default is told.

        Parameters
        ----------
        names : str
            With spaces between, that of the parameter last where it is another.
        value : str, tuple of str, type or None
            What the help calls it, or `FLAG`; the choices that there are; a type, by which the help calls it:
            FILE, DIR, N.
        help : str

        Examples
        --------
        >>> (option,) = data("--truth", "COL", "True labels.")(click.Command("c")).params
        >>> option.envvar, option.metavar
        ('EVALREPORT_TRUTH', 'COL')
        """
        named = names.split()
        kwargs = {"help": help, **_of_value(value), **kwargs}
        kwargs.setdefault("envvar", _variable(next(name for name in named if name.startswith("--"))))
        kwargs.setdefault("show_default", "default" in kwargs)
        return click.option(*named, cls=SectionOption, section=self._title, **kwargs)


@dataclass(frozen=True)
class AddedOptions:
    """Options that a feature adds at the point "options", under a name such as ``compare --require --use``.

    Parameters
    ----------
    options : callable
        Decorator of the command.
    extend : callable
        From what is asked for and the values of all options to what is asked for with those of the feature.
    instead : callable
        Called with the command's own arguments before it begins: returns the exit code where the feature's
        options ask for another answer than the command's, else None.
    """

    options: Callable[..., Any]
    extend: Callable[[Any, dict[str, Any]], Any] = lambda asked, _: asked
    instead: Callable[..., int | None] = lambda *_: None


def added_options(command: str) -> tuple[AddedOptions, ...]:
    """Return the options that installed features add to a command.

    Examples
    --------
    >>> added_options("completion")
    ()
    """
    named = (one for one in extensions("options") if one.name.split()[0] == command)
    return tuple(one.load() for one in named if one.is_installed)


runs, data, evaluate = map(HelpSection, ("Select runs", "Describe the data", "Evaluate"))
grades = HelpSection("Graded items")
report, write, gate = map(HelpSection, ("Report", "Write", "Gate"))


def _of_value(value: Any) -> dict[str, Any]:
    """What click is told of the value of an option; where nothing names it, click does."""
    if value == FLAG:
        return {"is_flag": True}
    if value is None or isinstance(value, str):
        return {"metavar": value}
    if isinstance(value, tuple):
        return {"type": click.Choice(value)}
    called = "N" if isinstance(value, click.IntRange) else {FILE: "FILE", FOLDER: "DIR"}.get(value)
    return {"type": value, "metavar": called}


def _variable(name: str) -> str:
    return "EVALREPORT_" + name.strip("-").replace("-", "_").upper()


def combine_options(*options: Callable[[F], F]) -> Callable[[F], F]:
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
        _global("--config", FILE, "Settings file.", is_eager=True, callback=_load_config),
        _global(
            "--tracking-uri",
            "URI",
            "MLflow tracking server or store.",
            envvar="MLFLOW_TRACKING_URI",
            callback=_keep_uri,
        ),
        _global("--json", FLAG, "One JSON object on stdout.", callback=_sets("json")),
        _global("--color", ("auto", "always", "never"), "Colour on stderr.", callback=_sets("color")),
        _global("-q --quiet", None, "Only errors; -qq nothing.", count=True),
        _global("-v --verbose", None, "What is read and written; -vv with timings.", count=True),
    ]
    return command


def _global(names: str, value: Any, help: str, **kwargs: Any) -> GlobalOption:
    named = names.split()
    kwargs = {"help": help, "envvar": _variable(named[-1]), **_of_value(value), **kwargs}
    return GlobalOption(named, section=EVERYWHERE, expose_value=False, **kwargs)


selection = combine_options(
    runs("--run-id run_ids", "ID", "Run; repeat, or - to read ids from stdin.", multiple=True),
    runs("--experiment", "NAME", "All finished runs of an experiment (glob allowed)."),
    runs("--filter", "EXPR", "MLflow search expression, with --experiment."),
    runs(
        "--latest",
        "[N]",
        "Only the newest N (1 when no number is given).",
        type=click.IntRange(min=1),
        is_flag=False,
        flag_value="1",
    ),
    runs("--max-runs", click.IntRange(min=1), "Refuse to start on more runs than this.", default=100),
)

describe = combine_options(
    data("--artifact", "GLOB", "Predictions inside the run: a file, or a folder of parts."),
    data(
        "--format",
        Format(),
        "Format of the predictions (csv, parquet …), when the file's name does not tell.",
    ),
    data("--task", ("auto", "binary", "multiclass", "multilabel"), "What is predicted.", default="auto"),
    data("--truth", "COL", "True labels."),
    data("--truth-file", FILE, "File with the truth, joined by id, one to one."),
    data("--pred", "COL", "Predicted labels."),
    data("--score", "COL", "Score of the positive class."),
    data("--scores", "GLOB", "Score columns, one per label, such as 'p_*'."),
    data(
        "--score-kind",
        ("probability", "logit", "decision"),
        "What the scores are; needed when they leave [0, 1].",
    ),
    data("--text", "COL", "Answers of a language model, to be parsed."),
    data("--parse", "HOW", "auto | exact | json | regex:PATTERN | module:function"),
    data("--fuzzy", FLAG, "Accept the nearest label of a misspelt answer."),
    data("--labels", "LIST", "A,B,… or @FILE (a JSON list, or one a line).", type=Words()),
    data("--ordered", FLAG, "The order of --labels means something."),
    data("--positive", "LABEL", "Positive class of a binary problem."),
    data("--id", "COL", "Ids of the examples."),
    data("--weight", "COL", "Weights of the examples."),
    data(
        "--group",
        "COL",
        "Rows that belong together: intervals by cluster; repeat for rows that agree in all.",
        multiple=True,
    ),
    data("--fold", "COL", "Fold of a cross-validation that each row was tested in."),
    data("--slice slices", "COL", "Metrics for each value; repeat.", multiple=True),
    data("--example-text", "COL", "Text that the report may show."),
    data("--batch-axis", FLAG, "Arrays have a leading batch axis [batch, n, labels]."),
    data("--answers", FLAG, "Rows of one --id, or a list, are samples of one row."),
    data("--no-scores", FLAG, "Leave score columns alone; judge the labels."),
    data(
        "--where",
        "COL=VALUE",
        "Only rows with this value (split=val) or without it (label!=-100); repeat to meet all.",
        multiple=True,
    ),
    data("--missing", ("wrong",), "wrong: a row without a prediction counts as an unread answer."),
    data(
        "--weight-kind",
        ("sampling", "count"),
        "count: a weight is a number of equal rows.",
        default="sampling",
    ),
    data("--list-separator", "CHAR", "Separates label names in one cell of a CSV."),
    grades("--grade", "COL", "Grade of each item (pass/fail, 0 to 1, a rating) in place of labels."),
    grades("--pass pass_", "RULE", "Grades that pass, such as '>=4'."),
    grades("--repeat", "COL", "Number of the attempt at an item."),
    grades("--measure", "COL", "Cost, latency or tokens of each item; repeat.", multiple=True),
    grades("--judge", "COL", "Grades of a model for all items, to be corrected by --human."),
    grades("--human", "COL", "Grades of people for some of the items."),
)

children = runs("--children", FLAG, "Child runs are folds; with --answers, samples.")
threshold = evaluate(
    "--threshold",
    "T",
    "0.5, or max-f1 | youden | recall>=0.95 | cost:10; chosen on --tune-on, or cross-fitted.",
)
tune_on = evaluate("--tune-on", "FILE|RUN", "Other predictions, on which the threshold is chosen.", type=FILE)
hold = evaluate("--hold", "P", "Confidence that bounds hold.", type=Level())
detect = evaluate(
    "--detect", "X", "Tell how many rows demonstrate a difference of X with 80% probability.", type=Amount()
)
equivalent = evaluate(
    "--equivalent", "X", "Tell which metrics are equal within X, by two one-sided tests.", type=Amount()
)
prevalence = evaluate(
    "--prevalence",
    "P",
    "Share of positives where the model goes: PPV, NPV, net benefit and alarms there.",
    type=Amount(below=1),
)
confidence = evaluate("--confidence", "P", "Level of the intervals.", type=Level(), default=0.95)
confidence_or_none = evaluate(
    "--confidence",
    "P|none",
    "Level of the intervals; none: values alone, in a fraction of the time.",
    type=Confidence(),
    default=0.95,
)
resamples = evaluate(
    "--resamples", click.IntRange(100, MOST_RESAMPLES), "Draws of a resampled interval.", default=2000
)
seed = evaluate("--seed", "N", "Seed of the draws.", type=int, default=0)
metrics = evaluate(
    "--metrics",
    "LIST",
    "Only these, comma separated; see `evalreport metrics`. module:function adds a metric of your own.",
    type=Words(),
)
evaluation = combine_options(threshold, tune_on, confidence_or_none, resamples, seed, metrics)
compared = combine_options(threshold, tune_on, confidence, resamples, seed, metrics)

unit = report("--unit", "ONE,MANY", "What a row is, such as tumour,tumours.", type=Words())
label_names = report(
    "--label-names", "LABEL=NAME,…", "What people call the labels, such as 1=failure,0=fine.", type=Words()
)
notes = report("--notes", FILE, "Markdown: intended use, limits, approval; a section.")
summary = write(
    "--summary",
    ("md",),
    "A few lines on stdout, as Markdown.",
    expose_value=False,
    callback=_sets_summary,
)
said = combine_options(unit, label_names, notes)
no_examples = report("--no-examples", FLAG, "Show no example, not even its id.")
page = combine_options(
    report("--title", "TEXT", "Title of the report, instead of the run's name."),
    said,
    no_examples,
)

out = write("--out", FOLDER, "Also write the report and the tables here.")
force = write("--force", FLAG, "Replace files that evalreport did not write.")
allow_running = write("--allow-running", FLAG, "Log into a run that has not ended.")
dry_run = write("-n --dry-run", FLAG, "Print what would be logged; write nothing.")
prefix = write("--prefix", "TEXT", "Prefix of metric names.", default="eval/")
fail_fast = write("--fail-fast", FLAG, "Stop at the first run that fails.")
jobs = write(
    "-j --jobs",
    click.IntRange(min=1),
    "Processes that work on several runs; the cores, where a process has four runs or more.",
)
jsonl = HelpSection(EVERYWHERE)("--jsonl", FLAG, "One JSON object per run and line.")
swept = combine_options(
    write("-o --output", FILE, "HTML page; - for stdout."),
    out,
    summary,
    write("--log", FLAG, "Log into the run: page, table, best, series.", envvar=None),
    prefix,
    force,
    allow_running,
    dry_run,
    fail_fast,
    jsonl,
)
"""Where all commands below `sweep` write to."""


engine = combine_options(
    data(
        "--table",
        "NAME",
        "A table of Spark (catalog.schema.name), or a Parquet or Delta path that Spark reads.",
    ),
    evaluate(
        "--engine",
        ("auto", "memory", "stream", "spark"),
        "stream: batch by batch, for more rows than memory holds; spark: where a table is; "
        "auto: by the size of the file.",
        default="auto",
    ),
    evaluate(
        "--approximate",
        FLAG,
        "Count the scores of two labels in bins: fixed memory, areas with proven bounds.",
    ),
    evaluate(
        "--memory",
        "SIZE",
        "Memory limit of a stream: the process, 200MB or more; beyond it scores go to temporary files "
        "(TMPDIR). With Spark: of the scores in its task.",
        type=Bytes(),
        default="1GB",
    ),
    evaluate(
        "--spark-master",
        "URL",
        "Begin a session of Spark there, such as local[4], or sc://HOST:15002 of Spark Connect; "
        "without it the active one, or Spark's own settings.",
    ),
)
