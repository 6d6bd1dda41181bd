"""Columns that hold several numbers in a cell become one column each; and what names alone do not say.

Such cells are lists, vectors, mappings of label to score, and all of these as text.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.cells import is_gap, is_number
from evalreport.errors import ColumnNotFoundError, DataError
from evalreport.labels import LabelSpace
from evalreport.sources.readers.limits import ITEM, refuse_decoded
from evalreport.sources.request import Columns, listed
from evalreport.sources.shapes.naming import is_like_score, named_as, role
from evalreport.sources.shapes.roles import PRED, Part, truth_part
from evalreport.sources.tables import RawTable

Array = npt.NDArray[Any]


def completed(table: RawTable, request: Columns) -> Columns:
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


def unfolded(table: RawTable, request: Columns) -> tuple[RawTable, Columns, tuple[str, ...]]:
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
            if name in request.named or (len(nested) == 1 and not named_as("prediction", table.names, PRED)):
                raise
            notes.append(f"the scores {name} are not used: {error.message}, {error.where}")
            continue
        columns |= {f"{name}[{place}]": part for place, part in parts.items()}
    names = (*columns, *(name for name in table.names if name not in table.columns))
    return replace(table, columns=columns, names=names), _with_scores(nested, request), tuple(notes)


def _holds_scores(table: RawTable, name: str, request: Columns) -> bool:
    values = table.columns[name]
    if name in request.given and name not in (request.score, request.pred):
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
    pred = (request.pred,) if request.pred else named_as("prediction", table.names, PRED)
    answers = _words(table.columns.get(pred[0])) if len(pred) == 1 else set()
    if len(answers) < 2:
        return None
    found = [
        name
        for name, values in table.columns.items()
        if name not in (*pred, *request.given) and _overlap(_words(values), answers)
    ]
    return found[0] if len(found) == 1 else None


def _words(values: Array | None) -> set[str]:
    if values is None or values.ndim != 1 or values.dtype != object:
        return set()
    found = set(map(type, values.tolist()))
    return set(values.tolist()) if found == {str} else set()


def _overlap(labels: set[str], answers: set[str]) -> bool:
    return 2 * len(labels & answers) > len(labels | answers)


def left_alone(
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
    >>> from evalreport.labels import Binary
    >>> left_alone(["age", "credit_score"], Binary(0, 1), (), ranked=False)
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
    return (f"{listed(alike)} {verb} not used: if it is one pass {use}",)


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
        fix="write the same number of scores in each row, or leave the column out with --no-scores",
    )


def _row(cell: Any) -> Mapping[Any, float] | None:
    """Return the scores of one cell by place or label; None where it holds none."""
    if isinstance(cell, str):
        cell = _parsed(cell.strip())
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


def _parsed(text: str) -> Any:
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
