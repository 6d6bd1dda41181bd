"""The sweep against scikit-learn, CPU seconds and memory: ``python -m tests.benchmarks.bench_sweep [ROWS]``.

Bars: the sweep at a million rows at least 5 times faster than scikit-learn's ROC and PR curves; every
objective at once at least 100 times faster than 101 calls of `f1_score`; ten million distinct scores
within 2 GB.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.curves import binary_curves
from evalreport.facts import ScoreTable
from evalreport.sweep.exact import ascended, each_alone, pooled
from evalreport.sweep.honest import judged
from evalreport.sweep.objectives import STANDARD
from evalreport.sweep.thresholds import Sweep

ROWS = 1_000_000
MANY = 10_000_000
LABELS = (100_000, 50)
GRID = 101
"""Thresholds at which the loop calls `f1_score`; timed on a few of them."""
TIMED = 5

Rows = tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]


def rows(n: int) -> Rows:
    """Return truth (10 % positive) and distinct scores in (0, 1)."""
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.1
    scores = rng.normal(size=n)
    scores += 1.5 * truth
    np.exp(-scores, out=scores)
    scores += 1
    np.reciprocal(scores, out=scores)
    return truth, scores


def seconds(work: Callable[[], Any], times: int = 3) -> float:
    """Return the median CPU time of some work."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return float(np.median(taken))


def told(name: str, own: float, other: float | None = None, against: str = "") -> float:
    """Print a time, and how many times it goes into that of a rival."""
    ratio = float("nan") if other is None else other / own
    rest = "" if other is None else f"  {ratio:8.1f} × faster than {against} ({other:.2f} s)"
    print(f"{name:<58} {own:8.3f} s{rest}")
    return ratio


def everything(truth: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64]) -> Sweep:
    """Sweep rows and choose by every standard objective."""
    return Sweep.of(ScoreTable.of(scores, truth)).with_optima()


def against_scikit_learn(n: int) -> dict[str, float]:
    """Print and return how many times faster the sweep is than scikit-learn's curves and loop."""
    from sklearn.metrics import f1_score, precision_recall_curve, roc_curve

    truth, scores = rows(n)
    curves = seconds(lambda: (roc_curve(truth, scores), precision_recall_curve(truth, scores)))
    loop = seconds(lambda: f1_score(truth, scores >= 0.5), TIMED) * GRID
    sweep = seconds(lambda: Sweep.of(ScoreTable.of(scores, truth)))
    whole = seconds(lambda: everything(truth, scores))
    single = scores.astype(np.float32)
    found = {
        "curves": told(f"sweep, {n:,} rows", sweep, curves, "ROC and PR curves"),
        "curves, float32": told(
            f"sweep, {n:,} rows, float32",
            seconds(lambda: Sweep.of(ScoreTable.of(single, truth))),
            seconds(lambda: (roc_curve(truth, single), precision_recall_curve(truth, single))),
            "ROC and PR curves",
        ),
        "loop": told(f"{len(STANDARD)} objectives from the rows", whole, loop, f"{GRID} × f1_score"),
    }
    table = ScoreTable.of(scores, truth)
    told("honest values and intervals of all objectives", seconds(lambda: judged(table)))
    told("all curves, thinned", seconds(lambda: binary_curves(table, probabilities=True)))
    return found


def many_labels(n: int, size: int) -> None:
    """Print the times of thresholds for several labels."""
    rng = np.random.default_rng(0)
    truth = rng.random((n, size)) < rng.uniform(0.01, 0.2, size)
    scores = 1 / (1 + np.exp(2 - rng.normal(size=(n, size)) - 2 * truth))
    told(
        f"{size} labels, {n:,} rows: macro-F1, exact",
        seconds(lambda: each_alone(scores, truth, None, "f1"), 1),
    )
    start = pooled(scores, truth, None)
    told("micro-F1, exact", seconds(lambda: pooled(scores, truth, None), 1))
    climb = partial(ascended, scores, truth, np.ones(n))
    for name in ("f1_samples", "subset_accuracy"):
        told(f"{name}, ascent", seconds(partial(climb, name, start), 1))


def gigabytes(n: int) -> float:
    """Return the greatest memory of a process that sweeps n distinct scores, rows included."""
    code = (
        "import resource; from tests.benchmarks.bench_sweep import rows, everything;"
        f"sweep = everything(*rows({n})); assert len(sweep) > 0.99 * {n}; sweep.thin();"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)"
    )
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)


def main(n: int = ROWS) -> dict[str, float]:
    """Print all figures; return those that have a bar."""
    found = against_scikit_learn(n)
    many_labels(*LABELS)
    found["gigabytes"] = gigabytes(MANY)
    print(f"{MANY:,} distinct scores: {found['gigabytes']:.2f} GB at most")
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
