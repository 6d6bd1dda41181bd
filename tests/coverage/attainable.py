"""The share that intervals cannot help but hold, where counts jump: of proportions, and classes of few rows.

What is read at a limit has its own: see `limits`.

An interval that knows a proportion by its count alone holds the truth for some counts and not for others. Of
a few rows no set of neighbouring counts has 95% exactly: that with the least share of 95% or more says how
often any interval without chance of its own, and never below 95%, has to hold this truth. An average over
classes takes after the class that makes most of its variance, the one of the fewest rows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from evalreport.intervals.estimates import NOMINAL
from evalreport.metrics.averages import Average
from evalreport.metrics.binary_decisions import f1, precision, recall
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import CurvePoint, Metric, Proportion, view
from evalreport.statistics.confusion import Array, Marginals
from evalreport.statistics.summary import summarise
from tests.coverage.limits import attainable_reading
from tests.coverage.measure import HUGE, MOST, population
from tests.coverage.settings import Setting


@cache
def attainable(setting: Setting, name: str) -> float | None:
    """Return the least share of 95% or more of a metric's counts; None where no count decides.

    >>> from tests.coverage.settings import HARD
    >>> attainable(HARD[8], "recall_macro") > 0.97, attainable(HARD[8], "log_loss")
    (True, None)
    """
    if name.startswith("label: "):
        return None
    metric: Metric = find(name, setting.task)
    if isinstance(metric.strategy, CurvePoint):
        return attainable_reading(setting, metric.strategy, population(setting, (name,))[name])
    if isinstance(metric.strategy, Proportion) and setting.kind in ("even", "uneven", "rare"):
        return _least(setting.n, population(setting, (name,))[name])
    average = metric.function
    several = setting.task == "multiclass" and setting.kind != "groups"
    if not isinstance(average, Average) or not several or average.over == "weighted":
        return None
    return _of_rarest(setting, average) if average.of in (f1, precision, recall) else None


def _of_rarest(setting: Setting, average: Average) -> float:
    """That of the class of the fewest rows."""
    counts = _marginals(replace(setting, n=0))
    rows = counts.predicted if average.of is precision else counts.support
    place = int(np.argmin(rows))
    return _over_rows(setting.n, rows[place] / counts.total, counts.tp[place] / rows[place])


@cache
def _marginals(setting: Setting) -> Marginals:
    whole = setting.draw(np.random.default_rng(99), min(HUGE // (2 * setting.labels), MOST))
    return view(summarise(whole), "counts")  # type: ignore[no-any-return]


def _over_rows(n: int, share: float, chance: float) -> float:
    """The mean over how many of `n` rows the class has, at least one."""
    rows = np.arange(1, n + 1)
    weight = _chances(n, share)[1:]
    likely = weight > weight.max() * 1e-4
    parts = [_least(int(size), chance) for size in rows[likely]]
    return float(np.average(parts, weights=weight[likely]))


def _least(rows: int, chance: float) -> float:
    """The least share of 95% or more that neighbouring counts have.

    >>> round(_least(4, 0.5), 4), round(_least(10_000, 0.5), 3)
    (1.0, 0.95)
    """
    return _shortest(np.append(0.0, np.cumsum(_chances(rows, chance))))


def _shortest(held: Array) -> float:
    """The least share of 95% or more between two of these cumulated shares."""
    first = np.flatnonzero((held > 1e-6) & (held < 1 - NOMINAL))
    starts = held[np.append(first, 0)]
    ends = np.searchsorted(held, starts + NOMINAL - 1e-12)
    return float(np.min(np.minimum(held[np.minimum(ends, len(held) - 1)], 1.0) - starts))


def _chances(rows: int, chance: float) -> Array:
    """Binomial probabilities of 0 … rows."""
    k = np.arange(rows + 1)
    ways = np.array([math.lgamma(rows + 1) - math.lgamma(i + 1) - math.lgamma(rows - i + 1) for i in k])
    inside = min(max(chance, 1e-12), 1 - 1e-12)
    found: Array = np.exp(ways + k * math.log(inside) + (rows - k) * math.log1p(-inside))
    return found
