"""NPZ and NPY: arrays of any shape become the columns of a table.

A matrix ``scores`` of shape (n, labels) becomes the columns ``scores[ham]``, ``scores[spam]``, …, and the
request is filled in with what the arrays are called, so that one path serves every format from there on.

Columns that hold several numbers in a cell become one column each; and what names alone do not say.

Such cells are lists, vectors, mappings of label to score, and all of these as text.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evalreport.columns.names import (
    LABEL_NAMES,
    PRED,
    SINGLE,
    TRUTH,
    Part,
    Role,
    are_probabilities,
    find_role_names,
    is_like_score,
    kind_of,
    role,
    truth_part,
)
from evalreport.columns.request import Columns, list_names, several
from evalreport.core.errors import ColumnNotFoundError, DataError, UsageError
from evalreport.core.format import pluralize
from evalreport.data.arrays import is_gap, is_number
from evalreport.data.labels import Label, LabelSpace
from evalreport.data.scores import ScoreKind
from evalreport.readers.formats import ARRAYS, RawTable
from evalreport.readers.limits import ITEM, refuse_decoded

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
            raise UsageError(f"{table.name} has no batch axis", fix="--set batch_axis is for NPZ and NPY")
        return table, request
    request = _fill_from_names(table.columns, request, side)
    labels = _label_names(table.columns, request)
    arrays = _row_arrays(table.columns, request)
    arrays = _out_of_one_hot(arrays, request)
    columns: dict[str, Array] = {}
    for name, array in arrays.items():
        columns.update(_columns(name, array, labels))
    for part in (request.truth, request.pred):
        if labels is not None and part in columns:
            columns[part] = _decode_labels(columns[part], labels, part)
    n = max(map(len, columns.values()), default=0)
    request = replace(request, labels=request.labels or labels)
    names = (*columns, *(name for name in table.names if name not in table.columns))
    return replace(table, columns=columns, n=n, names=names), _add_column_patterns(request, columns)


def _fill_from_names(arrays: Mapping[str, Array], request: Columns, side: Side) -> Columns:
    """Fill the parts that nobody named from the names of the arrays."""

    def first_present(names: Sequence[str]) -> str | None:
        return next((name for name in names if name in arrays), None)

    weight, group = request.weight or first_present(WEIGHTS), request.group or first_present(GROUPS)
    request = replace(request, weight=weight, group=group)
    if list(arrays) == [ALONE]:
        return _single_array_request(arrays[ALONE], request, side)
    truth = request.truth or _find_array("truth", arrays, TRUTH, request) or _labels_of_rows(arrays)
    pred = request.pred or _find_array("prediction", arrays, PRED, request)
    score = request.score or request.scores or (None if request.no_scores else _score(arrays))
    if pred is not None and pred in arrays and are_fractions(arrays[pred]) and score is None:
        score, pred = pred, None
    request = replace(request, truth=truth, pred=pred)
    if score is None or score not in arrays:
        return request
    kind = request.score_kind or SCORES.get(score) or kind_of(score) or _kind(arrays[score], truth)
    return replace(request, score=score, scores=None, score_kind=kind)


def _find_array(
    part: Role, arrays: Mapping[str, Array], usual: Sequence[str], request: Columns
) -> str | None:
    """Return the one array that is named for a part; names that stand for the label set are none."""
    free = [name for name in arrays if name not in LABEL_NAMES and name not in request.assigned_columns]
    found = find_role_names(part, free, usual)
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


def _single_array_request(array: Array, request: Columns, side: Side) -> Columns:
    if side == "truth":
        return replace(request, truth=ALONE)
    return replace(request, score=ALONE) if array.dtype.kind == "f" else replace(request, pred=ALONE)


def _score(arrays: Mapping[str, Array]) -> str | None:
    found = [name for name in SCORES if name in arrays] or list(find_role_names("score", list(arrays), ()))
    if len(found) > 1:
        raise several(found, "arrays could be the scores", "--score")
    return found[0] if found else None


def _label_names(arrays: Mapping[str, Array], request: Columns) -> tuple[Label, ...] | None:
    for name in LABEL_NAMES:
        if name in arrays and name not in request.named_columns and arrays[name].ndim == 1:
            return tuple(arrays[name].tolist())
    return request.labels


def _row_arrays(arrays: Mapping[str, Array], request: Columns) -> Mapping[str, Array]:
    """Return the arrays that have one entry per row, with the declared batch axis flattened."""
    parts = [name for name in request.named_columns if name in arrays]
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
    mend = (
        "leave --set batch_axis out" if batch_axis else "if the first axis is a batch, pass --set batch_axis"
    )
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


def _decode_labels(values: Array, labels: Sequence[Label], name: str) -> Array:
    """Return labels in place of codes, where whole numbers stand for labels that are text."""
    if values.dtype.kind not in "iu" or not all(isinstance(label, str) for label in labels):
        return values
    if set(np.unique(values).astype(str).tolist()) <= set(labels):
        return values
    outside = np.flatnonzero((values < 0) | (values >= len(labels)))
    if outside.size:
        row = int(outside[0])
        raise DataError(
            f"{name} holds {pluralize(outside.size, 'code')} outside the {len(labels)} labels",
            where=f"array {name!r}, first: row {row}, {values[row]}",
            fix="codes count from 0 in the order of the array labels",
        )
    decoded: Array = np.asarray(labels, dtype=object)[values]
    return decoded


def _add_column_patterns(request: Columns, columns: Mapping[str, Array]) -> Columns:
    """Name a matrix by the pattern of its columns."""

    def star(name: str | None) -> str | None:
        is_matrix = name is not None and name not in columns and f"{name}[" in "\n".join(columns)
        return f"{name}[*]" if is_matrix else name

    request = replace(request, truth=star(request.truth), pred=star(request.pred))
    scores = star(request.score)
    return replace(request, score=None, scores=scores) if scores != request.score else request


def fill_from_format(table: RawTable, request: Columns) -> Columns:
    """Return the request with what the file's own format says of its columns, where nothing was named."""
    parts = table.parts
    told = request.pred is not None or request.text is not None
    return replace(
        request,
        truth=parts.get("truth") if request.truth is None else request.truth,
        pred=request.pred if told else parts.get("pred"),
        text=request.text if told else parts.get("text"),
        id=request.id or parts.get("id"),
    )


def unfold_columns(table: RawTable, request: Columns) -> tuple[RawTable, Columns, tuple[str, ...]]:
    """Return a table in which each column of lists or mappings of scores stands as one column per label.

    With it the request that names them, and what is to be said of columns that are no such lists.

    A column of predictions that holds such lists holds scores; one of whole numbers is left alone.

    Raises
    ------
    DataError
        A column of scores that was named, or that alone could decide, has a cell of another form.
    """
    nested = [name for name in table.columns if _holds_scores(table, name, request)]
    if not nested:
        return table, request, ()
    columns: dict[str, Array] = {}
    notes: list[str] = []
    for name, values in table.columns.items():
        if name not in nested:
            columns[name] = values
            continue
        try:
            parts = matrix_of(values, name)
        except DataError as error:
            if name in request.named_columns or (
                len(nested) == 1 and not find_role_names("prediction", table.names, PRED)
            ):
                raise
            notes.append(f"the scores {name} are not used: {error.message}, {error.where}")
            continue
        columns |= {f"{name}[{place}]": part for place, part in parts.items()}
    names = (*columns, *(name for name in table.names if name not in table.columns))
    return replace(table, columns=columns, names=names), _with_scores(nested, request), tuple(notes)


def _holds_scores(table: RawTable, name: str, request: Columns) -> bool:
    values = table.columns[name]
    if name in request.assigned_columns and name not in (request.score, request.pred):
        return False
    scored = name == request.score or role(name) == "score"
    if not scored and not (role(name) == "prediction" or name == request.pred):
        return False
    return is_nested(values) and (scored or _has_fractions(values))


def _has_fractions(values: Array) -> bool:
    if values.ndim == 2:
        return bool(values.dtype.kind == "f" and (values != np.rint(values)).any())
    first = next((cell for cell in values.tolist() if cell is not None), "")
    return ("." in str(first) and not isinstance(first, (list, str))) or _floats(first)


def _floats(cell: object) -> bool:
    if isinstance(cell, str):
        return "." in cell and cell.lstrip().startswith(("[", "{"))
    return isinstance(cell, list) and bool(cell) and all(isinstance(item, float) for item in cell)


def _with_scores(nested: Sequence[str], request: Columns) -> Columns:
    """Name the scores by what they became: those that were named, or the only ones of predictions."""
    star = request.score if request.score in nested else None
    if request.pred in nested:
        star, request = star or request.pred, replace(request, pred=None)
    given = [name for name in nested if role(name) == "prediction"]
    if star is None and len(given) == len(nested) == 1 and request.score is None and request.scores is None:
        star = given[0]
    return request if star is None else replace(request, score=None, scores=f"{star}[*]")


def truth_of(table: RawTable, request: Columns) -> tuple[Part, str]:
    """Return the part of the truth by its name, or else the one column that holds the predictions' labels.

    Raises
    ------
    ColumnNotFoundError, UsageError
    """
    try:
        return truth_part(table.names, request, table.name), ""
    except ColumnNotFoundError:
        name = None if request.truth is not None else _same_labels(table, request)
        if name is None:
            raise
        return Part(
            (name,)
        ), f"{name} is taken as the truth: no other column holds the labels of the predictions"


def _same_labels(table: RawTable, request: Columns) -> str | None:
    """Only text says enough: a feature of 0 and 1 is like any other."""
    pred = (request.pred,) if request.pred else find_role_names("prediction", table.names, PRED)
    answers = _words(table.columns.get(pred[0])) if len(pred) == 1 else set()
    if len(answers) < 2:
        return None
    found = [
        name
        for name, values in table.columns.items()
        if name not in (*pred, *request.assigned_columns) and _overlap(_words(values), answers)
    ]
    return found[0] if len(found) == 1 else None


def _words(values: Array | None) -> set[str]:
    if values is None or values.ndim != 1 or values.dtype != object:
        return set()
    found = set(map(type, values.tolist()))
    return set(values.tolist()) if found == {str} else set()


def _overlap(labels: set[str], answers: set[str]) -> bool:
    return 2 * len(labels & answers) > len(labels | answers)


def unused_scores_note(
    unused: Sequence[str], space: LabelSpace, notes: Sequence[str], *, ranked: bool
) -> tuple[str, ...]:
    """Return the note on columns that look like scores and were not used, with the option that takes them.

    Parameters
    ----------
    notes : sequence of str
        What was said already: a column that it names is not named again.
    ranked : bool
        Whether there are other scores.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> unused_scores_note(["age", "credit_score"], Binary(0, 1), (), ranked=False)
    ('credit_score looks like a score and is not used: if it is one pass --score credit_score',)
    """
    heads = dict.fromkeys(name.partition("[")[0] for name in unused if is_like_score(name))
    alike = [name for name in heads if not any(name in note.split() for note in notes)]
    if not alike:
        return ()
    if len(space) > 2 and not ranked and len(alike) == 1:
        if role(alike[0]) != "score":  # one column of something else: no option makes it rank three classes
            return ()
        return (
            f"{alike[0]} is taken for the confidence of the given answer: one column ranks no class, so no "
            "metric of scores is made of it; one column for each class is named with --scores",
        )
    verb = "looks like a score and is" if len(alike) == 1 else "look like scores and are"
    use = f"--score {alike[0]}" if len(space) == 2 else "--scores 'PATTERN*'"
    return (f"{list_names(alike)} {verb} not used: if it is one pass {use}",)


_NAMES = ("label", "class", "name", "category")
_VALUES = ("prob", "score", "probability", "confidence", "value", "p")
"""Keys of one entry in a list of labels with their scores (pipelines with top_k, ML.PREDICT)."""
_OPENS = ("[", "(", "{")
_BETWEEN = re.compile(r"[\s,;]+")


def is_nested(values: Array) -> bool:
    """Tell whether a column holds several numbers in each cell, by its first cell that is no gap.

    Examples
    --------
    >>> is_nested(np.array(["[0.5 0.5]", None], dtype=object)), is_nested(np.array([0.5]))
    (True, False)
    """
    if values.ndim == 2:
        return values.dtype.kind in "biuf"
    if values.dtype != object:
        return False
    first = next((cell for cell in values.tolist() if not is_gap(cell)), None)
    if isinstance(first, str):
        return first.lstrip().startswith(_OPENS) and _row(first) is not None
    return _row(first) is not None


def matrix_of(values: Array, name: str) -> Mapping[str, Array]:
    """Return one column of numbers for each place of the lists, or for each label of the mappings.

    A label that the mapping of one row lacks has the score 0 there, as in lists of the best few.

    Returns
    -------
    mapping from what stands between the brackets (a place or a label) to float64 of shape (n,)

    Raises
    ------
    DataError
        A cell that is empty or of another form, or lists of unequal length; names the first row.

    Examples
    --------
    >>> matrix_of(np.array(['{"ham": 0.25, "spam": 0.75}'], dtype=object), "probs")
    {'ham': array([0.25]), 'spam': array([0.75])}
    """
    if values.ndim == 2:
        return {str(place): values[:, place] for place in range(values.shape[1])}
    rows = [_row(cell) for cell in values.tolist()]
    lost = next((row for row, cell in enumerate(rows) if cell is None), None)
    if lost is not None:
        raise _unlike(name, lost, values[lost])
    labels: dict[str, None] = dict.fromkeys(str(label) for row in rows if row is not None for label in row)
    refuse_decoded(len(rows) * len(labels), len(rows) * ITEM)
    if all(isinstance(row, _Places) for row in rows):
        widths = {len(row) for row in rows if row is not None}
        if len(widths) > 1:
            first = next(
                r for r, row in enumerate(rows) if row is not None and len(row) != len(rows[0] or ())
            )
            raise _unlike(name, first, values[first])
    columns = {label: np.zeros(len(rows)) for label in labels}
    for place, row in enumerate(rows):
        for label, number in (row or {}).items():
            columns[str(label)][place] = number
    return columns


class _Places(dict[int, float]):
    """The numbers of a list by their place."""


def _unlike(name: str, row: int, cell: object) -> DataError:
    return DataError(
        f"column {name!r} has a cell that is no list of scores like the others",
        where=f"column {name!r}, row {row}, {str(cell)[:80]!r}",
        fix="write the same number of scores in each row, or leave the column out with --set no_scores",
    )


def _row(cell: Any) -> Mapping[Any, float] | None:
    """Return the scores of one cell by place or label; None where it holds none."""
    if isinstance(cell, str):
        cell = _parse_brackets(cell.strip())
    if isinstance(cell, Mapping):
        return _mapping(cell)
    if isinstance(cell, (list, tuple, np.ndarray)) and len(cell):
        if all(isinstance(item, Mapping) for item in cell):
            return _pairs(list(cell))
        if all(is_number(item) for item in cell):
            return _Places(enumerate(map(float, cell)))
    return None


def _mapping(cell: Mapping[str, Any]) -> Mapping[Any, float] | None:
    if {"type", "values"} <= cell.keys():  # a vector of Spark ML: dense, or sparse with its size
        values = cell.get("values") or []
        if cell["type"] == 1:
            return _Places(enumerate(map(float, values)))
        places = dict(zip(cell.get("indices") or [], values, strict=False))
        return _Places((place, float(places.get(place, 0.0))) for place in range(int(cell.get("size") or 0)))
    if cell and all(is_number(item) for item in cell.values()):
        return {str(label): float(item) for label, item in cell.items()}
    return None


def _pairs(cell: Sequence[Any]) -> Mapping[str, float] | None:
    """Return the scores of a list such as ``[{"label": "a", "score": 0.9}, …]``."""
    label = next((key for key in _NAMES if key in cell[0]), None)
    value = next((key for key in _VALUES if key in cell[0]), None)
    if label is None or value is None or not all(is_number(item.get(value)) for item in cell):
        return None
    return {str(item.get(label)): float(item[value]) for item in cell}


def _parse_brackets(text: str) -> Any:
    """Return what a text of brackets stands for; nothing in it is ever run."""
    if not text.startswith(_OPENS):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text[0] != "{":
        try:
            return [float(word) for word in _BETWEEN.split(text.strip("[]() \n")) if word]
        except ValueError:
            pass
    try:
        return ast.literal_eval(text) if len(text) < 100_000 else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
