"""Random predictions with everything that goes wrong in practice.

Ties, weights, zero weights, exact 0 and 1, absent, spurious and never-predicted classes, unparsed answers,
rows without labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.labels import Binary, LabelSpace, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.statistics.summary import Summary, summarise

Array = npt.NDArray[Any]
UNPARSED = -1


@dataclass(frozen=True, eq=False)
class Case:
    """Rows of a problem: codes (binary, multiclass) or indicators (multilabel), and scores.

    Binary and multilabel rows are decided at `threshold`, multiclass rows by `pred`.
    """

    space: LabelSpace
    y: Array
    score: Array
    weights: Array | None = None
    threshold: float | None = None
    codes: Array | None = None
    decisions: bool = False

    @property
    def pred(self) -> Array:
        if self.codes is not None:
            return self.codes
        decided: Array = self.score.astype(np.float64) >= (0.5 if self.threshold is None else self.threshold)
        return decided.astype(int)

    @cached_property
    def predictions(self) -> Predictions:
        kind = Decisions if self.decisions else Probabilities
        made = predictions(
            self.space,
            self.y if self.y.ndim == 2 else np.array(self.space.labels)[self.y],
            None if self.codes is None else np.array(self.space.labels)[np.maximum(self.codes, 0)],
            kind(self.score),
            threshold=self.threshold,
            weights=self.weights,
        )
        if self.weights is not None:  # as they are, not of mean 1: sums are held against sums of them
            made = replace(made, weights=np.asarray(self.weights, dtype=np.float64), weighted=True)
        if self.codes is None:
            return made
        return replace(made, y_pred=self.codes.astype(np.int32), threshold=None)

    @cached_property
    def summary(self) -> Summary:
        return summarise(self.predictions)


def binary_cases(count: int, seed: int = 0) -> Iterator[Case]:
    rng = np.random.default_rng(seed)
    for i in range(count):
        n = int(rng.choice([8, 30, 200, 1000]))
        y = (rng.random(n) < rng.choice([0.05, 0.3, 0.5])).astype(int)
        y[:2] = [0, 1]
        logit = rng.normal(size=n) + y * rng.choice([0, 1, 3])
        score = 1 / (1 + np.exp(-logit))
        match i % 4:
            case 1:
                score = np.round(score, 1)
            case 2:
                score = score.astype(np.float32)
            case 3:
                score = np.where(rng.random(n) < 0.2, rng.integers(0, 2, n), score)
        yield Case(Binary(0, 1), y, score, _weights(rng, n, i), threshold=float(rng.choice([0.5, 0.3, 0.9])))


def multiclass_cases(count: int, seed: int = 0) -> Iterator[Case]:
    rng = np.random.default_rng(seed)
    for i in range(count):
        n, size = int(rng.choice([12, 60, 400])), int(rng.choice([3, 5, 8]))
        y = rng.choice(size - (i % 2), n, p=rng.dirichlet(np.ones(size - (i % 2))))  # the last may be absent
        y[:2] = [0, 1]
        logit = rng.normal(size=(n, size))
        logit[np.arange(n), y] += rng.choice([0, 1, 3])
        score = np.exp(logit)
        if i % 3 == 1:
            score = np.ceil(score)  # ties
        score /= score.sum(axis=1, keepdims=True)
        codes = score.argmax(axis=1)
        codes[codes == 1] = 0 if i % 5 == 0 else 1  # never predicted
        if i % 4 == 3:
            codes = np.where(rng.random(n) < 0.2, UNPARSED, codes)
        space = Multiclass([f"c{k}" for k in range(size)], ordered=True)
        yield Case(space, y, score, _weights(rng, n, i), codes=codes)


def multilabel_cases(count: int, seed: int = 0) -> Iterator[Case]:
    rng = np.random.default_rng(seed)
    for i in range(count):
        n, size = int(rng.choice([12, 60, 400])), int(rng.choice([2, 5, 9]))
        y = rng.random((n, size)) < rng.uniform(0.02, 0.6, size)
        if i % 2 == 0:
            y[0], y[1] = True, False  # every label has both kinds of rows
        logit = rng.normal(size=(n, size)) + y * rng.choice([0, 1, 3])
        score = 1 / (1 + np.exp(-logit))
        if i % 3 == 1:
            score = np.round(score, 1)
        space = Multilabel([f"l{k}" for k in range(size)])
        yield Case(space, y, score, _weights(rng, n, i), threshold=float(rng.choice([0.5, 0.3, 0.9])))


def _weights(rng: np.random.Generator, n: int, i: int) -> Array | None:
    match i % 3:
        case 1:
            return rng.exponential(size=n)
        case 2:
            weights = rng.integers(0, 4, n).astype(float)
            weights[:2] = 1
            return weights
        case _:
            return None
