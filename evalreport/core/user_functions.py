"""Functions of the user's, named ``module:function``: the only place that imports code of the user's."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evalreport.core.errors import UsageError

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
