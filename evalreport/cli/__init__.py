"""The command line: parse arguments, call `workflow`, print.

Only click and the standard library are imported here and in the modules that `--help` loads. The import
of one numeric library takes longer than all of the help.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

import click

from evalreport import __version__
from evalreport.cli.console import Console, Pulse, fail, internal, usage
from evalreport.cli.help_texts import MORE
from evalreport.cli.options import global_options, write_examples
from evalreport.cli.stdio import forget, interrupt_on_sigterm, ready
from evalreport.core.errors import EvalreportError, LoggingInterrupted, UsageError, nearest
from evalreport.core.extensions import Extension, extensions
from evalreport.core.progress import on_progress

COMMANDS: dict[str, tuple[str, str]] = {
    "report": ("evalreport.cli.report", "Write an HTML report of a file or a run."),
    "log": ("evalreport.cli.log", "Evaluate finished runs and log metrics and report to MLflow."),
    "compare": ("evalreport.cli.compare", "Compare two or more runs or files, with paired intervals."),
    "sweep": ("evalreport.cli.sweep", "Choose a threshold, or report on an Optuna study or a sweep."),
    "demo": ("evalreport.cli.demo", "Write example pages from bundled data (5 seconds)."),
    "init": ("evalreport.cli.init", "Write settings from the columns of a file or run."),
    "plan": ("evalreport.cli.plan", "Compute the sample size for an interval or a difference."),
    "verify": ("evalreport.cli.verify", "Check that everything evalreport logged is still in the run."),
    "metrics": ("evalreport.cli.metrics", "List the metrics, or explain one."),
    "config": ("evalreport.cli.config", "List the settings: key, value, origin."),
    "help": ("evalreport.cli.topics", "Explain a topic: data, statistics, large, page, safety."),
    "completion": ("evalreport.cli.completion", "Print a shell completion script."),
}
"""Command of the core to its module (with an attribute `command`) and its line in the help."""
START = ("report", "log", "compare", "check")
"""Commands that the help lists first."""


def added_commands() -> dict[str, Extension]:
    """Return the commands that features add, by name; each is a `click.Command`."""
    return {one.name: one for one in extensions("commands") if one.name not in COMMANDS}


class LazyGroup(click.Group):
    """Imports the module of a command when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the documentation, those of installed features last."""
        return [*COMMANDS, *(name for name, one in added_commands().items() if one.is_installed)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        command: click.Command | None = None
        if cmd_name in COMMANDS:
            command = import_module(COMMANDS[cmd_name][0]).command
        elif cmd_name in added_commands():
            command = added_commands()[cmd_name].load()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a command; the error of an unknown name lists the nearest."""
        name = args[0]
        if name not in COMMANDS and name not in added_commands() and not name.startswith("-"):
            raise UsageError(f"no such command: {name}", fix=nearest(name, self.list_commands(ctx)))
        ctx.ensure_object(Console).command = name
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write usage, examples, the commands to start with, the others, and the options of all commands."""
        lines = {name: text for name, (_, text) in COMMANDS.items()}
        lines |= {name: one.help for name, one in added_commands().items() if one.is_installed}
        start = [name for name in START if name in lines]
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        write_examples("group", formatter)
        for title, names in (
            ("Start here", start),
            ("Other commands", [name for name in lines if name not in start]),
        ):
            with formatter.section(title):
                formatter.write_dl([(name, lines[name]) for name in names])
        self.format_options(ctx, formatter)
        self.format_epilog(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options that every command has."""
        records = [record for param in self.get_params(ctx) if (record := param.get_help_record(ctx))]
        with formatter.section("Options of all commands"):
            formatter.write_dl(records)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"{MORE} Exit codes: 0 done, 1 check failed, 2 usage, 3 not found, 4 server, 5 invalid data.",
)
@click.version_option(__version__, prog_name="evalreport")
def group() -> None:
    """Classification metrics with confidence intervals, reports and comparisons for files and MLflow runs."""


global_options(group)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code; the entry point of `evalreport`."""
    ready()
    arguments = list(sys.argv[1:] if args is None else args)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads cost more than our sums; see `-j`
    console = Console.of_arguments(arguments, COMMANDS)
    with interrupt_on_sigterm(), console.show_logs(), Pulse(console), _imports_unswept():
        sys.exit(_code(arguments, console))


@contextmanager
def _imports_unswept() -> Iterator[None]:
    """Disable garbage collection until work begins: imports leave no garbage (saves 5 to 60 ms)."""

    def enable_gc(*_: object) -> None:
        if not gc.isenabled():
            gc.freeze()
            gc.enable()

    gc.disable()
    try:
        with on_progress(enable_gc):
            yield
    finally:
        gc.unfreeze()
        gc.enable()


def _code(arguments: list[str], console: Console) -> int:
    """Run a command and return its exit code; every failure becomes one of our errors."""
    try:
        code = group.main(arguments, prog_name="evalreport", standalone_mode=False, obj=console)
    except EvalreportError as error:
        return fail(console, error)
    except click.ClickException as error:
        return _report_usage_error(console, error)
    except (KeyboardInterrupt, click.Abort) as stop:
        half = next((end for end in (stop, stop.__cause__) if isinstance(end, LoggingInterrupted)), None)
        console.say(f"interrupted; {half or 'no half-written file remains'}", level=-1)
        return 130
    except (SystemExit, BrokenPipeError):  # the shell completes, or the reader of stdout has closed it
        forget(1)
        return 0
    except Exception as error:
        return fail(console, internal(error))
    return code if isinstance(code, int) else 0


def _report_usage_error(console: Console, error: click.ClickException) -> int:
    ctx: click.Context | None = getattr(error, "ctx", None)
    # click before 8.2 has no such error: it prints the help
    bare = isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ()))
    if bare and ctx is not None and not console.json:
        click.echo(ctx.get_help(), err=True)
        return UsageError.exit_code
    return fail(console, usage(error, console.command))
