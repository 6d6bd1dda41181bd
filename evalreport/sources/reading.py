"""Reading a file for what was asked of it: the columns that may play a part, and no others."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from evalreport.sources.readers.arrow import Array
from evalreport.sources.readers.content import Content
from evalreport.sources.request import Columns
from evalreport.sources.shapes.families import class_columns
from evalreport.sources.shapes.naming import named_as
from evalreport.sources.shapes.roles import PRED, TRUTH, wanted
from evalreport.sources.tables import RawTable, read_table

_LOOKED_AT = 100_000
"""Rows whose labels say which other columns are named after them."""
MOST_LABELS = 10_000
_FEW = 50
"""Columns up to which all are read where no name says which one is the truth."""


def read_for(
    source: Path | BinaryIO, request: Columns, *, format: str | None = None, name: str | None = None
) -> RawTable:
    """Read what may play a part in a file: by the names of columns, then by the labels found in them.

    Raises
    ------
    FileMissingError, UsageError, DataError, UnsafeFileError
    """
    return read_table(
        source, format=format, columns=wanted(request), name=name, further=named_after_labels(request)
    )


def read_truth(source: Path, table: RawTable, request: Columns) -> RawTable:
    """Read the truth of predictions that lie elsewhere, joined by the id that their own format may name."""
    return read_for(source, replace(request, id=request.id or table.parts.get("id")))


def named_after_labels(request: Columns) -> Callable[[Content], Collection[str]]:
    """Return the choice of columns once labels are known: those named after them, or all."""

    def further(content: Content) -> Collection[str]:
        unread = [name for name in content.names if name not in content.columns]
        truth = (request.truth,) if request.truth else named_as("truth", content.names, TRUTH)
        pred = (request.pred,) if request.pred else named_as("prediction", content.names, PRED)
        if not unread:
            return ()
        if not truth and pred and len(unread) <= _FEW:
            return unread
        if request.score or request.scores or request.no_scores:
            return ()
        labels = {label for name in (*truth, *pred) for label in _labels(content.columns.get(name)) if label}
        if len(labels) > MOST_LABELS:
            return ()
        return [
            name for columns in class_columns(unread, labels).values() for name in columns.values()
        ] + _alike(unread, labels)

    return further


def _alike(names: list[str], labels: set[str]) -> list[str]:
    """Columns round which the same stands as round two labels, for labels that were not seen yet."""
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
