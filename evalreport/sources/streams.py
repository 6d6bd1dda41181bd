"""Predictions from files as a stream of validated batches, through the same front door as a whole file.

What a file means is settled before the first batch is counted: by the names of its columns, by its head,
and by a pass over the labels alone. A batch is then read without a guess.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.answers import answers_of, with_gaps
from evalreport.cells import ids_as_text
from evalreport.errors import EvalreportError, UsageError
from evalreport.labels import LabelSpace
from evalreport.predictions import Predictions, predictions
from evalreport.scores import NoScores, Scores
from evalreport.sources.columns import Found, find, scores_of
from evalreport.sources.datasets import DataSet
from evalreport.sources.readers.batches import Batch
from evalreport.sources.readers.content import in_file
from evalreport.sources.request import Columns
from evalreport.sources.shapes.join import Rows, check_ids
from evalreport.sources.shapes.layout import raw_scores
from evalreport.sources.shapes.roles import Part
from evalreport.sources.shapes.single import named_like, scores_in_order
from evalreport.sources.shapes.spaces import harmonised, labels_of
from evalreport.sources.shapes.subsets import rows_where, taken_rows
from evalreport.sources.shapes.unfold import matrix_of
from evalreport.sources.tables import RawTable

MEMORY = "--engine memory"
ROW = re.compile(r"\brow (\d+)")


@dataclass(frozen=True, eq=False)
class PredictionStream:
    """Predictions that come batch by batch.

    Parameters
    ----------
    data : DataSet
    request : Columns
        What was said, with what was found.
    found : Found
        What the head of the data was taken for.
    truth : str
    pred : str or None
    score : Part or None
    columns : tuple of str
        What is read.
    read : list of int
        Rows of each batch that was read last, those included that `--where` leaves out.
    """

    data: DataSet
    request: Columns
    found: Found
    truth: str
    pred: str | None
    score: Part | None
    columns: tuple[str, ...]
    read: list[int] = field(default_factory=list)

    @property
    def space(self) -> LabelSpace:
        """The labels, found or declared before a row is counted."""
        return self.found.space

    def notes(self, counted: int) -> tuple[str, ...]:
        """Return what was assumed of the rows that were counted, and what a stream does not look for."""
        told = [*self.found.notes]
        if self.request.where:
            shown = " and ".join(self.request.where)
            told.insert(0, f"{counted:,} of {sum(self.read):,} rows, those where {shown}")
        if self.request.id is not None:
            told.append("ids that stand twice are not looked for in a stream")
        return tuple(told)

    def batches(self) -> Iterator[tuple[Predictions, npt.NDArray[Any] | None]]:
        """Yield validated batches with the ids of their rows.

        Raises
        ------
        DataError
            As of the same rows in a file of their own, with the row counted from the file's first.
        """
        rows = 0
        self.read.clear()
        for batch in self.some_batches():
            yield batch
            rows += len(batch[0])
        self.check_any(rows)

    def some_batches(self) -> Iterator[tuple[Predictions, npt.NDArray[Any] | None]]:
        """Yield validated batches of a part of the data, which may hold no row."""
        for path, before, batch in self.data.batches(self.columns):
            with in_file(str(path)), CountedFrom(before):
                whole = table_of(batch, path, self.data)
                table = kept_rows(whole, self.request)
                if table.n:
                    yield self._predictions(table)
            self.read.append(whole.n)

    def check_any(self, rows: int) -> None:
        """Refuse data of which no row was counted.

        Raises
        ------
        DataError
        """
        if not rows:
            raise self.data.without_rows(self.request.where)

    def _predictions(self, table: RawTable) -> tuple[Predictions, npt.NDArray[Any] | None]:
        columns, request = table.columns, self.request
        y_true, y_pred = labels_of(columns[self.truth], self.truth), None
        if self.pred is not None:
            values, lost = answers_of(columns[self.pred], self.pred, request.missing)
            y_pred = labels_of(values, self.pred)
            y_true, y_pred = harmonised(y_true, y_pred)
            y_pred = with_gaps(y_pred, lost)
        ids = None
        if request.id is not None:
            ids = _ids(columns[request.id], request.id)
        rows = predictions(
            self.space,
            y_true,
            y_pred,
            self._scores(table),
            slices={name: columns[name] for name in request.slices},
            missing=request.missing,
        )
        return rows, ids

    def _scores(self, table: RawTable) -> Scores:
        if self.score is None:
            return NoScores()
        columns = self._unfolded(table)
        rows = Rows(columns, columns, table.names, table.n, None)
        raw = raw_scores(rows, self.score, self.found.score_kind)
        values, _ = scores_in_order(
            named_like(replace(raw, labels=self.score.labels), self.space), self.space
        )
        return scores_of(replace(self.found, scores=values))

    def _unfolded(self, table: RawTable) -> Mapping[str, npt.NDArray[Any]]:
        """The columns with lists of scores as one column each; what a row does not score is 0."""
        names = () if self.score is None else self.score.columns
        nested = {column_of(name, table.columns.keys()) for name in names} - {*names}
        if not nested:
            return table.columns
        columns = dict(table.columns)
        for name in nested:
            parts = matrix_of(columns[name], name)
            new = [label for label in parts if f"{name}[{label}]" not in names]
            if new:
                raise refused(f"{name} scores {new[0]!r} for the first time", "the scores (--no-scores)")
            columns |= {f"{name}[{label}]": part for label, part in parts.items()}
        return {**dict.fromkeys(names, np.zeros(table.n)), **columns}


class LabelsStream(PredictionStream):
    """Predictions of several labels per row that come batch by batch; each is read as a table of its own."""

    def _predictions(self, table: RawTable) -> tuple[Predictions, npt.NDArray[Any] | None]:
        found, request = find(table, replace(self.request, where=()), whole=False), self.request
        ids = None if request.id is None else _ids(table.columns[request.id], request.id)
        rows = predictions(
            self.space,
            found.y_true,
            found.y_pred,
            scores_of(found),
            slices={name: table.columns[name] for name in request.slices},
            missing=request.missing,
        )
        return rows, ids


def _ids(values: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Return checked ids, which are shown as they are when all rows are read at once."""
    check_ids(values, name)
    return values if values.dtype.kind in "iu" else ids_as_text(values)


def column_of(name: str, names: Collection[str]) -> str:
    """The column of a file that scores stand in: one of its own, or one of lists that hold them.

    Examples
    --------
    >>> column_of("p_spam", ["y_true", "p_spam"]), column_of("proba[1]", ["y_true", "proba"])
    ('p_spam', 'proba')
    """
    return name if name in names else name.rpartition("[")[0]


def refused(what: str, leave: str) -> UsageError:
    """Return the error of what a stream cannot do, with the option that can."""
    fix = f"pass {MEMORY}" + (f", or leave {leave} out" if leave else "")
    return UsageError(f"{what}: a stream cannot hold them", where="--engine stream", fix=fix)


def table_of(batch: Batch, path: Path, data: DataSet) -> RawTable:
    """Return a batch of a file as a table of its own."""
    size = len(next(iter(batch.values())))
    return RawTable(batch, size, str(path), "", data.format, data.names)


def kept_rows(table: RawTable, request: Columns) -> RawTable:
    """Return the rows that `--where` keeps."""
    if not request.where:
        return table
    found = rows_where(table, request.where)
    return taken_rows(table, np.logical_and.reduce(list(found.values())))


class CountedFrom:
    """Count the rows that an error names from the beginning of the file."""

    def __init__(self, before: int) -> None:
        self.before = before

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self.before and isinstance(error, EvalreportError):
            message, where = (
                ROW.sub(lambda found: f"row {int(found[1]) + self.before}", text)
                for text in (error.message, error.where)
            )
            raise type(error)(message, where=where, fix=error.fix) from error
