"""What a fitted estimator answers, read by scikit-learn's interfaces: `classes_`, `predict_proba` and kin.

Whatever has these is an estimator: pipelines and searches, XGBoost, LightGBM and CatBoost classifiers.
scikit-learn itself is not imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from evalreport.cells import to_labels
from evalreport.errors import DataError, UsageError
from evalreport.labels import Binary, Label, LabelSpace, Multiclass, Multilabel
from evalreport.scores import Decisions, Probabilities

Array: TypeAlias = npt.NDArray[Any]
ResponseMethod: TypeAlias = Literal["auto", "predict_proba", "decision_function", "predict"]
"""As scikit-learn's scorers name it: where the scores come from; ``predict`` is answers alone."""
_METHODS: tuple[Literal["predict_proba", "decision_function"], ...] = ("predict_proba", "decision_function")


@dataclass(frozen=True, eq=False)
class Answers:
    """What an estimator says of rows, in a label space.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    y_pred : array of shape (n,), or (n, labels) of indicators
    scores : Probabilities, Decisions or None
    """

    space: LabelSpace
    y_pred: Array
    scores: Probabilities | Decisions | None


def answers_of(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    labels: Sequence[Label] | None = None,
    positive: Label | None = None,
    response_method: ResponseMethod = "auto",
) -> Answers:
    """Return what a fitted classifier says of rows.

    Parameters
    ----------
    estimator : object with ``predict``, and ``classes_`` where it has scores
    X : whatever its ``predict`` takes
    y : array-like of shape (n,), or (n, labels) of indicators
        The truth: labels that the estimator has never met are part of the problem as well.
    labels : sequence of labels, optional
        The label set in its order, else ``classes_`` and what else the truth holds; of several labels per
        row the names, else a frame's columns or 0, 1, ….
    positive : label, optional
        Positive label of two; else the second of ``classes_``.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}
        ``auto`` takes the first of them that the estimator has.

    Raises
    ------
    UsageError
        Neither labels nor scores can be had from the estimator in this way.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["ham", "ham", "spam", "spam"]
    >>> found = answers_of(LogisticRegression().fit(X, y), X, y)
    >>> found.space, type(found.scores).__name__
    (Binary(negative='ham', positive='spam'), 'Probabilities')
    """
    if not hasattr(estimator, "predict"):
        raise UsageError(
            f"{type(estimator).__name__} has no predict", where="estimator", fix="pass a classifier"
        )
    method = _method(estimator, response_method)
    truth = np.asarray(y)
    answered = np.asarray(estimator.predict(X))
    values = None if method is None else getattr(estimator, method)(X)
    if truth.ndim == 2 and truth.shape[1] > 1:
        return _multilabel(estimator, y, answered, method, values, labels)
    answered = answered.reshape(len(answered), -1)[:, 0]  # CatBoost answers in one column
    declared = None if labels is None else [_plain(label) for label in labels]
    return _single(estimator, to_labels(truth.reshape(-1), "y"), answered, method, values, declared, positive)


def _method(estimator: Any, wanted: str) -> str | None:
    """Return the method that the scores come from: the wanted one, or the first that there is."""
    if wanted not in get_args(ResponseMethod):
        raise UsageError(
            f"there is no response method {wanted!r}",
            where="response_method",
            fix=f"pass one of {', '.join(get_args(ResponseMethod))}",
        )
    if wanted == "auto":
        return next((name for name in _METHODS if hasattr(estimator, name)), None)
    if not hasattr(estimator, wanted):
        raise UsageError(
            f"{type(estimator).__name__} has no {wanted}", where="response_method", fix="pass 'auto'"
        )
    return None if wanted == "predict" else wanted


def _single(
    estimator: Any,
    truth: Array,
    answered: Array,
    method: str | None,
    values: Any,
    declared: list[Label] | None,
    positive: Label | None,
) -> Answers:
    known = getattr(estimator, "classes_", None)
    answered = to_labels(answered, "predictions")
    classes = (answered if known is None else to_labels(known, "classes_")).tolist()
    space = _space(declared or _every([*classes, *truth.tolist()], ordered=known is not None), positive)
    if method is None:
        return Answers(space, answered, None)
    if known is None:
        raise UsageError(
            f"{type(estimator).__name__} has {method} and no classes_, which say what its columns mean",
            where="estimator",
            fix="set classes_, or pass response_method='predict'",
        )
    return Answers(space, answered, _scores(space, classes, method, values))


def _plain(label: Any) -> Label:
    found: Label = label.item() if isinstance(label, np.generic) else label
    return found


def _every(labels: Sequence[Any], *, ordered: bool) -> list[Label]:
    """Each label once: those of the estimator in its order, then those that only the truth has."""
    once = list(dict.fromkeys(map(_plain, labels)))
    return once if ordered else sorted(once, key=lambda label: (str(type(label)), label))


def _space(labels: list[Label], positive: Label | None) -> LabelSpace:
    if positive is not None and positive not in labels:
        raise UsageError(
            f"the positive label {positive!r} is none of {', '.join(map(repr, labels))}",
            where="positive",
            fix="name one of them",
        )
    match labels:
        case [one]:
            raise DataError(
                f"there is one label alone, {one!r}", where="y", fix="evaluate rows of both classes"
            )
        case [first, second]:
            return (
                Binary(second, first) if positive == first and positive is not None else Binary(first, second)
            )
        case _:
            return Multiclass(labels)


def _scores(space: LabelSpace, classes: list[Label], method: str, values: Any) -> Probabilities | Decisions:
    table = np.asarray(values, dtype=np.float64)
    if isinstance(space, Binary) and table.ndim == 1:
        return Decisions(table if classes[-1] == space.positive else -table)
    if table.ndim == 1:
        table = np.column_stack([-table, table])
    if table.shape[1] != len(classes):
        raise UsageError(
            f"{method} has {table.shape[1]} columns for {len(classes)} classes",
            where="response_method",
            fix="pass decision_function_shape='ovr' to the estimator, or response_method='predict' here",
        )
    table = _with_unseen(table, classes, list(space.labels), method)
    kind = Probabilities if method == "predict_proba" else Decisions
    return kind(table[:, 1] if isinstance(space, Binary) else table)


def _with_unseen(table: Array, classes: list[Label], labels: list[Label], method: str) -> Array:
    """Put the columns into the order of the labels; one that was never met has probability 0."""
    unseen = [label for label in labels if label not in classes]
    if unseen and method != "predict_proba":
        raise UsageError(
            f"the estimator has never met {', '.join(map(repr, unseen))}, so {method} has no score of it",
            where="y",
            fix="train on every class (StratifiedKFold), or pass response_method='predict'",
        )
    wide = np.zeros((len(table), len(labels)))
    for place, label in enumerate(labels):
        if label in classes:
            wide[:, place] = table[:, classes.index(label)]
    return wide


def _multilabel(
    estimator: Any, y: Any, answered: Array, method: str | None, values: Any, labels: Sequence[Label] | None
) -> Answers:
    """Several labels per row, as indicators: of `MultiOutputClassifier`, chains, one-vs-rest, trees."""
    truth = np.asarray(y)
    if not np.isin(truth, (0, 1)).all() or not np.isin(answered, (0, 1)).all():
        raise UsageError(
            "y has several columns, and they hold more than 0 and 1",
            where="y",
            fix="evaluate each output on its own; several labels per row are indicators",
        )
    named = list(getattr(y, "columns", range(truth.shape[1]))) if labels is None else list(labels)
    space = Multilabel([_plain(name) for name in named])
    if method is None:
        return Answers(space, answered.astype(bool), None)
    per_output = isinstance(values, list)
    columns = _of_outputs(estimator, values) if per_output else np.asarray(values, dtype=np.float64)
    if columns.shape != truth.shape:
        raise UsageError(
            f"{method} has shape {columns.shape} for {truth.shape[1]} labels",
            where="response_method",
            fix="pass response_method='predict'",
        )
    kind = Probabilities if method == "predict_proba" else Decisions
    return Answers(space, answered.astype(bool), kind(columns))


def _of_outputs(estimator: Any, values: list[Any]) -> Array:
    """The column of label 1 of each output; an output that met one class alone is certain of it."""
    columns = []
    for classes, table in zip(estimator.classes_, values, strict=True):
        met = [_plain(label) for label in classes]
        columns.append(np.asarray(table)[:, met.index(1)] if 1 in met else np.zeros(len(table)))
    return np.column_stack(columns)
