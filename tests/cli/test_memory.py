"""`--set memory` is a limit of the process: more scores go to temporary files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalreport.cli.requests import FIGURES, MLFLOW, PAGE, memory_of
from evalreport.core.errors import UsageError
from evalreport.features.large.score_words import Budget
from tests.cli.running import run

Capture = pytest.CaptureFixture[str]
ROWS = 8_000_000
"""Rows whose words and table take more than the limit beyond what the process takes itself."""
LIMIT = 210_000_000
LAUNCH = """
import os, subprocess, sys
process = subprocess.Popen([sys.executable, "-m", "evalreport", *sys.argv[1:]])
_, status, used = os.wait4(process.pid, 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""A small process between: the peak of a child begins with that of its parent, and pytest's is large."""


def written(path: Path, rows: int) -> None:
    """Random scores of two labels, in row groups that are read one at a time."""
    rng = np.random.default_rng(0)
    layout = pa.schema([("y_true", pa.int8()), ("score", pa.float32())])
    with pq.ParquetWriter(path, layout, use_dictionary=False, compression="none") as file:
        for start in range(0, rows, 1 << 20):
            score = rng.random(min(1 << 20, rows - start), dtype=np.float32)
            truth = (rng.random(len(score), dtype=np.float32) < score).astype(np.int8)
            file.write_table(pa.table({"y_true": truth, "score": score}, schema=layout))


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs the peak of a process")
def test_a_process_stays_within_its_limit(tmp_path: Path) -> None:
    written(tmp_path / "rows.parquet", ROWS)
    command = [
        "report",
        str(tmp_path / "rows.parquet"),
        "--set",
        "engine=stream",
        "--set",
        f"memory={LIMIT!s}",
    ]
    done = subprocess.run(
        [sys.executable, "-c", LAUNCH, *command, "-o", str(tmp_path / "page.html"), "-q"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    peak = int(done.stdout.split()[-1]) * (1 if sys.platform == "darwin" else 1024)
    assert peak <= LIMIT, f"{peak / 1e6:.0f} MB"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "rows.parquet"]


def test_words_and_tables_that_are_counted_stay_within_the_budget(tmp_path: Path) -> None:
    """Whatever the number of labels: words, columns and arrays of all of them together."""
    rng = np.random.default_rng(1)
    budget = Budget(2_000_000, tmp_path)
    holders = [budget.holder() for _ in range(5)]
    most = 0
    for _ in range(20):
        for holder in holders:
            holder.add(rng.random(10_000, dtype=np.float32), rng.random(10_000) < 0.5)
            most = max(most, budget.ledger.used_bytes)
    tables = []
    for holder in holders:
        tables.append(holder.table())
        most = max(most, budget.ledger.used_bytes)
    assert most <= budget.memory
    assert sum(table.total for table in tables) == 1_000_000
    assert budget.spill == tmp_path and list(tmp_path.iterdir()) == []


def test_columns_in_memory_are_counted_while_they_are_used() -> None:
    budget = Budget(400_000, Path(os.curdir))
    holder = budget.holder()
    rng = np.random.default_rng(2)
    holder.add(rng.random(40_000, dtype=np.float32), rng.random(40_000) < 0.5)
    table = holder.table()
    assert 0 < budget.ledger.used_bytes == 6 * len(table) <= budget.memory
    del table
    assert budget.ledger.used_bytes == 0


@pytest.mark.parametrize(
    ("options", "floor"),
    [
        ({}, PAGE),
        ({"out": "folder"}, PAGE + FIGURES),
        ({"run_ids": ("a",)}, PAGE + FIGURES + MLFLOW),
    ],
)
def test_a_limit_below_what_the_process_takes_is_refused(options: dict[str, object], floor: int) -> None:
    assert memory_of({"memory": floor, **options}) == {"memory": 0}
    with pytest.raises(UsageError, match="is less than Python, its libraries") as caught:
        memory_of({"memory": floor - 1, **options})
    fix = caught.value.fix
    assert f"--set memory={floor // 10**6}MB" in fix


def test_a_task_of_spark_is_another_process() -> None:
    assert (
        memory_of({"memory": 5, "engine": "spark"}) == memory_of({"memory": 5, "table": "t"}) == {"memory": 5}
    )


def test_a_low_limit_is_an_error_of_three_lines(tmp_path: Path, capsys: Capture) -> None:
    written(tmp_path / "rows.parquet", 100)
    done = run(
        capsys, "report", str(tmp_path / "rows.parquet"), "--set", "memory=100MB", "--set", "engine=stream"
    )
    assert done.code == 2
    assert [line[:6] for line in done.err.splitlines()] == ["error:", "  at  ", "  fix "]
    assert "pass --set memory=200MB or more" in done.err
