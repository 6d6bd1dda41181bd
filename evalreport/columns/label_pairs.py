"""Columns of labels as codes, how often their labels occur in pairs, and the other columns of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns, missing_column
from evalreport.columns.join import Rows, check_length
from evalreport.columns.names import WEIGHT
from evalreport.data.arrays import bin_slices, checked_weights, identity_texts, is_gap, refuse_lost_identity
from evalreport.data.labels import CLOSE
from evalreport.statistics.confusion import Counts

Array = npt.NDArray[Any]
Places = npt.NDArray[np.intp]
MOST_CLASSES = 1000
"""Most labels for which every pair of labels is counted."""


def distinct(values: Array) -> Array:
    """Return the distinct labels in order; close integers are counted instead of sorted, text is not sorted.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    if values.dtype.kind in "bi" and values.size:
        least, most = int(values.min()), int(values.max())
        if most - least < CLOSE:
            return (np.flatnonzero(np.bincount(values.astype(np.intp) - least)) + least).astype(values.dtype)
    return np.array(sorted(set(values.tolist()))) if values.dtype.kind == "U" else np.unique(values)


def rows_as_codes(truth: Array) -> npt.NDArray[np.intp]:
    """Return one code for each distinct true label, or set of labels, shape (n,)."""
    if truth.ndim == 2:
        packed = np.ascontiguousarray(np.packbits(truth.astype(bool), axis=1))
        truth = packed.view(f"V{packed.shape[1]}").reshape(-1)
    elif truth.dtype == object:  # gaps among labels
        truth = truth.astype(str)
    return np.unique(truth, return_inverse=True)[1].reshape(-1)


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as codes: its distinct values in order, and the position of each row's value among them."""

    values: tuple[Any, ...]
    codes: npt.NDArray[np.intp]

    @classmethod
    def from_column(cls, column: Array) -> Coded | None:
        """Return labels, names or integers as codes; None for numbers with fractions and for lists."""
        if column.ndim != 1 or column.dtype.kind not in "biuUOf":
            return None
        if column.dtype.kind == "f" and not (column == np.rint(column)).all():
            return None
        if column.dtype.kind != "O":
            values, codes = np.unique(column, return_inverse=True)
            return cls(tuple(values.tolist()), codes)
        place: dict[Any, int] = {}
        try:
            found = [place.setdefault(cell, len(place)) for cell in column.tolist()]
        except TypeError:  # lists and mappings
            return None
        return cls(tuple(place), np.array(found, dtype=np.intp))

    def __len__(self) -> int:
        return len(self.values)

    def cross_codes(self, other: Coded) -> Coded:
        """Return the pairs of values that occur together, as codes."""
        pairs, codes = np.unique(self.codes * len(other) + other.codes, return_inverse=True)
        values = tuple((self.values[k // len(other)], other.values[k % len(other)]) for k in pairs.tolist())
        return Coded(values, codes)

    @property
    def names(self) -> frozenset[str]:
        """The distinct values as text, in lower case."""
        return frozenset(str(value).strip().casefold() for value in self.values)

    @property
    def counts(self) -> npt.NDArray[np.intp]:
        """Number of rows with each value."""
        return np.bincount(self.codes, minlength=len(self))


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Number of rows with each pair of labels of two columns; labels as text.

    Parameters
    ----------
    one, other : tuple of str
        The labels that occur.
    table : float64 array of shape (len(one), len(other))
        Number of rows.

    Examples
    --------
    >>> pairs = LabelPairs.from_labels(np.array([0, 1, 1, 0]), np.array(["x", "y", "y", "x"]))
    >>> pairs.best.tolist(), pairs.agreement(pairs.same), pairs.agreement(pairs.best)
    ([0, 1], 0.0, 1.0)
    """

    one: tuple[str, ...]
    other: tuple[str, ...]
    table: npt.NDArray[np.float64]

    @classmethod
    def from_labels(cls, one: Array, other: Array) -> LabelPairs | None:
        """Return the pairs of two arrays of labels of shape (n,); None for very many labels."""
        first, second = Coded.from_column(one), Coded.from_column(other)
        return None if first is None or second is None else cls.from_codes(first, second)

    @classmethod
    def from_codes(cls, one: Coded, other: Coded) -> LabelPairs | None:
        """Return the pairs of two columns; None for more than `MOST_CLASSES` labels."""
        shape = len(one), len(other)
        if max(shape) > MOST_CLASSES:
            return None
        table = np.bincount(one.codes * len(other) + other.codes, minlength=shape[0] * shape[1])
        first, second = (tuple(map(str, column.values)) for column in (one, other))
        return cls(first, second, table.reshape(shape).astype(np.float64))

    @classmethod
    def from_counts(cls, counts: Counts, texts: Sequence[str]) -> LabelPairs | None:
        """Return the pairs of a confusion matrix, without unparsed rows; None for very many labels."""
        if counts.size > MOST_CLASSES:
            return None
        table = np.zeros((counts.size, counts.size + 1))
        table[counts.rows, counts.columns] = counts.weight
        table = table[:, :-1]
        rows, columns = (np.flatnonzero(table.any(axis=axis)) for axis in (1, 0))
        first, second = (tuple(texts[place] for place in places.tolist()) for places in (rows, columns))
        return cls(first, second, table[np.ix_(rows, columns)])

    @cached_property
    def rows(self) -> float:
        """Number of rows."""
        return float(self.table.sum())

    @cached_property
    def same(self) -> Places:
        """For each label of the other column, the position of the same text in the first; -1 without one."""
        return self.rename_labels({})

    def rename_labels(self, names: Mapping[str, str]) -> Places:
        """Return the position of each renamed label of the other column in the first; -1 without one."""
        place = {text: code for code, text in enumerate(self.one)}
        found = [place.get(names.get(text, text), -1) for text in self.other]
        return np.array(found, dtype=np.intp)

    @cached_property
    def best(self) -> Places | None:
        """For each label of the other column the matching one of the first, most frequent pairs first.

        None unless both columns have equally many labels.
        """
        size = len(self.one)
        if size != len(self.other):
            return None
        table = self.table.T
        best: dict[int, int] = {}
        left = dict.fromkeys(range(size))
        cells = np.flatnonzero(table)
        for cell in cells[np.argsort(-table.ravel()[cells], kind="stable")].tolist():
            row, column = divmod(cell, size)
            if row not in best and column in left:
                best[row] = column
                del left[column]
        best |= dict(zip([row for row in range(size) if row not in best], left, strict=True))
        return np.array([best[row] for row in range(size)], dtype=np.intp)

    def names(self, places: Places) -> dict[str, str]:
        """Return the label of the first column for each of the other."""
        return {text: self.one[place] for text, place in zip(self.other, places.tolist(), strict=True)}

    def agreement(self, places: Places) -> float:
        """Return the proportion of rows with the same label in both columns, by positions in the first."""
        known = np.flatnonzero(places >= 0)
        return float(self.table[places[known], known].sum() / self.rows) if self.rows else 0.0

    def kappa(self, places: Places) -> float:
        """Return the agreement beyond chance (Cohen's kappa)."""
        known = np.flatnonzero(places >= 0)
        ours, theirs = (self.table.sum(axis=axis) / self.rows for axis in (1, 0))
        chance = float(ours[places[known]] @ theirs[known])
        return 1.0 if chance == 1 else (self.agreement(places) - chance) / (1 - chance)


@dataclass(frozen=True, eq=False)
class Extras:
    """Other columns of the rows, as arrays of shape (n,), and the column mapping."""

    groups: Array | None
    folds: Array | None
    weights: Array | None
    slices: Mapping[str, Array]
    example_texts: Array | None
    taken: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


def extras(rows: Rows, request: Columns, file: str) -> Extras:
    """Return groups, folds, weights, slices and example texts.

    Raises
    ------
    ColumnNotFoundError
        A named column does not exist.
    DataError
        Weights are text, or names have over a thousand characters.
    """
    weight = request.weight or next((name for name in WEIGHT if name in rows.columns), None)
    groups = {name: _column(rows, name, "--set group", file) for name in request.groups}
    folds = _optional(rows, request.fold, "--set fold", file)
    weights = _optional(rows, weight, "--set weight", file)
    if weights is not None:
        checked_weights(weights, f"column {weight!r}")
    slices = {name: _column(rows, name, "--slice", file) for name in request.slices}
    for name, values in (*slices.items(), *groups.items()):
        check_length(values, name)
        refuse_lost_identity(values, f"column {name!r}")
    binned, notes = bin_slices(slices, request.slice_bins)
    examples = _optional(rows, request.example_text, "--set show_text", file)
    named = (
        [("group", name) for name in groups]
        + [("fold", request.fold), ("weight", weight)]
        + [("slice", name) for name in slices]
    )
    taken = tuple((part, name) for part, name in (*named, ("example text", request.example_text)) if name)
    return Extras(
        _combine_groups(list(groups.values())),
        folds,
        weights,
        binned,
        None if examples is None else texts_of(examples),
        taken,
        notes,
    )


def _combine_groups(columns: list[Array]) -> Array | None:
    """One group for each combination of values."""
    if len(columns) < 2:
        return columns[0] if columns else None
    rows = zip(*(identity_texts(column, "groups") for column in columns), strict=True)
    return np.array([str(row) for row in rows], dtype=object)


def _column(rows: Rows, name: str, option: str, file: str) -> Array:
    if name not in rows.columns:
        raise missing_column(name, option, rows.names, file)
    return rows.columns[name]


def _optional(rows: Rows, name: str | None, option: str, file: str) -> Array | None:
    return None if name is None else _column(rows, name, option, file)


def texts_of(values: Array) -> Array:
    """Return texts as str; a gap is an empty text."""
    return np.array(["" if is_gap(value) else str(value) for value in values.tolist()], dtype=object)
