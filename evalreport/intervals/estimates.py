"""The interval of each metric of one evaluation, and the coverage of its method as measured by simulation."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from functools import cache
from importlib.resources import files
from typing import Any, assert_never

from evalreport.core.format import percent
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.intervals.curve_points import binary_limits
from evalreport.intervals.grouped_rows import resampled_limits
from evalreport.intervals.interval_settings import (
    ALL_EQUAL,
    ALWAYS_AMONG,
    FEWEST,
    NOT_ASKED,
    ONE_BIN,
    Limits,
    Sampling,
    by_rows,
    estimate,
    no_limits,
)
from evalreport.intervals.multiclass import multiclass_limits, multilabel_limits
from evalreport.intervals.own_metrics import own_estimates
from evalreport.metrics.catalogue import certain
from evalreport.metrics.record import Metric, OwnMetric
from evalreport.statistics.score_table import BinnedTable
from evalreport.statistics.summary import Summary


def estimates(
    metrics: Sequence[Metric], summary: Summary, predictions: Predictions | None, sampling: Sampling
) -> dict[str, Result]:
    """Return every metric with its interval, or why it is undefined.

    Parameters
    ----------
    metrics : sequence of Metric
        Of the task of `summary`.
    summary : Summary
    predictions : Predictions or None
        The rows, needed where weights or groups make the interval.
    sampling : Sampling

    Returns
    -------
    dict from a metric's name to `Estimate` or `Undefined`, in the order of `metrics`.
    """
    own = [metric for metric in metrics if isinstance(metric.strategy, OwnMetric)]
    if own:
        others = [metric for metric in metrics if metric not in own]
        known = estimates(others, summary, predictions, sampling)
        known |= own_estimates(own, predictions, summary.weight, sampling)
        return {metric.name: known[metric.name] for metric in metrics}
    found = {metric.name: metric.compute_value(summary) for metric in metrics}
    values = {name: value for name, value in found.items() if not isinstance(value, Undefined)}
    limits = _limits([m for m in metrics if m.name in values], values, summary, predictions, sampling)
    results: dict[str, Result] = {}
    for metric in metrics:
        value = found[metric.name]
        if isinstance(value, Undefined):
            results[metric.name] = value
        else:
            made = estimate(metric, value, metric.weight(summary), limits[metric.name])
            results[metric.name] = widen_for_bins(made, metric, summary)
    return results


def widen_for_bins(known: Estimate, metric: Metric, summary: Summary) -> Estimate:
    """Return an estimate that says between what its exact value lies, its limits as much further apart.

    Where scores are exact, it is as it was.
    """
    if metric.reads != "scores" or metric.bounds is None or not isinstance(summary.scores, BinnedTable):
        return known
    least, most = metric.bounds(summary.scores)
    ends = _round_outward(least, ROUND_FLOOR), _round_outward(most, ROUND_CEILING)
    how = f"scores in bins: exact value from {ends[0]} to {ends[1]}"
    if known.low is None or known.high is None:
        return replace(known, method=how, reason=ONE_BIN if known.reason == ALL_EQUAL else known.reason)
    low = max(known.low - max(known.value - least, 0.0), metric.low)
    high = min(known.high + max(most - known.value, 0.0), metric.high)
    return replace(known, low=low, high=high, method=f"{known.method}; {how}")


def _round_outward(bound: float, away: str) -> str:
    """A bound with eight digits, away from what it bounds."""
    return f"{float(Context(8, away).create_decimal(bound)):.8g}"


def _limits(
    metrics: Sequence[Metric],
    values: Mapping[str, float],
    summary: Summary,
    predictions: Predictions | None,
    sampling: Sampling,
) -> dict[str, Limits]:
    if not sampling.intervals:
        return dict.fromkeys(values, no_limits(NOT_ASKED))
    limits = {metric.name: no_limits(metric.no_interval or "") for metric in metrics}
    sure = [metric for metric in metrics if certain(metric, len(summary.space))]
    limits |= {metric.name: no_limits(ALWAYS_AMONG) for metric in sure}
    asked = [metric for metric in metrics if metric.no_interval is None and metric not in sure]
    if summary.rows < FEWEST:
        return limits | {m.name: no_limits("an interval needs at least 2 rows") for m in asked}
    if predictions is not None and by_rows(predictions):
        return limits | resampled_limits(asked, values, summary, predictions, sampling)
    match summary.space:
        case Binary():
            return limits | binary_limits(asked, values, summary, sampling)
        case Multiclass():
            return limits | multiclass_limits(asked, values, summary, sampling)
        case Multilabel():
            return limits | multilabel_limits(asked, values, summary, predictions, sampling)
        case never:
            assert_never(never)


NOMINAL = 0.95
"""Level of the intervals that were simulated."""
NEAR = (0.93, 0.97)
"""Coverage that counts as holding what was promised, from `ENOUGH` rows on."""
ENOUGH = 200
"""Rows from which on a method that misses what it promises is named."""


@dataclass(frozen=True)
class Measured:
    """The measured coverage of one metric's 95% interval in one setting.

    Parameters
    ----------
    task, metric, method : str
        Several methods stand with a semicolon between them.
    setting : str
        How the data were simulated, in words.
    n : int
        Rows of each data set.
    simulations : int
        Data sets on which an interval was given.
    coverage : float
        Share of intervals that held the truth.
    attainable : float or None
        Where counts of few rows jump: the least share of 95% or more that an interval can have.
    """

    task: str
    metric: str
    method: str
    setting: str
    n: int
    simulations: int
    coverage: float
    attainable: float | None = None

    @property
    def inevitable(self) -> bool:
        """Whether counts of so few rows allow no lower share, give or take the error of the simulation."""
        return self.attainable is not None and self.coverage <= self.attainable + self._slack(self.attainable)

    def _slack(self, share: float) -> float:
        """Two standard errors of a share in the simulation."""
        return 2 * math.sqrt(share * (1 - share) / max(self.simulations, 1))

    @property
    def is_within_target(self) -> bool:
        """Whether the coverage is within 93 to 97%."""
        return NEAR[0] <= self.coverage <= NEAR[1]

    @property
    def is_near_target(self) -> bool:
        """Whether the coverage is within 93 to 97%, give or take the error of the simulation."""
        slack = self._slack(self.coverage)
        return NEAR[0] - slack <= self.coverage <= NEAR[1] + slack


@cache
def _rows() -> Mapping[tuple[str, str], Sequence[dict[str, Any]]]:
    """What was measured, by task and metric: thousands of settings, of which one evaluation reads some."""
    text = files("evalreport.intervals").joinpath("coverage.json").read_text(encoding="utf-8")
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in json.loads(text):
        found.setdefault((row["task"], row["metric"]), []).append(row)
    return found


@cache
def measured_coverage(task: str, metric: str) -> tuple[Measured, ...]:
    """Return what was measured of a metric's interval, the settings in their order; empty when nothing was.

    Examples
    --------
    >>> {row.metric for row in measured_coverage("binary", "roc_auc")}
    {'roc_auc'}
    """
    return tuple(Measured(**row) for row in _rows().get((task, metric), ()))


def measured_methods(task: str, metric: str) -> tuple[str, ...]:
    """Return the names of the methods of a metric's interval, those of independent rows first.

    Examples
    --------
    >>> measured_methods("binary", "roc_auc")[0]
    'delong'
    """
    named = (name for row in measured_coverage(task, metric) for name in row.method.split("; "))
    return tuple(dict.fromkeys(named))


def off_coverage(task: str, metric: str) -> tuple[Measured, ...]:
    """Return the settings of 200 rows or more in which the interval did not hold what it promises."""
    return tuple(row for row in measured_coverage(task, metric) if row.n >= ENOUGH and not row.is_near_target)


def describe_miscoverage(task: str, name: str, result: Result) -> str:
    """Return where the interval of a metric did not hold what it promises, in the worst setting simulated.

    Examples
    --------
    >>> describe_miscoverage("binary", "accuracy", Undefined("no rows"))
    ''
    """
    if isinstance(result, Undefined) or result.low is None:
        return ""
    off = [row for row in off_coverage(task, name) if result.method in row.method.split("; ")]
    if not off:
        return ""
    worst = max(off, key=lambda row: abs(row.coverage - NOMINAL))
    why = "; counts of so few rows allow no less" if worst.inevitable and worst.coverage > NOMINAL else ""
    share = percent(worst.coverage)
    return f"held the truth in {share} of simulations: {worst.setting}, n = {worst.n:,}{why}"


METHODS = {
    "wilson": "Wilson's score interval of a proportion (Wilson 1927; Newcombe 1998)",
    "delong": "DeLong's variance (DeLong et al. 1988) in Newcombe's score interval of the AUC (2006, method "
    "5), with Student's t, moderated by the model's variance (Smyth 2004)",
    "exact under separation": "the AUC at which a ranking without a mistake has probability 2.5%, in "
    "Hanley & McNeil's model (Lehmann 1953)",
    "newcombe": "square-and-add of Wilson's limits of both rates (Newcombe 1998, method 10) at the best "
    "threshold, less what resamples exceed the sample by",
    "dirichlet": "quantiles of draws of the counts under Jeffreys' prior, Dirichlet(1/2)",
    "smoothed bootstrap": "score interval about the value less its bias, both from draws of the confusion "
    "matrix with one row more per class; of averages it stands off as Wilson's limits of the classes do that "
    "make the variance (Price & Bonett 2004); classes without a value by two stages of sampling (Cochran "
    "1977)",
    "smoothed bootstrap by row": "the same from the counts of each label, and what rows vary together from "
    "their influence",
    "influence": "infinitesimal jackknife (Jaeckel 1972; Efron 1982), Student's t, on the logit or the log, "
    "of the area under one curve as a score interval; losses lend from the variance that the probabilities "
    "promise, averages of areas stand off as those of the classes do",
    "influence over folds": "the mean over folds, from the influence of each row on the value of its own "
    "fold (LeDell, Petersen & van der Laan 2015; Bayle et al. 2020), Student's t, on the logit or the log",
    "t": "Student's t of a mean over rows, as a score interval where the range has two ends",
    "test inversion over groups": "the lower end by scaling how far the groups "
    "lie apart; the upper that of the two groups furthest apart, by MOVER (Zou & Donner 2008)",
    "test inversion": "the truths whose draws have the value seen within 95% of them: the central ones, "
    "near the end of the range the likeliest (Feldman & Cousins 1998), and above alone where noise adds so "
    "much to an error that no sample falls short of its truth",
    "bayesian bootstrap at the crossing": "draws of where the curve crosses the limit and of the curve there "
    "(Rubin 1981), with half a row beyond each end, and both tails on the one side on which the truth can be "
    "missed there; of tied scores each step as far as its own chance leaves; where a precision is crossed by "
    "inverting its score test, where it is read at any threshold between two positives (Hettmansperger & "
    "Sheather 1986)",
    "posterior at the crossing, clusters": "the same, each class counted as its effective number of rows "
    "(Kish 1965; Korn & Graubard 1998), of a precision the ratio of both given the recall",
    "posterior at the crossing, weighted rows": "the same, each class counted as its effective number of "
    "rows (Kish 1965; Korn & Graubard 1998), of a precision the ratio of both given the recall",
    "cluster jackknife": "groups left out one by one (MacKinnon, Nielsen & Webb 2023) with Satterthwaite's "
    "degrees of freedom",
    "cluster bootstrap": "groups drawn whole with replacement; from 101 groups on",
    "poisson bootstrap": "rows drawn with Poisson(1) counts, the error that of the jackknife (MacKinnon & "
    "White 1985) with Satterthwaite's degrees of freedom",
}
"""By the name of the method, as it stands beside each estimate."""
