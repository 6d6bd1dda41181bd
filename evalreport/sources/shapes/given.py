"""One column of scores beside predictions: P(positive), or the confidence of the answer that was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.errors import DataError
from evalreport.labels import Binary, LabelSpace
from evalreport.sources.request import Columns, listed
from evalreport.sources.shapes.naming import is_confidence
from evalreport.sources.shapes.roles import Part

Array = npt.NDArray[Any]


def usable(part: Part | None, space: LabelSpace, request: Columns) -> tuple[Part | None, str]:
    """Return the scores if they can rank these labels: one plain column cannot rank three.

    Raises
    ------
    DataError
        The column was named.
    """
    if part is None or part.labels or isinstance(space, Binary):
        return part, ""
    if request.score is None:
        return None, f"{part.shown} is one score column for {len(space)} labels and was not used"
    raise DataError(
        f"one score column cannot rank {len(space)} labels",
        where=f"column {part.shown!r}",
        fix="name one score column per label, as in --scores 'proba_*'",
    )


def of_positive(scores: Array, y_pred: Array | None, space: Binary, name: str) -> tuple[Array | None, str]:
    """Return P(positive), converted where the scores are those of the answer that was given.

    They are where none is below one half although both answers were given: as P(positive) they would
    contradict every answer of the negative label.

    Parameters
    ----------
    scores : float array of shape (n,)
        Taken for probabilities.
    y_pred : labels of shape (n,), or None

    Returns
    -------
    P(positive) of shape (n,), or None where the scores are of no use; and what is to be said

    Examples
    --------
    >>> p, note = of_positive(np.array([0.75, 0.5]), np.array([1, 0]), Binary(0, 1), "score")
    >>> p.tolist()
    [0.75, 0.5]
    >>> note[:46]
    'score is the confidence of the given answer, c'
    """
    if y_pred is None or not len(scores):
        return scores, ""
    positive = y_pred.astype(str) == str(space.positive)
    if positive.all() or not positive.any():
        return scores, ""
    if scores.min() >= 0.5 and scores.max() <= 1:
        given = f"{name} is the confidence of the given answer"
        note = f"{given}, converted to that of {space.positive}: s, or 1 - s where the other was answered"
        return np.where(positive, scores, 1 - scores), note
    if is_confidence(name) and scores[positive].mean() <= scores[~positive].mean():
        return None, f"{name} is the confidence of the given answer and was not used: some are below one half"
    return scores, ""


def in_label_order(
    part: Part, labels: Sequence[Any], values: Array, y_pred: Array | None, *, declared: bool
) -> tuple[Part, str]:
    """Name numbered score columns after the labels in their order, where the numbers are no labels.

    Labels that were declared give the order; else it is the sorted one, as scikit-learn and its kin write
    it, and only where most predictions confirm it.

    Raises
    ------
    DataError
        Lists of scores whose places are not the labels, and nothing that confirms which is which.
    """
    names = [str(label) for label in labels]
    places = tuple(str(place) for place in range(len(part.labels)))
    if part.labels != places or not set(names) - set(places):
        return part, ""
    fits = len(names) == len(places)
    if fits and not declared and y_pred is not None:
        best = np.asarray(names)[values.argmax(axis=1)]
        fits = bool((best == y_pred.astype(str)).mean() > 0.5)
    elif not declared:
        fits = False
    if fits:
        shown = f"{part.shown} are taken in the order of the labels: {listed(names)}"
        return replace(part, labels=tuple(names)), shown
    if not part.pattern.endswith("[*]") or not set(names) & set(places):
        return part, ""  # names of columns are taken at their word
    raise DataError(
        f"{part.shown} are numbered from 0 and the labels are {listed(names)}",
        where=part.shown,
        fix="pass the labels in the order of the columns with --labels, or leave the scores out: --no-scores",
    )
