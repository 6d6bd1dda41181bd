"""Which trials meet the constraints of their study; those that do not are never the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalreport.thresholds.search import trials_of
from evalreport.thresholds.trial import Trial
from evalreport.thresholds.trials import Trials

KEY = "constraints"
"""Optuna's attribute: a list of all values, or ``constraints:NAME`` for each of them; 0 or less is met."""

Constraints = Mapping[str, float]
"""Value of each constraint of a trial by its name; empty where none is recorded."""


def constraints_of(attributes: Mapping[str, object]) -> Constraints:
    """Return the constraint values among the attributes of a trial.

    Parameters
    ----------
    attributes : mapping
        As Optuna stores them; what is not a number counts as not met.

    Examples
    --------
    >>> constraints_of({"constraints": [0.5, -1.0], "other": 3})
    {'0': 0.5, '1': -1.0}
    >>> constraints_of({"constraints:latency": -2.0})
    {'latency': -2.0}
    """
    found: dict[str, float] = {}
    for name, value in attributes.items():
        if name == KEY and isinstance(value, list | tuple):
            found |= {str(place): _number(one) for place, one in enumerate(value)}
        elif name == KEY and value is not None:
            found["0"] = _number(value)
        elif name.startswith(f"{KEY}:"):
            found[name.removeprefix(f"{KEY}:")] = _number(value)
    return found


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def mark_infeasible(
    trials: Sequence[Trial], constraints: Sequence[Constraints]
) -> tuple[tuple[Trial, ...], tuple[str, ...]]:
    """Return the trials, the complete ones that break a constraint as infeasible, and notes on them.

    In a study with constraints, a complete trial without any recorded value is not known to meet them and
    counts as infeasible, which a note says: Optuna's samplers differ by release, and its `best_trial`
    would accept such a trial.

    Parameters
    ----------
    trials : sequence of Trial
    constraints : sequence of mapping from name to value
        Of each trial, in the same order.

    Examples
    --------
    >>> trials = [Trial(0, "complete", (0.9,)), Trial(1, "complete", (0.8,))]
    >>> [trial.state for trial in mark_infeasible(trials, [{"0": 0.1}, {"0": 0.0}])[0]]
    ['infeasible', 'complete']
    """
    if not any(constraints):
        return tuple(trials), ()
    made, unknown = [], 0
    for trial, values in zip(trials, constraints, strict=True):
        met = bool(values) and all(value <= 0 for value in values.values())  # NaN is not met
        broken = trial.state == "complete" and not met
        unknown += broken and not values
        made.append(replace(trial, state="infeasible") if broken else trial)
    note = (
        f"complete trials without a recorded constraint value, counted as infeasible: {unknown:,}"
        " (Optuna's best_trial accepts them)"
    )
    return tuple(made), ((note,) if unknown else ())


def constrained_trials(study: Any, source: str) -> Trials:
    """Return all that an Optuna study tried, those that break its constraints as infeasible."""
    found = trials_of(study, source)
    frozen = sorted(study.get_trials(deepcopy=False), key=lambda trial: trial.number)
    constraints = [constraints_of(trial.system_attrs) for trial in frozen]
    trials, notes = mark_infeasible(found.trials, constraints)
    return replace(found, trials=trials, notes=notes)
