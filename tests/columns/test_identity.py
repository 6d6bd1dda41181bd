"""Ids, groups, slices and labels keep their identity in every format, or are refused by name."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import evalreport as er
from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import find_in_files
from evalreport.columns.join import rows_where
from evalreport.core.errors import DataError
from evalreport.data.arrays import identity_texts, ids_as_text, text_array, to_labels
from evalreport.data.predictions import Categorical
from evalreport.readers.formats import read_table
from tests.cli.running import run

FILES = Path(__file__).parents[1] / "misread" / "files"
LARGE = [10**19 + place for place in range(8)]
"""Whole numbers that one float stands for."""
TEXTS = tuple(map(str, LARGE))


def _csv(folder: Path, ids: Sequence[Any]) -> Path:
    path = folder / "rows.csv"
    path.write_text("id,y_true,y_pred\n" + "".join(f"{one},{k % 2},1\n" for k, one in enumerate(ids)))
    return path


def _json(folder: Path, ids: Sequence[Any]) -> Path:
    path = folder / "rows.json"
    path.write_text(json.dumps([{"id": one, "y_true": k % 2, "y_pred": 1} for k, one in enumerate(ids)]))
    return path


def _json_lines(folder: Path, ids: Sequence[Any]) -> Path:
    path = folder / "rows.jsonl"
    rows = [json.dumps({"id": one, "y_true": k % 2, "y_pred": 1}) for k, one in enumerate(ids)]
    path.write_text("\n".join(rows) + "\n")
    return path


def _table(ids: Any) -> pa.Table:
    n = len(ids)
    return pa.table({"id": ids, "y_true": [k % 2 for k in range(n)], "y_pred": [1] * n})


def _parquet(kind: pa.DataType) -> Callable[[Path, Sequence[Any]], Path]:
    def write(folder: Path, ids: Sequence[Any]) -> Path:
        values = [Decimal(one) for one in ids] if pa.types.is_decimal(kind) else list(ids)
        pq.write_table(_table(pa.array(values, kind)), folder / "rows.parquet")
        return folder / "rows.parquet"

    return write


def _feather(folder: Path, ids: Sequence[Any]) -> Path:
    values = pa.array(ids, pa.uint64()).dictionary_encode()
    pyarrow.feather.write_feather(_table(values), str(folder / "rows.feather"))
    return folder / "rows.feather"


def _npz(folder: Path, ids: Sequence[Any]) -> Path:
    rows = np.arange(len(ids)) % 2
    np.savez(folder / "rows.npz", id=np.array(ids, np.uint64), y_true=rows, y_pred=np.ones_like(rows))
    return folder / "rows.npz"


WRITERS: Mapping[str, Callable[[Path, Sequence[Any]], Path]] = {
    "csv": _csv,
    "json": _json,
    "jsonl": _json_lines,
    "parquet uint64": _parquet(pa.uint64()),
    "parquet decimal128": _parquet(pa.decimal128(38, 0)),
    "parquet decimal128 of a scale": _parquet(pa.decimal128(38, 4)),
    "parquet decimal256": _parquet(pa.decimal256(60, 0)),
    "feather dictionary": _feather,
    "npz": _npz,
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_whole_numbers_beyond_int64_are_distinct_ids_groups_and_slices(
    write: Callable[[Path, Sequence[Any]], Path], tmp_path: Path
) -> None:
    path = write(tmp_path, LARGE)
    for request in (Columns(id="id"), Columns(group="id"), Columns(slices=("id",))):
        found = find_in_files(path, request)
        values = found.ids if found.ids is not None else found.groups
        values = found.slices["id"] if request.slices else values
        assert values is not None
        assert Categorical.from_values(values).values == TEXTS
    assert rows_where(read_table(path), [f"id={TEXTS[3]}"])[f"id={TEXTS[3]}"].sum() == 1


@pytest.mark.parametrize(
    "name", ["csv", "jsonl", "parquet uint64", "parquet decimal128", "feather dictionary"]
)
def test_a_stream_keeps_slices_beyond_int64_apart(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = WRITERS[name](tmp_path, LARGE * 30)
    options = ("--slice", "id", "--json")
    streamed = run(capsys, "report", str(path), "--set", "engine=stream", *options)
    assert streamed.code == 0, streamed.err
    whole = run(capsys, "report", str(path), "--set", "engine=memory", *options)
    for ran in (streamed, whole):
        parts = ran.json["runs"][0]["slices"]
        assert sorted(part["value"] for part in parts) == sorted(TEXTS)


def test_python_numbers_of_any_size_are_exact() -> None:
    for ids in (
        LARGE,
        np.array(LARGE, dtype=np.uint64),
        np.array(LARGE, dtype=object),
        pd.Series(LARGE, dtype="UInt64"),
        [*LARGE[:-1], Decimal(LARGE[-1])],
    ):
        assert tuple(ids_as_text(ids).tolist()) == TEXTS  # type: ignore[arg-type]
        assert Categorical.from_values(ids).values == TEXTS  # type: ignore[arg-type]
    assert identity_texts([2**63, -1], "id") == [str(2**63), "-1"]
    assert identity_texts([2**53 + 1, 0.5], "id") == [str(2**53 + 1), "0.5"]


def test_a_frame_of_python_numbers_is_exact() -> None:
    large = [10**30 + place for place in range(8)]
    frame = pd.DataFrame({"account": large, "y_true": [0, 1] * 4, "y_pred": [0, 1] * 4})
    assert frame["account"].dtype == object
    ev = er.evaluate(frame, group="account", resamples=20)
    assert ev.predictions is not None
    assert ev.predictions.groups is not None
    assert ev.predictions.groups.values == tuple(map(str, large))


@pytest.mark.parametrize(
    "ids",
    [
        np.array([1.0, 2.0**53]),
        np.array([1, 2**24], dtype=np.float32),
        [1, 1e300],
        [0.5, 2.0**60],
        [0.5, np.inf],
    ],
)
def test_floats_that_merge_whole_numbers_are_no_ids(ids: Any) -> None:
    with pytest.raises(DataError, match="different values may have become equal") as caught:
        ids_as_text(ids)
    assert "first: row 1" in caught.value.where
    with pytest.raises(DataError, match="account has floating-point numbers so large"):
        Categorical.from_values(ids, "account")


def test_a_file_of_such_floats_names_its_column(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(_table([1e19, 1e19, 3.0]), path)
    for request in (Columns(id="id"), Columns(group="id"), Columns(slices=("id",))):
        with pytest.raises(DataError, match="column 'id' has floating-point numbers so large"):
            find_in_files(path, request)


@pytest.mark.parametrize(
    "ids", [[1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"], np.array([1, 2, 3], np.float32)]
)
def test_1_and_1_0_and_the_text_1_are_one_id(ids: Any) -> None:
    assert ids_as_text(ids).tolist() == ["1", "2", "3"]
    assert Categorical.from_values(ids).values == ("1", "2", "3")


def test_runs_with_ids_of_several_types_are_paired(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = range(1, 41)
    truth = [k % 2 for k in ids]
    frames = [list(ids), [float(one) for one in ids], [str(one) for one in ids]]
    paths = []
    for place, column in enumerate(frames):
        path = tmp_path / f"run{place}.parquet"
        pq.write_table(pa.table({"id": column, "y_true": truth, "y_pred": [place % 2] * 40}), path)
        paths.append(str(path))
    compared = run(capsys, "compare", *paths, "--id", "id", "--json")
    assert compared.code == 0, compared.err
    assert {one["n_shared"] for one in compared.json["comparison"]["pairings"]} == {40}


@pytest.mark.parametrize(
    ("files", "paired"),
    [(("bigint_a.csv", "bigint_b.csv"), 0), (("bigint_a18.csv", "bigint_b18.csv"), 1)],
)
def test_large_ids_pair_with_themselves_alone(
    files: tuple[str, str], paired: int, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(FILES / name) for name in files]
    ran = run(capsys, "compare", *paths, "--id", "id", "--json")
    assert ran.code == 0, ran.err
    (pairing,) = ran.json["comparison"]["pairings"]
    assert (pairing["n_shared"], pairing["kind"] == "paired") == (paired, paired > 0)


@pytest.mark.parametrize("name", ["bigint_g.csv", "bigint_one.csv"])
def test_large_groups_are_counted_one_by_one(name: str) -> None:
    found = find_in_files(FILES / name, Columns(group="account"))
    assert found.groups is not None
    assert len(Categorical.from_values(found.groups).values) == 40


def test_truth_in_another_file_is_joined_by_large_ids(tmp_path: Path) -> None:
    predictions, truth = tmp_path / "predictions.csv", tmp_path / "truth.json"
    predictions.write_text("id,y_pred\n" + "".join(f"{one},{k % 2}\n" for k, one in enumerate(LARGE)))
    rows = [{"id": one, "y_true": k % 2} for k, one in enumerate(LARGE)]
    truth.write_text(json.dumps(rows[::-1]))
    found = find_in_files(predictions, Columns(id="id"), truth=truth)
    assert found.y_true.tolist() == [0, 1] * 4


@pytest.mark.parametrize("trained", [[float(one) for one in range(3, 9)], [str(one) for one in range(3, 9)]])
def test_training_rows_are_found_whatever_the_type_of_their_ids(
    trained: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test, train = _csv(tmp_path, range(40)), tmp_path / "train.parquet"
    pq.write_table(pa.table({"id": trained}), train)
    ran = run(capsys, "check", str(test), "--train", str(train), "--id", "id")
    assert "6 rows of the test set also occur in train.parquet" in ran.out


def test_training_rows_with_large_ids_are_other_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test, train = _csv(tmp_path, LARGE[:4] * 1), tmp_path / "train.json"
    train.write_text(json.dumps([{"id": one} for one in LARGE[4:]]))
    ran = run(capsys, "check", str(test), "--train", str(train), "--id", "id")
    assert "no row of the test set occurs in train.json" in ran.out


def test_files_of_a_folder_with_numbers_of_two_types_keep_their_ids(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    small, large = [2**62 + place for place in range(4)], [2**63 + place for place in range(4)]
    pq.write_table(_table(pa.array(small, pa.int64())), folder / "a.parquet")
    pq.write_table(_table(pa.array(large, pa.uint64())), folder / "b.parquet")
    found = find_in_files(folder, Columns(id="id"))
    assert found.ids is not None
    assert ids_as_text(found.ids).tolist() == [*map(str, small), *map(str, large)]


def test_per_cent_signs_are_read_as_fractions() -> None:
    found = find_in_files(FILES / "62b.csv")
    assert found.scores is not None and found.scores.min() >= 0 and found.scores.max() <= 1
    assert any("percentages" in note for note in found.notes)


# --- labels and texts that end in NUL


def test_labels_that_differ_by_a_nul_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "report", str(FILES / "nul.jsonl"), "--json")
    assert ran.code == 5
    assert "NUL" in ran.json["error"]["message"]
    assert "y_true" in ran.json["error"]["where"]


@pytest.mark.parametrize("make", [list, lambda texts: np.array(texts, dtype=object), pd.Series, tuple])
def test_a_trailing_nul_is_refused_everywhere(make: Callable[[list[str]], Any]) -> None:
    texts = ["a", "a\0", "b"]
    for what in (
        lambda values: to_labels(values, "y"),
        ids_as_text,
        Categorical.from_values,
        lambda values: text_array(list(values), "labels"),
        lambda values: er.Multiclass(list(values)),
        lambda values: er.evaluate(["a", "b", "a"], ["a", "b", "a"], slices={"part": values}),
    ):
        with pytest.raises(DataError, match="NUL character") as caught:
            what(make(texts))
        assert "row 1" in caught.value.where


def test_a_nul_within_a_text_is_kept() -> None:
    assert to_labels(["a\0b", "a"], "y").tolist() == ["a\0b", "a"]


# --- files that ended in an internal error


def test_dictionaries_of_dates_are_labels() -> None:
    table = read_table(FILES / "dates.feather")
    assert {len(set(values.tolist())) for values in table.columns.values()} == {2}


@pytest.mark.parametrize(
    "kind", [pa.date32(), pa.date64(), pa.timestamp("ns"), pa.time64("us"), pa.decimal128(24, 2), pa.bool_()]
)
def test_dictionaries_of_any_scalar_are_read(kind: pa.DataType) -> None:
    is_text = pa.types.is_temporal(kind)
    plain = pa.array([1, 0, None], pa.int32() if pa.types.is_date(kind) else pa.int64())
    plain = plain.cast(pa.date32()) if pa.types.is_date(kind) else plain
    plain = plain.cast(kind)
    codes = pa.array([0, 1, 2, 0])
    table = pa.table({"label": pa.DictionaryArray.from_arrays(codes, plain)})
    file = io.BytesIO()
    pyarrow.feather.write_feather(table, file)
    column = read_table(io.BytesIO(file.getvalue()), format="arrow").columns["label"].tolist()
    assert column[0] == column[3] != column[1]
    assert isinstance(column[0], str) == is_text


DIGITS = "7" * 400


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.csv", f"id,y_true,score\n{DIGITS},0,0.5\n2,1,0.25\n"),
        (
            "rows.json",
            f'[{{"id": {DIGITS}, "y_true": 0, "score": 0.5}}, {{"id": 2, "y_true": 1, "score": 1}}]',
        ),
        (
            "rows.jsonl",
            f'{{"id": {DIGITS}, "y_true": 0, "score": 0.5}}\n{{"id": 2, "y_true": 1, "score": 1}}\n',
        ),
    ],
)
def test_numbers_of_400_digits_are_ids_and_no_scores(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    found = find_in_files(path, Columns(id="id"))
    assert found.ids is not None
    assert ids_as_text(found.ids).tolist() == [DIGITS, "2"]
    with pytest.raises(
        DataError, match="column 'id' has a number of 400 digits, which do not fit into a float"
    ):
        find_in_files(path, Columns(score="id"))
    with pytest.raises(DataError, match="id holds a number that is too large for a label"):
        find_in_files(path, Columns(pred="id"))


def test_odd_types_are_no_ids(tmp_path: Path) -> None:
    n = 4
    odd = {
        "list": pa.array([[1], [2], [3], [4]]),
        "struct": pa.array([{"a": k} for k in range(n)]),
        "list of dates": pa.array([[k] for k in range(n)], pa.list_(pa.date32())),
        "null": pa.nulls(n),
        "interval": pa.array([(1, 2, 3)] * n, pa.month_day_nano_interval()),
        "union": pa.UnionArray.from_sparse(pa.array([0] * n, pa.int8()), [pa.array(range(n))]),
    }
    for name, ids in odd.items():
        path = tmp_path / "rows.arrow"
        table = _table(ids)
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(DataError) as caught:
            find_in_files(path, Columns(id="id"))
        assert "id" in caught.value.as_lines(), name
        assert caught.value.fix, name


PACKERS: Mapping[int, Callable[[bytes], bytes]] = {
    zipfile.ZIP_STORED: bytes,
    zipfile.ZIP_DEFLATED: zlib.compress,
    zipfile.ZIP_BZIP2: bz2.compress,
    zipfile.ZIP_LZMA: lzma.compress,
}


@pytest.mark.parametrize("method", PACKERS)
@pytest.mark.parametrize("place", [0, 1, 5, 13, 20, 40, 200])
def test_a_broken_member_of_an_archive_is_refused(method: int, place: int) -> None:
    member = io.BytesIO()
    np.save(member, np.random.default_rng(0).integers(0, 9, 500))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("y_true.npy", member.getvalue())
    data = bytearray(file.getvalue())
    start = 30 + len("y_true.npy")
    for at in range(start + place, start + place + 8):
        data[at] ^= 0xFF
    with pytest.raises(DataError) as caught:
        read_table(io.BytesIO(bytes(data)), format="npz")
    assert caught.value.fix
