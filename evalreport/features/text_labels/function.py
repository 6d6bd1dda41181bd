"""The parser `module:function`: the very function that reads labels where the model serves."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evalreport.core.errors import UsageError
from evalreport.features.text_labels.outcomes import Outcome, parsed, unparsed

_LONGEST_NOTE = 200
"""Characters of a note that are kept: a line of the report."""
_NAME_IT = "name it module:function; modules of the working directory and installed ones are found"
_NAMED = re.compile(r"[^\W\d]\w*(\.\w+)*:[^\W\d]\w*(\.\w+)*")


def digest(function: Callable[[str], Any], spec: str) -> str:
    """Return the SHA-256 of a function's source; of its module's file where the function alone has none.

    Raises
    ------
    UsageError
        A function without source, such as a built-in one.

    Examples
    --------
    >>> import textwrap
    >>> len(digest(textwrap.dedent, "textwrap:dedent"))
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
