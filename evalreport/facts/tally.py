"""Means over rows: sums of per-row quantities with the squares that their standard error needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.errors import DataError
from evalreport.facts.counts import Array


@dataclass(frozen=True, eq=False)
class Tally:
    """Weighted sums and sums of squares of named per-row quantities.

    Parameters
    ----------
    names : tuple of str
    sums, squares : float64 array, one entry per name
        Sums of ``w x`` and ``w x²``.
    weight : float
        Sum of weights.

    Examples
    --------
    >>> tally = Tally.of({"loss": np.array([1.0, 3.0])}, np.ones(2))
    >>> tally.mean("loss"), tally.variance("loss")
    (2.0, 1.0)
    """

    names: tuple[str, ...]
    sums: Array
    squares: Array
    weight: float

    @classmethod
    def of(cls, rows: Mapping[str, npt.NDArray[Any]], weights: Array) -> Tally:
        """Sum per-row quantities, each of shape (n,)."""
        values = [np.asarray(row, dtype=np.float64) for row in rows.values()]
        return cls(
            tuple(rows),
            np.array([(weights * value).sum() for value in values]),  # not `@`: it would start threads
            np.array([(weights * value * value).sum() for value in values]),
            float(weights.sum()),
        )

    def __add__(self, other: Tally) -> Tally:
        if self.names != other.names:
            apart = sorted({*self.names} ^ {*other.names}) or list(self.names)
            raise DataError(
                f"shards differ in what was tallied: {', '.join(apart)}",
                where="tally",
                fix="make the facts of all shards of the same columns",
            )
        return Tally(
            self.names, self.sums + other.sums, self.squares + other.squares, self.weight + other.weight
        )

    def only(self, names: Collection[str]) -> Tally:
        """Return the tally of some of the quantities."""
        kept = [place for place, name in enumerate(self.names) if name in names]
        return Tally(
            tuple(self.names[place] for place in kept), self.sums[kept], self.squares[kept], self.weight
        )

    def total(self, name: str) -> float:
        """Return the weighted sum of a quantity; NaN when it was not tallied."""
        return float(self.sums[self.names.index(name)]) if name in self.names else float("nan")

    def mean(self, name: str) -> float:
        """Return the weighted mean of a quantity; NaN over no weight or when it was not tallied."""
        return self.total(name) / self.weight if self.weight else float("nan")

    def variance(self, name: str) -> float:
        """Return the weighted variance (divisor: the sum of weights) of a quantity."""
        mean = self.mean(name)
        return max(0.0, float(self.squares[self.names.index(name)] / self.weight) - mean * mean)
