"""Draws data sets, asks for the intervals, and counts how often they hold the truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from evalreport.core.result import Estimate, Result
from evalreport.data.labels import UNPARSED
from evalreport.data.predictions import Predictions
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.multiclass import class_estimates
from evalreport.metrics.catalogue import PER_CLASS, catalogue
from evalreport.metrics.record import Metric
from evalreport.statistics.summary import summarise
from tests.coverage.settings import Setting

HUGE, MOST = 20_000_000, 1_000_000
"""(row, label) cells of the sample that stands for the population, and its rows, at most. Of 100,000 rows the
calibration error of twenty classes was off by a quarter of the standard error of 2,000."""
LABEL = 0
"""The label whose one-vs-rest metrics are measured, named ``label: …``."""


@dataclass
class Count:
    """How the intervals of one metric did in one setting.

    Parameters
    ----------
    held, below, above : int
        Intervals that hold the truth, lie below it, lie above it.
    asked : int
        Data sets on which the metric has a value.
    width : float
        Sum of the widths.
    methods : set of str
    """

    held: int = 0
    below: int = 0
    above: int = 0
    asked: int = 0
    width: float = 0.0
    methods: set[str] = field(default_factory=set)

    def add(self, result: Estimate, truth: float) -> None:
        """Count one interval against the truth."""
        self.asked += 1
        if result.low is None or result.high is None:
            return
        slack = 1e-9 * max(1.0, abs(truth))
        self.below += result.high < truth - slack
        self.above += result.low > truth + slack
        self.held += result.low - slack <= truth <= result.high + slack
        self.width += result.high - result.low
        self.methods.add(result.method or "")

    def merge(self, other: Count) -> None:
        """Add the counts of other data sets of the same setting."""
        for name in ("held", "below", "above", "asked", "width"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.methods |= other.methods

    @property
    def given(self) -> int:
        """Intervals that were given."""
        return self.held + self.below + self.above

    @property
    def coverage(self) -> float:
        """Share of the given intervals that hold the truth."""
        return self.held / self.given if self.given else float("nan")


def measured(
    setting: Setting,
    simulations: int,
    seed: int,
    only: Sequence[str] = (),
    *,
    ignore_groups: bool = False,
) -> dict[str, Count]:
    """Return how the intervals of each metric do in a setting.

    Parameters
    ----------
    setting : Setting
    simulations : int
    seed : int
    only : sequence of str
        Names of metrics; all when empty.
    ignore_groups : bool
        Treat rows of one cluster as independent, to see what that does.
    """
    truth = population(setting, tuple(only))
    rng = np.random.default_rng([seed, setting.n, setting.labels, round(1000 * setting.prevalence)])
    counts: dict[str, Count] = {}
    for _ in range(simulations):
        p = setting.draw(rng)
        if ignore_groups:
            p = replace(p, groups=None)
        for name, result in _results(p, only):
            if isinstance(result, Estimate) and name in truth:
                counts.setdefault(name, Count()).add(result, truth[name])
    return counts


def _metrics(p: Predictions, only: Sequence[str]) -> list[Metric]:
    has_unparsed = p.y_pred is not None and bool((p.y_pred == UNPARSED).any())
    return [
        metric
        for metric in catalogue(p.space, text=has_unparsed)
        if metric.no_interval is None and (not only or metric.name in only)
    ]


def _results(p: Predictions, only: Sequence[str]) -> Iterator[tuple[str, Result]]:
    summary, sampling = summarise(p), Sampling(resamples=1000)
    yield from estimates(_metrics(p, only), summary, p, sampling).items()
    if p.space.task != "binary" and (each := _of_labels(only)):
        for name, result in class_estimates(each, summary, p, sampling)[LABEL].items():
            yield f"label: {name}", result


def _of_labels(only: Sequence[str]) -> list[Metric]:
    return [metric for metric in PER_CLASS if not only or f"label: {metric.name}" in only]


def population(setting: Setting, only: tuple[str, ...] = ()) -> dict[str, float]:
    """Return the true values, of some metrics or all, from a sample so large that its error does not matter.

    Settings that differ in their size alone have one population, which is worked out once.
    """
    return _population(replace(setting, n=240 if setting.kind == "clusters" else 0), only)


@cache
def _population(setting: Setting, only: tuple[str, ...]) -> dict[str, float]:
    whole = setting.draw(np.random.default_rng(99), min(HUGE // (2 * setting.labels), MOST))
    if setting.kind == "clusters":
        whole = setting.draw(np.random.default_rng(99), 500_000)
    summary = summarise(whole)
    values = {metric.name: metric.compute_value(summary) for metric in _metrics(whole, only)}
    found = {name: value for name, value in values.items() if isinstance(value, float)}
    if whole.space.task != "binary" and (each := _of_labels(only)):
        labels = class_estimates(each, summary, None, Sampling().with_confidence(None))[LABEL]
        found |= {f"label: {n}": r.value for n, r in labels.items() if isinstance(r, Estimate)}
    return found
