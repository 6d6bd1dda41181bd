"""Files that want to run code or to fill the memory: refused, and never loaded to find out."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from evalreport.columns.find_columns import find_in_files
from evalreport.core.errors import DataError, EvalreportError, UnsafeFileError
from evalreport.readers import limits
from evalreport.readers.arrow import claims
from evalreport.readers.formats import PICKLES, accepted_suffixes, read_table, readers
from evalreport.readers.limits import refuse_pickle
from tests.readers.lean import read_within
from tests.readers.writers import WRITERS

TEXT_SUFFIXES = tuple(suffix for reader in readers() if not reader.magic for suffix in reader.suffixes)
PACKED = tuple(f"{suffix}.gz" for suffix in TEXT_SUFFIXES)


class Payload:
    """Makes a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.marker,))


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "marker"


def refused(path: Path, marker: Path) -> UnsafeFileError:
    with pytest.raises(UnsafeFileError) as caught:
        find_in_files(path)
    assert caught.value.exit_code == 5
    assert path.name in caught.value.where
    assert not marker.exists()
    return caught.value


def test_the_payload_works(marker: Path) -> None:
    pickle.loads(pickle.dumps(Payload(marker)))
    assert marker.exists()


@pytest.mark.parametrize("suffix", [*accepted_suffixes(), *PACKED, *PICKLES])
def test_a_pickle_under_every_name(suffix: str, marker: Path, tmp_path: Path) -> None:
    path = tmp_path / f"predictions{suffix}"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(Payload(marker), protocol=protocol)
        path.write_bytes(gzip.compress(data) if suffix in PACKED else data)
        assert "pickle" in refused(path, marker).message


@pytest.mark.parametrize("save", [np.save, np.savez, np.savez_compressed])
def test_object_arrays_are_pickles(save: Any, marker: Path, tmp_path: Path) -> None:
    path = tmp_path / ("p.npy" if save is np.save else "p.npz")
    save(path, np.array([Payload(marker), None], dtype=object))
    assert "pickle" in refused(path, marker).message


def test_object_fields_are_pickles(marker: Path, tmp_path: Path) -> None:
    rows = np.array([(Payload(marker), 1)], dtype=[("y_true", object), ("score", "f8")])
    np.save(tmp_path / "p.npy", rows)
    assert "pickle" in refused(tmp_path / "p.npy", marker).message


def test_an_archive_of_pickles(marker: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Payload(marker)))
    assert "pickle" in refused(path, marker).message
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("y_true.npy", pickle.dumps(Payload(marker)))
    with pytest.raises(DataError):
        find_in_files(path)
    assert not marker.exists()


@pytest.mark.filterwarnings("ignore:pickle-based", "ignore:pyarrow.PyExtensionType is")  # said by pyarrow 15
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_an_extension_type_that_holds_a_pickle(suffix: str, marker: Path, tmp_path: Path) -> None:
    meta = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": pickle.dumps(Payload(marker)),
    }
    fields = [pa.field("y_true", pa.int64()), pa.field("other", pa.binary(), metadata=meta)]
    table = pa.table([pa.array([0, 1]), pa.array([b"a", b"b"])], schema=pa.schema(fields))
    path = tmp_path / f"p{suffix}"
    parquet.write_table(table, path) if suffix == ".parquet" else feather.write_feather(table, path)
    assert "extension type" in refused(path, marker).message


@pytest.mark.parametrize(
    "text",
    [
        b"case,y_true\nc,a sentence.",
        b"example_id,label\n1,yes.",
        b'{"y_true": 1, "text": "."}',
    ],
)
def test_text_that_ends_in_a_full_stop_is_no_pickle(text: bytes) -> None:
    refuse_pickle(text)


def test_zip_bomb_is_refused_from_its_directory(tmp_path: Path, marker: Path) -> None:
    path = tmp_path / "p.npz"
    np.savez_compressed(path, y_true=np.zeros(4_000_000), scores=np.zeros(4_000_000))
    assert path.stat().st_size < 100_000
    assert "expand" in refused(path, marker).message


def lie(path: Path, declared: int, actual: int) -> None:
    """Make both places of a zip file say another size for its first entry."""
    data = path.read_bytes()
    path.write_bytes(data.replace(actual.to_bytes(4, "little"), declared.to_bytes(4, "little")))


def test_zip_directory_that_lies(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    np.savez_compressed(path, y_true=np.zeros(4_000_000))
    lie(path, declared=1_000, actual=4_000_000 * 8 + 128)
    with pytest.raises(DataError):
        read_table(path)


@pytest.mark.parametrize("shape", [(10**12,), (2**31, 2**31, 2**31), (0, 10**18, 5)])
def test_npy_header_that_lies(shape: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "p.npy"
    with path.open("wb") as out:
        np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": shape})
        out.write(b"\0" * 64)
    with pytest.raises(DataError, match="says it has"):
        read_table(path)


def test_gzip_bomb_stops_at_the_bound(tmp_path: Path, marker: Path) -> None:
    path = tmp_path / "p.csv.gz"
    path.write_bytes(gzip.compress(b"y_true,score\n" + b"1,0.5\n" * 5_000_000))
    assert "expand" in refused(path, marker).message


def test_constant_columns_may_pack_well(tmp_path: Path) -> None:
    path = tmp_path / "p.csv.gz"
    path.write_bytes(gzip.compress(b"y_true,score\n" + b"1,0.5\n" * 100_000))
    assert read_table(path).n == 100_000


def test_parquet_pages_that_expand(tmp_path: Path, marker: Path) -> None:
    path = tmp_path / "p.parquet"
    table = pa.table({"y_true": np.zeros(4_000_000), "score": np.zeros(4_000_000)})
    parquet.write_table(table, path, compression="zstd", use_dictionary=False)
    assert "expand" in refused(path, marker).message


def test_parquet_with_a_huge_dictionary_page(tmp_path: Path, marker: Path) -> None:
    path = tmp_path / "p.parquet"
    words = pa.array([str(i) + "x" * 900_000 for i in range(40)])
    codes = pa.array(np.arange(400, dtype=np.int32) % 40)
    texts = pa.table({"text": pa.DictionaryArray.from_arrays(codes, words)})
    parquet.write_table(texts, path, compression="zstd")
    with pytest.raises(UnsafeFileError, match="expand"):
        read_table(path)


def test_feather_that_expands(tmp_path: Path, marker: Path) -> None:
    path = tmp_path / "p.feather"
    feather.write_feather(pa.table({"y_true": np.zeros(4_000_000)}), path, compression="zstd")
    assert "expand" in refused(path, marker).message


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
@pytest.mark.parametrize("write", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow_batches_are_counted_before_they_are_expanded(
    write: Any, compression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = pa.array(["a", "b"] * 1_500_000).dictionary_encode()
    table = pa.table({"y_true": np.zeros(3_000_000), "y_pred": words})
    out, options = io.BytesIO(), pa.ipc.IpcWriteOptions(compression=compression)
    with write(out, table.schema, options=options) as writer:
        writer.write_table(table)
    assert sum(claims(out.getvalue())) == pytest.approx(table.nbytes, rel=0.01)
    monkeypatch.setattr("evalreport.readers.arrow._read_limited_batches", None)
    with pytest.raises(UnsafeFileError, match="that expand to"):
        read_table(io.BytesIO(out.getvalue()), format="arrow")


@pytest.mark.parametrize("byte", [b"\x00", b"\x80", b"\xff"])
def test_any_byte_of_a_compressed_stream_may_be_wrong(byte: bytes) -> None:
    out, table = io.BytesIO(), pa.table({"y_true": [0, 1], "y_pred": ["a", "b"]})
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    whole = out.getvalue()
    for at in range(len(whole)):
        with suppress(DataError):
            read_table(io.BytesIO(whole[:at] + byte + whole[at + 1 :]), format="arrow")


@pytest.mark.parametrize("name", ["p.parquet", "p.feather"])
def test_maps_and_binary_columns_are_refused_when_wanted(name: str, tmp_path: Path) -> None:
    columns = {
        "bytes": pa.array([b"x"]),
        "lists of bytes": pa.array([[b"x"]]),
        "map": pa.array([[("a", 1)]], type=pa.map_(pa.string(), pa.int64())),
    }
    for column, values in columns.items():
        table = pa.table({"y_true": pa.array([1]), "y_pred": pa.array([0]), column: values})
        path = tmp_path / name
        parquet.write_table(table, path) if name == "p.parquet" else feather.write_feather(table, path)
        with pytest.raises(DataError, match=f"column '{column}' holds"):
            read_table(path)
        assert find_in_files(path).y_true.tolist() == [1]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".npz"])
def test_wide_files(suffix: str, tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(6_000)]
    path = tmp_path / f"p{suffix}"
    match suffix:
        case ".csv":
            path.write_text(
                ",".join(["y_true", *names]) + "\n" + ",".join("1" * 6_001) + "\n", encoding="utf-8"
            )
        case ".parquet":
            parquet.write_table(pa.table({name: [1] for name in ["y_true", *names]}), path)
        case ".jsonl":
            path.write_text(json.dumps(dict.fromkeys(["y_true", *names], 1)), encoding="utf-8")
        case _:
            np.savez(path, **{name: np.ones(1) for name in ["y_true", *names]})  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"6,001 columns") as caught:
        find_in_files(path)
    assert caught.value.exit_code == 5


def test_three_thousand_classes_are_not_wide(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(3_000), size=5)
    columns = {f"proba_{i:04d}": scores[:, i] for i in range(3_000)}
    path = tmp_path / "p.parquet"
    parquet.write_table(pa.table({"y_true": ["0000", "2999", "1", "0", "0000"], **columns}), path)
    found = find_in_files(path)
    assert found.scores is not None
    assert found.scores.shape == (5, 3_002)


def test_long_texts(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("y_true,generation\na," + "x" * (limits.MAX_CELL + 1) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="text of 1,048,577 characters"):
        find_in_files(path)
    path.write_text("y_true,y_pred\na," + "x" * 10_001 + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="y_pred holds a value of 10,001 characters"):
        find_in_files(path)


def test_too_large_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_FILE", 10)
    path = tmp_path / "p.csv"
    path.write_text("y_true,score\n1,0.5\n", encoding="utf-8")
    for source in (path, io.BytesIO(path.read_bytes())):
        with pytest.raises(DataError, match="larger than 2 GB"):
            read_table(source, format="csv")


def test_too_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ROWS", 2)
    path = tmp_path / "p.parquet"
    parquet.write_table(pa.table({"y_true": [1, 0, 1]}), path)
    with pytest.raises(DataError, match="has 3 rows"):
        read_table(path)


def test_no_memory_error_reaches_the_user(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    zeros = np.zeros(16_000_000)
    parquet.write_table(pa.table({"y_true": zeros, "score": zeros}), path)
    (message,) = read_within(300 * 2**20, str(path))
    assert message == "the data need more memory than is available"


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
def test_any_bytes_give_a_clean_error_or_a_table(reader: Any) -> None:
    rng = np.random.default_rng(0)
    for size in (1, 7, 64, 1_000):
        for _ in range(20):
            noise = rng.integers(0, 256, size, dtype=np.uint8).tobytes()
            for data in (noise, *(magic + noise for magic in reader.magic)):
                try:
                    read_table(io.BytesIO(data), format=reader.name)
                except EvalreportError as error:
                    assert error.exit_code in (3, 5)


@pytest.mark.parametrize("name", ["p.parquet", "p.feather", "p.npz", "p.npy", "p.csv.gz"])
def test_every_cut_of_a_good_file_is_a_clean_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path, {"y_true": [0, 1, 1], "score": [0.25, 0.5, 0.75], "text": ["a", "b", "c"]})
    data = path.read_bytes()
    for cut in range(0, len(data) - 1, max(1, len(data) // 60)):
        path.write_bytes(data[:cut])
        with pytest.raises(DataError):
            read_table(path)


def test_flipped_bytes_are_clean_errors_or_tables(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for name in ("p.parquet", "p.feather", "p.npz", "stream.arrow"):
        path = tmp_path / name
        WRITERS[name](path, {"y_true": [0, 1, 1], "score": [0.25, 0.5, 0.75], "label": ["a", "b", "a"]})
        data = bytearray(path.read_bytes())
        for _ in range(150):
            broken = bytearray(data)
            for place in rng.integers(0, len(data), 3):
                broken[place] ^= int(rng.integers(1, 256))
            path.write_bytes(broken)
            try:
                read_table(path)
            except EvalreportError as error:
                assert error.exit_code == 5
