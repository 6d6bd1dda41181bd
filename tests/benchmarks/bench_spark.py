"""A table of Spark on two cores: ``python -m tests.benchmarks.bench_spark``.

Every measurement is of a session of its own, in seconds of CPU of Java, its workers and the driver from when
the session stands, so that classes that Java has to load are part of it. Bytes are those that Spark's own log
counts as results of tasks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from shutil import which

from tests.benchmarks.bench_scale import ROWS, written, written_wide
from tests.benchmarks.measure import Result, show

OWN = "frame.selectExpr('count(*)', 'sum(score)', 'sum(y_true)').collect()"
WIDE = 100
"""One row of 20 classes, or of 20 labels, for so many of two labels."""


def cpu_of_all() -> float:
    """Return the seconds of CPU of this process and all below it, those included that have ended."""
    parents, seconds = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            parents[int(entry.name)] = int(words[1])
            seconds[int(entry.name)] = sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(seconds[pid] for pid in ours)


def child(code: str, path: Path) -> tuple[float, int]:
    """Return the CPU seconds of some work in a session of its own, and the bytes that its tasks gave back."""
    asked = f"""
import evalreport as er
from evalreport.features.spark.session import spark_session
from tests.benchmarks.bench_spark import cpu_of_all
with spark_session("local[2]") as spark:
    frame = spark.read.parquet({str(path)!r})
    start = cpu_of_all()
    {code}
    print(cpu_of_all() - start)
"""
    with tempfile.TemporaryDirectory() as folder:
        log = "spark.eventLog.enabled true\nspark.eventLog.compress false\n"
        Path(folder, "spark-defaults.conf").write_text(f"{log}spark.eventLog.dir {Path(folder).as_uri()}\n")
        done = subprocess.run(
            [sys.executable, "-c", asked],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"SPARK_CONF_DIR": folder},
        )
        events = map(json.loads, chain.from_iterable(file.open() for file in Path(folder).glob("*/events_*")))
        reported = sum(event["Task Metrics"]["Result Size"] for event in events if "Task Metrics" in event)
    return float(done.stdout.split()[-1]), reported


def is_here() -> bool:
    """Return whether PySpark and Java are installed."""
    return find_spec("pyspark") is not None and which("java") is not None


def measured(path: Path) -> tuple[float, float, int]:
    """Return the CPU seconds of Spark's own count and sum and of an evaluation, and the bytes of that."""
    own, _ = child(OWN, path)
    return own, *child("er.evaluate_spark(frame)", path)


def bars(rows: int, own: float, took: float, reported: float) -> Iterator[Result]:
    """Yield what was measured of so many rows, with what was promised."""
    what = f"{rows:,} rows in Spark"
    against = f"{took / own:.1f} × the CPU of its own count and sum ({own:.2f} s)"
    yield Result(f"{what}: evaluation", f"{took:.2f} s", against, "≤ 6 ×", took <= 6 * own)
    yield Result(f"{what}: bytes to the driver", f"{reported:,.0f}", "", "≤ 1 MB", reported <= 1e6)


def results() -> Iterator[Result]:
    """Yield every measurement; none without PySpark and Java."""
    if not is_here():
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.parquet"
        written(path)
        yield from bars(ROWS, *measured(path))
        for what, truth in (("classes", "y_true"), ("labels", "true_*")):
            path = Path(folder) / f"{what}.parquet"
            written_wide(path, ROWS // WIDE, truth)
            took, reported = child(f"er.evaluate_spark(frame, truth={truth!r}, scores='proba_*')", path)
            rows = f"{ROWS // WIDE:,} rows of 20 {what} in Spark"
            yield Result(f"{rows}: evaluation", f"{took:.2f} s")
            yield Result(f"{rows}: bytes to the driver", f"{reported:,.0f}", "", "≤ 1 MB", reported <= 1e6)


if __name__ == "__main__":
    show(results())
