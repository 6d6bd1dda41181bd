"""`evalreport sweep`: thresholds, an Optuna study, or the child runs of a sweep."""

from __future__ import annotations

import click

from evalreport.cli import options as opt
from evalreport.cli.options import write_examples
from evalreport.cli.settings import sweeps
from evalreport.cli.thresholds import thresholds
from evalreport.core.errors import UsageError, nearest
from evalreport.core.extensions import extension, extensions


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
