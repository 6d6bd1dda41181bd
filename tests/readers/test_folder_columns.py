"""Folders whose names are columns, as Spark and Hive write them: slices and rows by what the names say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.core.errors import UsageError
from tests.features.large.test_stream import FEW, FORMATS, plain, table


def folders(tmp_path: Path, suffix: str) -> tuple[Path, Path]:
    """The rows in one file, and in a folder for each country and day, which no file holds."""
    rows = table(country=np.repeat(["de", "fr", "it/ch"], 300), day=np.arange(900) // 150)
    FORMATS[suffix](rows, tmp_path / f"whole{suffix}")
    for day in range(6):
        here = rows.slice(150 * day, 150)
        country = str(here["country"][0]).replace("/", "%2F")
        folder = tmp_path / "rows" / f"country={country}" / f"day={day}"
        folder.mkdir(parents=True)
        kept = here.drop_columns(["country", "day"])
        for number in range(2):
            FORMATS[suffix](kept.slice(75 * number, 75), folder / f"part-{number}{suffix}")
    return tmp_path / f"whole{suffix}", tmp_path / "rows"


@pytest.mark.parametrize("suffix", [".parquet", ".csv.gz"])
def test_names_of_folders_are_columns(suffix: str, tmp_path: Path) -> None:
    whole, many = folders(tmp_path, suffix)
    asked: tuple[dict[str, Any], ...] = (
        {"slices": ("country", "day")},
        {"where": ("country=it/ch",), "slices": "day"},
        {"where": ("day=3",)},
    )
    for known in asked:
        expected = plain(er.evaluate_file(whole, positive="ill", **known, **{**FEW, "find_slices": False}))
        assert plain(er.evaluate_files(many, positive="ill", **known, **FEW)) == expected
    assert er.evaluate_files(f"{many}/country=[df]*/*/*", where=("country=fr",), **FEW).rows == 300
    truth = er.evaluate_files(many, truth="country", pred="country", no_scores=True, **FEW)
    assert (truth.rows, truth["accuracy"].value) == (900, 1.0)


def test_a_column_of_the_files_is_not_that_of_their_folder(tmp_path: Path) -> None:
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        FORMATS[".parquet"](table(day=np.full(900, 7)), tmp_path / f"day={day}" / "rows.parquet")
    (one,) = er.evaluate_files(tmp_path, slices="day", positive="ill", **FEW).slices
    assert one.rows == 1800
    (tmp_path / "more" / "split=test").mkdir(parents=True)
    FORMATS[".parquet"](table(), tmp_path / "more" / "split=test" / "rows.parquet")
    with pytest.raises(UsageError, match="may separate parts of the data") as caught:
        er.evaluate_files(tmp_path / "more" / "*" / "rows.parquet", positive="ill", **FEW)
    assert "split=test" in caught.value.fix
