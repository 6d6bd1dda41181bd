"""A column of lists of answers becomes a row for each answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evalreport.cells import is_gap
from evalreport.sources.request import Columns
from evalreport.sources.shapes.naming import named_as
from evalreport.sources.shapes.roles import PRED
from evalreport.sources.tables import RawTable

ROW = "(row)"
"""Name of the column of positions that holds answers of a row together where no column of ids is named."""


def one_answer_a_row(table: RawTable, request: Columns) -> tuple[RawTable, Columns]:
    """Return a table with a row for each answer, where several were said to stand in one cell.

    Parameters
    ----------
    table : RawTable
    request : Columns
        With `several_answers`; else nothing is done.

    Examples
    --------
    >>> cells = np.array([["a", "b"], ["b"]], dtype=object)
    >>> table = RawTable({"y_true": np.array(["a", "b"]), "answer": cells}, 2, "f", "", "json", ("answer",))
    >>> asked = Columns(pred="answer", several_answers=True)
    >>> made, named = one_answer_a_row(table, asked)
    >>> made.columns["answer"].tolist(), made.columns[named.id].tolist()
    (['a', 'b', 'b'], ['0', '0', '1'])
    """
    if not request.several_answers:
        return table, request
    named = request.pred or request.text
    names = (named,) if named else tuple(named_as("prediction", table.names, PRED))
    held = [name for name in names if name in table.columns and _lists(table.columns[name])]
    if not held:
        return table, request
    cells = [
        cell if isinstance(cell, list | tuple | np.ndarray) else (cell,)
        for cell in table.columns[held[0]].tolist()
    ]
    rows = np.repeat(np.arange(table.n), [len(cell) for cell in cells])
    columns = {name: values[rows] for name, values in table.columns.items()}
    flat = [
        answer
        for cell in cells
        for answer in (cell if isinstance(cell, list | tuple | np.ndarray) else (cell,))
    ]
    columns[held[0]] = np.array([*flat, None], dtype=object)[:-1]
    if request.id is None:
        columns[ROW] = rows.astype(str)
        request = replace(request, id=ROW)
    return replace(table, columns=columns, n=len(rows), names=tuple(columns)), request


def _lists(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bool:
    """Whether a column holds lists, by its first cell that is no gap."""
    if values.dtype != object:
        return False
    first = next(
        (cell for cell in values.tolist() if isinstance(cell, list | tuple) or not is_gap(cell)), None
    )
    return isinstance(first, list | tuple)
