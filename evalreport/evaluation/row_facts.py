"""Counts over rows that findings need and no metric holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.facts import ScoreTable
from evalreport.labels import UNPARSED, Binary, Multiclass, Multilabel
from evalreport.predictions import Predictions
from evalreport.scores import Decisions, NoScores, Probabilities, highest

HALF = 0.5
"""The least score that the more likely one of two labels can have."""
MEANT = 0.01
"""Share of the rows, decided otherwise than by any threshold, from which on that is no slip."""


def row_facts(p: Predictions) -> dict[str, float]:
    """Return what is counted row by row.

    ``constant_scores``: 1 when all scores are equal. ``hard_scores``: 1 when probabilities are zeros and
    ones alone. ``off_scores``: decisions that do not follow from the scores, by the highest score of a row
    or by the threshold that explains most of them (one for each label); ``near_threshold``: that threshold
    of a binary problem; ``own_scores``: rows predicted negative, where all scores are of the answer that was
    given and none of the positive label (at least one half, also where the answer is the negative one).
    ``duplicate_texts``: rows whose text stood there before; ``conflicting_texts``: rows
    that share their text with a row of another truth.

    Examples
    --------
    >>> from evalreport.predictions import predictions
    >>> scores = Probabilities([0.1, 0.3, 0.4, 0.9])
    >>> row_facts(predictions(Binary(0, 1), [0, 1, 1, 1], [0, 1, 1, 1], scores))
    {'constant_scores': 0.0, 'hard_scores': 0.0, 'off_scores': 0.0, 'near_threshold': 0.3}
    """
    facts: dict[str, float] = {}
    if not isinstance(p.scores, NoScores):
        facts |= _shape(p.scores) | _rule(p, p.scores)
    if p.texts is not None:
        facts |= _texts(p)
    return facts


def _shape(scores: Probabilities | Decisions) -> dict[str, float]:
    values = scores.values
    constant = values.size > 1 and _all(values, lambda part: part == values.flat[0])
    hard = isinstance(scores, Probabilities) and not constant and _all(values, lambda part: part % 1 == 0)
    return {"constant_scores": float(constant), "hard_scores": float(hard)}


def _all(values: npt.NDArray[Any], holds: Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]]) -> bool:
    """Whether something holds of every score; usually the first thousand rows tell that it does not."""
    return bool(holds(values[:1000]).all()) and bool(holds(values).all())


def _rule(p: Predictions, scores: Probabilities | Decisions) -> dict[str, float]:
    if p.y_pred is None or p.threshold is not None:
        return {}
    values, decided = scores.values, p.y_pred
    match p.space:
        case Multiclass():
            rows = np.flatnonzero(decided != UNPARSED)
            own, best = values[rows, decided[rows]], values[rows, highest(values)[rows]]
            return {"off_scores": float(np.count_nonzero(own < best))}
        case Binary():
            rows = np.flatnonzero(decided != UNPARSED)
            off, threshold = _nearest_rule(values[rows], decided[rows].astype(bool))
            near = {} if math.isinf(threshold) else {"near_threshold": threshold}
            return {"off_scores": off, **near, **_own(p, scores, off)}
        case Multilabel():
            given = decided.astype(bool)
            columns = np.flatnonzero(_overlap(values, given))
            return {"off_scores": sum(_nearest_rule(values[:, k], given[:, k])[0] for k in columns)}


def _own(p: Predictions, scores: Probabilities | Decisions, off: float) -> dict[str, float]:
    """Scores that are confidences: no threshold tells the answers apart, and none is below one half."""
    is_probability = isinstance(scores, Probabilities)
    if not is_probability or off < MEANT * len(p) or not _all(scores.values, lambda part: part >= HALF):
        return {}
    return {"own_scores": float(np.count_nonzero(p.y_pred == 0))}


def _overlap(values: npt.NDArray[Any], decided: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether a label is given at some score and withheld at a score as high, column by column."""
    least = np.where(decided, values, np.inf).min(axis=0)
    overlap: npt.NDArray[np.bool_] = least <= np.where(decided, -np.inf, values).max(axis=0)
    return overlap


def _nearest_rule(values: npt.NDArray[Any], decided: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Fewest decisions that a threshold leaves unexplained, and that threshold (infinite: none is given)."""
    table = ScoreTable.of(np.ascontiguousarray(values), decided)
    off = table.fp + table.positives - table.tp
    place = int(off.argmin()) if len(off) else 0
    if not len(off) or off[place] >= table.positives:
        return float(table.positives), math.inf
    return float(off[place]), float(table.scores[place])


def _texts(p: Predictions) -> dict[str, float]:
    texts = p.texts or ()
    times = Counter(texts)
    truths = [tuple(row) for row in p.y_true] if p.y_true.ndim == 2 else p.y_true.tolist()
    kinds = Counter(text for text, _ in set(zip(texts, truths, strict=True)))
    conflicting = sum(times[text] for text, n in kinds.items() if n > 1)
    return {"duplicate_texts": float(len(texts) - len(times)), "conflicting_texts": float(conflicting)}
