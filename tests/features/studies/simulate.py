"""How often the interval of the best of many trials holds its true value.

True values are equal, spread or mixed; trials are right or wrong on the same examples, in correlated fashion,
so that their errors correlate by what is measured from the examples. `make coverage` runs it and keeps the
result in `winner.json` beside this file, which `test_luck.py` reads.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from evalreport.features.studies.winners_curse import error_correlation, winner_limits

RESULT = Path(__file__).parent / "winner.json"
SPREADS = {"equal": 0.0, "spread": 1.0, "far apart": 3.0}
"""Standard deviations of the true values, in errors; of `far apart` a third of the trials is equal."""
TRUE = 0.8
MEASURED = 0.5
"""Share of the noise of two trials that is one and the same where the correlation is measured."""
MANY = 200_000
"""(trial, example) cells from which the errors are drawn as correlated normals, not example by example."""


@dataclass(frozen=True)
class Search:
    """One kind of study."""

    trials: int
    n: int
    spread: str
    shared: float

    def draw(self, rng: np.random.Generator) -> tuple[Any, Any, float]:
        """Return true values, values of a sample, and the correlation that the examples show."""
        error = (TRUE * (1 - TRUE) / self.n) ** 0.5
        true = np.clip(TRUE + SPREADS[self.spread] * error * rng.normal(size=self.trials), 0.02, 0.98)
        if self.spread == "far apart":
            true[: self.trials // 3] = TRUE
        if self.trials * self.n > MANY:
            noise = self.shared**0.5 * rng.normal() + (1 - self.shared) ** 0.5 * rng.normal(size=self.trials)
            values = np.clip(true + np.sqrt(true * (1 - true) / self.n) * noise, 0, 1)
            return true, np.round(values * self.n) / self.n, self.shared
        common, own = rng.normal(size=self.n), rng.normal(size=(self.trials, self.n))
        limits = np.array([NormalDist().inv_cdf(share) for share in true])
        right = self.shared**0.5 * common + (1 - self.shared) ** 0.5 * own < limits[:, None]
        return true, right.mean(axis=1), error_correlation(right) if self.shared else 0.0


def searches() -> Iterator[Search]:
    for trials in (10, 100, 500):
        for n in (100, 1000, 5000):
            for spread in SPREADS:
                for shared in (0.0, MEASURED):
                    yield Search(trials, n, spread, shared)


def measured(search: Search, times: int) -> dict[str, Any]:
    """Return how often the interval held the true value, told the correlation or not, and its width."""
    kind = 2 * list(SPREADS).index(search.spread) + int(search.shared > 0)
    rng = np.random.default_rng([search.trials, search.n, kind])
    held, wide = {"known": 0, "unknown": 0}, {"known": 0.0, "unknown": 0.0}
    for _ in range(times):
        true, values, correlation = search.draw(rng)
        best = rng.choice(np.flatnonzero(values == values.max()))
        for name, reported in (("known", correlation), ("unknown", None)):
            low, high = winner_limits(values, 1.0, 0.0, reported, 0.95, search.n)
            held[name] += bool(low <= true[best] <= high)
            wide[name] += (high - low) / times
    return {
        **asdict(search),
        "studies": times,
        "held": {name: round(count / times, 4) for name, count in held.items()},
        "width": {name: round(width, 4) for name, width in wide.items()},
    }


def main(times: int = 1000) -> None:
    """Simulate search by search, and write after each."""
    every = list(searches())
    found: list[dict[str, Any]] = []
    with ProcessPoolExecutor(2) as pool:
        for result in pool.map(measured, every, [times] * len(every)):
            found.append(result)
            RESULT.write_text(json.dumps({"searches": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
