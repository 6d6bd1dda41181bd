"""Trials from records that a user writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalreport.errors import DataError, nearest
from evalreport.study.values import Trial, plain

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
