"""Curves of several labels: averaged ROC and precision-recall curves, confidence, pooled labels.

Micro: all (row, class) decisions pooled. Macro: the mean of the classes' curves, of recall at each false
positive rate and of precision at each recall, so that the areas under them are the macro averages of the
areas (Fawcett 2006, "vertical averaging"). Every point is on the exact curve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evalreport.core.result import Undefined
from evalreport.curves.binary import NO_PROBABILITIES, precision_recall
from evalreport.curves.curve import (
    CANDIDATES,
    POINTS,
    Cardinality,
    Curve,
    Histogram,
    Numbers,
    Reliability,
    Series,
    bends,
    evenly_spaced_places,
    histogram,
    numbers,
    reliability,
    stairs,
)
from evalreport.statistics.class_scores import LabelScores, RankedScores
from evalreport.statistics.confusion import Array, Counts, Places, search_lazily
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary, ratio

Line: TypeAlias = tuple[Array, Array]
"""The two coordinates of the points of a curve, from nothing flagged to all flagged."""
NONE = np.empty(0, dtype=np.intp)
MOST = 1 << 16
"""Most points of one class's curve at which the mean may bend: 32 times the points considered for drawing."""


def average_curves(scores: LabelScores) -> Mapping[str, Curve | Undefined]:
    """Return ``roc_macro``, ``roc_micro``, ``pr_macro`` and ``pr_micro``.

    A class without examples, or with all rows, has no ROC curve, and a class without examples has no
    precision. The macro curves average the other classes, as `roc_auc_ovr_macro` and
    `average_precision_macro` do.

    Parameters
    ----------
    scores : LabelScores

    Examples
    --------
    >>> from evalreport.statistics.class_scores import ClassScores
    >>> found = average_curves(ClassScores(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), None))
    >>> found["roc_macro"].y
    (0.0, 1.0, 1.0)
    """
    pooled, tables = scores.pooled_merged_table(), scores.rankings.tables
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
    """Curves of some classes, computed on each iteration, because all together would need too much memory."""

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
    >>> roc_line(ScoreTable.from_scores(np.array([0.1, 0.4, 0.8]), np.array([False, False, True])))
    (array([0. , 0. , 0.5, 1. ]), array([0., 1., 1., 1.]))
    """
    fp, tp = np.append(0.0, table.fp[::-1]), np.append(0.0, table.tp[::-1])
    return fp / max(table.negatives, 1e-300), tp / max(table.positives, 1e-300)


def pr_line(table: ScoreTable) -> Line:
    """Return recall and precision at the score of each positive, recall ascending.

    Examples
    --------
    >>> pr_line(ScoreTable.from_scores(np.array([0.1, 0.4, 0.8]), np.array([True, False, True])))
    (array([0.5, 1. ]), array([1.        , 0.66666667]))
    """
    here = table.pos[::-1] > 0
    tp, fp = table.tp[::-1][here], table.fp[::-1][here]
    return tp / max(table.positives, 1e-300), tp / (tp + fp)


def _mean_roc(lines: _Lines) -> Line:
    """Mean recall at each false positive rate, before and after the steps of the classes there."""
    at = _breaks(lines)
    both = _mean(lines, lambda x, y: np.stack([np.interp(-at, -x[::-1], y[::-1]), np.interp(at, x, y)]))
    both[0, 0] = 0.0  # nothing is flagged
    return np.repeat(at, 2), both.T.ravel()


def _mean_pr(lines: _Lines) -> Line:
    """Mean precision at each recall; a class has the precision of the step that reaches it."""
    at = _breaks(lines)
    at = at[at > 0]
    return at, _mean(lines, lambda x, y: _step(x, y, at))


def _step(x: Array, y: Array, at: Array) -> Array:
    if not len(x):
        return np.zeros(len(at))
    # recalls are quotients of sums: values that differ only by rounding are one step
    reached: Array = y[np.searchsorted(x, at - 1e-12).clip(0, len(x) - 1)]
    return reached


def _mean(lines: _Lines, at: Callable[[Array, Array], Array]) -> Array:
    total = sum(at(x, y) for x, y in lines)
    mean: Array = np.asarray(total) / len(lines)
    return mean


def _breaks(lines: _Lines) -> Array:
    """Positions at which any of the curves bends; of very many, enough to draw the curves."""
    parts = [x if len(x) <= MOST else x[evenly_spaced_places(x.__getitem__, len(x), MOST)] for x, _ in lines]
    found = np.unique(np.concatenate([[0.0, 1.0], *parts]))
    evenly = np.linspace(0, len(found) - 1, min(len(found), CANDIDATES)).astype(np.intp)
    return found[np.union1d(evenly_spaced_places(found.__getitem__, len(found), CANDIDATES), evenly)]


def _roc_of(table: ScoreTable) -> Curve:
    tp, fp = table.path
    return _roc_along(lambda at: (fp[at] / table.negatives, tp[at] / table.positives), len(table) + 1)


def _roc(x: Array, y: Array) -> Curve:
    return _roc_along(lambda at: (x[at], y[at]), len(x))


def _roc_along(line: Callable[[Places], Line], size: int) -> Curve:
    """The curve through some points of a line; only the points that are read are computed."""
    x, y = line(evenly_spaced_places(lambda at: np.add(*line(at)), size, CANDIDATES))
    kept = bends(x, y, NONE, POINTS)
    return Curve(numbers(x[kept]), numbers(y[kept]))


def _pr_of(table: ScoreTable) -> Curve:
    """The curve of a table with a positive at each odd position."""
    path = table.path

    def line(at: Places) -> Line:
        tp, fp = (part[2 * at + 2] for part in path)
        return tp / table.positives, tp / (tp + fp)

    return _pr_along(line, len(table) // 2)


def _pr(x: Array, y: Array) -> Curve:
    return _pr_along(lambda at: (x[at], y[at]), len(x))


def _pr_along(line: Callable[[Places], Line], size: int) -> Curve:
    """As `_roc_along`, starting at recall 0."""

    def from_nothing(at: Places) -> Line:
        x, y = line(np.maximum(at - 1, 0))
        return np.where(at > 0, x, 0.0), y

    x, y = from_nothing(evenly_spaced_places(lambda at: from_nothing(at)[0], size + 1, CANDIDATES))
    kept = stairs(x, y, POINTS)
    return Curve(numbers(x[kept]), numbers(y[kept]), None, steps=True)


EVEN = 101
"""Evenly spaced thresholds on the scale of the scores, and as many on their ranks."""


@dataclass(frozen=True)
class LabelSweep(Series):
    """Counts and scores at each threshold that all labels share.

    Parameters
    ----------
    threshold : tuple of float
        Ascending; a label is predicted when ``score >= threshold``.
    found, added : tuple of float
        Weight of correctly predicted labels, and of all predicted labels.
    f1_macro : tuple of float
        Mean F1 over labels; a label that neither occurs nor is predicted counts 0.
    exact : tuple of float
        Weight of rows with all labels correct.

    Examples
    --------
    >>> sweep = LabelSweep((0.5,), (3.0,), (4.0,), (0.75,), (1.0,))
    >>> sweep.found[0] / sweep.added[0]
    0.75
    """

    threshold: Numbers
    found: Numbers
    added: Numbers
    f1_macro: Numbers
    exact: Numbers


def thresholds(table: ScoreTable, *, unit: bool) -> Array:
    """Return thresholds for a sweep: evenly spaced, evenly by rank, and that of the best micro F1.

    Parameters
    ----------
    table : ScoreTable
        All decisions pooled.
    unit : bool
        Whether scores are probabilities in [0, 1].

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.4, 0.8]), np.array([False, True, True]))
    >>> 0.4 in thresholds(table, unit=True)
    True
    """
    if not len(table):
        return np.empty(0)
    ends = (0.0, 1.0) if unit else (float(table.scores[0]), float(table.scores[-1]))

    def negated_flagged(place: Places) -> Array:
        flagged: Array = table.tp[place] + table.fp[place]
        return -flagged

    most, least = negated_flagged(np.array([0, len(table) - 1]))
    ranks = search_lazily(negated_flagged, len(table), np.linspace(most, least, EVEN))
    best = table.scores[[_best(table)]]
    # rounded, so that the grid's 0.30000000000000004 and the score 0.3 are one threshold
    return np.unique(np.concatenate([np.linspace(*ends, EVEN).round(12), table.scores[ranks], best]))


def _best(table: ScoreTable) -> int:
    """The first position with the greatest F1."""
    best, highest = 0, -1.0
    for b in table.blocks():
        half = table.tp[b] / (table.tp[b] + table.fp[b] + table.positives)
        place = int(half.argmax())
        if half[place] > highest:
            best, highest = b.start + place, float(half[place])
    return best


def label_sweep(scores: RankedScores, at: Array) -> LabelSweep:
    """Return counts, macro F1 and the weight of rows with all labels correct at each threshold.

    Parameters
    ----------
    scores : RankedScores
        Of a multilabel problem.
    at : float64 array
        Thresholds, ascending.

    Examples
    --------
    >>> from evalreport.statistics.class_scores import ClassScores
    >>> truth = np.array([[True, False], [False, True]])
    >>> scores = ClassScores(np.array([[0.9, 0.2], [0.3, 0.6]]), truth, None)
    >>> sweep = label_sweep(scores, np.array([0.0, 0.5, 1.0]))
    >>> sweep.found, sweep.added, sweep.exact
    ((2.0, 2.0, 0.0), (4.0, 2.0, 0.0), (0.0, 2.0, 0.0))
    """
    each = [scores.reaching(label, at) for label in range(scores.size)]
    tp, added, wanted = (np.stack(part) for part in zip(*each, strict=True))
    f1 = ratio(2 * tp, added + wanted[:, None])
    exact = scores.wholly_right(at)
    return LabelSweep(*map(numbers, (at, tp.sum(axis=0), added.sum(axis=0), f1.mean(axis=0), exact)))


@dataclass(frozen=True)
class MulticlassCurves:
    """Curves of the confidence of the prediction (the greatest probability of a row), and of the classes.

    Parameters
    ----------
    coverage : Curve
        Coverage, most confident rows first, against accuracy, in steps.
    reliability : Reliability
        Confidence against accuracy in ten bins of equal width.
    histogram : Histogram
        Confidence of correct (`positive`) and wrong (`negative`) predictions.
    roc_macro, roc_micro : Curve
        False positive rate against recall, one-vs-rest: mean of the classes' curves, and all decisions
        pooled.
    pr_macro, pr_micro : Curve
        Recall against precision, in steps, averaged in the same way.
    """

    coverage: Curve | Undefined
    reliability: Reliability | Undefined
    histogram: Histogram | Undefined
    roc_macro: Curve | Undefined
    roc_micro: Curve | Undefined
    pr_macro: Curve | Undefined
    pr_micro: Curve | Undefined


@dataclass(frozen=True)
class MultilabelCurves:
    """Curves over all (row, label) decisions pooled.

    Parameters
    ----------
    pr : Curve
        Micro-averaged recall against precision, in steps.
    reliability : Reliability
        Probability against observed rate, all labels pooled, in ten bins of equal width.
    histogram : Histogram
        Probabilities of the true labels of a row (`positive`) and of the others.
    cardinality : Cardinality
        Number of labels per row, true and predicted.
    sweep : LabelSweep
        Results at each threshold that all labels share.
    """

    pr: Curve | Undefined
    reliability: Reliability | Undefined
    histogram: Histogram | Undefined
    cardinality: Cardinality | Undefined
    sweep: LabelSweep | Undefined


def coverage(table: ScoreTable) -> Curve:
    """Return accuracy against coverage.

    Parameters
    ----------
    table : ScoreTable
        Confidence of each prediction, positive if it was correct.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.9, 0.8, 0.6, 0.5]), np.array([True, True, False, True]))
    >>> curve = coverage(table)
    >>> curve.x, curve.y[-1]
    ((0.0, 0.25, 0.5, 0.75, 1.0), 0.75)
    """
    size, total = len(table), table.tp[0] + table.fp[0]

    def share(place: Places) -> Array:
        answered: Array = (table.tp[size - 1 - place] + table.fp[size - 1 - place]) / total
        return answered

    # the first predictions also on a log scale: there a single one changes accuracy the most
    places = np.union1d(
        evenly_spaced_places(share, size, CANDIDATES), np.geomspace(1, size, 512).astype(int) - 1
    )
    places = np.append(places[0], places)  # the first step starts at coverage 0
    at = size - 1 - places
    x, accuracy, threshold = share(places), table.tp[at] / (table.tp[at] + table.fp[at]), table.scores[at]
    x[0], threshold[0] = 0.0, np.inf
    kept = stairs(x, accuracy, POINTS)
    y = accuracy[kept]
    y[0] = y[1]
    return Curve(numbers(x[kept]), numbers(y), numbers(threshold[kept]), steps=True)


def of_multiclass(summary: Summary, level: float = 0.95) -> MulticlassCurves | Undefined:
    """Return the curves of a multiclass summary, or why there are none."""
    scores, table = summary.scores, summary.confidence
    if not isinstance(scores, LabelScores):
        return Undefined("needs scores; got only labels", summary.weight)
    if table is None:
        margins = Undefined(NO_PROBABILITIES, summary.weight)
        return MulticlassCurves(margins, margins, margins, **average_curves(scores))
    return MulticlassCurves(
        coverage=coverage(table),
        reliability=reliability(table, "width", rows=summary.rows, level=level),
        histogram=histogram(table, unit=True),
        **average_curves(scores),
    )


def of_multilabel(summary: Summary, level: float = 0.95) -> MultilabelCurves | Undefined:
    """Return the curves of a multilabel summary, or why there are none."""
    scores = summary.scores
    if not isinstance(scores, RankedScores):
        return Undefined("needs scores; got only labels", summary.weight)
    rows = float(summary.rows * scores.size)
    table, probabilities = scores.pooled_table(), summary.score_kind != "decision"
    return MultilabelCurves(
        pr=precision_recall(table),
        reliability=reliability(table, "width", rows=rows, level=level)
        if probabilities
        else Undefined(NO_PROBABILITIES, table.total),
        histogram=histogram(table, unit=probabilities),
        cardinality=_cardinality(summary.cardinality),
        sweep=label_sweep(scores, thresholds(table, unit=probabilities)),
    )


def _cardinality(counts: Counts | None) -> Cardinality | Undefined:
    if counts is None or counts.unparsed_weight:
        return Undefined("needs predictions or a threshold; got only decision scores")
    true, predicted = counts.marginals.support, counts.marginals.predicted
    last = int(np.flatnonzero(true + predicted)[-1]) + 1
    return Cardinality(numbers(np.arange(last)), numbers(true[:last]), numbers(predicted[:last]))
