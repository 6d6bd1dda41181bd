"""Several numbers chosen together, one per label: what they reach on the rows of the choice and on others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from evalreport.errors import UsageError
from evalreport.facts.counts import Array, Places
from evalreport.intervals.sampling import Sampling
from evalreport.predictions import Predictions
from evalreport.study import Trials
from evalreport.study.search import Search
from evalreport.thresholds.cross_fitting import FOLDS, check_alike, estimated
from evalreport.thresholds.records import Method, OutOfSample, Tuned
from evalreport.values import Undefined


@dataclass(frozen=True, eq=False)
class JointChoice:
    """What was chosen on some rows: one number per label, and how good it looks there."""

    values: Array
    value: float
    method: Method
    starts: Mapping[str, float]
    trials: Trials | None = None


class Problem(Protocol):
    """Rows to choose numbers on, and to measure them on."""

    @property
    def name(self) -> str:
        """Name of the objective."""
        ...

    @property
    def weights(self) -> Array:
        """Weight of each row."""
        ...

    @property
    def unit(self) -> Places:
        """Group of each row; the row itself where there are no groups."""
        ...

    @property
    def rounds(self) -> int:
        """How many times rows are dealt into folds."""
        ...

    @property
    def plain(self) -> Array | None:
        """The numbers that nobody chose, where there are such."""
        ...

    def take(self, rows: npt.NDArray[np.bool_]) -> Self:
        """Return the problem on some rows."""
        ...

    def choose(self, search: Search | None) -> JointChoice:
        """Return the best numbers on these rows."""
        ...

    def decide(self, values: Array) -> npt.NDArray[Any]:
        """Return the decisions that numbers lead to."""
        ...

    def value(self, decided: npt.NDArray[Any]) -> float:
        """Return the value of decisions on these rows."""
        ...

    def drawn(self, decided: npt.NDArray[Any], sampling: Sampling) -> Array:
        """Return the value of decisions on resamples of these rows; none where that costs too much."""
        ...


def units_of(rows: Predictions) -> Places:
    """Return the group of each row; the row itself where there are no groups."""
    return np.arange(len(rows)) if rows.groups is None else rows.groups.codes.astype(np.intp)


def tuned(
    problem: Callable[[Predictions], Problem | None],
    rows: Predictions,
    tune_on: Predictions | None,
    search: Search | None,
    sampling: Sampling,
    needs: str,
) -> Tuned | Undefined:
    """Choose on other rows and measure on one's own; without others, choose on one's own and cross-fit.

    Parameters
    ----------
    problem : callable
        From rows to the problem on them; None where they have no scores to choose by.
    needs : str
        What rows without scores lack, in words.
    """
    if tune_on is not None:
        check_alike(rows, tune_on)
    own, other = problem(rows), None if tune_on is None else problem(tune_on)
    if own is None or (tune_on is not None and other is None):
        return Undefined(needs, float(rows.weights.sum()))
    choice = (own if other is None else other).choose(search)
    if other is not None:
        out_of_sample = _measured(own, own.decide(choice.values), "other rows", sampling)
    elif choice.method == "bayes":
        out_of_sample = _measured(own, own.decide(choice.values), "nothing was fitted", sampling)
    else:
        out_of_sample = _cross_fitted(own, choice, sampling)
    values = dict(zip(rows.space.names, choice.values.tolist(), strict=True))
    without = None if own.plain is None else own.value(own.decide(own.plain))
    return Tuned(
        own.name,
        values,
        choice.value,
        out_of_sample.value,
        out_of_sample.method,
        choice.method,
        choice.starts,
        choice.trials,
        without,
    )


def called(function: Callable[..., Any] | None, name: str, takes: str, *given: Any) -> float:
    """Return the number that an objective of the user's makes of what it is given.

    Raises
    ------
    UsageError
        Whatever went wrong inside of it.
    """
    assert function is not None  # noqa: S101  an objective of this kind has one
    try:
        return float(function(*given))
    except Exception as error:
        raise UsageError(
            f"objective {name!r} raised {type(error).__name__}: {error}",
            where="objective",
            fix=f"it is called with {takes} and returns a number",
        ) from error


def _cross_fitted(own: Problem, choice: JointChoice, sampling: Sampling) -> OutOfSample:
    if choice.method == "optuna":
        reason = "a search is not repeated in folds: choose on other rows (--tune-on)"
        return OutOfSample(Undefined(reason), None, "cross-fitted")
    if len(np.unique(own.unit)) < FOLDS:
        return too_few()
    rng = sampling.generator(7)
    found = [
        _measured(own, _decided(own, dealt(own.unit, FOLDS, rng)), "cross-fitted", sampling)
        for _ in range(own.rounds)
    ]
    return middle_of_rounds(found)


def too_few() -> OutOfSample:
    """Return that there are too few rows to choose on some and judge on others."""
    few = Undefined(f"cross-fitting needs at least {FOLDS} rows or groups")
    return OutOfSample(few, None, "cross-fitted")


def middle_of_rounds(found: Sequence[OutOfSample]) -> OutOfSample:
    """Return the middle value of those that rows dealt anew have given."""
    return sorted(found, key=lambda out_of_sample: out_of_sample.value.value or 0.0)[len(found) // 2]


def _decided(own: Problem, fold: Places) -> npt.NDArray[Any]:
    """Decisions of each fold by the numbers that the other folds chose."""
    parts = [own.take(fold == i).decide(own.take(fold != i).choose(None).values) for i in range(FOLDS)]
    decided = np.zeros((len(fold), *parts[0].shape[1:]), dtype=parts[0].dtype)
    for i, part in enumerate(parts):
        decided[fold == i] = part
    return decided


def _measured(own: Problem, decided: npt.NDArray[Any], method: str, sampling: Sampling) -> OutOfSample:
    drawn = own.drawn(decided, sampling)
    return OutOfSample(
        estimated(own.name, own.value(decided), drawn, float(own.weights.sum()), sampling), None, method
    )


def dealt(unit: Places, folds: int, rng: np.random.Generator) -> Places:
    """Return a random fold of each row; a group stays together.

    Examples
    --------
    >>> fold = dealt(np.array([0, 0, 1, 2]), 3, np.random.default_rng(0))
    >>> bool(fold[0] == fold[1]), len(set(fold.tolist()))
    (True, 3)
    """
    fold = rng.permutation(int(unit.max()) + 1) % folds
    found: Places = fold[unit]
    return found
