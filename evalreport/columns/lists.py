"""Cells that contain a list: of labels, of 0/1 indicators, or the label set itself.

Three things look alike in a file. ``["joy", "anger"]`` are the labels of one row. ``[0, 1, 0]`` has one
indicator for each label. ``["no", "yes"]`` in every row is the label set: it names the places of scores.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.names import role
from evalreport.columns.request import list_names
from evalreport.data.arrays import is_gap, is_number

Array = npt.NDArray[Any]
_FLAGS = {0, 1}
_NUMPY_ITEMS = re.compile(r"""(['"])(.*?)\1""")
_NUMPY_GAP = re.compile(r"""['"]\s+['"]""")
_LONGEST = 100_000
"""Characters of a cell that is parsed as a list."""


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


def with_label_sets(
    columns: Mapping[str, Array], named: Collection[str]
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Return columns without those that contain the label set, which names the places of a column of vectors.

    Parameters
    ----------
    columns : mapping from name to array
    named : collection of str
        Columns that the user named, which stay.

    Returns
    -------
    The columns, and the notes on what was assumed.
    """
    found, notes = dict(columns), []
    for name, values in columns.items():
        if name in named or values.ndim != 1 or values.dtype != object:
            continue
        some = label_set_of(values[:_LOOKED_AT])
        known = None if some is None else label_set_of(values)
        if known is None or known == _FLAGS:
            continue
        orders = [list_of(cell) or [] for cell in found.pop(name).tolist()]
        shown = list_names(sorted(map(str, known)))
        note = f"{name} contains the label set ({shown}) in every row: it is not the truth"
        vectors = [other for other, cells in found.items() if _is_vector(cells[:_LOOKED_AT], len(known))]
        scored = [other for other in vectors if role(other) == "score"] or vectors
        if len(scored) == 1 and _is_vector(found[scored[0]], len(known)):
            cells = [_numbers_of(cell) or [] for cell in found[scored[0]].tolist()]
            pairs = [dict(zip(map(str, o), v, strict=True)) for o, v in zip(orders, cells, strict=True)]
            found[scored[0]] = np.fromiter(pairs, dtype=object, count=len(pairs))
            note = f"{note}; it gives the order of {scored[0]}"
        notes.append(note)
    return found, tuple(notes)


_LOOKED_AT = 50
"""Rows that tell whether the others are looked at."""


def _is_vector(values: Array, width: int) -> bool:
    if values.ndim == 2:
        return bool(values.shape[1] == width and values.dtype.kind == "f")
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


def parsed_lists(values: Array) -> Array:
    """Return a column of labels in which lists that were written as text are lists; others pass unchanged."""
    if values.ndim != 1 or values.dtype != object:
        return values
    first = next((cell for cell in values.tolist() if not is_gap(cell)), None)
    if not isinstance(first, str) or list_of(first) is None:
        return values
    cells = [None if is_gap(cell) else list_of(cell) for cell in values.tolist()]
    if any(cell is None and not is_gap(raw) for cell, raw in zip(cells, values.tolist(), strict=True)):
        return values
    return np.fromiter(cells, dtype=object, count=len(cells))


def flags_of(values: Array) -> Array | None:
    """Return lists of 0 and 1 as a matrix of shape (n, labels); None for other columns."""
    if values.ndim == 2:
        return values.astype(np.int64) if bool(((values == 0) | (values == 1)).all()) else None
    return indicators_of([list_of(cell) or [] for cell in values.tolist()])
