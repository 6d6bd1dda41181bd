"""Scores that stand in one column: lists, vectors, mappings of label to score, and all of these as text."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.cells import is_gap, is_number
from evalreport.errors import DataError
from evalreport.sources.readers.limits import ITEM, refuse_decoded

Array = npt.NDArray[Any]
_NAMES = ("label", "class", "name", "category")
_VALUES = ("prob", "score", "probability", "confidence", "value", "p")
"""Keys of one entry in a list of labels with their scores (pipelines with top_k, ML.PREDICT)."""
_OPENS = ("[", "(", "{")
_BETWEEN = re.compile(r"[\s,;]+")


def is_nested(values: Array) -> bool:
    """Tell whether a column holds several numbers in each cell, by its first cell that is no gap.

    Examples
    --------
    >>> is_nested(np.array(["[0.5 0.5]", None], dtype=object)), is_nested(np.array([0.5]))
    (True, False)
    """
    if values.ndim == 2:
        return values.dtype.kind in "biuf"
    if values.dtype != object:
        return False
    first = next((cell for cell in values.tolist() if not is_gap(cell)), None)
    if isinstance(first, str):
        return first.lstrip().startswith(_OPENS) and _row(first) is not None
    return _row(first) is not None


def matrix_of(values: Array, name: str) -> Mapping[str, Array]:
    """Return one column of numbers for each place of the lists, or for each label of the mappings.

    A label that the mapping of one row lacks has the score 0 there, as in lists of the best few.

    Returns
    -------
    mapping from what stands between the brackets (a place or a label) to float64 of shape (n,)

    Raises
    ------
    DataError
        A cell that is empty or of another form, or lists of unequal length; names the first row.

    Examples
    --------
    >>> matrix_of(np.array(['{"ham": 0.25, "spam": 0.75}'], dtype=object), "probs")
    {'ham': array([0.25]), 'spam': array([0.75])}
    """
    if values.ndim == 2:
        return {str(place): values[:, place] for place in range(values.shape[1])}
    rows = [_row(cell) for cell in values.tolist()]
    lost = next((row for row, cell in enumerate(rows) if cell is None), None)
    if lost is not None:
        raise _unlike(name, lost, values[lost])
    labels: dict[str, None] = dict.fromkeys(str(label) for row in rows if row is not None for label in row)
    refuse_decoded(len(rows) * len(labels), len(rows) * ITEM)
    if all(isinstance(row, _Places) for row in rows):
        widths = {len(row) for row in rows if row is not None}
        if len(widths) > 1:
            first = next(
                r for r, row in enumerate(rows) if row is not None and len(row) != len(rows[0] or ())
            )
            raise _unlike(name, first, values[first])
    columns = {label: np.zeros(len(rows)) for label in labels}
    for place, row in enumerate(rows):
        for label, number in (row or {}).items():
            columns[str(label)][place] = number
    return columns


class _Places(dict[int, float]):
    """The numbers of a list by their place."""


def _unlike(name: str, row: int, cell: object) -> DataError:
    return DataError(
        f"column {name!r} has a cell that is no list of scores like the others",
        where=f"column {name!r}, row {row}, {str(cell)[:80]!r}",
        fix="write the same number of scores in each row, or leave the column out with --no-scores",
    )


def _row(cell: Any) -> Mapping[Any, float] | None:
    """Return the scores of one cell by place or label; None where it holds none."""
    if isinstance(cell, str):
        cell = _parsed(cell.strip())
    if isinstance(cell, Mapping):
        return _mapping(cell)
    if isinstance(cell, (list, tuple, np.ndarray)) and len(cell):
        if all(isinstance(item, Mapping) for item in cell):
            return _pairs(list(cell))
        if all(is_number(item) for item in cell):
            return _Places(enumerate(map(float, cell)))
    return None


def _mapping(cell: Mapping[str, Any]) -> Mapping[Any, float] | None:
    if {"type", "values"} <= cell.keys():  # a vector of Spark ML: dense, or sparse with its size
        values = cell.get("values") or []
        if cell["type"] == 1:
            return _Places(enumerate(map(float, values)))
        places = dict(zip(cell.get("indices") or [], values, strict=False))
        return _Places((place, float(places.get(place, 0.0))) for place in range(int(cell.get("size") or 0)))
    if cell and all(is_number(item) for item in cell.values()):
        return {str(label): float(item) for label, item in cell.items()}
    return None


def _pairs(cell: Sequence[Any]) -> Mapping[str, float] | None:
    """Return the scores of a list such as ``[{"label": "a", "score": 0.9}, …]``."""
    label = next((key for key in _NAMES if key in cell[0]), None)
    value = next((key for key in _VALUES if key in cell[0]), None)
    if label is None or value is None or not all(is_number(item.get(value)) for item in cell):
        return None
    return {str(item.get(label)): float(item[value]) for item in cell}


def _parsed(text: str) -> Any:
    """Return what a text of brackets stands for; nothing in it is ever run."""
    if not text.startswith(_OPENS):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text[0] != "{":
        try:
            return [float(word) for word in _BETWEEN.split(text.strip("[]() \n")) if word]
        except ValueError:
            pass
    try:
        return ast.literal_eval(text) if len(text) < 100_000 else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
