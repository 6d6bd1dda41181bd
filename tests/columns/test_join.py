"""Truth in another file: joined one to one, in any order, by ids of any type."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import Found, find_in_files
from evalreport.core.errors import ColumnNotFoundError, DataError
from tests.readers.writers import WRITERS, Data

PREDICTIONS: Data = {"id": [3, 1, 2], "y_pred": ["c", "a", "b"]}
TRUTH: Data = {"id": [1, 2, 3], "label": ["a", "b", "c"], "site": ["x", "y", "z"], "y_pred": ["-", "-", "-"]}


def joined(
    tmp_path: Path,
    predictions: Data = PREDICTIONS,
    truth: Data = TRUTH,
    request: Columns | None = None,
    names: tuple[str, str] = ("p.csv", "p.parquet"),
) -> Found:
    (tmp_path / "truth").mkdir(exist_ok=True)
    paths = tmp_path / names[0], tmp_path / "truth" / names[1]
    WRITERS[names[0]](paths[0], predictions)
    WRITERS[names[1]](paths[1], truth)
    return find_in_files(paths[0], request, truth=paths[1])


@pytest.mark.parametrize("second", WRITERS)
@pytest.mark.parametrize("first", ["p.csv", "p.parquet", "p.npz"])
def test_rows_follow_the_predictions(first: str, second: str, tmp_path: Path) -> None:
    found = joined(tmp_path, request=Columns(slices=("site",)), names=(first, second))
    assert found.y_true.tolist() == ["c", "a", "b"]
    assert found.y_pred is not None
    assert found.y_pred.tolist() == ["c", "a", "b"]
    assert found.slices["site"].tolist() == ["z", "x", "y"]


def test_ids_are_compared_as_text(tmp_path: Path) -> None:
    found = joined(tmp_path, truth={"id": ["1", "2", "3"], "label": ["a", "b", "c"]})
    assert found.y_true.tolist() == ["c", "a", "b"]
    with pytest.raises(DataError, match="the true label is missing for 3 of 3 rows"):
        joined(tmp_path, truth={"id": ["01", "02", "03"], "label": ["a", "b", "c"]})


def test_truth_missing_for_a_row(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the true label is missing for 1 of 3 rows") as caught:
        joined(tmp_path, truth={"id": [1, 3], "label": ["a", "c"]})
    assert "first: id '2' (row 2 of p.csv)" in caught.value.where


def test_truth_without_a_prediction(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"p\.parquet has 1 row without a prediction") as caught:
        joined(tmp_path, truth={"id": [1, 2, 3, 4], "label": list("abcd")})
    assert "first: id '4' (row 3)" in caught.value.where


def test_ids_that_occur_twice_in_the_truth(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 id occurs more than once") as caught:
        joined(tmp_path, truth={"id": [1, 2, 3, 3], "label": list("abcc")})
    assert "p.parquet" in caught.value.where
    assert "'3' in rows 2 and 3" in caught.value.where


def test_ids_that_occur_twice_in_the_predictions(tmp_path: Path) -> None:
    rows: Data = {"run": ["a", "a", "b"], "id": [1, 2, 1], "y_pred": list("abc")}
    with pytest.raises(DataError, match="1 id occurs more than once, so rows cannot be joined") as caught:
        joined(tmp_path, rows)
    assert "p.csv, column id, first: '1' in rows 0 and 2" in caught.value.where
    assert "several runs (column run)" in caught.value.fix
    with pytest.raises(DataError, match="more than once") as caught:
        joined(tmp_path, {name: rows[name] for name in ("id", "y_pred")})
    assert "pass --set group=id" in caught.value.fix


def test_files_without_ids_are_joined_by_their_order_which_is_reported(tmp_path: Path) -> None:
    found = joined(tmp_path, {"y_pred": list("abc")}, {"label": list("abb")})
    assert found.y_true.tolist() == ["a", "b", "b"]
    assert found.notes[0] == "neither p.csv nor p.parquet has ids: their rows are joined by their order"
    assert not joined(tmp_path).notes


def test_files_without_ids_have_equally_many_rows(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"p\.csv has 3 rows and the true labels in p\.parquet have 2"
    ) as caught:
        joined(tmp_path, {"y_pred": list("abc")}, {"label": list("ab")})
    assert str(tmp_path / "p.csv") in caught.value.where
    assert str(tmp_path / "truth" / "p.parquet") in caught.value.where


@pytest.mark.parametrize("index", ["", "Unnamed: 0", "index"])
def test_files_with_the_index_of_a_frame_are_not_joined_against_it(tmp_path: Path, index: str) -> None:
    names = ("p.csv", "p.csv")
    rows: Data = {index: [2, 0, 1], "y_pred": list("aba")}
    same = joined(tmp_path, rows, {index: [2, 0, 1], "label": list("aba")}, names=names)
    assert same.y_true.tolist() == ["a", "b", "a"]
    with pytest.raises(DataError, match=r"the indexes of p\.csv and p\.csv differ") as caught:
        joined(tmp_path, rows, {index: [0, 1, 2], "label": list("baa")}, names=names)
    assert "first: row 0, 2 and 0" in caught.value.where


def test_no_id_to_join_by(tmp_path: Path) -> None:
    with pytest.raises(ColumnNotFoundError, match=r'column "example_id" is not in p\.csv'):
        joined(tmp_path, predictions={"case": [1, 2, 3], "y_pred": list("abc")})
    with pytest.raises(ColumnNotFoundError, match=r'column "id" is not in p\.parquet'):
        joined(tmp_path, truth={"case": [1, 2, 3], "label": list("abc")})
    named = joined(
        tmp_path,
        {"case": [2, 1], "y_pred": ["b", "a"]},
        {"case": [1, 2], "label": ["a", "b"]},
        Columns(id="case"),
    )
    assert named.y_true.tolist() == ["b", "a"]


def test_the_predictions_own_truth_is_not_used(tmp_path: Path) -> None:
    found = joined(tmp_path, predictions={**PREDICTIONS, "y_true": ["-", "-", "-"]})
    assert found.y_true.tolist() == ["c", "a", "b"]
    assert "y_true" in found.unused


def test_no_truth_in_the_truth_file(tmp_path: Path) -> None:
    with pytest.raises(ColumnNotFoundError, match=r"no column of true labels in p\.parquet"):
        joined(tmp_path, truth={"id": [1, 2, 3], "size": [0.5, 1.5, 2.5]})
