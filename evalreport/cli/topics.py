"""`evalreport help TOPIC`: the options and settings of a topic."""

from __future__ import annotations

import click

from evalreport.cli.console import Console
from evalreport.cli.help_texts import TOPICS
from evalreport.cli.options import SectionCommand, SectionOption, Setting, global_options
from evalreport.cli.stdio import write_line

OF_COMMANDS = ("report", "log", "compare", "check")
"""Commands whose options and settings the topics list."""


@click.command("help", cls=SectionCommand, takes_settings=False)
@click.argument("topic", type=click.Choice([*TOPICS]), required=False)
@click.pass_context
def command(ctx: click.Context, topic: str | None) -> None:
    """Explain a topic: its options and settings, and how they are used."""
    from evalreport.cli import group

    if topic is None:
        write_line("Topics: " + ", ".join(TOPICS) + ". `evalreport COMMAND --help` explains a command.")
        return
    section, text = TOPICS[topic]
    options: dict[str, tuple[str, str]] = {}
    settings: dict[str, tuple[str, str]] = {}
    for name in OF_COMMANDS:
        one = group.get_command(ctx, name)
        for param in () if one is None else one.params:
            if isinstance(param, SectionOption) and param.section == section and param.name is not None:
                record = param.get_help_record(ctx)
                into = settings if isinstance(param, Setting) else options
                if record is not None:
                    into.setdefault(param.name, record)
    formatter = ctx.make_formatter()
    formatter.write_text(text)
    for title, records in (
        ("Options", options),
        ("Settings: --set KEY=VALUE, or [tool.evalreport]", settings),
    ):
        if records:
            with formatter.section(title):
                formatter.write_dl([*records.values()])
    ctx.ensure_object(Console).rest()
    write_line(formatter.getvalue().rstrip("\n"))


global_options(command)
