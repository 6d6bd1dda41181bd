"""Files with a grade per item (right or wrong) instead of two columns of labels.

A grade shows whether a response was right, not which label it was. Such a file is rejected here: read as
labels it would give "accuracy 0%, no answer could be read", and two such files would have the same
predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evalreport.columns.column_request import Columns, list_names, missing_column
from evalreport.columns.names import GRADES, TEXT, plain_name
from evalreport.core.errors import DataError, GradedError
from evalreport.data.arrays import is_gap, reads_as_number
from evalreport.data.labels import Parsed
from evalreport.readers.formats import RawTable

_TEXTS = "pass fail passed failed correct incorrect right wrong yes no true false c i p n"
WORDS = frozenset(_TEXTS.split())
"""Texts of a grade, in lower case; the single letters are those of Inspect AI."""


FEW_LABELS = 8
"""Twice the most distinct labels of a column that counts as labels in a file of any size."""
REPEAT = ("epoch", "repeat", "trial", "attempt", "iteration")
"""Names of a column with the number of the attempt at an item."""


OF_ANYTHING = ("grade", "graded", "score")
"""Names of grades that are also names of other numbers, such as school grades."""


def has_graded_repeats(table: RawTable) -> bool:
    """Return whether the file format names grades, and a column has the number of the attempt."""
    return "grade" in table.parts and any(plain_name(name) in REPEAT for name in table.columns)


def grade_column(table: RawTable) -> str | None:
    """Return the column with a grade per item: the one that the format names, or one with grades as values.

    Examples
    --------
    >>> import numpy as np
    >>> columns = {"answer": np.array(["a", "b"], object), "exact_match": np.array([1.0, 0.0])}
    >>> grade_column(RawTable(columns, 2, "samples.jsonl", "", "jsonl", tuple(columns)))
    'exact_match'
    """
    return next(iter(grade_columns(table)), None)


def grade_columns(table: RawTable) -> tuple[str, ...]:
    """Return all columns with a grade per item, those that the file format names first, then by name.

    A column ``score`` counts only if there is no other.
    """
    known = {plain_name(name): name for name in table.columns}
    tool = [name for part, name in table.parts.items() if part.startswith("grade")]
    usual = dict.fromkeys((*tool, *(known[name] for name in GRADES if name in known)))
    found = tuple(name for name in usual if _is_graded(table, name))
    return tuple(name for name in found if plain_name(name) != "score") or found


def _is_graded(table: RawTable, name: str) -> bool:
    values = table.columns.get(name)
    if values is None or values.ndim != 1:
        return False
    if values.dtype.kind not in "biuf":
        known = [value for value in values.tolist() if not is_gap(value)]
        if not known or not all(isinstance(value, (bool, int, float)) for value in known):
            return bool(known) and all(isinstance(value, str) and value.lower() in WORDS for value in known)
        values = np.array(known, dtype=float)
    numbers = values[values == values]  # noqa: PLR0124 (not NaN)
    if name.lower() == "score":  # fractions may be a score of a class, or any other number
        return bool(numbers.size and ((numbers == 0) | (numbers == 1)).all())
    return bool(numbers.size and ((numbers >= 0) & (numbers <= 1)).all())


def unread_grade(table: RawTable) -> str | None:
    """Return a column with the name of a grade whose values are not grades on one scale.

    Examples
    --------
    >>> import numpy as np
    >>> columns = {"passed": np.array(["pass", "0.3"], object)}
    >>> unread_grade(RawTable(columns, 2, "samples.csv", "", "csv", tuple(columns)))
    'passed'
    """
    known = {plain_name(name): name for name in table.columns}
    names = [known[name] for name in GRADES if name in known and name not in OF_ANYTHING]
    return next((name for name in names if _is_number_or_word(table.columns[name])), None)


def _is_number_or_word(values: Any) -> bool:
    """Return whether half of the values are numbers, or words of a grade."""
    if values.ndim != 1 or values.dtype.kind in "biuf":
        return bool(values.ndim == 1)
    known = [str(value).strip().lower() for value in values.tolist() if not is_gap(value)]
    return 2 * sum(text in WORDS or reads_as_number(text) for text in known) > len(known)


def refuse_grade(table: RawTable, request: Columns, *, always: bool = False, unread: bool = False) -> None:
    """Raise an error for a table with a grade per item.

    Parameters
    ----------
    table : RawTable
    request : Columns
        If it names columns of labels, scores or texts, no error is raised.
    always : bool
        Raise the error even then.
    unread : bool
        Raise the error also for a column with the name of a grade whose values are not grades.

    Raises
    ------
    GradedError
    """
    is_named = any((request.truth, request.pred, request.text, request.score, request.scores))
    name = request.graded.main_grade or (grade_column(table) if always or not is_named else None)
    if name is None and unread and not is_named:
        name = unread_grade(table)
    if name is None:
        return
    if name not in table.columns:
        option = "--grade" if request.graded.grade else "--set judge"
        raise missing_column(name, option, table.names, table.name)
    values = sorted({str(value) for value in table.columns[name].tolist() if not is_gap(value)})
    error = GradedError(
        f"the file has a grade per item (right or wrong, column {name!r}), not two columns of labels",
        where=f"{table.source}, column {name!r}, values {list_names(values[:5])}",
        fix="grades are evaluated in memory: leave --set engine, --folds and --children out; or name "
        "columns of "
        "labels with --truth and --pred, responses with --response, scores with --score",
    )
    error.table = table
    raise error


def refuse_misread_grade(
    table: RawTable, taken: Sequence[tuple[str, str]], right: Any | None, request: Columns
) -> None:
    """Raise an error if a grade was found as labels or as a score, or if the labels have none in common.

    Parameters
    ----------
    table : RawTable
    taken : sequence of (part, column)
        The columns that would be used.
    right : bool array of shape (n,), or None
        Where the prediction is the true label; None without predictions of one label per row.
    request : Columns

    Raises
    ------
    DataError
    """
    parts = dict(taken)
    name = grade_column(table)
    if name is None:
        return
    truth, pred = (table.columns.get(parts.get(part, "")) for part in ("truth", "prediction"))
    if name == parts.get("truth"):
        refuse_grade(table, request)
    if truth is not None and truth.ndim == 1 and _is_free_text(truth, table.columns.get(parts.get("id", ""))):
        refuse_grade(table, request)
    is_pair = truth is not None and pred is not None and {truth.ndim, pred.ndim} == {1}
    if is_pair and not _texts(truth) & _texts(pred):
        refuse_grade(table, request)
    if name == parts.get("score") and request.score is None:
        _refuse_as_score(table, name, right, request)


def _is_free_text(truth: Any, ids: Any | None) -> bool:
    """Return whether more than half of the items have a different expected response."""
    items = len(truth) if ids is None or ids.ndim != 1 else len(_texts(ids))
    return 2 * len(_texts(truth)) > max(items, FEW_LABELS)


def _refuse_as_score(table: RawTable, name: str, right: Any | None, request: Columns) -> None:
    """Raise an error for 0 and 1 as scores of a class if they are grades of the predictions."""
    if right is None and any(column in table.columns for column in TEXT):
        refuse_grade(table, request)
    if right is not None and not right.all() and (table.columns[name].astype(bool) == right).all():
        raise DataError(
            f"column {name!r} is 1 exactly where the prediction is right: a grade, not a score of a class",
            where=f"{table.source}, column {name!r}",
            fix="pass --set no_scores, or name the column of scores with --score",
        )


def _texts(values: Any) -> set[str]:
    return {str(value) for value in values.tolist() if not is_gap(value) and not isinstance(value, list)}


def refuse_unparsed(table: RawTable, answers: Parsed, request: Columns) -> None:
    """Raise an error for a table with a grade if fewer than half of the responses can be parsed as labels.

    Raises
    ------
    DataError
    """
    count = int((answers.codes >= 0).sum())
    if 2 * count < len(answers.codes):
        refuse_grade(table, request, always=not count)
