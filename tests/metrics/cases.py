"""Random predictions with everything that goes wrong in practice: ties, weights, extremes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engines.memory import summarise
from evalreport.facts import Summary
from evalreport.labels import Binary
from evalreport.predictions import predictions
from evalreport.scores import Probabilities

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class BinaryCase:
    """Rows of a binary problem, and its facts."""

    y: Array
    score: Array
    weights: Array | None
    threshold: float

    @property
    def pred(self) -> Array:
        return (self.score.astype(np.float64) >= self.threshold).astype(int)

    @property
    def summary(self) -> Summary:
        return summarise(
            predictions(
                Binary(0, 1),
                self.y,
                scores=Probabilities(self.score),
                threshold=self.threshold,
                weights=self.weights,
            )
        )


def binary_cases(count: int, seed: int = 0) -> Iterator[BinaryCase]:
    rng = np.random.default_rng(seed)
    for i in range(count):
        n = int(rng.choice([8, 30, 200, 1000]))
        y = (rng.random(n) < rng.choice([0.05, 0.3, 0.5])).astype(int)
        y[:2] = [0, 1]
        logit = rng.normal(size=n) + y * rng.choice([0, 1, 3])
        score = 1 / (1 + np.exp(-logit))
        match i % 4:
            case 1:
                score = np.round(score, 1)  # ties, exact 0 and 1
            case 2:
                score = score.astype(np.float32)
            case 3:
                score = np.where(rng.random(n) < 0.2, rng.integers(0, 2, n), score)
        weights = None
        if i % 3 == 1:
            weights = rng.exponential(size=n)
        elif i % 3 == 2:
            weights = rng.integers(0, 4, n).astype(float)
            weights[:2] = 1
        yield BinaryCase(y, score, weights, float(rng.choice([0.5, 0.3, 0.9])))
