"""Columns of records: the fields of a record become columns, and a list with one item becomes the item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.lists import list_of
from evalreport.columns.nested import is_nested
from evalreport.data.arrays import EXACT, is_gap

Array = npt.NDArray[Any]
_DEPTH = 4
_MOST_FIELDS = 200
"""Fields of a column of records up to which they become columns."""
_LOOKED_AT = 50
"""Rows that tell whether the others are looked at."""
_ENOUGH = 20
"""Rows from which lists with one item each are no lists of any number of labels."""


def with_fields(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return columns in which the fields of records are columns of their own, as ``prediction.label``.

    Examples
    --------
    >>> cells = np.array([{"label": "a", "score": 0.9}, {"label": "b", "score": 0.8}], dtype=object)
    >>> {name: column.tolist() for name, column in with_fields({"told": cells}).items()}
    {'told.label': ['a', 'b'], 'told.score': [0.9, 0.8]}
    """
    found: dict[str, Array] = {}
    for name, values in columns.items():
        found.update(_fields(name, values, _DEPTH))
    return found


def _fields(name: str, values: Array, depth: int) -> Iterator[tuple[str, Array]]:
    records = _records(values) if depth else None
    if records is None:
        yield name, values
        return
    keys = list(dict.fromkeys(str(key) for record in records for key in record))[:_MOST_FIELDS]
    for key in keys:
        yield from _fields(f"{name}.{key}", _array([record.get(key) for record in records]), depth - 1)


def _records(values: Array) -> list[Mapping[Any, Any]] | None:
    """Return the cells of a column of records; None for other columns, and for scores by label."""
    if values.ndim != 1 or values.dtype != object or is_nested(values):
        return None
    cells = [_alone(cell) for cell in values.tolist()]
    if not any(isinstance(cell, Mapping) for cell in cells):
        return None
    if any(not isinstance(cell, Mapping) and not is_gap(cell) for cell in cells):
        return None
    return [cell if isinstance(cell, Mapping) else {} for cell in cells]


def _alone(cell: Any) -> Any:
    if isinstance(cell, list | tuple) and len(cell) == 1 and isinstance(cell[0], Mapping):
        return cell[0]
    return cell


def _array(cells: list[Any]) -> Array:
    kinds = set(map(type, cells))
    if kinds == {bool}:
        return np.array(cells, dtype=bool)
    if kinds == {int} and all(abs(cell) < EXACT for cell in cells):
        return np.array(cells, dtype=np.int64)
    if kinds <= {int, float, type(None)} and float in kinds:
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    return np.fromiter(cells, dtype=object, count=len(cells))


def without_single_lists(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return columns in which lists with exactly one label in every row are the labels."""
    return {name: _items(values) for name, values in columns.items()}


def _items(values: Array) -> Array:
    if values.ndim != 1 or values.dtype != object or len(values) < _ENOUGH:
        return values
    if not all(_has_one(cell) for cell in values[:_LOOKED_AT].tolist()):
        return values
    rows = [list_of(cell) for cell in values.tolist()]
    if any(row is None or len(row) != 1 for row in rows):
        return values
    return _array([row[0] for row in rows if row])


def _has_one(cell: Any) -> bool:
    if not isinstance(cell, list | tuple) and not (isinstance(cell, str) and cell.startswith("[")):
        return False
    row = list_of(cell)
    return row is not None and len(row) == 1
