"""Which rows are meant: those that `--where` keeps, and of a table of several parts the test rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.cells import identity_texts
from evalreport.errors import DataError
from evalreport.format import counted
from evalreport.sources.request import Columns, listed, missing_column, split_clause
from evalreport.sources.shapes.join import key_of
from evalreport.sources.shapes.naming import (
    FOLDS,
    SPLITS,
    STATUS,
    SUBMITTED,
    TESTS,
    UNFINISHED,
    is_part,
    plain_name,
)
from evalreport.sources.tables import RawTable

Array = npt.NDArray[Any]
_MOST = 50
"""Distinct values of a column that is one of parts or folds."""


def rows_meant(table: RawTable, request: Columns) -> tuple[RawTable, Columns, tuple[str, ...]]:
    """Return the rows that are evaluated, the request that names them, and what is to be said of the rest.

    Raises
    ------
    ColumnNotFoundError
        A column of `--where` that is not there.
    DataError
        No row is left; lists the values there are.
    """
    if request.where:
        kept, said = _where(table, request.where)
        return kept, request, said
    for name in table.columns:
        if name.lower() in SPLITS and name not in request.named:
            found = _test_rows(table, name)
            if found is not None:
                kept, clause, note = found
                return kept, replace(request, where=(clause,)), (note,)
    for name in table.columns:
        if tells_annotations(table, name) and name not in request.named:
            kept, clause, note = _submitted_rows(table, name)
            return kept, replace(request, where=(clause,)), (note,)
    folds = [name for name in table.columns if name.lower() in FOLDS and name not in request.named]
    return table, request, tuple(_folds(table, name) for name in folds[:1])


def _where(table: RawTable, clauses: Sequence[str]) -> tuple[RawTable, tuple[str, ...]]:
    kept = np.ones(table.n, dtype=bool)
    for clause, found in rows_where(table, clauses).items():
        if not found.any():
            name, value, equal = split_clause(clause)
            values = sorted(set(_texts(table, name).tolist()))
            raise DataError(
                f"no row has {name} = {value}" if equal else f"every row has {name} = {value}",
                where=f"{table.name}, column {name}",
                fix=f"its values are: {listed(values[:_MOST])}",
            )
        kept &= found
    if not kept.any():
        raise DataError("no row meets every --where", where=table.name, fix="leave one of them out")
    shown = " and ".join(clauses)
    return taken_rows(table, kept), (f"{kept.sum():,} of {table.n:,} rows, those where {shown}",)


def rows_where(table: RawTable, clauses: Sequence[str]) -> dict[str, npt.NDArray[np.bool_]]:
    """Return which rows meet each clause, ``COLUMN=VALUE`` or ``COLUMN!=VALUE``.

    Raises
    ------
    ColumnNotFoundError
        A column that is not there.
    """
    found = {}
    for clause in clauses:
        name, value, equal = split_clause(clause)
        if name not in table.columns:
            raise missing_column(name, "--where", table.names, table.name)
        found[clause] = (_texts(table, name) == value) == equal
    return found


def rows_of_truth(table: RawTable, truth: RawTable, request: Columns) -> tuple[RawTable, RawTable, Columns]:
    """Return predictions and truth of the rows that ``--where`` keeps by columns of the truth's file."""
    theirs = [clause for clause in request.where if split_clause(clause)[0] not in table.names]
    theirs = [clause for clause in theirs if split_clause(clause)[0] in truth.names]
    if not theirs:
        return table, truth, request
    kept, _ = _where(truth, theirs)
    other = key_of(kept, request, joins=True)
    key = key_of(table, request, other, joins=True)
    if key is not None and other is not None:
        known = set(_texts(kept, other).tolist())
        table = taken_rows(table, np.array([text in known for text in _texts(table, key).tolist()]))
    elif table.n == truth.n:
        table = taken_rows(table, np.logical_and.reduce(list(rows_where(truth, theirs).values())))
    left = tuple(clause for clause in request.where if clause not in theirs)
    return table, kept, replace(request, where=left)


def _test_rows(table: RawTable, name: str) -> tuple[RawTable, str, str] | None:
    """Return the test rows of a table whose column of splits names several parts, their clause and a note."""
    texts = _texts(table, name)
    values = sorted(set(texts.tolist()))
    if not 1 < len(values) <= _MOST or not all(is_part(value) for value in values):
        return None
    test = next((value for value in values if value.lower() in TESTS), None)
    counts = ", ".join(f"{value} {(texts == value).sum():,}" for value in values)
    if test is None:
        raise DataError(
            f"column {name!r} tells {len(values)} parts of the data apart, and none is the test part",
            where=f"{table.name}, column {name}: {counts}",
            fix=f'say which rows are meant, as in --where "{name}={values[-1]}"',
        )
    other = next(value for value in values if value != test)
    note = f'the test rows alone ({name}: {counts}); for others pass --where "{name}={other}"'
    return taken_rows(table, texts == test), f"{name}={test}", note


def tells_annotations(table: RawTable, name: str) -> bool:
    """Return whether a column says of each annotation whether it was submitted, discarded or is a draft."""
    if plain_name(name) not in STATUS:
        return False
    values = {value.lower() for value in _texts(table, name).tolist()}
    return values <= {*SUBMITTED, *UNFINISHED} and not values.isdisjoint(("discarded", "draft"))


def _submitted_rows(table: RawTable, name: str) -> tuple[RawTable, str, str]:
    """Return the rows with submitted annotations, their clause and a note, where others are beside them."""
    texts = _texts(table, name)
    values = sorted(set(texts.tolist()))
    unfinished = [value for value in values if value.lower() in UNFINISHED]
    submitted = [value for value in values if value not in unfinished]
    counts = ", ".join(f"{value} {(texts == value).sum():,}" for value in values)
    if len(submitted) != 1:
        raise DataError(
            f"column {name!r} tells which annotations count, and not one state of them is submitted",
            where=f"{table.name}, column {name}: {counts}",
            fix=f'say which rows are meant, as in --where "{name}={(submitted or values)[0]}"',
        )
    note = f"the {submitted[0]} annotations alone ({name}: {counts}); the others are no true labels"
    return taken_rows(table, texts == submitted[0]), f"{name}={submitted[0]}", note


def _folds(table: RawTable, name: str) -> str:
    count = len(set(_texts(table, name).tolist()))
    read = f"the {counted(count, 'fold')} of column {name} are read as one out-of-fold sample"
    return f"{read}; for a cross-validation, fold by fold, pass --fold {name}"


def _texts(table: RawTable, name: str) -> Array:
    """Values as text; whole floats as whole numbers, so that a column with gaps reads as it is written."""
    texts = [text or "" for text in identity_texts(table.columns[name], f"column {name!r}")]
    return np.fromiter(texts, dtype=object, count=len(texts))


def taken_rows(table: RawTable, kept: Array) -> RawTable:
    """Return some rows of a table."""
    columns = {
        name: values[kept] if len(values) == table.n else values for name, values in table.columns.items()
    }
    others = {name: values[kept] for name, values in table.others.items()}
    return replace(table, columns=columns, n=int(kept.sum()), others=others)
