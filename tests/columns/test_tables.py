"""Tables in the forms that tools write: none is read wrong, and those with one sensible reading are read."""

from __future__ import annotations

import pytest

from tests.columns.tables import counts

COUNT = 60


@pytest.mark.parametrize("half", [0, 1], ids=["development", "unknown"])
def test_clear_tables_are_read_and_none_is_read_wrong(half: int) -> None:
    found = counts(half, 5, COUNT)
    assert found["wrong"] == 0
    clear = sum(number for what, number in found.items() if what.startswith("clear: "))
    assert found["clear: right"] >= 0.9 * clear
    assert found["refused"] <= 0.1 * (found["refused"] + found["refused with a way that works"]) + 1
