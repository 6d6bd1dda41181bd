"""How often a bound that a threshold was chosen under holds in the population, beside the stated chance.

Scores of both classes are normal, so that every rate of a threshold is known. How far the classes are apart,
and where tied scores lie, is drawn anew for each sample: a chance is right over populations, not in one.
`make coverage` runs it (minutes) and keeps the result in `held.json` beside this file, which
`test_holding.py` reads.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions
from evalreport.intervals.interval_settings import Sampling
from evalreport.statistics.confusion import BinaryCounts
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds.best_threshold import Optimum
from evalreport.thresholds.bounds_on_new_rows import find_constraint_threshold
from evalreport.thresholds.cross_fitting import evaluate_thresholds
from evalreport.thresholds.objectives import METRICS, Objective
from evalreport.thresholds.resampled_thresholds import units_of
from evalreport.thresholds.sweep import Sweep

RESULT = Path(__file__).parent / "held.json"
APART = (1.2, 2.8)
"""Standard deviations between the classes: an AUC of 0.80 to 0.98."""
STEP = 0.5
"""Scores are rounded to it where they are tied: about fifteen different ones."""
TOGETHER, SHARED = 5, 0.7
"""Rows of a cluster, and the share of their noise that is one and the same."""
BOUNDS = ("recall>=0.8", "recall>=0.95", "fpr<=0.1", "precision>=0.6", "npv>=0.97", "f1>=0.4")
CHANCES = ("recall>=0.8", "fpr<=0.1", "precision>=0.6")
"""Bounds whose stated chance is measured: cross-fitting them takes most of the time."""


@dataclass(frozen=True)
class Setting:
    """One kind of sample."""

    n: int
    prevalence: float
    kind: Literal["plain", "ties", "clusters"]


def settings() -> Iterator[Setting]:
    for kind in ("plain", "ties", "clusters"):
        for n in (200, 500, 2000):
            for prevalence in (0.05, 0.1, 0.3):
                yield Setting(n, prevalence, kind)


@dataclass(frozen=True)
class Population:
    """What a sample is drawn from: distance of the classes, and where tied scores lie."""

    apart: float
    offset: float

    @classmethod
    def any(cls, rng: np.random.Generator) -> Population:
        return cls(float(rng.uniform(*APART)), float(rng.uniform(0, STEP)))


def drawn(setting: Setting, population: Population, rng: np.random.Generator) -> Predictions:
    """Return a sample of the population; rows of a cluster share a part of their noise."""
    n, clusters = setting.n, np.arange(setting.n) // TOGETHER
    truth = rng.random(n) < setting.prevalence
    noise: npt.NDArray[np.float64] = rng.normal(size=n)
    if setting.kind == "clusters":
        noise = np.sqrt(SHARED) * rng.normal(size=n)[clusters] + np.sqrt(1 - SHARED) * noise
    scores = noise + population.apart * truth
    if setting.kind == "ties":
        scores = np.floor((scores - population.offset) / STEP) * STEP + population.offset
    groups = clusters if setting.kind == "clusters" else None
    return predictions(Binary(0, 1), truth.astype(int), scores=Decisions(scores), groups=groups)


def holds(setting: Setting, population: Population, objective: Objective, at: float) -> bool:
    """Return whether a threshold keeps the bound in the population."""
    normal, share = NormalDist(), setting.prevalence
    tpr, fpr = 1 - normal.cdf(at - population.apart), 1 - normal.cdf(at)
    cells = (share * tpr, (1 - share) * fpr, share * (1 - tpr), (1 - share) * (1 - fpr))
    assert objective.constraint is not None
    return bool(objective.constraint.keeps(BinaryCounts(*cells)))


def measured(setting: Setting, samples: int, crossed: int) -> dict[str, Any]:
    """Return how often each bound held, and what chance was stated."""
    rng = np.random.default_rng([setting.n, round(100 * setting.prevalence), len(setting.kind)])
    kept: dict[str, list[bool]] = defaultdict(list)
    chances: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    wanted = [Objective.parse(text) for text in BOUNDS]
    for place in range(samples):
        population = Population.any(rng)
        rows = drawn(setting, population, rng)
        if not 1 < rows.y_true.sum() < len(rows) - 1:
            continue
        sampling = Sampling(resamples=200, seed=place, constraint_confidence=0.95)
        sweep = Sweep.from_table(ScoreTable.from_scores(rows.scores.values, rows.y_true.astype(bool), None))  # type: ignore[union-attr]
        units = units_of(sweep, rows, None)
        for objective, best in zip(wanted, sweep.choose(wanted), strict=True):
            if not isinstance(best, Optimum):
                continue
            found = find_constraint_threshold(sweep, units, objective, best, sampling)
            assert found is not None
            kept[objective.name].append(
                found.threshold is None or holds(setting, population, objective, found.threshold)
            )
            kept[f"{objective.name} found"].append(found.threshold is not None)
        if place < crossed:
            for name, chance, held_here in _stated(setting, population, rows, sampling):
                chances[name].append((chance, held_here))
    return {
        **asdict(setting),
        "samples": samples,
        "held": {name: _mean(kept[name]) for name in BOUNDS},
        "found": {name: _mean(kept[f"{name} found"]) for name in BOUNDS},
        "stated": {name: _mean([c for c, _ in pairs]) for name, pairs in chances.items()},
        "came_true": {name: _mean([h for _, h in pairs]) for name, pairs in chances.items()},
        "crossed": crossed,
    }


def _stated(
    setting: Setting, population: Population, rows: Predictions, sampling: Sampling
) -> Iterator[tuple[str, float, bool]]:
    table = ScoreTable.from_scores(rows.scores.values, rows.y_true.astype(bool), None)  # type: ignore[union-attr]
    wanted = [Objective.parse(text) for text in CHANCES]
    sweep = evaluate_thresholds(table, rows, objectives=wanted, sampling=sampling)
    for objective in wanted:
        best = sweep.optima[objective.name]
        if isinstance(best, Optimum) and best.chance is not None:
            yield objective.name, best.chance, holds(setting, population, objective, best.threshold)


def _mean(values: list[Any]) -> float | None:
    return round(float(np.mean(values)), 4) if values else None


def main(samples: int = 600, crossed: int = 600) -> None:
    assert set(METRICS) >= {"recall", "fpr", "precision", "npv", "f1"}
    with ProcessPoolExecutor(2) as pool:
        every = list(settings())
        found = list(pool.map(measured, every, [samples] * len(every), [crossed] * len(every)))
    RESULT.write_text(json.dumps({"settings": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
