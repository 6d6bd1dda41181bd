"""`evalreport sweep`: thresholds of predictions, an Optuna study, or the child runs of a sweep."""

from __future__ import annotations

import click

from evalreport.cli import options as opt
from evalreport.cli.options import write_examples
from evalreport.cli.settings import sweeps
from evalreport.cli.thresholds import thresholds
from evalreport.core.errors import UsageError, nearest
from evalreport.core.extensions import extension, extensions


class SweepGroup(click.Group):
    """Loads a command when it is asked for; names the nearest when there is none of that name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return thresholds, and the sweeps that features add."""
        return ["thresholds", *(one.name for one in extensions("sweeps") if one.is_installed)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported where it is of a feature."""
        if cmd_name == "thresholds":
            return thresholds
        added: click.Command | None = extension("sweeps", cmd_name) if cmd_name in sweeps() else None
        return added

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, and examples."""
        super().format_commands(ctx, formatter)
        write_examples(self.name, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant."""
        name = args[0]
        if name not in sweeps() and not name.startswith("-"):
            raise UsageError(
                f"no such command: sweep {name}", where="evalreport sweep", fix=nearest(name, sweeps())
            )
        return super().resolve_command(ctx, args)


@click.group("sweep", cls=SweepGroup)
def command() -> None:
    """Sweep thresholds, or report on a sweep that was run: an Optuna study, or child runs in MLflow."""


opt.global_options(thresholds)
opt.global_options(command)
