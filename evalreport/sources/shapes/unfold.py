"""Columns that hold several numbers in a cell become one column each; and what names alone do not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.errors import ColumnNotFoundError, DataError
from evalreport.labels import LabelSpace
from evalreport.sources.request import Columns, listed
from evalreport.sources.shapes.naming import is_like_score, named_as, role
from evalreport.sources.shapes.nested import is_nested, matrix_of
from evalreport.sources.shapes.roles import PRED, Part, truth_part
from evalreport.sources.tables import RawTable

Array = npt.NDArray[Any]


def completed(table: RawTable, request: Columns) -> Columns:
    """Return the request with what the file's own format says of its columns, where nothing was named."""
    parts = table.parts
    told = request.pred is not None or request.text is not None
    return replace(
        request,
        truth=request.truth or parts.get("truth"),
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
    if name in request.named and name not in (request.score, request.pred):
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
        if name not in (*pred, *request.named) and _overlap(_words(values), answers)
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
        return (
            f"{alike[0]} is taken for the confidence of the given answer: one column ranks no class, so no "
            "metric of scores is made of it; one column for each class is named with --scores",
        )
    verb = "looks like a score and is" if len(alike) == 1 else "look like scores and are"
    use = f"--score {alike[0]}" if len(space) == 2 else "--scores 'PATTERN*'"
    return (f"{listed(alike)} {verb} not used: if it is one pass {use}",)
