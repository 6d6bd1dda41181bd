"""Types of options: the values that an option accepts, and how the shell completes them."""

from __future__ import annotations

import math
import re
from typing import Any, ClassVar

import click
from click.shell_completion import CompletionItem

from evalreport.core.bounds import number

LEVEL = click.FloatRange(0.5, 0.999)


class Level(click.ParamType):  # type: ignore[type-arg]
    """A confidence level; a per cent sign is allowed."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the level as a proportion."""
        proportion = number(str(value))
        return LEVEL.convert(value if proportion is None else proportion, param, ctx)


class Words(click.ParamType):  # type: ignore[type-arg]
    """Text, or a list from a settings file."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return lists as they are, all else as text."""
        return value if isinstance(value, list) else str(value)


class Confidence(click.ParamType):  # type: ignore[type-arg]
    """A confidence level, or ``none`` for values without intervals."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        """Return the level; None for ``none``."""
        return None if value == "none" else Level().convert(value, param, ctx)


class Amount(click.ParamType):  # type: ignore[type-arg]
    """A number above 0, and below 1 for a proportion; a per cent sign is allowed."""

    name = "number"

    def __init__(self, below: float = math.inf) -> None:
        self.below = below

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        wanted = number(str(value))
        if wanted is None or not 0 < wanted < self.below:
            kind = "proportion between 0 and 1" if self.below == 1 else "number above 0"
            self.fail(f"{value!r} is not a {kind}, such as 0.02 or 2%.", param, ctx)
        return wanted


class Bytes(click.ParamType):  # type: ignore[type-arg]
    """A size: ``500MB``, ``2GB``, or a number of bytes."""

    name = "size"
    UNITS: ClassVar = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?b?)", str(value).strip(), flags=re.IGNORECASE)
        wide = 0 if found is None else float(found[1]) * self.UNITS.get(found[2].upper(), 0)
        size = int(wide) if math.isfinite(wide) else 0
        if size <= 0:
            self.fail(f"{value!r} is not a size such as 500MB or 2GB.", param, ctx)
        return size


class Format(click.ParamType):  # type: ignore[type-arg]
    """The name of a reader. Readers import NumPy, so they are loaded only when a name is checked."""

    name = "format"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the readers."""
        from evalreport.readers.formats import format_names

        return format_names()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name of a known format."""
        if value not in self.names:
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self.names))}.", param, ctx)
        return value

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return a placeholder for the help; the error of a wrong name lists all names."""
        return "NAME"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Return the names that start with the typed letters."""
        return [CompletionItem(name) for name in self.names if name.startswith(incomplete)]
