"""`--help` costs little: what it imports, and how long it takes beside a bare interpreter."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import pytest

HEAVY = {
    "numpy",
    "pandas",
    "sklearn",
    "mlflow",
    "matplotlib",
    "jinja2",
    "optuna",
    "pyarrow",
    "scipy",
    "seaborn",
}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["log", "--help"],
        ["report", "--help"],
        ["completion", "bash"],
        ["nonsense"],
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_imported(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "evalreport", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    loaded = {
        line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line
    }
    assert not loaded & HEAVY


def test_help_starts_quickly() -> None:
    """Measured against a bare interpreter on the same machine: the budget is 150 ms where that takes 17."""

    def seconds(*arguments: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        return time.perf_counter() - start

    pairs = [(seconds("-c", "pass"), seconds("-m", "evalreport", "--help")) for _ in range(7)]
    bare, helped = (statistics.median(column) for column in zip(*pairs, strict=True))
    assert helped < 18 * bare, f"{helped * 1000:.0f} ms where a bare interpreter takes {bare * 1000:.0f}"
