"""The share that intervals cannot help but hold, where counts jump: of proportions, and classes of few rows.

What is read at a limit has its own: see `limits`.

An interval that knows a proportion by its count alone holds the truth for some counts and not for others. Of
a few rows no set of neighbouring counts has 95% exactly: that with the least share of 95% or more says how
often any interval without chance of its own, and never below 95%, has to hold this truth. An average over
classes takes after the class that makes most of its variance, the one of the fewest rows. The greatest gap of
bins takes few values, too, where it is that of a bin of a row or two.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from evalreport.intervals.measured_coverage import NOMINAL
from evalreport.metrics.averages import Average, Gap
from evalreport.metrics.binary_decisions import f1, precision, recall
from evalreport.metrics.catalogue import find
from evalreport.metrics.probability_functions import equal_width
from evalreport.metrics.record import CurvePoint, Metric, Proportion, view
from evalreport.statistics.confusion import Array, Marginals
from evalreport.statistics.summary import summarise
from tests.coverage.limits import attainable_reading
from tests.coverage.measure import HUGE, MOST, population
from tests.coverage.settings import Setting

SAMPLES, DRAWS = 200, 4000
"""Samples whose bins are looked at, and draws of what they hold."""
DEPENDENT = ("clusters", "weights", "heavy")
"""Settings whose rows do not count alike."""


@cache
def attainable(setting: Setting, name: str) -> float | None:
    """Return the least share of 95% or more of a metric's counts; None where no count decides.

    >>> from tests.coverage.settings import HARD
    >>> attainable(HARD[8], "recall_macro") > 0.97, attainable(HARD[8], "log_loss")
    (True, None)
    """
    if name.startswith("label: ") or (name == "mce" and setting.kind in DEPENDENT):
        return None
    metric: Metric = find(name, setting.task)
    if isinstance(metric.strategy, CurvePoint):
        return attainable_reading(setting, metric.strategy, population(setting, (name,))[name])
    if name == "mce":
        return _of_greatest(replace(setting, n=0), setting.n)
    if isinstance(metric.strategy, Proportion) and setting.kind in ("even", "uneven", "rare"):
        return _least(setting.n, population(setting, (name,))[name])
    average = metric.function
    if isinstance(average, Gap) and setting.kind == "rare":
        average = average.average  # what all classes have together varies by next to nothing beside it
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


def _of_greatest(setting: Setting, n: int) -> float:
    """The mean over samples of the least share of the greatest gap's values, given the rows of each bin."""
    whole = setting.draw(np.random.default_rng(99), MOST)
    weight, said, positives = equal_width(view(summarise(whole), "scores"))
    shift = (positives - said) / np.maximum(weight, 1)
    rng, shares = np.random.default_rng(7), []
    for _ in range(SAMPLES):
        rows, said, _ = equal_width(view(summarise(setting.draw(rng, n)), "scores"))
        rows, said, off = rows[rows > 0], said[rows > 0], shift[rows > 0]
        counts = rng.binomial(rows.astype(np.int64), np.clip(said / rows + off, 0, 1), (DRAWS, len(rows)))
        values = (np.abs(counts - said) / rows).max(axis=1).round(9)
        shares.append(_shortest(np.append(0.0, np.unique(values, return_counts=True)[1].cumsum() / DRAWS)))
    return float(np.mean(shares))


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
