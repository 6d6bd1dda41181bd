"""Several classes as a stream: what the engine in memory gives of the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import evalreport as er
from evalreport.errors import DataError, UsageError
from tests.engines.test_stream import FEW, FORMATS, parts, plain

N = 900
SIZES = ("small", "mid", "large", "huge")


def classes(n: int = N) -> pa.Table:
    rng = np.random.default_rng(11)
    truth = rng.choice(SIZES, n, p=[0.5, 0.3, 0.17, 0.03])
    truth[:5] = "mid"  # the first part of the files holds one label alone
    answer = np.where(rng.random(n) < 0.7, truth, rng.choice(SIZES, n))
    gapped = [None if row % 50 == 7 else given for row, given in enumerate(answer.tolist())]
    return pa.table(
        {
            "y_true": truth,
            "y_pred": answer,
            "gapped": pa.array(gapped),
            "name": [f"case {row}" for row in range(n)],
            "site": np.arange(n) % 3,
            "part": np.where(np.arange(n) % 4 == 0, "a", "b"),
        }
    )


ASKED: Mapping[str, dict[str, Any]] = {
    "labels": {"slices": "site"},
    "gaps": {"pred": "gapped", "missing": "wrong", "slices": "site"},
    "ordered": {"labels": SIZES, "ordered": True, "slices": "site"},
    "ordered and gaps": {"labels": SIZES, "ordered": True, "pred": "gapped", "missing": "wrong"},
    "ids": {"id": "name"},
    "some rows": {"where": ("part=b",)},
    "metrics alone": {"confidence": None},
}


def agree(found: er.Evaluation, expected: er.Evaluation, *, digest: bool = True) -> None:
    one, other = plain(expected), plain(found)
    if not digest:  # of rows in the order of their ids
        assert other.pop("truth_digest") == ""
        one.pop("truth_digest")
    assert other == one


@pytest.mark.parametrize("asked", ASKED)
def test_labels_alone(asked: str, tmp_path: Path) -> None:
    whole, many = parts(classes(), tmp_path, ".parquet")
    known = {"truth": "y_true", "pred": "y_pred", **FEW, **ASKED[asked]}
    agree(er.evaluate_files(many, **known), er.evaluate_file(whole, **known), digest="id" not in known)


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_in_parts_is_the_whole_file(suffix: str, tmp_path: Path) -> None:
    whole, many = parts(classes().select(["y_true", "y_pred", "site"]), tmp_path, suffix)
    agree(er.evaluate_files(many, slices="site", **FEW), er.evaluate_file(whole, slices="site", **FEW))


def test_over_twenty_mix_ups_show_one_row_of_each(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 9, 2000)
    table = pa.table({"y_true": truth, "y_pred": np.where(rng.random(2000) < 0.8, truth, truth * 2 % 9)})
    few = table.slice(0, 120)  # of these there are fewer mix-ups than are shown
    for rows in (table, few):
        folder = tmp_path / str(len(rows))
        folder.mkdir()
        whole, many = parts(rows, folder, ".parquet", (1, 40, 100))
        agree(er.evaluate_files(many, **FEW), er.evaluate_file(whole, **FEW))


def test_what_several_classes_cannot_have(tmp_path: Path) -> None:
    _, many = parts(classes(), tmp_path, ".parquet")
    with pytest.raises(UsageError, match="a multiclass problem has no decision threshold"):
        er.evaluate_files(many, threshold="max-f1", **FEW)
    with pytest.raises(UsageError, match="--ordered needs declared"):
        er.evaluate_files(many, ordered=True, **FEW)


def test_numbers_are_not_taken_for_classes_row_by_row(tmp_path: Path) -> None:
    rows = pa.table({"y_true": np.arange(20_000), "y_pred": np.arange(20_000)})
    _, many = parts(rows, tmp_path, ".parquet")
    with pytest.raises(DataError, match=r"distinct labels; at most 10,000 are classes"):
        er.evaluate_files(many, **FEW)
