"""Quantile bins of a numeric column that divides the rows into slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import UsageError
from evalreport.data.arrays import is_gap

MOST_VALUES: Final = 20
"""Distinct numbers up to which each number is a separate slice."""
BINS: Final = 5
"""Quantile bins of a numeric column with more values."""
MOST_BINS: Final = 100


def check_bins(bins: int) -> None:
    """Check the number of quantile bins; 0 makes each value a slice.

    Raises
    ------
    UsageError
        One bin, or a number that is negative or above 100.
    """
    if bins == 1 or not 0 <= bins <= MOST_BINS:
        raise UsageError(
            f"{bins} quantile bins cannot divide the rows",
            where="--set slice_bins",
            fix=f"pass 2 to {MOST_BINS}, or 0 for a slice of each value",
        )


def has_many_numbers(values: npt.NDArray[Any]) -> bool:
    """Return whether a column is numeric with more than 20 values.

    Examples
    --------
    >>> has_many_numbers(np.arange(30)), has_many_numbers(np.arange(20)), has_many_numbers(np.array(["a"]))
    (True, False, False)
    """
    numbers = _numbers(values)
    return numbers is not None and _count_distinct(numbers) > MOST_VALUES


def bin_slices(
    slices: Mapping[str, npt.NDArray[Any]], bins: int = BINS
) -> tuple[dict[str, npt.NDArray[Any]], tuple[str, ...]]:
    """Return columns with the numeric ones of many values cut into quantile bins, and notes that say so.

    A missing value remains missing.

    Parameters
    ----------
    slices : mapping from a column's name to an array of shape (n,)
    bins : int
        Quantile bins; 0 keeps each value.

    Raises
    ------
    UsageError
        As of `check_bins`.

    Examples
    --------
    >>> ages, notes = bin_slices({"age": np.array([*range(20, 80), None], dtype=object)}, bins=3)
    >>> sorted({str(value) for value in ages["age"]})
    ['None', 'over 39, up to 59', 'over 59', 'up to 39']
    >>> notes
    ('Column age has 60 different numbers: its slices are 3 quantile bins (--set slice_bins=N)',)
    """
    check_bins(bins)
    found, notes = dict(slices), []
    for name, values in slices.items():
        numbers = _numbers(values) if bins else None
        distinct = 0 if numbers is None else _count_distinct(numbers)
        if numbers is None or distinct <= MOST_VALUES:
            continue
        known = np.isfinite(numbers)
        edges = quantile_edges(numbers[known], np.arange(1, bins) / bins)
        ends = [f"{edge:.15g}" for edge in edges]
        words = np.array([range_text(ends, k, k) for k in range(len(edges) + 1)], dtype=object)
        binned = np.full(len(numbers), None, dtype=object)
        binned[known] = words[np.searchsorted(edges, numbers[known], side="left")]
        found[name] = binned
        notes.append(
            f"Column {name} has {distinct:,} different numbers: its slices are "
            f"{len(words)} quantile bins (--set slice_bins=N)"
        )
    return found, tuple(notes)


def quantile_edges(
    numbers: npt.NDArray[np.float64], quantiles: Sequence[float] | npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the upper ends of all bins but the last one.

    They have four digits, so that an edge in words is exact; each bin between contains a number.

    Examples
    --------
    >>> quantile_edges(np.array([1.0, 2.0, 3.0, 4.0]), [0.5])
    array([2.])
    """
    edges = np.quantile(numbers, quantiles, method="inverted_cdf")
    edges = np.unique([float(f"{edge:.4g}") for edge in edges])
    counts = np.bincount(np.searchsorted(edges, numbers, side="left"), minlength=len(edges) + 1)
    return np.asarray(edges[(counts[:-1] > 0) & (counts[::-1].cumsum()[::-1][1:] > 0)])


def range_text(edges: Sequence[str], first: int, last: int) -> str:
    """Return a range of bins in words; the edges are the upper ends of all but the last bin.

    Examples
    --------
    >>> [range_text(["20", "30"], *part) for part in ((0, 0), (1, 1), (1, 2))]
    ['up to 20', 'over 20, up to 30', 'over 20']
    """
    low = None if first == 0 else edges[first - 1]
    high = None if last == len(edges) else edges[last]
    if low is None:
        return f"up to {high}"
    return f"over {low}" if high is None else f"over {low}, up to {high}"


def _count_distinct(numbers: npt.NDArray[np.float64]) -> int:
    return len(np.unique(numbers[np.isfinite(numbers)]))


def _numbers(values: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Return a numeric column as floats, NaN where a value is missing; None for any other column."""
    if values.dtype.kind in "iuf" and values.ndim == 1:
        return values.astype(np.float64)
    if values.dtype != object or values.ndim != 1:
        return None
    cells = [None if is_gap(cell) else cell for cell in values.tolist()]
    if any(isinstance(cell, bool) or not isinstance(cell, (int, float, type(None))) for cell in cells):
        return None
    return np.array([np.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)
