"""Reading a file for what was asked of it: the columns that may play a part, and no others."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from evalreport.columns.assign import roles_of_table
from evalreport.columns.column_request import Columns
from evalreport.columns.evidence import Profile, profiles_of
from evalreport.columns.join import rows_meant
from evalreport.columns.names import PRED, TRUTH, class_columns, column_selector, find_role_names
from evalreport.core.errors import DataError, EvalreportError, FileMissingError, UsageError
from evalreport.readers.content import Array, Content
from evalreport.readers.data_sets import DataSet, data_set, is_several, stack_parts
from evalreport.readers.formats import COMPARED_COLUMNS, RawTable, read_table
from evalreport.thresholds.objectives import CostMatrix

_LOOKED_AT = 100_000
"""Rows whose labels say which other columns are named after them."""
MOST_LABELS = 10_000
_FEW = 50
"""Columns up to which all are read where no name says which one is the truth."""


def read_requested_columns(
    source: Path | BinaryIO, request: Columns, *, format: str | None = None, name: str | None = None
) -> RawTable:
    """Read what may play a part in a file: by the names of columns, then by the labels found in them.

    The files of a folder or of a pattern are read as one table, whose columns are compared first.

    Raises
    ------
    FileMissingError, UsageError, DataError, UnsafeFileError
    """
    if isinstance(source, Path) and is_several(str(source)):
        return _read_parts(source, request, format=format, name=name)
    return read_table(
        source,
        format=format,
        columns=column_selector(request),
        name=name,
        further=named_after_labels(request),
        evident=chosen_by_sample(request),
    )


def _read_parts(folder: Path, request: Columns, *, format: str | None, name: str | None) -> RawTable:
    data = data_set([folder], format)
    wanted = {*column_selector(request)(data.names)}
    with suppress(EvalreportError):  # an unused column may contain anything
        wanted |= {*chosen_by_sample(request)(Content(data.names, data.sample(data.names)))}
    columns = _columns(data, wanted)
    more = {*named_after_labels(request)(Content(data.names, columns))} - columns.keys()
    if more:
        columns |= _columns(data, more)
    rows = len(next(iter(columns.values()), ()))
    if columns and not rows:
        raise data.without_rows()
    return RawTable(columns, rows, name or folder.name, data.sha256, data.format, data.names)


def _columns(data: DataSet, names: Collection[str]) -> dict[str, Array]:
    batches = [batch for *_, batch in data.batches(names)]
    return {name: stack_parts([batch[name] for batch in batches]) for name in data.names if name in names}


def chosen_by_sample(request: Columns) -> Callable[[Content], Collection[str]]:
    """Return the choice of columns by a sample of rows: those with a role, and those that may contradict it.

    Where the sample leaves a question, these are all columns: the same question is asked about all rows.
    """

    def find_columns(sample: Content) -> Collection[str]:
        rows = max((len(column) for column in sample.columns.values() if column.ndim), default=0)
        table = RawTable(sample.columns, rows, "", "", "", sample.names, sample.parts)
        with suppress(EvalreportError):
            table = rows_meant(table, request)[0]
        try:
            roles = roles_of_table(table, replace(request, where=()))
        except UsageError:
            return sample.names
        except EvalreportError:
            roles = None
        parts = () if roles is None else (roles.truth, roles.pred, roles.score)
        used = {_column_of(one, sample.names) for part in parts if part is not None for one in part.columns}
        used |= {roles.text} if roles is not None and roles.text is not None else set()
        like_labels = [name for name, one in profiles_of(table.columns).items() if _is_like_labels(one)]
        return used.union(like_labels if len(like_labels) <= COMPARED_COLUMNS else ())

    return find_columns


def _column_of(name: str, names: Sequence[str]) -> str:
    """Return the column of a file with a field of a record, or with a place in a list."""
    return next((one for one in names if name == one or name.startswith((f"{one}.", f"{one}["))), name)


_LONG = 100
"""Texts with more characters on average are too long for labels."""


def _is_like_labels(one: Profile) -> bool:
    if one.labels is None:
        return False
    return sum(len(str(value)) for value in one.labels.values) <= _LONG * max(1, len(one.labels))


def read_truth(source: Path, table: RawTable, request: Columns) -> RawTable:
    """Read the true labels from another file, joined by the id that the format may name."""
    return read_requested_columns(source, replace(request, id=request.id or table.parts.get("id")))


def named_after_labels(request: Columns) -> Callable[[Content], Collection[str]]:
    """Return the choice of columns once labels are known: those named after them, or all."""

    def find_label_columns(content: Content) -> Collection[str]:
        other_columns = [name for name in content.names if name not in content.columns]
        truth = (
            (request.truth,) if request.truth is not None else find_role_names("truth", content.names, TRUTH)
        )
        pred = (request.pred,) if request.pred else find_role_names("prediction", content.names, PRED)
        if not other_columns:
            return ()
        if not truth and pred and len(other_columns) <= _FEW:
            return other_columns
        if request.score or request.scores or request.no_scores:
            return ()
        labels = {label for name in (*truth, *pred) for label in _labels(content.columns.get(name)) if label}
        if len(labels) > MOST_LABELS:
            return ()
        return [
            name for columns in class_columns(other_columns, labels).values() for name in columns.values()
        ] + _similarly_named_columns(other_columns, labels)

    return find_label_columns


def _similarly_named_columns(names: list[str], labels: set[str]) -> list[str]:
    """Columns with the prefix and suffix of two known labels, for labels that were not seen yet."""
    found = class_columns(names, labels)
    return [
        name
        for before, after in found
        if before or after
        for name in names
        if name.startswith(before) and name.endswith(after)
    ]


def _labels(values: Array | None) -> set[str]:
    if values is None or values.ndim != 1:
        return set()
    some = values[:_LOOKED_AT].tolist()
    if values.dtype.kind == "f":
        return {str(int(value)) for value in some if value == value and value.is_integer()}  # noqa: PLR0124
    return {str(value) for value in some if isinstance(value, (str, int))}


MOST = 64 * 1024**2
"""Bytes of a file of costs."""
_FORM = "CSV: first line `truth,LABEL,LABEL,…`, then a line per true label; or JSON {truth: {answer: cost}}"


def read_costs(path: Path, labels: Sequence[str]) -> CostMatrix:
    r"""Return the costs of a file in the order of the labels.

    Parameters
    ----------
    path : Path
        CSV with the answers in its first line and the true label at the start of each other, or JSON: an
        object of objects by label, or a list of rows in the order of the labels.
    labels : sequence of str

    Raises
    ------
    FileMissingError
        No such file.
    DataError
        A label too many or too few, a cell that is not a number, or a file that cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "costs.csv"
    ...     _ = file.write_text("truth,b,a\na,5,0\nb,0,1\n")
    ...     read_costs(file, ["a", "b"]).array.tolist()
    [[0.0, 5.0], [1.0, 0.0]]
    """
    if not os.path.isfile(path):
        raise FileMissingError(f"no such file: {path}", where="--cost", fix="check the path")
    if path.stat().st_size > MOST:
        raise DataError(f"{path.name} is too large for costs", where="--cost", fix=_FORM)
    try:
        text = path.read_text(encoding="utf-8-sig")
        cells = _json(text) if path.suffix == ".json" else _csv(text)
        if isinstance(cells, list):
            return CostMatrix(cells)
        _check(cells, labels, path)
        return CostMatrix([[float(cells[true][answer]) for answer in labels] for true in labels])
    except (ValueError, TypeError, KeyError, AttributeError, csv.Error, RecursionError) as error:
        raise DataError(
            f"{path.name} does not contain costs: {type(error).__name__}: {error}", where="--cost", fix=_FORM
        ) from None


def _json(text: str) -> dict[str, dict[str, Any]] | list[Any]:
    found = json.loads(text)
    if isinstance(found, list):
        return found
    return {str(true): {str(answer): cost for answer, cost in row.items()} for true, row in found.items()}


def _csv(text: str) -> dict[str, dict[str, Any]]:
    head, *rows = [row for row in csv.reader(text.splitlines()) if row]
    names = [name.strip() for name in head[1:]]
    return {row[0].strip(): dict(zip(names, row[1:], strict=True)) for row in rows}


def _check(cells: dict[str, dict[str, Any]], labels: Sequence[str], path: Path) -> None:
    for what, named in (("true label", list(cells)), ("answer", list(next(iter(cells.values()), {})))):
        missing, strange = sorted(set(labels) - set(named)), sorted(set(named) - set(labels))
        if missing or strange:
            which = f"lacks the {what} {missing[0]!r}" if missing else f"has an unknown {what} {strange[0]!r}"
            raise DataError(
                f"{path.name} {which}", where="--cost", fix=f"labels are: {', '.join(labels[:20])}"
            )
