"""Arrow types one by one: dtypes as stored, gaps where they are, the same as `to_pylist` says."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from evalreport.readers.content import to_array
from evalreport.readers.formats import read_table

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
VIEWS = [pa.string_view()] if hasattr(pa, "string_view") else []  # since pyarrow 16
TEXTS = [pa.string(), pa.large_string(), *VIEWS, pa.dictionary(pa.int8(), pa.string())]
LISTS = [
    pa.list_(pa.string()),
    pa.large_list(pa.large_string()),
    pa.list_(pa.int64()),
    pa.list_(pa.string(), 1),
]
WORDS = ["spam", None, "", "ham", "spam", "ü"]


def column(values: list[Any], kind: Any) -> Any:
    """An array; old releases take halves from NumPy alone."""
    if kind == pa.float16():
        values = [None if value is None else np.float16(value) for value in values]
    return pa.array(values, type=kind)


def pieces(values: list[Any], kind: Any) -> Any:
    """A column of several chunks, one empty and one with an offset."""
    array = column(values, kind)
    head = pa.concat_arrays([array[-1:], array[:2]])[1:]
    return pa.chunked_array([head, array[:0], array[2:]], type=kind)


@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS], ids=str)
def test_numbers_keep_their_type(kind: Any) -> None:
    values = [1, 0, 3, 7, 1]
    found = to_array(pieces(values, kind), "x")
    assert found.tolist() == values
    assert found.dtype == np.dtype(kind.to_pandas_dtype())


@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS], ids=str)
def test_gaps_in_numbers_are_nan(kind: Any) -> None:
    found = to_array(pieces([1, None, 3, None, 5], kind), "x")
    assert np.isnan(found).tolist() == [False, True, False, True, False]
    assert found[[0, 2, 4]].tolist() == [1, 3, 5]


def test_large_integers_with_gaps_lose_no_digit() -> None:
    found = to_array(pieces([2**53 + 1, None, 2], pa.int64()), "x")
    assert found.tolist() == [2**53 + 1, None, 2]


@pytest.mark.parametrize("kind", TEXTS, ids=str)
def test_text_and_its_gaps(kind: Any) -> None:
    found = to_array(pieces(WORDS, kind), "x")
    assert found.dtype == object
    assert found.tolist() == WORDS
    assert found[0] is found[4]


def test_dictionaries_that_differ_from_chunk_to_chunk() -> None:
    chunks = [pa.array(part).dictionary_encode() for part in (["a", "b", None], ["c", "a"])]
    column = pa.chunked_array(chunks)
    assert to_array(column, "x").tolist() == ["a", "b", None, "c", "a"]


@pytest.mark.parametrize("kind", LISTS, ids=str)
def test_lists(kind: Any) -> None:
    items: list[Any] = [1] if "int" in str(kind) else ["joy"]
    found = to_array(pieces([items, None, items, items], kind), "x")
    assert found.tolist() == [items, None, items, items]


def test_other_types() -> None:
    assert to_array(pieces([True, False, True], pa.bool_()), "x").dtype == bool
    assert to_array(pieces([True, None, False], pa.bool_()), "x").tolist() == [True, None, False]
    assert to_array(pieces([None, None, None], pa.null()), "x").tolist() == [None, None, None]
    decimals = pieces([Decimal("0.25"), None, Decimal("1.50")], pa.decimal128(5, 2))
    assert to_array(decimals, "x")[[0, 2]].tolist() == [0.25, 1.5]
    days = pieces([datetime.date(2024, 1, 5), None, datetime.date(2024, 1, 6)], pa.date32())
    assert to_array(days, "x").tolist() == ["2024-01-05", None, "2024-01-06"]
    codes = pieces([7, None, 9], pa.dictionary(pa.int8(), pa.int64()))
    assert to_array(codes, "x")[[0, 2]].tolist() == [7, 9]


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_files_keep_the_types(suffix: str, tmp_path: Path) -> None:
    columns = {str(kind): column([1, 0, 2], kind) for kind in (*INTEGERS, *FLOATS)}
    table = pa.table({**columns, "word": pa.array(["a", None, "b"]).dictionary_encode()})
    path = tmp_path / f"p{suffix}"
    parquet.write_table(table, path) if suffix == ".parquet" else feather.write_feather(table, path)
    found = read_table(path).columns
    for kind in (*INTEGERS, *FLOATS):
        assert found[str(kind)].dtype == np.dtype(kind.to_pandas_dtype()), kind
    assert found["word"].tolist() == ["a", None, "b"]
