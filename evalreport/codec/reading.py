"""From plain JSON data to values, strictly."""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from evalreport.codec.scalars import DRAWN, LARGEST, SCALARS, MisfitError, NullIsInfinite, Reader, short, text
from evalreport.codec.writing import encode, names_of, value_at
from evalreport.errors import DataError, EvalreportError

T = TypeVar("T")


def decode(hint: Any, data: Any, what: str = "these data") -> Any:
    """Return the value of a type that plain JSON data hold.

    Parameters
    ----------
    hint : type
        A dataclass, or any type that the fields of one may have.
    data
        What `json.loads` returns.
    what : str
        What it is, for the error.

    Raises
    ------
    DataError
        Keys that are missing or not known, another type, a number out of its range, parts that contradict
        each other; names the place.

    Examples
    --------
    >>> from evalreport.codec import Share
    >>> decode(tuple[Share, ...], [0.5, 1])
    (0.5, 1)
    >>> decode(tuple[Share, ...], [0.5, 2])
    Traceback (most recent call last):
    evalreport.errors.DataError: these data cannot be read: 2 is not between 0 and 1
    """
    try:
        return reader(hint)(data)
    except MisfitError as misfit:
        raise DataError(
            f"{what} cannot be read: {misfit.what}",
            where=misfit.where,
            fix="pass what evalreport wrote, unchanged",
        ) from None
    except RecursionError:
        raise DataError(f"{what} is nested too deep", fix="pass what evalreport wrote, unchanged") from None


def loads(text: str | bytes, what: str = "this text") -> Any:
    """Return the plain data that JSON text holds.

    Raises
    ------
    DataError
        Not JSON (NaN and Infinity are not), not UTF-8, or nested too deep.

    Examples
    --------
    >>> loads('{"a": [1, null]}')
    {'a': [1, None]}
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(
            f"{what} is not JSON: {str(error).partition(chr(10))[0][:120]}",
            fix="pass a file that evalreport wrote",
        ) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


@cache
def reader(hint: Any) -> Reader:
    """Return the function that reads values of a type; made once for each type."""
    if hint in SCALARS:
        return SCALARS[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin in _GENERIC:
        return _GENERIC[origin](args)
    if hasattr(hint, "from_wire"):
        return _wired(hint)
    if is_dataclass(hint):
        return _object(hint)
    raise TypeError(f"no JSON form of {hint!r}")


def _marked(args: tuple[Any, ...]) -> Reader:
    inner, mark = reader(args[0]), args[1]
    if mark is NullIsInfinite:
        return _infinite
    low, high = mark.low, mark.high

    def limited(data: Any) -> Any:
        value = inner(data)
        if not low <= value <= high:
            ends = f"not between {low:g} and {high:g}" if high < LARGEST else f"less than {low:g}"
            raise MisfitError(f"{short(value)} is {ends}")
        return value

    return limited


def _infinite(data: Any) -> float:
    if data is None:
        return math.inf
    value: float = reader(float)(data)
    if abs(value) > DRAWN:
        raise MisfitError(f"{short(value)} is too large to be drawn")
    return value


def _one_of(options: tuple[Any, ...]) -> Reader:
    known = {(type(option), option) for option in options}

    def read(data: Any) -> Any:
        if not isinstance(data, str | int) or (type(data), data) not in known:
            raise MisfitError(f"{short(data)} is none of {', '.join(map(str, options))}")
        return data

    return read


def _union(hints: tuple[Any, ...]) -> Reader:
    """Objects are told apart by their keys, then by what their class says of itself; all else by its type."""
    objects = [hint for hint in hints if _keys_of(hint) is not None]
    others = [hint for hint in hints if hint not in objects and hint is not type(None)]
    optional = type(None) in hints

    def read(data: Any) -> Any:
        if data is None and optional:
            return None
        if isinstance(data, dict) and objects:
            mine = [hint for hint in objects if _keys_of(hint) == data.keys()]
            chosen = [hint for hint in mine if getattr(hint, "claims", lambda _: True)(data)] or mine
            return reader((chosen or objects)[0])(data)
        return _first(others or objects, data)

    return read


def _first(hints: Sequence[Any], data: Any) -> Any:
    error: MisfitError | None = None
    for hint in hints:
        try:
            return reader(hint)(data)
        except MisfitError as misfit:
            if error is None or len(misfit.path) > len(error.path):
                error = misfit
    raise error or MisfitError(f"{short(data)} is not null")


def _tuple(hints: tuple[Any, ...]) -> Reader:
    return _many(hints[0]) if hints[-1] is Ellipsis else _fixed(hints)


def _many(hint: Any) -> Reader:
    def read(data: Any) -> tuple[Any, ...]:
        entry = reader(hint)
        if not isinstance(data, list):
            raise MisfitError(f"{short(data)} is not a list")
        made = []
        try:
            for item in data:
                made.append(entry(item))  # noqa: PERF401  the place of a misfit is how many fitted
        except MisfitError as misfit:
            raise misfit.within(len(made)) from None
        return tuple(made)

    return read


def _fixed(hints: tuple[Any, ...]) -> Reader:
    def read(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, list) or len(data) != len(hints):
            raise MisfitError(f"{short(data)} is not a list of {len(hints)}")
        return tuple(_step(place, reader(hint), data[place]) for place, hint in enumerate(hints))

    return read


def _mapping(hints: tuple[Any, ...]) -> Reader:
    def read(data: Any) -> dict[str, Any]:
        entry = reader(hints[1])
        if not isinstance(data, dict):
            raise MisfitError(f"{short(data)} is not an object")
        return {text(key): _step(key, entry, value) for key, value in data.items()}

    return read


def _step(step: str | int, entry: Reader, data: Any) -> Any:
    try:
        return entry(data)
    except MisfitError as misfit:
        raise misfit.within(step) from None


@cache
def _keys_of(hint: Any) -> frozenset[str] | None:
    """The keys of a type that is an object in JSON."""
    if hasattr(hint, "from_wire"):
        return _keys_of(_wire(hint))
    if not is_dataclass(hint):
        return None
    return frozenset(getattr(hint, "KEYS", None) or names_of(hint))  # type: ignore[arg-type]


@cache
def _wire(kind: Any) -> Any:
    return get_type_hints(kind.from_wire, include_extras=True)["wire"]


def _wired(kind: Any) -> Reader:
    def read(data: Any) -> Any:
        return _made(kind.from_wire, reader(_wire(kind))(data))

    return read


def _object(kind: Any) -> Reader:
    hints = get_type_hints(kind, include_extras=True)
    entries = {name: reader(hints[name]) for name in names_of(kind)}
    keys = _keys_of(kind) or frozenset()
    again = keys - entries.keys()

    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise MisfitError(f"{short(data)} is not an object")
        if data.keys() != keys:
            _wrong_keys(data, keys)
        parts = {name: _step(name, entry, data[name]) for name, entry in entries.items()}
        made = _made(lambda: kind(**parts))
        for key in again:
            if encode(_made(value_at, made, key)) != data[key]:
                raise MisfitError(f"{short(data[key])} contradicts the rest").within(key)
        return made

    return read


def _wrong_keys(data: Mapping[str, Any], keys: frozenset[str]) -> None:
    missing, unknown = sorted(keys - data.keys()), sorted(data.keys() - keys)
    raise MisfitError(f"{short(missing[0])} is missing" if missing else f"{short(unknown[0])} is not known")


def _made(make: Callable[..., T], *given: Any) -> T:
    """What a constructor makes; what it refuses is a misfit of the data."""
    try:
        return make(*given)
    except MisfitError:
        raise
    except EvalreportError as error:
        raise MisfitError(error.message) from None
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise MisfitError(str(error) or type(error).__name__) from None


_GENERIC: Mapping[Any, Callable[[tuple[Any, ...]], Reader]] = {
    Annotated: _marked,
    Literal: _one_of,
    Union: _union,
    types.UnionType: _union,
    tuple: _tuple,
    Mapping: _mapping,
    dict: _mapping,
}
