"""Positives on the ladder of all scores: areas under the curves, and the table of what lies between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from evalreport.facts.columns import STEP, StoredColumn
from evalreport.facts.counts import Array, Places, inner
from evalreport.facts.table import ScoreTable


@dataclass(frozen=True, eq=False)
class Ladder:
    """Sorted values with the weight that lies below each; without it, each weighs 1.

    Examples
    --------
    >>> Ladder.of(np.array([0.5, 0.2]), np.array([1.0, 3.0])).mass
    array([0., 3., 4.])
    """

    values: npt.NDArray[Any]
    mass: Array | None = None

    @classmethod
    def of(cls, values: npt.NDArray[Any], weights: Array | None) -> Ladder:
        """Sort values, each of which weighs something, or 1."""
        if weights is None:
            return cls(np.sort(values), None)
        order = np.argsort(values)
        return cls(values[order], cumulated(weights[order]))

    def span(self, values: npt.NDArray[Any]) -> tuple[Array, Array]:
        """Weight below each of some values, and weight up to and including it."""
        ends = (np.searchsorted(self.values, values, side) for side in ("left", "right"))
        below, upto = (end.astype(np.float64) if self.mass is None else self.mass[end] for end in ends)
        return below, upto

    def middle(self, values: npt.NDArray[Any]) -> Array:
        """Weight below each of some values, and half of that tied with it."""
        below, upto = self.span(values)
        return (below + upto) / 2

    @property
    def total(self) -> float:
        """Weight of all values."""
        return float(len(self.values) if self.mass is None else self.mass[-1])

    @property
    def weights(self) -> Array:
        """Weight of each value, in order."""
        return np.ones(len(self.values)) if self.mass is None else np.diff(self.mass)


def cumulated(weights: Array) -> Array:
    """Return the sum before each weight, and that of all.

    Examples
    --------
    >>> cumulated(np.array([2.0, 1.0]))
    array([0., 2., 3.])
    """
    return np.concatenate([[0.0], np.cumsum(weights)])


def sums_before(numbers: npt.NDArray[Any]) -> StoredColumn:
    """Return the sum before each number, and that of all, of which every `STEP`th alone is kept.

    Examples
    --------
    >>> before = sums_before(np.array([2, 1], dtype=np.uint8))
    >>> before[:], before[-1]
    (array([0., 2., 3.]), 3.0)
    """
    starts = np.arange(0, len(numbers), STEP)
    parts = np.add.reduceat(numbers, starts, dtype=np.float64) if len(starts) else np.empty(0)
    kept = np.append(0.0, np.cumsum(parts))

    def read(start: int, stop: int) -> Array:
        block = start // STEP
        found = np.zeros(stop - block * STEP)
        np.cumsum(numbers[block * STEP : stop - 1], out=found[1:])
        here: Array = found[start - block * STEP :] + kept[block]
        return here

    def pick(places: Places) -> Array:
        return np.array([read(place, place + 1)[0] for place in places.tolist()])

    return StoredColumn(len(numbers) + 1, read, pick)


def areas_in(own: Array, span: tuple[Array, Array], positives: float, total: float) -> tuple[float, float]:
    """Return what some positives add to the sums that areas are made of.

    Parameters
    ----------
    own : float64 array of shape (scores + 1,)
        Weight of positives below each distinct score of them, and below the next.
    span : two float64 arrays of shape (scores,)
        Weight of all rows below each, and up to it.
    """
    weights, own_below, own_upto = np.diff(own), own[:-1], own[1:]
    below, upto = span
    outranked = (below - own_below + upto - own_upto) / 2
    return inner(weights, outranked), inner(weights, (positives - own_below) / (total - below))


def areas_from(outranked: float, precision: float, positives: float, total: float) -> tuple[float, float]:
    """Return ROC AUC and average precision from their sums; NaN where one class is missing."""
    rest = total - positives
    if positives == 0:
        return float("nan"), float("nan")
    if rest <= 1e-12 * total:  # rounding of sums of weights
        return float("nan"), precision / positives
    return outranked / (positives * rest), precision / positives


def between(values: Array) -> Array:
    """Return distinct scores at odd places, and what lies below, between and above them at even ones.

    Examples
    --------
    >>> between(np.array([0.2, 0.4]))
    array([-0.3,  0.2,  0.3,  0.4,  0.9])
    """
    scores = np.empty(2 * len(values) + 1)
    outer = np.concatenate([values[:1] - 1, values, values[-1:] + 1]) if len(values) else np.zeros(2)
    scores[1::2], scores[0::2] = values, (outer[1:] + outer[:-1]) / 2
    return scores


class TablesMade(Sequence[ScoreTable]):
    """Tables that are made where they are asked for, again each time: together they would take too much.

    Examples
    --------
    >>> len(TablesMade([lambda: ScoreTable.of(np.zeros(1), np.zeros(1, dtype=bool))])[0])
    1
    """

    def __init__(self, makers: Sequence[Callable[[], ScoreTable]]) -> None:
        self._makers = makers

    def __len__(self) -> int:
        return len(self._makers)

    @overload
    def __getitem__(self, index: int) -> ScoreTable: ...
    @overload
    def __getitem__(self, index: slice) -> TablesMade: ...
    def __getitem__(self, index: int | slice) -> ScoreTable | TablesMade:
        """Make a table, or take some of them."""
        return TablesMade(self._makers[index]) if isinstance(index, slice) else self._makers[index]()
