"""Comparison of two runs of a million rows: ``python -m tests.benchmarks.bench_compare``.

Matching by id, every headline metric with its paired interval, McNemar, DeLong and the moved examples of two
binary runs. A second time with the rows of one run in another order, which costs the matching itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evalreport.comparison.compare import compare
from evalreport.data.labels import Binary
from evalreport.data.predictions import predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluation import Evaluation
from tests.benchmarks.measure import Result, cpu, limit, show
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

    def whole() -> None:
        result = compare(pair, names=["new", "old"])
        assert result.pairings[0][2].n_shared == len(pair[0].predictions or ())

    return cpu(whole)


def results() -> Iterator[Result]:
    """Yield the times, the first with its bar."""
    straight = min(seconds(runs(ROWS)) for _ in range(2))
    what = f"comparison of two runs of {ROWS:,} rows"
    yield limit(f"{what}, ids in one order", straight, "s", BAR)
    yield limit(f"{what}, ids in another order", seconds(runs(ROWS, permuted=True)), "s")


if __name__ == "__main__":
    show(results())
