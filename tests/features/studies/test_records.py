"""Trials as JSON: what has no number in JSON comes back as it was, and text stays text."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalreport.core.errors import DataError
from evalreport.core.json_codec import decode, encode
from evalreport.thresholds.trial import Space, Trial
from evalreport.thresholds.trial_search import trial_from_record

NUMBERS = st.one_of(st.floats(-1e100, 1e100), st.sampled_from([math.nan, math.inf, -math.inf]))
WORDS = st.sampled_from(["inf", "nan", "rbf"])
PARAMS = st.one_of(st.none(), st.booleans(), st.integers(-10, 10), NUMBERS, WORDS)


def same(one: object, other: object) -> bool:
    """Equal, of one type, and NaN equal to itself."""
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and one == other


@settings(max_examples=60)
@given(values=st.lists(NUMBERS, max_size=3), params=st.dictionaries(st.text(max_size=3), PARAMS, max_size=4))
def test_a_trial_comes_back_from_json(
    values: list[float], params: dict[str, str | int | float | bool]
) -> None:
    trial = Trial(3, "complete" if values else "failed", tuple(values), params, ((0, math.inf), (1, 0.5)))
    text = json.dumps(encode(trial), allow_nan=False)
    back = decode(Trial, json.loads(text))
    assert (back.number, back.state, back.intermediate) == (3, trial.state, trial.intermediate)
    assert all(map(same, back.values, trial.values)) and len(back.values) == len(values)
    assert list(back.params) == list(params)
    assert all(same(back.params[name], value) for name, value in params.items())


def test_a_space_comes_back() -> None:
    space = Space("C", 0.1, 10.0, log=True, choices=("inf", math.inf, None))
    assert decode(Space, json.loads(json.dumps(encode(space), allow_nan=False))) == space


@pytest.mark.parametrize(
    ("row", "what", "fix"),
    [
        ({"valeu": 0.5}, "no field 'valeu'", "value"),
        ({"value": "high"}, "'high' is not a number", "omit the value"),
    ],
)
def test_a_record_that_is_wrong_is_named(row: dict[str, object], what: str, fix: str) -> None:
    with pytest.raises(DataError, match=what) as caught:
        trial_from_record(row, 4)
    assert caught.value.where == "record 4" and fix in caught.value.fix


def test_a_record_without_a_value_has_failed() -> None:
    assert trial_from_record({"params": {"k": 1}}, 0).state == "failed"
    assert trial_from_record({"values": [0.5, 2]}, 1).values == (0.5, 2.0)
