"""Values to plain JSON data, and back, strictly: the type hints of dataclasses are the schema.

msgspec 0.22 and pydantic 2.14 were measured in its place, with the tests of `tests/core`. Neither takes
`Result` (`test_types_are_kept_apart`): msgspec wants a tag in the data, which would change the bytes, and
pydantic refuses the keys of an `Undefined`. Of the 19 misfits outside of a result
(`test_what_does_not_fit_is_refused_with_its_place`) each accepts 4: keys that contradict the rest, an empty
list and 1e300 where a point is drawn, and msgspec unknown keys, pydantic NaN where there is no type. Both
read 3 as 3.0 (`test_each_reader_takes_its_own_and_changes_nothing`), so that a document that is written again
has other bytes. To import msgspec takes 44 ms of CPU, pydantic 112; all of `evalreport --help` about 100.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from evalreport.core.errors import DataError, EvalreportError

EDGE = 2**64
"""Whole numbers beyond it have no place in a column; labels and parameters may reach it."""
LARGEST = 2**53
"""Floats do not distinguish integers beyond it, so readers of JSON need not keep them."""


DRAWN = 1e100
"""Size from which a point of a curve overflows where it is placed on a page: squares and products of it."""


@dataclass(frozen=True)
class Between:
    """The range of a number, both ends included."""

    low: float = -math.inf
    high: float = math.inf


class NullIsInfinite:
    """Marks a number that may be infinite; JSON has no infinity, so that null stands for it."""


Whole: TypeAlias = Annotated[int, Between(0, LARGEST)]
"""A count of rows, a position, a code."""
Mass: TypeAlias = Annotated[float, Between(0)]
"""A sum of weights."""
Share: TypeAlias = Annotated[float, Between(0, 1)]
Infinite: TypeAlias = Annotated[float, NullIsInfinite]
"""A threshold: infinite where nothing is flagged."""


class MisfitError(ValueError):
    """What does not fit, and where: the path grows as the error passes outward."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.path: list[str] = []

    def prepend_step(self, step: str | int) -> MisfitError:
        """Put a step, a key or a place in a list, before the path."""
        self.path.insert(0, f"[{step}]" if isinstance(step, int) else f".{step}")
        return self

    @property
    def where(self) -> str:
        """The path, as in ``classes[3].support``."""
        return "".join(self.path).removeprefix(".")


Reader: TypeAlias = Callable[[Any], Any]
LONGEST = 40
"""Characters of a document that an error tells."""


def short(data: Any) -> str:
    """Return a value of a document as text for an error."""
    match data:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "a list"
        case int() if not isinstance(data, bool) and abs(data) > EDGE:
            return "a number of too many digits"
    text = str(data).lower() if isinstance(data, bool) else ascii(data)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _nothing(data: Any) -> None:
    if data is not None:
        raise MisfitError(f"{short(data)} where no value is expected")


def _flag(data: Any) -> bool:
    if not isinstance(data, bool):
        raise MisfitError(f"{short(data)} is neither true nor false")
    return data


def _int(data: Any) -> int:
    if type(data) is not int:
        raise MisfitError(f"{short(data)} is not a whole number")
    if abs(data) > EDGE:
        raise MisfitError(f"{short(data)} is too large")
    return data


def _float(data: Any) -> float:
    if type(data) is float:
        if math.isfinite(data):
            return data
        raise MisfitError(f"{data} is not finite")
    if type(data) is not int:
        raise MisfitError(f"{short(data)} is not a number")
    return _int(data)


def text(data: Any) -> str:
    """Return text that a file can hold."""
    if type(data) is not str:
        raise MisfitError(f"{short(data)} is not text")
    if not data.isascii() and any("\ud800" <= character <= "\udfff" for character in data):
        raise MisfitError(f"{short(data)} is not Unicode")
    return data


def anything(data: Any) -> Any:
    """Plain data as they are: numbers finite, text Unicode."""
    match data:
        case None | bool():
            return data
        case int() | float():
            return _float(data)
        case str():
            return text(data)
        case list():
            return [_read_anything_at(place, entry) for place, entry in enumerate(data)]
        case _:
            return {text(key): _read_anything_at(key, entry) for key, entry in data.items()}


def _read_anything_at(step: str | int, data: Any) -> Any:
    try:
        return anything(data)
    except MisfitError as misfit:
        raise misfit.prepend_step(step) from None


SCALARS: Mapping[Any, Reader] = {
    Any: anything,
    type(None): _nothing,
    None: _nothing,
    bool: _flag,
    int: _int,
    float: _float,
    str: text,
}


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


def shared_fields(value: Any, kind: type) -> dict[str, Any]:
    """Return the fields of a dataclass that another has under the same name.

    Examples
    --------
    >>> from evalreport.core.result import Estimate, Undefined
    >>> shared_fields(Estimate(0.5, 8.0, reason="too few"), Undefined)
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
    >>> from evalreport.core.json_codec import Share
    >>> decode(tuple[Share, ...], [0.5, 1])
    (0.5, 1)
    >>> decode(tuple[Share, ...], [0.5, 2])
    Traceback (most recent call last):
    evalreport.core.errors.DataError: these data cannot be read: 2 is not between 0 and 1
    """
    try:
        return reader(hint)(data)
    except MisfitError as misfit:
        raise DataError(
            f"{what} cannot be read: {misfit.what}",
            where=misfit.where,
            fix="pass the file that evalreport wrote, unchanged",
        ) from None
    except RecursionError:
        raise DataError(
            f"{what} is nested too deep", fix="pass the file that evalreport wrote, unchanged"
        ) from None


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
    raise ValueError(f"{name} is not JSON")


@cache
def reader(hint: Any) -> Reader:
    """Return the function that reads values of a type; made once for each type."""
    if hint in SCALARS:
        return SCALARS[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin in _GENERIC:
        return _GENERIC[origin](args)
    if hasattr(hint, "from_wire"):
        return _wire_reader(hint)
    if is_dataclass(hint):
        return _reading_object(hint)
    raise TypeError(f"no JSON form of {hint!r}")


def _annotated_reader(args: tuple[Any, ...]) -> Reader:
    inner, mark = reader(args[0]), args[1]
    if mark is NullIsInfinite:
        return _infinite
    low, high = mark.low, mark.high

    def read_limited(data: Any) -> Any:
        value = inner(data)
        if not low <= value <= high:
            ends = f"not between {low:g} and {high:g}" if high < LARGEST else f"less than {low:g}"
            raise MisfitError(f"{short(value)} is {ends}")
        return value

    return read_limited


def _infinite(data: Any) -> float:
    if data is None:
        return math.inf
    value: float = reader(float)(data)
    if abs(value) > DRAWN:
        raise MisfitError(f"{short(value)} is too large to be drawn")
    return value


def _one_of(options: tuple[Any, ...]) -> Reader:
    known = {(type(option), option) for option in options}

    def read_option(data: Any) -> Any:
        if not isinstance(data, str | int) or (type(data), data) not in known:
            raise MisfitError(f"{short(data)} is none of {', '.join(map(str, options))}")
        return data

    return read_option


def _union(hints: tuple[Any, ...]) -> Reader:
    """Objects are distinguished by their keys, then by their class's marker; all else by its type."""
    objects = [hint for hint in hints if _keys_of(hint) is not None]
    others = [hint for hint in hints if hint not in objects and hint is not type(None)]
    optional = type(None) in hints

    def read_union(data: Any) -> Any:
        if data is None and optional:
            return None
        if isinstance(data, dict) and objects:
            mine = [hint for hint in objects if _keys_of(hint) == data.keys()]
            chosen = [hint for hint in mine if getattr(hint, "claims", lambda _: True)(data)] or mine
            return reader((chosen or objects)[0])(data)
        return _read_first_match(others or objects, data)

    return read_union


def _read_first_match(hints: Sequence[Any], data: Any) -> Any:
    error: MisfitError | None = None
    for hint in hints:
        try:
            return reader(hint)(data)
        except MisfitError as misfit:
            if error is None or len(misfit.path) > len(error.path):
                error = misfit
    raise error or MisfitError(f"{short(data)} is not null")


def _tuple(hints: tuple[Any, ...]) -> Reader:
    return _many(hints[0]) if hints[-1] is Ellipsis else _tuple_reader(hints)


def _many(hint: Any) -> Reader:
    def read_list(data: Any) -> tuple[Any, ...]:
        entry = reader(hint)
        if not isinstance(data, list):
            raise MisfitError(f"{short(data)} is not a list")
        made = []
        try:
            for item in data:
                made.append(entry(item))  # noqa: PERF401  the place of a misfit is how many fitted
        except MisfitError as misfit:
            raise misfit.prepend_step(len(made)) from None
        return tuple(made)

    return read_list


def _tuple_reader(hints: tuple[Any, ...]) -> Reader:
    def read_tuple(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, list) or len(data) != len(hints):
            raise MisfitError(f"{short(data)} is not a list of {len(hints)}")
        return tuple(_step(place, reader(hint), data[place]) for place, hint in enumerate(hints))

    return read_tuple


def _mapping(hints: tuple[Any, ...]) -> Reader:
    def read_mapping(data: Any) -> dict[str, Any]:
        entry = reader(hints[1])
        if not isinstance(data, dict):
            raise MisfitError(f"{short(data)} is not an object")
        return {text(key): _step(key, entry, value) for key, value in data.items()}

    return read_mapping


def _step(step: str | int, entry: Reader, data: Any) -> Any:
    try:
        return entry(data)
    except MisfitError as misfit:
        raise misfit.prepend_step(step) from None


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


def _wire_reader(kind: Any) -> Reader:
    def read_wire(data: Any) -> Any:
        return _construct_value(kind.from_wire, reader(_wire(kind))(data))

    return read_wire


def _reading_object(kind: Any) -> Reader:
    hints = get_type_hints(kind, include_extras=True)
    entries = {name: reader(hints[name]) for name in names_of(kind)}
    keys = _keys_of(kind) or frozenset()
    again = keys - entries.keys()

    def read_object(data: Any) -> Any:
        if not isinstance(data, dict):
            raise MisfitError(f"{short(data)} is not an object")
        if data.keys() != keys:
            _wrong_keys(data, keys)
        parts = {name: _step(name, entry, data[name]) for name, entry in entries.items()}
        made = _construct_value(lambda: kind(**parts))
        for key in again:
            if encode(_construct_value(value_at, made, key)) != data[key]:
                raise MisfitError(f"{short(data[key])} contradicts the rest").prepend_step(key)
        return made

    return read_object


def _wrong_keys(data: Mapping[str, Any], keys: frozenset[str]) -> None:
    missing, unknown = sorted(keys - data.keys()), sorted(data.keys() - keys)
    raise MisfitError(f"{short(missing[0])} is missing" if missing else f"{short(unknown[0])} is not known")


def _construct_value(make: Callable[..., T], *given: Any) -> T:
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
    Annotated: _annotated_reader,
    Literal: _one_of,
    Union: _union,
    types.UnionType: _union,
    tuple: _tuple,
    Mapping: _mapping,
    dict: _mapping,
}
