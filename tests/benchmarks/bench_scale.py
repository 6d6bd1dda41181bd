"""Files batch by batch: ``python -m tests.benchmarks.bench_scale``; ``make bench-large`` with 1e8 rows.

Every measurement is of a child process, imports left out of its time and part of its memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.measure import Result, limit, ratio, show

ROWS = int(os.environ.get("EVALREPORT_BENCH_ROWS", "10_000_000"))
GROUP = 1_000_000
"""Rows of a row group."""
WIDE, PIECE = 20, 50_000
"""Classes or labels, of which there are a tenth of the rows; and their rows that are written at a time."""
DECODE = "import pyarrow.parquet as pq; work = lambda: [len(b) for b in pq.ParquetFile(path).iter_batches()]"
FACTS = (
    "from evalreport.sources.datasets import data_set;"
    "from evalreport.workflow.request import Request;"
    "from evalreport.workflow.stream import collect_stream;"
    "work = lambda: collect_stream(data_set([path]), Request())"
)
STREAM = "import evalreport as er; work = lambda: er.to_html(er.evaluate_files(path{more}))"
SPILL = ", memory=100_000_000, spill=folder"
MEMORY = "import evalreport as er; work = lambda: er.to_html(er.evaluate_file(path))"
PEERS = {
    "duckdb": (
        "import duckdb; duckdb.sql('SET threads = 1');"
        "work = lambda: duckdb.sql(f\"SELECT score, sum(y_true), count(*) FROM '{path}' GROUP BY score "
        'ORDER BY score").fetchnumpy()'
    ),
    "polars": (
        "import polars as pl; work = lambda: pl.scan_parquet(path).group_by('score')"
        ".agg(pl.col('y_true').sum(), pl.len()).sort('score').collect(engine='streaming')"
    ),
}
"""The exact table of scores by a group-by."""


def written(path: Path) -> None:
    """Write truth and float32 scores of a binary problem."""
    rng = np.random.default_rng(1)
    with pq.ParquetWriter(path, pa.schema({"y_true": pa.int8(), "score": pa.float32()})) as writer:
        for _ in range(0, ROWS, GROUP):
            score = 1 / (1 + np.exp(-rng.normal(-1, 1.5, GROUP)))
            truth = (rng.random(GROUP) < score**1.1).astype(np.int8)
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
            took, memory = child(STREAM.format(more=asked), path)
            held.append(memory * 2**30 / size)
        more = (held[1] * rows - held[0] * (rows // 4)) / (rows - rows // 4)
        told = f"{rows:,} rows of {WIDE} {what}: stream, evaluation and page"
        yield Result(told, f"{took:.2f} s", f"{memory:.2f} GB")
        yield limit(f"{told}, memory of a row more", more, "B", bar)


def child(code: str, path: Path) -> tuple[float, float]:
    """Return the CPU seconds and the greatest memory in GB of some work in a process of its own."""
    asked = (
        f"import resource, time; path, folder = {str(path)!r}, {str(path.parent)!r}; {code}; "
        "start = time.process_time(); work(); took = time.process_time() - start; "
        "print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)"
    )
    done = subprocess.run([sys.executable, "-c", asked], check=True, stdout=subprocess.PIPE, text=True)
    took, memory = done.stdout.split()[-2:]
    return float(took), float(memory)


def results() -> Iterator[Result]:
    """Yield every measurement."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.parquet"
        written(path)
        rows = f"{ROWS:,} rows"
        took, memory = child(DECODE, path)
        yield Result(f"{rows}: decode alone", f"{took:.2f} s", f"{memory:.2f} GB")
        facts, memory = child(FACTS, path)
        yield Result(f"{rows}: exact facts as a stream", f"{facts:.2f} s", f"{memory:.2f} GB")
        for name, code in PEERS.items():
            if find_spec(name):
                other, memory = child(code, path)
                peer = f"{name}'s group-by, {memory:.2f} GB"
                yield ratio(f"{rows}: exact facts as a stream", facts, peer, other, 3)
        whole, memory = child(STREAM.format(more=""), path)
        yield limit(f"{rows}: stream, evaluation and page, memory", memory, "GB", 1)
        spilt, memory = child(STREAM.format(more=SPILL), path)
        yield Result(f"{rows}: the same with --spill", f"{spilt:.2f} s")
        yield limit(f"{rows}: the same with --spill, memory", memory, "GB", 0.3)
        binned, memory = child(STREAM.format(more=", approximate=True"), path)
        yield Result(f"{rows}: the same with --approximate", f"{binned:.2f} s")
        yield limit(f"{rows}: the same with --approximate, memory", memory, "GB", 0.3)
        if ROWS <= 10_000_000:
            other, memory = child(MEMORY, path)
            yield ratio(f"{rows}: stream, evaluation and page", whole, "the engine in memory", other, 1)
        else:
            yield Result(f"{rows}: stream, evaluation and page", f"{whole:.2f} s")
        yield from several(Path(folder))


if __name__ == "__main__":
    show(results())
