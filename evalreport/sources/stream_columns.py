"""What the columns of a data set mean, settled before a row is counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from evalreport.answers import answers_of
from evalreport.cells import reads_as_number
from evalreport.errors import ColumnNotFoundError, DataError, NoTableError, UsageError
from evalreport.labels import Label, distinct_labels
from evalreport.sources.columns import Found, find
from evalreport.sources.datasets import DataSet
from evalreport.sources.graded import refuse_grade
from evalreport.sources.plausible import refuse_label_sets
from evalreport.sources.readers.content import Content, in_file
from evalreport.sources.reading import named_after_labels
from evalreport.sources.request import Columns
from evalreport.sources.shapes.arrays import are_fractions
from evalreport.sources.shapes.multilabel import is_multilabel, lists_of
from evalreport.sources.shapes.naming import FOLDS, SPLITS, is_confidence, one_spelling
from evalreport.sources.shapes.roles import Part, pred_part, wanted
from evalreport.sources.shapes.scoring import score_part
from evalreport.sources.shapes.single import in_label_order
from evalreport.sources.shapes.spaces import check_count, labels_of, like
from evalreport.sources.shapes.subsets import tells_annotations
from evalreport.sources.shapes.unfold import truth_of, unfolded
from evalreport.sources.streams import (
    CountedFrom,
    LabelsStream,
    PredictionStream,
    column_of,
    kept_rows,
    refused,
    table_of,
)
from evalreport.sources.tables import RawTable

TEXT = re.compile("column '(.+)' holds text, not numbers")
"""What is said of a column of scores in which not every cell is a number."""


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
        return _opened(data, request)
    except (ColumnNotFoundError, NoTableError):
        read = list(wanted(request)(data.names))
        refuse_grade(_head(data.settled(read), read, request), request)
        raise
    except DataError as error:
        text = TEXT.match(error.message)
        if text is None or data.opened[0].settle is None:
            raise
        raise _first_text(data, text[1], error) from error


def _first_text(data: DataSet, name: str, error: DataError) -> DataError:
    """The error of a column that is text for a cell far behind the head, in which all are numbers."""
    for path, before, batch in data.batches([name]):
        for row, cell in enumerate(batch[name].tolist() if name in batch else ()):
            if cell is not None and not reads_as_number(cell):
                where = f"{path}, column {name!r}, first: row {before + row}, {cell[:80]!r}"
                return DataError(error.message, where=where, fix=error.fix)
    return error


def _opened(data: DataSet, request: Columns) -> PredictionStream:
    _refuse(request)
    read = _without(list(wanted(request)(data.names)), request)
    head = _head(data.settled(read), read, request)
    more = named_after_labels(request)(Content(data.names, head.columns))
    if more:
        read = _without([name for name in data.names if name in {*read, *more}], request)
        head = _head(data.settled(read), read, request)
    with in_file(head.source):
        true_part, _ = truth_of(head, request)
        several = is_multilabel(head.columns, true_part, request)
        truth, pred = ("", None) if several else _labelled(head, true_part, request)
    if several:
        return _of_labels(data, head, true_part, request)
    labels, told = _distinct(data, truth, pred, request), request
    if pred is not None and request.score is None and are_fractions(head.columns[pred]):
        told, pred = replace(request, score=pred), None
    used = (truth, *(() if pred is None else (pred,)))
    with in_file(head.source):
        part = _scored(head, told, labels, used)
    if request.labels is None and _lacks(head, truth, pred, labels):
        scored = (
            () if part is None else (like(label, labels, "score column for label") for label in part.labels)
        )
        told = replace(told, labels=tuple(sorted({*labels, *scored})))
    found = find(head, replace(told, where=()), whole=False).chosen_by(told.filtered)
    _refuse_found(found, head, told, pred)
    part = part if found.scores is not None else None
    ids = dict(found.taken).get("id")
    scores = () if part is None else (column_of(name, data.names) for name in part.columns)
    columns = dict.fromkeys((*used, *scores, *told.slices, *told.filtered))
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
    states = next((name for name in head.columns if tells_annotations(head, name)), None)
    if states is not None and states not in request.named and not request.where:
        raise refused(f"column {states!r} tells which annotations are true labels", "")
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
    if not read:  # none of the columns that were named: who looks for them says so
        return RawTable({}, 0, str(data.files[0]), "", data.format, data.names)
    for path, _, batch in data.first_batches(read):
        with in_file(str(path)):
            table = kept_rows(table_of(batch, path, data), request)
        if table.n:
            return table
    raise data.without_rows(request.where)


def _labelled(head: RawTable, truth: Part, request: Columns) -> tuple[str, str | None]:
    pred = pred_part(head.names, request, truth, head.name)
    if pred is not None and pred.labels:
        raise refused("one label in truth and several in the predictions", "")
    return truth.columns[0], None if pred is None else pred.columns[0]


def _of_labels(data: DataSet, head: RawTable, truth: Part, request: Columns) -> PredictionStream:
    """Settle what the columns of several labels per row mean; of lists, a pass finds the labels."""
    with in_file(head.source):
        pred = pred_part(head.names, request, truth, head.name, multilabel=True)
    told = replace(request, where=())
    lists = [part for part in (truth, pred) if part is not None and not part.labels]
    found = find(head, told, whole=False)
    if lists and request.labels is None:
        columns = [*(name for part in lists for name in part.columns), *request.filtered]
        listed = data.gathered(partial(_in_lists, parts=lists, request=request), columns)
        check_count(listed)
        known = {*found.space.labels, *listed}
        told = replace(told, labels=tuple(sorted(known)))
        found = find(head, told, whole=False)
    found = found.chosen_by(request.filtered)
    _refuse_found(found, head, request, None)
    ids = dict(found.taken).get("id")
    used = {name for part in (truth, pred) if part is not None for name in part.columns}
    used |= {*request.filtered, *request.slices}
    columns = [name for name in head.columns if name not in found.unused or name in used]
    named = replace(told, where=request.where, id=ids, score_kind=found.score_kind)
    return LabelsStream(
        data, named, found, truth.shown, None if pred is None else pred.shown, None, tuple(columns)
    )


def _in_lists(data: DataSet, parts: Sequence[Part], request: Columns) -> set[Label]:
    found: set[Label] = set()
    names = [name for part in parts for name in part.columns]
    for path, before, batch in data.batches((*names, *request.filtered)):
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
        return request.labels  # whatever else stands there is named when it is counted
    if pred is None and not request.filtered and (numbers := data.neighbours(truth)):
        return tuple(sorted(numbers))
    found: dict[str, set[Label]] = {}
    names = [truth, *([] if pred is None else [pred])]
    for path, before, batch in data.distinct((*names, *request.filtered)):
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
    told = np.array(sorted(found[pred])) if pred in found else None
    if told is not None and one_spelling(right, told)[1]:
        raise refused(f"{truth} and {pred} spell their labels in two ways", "")
    if told is not None and right.size:
        with in_file(str(data.files[0])):
            refuse_label_sets(right, told, truth, 0)
    return tuple(sorted(set().union(*found.values())))


def _lacks(head: RawTable, truth: str, pred: str | None, labels: Sequence[Label]) -> bool:
    """Whether the head alone would be taken for a problem of fewer labels."""
    columns = [labels_of(head.columns[truth], truth)]
    if pred is not None:
        columns.append(labels_of(answers_of(head.columns[pred], pred, "wrong")[0], pred))
    return set(distinct_labels(*columns)) != set(labels)
