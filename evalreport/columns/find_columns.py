"""Find labels, predictions and scores in the columns of a file: from a `RawTable` to validated predictions.

All choices are reported: the column of each role in `Found.taken`, every assumption in `Found.notes`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from evalreport.columns.assign import fill_request, roles_of, with_plain_columns
from evalreport.columns.column_request import Columns, list_names
from evalreport.columns.decide import AmbiguousColumnsError, decide, fix_of
from evalreport.columns.evidence import pair_of, profile_of
from evalreport.columns.graded import has_graded_repeats, refuse_grade, refuse_misread_grade
from evalreport.columns.join import (
    FOLD,
    Array,
    Rows,
    extras,
    join_folds,
    key_of,
    one_answer_a_row,
    rows_meant,
    rows_of,
    rows_of_truth,
    texts_of,
)
from evalreport.columns.label_pairs import LabelPairs, distinct, rows_as_codes
from evalreport.columns.names import INDEX, SINGLE, Roles, is_like_score, name_weights
from evalreport.columns.nested import as_columns, fill_from_format, unused_scores_note, with_all_columns
from evalreport.columns.plausible import (
    MOST_COMPARED,
    MOST_ROWS,
    LabelColumns,
    SeveralEvaluationsError,
    label_areas,
    refuse_constant,
    refuse_counts,
    refuse_order,
    refuse_quantities,
    refuse_reversed,
    refuse_rivals,
    refuse_several,
)
from evalreport.columns.read_labels import (
    OneScoreError,
    Parts,
    cannot_rank,
    is_multilabel,
    read_multilabel,
    read_single,
)
from evalreport.core.errors import (
    ColumnNotFoundError,
    DataError,
    EvalreportError,
    NoTableError,
    NotFoundError,
    UsageError,
)
from evalreport.core.format import pluralize
from evalreport.core.result import ColumnDecision
from evalreport.data.arrays import BINS, is_gap
from evalreport.data.labels import Binary, LabelSpace, Multiclass, Multilabel, Parsed
from evalreport.data.predictions import Predictions, WeightKind, predictions
from evalreport.data.scores import Decisions, Logits, NoScores, Probabilities, ScoreKind, Scores
from evalreport.readers.content import in_file
from evalreport.readers.formats import ARRAYS, RawTable
from evalreport.readers.read import read_requested_columns, read_truth


class NoAnswersError(ColumnNotFoundError):
    """No column has predictions, scores or responses."""


LEAST_KAPPA = 0.3
"""Agreement with the labels from which a column with the name of an index is proposed as the prediction."""


@dataclass(frozen=True, eq=False)
class Found:
    """Labels, predictions and scores as they were found, with labels as they are written in the file.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    y_true : labels of shape (n,), or bool of shape (n, labels) for multilabel
    y_pred : the same, or None
    scores : float array of shape (n,) or (n, labels) in the order of the labels, or None
    score_kind : str or None
        ``probability``, ``logit`` or ``decision``.
    text : object array of str, shape (n,), or None
        Generated responses, from which labels are parsed later.
    ids, groups, folds, weights, example_texts : arrays of shape (n,), or None
    slices : mapping from column name to array of shape (n,)
    taken : tuple of (part, column)
        The column mapping, for printing.
    notes : tuple of str
        Assumptions.
    unused : tuple of str
        Unused columns.
    columns : mapping from column name to array of shape (n,)
        The values of these, and of the slices.
    files : tuple of RawTable
        The files (name, digest, format), predictions first.
    roles : Roles
        The columns of each role, with reasons.
    """

    space: LabelSpace
    y_true: Array
    y_pred: Array | None
    scores: Array | None
    score_kind: ScoreKind | None
    text: Array | None
    ids: Array | None
    groups: Array | None
    folds: Array | None
    weights: Array | None
    slices: Mapping[str, Array]
    example_texts: Array | None
    taken: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    unused: tuple[str, ...]
    files: tuple[RawTable, ...] = field(repr=False)
    columns: Mapping[str, Array] = field(default_factory=dict, repr=False)
    roles: Roles | None = None

    @property
    def unused_note(self) -> tuple[str, ...]:
        """The note about unused columns."""
        return (f"columns without a role: {list_names(self.unused)}",) if self.unused else ()

    @property
    def decision(self) -> ColumnDecision | None:
        """The reasons for the roles of the columns; None if only their names decide."""
        return None if self.roles is None else self.roles.decision

    def with_row_filters(self, names: Sequence[str]) -> Found:
        """Return a copy with the columns whose values selected the rows."""
        taken = (*self.taken, *(("rows by", name) for name in dict.fromkeys(names)))
        return replace(self, taken=taken, unused=tuple(name for name in self.unused if name not in names))


def find_in_files(
    path: Path | BinaryIO,
    request: Columns | None = None,
    *,
    truth: Path | None = None,
    format: str | None = None,
) -> Found:
    """Read a file of predictions, and the file of labels if that is separate, and find their roles.

    Parameters
    ----------
    path : Path or binary stream
    request : Columns, optional
        The user's options about the columns.
    truth : Path, optional
        A file with the true labels, joined by id, one to one.
    format : str, optional
        Format of `path`; needed for a stream.

    Raises
    ------
    FileMissingError, ColumnNotFoundError, UsageError, DataError, UnsafeFileError
        The message names the file, and if possible the column and the first row.
    """
    request = request or Columns()
    table = read_requested_columns(path, request, format=format)
    return find(table, request, None if truth is None else read_truth(truth, table, request))


def find(
    table: RawTable,
    request: Columns | None = None,
    truth: RawTable | None = None,
    *,
    whole: bool = True,
    roles: Roles | None = None,
) -> Found:
    """Find labels, predictions and scores in a table, by the user's options and otherwise by the evidence.

    Parameters
    ----------
    table : RawTable
    request : Columns, optional
    truth : RawTable, optional
        The table of true labels if they are not in `table`; joined by id, one to one.
    whole : bool
        Whether the table has all rows; checks that need all rows are skipped otherwise.
    roles : Roles, optional
        The columns of each role, if they are already decided.

    Raises
    ------
    ColumnNotFoundError, UsageError, DataError
        Among others: the table has a grade per item instead of labels.

    Examples
    --------
    >>> import io
    >>> from evalreport.readers.formats import read_table
    >>> data = b"case,y_true,p_spam\\n1,spam,0.9\\n2,ham,0.2\\n"
    >>> found = find(read_table(io.BytesIO(data), format="csv"))
    >>> found.space, found.unused
    (Binary(negative='ham', positive='spam'), ('case',))
    >>> found.taken
    (('truth', 'y_true'), ('score', 'p_spam'), ('score kind', 'probability'), ('task', 'binary'),
     ('positive', 'spam'))
    """
    request = request or Columns()
    if request.graded.main_grade:
        refuse_grade(table, request)
    if truth is not None and request.where:
        table, truth, request = rows_of_truth(table, truth, request)
    try:
        found = _find(replace(_prepare_table(table, request), whole=whole), request, truth, roles)
    except AmbiguousColumnsError as error:
        if "grade" in table.parts and "truth" not in table.parts:
            refuse_grade(table, request)
        raise _with_tried_options(error, table, request, truth) from error
    except (ColumnNotFoundError, NoTableError, DataError) as error:
        if isinstance(error, SeveralEvaluationsError):
            if has_graded_repeats(table):
                refuse_grade(table, request)
            raise
        if isinstance(error, (ColumnNotFoundError, NoTableError)) or "grade" in table.parts:
            refuse_grade(table, request, unread=isinstance(error, ColumnNotFoundError))
        is_lost = truth is None and isinstance(error, (NoAnswersError, OneScoreError))
        index = _index_as_prediction(table, request) if is_lost and not request.are_scores_named else ""
        if not index:
            raise
        raise type(error)(
            error.message,
            where=error.where,
            fix=f"if this column contains the predictions pass --pred {index}; else {error.fix}",
        ) from error
    is_one = found.y_pred is not None and found.y_true.ndim == 1 and found.y_pred.ndim == 1
    refuse_misread_grade(
        found.files[0], found.taken, found.y_true == found.y_pred if is_one else None, request
    )
    return found


def _index_as_prediction(table: RawTable, request: Columns) -> str:
    """Return the column with the name of an index that agrees with the labels, and the setting it needs."""
    for name in (one for one in INDEX if one in table.columns and one not in request.named_columns):
        asked = replace(request, pred=name, no_scores=True, score=None, scores=None)
        made = _prepare_table(table, asked)
        rows, _ = with_all_columns(rows_of(made.table, None), None, made.named)
        best = decide(rows.columns, made.named, table.name)
        if best is None or len(best.truth.columns) > 1:
            continue
        pair = pair_of(*(profile_of(one, rows.columns[one]) for one in (best.truth.columns[0], name)))
        if pair is None or pair.pred.is_unique or max(pair.kappa, pair.renamed) < LEAST_KAPPA:
            continue
        names = ",".join(f"{label}={one}" for label, one in pair.names) if pair.is_renamed else ""
        return f"{shlex.quote(name)} --set label_names={shlex.quote(names)}" if names else shlex.quote(name)
    return ""


def _with_tried_options(
    error: AmbiguousColumnsError, table: RawTable, request: Columns, truth: RawTable | None
) -> EvalreportError:
    """Return the error with the options of those hypotheses that can be read."""
    ways = []
    for one in error.best:
        tried = one.as_request(request)
        try:
            _find(replace(_prepare_table(table, tried), trial=True), tried, truth)
        except (NotFoundError, UsageError):
            continue
        except EvalreportError as refused:
            if isinstance(refused, AmbiguousColumnsError):
                continue
        ways.append(one.options)
    fix = fix_of(ways, request) if ways else error.fix
    return UsageError(error.message, where=error.where, fix=fix)


def find_folds(
    tables: Sequence[RawTable], names: Sequence[str], request: Columns, truth: RawTable | None = None
) -> Found:
    """Find labels, predictions and scores in the tables of the folds of one cross-validation.

    With several responses per row, each table has one of them instead.

    Parameters
    ----------
    tables : sequence of RawTable
    names : sequence of str
        Names of the folds; distinct.
    request : Columns
    truth : RawTable, optional
        True labels of all folds.

    Raises
    ------
    ColumnNotFoundError, UsageError, DataError
        See `find`; also if the columns of folds differ.
    """
    made = [_prepare_table(table, request) for table in tables]
    first = made[0]
    for name, one in zip(names, made, strict=True):
        if one.named != first.named:
            raise DataError(
                f"fold {name} has a different layout than {names[0]}",
                where=one.table.source,
                fix="write every fold with the same columns, and a score for every label",
            )
    whole, notes = join_folds([one.table for one in made], names, first.named)
    row_notes = tuple(dict.fromkeys(note for one in made for note in one.row_notes))
    named = replace(first.named, fold=None if request.several_answers else FOLD)
    if request.several_answers:  # each table has one response to the same rows
        kept = {name: v for name, v in whole.columns.items() if name != FOLD}
        whole = replace(whole, columns=kept, names=tuple(kept))
    return _find(_Prepared(whole, named, (*row_notes, *notes), first.some), request, truth)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A table of columns of one length, the request with its columns, and the notes so far."""

    table: RawTable
    named: Columns
    row_notes: tuple[str, ...]
    some: bool
    """Whether some rows of the file are skipped."""
    whole: bool = True
    """Whether the table has all rows, not only the first rows of a stream."""
    trial: bool = False
    """Whether the columns are named only to try a hypothesis, not by the user."""


def _prepare_table(table: RawTable, request: Columns) -> _Prepared:
    with in_file(table.source):
        table, request, row_notes = rows_meant(table, request)
        table, named = one_answer_a_row(*as_columns(table, fill_from_format(table, request)))
        return _Prepared(table, named, row_notes, bool(row_notes))


def _find(made: _Prepared, request: Columns, truth: RawTable | None, roles: Roles | None = None) -> Found:
    table, named = made.table, made.named
    with in_file(table.source):
        key = key_of(table, named, joins=truth is not None)
    other = None
    if truth is not None:
        with in_file(truth.source):
            truth, more = as_columns(truth, request, "truth")
            other = key_of(truth, more, key, joins=True)
            named = fill_request(named, more)
    with in_file(table.source):
        rows, notes = with_all_columns(rows_of(table, key, truth, other, some=made.some), truth, named)
        decided = roles or roles_of(rows, table, truth, named)
        if decided.names and not named.label_names:
            named = replace(named, label_names=decided.names)
        rows, decided, more_notes = with_plain_columns(rows, decided, named, codes=table.format in ARRAYS)
        read = read_multilabel if is_multilabel(rows.truth, decided.truth, named) else read_single
        files = (table,) if truth is None else (table, truth)
        found = _build_found(read(rows, decided, named), rows, named, files)
        _refuse_reading(found, rows, made, named)
        _refuse_unused(request, found)
        ranked, spare = found.scores is not None, tuple[str, ...]()
        if not request.are_scores_named:
            spare = unused_scores_note(found.unused, found.space, found.notes, ranked=ranked)
        all_notes = (*made.row_notes, *notes, *more_notes, *rows.notes, *found.notes, *spare)
        return replace(found, notes=all_notes, roles=decided).with_row_filters(named.filtered_columns)


def _refuse_unused(request: Columns, found: Found) -> None:
    """Raise an error for the first option that would be ignored."""
    kind = f"this is {found.space.task} with {len(found.space)} labels"
    one_of_two = request.positive is not None and not isinstance(found.space, Binary)
    of_scores = request.score_kind is not None and found.scores is None and not request.no_scores
    of_weights = request.weight_kind != "sampling" and found.weights is None
    for is_unused, option, why in (
        (one_of_two, "--positive", f"names one of two classes: {kind}"),
        (request.text and found.text is None, "--response", f"gives one label for each row: {kind}"),
        (of_scores, "--score-kind", "says what scores are, and there are none"),
        (of_weights, "--set weight_kind", "says what weights are, and there are none"),
        (
            request.slice_bins != BINS and not request.slices,
            "--set slice_bins",
            "divides a --slice column, and there is none",
        ),
    ):
        if is_unused:
            raise UsageError(f"{option} {why}", where=option, fix=f"leave {option} out")


def plain_columns(table: RawTable, request: Columns, roles: Roles) -> tuple[Mapping[str, Array], Roles]:
    """Return the columns of a table with one number per cell, and the roles that use them."""
    rows, plain, _ = with_plain_columns(rows_of(table, None), roles, request, codes=False)
    return rows.columns, plain


def _refuse_reading(found: Found, rows: Rows, made: _Prepared, request: Columns) -> None:
    """Raise an error for an assignment that the other columns contradict."""
    table = made.table
    spare = {*found.unused, *(() if rows.id is None else (rows.id,)), *request.slices, *request.groups}
    free = {name: rows.columns[name] for name in rows.columns if name in spare}
    alone = not request.several_answers and request.fold is None
    if made.whole and alone and free and rows.n <= MOST_ROWS:
        for labels in (found.y_true, found.y_pred):
            if labels is not None:
                refuse_several(free, rows_as_codes(np.asarray(labels)), table.name, request.groups)
    if not isinstance(found.space, Multilabel):
        _refuse_labels(
            found, free, request, named=request.truth is not None and not made.trial, whole=made.whole
        )


def _refuse_labels(
    found: Found, free: Mapping[str, Array], request: Columns, *, named: bool, whole: bool
) -> None:
    """Raise an error for a label column that has another role, or for scores of other labels."""
    some = slice(None, None, max(1, len(found.y_true) // MOST_COMPARED))
    parts, texts = dict(found.taken), found.space.texts
    y_true = found.y_true[some].astype(str)
    y_pred = None if found.y_pred is None else found.y_pred[some].astype(str)
    scores = None if found.scores is None else found.scores[some]
    plain, decided = scores is not None and scores.ndim == 1, None
    if scores is not None and not plain:
        decided = np.asarray(texts)[scores.argmax(axis=1)]
    sure = scores is not None and plain and found.score_kind == "probability" and bool((scores >= 0.5).all())
    score = parts.get("scores", parts.get("score"))
    reading = LabelColumns(
        parts["truth"], parts.get("prediction", parts.get("text")), score, y_true, y_pred, decided, sure
    )
    used = {reading.truth, reading.pred}
    others = {
        name: values[some] for name, values in free.items() if name not in used and not is_like_score(name)
    }
    refuse_rivals(others, reading, named=named)
    if found.y_pred is not None and whole and request.weight is None:
        refuse_counts(free, found.y_true, found.y_pred)
    if found.y_pred is not None and request.task is None and request.labels is None:
        sides = np.asarray(found.y_true[some]), np.asarray(found.y_pred[some])
        refuse_quantities(*sides, parts["truth"], scored=scores is not None and not plain)
    if whole:
        is_named = named or request.labels is not None
        refuse_constant(parts["truth"], distinct(found.y_true).tolist(), len(found.y_true), named=is_named)
    if scores is not None:
        known = y_true if y_pred is None else y_pred
        pairs = None if decided is None else LabelPairs.from_labels(known, decided)
        areas = label_areas(scores, known, texts, pairs) if whole and request.positive is None else []
        shown, given = str(score), y_pred is not None
        refuse_order(pairs, shown, texts, given=given, places=shown.partition(" ")[0].endswith("[*]"))
        refuse_reversed(areas, shown, texts, of="predicted" if given else "true", plain=plain)


def _refuse_empty(rows: Rows) -> None:
    """Raise an error for a column with the name of predictions that has no value.

    Raises
    ------
    DataError
    """
    for name, values in rows.columns.items():
        if name_weights(name)["prediction"] >= 2 and all(map(is_gap, values.tolist())):
            raise DataError(
                f"column {name!r} has no value",
                where=f"column {name!r}, {pluralize(len(values), 'row')}",
                fix="write the predicted labels, or name another column with --pred, --score or --scores",
            )


def _build_found(parts: Parts, rows: Rows, request: Columns, files: tuple[RawTable, ...]) -> Found:
    file = files[0].name
    more = extras(rows, request, file)
    if parts.y_pred is None and parts.scores is None and parts.text is None:
        lone = [name for name in rows.names if name in SINGLE]
        if lone and isinstance(parts.space, Multiclass):
            raise cannot_rank(lone[0], parts.space)
        _refuse_empty(rows)
        raise NoAnswersError(
            f"no predictions are in {file} (y_pred, proba_<label>, logit_<label>, score or pred_<label>)",
            fix=f"columns are: {list_names(rows.names)}. Use --pred, --score, --scores or --response COLUMN",
        )
    space = parts.space
    count = "" if isinstance(space, Binary) else f", {len(space)} labels"
    facts = [("text", parts.text), ("id", rows.id), *more.taken, ("joined", rows.joined)]
    facts += [("task", f"{space.task}{count}")]
    facts += [("positive", space.names[1])] if isinstance(space, Binary) else []
    taken = (*parts.taken, *((part, value) for part, value in facts if value))
    spare = set(rows.names) - set(parts.columns) - {value for _, value in taken}
    return Found(
        space=space,
        y_true=parts.y_true,
        y_pred=parts.y_pred,
        scores=parts.scores,
        score_kind=parts.kind,
        text=None if parts.text is None else texts_of(rows.columns[parts.text]),
        ids=None if rows.id is None else rows.columns[rows.id],
        groups=more.groups,
        folds=more.folds,
        weights=more.weights,
        slices=more.slices,
        example_texts=more.example_texts,
        taken=taken,
        notes=(*parts.notes, *more.notes),
        unused=tuple(name for name in rows.names if name in spare),
        files=files,
        columns={
            name: values
            for name, values in rows.columns.items()
            if (name in spare or name in more.slices) and values.shape == (rows.n,)
        },
    )


def scores_of(found: Found) -> Scores:
    """Return the scores as an object of their kind."""
    if found.scores is None:
        return NoScores()
    match found.score_kind:
        case "logit":
            return Logits(found.scores)
        case "decision":
            return Decisions(found.scores)
        case _:
            return Probabilities(found.scores)


def to_predictions(
    found: Found,
    answers: Parsed | None = None,
    *,
    missing: str | None = None,
    weight_kind: WeightKind = "sampling",
) -> Predictions:
    """Return validated predictions from what was found.

    Parameters
    ----------
    found : Found
    answers : Parsed, optional
        The parsed labels of generated responses, if there are some.
    missing : str, optional
        ``wrong``: rows without a prediction count as wrong.
    weight_kind : {"sampling", "count"}
        Whether weights are relative, or numbers of equal rows.

    Raises
    ------
    DataError
        The data are invalid; the message names the file.
    """
    with in_file(found.files[0].source):
        return predictions(
            found.space,
            found.y_true,
            found.y_pred if answers is None else answers,
            scores_of(found),
            weights=found.weights,
            weight_kind=weight_kind,
            ids=found.ids,
            groups=found.groups,
            folds=found.folds,
            slices=found.slices,
            texts=None if found.example_texts is None else found.example_texts.tolist(),
            notes=found.notes,
            missing=missing,
            columns=found.columns,
        )
