"""Counts at the operating point: the confusion matrix and the sums that metrics use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.intp]


def sums(place: npt.NDArray[Any], weights: Array | None, size: int) -> Array:
    """Return the total weight (count, without weights) at each of `size` places.

    Examples
    --------
    >>> sums(np.array([0, 2, 2]), None, 3)
    array([1., 0., 2.])
    """
    return np.bincount(place, weights, size).astype(np.float64, copy=False)


def less(whole: Any, *parts: Any) -> Any:
    """Return `whole` minus its parts; a remainder that is only rounding of sums of weights becomes 0.

    Examples
    --------
    >>> less(np.array([0.3, 2.0]), np.array([0.1, 1.0]), np.array([0.2, 0.5]))
    array([0. , 0.5])
    """
    left = whole - sum(parts)
    # sums of a million weights carry rounding of about 1e-13 of the whole
    return np.where(left > 1e-12 * np.abs(whole), left, 0.0)


MANY_LOOKS = 32
"""Array length per searched value up to which all values are computed: this costs as much as the steps of
binary searches, which read positions all over the array."""


def _cells(y_true: npt.NDArray[Any], y_pred: npt.NDArray[Any], size: int) -> npt.NDArray[np.int64]:
    """Cell number of each row in a matrix of `size` rows, with a last column for unparsed predictions."""
    cells: npt.NDArray[np.int64] = np.where(y_pred < 0, size, y_pred) + y_true.astype(np.int64) * (size + 1)
    return cells


def run_starts(values: npt.NDArray[Any]) -> Places:
    """Return the start of each run of equal neighbours.

    Examples
    --------
    >>> run_starts(np.array([3, 3, 7, 3])), run_starts(np.empty(0))
    (array([0, 2, 3]), array([], dtype=int64))
    """
    begins = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def inner(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    """Return the sum of products of two vectors.

    Not `@`: from 10,000 numbers on BLAS starts threads. They cost more than the sum, and a thousand times
    more while other processes use the cores.

    Examples
    --------
    >>> inner(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(np.einsum("i,i", a, b))


def subtract_mean(values: Array, weight: Array) -> Array:
    """Return values minus their weighted mean.

    Examples
    --------
    >>> subtract_mean(np.array([1.0, 5.0]), np.array([3.0, 1.0]))
    array([-1.,  3.])
    """
    return values - inner(weight, values) / float(weight.sum())


def search_lazily(
    length: Callable[[Places], Array], size: int, wanted: Array, side: Literal["left", "right"] = "left"
) -> Places:
    """Return `np.searchsorted` in an ascending array whose values are computed only where they are read.

    Parameters
    ----------
    length : function from positions to values
    size : int
        Length of the array.
    wanted : float64 array
    side : {"left", "right"}

    Examples
    --------
    >>> search_lazily(lambda place: place / 4, 5, np.array([0.3, 1.0, 7.0]))
    array([2, 4, 5])
    """
    if 0 < size <= MANY_LOOKS * len(wanted):
        return np.searchsorted(length(np.arange(size)), wanted, side)
    low, high = np.zeros(len(wanted), dtype=np.intp), np.full(len(wanted), size)
    for _ in range(size.bit_length()):
        middle = (low + high) // 2
        here = length(np.minimum(middle, size - 1))
        short = ((here < wanted) if side == "left" else (here <= wanted)) & (low < high)
        low, high = np.where(short, middle + 1, low), np.where(short, high, middle)
    return low


@dataclass(frozen=True, eq=False)
class BinaryCounts:
    """True and false positives and negatives, as numbers or as arrays of one shape.

    Arrays are for one-vs-rest labels, the thresholds of a sweep and bootstrap replicates.

    Parameters
    ----------
    tp, fp, fn, tn : float or array
        Weighted counts. An unparsed prediction of a positive is a false negative.
    unread : float or array
        Negatives with an unparsed prediction: wrong, but not flagged.
    threshold : float or array
        The operating point; NaN if it is unknown.
    unread_positive : float or array
        Part of `fn` with an unparsed prediction.

    Examples
    --------
    >>> c = BinaryCounts(tp=3, fp=1, fn=2, tn=4) + BinaryCounts(tp=1, fp=0, fn=0, tn=1)
    >>> c.tp, c.positives, c.total
    (4, 6, 12)
    """

    tp: Any
    fp: Any
    fn: Any
    tn: Any
    unread: Any = 0
    threshold: Any = np.nan
    unread_positive: Any = 0

    def __add__(self, other: BinaryCounts) -> BinaryCounts:
        return BinaryCounts(
            self.tp + other.tp,
            self.fp + other.fp,
            self.fn + other.fn,
            self.tn + other.tn,
            self.unread + other.unread,
            self.threshold,
            self.unread_positive + other.unread_positive,
        )

    def __getitem__(self, index: Any) -> BinaryCounts:
        shape = np.shape(self.tp)
        return BinaryCounts(*(np.broadcast_to(part, shape)[index] for part in self.parts))

    @property
    def parts(self) -> tuple[Any, ...]:
        """The fields, in order."""
        return self.tp, self.fp, self.fn, self.tn, self.unread, self.threshold, self.unread_positive

    @property
    def positives(self) -> Any:
        """All examples of the class: P = TP + FN."""
        return self.tp + self.fn

    @property
    def negatives(self) -> Any:
        """All examples without the class: N."""
        return self.fp + self.tn + self.unread

    @property
    def predicted_positives(self) -> Any:
        """Predicted positive: TP + FP."""
        return self.tp + self.fp

    @property
    def predicted_negatives(self) -> Any:
        """Predicted negative, without the unparsed."""
        return self.tn + self.fn - self.unread_positive

    @property
    def right(self) -> Any:
        """Correct predictions."""
        return self.tp + self.tn

    @property
    def unparsed_weight(self) -> Any:
        """Unparsed predictions."""
        return self.unread + self.unread_positive

    @property
    def parsed_weight(self) -> Any:
        """Parsed predictions."""
        return self.total - self.unparsed_weight

    @property
    def total(self) -> Any:
        """P + N."""
        return self.positives + self.negatives


@dataclass(frozen=True, eq=False)
class Marginals:
    """Sums of the confusion matrix for multiclass metrics.

    Parameters
    ----------
    tp, support, predicted : array of shape (..., K)
        Correct predictions, true examples and predictions of each class.
    total : float or array of shape (...)
        All examples, including the unparsed.
    squared_distance : float or array of shape (...)
        Sum over cells of weight times (row - column) squared; NaN if a prediction is unparsed.
    distance : float or array of shape (...)
        The same for the absolute distance.

    Examples
    --------
    >>> Counts.from_codes(np.array([0, 1, 1]), np.array([0, 1, 0]), 2).marginals.tp
    array([1., 1.])
    """

    tp: Array
    support: Array
    predicted: Array
    total: Any
    squared_distance: Any
    distance: Any = np.nan

    @cached_property
    def one_vs_rest(self) -> BinaryCounts:
        """Each class against all others, arrays of shape (..., K)."""
        fp, fn = less(self.predicted, self.tp), less(self.support, self.tp)
        return BinaryCounts(self.tp, fp, fn, less(np.asarray(self.total)[..., None], self.tp, fp, fn))

    @property
    def right(self) -> Any:
        """Correct predictions."""
        return self.tp.sum(axis=-1)

    @property
    def unparsed_weight(self) -> Any:
        """Unparsed predictions."""
        return less(self.total, self.predicted.sum(axis=-1))

    @property
    def parsed_weight(self) -> Any:
        """Parsed predictions."""
        return self.total - self.unparsed_weight


@dataclass(frozen=True, eq=False)
class Counts:
    """The confusion matrix as its non-zero cells, with a last column for unparsed predictions.

    Parameters
    ----------
    size : int
        Number of labels K; the matrix is K rows by K + 1 columns.
    cells : int64 array, ascending
        ``row * (K + 1) + column`` of each non-zero cell.
    weight : float64 array
        Weight in each cell.

    Examples
    --------
    >>> counts = Counts.from_codes(np.array([0, 1, 1]), np.array([0, -1, 0]), 2)
    >>> counts.dense()
    array([[1., 0., 0.],
           [1., 0., 1.]])
    >>> (counts + counts).total
    6.0
    """

    size: int
    cells: npt.NDArray[np.int64]
    weight: Array

    @classmethod
    def from_codes(
        cls, y_true: npt.NDArray[Any], y_pred: npt.NDArray[Any], size: int, weights: Array | None = None
    ) -> Counts:
        """Count codes of true labels (0 … K-1) against codes of predictions (-1: unparsed)."""
        if size <= 1000:  # filling 8 MB of cells is faster than sorting as many codes
            dense, step = np.zeros(size * (size + 1)), max(1 << 16, 8 * size**2)  # rows that stay in cache
            for b in (slice(start, start + step) for start in range(0, len(y_true), step)):
                cell = _cells(y_true[b], y_pred[b], size)
                dense += sums(cell, None if weights is None else weights[b], len(dense))
            found = np.flatnonzero(dense)
            return cls(size, found, dense[found])
        cell = _cells(y_true, y_pred, size)
        found, inverse = np.unique(cell, return_inverse=True)
        weight = sums(inverse, weights, len(found))
        return cls(size, found[weight > 0], weight[weight > 0])

    def __add__(self, other: Counts) -> Counts:
        cells, inverse = np.unique(np.concatenate([self.cells, other.cells]), return_inverse=True)
        return Counts(
            self.size, cells, sums(inverse, np.concatenate([self.weight, other.weight]), len(cells))
        )

    @cached_property
    def rows(self) -> npt.NDArray[np.int64]:
        """True code of each cell."""
        return self.cells // (self.size + 1)

    @cached_property
    def columns(self) -> npt.NDArray[np.int64]:
        """Predicted code of each cell; K for unparsed."""
        return self.cells % (self.size + 1)

    @property
    def total(self) -> float:
        """Sum of all cells."""
        return float(self.weight.sum())

    @property
    def unparsed_weight(self) -> float:
        """Weight of unparsed predictions."""
        return float(self.weight[self.columns == self.size].sum())

    @cached_property
    def off_diagonal(self) -> Places:
        """Positions of the cells off the diagonal, heaviest first."""
        off = np.flatnonzero(self.rows != self.columns)
        found: Places = off[np.argsort(-self.weight[off], kind="stable")]
        return found

    @property
    def misread(self) -> Places:
        """Positions of `off_diagonal` without unparsed predictions."""
        return self.off_diagonal[self.columns[self.off_diagonal] < self.size]

    def dense(self) -> Array:
        """Return the matrix of shape (K, K + 1)."""
        matrix = np.zeros(self.size * (self.size + 1))
        matrix[self.cells] = self.weight
        return matrix.reshape(self.size, self.size + 1)

    @cached_property
    def marginals(self) -> Marginals:
        """Diagonal, row sums, column sums and total."""
        on = self.rows == self.columns
        apart = np.full(len(self.rows), np.nan) if self.unparsed_weight else np.abs(self.rows - self.columns)
        return Marginals(
            tp=sums(self.rows[on], self.weight[on], self.size),
            support=sums(self.rows, self.weight, self.size),
            predicted=sums(self.columns, self.weight, self.size + 1)[: self.size],
            total=self.total,
            squared_distance=float((self.weight * apart**2).sum()),
            distance=float((self.weight * apart).sum()),
        )

    def binary(self, threshold: float) -> BinaryCounts:
        """Return the four counts of a two-label matrix (negative first)."""
        (tn, fp, unparsed), (miss, tp, unparsed_positive) = self.dense().tolist()
        return BinaryCounts(tp, fp, miss + unparsed_positive, tn, unparsed, threshold, unparsed_positive)
