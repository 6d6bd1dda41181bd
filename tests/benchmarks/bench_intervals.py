"""Intervals of counts, whose cost does not know the rows: ``python -m tests.benchmarks.bench_intervals``.

Bar: all count-based intervals of a binary problem cost no more at ten million rows than at ten thousand.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

from evalreport.engines.memory import summarise
from evalreport.facts import Summary
from evalreport.intervals import Sampling, estimates
from evalreport.labels import Binary
from evalreport.metrics.catalogue import BINARY
from evalreport.predictions import predictions

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
    """Median CPU seconds of every interval that counts give."""
    metrics = [metric for metric in BINARY if metric.interval in ("counts", "wilson")]
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        estimates(metrics, summary, None, Sampling())
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def main() -> int:
    """Print the cost at both sizes and their ratio."""
    small, large = (seconds(facts(n)) for n in SIZES)
    print(f"{SIZES[0]:>12,} rows  {small * 1000:7.1f} ms")
    print(f"{SIZES[1]:>12,} rows  {large * 1000:7.1f} ms   ratio {large / small:.2f} (bar {BAR})")
    return int(large > BAR * small)


if __name__ == "__main__":
    sys.exit(main())
