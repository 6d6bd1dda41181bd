"""Types of options: what a value may be, and how the shell completes it."""

from __future__ import annotations

import math
import re
from typing import Any, ClassVar

import click
from click.shell_completion import CompletionItem

from evalreport.bounds import number

LEVEL = click.FloatRange(0.5, 0.999)


class Level(click.ParamType):  # type: ignore[type-arg]
    """A level, also written in per cent."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the level as a share."""
        share = number(str(value))
        return LEVEL.convert(value if share is None else share, param, ctx)


class Words(click.ParamType):  # type: ignore[type-arg]
    """Text, or the list that a settings file may hold in its place."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return lists as they are, all else as text."""
        return value if isinstance(value, list) else str(value)


class Confidence(click.ParamType):  # type: ignore[type-arg]
    """A level, or ``none`` for values without intervals."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        """Return the level; None for ``none``."""
        return None if value == "none" else Level().convert(value, param, ctx)


class Amount(click.ParamType):  # type: ignore[type-arg]
    """A number above 0 and, of a share, below 1; also written in per cent."""

    name = "number"

    def __init__(self, below: float = math.inf) -> None:
        self.below = below

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        wanted = number(str(value))
        if wanted is None or not 0 < wanted < self.below:
            kind = "share between 0 and 1" if self.below == 1 else "number above 0"
            self.fail(f"{value!r} is no {kind}, such as 0.02 or 2%.", param, ctx)
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
            self.fail(f"{value!r} is no size, such as 500MB or 2GB.", param, ctx)
        return size


class Format(click.ParamType):  # type: ignore[type-arg]
    """The name of a reader, asked for only when it is needed, because readers bring NumPy."""

    name = "format"

    @property
    def names(self) -> tuple[str, ...]:
        """What the readers call themselves."""
        from evalreport.sources.tables import FORMATS

        return FORMATS

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name of a format that there is."""
        if value not in self.names:
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self.names))}.", param, ctx)
        return value

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return a word for the help, which has no time for NumPy; a wrong name is told them all."""
        return "NAME"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Return the names that begin so."""
        return [CompletionItem(name) for name in self.names if name.startswith(incomplete)]
