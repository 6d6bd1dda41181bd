"""Cells that contain a list: of labels, of 0/1 indicators, or the label set itself.

Three things look alike in a file. ``["joy", "anger"]`` are the labels of one row. ``[0, 1, 0]`` has one
indicator for each label. ``["no", "yes"]`` in every row is the label set: it names the places of scores.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.names import PRED, TRUTH, find_role_names, role
from evalreport.columns.request import Columns, list_names
from evalreport.data.arrays import is_gap, is_number
from evalreport.readers.formats import RawTable

Array = npt.NDArray[Any]
_FLAGS = {0, 1}
_NUMPY_ITEMS = re.compile(r"""(['"])(.*?)\1""")
_NUMPY_GAP = re.compile(r"""['"]\s+['"]""")
_LONGEST = 100_000
"""Characters of a cell that is parsed as a list."""


def with_lists(table: RawTable, request: Columns) -> tuple[RawTable, Columns, tuple[str, ...]]:
    """Return a table in which lists of labels are lists, and lists of indicators are one column per label.

    A column that contains the label set in every row is not a truth: it names the places of the scores.

    Returns
    -------
    The table, the request that names the new columns, and the notes on what was assumed.
    """
    table = _with_parsed_lists(table, request)
    table, request, notes = _without_label_set(table, request)
    table, request, more = _with_indicators(table, request)
    return table, request, (*notes, *more)


def list_of(cell: Any) -> list[Any] | None:
    """Return the labels of a cell that is a list, or a text that a list was written as; None for others.

    Examples
    --------
    >>> list_of("['joy', 'anger']"), list_of("['joy' 'anger']"), list_of("[0.5, 1]"), list_of("joy")
    (['joy', 'anger'], ['joy', 'anger'], None, None)
    """
    if isinstance(cell, str):
        text = cell.strip()
        if not (text.startswith("[") and text.endswith("]")) or len(text) > _LONGEST:
            return None
        if _NUMPY_GAP.search(text):
            return [found[1] for found in _NUMPY_ITEMS.findall(text)]
        try:
            cell = ast.literal_eval(text.replace("true", "True").replace("false", "False"))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            words = text[1:-1].split()  # NumPy writes numbers without commas
            cell = list(map(int, words)) if words and all(word in ("0", "1") for word in words) else None
    if isinstance(cell, tuple | np.ndarray):
        cell = list(cell)
    if not isinstance(cell, list) or not all(isinstance(item, str | int | np.integer) for item in cell):
        return None
    return cell


def indicators_of(rows: Sequence[Any]) -> npt.NDArray[np.int64] | None:
    """Return lists of 0 and 1 of one length as a matrix of shape (n, labels); None for other lists.

    A list of labels has no label twice, so that two lists of at least three places show what they are.

    Examples
    --------
    >>> indicators_of([[0, 1, 1], [True, False, False]])
    array([[0, 1, 1],
           [1, 0, 0]])
    >>> indicators_of([[0, 1], [1]]) is None, indicators_of([["a", "b"]]) is None
    (True, True)
    """
    widths = {len(row) if isinstance(row, list | tuple | np.ndarray) else -1 for row in rows}
    if len(widths) != 1 or (width := widths.pop()) < 2:
        return None
    items = {item for row in rows for item in row}
    if not items <= _FLAGS or any(isinstance(item, float | np.floating) for item in items):
        return None
    if width == 2 and len({tuple(row) for row in rows}) < 2:
        return None  # [0, 1] in every row is the label set
    return np.asarray([[int(item) for item in row] for row in rows], dtype=np.int64)


@dataclass(frozen=True)
class _Named:
    """The columns that names or options give the parts of truth and prediction."""

    truth: str | None
    pred: str | None


def _parts(table: RawTable, request: Columns) -> _Named:
    free = [name for name in table.names if name not in request.assigned_columns]
    truth = (request.truth,) if request.truth else find_role_names("truth", free, TRUTH)
    pred = (request.pred,) if request.pred else find_role_names("prediction", free, PRED)
    return _Named(truth[0] if len(truth) == 1 else None, pred[0] if len(pred) == 1 else None)


def _with_parsed_lists(table: RawTable, request: Columns) -> RawTable:
    """Lists that a CSV contains as text become lists, in columns of labels."""
    columns = dict(table.columns)
    for name, values in table.columns.items():
        labels = name in (request.truth, request.pred) or role(name) in ("truth", "prediction")
        if request.list_separator is None and labels and _starts_as_list(values):
            cells = [None if is_gap(cell) else list_of(cell) for cell in values.tolist()]
            if all(cell is not None or is_gap(raw) for cell, raw in zip(cells, values, strict=True)):
                columns[name] = np.fromiter(cells, dtype=object, count=len(cells))
    return replace(table, columns=columns)


def _starts_as_list(values: Array) -> bool:
    if values.ndim != 1 or values.dtype != object:
        return False
    first = next((cell for cell in values.tolist() if not is_gap(cell)), None)
    return isinstance(first, str) and list_of(first) is not None


def label_set_of(values: Array) -> frozenset[Any] | None:
    """Return the label set where every row lists all of it, in any order; None for other columns.

    Examples
    --------
    >>> cells = np.fromiter([["yes", "no"], ["no", "yes"]], dtype=object)
    >>> sorted(label_set_of(cells))
    ['no', 'yes']
    """
    if values.dtype != object or values.ndim != 1 or not isinstance(values[0], list | str):
        return None
    first = list_of(values[0])
    if first is None or len(first) < 2 or len(set(first)) < len(first):
        return None
    known = frozenset(first)
    for cell in values.tolist():
        row = list_of(cell)
        if row is None or len(row) != len(known) or set(row) != known or (row != first and known == _FLAGS):
            return None
    return known if len(values) > 1 else None


def _without_label_set(table: RawTable, request: Columns) -> tuple[RawTable, Columns, tuple[str, ...]]:
    found = None
    for name in table.columns:
        if name != request.truth and role(name) in ("truth", "prediction"):
            known = label_set_of(table.columns[name])
            if known is not None:
                found = name, known
                break
    if found is None:
        return table, request, ()
    name, known = found
    columns = {**table.columns}
    orders = [list_of(cell) or [] for cell in columns.pop(name).tolist()]
    others = {other: values for other, values in table.others.items() if other not in columns}
    columns |= others
    label_set = list_names(sorted(map(str, known)))
    note = f"{name} contains the label set ({label_set}) in every row; it is not the label"
    scored = [
        other
        for other, values in columns.items()
        if role(other) == "score" and _is_vector(values, len(known))
    ]
    if len(scored) == 1:
        vectors = [_numbers_of(cell) or [] for cell in columns[scored[0]].tolist()]
        pairs = [dict(zip(map(str, o), v, strict=True)) for o, v in zip(orders, vectors, strict=True)]
        columns[scored[0]] = np.fromiter(pairs, dtype=object, count=len(pairs))
        note = f"{note}; it gives the order of {scored[0]}"
    if request.pred == name:
        request = replace(request, pred=None)
    if request.truth is None:
        same = [other for other, values in columns.items() if _holds(values, known)]
        named = find_role_names("prediction", same, PRED)
        left = [other for other in same if other not in (*named, *request.assigned_columns)]
        request = replace(request, truth=left[0]) if len(left) == 1 else request
    names = tuple(other for other in table.names if other != name)
    return replace(table, columns=columns, names=names, others={}), request, (note,)


def _holds(values: Array, known: frozenset[Any]) -> bool:
    """Whether a column contains the labels of a set, and nothing else."""
    if values.ndim != 1 or values.dtype.kind not in "OiU" or isinstance(values[0], list):
        return False
    return bool({str(value) for value in values.tolist()} == set(map(str, known)))


def _is_vector(values: Array, width: int) -> bool:
    if values.ndim == 2:
        return bool(values.shape[1] == width)
    cells = values.tolist() if values.dtype == object else []
    return bool(cells) and all(len(_numbers_of(cell) or ()) == width for cell in cells)


def _numbers_of(cell: Any) -> list[float] | None:
    if isinstance(cell, str):
        try:
            cell = [float(word) for word in re.split(r"[\s,;]+", cell.strip().strip("[]() \n")) if word]
        except ValueError:
            return None
    if isinstance(cell, list | tuple | np.ndarray) and cell and all(map(is_number, cell)):
        return list(map(float, cell))
    return None


def _with_indicators(table: RawTable, request: Columns) -> tuple[RawTable, Columns, tuple[str, ...]]:
    parts = _parts(table, request)
    matrices: dict[str, npt.NDArray[np.int64]] = {}
    for name in (parts.truth, parts.pred):
        values = table.columns.get(name or "")
        if name is not None and values is not None and (values.dtype == object or values.ndim == 2):
            if values.ndim == 2 and values.dtype.kind not in "biu":
                continue
            matrix = indicators_of(values.tolist())
            if matrix is not None:
                matrices[name] = matrix
    if parts.truth not in matrices or len({matrix.shape[1] for matrix in matrices.values()}) > 1:
        return table, request, ()
    columns = {name: values for name, values in table.columns.items() if name not in matrices}
    one_hot = request.task != "multilabel" and all((m.sum(axis=1) == 1).all() for m in matrices.values())
    for name, matrix in matrices.items():
        if one_hot:
            columns[name] = matrix.argmax(axis=1)
        else:
            columns |= {f"{name}[{place}]": matrix[:, place] for place in range(matrix.shape[1])}
    names = (*columns, *(name for name in table.names if name not in table.columns))
    shown = " and ".join(matrices)
    width = matrices[parts.truth].shape[1]
    if one_hot:
        note = f"{shown}: lists of {width} with a single 1 are read as the number of its place"
        return replace(table, columns=columns, names=names), request, (note,)
    truth = f"{parts.truth}[*]"
    pred = f"{parts.pred}[*]" if parts.pred in matrices else request.pred
    note = f"{shown}: lists of 0 and 1 are read as one indicator for each of {width} labels"
    return replace(table, columns=columns, names=names), replace(request, truth=truth, pred=pred), (note,)
