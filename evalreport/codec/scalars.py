"""Readers of what has no parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from evalreport.codec.kinds import EDGE, MisfitError

Reader: TypeAlias = Callable[[Any], Any]
LONGEST = 40
"""Characters of a document that an error tells."""


def short(data: Any) -> str:
    """Return what stands in a document as an error tells it."""
    match data:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "a list"
        case int() if not isinstance(data, bool) and abs(data) > EDGE:
            return "a number of too many digits"
    said = str(data).lower() if isinstance(data, bool) else ascii(data)
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"


def _nothing(data: Any) -> None:
    if data is not None:
        raise MisfitError(f"{short(data)} where there is nothing to be told")


def _flag(data: Any) -> bool:
    if not isinstance(data, bool):
        raise MisfitError(f"{short(data)} is neither true nor false")
    return data


def _int(data: Any) -> int:
    if type(data) is not int:
        raise MisfitError(f"{short(data)} is not a whole number")
    if abs(data) > EDGE:
        raise MisfitError(f"{short(data)} is too large")
    return data


def _float(data: Any) -> float:
    if type(data) is float:
        if math.isfinite(data):
            return data
        raise MisfitError(f"{data} is not finite")
    if type(data) is not int:
        raise MisfitError(f"{short(data)} is not a number")
    return _int(data)


def text(data: Any) -> str:
    """Return text that a file can hold."""
    if type(data) is not str:
        raise MisfitError(f"{short(data)} is not text")
    if not data.isascii() and any("\ud800" <= character <= "\udfff" for character in data):
        raise MisfitError(f"{short(data)} is no Unicode")
    return data


def anything(data: Any) -> Any:
    """Plain data as they are: numbers finite, text Unicode."""
    match data:
        case None | bool():
            return data
        case int() | float():
            return _float(data)
        case str():
            return text(data)
        case list():
            return [_inside(place, entry) for place, entry in enumerate(data)]
        case _:
            return {text(key): _inside(key, entry) for key, entry in data.items()}


def _inside(step: str | int, data: Any) -> Any:
    try:
        return anything(data)
    except MisfitError as misfit:
        raise misfit.within(step) from None


SCALARS: Mapping[Any, Reader] = {
    Any: anything,
    type(None): _nothing,
    None: _nothing,
    bool: _flag,
    int: _int,
    float: _float,
    str: text,
}
