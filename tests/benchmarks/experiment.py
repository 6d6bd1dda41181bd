"""An experiment of many runs, logged by one process and by as many as pay, and once more.

``python -m tests.benchmarks.experiment``; ``EVALREPORT_BENCH_RUNS`` says how many in place of a thousand.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.benchmarks.measure import Result, show
from tests.tracking import empty_store, make_run, new_database

RUNS = int(os.environ.get("EVALREPORT_BENCH_RUNS", "1000"))
ROWS = 1000
"""Rows of each run: predictions that take less than what is written of them."""
BAR = 1.6
"""Times as fast on two cores: runs are written into one store, and a process takes 2 s to start."""


def written(folder: Path) -> str:
    """Make an experiment in a store of SQLite; return where it is."""
    rng = np.random.default_rng(0)
    store = empty_store(new_database(folder / "empty.db"), folder)
    for number in range(RUNS):
        truth = rng.random(ROWS) < 0.3
        scores = np.clip(rng.normal(0.35 + 0.3 * truth, 0.2), 0, 1)
        rows = "".join(f"{y:d},{p:.6f}\n" for y, p in zip(truth, scores, strict=True))
        table = {"predictions.csv": f"y_true,score\n{rows}"}
        make_run(store, table, experiment="bench", name=f"run-{number:04}", folder=folder)
    return store.uri


def logged(uri: str, *options: str) -> tuple[float, float]:
    """Return how long a call takes, and the CPU seconds of all its processes."""
    command = [
        sys.executable,
        "-m",
        "evalreport",
        "-q",
        "log",
        "--experiment",
        "bench",
        "--tracking-uri",
        uri,
    ]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*command, "--set", f"max_runs={RUNS!s}", *options], check=True, stdout=subprocess.DEVNULL)
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def results() -> Iterator[Result]:
    """Yield every measurement."""
    with tempfile.TemporaryDirectory() as place:
        made, used = Path(place) / "made", Path(place) / "used"
        used.mkdir()
        uri = written(used)
        shutil.copytree(used, made)
        what = f"log --experiment, {RUNS:,} runs of {ROWS:,} rows"
        one, seconds = logged(uri, "--set", "jobs=1")
        yield Result(f"{what}, one process", f"{one:.1f} s", f"{seconds:.1f} s of CPU")
        shutil.rmtree(used)
        shutil.copytree(made, used)
        took, seconds = logged(uri)
        against = f"{one / took:.2f} × as fast as one process ({seconds:.1f} s of CPU)"
        yield Result(f"{what}, as many as pay", f"{took:.1f} s", against, f"≥ {BAR} ×", one >= BAR * took)
        took, seconds = logged(uri)
        against = f"{1000 * took / RUNS:.0f} ms a run ({seconds:.1f} s of CPU)"
        yield Result(f"{what}, once more", f"{took:.1f} s", against)


if __name__ == "__main__":
    show(results())
