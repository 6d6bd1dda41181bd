"""Profiles of columns: what a sample of each column contains, and what its name says.

A profile is made once. All evidence about the role of a column is a function of profiles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.lists import indicators_of, label_set_of, list_of
from evalreport.columns.names import name_weights
from evalreport.columns.nested import matrix_of
from evalreport.core.errors import DataError
from evalreport.data.arrays import EDGE, is_gap, is_number

Array = npt.NDArray[Any]
SAMPLE = 2_000
"""Rows that a profile describes."""
MOST_LABELS = 1_000
"""Distinct values from which a column is compared with no other as a column of labels."""
_NESTED = ("[", "(", "{")
_COMMA = re.compile(r"[-+]?\d*,\d+(e[-+]?\d+)?", re.IGNORECASE)
"""A number with a decimal comma."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Distinct values of a column and the place of each row's value among them, -1 for a gap."""

    values: tuple[Any, ...]
    codes: npt.NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The values in one spelling, in the order of `values`."""
        return tuple(map(spelled, self.values))

    @cached_property
    def counts(self) -> npt.NDArray[np.intp]:
        """Rows of each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self))


@dataclass(frozen=True, eq=False)
class Profile:
    """A column in a sample of rows.

    Parameters
    ----------
    name : str
    values : array of shape (rows,) or (rows, width)
    labels : Labels or None
        Where the values may be labels: texts, whole numbers or truth values.
    numbers : float array of shape (rows,), or None
        Where all values are numbers; a gap is NaN.
    vector : mapping from place or label to float array of shape (rows,), or None
        Where each cell contains several numbers.
    flags : int array of shape (rows, width), or None
        Where each cell is a list of 0 and 1.
    lists : tuple of lists, or None
        Where each cell is a list of labels; an empty list for a gap.
    label_set : frozenset or None
        Where every cell lists the same labels.
    """

    name: str
    values: Array
    labels: Labels | None = None
    numbers: Array | None = None
    vector: Mapping[str, Array] | None = None
    flags: Array | None = None
    lists: tuple[list[Any], ...] | None = None
    label_set: frozenset[Any] | None = None
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_fraction(self) -> bool:
        """Whether some number is not whole."""
        return self.numbers is not None and self.labels is None

    @cached_property
    def is_unique(self) -> bool:
        """Whether nearly every row has a value of its own, as ids and texts have."""
        return self.labels is not None and len(self.labels.codes) >= 20 and (
            len(self.labels) > 0.5 * len(self.labels.codes)
        )  # fmt: skip

    @cached_property
    def is_constant(self) -> bool:
        """Whether all of some rows have one value."""
        return self.labels is not None and len(self.labels) == 1


def spelled(value: Any) -> str:
    """Return a label in one spelling: small letters, whole numbers without a point.

    Examples
    --------
    >>> spelled(" Spam"), spelled(1.0), spelled("2.0"), spelled(True)
    ('spam', '1', '2', 'true')
    """
    text = str(value).strip().casefold()
    bare = text.removeprefix("-").removesuffix(".0")
    if bare.isdecimal():
        return text.removesuffix(".0")
    return " ".join(text.replace("_", " ").replace("-", " ").split()) or text


def sample_of(rows: int) -> slice | npt.NDArray[np.intp]:
    """Return the rows that profiles describe: all of them, or a random sample in order."""
    if rows <= SAMPLE:
        return slice(None)
    return np.sort(np.random.default_rng(rows).choice(rows, SAMPLE, replace=False))


def profiles_of(columns: Mapping[str, Array]) -> dict[str, Profile]:
    """Return the profile of each column that has one value, list or vector per row."""
    rows = max((len(column) for column in columns.values() if column.ndim), default=0)
    some = sample_of(rows)
    fit = {name: column for name, column in columns.items() if column.ndim and len(column) == rows}
    return {name: profile_of(name, column[some]) for name, column in fit.items()}


def profile_of(name: str, values: Array) -> Profile:
    """Return what some rows of a column contain.

    Examples
    --------
    >>> profile_of("label", np.array(["a", "b", "a"])).labels.values
    ('a', 'b')
    >>> profile_of("score", np.array([0.5, 0.25])).is_fraction
    True
    """
    made = Profile(name, values, weights=name_weights(name))
    if values.ndim == 2:
        return _matrix(made)
    if values.ndim != 1:
        return made
    if values.dtype.kind in "biuf":
        return _numeric(made, values)
    cells = values.tolist()
    first = next((cell for cell in cells if not is_gap(cell)), None)
    if isinstance(first, Mapping | list | tuple | np.ndarray) or (
        isinstance(first, str) and first.lstrip().startswith(_NESTED)
    ):
        return _nested(made, cells)
    return _plain(made, cells)


def _matrix(made: Profile) -> Profile:
    values = made.values
    if values.dtype.kind not in "biuf":
        return _nested(made, values.tolist())
    if values.shape[1] == 1:
        return _numeric(made, values[:, 0])
    is_flag = bool(((values == 0) | (values == 1)).all()) and values.shape[1] > 1
    vector = {str(place): values[:, place].astype(float) for place in range(values.shape[1])}
    flags = values.astype(np.int64) if is_flag else None
    return replace(made, vector=None if values.dtype.kind == "b" else vector, flags=flags)


def _numeric(made: Profile, values: Array) -> Profile:
    numbers = values.astype(float)
    known = numbers[~np.isnan(numbers)]
    labels = None
    if known.size and np.isfinite(known).all() and (known == np.rint(known)).all():
        kept = values[~np.isnan(numbers)] if values.dtype.kind == "f" else values
        distinct, places = np.unique(kept, return_inverse=True)
        codes = np.full(len(values), -1, dtype=np.intp)
        codes[~np.isnan(numbers)] = places.reshape(-1)
        labels = Labels(tuple(distinct.tolist()), codes)
    return replace(made, labels=labels, numbers=numbers)


def _plain(made: Profile, cells: Sequence[Any]) -> Profile:
    """Texts, objects of several types, and numbers that are written as text."""
    place: dict[Any, int] = {}
    try:
        if set(map(type, cells)) == {str}:
            codes = [place.setdefault(cell, len(place)) for cell in cells]
        else:
            codes = [-1 if is_gap(cell) else place.setdefault(cell, len(place)) for cell in cells]
    except TypeError:
        return made
    found, numbers = _numbers(place), None
    if found is not None:
        by_code = np.array([*found, np.nan])
        numbers = by_code[codes]
        if any(not float(value).is_integer() for value in by_code[:-1].tolist()):
            return replace(made, numbers=numbers)
    return replace(made, labels=Labels(tuple(place), np.array(codes, dtype=np.intp)), numbers=numbers)


def _numbers(values: Mapping[Any, int]) -> list[float] | None:
    found = []
    for value in values:
        number = number_of(value)
        if number is None:
            return None
        found.append(number)
    return found or None


def number_of(value: Any) -> float | None:
    """Return a cell as a number: also a text with a decimal comma or a per cent sign.

    Examples
    --------
    >>> number_of("0,25"), number_of("25 %"), number_of("a") is None
    (0.25, 0.25, True)
    """
    if is_number(value):
        return float(value) if abs(value) < EDGE else None
    if not isinstance(value, str):
        return None
    bare, factor = value.strip(), 1.0
    if bare.endswith("%"):
        bare, factor = bare[:-1].strip(), 0.01
    elif not _COMMA.fullmatch(bare):
        return None
    try:
        return float(bare.replace(",", ".")) * factor
    except ValueError:
        return None


def _nested(made: Profile, cells: Sequence[Any]) -> Profile:
    lists = [[] if is_gap(cell) else list_of(cell) for cell in cells]
    if all(row is not None for row in lists):
        known = label_set_of(np.fromiter(cells, dtype=object, count=len(cells)))
        flags = indicators_of(lists)
        rows = tuple(row for row in lists if row is not None)
        vector = None if flags is None and not _are_numbers(rows) else _vector(made, cells)
        return replace(
            made, lists=None if flags is not None else rows, flags=flags, label_set=known, vector=vector
        )
    return replace(made, vector=_vector(made, cells))


def _are_numbers(rows: Sequence[list[Any]]) -> bool:
    return len({len(row) for row in rows}) == 1 and all(is_number(item) for row in rows for item in row)


def _vector(made: Profile, cells: Sequence[Any]) -> Mapping[str, Array] | None:
    known = np.fromiter((cell for cell in cells if not is_gap(cell)), dtype=object)
    try:
        found = matrix_of(known, made.name)
    except DataError:
        return None
    if len(known) == len(cells):
        return found
    there = np.array([not is_gap(cell) for cell in cells])
    return {key: _spread(column, there) for key, column in found.items()}


def _spread(column: Array, there: npt.NDArray[np.bool_]) -> Array:
    full = np.full(len(there), np.nan)
    full[there] = column
    return full
