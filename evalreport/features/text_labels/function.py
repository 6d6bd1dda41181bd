"""The parser `module:function`: the very function that reads labels where the model serves."""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalreport.core.errors import UsageError
from evalreport.features.text_labels.outcomes import Outcome, parsed, unparsed

_LONGEST_NOTE = 200
"""Characters of a note that are kept: a line of the report."""
_NAME_IT = "name it module:function; modules of the working directory and installed ones are found"
_NAMED = re.compile(r"[^\W\d]\w*(\.\w+)*:[^\W\d]\w*(\.\w+)*")


def is_function(spec: str) -> bool:
    """Whether words name a function as ``module:function``, whose module would be run.

    Examples
    --------
    >>> is_function("textwrap:dedent"), is_function("regex:label"), is_function("cost:10")
    (True, False, False)
    """
    return not spec.startswith("regex:") and _NAMED.fullmatch(spec) is not None


def load(spec: str, what: str = "parser") -> Callable[..., Any]:
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
    >>> load("textwrap:dedent")("  a")
    'a'
    """
    module_name, _, path = spec.partition(":")
    if not is_function(spec):
        raise UsageError(f"{what} {spec!r} names no function", where=what, fix=_NAME_IT)
    try:
        with _working_directory():
            found: Any = importlib.import_module(module_name)
        for name in path.split("."):
            found = getattr(found, name)
    except Exception as error:
        raise UsageError(
            f"{what} {spec!r} cannot be imported: {type(error).__name__}: {error}",
            where=what,
            fix=_NAME_IT,
        ) from None
    if not callable(found):
        kind = type(found).__name__
        raise UsageError(f"{what} {spec!r} is a {kind}, not a function", where=what, fix=_NAME_IT)
    return found  # type: ignore[no-any-return]


def digest(function: Callable[[str], Any], spec: str) -> str:
    """Return the SHA-256 of a function's source; of its module's file where the function alone has none.

    Raises
    ------
    UsageError
        A function without source, such as a built-in one.

    Examples
    --------
    >>> len(digest(load("textwrap:dedent"), "textwrap:dedent"))
    64
    """
    inner: Any = inspect.unwrap(function.func if isinstance(function, functools.partial) else function)
    if not (inspect.isroutine(inner) or inspect.isclass(inner)):
        inner = type(inner)
    try:
        source = inspect.getsource(inner)
    except (OSError, TypeError):
        source = _module_source(inner)
    if not source:
        raise UsageError(
            f"the source of parser {spec!r} cannot be read",
            where="parser",
            fix="wrap it in a function of a Python file, whose digest is logged",
        )
    return hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()


def call(function: Callable[[str], Any], text: str, codes: Mapping[str, int]) -> Outcome:
    """Return what the function gives for one text; what it raises becomes the reason ``parser_error``.

    None and an empty text mean that the function found no label.

    Examples
    --------
    >>> codes = {"yes": 0, "no": 1}
    >>> call(str.strip, " yes", codes).code, call(str.upper, "yes", codes).note
    (0, "returned 'YES', which is no label")
    """
    try:
        answer = function(text)
        name = "" if answer is None else str(getattr(answer, "value", answer))
    except Exception as error:
        return unparsed("parser_error", f"{type(error).__name__}: {error}"[:_LONGEST_NOTE])
    if not name:
        return unparsed("no_label" if text.strip() else "empty")
    code = codes.get(name, -1)
    if code < 0:
        return unparsed("parser_error", f"returned {name[:80]!r}, which is no label")
    return parsed(code, "function")


def _module_source(inner: Any) -> str:
    module = sys.modules.get(getattr(inner, "__module__", None) or "")
    path = Path(getattr(module, "__file__", None) or "")
    return path.read_text(encoding="utf-8") if path.suffix == ".py" and os.path.isfile(path) else ""


@contextmanager
def _working_directory() -> Iterator[None]:
    here = str(Path.cwd())
    sys.path.append(here)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        if here in sys.path[::-1]:
            del sys.path[len(sys.path) - 1 - sys.path[::-1].index(here)]
