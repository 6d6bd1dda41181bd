"""Two binary runs at the threshold of least cost of each, counted on rows that took no part in its choice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evalreport.comparison.alarms import Tables, found_at
from evalreport.comparison.samples import PairedSamples
from evalreport.facts import BinaryCounts, ScoreTable
from evalreport.facts.counts import Array
from evalreport.predictions import Predictions
from evalreport.resampling import unit_sums
from evalreport.scores import NoScores
from evalreport.thresholds.cross_fitting import FOLDS
from evalreport.thresholds.objectives import Costs, Objective
from evalreport.thresholds.optimum import Optimum
from evalreport.thresholds.sweep import Sweep
from evalreport.thresholds.tuned import dealt, units_of

REPEATS = 5
"""Times that rows are dealt into folds anew; once beyond `MANY` rows, where one deal is as good as five."""
MANY = 20_000
PER = 1000.0
"""Rows that a cost is told of."""
Bools = npt.NDArray[np.bool_]


def cost_of(costs: Costs, cells: tuple[float, float], totals: tuple[float, float]) -> float:
    """Return what 1,000 rows cost, from true and false alarms and from positives and negatives.

    Examples
    --------
    >>> cost_of(Costs(fn=10), (8.0, 5.0), (10.0, 90.0))
    250.0
    """
    (tp, fp), (positives, negatives) = cells, totals
    counts = BinaryCounts(tp, fp, positives - tp, negatives - fp)
    return PER * float(costs.mean(counts))


def cheapest(samples: PairedSamples, costs: Costs) -> tuple[Array, Array, tuple[float, float]] | None:
    """Return how often each row is flagged by run and by baseline, each at its cheapest threshold.

    Returns
    -------
    flagged : two float64 arrays of shape (n,)
        Shares of the deals in which the other nine folds' cheapest threshold flags the row: both runs are
        dealt alike.
    thresholds : (float, float)
        Cheapest on all rows.

    None where there are fewer units than folds, or a fold leaves one class alone.
    """
    sides = (samples.run.predictions, samples.baseline.predictions)
    unit, objective = units_of(sides[0]), Objective("cost", costs=costs)
    if len(np.unique(unit)) < FOLDS:
        return None
    flagged = [np.zeros(len(p)) for p in sides]
    repeats = REPEATS if len(unit) <= MANY else 1
    rng = samples.sampling.generator(8)
    for _ in range(repeats):
        fold = dealt(unit, FOLDS, rng)
        for k in range(FOLDS):
            for p, share in zip(sides, flagged, strict=True):
                at = _chosen(p, fold != k, objective)
                if at is None:
                    return None
                share[fold == k] += (scores_of(p)[fold == k] >= at) / repeats
    whole = [_chosen(p, np.ones(len(p), dtype=bool), objective) for p in sides]
    assert whole[0] is not None and whole[1] is not None  # noqa: S101  parts of them had one
    return flagged[0], flagged[1], (whole[0], whole[1])


def scores_of(p: Predictions) -> npt.NDArray[np.floating]:
    """Return the scores of predictions that have some."""
    assert not isinstance(p.scores, NoScores)  # noqa: S101  asked before
    return p.scores.values


def _chosen(p: Predictions, rows: Bools, objective: Objective) -> float | None:
    """The cheapest threshold of some rows; infinite where flagging none is."""
    weights = p.weights[rows] if p.weighted else None
    best = Sweep.of(ScoreTable.of(scores_of(p)[rows], p.y_true[rows].astype(bool), weights)).best(objective)
    return best.threshold if isinstance(best, Optimum) else None


def rechosen(tables: Tables, repeated: Sequence[Tables], costs: Costs) -> tuple[Array, Array]:
    """Return the true and false alarms on all rows of thresholds that were chosen anew in resamples.

    Returns
    -------
    tp, fp : float64 arrays of shape (resamples, 2)
        Run and baseline: how far a choice on other rows moves the counts.
    """
    cells = []
    for pair in repeated:
        for whole, again in zip(tables, pair, strict=True):
            spent = costs.fp * again.fp - costs.tn * again.fp + (costs.tp - costs.fn) * again.tp
            best = int(np.append(spent, 0.0).argmin())
            at = again.scores[best] if best < len(again) else np.inf
            cells.append(found_at(whole, np.searchsorted(whole.scores, [at])))
    tp, fp = np.array(cells).reshape(-1, 2, 2).transpose(2, 0, 1)
    return tp, fp


def spread_of(p: Predictions, values: Array) -> tuple[float, float]:
    """Return the standard error of a weighted sum over rows, and its degrees of freedom.

    Rows that belong together are one term.
    """
    unit = units_of(p)
    sums = unit_sums(unit, p.weights * values, int(unit.max()) + 1)
    sums = sums[np.unique(unit)]
    m = len(sums)
    return float(np.sqrt(m / (m - 1) * ((sums - sums.mean()) ** 2).sum())), float(m - 1)
