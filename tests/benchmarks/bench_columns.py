"""What the decision about the columns costs beside the reading of the file.

Run it with ``python -m tests.benchmarks.bench_columns``.
"""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from evalreport.columns.assign import roles_of_table
from evalreport.columns.column_request import Columns
from evalreport.readers.read import read_requested_columns
from tests.benchmarks.measure import Result, cpu, limit, ratio, show

SIZES = ((10_000, 30), (1_000_000, 10))
MOST = 0.15
"""Seconds of the decision for 10,000 rows and 30 columns."""


def written(folder: Path, rows: int, columns: int) -> Path:
    """Write a CSV with labels, predictions, three scores, and columns without a role."""
    rng = np.random.default_rng(rows)
    labels = np.array(["oslo", "paris", "rome"])
    known = rng.integers(3, size=rows)
    scores = rng.dirichlet(np.ones(3), size=rows) * 0.6 + 0.4 * np.eye(3)[known]
    scores /= scores.sum(axis=1, keepdims=True)
    made = {"case": np.arange(rows), "label": labels[known], "prediction": labels[scores.argmax(axis=1)]}
    made |= {f"prob_{name}": scores[:, place].round(6) for place, name in enumerate(labels)}
    kinds = (
        lambda: rng.integers(90, size=rows),
        lambda: rng.normal(size=rows).round(4),
        lambda: labels[rng.integers(3, size=rows)],
        lambda: rng.integers(2, size=rows),
    )
    made |= {f"column_{place}": kinds[place % 4]() for place in range(columns - len(made))}
    path = folder / f"{rows}.csv"
    pd.DataFrame(made).to_csv(path, index=False)
    return path


def peak(work: object) -> float:
    """Return the greatest memory in MB that some work allocates."""
    assert callable(work)
    tracemalloc.start()
    work()
    found = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return found


def results() -> Iterator[Result]:
    """Yield the time and memory of the decision, and the time against pandas."""
    with tempfile.TemporaryDirectory() as folder:
        for rows, columns in SIZES:
            path = written(Path(folder), rows, columns)
            table = read_requested_columns(path, Columns())
            read = pd.read_csv(path)
            roles = roles_of_table(table, Columns())
            assert roles.truth.display_name == "label" and roles.score is not None
            what = f"columns of {rows:,} rows × {columns}: decision"
            taken = cpu(partial(roles_of_table, table, Columns()), 5)
            yield limit(what, taken, "s", MOST if rows == SIZES[0][0] else None)
            yield ratio(what, taken, "pandas.read_csv", cpu(partial(pd.read_csv, path), 3))
            own = cpu(partial(read_requested_columns, path, Columns()), 3)
            bar, kept = ("≤ 5%", taken <= 0.05 * own) if rows > SIZES[0][0] else ("", None)
            yield Result(f"{what}, proportion of reading", f"{taken / own:.1%}", "", bar, kept)
            size = read.memory_usage(deep=True).sum() / 1e6
            most = peak(partial(roles_of_table, table, Columns()))
            yield Result(f"{what}, memory", f"{most:.1f} MB", f"the frame of pandas: {size:.1f} MB")


if __name__ == "__main__":
    show(results())
