"""Chosen thresholds as `evaluation.json` holds them: keys, types and ranges, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.codec import Infinite, Mass, Share
from evalreport.study import Trials
from evalreport.thresholds.promise import Hold
from evalreport.values import Result

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
