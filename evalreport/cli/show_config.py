"""`evalreport config`: the settings in effect and where each comes from."""

from __future__ import annotations

import os

import click

from evalreport.cli.console import Console
from evalreport.cli.options import SectionCommand, global_options
from evalreport.cli.settings import KNOWN, Settings


@click.command("config", cls=SectionCommand)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show every setting that is not built in, its value and its origin."""
    console = ctx.ensure_object(Console)
    settings: Settings = ctx.meta["evalreport.settings"]
    rows = [(name, *found) for name in KNOWN if (found := _effective(name, settings)) is not None]
    rows += [(f"check.{name}", value, "check") for name, value in settings.check.items()]
    for name, value, origin in rows:
        console.out(f"{name:16} {value!s:30} {origin}")
    if not rows:
        console.say("nothing is set: built-in defaults everywhere")
    console.emit(runs=[], settings={name: {"value": value, "origin": origin} for name, value, origin in rows})


def _effective(name: str, settings: Settings) -> tuple[object, str] | None:
    from evalreport.text import redact

    variable = "MLFLOW_TRACKING_URI" if name == "tracking_uri" else f"EVALREPORT_{name.upper()}"
    if variable in os.environ:
        value = os.environ[variable]
        return (redact(value) if name == "tracking_uri" else value), variable
    if name in settings.values:
        return settings.values[name], settings.origins[name]
    return None


global_options(command)
