"""NPZ and NPY: arrays of any shape become the columns of a table.

A matrix ``scores`` of shape (n, labels) becomes the columns ``scores[ham]``, ``scores[spam]``, …, and the
request is filled in with what the arrays are called, so that one path serves every format from there on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evalreport.errors import DataError, UsageError
from evalreport.format import counted
from evalreport.labels import Label
from evalreport.scores import ScoreKind
from evalreport.sources.request import Columns, several
from evalreport.sources.shapes.families import are_probabilities
from evalreport.sources.shapes.naming import Role, kind_of, named_as
from evalreport.sources.shapes.roles import LABEL_NAMES, PRED, SINGLE, TRUTH
from evalreport.sources.tables import ARRAYS, RawTable

Array = npt.NDArray[Any]
Side = Literal["predictions", "truth"]
SCORES: Mapping[str, ScoreKind | None] = {
    "scores": None,
    "probs": "probability",
    "probabilities": "probability",
    "logits": "logit",
    **SINGLE,
}
WEIGHTS = ("weights", "weight")
GROUPS = ("groups", "group")
ALONE = "array"
"""What the one array of an NPY file is called."""


def as_columns(table: RawTable, request: Columns, side: Side = "predictions") -> tuple[RawTable, Columns]:
    """Return a table of columns, and the request that names them; other formats pass unchanged.

    Parameters
    ----------
    side : str
        What the one array of an NPY file holds: ``predictions`` (of which floats are scores) or ``truth``.

    Raises
    ------
    DataError
        Arrays of unequal length or too many axes, more columns than labels, codes outside the labels.
    UsageError
        A batch axis where there is none; several arrays of scores.
    """
    if table.format not in ARRAYS:
        if request.batch_axis:
            raise UsageError(f"{table.name} has no batch axis", fix="--batch-axis is for NPZ and NPY")
        return table, request
    request = _named(table.columns, request, side)
    labels = _label_names(table.columns, request)
    arrays = _row_arrays(table.columns, request)
    arrays = _out_of_one_hot(arrays, request)
    columns: dict[str, Array] = {}
    for name, array in arrays.items():
        columns.update(_columns(name, array, labels))
    for part in (request.truth, request.pred):
        if labels is not None and part in columns:
            columns[part] = _uncoded(columns[part], labels, part)
    n = max(map(len, columns.values()), default=0)
    request = replace(request, labels=request.labels or labels)
    names = (*columns, *(name for name in table.names if name not in table.columns))
    return replace(table, columns=columns, n=n, names=names), _starred(request, columns)


def _named(arrays: Mapping[str, Array], request: Columns, side: Side) -> Columns:
    """Fill the parts that nobody named from the names of the arrays."""

    def first(names: Sequence[str]) -> str | None:
        return next((name for name in names if name in arrays), None)

    weight, group = request.weight or first(WEIGHTS), request.group or first(GROUPS)
    request = replace(request, weight=weight, group=group)
    if list(arrays) == [ALONE]:
        return _alone(arrays[ALONE], request, side)
    truth = request.truth or _only("truth", arrays, TRUTH, request) or _labels_of_rows(arrays)
    pred = request.pred or _only("prediction", arrays, PRED, request)
    score = request.score or request.scores or (None if request.no_scores else _score(arrays))
    if pred is not None and pred in arrays and are_fractions(arrays[pred]) and score is None:
        score, pred = pred, None
    request = replace(request, truth=truth, pred=pred)
    if score is None or score not in arrays:
        return request
    kind = request.score_kind or SCORES.get(score) or kind_of(score) or _kind(arrays[score], truth)
    return replace(request, score=score, scores=None, score_kind=kind)


def _only(part: Role, arrays: Mapping[str, Array], usual: Sequence[str], request: Columns) -> str | None:
    """Return the one array that is named for a part; names that stand for the label set are none."""
    free = [name for name in arrays if name not in LABEL_NAMES and name not in request.given]
    found = named_as(part, free, usual)
    if len(found) > 1:
        option = "--truth" if part == "truth" else "--pred"
        raise several(found, f"arrays could be the {part}", option)
    return found[0] if found else None


def _labels_of_rows(arrays: Mapping[str, Array]) -> str | None:
    """Return ``labels`` where it holds one whole number for each row, not the names of the columns."""
    rows = max((len(array) for array in arrays.values() if array.ndim), default=0)
    found = [
        name
        for name in LABEL_NAMES
        if name in arrays and arrays[name].dtype.kind in "iub" and arrays[name].shape[:1] == (rows,)
    ]
    return found[0] if len(found) == 1 and len(arrays) > 1 else None


def are_fractions(array: Array) -> bool:
    """Tell whether an array holds scores rather than labels: numbers that are not whole.

    Examples
    --------
    >>> are_fractions(np.array([0.5, 1.0])), are_fractions(np.array([0.0, 1.0]))
    (True, False)
    """
    return array.dtype.kind == "f" and bool((np.isfinite(array) & (array != np.rint(array))).any())


def _kind(array: Array, truth: str | None) -> ScoreKind | None:
    """Return the kind of a matrix whose name says none: rows that sum to one are probabilities.

    ``predictions`` beside ``label_ids`` are what a Trainer returns, the logits of its model.
    """
    if array.ndim == 2 and array.shape[1] > 1 and are_probabilities(list(array.T)):
        return "probability"
    return "logit" if truth == "label_ids" else None


def _out_of_one_hot(arrays: Mapping[str, Array], request: Columns) -> Mapping[str, Array]:
    """Return the truth as codes where it marks exactly one label in each row (`to_categorical`)."""
    truth = arrays.get(request.truth or "")
    if truth is None or request.task == "multilabel" or not _is_one_hot(truth):
        return arrays
    coded = {str(request.truth): truth.argmax(axis=1)}
    answers = arrays.get(request.pred or "")
    if answers is not None and _is_one_hot(answers):
        coded[str(request.pred)] = answers.argmax(axis=1)
    return {**arrays, **coded}


def _is_one_hot(array: Array) -> bool:
    if array.ndim != 2 or array.shape[1] < 2 or array.dtype.kind not in "biuf":
        return False
    return bool(((array == 0) | (array == 1)).all() and (array.sum(axis=1) == 1).all())


def _alone(array: Array, request: Columns, side: Side) -> Columns:
    if side == "truth":
        return replace(request, truth=ALONE)
    return replace(request, score=ALONE) if array.dtype.kind == "f" else replace(request, pred=ALONE)


def _score(arrays: Mapping[str, Array]) -> str | None:
    found = [name for name in SCORES if name in arrays] or list(named_as("score", list(arrays), ()))
    if len(found) > 1:
        raise several(found, "arrays could be the scores", "--score")
    return found[0] if found else None


def _label_names(arrays: Mapping[str, Array], request: Columns) -> tuple[Label, ...] | None:
    for name in LABEL_NAMES:
        if name in arrays and name not in request.named and arrays[name].ndim == 1:
            return tuple(arrays[name].tolist())
    return request.labels


def _row_arrays(arrays: Mapping[str, Array], request: Columns) -> Mapping[str, Array]:
    """Return the arrays that have one entry per row, with the declared batch axis flattened."""
    parts = [name for name in request.named if name in arrays]
    axes = 2 if request.batch_axis else 1
    rows = {name: array for name, array in arrays.items() if array.ndim >= axes}
    for name in parts:
        if name not in rows or arrays[name].ndim > axes + 1:
            raise _wrong_shape(name, arrays[name], request.batch_axis)
    shapes = {rows[name].shape[:axes] for name in parts}
    if len(shapes) > 1:
        shown = ", ".join(f"{name} {rows[name].shape}" for name in parts)
        raise DataError(
            "the arrays have unequal numbers of rows",
            where=shown,
            fix="every array describes the same examples in the same order",
        )
    kept = {name: array for name, array in rows.items() if not shapes or array.shape[:axes] in shapes}
    return {name: array.reshape(-1, *array.shape[axes:]) for name, array in kept.items()}


def _wrong_shape(name: str, array: Array, batch_axis: bool) -> DataError:
    expected = "[batch, n] or [batch, n, labels]" if batch_axis else "[n] or [n, labels]"
    mend = "leave --batch-axis out" if batch_axis else "if the first axis is a batch, pass --batch-axis"
    return DataError(
        f"array {name!r} has shape {array.shape}; expected {expected}", where=f"array {name!r}", fix=mend
    )


def _columns(name: str, array: Array, labels: Sequence[Label] | None) -> Mapping[str, Array]:
    if array.ndim == 1 or array.shape[1] == 1:
        return {name: array.reshape(-1)}
    if array.ndim > 2:
        return {}
    names = range(array.shape[1]) if labels is None else labels
    if len(names) != array.shape[1]:
        raise DataError(
            f"array {name!r} has {array.shape[1]} columns and there are {len(names)} labels",
            where=f"array {name!r}, shape {array.shape}",
            fix="save an array named labels with one name per column",
        )
    return {f"{name}[{label}]": array[:, index] for index, label in enumerate(names)}


def _uncoded(values: Array, labels: Sequence[Label], name: str) -> Array:
    """Return labels in place of codes, where whole numbers stand for labels that are text."""
    if values.dtype.kind not in "iu" or not all(isinstance(label, str) for label in labels):
        return values
    if set(np.unique(values).astype(str).tolist()) <= set(labels):
        return values
    outside = np.flatnonzero((values < 0) | (values >= len(labels)))
    if outside.size:
        row = int(outside[0])
        raise DataError(
            f"{name} holds {counted(outside.size, 'code')} outside the {len(labels)} labels",
            where=f"array {name!r}, first: row {row}, {values[row]}",
            fix="codes count from 0 in the order of the array labels",
        )
    decoded: Array = np.asarray(labels, dtype=object)[values]
    return decoded


def _starred(request: Columns, columns: Mapping[str, Array]) -> Columns:
    """Name a matrix by the pattern of its columns."""

    def star(name: str | None) -> str | None:
        is_matrix = name is not None and name not in columns and f"{name}[" in "\n".join(columns)
        return f"{name}[*]" if is_matrix else name

    request = replace(request, truth=star(request.truth), pred=star(request.pred))
    scores = star(request.score)
    return replace(request, score=None, scores=scores) if scores != request.score else request
