"""Predictions from files as a stream of validated batches, through the same front door as a whole file.

What a file means is settled before the first batch is counted: by the names of its columns, by its head,
and by a pass over the labels alone. A batch is then read without a guess.

What the columns of a data set mean, settled before a row is counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalreport.columns.assign import raw_scores, roles_of_table
from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import Found, find, plain_columns, scores_of
from evalreport.columns.graded import refuse_grade
from evalreport.columns.join import Rows, check_ids, rows_where, taken_rows, tells_annotations
from evalreport.columns.label_pairs import Coded, cast_label, harmonise_labels, one_spelling
from evalreport.columns.names import FOLDS, SPLITS, Part, Roles, column_selector, is_confidence, is_like_score
from evalreport.columns.nested import are_fractions, matrix_of
from evalreport.columns.plausible import MOST_EVALUATIONS, refuse_label_sets
from evalreport.columns.read_labels import (
    align_label_names,
    check_count,
    in_label_order,
    is_multilabel,
    labels_of,
    lists_of,
    scores_in_order,
)
from evalreport.core.errors import ColumnNotFoundError, DataError, EvalreportError, NoTableError, UsageError
from evalreport.data.arrays import MOST_VALUES, has_many_numbers, ids_as_text, reads_as_number
from evalreport.data.labels import Label, LabelSpace, distinct_labels
from evalreport.data.predictions import Predictions, answers_of, predictions, with_gaps
from evalreport.data.scores import NoScores, Scores
from evalreport.readers.content import Content, in_file
from evalreport.readers.data_sets import Batch, DataSet
from evalreport.readers.formats import RawTable, is_large
from evalreport.readers.read import named_after_labels
from evalreport.workflow.request import MEMORY

ROW = re.compile(r"\brow (\d+)")


class StreamBatch(NamedTuple):
    """Validated predictions, the ids of their rows, and the columns that may separate evaluations."""

    rows: Predictions
    ids: npt.NDArray[Any] | None
    beside: Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class PredictionStream:
    """Predictions that come batch by batch.

    Parameters
    ----------
    data : DataSet
    request : Columns
        What was said, with what was found.
    found : Found
        The column mapping of the head of the data.
    truth : str
    pred : str or None
    score : Part or None
    columns : tuple of str
        What is read.
    beside : tuple of str
        Columns of few values that may separate several evaluations; they are read as well.
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
    beside: tuple[str, ...] = ()
    roles: Roles | None = None
    read: list[int] = field(default_factory=list)

    @property
    def space(self) -> LabelSpace:
        """The labels, found or declared before a row is counted."""
        return self.found.space

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        return tuple(dict.fromkeys((*self.columns, *self.beside)))

    def notes(self, counted: int) -> tuple[str, ...]:
        """Return what was assumed of the rows that were counted, and what a stream does not look for."""
        notes = [*self.found.notes]
        if self.request.where:
            shown = " and ".join(self.request.where)
            notes.insert(0, f"{counted:,} of {sum(self.read):,} rows, those where {shown}")
        if self.request.id is not None:
            notes.append("ids that stand twice are not looked for in a stream")
        return tuple(notes)

    def batches(self) -> Iterator[StreamBatch]:
        """Yield validated batches.

        Raises
        ------
        DataError
            As of the same rows in a file of their own, with the row counted from the file's first.
        """
        rows = 0
        self.read.clear()
        for batch in self.some_batches():
            yield batch
            rows += len(batch.rows)
        self.check_any(rows)

    def some_batches(self) -> Iterator[StreamBatch]:
        """Yield validated batches of a part of the data, which may have no rows."""
        for path, before, batch in self.data.batches(self.names):
            with in_file(str(path)), CountedFrom(before):
                whole = table_of(batch, path, self.data)
                table = kept_rows(whole, self.request)
                if table.n:
                    beside = {name: table.columns[name] for name in self.beside}
                    yield StreamBatch(*self._predictions(table), beside)
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
            y_true, y_pred = harmonise_labels(y_true, y_pred)
            y_pred = with_gaps(y_pred, lost)
        ids = None
        if request.id is not None:
            ids = _ids(columns[request.id], request.id)
        rows = predictions(
            self.space,
            y_true,
            y_pred,
            self._scores(table),
            slices=self._slices(table),
            missing=request.missing,
        )
        return rows, ids

    def _slices(self, table: RawTable) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of slices; quantile bins of a numeric one need all rows."""
        columns = {name: table.columns[name] for name in self.request.slices}
        for name, values in columns.items() if self.request.slice_bins else ():
            if has_many_numbers(values):
                raise UsageError(
                    f"the quantile bins of {name} need all rows: it has over {MOST_VALUES} different numbers",
                    where=f"--slice {name}",
                    fix=f"pass {MEMORY}, or --set slice_bins=0 for a slice of each value",
                )
        return columns

    def _scores(self, table: RawTable) -> Scores:
        if self.score is None:
            return NoScores()
        columns = self._unfold_columns(table)
        rows = Rows(columns, columns, table.names, table.n, None)
        raw = raw_scores(rows, self.score, self.found.score_kind)
        values, _ = scores_in_order(
            align_label_names(replace(raw, labels=self.score.labels), self.space), self.space
        )
        return scores_of(replace(self.found, scores=values))

    def _unfold_columns(self, table: RawTable) -> Mapping[str, npt.NDArray[Any]]:
        """The columns with lists of scores as one column each; what a row does not score is 0."""
        names = () if self.score is None else self.score.columns
        nested = {column_of(name, table.columns.keys()) for name in names} - {*names}
        if not nested:
            return table.columns
        columns = dict(table.columns)
        for name in nested:
            parts = matrix_of(columns[name], name)
            known = [one for one in names if column_of(one, table.columns.keys()) == name]
            if [*parts] == [str(place) for place in range(len(known))]:  # a list: its order names the labels
                columns |= dict(zip(known, parts.values(), strict=True))
                continue
            new = [label for label in parts if f"{name}[{label}]" not in names]
            if new:
                raise stream_unsupported_error(
                    f"{name} scores {new[0]!r} for the first time", "the scores (--set no_scores)"
                )
            columns |= {f"{name}[{label}]": part for label, part in parts.items()}
        return {**dict.fromkeys(names, np.zeros(table.n)), **columns}


class LabelsStream(PredictionStream):
    """Multilabel predictions in batches; each batch is read as a separate table."""

    def _predictions(self, table: RawTable) -> tuple[Predictions, npt.NDArray[Any] | None]:
        request = self.request
        found = find(table, replace(request, where=()), whole=False, roles=self.roles)
        ids = None if request.id is None else _ids(table.columns[request.id], request.id)
        rows = predictions(
            self.space,
            found.y_true,
            found.y_pred,
            scores_of(found),
            slices=self._slices(table),
            missing=request.missing,
        )
        return rows, ids


def _ids(values: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Return checked ids, which are shown as they are when all rows are read at once."""
    check_ids(values, name)
    return values if values.dtype.kind in "iu" else ids_as_text(values)


def column_of(name: str, names: Collection[str]) -> str:
    """The column of a file with the scores: a separate one, or a column of lists.

    Examples
    --------
    >>> column_of("p_spam", ["y_true", "p_spam"]), column_of("proba[1]", ["y_true", "proba"])
    ('p_spam', 'proba')
    """
    return name if name in names else name.rpartition("[")[0]


def stream_unsupported_error(what: str, leave: str) -> UsageError:
    """Return the error of what a stream cannot do, with the option that can."""
    fix = f"pass {MEMORY}" + (f", or leave {leave} out" if leave else "")
    return UsageError(f"{what}: too many for a stream", where="--set engine=stream", fix=fix)


def table_of(batch: Batch, path: Path, data: DataSet) -> RawTable:
    """Return a batch of a file as a separate table."""
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


TEXT = re.compile("column '(.+)' holds text, not numbers")
"""The error for a column of scores with cells that are not numbers."""


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
    try:
        stream = _open_stream(data, request)
    except (ColumnNotFoundError, NoTableError):
        read = list(column_selector(request)(data.names))
        refuse_grade(_as_one(_head(data.settle_columns(read), read, request)), request)
        raise
    except DataError as error:
        text = TEXT.match(error.message)
        if text is None or data.opened[0].settle is None:
            raise
        raise _first_text(data, text[1], error) from error
    return replace(stream, beside=_separating(stream, request))


def _separating(stream: PredictionStream, request: Columns) -> tuple[str, ...]:
    """Return the columns that may separate several evaluations in one stream, by its first rows.

    These are columns without a role that are constant there or change seldom; with ids, text columns of
    few values as well.
    """
    data = stream.data
    parts = {stream.truth, stream.pred, stream.request.id, *stream.request.slices}
    parts |= {*stream.columns} - {*request.filtered_columns}
    kinds = data.opened[0].kinds
    names = [name for name in data.names if name not in parts and not is_like_score(name)]
    names = [name for name in names if kinds.get(name, "text").removeprefix("u").startswith(FEW_VALUED)]
    with suppress(EvalreportError):  # a column that is not needed is not an error
        batch = data.preview(names[:MOST_PREVIEWED]) if names else {}
        coded = {name: found for name in names if name in batch and (found := Coded.from_column(batch[name]))}
        few = {name: one for name, one in coded.items() if len(one) <= MOST_EVALUATIONS}
        runs = {name: int(np.count_nonzero(np.diff(one.codes))) for name, one in few.items()}
        seldom = [name for name, one in few.items() if runs[name] < len(one)]
        texts = [name for name, one in few.items() if isinstance(one.values[0], str) and len(one) > 1]
        more = [] if stream.request.id is None else [name for name in texts if name not in seldom]
        return (*seldom, *more)[:MOST_BESIDE]
    return ()


FEW_VALUED = ("text", "string", "bool", "int")
"""Types of columns that may separate evaluations."""
MOST_PREVIEWED = 200
"""Columns that are looked at to see whether they may."""
MOST_BESIDE = 4
"""Columns that are read because they may."""


def _first_text(data: DataSet, name: str, error: DataError) -> DataError:
    """The error of a column that is text for a cell far behind the head, in which all are numbers."""
    for path, before, batch in data.batches([name]):
        for row, cell in enumerate(batch[name].tolist() if name in batch else ()):
            if cell is not None and not reads_as_number(cell):
                where = f"{path}, column {name!r}, first: row {before + row}, {cell[:80]!r}"
                return DataError(error.message, where=where, fix=error.fix)
    return error


def _first_rows(data: DataSet, request: Columns, sample: RawTable | None) -> Sequence[RawTable]:
    """Return the first batches with the columns that may have a role: all of them where that costs little."""
    if data.opened[0].settle is None and not is_large(0, len(data.names)):
        try:
            read = _drop_folds(list(data.names), request)
            return _head(data.settle_columns(read), read, request)
        except EvalreportError:  # a column without a role may contain anything
            pass
    chosen = {*column_selector(request)(data.names), *_columns_with_roles(data, request, sample)}
    read = _drop_folds([name for name in data.names if name in chosen], request)
    head = _head(data.settle_columns(read), read, request)
    more = named_after_labels(request)(Content(data.names, _as_one(head).columns))
    if more:
        read = _drop_folds([name for name in data.names if name in {*read, *more}], request)
        head = _head(data.settle_columns(read), read, request)
    return head


def _columns_with_roles(data: DataSet, request: Columns, sample: RawTable | None) -> Collection[str]:
    """Return the columns to which a sample of rows gives a role: all columns where these leave a question.

    The types of a CSV are settled by a pass over its columns, so that others are not read.
    """
    try:
        roles = None if sample is None else roles_of_table(sample, request)
    except UsageError:
        return _drop_folds(list(data.names), request)
    except EvalreportError:
        return ()
    parts = () if roles is None else (roles.truth, roles.pred, roles.score)
    return {column_of(name, data.names) for part in parts if part is not None for name in part.columns}


def _sample(data: DataSet, request: Columns) -> RawTable | None:
    """Return rows of several places of the data with all columns; None without such rows."""
    with suppress(DataError, ColumnNotFoundError):  # reported with its place, where all rows are read
        batch = data.sample(_drop_folds(list(data.names), request))
        if batch and (table := kept_rows(table_of(batch, data.files[0], data), request)).n:
            return table
    return None


@contextmanager
def _in_part(parts: Sequence[RawTable]) -> Iterator[None]:
    """Name the file and its row in errors about a row of several files that were read as one table."""
    source = _as_one(parts).source
    try:
        yield
    except EvalreportError as error:
        found = ROW.search(error.where)
        if source == parts[0].source or found is None or not error.where.startswith(source):
            raise
        ends = np.cumsum([part.n for part in parts])
        place = int(np.searchsorted(ends, int(found[1]), side="right"))
        file = parts[place].source
        where = file + error.where.removeprefix(source)
        with CountedFrom(-sum(part.n for part in parts[:place] if part.source != file)):
            raise type(error)(error.message, where=where, fix=error.fix) from error


def _open_stream(data: DataSet, request: Columns) -> PredictionStream:
    _refuse(request)
    sample = _sample(data, request)
    parts = _first_rows(data, request, sample)
    with _in_part(parts):
        return _settle(data, _as_one(parts), request, sample)


def _settle(data: DataSet, head: RawTable, request: Columns, sample: RawTable | None) -> PredictionStream:
    """Settle what the columns mean by the first rows, and their labels by all rows."""
    with in_file(head.source):
        some = head if sample is None or not head.columns.keys() <= sample.columns.keys() else sample
        roles = roles_of_table(
            replace(some, columns={name: some.columns[name] for name in head.columns}, names=head.names),
            request,
        )
        _refuse_fields(roles, data.names)
        several = is_multilabel(head.columns, roles.truth, request)
        truth, pred = ("", None) if several else _find_label_columns(roles)
    if several:
        return _of_labels(data, head, roles, request)
    labels, resolved = _distinct(data, truth, pred, request), request
    if pred is not None and request.score is None and are_fractions(head.columns[pred]):
        resolved, pred = replace(request, score=pred), None
        roles = replace(roles, pred=None, score=Part((resolved.score or "",)))
    used = (truth, *(() if pred is None else (pred,)))
    with in_file(head.source):
        part = _find_score_part(head, resolved, labels, roles)
    if request.labels is None and _lacks(head, truth, pred, labels):
        scored = (
            ()
            if part is None
            else (cast_label(label, labels, "score column for label") for label in part.labels)
        )
        resolved = replace(resolved, labels=tuple(sorted({*labels, *scored})))
    found = find(head, replace(resolved, where=()), whole=False, roles=roles).with_row_filters(
        resolved.filtered_columns
    )
    _refuse_found(found, head, resolved, pred)
    part = part if found.scores is not None else None
    ids = dict(found.taken).get("id")
    scores = () if part is None else (column_of(name, data.names) for name in part.columns)
    columns = dict.fromkeys((*used, *scores, *resolved.slices, *resolved.filtered_columns))
    if ids is not None:
        columns[ids] = None
    named = replace(resolved, id=ids, truth=truth, pred=pred)
    return PredictionStream(data, named, found, truth, pred, part, tuple(columns))


def _refuse_fields(roles: Roles, names: Sequence[str]) -> None:
    """Refuse fields of records, which are columns only where a whole file is read."""
    parts = [part for part in (roles.truth, roles.pred, roles.score) if part is not None]
    for name in (name for part in parts for name in part.columns):
        if column_of(name, names) not in names:
            raise stream_unsupported_error(f"{name} is a field of a record", "")


def _find_score_part(head: RawTable, request: Columns, labels: Sequence[Label], roles: Roles) -> Part | None:
    """The columns of the scores, each named after its label: numbered ones in the order of the labels."""
    columns, plain = plain_columns(head, request, roles)
    part = plain.score
    if part is None or not part.labels:
        return part
    values = np.column_stack([columns[name] for name in part.columns])
    answers = None
    if roles.pred is not None:
        name = roles.pred.columns[0]
        answers = labels_of(answers_of(head.columns[name], name, "wrong")[0], name)
    declared = request.labels is not None
    return in_label_order(part, request.labels or labels, values, answers, declared=declared)[0]


def _refuse(request: Columns) -> None:
    """Refuse what needs all rows."""
    for given, what, option in (
        (request.group, "intervals by cluster need all rows", "--set group"),
        (request.fold, "folds are evaluated one by one and need all rows", "--set fold"),
        (request.weight, "weighted rows need all weights", "--set weight"),
        (request.example_text, "example texts need all rows", "--set show_text"),
        (request.text, "generated answers are read from all rows", "--response"),
    ):
        if given:
            raise stream_unsupported_error(what, option)


def _refuse_found(found: Found, head: RawTable, request: Columns, pred: str | None) -> None:
    """Refuse what only the data showed to need all rows."""
    if found.text is not None:
        raise stream_unsupported_error("generated answers are read from all rows", "")
    if found.weights is not None:
        raise stream_unsupported_error("weighted rows need all weights", "")
    named = [name for name in head.names if name.lower() in SPLITS and name not in request.named_columns]
    if named and not request.where:
        raise UsageError(
            f"column {named[0]!r} may separate parts of the data, and a stream does not select one",
            where=head.source,
            fix=f'select rows, as in --where "{named[0]}=test"',
        )
    states = next((name for name in head.columns if tells_annotations(head, name)), None)
    if states is not None and states not in request.named_columns and not request.where:
        raise stream_unsupported_error(f"column {states!r} tells which annotations are true labels", "")
    score = dict(found.taken).get("score")
    if pred is not None and score is not None and found.score_kind == "probability":
        given = any("is the confidence of the predicted label" in note for note in found.notes)
        if given or (is_confidence(score) and request.score is None):
            raise stream_unsupported_error(
                f"{score} is the confidence of the predicted label", "the scores (--set no_scores)"
            )


def _drop_folds(names: Sequence[str], request: Columns) -> tuple[str, ...]:
    """Leave out columns of folds that were not named."""
    spare = {*FOLDS} - {*request.named_columns}
    return tuple(name for name in names if name.lower() not in spare)


def _head(data: DataSet, read: Sequence[str], request: Columns) -> Sequence[RawTable]:
    """Return batches with the first rows that are kept."""
    if not read:  # none of the columns that were named: who looks for them says so
        return [RawTable({}, 0, str(data.files[0]), "", data.format, data.names)]
    tables: list[RawTable] = []
    seen = 0
    for path, _, batch in data.first_batches(read):
        with in_file(str(path)):
            table = kept_rows(table_of(batch, path, data), request)
        seen += len(next(iter(batch.values())))
        if table.n:
            tables.append(table)
        if tables and seen >= LOOKED_AT:
            break
    if not tables:
        raise data.without_rows(request.where)
    return tables


LOOKED_AT = 1000
"""Rows that are looked at, in as many batches as have them, to settle what the columns mean."""


def _as_one(tables: Sequence[RawTable]) -> RawTable:
    """Return the rows of some batches in one table, up to a batch with columns of another shape."""
    first = tables[0]
    shapes = {name: column.shape[1:] for name, column in first.columns.items()}
    same = list(
        takewhile(lambda one: {name: c.shape[1:] for name, c in one.columns.items()} == shapes, tables)
    )
    if len(same) == 1:
        return first
    columns = {name: np.concatenate([one.columns[name] for one in same]) for name in first.columns}
    source = first.source + ("" if same[-1].source == first.source else ", and the files after it")
    return replace(first, columns=columns, n=sum(one.n for one in same), source=source)


def _find_label_columns(roles: Roles) -> tuple[str, str | None]:
    truth, pred = roles.truth, roles.pred
    if pred is not None and pred.labels:
        raise stream_unsupported_error("one label in truth and several in the predictions", "")
    return truth.columns[0], None if pred is None else pred.columns[0]


def _of_labels(data: DataSet, head: RawTable, roles: Roles, request: Columns) -> PredictionStream:
    """Settle what the columns of several labels per row mean; of lists, a pass finds the labels."""
    truth, pred = roles.truth, roles.pred
    resolved = replace(request, where=(), task="multilabel")
    lists = [part for part in (truth, pred) if part is not None and not part.labels]
    found = find(head, resolved, whole=False, roles=roles)
    if lists and request.labels is None:
        columns = [*(name for part in lists for name in part.columns), *request.filtered_columns]
        listed = data.gather_values(partial(_in_lists, parts=lists, request=request), columns)
        check_count(listed)
        known = {*found.space.labels, *listed}
        resolved = replace(resolved, labels=tuple(sorted(known)))
        found = find(head, resolved, whole=False, roles=roles)
    found = found.with_row_filters(request.filtered_columns)
    _refuse_found(found, head, request, None)
    ids = dict(found.taken).get("id")
    used = {name for part in (truth, pred) if part is not None for name in part.columns}
    used |= {*request.filtered_columns, *request.slices}
    columns = [name for name in head.columns if name not in found.unused or name in used]
    named = replace(resolved, where=request.where, id=ids, score_kind=found.score_kind)
    return LabelsStream(
        data,
        named,
        found,
        truth.display_name,
        None if pred is None else pred.display_name,
        None,
        tuple(columns),
        roles=roles,
    )


def _in_lists(data: DataSet, parts: Sequence[Part], request: Columns) -> set[Label]:
    found: set[Label] = set()
    names = [name for part in parts for name in part.columns]
    for path, before, batch in data.batches((*names, *request.filtered_columns)):
        with in_file(str(path)), CountedFrom(before):
            table = kept_rows(table_of(batch, path, data), request)
            for part in parts if table.n else ():
                rows = lists_of(table.columns, part, request).tolist()
                found.update(label for row in rows if isinstance(row, list) for label in row)
                check_count(found)
    return found


def _distinct(data: DataSet, truth: str, pred: str | None, request: Columns) -> tuple[Label, ...]:
    """The labels of all rows, by a pass over their columns alone; two spellings are refused."""
    if request.labels is not None:
        return request.labels  # other values are reported when they are counted
    if pred is None and not request.filtered_columns and (numbers := data.neighbours(truth)):
        return tuple(sorted(numbers))
    found: dict[str, set[Label]] = {}
    names = [truth, *([] if pred is None else [pred])]
    for path, before, batch in data.distinct((*names, *request.filtered_columns)):
        with in_file(str(path)), CountedFrom(before):
            table = kept_rows(table_of(batch, path, data), request)
            for name in names if table.n else ():
                values = table.columns[name]
                if name == pred and are_fractions(values):
                    continue
                filled = answers_of(values, name, request.missing)[0] if name == pred else values
                known = found.setdefault(name, set())
                given = labels_of(filled, name)
                if known and given.dtype.kind in "bi":  # to look for others costs less than to sort
                    least, most = int(given.min()), int(given.max())
                    whole = most - least < len(known) and known.issuperset(range(least, most + 1))
                    given = given[:0] if whole else given[~np.isin(given, list(known))]
                known.update(distinct_labels(given))
                check_count(known)
    right = np.array(sorted(found.get(truth, ())))
    predicted = np.array(sorted(found[pred])) if pred in found else None
    if predicted is not None and one_spelling(right, predicted)[1]:
        raise stream_unsupported_error(f"{truth} and {pred} spell their labels in two ways", "")
    if predicted is not None and right.size:
        with in_file(str(data.files[0])):
            refuse_label_sets(right, predicted, truth, 0)
    return tuple(sorted(set().union(*found.values())))


def _lacks(head: RawTable, truth: str, pred: str | None, labels: Sequence[Label]) -> bool:
    """Whether the head has fewer labels than the whole."""
    columns = [labels_of(head.columns[truth], truth)]
    if pred is not None:
        columns.append(labels_of(answers_of(head.columns[pred], pred, "wrong")[0], pred))
    return set(distinct_labels(*columns)) != set(labels)
