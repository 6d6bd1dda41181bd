"""What a hint may say beyond its type, and readers of what has no parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

EDGE = 2**64
"""Whole numbers beyond it have no place in a column; labels and parameters may reach it."""
LARGEST = 2**53
"""Whole numbers beyond it are not told apart by a float, so that no reader of JSON is bound to keep them."""


DRAWN = 1e100
"""Size from which a point of a curve overflows where it is placed on a page: squares and products of it."""


@dataclass(frozen=True)
class Between:
    """The range of a number, both ends included."""

    low: float = -math.inf
    high: float = math.inf


class NullIsInfinite:
    """Marks a number that may be infinite; JSON has no infinity, so that null stands for it."""


Whole: TypeAlias = Annotated[int, Between(0, LARGEST)]
"""A count of rows, a position, a code."""
Mass: TypeAlias = Annotated[float, Between(0)]
"""A sum of weights."""
Share: TypeAlias = Annotated[float, Between(0, 1)]
Infinite: TypeAlias = Annotated[float, NullIsInfinite]
"""A threshold: infinite where nothing is flagged."""


class MisfitError(ValueError):
    """What does not fit, and where: the path grows as the error passes outward."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.path: list[str] = []

    def within(self, step: str | int) -> MisfitError:
        """Put a step, a key or a place in a list, before the path."""
        self.path.insert(0, f"[{step}]" if isinstance(step, int) else f".{step}")
        return self

    @property
    def where(self) -> str:
        """The path, as in ``classes[3].support``."""
        return "".join(self.path).removeprefix(".")


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
