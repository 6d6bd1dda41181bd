"""Join tables: folds of a cross-validation, true labels from another file by id, and the selection of rows.

Folds become one table with a column of folds. The selected rows are those that `--where` keeps, and of a
table with several parts of a data set the test rows.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns, list_names, missing_column, split_clause
from evalreport.columns.names import (
    FAMILIES,
    FOLDS,
    ID,
    INDEX,
    PRED,
    SPLITS,
    STATUS,
    SUBMITTED,
    TESTS,
    UNFINISHED,
    WEIGHT,
    find_role_names,
    is_part,
    plain_name,
    role,
)
from evalreport.core.errors import DataError
from evalreport.core.format import pluralize
from evalreport.data.arrays import (
    bin_slices,
    checked_weights,
    gaps_of,
    identity_texts,
    ids_as_text,
    is_gap,
    refuse_lost_identity,
    repeated_ids,
    stack,
)
from evalreport.readers.formats import RawTable

Array = npt.NDArray[Any]
FOLD = "(fold)"
"""Name of the column with the table of each row; no file has such a column."""
_NUMBER = re.compile(r"(\d+)(?=\D*$)")


def join_folds(
    tables: Sequence[RawTable], names: Sequence[str], request: Columns
) -> tuple[RawTable, tuple[str, ...]]:
    """Return the rows of all tables, and the notes on missing columns and folds.

    Parameters
    ----------
    tables : sequence of RawTable
        Tables with columns of one length.
    names : sequence of str
        Names of the folds; distinct.
    request : Columns

    Raises
    ------
    DataError
        Only some folds have a column of labels, predictions or scores, or its types differ.
    """
    times = Counter(name for table in tables for name in table.columns)
    some = [name for name, count in times.items() if count < len(tables)]
    lost = next((name for name in some if _counts(name, request)), None)
    if lost is not None:
        gap = next(name for name, table in zip(names, tables, strict=True) if lost not in table.columns)
        raise DataError(
            f"column {lost!r} is in {times[lost]} of {len(tables)} folds",
            where=f"not in {gap}",
            fix="write every fold with the same columns, and a score for every label",
        )
    columns = {name: _stack_column(name, tables) for name, count in times.items() if count == len(tables)}
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
    notes = (f"not in every fold, and ignored: {list_names(some)}",) if some else ()
    return whole, (*notes, *missing(names))


def _counts(name: str, request: Columns) -> bool:
    """Whether a column is one of labels, predictions or scores, by its name."""
    head = name.partition("[")[0]
    return name in request.named_columns or role(head) is not None or name.startswith(tuple(FAMILIES))


def _stack_column(name: str, tables: Sequence[RawTable]) -> npt.NDArray[Any]:
    parts = [table.columns[name] for table in tables]
    try:
        return stack(parts)
    except ValueError as error:
        raise DataError(
            f"column {name!r} has different shapes in the folds",
            where=", ".join(str(part.shape) for part in parts[:5]),
            fix="write every fold with the same columns",
        ) from error


def missing(names: Sequence[str]) -> tuple[str, ...]:
    """Return the notes on folds that are missing from the numbering.

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
    which = f"fold {gaps[0]} is" if len(gaps) == 1 else f"folds {list_names(map(str, gaps))} are"
    return (f"{which} not there: the folds are numbered {low} to {high}",)


ROW = "(row)"
"""Name of the column of positions that groups the responses to a row if no column of ids is named."""


def one_answer_a_row(table: RawTable, request: Columns) -> tuple[RawTable, Columns]:
    """Return a table with one row per response, if a cell contains several.

    Parameters
    ----------
    table : RawTable
    request : Columns
        With `several_answers`; otherwise the table is not changed.

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
    names = (named,) if named else tuple(find_role_names("prediction", table.names, PRED))
    held = next((name for name in names if name in table.columns and _has_lists(table.columns[name])), None)
    if held is None:
        return table, request
    cells = [
        cell if isinstance(cell, list | tuple | np.ndarray) else (cell,)
        for cell in table.columns[held].tolist()
    ]
    rows = np.repeat(np.arange(table.n), [len(cell) for cell in cells])
    columns = {name: values[rows] for name, values in table.columns.items()}
    columns[held] = np.fromiter(chain.from_iterable(cells), dtype=object, count=len(rows))
    if request.id is None:
        columns[ROW] = rows.astype(str)
        request = replace(request, id=ROW)
    return replace(table, columns=columns, n=len(rows), names=tuple(columns)), request


def _has_lists(values: Array) -> bool:
    """Whether a column contains lists, by its first cell with a value."""
    cells = values.tolist() if values.dtype == object else ()
    first = next((cell for cell in cells if isinstance(cell, list | tuple) or not is_gap(cell)), None)
    return isinstance(first, list | tuple)


RUNS = ("run", "run_id", "run_name", "model", "checkpoint", "epoch", "step", "seed")
"""Names of columns that separate several sets of predictions in one file."""
MAX_NAME = 1_000
"""Longest id or value of a slice, in characters."""
MAX_LABEL = 10_000
"""Longest label, in characters; it is shown shortened."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Predictions and true labels of the same examples, in the order of the predictions.

    Parameters
    ----------
    truth : mapping from name to array
        Columns in which labels are searched: the label file, or else the predictions.
    columns : mapping from name to array
        Columns of all other roles: those of the predictions, then those of the label file.
    names : tuple of str
        All columns of the files, including those that were not read.
    n : int
    id : str or None
        Name of the id column.
    joined : str
        How labels and predictions were joined; empty for one file.
    notes : tuple of str
        Assumptions of the join.
    """

    truth: Mapping[str, Array]
    columns: Mapping[str, Array]
    names: tuple[str, ...]
    n: int
    id: str | None
    joined: str = ""
    notes: tuple[str, ...] = ()


def key_of(table: RawTable, request: Columns, other: str | None = None, *, joins: bool = False) -> str | None:
    """Return the id column of a table, or None without one; the ids are checked.

    Parameters
    ----------
    other : str, optional
        The id column of the other file of a join, which is tried first.
    joins : bool
        Whether the ids are joined with another file, so that each may occur only once.

    Raises
    ------
    ColumnNotFoundError
        The named column does not exist.
    DataError
        Ids are missing, or repeated in a join.
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
        Whether only some rows of the predictions are selected, so that the label file may have more.

    Raises
    ------
    ColumnNotFoundError
        There is no id column to join by.
    DataError
        Some ids are in one of the files only.
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
            f"{table.name} has {table.n} rows and the true labels in {truth.name} have {truth.n}",
            where=truth.source,
            fix="both files must contain the same examples, one row each: in the same order, or with "
            "an id in both",
        )
    _refuse_other_order(table, truth)
    return np.arange(table.n)


def _refuse_other_order(table: RawTable, truth: RawTable) -> None:
    """Raise an error for two files with the index of a frame if the indexes differ.

    Only the user knows whether the order or the index is right: a shuffled frame keeps its index, and
    predictions that were written from an array count from 0.
    """
    name = next((name for name in INDEX if name in table.columns and name in truth.columns), None)
    if name is None:
        return
    ours, theirs = (identity_texts(held.columns[name], name or "index") for held in (table, truth))
    row = next((row for row, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b), None)
    if row is not None:
        shown = f"column {name!r}" if name else "unnamed first column"
        raise DataError(
            f"the indexes of {table.name} and {truth.name} differ, and there are no ids",
            where=f"{truth.source}, {shown}, first: row {row}, {ours[row]} and {theirs[row]}",
            fix="write ids into both files (example_id), or remove the index if the order is right",
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
            f"the true label is missing for {len(lost)} of {table.n} rows",
            where=f"{truth.source}, first: {other} {ids[lost[0]]!r} (row {lost[0]} of {table.name})",
            fix="both files must contain the same examples, one row each",
        )
    if len(place) > len(ids) and not some:
        known = set(ids)
        extra = next(value for value in place if value not in known)
        raise DataError(
            f"{truth.name} has {pluralize(len(place) - len(ids), 'row')} without a prediction",
            where=f"{truth.source}, first: {other} {extra!r} (row {place[extra]})",
            fix="both files must contain the same examples, one row each; remove the rows that were "
            "not scored",
        )
    return np.array([place[value] for value in ids], dtype=np.intp)


def check_ids(ids: Array, name: str) -> None:
    """Raise an error for ids that are missing or not valid names.

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
            f"{name} is missing for {pluralize(gaps.size, 'row')}",
            where=f"column {name}, first: row {gaps[0]}",
            fix="give each row an id, or name another column with --id",
        )
    check_length(ids, name)
    refuse_lost_identity(ids, f"column {name!r}")


def _refuse_repeated(ids: Array, name: str, names: Sequence[str]) -> None:
    again = repeated_ids(ids_as_text(ids))
    if again is None:
        return
    fix = f"for several rows of one user pass --set group={name}; else name another column with --id"
    runs = [column for column in names if column in RUNS]
    if runs:
        fix = f"the rows seem to be of several runs (column {runs[0]}): keep each run in a separate file"
    where = f"column {name}, {again.first_example}"
    raise DataError(f"{again.shown}, so rows cannot be joined by it", where=where, fix=fix)


def check_length(values: Array, name: str, most: int = MAX_NAME) -> None:
    """Raise an error for an id, group or label with so many characters that it is a text.

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
            fix="name generated responses with --response, and texts to show with --set show_text",
        )


_MOST = 50
"""Most distinct values of a column of parts or folds."""


def rows_meant(table: RawTable, request: Columns) -> tuple[RawTable, Columns, tuple[str, ...]]:
    """Return the selected rows, the request with their conditions, and the notes on the others.

    Raises
    ------
    ColumnNotFoundError
        A column of `--where` does not exist.
    DataError
        No row is left; the message lists the existing values.
    """
    if request.where:
        kept, notes = _where(table, request.where)
        return kept, request, notes
    for name in table.columns:
        is_free = name.lower() in SPLITS and name not in request.named_columns
        if is_free and (some := _test_rows(table, name)):
            return taken_rows(table, some[0]), replace(request, where=(some[1],)), (some[2],)
    for name in table.columns:
        if name not in request.named_columns and tells_annotations(table, name):
            rows, clause, note = _submitted_rows(table, name)
            return taken_rows(table, rows), replace(request, where=(clause,)), (note,)
    folds = [name for name in table.columns if name.lower() in FOLDS and name not in request.named_columns]
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
                fix=f"its values are: {list_names(values[:_MOST])}",
            )
        kept &= found
    if not kept.any():
        raise DataError("no row matches every --where", where=table.name, fix="remove one of them")
    shown = " and ".join(clauses)
    return taken_rows(table, kept), (f"{kept.sum():,} of {table.n:,} rows, those where {shown}",)


def rows_where(table: RawTable, clauses: Sequence[str]) -> dict[str, npt.NDArray[np.bool_]]:
    """Return which rows meet each clause, ``COLUMN=VALUE`` or ``COLUMN!=VALUE``.

    Raises
    ------
    ColumnNotFoundError
        A column does not exist.
    """
    found = {}
    for clause in clauses:
        name, value, equal = split_clause(clause)
        if name not in table.columns:
            raise missing_column(name, "--where", table.names, table.name)
        found[clause] = (_texts(table, name) == value) == equal
    return found


def rows_of_truth(table: RawTable, truth: RawTable, request: Columns) -> tuple[RawTable, RawTable, Columns]:
    """Return predictions and labels of the rows that ``--where`` keeps by columns of the label file."""
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


def _test_rows(table: RawTable, name: str) -> tuple[Array, str, str] | None:
    """Return the test rows of a table with several parts of a data set, their condition and a note."""
    texts = _texts(table, name)
    values = sorted(set(texts.tolist()))
    if not 1 < len(values) <= _MOST or not all(is_part(value) for value in values):
        return None
    test = next((value for value in values if value.lower() in TESTS), None)
    counts = ", ".join(f"{value} {(texts == value).sum():,}" for value in values)
    if test is None:
        raise DataError(
            f"column {name!r} has {len(values)} values, and none of them is the test part",
            where=f"{table.name}, column {name}: {counts}",
            fix=f'select rows, as in --where "{name}={values[-1]}"',
        )
    other = next(value for value in values if value != test)
    note = f'the test rows alone ({name}: {counts}); for others pass --where "{name}={other}"'
    return texts == test, f"{name}={test}", note


def tells_annotations(table: RawTable, name: str) -> bool:
    """Return whether a column has the status of annotations: submitted, discarded or draft."""
    if plain_name(name) not in STATUS:
        return False
    values = {value.lower() for value in _texts(table, name).tolist()}
    return values <= {*SUBMITTED, *UNFINISHED} and not values.isdisjoint(("discarded", "draft"))


def _submitted_rows(table: RawTable, name: str) -> tuple[Array, str, str]:
    """Return the rows with submitted annotations, their condition and a note, if there are others."""
    texts = _texts(table, name)
    values = sorted(set(texts.tolist()))
    unfinished = [value for value in values if value.lower() in UNFINISHED]
    submitted = [value for value in values if value not in unfinished]
    counts = ", ".join(f"{value} {(texts == value).sum():,}" for value in values)
    if len(submitted) != 1:
        raise DataError(
            f"column {name!r} is the status of annotations, and none is submitted",
            where=f"{table.name}, column {name}: {counts}",
            fix=f'select rows, as in --where "{name}={(submitted or values)[0]}"',
        )
    note = f"the {submitted[0]} annotations alone ({name}: {counts}); the others are not true labels"
    return texts == submitted[0], f"{name}={submitted[0]}", note


def _folds(table: RawTable, name: str) -> str:
    count = len(set(_texts(table, name).tolist()))
    read = f"column {name} has {pluralize(count, 'fold')}, pooled into one out-of-fold sample"
    return f"{read}; for results by fold pass --set fold={name}"


def _texts(table: RawTable, name: str) -> Array:
    """Values as text; whole floats as integers, so that a column with gaps looks as in the file."""
    texts = [text or "" for text in identity_texts(table.columns[name], f"column {name!r}")]
    return np.fromiter(texts, dtype=object, count=len(texts))


def taken_rows(table: RawTable, kept: Array) -> RawTable:
    """Return some rows of a table."""
    columns = {
        name: values[kept] if len(values) == table.n else values for name, values in table.columns.items()
    }
    return replace(table, columns=columns, n=int(kept.sum()))


@dataclass(frozen=True, eq=False)
class Extras:
    """Other columns of the rows, as arrays of shape (n,), and the column mapping."""

    groups: Array | None
    folds: Array | None
    weights: Array | None
    slices: Mapping[str, Array]
    example_texts: Array | None
    taken: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


def extras(rows: Rows, request: Columns, file: str) -> Extras:
    """Return groups, folds, weights, slices and example texts.

    Raises
    ------
    ColumnNotFoundError
        A named column does not exist.
    DataError
        Weights are text, or names have over a thousand characters.
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
    binned, notes = bin_slices(slices, request.slice_bins)
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
        binned,
        None if examples is None else texts_of(examples),
        taken,
        notes,
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
