"""Truth in another file: joined one to one, in any order, by ids of any type."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalreport.errors import ColumnNotFoundError, DataError
from evalreport.sources.columns import Found, find_in_files
from evalreport.sources.request import Columns
from tests.sources.files.writers import WRITERS, Data

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
    with pytest.raises(DataError, match="truth is missing for 3 of 3 rows"):
        joined(tmp_path, truth={"id": ["01", "02", "03"], "label": ["a", "b", "c"]})


def test_truth_missing_for_a_row(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="truth is missing for 1 of 3 rows") as caught:
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
    with pytest.raises(ColumnNotFoundError, match=r"no column of true labels is in p\.parquet"):
        joined(tmp_path, truth={"id": [1, 2, 3], "kind": list("abc")})
