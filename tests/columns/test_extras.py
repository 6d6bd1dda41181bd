"""What goes with the rows: groups of several columns, weights, slices, texts."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.join import Rows, extras, texts_of
from evalreport.core.errors import ColumnNotFoundError, DataError


def rows(**columns: list[object]) -> Rows:
    arrays = {name: np.array(values, dtype=object) for name, values in columns.items()}
    return Rows(arrays, arrays, tuple(arrays), len(next(iter(arrays.values()))), None)


def test_groups_of_several_columns_are_their_combinations() -> None:
    table = rows(patient=["a", "a", "b", "a"], eye=["l", "r", "l", "l"])
    both = extras(table, Columns(group=("patient", "eye")), "rows.csv")
    assert both.groups is not None
    first, second, third, again = both.groups.tolist()
    assert first == again and len({first, second, third}) == 3
    assert both.taken == (("group", "patient"), ("group", "eye"))
    alone = extras(table, Columns(group=("patient",)), "rows.csv")
    assert alone.groups is not None and alone.groups.tolist() == ["a", "a", "b", "a"]


def test_a_column_of_weights_is_taken_by_its_name() -> None:
    found = extras(rows(sample_weight=[1.0, 2.0], site=["n", "s"]), Columns(slices=("site",)), "rows.csv")
    assert found.weights is not None and found.weights.tolist() == [1, 2]
    assert found.taken == (("weight", "sample_weight"), ("slice", "site"))
    assert found.groups is None and found.folds is None and found.example_texts is None


def test_weights_that_are_words_and_columns_that_are_not_there_are_refused() -> None:
    with pytest.raises(DataError, match="weight"):
        extras(rows(sample_weight=["heavy", "light"]), Columns(), "rows.csv")
    with pytest.raises(ColumnNotFoundError) as caught:
        extras(rows(site=["n", "s"]), Columns(slices=("stie",)), "rows.csv")
    assert "site" in caught.value.fix


def test_a_gap_in_the_texts_is_an_empty_text() -> None:
    assert texts_of(np.array(["yes", None, float("nan"), 3], dtype=object)).tolist() == ["yes", "", "", "3"]
