"""Estimators in Python: one that is fitted, or one that is fitted anew on every fold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.adapters.estimators import Answers, ResponseMethod, answers_of
from evalreport.api.evaluating import evaluate
from evalreport.api.face import face
from evalreport.api.views import Evaluation
from evalreport.cells import to_labels
from evalreport.errors import DataError, UsageError
from evalreport.labels import Label
from evalreport.provenance import Provenance

Array: TypeAlias = npt.NDArray[Any]
OF_ROWS = ("ids", "texts", "slices", "weights", "groups")


@face
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


@face
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
        fitted = _fitted(estimator, X, y, train, fit_params)
        parts.append((test, answers_of(fitted, _rows(X, test), _rows(y, test), **how)))
    rows = np.concatenate([test for test, _ in parts])
    given = {name: _rows(v, rows) if name in OF_ROWS else v for name, v in beside.items()}
    found = _pooled([answers for _, answers in parts])
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
            fix="pass a splitter whose folds part the rows, such as KFold; evaluate repetitions one by one",
        )
    yield from splits


def _fitted(estimator: Any, X: Any, y: Any, train: Array, fit_params: Mapping[str, Any] | None) -> Any:
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


def _pooled(parts: list[Answers]) -> Answers:
    """The answers of all folds, one after the other."""
    known = [part.scores for part in parts if part.scores is not None]
    scores = type(known[0])(np.concatenate([each.values for each in known])) if known else None
    return Answers(parts[0].space, np.concatenate([part.y_pred for part in parts]), scores)
