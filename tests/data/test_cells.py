"""One column as somebody holds it: nothing becomes a label that was none, nothing is merged in silence."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.core.errors import DataError
from evalreport.data.arrays import (
    as_array,
    checked_weights,
    gaps_of,
    ids_as_text,
    numbers,
    repeated_ids,
    to_labels,
)
from evalreport.data.predictions import Categorical


@pytest.mark.parametrize("gap", [None, math.nan, np.nan, pd.NA, pd.NaT])
def test_a_gap_in_a_list_is_never_a_label(gap: Any) -> None:
    with pytest.raises(DataError, match="y_true is missing for 1 row") as caught:
        to_labels(["a", gap, "nan"], "y_true")
    assert caught.value.where == "y_true, first: row 1"


@pytest.mark.parametrize("mixed", [["a", 1], [1, "a"], ["a", True], ["a", 0.5], [True, 2]])
def test_types_of_a_list_are_not_mixed_in_silence(mixed: list[Any]) -> None:
    with pytest.raises(DataError, match="mixes types of labels") as caught:
        to_labels(mixed, "y_true")
    assert "row 0" in caught.value.where
    assert "row 1" in caught.value.where


@pytest.mark.parametrize(
    ("values", "row"),
    [
        (np.array([5, 2**63 + 1], dtype=np.uint64), 1),
        ([2**70, 1], 0),
        ([1, 2**63], 1),
        ([1.0, math.inf], 1),
        ([1.0, -1e300], 1),
        (np.array([0.0, 2.0**53]), 1),
        (pd.Series([1, 2**65], dtype=object), 1),
    ],
)
def test_numbers_too_large_to_tell_apart_are_refused(values: Any, row: int) -> None:
    with pytest.raises(DataError, match="too large for a label") as caught:
        to_labels(values, "y_true")
    assert f"first: row {row}, " in caught.value.where
    assert caught.value.fix == "write such labels as text, in a CSV with a letter in front"


def test_large_whole_numbers_keep_their_last_digit() -> None:
    large = [2**60, 2**60 + 1]
    for values in (large, np.array(large), pd.Series(large, dtype=object), pd.array(large, dtype="Int64")):
        assert to_labels(values, "y_true").tolist() == large


def test_scalars_of_numpy_are_what_they_hold() -> None:
    assert to_labels(pd.Series([np.int64(1), np.int64(0)], dtype=object), "y_true").tolist() == [1, 0]
    assert to_labels(np.array([np.str_("a"), "b"], dtype=object), "y_true").tolist() == ["a", "b"]
    assert to_labels([np.int8(1), 0], "y_true").tolist() == [1, 0]


# text and member in one: NumPy makes "Kin" and "Kind" of the two, its name cut to the length of their texts
Kind = Enum("Kind", {"HAM": "ham", "SPAM": "spam"}, type=str)


class Plain(Enum):
    HAM = "ham"
    SPAM = "spam"


@pytest.mark.parametrize("kind", [Kind, Plain])
def test_members_of_an_enumeration_are_their_values(kind: Any) -> None:
    truth, answers = [kind.HAM, kind.SPAM] * 10, [kind.HAM, kind.HAM] * 10
    for values in (answers, np.array(answers, dtype=object), pd.Series(answers, dtype=object)):
        ev = er.evaluate(truth, values, labels=[kind.HAM, kind.SPAM], slices={"kind": truth}, resamples=50)
        assert ev["accuracy"].value == 0.5
        assert ev.space.texts == ("ham", "spam")
        assert [group.value for group in ev.slices] == ["ham", "spam"]


@pytest.mark.parametrize("kind", [Kind, Plain, Enum("Whole", {"HAM": 0, "SPAM": 1})])
def test_label_sets_take_members_of_an_enumeration(kind: Any) -> None:
    values = (kind.HAM.value, kind.SPAM.value)
    truth = [kind.HAM, kind.SPAM] * 10
    assert er.Multiclass(kind).labels == er.Multilabel(kind).labels == values
    ev = er.evaluate(truth, truth, labels=er.Binary(negative=kind.HAM, positive=kind.SPAM), resamples=50)
    assert (ev.space.labels, ev["recall"].value) == (values, 1)
    frame = pd.DataFrame({"y_true": [*values] * 10, "score": [0.1, 0.9] * 10})
    if isinstance(kind.HAM, str):
        assert er.evaluate(frame, positive=kind.HAM, resamples=50).space.labels == ("spam", "ham")
    lists = [[kind.HAM], [], [kind.HAM, kind.SPAM]] * 5
    assert er.evaluate(lists, lists, labels=er.Multilabel(kind), resamples=50)["subset_accuracy"].value == 1


def test_rows_of_unequal_length_are_no_labels() -> None:
    with pytest.raises(DataError, match="holds values of type list, not labels"):
        to_labels([["a"], ["a", "b"]], "y_true")
    assert as_array([["a"], ["a", "b"]]).shape == (2,)
    assert as_array([[0, 1], [1, 0]]).shape == (2, 2)


@pytest.mark.parametrize(
    ("weights", "message", "where"),
    [
        ([1, -2.0], "1 weight is negative or not finite", "weights, first: row 1, -2.0"),
        ([math.nan, None, 1], "2 weights are negative or not finite", "weights, first: row 0, nan"),
        (["1", "x"], "weights holds text, not numbers", "weights, first: row 1, 'x'"),
        ([0, 0], "all weights are zero", "weights"),
        ([[1, 2]], "weights have shape \\(1, 2\\)", "weights"),
    ],
)
def test_weights_are_judged_by_row(weights: Any, message: str, where: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        checked_weights(weights)
    assert caught.value.where == where


def test_numbers_are_a_copy() -> None:
    given = np.ones(3)
    numbers(given, "weights")[0] = 5
    assert given[0] == 1


@pytest.mark.parametrize("gap", [None, math.nan, pd.NA])
def test_a_missing_id_is_no_id(gap: Any) -> None:
    with pytest.raises(DataError, match="1 id is missing") as caught:
        ids_as_text(["a", gap])
    assert caught.value.where == "ids, first: row 1"


def test_gaps_are_found_in_columns_of_every_type() -> None:
    for column in (
        np.array(["a", None, "b"], dtype=object),
        np.array([1.0, math.nan, 2.0]),
        np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="datetime64[D]"),
        pd.array([True, None, False], dtype="boolean"),
        pd.Series(["a", None, "b"], dtype="category"),
    ):
        assert gaps_of(as_array(column)).tolist() == [1], column
        assert Categorical.from_values(column).values[Categorical.from_values(column).codes[1]] == "(missing)"
    for column in (np.array([1, 2]), np.array(["a", "nan"]), np.array([True]), as_array(["a", "b"])):
        assert not gaps_of(column).size


@pytest.mark.parametrize("ids", [["ab", "ba", "a", "b", ""], [f"row-{k}é" for k in range(20_000)], []])
def test_an_id_that_stands_twice_is_found_wherever_it_stands(ids: list[str]) -> None:
    assert repeated_ids(np.array(ids, dtype=str)) is None
    for place in {0, len(ids) // 2, len(ids) - 1} if ids else ():
        again = repeated_ids(np.array([*ids, ids[place]], dtype=str)[::-1])
        assert again is not None
        assert (again.id, again.rows) == (ids[place], f"rows 0 and {len(ids) - place}")
