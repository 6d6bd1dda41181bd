"""ROC and precision-recall curves of many classes, each against all others, averaged in two ways.

Micro: all (row, class) decisions together. Macro: the mean of the classes' own curves, recall at each false
positive rate and precision at each recall, so that the areas under them are the macro averages of the
areas (Fawcett 2006, "vertical averaging"). Every point lies on the exact curve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from evalreport.curves.series import POINTS, Curve, numbers
from evalreport.curves.thin import CANDIDATES, along, bends, stairs
from evalreport.facts import LabelScores, ScoreTable
from evalreport.facts.counts import Array, Places
from evalreport.values import Undefined

Line: TypeAlias = tuple[Array, Array]
"""The two coordinates of the points of a curve, from nothing flagged to all flagged."""
NONE = np.empty(0, dtype=np.intp)


def averaged(scores: LabelScores) -> Mapping[str, Curve | Undefined]:
    """Return ``roc_macro``, ``roc_micro``, ``pr_macro`` and ``pr_micro``.

    A class without examples, or to which every row belongs, has no ROC curve, and one without examples no
    precision: the macro curves are over the others, as `roc_auc_ovr_macro` and `average_precision_macro` are.

    Parameters
    ----------
    scores : LabelScores

    Examples
    --------
    >>> from evalreport.facts import ClassScores
    >>> found = averaged(ClassScores(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), None))
    >>> found["roc_macro"].y
    (0.0, 1.0, 1.0)
    """
    tables = scores.rankings.tables
    pooled = scores.pooled_areas[2]
    if not pooled.positives or not pooled.negatives:
        return dict.fromkeys(("roc_macro", "roc_micro", "pr_macro", "pr_micro"), Undefined("one class only"))
    both = [table for table in tables if table.positives > 0 and table.negatives > 0]
    some = [table for table in tables if table.positives > 0]
    return {
        "roc_macro": _roc(*_mean_roc([roc_line(table) for table in both]))
        if both
        else Undefined("every class has no example, or all of them"),
        "roc_micro": _roc(*roc_line(pooled)),
        "pr_macro": _pr(*_mean_pr([pr_line(table) for table in some])),
        "pr_micro": _pr(*pr_line(pooled)),
    }


def roc_line(table: ScoreTable) -> Line:
    """Return false positive rate and recall of each point of a ROC curve.

    Examples
    --------
    >>> roc_line(ScoreTable.of(np.array([0.1, 0.4, 0.8]), np.array([False, False, True])))
    (array([0. , 0. , 0.5, 1. ]), array([0., 1., 1., 1.]))
    """
    fp, tp = np.append(0.0, table.fp[::-1]), np.append(0.0, table.tp[::-1])
    return fp / max(table.negatives, 1e-300), tp / max(table.positives, 1e-300)


def pr_line(table: ScoreTable) -> Line:
    """Return recall and precision at the score of each positive, recall ascending.

    Examples
    --------
    >>> pr_line(ScoreTable.of(np.array([0.1, 0.4, 0.8]), np.array([True, False, True])))
    (array([0.5, 1. ]), array([1.        , 0.66666667]))
    """
    here = table.pos[::-1] > 0
    tp, fp = table.tp[::-1][here], table.fp[::-1][here]
    return tp / max(table.positives, 1e-300), tp / (tp + fp)


def _mean_roc(lines: Sequence[Line]) -> Line:
    """Mean recall at each false positive rate, before and after the steps that the classes take there."""
    at = _breaks([x for x, _ in lines])
    before = _mean(lines, lambda x, y: np.interp(-at, -x[::-1], y[::-1]))
    after = _mean(lines, lambda x, y: np.interp(at, x, y))
    before[0] = 0.0  # nothing is flagged
    return np.repeat(at, 2), np.column_stack([before, after]).ravel()


def _mean_pr(lines: Sequence[Line]) -> Line:
    """Mean precision at each recall; of a class, that of the step which reaches it."""
    at = _breaks([x for x, _ in lines])
    at = at[at > 0]
    return at, _mean(lines, lambda x, y: _step(x, y, at))


def _step(x: Array, y: Array, at: Array) -> Array:
    if not len(x):
        return np.zeros(len(at))
    # recalls are quotients of sums: two that differ by rounding are one step
    reached: Array = y[np.searchsorted(x, at - 1e-12).clip(0, len(x) - 1)]
    return reached


def _mean(lines: Sequence[Line], at: Callable[[Array, Array], Array]) -> Array:
    total = sum(at(x, y) for x, y in lines)
    mean: Array = np.asarray(total) / len(lines)
    return mean


def _breaks(parts: Sequence[Array]) -> Array:
    """Where any of the curves bends; of very many places enough to draw them."""
    found = np.unique(np.concatenate([[0.0, 1.0], *parts]))
    evenly = np.linspace(0, len(found) - 1, min(len(found), CANDIDATES)).astype(np.intp)
    return found[np.union1d(_along(found), evenly)]


def _along(length: Array) -> Places:
    return along(length.__getitem__, len(length), CANDIDATES)


def _roc(x: Array, y: Array) -> Curve:
    places = _along(x + y)
    kept = places[bends(x[places], y[places], NONE, POINTS)]
    return Curve(numbers(x[kept]), numbers(y[kept]))


def _pr(x: Array, y: Array) -> Curve:
    x, y = np.append(0.0, x), np.append(y[0], y)
    places = _along(x)
    kept = places[stairs(x[places], y[places], POINTS)]
    return Curve(numbers(x[kept]), numbers(y[kept]), None, steps=True)
