"""Label by label: state, counts, metrics with intervals, and what each label is mistaken for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

import numpy as np

from evalreport.evaluation.parts import ClassResult, Confusion, State
from evalreport.facts import BinaryCounts, Counts, Summary
from evalreport.facts.classes import RankedScores
from evalreport.labels import Binary, Multilabel
from evalreport.metrics.record import one_vs_rest
from evalreport.thresholds.optimum import Optimum
from evalreport.thresholds.sweep import Sweep
from evalreport.values import Result

TOP_CONFUSIONS = 3
"""Labels that a class is most often taken for: a cell of the table holds no more."""


def state(support: float, predicted: float) -> State:
    """Return the state of a label from its weight in truth and in predictions.

    Examples
    --------
    >>> state(0, 3), state(5, 0), state(0, 0), state(5, 1)
    ('spurious', 'never_predicted', 'absent', 'ok')
    """
    if support == 0:
        return "spurious" if predicted > 0 else "absent"
    return "ok" if predicted > 0 else "never_predicted"


def class_results(summary: Summary, values: Iterable[Mapping[str, Result]]) -> tuple[ClassResult, ...]:
    """Return one result per label, in the order of the labels; none for a binary problem.

    Parameters
    ----------
    summary : Summary
    values : one mapping of metric values per label
        Taken one at a time, so that each label's table of scores is made once.
    """
    counts = one_vs_rest(summary)
    if counts is None or isinstance(summary.space, Binary):
        return ()
    confusions = top_confusions(summary)
    support, predicted, right = counts.positives, counts.tp + counts.fp, counts.tp
    return tuple(
        ClassResult(
            label=label,
            state=state(support[code], predicted[code]),
            support=float(support[code]),
            predicted=float(predicted[code]),
            right=float(right[code]),
            metrics=found,
            confusions=confusions[code],
            threshold=_threshold(summary, counts, code),
            best=_best(summary, code),
        )
        for code, (label, found) in enumerate(zip(summary.space.shown, values, strict=True))
    )


def _best(summary: Summary, code: int) -> tuple[float, float] | None:
    if not isinstance(summary.space, Multilabel) or not isinstance(summary.scores, RankedScores):
        return None
    best = Sweep.of(summary.scores.table(code)).best("f1")
    return (best.threshold, best.apparent) if isinstance(best, Optimum) and best.threshold < inf else None


def top_confusions(summary: Summary) -> list[tuple[Confusion, ...]]:
    """Return, for each label, the other labels that its examples were most often given."""
    counts = summary.counts
    if not isinstance(counts, Counts):
        return [() for _ in summary.space.labels]
    support = counts.marginals.support
    labels = (*summary.space.shown, None)
    found: list[list[Confusion]] = [[] for _ in summary.space.labels]
    for cell in counts.mix_ups:
        row, weight = int(counts.rows[cell]), float(counts.weight[cell])
        if len(found[row]) < TOP_CONFUSIONS:
            found[row].append(Confusion(labels[int(counts.columns[cell])], weight, weight / support[row]))
    return [tuple(entry) for entry in found]


def _threshold(summary: Summary, counts: BinaryCounts, code: int) -> float | None:
    if not isinstance(summary.space, Multilabel) or summary.threshold is None:
        return None
    return float(np.asarray(counts.threshold)[code])
