"""What goes with the rows: groups, weights, slices, example texts and generated answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.join import Rows, check_length
from evalreport.columns.names import WEIGHT
from evalreport.columns.request import Columns, missing_column
from evalreport.data.arrays import checked_weights, identity_texts, is_gap, refuse_lost_identity

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Extras:
    """What goes with the rows, as arrays of shape (n,), and which column was taken for what."""

    groups: Array | None
    folds: Array | None
    weights: Array | None
    slices: Mapping[str, Array]
    example_texts: Array | None
    taken: tuple[tuple[str, str], ...]


def extras(rows: Rows, request: Columns, file: str) -> Extras:
    """Return groups, folds, weights, slices and example texts.

    Raises
    ------
    ColumnNotFoundError
        A column that was named and is not there.
    DataError
        Weights that are text; names of over a thousand characters.
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
        slices,
        None if examples is None else texts_of(examples),
        taken,
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
