"""Chosen thresholds as `evaluation.json` holds them: keys, types and ranges, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.bounds import Operator
from evalreport.codec import Infinite, Mass, Share
from evalreport.study import Trials
from evalreport.values import Result

HoldMethod: TypeAlias = Literal["exact binomial limit", "fixed-sequence test", ""]


@dataclass(frozen=True)
class BoundKept:
    """A bound that a threshold was chosen under, and the value of its metric there.

    Parameters
    ----------
    metric : str
    operator : {">=", "<=", ">", "<"}
    number : float
        What was asked for.
    here : float
        Value of `metric` on the rows of the choice.
    """

    metric: str
    operator: Operator
    number: float
    here: float


@dataclass(frozen=True)
class HoldCosts:
    """What is given up for a bound that holds: the metric that is maximised under it.

    Parameters
    ----------
    metric : str
        ``coverage`` of a cut-off of confidence: the share that is answered.
    value : float or None
        At the threshold that holds; None where it is undefined.
    instead_of : float
        At the threshold that the sample alone suggests.
    tp, fp : float
        Counts at the threshold that holds.
    """

    metric: str
    value: float | None
    instead_of: float
    tp: Mass
    fp: Mass


@dataclass(frozen=True)
class Hold:
    """A threshold that keeps a bound with a stated confidence, or why there is none.

    Parameters
    ----------
    confidence : float
        Probability with which the method finds only thresholds that keep the bound in the population.
    threshold : float or None
        None where no threshold can be held.
    method : str
        ``exact binomial limit`` (rates of one class), ``fixed-sequence test`` (everything else); empty for
        a number of rows, of which nothing can be promised.
    costs : HoldCosts or None
        None without a threshold.
    reason : str or None
        Why there is no threshold.
    """

    confidence: float
    threshold: float | None
    method: HoldMethod
    costs: HoldCosts | None = None
    reason: str | None = None


Method: TypeAlias = Literal["exact", "bayes", "coordinate ascent", "optuna"]


@dataclass(frozen=True)
class FourCounts:
    """The counts at the chosen threshold."""

    tp: Mass
    fp: Mass
    fn: Mass
    tn: Mass


@dataclass(frozen=True)
class BoundRecord:
    """The bound that a threshold was chosen under: one of `at_least` and `at_most` is its number."""

    metric: str
    at_least: float | None
    at_most: float | None
    strict: bool
    here: float
    elsewhere: Result | None
    chance: Share | None


@dataclass(frozen=True)
class OptimumRecord:
    """A threshold that was found; null where it is infinite."""

    threshold: float | None
    low: float | None
    high: float | None
    apparent: float
    honest: float | None
    metric: str
    text: str
    counts: FourCounts
    interval_method: str | None
    honest_method: str | None
    honest_estimate: Result | None
    bound: BoundRecord | None
    hold: Hold | None
    reason: None = None


@dataclass(frozen=True)
class UnreachableRecord:
    """A constraint that no threshold keeps."""

    threshold: None
    low: None
    high: None
    apparent: None
    honest: None
    text: str
    metric: str
    bound: float
    best: float
    best_threshold: Infinite
    reason: str


@dataclass(frozen=True)
class NoOptimumRecord:
    """No threshold, and why."""

    threshold: None
    low: None
    high: None
    apparent: None
    honest: None
    reason: str
    n: Mass


@dataclass(frozen=True)
class TunedRecord:
    """Numbers that were chosen together, one per label; null where one is infinite."""

    threshold: None
    low: None
    high: None
    objective: str
    values: Mapping[str, Infinite]
    apparent: float
    honest: float | None
    honest_estimate: Result
    honest_method: str
    method: Method
    starts: Mapping[str, float]
    trials: Trials | None
    without: float | None


@dataclass(frozen=True)
class CutoffRecord:
    """A confidence from which answers are as accurate as wanted."""

    wanted: float
    threshold: float
    low: float
    high: Infinite
    coverage: Share
    accuracy: Share
    honest_coverage: Result
    honest_accuracy: Result | None
    honest_method: str
    chance: Share | None
    hold: Hold | None


@dataclass(frozen=True)
class SweepPoint:
    """The counts at one threshold; null flags nothing."""

    threshold: Infinite
    tp: Mass
    fp: Mass
    fn: Mass
    tn: Mass


ChoiceRecord: TypeAlias = OptimumRecord | UnreachableRecord | NoOptimumRecord


@dataclass(frozen=True)
class SweepRecord:
    """Thresholds with their counts, and what was chosen for each objective."""

    points: tuple[SweepPoint, ...]
    optima: Mapping[str, ChoiceRecord | TunedRecord]
