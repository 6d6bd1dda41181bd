"""Differences between two runs: paired by influence, Newcombe and DeLong; unpaired by MOVER."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.comparison.movement import right
from evalreport.comparison.values import Difference
from evalreport.engines.memory import summarise
from evalreport.facts import Summary
from evalreport.intervals import Sampling
from evalreport.intervals.contributions import contributions, standard_error
from evalreport.intervals.proportions import newcombe_paired
from evalreport.intervals.quantiles import t_quantile, two_sided_p
from evalreport.labels import Binary
from evalreport.metrics.record import Metric
from evalreport.predictions import Predictions
from evalreport.values import Estimate, Result, Undefined

FEWEST = 10
"""Shared rows below which no interval of a difference is given."""


@dataclass(frozen=True, eq=False)
class Sides:
    """Two runs on the same rows, with their facts."""

    run: Predictions
    baseline: Predictions
    run_facts: Summary
    baseline_facts: Summary

    @classmethod
    def of(cls, run: Predictions, baseline: Predictions) -> Sides:
        """Count both sides once; every metric reads the same facts."""
        return cls(run, baseline, summarise(run), summarise(baseline))


def paired_difference(metric: Metric, sides: Sides, names: tuple[str, str], sampling: Sampling) -> Difference:
    """Return the difference of a metric on shared rows, with its interval.

    A proportion over the same rows takes Newcombe's paired interval; everything else the difference of
    the rows' influences (for ROC AUC that is DeLong's test), summed within clusters where there are any.
    """
    values = (metric.of(sides.run_facts), metric.of(sides.baseline_facts))
    start = _start(metric, values, names)
    if start.difference is None or isinstance(values[0], Undefined) or isinstance(values[1], Undefined):
        return start
    if len(sides.run) < FEWEST:
        return _without(start, f"an interval needs at least {FEWEST} shared rows")
    parts = (
        contributions(metric, sides.run, sides.run_facts),
        contributions(metric, sides.baseline, sides.baseline_facts),
    )
    if parts[0] is None or parts[1] is None:
        return _without(start, "no paired interval for a metric that is a maximum or is binned")
    groups = sides.run.groups
    clusters = None if groups is None else groups.codes
    error = standard_error(parts[0] - parts[1], clusters)
    n = len(sides.run) if groups is None else len(groups.values)
    plain = clusters is None and not sides.run.weighted and not sides.baseline.weighted
    table = _agreement(metric, sides) if plain else None
    if table is not None:
        return _newcombe(start, table, sampling)
    if error == 0:
        same = "the two runs do not differ on any row" if start.difference == 0 else "the rows do not vary"
        return _within(start, 0.0, 0.0, 1.0, f"paired influence ({same})")
    reach = t_quantile((1 + sampling.level) / 2, max(1, n - 1)) * error
    how = "delong" if metric.name == "roc_auc" and plain else "paired influence"
    how += "" if clusters is None else ", by cluster"
    return _within(start, reach, reach, two_sided_p(start.difference / error), how)


def _start(metric: Metric, values: Sequence[float | Undefined], names: tuple[str, str]) -> Difference:
    known = [None if isinstance(value, Undefined) else value for value in values]
    gaps = [f"{name}: {v.reason}" for name, v in zip(names, values, strict=True) if isinstance(v, Undefined)]
    gap = None if known[0] is None or known[1] is None else known[0] - known[1]
    return Difference(
        metric.name, *names, values=(known[0], known[1]), difference=gap, reason="; ".join(gaps)
    )


def _without(start: Difference, reason: str) -> Difference:
    return Difference(**{**vars(start), "reason": reason})


def _within(start: Difference, down: float, up: float, p: float, method: str) -> Difference:
    gap = start.difference or 0.0
    limits = {"low": gap - down, "high": gap + up, "smallest": (down + up) / 2}
    return Difference(**{**vars(start), **limits, "p": p, "method": method})


def _agreement(metric: Metric, sides: Sides) -> tuple[int, int, int, int] | None:
    """Both right, run only, baseline only, neither: of a proportion whose rows are the same for both."""
    first, second = proportion_rows(metric, sides.run), proportion_rows(metric, sides.baseline)
    if first is None or second is None:
        return None
    (a, rows), (b, _) = first, second
    a, b = a[rows], b[rows]
    return int((a & b).sum()), int((a & ~b).sum()), int((~a & b).sum()), int((~a & ~b).sum())


Mask = npt.NDArray[np.bool_]


def proportion_rows(metric: Metric, p: Predictions) -> tuple[Mask, Mask] | None:
    """Return which rows count as hits of a proportion, and over which rows it is taken; None for others."""
    if p.y_pred is None:
        return None
    every = np.ones(len(p), dtype=bool)
    single = p.y_true.ndim == 1
    found: dict[str, tuple[Mask, Mask]] = {
        "accuracy": (right(p), every),
        "subset_accuracy": (right(p), every),
        "parse_rate": (np.asarray(p.y_pred >= 0), every),
    }
    if single and isinstance(p.space, Binary):
        found["recall"] = (np.asarray(p.y_pred == 1), np.asarray(p.y_true == 1))
        found["specificity"] = (np.asarray(p.y_pred == 0), np.asarray(p.y_true == 0))
    return found.get(metric.name)


def _newcombe(start: Difference, table: tuple[int, int, int, int], sampling: Sampling) -> Difference:
    both, first, second, neither = table
    gap, low, high = newcombe_paired(both, first, second, neither, sampling.level)
    spread = math.sqrt(max(first + second - (first - second) ** 2 / sum(table), 0.0))
    p = two_sided_p((first - second) / spread) if spread else 1.0
    return _within(start, gap - low, high - gap, p, "newcombe paired")


def unpaired_difference(
    metric: Metric, values: tuple[Result, Result], names: tuple[str, str], sampling: Sampling
) -> Difference:
    """Return the difference of two independent estimates from their own intervals (MOVER).

    References
    ----------
    Zou & Donner 2008; for proportions this is Newcombe's method 10.
    """
    a, b = values
    bare = [value if isinstance(value, Undefined) else value.value for value in values]
    start = _start(metric, bare, names)
    if not isinstance(a, Estimate) or not isinstance(b, Estimate):
        return start
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return _without(start, a.reason or b.reason or "one of the runs has no interval")
    down = math.hypot(a.value - a.low, b.high - b.value)
    up = math.hypot(a.high - a.value, b.value - b.low)
    against = down if (start.difference or 0) > 0 else up
    z = t_quantile((1 + sampling.level) / 2, 1e9)
    p = two_sided_p((start.difference or 0.0) / (against / z)) if against else 1.0
    return _within(start, down, up, p, "MOVER, unpaired")
