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

from evalreport.errors import DataError
from evalreport.sources.request import Columns, listed
from evalreport.sources.shapes.naming import role
from evalreport.sources.shapes.roles import FAMILIES
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
        return np.concatenate(parts)
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
