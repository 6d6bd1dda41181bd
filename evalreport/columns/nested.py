"""Columns with several numbers or labels in a cell, and arrays of NPZ and NPY files, as plain columns.

A matrix ``scores`` of shape (n, labels) becomes the columns ``scores[ham]``, ``scores[spam]``, …; so do
lists, vectors and mappings of label to score, also as text. The names of arrays are added to the request.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns, list_names
from evalreport.columns.join import Rows
from evalreport.columns.names import LABEL_NAMES, is_like_score, role
from evalreport.core.errors import DataError, UsageError
from evalreport.core.format import pluralize
from evalreport.data.arrays import EXACT, is_gap, is_number
from evalreport.data.labels import Label, LabelSpace
from evalreport.readers.formats import ARRAYS, RawTable
from evalreport.readers.limits import ITEM, refuse_decoded

Array = npt.NDArray[Any]
Side = Literal["predictions", "truth"]
WEIGHTS = ("weights", "weight")
GROUPS = ("groups", "group")
ALONE = "array"
"""Name of the only array of an NPY file."""


def as_columns(table: RawTable, request: Columns, side: Side = "predictions") -> tuple[RawTable, Columns]:
    """Return a table whose arrays have one entry per row, and the request with the roles of array names.

    Tables of other formats are not changed. Arrays with one number per label stay matrices.

    Parameters
    ----------
    side : str
        Content of the only array of an NPY file: ``predictions`` (floats are scores) or ``truth``.

    Raises
    ------
    DataError
        Arrays differ in length or have too many axes, or there are more columns than labels.
    UsageError
        There is no batch axis.
    """
    if table.format not in ARRAYS:
        if request.batch_axis:
            raise UsageError(f"{table.name} has no batch axis", fix="--set batch_axis is for NPZ and NPY")
        return table, request
    names = {*table.columns}
    weight = request.weight or next((name for name in WEIGHTS if name in names), None)
    group = request.group or next((name for name in GROUPS if name in names), None)
    request = replace(request, weight=weight, group=group)
    if names == {ALONE}:
        if side == "truth":
            request = replace(request, truth=ALONE)
        elif table.columns[ALONE].dtype.kind == "f":
            request = replace(request, score=ALONE)
        else:
            request = replace(request, pred=ALONE)
    labels = _label_names(table.columns, request)
    columns = dict(_row_arrays(table.columns, request, labels))
    for name, array in columns.items():
        if array.ndim == 2 and array.shape[1] == 1:
            columns[name] = array.reshape(-1)
        elif (
            array.ndim == 2
            and labels is not None
            and array.shape[1] != len(labels)
            and role(name) is not None
        ):
            raise DataError(
                f"array {name!r} has {array.shape[1]} columns and there are {len(labels)} labels",
                where=f"array {name!r}, shape {array.shape}",
                fix="save an array named labels with one name per column",
            )
    n = max(map(len, columns.values()), default=0)
    left = tuple(name for name in table.names if name in columns or name not in table.columns)
    return replace(table, columns=columns, n=n, names=left), replace(request, labels=request.labels or labels)


def are_fractions(array: Array) -> bool:
    """Return whether an array contains scores rather than labels: numbers that are not integers.

    Examples
    --------
    >>> are_fractions(np.array([0.5, 1.0])), are_fractions(np.array([0.0, 1.0]))
    (True, False)
    """
    return array.dtype.kind == "f" and bool((np.isfinite(array) & (array != np.rint(array))).any())


def _label_names(arrays: Mapping[str, Array], request: Columns) -> tuple[Label, ...] | None:
    rows = max((len(array) for array in arrays.values() if array.ndim), default=0)
    for name in LABEL_NAMES:
        array = arrays.get(name)
        if array is None or name in request.named_columns or array.ndim != 1:
            continue
        if array.dtype.kind in "iub" and len(array) == rows and len(arrays) > 1:
            continue  # one label for each row
        return tuple(array.tolist())
    return request.labels


def _row_arrays(
    arrays: Mapping[str, Array], request: Columns, labels: Sequence[Label] | None
) -> Mapping[str, Array]:
    """Return the arrays that have one entry per row, with the declared batch axis flattened."""
    sets = [
        name
        for name in LABEL_NAMES
        if name in arrays and labels is not None and len(arrays[name]) == len(labels)
    ]
    own = [name for name in arrays if name not in sets]
    parts = [name for name in own if name in request.named_columns or role(name) is not None]
    axes = 2 if request.batch_axis else 1
    rows = {name: arrays[name] for name in own if arrays[name].ndim >= axes}
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
    flat = {name: array.reshape(-1, *array.shape[axes:]) for name, array in kept.items()}
    return {name: array for name, array in flat.items() if array.ndim <= 2}


def _wrong_shape(name: str, array: Array, batch_axis: bool) -> DataError:
    expected = "[batch, n] or [batch, n, labels]" if batch_axis else "[n] or [n, labels]"
    mend = (
        "leave --set batch_axis out" if batch_axis else "if the first axis is a batch, pass --set batch_axis"
    )
    return DataError(
        f"array {name!r} has shape {array.shape}; expected {expected}", where=f"array {name!r}", fix=mend
    )


def decode_labels(values: Array, labels: Sequence[Label] | None, name: str) -> Array:
    """Return labels instead of codes, if integers are positions in a list of labels that are text.

    Raises
    ------
    DataError
        A code is outside of the labels.
    """
    if not labels or values.dtype.kind not in "iu" or not all(isinstance(label, str) for label in labels):
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
    named: Array = np.asarray(labels, dtype=object)[values]
    return named


def fill_from_format(table: RawTable, request: Columns) -> Columns:
    """Return the request with the columns that the file format defines, where the user named none."""
    parts = table.parts
    is_named = request.pred is not None or request.text is not None
    return replace(
        request,
        truth=parts.get("truth") if request.truth is None else request.truth,
        pred=request.pred if is_named else parts.get("pred"),
        text=request.text if is_named else parts.get("text"),
        id=request.id or parts.get("id"),
    )


def unused_scores_note(
    unused: Sequence[str], space: LabelSpace, notes: Sequence[str], *, ranked: bool
) -> tuple[str, ...]:
    """Return the note on unused columns that look like scores, with the option to use them.

    Parameters
    ----------
    notes : sequence of str
        Earlier notes: a column that they name is not repeated.
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
            f"{alike[0]} is read as the confidence of the predicted class: one column cannot rank the "
            "classes, so no "
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
_LONGEST = 100_000
"""Characters of a cell that is parsed as a list."""


def is_nested(values: Array) -> bool:
    """Return whether a column has several numbers in each cell, by its first cell with a value.

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
    """Return one column of numbers for each position of lists, or for each label of mappings.

    A label that is missing in the mapping of a row has score 0 there, as in lists of the best labels.

    Returns
    -------
    mapping from the text in brackets (a position or a label) to float64 of shape (n,)

    Raises
    ------
    DataError
        A cell is empty or of another form, or lists differ in length; the message names the first row.

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


def best_of_few(values: Array) -> Array | None:
    """Return the label with the highest score in each row of lists that are cut off; None for others.

    Lists are cut off where a row lacks a label of other rows and its scores do not sum to 1.

    Examples
    --------
    >>> cells = [{"ham": 0.5, "spam": 0.3}, {"eggs": 0.4, "ham": 0.2}]
    >>> best_of_few(np.fromiter(cells, dtype=object)).tolist()
    ['ham', 'eggs']
    """
    if values.dtype != object or not values.size or isinstance(_row(values[0]), _Places):
        return None
    rows = [_row(cell) for cell in values.tolist()]
    known = [row for row in rows if row is not None and not isinstance(row, _Places)]
    width = len({label for row in known for label in row})
    off = any(len(row) < width and abs(sum(row.values()) - 1) > _ROUNDING for row in known)
    if len(known) < len(rows) or not off:
        return None
    return np.fromiter((max(row, key=row.__getitem__) for row in known), dtype=object, count=len(known))


_ROUNDING = 0.01
"""Distance of a sum of probabilities from 1 up to which labels that are not listed have the score 0."""


def name_places(
    found: Mapping[str, Array], values: Array, labels: Sequence[Label] | None
) -> Mapping[str, Array]:
    """Return the columns of a matrix by the declared labels, if there is one for each; others unchanged.

    Examples
    --------
    >>> values = np.array([[0.25, 0.75]])
    >>> [*name_places(matrix_of(values, "probs"), values, ["ham", "spam"])]
    ['ham', 'spam']
    """
    if values.ndim == 2 and labels is not None and len(labels) == len(found):
        return dict(zip(map(str, labels), found.values(), strict=True))
    return found


class _Places(dict[int, float]):
    """The numbers of a list by position."""


def _unlike(name: str, row: int, cell: object) -> DataError:
    return DataError(
        f"column {name!r} has a cell that is not a list of scores like the others",
        where=f"column {name!r}, row {row}, {str(cell)[:80]!r}",
        fix="write the same number of scores in each row, or ignore the scores with --set no_scores",
    )


def _row(cell: Any) -> Mapping[Any, float] | None:
    """Return the scores of one cell by position or label; None if it contains none."""
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
            words = [word for word in _BETWEEN.split(text.strip("[]() \n")) if word]
            return [int(word) if word in ("0", "1") else float(word) for word in words]
        except ValueError:
            pass
    try:
        return ast.literal_eval(text) if len(text) < _LONGEST else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


_FLAGS = {0, 1}
_NUMPY_ITEMS = re.compile(r"""(['"])(.*?)\1""")
_NUMPY_GAP = re.compile(r"""['"]\s+['"]""")


def list_of(cell: Any) -> list[Any] | None:
    """Return the labels of a cell that is a list, or a text that a list was written as; None for others.

    Examples
    --------
    >>> list_of("['joy', 'anger']"), list_of("['joy' 'anger']"), list_of("[0.5, 1]"), list_of("joy")
    (['joy', 'anger'], ['joy', 'anger'], None, None)
    """
    if isinstance(cell, str):
        text = cell.strip()
        if not (text.startswith("[") and text.endswith("]")) or len(text) > _LONGEST:
            return None
        if _NUMPY_GAP.search(text):
            return [found[1] for found in _NUMPY_ITEMS.findall(text)]
        cell = _parse_brackets(text)
    if isinstance(cell, tuple | np.ndarray):
        cell = list(cell)
    if not isinstance(cell, list) or not all(isinstance(item, str | int | np.integer) for item in cell):
        return None
    return cell


def indicators_of(rows: Sequence[Any]) -> npt.NDArray[np.int64] | None:
    """Return lists of 0 and 1 of one length as a matrix of shape (n, labels); None for other lists.

    A list of labels has no label twice, so that two lists of at least three places show what they are.

    Examples
    --------
    >>> indicators_of([[0, 1, 1], [True, False, False]])
    array([[0, 1, 1],
           [1, 0, 0]])
    >>> indicators_of([[0, 1], [1]]) is None, indicators_of([["a", "b"]]) is None
    (True, True)
    """
    widths = {len(row) if isinstance(row, list | tuple | np.ndarray) else -1 for row in rows}
    if len(widths) != 1 or (width := widths.pop()) < 2:
        return None
    items = {item for row in rows for item in row}
    if not items <= _FLAGS or any(isinstance(item, float | np.floating) for item in items):
        return None
    if width == 2 and len({tuple(row) for row in rows}) < 2:
        return None  # [0, 1] in every row is the label set
    return np.asarray([[int(item) for item in row] for row in rows], dtype=np.int64)


def label_set_of(values: Array) -> frozenset[Any] | None:
    """Return the label set where every row lists all of it, in any order; None for other columns.

    Examples
    --------
    >>> cells = np.fromiter([["yes", "no"], ["no", "yes"]], dtype=object)
    >>> sorted(label_set_of(cells))
    ['no', 'yes']
    """
    if values.dtype != object or values.ndim != 1 or not isinstance(values[0], list | str):
        return None
    first = list_of(values[0])
    if first is None or len(first) < 2 or len(set(first)) < len(first):
        return None
    known = frozenset(first)
    for cell in values.tolist():
        row = list_of(cell)
        if row is None or len(row) != len(known) or set(row) != known or (row != first and known == _FLAGS):
            return None
    return known if len(values) > 1 else None


def with_label_sets(
    columns: Mapping[str, Array], named: Collection[str]
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Return columns without those that contain the label set, which names the places of a column of vectors.

    Parameters
    ----------
    columns : mapping from name to array
    named : collection of str
        Columns that the user named, which stay.

    Returns
    -------
    The columns, and the notes on what was assumed.
    """
    found, notes = dict(columns), []
    sets: dict[str, frozenset[Any]] = {}
    for name, values in columns.items():
        if name in named or values.ndim != 1 or values.dtype != object:
            continue
        some = label_set_of(values[:LOOKED_AT])
        known = None if some is None else label_set_of(values)
        if known is not None and known != _FLAGS:
            sets[name] = known
    plain = [values[:LOOKED_AT] for name, values in columns.items() if name not in sets and values.ndim == 1]
    # of ids and names of the same labels, those that are values of another column name the scores
    for name, known in sorted(sets.items(), key=lambda one: _is_foreign(map(str, one[1]), plain)):
        orders = [list_of(cell) or [] for cell in found.pop(name).tolist()]
        shown = list_names(sorted(map(str, known)))
        note = f"{name} contains the label set ({shown}) in every row: it is not the truth"
        vectors = [other for other, cells in found.items() if _is_vector(cells[:LOOKED_AT], len(known))]
        scored = [other for other in vectors if role(other) == "score"] or vectors
        if len(scored) == 1 and _is_vector(found[scored[0]], len(known)):
            rows = [_numbers_of(cell) for cell in found[scored[0]].tolist()]
            pairs = [dict(zip(map(str, o), v, strict=True)) for o, v in zip(orders, rows, strict=True)]
            found[scored[0]] = np.fromiter(pairs, dtype=object, count=len(pairs))
            note = f"{note}; it gives the order of {scored[0]}"
        notes.append(note)
    listed = {
        (name, other): best
        for name in found
        if name not in named and found[name].dtype == object and found[name].size and list_of(found[name][0])
        for other in found
        if name != other and (best := _best_first(found[name], found[other])) is not None
    }
    for (name, other), best in sorted(
        listed.items(), key=lambda one: _is_foreign((label for row in one[1] for label in row), plain)
    )[:1]:
        del found[name]
        found[other] = best
        notes.append(f"{name} lists the best labels of each row, {other} their scores")
    return found, tuple(notes)


def _is_foreign(labels: Iterable[str], columns: Iterable[Array]) -> bool:
    """Return whether none of the labels is a value of the columns."""
    return {str(cell) for values in columns for cell in values.tolist()}.isdisjoint(labels)


def _best_first(labels: Array, scores: Array) -> Array | None:
    """Return label to score in each row of two columns: the best labels, and their falling scores."""
    if labels.ndim != 1 or labels.dtype != object or len(labels) < _LISTS:
        return None
    pairs: list[dict[str, float]] = []
    for cell, other in zip(labels.tolist(), scores.tolist(), strict=True):
        names = list_of(cell) if isinstance(cell, str | list) else None
        numbers = _numbers_of(other)
        if not names or not numbers or len(names) != len(numbers) or not isinstance(names[0], str):
            return None
        if len(set(names)) < len(names) or sorted(numbers, reverse=True) != numbers:
            return None
        pairs.append(dict(zip(names, numbers, strict=True)))
    return np.fromiter(pairs, dtype=object, count=len(pairs)) if max(map(len, pairs)) > 1 else None


_LISTS = 5
"""Rows from which falling scores, as many as labels in each row, are scores of these labels."""
LOOKED_AT = 50
"""Rows that tell whether the others are looked at."""


def _is_vector(values: Array, width: int) -> bool:
    if values.ndim == 2:
        return bool(values.shape[1] == width and values.dtype.kind == "f")
    cells = values.tolist() if values.dtype == object else []
    return bool(cells) and all(len(_numbers_of(cell)) == width for cell in cells)


def _numbers_of(cell: Any) -> list[float]:
    row = _row(cell)
    return list(row.values()) if isinstance(row, _Places) else []


def parsed_lists(values: Array) -> Array:
    """Return a column of labels in which lists that were written as text are lists; others pass unchanged."""
    if values.ndim != 1 or values.dtype != object:
        return values
    first = next((cell for cell in values.tolist() if not is_gap(cell)), None)
    if not isinstance(first, str) or list_of(first) is None:
        return values
    cells = [None if is_gap(cell) else list_of(cell) for cell in values.tolist()]
    if any(cell is None and not is_gap(raw) for cell, raw in zip(cells, values.tolist(), strict=True)):
        return values
    return np.fromiter(cells, dtype=object, count=len(cells))


_DEPTH = 4


_MOST_FIELDS = 200
"""Most fields of a column of records that become columns."""


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
    return dict(field for name, values in columns.items() for field in _fields(name, values))


def _fields(name: str, values: Array, depth: int = _DEPTH) -> Iterator[tuple[str, Array]]:
    records = _records(values) if depth else None
    if records is None:
        yield name, values
    for key in list(dict.fromkeys(str(key) for record in records or () for key in record))[:_MOST_FIELDS]:
        cells = [record.get(key) for record in records or ()]
        yield from _fields(f"{name}.{key}", _array(cells), depth - 1)


def _records(values: Array) -> list[Mapping[Any, Any]] | None:
    """Return the cells of a column of records; None for other columns, and for scores by label."""
    if values.ndim != 1 or values.dtype != object:
        return None
    first = next((cell for cell in values if not is_gap(cell)), None)
    if not isinstance(_first_of_one(first), Mapping):
        return None
    cells = [_first_of_one(cell) for cell in values.tolist()]
    are_records = [isinstance(cell, Mapping) for cell in cells]
    if is_nested(values) and (isinstance(first, Mapping) or not all(are_records)):
        return None  # scores by label, unless each row lists its first label alone
    if not all(known or is_gap(cell) for known, cell in zip(are_records, cells, strict=True)):
        return None
    return [cell if known else {} for known, cell in zip(are_records, cells, strict=True)]


def _first_of_one(cell: Any) -> Any:
    return cell[0] if isinstance(cell, list | tuple) and len(cell) == 1 else cell


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
    changed = [name for name, values in columns.items() if found[name] is not values]
    lists = [*((name, columns[name]) for name in columns if name not in changed), *beside.items()]
    several = {label for name, values in lists for label in _labels_of_lists(name, values, named)}
    stay = {name: columns[name] for name in changed if several & {*found[name][:LOOKED_AT].tolist()}}
    return found | stay


def _labels_of_lists(name: str, values: Array, named: Collection[str]) -> set[Any]:
    """Return the labels of lists with several labels in a row, other than the label set."""
    if values.ndim != 1 or values.dtype != object:
        return set()
    rows = [list_of(cell) or [] for cell in values[:LOOKED_AT].tolist()]
    if max(map(len, rows), default=0) < 2 or (name not in named and label_set_of(values) is not None):
        return set()
    return {label for row in rows for label in row}


def _items(values: Array) -> Array:
    if values.ndim != 1 or values.dtype != object or len(values) < _ENOUGH:
        return values
    for some in (values[:LOOKED_AT], values):
        rows = [list_of(cell) or [] for cell in some.tolist()]
        if any(len(row) != 1 for row in rows):
            return values
    return _array([row[0] for row in rows])


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
