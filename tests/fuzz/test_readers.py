"""Any small table is read back as it was written; changed bytes are read or refused, in every format.

`make fuzz` looks at more of them.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from evalreport.columns.column_request import Columns
from evalreport.core.errors import EvalreportError
from evalreport.readers.formats import RawTable
from evalreport.readers.read import read_requested_columns
from tests.fuzz.test_tables import MANY

Table = Mapping[str, Sequence[Any]]


def as_csv(table: Table) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows([list(table), *zip(*table.values(), strict=True)])
    return out.getvalue().encode()


def as_records(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def by_arrow(write: Callable[[pa.Table, io.BytesIO], object]) -> Callable[[Table], bytes]:
    def written(table: Table) -> bytes:
        out = io.BytesIO()
        write(pa.table({name: pa.array(values) for name, values in table.items()}), out)
        return out.getvalue()

    return written


def streamed(table: pa.Table, out: io.BytesIO) -> None:
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table, max_chunksize=3)


def as_npz(table: Table) -> bytes:
    out = io.BytesIO()
    arrays: dict[str, Any] = {name: np.array(values) for name, values in table.items()}
    np.savez_compressed(out, **arrays)
    return out.getvalue()


WRITERS: dict[str, Callable[[Table], bytes]] = {
    "p.csv": as_csv,
    "p.csv.gz": lambda table: gzip.compress(as_csv(table), mtime=0),
    "p.jsonl": lambda table: "\n".join(map(json.dumps, as_records(table))).encode(),
    "p.json": lambda table: json.dumps(as_records(table)).encode(),
    "p.parquet": by_arrow(parquet.write_table),
    "p.feather": by_arrow(lambda table, out: feather.write_feather(table, out, compression="lz4")),
    "p.arrow": by_arrow(streamed),
    "p.npz": as_npz,
}
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)
LABELS: tuple[st.SearchStrategy[Any], ...] = (TEXT, st.integers(-(2**40), 2**40), st.booleans())


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Labels of one type and scores, 1 to 8 rows."""
    rows = draw(st.integers(1, 8))
    kind = draw(st.sampled_from(LABELS))
    known = draw(st.lists(kind, min_size=1, max_size=3))
    column = st.lists(st.sampled_from(known), min_size=rows, max_size=rows)
    scores = st.lists(st.floats(0, 1, width=32), min_size=rows, max_size=rows)
    return {"y_true": draw(column), "y_pred": draw(column), "score": draw(scores)}


@st.composite
def changes(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """Bytes replaced, left out, put in or doubled, up to four times."""
    made = draw(
        st.lists(
            st.tuples(st.floats(0, 1), st.integers(0, 40), st.binary(max_size=8)), min_size=1, max_size=4
        )
    )

    def change(data: bytes) -> bytes:
        for share, length, put in made:
            at = int(share * len(data))
            data = data[:at] + put + data[at + length :]
        return data

    return change


def read(name: str, data: bytes) -> RawTable | None:
    """Read a file, or see that it is refused as somebody's data."""
    try:
        return read_requested_columns(io.BytesIO(data), Columns(), name=name)
    except EvalreportError as error:
        assert error.exit_code in (2, 5), error.as_lines()
        return None


@pytest.mark.parametrize("name", WRITERS)
@given(table=tables())
@MANY
def test_a_table_comes_back(name: str, table: Table) -> None:
    found = read(name, WRITERS[name](table))
    if found is not None:
        assert found.n == len(table["score"])
        assert np.allclose(np.asarray(found.columns["score"], dtype=float), table["score"])


@pytest.mark.parametrize("name", WRITERS)
@given(table=tables(), change=changes())
@MANY
def test_changed_bytes_are_read_or_refused(name: str, table: Table, change: Callable[[bytes], bytes]) -> None:
    read(name, change(WRITERS[name](table)))


CORPUS: dict[str, tuple[bytes, ...]] = {
    "p.csv": (b"\xff\xfe", b"\x00", b'"', b"y_true,y_pred\n" + b'"' * 99),
    "p.csv.gz": (b"\x1f\x8b", b"\x1f\x8b\x08\x00" + bytes(20)),
    "p.jsonl": (b"[]\n{}", b'{"y_true": [' * 99),
    "p.json": (b"[" * 20_000, b'{"columns": [], "data": [[1]]}', b"NaN", b'[{"a": 1}, 2]'),
    "p.parquet": (b"PAR1PAR1", b"PAR1" + b"\xff" * 40 + b"PAR1"),
    "p.feather": (b"ARROW1\0\0", b"ARROW1\0\0" + b"\xff\xff\xff\xff\x7f" + bytes(40)),
    "p.arrow": tuple(b"\xff" * 4 + data for data in (b"", bytes(4), b"\xff\xff\xff\x7f", b"\x08\0\0\0" * 9)),
    "p.npz": (b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x93NUMPY\x01\x00v\x00"),
}
"""Beginnings, ends and claims of files, as small as they can be."""


def test_the_corpus_is_read_or_refused() -> None:
    for name, files in CORPUS.items():
        for data in files:
            read(name, data)
