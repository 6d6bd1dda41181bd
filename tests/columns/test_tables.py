"""Tables in the forms that tools write: none is read wrong, and those with one sensible reading are read."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from evalreport.columns.decide import MARGIN
from tests.columns.fit_margin import CHECKED, MARGINS, PLACE, fitted
from tests.columns.tables import FAMILIES, counts

MEASURED = json.loads(PLACE.read_text(encoding="utf-8"))
HALVES = ("development", "held-out")


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1], ids=HALVES)
def test_clear_tables_are_read_and_none_is_read_wrong(half: int) -> None:
    found = counts(half, 5, 66)
    assert found["wrong"] == 0
    clear = sum(number for what, number in found.items() if what.startswith("clear: "))
    assert found["clear: right"] >= 0.9 * clear
    assert found["refused"] <= 0.1 * (found["refused"] + found["refused with a way that works"]) + 1


def test_the_margin_is_fitted_on_one_half_of_the_families() -> None:
    tried = MEASURED["development"]
    assert set(map(float, tried)) == set(MARGINS)
    assert tried["0.0"]["wrong"] > 0  # without a margin some columns are confused
    assert MEASURED["margin"] == fitted(tried) <= MARGIN
    assert all(one["wrong"] == 0 for margin, one in tried.items() if float(margin) >= MARGIN)


def test_no_measured_table_is_read_wrong_in_either_half() -> None:
    every = [(half, one) for half in HALVES for one in MEASURED["families"][half].values()]
    assert len(every) == len(FAMILIES)
    assert all(sum(one.values()) == CHECKED for _, one in every)
    for half in HALVES:
        total = sum((Counter(one) for other, one in every if other == half), Counter())
        refused = total["refused"] + total["refused with a way that works"]
        assert total["wrong"] == 0
        assert total["refused with a way that works"] >= 0.9 * refused
        assert total["right"] >= 0.85 * sum(total.values())
