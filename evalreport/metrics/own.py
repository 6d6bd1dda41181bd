"""User-defined metrics: functions of the rows, of which the catalogue knows only the name.

On the command line a function is named ``module:function``; in Python the user chooses a name, and a package
adds one by its entry point ("own_metrics" in `evalreport.core.extensions`). Nothing here imports a function:
a name read from a file describes a value and cannot run code.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping
from copy import copy
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import UsageError
from evalreport.core.extensions import extensions, load_function
from evalreport.core.result import Undefined
from evalreport.data.labels import UNPARSED, LabelSpace, Multilabel
from evalreport.data.predictions import OwnFunction, Predictions
from evalreport.data.scores import NoScores, Probabilities
from evalreport.metrics.record import Metric, OwnMetric

Direction: TypeAlias = Literal["higher", "lower"]

NEEDS_ROWS: Final = "a metric of your own needs all rows in memory"
_KNOWN: Final[dict[str, Direction]] = {}
"""Names set in Python, and whether higher or lower values are better."""


def is_own(name: str) -> bool:
    """Return whether a name belongs to a user-defined metric.

    Examples
    --------
    >>> is_own("money:net_gain"), is_own("recall")
    (True, False)
    """
    return ":" in name or name in _KNOWN or name in _names_of_packages()


def load_own_metric(name: str, what: str = "metric") -> OwnFunction:
    """Return the function of a name: of an installed package, else ``module:function``.

    Raises
    ------
    UsageError
        A function that cannot be imported.
    """
    packaged = {one.name: one for one in extensions("own_metrics")}
    function: OwnFunction = packaged[name].load() if name in packaged else load_function(name, what)
    return function


def not_in_memory(name: str, where: str, instead: str) -> UsageError:
    """Return the error of an own metric where a stream counts the rows.

    Parameters
    ----------
    instead : str
        The option that keeps all rows in memory.
    """
    return UsageError(
        f"{name} is a function of all rows, and a stream does not keep them",
        where=where,
        fix=f"pass {instead}, or leave {name} out",
    )


@cache
def _names_of_packages() -> frozenset[str]:
    return frozenset(one.name for one in extensions("own_metrics"))


def direction_of(function: OwnFunction) -> Direction:
    """Return which values of a function are better: its attribute ``better``, or ``higher`` by default.

    Raises
    ------
    UsageError
        The attribute is neither ``higher`` nor ``lower``.
    """
    better = getattr(function, "better", "higher")
    if better not in ("higher", "lower"):
        raise UsageError(
            f"the attribute better of a metric is {better!r}",
            where=getattr(function, "__name__", "metric"),
            fix='set it to "higher" or "lower"',
        )
    return "lower" if better == "lower" else "higher"


def add_own_names(names: Mapping[str, Direction]) -> None:
    """Make names of own metrics known to `is_own` and `own_metric`."""
    _KNOWN.update(names)


def own_metric(name: str) -> Metric:
    """Return the record of a user-defined metric, for any task.

    Examples
    --------
    >>> own_metric("money:net_gain").better
    'higher'
    """
    return Metric(
        name=name,
        title=name,
        meaning="a metric of your own",
        formula=name,
        task="binary",
        needs="truth",
        reads="truth",
        low=-math.inf,
        high=math.inf,
        better=_KNOWN.get(name, "higher"),
        strategy=OwnMetric(),
        function=lambda _: math.nan,
        undefined=NEEDS_ROWS,
    )


class OwnRows:
    """The rows that a user-defined metric receives: labels as in the data, scores, weights and columns.

    Parameters
    ----------
    p : Predictions

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> rows = OwnRows(predictions(Binary("ham", "spam"), ["ham", "spam"], ["ham", "ham"]))
    >>> rows.call("wrong", lambda y_true, y_pred, y_score, weight, columns: (y_true != y_pred).sum())
    1.0
    """

    def __init__(self, p: Predictions) -> None:
        self.space = p.space
        self.is_probability = isinstance(p.scores, Probabilities)
        self._parts: tuple[npt.NDArray[Any] | None, ...] = (
            _labels(p.space, p.y_true),
            None if p.y_pred is None else _labels(p.space, p.y_pred),
            None if isinstance(p.scores, NoScores) else p.scores.values,
            np.asarray(p.weights),
        )
        self._columns: Mapping[str, npt.NDArray[Any]] = p.columns
        self._copied: dict[str, npt.NDArray[Any]] = {}

    def call(
        self, name: str, function: OwnFunction, rows: npt.NDArray[np.intp] | None = None
    ) -> float | Undefined:
        """Return the value of a metric over some rows (positions; all by default), or why it is undefined."""
        parts = [None if part is None else part if rows is None else part[rows] for part in self._parts]
        columns = self._columns if rows is None else _Selected(self._columns, rows, self._copied)
        n = float(len(self._parts[0]) if rows is None else len(rows))  # type: ignore[arg-type]
        try:
            if _is_scorer(function):
                value = _scored(function, self.space, parts, is_probability=self.is_probability)
            else:
                value = function(*parts, columns)
        except Exception as error:  # whatever the user's code raises
            text = str(error).partition("\n")[0][:120]
            return Undefined(f"{name} raised {type(error).__name__}: {text}", n)
        return _number(name, value, n)

    def with_decisions(self, codes: npt.NDArray[Any]) -> OwnRows:
        """Return the same rows with other predictions, given as codes of labels."""
        found = copy(self)
        found._parts = (self._parts[0], _labels(self.space, codes), *self._parts[2:])
        return found

    def replicate(self, name: str, function: OwnFunction, rows: npt.NDArray[np.intp]) -> float:
        """Return the value over resampled rows; NaN if it is undefined."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = self.call(name, function, rows)
        return math.nan if isinstance(value, Undefined) else value


class _Selected(Mapping[str, npt.NDArray[Any]]):
    """Columns of selected rows; each column is loaded once for all selections."""

    def __init__(
        self,
        columns: Mapping[str, npt.NDArray[Any]],
        rows: npt.NDArray[np.intp],
        known: dict[str, npt.NDArray[Any]],
    ) -> None:
        self._columns, self._rows, self._known = columns, rows, known

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self._known:
            self._known[name] = self._columns[name]
        selected: npt.NDArray[Any] = self._known[name][self._rows]
        return selected

    def __iter__(self) -> Any:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def _labels(space: LabelSpace, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels as in the data: 0 or 1 per label if multilabel, None for a missing prediction."""
    if isinstance(space, Multilabel):
        return codes.astype(np.int8)
    if (codes == UNPARSED).any():
        known: npt.NDArray[Any] = np.array([*space.labels, None], dtype=object)
    else:
        known = np.array(space.labels)
    return np.asarray(known[codes])


def _number(name: str, value: Any, n: float) -> float | Undefined:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (str, bytes)) or not isinstance(value, (int, float, np.number, np.bool_)):
        kind = "an array" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
        return Undefined(f"{name} returned {kind}, not a number", n)
    if not math.isfinite(value):
        return Undefined(f"{name} returned {'NaN' if math.isnan(value) else float(value)}", n)
    return float(value)


def _is_scorer(function: OwnFunction) -> bool:
    """Return whether a function is a scikit-learn scorer: ``scorer(estimator, X, y_true)``."""
    return type(function).__module__.startswith("sklearn.metrics") and not inspect.isfunction(function)


def _scored(
    scorer: OwnFunction,
    space: LabelSpace,
    parts: list[npt.NDArray[Any] | None],
    *,
    is_probability: bool,
) -> Any:
    """Call a scikit-learn scorer with an estimator that returns the predictions of these rows."""
    y_true, y_pred, y_score, weight = parts
    estimator = _fixed_estimator(space, y_pred, y_score, is_probability=is_probability)
    rows = np.zeros((len(y_true), 1))  # type: ignore[arg-type]
    weighted = weight is not None and bool((weight != 1).any())
    return scorer(estimator, rows, y_true, **({"sample_weight": weight} if weighted else {}))


def _fixed_estimator(
    space: LabelSpace,
    y_pred: npt.NDArray[Any] | None,
    y_score: npt.NDArray[Any] | None,
    *,
    is_probability: bool,
) -> Any:
    """Return a fitted classifier that returns these values for any input."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class FixedPredictions(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        classes_ = np.array(space.labels)

        def fit(self, *_: Any) -> FixedPredictions:
            return self

        def __sklearn_is_fitted__(self) -> bool:
            return True

        if y_pred is not None:

            def predict(self, _: Any) -> Any:
                return y_pred

        if y_score is not None and is_probability:

            def predict_proba(self, _: Any) -> Any:
                return np.column_stack([1 - y_score, y_score]) if y_score.ndim == 1 else y_score

        elif y_score is not None:

            def decision_function(self, _: Any) -> Any:
                return y_score

    return FixedPredictions()
