"""Tables that once were a crash or a warning, as small as they were found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from tests.fuzz.test_tables import whole_way

RNG = np.random.default_rng


def heavy(weights: Any) -> Predictions:
    """Both classes, scores that know nothing, weights far from 1."""
    rows = np.arange(40)
    scores = Probabilities(0.1 + 0.07 * (rows * 7 % 11))
    return predictions(Binary(0, 1), rows % 2, scores=scores, weights=np.resize(weights, 40))


def heavy_labels() -> Predictions:
    truth, scores = RNG(1).random((40, 3)) < 0.5, RNG(0).random((40, 3))
    return predictions(Multilabel("abc"), truth, scores=Probabilities(scores), weights=np.full(40, 1e49))


def weightless_class() -> Predictions:
    """Three classes, the second of rows that weigh nothing."""
    chances = RNG(0).dirichlet(np.ones(3), 40)
    weights = np.where(np.arange(40) % 3 == 1, 0.0, 1.0)
    names = np.array(list("abc"))[np.arange(40) % 3]
    return predictions(Multiclass("abc"), names, scores=Probabilities(chances), weights=weights)


def uneven_labels() -> Predictions:
    """One row weighs 1e12 times the others, in two groups: limits of half a line."""
    weights, groups = [1e-12, 0, 1e-12, 1e-12, 1.0, 1e-12, 0, 0, 1e-12], [0, 1, 0, 0, 1, 0, 1, 0, 0]
    truth, answers = RNG(0).random((9, 6)) < 0.9, RNG(1).random((9, 6)) < 0.4
    scores = Probabilities(np.ones((9, 6)))
    return predictions(Multilabel("abcdef"), truth, answers, scores, weights=weights, groups=groups)


def uneven_classes() -> Predictions:
    weights = RNG(3).choice([1e49, 1e35, 1e40], 24)
    truth, answers = (np.array(list("abcde"))[RNG(seed).integers(0, 5, 24)] for seed in (1, 2))
    return predictions(Multiclass("abcde", ordered=True), truth, answers, weights=weights)


CORPUS: dict[str, tuple[Callable[[], Predictions], float]] = {
    "weights of 1e49": (lambda: heavy(1e49), 0.95),
    "weights of 1e-49": (lambda: heavy(1e-49), 0.95),
    "weights 1e14 apart": (lambda: heavy([1e49, 1e35]), 0.95),
    "labels with weights of 1e49": (heavy_labels, 0.95),
    "a class of no weight": (weightless_class, 0.95),
    "labels, one row outweighs all": (uneven_labels, 0.999),
    "classes, a few rows outweigh all": (uneven_classes, 0.999),
}


@pytest.mark.parametrize("name", CORPUS)
def test_what_broke_once_goes_the_whole_way(name: str) -> None:
    make, level = CORPUS[name]
    whole_way(make(), level)
