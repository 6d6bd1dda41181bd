"""Truth from another file, joined by id one to one, and the ids themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.cells import gaps_of, identity_texts, ids_as_text, refuse_lost_identity, repeated_ids
from evalreport.errors import DataError
from evalreport.format import counted
from evalreport.sources.request import Columns, missing_column
from evalreport.sources.shapes.roles import ID, INDEX
from evalreport.sources.tables import RawTable

Array = npt.NDArray[Any]
RUNS = ("run", "run_id", "run_name", "model", "checkpoint", "epoch", "step", "seed")
"""Columns that tell several sets of predictions in one file apart."""
MAX_NAME = 1_000
"""Characters of an id or of the value of a slice."""
MAX_LABEL = 10_000
"""Characters of a label, which is shown shortened."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Predictions and truth of the same examples, in the order of the predictions.

    Parameters
    ----------
    truth : mapping from name to array
        Where the truth is looked up: the truth file, or else the predictions' own.
    columns : mapping from name to array
        Where all other parts are: the predictions' columns before those of the truth file.
    names : tuple of str
        All columns there are, also those that were not read.
    n : int
    id : str or None
        Name of the id column.
    joined : str
        How truth and predictions were brought together; empty for one file.
    notes : tuple of str
        What was assumed for it.
    """

    truth: Mapping[str, Array]
    columns: Mapping[str, Array]
    names: tuple[str, ...]
    n: int
    id: str | None
    joined: str = ""
    notes: tuple[str, ...] = ()


def key_of(table: RawTable, request: Columns, other: str | None = None, *, joins: bool = False) -> str | None:
    """Return the id column of a table, or None where it has none; the ids are checked.

    Parameters
    ----------
    other : str, optional
        The id column of the file that this one is joined to, which is looked for first.
    joins : bool
        Whether rows of another file are looked up by these ids, so that each may occur once only.

    Raises
    ------
    ColumnNotFoundError
        The column that was named is not there.
    DataError
        Ids that are missing, or that join and occur twice.
    """
    if request.id is not None and request.id not in table.columns:
        raise missing_column(request.id, "--id", table.names, table.name)
    names = (request.id,) if request.id is not None else (other, *ID)
    usual = (name for name in names if name in table.columns and name not in request.groups)
    key = next(usual, None)
    if key is not None:
        check_ids(table.columns[key], key)
        if joins:
            _refuse_repeated(table.columns[key], key, table.names)
    return key


def rows_of(
    table: RawTable,
    key: str | None,
    truth: RawTable | None = None,
    other: str | None = None,
    *,
    some: bool = False,
) -> Rows:
    """Return the rows of one file, or of two that are joined.

    Parameters
    ----------
    key, other : str or None
        The id columns of predictions and truth.
    some : bool
        Whether some rows of the predictions are meant: then the truth may have more.

    Raises
    ------
    ColumnNotFoundError
        There is no id column to join by.
    DataError
        Ids that are in one of the files only.
    """
    if truth is None:
        return Rows(table.columns, table.columns, table.names, table.n, key)
    notes: tuple[str, ...] = ()
    if key is None and other is None:
        order, joined = _by_position(table, truth), "rows by their order"
        notes = (f"neither {table.name} nor {truth.name} has ids: their rows are joined by their order",)
    else:
        order, joined = _by_id(table, key, truth, other, some=some), f"rows by {key}"
    moved = {name: column[order] for name, column in truth.columns.items()}
    names = (*table.names, *(name for name in truth.names if name not in table.names))
    return Rows(moved, {**moved, **table.columns}, names, table.n, key, joined, notes)


def _by_position(table: RawTable, truth: RawTable) -> npt.NDArray[np.intp]:
    if table.n != truth.n:
        raise DataError(
            f"{table.name} has {table.n} rows and the truth in {truth.name} has {truth.n}",
            where=truth.source,
            fix="both files hold the same examples, one row each: in the same order, or with an id in both",
        )
    _refuse_other_order(table, truth)
    return np.arange(table.n)


def _refuse_other_order(table: RawTable, truth: RawTable) -> None:
    """Refuse two files that both hold the index of a frame, when it says that their rows differ.

    Which of the two is right, order or index, nobody but the user knows: a frame that was shuffled keeps
    its index, and predictions of it that were written anew count from 0.
    """
    name = next((name for name in INDEX if name in table.columns and name in truth.columns), None)
    if name is None:
        return
    ours, theirs = (identity_texts(held.columns[name], name or "index") for held in (table, truth))
    row = next((row for row, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b), None)
    if row is not None:
        shown = f"column {name!r}" if name else "unnamed first column"
        raise DataError(
            f"the index of {table.name} and that of {truth.name} differ, and there are no ids",
            where=f"{truth.source}, {shown}, first: row {row}, {ours[row]} and {theirs[row]}",
            fix="write ids into both files (example_id), or leave the index out where the order is right",
        )


def _by_id(
    table: RawTable, key: str | None, truth: RawTable, other: str | None, *, some: bool
) -> npt.NDArray[np.intp]:
    if key is None:
        raise missing_column("example_id", "--id", table.names, table.name)
    if other is None:
        raise missing_column(key, "--id", truth.names, truth.name)
    place = {text: row for row, text in enumerate(identity_texts(truth.columns[other], other))}
    ids = identity_texts(table.columns[key], key)
    lost = [row for row, value in enumerate(ids) if value not in place]
    if lost:
        raise DataError(
            f"truth is missing for {len(lost)} of {table.n} rows",
            where=f"{truth.source}, first: {other} {ids[lost[0]]!r} (row {lost[0]} of {table.name})",
            fix="both files hold the same examples, one row each",
        )
    if len(place) > len(ids) and not some:
        known = set(ids)
        extra = next(value for value in place if value not in known)
        raise DataError(
            f"{truth.name} has {counted(len(place) - len(ids), 'row')} without a prediction",
            where=f"{truth.source}, first: {other} {extra!r} (row {place[extra]})",
            fix="both files hold the same examples, one row each; leave out of the truth what was not scored",
        )
    return np.array([place[value] for value in ids], dtype=np.intp)


def check_ids(ids: Array, name: str) -> None:
    """Refuse ids of which some are missing, or are no names.

    Raises
    ------
    DataError

    Examples
    --------
    >>> check_ids(np.array([1, 2]), "id")
    """
    if ids.ndim != 1:
        raise DataError(
            f"{name} has shape {ids.shape}; expected one id per row",
            where=f"column {name}",
            fix="write one id per row",
        )
    gaps = gaps_of(ids)
    if gaps.size:
        raise DataError(
            f"{name} is missing for {counted(gaps.size, 'row')}",
            where=f"column {name}, first: row {gaps[0]}",
            fix="give each row an id, or name another column with --id",
        )
    check_length(ids, name)
    refuse_lost_identity(ids, f"column {name!r}")


def _refuse_repeated(ids: Array, name: str, names: Sequence[str]) -> None:
    again = repeated_ids(ids_as_text(ids))
    if again is not None:
        raise DataError(
            f"{again.shown}, so rows cannot be joined by it",
            where=f"column {name}, {again.first}",
            fix=_mend(name, names),
        )


def _mend(name: str, names: Sequence[str]) -> str:
    runs = [column for column in names if column in RUNS]
    if runs:
        return f"the rows seem to be of several runs (column {runs[0]}): keep each run in a file of its own"
    return f"for several rows of one user pass --group {name}; else name another column with --id"


def check_length(values: Array, name: str, most: int = MAX_NAME) -> None:
    """Refuse an id, group or label of very many characters: it is a text.

    Raises
    ------
    DataError

    Examples
    --------
    >>> check_length(np.array(["a", None], dtype=object), "label")
    """
    if values.dtype != object:
        return
    items = values.tolist()
    distinct = set(items) if {type(None), str}.issuperset(map(type, items)) else items
    longest = max((len(value) for value in distinct if isinstance(value, str)), default=0)
    if longest > most:
        row = next(row for row, value in enumerate(items) if isinstance(value, str) and len(value) > most)
        raise DataError(
            f"{name} holds a value of {len(items[row]):,} characters, at most {most:,} make a name",
            where=f"column {name}, row {row}",
            fix="generated answers are named with --text, texts to show with --example-text",
        )
