"""How often intervals of systems of several runs hold, and how often equal systems are told apart.

Runs of a system share what is hard about a row; each has a seed's own skill, and its own errors. The true
value is the mean over seeds on very many rows. `make coverage` runs it and keeps the result in `systems.json`
beside this file.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evalreport.data.labels import Binary, Multiclass, Task
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.features.systems.compare import compare_systems
from evalreport.metrics.catalogue import find
from evalreport.statistics.summary import summarise
from tests.comparison.models import bare

RESULT = Path(__file__).parent / "systems.json"
METRICS: dict[Task, tuple[str, ...]] = {
    "binary": ("roc_auc", "log_loss"),
    "multiclass": ("accuracy", "f1_macro"),
}
LABELS = 5
SKILL = 2.0
"""Distance of a positive's scores from a negative's, or of the true class's from another's."""
SPREADS = {"strong": 0.25, "weak": 0.03}
"""Standard deviation of a seed's skill: by strong seeds an accuracy of 0.83 varies by 0.04, by weak 0.005."""
SHARED = 0.6
"""Share of a row's noise that all runs have in common."""
APART = 0.15
"""By how much the better of two unequal systems is more skilled."""


@dataclass(frozen=True)
class SeedSetting:
    """One kind of test set and of systems."""

    task: Task
    seeds: int
    n: int
    spread: str

    def draw(
        self, rng: np.random.Generator, skills: tuple[float, ...], *, vary: bool = True
    ) -> list[list[Predictions]]:
        """Draw one test set with the answers of every run of every system."""
        n = self.n
        truth = rng.permutation(np.arange(n) % (2 if self.task == "binary" else LABELS))
        shape = (n,) if self.task == "binary" else (n, LABELS)
        hard = np.sqrt(SHARED) * rng.standard_normal(shape)
        return [
            [
                _answers(truth, hard, rng, rng.normal(skill, SPREADS[self.spread] * vary))
                for _ in range(self.seeds)
            ]
            for skill in skills
        ]


def _answers(truth: Any, hard: Any, rng: np.random.Generator, skill: float) -> Predictions:
    noise = hard + np.sqrt(1 - SHARED) * rng.standard_normal(hard.shape)
    if hard.ndim == 1:
        logit = SKILL * (skill * (truth - 0.5) + noise)
        return predictions(Binary(0, 1), truth, scores=Probabilities(1 / (1 + np.exp(-logit))))
    noise[np.arange(len(truth)), truth] += skill
    space = Multiclass(tuple("abcde"))
    return predictions(space, np.array(space.names)[truth], np.array(space.names)[noise.argmax(axis=1)])


@cache
def expected(task: Task, spread: str, skill: float, rows: int = 200_000) -> dict[str, float]:
    """Return the true values of a system: the mean over the skills of its seeds, on very many new rows."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    one = SeedSetting(task, 1, rows, spread)
    facts = [
        summarise(one.draw(np.random.default_rng(7), (skill + SPREADS[spread] * node,), vary=False)[0][0])
        for node in nodes
    ]
    values = {
        name: np.array([find(name, task).compute_value(fact) for fact in facts]) for name in METRICS[task]
    }
    return {name: float(weights @ found.astype(float) / weights.sum()) for name, found in values.items()}


def inside(value: float, low: float | None, high: float | None) -> bool:
    """Return whether an interval holds a value."""
    return low is not None and high is not None and low <= value <= high


def coverage(setting: SeedSetting, times: int, rows: int = 200_000) -> list[dict[str, Any]]:
    """Return how often the intervals of a system and of a difference held, and that of none missed 0."""
    rng = np.random.default_rng([setting.seeds, setting.n, len(setting.spread)])
    names = METRICS[setting.task]
    skills = (SKILL, SKILL, SKILL + APART)
    true = [expected(setting.task, setting.spread, skill, rows) for skill in skills]
    held = {name: np.zeros(3) for name in names}
    for _ in range(times):
        drawn = setting.draw(rng, skills)
        systems = {name: [bare(p) for p in runs] for name, runs in zip("abc", drawn, strict=True)}
        found = compare_systems(systems, metrics=names, primary=names[0], detailed=False)
        for name in names:
            value = found.system_value("a", name)
            held[name][0] += inside(true[0][name], value.low, value.high)
            for d in found.differences_for(name):
                apart = true["abc".index(d.run)][name] - true["abc".index(d.baseline)][name]
                if {d.run, d.baseline} == {"a", "c"}:
                    held[name][1] += inside(apart, d.low, d.high)
                if {d.run, d.baseline} == {"a", "b"}:
                    held[name][2] += not inside(0.0, d.low, d.high)
    shares = ("value", "difference", "false_verdict")
    return [
        asdict(setting)
        | {"metric": name, "times": times}
        | dict(zip(shares, (held[name] / times).round(4).tolist(), strict=True))
        for name in names
    ]


SETTINGS = tuple(
    SeedSetting(task, seeds, n, spread)
    for task in METRICS
    for seeds in (3, 5, 10)
    for n in (200, 2000)
    for spread in SPREADS
)


def main() -> None:
    """Measure, and keep it."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rows: list[dict[str, Any]] = []
    for setting in SETTINGS:
        rows += coverage(setting, times)
        RESULT.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
