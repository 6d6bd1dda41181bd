"""How often intervals of differences hold the true difference: `python -m tests.comparison.simulate`.

Models of known skill answer simulated test sets; their noise is shared in part, as that of models that were
trained on the same data is. The result is kept in `evalreport/comparison/coverage.json`.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evalreport.comparison.compare import compare
from evalreport.comparison.differences import paired_difference
from evalreport.engines.memory import summarise
from evalreport.labels import Task
from evalreport.metrics.catalogue import COMPARED, find
from evalreport.predictions import Column, Predictions
from tests.comparison import models

RESULT = Path(__file__).parents[2] / "evalreport" / "comparison" / "coverage.json"
POPULATION = 2_000_000
"""(row, label) cells of the sample that stands for the population."""


@dataclass(frozen=True)
class Setting:
    """One kind of test set and pair of models.

    Parameters
    ----------
    shares : tuple of float
        Binary: the prevalence; else the share of each class or label.
    skills : (float, float)
        Distance of the two models' scores of positives from those of negatives.
    correlation : float
        Of the two models' noise.
    per_cluster : int
        Rows that share their noise, 1 for independent rows.
    weighted : bool
    """

    task: Task
    n: int
    shares: tuple[float, ...]
    skills: tuple[float, ...]
    correlation: float
    per_cluster: int = 1
    weighted: bool = False

    def draw(self, rng: np.random.Generator, n: int = 0) -> list[Predictions]:
        """Draw one test set with the answers of all models."""
        rows = n or self.n
        match self.task:
            case "binary":
                threshold = {0.5: 0.5, 0.2: 0.3, 0.05: 0.2}.get(self.shares[0], 0.3)
                found = models.binary(
                    rng, rows, self.shares[0], self.skills, self.correlation, threshold, self.per_cluster
                )
            case "multiclass":
                found = models.multiclass(rng, rows, np.array(self.shares), self.skills, self.correlation)
            case "multilabel":
                found = models.multilabel(rng, rows, np.array(self.shares), self.skills, self.correlation)
        if self.per_cluster > 1:
            codes = np.arange(rows, dtype=np.int32) // self.per_cluster
            groups = Column(codes, tuple(map(str, range(codes[-1] + 1))))
            found = [replace(p, groups=groups) for p in found]
        if self.weighted:
            weights = rng.lognormal(0, 0.7, rows)
            found = [replace(p, weights=weights, weighted=True) for p in found]
        return found


@dataclass(frozen=True)
class Measured:
    """What one kind of interval did in one setting."""

    metric: str
    method: str
    coverage: float
    width: float
    intervals: int


@cache
def truth(setting: Setting) -> dict[str, float]:
    """Return the true differences: 0 of equal models, else from a very large sample."""
    if len(set(setting.skills)) == 1:
        return dict.fromkeys(COMPARED[setting.task], 0.0)
    plain = replace(setting, per_cluster=1, weighted=False)
    both = [
        summarise(p) for p in plain.draw(np.random.default_rng(99), POPULATION // max(1, len(setting.shares)))
    ]
    metrics = [find(name, setting.task) for name in COMPARED[setting.task]]
    values = {metric.name: [metric.of(facts) for facts in both] for metric in metrics}
    return {
        name: pair[0] - pair[1]
        for name, pair in values.items()
        if isinstance(pair[0], float) and isinstance(pair[1], float)
    }


def coverage(setting: Setting, times: int, names: Sequence[str] = (), seed: int = 0) -> dict[str, Measured]:
    """Return how often the intervals of each metric held the true difference.

    Metrics whose value never varies in the setting are left out.
    """
    rng = np.random.default_rng([seed, setting.n])
    true = truth(setting)
    held: dict[str, list[tuple[bool, float]]] = defaultdict(list)
    methods: dict[str, set[str]] = defaultdict(set)
    wanted = names or [name for name in true if not (name == "top_3_accuracy" and len(setting.shares) < 4)]
    for _ in range(times):
        both = models.sides(setting.draw(rng))
        for name in wanted:
            found = paired_difference(find(name, setting.task), both, ("a", "b"))
            if found.low is not None and found.high is not None:
                width = found.high - found.low
                held[name].append((found.low - 1e-12 <= true[name] <= found.high + 1e-12, width))
                methods[name].add(found.method)
    return {
        name: Measured(
            metric=name,
            method=" / ".join(sorted(methods[name])),
            coverage=round(float(np.mean([hit for hit, _ in hits])), 4),
            width=round(float(np.mean([width for _, width in hits])), 4),
            intervals=len(hits),
        )
        for name, hits in held.items()
    }


def false_alarms(setting: Setting, runs: int, times: int, names: Sequence[str] = (), seed: int = 0) -> Any:
    """Return for each metric how often any two of several equally good runs were called different."""
    rng = np.random.default_rng([seed, setting.n, runs])
    equal = replace(setting, skills=setting.skills[:1] * runs)
    wanted = names or COMPARED[setting.task]
    raised = dict.fromkeys(wanted, 0)
    for _ in range(times):
        result = compare([models.bare(p) for p in equal.draw(rng)], None, metrics=wanted, details=False)
        for name in wanted:
            raised[name] += any(d.verdict in ("better", "worse") for d in result.of(name))
    return {name: count / times for name, count in raised.items()}


def zipf(size: int) -> tuple[float, ...]:
    """Shares that fall as 1, 1/2, 1/3, …"""
    shares = 1 / np.arange(1, size + 1)
    return tuple((shares / shares.sum()).tolist())


PAIRS = (((2.0, 1.5), 0.3), ((1.8, 1.8), 0.7), ((2.0, 2.0), 0.95), ((3.0, 2.8), 0.6))
SETTINGS = (
    *(
        Setting("binary", n, (share,), skills, correlation)
        for n in (200, 1000)
        for share in (0.5, 0.2, 0.05)
        for skills, correlation in PAIRS
    ),
    *(
        Setting("multiclass", 200, shares, skills, correlation)
        for shares in ((1 / 3,) * 3, zipf(3), (1 / 20,) * 20, zipf(20))
        for skills, correlation in (((2.0, 1.6), 0.3), ((2.0, 2.0), 0.8))
    ),
    *(
        Setting("multilabel", 200, shares, skills, correlation)
        for shares in ((0.2,) * 5, tuple(np.geomspace(0.4, 0.03, 5)), tuple(np.geomspace(0.4, 0.03, 20)))
        for skills, correlation in (((2.0, 1.6), 0.3), ((2.0, 2.0), 0.8))
    ),
    *(Setting("binary", 400, (0.3,), skills, correlation, 4) for skills, correlation in PAIRS[:2]),
    *(Setting("binary", 400, (0.3,), skills, correlation, 1, True) for skills, correlation in PAIRS[:2]),
)
EQUAL = (
    Setting("binary", 300, (0.3,), (1.8,), 0.6),
    Setting("binary", 300, (0.1,), (1.8,), 0.3),
    Setting("binary", 200, (0.05,), (1.8,), 0.6),
    Setting("multiclass", 300, (0.2,) * 5, (1.8,), 0.5),
    Setting("multilabel", 300, (0.2,) * 5, (1.8,), 0.5),
)


def main() -> None:
    """Measure everything and keep it."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rows = []
    for setting in SETTINGS:
        for entry in coverage(setting, times).values():
            rows.append({**asdict(setting), **asdict(entry)})
            print(setting, entry, flush=True)
    alarms = []
    for setting in EQUAL:
        found = false_alarms(setting, 10, max(1, times // 5))
        alarms.append({**asdict(setting), "runs": 10, "times": max(1, times // 5), "raised": found})
        print(setting, found, flush=True)
    told, raised = (",\n  ".join(map(json.dumps, part)) for part in (rows, alarms))
    whole = f'{{\n "coverage": [\n  {told}\n ],\n "false_alarms": [\n  {raised}\n ]\n}}\n'
    RESULT.write_text(whole, encoding="utf-8")


if __name__ == "__main__":
    main()
