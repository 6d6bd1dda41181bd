"""`evalreport sweep`: thresholds of predictions, an Optuna study, or the child runs of a sweep."""

from __future__ import annotations

import click

from evalreport.cli import options as opt
from evalreport.cli.options import write_examples
from evalreport.cli.settings import SWEEPS
from evalreport.cli.thresholds import thresholds
from evalreport.core.errors import UsageError, nearest
from evalreport.features.studies.cli import optuna, runs


class SweepGroup(click.Group):
    """Names the nearest command when there is none of that name."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, and examples."""
        super().format_commands(ctx, formatter)
        write_examples(self.name, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant."""
        name = args[0]
        if name not in SWEEPS and not name.startswith("-"):
            raise UsageError(
                f"no such command: sweep {name}", where="evalreport sweep", fix=nearest(name, SWEEPS)
            )
        return super().resolve_command(ctx, args)


@click.group("sweep", cls=SweepGroup)
def command() -> None:
    """Sweep thresholds, or report on a sweep that was run: an Optuna study, or child runs in MLflow."""


for _sub in (thresholds, optuna, runs):
    opt.global_options(_sub)
    command.add_command(_sub)
opt.global_options(command)
