"""Scalars of a document: what each reader takes and refuses, and how an error tells what stands there."""

from __future__ import annotations

import math
from typing import Any

import pytest

from evalreport.core.json_codec import EDGE, LONGEST, SCALARS, MisfitError, anything, short

TAKEN: dict[Any, tuple[Any, ...]] = {
    bool: (True, False),
    int: (0, -1, EDGE, -EDGE),
    float: (0.5, -0.0, 3, EDGE),
    str: ("", "é", "\U0001f600"),
    None: (None,),
}
REFUSED: dict[Any, tuple[Any, ...]] = {
    bool: (0, 1, None, "true"),
    int: (True, 1.0, "1", EDGE + 1, -EDGE - 1, None),
    float: (True, "0.5", math.nan, math.inf, -math.inf, 10**400, None),
    str: (1, None, "\ud800", ["a"]),
    None: (0, "", False),
}


@pytest.mark.parametrize("kind", TAKEN, ids=str)
def test_each_reader_takes_its_own_and_changes_nothing(kind: Any) -> None:
    for value in TAKEN[kind]:
        read = SCALARS[kind](value)
        assert read == value
        assert type(read) is type(value)
    for value in REFUSED[kind]:
        with pytest.raises(MisfitError):
            SCALARS[kind](value)


def test_plain_data_of_any_depth_name_the_place_of_a_misfit() -> None:
    plain = {"a": [1, {"b": [None, True, 0.5, "x"]}]}
    assert anything(plain) == plain
    for bad in (math.nan, "\udc80", EDGE + 1):
        with pytest.raises(MisfitError) as caught:
            anything({"a": [1, {"b": bad}]})
        assert caught.value.where == "a[1].b"


def test_an_error_tells_what_stands_there_in_forty_characters() -> None:
    reported = {"null": None, "an object": {"a": 1}, "a list": [1], "true": True, "1.5": 1.5, "'x'": "x"}
    assert {said: short(data) for said, data in reported.items()} == {said: said for said in reported}
    assert short(10**400) == short(-(10**400)) == "a number of too many digits"
    assert short(EDGE) == str(EDGE)
    assert short("é") == "'\\xe9'", "ASCII alone"
    assert len(short("x" * (LONGEST - 2))) == LONGEST == len(short("x" * 500))
    assert short("x" * 500).endswith("x…")
