"""Columns in files: numbers at many places, read page by page or one by one, and sums of many runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evalreport.features.large.spill import Spill, StoredColumns
from evalreport.statistics.stored_columns import PIECE, run_sums

ROWS = 3 * PIECE + 17


@pytest.fixture(scope="module")
def column(tmp_path_factory: pytest.TempPathFactory) -> Any:
    stored = StoredColumns(np.float64, Spill(tmp_path_factory.mktemp("spill")))
    for part in np.array_split(np.arange(ROWS, dtype=np.float64), 7):
        stored.append(part / 2.0, np.mod(part, 300.0), np.ones(len(part)))
    return stored.columns()[1]


@pytest.mark.parametrize("number", [0, 1, 40, 20_000])
def test_numbers_at_places(column: Any, number: int) -> None:
    places = np.random.default_rng(number).integers(0, ROWS, number)
    assert column[places].tolist() == (places % 300.0).tolist()


@pytest.mark.parametrize("number", [0, 1, 2, 5_000])
def test_sums_of_runs(column: Any, number: int) -> None:
    starts = np.unique(np.random.default_rng(number).integers(0, ROWS, number))
    whole = np.arange(ROWS) % 300.0
    expected = np.add.reduceat(whole, starts) if number else np.zeros(0)
    assert run_sums(column, starts).tolist() == expected.tolist()
