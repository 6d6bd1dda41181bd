"""The options of the command line and its settings, and the help that lists them.

An option is typed as ``--truth COL``. A setting is a property of a file or a page: it is typed as
``--set weight=COL`` or written in a settings file. The help of a command fits on one screen;
``--help-all`` lists the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from evalreport.cli.console import Console
from evalreport.cli.help_texts import EXAMPLES, MORE
from evalreport.cli.requests import Amount, Bytes, Confidence, Format, Level, Words
from evalreport.core.errors import UsageError
from evalreport.core.extensions import extensions

GLOBAL = "All commands"
WIDEST = 26
"""Columns of the names of options; longer names have a line of their own."""
KEYS = {"slices": "slice"}
"""Parameters whose key in a settings file differs from their name."""


def write_examples(name: str | None, formatter: click.HelpFormatter) -> None:
    """Write the examples of a command.

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
    """An option that knows its section of the help, and the source of its value."""

    def __init__(self, *args: Any, section: str = "Options", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section

    @property
    def key(self) -> str:
        """Key of the option in a settings file."""
        return KEYS.get(self.name or "", self.name or "")

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Leave ranges out of the help; an error names them."""
        return {name: value for name, value in super().get_help_extra(ctx).items() if name != "range"}

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        """Return the value of the command line, of ``--set``, of the environment or of a settings file."""
        value, source = super().consume_value(ctx, opts)
        words = self._assigned(ctx)
        if words:
            if source is ParameterSource.COMMANDLINE and list(_as_texts(value)) != words:
                raise UsageError(
                    f"{self.opts[0]} and --set {self.key} have different values",
                    where=f"{self.opts[0]}, --set {self.key}={words[0]}",
                    fix="pass one of them",
                )
            value, source = (words if self.multiple else words[0]), ParameterSource.COMMANDLINE
        ctx.meta["evalreport.sources"] = {**ctx.meta.get("evalreport.sources", {}), self.name: source}
        return value, source

    def _assigned(self, ctx: click.Context) -> list[str]:
        """Return the values that ``--set`` gives to the option, and mark its key as used."""
        assigned: dict[str, list[str | None]] = ctx.meta.get("evalreport.set", {})
        keys = [key for key in (self.key, f"{ctx.info_name}.{self.key}") if key in assigned]
        ctx.meta.setdefault("evalreport.set_used", set()).update(keys)
        given = [value for key in keys for value in assigned[key]]
        if None in given and not self.is_flag:
            raise UsageError(
                f"the setting {self.key} has no value",
                where=f"--set {self.key}",
                fix=f"write --set {self.key}={self.metavar or 'VALUE'}",
            )
        words = ["true" if value is None else value for value in given]
        if len(set(words)) > 1 and not self.multiple:
            raise UsageError(
                f"the setting {self.key} is given twice: {words[0]} and {words[1]}",
                where=f"--set {self.key}",
                fix="pass one of them",
            )
        return words


def _as_texts(value: Any) -> list[str]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return ["true" if one is True else str(one) for one in values]


class Setting(SectionOption):
    """A setting: ``--set KEY=VALUE``, an environment variable or a settings file give its value."""

    @property
    def typed(self) -> str:
        """The setting as it is typed, with its placeholder."""
        choices = "|".join(map(str, getattr(self.type, "choices", ())))
        return f"--set {self.key}" + ("" if self.is_flag else f"={self.metavar or choices or 'VALUE'}")

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Add nothing: a setting is not typed as an option."""

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """Return the name of the setting in an error of click."""
        return f"'--set {self.key}'"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the line of the help: the key, its placeholder, and what it sets."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        return self.typed.removeprefix("--set "), record[1]


class GlobalOption(SectionOption):
    """An option that is accepted before and after the command; before it, it still beats the environment."""

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        """Return the value that follows the command, or the one before it."""
        value, source = super().consume_value(ctx, opts)
        earlier = ctx.meta.setdefault("evalreport.said", {})
        if source is ParameterSource.COMMANDLINE:
            earlier[self.name] = value
        elif self.name in earlier:
            return earlier[self.name], ParameterSource.COMMANDLINE
        return value, source


class SectionCommand(click.Command):
    """A command whose help fits on one screen: usage, a sentence, examples, and the options in `shown`.

    Parameters
    ----------
    shown : str
        Names of the options in ``--help``, in their order, with spaces between and without dashes.
    takes_settings : bool, default True
        Whether an unused ``--set`` is refused.
    """

    def __init__(self, *args: Any, shown: str = "", takes_settings: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shown = tuple(f"--{name}" for name in shown.split())
        self.takes_settings = takes_settings

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and refuse settings that have no effect on this command."""
        rest = super().parse_args(ctx, args)
        unused = set(ctx.meta.get("evalreport.set", {})) - ctx.meta.get("evalreport.set_used", set())
        if self.takes_settings and not ctx.resilient_parsing and unused:
            key = min(unused)
            raise UsageError(
                f"the setting {key} has no effect on `{ctx.command_path}`",
                where=f"--set {key}",
                fix=f"remove it; `{ctx.command_path} --help-all` lists the settings",
            )
        return rest

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write usage, one sentence, three examples and the most used options."""
        self.format_usage(ctx, formatter)
        text = (self.help or "").split("\n\n")[0]
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)
        write_examples(self.name, formatter)
        options = self._options(ctx)
        by_name = {name: option for option in options for name in option.opts}
        shown = [by_name[name] for name in self.shown if name in by_name] or options
        records = [record for option in shown if (record := option.get_help_record(ctx)) is not None]
        if records:
            with formatter.section("Options"):
                formatter.write_dl(records, col_max=WIDEST)
        formatter.write_paragraph()
        formatter.write_text(MORE)

    def format_help_all(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write everything: the whole description, all options, and all settings."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        write_examples(self.name, formatter)
        for prefix, kind in (("", False), ("--set, ", True)):
            sections: dict[str, list[tuple[str, str]]] = {}
            for param in self.get_params(ctx):
                record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
                if record is not None and isinstance(param, Setting) is kind:
                    sections.setdefault(getattr(param, "section", GLOBAL), []).append(record)
            for title, records in sections.items():
                with formatter.section(prefix + title):
                    formatter.write_dl(records)

    def _options(self, ctx: click.Context) -> list[SectionOption]:
        """Return the options of this command, without those of all commands."""
        return [
            param
            for param in self.get_params(ctx)
            if isinstance(param, SectionOption) and not isinstance(param, Setting) and param.section != GLOBAL
        ]


class Assignment(click.ParamType):  # type: ignore[type-arg]
    """``KEY=VALUE``; the shell completes both."""

    name = "assignment"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Return the keys of the command that start with the typed letters, or the values of a key."""
        key, equals, start = incomplete.partition("=")
        options = [one for one in ctx.command.params if isinstance(one, SectionOption)]
        if not equals:
            keys = {one.key for one in options if isinstance(one, Setting)}
            return [CompletionItem(f"{name}=") for name in sorted(keys) if name.startswith(key)]
        (*_, wanted) = (None, *(one for one in options if one.key == key))
        found = [] if wanted is None else wanted.shell_complete(ctx, start)
        return [CompletionItem(f"{key}={item.value}") for item in found]


F = TypeVar("F", bound=Callable[..., Any])
FILE, FOLDER = click.Path(), click.Path(file_okay=False)
"""Types whose values the shell completes."""
MOST_RESAMPLES = 1_000_000
FLAG = ""
"""In place of a value, for an option without one."""


class HelpSection:
    """A section of the help, which makes its options and settings.

    Parameters
    ----------
    title : str
    """

    def __init__(self, title: str) -> None:
        self._title = title

    def __call__(self, names: str, value: Any, help: str, **kwargs: Any) -> Callable[[F], F]:
        """Return a decorator: an option, with its environment variable `EVALREPORT_<OPTION>`.

        The help shows its default.

        Parameters
        ----------
        names : str
            Separated by spaces; the name of the parameter comes last where it differs.
        value : str, tuple of str, type or None
            The placeholder in the help, or `FLAG`; the choices; or a type whose placeholder is known: FILE,
            DIR, N.
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
        kwargs.setdefault("cls", SectionOption)
        return click.option(*named, section=self._title, **kwargs)

    def setting(self, key: str, value: Any, help: str, **kwargs: Any) -> Callable[[F], F]:
        """Return a decorator: a setting, with its environment variable.

        Parameters
        ----------
        key : str
            May have the placeholder with it: ``weight=COL``.
        value, help
            As of an option.

        Examples
        --------
        >>> (one,) = data.setting("weight", "COL", "Weights.")(click.Command("c")).params
        >>> one.key, one.envvar
        ('weight', 'EVALREPORT_WEIGHT')
        """
        key, _, placeholder = key.partition("=")
        return self(f"--{key.replace('_', '-')} {key}", placeholder or value, help, cls=Setting, **kwargs)


@dataclass(frozen=True)
class AddedOptions:
    """Options that a feature adds at the point "options", with a name such as ``compare --by``.

    Parameters
    ----------
    options : callable
        Decorator of the command.
    extend : callable
        From a request (of `log`: the work on a run) and the values of all options to that of the feature.
    instead : callable
        Called with the arguments of the command before it starts. Returns the exit code where the options
        of the feature replace the command, else None.
    announce : callable
        Called with the console, the items and the values of all options before `log` works on them.
    """

    options: Callable[..., Any]
    extend: Callable[[Any, dict[str, Any]], Any] = lambda asked, _: asked
    instead: Callable[..., int | None] = lambda *_: None
    announce: Callable[..., None] = lambda *_: None


def refuse_without(ctx: click.Context, needed: str, *names: str) -> None:
    """Refuse options that were typed and have no effect without another one.

    Parameters
    ----------
    needed : str
        The other option, with its placeholder.
    *names : str
        Parameters of the options that need it.

    Raises
    ------
    UsageError
    """
    sources = ctx.meta.get("evalreport.sources", {})
    for name in names:
        if sources.get(name) is ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} has no effect without {needed.partition(' ')[0]}",
                where=option,
                fix=f"add {needed}, or remove {option}",
            )


def added_options(command: str) -> tuple[AddedOptions, ...]:
    """Return the options that installed features add to a command.

    Examples
    --------
    >>> added_options("completion")
    ()
    """
    named = (one for one in extensions("options") if one.name.split()[0] == command)
    return tuple(one.load() for one in named if one.is_installed)


runs, data, evaluate, large = map(HelpSection, ("Runs", "Data", "Statistics", "Large data"))
grades = HelpSection("Graded items")
report, write, gate = map(HelpSection, ("Page", "Output", "Rules"))


def _of_value(value: Any) -> dict[str, Any]:
    """Return the arguments of click for the value of an option."""
    if value == FLAG:
        return {"is_flag": True}
    if value is None or isinstance(value, str):
        return {"metavar": value}
    if isinstance(value, tuple):
        return {"type": click.Choice(value)}
    placeholder = "N" if isinstance(value, click.IntRange) else {FILE: "FILE", FOLDER: "DIR"}.get(value)
    return {"type": value, "metavar": placeholder}


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
    """Return a callback that sets a property of the console, from any source of the value."""

    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        console = ctx.find_object(Console)
        if console is not None and value not in (None, False):
            setattr(console, name, value)
        return value

    return callback


def _split_output(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str | None:
    """Return the page; set `out` where an output is a folder, and the Markdown file for ``.md``."""
    console = ctx.ensure_object(Console)
    page: str | None = None
    ctx.params["out"] = None
    for value in values:
        suffix = Path(value).suffix.lower()
        pipe = os.path.exists(value) and not os.path.isfile(value) and not os.path.isdir(value)
        if value == "-" and console.markdown == "-":
            raise _two_on_stdout("-o -")
        if suffix == ".md":
            _set_markdown(ctx, param, value)
            console.replaces_page = True
        elif value == "-" or suffix in (".html", ".htm") or pipe:
            page = _only_one("page", page, value)
        elif os.path.isfile(value):
            raise UsageError(
                f"{Path(value).name} is a file and would be overwritten",
                where=f"-o {value}",
                fix="name a page (.html), a summary (.md) or a folder",
            )
        else:
            ctx.params["out"] = _only_one("folder", ctx.params["out"], value)
    return page


def _only_one(what: str, before: str | None, value: str) -> str:
    if before not in (None, value):
        raise UsageError(f"-o names two {what}s: {before} and {value}", where="-o", fix="pass one of them")
    return value


def _set_markdown(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    console = ctx.ensure_object(Console)
    if value is None:
        return value
    if value == "-" and (console.json or ctx.params.get("output") == "-"):
        raise _two_on_stdout("--json" if console.json else "-o -")
    if console.markdown not in ("", value):
        raise UsageError(
            f"two Markdown files are named: {console.markdown} and {value}",
            where="-o, --markdown",
            fix="pass one of them",
        )
    console.markdown = value
    console.replaces_page = console.replaces_page or value == "-"
    return value


def _two_on_stdout(other: str) -> UsageError:
    return UsageError(
        f"{other} and --markdown - both write to stdout",
        where=other,
        fix="remove one of them, or name a file for --markdown",
    )


def _set_temp_dir(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Use a folder for all temporary files, in worker processes too."""
    import tempfile

    if value is not None:
        if not os.path.isdir(value):
            raise UsageError(
                f"no such folder: {value}", where=f"temp_dir={value}", fix="name an existing folder"
            )
        os.environ["TMPDIR"] = value
        tempfile.tempdir = None
    return value


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
            names = ctx.command.list_commands(ctx)
            # an empty map of the command `help` would be the default of the option --help in Click 8.1
            ctx.default_map = {name: found for name in names if (found := settings.defaults(name))}
        else:
            ctx.default_map = settings.defaults(ctx.info_name or "")
    if not isinstance(ctx.command, click.Group):  # a --config behind the command may still take their place
        for error in ctx.meta["evalreport.settings"].refused:
            raise error
    return value


def _assign(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> None:
    """Check the assignments of ``--set``, and keep them for the options that they belong to."""
    from evalreport.cli.settings import parse_assignments

    assigned = ctx.meta.setdefault("evalreport.set", {})
    for key, values in parse_assignments(words).items():
        assigned.setdefault(key, []).extend(values)


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        formatter = ctx.make_formatter()
        command = ctx.command
        (command.format_help_all if isinstance(command, SectionCommand) else command.format_help)(
            ctx, formatter
        )
        click.echo(formatter.getvalue().rstrip("\n"), color=ctx.color)
        ctx.exit()


def global_options(command: Any) -> Any:
    """Add the options that are accepted before and after a command."""
    everywhere = HelpSection(GLOBAL)
    everywhere(
        "--set",
        "KEY=VALUE",
        "Change a setting for this call; repeat.",
        type=Assignment(),
        multiple=True,
        is_eager=True,
        expose_value=False,
        envvar=None,
        callback=_assign,
    )(command)
    everywhere(
        "--help-all",
        FLAG,
        "Show all options and settings.",
        is_eager=True,
        expose_value=False,
        envvar=None,
        callback=_show_all,
    )(command)
    command.params += [
        _global("--config", FILE, "Settings file.", is_eager=True, callback=_load_config),
        _global(
            "--tracking-uri",
            "URI",
            "MLflow tracking server or store.",
            envvar="MLFLOW_TRACKING_URI",
            callback=_keep_uri,
        ),
        _global("--json", FLAG, "Print one JSON object.", callback=_sets("json")),
        _global("--color", ("auto", "always", "never"), "Colour of messages.", callback=_sets("color")),
        _global("-q --quiet", None, "Print only errors; -qq prints nothing.", count=True),
        _global("-v --verbose", None, "Show progress; -vv adds timings and tracebacks.", count=True),
    ]
    return command


def _global(names: str, value: Any, help: str, **kwargs: Any) -> GlobalOption:
    named = names.split()
    kwargs = {"help": help, "envvar": _variable(named[-1]), **_of_value(value), **kwargs}
    return GlobalOption(named, section=GLOBAL, expose_value=False, **kwargs)


selection = combine_options(
    runs("--run-id run_ids", "ID", "Run to read; repeat, or - to read ids from stdin.", multiple=True),
    runs("--experiment", "NAME", "All finished runs of an experiment (glob allowed)."),
    runs("--filter", "EXPR", "MLflow search expression; needs --experiment."),
    runs(
        "--latest",
        "[N]",
        "Only the newest N runs (default: 1).",
        type=click.IntRange(min=1),
        is_flag=False,
        flag_value="1",
    ),
    runs.setting("max_runs", click.IntRange(min=1), "Refuse to start on more runs.", default=100),
)

columns = combine_options(
    data("--artifact", "GLOB", "Predictions in the run: a file or a folder."),
    data("--truth", "COL", "Column of true labels."),
    data("--pred", "COL", "Column of predicted labels."),
    data("--score", "COL", "Column of the positive class's score."),
    data("--scores", "GLOB", "Score columns, one per label, e.g. 'p_*'."),
    data(
        "--score-kind",
        ("probability", "logit", "decision"),
        "probability, logit or decision (no scale).",
        metavar="KIND",
    ),
    data("--response", "COL", "Column of a language model's responses."),
    data("--labels", "LIST", "A,B,… or @FILE (a JSON list, or one label per line).", type=Words()),
    data("--positive", "LABEL", "Positive class of a binary problem."),
    data("--id", "COL", "Column of row ids."),
    data("--slice slices", "COL", "Metrics for each value of a column; repeat.", multiple=True),
    data("--repeats", FLAG, "Rows with the same --id, or a list in a cell, are repeated responses."),
    data(
        "--where",
        "COL=VALUE",
        "Use only these rows: split=test, label!=-100; repeat.",
        multiple=True,
    ),
    data.setting("format", Format(), "File format (csv, parquet, …) if the file name does not show it."),
    data.setting(
        "task", ("auto", "binary", "multiclass", "multilabel"), "Classification task.", default="auto"
    ),
    data.setting("truth_file", FILE, "File with the true labels, joined by id."),
    data.setting("weight", "COL", "Column of row weights."),
    data.setting(
        "weight_kind",
        ("sampling", "count"),
        "count: a weight is the number of identical rows.",
        default="sampling",
    ),
    data.setting(
        "group",
        "COL",
        "Cluster column (e.g. patient id); intervals account for clustering; repeat.",
        multiple=True,
    ),
    data.setting(
        "slice_bins",
        "N",
        "Quantile bins of a numeric --slice column with over 20 values; 0: each value.",
        type=int,
        default=5,
    ),
    data.setting("fold", "COL", "Column of the cross-validation fold that tested each row."),
    data.setting("ordered", FLAG, "Labels are ordinal, in the order of --labels."),
    data.setting("no_scores", FLAG, "Ignore score columns; evaluate predicted labels only."),
    data.setting("missing", ("wrong",), "Count rows without a prediction as wrong (default: error)."),
    data.setting(
        "parse", "HOW", "How responses become labels: auto | exact | json | regex:PATTERN | module:function"
    ),
    data.setting("fuzzy", FLAG, "Accept the nearest label for a misspelt response."),
    data.setting("batch_axis", FLAG, "Arrays have a leading batch axis [batch, n, labels]."),
    data.setting("list_separator", "CHAR", "Separator of labels within one CSV cell."),
    grades("--grade", "COL", "Grade of each item (pass/fail, 0 to 1, a rating) in place of labels."),
    grades.setting("judge", "COL", "Grades of a model for all items, corrected by --set human."),
    grades.setting("pass", "RULE", "Grades that pass, such as '>=4'."),
    grades.setting("repeat", "COL", "Number of the attempt at an item."),
    grades.setting("measure", "COL", "Cost, latency or tokens of each item; repeat.", multiple=True),
    grades.setting("human", "COL", "Grades of people for some of the items."),
)

show_text = report.setting("show_text", "COL", "Column with example text to show in the report.")
describe = combine_options(columns, show_text)
children = runs("--children", FLAG, "Child runs are folds; with --repeats, repeated responses.")
threshold = evaluate(
    "--threshold",
    "T",
    "0.5, max-f1, youden, recall>=0.95 or cost:10.",
)
tune_on = evaluate("--tune-on", "FILE|RUN", "Validation predictions that choose the threshold.", type=FILE)
constraint_confidence = evaluate.setting(
    "constraint_confidence",
    "P",
    "Confidence level for a constraint such as recall>=0.95.",
    type=Level(),
)
min_difference = evaluate(
    "--min-difference",
    "X",
    "Sample size needed to detect a difference of X at 80% power.",
    type=Amount(),
)
equivalent = evaluate(
    "--equivalent", "X", "Report which metrics are equal within X (two one-sided tests).", type=Amount()
)
prevalence = evaluate.setting(
    "prevalence=P",
    None,
    "Prevalence in deployment; recomputes PPV, NPV and net benefit for it.",
    type=Amount(below=1),
)
confidence = evaluate.setting(
    "confidence", "P", "Confidence level of the intervals.", type=Level(), default=0.95
)
confidence_or_none = evaluate.setting(
    "confidence",
    "P|none",
    "Confidence level of the intervals, or none to skip them (faster).",
    type=Confidence(),
    default=0.95,
)
resamples = evaluate.setting(
    "resamples", click.IntRange(100, MOST_RESAMPLES), "Number of bootstrap resamples.", default=2000
)
seed = evaluate.setting("seed", "N", "Random seed.", type=int, default=0)
metrics = evaluate(
    "--metrics",
    "LIST",
    "Only these metrics, comma separated; module:function adds your own.",
    type=Words(),
)
no_find_slices = evaluate(
    "--no-find-slices",
    FLAG,
    "Do not search the other columns for groups of rows with more errors.",
)
evaluation = combine_options(threshold, tune_on, confidence_or_none, resamples, seed, metrics, no_find_slices)
compared = combine_options(threshold, tune_on, confidence, resamples, seed, metrics, no_find_slices)

unit = report.setting("unit", "ONE,MANY", "What a row represents, e.g. tumour,tumours.", type=Words())
label_names = report.setting(
    "label_names", "LABEL=NAME,…", "Display names for labels, e.g. 1=failure,0=fine.", type=Words()
)
notes = report.setting(
    "notes", FILE, "Markdown file for a section of the page: intended use, limits, approval."
)
no_examples = report.setting("no_examples", FLAG, "Show no example rows, not even their ids.")
title = report("--title", "TEXT", "Title of the page (default: name of the input).")
page_texts = combine_options(unit, label_names, notes)
page = combine_options(title, page_texts, no_examples)

output = write(
    "-o --output",
    "PATH",
    "Page (.html), summary (.md), - (stdout) or a folder.",
    type=FILE,
    multiple=True,
    callback=_split_output,
)
folder = write("-o --output out", "DIR", "Also write the report and the tables to this folder.", type=FOLDER)
markdown = write(
    "--markdown",
    "FILE",
    "Also write a Markdown summary; - for stdout.",
    type=FILE,
    expose_value=False,
    callback=_set_markdown,
)
force = write("--force", FLAG, "Replace files that evalreport did not write.")
allow_running = write.setting("allow_running", FLAG, "Also log into a run that has not ended.")
dry_run = write("-n --dry-run", FLAG, "Print what would be logged; write nothing.")
log_all = write("--log-all", FLAG, "Log every metric, interval, class and curve.")
prefix = write.setting("prefix", "TEXT", "Prefix of metric names in MLflow.", default="eval/")
fail_fast = large.setting("fail_fast", FLAG, "Stop at the first run that fails.")
jobs = large.setting(
    "jobs",
    click.IntRange(min=1),
    "Parallel processes (default: one per core when there are many runs).",
)
jsonl = HelpSection(GLOBAL)("--jsonl", FLAG, "Print one JSON object per run.")
swept = combine_options(
    output,
    markdown,
    write("--log", FLAG, "Log the report, tables and best values to the run.", envvar=None),
    prefix,
    log_all,
    force,
    allow_running,
    dry_run,
    fail_fast,
    jsonl,
)
"""The outputs of all commands below `sweep`."""


engine = combine_options(
    large.setting(
        "table",
        "NAME",
        "A Spark table (catalog.schema.name), or a Parquet or Delta path that Spark reads.",
    ),
    large.setting(
        "engine",
        ("auto", "memory", "stream", "spark"),
        "stream: in batches, for files larger than memory; spark: for Spark tables; auto: by file size.",
        default="auto",
    ),
    large.setting(
        "approximate",
        FLAG,
        "Bin the scores of binary data: fixed memory, and areas with proven error limits.",
    ),
    large.setting(
        "memory",
        "SIZE",
        "Memory limit of the stream engine (200MB or more); more scores go to temporary files. With Spark: "
        "limit for the scores of one task.",
        type=Bytes(),
        default="1GB",
    ),
    large.setting(
        "temp_dir", FOLDER, "Folder for temporary files.", callback=_set_temp_dir, expose_value=False
    ),
    large.setting(
        "spark_master",
        "URL",
        "Start a Spark session there, e.g. local[4] or sc://HOST:15002 (Spark Connect); default: the active "
        "session.",
    ),
)
