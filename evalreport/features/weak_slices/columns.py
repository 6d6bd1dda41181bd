"""Columns as levels that can be searched: values, quantile bins, lengths of texts, missing values.

Bins are made from the rows of the first half only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.text import printable
from evalreport.data.arrays import is_gap
from evalreport.data.quantile_bins import range_text

Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

MOST_COLUMNS = 50
MOST_VALUES = 20
"""Values of a column that are separate slices, the most frequent first."""
FEW_NUMBERS = 10
"""Distinct numbers up to which each number is a separate slice."""
QUANTILES = np.unique([0.01, 0.02, *(np.arange(1, 40) / 40), 0.98, 0.99])
"""Where a numeric column is cut into bins; a slice is any range of them."""
COARSE = 5
"""Quantile bins of a numeric column in the crossing of two columns."""
MOSTLY = 0.5
"""Proportion of the rows that frequent values must have; else a text is searched by its length."""
LONGEST_VALUE = 40
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")
MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class SearchColumn:
    """A column as codes of levels, in order, and the slices that are made of them.

    Parameters
    ----------
    name : str
    codes : int array of shape (n,)
        Level of each row; -1 for a level that is not a slice.
    levels : tuple of str
        A level in words, after the name: ``= north``, ``over 20, up to 30``.
    is_ordered : bool
        Whether ranges of levels are slices, too.
    edges : float array
        Of ordered levels, the upper ends of all but the last one.
    missing : int or None
        The level of rows without a value.
    dates : bool
        Whether the edges are days.
    """

    name: str
    codes: Codes
    levels: tuple[str, ...]
    is_ordered: bool = False
    edges: npt.NDArray[np.float64] | None = None
    missing: int | None = None
    dates: bool = False

    @property
    def ordered_levels(self) -> int:
        """Number of levels that have an order; a level of missing values follows them."""
        return len(self.levels) - (self.missing is not None)

    def text(self, first: int, last: int) -> str:
        """Return a range of levels in words."""
        if self.edges is None or first == self.missing:
            return self.levels[first]
        show = _show_day if self.dates else _show_number
        return range_text([show(edge) for edge in self.edges.tolist()], first, last)

    def coarse(self) -> tuple[Codes, tuple[tuple[int, int], ...]]:
        """Return the codes and ranges of few levels, for the crossing of two columns."""
        if not self.is_ordered:
            return self.codes, tuple((level, level) for level in range(len(self.levels)))
        size = self.ordered_levels
        starts = np.unique(np.round(np.linspace(0, size, min(COARSE, size) + 1)).astype(np.int64))[:-1]
        ends = [*(starts[1:] - 1).tolist(), size - 1]
        ranges = [*zip(starts.tolist(), ends, strict=True)]
        place = np.searchsorted(starts, np.arange(size), side="right") - 1
        if self.missing is not None:
            ranges.append((self.missing, self.missing))
            place = np.append(place, len(ranges) - 1)
        return np.where(self.codes < 0, -1, place[self.codes]), tuple(ranges)


def _show_day(edge: float) -> str:
    return str(np.datetime64(int(edge), "D"))


def _show_number(edge: float) -> str:
    return f"{edge:.15g}"


def search_columns(
    columns: Mapping[str, npt.NDArray[Any]], names: list[str], halves: Sequence[Mask]
) -> list[list[SearchColumn]]:
    """Return for each half the columns that can be searched; ids and columns with one value are not.

    Parameters
    ----------
    columns : mapping from name to array of shape (n,)
    names : list of str
        Which of them are searched, at most the first fifty that can be.
    halves : sequence of bool arrays of shape (n,)
        Rows that choose the slices.
    """
    found: list[list[SearchColumn]] = [[] for _ in halves]
    for name in names:
        values = columns[name]
        texts = _texts(values) if values.dtype.kind not in "iufM" else None
        for half, one in zip(halves, found, strict=True):
            column = _of_texts(name, *texts, half) if texts else _of_numbers(name, values, half)
            if column is not None and len(np.unique(column.codes[column.codes >= 0])) > 1:
                one.append(column)
        if max(map(len, found)) >= MOST_COLUMNS:
            break
    return found


def _of_numbers(name: str, values: npt.NDArray[Any], first: Mask) -> SearchColumn | None:
    if values.dtype.kind in "iuf":
        if values.dtype.kind in "iu" and len(np.unique(values)) == len(values):
            return None  # as many numbers as rows: an id
        return _numeric(name, values.astype(np.float64), first)
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        return _numeric(name, np.where(np.isnat(days), np.nan, days.astype(np.float64)), first, dates=True)
    return None


def _numeric(
    name: str, numbers: npt.NDArray[np.float64], first: Mask, *, dates: bool = False
) -> SearchColumn | None:
    known = np.isfinite(numbers)
    seen = np.unique(numbers[known & first])
    if len(seen) + (not known.all()) < 2:
        return None
    if len(seen) <= FEW_NUMBERS and not dates:
        return _categorical(name, numbers, known, seen)
    edges = np.quantile(numbers[known & first], QUANTILES, method="higher")
    if not dates:  # rounded before rows are binned, so that the numbers in words are exact
        edges = np.array([float(f"{edge:.4g}") for edge in edges])
    edges = np.unique(edges)
    edges = edges[edges < seen[-1]]
    if not len(edges):
        return None
    codes = np.searchsorted(edges, np.where(known, numbers, 0.0), side="left")
    levels = tuple("" for _ in range(len(edges) + 1))
    missing = None
    if not known.all():
        missing, levels = len(levels), (*levels, f"= {MISSING}")
        codes = np.where(known, codes, missing)
    return SearchColumn(name, codes.astype(np.int64), levels, True, edges, missing, dates)


def _categorical(
    name: str, numbers: npt.NDArray[np.float64], known: Mask, seen: npt.NDArray[np.float64]
) -> SearchColumn:
    place = np.minimum(np.searchsorted(seen, np.where(known, numbers, seen[0])), len(seen) - 1)
    codes = np.where(known & (seen[place] == numbers), place, -1)
    levels = tuple(f"= {value:.15g}" for value in seen)
    if not known.all():
        codes, levels = np.where(known, codes, len(levels)), (*levels, f"= {MISSING}")
    return SearchColumn(name, codes.astype(np.int64), levels)


def _texts(values: npt.NDArray[Any]) -> tuple[Codes, list[str]] | None:
    """Return a column of texts, booleans or mixed values as codes of distinct texts; None for lists."""
    cells = values.tolist()
    if any(isinstance(cell, (list, tuple, dict, set, np.ndarray)) for cell in cells[:1000]):
        return None
    if not set(map(type, cells)) <= {str, type(None)}:
        cells = [MISSING if is_gap(cell) else str(cell) for cell in cells]
    raw: dict[Any, int] = {}
    codes = np.fromiter((raw.setdefault(cell, len(raw)) for cell in cells), np.int64, len(cells))
    places: dict[str, int] = {}
    texts = (MISSING if is_gap(cell) else cell for cell in raw)
    place = np.array([places.setdefault(text, len(places)) for text in texts], dtype=np.int64)
    return place[codes], list(places)


def _of_texts(name: str, codes: Codes, names: list[str], first: Mask) -> SearchColumn | None:
    """Return frequent values, dates, or the length of texts."""
    counts = np.bincount(codes, minlength=len(names))
    numbers = _as_dates(names)
    if numbers is not None and len(names) > FEW_NUMBERS:
        return _numeric(name, numbers[codes], first, dates=True)
    frequent = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    if counts[frequent].sum() < MOSTLY * len(codes):
        lengths = np.array([np.nan if text == MISSING else len(text) for text in names])
        return _numeric(f"length of {name}", lengths[codes], first)
    if MISSING in names and names.index(MISSING) not in frequent:
        frequent = np.append(frequent, names.index(MISSING))
    level = np.full(len(names), -1, dtype=np.int64)
    level[frequent] = np.arange(len(frequent))
    return SearchColumn(name, level[codes], tuple(f"= {_short(names[code])}" for code in frequent))


def _as_dates(names: list[str]) -> npt.NDArray[np.float64] | None:
    """Return distinct texts as days since 1970; None where some are not dates."""
    given = [text for text in names if text != MISSING]
    if not given or not all(_DATE.fullmatch(text) for text in given[:100]):
        return None
    try:
        days = {text: float(np.datetime64(text[:10], "D").astype(np.int64)) for text in given}
    except ValueError:
        return None
    return np.array([days.get(text, np.nan) for text in names])


def _short(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= LONGEST_VALUE else shown[: LONGEST_VALUE - 1] + "…"


def ranges_of(column: SearchColumn) -> Iterator[tuple[int, int]]:
    """Yield the ranges of levels that are slices of one column."""
    if not column.is_ordered:
        yield from ((level, level) for level in range(len(column.levels)))
        return
    size = column.ordered_levels
    yield from ((low, high) for low in range(size) for high in range(low, size) if high - low + 1 < size)
    if column.missing is not None:
        yield column.missing, column.missing
