"""The sweep against scikit-learn: ``python -m tests.benchmarks.bench_sweep``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from evalreport.curves.binary import binary_curves
from evalreport.statistics.class_scores import ClassScores
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds.cross_fitting import evaluate_thresholds
from evalreport.thresholds.objectives import STANDARD
from evalreport.thresholds.per_label import coordinate_ascent, each_alone, maximize_micro_f1
from evalreport.thresholds.sweep import Sweep
from tests.benchmarks.measure import Result, cpu, limit, ratio, show

ROWS = 1_000_000
MANY = 10_000_000
LABELS = (100_000, 50)
GRID = 101
"""Thresholds at which the loop calls `f1_score`; timed on a few of them."""
TIMED = 5

Rows = tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]


def rows(n: int) -> Rows:
    """Return truth (10% positive) and distinct scores in (0, 1)."""
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.1
    scores = rng.normal(size=n)
    scores += 1.5 * truth
    np.exp(-scores, out=scores)
    scores += 1
    np.reciprocal(scores, out=scores)
    return truth, scores


def everything(truth: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64]) -> Sweep:
    """Sweep rows and choose by every standard objective."""
    return Sweep.from_table(ScoreTable.from_scores(scores, truth)).with_optima()


def against_scikit_learn(n: int = ROWS) -> Iterator[Result]:
    """Yield how many times faster the sweep is than scikit-learn's curves and loop."""
    from sklearn.metrics import f1_score, precision_recall_curve, roc_curve

    truth, scores = rows(n)
    for kind in (np.float64, np.float32):
        typed = scores.astype(kind)
        own = cpu(lambda typed=typed: Sweep.from_table(ScoreTable.from_scores(typed, truth)), 3)  # type: ignore[misc]
        other = cpu(
            lambda typed=typed: (roc_curve(truth, typed), precision_recall_curve(truth, typed)),  # type: ignore[misc]
            3,
        )
        yield ratio(f"sweep, {n:,} rows, {kind.__name__}", own, "scikit-learn's ROC and PR curves", other, 5)
    loop = cpu(lambda: f1_score(truth, scores >= 0.5), TIMED) * GRID
    whole = cpu(lambda: everything(truth, scores), 3)
    what = f"best threshold for {len(STANDARD)} objectives, {n:,} rows"
    yield ratio(what, whole, f"{GRID} calls of f1_score", loop, 100)
    table = ScoreTable.from_scores(scores, truth)
    yield limit(
        "out-of-sample values and intervals of all objectives",
        cpu(lambda: evaluate_thresholds(table), 3),
        "s",
    )
    yield limit("all curves, thinned", cpu(lambda: binary_curves(table, probabilities=True), 3), "s")


def many_labels(n: int, size: int) -> Iterator[Result]:
    """Yield the times of thresholds for several labels."""
    rng = np.random.default_rng(0)
    truth = rng.random((n, size)) < rng.uniform(0.01, 0.2, size)
    scores = 1 / (1 + np.exp(2 - rng.normal(size=(n, size)) - 2 * truth))
    what = f"thresholds of {size} labels, {n:,} rows"

    def tables() -> Iterator[ScoreTable]:
        return ClassScores(scores, truth, None).tables()

    yield limit(f"{what}: macro-F1, exact", cpu(lambda: each_alone(tables(), "f1")), "s")
    start = maximize_micro_f1(tables())
    yield limit(f"{what}: micro-F1, exact", cpu(lambda: maximize_micro_f1(tables())), "s")
    climb = partial(coordinate_ascent, scores, truth, np.ones(n))
    for name in ("f1_samples", "subset_accuracy"):
        yield limit(f"{what}: {name}, ascent", cpu(partial(climb, name, start)), "s")


def gigabytes(n: int) -> float:
    """Return the greatest memory of a process that sweeps n distinct scores, rows included."""
    code = (
        "import resource; from tests.benchmarks.bench_sweep import rows, everything;"
        f"sweep = everything(*rows({n})); assert len(sweep) > 0.99 * {n}; sweep.thin();"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)"
    )
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)


def results() -> Iterator[Result]:
    """Yield every measurement."""
    yield from against_scikit_learn()
    yield from many_labels(*LABELS)
    yield limit(f"sweep of {MANY:,} distinct scores, memory", gigabytes(MANY), "GB", 2)


if __name__ == "__main__":
    show(results())
