"""What a hint may say beyond its type, and what does not fit a hint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, TypeAlias

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
