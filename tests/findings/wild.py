"""Evaluations of every kind and size, good and bad, weighted, grouped, sliced, from a seed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions, relative
from evalreport.data.scores import Decisions, NoScores, Probabilities, Scores
from evalreport.features.text_labels.parser import make_parser, parse_all

KINDS = ("binary", "multiclass", "multilabel", "text")


def wild(seed: int) -> Predictions:
    """Predictions that are as odd as the seed will have them."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([3, 30, 200, 600]))
    options: dict[str, Any] = {}
    if rng.random() < 0.25:
        options["weights"] = rng.random(n) * rng.choice([0.01, 1, 100])
    if rng.random() < 0.2:
        options["groups"] = rng.integers(0, max(2, n // 3), n)
    if rng.random() < 0.3:
        options["slices"] = {"site": rng.choice(["north", "south", "west"], n)}
    if rng.random() < 0.3:
        options["texts"] = [f"text {row}" for row in rng.integers(0, 2 * n, n)]
    kind = KINDS[seed % len(KINDS)]
    return {"binary": _binary, "multiclass": _multiclass, "multilabel": _multilabel, "text": _text}[kind](
        rng, n, options
    )


def odd(seed: int) -> Predictions:
    """The same, more of them weighted, and two labels of digits or of words such as "no"; scores that are
    constant, perfect, inverted or in tenths."""
    p, rng = wild(seed), np.random.default_rng([seed, 1])
    weights = rng.lognormal(0, 1, len(p)) * rng.choice([1e-6, 1.0, 1e6])
    given = weights if rng.random() < 0.3 else p.weights if p.weighted else None
    if not isinstance(p.space, Binary) or not isinstance(p.scores, Probabilities):
        return p if given is None else replace(p, weights=relative(given), weighted=True)
    truth, scores = np.asarray(p.y_true), p.scores.values
    kinds = (
        scores,
        np.full(len(p), 0.7),
        np.where(truth, 0.9, 0.1),
        np.where(truth, 0.1, 0.9),
        scores.round(1),
    )
    labels = Binary(0, 1) if rng.random() < 0.5 else Binary("no", "yes")
    groups = None if p.groups is None else p.groups.codes
    names = [labels.labels[code] for code in truth]
    return predictions(
        labels, names, scores=Probabilities(kinds[rng.integers(5)]), weights=given, groups=groups
    )


def _skill(rng: np.random.Generator) -> float:
    return float(rng.choice([-2.0, 0.0, 0.5, 2.0, 30.0]))


def _binary(rng: np.random.Generator, n: int, options: dict[str, Any]) -> Predictions:
    truth = rng.random(n) < rng.choice([0.0, 0.02, 0.3, 0.5, 0.95])
    logit = _skill(rng) * (truth - 0.5) + rng.normal(0, 1, n) + rng.choice([-3.0, 0.0, 3.0])
    scores: Scores = Probabilities(1 / (1 + np.exp(-logit)))
    answer = None
    match rng.integers(0, 4):
        case 0:
            scores = Decisions(logit)
        case 1:
            scores, answer = NoScores(), np.where(logit > 0, "spam", "ham")
        case 2:
            answer = np.where(logit + rng.normal(0, 0.2, n) > 1, "spam", "ham")
    return predictions(Binary("ham", "spam"), np.where(truth, "spam", "ham"), answer, scores, **options)


def _multiclass(rng: np.random.Generator, n: int, options: dict[str, Any]) -> Predictions:
    labels, truth, scores = _several(rng, n)
    if rng.random() < 0.5:
        answers = np.asarray(labels)[scores.argmax(axis=1)]
        return predictions(Multiclass(labels), np.asarray(labels)[truth], answers, **options)
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return predictions(
        Multiclass(labels), np.asarray(labels)[truth], scores=Probabilities(chances), **options
    )


def _several(rng: np.random.Generator, n: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Labels, codes of truth and scores of a problem with favourites and families."""
    size = int(rng.choice([3, 7, 25]))
    shares = rng.dirichlet(np.full(size, rng.choice([0.3, 3.0, 100.0])))
    truth = rng.choice(size, n, p=shares)
    scores = rng.normal(0, 1, (n, size))
    scores[np.arange(n), truth] += _skill(rng)
    scores[np.arange(n), truth // 3 * 3] += rng.choice([0.0, 2.0])
    scores[:, : size // 3] += rng.choice([0.0, 3.0])
    return [f"intent_{code}" for code in range(size)], truth, scores


def _multilabel(rng: np.random.Generator, n: int, options: dict[str, Any]) -> Predictions:
    size = int(rng.choice([3, 20]))
    truth = rng.random((n, size)) < rng.choice([0.01, 0.1, 0.5])
    logit = _skill(rng) * (truth - 0.5) + rng.normal(0, 1, (n, size)) + rng.choice([-3.0, 0.0, 2.0])
    space = Multilabel([f"tag{code}" for code in range(size)])
    if rng.random() < 0.5:
        return predictions(space, truth, logit > 0, **options)
    return predictions(space, truth, scores=Probabilities(1 / (1 + np.exp(-logit))), **options)


def _text(rng: np.random.Generator, n: int, options: dict[str, Any]) -> Predictions:
    labels, truth, scores = _several(rng, n)
    dress = ("{}", "Intent: {}", '{{"intent": "{}"}}', "I cannot help with that.", "", "something else")
    chances = rng.dirichlet(np.full(len(dress), 0.5))
    formats = rng.choice(len(dress), n, p=chances)
    answers = [dress[f].format(labels[a]) for f, a in zip(formats, scores.argmax(axis=1), strict=True)]
    parsed = parse_all(answers, make_parser("auto", labels))
    return predictions(Multiclass(labels), np.asarray(labels)[truth], parsed, **options)
