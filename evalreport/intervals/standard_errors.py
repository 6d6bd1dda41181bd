"""Standard errors from what each row does to a metric, and how well they are known.

From a standard error to limits, on the scale where the estimate is nearest to normal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evalreport.intervals.distributions import ROUNDING, normal_quantile, reaches_near_end, score_limits
from evalreport.intervals.interval_settings import Limits, no_limits
from evalreport.metrics.record import Influence, Metric
from evalreport.statistics.confusion import Array, inner
from evalreport.statistics.score_table import ScoreTable


def influence(metric: Metric, table: ScoreTable) -> Influence:
    """Return the influence of rows on a metric of the score table.

    Raises
    ------
    TypeError
        The record promises an interval from its derivative, and has none.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1], dtype=bool))
    >>> up, down = influence(find("roc_auc", "binary"), table)
    >>> bool(abs(table.pos @ up + table.neg @ down) < 1e-12)
    True
    """
    if metric.derivative is None:
        raise TypeError(f"the record of {metric.name} has no derivative to make an interval from")
    return metric.derivative(table)


def standard_error(table: ScoreTable, found: Influence) -> float:
    """Return the standard error that an influence gives, with n / (n - 1) for the mean.

    Examples
    --------
    >>> from evalreport.metrics.influence import brier
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1], dtype=bool))
    >>> round(standard_error(table, brier(table)), 4)
    0.0939
    """
    n = table.positives + table.negatives
    up, down = found
    return math.sqrt((inner(table.pos, up**2) + inner(table.neg, down**2)) / (n * max(n - 1, 1)))


def freedom(found: Influence, table: ScoreTable) -> float:
    """Return the degrees of freedom of a variance that an influence gives: see `tail_df`."""
    return tail_df(np.concatenate(found), np.concatenate([table.pos, table.neg]))


PROMISED = 5
"""Rows that the variance weighs which the probabilities themselves promise. With an AUC of 0.999 at n = 200
log loss covered 89% without it."""
MODERATED = 10
"""The same of a ratio that is 1 if the probabilities are right, of whose variance they tell all. With an AUC
of 0.999 at n = 200 the ratio was held in 98.6%, with five rows in 98.4, so in 97.7; of an overconfident
model of 200 rows in 95.4 to 97.4, as before."""


def promised_error(
    table: ScoreTable, found: Influence, error: float, df: float, *, moderated: bool = False
) -> tuple[float, float]:
    """Return a standard error and its degrees of freedom, lent from what the probabilities promise.

    Where classes hardly overlap a few rows make nearly all of a loss, and a sample without them looks as if
    there were none. If the probabilities were right, rows like these would come up as often as they say: the
    square of the influence that is expected then is a variance too. It counts as `PROMISED` rows beside those
    that make the variance here (half the degrees of freedom), and only where it is the greater.

    Parameters
    ----------
    table : ScoreTable
        Of probabilities.
    found : Influence
    error, df : float
        Of the sample alone.
    moderated : bool
        Whether it counts where it is the less, too, as `MODERATED` rows of two degrees of freedom each (Smyth
        2004).

    Examples
    --------
    >>> from evalreport.metrics.influence import brier
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1], dtype=bool))
    >>> [round(x, 3) for x in promised_error(table, brier(table), 0.01, 6.0)]
    [0.092, 11.0]
    """
    rows, p, (up, down) = table.pos + table.neg, table.scores, found
    n = float(rows.sum())
    promised = inner(rows, p * up**2 + (1 - p) * down**2) / (n * max(n - 1, 1))
    own = df / 2
    if moderated:
        variance = (own * error**2 + MODERATED * promised) / (own + MODERATED)
        return math.sqrt(variance), df + 2 * MODERATED
    if promised <= error**2:
        return error, df
    return math.sqrt((own * error**2 + PROMISED * promised) / (own + PROMISED)), df + PROMISED


def tail_df(influences: Array, weights: Array) -> float:
    """Return the degrees of freedom of a variance that is a mean of squares of influences.

    Satterthwaite's, from their kurtosis: about n for normal influences, and about twice the number of rows
    that matter where a few rows make nearly all of the variance, as near the end of a range. Normal
    limits of averages of AUCs near 1 covered 89 to 92%, these 94 to 96%.

    Parameters
    ----------
    influences, weights : float64 arrays of one shape
        Influences, and the number of rows that have each.

    Examples
    --------
    >>> round(tail_df(np.array([1.0, -1.0, 0.0]), np.array([5.0, 5.0, 990.0])))
    20
    """
    n, squares = float(weights.sum()), influences**2
    total = inner(weights, squares)
    spread = inner(weights, squares**2) - total**2 / n
    return 2 * total**2 / spread if spread > total**2 / n / n else n - 1


WIDEST = 100.0
"""Half-width on a log or logit scale from which the limits are the ends of the metric: e^710 is no float."""


@dataclass(frozen=True)
class Spread:
    """Standard error of an estimate, its bias, and how far its limits stand off.

    Parameters
    ----------
    error : float
    bias : float
    pull : float or None
        From the value less its bias to the middle of its limits; None: as far as score limits do.
    """

    error: float
    bias: float = 0.0
    pull: float | None = None


def spread_limits(
    metric: Metric,
    value: float,
    spread: Spread,
    quantile: float,
    events: float,
    method: str,
    ceiling: float = math.inf,
) -> Limits:
    """Return score limits of a bounded metric about its value less its bias.

    Parameters
    ----------
    metric : Metric
    value : float
    spread : Spread
    quantile : float
        Of the normal or of Student's t.
    events : float
        Rows, which widen an interval at an end of the range.
    method : str
    ceiling : float
        Upper end of the range where the record has none, such as the number of labels.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> f1 = find("f1_macro", "multiclass")
    >>> limits = spread_limits(f1, 0.5, Spread(0.06, -0.01), 1.96, 60, "drawn")
    >>> round(limits.low, 2), round(limits.high, 2)
    (0.39, 0.62)
    """
    if not math.isfinite(spread.error):
        return no_limits("too few draws have a value")
    if math.isinf(metric.high):
        # The truth may stand at the ceiling itself (even classes), which score limits only approach.
        centre, reach = value - spread.bias, quantile * spread.error
        return Limits(max(centre - reach, metric.low), min(centre + reach, ceiling), method, spread.error)
    bounds = (metric.low, metric.high)
    if spread.pull is not None:
        centre, reach = value - spread.bias + spread.pull, quantile * spread.error
        low, high = np.clip([centre - reach, centre + reach], *bounds)
        return Limits(float(low), float(high), method, spread.error)
    # At an end the mean of the draws is their noise: a hair inside it, their error would mean a single trial.
    at_end = min(value - metric.low, metric.high - value) < ROUNDING
    centre = value if at_end else float(np.clip(value - spread.bias, *bounds))
    low, high = score_limits(centre, spread.error, events, quantile, bounds)
    return Limits(float(low), float(high), method, spread.error)


def transformed_scale_limits(
    metric: Metric, value: float, error: float, quantile: float, events: float
) -> tuple[float, float]:
    """Return limits symmetric on the logit (range of two ends), the log (one end) or the plain scale.

    At an end of its range the value has no logit; the limits are then those of a proportion among
    `events`, which has the greatest variance of anything in the range.

    Parameters
    ----------
    metric : Metric
        Its `low` and `high` choose the scale.
    value, error : float
        Estimate and standard error.
    quantile : float
        Of the normal or of Student's t.
    events : float
        Rows of the smaller class, or rows.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> [
    ...     round(x, 3)
    ...     for x in transformed_scale_limits(find("average_precision", "binary"), 0.9, 0.05, 2.0, 20)
    ... ]
    [0.748, 0.965]
    >>> [round(x, 3) for x in transformed_scale_limits(find("log_loss", "binary"), 0.5, 0.1, 2.0, 20)]
    [0.335, 0.746]
    """
    low, high = metric.low, metric.high
    if math.isfinite(low) and math.isfinite(high):
        share = (value - low) / (high - low)
        if error == 0 or not 1e-12 < share < 1 - 1e-12:
            ends = score_limits(value, 0.0, events, quantile, (low, high))
            return float(ends[0]), float(ends[1])
        slope = (high - low) * share * (1 - share)
        half = min(quantile * error / slope, WIDEST)
        logit = math.log(share / (1 - share)) + half * np.array([-1, 1])
        first, last = low + (high - low) / (1 + np.exp(-logit))
        return float(first), float(last)
    if math.isfinite(low) and value > low:
        factor = math.exp(min(quantile * error / (value - low), WIDEST))
        return low + (value - low) / factor, low + (value - low) * factor
    if math.isfinite(high) and value < high:
        factor = math.exp(min(quantile * error / (high - value), WIDEST))
        return high - (high - value) * factor, high - (high - value) / factor
    return value - quantile * error, value + quantile * error


def area_limits(
    metric: Metric, value: float, error: float, quantile: float, events: float, level: float
) -> tuple[float, float]:
    """Return score limits of the area under a curve of one class.

    Symmetric on the logit they are longer than they need be, as those of a proportion are (Brown, Cai &
    DasGupta 2001): of labels of ten rows they held the truth in 98 to 99%. An area so near 1 that a ranking
    without a mistake is no rare sample of it is missed from below alone, and the upper limit is of tests
    that have the more of their error there: see `tails_near_end`.

    Parameters
    ----------
    metric : Metric
    value, error, quantile, events : float
        As of `transformed`.
    level : float
        Confidence level.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> area = find("average_precision", "binary")
    >>> [round(x, 3) for x in area_limits(area, 0.9, 0.05, 2.0, 20, 0.95)]
    [0.757, 0.961]
    >>> [round(x, 3) for x in area_limits(area, 0.99, 0.01, 2.0, 20, 0.95)]
    [0.944, 0.998]
    """
    low, high = map(float, score_limits(value, error, events, quantile, (metric.low, metric.high)))
    distance, reach = reaches_near_end(level)
    wide = metric.high - metric.low
    share, spread = (value - metric.low) / wide, error / wide
    inside = spread > 0 and ROUNDING < share < 1 - ROUNDING
    trials = share * (1 - share) / spread**2 if inside else events
    trials *= (normal_quantile((1 + level) / 2) / quantile) ** 2
    truths = trials / (trials + distance**2)
    least = truths - reach * np.sqrt(truths * (1 - truths) / trials)  # of the samples that are accepted
    if share > least[-1]:
        high = metric.low + wide * float(np.interp(share, least[::-1], truths[::-1]))
    return low, high
