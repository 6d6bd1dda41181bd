"""Which parameters mattered, by Optuna's evaluators on a study rebuilt in memory from `Trials`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from evalreport.core.result import Undefined
from evalreport.thresholds.search import quiet_optuna
from evalreport.thresholds.trial import (
    Direction,
    ParameterColumn,
)
from evalreport.thresholds.trials import Trials

Method = Literal["fANOVA", "PED-ANOVA"]

LEAST_TRIALS = 10
"""Below this many completed trials a share says nothing (chosen by hand)."""
MOST_TRIALS = 200
"""Up to here fANOVA takes about a second; PED-ANOVA serves beyond."""
_TREES = 16
"""Trees of the forest of fANOVA, and their depth: chosen by hand for speed, a quarter of Optuna's 64."""

MEANINGS: Mapping[Method, str] = {
    "fANOVA": "share of the variation of the value over the searched space that each parameter causes alone",
    "PED-ANOVA": "how far each parameter's settings in the best tenth of the trials differ from those in all",
}


@dataclass(frozen=True, slots=True)
class Importance:
    """Share of each parameter in what made the values differ.

    Parameters
    ----------
    objective : str
    method : {"fANOVA", "PED-ANOVA"}
    shares : tuple of (str, float)
        Parameters with their shares, greatest first; the shares are in [0, 1] and sum to 1.
    left_out : tuple of (str, str)
        Parameters without a share, and why.
    n_trials : int
        Completed trials that it rests on.
    """

    objective: str
    method: Method
    shares: tuple[tuple[str, float], ...]
    left_out: tuple[tuple[str, str], ...]
    n_trials: int

    @property
    def meaning(self) -> str:
        """What a share says, in words."""
        return MEANINGS[self.method]

    def to_wire(self) -> dict[str, Any]:
        """Return the shares by parameter."""
        return {
            "method": self.method,
            "meaning": self.meaning,
            "shares": dict(self.shares),
            "left_out": dict(self.left_out),
            "n_trials": self.n_trials,
        }


def importance(trials: Trials, objective: str | None = None, *, seed: int = 0) -> Importance | Undefined:
    """Return the importance of every parameter for an objective.

    fANOVA (Hutter, Hoos & Leyton-Brown 2014) where every trial has every parameter and there are at most
    `MOST_TRIALS` trials; PED-ANOVA (Watanabe, Bansal & Hutter 2023), which allows for conditional
    parameters, otherwise. Parameters on a logarithmic scale are taken by their logarithm.

    Parameters
    ----------
    trials : Trials
    objective : str
        Which one, when the study has several.
    seed : int
        Of the forest of fANOVA.

    Returns
    -------
    Importance or Undefined
        Undefined for fewer than `LEAST_TRIALS` completed trials, equal values, or constant parameters.

    Raises
    ------
    MissingExtraError
        Optuna is not installed.
    UsageError
        No such objective, or several and none named.

    Examples
    --------
    >>> rows = [{"params": {"C": c, "noise": c * 7 % 5}, "value": c / 20} for c in range(20)]
    >>> found = importance(Trials.from_records(rows, objectives="f1"))
    >>> found.method, found.shares[0][0]
    ('fANOVA', 'C')
    """
    at = trials.index_of(objective)
    goal, rivals = trials.objectives[at], trials.contenders
    columns, left_out = _usable(trials)
    values = [trial.values[at] for trial in rivals]
    if reason := _why_not(values, columns):
        return Undefined(reason, len(rivals))
    conditional = any(column.gaps for column in columns)
    method: Method = "PED-ANOVA" if conditional or len(rivals) > MOST_TRIALS else "fANOVA"
    if method == "fANOVA":  # its trees would look at a logarithmic parameter on the plain scale
        columns = [_by_logarithm(column) if column.log else column for column in columns]
    found = _evaluate(goal.direction, values, columns, _evaluator(method, seed))
    total = sum(found.values())
    if not total > 0 or not math.isfinite(total):
        return Undefined("no parameter sets the better trials apart from the others", len(rivals))
    shares = sorted(((name, share / total) for name, share in found.items()), key=lambda pair: -pair[1])
    return Importance(goal.name, method, tuple(shares), left_out, len(rivals))


def _usable(trials: Trials) -> tuple[list[ParameterColumn], tuple[tuple[str, str], ...]]:
    """Columns over the completed trials that vary, and the parameters left out with the reason."""
    columns, left_out = [], []
    for column in trials.columns_over(trials.contenders):
        if column.gaps == len(trials.contenders):
            left_out.append((column.name, "in no completed trial"))
        elif column.constant:
            left_out.append((column.name, "the same in every completed trial"))
        else:
            columns.append(column)
    return columns, tuple(left_out)


def _why_not(values: Sequence[float], columns: Sequence[ParameterColumn]) -> str | None:
    if len(values) < LEAST_TRIALS:
        return f"importance needs at least {LEAST_TRIALS} completed trials; there are {len(values)}"
    if len(set(values)) == 1:
        return "every completed trial has the same value"
    if not columns:
        return "no parameter differs between the completed trials"
    return None


def _evaluator(method: Method, seed: int) -> Callable[[Any], Any]:
    if method == "fANOVA":
        return lambda kinds: kinds.FanovaImportanceEvaluator(n_trees=_TREES, max_depth=_TREES, seed=seed)
    return lambda kinds: kinds.PedAnovaImportanceEvaluator()


def _evaluate(
    direction: Direction,
    values: Sequence[float],
    columns: Sequence[ParameterColumn],
    evaluator: Callable[[Any], Any],
) -> dict[str, float]:
    with quiet_optuna() as optuna:
        distributions = {column.name: _distribution(optuna, column) for column in columns}
        study = optuna.create_study(direction=direction)
        rows = enumerate(values)
        study.add_trials([_rebuilt(optuna, value, row, columns, distributions) for row, value in rows])
        try:
            found = evaluator(optuna.importance).evaluate(study)
        except (RuntimeError, AssertionError):  # a forest of leaves alone, or a variance lost in rounding
            return {}
    return {name: max(float(share), 0.0) for name, share in found.items()}


def _by_logarithm(column: ParameterColumn) -> ParameterColumn:
    values = tuple(None if value is None else math.log(float(value)) for value in column.values)
    low, high = math.log(column.low), math.log(column.high)
    return replace(column, values=values, low=low, high=high, log=False, whole=False)


def _distribution(optuna: Any, column: ParameterColumn) -> Any:
    kinds = optuna.distributions
    if column.kind == "categorical":
        return kinds.CategoricalDistribution(column.choices)
    if column.whole:
        return kinds.IntDistribution(math.floor(column.low), math.ceil(column.high), log=column.log)
    return kinds.FloatDistribution(column.low, column.high, log=column.log)


def _rebuilt(
    optuna: Any, value: float, row: int, columns: Sequence[ParameterColumn], distributions: Mapping[str, Any]
) -> Any:
    entries = {column.name: column.values[row] for column in columns}
    params = {name: entry for name, entry in entries.items() if entry is not None}
    drawn = {name: distributions[name] for name in params}
    return optuna.trial.create_trial(value=value, params=params, distributions=drawn)
