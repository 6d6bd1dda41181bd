"""Trials to and from plain data: JSON without loss, and records that a user writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from evalreport.codec import Whole, alike
from evalreport.errors import DataError, nearest
from evalreport.study.values import Param, Space, State, StudyObjective, Trial, plain

SCHEMA: Literal[1] = 1
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


Odd: TypeAlias = Literal["nan", "inf", "-inf"]
Number: TypeAlias = float | Odd
"""What JSON has no number for is text."""


@dataclass(frozen=True)
class OddParam:
    """A parameter that is no finite number; as an object, it is not taken for text."""

    float: Odd


ParamRecord: TypeAlias = str | int | float | bool | OddParam | None


@dataclass(frozen=True)
class TrialRecord:
    """A trial."""

    number: Whole
    state: State
    values: tuple[Number, ...]
    params: Mapping[str, ParamRecord]
    intermediate: tuple[tuple[int, Number], ...]
    started: float | None
    finished: float | None
    run_id: str | None


@dataclass(frozen=True)
class SpaceRecord:
    """Where a parameter was searched."""

    name: str
    low: float | None
    high: float | None
    log: bool
    choices: tuple[ParamRecord, ...]


@dataclass(frozen=True)
class TrialsRecord:
    """All trials of a study."""

    schema: Literal[1]
    source: str
    study_name: str | None
    objectives: tuple[StudyObjective, ...]
    space: tuple[SpaceRecord, ...]
    notes: tuple[str, ...]
    trials: tuple[TrialRecord, ...]


def _number_out(value: float) -> Number:
    odd: Mapping[str, Odd] = {"nan": "nan", "inf": "inf", "-inf": "-inf"}
    return value if math.isfinite(value) else odd[str(value)]


def _param_out(value: Param) -> ParamRecord:
    if isinstance(value, float) and not math.isfinite(value):
        odd = _number_out(value)
        assert isinstance(odd, str)  # noqa: S101  no number stands for what is not finite
        return OddParam(odd)
    return value


def _param_in(value: ParamRecord) -> Param:
    return float(value.float) if isinstance(value, OddParam) else value


def trial_to_wire(trial: Trial) -> TrialRecord:
    """Return a trial as JSON holds it."""
    own: dict[str, Any] = {
        "values": tuple(map(_number_out, trial.values)),
        "params": {name: _param_out(value) for name, value in trial.params.items()},
        "intermediate": tuple((step, _number_out(value)) for step, value in trial.intermediate),
    }
    return TrialRecord(**(alike(trial, TrialRecord) | own))


def trial_from_wire(record: TrialRecord) -> Trial:
    """Return the trial that JSON holds."""
    own: dict[str, Any] = {
        "values": tuple(map(float, record.values)),
        "params": {name: _param_in(value) for name, value in record.params.items()},
        "intermediate": tuple((step, float(value)) for step, value in record.intermediate),
    }
    return Trial(**(alike(record, Trial) | own))


def space_to_wire(space: Space) -> SpaceRecord:
    """Return a searched space as JSON holds it."""
    return SpaceRecord(space.name, space.low, space.high, space.log, tuple(map(_param_out, space.choices)))


def space_from_wire(record: SpaceRecord) -> Space:
    """Return the searched space that JSON holds."""
    return Space(record.name, record.low, record.high, record.log, tuple(map(_param_in, record.choices)))


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
