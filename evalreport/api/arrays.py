"""What a caller gives, read once: frames, series, tensors, generators and lists become arrays.

Nothing is guessed here. What could mean two things, such as a bare array of scores, two series of one
index in another order, or a threshold without an objective, is refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from numbers import Number, Real
from pathlib import Path
from typing import Any

import numpy as np

from evalreport.api.validation import SAMPLING, check, named_hints
from evalreport.columns.label_pairs import LabelPairs, distinct
from evalreport.columns.lists import indicators_of
from evalreport.columns.plausible import (
    MOST_COMPARED,
    disjoint,
    label_areas,
    refuse_constant,
    refuse_order,
    refuse_permuted,
    refuse_reversed,
)
from evalreport.columns.request import Columns, GradeColumns
from evalreport.columns.single_label import single_label
from evalreport.core.errors import DataError, UsageError, nearest
from evalreport.data.arrays import as_array, to_labels
from evalreport.data.labels import UNPARSED, Binary, Label, LabelSpace, Multiclass, Multilabel, column_order
from evalreport.data.parsing_outcomes import Parsed
from evalreport.data.predictions import Predictions, answers_of, with_gaps
from evalreport.data.scores import Decisions, Logits, NoScores, Probabilities, Scores, index_of
from evalreport.evaluation.evaluation import Evaluation
from evalreport.intervals.settings import Sampling
from evalreport.workflow.request import Request

KINDS = (Probabilities, Logits, Decisions, NoScores)
_SEVERAL = {"slices", "where", "metrics", "points", "measures"}
"""Arguments that take several, or one alone."""
_COLUMNS = {"truth", "pred", "score", "text", "id", "group", "fold", "weight", "example_text"}
"""Arguments that name a column; of a frame made of arrays the names are numbers."""
MANY = 3
"""Predicted labels from which a constant true label is refused."""
_MANY = (list, tuple, set, frozenset, np.ndarray)
"""What holds the labels of one row."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """Truth and answers as arrays, in a label space.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    y_true, y_pred : arrays, lists of names, or (y_pred) Parsed or None
    """

    space: LabelSpace
    y_true: Any
    y_pred: Any


def parse_inputs(
    y_true: Any, y_pred: Any, scores: Scores | None, labels: Any, missing: str | None = None
) -> Inputs:
    """Return truth and answers with the label space that was declared, or that they show.

    Raises
    ------
    UsageError
        Something that is not one value per row; scores whose kind is not said.
    DataError
        Labels that are missing or of several types.
    """
    check_scores(scores)
    if y_true is None:
        raise _not_rows(y_true, "y_true")
    names = _names_of_frame(y_true)
    truth, answers = (_flags(rows_of(rows, name)) for rows, name in ((y_true, "y_true"), (y_pred, "y_pred")))
    declared = labels if isinstance(labels, (Binary, Multiclass, Multilabel)) else None
    if declared is None and labels is not None:
        labels = tuple(as_array(rows_of(labels, "labels")).tolist())
    if not isinstance(declared, Multilabel):
        truth, answers = _flat(truth), _flat(answers)
    if declared is not None:
        return _in_order(Inputs(declared, truth, answers), y_true, y_pred)
    if len(truth) == 0:
        raise DataError("y_true is empty", where="y_true", fix="check what was selected")
    if _is_multilabel(truth):
        space = Multilabel(labels or names or _names_in(truth, answers))
        return _in_order(Inputs(space, truth, answers), y_true, y_pred)
    return _single(truth, answers, scores, labels, missing)


def rows_of(values: Any, name: str) -> Any:
    """Return what has one entry per row as an array or a list; None and `Parsed` pass.

    Raises
    ------
    UsageError
        A text, a mapping, a set, one number, or something that NumPy cannot read.
    """
    if values is None or isinstance(values, Parsed):
        return values
    if isinstance(values, (str, bytes, Mapping, set, frozenset)):
        raise _not_rows(values, name)
    if hasattr(values, "toarray"):  # indicators as SciPy's sparse matrix
        values = values.toarray()
    if np.ma.is_masked(values):
        values = np.where(np.ma.getmaskarray(values), None, values.data)
    try:
        array = np.asarray(values) if hasattr(values, "__array__") else list(values)
    except Exception as error:  # a tensor on another device raises its own class of error
        raise _not_rows(values, name, str(error)) from error
    if isinstance(array, np.ndarray) and array.ndim == 0:
        raise _not_rows(values, name)
    return array


def _flags(rows: Any) -> Any:
    """Lists of 0 and 1 of one length have one indicator for each label: they are a matrix."""
    flags = indicators_of(rows) if isinstance(rows, list) and rows else None
    return rows if flags is None else flags


def _not_rows(values: Any, name: str, reason: str = "") -> UsageError:
    because = f": {reason.splitlines()[0][:120]}" if reason else ""
    return UsageError(
        f"{name} is {type(values).__name__}, not one value per row{because}",
        where=name,
        fix="pass a list, an array, a series or a frame"
        + ("; of tensors t.detach().cpu()" if reason else ""),
    )


def one_of(**named: Any) -> Any:
    """Return the one argument that is given, of several names for the same.

    Raises
    ------
    UsageError
        Two are given.

    Examples
    --------
    >>> one_of(scores=None, y_score=[0.2])
    [0.2]
    """
    known = {name: value for name, value in named.items() if value is not None}
    if len(known) > 1:
        raise UsageError(
            f"{' and '.join(known)} name the same", where=", ".join(known), fix="pass one of them"
        )
    return next(iter(known.values()), None)


def bare_scores(scores: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a bare array of floats in [0, 1] as probabilities, with a note; anything else as it is.

    Raises
    ------
    UsageError
        Floats outside of [0, 1], or rows of several classes whose sum is not 1, without their kind.

    Examples
    --------
    >>> bare_scores([0.2, 0.9])[1]
    ('scores are taken as probabilities: an array in [0, 1]',)
    """
    if scores is None or isinstance(scores, (*KINDS, str)):
        return scores, ()
    values = np.asarray(rows_of(scores, "scores"))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    check_scores(scores, fits=values.dtype.kind == "f" and bool(((values >= 0) & (values <= 1)).all()))
    return Probabilities(scores if values.ndim == 2 else values), (
        "scores are taken as probabilities: an array in [0, 1]",
    )


def with_positive(y_true: Any, labels: Any, pos_label: Any) -> Any:
    """Return the label space of two labels with a positive one.

    Raises
    ------
    UsageError
        There are not two labels, `pos_label` is none of them, or the space has another positive label.
    """
    if pos_label is None:
        return labels
    if isinstance(labels, Binary):
        known: list[Any] = list(labels.labels)
    else:
        known = list(dict.fromkeys(to_labels(rows_of(y_true, "y_true"), "y_true").tolist()))
        known = known if labels is None else list(labels)
    if len(known) > 2 or pos_label not in known:
        raise UsageError(
            f"pos_label is {pos_label!r}; labels are: {', '.join(map(repr, known[:20]))}",
            where="pos_label",
            fix="name one of two labels",
        )
    other = [label for label in known if label != pos_label]
    if not other:
        return labels
    space = Binary(other[0], pos_label)
    if isinstance(labels, Binary) and labels.positive != pos_label:
        raise UsageError(
            f"labels and pos_label name two positive labels: {labels.positive!r} and {pos_label!r}",
            where="pos_label",
            fix="pass one of them",
        )
    return space


def score_of_positive(space: LabelSpace, scores: Any) -> Any:
    """Return the column of the positive label where probabilities of two labels have two columns.

    The columns are in the order of the sorted labels, as `predict_proba` returns them.
    """
    if not isinstance(space, Binary) or not isinstance(scores, Probabilities) or scores.values.ndim != 2:
        return scores
    if scores.values.shape[1] != 2 or scores.columns:
        return scores
    ordered = sorted(space.labels, key=lambda label: (str(type(label)), label))
    return Probabilities(scores.values[:, ordered.index(space.positive)])


def check_scores(scores: Any, *, fits: bool = False) -> None:
    """Refuse scores whose kind is not known: bare arrays outside of [0, 1].

    Examples
    --------
    >>> check_scores([-0.2, 0.9])
    Traceback (most recent call last):
    evalreport.core.errors.UsageError: scores are list with values outside of [0, 1]: their kind is not known
    """
    if scores is not None and not isinstance(scores, KINDS) and not fits:
        raise UsageError(
            f"scores are {type(scores).__name__} with values outside of [0, 1]: their kind is not known",
            where="scores",
            fix="wrap them: er.Probabilities(scores), er.Logits(scores) or er.Decisions(scores)",
        )


def check_order(parts: Mapping[str, Any]) -> None:
    """Refuse series that have one index in different orders: by position they would be mixed up.

    Raises
    ------
    DataError
    """
    indexed = {name: index for name, part in parts.items() if (index := index_of(part)) is not None}
    for name, index in indexed.items():
        first, other = next(iter(indexed.items()))
        if len(index) == len(other) and not index.equals(other) and set(index) == set(other):
            pairs = enumerate(zip(index, other, strict=True))
            raise DataError(
                f"{first} and {name} have the same index in another order",
                where=f"{name}, first: row {next(row for row, (a, b) in pairs if a != b)}",
                fix=f"rows are matched by position: sort one like the other, {name}.loc[{first}.index]",
            )


def _in_order(found: Inputs, y_true: Any, y_pred: Any) -> Inputs:
    """Put the columns of frames into the order of the labels."""
    truth, answers = (
        _reorder_columns(rows, frame, found.space, name)
        for rows, frame, name in ((found.y_true, y_true, "y_true"), (found.y_pred, y_pred, "y_pred"))
    )
    return replace(found, y_true=truth, y_pred=answers)


def _reorder_columns(rows: Any, frame: Any, space: LabelSpace, name: str) -> Any:
    if not hasattr(frame, "columns") or getattr(rows, "ndim", 0) != 2 or rows.shape[1] != len(space):
        return rows
    order = column_order([str(column) for column in frame.columns], space, name)
    return rows if order is None else rows[:, order]


def _flat(rows: Any) -> Any:
    """A column of shape (n, 1) is one value per row."""
    return (
        rows.reshape(-1) if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] == 1 else rows
    )


def _names_of_frame(y_true: Any) -> tuple[Label, ...]:
    columns = getattr(y_true, "columns", ())
    names = tuple(column.item() if isinstance(column, np.generic) else column for column in columns)
    return names if all(isinstance(name, (str, int)) for name in names) else ()


def _is_multilabel(truth: Any) -> bool:
    if isinstance(truth, np.ndarray) and truth.dtype != object:
        return bool(truth.ndim == 2)
    return isinstance(truth[0], _MANY)


def _names_in(truth: Any, answers: Any) -> list[Label]:
    if isinstance(truth, np.ndarray) and truth.ndim == 2:
        return list(range(truth.shape[1]))
    rows = [*truth, *(answers if answers is not None and not isinstance(answers, Parsed) else ())]
    return sorted({label for row in rows if isinstance(row, _MANY) for label in row}, key=str)


def _single(truth: Any, answers: Any, scores: Scores | None, labels: Any, missing: str | None) -> Inputs:
    is_text = isinstance(answers, Parsed)
    told, lost = (None, None) if answers is None or is_text else answers_of(answers, "y_pred", missing)
    told = None if told is None else to_labels(told, "y_pred")
    right = to_labels(truth, "y_true")
    if labels is None and told is not None and disjoint(distinct(right), distinct(told)):
        raise DataError(
            "true and predicted labels have no label in common",
            where=f"y_true: {right[0]}, …; y_pred: {told[0]}, …",
            fix="write the predictions with the labels of the truth, or declare all: labels=[…]",
        )
    found = single_label(right, told, (), Columns(labels=labels or None), is_text)
    if labels is None and isinstance(scores, (Probabilities, Logits, Decisions)):
        _check_width(found.space, scores.values)
    return Inputs(found.space, found.y_true, answers if is_text else with_gaps(found.y_pred, lost))


def refuse_misread(rows: Predictions, *, given: bool, declared: bool) -> None:
    """Refuse labels and scores that contradict each other, as those of a table.

    Parameters
    ----------
    rows : Predictions
    given : bool
        Whether predictions are given, not only scores.
    declared : bool
        Whether the labels are declared.

    Raises
    ------
    DataError
        One true label where three or more are predicted; predictions that agree only with exchanged labels;
        scores in another order than the labels, or reversed.
    """
    if isinstance(rows.space, Multilabel) or not len(rows):
        return
    labels, texts = rows.space.labels, rows.space.texts
    some = slice(None, None, max(1, len(rows) // MOST_COMPARED))
    codes = rows.y_pred if given and rows.y_pred is not None else rows.y_true
    read = np.flatnonzero(codes[some] != UNPARSED)
    known, y_true = (np.asarray(texts)[side[some][read]] for side in (codes, rows.y_true))
    if given and not declared:
        occurring = [labels[code] for code in distinct(rows.y_true).tolist()]
        few = len(distinct(known)) < MANY
        with _fix("declare all labels if the true label is the same in all rows: labels=[…]"):
            refuse_constant("y_true", occurring, len(rows), named=few)
        with _fix("write the predictions with the labels of y_true, or declare all: labels=[…]"):
            refuse_permuted(LabelPairs.from_labels(y_true, known), "y_true")
    if isinstance(rows.scores, NoScores) or len(read) < 2:
        return
    values, pairs = rows.scores.values[some][read], None
    if values.ndim == 2:
        pairs = LabelPairs.from_labels(known, np.asarray(texts)[values.argmax(axis=1)])
        with _fix("declare the labels in the order of the score columns: labels=er.Multiclass([…])"):
            refuse_order(pairs, "scores", texts, given=given, places=True)
    areas = [] if declared else label_areas(values, known, texts, pairs)
    with _fix("pass scores that are greater for the label itself, or declare the labels: labels=…"):
        of = "predicted" if given else "true"
        refuse_reversed(areas, "scores", texts, of=of, plain=values.ndim == 1)


@contextmanager
def _fix(fix: str) -> Iterator[None]:
    """Replace the fix of an error, which names columns of a table."""
    try:
        yield
    except DataError as error:
        raise DataError(error.message.partition(": pass --")[0], where=error.where, fix=fix) from None


def _check_width(space: LabelSpace, values: np.ndarray[Any, Any]) -> None:
    if values.ndim == 2 and values.shape[1] not in (len(space), 1):
        raise UsageError(
            f"there are {values.shape[1]} score columns and {len(space)} labels in the data",
            fix="declare the labels in the order of the columns: labels=er.Multiclass([...])",
        )


def by_name(columns: Any, what: str = "slices") -> dict[str, Any] | None:
    """Return columns by their names; a frame is as good as a mapping.

    Parameters
    ----------
    columns : mapping or frame, optional
    what : str
        The argument, for the error.

    Raises
    ------
    UsageError
    """
    if columns is None:
        return None
    named = hasattr(columns, "items") and (isinstance(columns, Mapping) or hasattr(columns, "columns"))
    if not named:
        raise UsageError(
            f"{what} are {type(columns).__name__}, without names",
            where=what,
            fix=f'name each column, as in {what}={{"site": sites}}',
        )
    for name, values in columns.items():
        if values is None or isinstance(values, (str, bytes, Mapping, Number)):
            raise UsageError(
                f"{what.removesuffix('s')} {name!r} is {type(values).__name__}, not one value per row",
                where=what,
                fix=f"pass a column of values, as in {what}={{{name!r}: sites}}",
            )
    return {str(name): as_array(values) for name, values in columns.items()}


def threshold_of(threshold: Any) -> tuple[float | tuple[float, ...] | None, str | None]:
    """Return a threshold as numbers (one, or one per label), or as an objective.

    Raises
    ------
    UsageError
        A number that is not finite.
    """
    if threshold is None or isinstance(threshold, str):
        return None, threshold
    if isinstance(threshold, Real):
        return _finite(threshold), None
    return tuple(_finite(value) for value in threshold), None


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise UsageError(f"threshold {number} is not finite", where="threshold", fix="pass a finite number")
    return number


def build_request(request: Request | None, named: Mapping[str, Any]) -> Request:
    """Return a request with what keyword arguments say: of columns, of intervals, of the whole.

    Raises
    ------
    UsageError
        A name that there is not; names the nearest.
    """
    base, hints = request or Request(), named_hints()
    for name in named:
        if name not in hints:
            raise UsageError(f"there is no argument {name!r}", where=name, fix=nearest(name, sorted(hints)))
    named = _normalise_arguments(dict(named))
    for name, value in named.items():
        check(name, value, hints[name])
    drawn = {name: value for name, value in named.items() if name in SAMPLING[1:]}
    sampling = replace(base.sampling, **drawn)
    if "confidence" in named:
        sampling = sampling.with_confidence(named["confidence"])
    whole, columns, graded = (
        {field.name: named[field.name] for field in fields(kind) if field.name in named}
        for kind in (Request, Columns, GradeColumns)
    )
    columns |= {"graded": replace(base.columns.graded, **graded)} if graded else {}
    asked = replace(base, **whole)
    return replace(asked, columns=replace(asked.columns, **columns), sampling=sampling)


def _normalise_arguments(named: dict[str, Any]) -> dict[str, Any]:
    """What a person writes in Python, as a request and its columns hold it."""
    labels = named.get("labels")
    named |= {name: str(named[name]) for name in _COLUMNS & named.keys() if isinstance(named[name], int)}
    named |= {name: str(value) for name, value in named.items() if isinstance(value, Path)}
    named |= {name: (named[name],) for name in _SEVERAL & named.keys() if isinstance(named[name], str)}
    if isinstance(labels, (Binary, Multiclass, Multilabel)):
        named |= {"labels": labels.labels, "task": labels.task}
        named |= {"positive": labels.positive} if isinstance(labels, Binary) else {}
        named |= {"ordered": True} if isinstance(labels, Multiclass) and labels.ordered else {}
    elif labels is not None:
        named["labels"] = tuple(rows_of(labels, "labels")) or None
    if isinstance(named.get("threshold"), Real) and not isinstance(named["threshold"], bool):
        named["threshold"] = str(_finite(named["threshold"]))
    if isinstance(named.get("label_names"), Mapping):
        named["label_names"] = tuple((str(label), name) for label, name in named["label_names"].items())
    lists = {n: tuple(v) for n, v in named.items() if isinstance(v, list) or getattr(v, "ndim", 0) == 1}
    return named | lists


def sampling_of(confidence: Any, resamples: Any, seed: Any, constraint_confidence: Any = None) -> Sampling:
    """Return the settings of the intervals.

    Raises
    ------
    UsageError
        A level outside (0, 1), no resamples, a negative seed, a constraint confidence outside (0, 1).
    """
    return Sampling(
        resamples=int(resamples), seed=int(seed), constraint_confidence=constraint_confidence
    ).with_confidence(confidence)


def tuning_rows(tune_on: Evaluation | None) -> Predictions | None:
    """Return the rows that a choice is made on; None where the choice is made on the evaluated rows.

    Raises
    ------
    UsageError
        An evaluation that was read from JSON, without its predictions.
    """
    if tune_on is not None and tune_on.predictions is None:
        raise UsageError(
            "tune_on has no predictions",
            where="tune_on",
            fix="evaluate them in this session, not from JSON",
        )
    return None if tune_on is None else tune_on.predictions
