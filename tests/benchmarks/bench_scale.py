"""Files batch by batch: ``python -m tests.benchmarks.bench_scale``; how it grows measures `growth`.

Every measurement is of a child process that has done the same with a thousand rows: imports are part of its
memory, not of its time. GB are 1e9 bytes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.measure import Result, limit, ratio, show

ROWS = int(os.environ.get("EVALREPORT_BENCH_ROWS", "10_000_000"))
GROUP = 1_000_000
"""Rows of a row group."""
WIDE, PIECE = 20, 50_000
"""Classes or labels, of which there are a tenth of the rows; and their rows that are written at a time."""
DECODE = (
    "import pyarrow.parquet as pq;"
    "work = lambda: [len(b) for b in pq.ParquetFile(path, pre_buffer=False).iter_batches()]"
)
"""Row group by row group: a buffer would hold the file."""
FACTS = (
    "from evalreport.workflow.request import Request;"
    "from evalreport.features.large.collect_batches import open_files;"
    "from evalreport.workflow.items import Item;"
    "work = lambda: open_files(Item(path=path), Request()).made(lambda counted: counted)"
)
STREAM = "import evalreport as er; work = lambda: er.to_html(er.evaluate_files(path{more}))"
SMALL = ", memory=100_000_000"
MEMORY = "import evalreport as er; work = lambda: er.to_html(er.evaluate_file(path))"
PEERS = {
    "duckdb's group-by": (
        "import duckdb; duckdb.sql('SET threads = 1');"
        "work = lambda: duckdb.sql(f\"SELECT score, sum(y_true), count(*) FROM '{path}' GROUP BY score "
        'ORDER BY score").fetchnumpy()'
    ),
    "polars's group-by": (
        "import polars as pl; work = lambda: pl.scan_parquet(path).group_by('score')"
        ".agg(pl.col('y_true').sum(), pl.len()).sort('score').collect(engine='streaming')"
    ),
}
"""The exact table of scores by a group-by."""
WORKS = {
    "decode alone": DECODE,
    "exact facts as a stream": FACTS,
    "stream, evaluation and page": STREAM.format(more=""),
    "the same with less memory": STREAM.format(more=SMALL),
    "the same with --set approximate": STREAM.format(more=", approximate=True"),
    "the engine in memory": MEMORY,
    **PEERS,
}
HELD = 10_000_000
"""Rows up to which the engine in memory is measured."""


class Cost(NamedTuple):
    """What some work took: seconds of CPU, the greatest memory and what it wrote to disk, both in GB."""

    seconds: float
    memory: float
    disk: float = 0.0


def written(path: Path, rows: int = ROWS) -> None:
    """Write truth and float32 scores of a binary problem."""
    rng = np.random.default_rng(1)
    with pq.ParquetWriter(path, pa.schema({"y_true": pa.int8(), "score": pa.float32()})) as writer:
        for start in range(0, rows, GROUP):
            score = 1 / (1 + np.exp(-rng.normal(-1, 1.5, min(GROUP, rows - start))))
            truth = (rng.random(len(score)) < score**1.1).astype(np.int8)
            writer.write_table(pa.table({"y_true": truth, "score": score.astype(np.float32)}))


def written_wide(path: Path, rows: int, truth: str) -> None:
    """Write the truth and float32 probabilities of 20 classes, or of 20 labels per row."""
    rng, writer = np.random.default_rng(2), None
    for _ in range(0, rows, PIECE):
        flags = rng.random((PIECE, WIDE)) < np.linspace(0.02, 0.3, WIDE)
        margins = rng.normal(-1, 1, (PIECE, WIDE)) + 1.5 * flags
        columns: dict[str, Any] = {f"true_c{k:02}": flags[:, k].astype(np.int8) for k in range(WIDE)}
        scores = 1 / (1 + np.exp(-margins))
        if truth == "y_true":
            columns = {truth: [f"c{k:02}" for k in margins.argmax(axis=1)]}
            scores = np.exp(rng.normal(size=(PIECE, WIDE)) + margins)
            scores /= scores.sum(axis=1, keepdims=True)
        columns |= {f"proba_c{k:02}": scores[:, k].astype(np.float32) for k in range(WIDE)}
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def several(folder: Path) -> Iterator[Result]:
    """Yield what a stream of 20 classes and of 20 labels takes, and what a row more takes of memory."""
    rows = ROWS // 10
    for what, truth, bar in (("classes", "y_true", 120), ("labels", "true_*", 900)):
        asked = f", truth={truth!r}, scores='proba_*'"
        held = []
        for size in (rows // 4, rows):
            path = folder / f"{what}.parquet"
            written_wide(path, size, truth)
            took, memory, _ = child(STREAM.format(more=asked), path)
            held.append(memory * 1e9 / size)
        more = (held[1] * rows - held[0] * (rows // 4)) / (rows - rows // 4)
        reported = f"{rows:,} rows of {WIDE} {what}: stream, evaluation and page"
        yield Result(reported, f"{took:.2f} s", f"{memory:.2f} GB")
        yield limit(f"{reported}, memory of a row more", more, "B", bar)


def child(code: str, path: Path) -> Cost:
    """Return what some work takes in a process of its own, which has done it with a thousand rows."""
    few = path.parent / "few.parquet"
    pq.write_table(pq.ParquetFile(path).read_row_group(0).slice(0, 1000), few)
    asked = f"""
import time
path, folder = {str(few)!r}, {str(path.parent)!r}
def told(file, name):
    return next(int(line.split()[1]) for line in open(file) if line.startswith(name))
{code}
work()
path = {str(path)!r}
start, before = time.process_time(), told("/proc/self/io", "wchar")
work()
took = time.process_time() - start
print(took, told("/proc/self/status", "VmHWM") * 1024 / 1e9, (told("/proc/self/io", "wchar") - before) / 1e9)
"""  # `ru_maxrss` of a new process begins with what its parent holds
    done = subprocess.run([sys.executable, "-c", asked], check=True, stdout=subprocess.PIPE, text=True)
    return Cost(*map(float, done.stdout.split()[-3:]))


def measured(path: Path, rows: int) -> Iterator[tuple[str, Cost]]:
    """Yield each work with what it takes; peers that are not installed are left out."""
    for name, code in WORKS.items():
        here = name not in PEERS or find_spec(name.partition("'")[0]) is not None
        if here and (name != "the engine in memory" or rows <= HELD):
            yield name, child(code, path)


def bars(rows: int, found: Mapping[str, Cost]) -> Iterator[Result]:
    """Yield what was measured of so many rows, with what was promised."""
    decode, facts, whole, *others = (found[name] for name in list(WORKS)[:5])
    reported = f"{rows:,} rows:"
    yield Result(f"{reported} decode alone", f"{decode.seconds:.2f} s", f"{decode.memory:.2f} GB")
    what = f"{reported} exact facts as a stream"
    yield Result(what, f"{facts.seconds:.2f} s", f"{facts.memory:.2f} GB")
    for name in PEERS:
        if name in found:
            peer = f"{name}, {found[name].memory:.2f} GB"
            yield ratio(what, facts.seconds, peer, found[name].seconds, 3)
    what = f"{reported} stream, evaluation and page"
    if "the engine in memory" in found:
        other = found["the engine in memory"].seconds
        yield ratio(what, whole.seconds, "the engine in memory", other, 1)
    else:
        yield Result(what, f"{whole.seconds:.2f} s")
    yield limit(f"{what}, memory", whole.memory, "GB", 1)
    for option, cost in zip(("less memory", "--set approximate"), others, strict=True):
        yield Result(f"{reported} the same with {option}", f"{cost.seconds:.2f} s")
        yield limit(f"{reported} the same with {option}, memory", cost.memory, "GB", 0.3)


def results() -> Iterator[Result]:
    """Yield every measurement."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.parquet"
        written(path)
        yield from bars(ROWS, dict(measured(path, ROWS)))
        yield from several(Path(folder))


if __name__ == "__main__":
    show(results())
