"""What the columns of a file mean: the way from a `RawTable` to validated predictions.

Nothing is guessed silently: every column that was taken for a part stands in `Found.taken`, every
assumption in `Found.notes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from evalreport.errors import ColumnNotFoundError, DataError, NoTableError
from evalreport.labels import Binary, LabelSpace, Multiclass
from evalreport.parsing import Parsed
from evalreport.predictions import Predictions, predictions
from evalreport.scores import Decisions, Logits, NoScores, Probabilities, ScoreKind, Scores
from evalreport.sources.graded import refuse_grade, refuse_misread_grade
from evalreport.sources.readers.content import in_file
from evalreport.sources.reading import read_for, read_truth
from evalreport.sources.request import Columns, listed
from evalreport.sources.shapes.arrays import as_columns
from evalreport.sources.shapes.extras import extras, texts_of
from evalreport.sources.shapes.folds import FOLD, joined, one_answer_a_row
from evalreport.sources.shapes.join import Array, Rows, key_of, rows_of
from evalreport.sources.shapes.layout import Parts
from evalreport.sources.shapes.multilabel import find_multilabel, is_multilabel
from evalreport.sources.shapes.roles import SINGLE
from evalreport.sources.shapes.single import cannot_rank, find_single
from evalreport.sources.shapes.subsets import rows_meant
from evalreport.sources.shapes.unfold import completed, left_alone, truth_of, unfolded
from evalreport.sources.tables import RawTable
from evalreport.weights import WeightKind


@dataclass(frozen=True, eq=False)
class Found:
    """Truth, predictions and scores as they were found, labels still as they were written.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    y_true : labels of shape (n,), or bool of shape (n, labels) for multilabel
    y_pred : the same, or None
    scores : float array of shape (n,) or (n, labels) in the order of the labels, or None
    score_kind : str or None
        ``probability``, ``logit`` or ``decision``.
    text : object array of str, shape (n,), or None
        Generated answers, from which the labels are still to be read.
    ids, groups, folds, weights, example_texts : arrays of shape (n,), or None
    slices : mapping from column name to array of shape (n,)
    taken : tuple of (part, column)
        What was taken for what, to be printed.
    notes : tuple of str
        What was assumed.
    unused : tuple of str
        Columns that were not taken for anything.
    files : tuple of RawTable
        Where it came from (name, digest, format), predictions first.
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

    @property
    def unused_note(self) -> tuple[str, ...]:
        """What is said of columns that were not taken for anything."""
        return (f"not used: {listed(self.unused)}",) if self.unused else ()

    def chosen_by(self, names: Sequence[str]) -> Found:
        """Return the same with the columns whose values said which rows are meant."""
        taken = (*self.taken, *(("rows by", name) for name in dict.fromkeys(names)))
        return replace(self, taken=taken, unused=tuple(name for name in self.unused if name not in names))


def find_in_files(
    path: Path | BinaryIO,
    request: Columns | None = None,
    *,
    truth: Path | None = None,
    format: str | None = None,
) -> Found:
    """Read a file of predictions, and of truth where that is another, and find what is in them.

    Parameters
    ----------
    path : Path or binary stream
    request : Columns, optional
        What was said about the columns.
    truth : Path, optional
        A file with the truth, joined by id, one to one.
    format : str, optional
        Format of `path`; needed for a stream.

    Raises
    ------
    FileMissingError, ColumnNotFoundError, UsageError, DataError, UnsafeFileError
        Each names the file, and where it can the column and the first row.
    """
    request = request or Columns()
    table = read_for(path, request, format=format)
    return find(table, request, None if truth is None else read_truth(truth, table, request))


def find(table: RawTable, request: Columns | None = None, truth: RawTable | None = None) -> Found:
    """Find truth, predictions and scores in a table, by what was said and else by common names.

    Parameters
    ----------
    table : RawTable
    request : Columns, optional
    truth : RawTable, optional
        Where the truth lives when it is not in `table`; joined by id, one to one.

    Raises
    ------
    ColumnNotFoundError, UsageError, DataError
        A table with a grade per item in place of labels is refused as such.

    Examples
    --------
    >>> import io
    >>> from evalreport.sources.tables import read_table
    >>> data = b"case,y_true,p_spam\\n1,spam,0.9\\n2,ham,0.2\\n"
    >>> found = find(read_table(io.BytesIO(data), format="csv"))
    >>> found.space, found.unused
    (Binary(negative='ham', positive='spam'), ('case',))
    >>> found.taken
    (('truth', 'y_true'), ('score', 'p_spam'), ('score kind', 'probability'), ('task', 'binary'),
     ('positive', 'spam'))
    """
    request = request or Columns()
    try:
        found = _find(_prepared(table, request), request, truth)
    except (ColumnNotFoundError, DataError) as error:
        if isinstance(error, (ColumnNotFoundError, NoTableError)) or "grade" in table.parts:
            refuse_grade(table, request)
        raise
    is_one = found.y_pred is not None and found.y_true.ndim == 1 and found.y_pred.ndim == 1
    refuse_misread_grade(
        found.files[0], found.taken, found.y_true == found.y_pred if is_one else None, request
    )
    return found


def find_folds(
    tables: Sequence[RawTable], names: Sequence[str], request: Columns, truth: RawTable | None = None
) -> Found:
    """Find truth, predictions and scores in the tables of the folds of one cross-validation.

    Of several answers to each row every table holds one instead.

    Parameters
    ----------
    tables : sequence of RawTable
    names : sequence of str
        What the folds are called; distinct.
    request : Columns
    truth : RawTable, optional
        Of all folds.

    Raises
    ------
    ColumnNotFoundError, UsageError, DataError
        As of `find`; folds whose columns differ.
    """
    made = [_prepared(table, request) for table in tables]
    first = made[0]
    for name, one in zip(names, made, strict=True):
        if one.named != first.named:
            raise DataError(
                f"fold {name} is laid out otherwise than {names[0]}",
                where=one.table.source,
                fix="write every fold with the same columns, and a score for each label of any fold",
            )
    whole, notes = joined([one.table for one in made], names, first.named)
    said = tuple(dict.fromkeys(note for one in made for note in one.said))
    named = replace(first.named, fold=None if request.several_answers else FOLD)
    if request.several_answers:  # each table holds an answer to the same rows
        kept = {name: v for name, v in whole.columns.items() if name != FOLD}
        whole = replace(whole, columns=kept, names=tuple(kept))
    return _find(_Prepared(whole, named, (*said, *notes), first.some), request, truth)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A table of columns of one length, how they are named, and what was said on the way."""

    table: RawTable
    named: Columns
    said: tuple[str, ...]
    some: bool
    """Whether some rows of the file are left out."""


def _prepared(table: RawTable, request: Columns) -> _Prepared:
    with in_file(table.source):
        table, request, said = rows_meant(table, request)
        table, named = one_answer_a_row(*as_columns(table, completed(table, request)))
        table, named, left = unfolded(table, named)
        return _Prepared(table, named, (*said, *left), bool(said))


def _find(made: _Prepared, request: Columns, truth: RawTable | None) -> Found:
    table, named = made.table, made.named
    with in_file(table.source):
        key = key_of(table, named, joins=truth is not None)
    if truth is None:
        with in_file(table.source):
            (part, note), other = truth_of(table, named), None
    else:
        with in_file(truth.source):
            truth, more = as_columns(truth, request, "truth")
            (part, note), other = truth_of(truth, more), key_of(truth, more, key, joins=True)
            named = _completed(named, more)
    with in_file(table.source):
        rows = rows_of(table, key, truth, other, some=made.some)
        search = find_multilabel if is_multilabel(rows.truth, part, named) else find_single
        files = (table,) if truth is None else (table, truth)
        found = _found(search(rows, part, named, table.name), rows, named, files)
        chosen = request.score is not None or request.scores is not None  # who names scores means no others
        ranked = found.scores is not None
        spare = () if chosen else left_alone(found.unused, found.space, found.notes, ranked=ranked)
        notes = (*made.said, *rows.notes, *filter(None, [note]), *found.notes, *spare)
        return replace(found, notes=notes).chosen_by(named.filtered)


def _completed(request: Columns, more: Columns) -> Columns:
    """Take from the arrays of the truth file what those of the predictions did not name."""
    return replace(
        request,
        labels=request.labels or more.labels,
        weight=request.weight or more.weight,
        group=request.group or more.group,
    )


def _found(parts: Parts, rows: Rows, request: Columns, files: tuple[RawTable, ...]) -> Found:
    file = files[0].name
    more = extras(rows, request, file)
    if parts.y_pred is None and parts.scores is None and parts.text is None:
        lone = [name for name in rows.names if name in SINGLE]
        if lone and isinstance(parts.space, Multiclass):
            raise cannot_rank(lone[0], parts.space)
        raise ColumnNotFoundError(
            f"no predictions are in {file} (y_pred, proba_<label>, logit_<label>, score or pred_<label>)",
            fix=f"columns are: {listed(rows.names)}. Use --pred, --score, --scores or --text COLUMN",
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
        notes=parts.notes,
        unused=tuple(name for name in rows.names if name in spare),
        files=files,
    )


def scores_of(found: Found) -> Scores:
    """Return the scores as the value of their kind."""
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
    """Return validated predictions of what was found.

    Parameters
    ----------
    found : Found
    answers : Parsed, optional
        What was read from generated answers, where there are some.
    missing : str, optional
        ``wrong``: rows without a prediction count as wrong.
    weight_kind : {"sampling", "count"}
        Whether weights are relative, or each a number of equal rows.

    Raises
    ------
    DataError
        What the front door refuses, with the file's name.
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
        )
