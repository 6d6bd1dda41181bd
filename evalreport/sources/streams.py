"""Predictions from files as a stream of validated batches, through the same front door as a whole file.

What a file means is settled before the first batch is counted: by the names of its columns, by its head,
and by a pass over the labels alone. A batch is then read without a guess.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.answers import answers_of, with_gaps
from evalreport.errors import DataError, EvalreportError, UsageError
from evalreport.labels import Label, LabelSpace, Multilabel, distinct_labels
from evalreport.predictions import Predictions, predictions
from evalreport.scores import Decisions, Logits, NoScores, Probabilities, Scores
from evalreport.sources.columns import Found, find
from evalreport.sources.datasets import DataSet
from evalreport.sources.readers.batches import Batch
from evalreport.sources.readers.content import Content, in_file
from evalreport.sources.reading import named_after_labels
from evalreport.sources.request import Columns
from evalreport.sources.shapes.given import in_label_order
from evalreport.sources.shapes.join import Rows, check_ids
from evalreport.sources.shapes.layout import raw_scores
from evalreport.sources.shapes.naming import FOLDS, SPLITS, is_confidence
from evalreport.sources.shapes.nested import matrix_of
from evalreport.sources.shapes.roles import Part, pred_part, wanted
from evalreport.sources.shapes.scoring import score_part
from evalreport.sources.shapes.single import named_like, scores_in_order
from evalreport.sources.shapes.spaces import check_count, harmonised, labels_of, like
from evalreport.sources.shapes.spelling import one_spelling
from evalreport.sources.shapes.subsets import rows_where, taken_rows
from evalreport.sources.shapes.unfold import truth_of, unfolded
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
            with in_file(str(path)), _CountedFrom(before):
                whole = _table(batch, path, self.data)
                table = _kept(whole, self.request)
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
            clauses = " and ".join(self.request.where)
            raise DataError(
                f"no row is left: {clauses}" if clauses else "the files hold no rows",
                where=str(self.data.files[0]),
                fix="check --where, or the program that wrote them",
            )

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
            ids = columns[request.id]
            check_ids(ids, request.id)
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
        match self.found.score_kind:
            case "logit":
                return Logits(values)
            case "decision":
                return Decisions(values)
            case _:
                return Probabilities(values)

    def _unfolded(self, table: RawTable) -> Mapping[str, npt.NDArray[Any]]:
        """The columns with lists of scores as one column each; what a row does not score is 0."""
        names = () if self.score is None else self.score.columns
        nested = {_column_of(name, table.columns.keys()) for name in names} - {*names}
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


def open_stream(data: DataSet, request: Columns) -> PredictionStream:
    """Settle what the columns of some files mean.

    Parameters
    ----------
    data : DataSet
    request : Columns
        What was said about the columns.

    Raises
    ------
    UsageError
        What needs all rows at once; says which option helps.
    ColumnNotFoundError, DataError
        As of a file that is read as a whole.
    """
    _refuse(request)
    read = _without(list(wanted(request)(data.names)), request)
    head = _head(data.settled(read), read, request)
    more = named_after_labels(request)(Content(data.names, head.columns))
    if more:
        read = _without([name for name in data.names if name in {*read, *more}], request)
        head = _head(data.settled(read), read, request)
    truth, pred = _labelled(head, request)
    labels, told = _distinct(data, truth, pred, request), request
    fractions = pred is not None and request.score is None and _is_score(head, pred)
    if fractions:
        told, pred = replace(request, score=pred), None
    used = (truth, *(() if pred is None else (pred,)))
    part = _scored(head, told, labels, used)
    if request.labels is None and _lacks(head, truth, pred, labels):
        scored = (
            () if part is None else (like(label, labels, "score column for label") for label in part.labels)
        )
        told = replace(told, labels=tuple(sorted({*labels, *scored})))
    found = find(head, replace(told, where=()))
    _refuse_found(found, head, told, pred)
    part = part if found.scores is not None else None
    ids = dict(found.taken).get("id")
    scores = () if part is None else (_column_of(name, data.names) for name in part.columns)
    columns = dict.fromkeys((*used, *scores, *told.slices, *_filters(told)))
    if ids is not None:
        columns[ids] = None
    named = replace(told, id=ids, truth=truth, pred=pred)
    return PredictionStream(data, named, found, truth, pred, part, tuple(columns))


def _scored(head: RawTable, request: Columns, labels: Sequence[Label], used: tuple[str, ...]) -> Part | None:
    """The columns of the scores, each named after its label: numbered ones in the order of the labels."""
    table, named, _ = unfolded(head, request)
    known = {str(label) for label in labels}
    part = score_part(table.columns, table.names, named, known, head.name, taken=used)
    if part is None or not part.labels:
        return part
    values = np.column_stack([table.columns[name] for name in part.columns])
    answers = None
    if len(used) > 1:
        answers = labels_of(answers_of(table.columns[used[1]], used[1], "wrong")[0], used[1])
    declared = request.labels is not None
    return in_label_order(part, request.labels or labels, values, answers, declared=declared)[0]


def _column_of(name: str, names: Collection[str]) -> str:
    """The column of a file that scores stand in: one of its own, or one of lists that hold them."""
    return name if name in names else name.rpartition("[")[0]


def refused(what: str, leave: str) -> UsageError:
    """Return the error of what a stream cannot do, with the option that can."""
    fix = f"pass {MEMORY}" + (f", or leave {leave} out" if leave else "")
    return UsageError(f"{what}: a stream cannot hold them", where="--engine stream", fix=fix)


def _refuse(request: Columns) -> None:
    """Refuse what needs all rows."""
    for given, what, option in (
        (request.group, "intervals by cluster need all rows", "--group"),
        (request.fold, "folds are evaluated one by one and need all rows", "--fold"),
        (request.weight, "weighted rows need all weights", "--weight"),
        (request.example_text, "example texts need all rows", "--example-text"),
        (request.text, "generated answers are read from all rows", "--text"),
    ):
        if given:
            raise refused(what, option)


def _refuse_found(found: Found, head: RawTable, request: Columns, pred: str | None) -> None:
    """Refuse what only the data showed to need all rows."""
    if isinstance(found.space, Multilabel):
        raise refused("several labels per row", "")
    if found.text is not None:
        raise refused("generated answers are read from all rows", "")
    if found.weights is not None:
        raise refused("weighted rows need all weights", "")
    named = [name for name in head.names if name.lower() in SPLITS and name not in request.named]
    if named and not request.where:
        raise UsageError(
            f"column {named[0]!r} may tell parts of the data apart, and a stream does not choose one",
            where=head.source,
            fix=f'say which rows are meant, as in --where "{named[0]}=test"',
        )
    score = dict(found.taken).get("score")
    if pred is not None and score is not None and found.score_kind == "probability":
        given = any("is the confidence of the given answer" in note for note in found.notes)
        if given or (is_confidence(score) and request.score is None):
            raise refused(f"{score} is the confidence of the given answer", "the scores (--no-scores)")


def _without(names: Sequence[str], request: Columns) -> tuple[str, ...]:
    """Leave out columns of folds that were not named."""
    spare = {*FOLDS} - {*request.named}
    return tuple(name for name in names if name.lower() not in spare)


def _head(data: DataSet, read: Sequence[str], request: Columns) -> RawTable:
    for path, _, batch in data.first_batches(read):
        with in_file(str(path)):
            table = _kept(_table(batch, path, data), request)
        if table.n:
            return table
    raise DataError(
        "no row is left" if request.where else "the files hold no rows",
        where=str(data.files[0]),
        fix="check --where, or the program that wrote them",
    )


def _table(batch: Batch, path: Path, data: DataSet) -> RawTable:
    size = len(next(iter(batch.values())))
    return RawTable(batch, size, str(path), "", data.format, data.names)


def _kept(table: RawTable, request: Columns) -> RawTable:
    if not request.where:
        return table
    found = rows_where(table, request.where)
    return taken_rows(table, np.logical_and.reduce(list(found.values())))


def _filters(request: Columns) -> tuple[str, ...]:
    return tuple(clause.partition("=")[0].strip() for clause in request.where)


def _labelled(head: RawTable, request: Columns) -> tuple[str, str | None]:
    part, _ = truth_of(head, request)
    pred = pred_part(head.names, request, part, head.name)
    if part.labels or (pred is not None and pred.labels):
        raise refused("several labels per row", "")
    return part.columns[0], None if pred is None else pred.columns[0]


def _distinct(data: DataSet, truth: str, pred: str | None, request: Columns) -> tuple[Label, ...]:
    """The labels of all rows, by a pass over their columns alone; two spellings are refused."""
    if request.labels is not None and pred is None:
        return request.labels
    found: dict[str, set[Label]] = {}
    names = [truth, *([] if pred is None else [pred])]
    for path, before, batch in data.distinct((*names, *_filters(request))):
        with in_file(str(path)), _CountedFrom(before):
            table = _kept(_table(batch, path, data), request)
            for name in names if table.n else ():
                values = table.columns[name]
                if name == pred and not _is_labels(values):
                    continue
                filled = answers_of(values, name, request.missing)[0] if name == pred else values
                known = found.setdefault(name, set())
                given = labels_of(filled, name)
                if known and given.dtype.kind in "bi":  # to look for others costs less than to sort
                    given = given[~np.isin(given, list(known))]
                known.update(distinct_labels(given))
                check_count(known)
    if len(found) > 1:
        right, told = (np.array(sorted(found[name])) for name in names)
        if one_spelling(right, told)[1]:
            raise refused(f"{truth} and {pred} spell their labels in two ways", "")
    return tuple(sorted(set().union(*found.values())))


def _is_labels(values: npt.NDArray[Any]) -> bool:
    return not (values.dtype.kind == "f" and (np.isfinite(values) & (values != np.rint(values))).any())


def _is_score(head: RawTable, pred: str) -> bool:
    return not _is_labels(head.columns[pred])


def _lacks(head: RawTable, truth: str, pred: str | None, labels: Sequence[Label]) -> bool:
    """Whether the head alone would be taken for a problem of fewer labels."""
    columns = [labels_of(head.columns[truth], truth)]
    if pred is not None:
        columns.append(labels_of(answers_of(head.columns[pred], pred, "wrong")[0], pred))
    return set(distinct_labels(*columns)) != set(labels)


class _CountedFrom:
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
