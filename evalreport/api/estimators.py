"""What a fitted estimator answers, read by scikit-learn's interfaces: `classes_`, `predict_proba` and kin.

Whatever has these is an estimator: pipelines and searches, XGBoost, LightGBM and CatBoost classifiers.
scikit-learn itself is not imported.

Estimators in Python: one that is fitted, or one that is fitted on every fold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from evalreport.api.evaluate import Evaluation, evaluate
from evalreport.api.input import public_api
from evalreport.core.errors import DataError, UsageError
from evalreport.core.result import Provenance
from evalreport.data.arrays import to_labels
from evalreport.data.labels import Binary, Label, LabelSpace, Multiclass, Multilabel
from evalreport.data.scores import Decisions, Probabilities

Array: TypeAlias = npt.NDArray[Any]
ResponseMethod: TypeAlias = Literal["auto", "predict_proba", "decision_function", "predict"]
"""As scikit-learn's scorers name it: where the scores come from; ``predict`` uses labels only."""
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
            f"{type(estimator).__name__} has {method} but no classes_, which name its columns",
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
                f"there is only one label, {one!r}", where="y", fix="evaluate rows of both classes"
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
            f"the estimator was not trained on {', '.join(map(repr, unseen))}, so {method} has no "
            "score for it",
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
            fix="evaluate each output separately; several labels per row are indicators",
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
    """The column of label 1 of each output; an output that was trained on one class has probability 1."""
    columns = []
    for classes, table in zip(estimator.classes_, values, strict=True):
        met = [_plain(label) for label in classes]
        columns.append(np.asarray(table)[:, met.index(1)] if 1 in met else np.zeros(len(table)))
    return np.column_stack(columns)


OF_ROWS = ("ids", "texts", "slices", "weights", "groups")


@public_api
def evaluate_estimator(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    labels: Sequence[Label] | None = None,
    positive: Label | None = None,
    response_method: ResponseMethod = "auto",
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    **more: Any,
) -> Evaluation:
    """Evaluate a fitted classifier, or whatever has its interfaces: a pipeline, a search, a booster.

    Parameters
    ----------
    estimator : object with ``predict``, and ``classes_`` where it has scores
    X : whatever its ``predict`` takes
    y : array-like of shape (n,), or (n, labels) of indicators
    labels : sequence of labels, optional
        The label set in its order, else ``classes_``; of indicators the names, else a frame's columns.
    positive : label, optional
        Positive label of two; else the second of ``classes_``.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}
        Where the scores come from; ``auto`` takes the first that the estimator has, ``predict`` is answers
        alone.
    sample_weight, groups : array-like of shape (n,), optional
    **more
        ``ids``, ``slices``, ``texts``, ``threshold``, ``confidence``, … of `evaluate`.

    Returns
    -------
    Evaluation
        Decided by ``predict``, ranked by the scores.

    Raises
    ------
    EvalreportError
        Scores that do not fit the classes; data that cannot be evaluated.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["ham", "ham", "spam", "spam"]
    >>> evaluate_estimator(LogisticRegression().fit(X, y), X, y)["roc_auc"].value
    1.0
    """
    found = answers_of(estimator, X, y, labels=labels, positive=positive, response_method=response_method)
    more |= {"weights": sample_weight, "groups": groups}
    return evaluate(_truth(y), found.y_pred, found.scores, found.space, **more)


@public_api
def cross_evaluate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    groups: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    fit_params: Mapping[str, Any] | None = None,
    labels: Sequence[Label] | None = None,
    positive: Label | None = None,
    response_method: ResponseMethod = "auto",
    **more: Any,
) -> Evaluation:
    """Fit a clone of an estimator on every fold and evaluate what it says of the rest.

    Parameters
    ----------
    estimator : a scikit-learn classifier, or what `sklearn.base.clone` clones
    X : array-like, sparse matrix or frame of n rows
    y : array-like of shape (n,), or (n, labels) of indicators
    cv : int, splitter or iterable of (train, test), optional
        As for `sklearn.model_selection.cross_validate`: five stratified folds without it. No row may be
        tested twice.
    groups : array-like of shape (n,), optional
        For the splitter, and rows that belong together for the intervals.
    sample_weight : array-like of shape (n,), optional
        Of the evaluation; to fit with them, too, pass them in `fit_params` as well.
    fit_params : mapping, optional
        To ``fit``; what has n entries is cut to the fold.
    labels, positive, response_method, **more
        See `evaluate_estimator`. `ids` are the numbers of the rows without any.

    Returns
    -------
    Evaluation
        Of the rows that the models were not fitted on; `Evaluation.folds` holds each fold. Counts are pooled,
        ranking and calibration are means over the folds.

    Raises
    ------
    DataError
        A row is tested twice.
    EvalreportError
        See `evaluate_estimator`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.arange(40.0)[:, None]
    >>> found = cross_evaluate(LogisticRegression(), X, X[:, 0] % 20 > 9, cv=4)
    >>> found.folds["accuracy"].how, found.folds["roc_auc"].how, found.folds.rows
    ('pooled', 'mean over folds', (10, 10, 10, 10))
    """
    truth = _truth(y)
    if truth.ndim == 1 and labels is None:
        labels = np.unique(to_labels(truth, "y")).tolist()
    how: dict[str, Any] = {"labels": labels, "positive": positive, "response_method": response_method}
    beside = {"ids": np.arange(len(truth)), **more, "weights": sample_weight, "groups": groups}
    parts: list[tuple[Array, Answers]] = []
    for train, test in _splits(estimator, X, truth, cv, groups):
        fitted = _fit_clone(estimator, X, y, train, fit_params)
        parts.append((test, answers_of(fitted, _rows(X, test), _rows(y, test), **how)))
    rows = np.concatenate([test for test, _ in parts])
    given = {name: _rows(v, rows) if name in OF_ROWS else v for name, v in beside.items()}
    found = _concatenate_folds([answers for _, answers in parts])
    folds = np.repeat(np.arange(len(parts)), [len(test) for test, _ in parts])
    ev = evaluate(truth[rows], found.y_pred, found.scores, found.space, folds=folds, **given)
    untested = len(truth) - len(rows)
    note = f"{untested:,} of {len(truth):,} rows are in no fold"
    return ev.with_provenance(Provenance(notes=(note,))) if untested else ev


def _truth(y: Any) -> Array:
    truth = np.asarray(y)
    return truth if truth.ndim == 2 and truth.shape[1] > 1 else truth.reshape(-1)


def _splits(estimator: Any, X: Any, truth: Array, cv: Any, groups: Any) -> Iterator[tuple[Array, Array]]:
    """Rows to fit on and to test on, fold by fold, each row tested once at most."""
    from sklearn.base import is_classifier
    from sklearn.model_selection import check_cv

    try:
        splits = list(check_cv(cv, truth, classifier=is_classifier(estimator)).split(X, truth, groups))
        times = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(truth))
    except (AttributeError, TypeError, ValueError) as error:
        raise UsageError(
            f"the rows cannot be split into folds: {str(error).splitlines()[0][:120]}",
            where="cross_evaluate",
            fix="pass a scikit-learn classifier, as many rows of X as of y, and cv=5 or a splitter",
        ) from error
    if (times > 1).any():
        raise DataError(
            f"{int((times > 1).sum())} rows are tested more than once",
            where=f"cv, first: row {int(np.flatnonzero(times > 1)[0])}",
            fix="pass a splitter with disjoint test folds, such as KFold; evaluate repetitions separately",
        )
    yield from splits


def _fit_clone(estimator: Any, X: Any, y: Any, train: Array, fit_params: Mapping[str, Any] | None) -> Any:
    from sklearn.base import clone

    n = len(y)
    given = {name: _rows(v, train) if _has_rows(v, n) else v for name, v in (fit_params or {}).items()}
    return clone(estimator).fit(_rows(X, train), _rows(y, train), **given)


def _has_rows(values: Any, n: int) -> bool:
    return hasattr(values, "__len__") and not isinstance(values, (str, Mapping)) and len(values) == n


def _rows(values: Any, rows: Array) -> Any:
    """Some rows of an array, a sparse matrix, a frame or a list."""
    if values is None:
        return None
    if isinstance(values, Mapping):
        return {name: _rows(column, rows) for name, column in values.items()}
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    return values[rows] if hasattr(values, "shape") else [values[row] for row in rows.tolist()]


def _concatenate_folds(parts: list[Answers]) -> Answers:
    """The answers of all folds, one after the other."""
    known = [part.scores for part in parts if part.scores is not None]
    scores = type(known[0])(np.concatenate([each.values for each in known])) if known else None
    return Answers(parts[0].space, np.concatenate([part.y_pred for part in parts]), scores)
