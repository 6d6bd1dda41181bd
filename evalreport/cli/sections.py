"""Options under headings, and commands whose help lists them so, with examples at its end."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from evalreport.cli.examples import EXAMPLES

EVERYWHERE = "Everywhere"


def write_examples(name: str | None, formatter: click.HelpFormatter) -> None:
    """Write the examples of a command at the end of its help.

    Examples
    --------
    >>> formatter = click.HelpFormatter()
    >>> write_examples("config", formatter)
    >>> formatter.getvalue().splitlines()[1]
    '  evalreport config'
    """
    with formatter.section("Examples"):
        for words in EXAMPLES.get(name or "", ()):
            formatter.write(f"{'':{formatter.current_indent}}evalreport {words}\n")


class SectionOption(click.Option):
    """An option that knows under which heading the help lists it, and where its value came from."""

    def __init__(self, *args: Any, section: str = "Options", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Leave ranges out of the help; an error names them."""
        return {name: value for name, value in super().get_help_extra(ctx).items() if name != "range"}

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        """Return the value and its source, which an error about the value will name."""
        value, source = super().consume_value(ctx, opts)
        ctx.meta["evalreport.sources"] = {**ctx.meta.get("evalreport.sources", {}), self.name: source}
        return value, source


class GlobalOption(SectionOption):
    """An option that stands before or after the command; before it, it still beats the environment."""

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        """Return the value of this place, or what was said before the command."""
        value, source = super().consume_value(ctx, opts)
        said = ctx.meta.setdefault("evalreport.said", {})
        if source is ParameterSource.COMMANDLINE:
            said[self.name] = value
        elif self.name in said:
            return said[self.name], ParameterSource.COMMANDLINE
        return value, source


class SectionCommand(click.Command):
    """A command whose help lists its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, one section after the other."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(param, "section", EVERYWHERE), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
        write_examples(self.name, formatter)
