"""Which rows are meant: `--where`, a column of splits, and folds that are read as one."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.join import rows_meant
from evalreport.core.errors import ColumnNotFoundError, DataError
from evalreport.readers.formats import RawTable


def table(**columns: list[object]) -> RawTable:
    arrays = {name: np.array(values, dtype=object) for name, values in columns.items()}
    n = len(next(iter(arrays.values())))
    return RawTable(arrays, n, "rows.csv", "", "csv", tuple(arrays))


def test_clauses_are_met_together() -> None:
    rows = table(site=["a", "a", "b", "a"], year=[2020.0, 2021.0, 2021.0, None], y=[1, 2, 3, 4])
    kept, _, (note,) = rows_meant(rows, Columns(where=("site=a", "year = 2021")))
    assert kept.columns["y"].tolist() == [2] and kept.n == 1
    assert note == "1 of 4 rows, those where site=a and year = 2021"
    gaps, _, _ = rows_meant(rows, Columns(where=("year=",)))
    assert gaps.columns["y"].tolist() == [4]


@pytest.mark.parametrize(
    ("where", "kind", "said"),
    [
        (("site=c",), DataError, "its values are: a, b"),
        (("site=a", "year=2022"), DataError, "remove one of them"),
        (("stie=a",), ColumnNotFoundError, "site"),
    ],
)
def test_no_row_that_is_meant_is_an_error(where: tuple[str, ...], kind: type[DataError], said: str) -> None:
    rows = table(site=["a", "a", "b"], year=[2020, 2021, 2022])
    with pytest.raises(kind) as caught:
        rows_meant(rows, Columns(where=where))
    assert said in caught.value.fix


def test_of_several_parts_the_test_rows_are_meant() -> None:
    rows = table(split=["train", "test", "val", "test"], y=[1, 2, 3, 4])
    kept, named, (note,) = rows_meant(rows, Columns())
    assert named.filtered_columns == ("split",)
    assert kept.columns["y"].tolist() == [2, 4]
    assert "test 2, train 1, val 1" in note and '--where "split=train"' in note
    sliced, _, notes = rows_meant(rows, Columns(slices=("split",)))
    assert (sliced.n, notes) == (4, ())
    alone, _, notes = rows_meant(table(split=["test"] * 3, y=[1, 2, 3]), Columns())
    assert (alone.n, notes) == (3, ())


def test_parts_without_a_test_part_are_asked_about() -> None:
    with pytest.raises(DataError, match="none of them is the test part") as caught:
        rows_meant(table(split=["train", "val"], y=[1, 2]), Columns())
    assert caught.value.fix.endswith('--where "split=val"')


def test_folds_are_one_sample_and_that_is_said() -> None:
    rows = table(fold=[0.0, 1.0, 2.0, 1.0], y=[1, 2, 3, 4])
    kept, _, (note,) = rows_meant(rows, Columns())
    assert kept.n == 4
    assert note.startswith("column fold has 3 folds") and note.endswith("pass --set fold=fold")
