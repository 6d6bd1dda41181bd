"""From a standard error to limits, on the scale where the estimate is nearest to normal."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evalreport.intervals.proportions import ROUNDING, score_limits
from evalreport.intervals.quantiles import normal_quantile, reaches_near_end
from evalreport.intervals.sampling import Limits, no_limits
from evalreport.metrics import Metric

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


def transformed(
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
    >>> [round(x, 3) for x in transformed(find("average_precision", "binary"), 0.9, 0.05, 2.0, 20)]
    [0.748, 0.965]
    >>> [round(x, 3) for x in transformed(find("log_loss", "binary"), 0.5, 0.1, 2.0, 20)]
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
