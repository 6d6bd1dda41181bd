"""Curves of problems with several labels: confidence of the answer, labels pooled, one threshold for all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evalreport.curves.averages import averaged
from evalreport.curves.binary import NO_PROBABILITIES, precision_recall
from evalreport.curves.bins import histogram, reliability
from evalreport.curves.series import (
    POINTS,
    Cardinality,
    Curve,
    Histogram,
    Numbers,
    Reliability,
    Series,
    numbers,
)
from evalreport.curves.thin import CANDIDATES, along, stairs
from evalreport.facts import Counts, LabelScores, ScoreTable, Summary
from evalreport.facts.classes import RankedScores
from evalreport.facts.counts import Array, Places, reached
from evalreport.facts.sets import ratio
from evalreport.values import Undefined

EVEN = 101
"""Thresholds spread evenly over the scores, and as many over the ranks of the scores."""


@dataclass(frozen=True)
class LabelSweep(Series):
    """What one threshold for all labels reaches.

    Parameters
    ----------
    threshold : tuple of float
        Ascending; a label is added when ``score >= threshold``.
    found, added : tuple of float
        Weight of labels added that belong, and of all labels added.
    f1_macro : tuple of float
        Mean over labels of F1, a label that neither occurs nor is added counting 0.
    exact : tuple of float
        Weight of rows of which every label is right.

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
    """Return thresholds worth a look: evenly spread, evenly over the ranks, and the best micro F1.

    Parameters
    ----------
    table : ScoreTable
        All decisions together.
    unit : bool
        Whether scores are probabilities, spread over [0, 1].

    Examples
    --------
    >>> table = ScoreTable.of(np.array([0.1, 0.4, 0.8]), np.array([False, True, True]))
    >>> 0.4 in thresholds(table, unit=True)
    True
    """
    if not len(table):
        return np.empty(0)
    ends = (0.0, 1.0) if unit else (float(table.scores[0]), float(table.scores[-1]))

    def passed(place: Places) -> Array:
        flagged: Array = table.tp[place] + table.fp[place]
        return -flagged

    most, least = passed(np.array([0, len(table) - 1]))
    ranks = reached(passed, len(table), np.linspace(most, least, EVEN))
    best = table.scores[[_best(table)]]
    # rounded, so that 0.30000000000000004 of the grid and the score 0.3 are one threshold
    return np.unique(np.concatenate([np.linspace(*ends, EVEN).round(12), table.scores[ranks], best]))


def _best(table: ScoreTable) -> int:
    """The first place of the greatest F1."""
    best, highest = 0, -1.0
    for b in table.blocks():
        half = table.tp[b] / (table.tp[b] + table.fp[b] + table.positives)
        place = int(half.argmax())
        if half[place] > highest:
            best, highest = b.start + place, float(half[place])
    return best


def label_sweep(scores: RankedScores, at: Array) -> LabelSweep:
    """Return counts, macro F1 and rows that are wholly right at each threshold.

    Parameters
    ----------
    scores : RankedScores
        Of a multilabel problem.
    at : float64 array
        Thresholds, ascending.

    Examples
    --------
    >>> from evalreport.facts import ClassScores
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
    """Curves of the confidence of the answer (the greatest probability of a row), and of the classes.

    Parameters
    ----------
    coverage : Curve
        Share of rows answered, the most confident first, against accuracy among them, in steps.
    reliability : Reliability
        Confidence against accuracy in ten bins of equal width.
    histogram : Histogram
        Confidence of right (`positive`) and wrong (`negative`) answers.
    roc_macro, roc_micro : Curve
        False positive rate against recall, each class against all others: the mean of the classes' curves,
        and all decisions together.
    pr_macro, pr_micro : Curve
        Recall against precision, in steps, averaged likewise.
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
    """Curves over all (row, label) decisions together.

    Parameters
    ----------
    pr : Curve
        Micro-averaged recall against precision, in steps.
    reliability : Reliability
        Probability against observed share, all labels pooled, in ten bins of equal width.
    histogram : Histogram
        Probabilities of labels that the row carries (`positive`) and does not carry.
    cardinality : Cardinality
        Number of labels per row, in truth and in the predictions.
    sweep : LabelSweep
        What one threshold for all labels reaches, threshold by threshold.
    """

    pr: Curve | Undefined
    reliability: Reliability | Undefined
    histogram: Histogram | Undefined
    cardinality: Cardinality | Undefined
    sweep: LabelSweep | Undefined


def coverage(table: ScoreTable) -> Curve:
    """Return accuracy against the share of rows answered.

    Parameters
    ----------
    table : ScoreTable
        Confidence of each answer, positive where the answer was right.

    Examples
    --------
    >>> table = ScoreTable.of(np.array([0.9, 0.8, 0.6, 0.5]), np.array([True, True, False, True]))
    >>> curve = coverage(table)
    >>> curve.x, curve.y[-1]
    ((0.0, 0.25, 0.5, 0.75, 1.0), 0.75)
    """
    size, total = len(table), table.tp[0] + table.fp[0]

    def share(place: Places) -> Array:
        answered: Array = (table.tp[size - 1 - place] + table.fp[size - 1 - place]) / total
        return answered

    # the first answers again on a log scale: there a single one moves accuracy most
    places = np.union1d(along(share, size, CANDIDATES), np.geomspace(1, size, 512).astype(int) - 1)
    places = np.append(places[0], places)  # the first step begins at nothing answered
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
        return Undefined("needs scores; got labels alone", summary.weight)
    if table is None:
        margins = Undefined(NO_PROBABILITIES, summary.weight)
        return MulticlassCurves(margins, margins, margins, **averaged(scores))
    return MulticlassCurves(
        coverage=coverage(table),
        reliability=reliability(table, "width", rows=summary.rows, level=level),
        histogram=histogram(table, unit=True),
        **averaged(scores),
    )


def of_multilabel(summary: Summary, level: float = 0.95) -> MultilabelCurves | Undefined:
    """Return the curves of a multilabel summary, or why there are none."""
    scores = summary.scores
    if not isinstance(scores, RankedScores):
        return Undefined("needs scores; got labels alone", summary.weight)
    rows = float(summary.rows * scores.size)
    table, probabilities = scores.pooled(), summary.score_kind != "decision"
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
    if counts is None or counts.unparsed:
        return Undefined("needs predictions or a threshold; got decision scores alone")
    true, predicted = counts.marginals.support, counts.marginals.predicted
    last = int(np.flatnonzero(true + predicted)[-1]) + 1
    return Cardinality(numbers(np.arange(last)), numbers(true[:last]), numbers(predicted[:last]))
