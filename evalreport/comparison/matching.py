"""Two binary runs where they decide alike: own thresholds, equal recall, equal alarms, the lowest cost.

Compared at 0.5 and 0.5 two models differ mostly by how they are calibrated. So the baseline stays where it
decides, and the other run moves to where it finds as many positives, or raises as many alarms; at a stated
cost both stand where that is lowest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from evalreport.comparison.alarms import (
    ROUNDING,
    Tables,
    alarm_list,
    alarm_numbers,
    at_alarms,
    found_at,
    gaps_found,
    raising,
)
from evalreport.comparison.cheapest import Bools, cheapest, cost_of, rechosen, scores_of, spread_of
from evalreport.comparison.differences import paired_difference
from evalreport.comparison.equal_recall import at_recall, limits_at_recall, step_share
from evalreport.comparison.judging import verdict_of
from evalreport.comparison.matched_values import (
    AlarmList,
    MatchedCount,
    MatchedPoint,
    MatchKind,
    MatchVerdict,
)
from evalreport.comparison.samples import PairedSamples, RunReplicates
from evalreport.facts import ScoreTable
from evalreport.intervals.inversion import StudentCurve
from evalreport.intervals.units import Units
from evalreport.labels import Binary
from evalreport.metrics.catalogue import find
from evalreport.scores import NoScores
from evalreport.thresholds.objectives import Costs
from evalreport.thresholds.tuned import units_of

RESAMPLES = 400
"""Resamples of rows behind the standard errors: 400 know one to 3.5% (1 / sqrt(2 * 400))."""
MOST_ROWS = 200_000
"""Rows up to which matching is repeated in resamples, which takes about a second for each pair of runs;
beyond, the counts stand without an interval, which would be a few thousandths of them."""


def fewest_moved(level: float) -> int:
    """Return from how many rows on that two runs decide differently these can be a significant difference.

    With fewer not even all of them on one side would: McNemar's mid-p is then 1 / 2^m. The spread of so few
    rows over resamples is no guide: it calls four of four a difference.

    Examples
    --------
    >>> fewest_moved(0.95), fewest_moved(0.9)
    (5, 4)
    """
    return math.ceil(-math.log2(1 - level))


Cells = tuple[float, float]
"""True and false positives."""


@dataclass(frozen=True)
class MatchedRuns:
    """Two binary runs at matched points, and over numbers of alarms."""

    points: tuple[MatchedPoint, ...]
    alarms: AlarmList


@dataclass(frozen=True)
class _OperatingPoint:
    """A threshold of the moving run, with the counts of both there and the rows of each class."""

    threshold: float
    tp: tuple[float, float]
    fp: tuple[float, float]
    totals: tuple[float, float]

    def cost(self, costs: Costs) -> tuple[float, float]:
        """What 1,000 rows cost."""
        run, base = (cost_of(costs, cells, self.totals) for cells in zip(self.tp, self.fp, strict=True))
        return run, base


def matched_runs(
    samples: PairedSamples, names: tuple[str, str], costs: Costs | None = None
) -> MatchedRuns | None:
    """Return both runs at each matched point and over alarms; None where one has no scores or threshold.

    Parameters
    ----------
    samples : PairedSamples
        Of a binary problem; rows are counted by their weight.
    names : (str, str)
        Run and baseline.
    costs : Costs, optional
        What outcomes cost; each point then has its cost, and there is one of lowest cost.

    Returns
    -------
    MatchedRuns or None
        Standard errors are those over resamples of rows (or of whole clusters) in each of which the run is
        matched anew, so that they include that the matching threshold was found on the same rows. At equal
        recall the limits are those of `limits_at_recall`; at the lowest cost the error is that of what rows
        cost, which is cross-fitted (Bayle et al. 2020).

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
        return None
    if not isinstance(tables[0], ScoreTable) or not isinstance(tables[1], ScoreTable):
        return None
    at, both = (ends[0], ends[1]), (tables[0], tables[1])
    repeated = list(_resampled(samples)) if len(run) <= MOST_ROWS else []
    kinds = _kinds(_decided(both[0], at[0]), _decided(both[1], at[1]), both[1].positives)
    points = [_matched(kind, at, both, repeated, samples, names, costs) for kind in kinds]
    lowest = None if costs is None else _lowest_cost(both, repeated, samples, names, costs)
    found = points if lowest is None else [*points, lowest]
    return MatchedRuns(tuple(found), _alarms(at, both, repeated, samples, names))


def _kinds(run: Cells, baseline: Cells, positives: float) -> list[MatchKind]:
    """Points at which both runs flag something.

    A baseline that finds none or all of the positives has no recall to match: one that finds all does so at
    any lower threshold, too.
    """
    kinds: list[MatchKind] = []
    if sum(run) > ROUNDING or sum(baseline) > ROUNDING:
        kinds.append("own_thresholds")
    if ROUNDING < baseline[0] < positives - ROUNDING:
        kinds.append("equal_recall")
    if sum(baseline) > ROUNDING:
        kinds.append("equal_alarms")
    return kinds


def _resampled(samples: PairedSamples) -> Iterator[Tables]:
    sampling = replace(samples.sampling, resamples=min(RESAMPLES, samples.sampling.resamples))
    units = Units.of(samples.run.predictions, sampling, leave_out=False)
    both = [RunReplicates(side, units).tables for side in (samples.run, samples.baseline)]
    yield from zip(*both, strict=True)


def _matched(
    kind: MatchKind,
    own: tuple[float, float],
    tables: Tables,
    repeated: list[Tables],
    samples: PairedSamples,
    names: tuple[str, str],
    costs: Costs | None,
) -> MatchedPoint:
    count = _Counter(samples)
    if kind == "equal_recall":
        return _at_equal_recall(own[1], tables, count, names, costs)
    point = _point(kind, own, tables)
    again = [_point(kind, own, pair) for pair in repeated]
    tp_moved, fp_moved = count.moved((point.threshold, own[1]))
    if kind == "own_thresholds":
        found = count.of_rate("recall", point.tp, point.totals[0], tp_moved)
        alarms = count.of_rate("fpr", point.fp, point.totals[1], fp_moved)
    else:
        found = count.of(point.tp, [p.tp for p in again], tp_moved, more_is_better=True)
        alarms = count.of(point.fp, [p.fp for p in again], fp_moved, more_is_better=False)
    cost = None
    if costs is not None:
        every = [p.cost(costs) for p in again]
        cost = count.of(point.cost(costs), every, tp_moved + fp_moved, more_is_better=False)
    flagged = sum(_decided(tables[0], point.threshold))
    between = kind == "equal_alarms" and flagged > point.tp[0] + point.fp[0] + ROUNDING
    return MatchedPoint(*names, kind, (point.threshold, own[1]), found, alarms, cost, between)


def _at_equal_recall(
    own: float,
    tables: Tables,
    count: _Counter,
    names: tuple[str, str],
    costs: Costs | None,
) -> MatchedPoint:
    """Both where they find as many, so that false alarms alone are what differs, and what they cost."""
    point, samples = _point("equal_recall", (own, own), tables), count.samples
    gap, moved = point.fp[0] - point.fp[1], count.moved((point.threshold, own))[1]
    few = len(samples) <= MOST_ROWS
    ends = limits_at_recall(samples, own, samples.sampling.level) if few else (gap, gap)
    ends = min(ends[0], gap), max(ends[1], gap)  # they are of the middle of each step, the gap need not be
    alarms = count.judged(point.fp, ends, moved, more_is_better=False)
    cost = None
    if costs is not None:
        each = 1000 * (costs.fp - costs.tn) / sum(point.totals)
        low, high = sorted(each * end for end in ends)
        cost = count.judged(point.cost(costs), (low, high), moved, more_is_better=False)
    found = MatchedCount(point.tp, 0.0, verdict="equal_by_design")
    between = _decided(tables[0], point.threshold)[0] > point.tp[0] + ROUNDING
    return MatchedPoint(*names, "equal_recall", (point.threshold, own), found, alarms, cost, between)


def _point(kind: MatchKind, own: tuple[float, float], tables: Tables) -> _OperatingPoint:
    """Move the run to the baseline's recall, or to its number of alarms; the baseline stays."""
    run, baseline = tables
    stays = int(np.searchsorted(baseline.scores, own[1]))
    tp, fp = _counts(baseline, stays)
    match kind:
        case "equal_recall":
            raised, place = at_recall(run, tp, step_share(baseline, stays))
            mine = tp, raised
        case "equal_alarms":
            wanted = np.array([tp + fp])
            (found,), (raised_there,) = at_alarms(run, wanted)
            mine = float(found), float(raised_there)
            place = int(raising(run, wanted)[0])
            # within a tie the threshold is that which flags all of it
            place -= sum(_counts(run, place)) < sum(mine) - ROUNDING
        case _:
            place = int(np.searchsorted(run.scores, own[0]))
            mine = _counts(run, place)
    threshold = float(run.scores[place]) if place < len(run) else float(np.nextafter(run.scores[-1], np.inf))
    threshold = own[0] if kind == "own_thresholds" else threshold
    return _OperatingPoint(threshold, (mine[0], tp), (mine[1], fp), (baseline.positives, baseline.negatives))


def _decided(table: ScoreTable, threshold: float) -> tuple[float, float]:
    """True and false alarms at a threshold."""
    return _counts(table, int(np.searchsorted(table.scores, threshold)))


def _counts(table: ScoreTable, place: int) -> tuple[float, float]:
    """True and false alarms at the threshold in a place of the table; none beyond its end."""
    tp, fp = found_at(table, np.array([place]))
    return float(tp[0]), float(fp[0])


@dataclass(frozen=True)
class _Counter:
    """What is counted of both, with the interval of its difference and the verdict."""

    samples: PairedSamples

    def moved(self, thresholds: tuple[float, float]) -> tuple[int, int]:
        """Return how many positives and negatives, or groups of these, two thresholds decide differently."""
        sides = (self.samples.run.predictions, self.samples.baseline.predictions)
        run, base = (scores_of(p) >= at for p, at in zip(sides, thresholds, strict=True))
        return self.units(run != base)

    def units(self, differ: Bools) -> tuple[int, int]:
        """Return of how many independent positives and negatives rows that differ are."""
        p = self.samples.run.predictions
        positive, unit = p.y_true.astype(bool), units_of(p)
        found, alarms = (len(np.unique(unit[differ & side])) for side in (positive, ~positive))
        return found, alarms

    def of_rate(self, metric: str, values: tuple[float, float], rows: float, moved: int) -> MatchedCount:
        """Return a count at both runs' own thresholds, with the interval and verdict of its rate."""
        record = find(metric, "binary")
        rate = paired_difference(record, self.samples, ("run", "baseline")).difference
        gap = values[0] - values[1]
        if rate.low is None or rate.high is None or rate.low == rate.high:
            return MatchedCount(values, gap)
        verdict: MatchVerdict = verdict_of(rate.low, rate.high, record.better)
        if verdict == "not_demonstrated" and moved < fewest_moved(self.samples.sampling.level):
            verdict = "too_few_to_say"
        return MatchedCount(values, gap, rows * rate.low, rows * rate.high, verdict)

    def of(
        self,
        values: tuple[float, float],
        again: list[tuple[float, float]],
        moved: int,
        *,
        more_is_better: bool,
    ) -> MatchedCount:
        """Return a count with the spread of its difference over resamples."""
        spread = float(np.std([a - b for a, b in again])) if len(again) > 1 else 0.0
        free = float(max(len(self.samples) - 1, 1))
        return self.known(values, spread, free, moved, more_is_better=more_is_better)

    def known(
        self, values: tuple[float, float], spread: float, free: float, moved: int, *, more_is_better: bool
    ) -> MatchedCount:
        """Return a count whose difference has a standard error and its degrees of freedom."""
        ends = StudentCurve(values[0] - values[1], spread, free).limits(self.samples.sampling.level)
        return self.judged(values, ends, moved, more_is_better=more_is_better)

    def judged(
        self, values: tuple[float, float], ends: tuple[float, float], moved: int, *, more_is_better: bool
    ) -> MatchedCount:
        """Return a count whose difference has limits; without any where these are one number."""
        gap, (low, high) = values[0] - values[1], ends
        if low == high:
            return MatchedCount(values, gap)
        excludes = low > 0 or high < 0
        if moved < fewest_moved(self.samples.sampling.level):
            few = MatchedCount(values, gap, low, high, "too_few_to_say")
            return replace(few, low=None, high=None) if excludes else few  # no interval may say otherwise
        verdict: MatchVerdict = "not_demonstrated"
        if excludes:
            verdict = "better" if (low > 0) == more_is_better else "worse"
        return MatchedCount(values, gap, low, high, verdict)


def _alarms(
    own: tuple[float, float],
    tables: Tables,
    repeated: list[Tables],
    samples: PairedSamples,
    names: tuple[str, str],
) -> AlarmList:
    raised = [sum(_counts(t, int(np.searchsorted(t.scores, at)))) for t, at in zip(tables, own, strict=True)]
    rows = tables[0].positives + tables[0].negatives
    _, marked = alarm_numbers(rows, (raised[0], raised[1]))
    again = np.array([gaps_found(pair, marked / rows) for pair in repeated])
    found = [at_alarms(table, marked)[0] for table in tables]
    reached = [np.append(t.scores, np.inf)[raising(t, marked)].tolist() for t in tables]
    count, free = _Counter(samples), float(max(len(samples) - 1, 1))
    spread = again.std(axis=0) if len(again) > 1 else np.zeros(len(marked))
    counted = {
        alarms: count.known((float(a), float(b)), float(s), free, count.moved((*at,))[0], more_is_better=True)
        for alarms, a, b, s, *at in zip(marked.tolist(), *found, spread, *reached, strict=True)
    }
    return alarm_list(names, tables, (raised[0], raised[1]), counted)


def _lowest_cost(
    tables: Tables,
    repeated: list[Tables],
    samples: PairedSamples,
    names: tuple[str, str],
    costs: Costs,
) -> MatchedPoint | None:
    """Both runs where their cost is lowest, each row decided by thresholds that it took no part in.

    The error is that of the rows and that of the choice: without the second 22 of 210 pairs of equal runs
    were called different, with it 12 (n = 200 and 400, prevalence 0.3 and 0.1).
    """
    chosen = cheapest(samples, costs)
    if chosen is None:
        return None
    run, base, thresholds = chosen
    p = samples.run.predictions
    positive, count = p.y_true.astype(bool), _Counter(samples)
    again = rechosen(tables, repeated, costs) if repeated else (np.zeros((1, 2)),) * 2

    tp_moved, fp_moved = count.units(run != base)

    def both(per: tuple[float, float], moved_rows: int, *, more_is_better: bool) -> MatchedCount:
        """What flagged rows add up to, a positive and a negative with its own amount."""
        each = np.where(positive, *per)
        spread, free = spread_of(p, each * (run - base))
        drawn = sum(amount * (cells[:, 0] - cells[:, 1]) for amount, cells in zip(per, again, strict=True))
        values = [float(p.weights @ (each * side)) for side in (run, base)]
        error = float(np.hypot(spread, np.std(drawn)))
        return count.known((values[0], values[1]), error, free, moved_rows, more_is_better=more_is_better)

    total = float(p.weights.sum())
    found = both((1.0, 0.0), tp_moved, more_is_better=True)
    alarms = both((0.0, 1.0), fp_moved, more_is_better=False)
    per = (1000 * (costs.tp - costs.fn) / total, 1000 * (costs.fp - costs.tn) / total)
    gap = both(per, tp_moved + fp_moved, more_is_better=False)
    totals = (float(p.weights[positive].sum()), float(p.weights[~positive].sum()))
    values = [cost_of(costs, cells, totals) for cells in zip(found.values, alarms.values, strict=True)]
    cost = replace(gap, values=(values[0], values[1]))
    return MatchedPoint(*names, "lowest_cost", thresholds, found, alarms, cost)
