"""`--help` and a report of a file import little: that is what a start costs. `make bench` takes the time."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalreport import cli
from evalreport.core.progress import report_progress

ROOT = str(Path(__file__).parents[2])
PLOTTING = {"pandas", "sklearn", "mlflow", "matplotlib", "seaborn", "optuna"}
HEAVY = {*PLOTTING, "numpy", "scipy", "jinja2", "pyarrow"}
MOST = 250
"""Modules for a line of help: today 140, of which a bare interpreter takes 26."""
MOST_OF_A_REPORT = 900
"""Modules for a whole report: today 700; pandas alone would add 700."""


def imported(folder: Path, *arguments: str) -> list[str]:
    """Return each module that a command imports, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "evalreport", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    return [line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if "|" in line]


def libraries(modules: list[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


@pytest.mark.parametrize(
    "line", ["--help", "--version", "log --help", "report --help", "completion bash", "nonsense"]
)
def test_little_is_imported_and_nothing_heavy(tmp_path: Path, line: str) -> None:
    modules = imported(tmp_path, *line.split())
    assert "evalreport" in modules
    assert not libraries(modules) & HEAVY
    assert len(modules) <= MOST


def test_a_report_of_a_file_imports_only_what_it_needs(tmp_path: Path) -> None:
    rows = "".join(f"{k % 5 == 0:d},0.{(k * 7919) % 9973:04}\n" for k in range(10_000))
    (tmp_path / "rows.csv").write_text(f"y_true,score\n{rows}")
    modules = imported(tmp_path, "report", "rows.csv", "-q")
    assert (tmp_path / "rows.html").is_file()
    assert not libraries(modules) & PLOTTING
    assert len(modules) <= MOST_OF_A_REPORT


def test_no_garbage_is_looked_for_until_work_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    swept = []

    def work(*_: object, **__: object) -> None:
        swept.append(gc.isenabled())
        report_progress("reading the predictions")
        swept.append(gc.isenabled())

    monkeypatch.setattr(cli.group, "main", work)
    with pytest.raises(SystemExit):
        cli.main(["report"])
    assert [*swept, gc.isenabled(), gc.get_freeze_count()] == [False, True, True, 0]
