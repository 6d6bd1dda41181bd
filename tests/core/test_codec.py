"""The codec gives back what it took, and refuses everything else with its place."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

from evalreport.core.errors import DataError
from evalreport.core.json_codec import Between, Infinite, Mass, Share, Whole, decode, differing, encode, loads
from evalreport.core.result import Estimate, Result, Undefined


@dataclass(frozen=True)
class Inner:
    name: str
    at: Infinite = math.inf


@dataclass(frozen=True)
class Outer:
    KEYS: ClassVar = (
        "kind",
        "count",
        "name",
        "empty",
        "inner",
        "weights",
        "pairs",
        "label",
        "result",
        "rest",
    )

    kind: Literal["a", "b"]
    count: Whole
    inner: tuple[Inner, ...]
    weights: Mapping[str, Mass]
    pairs: tuple[tuple[int, Share], ...]
    label: str | int | bool | None
    result: Result
    rest: Any

    def again(self, key: str) -> str | None:
        return self.inner[0].name if key == "name" else None


OUTER = Outer(
    "a",
    3,
    (Inner("x"), Inner("y", 0.5)),
    {"w": 2.0},
    ((1, 0.5),),
    True,
    Undefined("none", 4.0),
    [1, {"b": None}],
)
PLAIN = {
    "kind": "a",
    "count": 3,
    "name": "x",
    "empty": None,
    "inner": [{"name": "x", "at": None}, {"name": "y", "at": 0.5}],
    "weights": {"w": 2.0},
    "pairs": [[1, 0.5]],
    "label": True,
    "result": {
        "value": None,
        "low": None,
        "high": None,
        "method": None,
        "n": 4.0,
        "standard_error": None,
        "reason": "none",
    },
    "rest": [1, {"b": None}],
}


def changed(place: tuple[str | int, ...], value: Any) -> Any:
    data = json.loads(json.dumps(PLAIN))
    inner = data
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return data


def test_what_is_written_is_read_and_its_keys_stand_in_order() -> None:
    assert json.dumps(encode(OUTER)) == json.dumps(PLAIN)
    assert decode(Outer, PLAIN) == OUTER


def test_types_are_kept_apart() -> None:
    for label in ("1", 1, True, None):
        read = decode(Outer, changed(("label",), label)).label
        assert (type(read), read) == (type(label), label)
    assert decode(Result, encode(Estimate(0.5, 3.0))) == Estimate(0.5, 3.0)


@pytest.mark.parametrize(
    ("place", "value", "where", "said"),
    [
        (("kind",), "c", "kind", "none of a, b"),
        (("count",), 3.0, "count", "not a whole number"),
        (("count",), True, "count", "not a whole number"),
        (("count",), -5, "count", "less than 0"),
        (("count",), 10**400, "count", "too many digits"),
        (("count",), "3", "count", "not a whole number"),
        (("name",), "z", "name", "contradicts the rest"),
        (("empty",), 0, "empty", "contradicts the rest"),
        (("inner", 1, "at"), "0.5", "inner[1].at", "not a number"),
        (("inner", 1, "at"), math.inf, "inner[1].at", "not finite"),
        (("inner", 1, "at"), 1e300, "inner[1].at", "too large to be drawn"),
        (("inner", 1, "more"), 1, "inner[1]", "'more' is not known"),
        (("inner",), [], "", "index out of range"),
        (("weights", "w"), -1.0, "weights.w", "less than 0"),
        (("weights", "\ud800"), 1.0, "weights", "not Unicode"),
        (("pairs", 0), [1], "pairs[0]", "not a list of 2"),
        (("pairs", 0, 1), 1.5, "pairs[0][1]", "not between 0 and 1"),
        (("label",), [], "label", "a list"),
        (("result", "value"), "high", "result.value", "not a number"),
        (("result", "low"), 0.5, "result.low", "contradicts"),
        (("result",), None, "result", ""),
        (("rest", 1, "b"), math.nan, "rest[1].b", "not finite"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    place: tuple[str | int, ...], value: Any, where: str, said: str
) -> None:
    data = changed(place, value)
    with pytest.raises(DataError, match="cannot be read") as refused:
        decode(Outer, data)
    assert refused.value.where.startswith(where)
    assert said in refused.value.message


def test_a_missing_key_is_named() -> None:
    data = json.loads(json.dumps(PLAIN))
    del data["count"]
    with pytest.raises(DataError, match="'count' is missing"):
        decode(Outer, data)


def test_what_a_constructor_refuses_is_refused() -> None:
    bad = encode(Estimate(0.5, 3.0, 0.4, 0.6)) | {"low": 0.55}
    with pytest.raises(DataError, match="does not contain its value"):
        decode(Result, bad)


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    assert encode([np.float32(0.5), np.int8(2), np.bool_(True), np.float64("nan")]) == [0.5, 2, True, None]


def test_ends_of_a_range_belong_to_it() -> None:
    from typing import Annotated

    hint = Annotated[int, Between(1, 3)]
    assert [decode(hint, n) for n in (1, 3)] == [1, 3]


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"a": Infinity}', b"\xff", "[" * 100_000, "9" * 5000])
def test_text_that_is_no_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(DataError, match="not JSON"):
        loads(text)


def test_depth_beyond_the_interpreter_is_refused() -> None:
    data: Any = 0
    for _ in range(3000):
        data = [data]
    with pytest.raises(DataError, match="too deep"):
        decode(Any, data)


def test_the_first_difference_is_named() -> None:
    assert differing({"a": 1}, {"a": 1, "b": 2}) == "b"
    assert differing({"a": [1, 2]}, {"a": [1]}) == "a"
    assert differing([{"x": {"y": 1}}], [{"x": {"y": 2}}]) == "[0].x.y"
