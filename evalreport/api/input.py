"""Checks the arguments of the Python interface and turns arrays, frames and files into predictions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache, wraps
from inspect import signature
from numbers import Integral, Number, Real
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from evalreport.adapters.frames import is_frame
from evalreport.columns.column_request import Columns, GradeColumns
from evalreport.columns.label_pairs import LabelPairs, distinct
from evalreport.columns.nested import indicators_of
from evalreport.columns.plausible import (
    MOST_COMPARED,
    disjoint,
    label_areas,
    refuse_constant,
    refuse_order,
    refuse_permuted,
    refuse_quantities,
    refuse_reversed,
)
from evalreport.columns.read_labels import single_label
from evalreport.core.errors import DataError, EvalreportError, UsageError, nearest
from evalreport.data.arrays import as_array, to_labels
from evalreport.data.labels import (
    UNPARSED,
    Binary,
    Label,
    LabelSpace,
    Multiclass,
    Multilabel,
    Parsed,
    column_order,
)
from evalreport.data.predictions import Predictions, answers_of, with_gaps
from evalreport.data.scores import Decisions, Logits, NoScores, Probabilities, Scores, index_of
from evalreport.evaluation.evaluation import Evaluation
from evalreport.intervals.interval_settings import Sampling
from evalreport.workflow.request import Request

P = ParamSpec("P")
R = TypeVar("R")

SAMPLING = ("confidence", "resamples", "seed", "constraint_confidence")
_KINDS: dict[Any, Any] = {bool: (bool, np.bool_), int: Integral, float: Real}
_TYPE_WORDS: dict[Any, str] = {bool: "True or False", int: "a whole number", float: "a number", str: "text"}
_TYPE_WORDS |= {Mapping: "a mapping", Path: "a path", Literal: "text", np.floating: "a number"}
_ARRAYS = {"truth": "y_true", "pred": "y_pred", "score": "scores", "score_kind": "scores"}
_ARRAYS |= {"show_text": "texts"} | {name: f"{name}s" for name in ("id", "group", "fold", "weight")}
"""What the columns of a file are called where they are arrays."""
_WRAPPED = {"logit": "er.Logits(…)", "decision": "er.Decisions(…)"}
_PYTHON = {"slice": "slices", "sort_by": "primary", "metric": "metrics", "output": "path", "response": "text"}
_PYTHON |= {"show_text": "example_text", "repeats": "several_answers", "constraint_confidence": "hold"}
_WORDS = (
    "alone|and|are|as|both|column|counts|for|given|has|holds|in|is|label|names|needs|once|one|or|out|takes|that|"
    "the|to|which|with|without"
)
"""Words that follow an option in a sentence and are not its value."""
_SPARK = ("--set engine=spark --set table", "er.evaluate_spark")
_VALUE = r"""('[^']*'|"[^"]*"|[^\s-]?\S*[^\s,;:.)?-])"""
_OPTION = re.compile(
    rf"--(?:set ([a-z_]+)(?:={_VALUE})?|([a-z]+(?:-[a-z]+)*)(?: (?!(?:{_WORDS})\b){_VALUE})?)"
)
"""A setting, its value, an option, its value."""


def public_api(function: Callable[P, R]) -> Callable[P, R]:
    """Return a public function that refuses what its hints do not take, and whose errors name keywords.

    Examples
    --------
    >>> @public_api
    ... def half(value: float) -> float:
    ...     return value / 2
    >>> half("x")
    Traceback (most recent call last):
    evalreport.core.errors.UsageError: value is 'x', not a number
    """
    parameters = signature(function).parameters

    @wraps(function)
    def checked_call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            for name, value in (*zip(parameters, args, strict=False), *kwargs.items()):
                if name in parameters and name != "scores":  # whose own error is clearer
                    check(name, value, _hints(function)[name])
            return function(*args, **kwargs)
        except EvalreportError as error:
            first = args[0] if args else kwargs.get("y_true")
            of_frame = "columns" in parameters and ("weights" not in parameters or is_frame(first))
            as_python_keywords(
                error, named_hints() | _hints(function), _PYTHON if of_frame else _PYTHON | _ARRAYS
            )
            raise

    return checked_call


@cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    of_features = ("SystemsComparison", "PlottedStudy")  # features check what they are given
    later: dict[str, Any] = {"pd": SimpleNamespace(DataFrame=Any), **dict.fromkeys(of_features, Any)}
    return get_type_hints(function, localns=later)


@cache
def named_hints() -> dict[str, Any]:
    """Return the keyword arguments that go with a frame or a file, with their hints."""
    sampling = {name: get_type_hints(Sampling).get(name, float | None) for name in SAMPLING}
    return {**get_type_hints(GradeColumns), **get_type_hints(Columns), **get_type_hints(Request), **sampling}


def check(name: str, value: Any, hint: Any) -> None:
    """Refuse a value that is not of its hint.

    Examples
    --------
    >>> check("metrics", ["f1", 3], Sequence[str])
    Traceback (most recent call last):
    evalreport.core.errors.UsageError: metrics[1] is 3, not text
    """
    misfit = _misfit(name, value, hint)
    if misfit is not None:
        name, value, hint = misfit
        shown = repr(value) if isinstance(value, (str, int, float, NoneType)) else type(value).__name__
        hint_text = _describe_hint(hint)
        raise UsageError(f"{name} is {shown[:60]}, not {hint_text}", where=name, fix=f"pass {hint_text}")


def _misfit(name: str, value: Any, hint: Any) -> tuple[str, Any, Any] | None:
    """The part of a value that is not of its hint, by its name."""
    parts = [_entries(arm, value) for arm in _arms(hint) if _fits(value, arm)]
    found = [
        next(filter(None, (_misfit(f"{name}[{key!r}]", part, kind) for key, part, kind in entries)), None)
        for entries in parts
    ]
    return None if None in found else found[0] if found else (name, value, hint)


def _arms(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _entries(hint: Any, value: Any) -> list[tuple[Any, Any, Any]]:
    """Key, part and hint of what a mapping or a sequence holds."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Mapping:
        return [(key, part, args[1]) for key, part in value.items()]
    if origin in (Sequence, tuple) and not _is_open(args[0]):
        return [(place, part, args[0]) for place, part in enumerate(value)]
    return []


def _is_open(hint: Any) -> bool:
    """Whether another function checks the items of a sequence."""
    return hint is Any or set(get_args(Label)) <= set(_arms(hint))


def _fits(value: Any, hint: Any) -> bool:
    origin, args = get_origin(hint), get_args(hint)
    kind = str if origin is Literal else origin or hint
    if kind in (Sequence, tuple):
        return _is_several(value, args)
    if not isinstance(kind, type) or kind is Any or getattr(kind, "_is_protocol", False):
        return True
    truth_value = isinstance(value, (bool, np.bool_)) and kind in (int, float)
    return isinstance(value, _KINDS.get(kind, kind)) and not truth_value


def _is_several(value: Any, args: tuple[Any, ...]) -> bool:
    """Whether a value has as many entries as a sequence or tuple of these hints."""
    if isinstance(value, (str, bytes, Mapping, set)) or getattr(value, "ndim", 1) == 0:
        return False
    if _is_open(args[0]):
        return isinstance(value, Iterable)
    listed = isinstance(value, Sequence) or getattr(value, "ndim", 0) == 1
    return listed and (len(args) == 1 or args[-1] is Ellipsis or len(value) == len(args))


def _describe_hint(hint: Any) -> str:
    """What a hint takes, in words."""
    origin, args = get_origin(hint), get_args(hint)
    if _is_open(hint):
        return "a label"
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_describe_hint(arm) for arm in args if arm is not NoneType))
    if origin in (Sequence, tuple):
        return f"a sequence of {_describe_hint(args[0]).removeprefix('a ').rstrip('s')}s"
    return _TYPE_WORDS.get(origin or hint) or str(getattr(origin or hint, "__name__", hint))


def as_python_keywords(error: EvalreportError, known: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """Spell the options that an error names as the keyword arguments that they are in Python.

    Examples
    --------
    >>> error = UsageError("not 1", where="--set weight", fix="pass --set engine=memory, or --set fuzzy")
    >>> as_python_keywords(error, {"weights": Any, "engine": str, "fuzzy": bool}, {"weight": "weights"})
    >>> print(error.as_lines())
    error: not 1
      at   weights
      fix  pass engine="memory", or fuzzy=True
    """

    def replace_option(found: re.Match[str]) -> str:
        option, value = (found[1], found[2]) if found[1] else (found[3].replace("-", "_"), found[4])
        name = names.get(option, option)
        if name not in known and name not in names.values():
            return found[0]
        if known.get(name) is bool:
            return f"{name}=True" if found[1] or value is None else f"{name}=True {value}"
        if value is None:
            return f"{name}="
        if name == "scores" and value in _WRAPPED:
            return f"{name}={_WRAPPED[value]}"
        plain = value.strip("'\"")
        if name == "labels":
            return f"{name}={plain.split(',')}"
        return f"{name}={plain}" if re.fullmatch(r"[\d.]+", plain) else f'{name}="{plain}"'

    error.message, where, error.fix = (
        _OPTION.sub(replace_option, text.replace(*_SPARK)).replace("scores= or scores=", "scores=")
        for text in (error.message, error.where, error.fix)
    )
    error.where, error.args = where.removesuffix("="), (error.message, *error.args[1:])


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
    evalreport.core.errors.UsageError: scores are list with values outside of [0, 1]: their kind is unknown
    """
    if scores is not None and not isinstance(scores, KINDS) and not fits:
        raise UsageError(
            f"scores are {type(scores).__name__} with values outside of [0, 1]: their kind is unknown",
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
    predicted, lost = (None, None) if answers is None or is_text else answers_of(answers, "y_pred", missing)
    predicted = None if predicted is None else to_labels(predicted, "y_pred")
    right = to_labels(truth, "y_true")
    if labels is None and predicted is not None and disjoint(distinct(right), distinct(predicted)):
        raise DataError(
            "true and predicted labels have no label in common",
            where=f"y_true: {right[0]}, …; y_pred: {predicted[0]}, …",
            fix="use the same labels in y_true and y_pred, or declare all: labels=[…]",
        )
    found = single_label(right, predicted, (), Columns(labels=labels or None), is_text)
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
        with _fix("declare the labels if they are classes: labels=[…]"):
            sides = [np.asarray(labels)[side[some][read]] for side in (rows.y_true, codes)]
            refuse_quantities(sides[0], sides[1], "y_true", scored=not isinstance(rows.scores, NoScores))
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
