"""Two runs in one label space: the union of their labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.errors import UsageError
from evalreport.labels import UNPARSED, Binary, Label, LabelSpace, Multiclass, Multilabel
from evalreport.predictions import Predictions
from evalreport.scores import Decisions, KnownScores, NoScores


def union_space(a: LabelSpace, b: LabelSpace) -> LabelSpace:
    """Return the label space of both runs: the first's labels, then what the second adds.

    Raises
    ------
    UsageError
        Different tasks, or binary problems with other labels or another positive.

    Examples
    --------
    >>> union_space(Multiclass(["a", "b"]), Multiclass(["b", "c"])).labels
    ('a', 'b', 'c')
    """
    if a == b:
        return a
    if a.task != b.task:
        raise UsageError(
            f"a {a.task} run cannot be compared with a {b.task} run",
            fix="declare the task of both with --task, if one was inferred wrongly",
        )
    known = set(a.names)
    labels: list[Label] = [*a.labels, *(label for label in b.labels if str(label) not in known)]
    match a, b:
        case Multiclass(), Multiclass():
            return Multiclass(labels, ordered=a.ordered and a.labels == b.labels)
        case Multilabel(), _:
            return Multilabel(labels)
        case _:
            raise UsageError(
                f"the binary runs differ in their labels: {' / '.join(a.names)} and {' / '.join(b.names)}",
                where="negative / positive",
                fix="name the same --positive label for both",
            )


def recoded(p: Predictions, space: LabelSpace) -> Predictions:
    """Return predictions in the codes of a wider label space; an unknown label has the lowest score.

    Examples
    --------
    >>> from evalreport.predictions import predictions
    >>> p = predictions(Multiclass(["b", "c"]), ["b", "c"], ["b", "b"])
    >>> recoded(p, Multiclass(["a", "b", "c"])).y_true
    array([1, 2], dtype=int32)
    """
    if p.space == space or isinstance(space, Binary):
        return p
    place = np.array([space.code_of[name] for name in p.space.texts], dtype=np.int32)
    return replace(
        p,
        space=space,
        y_true=_moved(p.y_true, place, len(space)),
        y_pred=None if p.y_pred is None else _moved(p.y_pred, place, len(space)),
        scores=_widened(p.scores, place, len(space)),
    )


def _widened(scores: KnownScores, place: npt.NDArray[np.int32], size: int) -> KnownScores:
    if isinstance(scores, NoScores):
        return scores
    lowest = scores.values.min(initial=0) - 1 if isinstance(scores, Decisions) else 0
    wide = np.full((len(scores.values), size), lowest, dtype=scores.values.dtype)
    wide[:, place] = scores.values
    return replace(scores, values=wide)


def _moved(codes: npt.NDArray[Any], place: npt.NDArray[np.int32], size: int) -> npt.NDArray[Any]:
    if codes.ndim == 2:
        wide = np.zeros((len(codes), size), dtype=bool)
        wide[:, place] = codes
        return wide
    return np.where(codes == UNPARSED, UNPARSED, place[codes]).astype(np.int32)
