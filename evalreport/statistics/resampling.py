"""Random samples of counts: of rows, of cells and of groups.

A Poisson count with mean 1 for each row is the row bootstrap except for its fixed total, which does not
affect proportions and means (Chamandy, Muralidharan, Najmi & Naidu 2012, *Estimating uncertainty for massive
data streams*). The counts of identical rows add up to one Poisson count, so a resample costs the number of
cells, not of rows. A replicate of a sum is the product of the counts with the sums of each cell.
"""

from __future__ import annotations

from enum import IntEnum, unique
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.statistics.confusion import Array, sums


@unique
class Stream(IntEnum):
    """The random streams of an evaluation. Each is used in one place, so no two share random numbers."""

    COUNT_POSTERIOR = 1
    BIN_NOISE = 2
    CURVE_CROSSINGS = 3
    CONFUSION_CELLS = 4
    RANKED_ROWS = 5
    LABEL_CELLS = 6
    UNITS = 7
    GROUPED_BINS = 8
    POOLED_ROWS = 9
    CURVE_COEFFICIENTS = 11
    SLICE_GAPS = 12
    BIN_PLACES = 13
    BEST_THRESHOLD = 14
    PAIRED_POSTERIOR = 15
    LABEL_FOLDS = 16
    LABEL_RESAMPLES = 17
    SCORE_PATTERNS = 18
    FOLDS = 19
    REFOLDED = 20
    THRESHOLD_RESAMPLES = 21
    CLASS_WEIGHTS = 22
    MATCHED_THRESHOLDS = 23
    OWN_METRICS = 24
    WEAK_SLICES = 25
    OWN_FOLDS = 26


JEFFREYS = 0.5
"""Rows that Jeffreys' prior adds to each cell. Of the priors tried its intervals had the best coverage, also
with an empty cell (Brown, Cai & DasGupta 2001, Statistical Science 16:101, for one proportion)."""

BLOCK = 1 << 13
"""Rows sampled at a time: float32 sums of so many integers are exact."""


def poisson_counts(expected: npt.ArrayLike, times: int, generator: np.random.Generator) -> Array:
    """Return Poisson counts of cells, shape (times, *shape of `expected`).

    Parameters
    ----------
    expected : float or array
        Mean count of each cell: its number of rows; ones for single rows or groups.
    times : int

    Examples
    --------
    >>> poisson_counts(np.array([0.0, 900.0]), 400, np.random.default_rng(0)).mean(axis=0).round(-1)
    array([  0., 900.])
    """
    expected = np.asarray(expected)
    return generator.poisson(expected, (times, *expected.shape)).astype(np.float64)


def posterior_shares(
    cells: Array,
    possible: npt.NDArray[np.bool_],
    times: int,
    axes: tuple[int, ...],
    generator: np.random.Generator,
) -> Array:
    """Return posterior samples of cell proportions under Jeffreys' prior, shape (times, *shape of `cells`).

    Parameters
    ----------
    cells : float64 array
        Counts.
    possible : bool array of the same shape
        Cells that can have rows; the others get proportion 0 unless they have rows.
    times : int
    axes : tuple of int
        Axes over which the proportions of one sample add up to 1.

    Examples
    --------
    >>> cells = np.array([3.0, 0.0, 7.0])
    >>> drawn = posterior_shares(cells, cells >= 0, 500, (-1,), np.random.default_rng(0))
    >>> drawn.shape, bool((drawn > 0).all()), bool(abs(drawn.sum(axis=-1) - 1).max() < 1e-12)
    ((500, 3), True, True)
    """
    drawn = generator.standard_gamma(cells + np.where(possible, JEFFREYS, 0.0), (times, *cells.shape))
    drawn /= drawn.sum(axis=axes, keepdims=True)
    return drawn


def unit_sums(unit: npt.NDArray[Any], values: npt.NDArray[Any], number: int) -> Array:
    """Return the sum of row quantities within each unit.

    Parameters
    ----------
    unit : int array of shape (n,)
        Group of each row, 0 … number - 1.
    values : array of shape (n,) or (n, k)
    number : int

    Returns
    -------
    float64 array of shape (number,) or (number, k)

    Examples
    --------
    >>> unit_sums(np.array([0, 1, 0]), np.array([[1.0, 0.0], [2.0, 5.0], [3.0, 0.0]]), 2)
    array([[4., 0.],
           [2., 5.]])
    """
    if values.ndim == 1:
        return sums(unit, values, number)
    row, column = np.nonzero(values)  # a row has few of many labels
    size = values.shape[1]
    return sums(unit[row] * size + column, values[row, column], number * size).reshape(number, size)


class DrawnSums:
    """Sums over Poisson resamples of rows, added in blocks; the samples do not depend on the blocks.

    Parameters
    ----------
    times : int
    generator : numpy.random.Generator

    Examples
    --------
    >>> rows = np.ones((5, 1))
    >>> whole, halves = (DrawnSums(3, np.random.default_rng(0)) for _ in range(2))
    >>> for sums, parts in ((whole, [rows]), (halves, [rows[:2], rows[2:]])):
    ...     for part in parts:
    ...         sums.add(part)
    >>> whole.sums.shape, bool((whole.sums == halves.sums).all()), float(whole.sums[0, 0])
    ((4, 1), True, 5.0)
    """

    def __init__(self, times: int, generator: np.random.Generator) -> None:
        self._times, self._generator = times, generator
        self.sums: Array = np.zeros((times + 1, 0))
        """Sums over the rows themselves, then over each resample: shape (times + 1, k)."""

    def add(self, values: npt.NDArray[Any]) -> None:
        """Add rows of shape (n, k), as float32 if they are integers."""
        if not self.sums.size:
            self.sums = np.zeros((self._times + 1, values.shape[1]))
        for start in range(0, len(values), BLOCK):
            part = values[start : start + BLOCK]
            drawn = poisson_counts(np.ones(self._times), len(part), self._generator).astype(part.dtype)
            self.sums[0] += part.sum(axis=0)
            self.sums[1:] += drawn.T @ part
