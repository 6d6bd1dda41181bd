"""Trials from records that a user writes.

`Trials`: all that a sweep tried, with its best, its history and its columns.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from evalreport.core.errors import DataError, UsageError, nearest
from evalreport.core.json_codec import decode, encode
from evalreport.thresholds.trial import (
    STATES,
    Param,
    ParameterColumn,
    Space,
    State,
    StudyObjective,
    Trial,
    is_number,
    plain,
)

if TYPE_CHECKING:
    import pandas as pd

_KEYS = (
    "number",
    "state",
    "value",
    "values",
    "params",
    "intermediate",
    "started",
    "finished",
    "run_id",
)


def trial_from_record(row: Mapping[str, Any], position: int) -> Trial:
    """Return one trial from a user's mapping; see `Trials.from_records`.

    Raises
    ------
    DataError
        An unknown key, or a value that is no number.
    """
    unknown = [key for key in row if key not in _KEYS]
    if unknown:
        raise DataError(
            f"a trial has no field {unknown[0]!r}",
            where=f"record {position}",
            fix=nearest(str(unknown[0]), _KEYS),
        )
    values = _values(row, position)
    return Trial(
        int(row.get("number", position)),
        row.get("state", "complete" if values else "failed"),
        values,
        {str(name): plain(value) for name, value in row.get("params", {}).items()},
        tuple((int(step), float(value)) for step, value in row.get("intermediate", {}).items()),
        row.get("started"),
        row.get("finished"),
        row.get("run_id"),
    )


def _values(row: Mapping[str, Any], position: int) -> tuple[float, ...]:
    given = row.get("values", row.get("value"))
    if given is None:
        return ()
    try:
        return tuple(float(value) for value in (given if isinstance(given, list | tuple) else [given]))
    except (TypeError, ValueError):
        raise DataError(
            f"value {given!r} is not a number",
            where=f"record {position}",
            fix="give a number, or leave the value out of a trial that has none",
        ) from None


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """One trial in the order of the study.

    Parameters
    ----------
    number : int
        Trial.
    state : str
    value : float or None
        Value of the objective; None where the trial has none that is finite.
    best : float or None
        Best value of the complete trials up to and with this one; None before the first.
    """

    number: int
    state: State
    value: float | None
    best: float | None


@dataclass(frozen=True)
class Trials:
    """What a sweep tried.

    Parameters
    ----------
    objectives : tuple of StudyObjective
        At least one.
    trials : tuple of Trial
        At least one; kept in the order of their numbers.
    source : str
        Where they were read, for the reader.
    study_name : str or None
    space : tuple of Space
        What the sweep declared of its parameters; may be empty.
    notes : tuple of str
        What the reader has to know of how the trials were read (an assumed direction, …).

    Raises
    ------
    DataError
        No trial, no objective, a number twice, or a complete trial without its values.

    Examples
    --------
    >>> trials = Trials.from_records(
    ...     [{"params": {"C": 0.1}, "value": 0.7}, {"params": {"C": 1.0}, "value": 0.8}],
    ...     objectives="f1",
    ... )
    >>> trials.best().params["C"]
    1.0
    """

    KEYS: ClassVar = ("schema", "source", "study_name", "objectives", "space", "notes", "trials")
    schema: ClassVar = 1
    objectives: tuple[StudyObjective, ...]
    trials: tuple[Trial, ...]
    source: str
    study_name: str | None = None
    space: tuple[Space, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check(self)
        ordered = tuple(sorted(self.trials, key=lambda trial: trial.number))
        object.__setattr__(self, "trials", ordered)

    def __repr__(self) -> str:
        goals = ", ".join(f"{goal.name} ({goal.direction})" for goal in self.objectives)
        return f"Trials({len(self.trials)} trials of {goals}: {len(self.completed_trials)} complete)"

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def counts(self) -> dict[State, int]:
        """Number of trials in each state, every state named."""
        found = Counter(trial.state for trial in self.trials)
        return {state: found[state] for state in STATES}

    @cached_property
    def completed_trials(self) -> tuple[Trial, ...]:
        """Trials that ran to their end and break no constraint, with non-finite values or without."""
        return tuple(trial for trial in self.trials if trial.state == "complete")

    @cached_property
    def wordy(self) -> frozenset[str]:
        """Names of the parameters that some trial gave a word or a truth value."""
        return frozenset(
            name
            for trial in self.trials
            for name, value in trial.params.items()
            if isinstance(value, bool | str)
        )

    @cached_property
    def contenders(self) -> tuple[Trial, ...]:
        """Completed trials whose values are all finite: the only ones that can be best."""
        return tuple(trial for trial in self.trials if trial.finite)

    @property
    def n_non_finite(self) -> int:
        """Number of completed trials with a NaN or infinite value."""
        return len(self.completed_trials) - len(self.contenders)

    def index_of(self, objective: str | None = None) -> int:
        """Return the position of an objective; None means the only one.

        Raises
        ------
        UsageError
            No such objective, or several and none named.
        """
        names = [known.name for known in self.objectives]
        if objective is None and len(names) == 1:
            return 0
        if objective is None:
            raise UsageError(
                f"the study has {len(names)} objectives", fix=f"name one of them: {', '.join(names)}"
            )
        if objective not in names:
            raise UsageError(f"the study has no objective {objective!r}", fix=nearest(objective, names))
        return names.index(objective)

    def best(self, objective: str | None = None) -> Trial:
        """Return the best completed trial that is feasible, the earliest among equals.

        Raises
        ------
        DataError
            No trial completed with a finite value, or none of those meets the constraints.
        UsageError
            Several objectives and none named.
        """
        at = self.index_of(objective)
        sign = self.objectives[at].sign
        return max(self._some_contenders(), key=lambda trial: (sign * trial.values[at], -trial.number))

    def pareto(self) -> tuple[Trial, ...]:
        """Return the completed trials that no other beats in one objective without losing in another.

        Raises
        ------
        DataError
            No trial completed with finite values, or none of those meets the constraints.
        """
        signs = [objective.sign for objective in self.objectives]
        scored = [
            (tuple(sign * value for sign, value in zip(signs, trial.values, strict=True)), trial)
            for trial in self._some_contenders()
        ]
        front: list[tuple[tuple[float, ...], Trial]] = []
        last = len(signs) <= 2  # of two objectives the one falls, so the other has to rise: the last decides
        for point, trial in sorted(scored, key=lambda pair: pair[0], reverse=True):
            if not any(_dominates(other, point) for other, _ in (front[-1:] if last else front)):
                front.append((point, trial))
        return tuple(sorted((trial for _, trial in front), key=lambda trial: trial.number))

    def history(self, objective: str | None = None) -> tuple[HistoryPoint, ...]:
        """Return value and best so far of each trial, in the order of the study.

        Raises
        ------
        UsageError
            Several objectives and none named.
        """
        at = self.index_of(objective)
        goal = self.objectives[at]
        best: float | None = None
        points = []
        for trial in self.trials:
            value = trial.value_of(at)
            if value is not None and not math.isfinite(value):
                value = None
            if trial.finite and value is not None and (best is None or goal.better(value, best)):
                best = value
            points.append(HistoryPoint(trial.number, trial.state, value, best))
        return tuple(points)

    @cached_property
    def params(self) -> tuple[str, ...]:
        """Names of all parameters, in the order of their first appearance."""
        return tuple(dict.fromkeys(name for trial in self.trials for name in trial.params))

    def column(self, name: str) -> ParameterColumn:
        """Return one parameter over all trials, typed, with gaps where it was not drawn.

        Raises
        ------
        UsageError
            No such parameter.
        """
        if name not in self.params:
            raise UsageError(f"the study has no parameter {name!r}", fix=nearest(name, self.params))
        return self.columns[self.params.index(name)]

    @property
    def columns(self) -> tuple[ParameterColumn, ...]:
        """Every parameter as a column over all trials."""
        return self.columns_over(self.trials)

    def columns_over(self, trials: Sequence[Trial]) -> tuple[ParameterColumn, ...]:
        """Return every parameter as a column over some of the trials, as over `contenders`."""
        declared = {space.name: space for space in self.space}
        rows = [trial.params for trial in trials]
        return tuple(make_column(name, rows, declared.get(name)) for name in self.params)

    @classmethod
    def from_records(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        objectives: str | StudyObjective | Sequence[str | StudyObjective],
        source: str = "records",
        study_name: str | None = None,
    ) -> Trials:
        """Build the value from plain mappings, for sweeps that no reader knows.

        Parameters
        ----------
        rows : iterable of mapping
            Keys ``params`` and ``value`` (or ``values``, one per objective); optional ``number``,
            ``state``, ``intermediate`` (mapping of step to value), ``started``, ``finished``,
            ``run_id``. Without ``state`` a row with a value is complete, one without has failed.
        objectives : str, StudyObjective or a sequence of them
            A bare name is maximised.
        source, study_name : str
            Shown to the reader.

        Raises
        ------
        DataError
            An unknown key, a value that is no number, or what `Trials` refuses.

        Examples
        --------
        >>> rows = [{"params": {"lr": 0.1}, "value": 0.4}, {"params": {"lr": 9.0}}]
        >>> Trials.from_records(rows, objectives=StudyObjective("loss", "minimize")).counts["failed"]
        1
        """
        given: Any = objectives
        single = isinstance(given, str) or not isinstance(given, Iterable)
        named = [given] if single else list(given)
        if not all(isinstance(goal, str | StudyObjective) for goal in named):
            raise DataError("an objective is no name", where="objectives", fix="name the metric, as in 'f1'")
        goals = tuple(goal if isinstance(goal, StudyObjective) else StudyObjective(goal) for goal in named)
        trials = tuple(trial_from_record(row, position) for position, row in enumerate(rows))
        return cls(goals, trials, source, study_name)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        data: dict[str, Any] = encode(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trials:
        """Rebuild the value from `to_dict()`.

        Raises
        ------
        DataError
            Written by another version of the schema, incomplete, or changed.
        """
        made: Trials = decode(cls, data, "trials")
        return made

    def to_frame(self) -> pd.DataFrame:
        """Return one row per trial: number, state, objectives, ``params.*``, times and run."""
        import pandas as pd

        frame = {"number": [trial.number for trial in self.trials]}
        columns: dict[str, list[Any]] = {**frame, "state": [trial.state for trial in self.trials]}
        for at, goal in enumerate(self.objectives):
            columns[goal.name] = [trial.value_of(at) for trial in self.trials]
        for name in self.params:
            columns[f"params.{name}"] = [trial.params.get(name) for trial in self.trials]
        for key in ("started", "finished", "duration", "run_id"):
            columns[key] = [getattr(trial, key) for trial in self.trials]
        return pd.DataFrame(columns)

    def _some_contenders(self) -> tuple[Trial, ...]:
        if self.contenders:
            return self.contenders
        states = ", ".join(f"{count} {state}" for state, count in self.counts.items() if count)
        odd = f", {self.n_non_finite} of them with NaN or infinite values" if self.n_non_finite else ""
        where = f"{self.source}: {states}{odd}"
        if self.counts["infeasible"]:
            raise DataError(
                "no trial meets the constraints of the study, so that none is the best",
                where=where,
                fix="run more trials, or relax the constraints",
            )
        raise DataError(
            "no trial completed with a finite value",
            where=where,
            fix="let at least one trial finish, or look at why they failed",
        )


def _dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def _check(study: Trials) -> None:
    if not study.objectives:
        raise DataError("the study names no objective", where=study.source, fix="name the metric")
    if not study.trials:
        raise DataError("the study holds no trial", where=study.source, fix="run the sweep first")
    _check_distinct([goal.name for goal in study.objectives], "objective", study.source)
    _check_distinct([trial.number for trial in study.trials], "trial number", study.source)
    for trial in study.trials:
        if trial.state in {"complete", "infeasible"} and len(trial.values) != len(study.objectives):
            raise DataError(
                f"trial {trial.number} is {trial.state} with {len(trial.values)} values "
                f"for {len(study.objectives)} objectives",
                where=f"{study.source}, trial {trial.number}",
                fix="give one value per objective, or another state",
            )


def _check_distinct(items: Sequence[object], what: str, where: str) -> None:
    item, count = Counter(items).most_common(1)[0]
    if count > 1:
        raise DataError(
            f"{what} {item} stands {count} times in the study", where=where, fix=f"give each {what} once"
        )


def make_column(name: str, rows: Sequence[Mapping[str, Param]], space: Space | None) -> ParameterColumn:
    """Return one parameter as a typed column.

    Parameters
    ----------
    name : str
    rows : sequence of mapping
        Parameters of each trial.
    space : Space or None
        What the sweep declared of it.

    Examples
    --------
    >>> make_column("depth", [{"depth": 3}, {}], None).values
    (3.0, None)
    """
    present = [row[name] for row in rows if name in row]
    declared = bool(space and space.choices)
    if not declared and present and all(is_number(value) for value in present):
        return _numeric(name, rows, space)
    values = tuple(str(row[name]) if name in row else None for row in rows)
    order = list(space.choices) if space else []
    extra = sorted({value for value in present if value not in order}, key=_by_size)
    choices = tuple(dict.fromkeys(str(choice) for choice in (*order, *extra)))
    return ParameterColumn(name, "categorical", values, choices=choices)


def _numeric(name: str, rows: Sequence[Mapping[str, Param]], space: Space | None) -> ParameterColumn:
    values = tuple(float(row[name]) if name in row else None for row in rows)  # type: ignore[arg-type]
    ends = [value for value in values if value is not None]
    ends += [end for end in ((space.low, space.high) if space else ()) if end is not None]
    low, high = min(ends), max(ends)
    log = low > 0 and (space.log if space else high >= 100 * low)
    whole = all(isinstance(row[name], int) for row in rows if name in row)
    return ParameterColumn(name, "number", values, low, high, log, whole)


def _by_size(value: Param) -> tuple[bool, float, str]:
    """Order numbers by size, before text by letter."""
    number = is_number(value)
    return not number, float(value) if number else 0.0, str(value)  # type: ignore[arg-type]
