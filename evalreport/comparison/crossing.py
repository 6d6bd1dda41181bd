"""Where the ROC curves of two runs cross: which of them finds more depends on how many alarms are allowed."""

from __future__ import annotations

import numpy as np

from evalreport.comparison.matched_values import RocCrossing
from evalreport.comparison.samples import PairedSamples
from evalreport.facts import ScoreTable
from evalreport.facts.counts import Array
from evalreport.intervals.quantiles import normal_quantile

SURE = normal_quantile(0.999)
"""Standard errors by which a run is ahead: among all places of two equal curves fewer are so by chance."""


def roc_crossings(samples: PairedSamples, names: tuple[str, str]) -> tuple[RocCrossing, ...]:
    """Return where the ROC curves cross, the strictest first.

    A run counts as ahead only where it finds more by a margin that two independent recalls there would
    seldom have by chance; what lies between two such stretches of one run is no crossing.

    Parameters
    ----------
    samples : PairedSamples
        Of a binary problem; nothing where one has no scores, or one class alone occurs.
    names : (str, str)
        Run and baseline.
    """
    tables = [
        side.facts.scores
        for side in (samples.run, samples.baseline)
        if isinstance(side.facts.scores, ScoreTable)
    ]
    if len(tables) < 2:
        return ()
    positives, negatives = tables[0].positives, tables[0].negatives
    if not positives or not negatives:
        return ()
    fpr = np.union1d(*(table.path[1] / negatives for table in tables))
    recall = [_recall(table, fpr) for table in tables]
    apart, middle = recall[0] - recall[1], (recall[0] + recall[1]) / 2
    rows = len(samples) * positives / (positives + negatives)
    middle_of_few = (middle * rows + 1) / (rows + 2)  # at a recall of 1 there is noise, too (Agresti & Coull)
    margin = SURE * np.sqrt(2 * middle_of_few * (1 - middle_of_few) / rows)
    ahead = np.where(np.abs(apart) > np.maximum(margin, 1 / rows), np.sign(apart), 0.0)
    places = np.flatnonzero(ahead)
    turns = np.flatnonzero(np.diff(ahead[places]))
    found = []
    for left, right in zip(places[turns], places[turns + 1], strict=True):
        at = left + int(np.argmin(np.abs(apart[left : right + 1])))
        first, then = names if ahead[left] > 0 else names[::-1]
        found.append(RocCrossing(*names, float(fpr[at]), float(middle[at]), first, then))
    return tuple(found)


def _recall(table: ScoreTable, fpr: Array) -> Array:
    """Recall of the ROC curve at false positive rates, the highest where it rises straight up."""
    tp, fp = table.path
    last = np.append(fp[1:] > fp[:-1], True)
    recall: Array = np.interp(fpr, fp[last] / table.negatives, tp[last] / table.positives)
    return recall
