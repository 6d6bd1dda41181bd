"""The confidence interval of each metric of an evaluation, and the simulated coverage of its method."""

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
from evalreport.intervals.bootstrap import own_estimates
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
from evalreport.metrics.catalogue import certain
from evalreport.metrics.record import Metric, OwnMetric
from evalreport.statistics.score_table import BinnedTable
from evalreport.statistics.summary import Summary


def estimates(
    metrics: Sequence[Metric], summary: Summary, predictions: Predictions | None, sampling: Sampling
) -> dict[str, Result]:
    """Return every metric with its confidence interval, or the reason why it is undefined.

    Parameters
    ----------
    metrics : sequence of Metric
        Of the task of `summary`.
    summary : Summary
    predictions : Predictions or None
        The rows, which intervals of weighted or grouped rows need.
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
    """Return an estimate from binned scores with the range of its exact value, and its limits widened by it.

    An estimate from exact scores is returned unchanged.
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
    """The bound with eight digits, rounded in the given direction so that it stays a bound."""
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
"""Confidence level of the simulated intervals."""
NEAR = (0.93, 0.97)
"""Coverage that counts as nominal, from `ENOUGH` rows on."""
ENOUGH = 200
"""Fewest rows from which a method with other coverage is reported."""


@dataclass(frozen=True)
class Measured:
    """Simulated coverage of one metric's 95% interval in one setting.

    Parameters
    ----------
    task, metric, method : str
        Several methods are separated by semicolons.
    setting : str
        Description of the simulated data.
    n : int
        Rows of each data set.
    simulations : int
        Data sets with an interval.
    coverage : float
        Proportion of intervals that contain the true value.
    attainable : float or None
        Where counts of few rows are discrete: the lowest coverage of 95% or more that an interval can have.
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
        """Whether counts of so few rows allow no lower coverage, within the error of the simulation."""
        return self.attainable is not None and self.coverage <= self.attainable + self._slack(self.attainable)

    def _slack(self, share: float) -> float:
        """Two standard errors of a simulated proportion."""
        return 2 * math.sqrt(share * (1 - share) / max(self.simulations, 1))

    @property
    def is_within_target(self) -> bool:
        """Whether the coverage is 93% to 97%."""
        return NEAR[0] <= self.coverage <= NEAR[1]

    @property
    def is_near_target(self) -> bool:
        """Whether the coverage is 93% to 97%, within the error of the simulation."""
        slack = self._slack(self.coverage)
        return NEAR[0] - slack <= self.coverage <= NEAR[1] + slack


@cache
def _rows() -> Mapping[tuple[str, str], Sequence[dict[str, Any]]]:
    """The rows of `coverage.json` by task and metric; not yet `Measured`, because an evaluation needs few."""
    text = files("evalreport.intervals").joinpath("coverage.json").read_text(encoding="utf-8")
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in json.loads(text):
        found.setdefault((row["task"], row["metric"]), []).append(row)
    return found


@cache
def measured_coverage(task: str, metric: str) -> tuple[Measured, ...]:
    """Return the simulated coverage of a metric's interval in the order of the settings; empty without any.

    Examples
    --------
    >>> {row.metric for row in measured_coverage("binary", "roc_auc")}
    {'roc_auc'}
    """
    return tuple(Measured(**row) for row in _rows().get((task, metric), ()))


def measured_methods(task: str, metric: str) -> tuple[str, ...]:
    """Return the method names of a metric's interval, those for independent rows first.

    Examples
    --------
    >>> measured_methods("binary", "roc_auc")[0]
    'delong'
    """
    named = (name for row in measured_coverage(task, metric) for name in row.method.split("; "))
    return tuple(dict.fromkeys(named))


def off_coverage(task: str, metric: str) -> tuple[Measured, ...]:
    """Return the settings of 200 rows or more in which the coverage is not 93% to 97%."""
    return tuple(row for row in measured_coverage(task, metric) if row.n >= ENOUGH and not row.is_near_target)


def describe_miscoverage(task: str, name: str, result: Result) -> str:
    """Return the worst simulated setting in which the coverage of a metric's interval is not nominal.

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
    why = (
        "; more than 95% is unavoidable with so few rows"
        if worst.inevitable and worst.coverage > NOMINAL
        else ""
    )
    share = percent(worst.coverage)
    return f"coverage {share} in simulations: {worst.setting}, n = {worst.n:,}{why}"


METHODS = {
    "wilson": "Wilson's score interval of a proportion (Wilson 1927; Newcombe 1998)",
    "delong": "DeLong's variance (DeLong et al. 1988) in Newcombe's score interval of the AUC (2006, method "
    "5), with Student's t; variance and degrees of freedom are moderated by a model (Smyth 2004)",
    "exact under separation": "the AUC at which a perfect ranking has probability 2.5% in Hanley & McNeil's "
    "model (Lehmann 1953)",
    "newcombe": "square-and-add of Wilson's limits of both rates (Newcombe 1998, method 10) at the best "
    "threshold, corrected for the selection bias of that threshold in resamples",
    "dirichlet": "quantiles of posterior samples of the counts under Jeffreys' prior, Dirichlet(1/2)",
    "smoothed bootstrap": "score interval around the bias-corrected value; bias and standard error from "
    "resamples of the confusion matrix with one row added per class; limits of averages are shifted like "
    "Wilson's limits of the classes that make the variance (Price & Bonett 2004); classes without a value "
    "by two-stage sampling (Cochran 1977)",
    "smoothed bootstrap by row": "the same from the counts of each label, with the covariance between "
    "labels from the influence of the rows",
    "influence": "infinitesimal jackknife (Jaeckel 1972; Efron 1982) with Student's t on the logit or the "
    "log; the area under one curve has a score interval, losses also use the variance implied by the "
    "probabilities, limits of averages of areas are shifted like those of the classes",
    "influence over folds": "the mean over folds, from the influence of each row on the value of its fold "
    "(LeDell, Petersen & van der Laan 2015; Bayle et al. 2020), with Student's t on the logit or the log",
    "t": "Student's t of a mean over rows, as a score interval if the range has two ends",
    "test inversion over groups": "the lower limit by scaling the differences between the groups; the upper "
    "limit is that of the two most different groups, by MOVER (Zou & Donner 2008)",
    "test inversion": "the true values whose simulated samples have the observed value in their central "
    "95%; near the end of the range in their most likely 95% (Feldman & Cousins 1998); in their lowest 95% "
    "if noise adds so much to an error that no sample is below its true value",
    "bayesian bootstrap at the crossing": "posterior samples of where the curve crosses the limit and of "
    "the curve there (Rubin 1981), with half a row added beyond each end; both tails on one side if the "
    "true value can be missed on that side only; for tied scores the limits of each step at the level that "
    "its probability leaves; a recall at a precision by inverting the score test of the precision; a "
    "precision at any threshold between two positives (Hettmansperger & Sheather 1986)",
    "posterior at the crossing, clusters": "the same, with the effective number of rows of each class (Kish "
    "1965; Korn & Graubard 1998); for a precision, that of the ratio of both classes given the recall",
    "posterior at the crossing, weighted rows": "the same, with the effective number of rows of each class "
    "(Kish 1965; Korn & Graubard 1998); for a precision, that of the ratio of both classes given the recall",
    "cluster jackknife": "jackknife over groups (MacKinnon, Nielsen & Webb 2023) with Satterthwaite's "
    "degrees of freedom",
    "cluster bootstrap": "whole groups resampled with replacement; from 101 groups on",
    "poisson bootstrap": "rows with Poisson(1) counts; the standard error is corrected to the jackknife's "
    "(MacKinnon & White 1985), with Satterthwaite's degrees of freedom",
}
"""Description of each method, by the name that an estimate has."""
