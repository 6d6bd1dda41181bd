"""The user's own metrics: values and bootstrap intervals, of one run and of a difference.

The interval is the expanded percentile interval (Hesterberg 2015, The American Statistician 69:371):
quantiles of the resamples at a level adjusted for the number of rows or groups as by Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evalreport.core.progress import report_progress
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.predictions import Predictions
from evalreport.intervals.bootstrap import resampled_rows
from evalreport.intervals.distributions import t_quantile, two_sided_p
from evalreport.intervals.interval_settings import FEWEST, NOT_ASKED, Sampling
from evalreport.intervals.paired import SampledError
from evalreport.metrics.own import NEEDS_ROWS, OwnRows
from evalreport.metrics.record import Metric
from evalreport.statistics.confusion import Array

TOO_FEW_VALUES = "fewer than half of the bootstrap resamples have a value"
ALL_THE_SAME = "every bootstrap resample has this value"


def own_value(name: str, p: Predictions) -> float | Undefined:
    """Return the value of an own metric of predictions, or why it has none."""
    if name not in p.own_metrics:
        return Undefined(NEEDS_ROWS, float(p.weights.sum()))
    return OwnRows(p).call(name, p.own_metrics[name])


def own_estimates(
    metrics: Sequence[Metric], p: Predictions | None, n: float, sampling: Sampling
) -> dict[str, Result]:
    """Return each own metric with its interval, or why it is undefined.

    Parameters
    ----------
    metrics : sequence of Metric
        Records of own metrics.
    p : Predictions or None
        The rows, with the functions; None if they are not in memory.
    n : float
        Weight of the rows.
    sampling : Sampling
    """
    if not metrics:
        return {}
    functions = {} if p is None else p.own_metrics
    found: dict[str, Result] = {m.name: Undefined(NEEDS_ROWS, n) for m in metrics if m.name not in functions}
    if p is None:
        return found
    rows, values = OwnRows(p), dict[str, float]()
    for name in (metric.name for metric in metrics if metric.name in functions):
        value = rows.call(name, functions[name])
        if isinstance(value, Undefined):
            found[name] = Undefined(value.reason, n)
        else:
            values[name] = value
    units = units_of(p)
    if not sampling.intervals or units < FEWEST:
        reason = NOT_ASKED if not sampling.intervals else "an interval needs at least 2 rows, or groups"
        return found | {name: Estimate(value, n, reason=reason) for name, value in values.items()}
    drawn = replicates(list(values), p, sampling) if values else {}
    return found | {
        name: _with_limits(value, drawn[name], n, units, sampling) for name, value in values.items()
    }


def units_of(p: Predictions) -> int:
    """Return the number of rows, or groups, that are resampled."""
    return len(p) if p.groups is None else len(np.unique(p.groups.codes))


def replicates(names: Sequence[str], p: Predictions, sampling: Sampling) -> dict[str, Array]:
    """Return the values of own metrics over the bootstrap resamples; NaN where one has no value."""
    rows = OwnRows(p)
    values: dict[str, list[float]] = {name: [] for name in names}
    for number, drawn in enumerate(resampled_rows(p, sampling)):
        report_progress("bootstrap resamples of your metrics", number, sampling.resamples)
        for name in names:
            values[name].append(rows.replicate(name, p.own_metrics[name], drawn))
    return {name: np.array(found) for name, found in values.items()}


def _with_limits(value: float, drawn: Array, n: float, units: int, sampling: Sampling) -> Estimate:
    known = drawn[np.isfinite(drawn)]
    if 2 * len(known) < len(drawn):
        return Estimate(value, n, reason=TOO_FEW_VALUES)
    if np.ptp(known) <= 1e-12 * max(1.0, abs(value)):
        return Estimate(value, n, reason=ALL_THE_SAME)
    tail = two_sided_p(math.sqrt(units / (units - 1)) * t_quantile(sampling.upper, units - 1)) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return Estimate(
        value, n, min(float(low), value), max(float(high), value), "bootstrap", float(known.std())
    )


def own_difference_error(
    name: str, run: Predictions, baseline: Predictions, sampling: Sampling
) -> SampledError | str:
    """Return the standard error of a difference of an own metric over paired resamples, or why it has none.

    Parameters
    ----------
    run, baseline : Predictions
        Of the same rows in the same order.
    """
    if units_of(run) < FEWEST:
        return "an interval needs at least 2 rows, or groups"
    first, second = (replicates([name], p, sampling)[name] for p in (run, baseline))
    gaps = first - second
    known = gaps[np.isfinite(gaps)]
    if 2 * len(known) < len(gaps):
        return TOO_FEW_VALUES
    free = max(units_of(run) - 1, 1.0)
    return SampledError(float(known.std()) * math.sqrt((free + 1) / free), free)
