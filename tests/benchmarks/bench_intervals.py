"""Intervals of counts, whose cost does not know the rows: ``python -m tests.benchmarks.bench_intervals``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evalreport.data.labels import Binary
from evalreport.data.predictions import predictions
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.catalogue import BINARY
from evalreport.statistics.summary import Summary, summarise
from tests.benchmarks.measure import Result, cpu, limit, show

SIZES = (10_000, 10_000_000)
REPEATS = 9
BAR = 1.2
"""The cost is the same; the rest is the noise of the clock."""


def facts(n: int) -> Summary:
    """The facts of n rows with labels alone."""
    rng = np.random.default_rng(0)
    truth = (rng.random(n) < 0.2).astype(np.int64)
    answer = np.where(rng.random(n) < 0.85, truth, 1 - truth)
    return summarise(predictions(Binary(0, 1), truth, answer))


def seconds(summary: Summary) -> float:
    """CPU seconds of every interval that counts give."""
    metrics = [metric for metric in BINARY if metric.interval in ("counts", "wilson")]
    return cpu(lambda: estimates(metrics, summary, None, Sampling()), REPEATS)


def results() -> Iterator[Result]:
    """Yield the cost at both sizes and their ratio."""
    seconds(facts(SIZES[0]))
    small, large = (seconds(facts(n)) for n in SIZES)
    yield limit(f"intervals of counts, {SIZES[0]:,} rows", small, "s")
    yield limit(f"intervals of counts, {SIZES[1]:,} rows", large, "s")
    yield limit("their ratio", large / small, "×", BAR)


if __name__ == "__main__":
    show(results())
