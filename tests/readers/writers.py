"""The same table in every format that evalreport reads."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

Data: TypeAlias = Mapping[str, Sequence[Any]]


def as_csv(data: Data, separator: str = ",", joined: str = "|") -> str:
    def cell(value: Any) -> Any:
        return joined.join(map(str, value)) if isinstance(value, list) else value

    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow(data)
    writer.writerows([[cell(value) for value in row] for row in zip(*data.values(), strict=True)])
    return out.getvalue()


def as_records(data: Data) -> list[dict[str, Any]]:
    return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]


def as_arrow(data: Data) -> Any:
    return pa.table({name: pa.array(list(values)) for name, values in data.items()})


def write_gzip(path: Path, data: Data) -> None:
    path.write_bytes(gzip.compress(as_csv(data).encode()))


def write_stream(path: Path, data: Data) -> None:
    table = as_arrow(data)
    with pa.ipc.new_stream(path, table.schema) as sink:
        sink.write_table(table)


def write_split(path: Path, data: Data) -> None:
    rows = [list(row) for row in zip(*data.values(), strict=True)]
    path.write_text(json.dumps({"columns": list(data), "data": rows}), encoding="utf-8")


def write_lines(path: Path, data: Data) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in as_records(data)), encoding="utf-8")


def write_npz(path: Path, data: Data, save: Callable[..., None]) -> None:
    save(path, **{name: np.asarray(values) for name, values in data.items()})


def write_structured(path: Path, data: Data) -> None:
    arrays = {name: np.asarray(values) for name, values in data.items()}
    rows = np.empty(len(next(iter(arrays.values()))), dtype=[(n, a.dtype) for n, a in arrays.items()])
    for name, array in arrays.items():
        rows[name] = array
    np.save(path, rows)


Write: TypeAlias = Callable[[Path, Data], object]
WRITERS: Mapping[str, Write] = {
    "p.csv": lambda path, data: path.write_text(as_csv(data), encoding="utf-8"),
    "semicolon.csv": lambda path, data: path.write_text(as_csv(data, ";"), encoding="utf-8"),
    "pipe.txt": lambda path, data: path.write_text(as_csv(data, "|", joined="/"), encoding="utf-8"),
    "p.tsv": lambda path, data: path.write_text(as_csv(data, "\t"), encoding="utf-8"),
    "marked.csv": lambda path, data: path.write_text(as_csv(data), encoding="utf-8-sig"),
    "windows.csv": lambda path, data: path.write_bytes(as_csv(data).replace("\n", "\r\n").encode()),
    "p.csv.gz": write_gzip,
    "p.parquet": lambda path, data: parquet.write_table(as_arrow(data), path),
    "groups.parquet": lambda path, data: parquet.write_table(as_arrow(data), path, row_group_size=2),
    "p.feather": lambda path, data: feather.write_feather(as_arrow(data), path),
    "chunks.feather": lambda path, data: feather.write_feather(as_arrow(data), path, chunksize=2),
    "stream.arrow": write_stream,
    "records.json": lambda path, data: path.write_text(json.dumps(as_records(data)), encoding="utf-8"),
    "columns.json": lambda path, data: path.write_text(json.dumps(dict(data)), encoding="utf-8"),
    "split.json": write_split,
    "lines.json": write_lines,
    "p.jsonl": write_lines,
    "p.npz": lambda path, data: write_npz(path, data, np.savez),
    "packed.npz": lambda path, data: write_npz(path, data, np.savez_compressed),
    "p.npy": write_structured,
}
"""By a file name that says the format."""
ARRAYS = (".npz", ".npy")
DELIMITED = (".csv", ".tsv", ".txt", ".gz")
