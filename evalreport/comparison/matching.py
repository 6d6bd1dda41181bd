"""Two binary runs at matched operating points: their own thresholds, equal recall, equal numbers of alarms.

Compared at 0.5 and 0.5 two models differ mostly by how they are calibrated. So the baseline stays where it
decides, and the other run moves to where it finds as many positives, or raises as many alarms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from evalreport.comparison.resampling import RunReplicates
from evalreport.comparison.samples import PairedSamples
from evalreport.comparison.values import MatchedCount, MatchedPoint, MatchKind, MatchVerdict
from evalreport.facts import ScoreTable
from evalreport.intervals.inversion import StudentCurve
from evalreport.intervals.units import Units
from evalreport.labels import Binary
from evalreport.scores import NoScores

RESAMPLES = 400
"""Resamples of rows behind the standard errors: 400 know one to 3.5 % (1 / sqrt(2 * 400))."""
MOST_ROWS = 200_000
"""Rows up to which matching is repeated in resamples, which takes about a second for each pair of runs;
beyond, the counts stand without an interval, which would be a few thousandths of them."""
ROUNDING = 1e-9
"""Sums of weights that differ by less are equal."""
KINDS: tuple[MatchKind, ...] = ("own_thresholds", "equal_recall", "equal_alarms")


@dataclass(frozen=True)
class _OperatingPoint:
    """A threshold of the moving run, with the counts of both there."""

    threshold: float
    tp: tuple[float, float]
    fp: tuple[float, float]


def matched_points(samples: PairedSamples, names: tuple[str, str]) -> tuple[MatchedPoint, ...]:
    """Return both runs at each matched point; nothing where one has no scores or no threshold.

    Parameters
    ----------
    samples : PairedSamples
        Of a binary problem; rows are counted by their weight.
    names : (str, str)
        Run and baseline.

    Returns
    -------
    tuple of MatchedPoint
        Standard errors are those over resamples of rows (or of whole clusters) in each of which the run is
        matched anew, so that they include that the matching threshold was found on the same rows.

    References
    ----------
    Efron & Tibshirani 1993, chapters 6 and 8.
    """
    run, baseline = samples.run.predictions, samples.baseline.predictions
    own = [side.facts.threshold for side in (samples.run, samples.baseline)]
    ends = [None if t is None or isinstance(t.value, tuple) else float(t.value) for t in own]
    tables = [side.facts.scores for side in (samples.run, samples.baseline)]
    scored = not isinstance(run.scores, NoScores) and not isinstance(baseline.scores, NoScores)
    if not isinstance(run.space, Binary) or not scored or ends[0] is None or ends[1] is None:
        return ()
    if not isinstance(tables[0], ScoreTable) or not isinstance(tables[1], ScoreTable):
        return ()
    at = (ends[0], ends[1])
    repeated = list(_resampled(samples)) if len(run) <= MOST_ROWS else []
    return tuple(_matched(kind, at, (tables[0], tables[1]), repeated, samples, names) for kind in KINDS)


def _resampled(samples: PairedSamples) -> Iterator[tuple[ScoreTable, ScoreTable]]:
    sampling = replace(samples.sampling, resamples=min(RESAMPLES, samples.sampling.resamples))
    units = Units.of(samples.run.predictions, sampling, leave_out=False)
    both = [RunReplicates(side, units).tables for side in (samples.run, samples.baseline)]
    yield from zip(*both, strict=True)


def _matched(
    kind: MatchKind,
    own: tuple[float, float],
    tables: tuple[ScoreTable, ScoreTable],
    repeated: list[tuple[ScoreTable, ScoreTable]],
    samples: PairedSamples,
    names: tuple[str, str],
) -> MatchedPoint:
    point = _point(kind, own, tables)
    again = [_point(kind, own, pair) for pair in repeated]
    level = samples.sampling.level
    free = float(max(len(samples) - 1, 1))
    found = _count(point.tp, [p.tp for p in again], free, level, more_is_better=True)
    alarms = _count(point.fp, [p.fp for p in again], free, level, more_is_better=False)
    if kind == "equal_recall":
        found = replace(found, low=None, high=None, verdict="equal_by_design")
    return MatchedPoint(*names, kind, (point.threshold, own[1]), found, alarms)


def _point(
    kind: MatchKind, own: tuple[float, float], tables: tuple[ScoreTable, ScoreTable]
) -> _OperatingPoint:
    """Move the run to the baseline's recall, or to its number of alarms; the baseline stays."""
    run, baseline = tables
    tp, fp = _counts(baseline, int(np.searchsorted(baseline.scores, own[1])))
    match kind:
        case "own_thresholds":
            place = int(np.searchsorted(run.scores, own[0]))
            return _OperatingPoint(
                own[0], _both(_counts(run, place)[0], tp), _both(_counts(run, place)[1], fp)
            )
        case "equal_recall":
            # The baseline stands anywhere between two positives; the middle of that step favours nobody (its
            # upper end spares the run half a step of false alarms: five of 37 in a test of equal rankings).
            last = max(int((run.tp >= tp - ROUNDING).sum()) - 1, 0)
            first = int((run.tp > run.tp[last] + ROUNDING).sum())
            place = (first + last + 1) // 2
        case "equal_alarms":
            # The lowest threshold that raises no more; above all scores where even the top tie raises more.
            place = int((run.tp + run.fp > tp + fp + ROUNDING).sum())
    mine = _counts(run, place)
    threshold = float(run.scores[place]) if place < len(run) else float(np.nextafter(run.scores[-1], np.inf))
    return _OperatingPoint(threshold, _both(mine[0], tp), _both(mine[1], fp))


def _both(run: float, baseline: float) -> tuple[float, float]:
    return run, baseline


def _counts(table: ScoreTable, place: int) -> tuple[float, float]:
    """True and false alarms at the threshold in a place of the table; none beyond its end."""
    return (float(table.tp[place]), float(table.fp[place])) if place < len(table) else (0.0, 0.0)


def _count(
    values: tuple[float, float],
    again: list[tuple[float, float]],
    free: float,
    level: float,
    *,
    more_is_better: bool,
) -> MatchedCount:
    gap = values[0] - values[1]
    spread = float(np.std([a - b for a, b in again])) if len(again) > 1 else 0.0
    if spread == 0:
        return MatchedCount(values, gap)
    low, high = StudentCurve(gap, spread, free).limits(level)
    verdict: MatchVerdict = "not_demonstrated"
    if low > 0 or high < 0:
        verdict = "better" if (low > 0) == more_is_better else "worse"
    return MatchedCount(values, gap, low, high, verdict)
