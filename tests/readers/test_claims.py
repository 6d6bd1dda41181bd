"""Small files with large claims: what a file decodes to is counted before it is built."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from evalreport.core.errors import DataError
from evalreport.readers.formats import read_table
from evalreport.readers.limits import MODEST, refuse_decoded
from tests.readers.lean import read_within


def one_list(path: Path) -> None:
    """One row whose list has ten million labels, all of them one."""
    lists = pa.ListArray.from_arrays(pa.array([0, 10_000_000], pa.int32()), np.zeros(10_000_000, np.int8))
    table = pa.table({"labels": lists, "predicted": pa.array([[0]])})
    parquet.write_table(table, path, compression="zstd")


def many_rows(path: Path) -> None:
    codes = pa.array(np.zeros(20_000_000, np.int8))
    parquet.write_table(pa.table({"y_true": codes, "y_pred": codes}), path, compression="zstd")


def own_keys(path: Path) -> None:
    path.write_text("".join(f'{{"y_true": 1, "proba_{i}": 1}}\n' for i in range(15_000)), encoding="utf-8")


def one_double(path: Path) -> None:
    keys = ", ".join(f'"k{i}": 1' for i in [*range(60_000), 59_999])
    path.write_text(f'[{{"y_true": 1, {keys}}}]', encoding="utf-8")


def empty_texts(path: Path) -> None:
    with path.open("wb") as out:
        shape = (10**11,)
        np.lib.format.write_array_header_1_0(out, {"descr": "<U0", "fortran_order": False, "shape": shape})


def holes(path: Path) -> None:
    with path.open("wb") as out:
        out.truncate(1_900_000_000)


def null_columns(path: Path) -> None:
    nulls = pa.nulls(2_000_000_000)
    feather.write_feather(pa.table({"y_true": nulls, "y_pred": nulls}), path, chunksize=2_000_000_000)


def long_header(path: Path) -> None:
    path.write_text(",".join(f"column_{i}" for i in range(500_000)) + "\n1\n", encoding="utf-8")


CLAIMS: Mapping[str, tuple[Callable[[Path], None], str]] = {
    "list.parquet": (one_list, "10,000,001 values"),
    "rows.parquet": (many_rows, "40,000,000 values"),
    "keys.jsonl": (own_keys, "225,015,000 values"),
    "double.json": (one_double, "'k59999' appears twice"),
    "texts.npy": (empty_texts, "100,000,000,000 values"),
    "holes.csv": (holes, "zero bytes"),
    "nulls.feather": (null_columns, "values"),
    "header.csv": (long_header, "first line is longer than 4 MB"),
}


@pytest.mark.slow
def test_large_claims_are_refused_within_a_gigabyte(tmp_path: Path) -> None:
    for name, (write, _) in CLAIMS.items():
        write(tmp_path / name)
    paths = [str(tmp_path / name) for name in CLAIMS]
    found = read_within(2**30, *paths, "/dev/zero")
    wanted = [*(said for _, said in CLAIMS.values()), "zero is a device"]
    for message, said in zip(found, wanted, strict=True):
        assert said in message


def test_zeros_through_a_pipe() -> None:
    with pytest.raises(DataError, match="only zero bytes"):
        read_table(io.BytesIO(bytes(10_000)), format="csv")


def test_what_packs_well_and_is_modest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    zeros = np.zeros(2_000_000, np.int8)
    parquet.write_table(pa.table({"y_true": zeros, "y_pred": zeros}), path)
    assert path.stat().st_size < 20_000
    assert read_table(path).n == 2_000_000


def test_the_border_is_where_it_is_said() -> None:
    refuse_decoded(MODEST // 8, packed=1)
    with pytest.raises(DataError, match="1 bytes hold"):
        refuse_decoded(MODEST // 8 + 1, packed=1)
    refuse_decoded(MODEST, packed=MODEST)


def test_keys_that_few_records_have_are_gaps(tmp_path: Path) -> None:
    path = tmp_path / "p.json.gz"
    records = [{"y_true": 1, "y_pred": 1}, {"y_true": 0, "proba": 0.5}]
    path.write_bytes(gzip.compress(json.dumps(records).encode()))
    table = read_table(path)
    assert table.names == ("y_true", "y_pred", "proba")
    assert np.isnan(table.columns["y_pred"][1])
