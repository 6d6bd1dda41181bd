"""Click's complaints about an option as one of our errors: what, where, and how to mend it."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from evalreport.errors import UsageError, nearest


def usage(error: click.ClickException, command: str) -> UsageError:
    """Return the error for what click did not understand.

    The place is the command, or the variable or file that a wrong value comes from.
    """
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else f"evalreport {command}".strip()
    fix = f"{path} --help lists the options"
    message = error.format_message().rstrip(".")
    match error:
        case click.NoSuchOption():
            known = [name for param in ctx.command.get_params(ctx) for name in param.opts] if ctx else []
            message, fix = f"no such option: {error.option_name}", nearest(error.option_name, known)
            if fix.startswith("Known"):
                fix = f"{path} --help lists the options"
        case click.BadParameter(param=click.Option() as param) if ctx is not None and param.name:
            path = _origin(ctx, param) or path
    return UsageError(message[:1].lower() + message[1:], where=path, fix=fix)


def _origin(ctx: click.Context, param: click.Option) -> str:
    """Return where the value of an option comes from, when it is not the command line."""
    source = ctx.meta.get("evalreport.sources", {}).get(param.name)
    if source is ParameterSource.ENVIRONMENT:
        return f"the environment, {param.envvar}"
    if source is ParameterSource.DEFAULT_MAP:
        settings: Any = ctx.meta.get("evalreport.settings")
        return str(settings.origin_of(param.name)) if settings is not None else ""
    return ""
