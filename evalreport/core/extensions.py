"""Extension points: what optional features and the user's own functions add to the core, loaded when used.

The core asks for what is added at a point; it does not know who adds it. Features of this package are in
`evalreport.features.TABLE`; other packages add theirs through the entry-point group ``evalreport.features``,
whose entries are mappings of the same form: point to name to ``module:attribute``, or to that and a line
for the help. Functions of the user's are named ``module:function``; their code is imported only here.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

from evalreport.core.errors import UsageError

Table: TypeAlias = Mapping[str, Mapping[str, str | tuple[str, str]]]
"""What one feature adds: point to name to ``module:attribute``, or to that and a line for the help."""
GROUP: Final = "evalreport.features"
"""The module with the table of our own features, and the entry-point group of other packages."""
POINTS: Final = (
    "commands",
    "options",
    "metrics",
    "own_metrics",
    "slice_searches",
    "group_parts",
    "comparison_parts",
    "readers",
    "tools",
    "sections",
    "findings",
    "engines",
    "responses",
    "grades",
    "run_sources",
    "results",
    "api",
    "sweeps",
)
"""Where something can be added; each point says in its own module what the added object must be."""


@dataclass(frozen=True)
class Extension:
    """One thing that a feature adds.

    Parameters
    ----------
    feature : str
        Name of the feature.
    name : str
        Name of what is added, such as that of a command.
    path : str
        ``module:attribute``.
    help : str
        Of a command, its line in ``evalreport --help``, for which it is not imported.
    """

    feature: str
    name: str
    path: str
    help: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether the feature's package is installed; an optional folder may be missing."""
        try:
            return find_spec(self.path.partition(":")[0]) is not None
        except ModuleNotFoundError:
            return False

    def missing(self, what: str) -> UsageError:
        """Return the error of what needs the feature where that is not installed."""
        return UsageError(
            f"{what} belongs to the feature {self.feature}, which is not installed",
            where=self.path,
            fix="install the complete evalreport package again: pip install --force-reinstall evalreport",
        )

    def load(self) -> Any:
        """Import and return the object.

        Raises
        ------
        UsageError
            The feature is not installed, or its module does not have the object.
        """
        if not self.is_installed:
            raise self.missing(self.name)
        module, _, attribute = self.path.partition(":")
        try:
            return getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise _not_loaded(self.feature, self.path, error) from error


def _not_loaded(feature: str, where: str, error: Exception) -> UsageError:
    return UsageError(
        f"the feature {feature} cannot be loaded: {error}",
        where=where,
        fix="install or update the package that adds it, or uninstall that package",
    )


@cache
def extensions(point: str) -> tuple[Extension, ...]:
    """Return what features add at a point, ours first, in the order of the table.

    Parameters
    ----------
    point : str
        One of `POINTS`.

    Examples
    --------
    >>> [one.name for one in extensions("commands")][:2]
    ['check', 'site']
    """
    if point not in POINTS:
        raise ValueError(f"there is no extension point {point!r}")
    return tuple(
        Extension(feature, name, *((entry,) if isinstance(entry, str) else entry))
        for feature, table in _tables()
        for name, entry in table.get(point, {}).items()
    )


def load_extensions(point: str) -> tuple[Any, ...]:
    """Return the objects of all installed extensions of a point; a missing feature adds none."""
    return tuple(one.load() for one in extensions(point) if one.is_installed)


def installed_extension(point: str, name: str) -> Any | None:
    """Return the object of a name at a point; None where the feature is missing."""
    return next((one.load() for one in extensions(point) if one.name == name and one.is_installed), None)


def extension(point: str, name: str) -> Any:
    """Import and return the object of a name at a point.

    Raises
    ------
    UsageError
        No installed feature adds it; the message names the feature.
    """
    for one in extensions(point):
        if one.name == name:
            return one.load()
    raise UsageError(
        f"{name} belongs to a feature that is not installed",
        where=point,
        fix="install the complete evalreport package",
    )


@cache
def _tables() -> tuple[tuple[str, Table], ...]:
    """Return each feature with what it adds, ours first."""
    ours = import_module(GROUP).TABLE if find_spec(GROUP) is not None else {}
    return (*ours.items(), *_tables_of_other_packages())


def _tables_of_other_packages() -> list[tuple[str, Table]]:
    """Read the entry points, where a package has any: their library costs half of `evalreport --help`."""
    heading = f"[{GROUP}]".encode()
    files = (file for folder in sys.path for file in Path(folder).glob("*-info/entry_points.txt"))
    if not any(heading in file.read_bytes() for file in files):
        return []
    from importlib.metadata import entry_points

    found = []
    for entry in entry_points(group=GROUP):
        try:
            found.append((entry.name, entry.load()))
        except (ImportError, AttributeError) as error:
            raise _not_loaded(entry.name, entry.value, error) from error
    return found


_FIX = "name it module:function; modules of the working directory and installed ones are found"
_NAMED = re.compile(r"[^\W\d]\w*(\.\w+)*:[^\W\d]\w*(\.\w+)*")


def is_function(spec: str) -> bool:
    """Whether a parser is read as ``module:function``, whose module would be run.

    Examples
    --------
    >>> is_function("textwrap:dedent"), is_function("regex:label"), is_function("auto")
    (True, False, False)
    """
    kind, _, rest = spec.partition(":")
    return rest != "" and kind != "regex"


def load_function(spec: str, what: str = "parser") -> Callable[..., Any]:
    """Return the function that ``module:function`` names; the working directory is searched last.

    Parameters
    ----------
    spec : str
    what : str
        What the function is meant to be, for the error.

    Raises
    ------
    UsageError
        A module that cannot be imported, a name that is not there or cannot be called.

    Examples
    --------
    >>> load_function("textwrap:dedent")("  a")
    'a'
    """
    module_name, _, path = spec.partition(":")
    if not (is_function(spec) and _NAMED.fullmatch(spec)):
        raise UsageError(f"{what} {spec!r} does not name a function", where=what, fix=_FIX)
    try:
        here = str(Path.cwd())
        sys.path.append(here)
        importlib.invalidate_caches()
        try:
            found: Any = importlib.import_module(module_name)
        finally:
            if here in sys.path[::-1]:
                del sys.path[len(sys.path) - 1 - sys.path[::-1].index(here)]
        for name in path.split("."):
            found = getattr(found, name)
    except Exception as error:
        raise UsageError(
            f"{what} {spec!r} cannot be imported: {type(error).__name__}: {error}",
            where=what,
            fix=_FIX,
        ) from None
    if not callable(found):
        kind = type(found).__name__
        raise UsageError(f"{what} {spec!r} is a {kind}, not a function", where=what, fix=_FIX)
    return found  # type: ignore[no-any-return]
