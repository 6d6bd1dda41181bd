"""A table of Spark on two cores: ``python -m tests.benchmarks.bench_spark``.

Every measurement is of a session of its own, in seconds of CPU of Java, its workers and the driver from when
the session stands, so that classes that Java has to load are part of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from tests.benchmarks.bench_scale import ROWS, written
from tests.benchmarks.measure import Result, show

OWN = "frame.selectExpr('count(*)', 'sum(score)', 'sum(y_true)').collect(); told = 0"
FACTS = (
    "seen = collect_frame(frame, 'scores', Request()); told = dict(seen.taken)['engine'];"
    "told = int(told.split('; ')[1].split(' ')[0].replace(',', ''))"
)


def cpu_of_all() -> float:
    """Return the seconds of CPU of this process and all below it, those included that have ended."""
    import os

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
    """Return the CPU seconds of some work in a session of its own, and what it told."""
    asked = f"""
from evalreport.sources.spark_session import spark_session
from evalreport.workflow.request import Request
from evalreport.workflow.spark import collect_frame
from tests.benchmarks.bench_spark import cpu_of_all
with spark_session("local[2]") as spark:
    frame = spark.read.parquet({str(path)!r})
    start = cpu_of_all()
    {code}
    print(cpu_of_all() - start, told)
"""
    done = subprocess.run([sys.executable, "-c", asked], check=True, stdout=subprocess.PIPE, text=True)
    took, told = done.stdout.split()[-2:]
    return float(took), int(told)


def results() -> Iterator[Result]:
    """Yield every measurement; none without PySpark and Java."""
    if find_spec("pyspark") is None or which("java") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.parquet"
        written(path)
        own, _ = child(OWN, path)
        took, distinct = child(FACTS, path)
        rows = f"{ROWS:,} rows in Spark"
        against = f"{took / own:.1f} × the CPU of its own count and sum ({own:.2f} s)"
        yield Result(f"{rows}: exact facts", f"{took:.2f} s", against, "≤ 6 ×", took <= 6 * own)
        yield Result(f"{rows}: distinct scores that came to the driver", f"{distinct:,}")


if __name__ == "__main__":
    show(results())
