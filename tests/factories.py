"""Predictions of every task, made from a seed: what tests of the upper floors start from."""

from __future__ import annotations

import numpy as np

from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, NoScores, Probabilities


def binary(n: int = 300, prevalence: float = 0.4, skill: float = 2.0, seed: int = 0) -> Predictions:
    """Calibrated probabilities of a logistic model."""
    rng = np.random.default_rng(seed)
    middle = np.log(prevalence / (1 - prevalence))
    score = 1 / (1 + np.exp(-(middle + skill * rng.standard_normal(n))))
    truth = np.where(rng.random(n) < score, "ill", "well")
    if len(set(truth)) == 1:
        truth[:2] = ["ill", "well"]
    ids = [f"case-{row}" for row in range(n)]
    slices = {"site": np.where(rng.random(n) < 0.5, "north", "south")}
    return predictions(Binary("well", "ill"), truth, scores=Probabilities(score), ids=ids, slices=slices)


def multiclass(n: int = 400, size: int = 4, skill: float = 2.0, seed: int = 0) -> Predictions:
    """Calibrated probabilities over `size` balanced classes."""
    rng = np.random.default_rng(seed)
    logits = skill * rng.standard_normal((n, size))
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    codes = (chances.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    labels = [f"class_{code:03d}" for code in range(size)]
    texts = [f"text number {row}" for row in range(n)]
    return predictions(
        Multiclass(labels), np.asarray(labels)[codes], scores=Probabilities(chances), texts=texts
    )


def multilabel(n: int = 300, size: int = 5, seed: int = 0) -> Predictions:
    """Calibrated, independent probabilities of `size` labels."""
    rng = np.random.default_rng(seed)
    chances = 1 / (1 + np.exp(-(2 * rng.standard_normal((n, size)) - 0.5)))
    truth = rng.random((n, size)) < chances
    return predictions(Multilabel([f"tag{k}" for k in range(size)]), truth, scores=Probabilities(chances))


def labels_alone(n: int = 200, size: int = 3, seed: int = 0) -> Predictions:
    """Multiclass labels without scores."""
    whole = multiclass(n, size, seed=seed)
    names = np.asarray(whole.space.names)
    assert whole.y_pred is not None
    return predictions(whole.space, names[whole.y_true], names[whole.y_pred], NoScores())


def margins(n: int = 200, seed: int = 0) -> Predictions:
    """Binary decision scores without a threshold."""
    whole = binary(n, seed=seed)
    assert isinstance(whole.scores, Probabilities)
    names = np.asarray(whole.space.names)
    return predictions(whole.space, names[whole.y_true], scores=Decisions(4 * whole.scores.values - 2))


ALL = {
    "binary": binary,
    "multiclass": multiclass,
    "multilabel": multilabel,
    "labels alone": labels_alone,
    "margins": margins,
}
