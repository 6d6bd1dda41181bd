"""How the labels of a row go together: sums and products over rows, which add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.facts.counts import Array

ROWS = 1 << 14
"""Rows whose products are summed at a time: counts of so many are exact in float32."""


@dataclass(frozen=True, eq=False)
class LabelMoments:
    """Sums and products, over the rows, of 3 K flags: carries the label, was given it, and both.

    Parameters
    ----------
    rows : float
    sums : float64 array of shape (3 K,)
    products : float64 array of shape (3 K, 3 K)

    Examples
    --------
    >>> truth, given = np.array([[True, False], [True, True]]), np.array([[True, True], [False, True]])
    >>> moments = LabelMoments.of(truth, given)
    >>> moments.sums, (moments + moments).rows
    (array([2., 1., 1., 2., 1., 1.]), 4.0)
    """

    rows: float
    sums: Array
    products: Array

    @classmethod
    def of(cls, truth: npt.NDArray[np.bool_], given: npt.NDArray[np.bool_]) -> LabelMoments:
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
        """Return the sum of squares about its mean of each weighted sum of the flags.

        Parameters
        ----------
        slopes : float64 array of shape (3 K, sums)
        """
        about = self.products - np.outer(self.sums, self.sums) / self.rows
        found: Array = np.einsum("im,ij,jm->m", slopes, about, slopes, optimize=True)
        return np.maximum(found, 0.0)

    def swapped(self) -> tuple[Array, Array, Array]:
        """Return how often a label was left out while another was added, and how often each was.

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
