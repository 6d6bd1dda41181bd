"""Two binary runs at numbers of alarms: what each finds when neither may raise more."""

from __future__ import annotations

import numpy as np

from evalreport.comparison.matched_values import AlarmList, AlarmPlace, MatchedCount, RocCrossing
from evalreport.comparison.samples import PairedSamples
from evalreport.facts import ScoreTable
from evalreport.facts.counts import Array, Places
from evalreport.intervals.quantiles import normal_quantile

PLACES = 180
"""Numbers of alarms, evenly on a logarithmic scale: a slider's length in steps that a hand can tell apart;
fewer of few rows, whose alarms are whole."""
PER_THOUSAND = (5, 10, 20, 50, 100, 200, 500)
"""Alarms per 1,000 rows that have an interval, beside each run's own."""
ROUNDING = 1e-9
"""Sums of weights that differ by less are equal."""
Tables = tuple[ScoreTable, ScoreTable]


def alarm_numbers(rows: float, own: tuple[float | None, float | None]) -> tuple[Array, Array]:
    """Return all numbers of alarms, and those that have an interval.

    Examples
    --------
    >>> every, marked = alarm_numbers(2000.0, (73.0, None))
    >>> 100 < len(every) < 190, marked.tolist()
    (True, [10.0, 20.0, 40.0, 73.0, 100.0, 200.0, 400.0, 1000.0])
    """
    even = np.round(np.geomspace(max(rows / 1000, 1), rows, PLACES))
    named = np.round(np.array(PER_THOUSAND) * rows / 1000)
    marked = np.unique([*named[named >= 1], *(alarms for alarms in own if alarms)])
    return np.unique([*even, *marked]), marked


def raising(table: ScoreTable, alarms: Array) -> Places:
    """Return the place of the lowest threshold that raises no more than each number of alarms."""
    raised = table.tp + table.fp
    places: Places = len(raised) - np.searchsorted(raised[::-1], alarms + ROUNDING, side="right")
    return places


def found_at(table: ScoreTable, places: Places) -> tuple[Array, Array]:
    """Return true and false alarms at places; none beyond the last."""
    last = len(table.tp) - 1
    there, place = places <= last, np.minimum(places, last)
    return np.where(there, table.tp[place], 0.0), np.where(there, table.fp[place], 0.0)


def at_alarms(table: ScoreTable, alarms: Array) -> tuple[Array, Array]:
    """Return true and false positives where just so many rows are flagged.

    Within a tie they are on the straight line between the thresholds beside it: what flagging some of its
    rows by chance finds. The threshold that flags "no more" flags nothing where the top tie is larger.

    Examples
    --------
    >>> table = ScoreTable.of(np.array([1, 1, 2, 2, 2]), np.array([0, 0, 1, 1, 0]) == 1)
    >>> [part.round(2).tolist() for part in at_alarms(table, np.array([0.0, 1.0, 3.0, 4.0]))]
    [[0.0, 0.67, 2.0, 2.0], [0.0, 0.33, 1.0, 2.0]]
    """
    tp, fp = np.append(table.tp, 0.0)[::-1], np.append(table.fp, 0.0)[::-1]
    return np.interp(alarms, tp + fp, tp), np.interp(alarms, tp + fp, fp)


def gaps_found(pair: Tables, share: Array) -> Array:
    """Return how many more the first of two runs finds at shares of alarms."""
    run, baseline = (at_alarms(t, share * (t.positives + t.negatives))[0] for t in pair)
    gaps: Array = run - baseline
    return gaps


def alarm_list(
    names: tuple[str, str],
    tables: Tables,
    own: tuple[float | None, float | None],
    counted: dict[float, MatchedCount],
) -> AlarmList:
    """Return both runs at every number of alarms.

    Parameters
    ----------
    names : (str, str)
        Run and baseline, as all pairs here.
    own : (float or None, float or None)
        Alarms of each at its own threshold.
    counted : mapping from a number of alarms to MatchedCount
        What is found at those that have an interval.
    """
    rows, positives = tables[0].positives + tables[0].negatives, tables[0].positives
    every, _ = alarm_numbers(rows, own)
    places = [raising(table, every) for table in tables]
    scores = [
        np.append(t.scores.astype(np.float64), np.inf)[at] for t, at in zip(tables, places, strict=True)
    ]
    cells = [at_alarms(table, every) for table in tables]
    made = []
    for i, alarms in enumerate(every.tolist()):
        (tp, fp), (base_tp, base_fp) = ((float(tp[i]), float(fp[i])) for tp, fp in cells)
        found = counted.get(alarms, MatchedCount((tp, base_tp), tp - base_tp))
        made.append(AlarmPlace(alarms, (float(scores[0][i]), float(scores[1][i])), found, (fp, base_fp)))
    return AlarmList(*names, rows, positives, own, tuple(made))


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
