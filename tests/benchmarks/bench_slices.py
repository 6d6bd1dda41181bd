"""The search for weak slices, as rows and columns grow: ``python -m tests.benchmarks.bench_slices``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions, predictions
from evalreport.features.weak_slices.find import weak_slices
from evalreport.intervals.interval_settings import Sampling
from tests.benchmarks.measure import Result, cpu, limit, show

SIZES: tuple[tuple[int, int, float | None], ...] = (
    (10_000, 5, None),
    (10_000, 20, None),
    (100_000, 5, None),
    (100_000, 20, 3.0),
)
"""Rows, columns, and the most seconds of CPU."""


def rows(n: int, columns: int) -> Predictions:
    """Return predictions with as many numeric columns as columns of six texts."""
    generator = np.random.default_rng(0)
    found: dict[str, npt.NDArray[Any]] = {}
    for place in range(columns):
        texts = np.array(list("abcdef"), dtype=object)[generator.integers(0, 6, n)]
        found[f"c{place}"] = generator.normal(size=n) if place % 2 else texts
    truth = generator.integers(0, 2, n)
    return predictions(
        Binary(0, 1), truth, np.where(generator.random(n) < 0.1, 1 - truth, truth), columns=found
    )


def results() -> Iterator[Result]:
    """Yield the cost at each size."""
    weak_slices(rows(1_000, 2), Sampling())
    for n, columns, most in SIZES:
        p = rows(n, columns)
        seconds = cpu(partial(weak_slices, p, Sampling()), 3)
        yield limit(f"search for weak slices, {n:,} rows of {columns} columns", seconds, "s", most)


if __name__ == "__main__":
    show(results())
