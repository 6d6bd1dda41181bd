"""Row sums: means over rows with their variances, set scores of multilabel rows, joint moments of labels.

A set score takes three arrays of one shape: the number of labels in both sets, in the true set and in the
predicted set. A ratio 0/0 is 0, as with scikit-learn's `zero_division=0`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError
from evalreport.statistics.confusion import Array

Sizes: TypeAlias = npt.NDArray[Any]


def ratio(above: Sizes, below: Sizes) -> Array:
    """Return above / below; 0/0 gives 0.

    Examples
    --------
    >>> ratio(np.array([1, 0]), np.array([2, 0]))
    array([0.5, 0. ])
    """
    found: Array = np.divide(above, below, out=np.zeros(np.shape(above)), where=np.asarray(below) > 0)
    return found


SET_SCORES: Mapping[str, Callable[[Sizes, Sizes, Sizes], Sizes]] = {
    "subset_accuracy": lambda both, true, predicted: (both == true) & (both == predicted),
    "jaccard_samples": lambda both, true, predicted: ratio(both, true + predicted - both),
    "precision_samples": lambda both, _, predicted: ratio(both, predicted),
    "recall_samples": lambda both, true, _: ratio(both, true),
    "f1_samples": lambda both, true, predicted: ratio(2 * both, true + predicted),
}
"""Scores of a row by name, from (labels in both, true labels, predicted labels)."""


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
    >>> tally = Tally.from_rows({"loss": np.array([1.0, 3.0])}, np.ones(2))
    >>> tally.mean("loss"), tally.variance("loss")
    (2.0, 1.0)
    """

    names: tuple[str, ...]
    sums: Array
    squares: Array
    weight: float

    @classmethod
    def from_rows(cls, rows: Mapping[str, npt.NDArray[Any]], weights: Array) -> Tally:
        """Sum per-row quantities, each of shape (n,)."""
        values = [np.asarray(row, dtype=np.float64) for row in rows.values()]
        return cls(
            tuple(rows),
            np.array([(weights * value).sum() for value in values]),  # not `@`, which starts threads
            np.array([(weights * value * value).sum() for value in values]),
            float(weights.sum()),
        )

    def __add__(self, other: Tally) -> Tally:
        if self.names != other.names:
            apart = sorted({*self.names} ^ {*other.names}) or list(self.names)
            raise DataError(
                f"the shards have different row sums: {', '.join(apart)}",
                where="tally",
                fix="create the statistics of all shards from the same columns",
            )
        return Tally(
            self.names, self.sums + other.sums, self.squares + other.squares, self.weight + other.weight
        )

    def select_quantities(self, names: Collection[str]) -> Tally:
        """Return the sums of some of the quantities."""
        kept = [place for place, name in enumerate(self.names) if name in names]
        return Tally(
            tuple(self.names[place] for place in kept), self.sums[kept], self.squares[kept], self.weight
        )

    def total(self, name: str) -> float:
        """Return the weighted sum of a quantity; NaN if it is missing."""
        return float(self.sums[self.names.index(name)]) if name in self.names else float("nan")

    def mean(self, name: str) -> float:
        """Return the weighted mean of a quantity; NaN without weight or if it is missing."""
        return self.total(name) / self.weight if self.weight else float("nan")

    def variance(self, name: str) -> float:
        """Return the weighted variance (divisor: the sum of weights) of a quantity."""
        mean = self.mean(name)
        return max(0.0, float(self.squares[self.names.index(name)] / self.weight) - mean * mean)


ROWS = 1 << 14
"""Rows whose products are summed at a time: float32 is exact for such counts."""


@dataclass(frozen=True, eq=False)
class LabelMoments:
    """Sums and products over the rows of 3 K flags: true label, predicted label, and both.

    Parameters
    ----------
    rows : float
    sums : float64 array of shape (3 K,)
    products : float64 array of shape (3 K, 3 K)

    Examples
    --------
    >>> truth, given = np.array([[True, False], [True, True]]), np.array([[True, True], [False, True]])
    >>> moments = LabelMoments.from_flags(truth, given)
    >>> moments.sums, (moments + moments).rows
    (array([2., 1., 1., 2., 1., 1.]), 4.0)
    """

    rows: float
    sums: Array
    products: Array

    @classmethod
    def from_flags(cls, truth: npt.NDArray[np.bool_], given: npt.NDArray[np.bool_]) -> LabelMoments:
        """Sum over rows: flags of shape (n, K)."""
        size = 3 * truth.shape[1]
        sums, products = np.zeros(size), np.zeros((size, size))
        for start in range(0, len(truth), ROWS):
            here = slice(start, start + ROWS)
            flags = np.hstack([truth[here], given[here], truth[here] & given[here]]).astype(np.float32)
            sums += flags.sum(axis=0, dtype=np.float64)
            products += flags.T @ flags
        return cls(float(len(truth)), sums, products)

    def __add__(self, other: LabelMoments) -> LabelMoments:
        return LabelMoments(self.rows + other.rows, self.sums + other.sums, self.products + other.products)

    def variation(self, slopes: Array) -> Array:
        """Return the sum of squared deviations of each weighted sum of the flags.

        Parameters
        ----------
        slopes : float64 array of shape (3 K, sums)
        """
        about = self.products - np.outer(self.sums, self.sums) / self.rows
        found: Array = np.einsum("im,ij,jm->m", slopes, about, slopes, optimize=True)
        return np.maximum(found, 0.0)

    def count_swaps(self) -> tuple[Array, Array, Array]:
        """Return how often a label is missing while another is added, and the totals of both.

        Returns
        -------
        swapped : float64 array of shape (K, K)
        left, added : float64 arrays of shape (K,)
        """
        size = len(self.sums) // 3
        true, given, both = (slice(size * part, size * (part + 1)) for part in range(3))
        p: Any = self.products
        swapped = p[true, given] - p[true, both] - p[both, given] + p[both, both]
        return swapped, self.sums[true] - self.sums[both], self.sums[given] - self.sums[both]
