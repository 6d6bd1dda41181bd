"""A stream that is killed, or whose disk fills up: nothing is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evalreport as er
from evalreport.errors import DataError
from tests.engines.test_stream import FEW, parts
from tests.engines.test_stream_classes import scored

KILLED = """
import os, signal, sys
from evalreport.cli import main
from evalreport.facts.words import _Range

written, write = [], _Range.write

def killed(self, folder):
    write(self, folder)
    written.append(self.file)
    if len(written) == 5:  # files are open, and rows are in them
        os.kill(os.getpid(), signal.SIGKILL)

_Range.write = killed
main(sys.argv[1:])
"""


def test_a_killed_process_leaves_nothing(tmp_path: Path) -> None:
    _, many = parts(scored(), tmp_path, ".parquet")
    command = ["report", str(many), "-o", str(tmp_path / "page.html"), "--spill", str(tmp_path)]
    command += ["--memory", "100B", "--scores", "proba_*"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *command],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "whole.parquet"]


def test_a_disk_that_is_full_is_told_and_left_empty(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.parquet"
    rng = np.random.default_rng(0)
    pq.write_table(pa.table({"y_true": rng.integers(0, 2, 20_000), "score": rng.random(20_000)}), rows)
    asked: dict[str, Any] = {"spill": str(small_disk), "memory": 100, **FEW}
    with pytest.raises(DataError, match=r"need 0\.2 MB of disk and 0\.1 MB are free"):
        er.evaluate_files(rows, **asked)
    monkeypatch.setattr("evalreport.workflow.stream.check_room", lambda *_: None)  # others took it since
    with pytest.raises(DataError, match="the folder took less") as caught:
        er.evaluate_files(rows, **asked)
    assert "--spill" in caught.value.where
    assert not list(small_disk.iterdir())
    free = os.statvfs(small_disk)
    assert free.f_bfree == free.f_blocks  # nameless files, too, were given back
