"""The roles of columns, as the user or the evidence decides, and the cells of records as plain columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns, missing_column
from evalreport.columns.decide import decide, refuse_doubtful
from evalreport.columns.evidence import profile_of
from evalreport.columns.join import Rows, key_of, rows_of
from evalreport.columns.names import (
    FAMILIES,
    LOOSE,
    SINGLE,
    TRUTH,
    Part,
    Roles,
    find_role_names,
    kind_of,
    name_weights,
    named_part,
    no_truth,
    role,
)
from evalreport.columns.nested import (
    as_columns,
    best_of_few,
    decoded,
    fill_from_format,
    flags_of,
    is_nested,
    label_set_of,
    list_of,
    matrix_of,
    name_places,
    parsed_lists,
    with_label_sets,
)
from evalreport.columns.single_label import named_scores
from evalreport.core.errors import DataError
from evalreport.core.result import ColumnReason
from evalreport.data.arrays import EXACT, is_gap
from evalreport.data.scores import ScoreKind
from evalreport.readers.formats import RawTable

_DEPTH = 4
_MOST_FIELDS = 200
"""Most fields of a column of records that become columns."""
_LOOKED_AT = 50
"""Rows that decide whether the other rows are read."""
_ENOUGH = 20
"""Minimum number of rows to conclude that lists with one item each are not label sets."""


def with_fields(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return columns in which the fields of records are separate columns, as ``prediction.label``.

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
    if values.ndim != 1 or values.dtype != object:
        return None
    first = next((cell for cell in values if not is_gap(cell)), None)
    if not isinstance(_alone(first), Mapping):
        return None
    cells = [_alone(cell) for cell in values.tolist()]
    if is_nested(values) and (first is _alone(first) or not all(map(isinstance, cells, repeat(Mapping)))):
        return None  # scores by label, unless each row lists its first label alone
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


def without_single_lists(
    columns: Mapping[str, Array], named: Collection[str], beside: Mapping[str, Array]
) -> dict[str, Array]:
    """Return columns in which lists with exactly one label in every row are the labels.

    They stay lists if another column has lists of these labels with several labels in a row.

    Parameters
    ----------
    columns : mapping from name to array
    named : collection of str
        Columns that the user or the format named: these contain labels, not the label set.
    beside : mapping from name to array
        Columns of the other file, or empty.
    """
    found = {name: _items(values) for name, values in columns.items()}
    kept = {name: values for name, values in columns.items() if found[name] is values}
    several = {
        label for name, values in (*kept.items(), *beside.items()) for label in _listed(name, values, named)
    }
    return {
        name: columns[name] if name not in kept and several & {*values[:_LOOKED_AT].tolist()} else values
        for name, values in found.items()
    }


def _listed(name: str, values: Array, named: Collection[str]) -> set[Any]:
    """Return the labels of lists with several labels in a row, other than the label set."""
    if values.ndim != 1 or values.dtype != object:
        return set()
    rows = [list_of(cell) or [] for cell in values[:_LOOKED_AT].tolist()]
    if max(map(len, rows), default=0) < 2 or (name not in named and label_set_of(values) is not None):
        return set()
    return {label for row in rows for label in row}


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


Array = npt.NDArray[Any]


def with_all_columns(rows: Rows, truth: RawTable | None, request: Columns) -> tuple[Rows, tuple[str, ...]]:
    """Return rows with plain columns (fields of records, single labels), without those of the label set."""
    columns, notes = with_label_sets(
        _plain(rows.columns, request, {} if truth is None else rows.truth), request.named_columns
    )
    names = tuple(
        dict.fromkeys(
            (*(name for name in rows.names if name in columns or name not in rows.columns), *columns)
        )
    )
    if truth is None:
        return replace(rows, columns=columns, truth=columns, names=names), notes
    return replace(rows, columns=columns, truth=_plain(rows.truth, request, rows.columns), names=names), notes


def _plain(columns: Mapping[str, Array], request: Columns, beside: Mapping[str, Array]) -> dict[str, Array]:
    """Return columns with the fields of records, and labels instead of lists with one label each."""
    found = with_fields(columns)
    is_single = request.task != "multilabel" and request.list_separator is None
    return without_single_lists(found, request.named_columns, beside) if is_single else found


def roles_of(rows: Rows, table: RawTable, truth: RawTable | None, request: Columns) -> Roles:
    """Return the columns of each role.

    Raises
    ------
    ColumnNotFoundError
        A column that the user named does not exist, or no column has enough evidence.
    UsageError
        Several columns may have one role.
    """
    names = table.names if truth is not None else rows.names
    named = _named_parts(rows.names if truth is None else truth.names, names, request, table.name)
    columns = {name: values for name, values in rows.columns.items() if values.ndim and len(values) == rows.n}
    if truth is not None:
        columns = {
            name: values
            for name, values in columns.items()
            if name in table.columns or name.partition(".")[0] in table.columns
        }
    best = decide(columns, request, table.name, None if truth is None else rows.truth)
    if best is not None:
        refuse_doubtful(best)
        return Roles(
            best.truth,
            best.pred or named.pred,
            best.score or named.score,
            best.text or named.text,
            replace(best.decision, reasons=(*_reasons_of_request(request), *best.decision.reasons)),
            best.names,
        )
    if not (named.pred or named.score or named.text or request.no_scores):
        named = replace(named, score=_score_by_name(names))
    if request.truth is not None:
        return named
    known = rows.names if truth is None else truth.names
    usual = find_role_names("truth", [name for name in known if name not in request.answers], TRUTH)
    if len(usual) != 1:
        raise no_truth(known, request, (truth or table).name)
    return replace(named, truth=Part(usual))


def roles_of_table(table: RawTable, request: Columns, truth: RawTable | None = None) -> Roles:
    """Return the columns of each role in one table, or in two with the labels in `truth`.

    Raises
    ------
    ColumnNotFoundError, UsageError, DataError
        See `find`.
    """
    table, request = as_columns(table, fill_from_format(table, request))
    if truth is None:
        rows, _ = with_all_columns(rows_of(table, None), None, request)
        return roles_of(rows, table, None, request)
    truth, more = as_columns(truth, request, "truth")
    key = key_of(table, request, joins=True)
    joined = rows_of(table, key, truth, key_of(truth, more, key, joins=True))
    rows, _ = with_all_columns(joined, truth, request)
    return roles_of(rows, table, truth, fill_request(request, more))


def fill_request(request: Columns, more: Columns) -> Columns:
    """Return the request, completed with the arrays of the label file."""
    return replace(
        request,
        truth=request.truth or more.truth,
        labels=request.labels or more.labels,
        weight=request.weight or more.weight,
        group=request.group or more.group,
    )


def _reasons_of_request(request: Columns) -> Iterator[ColumnReason]:
    """Yield the roles that an option or the format of the file gives."""
    chosen = {
        "label": request.truth,
        "prediction": request.pred,
        "scores": request.score or request.scores,
        "response": request.text,
    }
    for role_name, column in chosen.items():
        if column is not None:
            yield ColumnReason(role_name, column, 0.0, "an option or the file format names it")


def _score_by_name(names: Sequence[str]) -> Part | None:
    """Return the one column with the name of a score, whose cells are checked when they are read."""
    alone = [name for name in names if name.startswith((*FAMILIES, *LOOSE))]
    usual = find_role_names("score", names, tuple(SINGLE)) or tuple(alone)
    return Part(usual, (), SINGLE.get(usual[0]) or kind_of(usual[0])) if len(usual) == 1 else None


def _named_parts(known_names: Sequence[str], names: Sequence[str], request: Columns, file: str) -> Roles:
    """Return the roles that the user named, for columns that exist."""
    known = frozenset(map(str, request.labels or ()))
    if request.truth is not None:
        named_part(known_names, request.truth, "--truth", file)
    for name, option in ((request.text, "--response"), (request.score, "--score")):
        if name is not None and name not in names and "*" not in name:
            raise missing_column(name, option, names, file)
    named = request.score is not None or (request.scores is not None and "[" not in request.scores)
    return Roles(
        Part(()) if request.truth is None else named_part(known_names, request.truth, "--truth", file),
        None if request.pred is None else named_part(names, request.pred, "--pred", file),
        named_scores(names, request, known, file) if named else None,
        request.text,
    )


def with_plain_columns(
    rows: Rows, roles: Roles, request: Columns, *, codes: bool
) -> tuple[Rows, Roles, tuple[str, ...]]:
    """Return rows in which the columns of the roles are plain: one value per cell, or a list of labels.

    Parameters
    ----------
    codes : bool
        Whether integers may be positions in the list of labels, as in arrays.

    Returns
    -------
    The rows, the roles with the names of new columns, and the notes on what was assumed.
    """
    truth, columns = dict(rows.truth), dict(rows.columns)
    notes: list[str] = []
    roles, said = _with_flags(truth, columns, roles, request)
    for part, held in ((roles.truth, truth), (roles.pred, columns)):
        if part is not None and not part.labels:
            name = part.columns[0]
            held[name] = parsed_lists(held[name]) if request.list_separator is None else held[name]
            held[name] = decoded(held[name], request.labels, name) if codes else held[name]
    roles = _with_best_label(truth, columns, roles, notes)
    scored = roles.score
    if scored is not None:
        try:
            roles = replace(roles, score=_with_vector(columns, scored, request, notes))
        except DataError as error:
            if roles.pred is None or request.are_scores_named:
                raise
            notes.append(f"the scores {_head(scored)} are not used: {error.message}, {error.where}")
            roles = replace(roles, score=None)
    elif not request.no_scores:
        notes += _broken_vectors(columns)
    if (
        name_weights(roles.truth.columns[0])["label"] <= 0
        and request.truth is None
        and not roles.truth.labels
    ):
        notes.append(f"{roles.truth.display_name} is used as the label: it fits the predictions best")
    names = tuple(dict.fromkeys((*rows.names, *columns)))
    parts = [part for part in (roles.truth, roles.pred, scored) if part is not None]
    unpacked = {_head(part) for part in parts if part.pattern.endswith("[*]")} | (
        rows.columns.keys() - columns
    )
    names = tuple(name for name in names if name not in unpacked)
    return replace(rows, truth=truth, columns=columns, names=names), roles, (*said, *notes)


def _with_best_label(
    truth: Mapping[str, Array], columns: dict[str, Array], roles: Roles, notes: list[str]
) -> Roles:
    """Read lists of the best labels with their scores as predictions of one label per row."""
    scored = roles.score
    if scored is None or roles.truth.labels or _head(scored) not in columns:
        return roles
    if any(map(list_of, truth[roles.truth.columns[0]][:_LOOKED_AT].tolist())):
        return roles
    name = _head(scored)
    best = best_of_few(columns[name])
    if best is None:
        return roles
    del columns[name]
    columns[f"{name}.label"] = best
    listed = f"{name} lists the best labels only, so its scores are not used"
    notes.append(listed if roles.pred else f"{listed}; the best label is the prediction")
    return replace(roles, pred=roles.pred or Part((f"{name}.label",)), score=None)


def _broken_vectors(columns: Mapping[str, Array]) -> Iterator[str]:
    """Yield the notes on columns with the name of scores that have a cell without scores."""
    for name, values in columns.items():
        if role(name) == "score" and is_nested(values):
            try:
                matrix_of(values, name)
            except DataError as error:
                yield f"the scores {name} are not used: {error.message}, {error.where}"


def _head(part: Part) -> str:
    return part.pattern.removesuffix("[*]") if part.pattern.endswith("[*]") else part.display_name


def _with_vector(columns: dict[str, Array], part: Part, request: Columns, notes: list[str]) -> Part:
    """Add one column for each number of a vector; return the part that names them."""
    name = _head(part)
    if name in columns and not part.pattern.endswith("[*]"):
        values = columns[name]
        if len(part.columns) == 1 and (values.ndim == 2 or is_nested(values)):
            part = Part((f"{name}[0]",), (), part.kind, f"{name}[*]")
    if not part.pattern.endswith("[*]") or name not in columns:
        for column in part.columns:
            columns[column], note = as_numbers(columns[column], column)
            notes += filter(None, [note])
        return part
    found = name_places(matrix_of(columns[name], name), columns[name], request.labels)
    columns |= {f"{name}[{key}]": column for key, column in found.items()}
    del columns[name]
    keys = tuple(found)
    return Part(
        tuple(f"{name}[{key}]" for key in keys),
        keys,
        part.kind or SINGLE.get(name) or kind_of(name) or _kind(name, list(found.values())),
        f"{name}[*]",
    )


def _kind(name: str, columns: Sequence[Array]) -> ScoreKind | None:
    """Return logit for predictions outside of [0, 1], as a Trainer returns them; else None."""
    outside = any((column < 0).any() or (column > 1).any() for column in columns)
    return "logit" if outside and role(name) == "prediction" else None


def _with_flags(
    truth: dict[str, Array], columns: dict[str, Array], roles: Roles, request: Columns
) -> tuple[Roles, tuple[str, ...]]:
    """Read lists of 0 and 1 as one indicator per label, or as a class if each has a single 1."""
    held = {"truth": (roles.truth, truth), "pred": (roles.pred, columns)}
    found: dict[str, Array] = {}
    for side, (part, where) in held.items():
        if part is not None and part.pattern.endswith("[*]") and _head(part) in where:
            flags = flags_of(where[_head(part)])
            if flags is not None:
                found[side] = flags
    if "truth" not in found:
        return roles, ()
    one_hot = request.task != "multilabel" and all((flags.sum(axis=1) == 1).all() for flags in found.values())
    one_hot = one_hot and all(flags.shape[1] > 1 for flags in found.values())
    parts: dict[str, Part] = {}
    for side, flags in found.items():
        part, where = held[side]
        name = _head(part) if part is not None else ""
        labels = request.labels if len(request.labels or ()) == flags.shape[1] else range(flags.shape[1])
        where.pop(name)
        if one_hot:
            where[name] = flags.argmax(axis=1)
            parts[side] = Part((name,))
        else:
            keys = tuple(map(str, labels or ()))
            where.update({f"{name}[{key}]": flags[:, place] for place, key in enumerate(keys)})
            parts[side] = Part(tuple(f"{name}[{key}]" for key in keys), keys, None, f"{name}[*]")
    width = found["truth"].shape[1]
    shown = " and ".join(
        _head(part) for role, (part, _) in held.items() if role in found and part is not None
    )
    note = f"{shown}: lists of 0 and 1 are read as one indicator for each of {width} labels"
    if one_hot:
        note = f"{shown}: lists of {width} with a single 1 are read as the number of its place"
    truth_part, pred_part = parts["truth"], parts.get("pred", roles.pred)
    return replace(roles, truth=truth_part, pred=pred_part), (note,)


def as_numbers(values: Array, name: str) -> tuple[Array, str]:
    """Return numbers that were written with a decimal comma or a per cent sign as numbers, and a note.

    Examples
    --------
    >>> import numpy as np
    >>> as_numbers(np.array(["48.4%", "25%"], dtype=object), "score")
    (array([0.484, 0.25 ]), 'score: percentages are read as fractions')
    """
    texts = [cell for cell in values.tolist() if isinstance(cell, str)] if values.dtype == object else []
    if not texts or (numbers := profile_of(name, values).numbers) is None:
        return values, ""
    if any("%" in text for text in texts):
        return numbers, f"{name}: percentages are read as fractions"
    return numbers, f"{name}: commas are read as decimal points"
