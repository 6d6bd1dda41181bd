"""Comparison of two runs of a million rows, CPU seconds: ``python -m tests.benchmarks.bench_compare [ROWS]``.

Bar: matching by id, every headline metric with its paired interval, McNemar, DeLong and the moved examples
of two binary runs of a million rows in under three seconds of CPU. A second time with the rows of one run
in another order, which costs the matching itself.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from evalreport.comparison.compare import compare
from evalreport.evaluation.model import Evaluation
from evalreport.labels import Binary
from evalreport.predictions import predictions
from evalreport.scores import Probabilities
from tests.comparison.models import bare

ROWS = 1_000_000
BAR = 3.0


def runs(n: int, *, permuted: bool = False) -> list[Evaluation]:
    """Two models whose noise is shared in part, with ids."""
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.1
    shared = rng.standard_normal(n)
    ids = np.char.add("case-", np.arange(n).astype(str))
    found = []
    for place, skill in enumerate((2.0, 1.9)):
        logit = skill * (skill * truth + 0.8 * shared + 0.6 * rng.standard_normal(n)) - skill**2 / 2 - 2.2
        scores = Probabilities((1 / (1 + np.exp(-logit))).astype(np.float32))
        made = predictions(Binary(0, 1), truth.astype(int), scores=scores, ids=ids)
        if permuted and place:
            made = made.take(rng.permutation(n))
        found.append(bare(made))
    return found


def seconds(pair: list[Evaluation]) -> float:
    """Return the CPU time of one whole comparison."""
    start = time.process_time()
    result = compare(pair, names=["new", "old"])
    taken = time.process_time() - start
    assert result.pairings[0][2].n_shared == len(pair[0].predictions or ())
    return taken


def main() -> None:
    """Print the times and hold the first against the bar."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    straight = min(seconds(runs(n)) for _ in range(2))
    print(f"two runs of {n:,} rows, ids in one order      {straight:6.2f} s of CPU (bar {BAR:g} s)")
    print(f"two runs of {n:,} rows, ids in another order  {seconds(runs(n, permuted=True)):6.2f} s of CPU")
    if n == ROWS and straight > BAR:
        sys.exit(f"over the bar of {BAR:g} s")


if __name__ == "__main__":
    main()
