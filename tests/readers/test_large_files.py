"""A file above the limit is read as its head is: a sample of rows decides which columns are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import evalreport as er
from evalreport.columns.find_columns import Found, find_in_files
from evalreport.core.errors import EvalreportError
from evalreport.readers.csv import sample_lines
from evalreport.readers.data_sets import data_set

N = 900
RNG = np.random.default_rng(8)
CITIES = np.array(["oslo", "paris", "rome"])
Y = np.sort(RNG.integers(3, size=N))
P = RNG.random((N, 3)) + 0.6 * np.eye(3)[Y]
P /= P.sum(axis=1, keepdims=True)
GUESS = P.argmax(axis=1)
SUFFIXES = ("csv", "csv.gz", "jsonl", "json", "parquet", "arrow")


@pytest.fixture(autouse=True)
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalreport.readers.formats.COMPARED_BYTES", 0)
    monkeypatch.setattr("evalreport.readers.csv.PIECE", 3000)
    monkeypatch.setattr("evalreport.readers.arrow.PIECE", 60)


def without_known_names() -> dict[str, Any]:
    """No name says which column is the label, and the rows are sorted by it."""
    return {
        "case": [f"case {row}" for row in range(N)],
        "town": CITIES[Y],
        "age": RNG.normal(size=N).round(3),
        "guess of town": CITIES[GUESS],
        **{f"knn {city}": P[:, place] for place, city in enumerate(CITIES)},
    }


def exchanged() -> dict[str, Any]:
    """The column that is called the label is the prediction."""
    scores = {f"p_{city}": P[:, place] for place, city in enumerate(CITIES)}
    return {"label": CITIES[GUESS], "topic": CITIES[Y], **scores}


def in_question() -> dict[str, Any]:
    return {"label": CITIES[GUESS], "topic": CITIES[Y], "age": RNG.normal(size=N)}


def several_evaluations() -> dict[str, Any]:
    half = np.tile(RNG.permutation(N)[: N // 2], 2)
    right = RNG.random(N) < 0.8
    return {
        "system": np.repeat(["a", "b"], N // 2),
        "prediction": CITIES[np.where(right, Y[half], 2 - Y[half])],
        "label": CITIES[Y[half]],
    }


TABLES = {one.__name__: one for one in (without_known_names, exchanged, in_question, several_evaluations)}


def write(folder: Path, columns: dict[str, Any], suffix: str) -> Path:
    path = folder / f"rows.{suffix}"
    rows = pd.DataFrame(columns)
    match suffix:
        case "parquet":
            pq.write_table(pa.table(columns), path, row_group_size=N // 9)
        case "arrow":
            feather.write_feather(pa.table(columns), path, chunksize=N // 9)
        case "jsonl":
            rows.to_json(path, orient="records", lines=True, double_precision=15)
        case "json":
            path.write_text(json.dumps({name: list(map(plain, v)) for name, v in columns.items()}))
        case _:
            rows.to_csv(path, index=False)
    return path


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def reading(path: Path) -> tuple[Any, ...] | str:
    """What a file is read as, or the refusal."""
    try:
        found = find_in_files(path)
    except EvalreportError as error:
        return f"{error.message} / {error.fix}"
    return values_of(found)


def values_of(found: Found) -> tuple[Any, ...]:
    arrays = (found.y_true, found.y_pred, found.scores)
    return found.taken, *(None if one is None else one.tolist() for one in arrays)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", TABLES)
def test_a_large_file_is_read_as_a_small_one(
    name: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, TABLES[name](), suffix)
    large = reading(path)
    monkeypatch.setattr("evalreport.readers.formats.COMPARED_BYTES", 1 << 30)
    assert large == reading(path)
    if name in ("without_known_names", "exchanged"):
        truth = "town" if name == "without_known_names" else "topic"
        assert ("truth", truth) in large[0] and ("task", "multiclass, 3 labels") in large[0]
    else:
        assert isinstance(large, str) and ("--truth" in large or "--where" in large)


def test_columns_without_a_role_are_not_read(tmp_path: Path) -> None:
    columns = without_known_names() | {"note": [f"{row} " + "long text " * 30 for row in range(N)]}
    found = find_in_files(write(tmp_path, columns, "csv"))
    assert not {"age", "note"} & found.files[0].columns.keys()
    assert {"town", "guess of town", "case"} <= found.files[0].columns.keys()


def test_many_columns_are_decided_by_a_sample(tmp_path: Path) -> None:
    features = {f"x{place}": RNG.normal(size=N).round(2) for place in range(250)}
    found = find_in_files(write(tmp_path, features | without_known_names(), "parquet"))
    assert found.y_true.tolist() == CITIES[Y].tolist() and "x0" not in found.files[0].columns


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("name", TABLES)
def test_a_stream_is_read_as_a_table(name: str, suffix: str, tmp_path: Path) -> None:
    path = write(tmp_path, TABLES[name](), suffix)
    if isinstance(reading(path), str):
        with pytest.raises(EvalreportError):
            er.evaluate_files(path, confidence=None)
        return
    ev = er.evaluate_files(path, confidence=None)
    assert ev.metrics["accuracy"].value == pytest.approx((GUESS == Y).mean())
    assert ev.metrics["log_loss"].value == pytest.approx(-np.log(P[np.arange(N), Y]).mean(), abs=1e-6)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow"])
def test_a_sample_has_rows_of_several_places(suffix: str, tmp_path: Path) -> None:
    path = write(tmp_path, {"row": np.arange(N), "text": ["some text"] * N}, suffix)
    rows = data_set([path]).sample(["row"])["row"]
    assert len(rows) < N and rows[0] == 0 and rows.max() > 0.85 * N
    assert ((rows > 0.45 * N) & (rows < 0.65 * N)).any()


def test_a_folder_is_decided_by_its_first_middle_and_last_file(tmp_path: Path) -> None:
    columns = without_known_names()
    for place in range(9):
        part = {name: values[place * 100 : place * 100 + 100] for name, values in columns.items()}
        write(tmp_path, part, "parquet").rename(tmp_path / f"part-{place}.parquet")
    found = find_in_files(tmp_path)
    assert found.y_true.tolist() == CITIES[Y].tolist() and found.scores is not None


def test_quoted_line_breaks_do_not_end_a_line() -> None:
    line = b'a,"one\ntwo ""3""\nfour",b\n'
    some = sample_lines(b"x,y,z\n" + line * 2000, quoted=True)
    assert len(some) < len(line) * 1000 and some == b"x,y,z\n" + line * some.count(line)
