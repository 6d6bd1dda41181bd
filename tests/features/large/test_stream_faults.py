"""A stream that is killed, whose disk fills up or whose parts are torn: reported, and nothing is left."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import zlib
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import evalreport as er
from evalreport.columns.column_request import Columns
from evalreport.core.errors import DataError, EvalreportError
from evalreport.features.large.read import open_stream
from evalreport.features.spark.count import (
    CountedParts,
    PartitionPlan,
    count_partition,
    merge_group,
    work_in_task,
)
from evalreport.features.spark.session import Buckets
from evalreport.page.render import render
from evalreport.readers.data_sets import data_set
from tests.cli.running import run
from tests.features.large.test_stream import FEW, N, parts, table
from tests.features.large.test_stream_classes import scored

KILLED = """
import os, signal, sys
from evalreport.cli import requests as inputs, main
from evalreport.features.large.spill import WordRange

written, write = [], WordRange.write

def killed(self, folder):
    write(self, folder)
    written.append(self.file)
    if len(written) == 5:  # files are open, and rows are in them
        os.kill(os.getpid(), signal.SIGKILL)

WordRange.write = killed
inputs.PAGE = 0
main(sys.argv[1:])
"""


def test_a_killed_process_leaves_nothing(tmp_path: Path) -> None:
    _, many = parts(scored(), tmp_path, ".parquet")
    command = ["report", str(many), "-o", str(tmp_path / "page.html")]
    command += ["--set", "memory=100B", "--scores", "proba_*"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *command],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "whole.parquet"]


@pytest.mark.parametrize("suffix", [".csv.gz", ".jsonl.zst"])
def test_a_packed_part_that_was_cut_off_is_named(suffix: str, tmp_path: Path) -> None:
    _, many = parts(table(), tmp_path, suffix)
    cut = many / f"part-1{suffix}"
    cut.write_bytes(cut.read_bytes()[:-20])
    with pytest.raises(DataError, match="data are cut off or broken") as caught:
        er.evaluate_files(many, **FEW)
    assert caught.value.where == str(cut)


@pytest.mark.parametrize("engine", ["stream", "memory"])
def test_parts_without_rows(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a job writes them that had nothing for one of its tasks: a header alone."""
    _, many = parts(table(), tmp_path, ".csv")
    asked = [
        "report",
        str(many),
        "-o",
        str(tmp_path / "page.html"),
        "--set",
        f"engine={engine}",
        "--positive",
        "ill",
    ]
    for part in sorted(many.glob("*.csv"))[:2]:
        part.write_text("y_true,score\n")
    assert "500 cases" in run(capsys, *asked).err
    for part in many.glob("*.csv"):
        part.write_text("y_true,score\n")
    assert "there are no rows" in run(capsys, *asked, "--force").err


def test_a_column_that_is_not_there_is_reported_with_the_file(tmp_path: Path) -> None:
    _, many = parts(table(true_a=[0] * N, true_b=[1] * N), tmp_path, ".csv")
    asked: list[dict[str, Any]] = [{"truth": "gone"}, {"score": "gone"}, {"truth": "true_*", "pred": "gone"}]
    for named in asked:
        with pytest.raises(EvalreportError, match="gone") as caught:
            er.evaluate_files(many, **named, **FEW)
        assert caught.value.where == f"{many / 'part-0.csv'}, and the files after it"


def test_a_page_does_not_advise_what_a_stream_refuses(tmp_path: Path) -> None:
    whole, many = parts(table(), tmp_path, ".parquet")
    assert "--set show_text" in render(er.evaluate_file(whole, **FEW))
    assert "--set show_text" not in render(er.evaluate_files(many, **FEW))


def test_a_disk_that_is_full_is_reported_and_left_empty(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.parquet"
    rng = np.random.default_rng(0)
    pq.write_table(pa.table({"y_true": rng.integers(0, 2, 20_000), "score": rng.random(20_000)}), rows)
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    asked: dict[str, Any] = {"memory": 100, **FEW}
    with pytest.raises(DataError, match=r"need 0\.2 MB of disk and 0\.1 MB are free"):
        er.evaluate_files(rows, **asked)
    monkeypatch.setattr(
        "evalreport.features.large.collect_batches.check_room", lambda *_: None
    )  # others took it since
    with pytest.raises(DataError, match="the folder has less") as caught:
        er.evaluate_files(rows, **asked)
    assert "TMPDIR" in caught.value.where
    assert not list(small_disk.iterdir())
    free = os.statvfs(small_disk)
    assert free.f_bfree == free.f_blocks  # nameless files, too, were given back


def test_thresholds_of_labels_need_room_for_their_folds(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,000 rows of three labels are 24 kB, and 72 kB more are dealt into folds, three times over."""
    rng, rows = np.random.default_rng(0), tmp_path / "rows.parquet"
    score = rng.random((3, 2000)).round(1).astype(np.float32)
    columns = {f"true_{k}": (score[k] > rng.random(2000)).astype(int) for k in range(3)}
    pq.write_table(pa.table(columns | {f"proba_{k}": score[k] for k in range(3)}), rows)
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    asked: dict[str, Any] = {"truth": "true_*", "scores": "proba_*", "memory": 100}
    assert er.evaluate_files(rows, **asked, confidence=None).rows == 2000
    with pytest.raises(DataError, match=r"need 0\.1 MB of disk") as caught:
        er.evaluate_files(rows, **asked, threshold="max-f1", confidence=None)
    assert "TMPDIR" in caught.value.where


def test_a_full_disk_of_spark_is_reported_by_its_own_setting(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task itself, in this process: where it finds room is told by its environment."""
    pytest.importorskip("pyspark")
    rng, rows = np.random.default_rng(0), tmp_path / "rows.parquet"
    table = pa.table({"y_true": rng.integers(0, 2, 20_000), "score": rng.random(20_000)})
    pq.write_table(table, rows)
    stream = open_stream(data_set([str(rows)], None), Columns())
    plan = PartitionPlan("rows", stream, stream.space, Buckets())
    sent = table.rename_columns(["c0", "c1"]).to_batches()  # columns travel under their places
    parts = pa.Table.from_batches([*count_partition(iter(sent), plan)])
    keys = sorted({(row["table"], row["bucket"]) for row in parts.to_pylist()})
    groups = [(pc.equal(parts["table"], key), pc.equal(parts["bucket"], place)) for key, place in keys]
    merged = [merge_group(parts.filter(pc.and_(*group)), plan).to_batches() for group in groups]
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{small_disk},{tmp_path}")
    work = chain.from_iterable(merged), CountedParts(plan, None), 100, 20_000
    (answer,) = work_in_task(*work, lambda counted: counted.distinct)
    error = pickle.loads(zlib.decompress(answer.column("done")[0].as_py()))
    assert isinstance(error, DataError) and "the folder has less" in error.message
    assert error.where == f"spark.local.dir {small_disk}" and "--set memory" in error.fix
    assert not list(small_disk.iterdir())


def test_columns_that_are_not_in_the_files_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(pa.table({"Y_TRUE": [0, 1], "SCORE": [0.1, 0.9]}), tmp_path / "a.parquet")
    asked = ("--set", "engine=stream", "--truth", "y", "--score", "s")
    done = run(capsys, "report", str(tmp_path / "a.parquet"), *asked)
    assert done.code == 3
    assert 'column "y" is not in' in done.err and "columns are: Y_TRUE, SCORE" in done.err
