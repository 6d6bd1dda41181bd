"""From values to plain JSON data."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

PLAIN = frozenset({str, int, bool, type(None)})
"""Types whose values are JSON as they are."""


def encode(value: Any) -> Any:
    """Return a value as plain JSON data: what is not finite is null.

    Parameters
    ----------
    value : dataclass, mapping, list, tuple, NumPy scalar, str, number, bool or None

    Examples
    --------
    >>> encode({"limits": (0.5, math.inf), "n": np.int64(3)})
    {'limits': [0.5, None], 'n': 3}
    """
    kind = type(value)  # fifty thousand times a page: what it is exactly is asked first
    if kind in PLAIN or (kind is float and math.isfinite(value)) or isinstance(value, (str, int)):
        return value
    match value:
        case float():
            return float(value) if math.isfinite(value) else None
        case np.generic():
            return encode(value.item())
        case Mapping():
            return {str(key): encode(entry) for key, entry in value.items()}
        case list() | tuple():
            return [encode(entry) for entry in value]
        case _:
            return encode(value.to_wire()) if hasattr(value, "to_wire") else _object(value)


def dumps(value: Any) -> str:
    """Return a value as JSON text: the same text for the same value, without spaces, NaN or infinity.

    Examples
    --------
    >>> dumps({"limits": (0.5, math.inf), "of": "é"})
    '{"limits":[0.5,null],"of":"é"}'
    """
    return json.dumps(encode(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _object(value: Any) -> dict[str, Any]:
    kind: Any = type(value)
    own = {key: encode(getattr(value, key)) for key in names_of(kind)}
    order = getattr(value, "KEYS", own)
    return {key: own[key] if key in own else encode(value_at(value, key)) for key in order}


def alike(value: Any, kind: type) -> dict[str, Any]:
    """Return the fields of a dataclass that another has under the same name.

    Examples
    --------
    >>> from evalreport.values import Estimate, Undefined
    >>> alike(Estimate(0.5, 8.0, reason="too few"), Undefined)
    {'n': 8.0, 'reason': 'too few'}
    """
    names = {entry.name for entry in fields(kind)}
    return {entry.name: getattr(value, entry.name) for entry in fields(value) if entry.name in names}


def value_at(value: Any, key: str) -> Any:
    """Return what stands under a key of `KEYS` that is no field: a property, `again` of the key, or null."""
    again = getattr(value, "again", None)
    return getattr(value, key, None) if again is None else again(key)


def differing(one: Any, other: Any) -> str | None:
    """Return the first place where plain JSON data differ, or None where they are equal.

    Examples
    --------
    >>> differing({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]})
    'a[1].b'
    >>> differing([1.0], [1]) is None
    True
    """
    if one == other:
        return None
    steps: Sequence[Any] = ()
    if isinstance(one, dict) and isinstance(other, dict):
        steps = [
            key for key in {**one, **other} if key not in one or key not in other or one[key] != other[key]
        ]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        steps = [place for place in range(len(one)) if one[place] != other[place]]
    if not steps or (isinstance(one, dict) and not (steps[0] in one and steps[0] in other)):
        return str(steps[0]) if steps else ""
    rest = differing(one[steps[0]], other[steps[0]]) or ""
    here = f"[{steps[0]}]" if isinstance(steps[0], int) else str(steps[0])
    return here + (f".{rest}" if rest and not rest.startswith("[") else rest)


@cache
def names_of(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass, in order."""
    return tuple(field.name for field in fields(kind))
