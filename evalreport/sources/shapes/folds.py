"""Tables of the folds of a cross-validation become one, with the fold of each row as a column."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.cells import is_gap, stack
from evalreport.errors import DataError
from evalreport.sources.request import Columns, listed
from evalreport.sources.shapes.naming import named_as, role
from evalreport.sources.shapes.roles import FAMILIES, PRED
from evalreport.sources.tables import RawTable

FOLD = "(fold)"
"""The column that says which table a row is from; no file has one of that name."""
_NUMBER = re.compile(r"(\d+)(?=\D*$)")


def joined(
    tables: Sequence[RawTable], names: Sequence[str], request: Columns
) -> tuple[RawTable, tuple[str, ...]]:
    """Return the rows of all tables, and what is to be said of columns and folds that are missing.

    Parameters
    ----------
    tables : sequence of RawTable
        Of columns of one length.
    names : sequence of str
        What the folds are called; distinct.
    request : Columns

    Raises
    ------
    DataError
        A column of truth, answers or scores that some folds have and some have not; values of other kinds.
    """
    times = Counter(name for table in tables for name in table.columns)
    some = [name for name, count in times.items() if count < len(tables)]
    lost = next((name for name in some if _counts(name, request)), None)
    if lost is not None:
        gap = next(name for name, table in zip(names, tables, strict=True) if lost not in table.columns)
        raise DataError(
            f"column {lost!r} is in {times[lost]} of {len(tables)} folds",
            where=f"not in {gap}",
            fix="write every fold with the same columns, and a score for each label of any fold",
        )
    columns = {name: _stacked(name, tables) for name, count in times.items() if count == len(tables)}
    columns[FOLD] = np.repeat(np.array(names, dtype=object), [table.n for table in tables])
    first = tables[0]
    digest = hashlib.sha256("".join(table.sha256 for table in tables).encode()).hexdigest()
    whole = replace(
        first,
        columns=columns,
        n=sum(table.n for table in tables),
        source=f"{first.source} and {len(tables) - 1} more",
        sha256=digest,
        names=tuple(columns),
    )
    notes = (f"not in every fold, and left out: {listed(some)}",) if some else ()
    return whole, (*notes, *missing(names))


def _counts(name: str, request: Columns) -> bool:
    """Whether a column is one of truth, answers or scores, as far as its name tells."""
    head = name.partition("[")[0]
    return name in request.named or role(head) is not None or name.startswith(tuple(FAMILIES))


def _stacked(name: str, tables: Sequence[RawTable]) -> npt.NDArray[Any]:
    parts = [table.columns[name] for table in tables]
    try:
        return stack(parts)
    except ValueError as error:
        raise DataError(
            f"column {name!r} has another shape in some folds",
            where=", ".join(str(part.shape) for part in parts[:5]),
            fix="write every fold with the same columns",
        ) from error


def missing(names: Sequence[str]) -> tuple[str, ...]:
    """Return what is to be said of folds that their numbers leave out.

    Examples
    --------
    >>> missing(["fold-0", "fold-1", "fold-3"])
    ('fold 2 is not there: the folds are numbered 0 to 3',)
    >>> missing(["fold-1", "fold-2"]), missing(["a", "b"])
    ((), ())
    """
    found = [_NUMBER.search(name) for name in names]
    numbers = [int(match.group()) for match in found if match is not None]
    if len(numbers) < len(names) or len(set(numbers)) < len(numbers):
        return ()
    low, high = min(numbers), max(numbers)
    gaps = sorted(set(range(low, high + 1)) - set(numbers)) if high - low < 10 * len(numbers) else []
    if not gaps:
        return ()
    which = f"fold {gaps[0]} is" if len(gaps) == 1 else f"folds {listed(map(str, gaps))} are"
    return (f"{which} not there: the folds are numbered {low} to {high}",)


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
