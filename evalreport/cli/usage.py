"""Click's complaints about an option as one of our errors: what, where, and how to mend it."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from evalreport.errors import UsageError, nearest, shortened

_NUMBERS = {"a valid float range": "a number", "a valid integer range": "a whole number"}
"""Words of click that name its types, and what they mean."""


def usage(error: click.ClickException, command: str) -> UsageError:
    """Return the error for what click did not understand.

    The place is the command, or the variable or file that a wrong value comes from.

    Examples
    --------
    >>> found = usage(click.UsageError("Got unexpected extra argument (b)."), "report")
    >>> found.message, found.fix
    ('got unexpected extra argument (b)', 'evalreport report --help lists the options')
    """
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else f"evalreport {command}".strip()
    fix = f"{path} --help lists the options"
    message = error.format_message().rstrip(".")
    for theirs, ours in _NUMBERS.items():
        message = message.replace(theirs, ours)
    match error:
        case click.NoSuchOption():
            message = f"no such option: {error.option_name}"
            fix = (_meant(error.option_name, ctx) if ctx else "") or fix
        case click.BadParameter(param=click.Option() as param) if ctx is not None and param.name:
            fix = f"{' '.join(filter(None, (param.opts[0], param.metavar)))}: {param.help or ''}".rstrip(".")
            path = _origin(ctx, param) or path
    message = shortened(message, 400)
    return UsageError(message[:1].lower() + message[1:], where=path, fix=fix)


def _meant(name: str, ctx: click.Context) -> str:
    """Return the option that was meant: of a command below a group, or a near one; "" for none."""
    if isinstance(ctx.command, click.Group):
        below = [word for word, command in ctx.command.commands.items() if name in _names(command, ctx)]
        if below:
            return "write the command before its options: " + " or ".join(
                f"{ctx.command_path} {word} {name}" for word in below
            )
    found = nearest(name, _names(ctx.command, ctx))
    return "" if found.startswith("Known") else found


def _names(command: click.Command, ctx: click.Context) -> list[str]:
    return [name for param in command.get_params(ctx) for name in param.opts]


def _origin(ctx: click.Context, param: click.Option) -> str:
    """Return where the value of an option comes from, when it is not the command line."""
    source = ctx.meta.get("evalreport.sources", {}).get(param.name)
    if source is ParameterSource.ENVIRONMENT:
        return f"the environment, {param.envvar}"
    if source is ParameterSource.DEFAULT_MAP:
        settings: Any = ctx.meta.get("evalreport.settings")
        return str(settings.origin_of(param.name)) if settings is not None else ""
    return ""
