"""Parse arguments, call `workflow`, print; nothing else.

Only click and the standard library are imported here and in the modules that `--help` loads: the
import of one numeric library costs more than the whole answer.
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
from evalreport.cli.console import Console, fail, internal, usage
from evalreport.cli.options import global_options, write_examples
from evalreport.cli.stdio import forget, interrupt_on_sigterm, ready
from evalreport.cli.streams import Pulse
from evalreport.core.errors import EvalreportError, LoggingInterrupted, UsageError, nearest
from evalreport.core.extensions import Extension, extensions
from evalreport.core.progress import on_progress

COMMANDS: dict[str, tuple[str, str]] = {
    "log": (
        "evalreport.cli.log",
        "Compute metrics for finished runs and log them, with an HTML report, to MLflow.",
    ),
    "report": (
        "evalreport.cli.report",
        "Write the HTML report of a run or a file; a file touches no server.",
    ),
    "compare": ("evalreport.cli.compare", "Two or more runs or files side by side, with paired intervals."),
    "sweep": ("evalreport.cli.sweep", "Thresholds, an Optuna study, or the child runs of a sweep."),
    "plan": (
        "evalreport.cli.plan",
        "How many rows give an interval of a width, or demonstrate a difference.",
    ),
    "metrics": ("evalreport.cli.metrics", "List the metrics of a task, or explain one."),
    "config": ("evalreport.cli.config", "Show the settings in effect and where each comes from."),
    "completion": ("evalreport.cli.completion", "Print a shell completion script."),
}
"""Command of the core to its module (with an attribute `command`) and its line in the help."""


def added_commands() -> dict[str, Extension]:
    """Return the commands that features add, by name: at the point "commands" each is a `click.Command`."""
    return {one.name: one for one in extensions("commands") if one.name not in COMMANDS}


class LazyGroup(click.Group):
    """Loads a command's module when the command is asked for, not before."""

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
        """Name the nearest command when there is none of that name."""
        name = args[0]
        if name not in COMMANDS and name not in added_commands() and not name.startswith("-"):
            raise UsageError(f"no such command: {name}", fix=nearest(name, self.list_commands(ctx)))
        ctx.ensure_object(Console).command = name
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            lines = {name: text for name, (_, text) in COMMANDS.items()}
            lines |= {name: one.help for name, one in added_commands().items() if one.is_installed}
            formatter.write_dl([*lines.items()])
        write_examples("group", formatter)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 a check failed, 2 usage, 3 not found, 4 server, 5 data invalid.",
)
@click.version_option(__version__, prog_name="evalreport")
def group() -> None:
    """How good is it, really? Every classification metric of finished MLflow runs, with intervals."""


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
    """Look for no garbage until work begins: nothing that is imported is any, and a look costs 5 to 60 ms."""

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
    """Run a command and return its exit code; whatever goes wrong is told as one of our errors."""
    try:
        code = group.main(arguments, prog_name="evalreport", standalone_mode=False, obj=console)
    except EvalreportError as error:
        return fail(console, error)
    except click.ClickException as error:
        return _report_usage_error(console, error)
    except (KeyboardInterrupt, click.Abort) as stop:
        half = next((end for end in (stop, stop.__cause__) if isinstance(end, LoggingInterrupted)), None)
        console.say(f"interrupted; {half or 'nothing half written is left behind'}", level=-1)
        return 130
    except (SystemExit, BrokenPipeError):  # the shell completes, or whoever read us has enough
        forget(1)
        return 0
    except Exception as error:
        return fail(console, internal(error))
    return code if isinstance(code, int) else 0


def _report_usage_error(console: Console, error: click.ClickException) -> int:
    ctx: click.Context | None = getattr(error, "ctx", None)
    # before click 8.2 there is no such error: click prints the help by itself
    bare = isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ()))
    if bare and ctx is not None and not console.json:
        click.echo(ctx.get_help(), err=True)
        return UsageError.exit_code
    return fail(console, usage(error, console.command))
