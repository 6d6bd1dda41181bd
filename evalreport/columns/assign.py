"""The roles of columns, as the user or the evidence decides, and their columns as labels and numbers.

Vectors, lists and mappings become one column for each label, and texts with a decimal comma numbers.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    named_scores,
    no_truth,
    role,
)
from evalreport.columns.nested import (
    LOOKED_AT,
    as_columns,
    best_of_few,
    decode_labels,
    fill_from_format,
    indicators_of,
    is_nested,
    list_of,
    matrix_of,
    name_places,
    parsed_lists,
    with_all_columns,
)
from evalreport.core.errors import DataError
from evalreport.core.format import pluralize
from evalreport.core.result import ColumnReason
from evalreport.data.arrays import PER_CENT, numbers
from evalreport.data.scores import NOISE, ScoreKind, other_kind
from evalreport.readers.formats import RawTable

Array = npt.NDArray[Any]


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
    roles, flag_notes = _with_flags(truth, columns, roles, request)
    for part, held in ((roles.truth, truth), (roles.pred, columns)):
        if part is not None and not part.labels:
            name = part.columns[0]
            held[name] = parsed_lists(held[name]) if request.list_separator is None else held[name]
            held[name] = decode_labels(held[name], request.labels, name) if codes else held[name]
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
    return replace(rows, truth=truth, columns=columns, names=names), roles, (*flag_notes, *notes)


def _with_best_label(
    truth: Mapping[str, Array], columns: dict[str, Array], roles: Roles, notes: list[str]
) -> Roles:
    """Read lists of the best labels with their scores as predictions of one label per row."""
    scored = roles.score
    if scored is None or roles.truth.labels or _head(scored) not in columns:
        return roles
    if any(map(list_of, truth[roles.truth.columns[0]][:LOOKED_AT].tolist())):
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
            values = where[_head(part)]
            if values.ndim == 2:
                flags = values.astype(np.int64) if np.isin(values, (0, 1)).all() else None
            else:
                flags = indicators_of([list_of(cell) or [] for cell in values.tolist()])
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


@dataclass(frozen=True, eq=False)
class RawScores:
    """Score columns as numbers, before they are sorted by label.

    Parameters
    ----------
    values : array of shape (n, columns)
    labels : tuple of str
        The label of each column; empty for one plain column.
    kind : str
        ``probability``, ``logit`` or ``decision``.
    """

    values: Array
    labels: tuple[str, ...]
    kind: ScoreKind


def raw_scores(rows: Rows, part: Part, declared: ScoreKind | None) -> RawScores:
    """Return the scores of a part, checked column by column so that an error names the column.

    Raises
    ------
    DataError
        Text, NaN, infinities; values outside [0, 1] without the option that they are not probabilities.
    """
    columns = [_numbers(rows.columns[name], name) for name in part.columns]
    kind = declared or part.kind
    if kind in (None, "probability"):
        for name, column in zip(part.columns, columns, strict=True):
            _check_unit(column, name)
    values = columns[0][:, None] if len(columns) == 1 else np.column_stack(columns)
    return RawScores(values, part.labels, kind or "probability")


def without_gaps(name: str) -> str:
    """Return the fix that excludes the rows in which a column has no value."""
    return f"ignore them: --where {shlex.quote(f'{name}!=')}"


def _numbers(values: Array, name: str) -> Array:
    if values.dtype.kind not in "biuf":
        try:
            values = numbers(values, f"column {name!r}")
        except DataError as error:
            fix = "numbers have a decimal point; name the score column with --score"
            fix = PER_CENT if error.fix == PER_CENT else fix
            raise DataError(error.message, where=error.where, fix=fix) from None
    if values.dtype.kind != "f":
        return values.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        rows = np.flatnonzero(~finite)
        raise DataError(
            f"column {name!r} has {pluralize(rows.size, 'value')} that {'is' if rows.size == 1 else 'are'} "
            "NaN or infinite",
            where=f"column {name!r}, first: row {rows[0]}, {values[rows[0]]}",
            fix="fix or drop these rows before the predictions are logged"
            + ("" if np.isinf(values).any() or not finite.any() else f", or {without_gaps(name)}"),
        )
    return values


def _check_unit(values: Array, name: str) -> None:
    outside = np.flatnonzero((values < -NOISE) | (values > 1 + NOISE))
    if outside.size:
        first = f"(first: row {outside[0]}, {values[outside[0]]:.6g})"
        raise DataError(
            f"column {name!r} has {pluralize(outside.size, 'value')} outside [0, 1] {first}",
            where=f"column {name!r}, first: row {outside[0]}",
            fix=other_kind(values),
        )


def align_scores(scores: RawScores, labels: Sequence[str]) -> tuple[Array, tuple[str, ...]]:
    """Return one score column per label, in the order of the labels, and the labels without one.

    A label without a column was never scored by the model: its probability is 0 (its logit minus infinity).

    Raises
    ------
    DataError
        A column is for something that is not a label, or columns of margins are missing, which have no zero.
    """
    place = {label: index for index, label in enumerate(scores.labels)}
    strangers = [label for label in scores.labels if label not in set(labels)]
    if strangers:
        raise DataError(
            f"{pluralize(len(strangers), 'score column')} that match no label of the label set",
            where=f"first: {strangers[0]!r}",
            fix="add the label to --labels, or name the score columns with --scores",
        )
    lost = tuple(label for label in labels if label not in place)
    if not lost:
        return scores.values[:, [place[label] for label in labels]], ()
    if scores.kind == "decision":
        raise DataError(
            f"{pluralize(len(lost), 'label')} without a score column",
            where=f"first: {lost[0]!r}",
            fix="margins need one column per label; log them all",
        )
    empty = 0.0 if scores.kind == "probability" else -np.inf
    full = np.full((len(scores.values), len(labels)), empty, dtype=scores.values.dtype)
    for index, label in enumerate(labels):
        if label in place:
            full[:, index] = scores.values[:, place[label]]
    return full, lost
