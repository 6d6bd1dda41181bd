"""`evalreport completion`: print a shell completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from evalreport.cli.options import SectionCommand, global_options
from evalreport.cli.stdio import write_line


@click.command("completion", cls=SectionCommand)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a completion script for SHELL: commands, options and files.

    \b
    Put it where the shell reads it:
      evalreport completion bash >> ~/.bashrc
    """
    from evalreport.cli import group

    kind = get_completion_class(shell)
    if kind is not None:
        write_line(kind(group, {}, "evalreport", "_EVALREPORT_COMPLETE").source())


global_options(command)
