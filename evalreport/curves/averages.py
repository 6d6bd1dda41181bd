"""ROC and precision-recall curves of many classes, each against all others, averaged in two ways.

Micro: all (row, class) decisions together. Macro: the mean of the classes' own curves, recall at each false
positive rate and precision at each recall, so that the areas under them are the macro averages of the
areas (Fawcett 2006, "vertical averaging"). Every point lies on the exact curve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
MOST = 1 << 16
"""Points of one class's curve at which the mean may bend: 32 times what is drawn."""


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
    pooled, tables = scores.pooled_merged(), scores.rankings.tables
    if not pooled.positives or not pooled.negatives:
        return dict.fromkeys(("roc_macro", "roc_micro", "pr_macro", "pr_micro"), Undefined("one class only"))
    micro = {"roc_micro": _roc_of(pooled), "pr_micro": _pr_of(pooled)}
    del pooled
    held = [(table.positives > 0, table.negatives > 0) for table in tables]
    both = [place for place, known in enumerate(held) if all(known)]
    some = [place for place, known in enumerate(held) if known[0]]
    return {
        "roc_macro": _roc(*_mean_roc(_Lines(tables, both, roc_line)))
        if both
        else Undefined("every class has no example, or all of them"),
        "pr_macro": _pr(*_mean_pr(_Lines(tables, some, pr_line))),
        **micro,
    }


@dataclass(frozen=True)
class _Lines:
    """Curves of some classes, each made again where it is gone along: together they would take too much."""

    tables: Sequence[ScoreTable]
    places: Sequence[int]
    line: Callable[[ScoreTable], Line]

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Line]:
        return (self.line(self.tables[place]) for place in self.places)


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


def _mean_roc(lines: _Lines) -> Line:
    """Mean recall at each false positive rate, before and after the steps that the classes take there."""
    at = _breaks(lines)
    both = _mean(lines, lambda x, y: np.stack([np.interp(-at, -x[::-1], y[::-1]), np.interp(at, x, y)]))
    both[0, 0] = 0.0  # nothing is flagged
    return np.repeat(at, 2), both.T.ravel()


def _mean_pr(lines: _Lines) -> Line:
    """Mean precision at each recall; of a class, that of the step which reaches it."""
    at = _breaks(lines)
    at = at[at > 0]
    return at, _mean(lines, lambda x, y: _step(x, y, at))


def _step(x: Array, y: Array, at: Array) -> Array:
    if not len(x):
        return np.zeros(len(at))
    # recalls are quotients of sums: two that differ by rounding are one step
    reached: Array = y[np.searchsorted(x, at - 1e-12).clip(0, len(x) - 1)]
    return reached


def _mean(lines: _Lines, at: Callable[[Array, Array], Array]) -> Array:
    total = sum(at(x, y) for x, y in lines)
    mean: Array = np.asarray(total) / len(lines)
    return mean


def _breaks(lines: _Lines) -> Array:
    """Where any of the curves bends; of very many places enough to draw them."""
    parts = [x if len(x) <= MOST else x[along(x.__getitem__, len(x), MOST)] for x, _ in lines]
    found = np.unique(np.concatenate([[0.0, 1.0], *parts]))
    evenly = np.linspace(0, len(found) - 1, min(len(found), CANDIDATES)).astype(np.intp)
    return found[np.union1d(along(found.__getitem__, len(found), CANDIDATES), evenly)]


def _roc_of(table: ScoreTable) -> Curve:
    tp, fp = table.path
    return _roc_along(lambda at: (fp[at] / table.negatives, tp[at] / table.positives), len(table) + 1)


def _roc(x: Array, y: Array) -> Curve:
    return _roc_along(lambda at: (x[at], y[at]), len(x))


def _roc_along(line: Callable[[Places], Line], size: int) -> Curve:
    """The curve through some of a line's points, of which only those are made that are looked at."""
    x, y = line(along(lambda at: np.add(*line(at)), size, CANDIDATES))
    kept = bends(x, y, NONE, POINTS)
    return Curve(numbers(x[kept]), numbers(y[kept]))


def _pr_of(table: ScoreTable) -> Curve:
    """Of a table in which a positive stands at each odd place."""
    path = table.path

    def line(at: Places) -> Line:
        tp, fp = (part[2 * at + 2] for part in path)
        return tp / table.positives, tp / (tp + fp)

    return _pr_along(line, len(table) // 2)


def _pr(x: Array, y: Array) -> Curve:
    return _pr_along(lambda at: (x[at], y[at]), len(x))


def _pr_along(line: Callable[[Places], Line], size: int) -> Curve:
    """As `_roc_along`, from recall 0 on."""

    def from_nothing(at: Places) -> Line:
        x, y = line(np.maximum(at - 1, 0))
        return np.where(at > 0, x, 0.0), y

    x, y = from_nothing(along(lambda at: from_nothing(at)[0], size + 1, CANDIDATES))
    kept = stairs(x, y, POINTS)
    return Curve(numbers(x[kept]), numbers(y[kept]), None, steps=True)
