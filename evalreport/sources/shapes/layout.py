"""Score columns as numbers of a known kind, in the order of the labels; and what is found in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.cells import PER_CENT, numbers
from evalreport.errors import DataError
from evalreport.format import counted
from evalreport.labels import LabelSpace
from evalreport.scores import NOISE, ScoreKind, other_kind
from evalreport.sources.request import listed
from evalreport.sources.shapes.join import Rows
from evalreport.sources.shapes.roles import Part

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Parts:
    """What a problem of either shape gives: labels in a space, and scores in the order of its labels.

    Parameters
    ----------
    text : str or None
        The column of generated answers.
    taken : tuple of (part, column)
    notes : tuple of str
    columns : tuple of str
        Every column that was used.
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


def taken(
    truth: Part, pred: Part | None, scores: Part | None, kind: str | None
) -> tuple[tuple[str, str], ...]:
    """Return what was taken for what, as it is printed."""
    pairs = (
        ("truth", truth.shown),
        ("prediction", None if pred is None else pred.shown),
        (
            "scores" if scores is not None and len(scores.columns) > 1 else "score",
            None if scores is None else scores.shown,
        ),
        ("score kind", kind),
    )
    return tuple((part, shown) for part, shown in pairs if shown is not None)


def used(*parts: Part | None) -> tuple[str, ...]:
    """Return the columns of the parts that there are."""
    return tuple(column for part in parts if part is not None for column in part.columns)


def never_scored(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the note on labels without a score column, or nothing.

    Examples
    --------
    >>> never_scored(["grief"])
    ('1 label without a score column, taken as probability 0: grief',)
    """
    if not labels:
        return ()
    some = counted(len(labels), "label")
    return (f"{some} without a score column, taken as probability 0: {listed(labels)}",)


@dataclass(frozen=True, eq=False)
class RawScores:
    """Score columns as numbers, before they are put into the order of the labels.

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
        Text, NaN, infinities; values outside [0, 1] where nobody said that they are no probabilities.
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
            f"column {name!r} has {counted(rows.size, 'value')} that {'is' if rows.size == 1 else 'are'} "
            "NaN or infinite",
            where=f"column {name!r}, first: row {rows[0]}, {values[rows[0]]}",
            fix="drop or repair those rows before the predictions are logged",
        )
    return values


def _check_unit(values: Array, name: str) -> None:
    outside = np.flatnonzero((values < -NOISE) | (values > 1 + NOISE))
    if outside.size:
        first = f"(first: row {outside[0]}, {values[outside[0]]:.6g})"
        raise DataError(
            f"column {name!r} has {counted(outside.size, 'value')} outside [0, 1] {first}",
            where=f"column {name!r}, first: row {outside[0]}",
            fix=other_kind(values),
        )


def aligned(scores: RawScores, labels: Sequence[str]) -> tuple[Array, tuple[str, ...]]:
    """Return one score column per label, in the order of the labels, and the labels that had none.

    A label without a column was never scored by the model: its probability is 0 (its logit minus
    infinity).

    Raises
    ------
    DataError
        A column for something that is not a label; missing columns of margins, which have no zero.
    """
    place = {label: index for index, label in enumerate(scores.labels)}
    strangers = [label for label in scores.labels if label not in set(labels)]
    if strangers:
        raise DataError(
            f"{counted(len(strangers), 'score column')} for no label of the label set",
            where=f"first: {strangers[0]!r}",
            fix="add the label to --labels, or name the score columns with --scores",
        )
    lost = tuple(label for label in labels if label not in place)
    if not lost:
        return scores.values[:, [place[label] for label in labels]], ()
    if scores.kind == "decision":
        raise DataError(
            f"{counted(len(lost), 'label')} without a score column",
            where=f"first: {lost[0]!r}",
            fix="margins need one column per label; log them all",
        )
    empty = 0.0 if scores.kind == "probability" else -np.inf
    full = np.full((len(scores.values), len(labels)), empty, dtype=scores.values.dtype)
    for index, label in enumerate(labels):
        if label in place:
            full[:, index] = scores.values[:, place[label]]
    return full, lost
