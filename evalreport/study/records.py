"""Trials to and from plain data: JSON without loss, and records that a user writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evalreport.errors import DataError, nearest
from evalreport.study.values import Param, Space, Trial, plain

SCHEMA = 1
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


def _number_out(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _param_out(value: Param) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def _param_in(value: Any) -> Param:
    return float(value["float"]) if isinstance(value, Mapping) else value


def trial_to_dict(trial: Trial) -> dict[str, Any]:
    """Return a trial as JSON-ready data."""
    return {
        "number": trial.number,
        "state": trial.state,
        "values": [_number_out(value) for value in trial.values],
        "params": {name: _param_out(value) for name, value in trial.params.items()},
        "intermediate": [[step, _number_out(value)] for step, value in trial.intermediate],
        "started": trial.started,
        "finished": trial.finished,
        "run_id": trial.run_id,
    }


def trial_from_dict(data: Mapping[str, Any]) -> Trial:
    """Rebuild a trial from `trial_to_dict`."""
    return Trial(
        data["number"],
        data["state"],
        tuple(float(value) for value in data["values"]),
        {name: _param_in(value) for name, value in data["params"].items()},
        tuple((step, float(value)) for step, value in data["intermediate"]),
        data["started"],
        data["finished"],
        data["run_id"],
    )


def space_to_dict(space: Space) -> dict[str, Any]:
    """Return a searched space as JSON-ready data."""
    return {
        "name": space.name,
        "low": space.low,
        "high": space.high,
        "log": space.log,
        "choices": [_param_out(choice) for choice in space.choices],
    }


def space_from_dict(data: Mapping[str, Any]) -> Space:
    """Rebuild a searched space from `space_to_dict`."""
    choices = tuple(_param_in(choice) for choice in data["choices"])
    return Space(data["name"], data["low"], data["high"], data["log"], choices)


def check_schema(data: Mapping[str, Any]) -> None:
    """Refuse data that another version of the schema wrote.

    Raises
    ------
    DataError
    """
    if data.get("schema") != SCHEMA:
        raise DataError(
            f"trials are of schema {data.get('schema')!r}, not {SCHEMA}",
            fix="read them with the release of evalreport that wrote them",
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
