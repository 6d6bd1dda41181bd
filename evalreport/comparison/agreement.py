"""How many rows all, some and none of several runs get right, and the majority vote of the runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evalreport.comparison.changed_predictions import correct_rows
from evalreport.comparison.comparison import Agreement
from evalreport.comparison.pairing import pair
from evalreport.data.labels import UNPARSED
from evalreport.data.predictions import Predictions
from evalreport.evaluation.evaluation import Evaluation

Mask = npt.NDArray[np.bool_]
FAR_BEHIND = 0.5
"""Runs with fewer correct rows than this proportion of the best one are left out: they would decide "all"."""


def agreement(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Agreement | None:
    """Return how often the runs are right together; None unless all have predictions for the same rows.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = ["a", "b", "a", "b"]
    >>> votes = (["a", "b", "b", "b"], ["a", "b", "a", "a"], ["a", "a", "b", "b"])
    >>> found = agreement("xyz", [er.evaluate(truth, vote) for vote in votes])
    >>> found.all_right, found.some_right, found.none_right, found.majority
    (1, 3, 0, 3)
    """
    rows = _same_rows(evaluations)
    if rows is None:
        return None
    right = [correct_rows(p) for p in rows]
    counts = [int(mask.sum()) for mask in right]
    order = sorted(range(len(names)), key=lambda place: -counts[place])
    kept = [place for place in order if counts[place] >= FAR_BEHIND * counts[order[0]]]
    if len(kept) < 2:
        return None
    masks = np.array([right[place] for place in kept])
    every, some = masks.all(axis=0), masks.any(axis=0)
    single = rows[0].y_true.ndim == 1
    voted = _majority([rows[place] for place in kept]) if len(kept) > 2 and single else None
    return Agreement(
        runs=tuple(names[place] for place in kept),
        rows=masks.shape[1],
        right=tuple(counts[place] for place in kept),
        all_right=int(every.sum()),
        some_right=int((some & ~every).sum()),
        none_right=int((~some).sum()),
        majority=voted,
    )


def _same_rows(evaluations: Sequence[Evaluation]) -> list[Predictions] | None:
    """The predictions of all runs in the order of the first; None where one lacks rows or predictions."""
    first = evaluations[0]
    if first.predictions is None or first.predictions.y_pred is None:
        return None
    rows = [first.predictions]
    for ev in evaluations[1:]:
        matched = pair(first, ev)
        other = matched.baseline
        if other is None or other.y_pred is None or len(other) != len(first.predictions):
            return None
        rows.append(other)
    return rows


def _majority(runs: Sequence[Predictions]) -> int:
    """Rows for which the most frequent label is the true one; the first run decides ties."""
    votes = [np.array(_texts(p)) for p in runs]
    code_of = {name: code for code, name in enumerate(np.unique(np.concatenate(votes)).tolist())}
    coded = np.array([[code_of[name] for name in vote.tolist()] for vote in votes])
    counts = np.zeros((len(code_of), coded.shape[1]))
    for place, vote in enumerate(coded):
        counts[vote, np.arange(vote.size)] += 1 if place else 1.5
    if "" in code_of:
        counts[code_of[""]] = 0
    names = np.array(list(code_of))
    first = runs[0]
    truth = np.array(first.space.names)[first.y_true.astype(int)]
    return int((names[counts.argmax(axis=0)] == truth).sum())


def _texts(p: Predictions) -> list[str]:
    """The predicted label of each row by name, "" for one that could not be parsed."""
    names = p.space.names
    assert p.y_pred is not None  # noqa: S101  asked by the caller
    return ["" if code == UNPARSED else names[int(code)] for code in p.y_pred.tolist()]
