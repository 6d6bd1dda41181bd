"""Estimators in Python: one that is fitted, or one that is fitted anew on every fold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.adapters.estimators import Answers, ResponseMethod, answers_of
from evalreport.api.evaluating import evaluate
from evalreport.api.views import Evaluation
from evalreport.cells import to_labels
from evalreport.errors import DataError
from evalreport.labels import Label
from evalreport.metrics.catalogue import catalogue
from evalreport.provenance import Provenance
from evalreport.values import Estimate, Undefined

if TYPE_CHECKING:
    import pandas as pd

Array: TypeAlias = npt.NDArray[Any]
PER_FOLD = ("scores", "probabilities")
"""What a metric needs whose value over all folds is the mean of theirs: the scores of models that were fitted
on different rows are not on one scale (Forman & Scholz 2010; Airola et al. 2011)."""
OF_ROWS = ("ids", "texts", "slices")


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


@dataclass(frozen=True)
class FoldedMetric:
    """One metric of a cross-validation.

    Parameters
    ----------
    name : str
    how : {"pooled", "mean over folds"}
        Which of both is its value: of counts the pooled one, of ranking and calibration the mean.
    pooled : Estimate or Undefined
        Over the out-of-fold rows of all folds at once.
    mean : Estimate or Undefined
        The plain mean over the folds in which it is defined; without an interval.
    folds : tuple of float or None
        Fold by fold; None where it is undefined.
    """

    name: str
    how: Literal["pooled", "mean over folds"]
    pooled: Estimate | Undefined
    mean: Estimate | Undefined
    folds: tuple[float | None, ...]

    @property
    def value(self) -> float | None:
        """The value of the metric; None where it is undefined."""
        return (self.pooled if self.how == "pooled" else self.mean).value


@dataclass(frozen=True, eq=False)
class CrossEvaluation:
    """A cross-validation; made by `cross_evaluate`. ``found[name]`` is a `FoldedMetric`.

    Parameters
    ----------
    folds : tuple of Evaluation
        Of the rows that each model was not fitted on.
    pooled : Evaluation
        Of all these rows at once; `er.report` and `er.log` take it.
    untested : int
        Rows that are in no fold.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> found = cross_evaluate(DummyClassifier(), np.zeros((30, 1)), [0, 0, 1] * 10, cv=3)
    >>> found["accuracy"].value, found["roc_auc"].value, found["roc_auc"].folds
    (0.666..., 0.5, (0.5, 0.5, 0.5))
    """

    folds: tuple[Evaluation, ...]
    pooled: Evaluation
    untested: int = 0

    @property
    def table(self) -> tuple[FoldedMetric, ...]:
        """Every metric with its pooled value and its mean over the folds, in the order of the catalogue."""
        return tuple(self[name] for name in self.pooled.metrics)

    def __getitem__(self, name: str) -> FoldedMetric:
        pooled = self.pooled[name]
        values = tuple(fold[name].value for fold in self.folds)
        needs = {metric.name: metric.needs for metric in catalogue(self.pooled.space)}
        how: Literal["pooled", "mean over folds"] = (
            "mean over folds" if needs.get(name) in PER_FOLD else "pooled"
        )
        return FoldedMetric(name, how, pooled, _mean(values, pooled), values)

    def to_frame(self) -> pd.DataFrame:
        """Return the table: a row per metric with value, how, pooled, low, high, mean and each fold."""
        import pandas as pd

        rows = {}
        for line in self.table:
            ends = {name: getattr(line.pooled, name, None) for name in ("low", "high")}
            folds = {f"fold_{place}": value for place, value in enumerate(line.folds)}
            both = {"pooled": line.pooled.value, **ends, "mean": line.mean.value}
            rows[line.name] = {"value": line.value, "how": line.how, **both, **folds}
        return pd.DataFrame.from_dict(rows, orient="index")

    def __repr__(self) -> str:
        return f"CrossEvaluation({len(self.folds)} folds, pooled: {self.pooled!r})"


def _mean(values: tuple[float | None, ...], pooled: Estimate | Undefined) -> Estimate | Undefined:
    known = [value for value in values if value is not None]
    if not known:
        return Undefined("undefined in every fold", pooled.n)
    left = len(values) - len(known)
    told = f"; {left} of {len(values)} folds, where it is undefined, are left out" if left else ""
    return Estimate(float(np.mean(known)), pooled.n, reason=f"a mean over folds has no interval here{told}")


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
) -> CrossEvaluation:
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
    CrossEvaluation

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
    >>> found["accuracy"].how, found["roc_auc"].how, len(found.folds)
    ('pooled', 'mean over folds', 4)
    """
    truth = _truth(y)
    if truth.ndim == 1 and labels is None:
        labels = np.unique(to_labels(truth, "y")).tolist()
    how: dict[str, Any] = {"labels": labels, "positive": positive, "response_method": response_method}
    beside = {"ids": np.arange(len(truth)), **more, "weights": sample_weight, "groups": groups}
    parts: list[tuple[Array, Answers]] = []
    folds = []
    for train, test in _splits(estimator, X, truth, cv, groups):
        found = answers_of(_fitted(estimator, X, y, train, fit_params), _rows(X, test), _rows(y, test), **how)
        parts.append((test, found))
        folds.append(_evaluated(truth, test, found, beside))
    rows = np.concatenate([test for test, _ in parts])
    pooled = _evaluated(truth, rows, _pooled([found for _, found in parts]), beside)
    note = f"out-of-fold rows of {len(folds)} models, whose scores are not on one scale"
    pooled = pooled.with_provenance(Provenance(notes=(note,)))
    return CrossEvaluation(tuple(folds), pooled, len(truth) - len(rows))


def _truth(y: Any) -> Array:
    truth = np.asarray(y)
    return truth if truth.ndim == 2 and truth.shape[1] > 1 else truth.reshape(-1)


def _splits(estimator: Any, X: Any, truth: Array, cv: Any, groups: Any) -> Iterator[tuple[Array, Array]]:
    """Rows to fit on and to test on, fold by fold, each row tested once at most."""
    from sklearn.base import is_classifier
    from sklearn.model_selection import check_cv

    splits = list(check_cv(cv, truth, classifier=is_classifier(estimator)).split(X, truth, groups))
    times = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(truth))
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


def _evaluated(truth: Array, rows: Array, found: Answers, beside: Mapping[str, Any]) -> Evaluation:
    of_rows = {*OF_ROWS, "weights", "groups"}
    given = {name: _rows(v, rows) if name in of_rows else v for name, v in beside.items()}
    return evaluate(truth[rows], found.y_pred, found.scores, found.space, **given)


def _pooled(parts: list[Answers]) -> Answers:
    """The answers of all folds, one after the other."""
    known = [part.scores for part in parts if part.scores is not None]
    scores = type(known[0])(np.concatenate([each.values for each in known])) if known else None
    return Answers(parts[0].space, np.concatenate([part.y_pred for part in parts]), scores)
