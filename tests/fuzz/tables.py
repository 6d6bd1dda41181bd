"""Random tables of every task: small, tied, weighted, grouped, sliced, with odd labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from evalreport.data.labels import Binary, LabelSpace, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, NoScores, Probabilities, Scores

ODD = (
    *("", " ", "a", "A", "0", "1", "nan", "None", "<b>", "ü", "模型"),
    *("a\nb", "\u202egnp", "x" * 300, "-", "%s", "{n}"),
)
WEIGHTS = ((0.0, 1.0, 1.0, 2.5, 1e-3, 1e6), (0.0, 1.0, 1e-12), (1e49, 1e35, 1e40), (1e-49, 1e-40))
LEVELS = (0.95, 0.5, 0.01, 0.999, 1 - 1e-6)


@st.composite
def spaces(draw: st.DrawFn) -> LabelSpace:
    """A label space with odd names."""
    names = draw(st.lists(st.sampled_from(ODD), min_size=2, max_size=6, unique=True))
    kind = draw(st.sampled_from(("binary", "multiclass", "multilabel")))
    if kind == "binary":
        return Binary(names[0], names[1])
    return Multiclass(names, ordered=draw(st.booleans())) if kind == "multiclass" else Multilabel(names)


def numbers(draw: st.DrawFn, shape: tuple[int, ...], *, unit: bool) -> Any:
    """Scores: constant, tied, at the ends, or any."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    match draw(st.sampled_from(("constant", "tied", "ends", "any"))):
        case "constant":
            return np.full(shape, draw(st.sampled_from((0.0, 0.5, 1.0))))
        case "tied":
            return rng.integers(0, 3, shape) / 2
        case "ends":
            return rng.choice([0.0, 1.0, 1e-12, 1 - 1e-12], shape)
        case _:
            return rng.random(shape) if unit else rng.normal(0, 50, shape)


def scores_of(draw: st.DrawFn, space: LabelSpace, n: int) -> Scores:
    kind = draw(st.sampled_from(("none", "probabilities", "probabilities", "decisions")))
    shape = (n,) if isinstance(space, Binary) else (n, len(space))
    if kind == "none":
        return NoScores()
    if kind == "decisions":
        return Decisions(numbers(draw, shape, unit=False))
    values = numbers(draw, shape, unit=True)
    if isinstance(space, Multiclass):
        total = values.sum(axis=1, keepdims=True)
        values = np.where(total > 0, values / np.where(total > 0, total, 1), 1 / len(space))
    return Probabilities(values)


@st.composite
def tables(draw: st.DrawFn) -> Predictions:
    """Predictions of 1 to 30 rows."""
    space, n = draw(spaces()), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    scores = scores_of(draw, space, n)
    some = draw(st.integers(1, len(space)))
    if isinstance(space, Multilabel):
        truth: Any = rng.random((n, len(space))) < draw(st.sampled_from((0.0, 0.3, 0.9)))
        answers: Any = rng.random((n, len(space))) < 0.4
    else:
        truth = np.asarray(space.texts, dtype=object)[rng.integers(0, some, n)]
        answers = np.asarray(space.texts, dtype=object)[rng.integers(0, len(space), n)]
    given = isinstance(scores, NoScores) or draw(st.booleans())
    p = predictions(space, truth, answers if given else None, scores, **columns(draw, rng, n))
    return replace(p, notes=("a note",)) if draw(st.booleans()) else p


def columns(draw: st.DrawFn, rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Weights, groups, slices, texts and ids, each or none."""
    found: dict[str, Any] = {}
    if draw(st.booleans()):
        weights = rng.choice(draw(st.sampled_from(WEIGHTS)), n)
        found["weights"] = np.where(weights.any(), weights, 1.0)
    if draw(st.booleans()):
        found["groups"] = rng.integers(0, draw(st.sampled_from((1, 2, 10))), n)
    if draw(st.booleans()):
        found["slices"] = {draw(st.sampled_from(ODD)): rng.choice(["x", "y", "z"], n)}
    if draw(st.booleans()):
        found["texts"] = [draw(st.sampled_from((*ODD, "half \ud800"))) for _ in range(n)]
    if draw(st.booleans()):
        found["ids"] = [f"é{row}" for row in range(n)]
    return found
