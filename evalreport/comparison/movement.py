"""Which answers changed between two runs on the same examples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalreport.comparison.values import Movement
from evalreport.predictions import Predictions

NAMED = 50
"""Ids of fixed and of broken examples that are kept."""


def right(p: Predictions) -> npt.NDArray[np.bool_]:
    """Return which answers are right, shape (n,); multilabel: every label of the row."""
    wrong = np.atleast_2d(np.asarray(p.y_true != p.y_pred).T)
    found: npt.NDArray[np.bool_] = np.asarray(~wrong.any(axis=0))
    return found


def movement(run: Predictions, baseline: Predictions, names: tuple[str, str]) -> Movement:
    """Return the examples that the run fixed and broke, by class and by slice."""
    now, before = right(run), right(baseline)
    fixed, broken = now & ~before, before & ~now
    return Movement(
        *names,
        fixed=int(fixed.sum()),
        broken=int(broken.sum()),
        both_wrong=int((~now & ~before).sum()),
        both_right=int((now & before).sum()),
        fixed_ids=_ids(run, fixed),
        broken_ids=_ids(run, broken),
        by_class=_by_class(run, fixed, broken),
        by_slice=_by_slice(run, fixed, broken),
    )


def _ids(p: Predictions, rows: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    found = np.flatnonzero(rows)[:NAMED]
    return tuple(str(row) if p.ids is None else str(p.ids[row]) for row in found)


def _by_class(
    p: Predictions, fixed: npt.NDArray[np.bool_], broken: npt.NDArray[np.bool_]
) -> dict[str, tuple[int, int]]:
    if p.y_true.ndim == 2:
        moves = [(rows[:, None] & p.y_true).sum(axis=0) for rows in (fixed, broken)]
    else:
        moves = [np.bincount(p.y_true[rows], minlength=len(p.space)) for rows in (fixed, broken)]
    pairs = zip(p.space.names, moves[0].tolist(), moves[1].tolist(), strict=True)
    return {name: (up, down) for name, up, down in pairs if up or down}


def _by_slice(
    p: Predictions, fixed: npt.NDArray[np.bool_], broken: npt.NDArray[np.bool_]
) -> dict[str, tuple[int, int]]:
    found = {}
    for name, column in p.slices.items():
        for code, value in enumerate(column.values):
            rows = column.codes == code
            found[f"{name} = {value}"] = (int((fixed & rows).sum()), int((broken & rows).sum()))
    return found
