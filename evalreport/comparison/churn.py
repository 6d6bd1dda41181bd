"""Answers that change from run to run of one system."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evalreport.comparison.movement import Mask, answer_names, example_id, right
from evalreport.comparison.system_values import ChangingAnswer, Churn
from evalreport.evaluation.rows import cut
from evalreport.facts.counts import Array
from evalreport.predictions import Predictions

SHOWN = 12
"""Rows that are kept as examples: those whose runs are most divided (chosen by hand)."""


def churn(runs: Sequence[Predictions]) -> tuple[Churn, dict[str, Churn]] | None:
    """Return how many answers change, over all rows and by true class; None of one run, or without answers.

    Parameters
    ----------
    runs : sequence of Predictions
        Of the same rows in the same order.

    Examples
    --------
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> runs = [predictions(Binary(0, 1), [0, 1, 1, 1], y) for y in ([0, 1, 1, 0], [0, 1, 0, 0])]
    >>> found = churn(runs)
    >>> found[0], found[1]["0"].any
    (Churn(any=0.25, two=0.25, correctness=0.25), 0.0)
    """
    if len(runs) < 2 or any(p.y_pred is None for p in runs):
        return None
    first, weights = runs[0], runs[0].weights
    apart = [_differing(a.y_pred, b.y_pred) for a, b in combinations(runs, 2)]
    found = (np.any(apart, axis=0), np.mean(apart, axis=0), divided(runs))
    kinds = [np.asarray(kind, dtype=np.float64) for kind in found]
    classes = {}
    if first.y_true.ndim == 1:
        held = [(name, first.y_true == code) for code, name in enumerate(first.space.names)]
        classes = {name: _shares(kinds, weights * rows) for name, rows in held if (weights * rows).any()}
    return _shares(kinds, weights), classes


def _differing(a: npt.NDArray[np.generic] | None, b: npt.NDArray[np.generic] | None) -> Mask:
    other = np.asarray(a != b)
    return np.asarray(other.any(axis=1)) if other.ndim == 2 else other


def _shares(kinds: Sequence[Array], weights: Array) -> Churn:
    return Churn(*(float(weights @ kind / weights.sum()) for kind in kinds))


def divided(runs: Sequence[Predictions]) -> Mask:
    """Return which rows some runs get right and others wrong, shape (n,)."""
    rights = np.array([right(p) for p in runs])
    return np.asarray(rights.any(axis=0) & ~rights.all(axis=0))


def changing(runs: Sequence[Predictions]) -> tuple[ChangingAnswer, ...]:
    """Return the rows on which the runs are most divided between right and wrong."""
    rights = np.array([right(p) for p in runs])
    rows = np.flatnonzero(divided(runs))
    order = np.argsort(np.abs(rights[:, rows].mean(axis=0) - 0.5), kind="stable")[:SHOWN]
    return tuple(_example(runs, rights, int(row)) for row in rows[order])


def _example(runs: Sequence[Predictions], rights: Mask, row: int) -> ChangingAnswer:
    first = runs[0]
    texts = next((p.texts for p in runs if p.texts is not None), None)
    return ChangingAnswer(
        id=example_id(first, row),
        truth=answer_names(first, first.y_true, row),
        right=tuple(rights[:, row].tolist()),
        answers=tuple(answer_names(p, p.y_pred, row) for p in runs),
        text=None if texts is None else cut(texts[row]),
    )
