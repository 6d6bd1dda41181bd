"""Problems with any number of labels per row (indicator columns or lists), and scores of all problems.

Score columns become numbers of a known kind, in the order of the labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns, list_names
from evalreport.columns.join import Rows
from evalreport.columns.names import Part, Roles
from evalreport.columns.single_label import MAX_CLASSES, cast_label, without_gaps
from evalreport.core.errors import DataError
from evalreport.core.format import pluralize
from evalreport.data.arrays import PER_CENT, numbers
from evalreport.data.labels import Label, LabelSpace, Multilabel, from_lists
from evalreport.data.scores import NOISE, ScoreKind, other_kind

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a problem: labels in a label space, and scores in the order of its labels.

    Parameters
    ----------
    text : str or None
        The column of generated responses.
    taken : tuple of (part, column)
    notes : tuple of str
    columns : tuple of str
        All used columns.
    """

    space: LabelSpace
    y_true: Array
    y_pred: Array | None
    scores: Array | None
    kind: ScoreKind | None
    text: str | None
    taken: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    columns: tuple[str, ...]


def column_mapping(
    truth: Part, pred: Part | None, scores: Part | None, kind: str | None
) -> tuple[tuple[str, str], ...]:
    """Return the column mapping, for printing."""
    pairs = (
        ("truth", truth.display_name),
        ("prediction", None if pred is None else pred.display_name),
        (
            "scores" if scores is not None and len(scores.columns) > 1 else "score",
            None if scores is None else scores.display_name,
        ),
        ("score kind", kind),
    )
    return tuple((part, shown) for part, shown in pairs if shown is not None)


def used_columns(*parts: Part | None) -> tuple[str, ...]:
    """Return the columns of all given parts."""
    return tuple(column for part in parts if part is not None for column in part.columns)


def unscored_labels_note(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the note on labels without a score column, or nothing.

    Examples
    --------
    >>> unscored_labels_note(["grief"])
    ('1 label without a score column, probability 0 assumed: grief',)
    """
    if not labels:
        return ()
    some = pluralize(len(labels), "label")
    return (f"{some} without a score column, probability 0 assumed: {list_names(labels)}",)


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


def is_lists(values: Array) -> bool:
    """Return whether a column contains lists of labels.

    Examples
    --------
    >>> is_lists(np.fromiter([None, ["joy"]], dtype=object))
    True
    """
    return values.dtype == object and list in set(map(type, values.tolist()))


def is_multilabel(columns: Mapping[str, Array], truth: Part, request: Columns) -> bool:
    """Return whether rows can have several labels, by the user's options, else by the labels.

    Examples
    --------
    >>> is_multilabel({}, Part(("true_joy", "true_anger"), ("joy", "anger")), Columns())
    True
    """
    if request.task is not None:
        return request.task == "multilabel"
    lists = not truth.labels and is_lists(columns[truth.columns[0]])
    return bool(truth.labels) or lists or request.list_separator is not None


def read_multilabel(rows: Rows, roles: Roles, request: Columns) -> Parts:
    """Read labels and scores of a multilabel problem.

    Raises
    ------
    ColumnNotFoundError, UsageError, DataError
    """
    truth, pred, part = roles.truth, roles.pred, roles.score
    true_lists = None if truth.labels else lists_of(rows.truth, truth, request)
    pred_lists = None if pred is None or pred.labels else lists_of(rows.columns, pred, request)
    lists = [column for column in (true_lists, pred_lists) if column is not None]
    labels = truth.labels or _label_set(lists, () if part is None else part.labels, request.labels or ())
    space = Multilabel(request.labels if request.labels is not None else labels)
    if request.labels is not None and not truth.labels:
        space = Multilabel(cast_label(label, labels, "label of --labels") for label in request.labels)
    raw = None if part is None else raw_scores(rows, part, request.score_kind)
    if raw is not None and request.labels is not None:
        raw = _select_labels(raw, space.texts)
    scores, lost = (None, ()) if raw is None else align_scores(raw, space.texts)
    kind = None if raw is None else raw.kind
    return Parts(
        space,
        _indicators(rows.truth, truth, true_lists, space, "--truth"),
        None if pred is None else _indicators(rows.columns, pred, pred_lists, space, "--pred"),
        scores,
        kind,
        None,
        column_mapping(truth, pred, part, kind),
        unscored_labels_note(lost),
        used_columns(truth, pred, part),
    )


def lists_of(columns: Mapping[str, Array], part: Part, request: Columns) -> Array:
    """Return the lists of labels of a column, as lists or split texts.

    Raises
    ------
    DataError
        The cells are texts, and no separator is given.
    """
    name = part.columns[0]
    values = columns[name]
    if is_lists(values):
        return values
    if request.list_separator is None:
        raise DataError(
            f"column {name!r} contains no lists of labels",
            where=f"column {name!r}, first: row 0, {str(values[0])[:80]!r}",
            fix="for text cells declare the separator, as in --set list_separator='|'",
        )
    return split_lists(values, request.list_separator)


def split_lists(values: Array, separator: str) -> Array:
    """Return text cells as lists of labels; an empty cell is an empty list.

    Examples
    --------
    >>> split_lists(np.array(["joy | anger", None], dtype=object), "|").tolist()
    [['joy', 'anger'], []]
    """
    cells = ("" if cell is None or cell != cell else str(cell) for cell in values.tolist())  # noqa: PLR0124
    lists = [[part.strip() for part in cell.split(separator) if part.strip()] for cell in cells]
    return np.fromiter(lists, dtype=object, count=len(lists))


def _flat(lists: Sequence[Array]) -> set[Any]:
    return {label for column in lists for row in column.tolist() if isinstance(row, list) for label in row}


def _label_set(
    lists: Sequence[Array], scored: Sequence[str], declared: tuple[Label, ...]
) -> tuple[Label, ...]:
    """Return the sorted union of the labels in lists and of those with a score column, else the declared."""
    found = _flat(lists)
    kinds = {str if isinstance(label, str) else int if isinstance(label, int) else object for label in found}
    if len(kinds) > 1 or object in kinds:
        raise DataError(
            "the lists of labels mix types", fix="use text for all labels, or whole numbers for all"
        )
    if not found and not scored:
        if declared:
            return declared
        raise DataError("no label occurs in any list", fix="pass the label set with --labels")
    named = {cast_label(label, found or {""}, "score column for label") for label in scored}
    if len(named) > 1 and found and found.isdisjoint(named):
        raise DataError(
            "no score column belongs to a label that occurs",
            where=f"scores of {list_names(scored)}; labels {list_names(sorted(map(str, found)))}",
            fix="name the score columns after the labels, or leave them out: --set no_scores",
        )
    labels = found | named
    if len(labels) > MAX_CLASSES:
        raise DataError(
            f"there are {len(labels):,} distinct labels; at most {MAX_CLASSES:,} are read",
            fix="check that the column holds labels, not texts",
        )
    return tuple(sorted(labels))


def _select_labels(raw: RawScores, names: Sequence[str]) -> RawScores:
    """Leave out the scores of labels that were not declared: multilabel scores do not sum to one."""
    kept = [index for index, label in enumerate(raw.labels) if label in set(names)]
    return replace(raw, values=raw.values[:, kept], labels=tuple(raw.labels[index] for index in kept))


def _indicators(
    columns: Mapping[str, Array], part: Part, lists: Array | None, space: Multilabel, option: str
) -> npt.NDArray[np.bool_]:
    if lists is None:
        return matrix(columns, part, space.texts, option)
    return from_lists(space, lists.tolist(), part.columns[0])


def matrix(
    columns: Mapping[str, Array], part: Part, labels: Sequence[str], option: str
) -> npt.NDArray[np.bool_]:
    """Return the indicator matrix of columns, one per label, in the order of the labels.

    Raises
    ------
    DataError
        A label without a column; values other than 0 and 1.
    """
    place = dict(zip(part.labels, part.columns, strict=True))
    lost = [label for label in labels if label not in place]
    if lost:
        raise DataError(
            f"{pluralize(len(lost), 'label')} without a column like {part.pattern}",
            where=f"first: {part.pattern.replace('*', lost[0])}",
            fix=f"name the columns with {option} 'PATTERN*', or the labels that have one with --labels",
        )
    full = np.empty((len(columns[part.columns[0]]), len(labels)), dtype=bool)
    for index, label in enumerate(labels):
        full[:, index] = _flags(columns[place[label]], place[label])
    return full


def _flags(values: Array, name: str) -> npt.NDArray[np.bool_]:
    bad = np.flatnonzero(~((values == 0) | (values == 1)))
    if bad.size:
        raise DataError(
            f"column {name!r} has {pluralize(bad.size, 'value')} other than 0 and 1",
            where=f"column {name!r}, first: row {bad[0]}, {str(values[bad[0]])[:80]!r}",
            fix="indicators are 0 or 1; scores go into proba_<label> or logit_<label>",
        )
    flags: npt.NDArray[np.bool_] = values == 1
    return flags
