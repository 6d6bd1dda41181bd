"""Names of classes and metrics as keys that MLflow takes: stable, readable, and never two the same."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

LONGEST_KEY = 250
"""Characters of a metric key, prefix included."""
_FORBIDDEN = re.compile(r"[^\w.\- :]")
_FORBIDDEN_ON_WINDOWS = re.compile(r"[^\w.\- ]")
_MARK = 6
_LONGER_MARK = 16
"""Hexadecimal digits of a digest by which names that differ in case alone are told apart."""


def metric_keys(names: Iterable[str], prefix: str = "", *, windows: bool | None = None) -> dict[str, str]:
    """Return a metric key for each name, all of them different also where upper and lower case are one.

    A name that MLflow takes stays as it is. Any other has its characters replaced and ends in a mark made
    from the name itself, so that a class has the same key in every run, whatever other classes there are.

    Parameters
    ----------
    names : iterable of str
        Distinct; a slash in one of them does not open a section.
    prefix : str
        What stands before every key, such as ``eval/classes/f1/``.
    windows : bool, optional
        Whether a colon is forbidden; by the machine we run on, as MLflow does.

    Returns
    -------
    dict from name to key, in the order of the names

    Examples
    --------
    >>> metric_keys(["spam", "C++", "C#"], "eval/f1/")
    {'spam': 'eval/f1/spam', 'C++': 'eval/f1/C__-f1deb7', 'C#': 'eval/f1/C_-040228'}
    """
    forbidden = _FORBIDDEN_ON_WINDOWS if (os.name == "nt" if windows is None else windows) else _FORBIDDEN
    listed = list(dict.fromkeys(names))
    room = LONGEST_KEY - len(prefix)
    plain = {name: _plain(name, forbidden, room) for name in listed}
    twice = Counter(key.casefold() for key in plain.values())
    keys = {
        name: key if twice[key.casefold()] == 1 else _marked(name, key, _LONGER_MARK, room)
        for name, key in plain.items()
    }
    return {name: prefix + key for name, key in keys.items()}


def objective_keys(names: Iterable[str], prefix: str = "") -> dict[str, str]:
    """Return a metric key for each objective; bounds are written in words.

    Examples
    --------
    >>> objective_keys(["f1", "recall>=0.95", "fpr<=0.01"], "optima/")["fpr<=0.01"]
    'optima/fpr_at_most_0.01'
    """
    words = {name: _in_letters(name) for name in names}
    keys = metric_keys(words.values(), prefix)
    return {name: keys[word] for name, word in words.items()}


def _in_letters(name: str) -> str:
    """A bound's name without the signs that a metric key cannot hold."""
    signs = {">=": "_at_least_", "<=": "_at_most_", ">": "_above_", "<": "_below_"}
    for sign, word in signs.items():
        name = name.replace(sign, word)
    return name


def _plain(name: str, forbidden: re.Pattern[str], room: int) -> str:
    clean = forbidden.sub("_", unicodedata.normalize("NFC", name))
    if clean == name and clean.strip(".") and clean == clean.strip() and len(clean) <= room:
        return name
    return _marked(name, clean.strip(". "), _MARK, room)


def _marked(name: str, clean: str, length: int, room: int) -> str:
    mark = "-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:length]
    return clean[: room - len(mark)] + mark
