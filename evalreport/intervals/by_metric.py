"""The interval of each binary metric, by the family that its record names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from evalreport.intervals.bootstrap import count_bounds
from evalreport.intervals.calibration import gap_limits, smooth_gap_limits, too_little
from evalreport.intervals.curve_points import CROSSINGS, RocDraws, crossing_generator, ks_limits
from evalreport.intervals.distributions import t_quantile
from evalreport.intervals.proportions import wilson
from evalreport.intervals.roc_auc import auc_limits, separated_limit
from evalreport.intervals.settings import ALL_EQUAL, FEWEST, Limits, Sampling, no_limits
from evalreport.intervals.standard_errors import (
    area_limits,
    freedom,
    influence,
    promised_error,
    standard_error,
    transformed_scale_limits,
)
from evalreport.intervals.tables import Tables
from evalreport.metrics.probability_functions import equal_mass, equal_width, mass_cuts
from evalreport.metrics.record import (
    BestThreshold,
    CalibrationGaps,
    CountDraws,
    CurvePoint,
    DeLong,
    Metric,
    Proportion,
    SmoothGaps,
    view,
)
from evalreport.statistics.confusion import Array, BinaryCounts, sums
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary


def sum_calibration_bins(gaps: CalibrationGaps, table: ScoreTable) -> tuple[Array, Array, Array]:
    """Return rows, summed probability and positives of each bin.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.25, 0.75]), np.array([False, True]))
    >>> [part[:4].tolist() for part in sum_calibration_bins(CalibrationGaps("width"), table)]
    [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.25], [0.0, 0.0, 0.0, 0.0]]
    """
    return equal_width(table) if gaps.bins == "width" else equal_mass(table)


def count_limits(metrics: Sequence[Metric], counts: BinaryCounts, sampling: Sampling) -> dict[str, Limits]:
    """Return the limits of functions of the counts of one operating point.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> count_limits([find("f1", "binary")], BinaryCounts(40, 10, 10, 40), Sampling())["f1"].method
    'dirichlet'
    """
    return {
        name: Limits(float(low), float(high), "dirichlet", float(error))
        for name, (low, high, error) in count_bounds(metrics, counts, sampling).items()
    }


def proportion_limits(share: float, trials: float, sampling: Sampling) -> Limits:
    """Return Wilson's limits of a proportion.

    Examples
    --------
    >>> limits = proportion_limits(1.0, 10, Sampling())
    >>> round(limits.low, 3), limits.high, limits.method
    (0.722, 1.0, 'wilson')
    """
    low, high = wilson(share * trials, trials, sampling.level)
    return Limits(float(low), float(high), "wilson", math.sqrt(max(0.0, share * (1 - share)) / trials))


def table_limits(metric: Metric, value: float, tables: Tables, sampling: Sampling) -> Limits:
    """Return the limits of a function of the score table.

    Parameters
    ----------
    metric : Metric
        A function of the score table.
    value : float
        Its value.
    tables : Tables
        Of the score table.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> table = ScoreTable.from_scores(
    ...     np.array([0.1, 0.4, 0.35, 0.8, 0.9, 0.3]), np.array([0, 0, 1, 1, 1, 0], bool)
    ... )
    >>> limits = table_limits(find("average_precision", "binary"), 0.917, Tables(table), Sampling())
    >>> limits.method, bool(limits.low < 0.917 < limits.high)
    ('influence', True)
    """
    table = tables.exact
    few = min(table.positives, table.negatives) < FEWEST
    match metric.strategy:
        case DeLong():
            limits = rescale_auc_limits(metric, delong_limits(tables, sampling))
        case strategy if strategy.family == "ranking" and few:
            limits = no_limits("an interval needs two positives and two negatives")
        case BestThreshold():
            limits = Limits(*ks_limits(table, sampling), "newcombe")
        case CalibrationGaps() as gaps:
            limits = _gap_limits(gaps, value, tables, sampling)
        case SmoothGaps():
            limits = _smooth_limits(value, table, sampling)
        case CurvePoint() as point:
            limits = _crossing_limits(point, tables, sampling)
        case _:
            limits = _influence_limits(metric, value, tables, sampling)
    return limits


def delong_limits(tables: Tables, sampling: Sampling) -> Limits:
    """Return the limits of ROC AUC with DeLong's standard error.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]))
    >>> delong_limits(Tables(table), Sampling()).high
    1.0
    """
    table = tables.exact.coarse
    if min(table.positives, table.negatives) < FEWEST:
        return no_limits("an interval of the AUC needs two positives and two negatives")
    if len(table) == 1:
        return no_limits(ALL_EQUAL)
    auc, variance, df = tables.delong
    sizes = (table.positives, table.negatives)
    df = min(df, min(sizes) - 1)
    if variance == 0 and auc in (0.0, 1.0):
        limit = separated_limit(*sizes, sampling.level)
        return Limits(*((limit, 1.0) if auc else (0.0, 1 - limit)), "exact under separation", 0.0)
    low, high = auc_limits(auc, variance, sizes, df, sampling.level)
    return Limits(float(low), float(high), "delong", math.sqrt(variance))


def rescale_auc_limits(metric: Metric, limits: Limits) -> Limits:
    """Return limits of the AUC on the range of a metric that is linear in it (gini: -1 to 1)."""
    if limits.reason is not None:
        return limits
    wide = metric.high - metric.low
    error = None if limits.standard_error is None else wide * limits.standard_error
    return Limits(metric.low + wide * limits.low, metric.low + wide * limits.high, limits.method, error)


def _gap_limits(gaps: CalibrationGaps, value: float, tables: Tables, sampling: Sampling) -> Limits:
    table = tables.exact
    doubt = _doubt(table.coarse) if gaps.bins == "mass" else None
    ends = gap_limits(sum_calibration_bins(gaps, table), value, sampling, doubt=doubt)
    return Limits(*ends, "test inversion")


def _doubt(table: ScoreTable) -> Array:
    """Variance of the outcomes of each bin of equal mass, whose probabilities may lie far apart."""
    place = np.zeros(len(table), dtype=np.int64)
    cuts = mass_cuts(table)
    np.add.at(place, [cut for cut in cuts if cut < len(table)], 1)
    variance = (table.pos + table.neg) * table.scores * (1 - table.scores)
    return sums(np.cumsum(place), variance, len(cuts) + 1)


def _smooth_limits(value: float, table: ScoreTable, sampling: Sampling) -> Limits:
    reason = too_little(table.smooth, min(table.positives, table.negatives))
    if table.smooth is None or reason is not None:
        return no_limits(reason or "")
    return Limits(*smooth_gap_limits(value, table.smooth, sampling), "test inversion")


def _crossing_limits(point: CurvePoint, tables: Tables, sampling: Sampling) -> Limits:
    crossing = CROSSINGS[point.reading]
    tp, fp = tables.coarse_curve if crossing.smooth else tables.curve
    curve = RocDraws(tp, fp, sampling.resamples, crossing_generator(point, sampling))
    drawn = crossing.drawn(curve, point.at)
    ends = curve.limits(drawn, sampling.upper)
    return Limits(*ends, "bayesian bootstrap at the crossing", float(drawn.values.std()))


def _influence_limits(metric: Metric, value: float, tables: Tables, sampling: Sampling) -> Limits:
    table = tables.exact.coarse
    found = influence(metric, table)
    n, smaller = table.positives + table.negatives, min(table.positives, table.negatives)
    error, df = standard_error(table, found), freedom(found, table)
    if error == 0 and not (math.isfinite(metric.low) and math.isfinite(metric.high)):
        return no_limits("all rows have the same value")
    if metric.better == "one" and math.isfinite(metric.low):  # a ratio: right probabilities make it 1
        error, df = promised_error(table, found, error, df, moderated=True)
    ranking = metric.interval == "ranking"
    events = smaller if ranking else n
    quantile = t_quantile(sampling.upper, max(min(df, events - 1), 1))
    if ranking:
        ends = area_limits(metric, value, error, quantile, events, sampling.level)
        return Limits(*ends, "influence", error)
    low, high = transformed_scale_limits(metric, value, error, quantile, events)
    if metric.needs == "probabilities" and metric.better in ("lower", "higher"):
        lent, more = promised_error(table, found, error, df)
        far = t_quantile(sampling.upper, more) * lent
        low, high = (
            (low, max(high, value + far)) if metric.better == "lower" else (min(low, value - far), high)
        )
    return Limits(low, high, "influence", error)


def binary_limits(
    metrics: Sequence[Metric], values: Mapping[str, float], summary: Summary, sampling: Sampling
) -> dict[str, Limits]:
    """Return the limits of binary metrics that estimate something.

    Parameters
    ----------
    metrics : sequence of Metric
        Binary records with a value.
    values : mapping from their names to their values
    summary : Summary
    """
    counts = [metric for metric in metrics if isinstance(metric.strategy, CountDraws)]
    limits = count_limits(counts, view(summary, "counts"), sampling) if counts else {}
    tables = Tables(view(summary, "scores"))
    for metric in metrics:
        if isinstance(metric.strategy, Proportion):
            limits[metric.name] = proportion_limits(values[metric.name], metric.weight(summary), sampling)
        elif metric.reads == "scores":
            limits[metric.name] = table_limits(metric, values[metric.name], tables, sampling)
    return limits
