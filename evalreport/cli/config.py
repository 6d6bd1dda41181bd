"""`evalreport config`: the settings in effect and the origin of each."""

from __future__ import annotations

import os
from typing import Any

import click

from evalreport.cli.console import Console
from evalreport.cli.options import SectionCommand, global_options
from evalreport.cli.settings import KNOWN, RENAMED, Settings

BUILT_IN = "built-in"


@click.command("config", cls=SectionCommand, takes_settings=False)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the settings: key, value, and origin (--set, an option, the environment, a file, or built-in)."""
    console = ctx.ensure_object(Console)
    settings: Settings = ctx.meta["evalreport.settings"]
    rows = [(name, *_effective(ctx, name, settings)) for name in KNOWN]
    rows += [
        (f"check.{name}", value, settings.origins[f"check.{name}"]) for name, value in settings.check.items()
    ]
    for name, value, origin in rows:
        console.print_result(f"{name:22} {_as_text(value):30} {origin}")
    console.emit(runs=[], settings={name: {"value": value, "origin": origin} for name, value, origin in rows})


def _as_text(value: Any) -> str:
    if value is None or value is False or value == ():
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _effective(ctx: click.Context, name: str, settings: Settings) -> tuple[Any, str]:
    """Return the value of a setting and its origin, in the order of precedence."""
    from evalreport.core.text import redact_uri

    variable = "MLFLOW_TRACKING_URI" if name == "tracking_uri" else f"EVALREPORT_{name.upper()}"
    earlier = ctx.meta.get("evalreport.said", {})
    value, origin = _built_in_default(name), BUILT_IN
    assigned = ctx.meta.get("evalreport.set", {})
    if name in assigned:
        words = ["true" if word is None else word for word in assigned[name]]
        value, origin = (words[0] if len(words) == 1 else words), "--set"
    elif name in earlier:
        value, origin = earlier[name], "--" + name.replace("_", "-")
    elif os.environ.get(variable):
        value, origin = os.environ[variable], variable
    elif name in settings.values:
        value, origin = settings.values[name], settings.origins[name]
    return (redact_uri(str(value)) if name == "tracking_uri" and value else value), origin


def _built_in_default(name: str) -> Any:
    """Return the default of the option, as `evalreport log` has it."""
    from evalreport.cli.log import command as log

    param = next((param for param in log.params if param.name == RENAMED.get(name, name)), None)
    value = None if param is None else param.get_default(click.Context(log))
    return value if isinstance(value, (str, int, float)) else None


global_options(command)
