"""Chosen thresholds as `evaluation.json` holds them: keys, types and ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

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
    no_skill: float | None
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
class OutOfSample:
    """What a chosen threshold reaches on rows that took no part in its choice.

    Parameters
    ----------
    value : Estimate or Undefined
        Of the metric that was optimised.
    kept : Estimate, Undefined or None
        Of the constraint's metric: a bound kept on the rows of the choice may be missed on others.
    method : str
        ``cross-fitted`` or ``other rows``.
    chance : float or None
        Probability that the constraint holds in the population that the rows come from, in [0, 1]; a
        choice on the same rows is allowed for. None without a constraint, where rows are too few to tell,
        and for a number of rows.

    Examples
    --------
    >>> from evalreport.values import Undefined
    >>> OutOfSample(Undefined("no positive example"), None, "cross-fitted").value.value is None
    True
    """

    value: Result
    kept: Result | None
    method: str
    chance: float | None = None


@dataclass(frozen=True)
class Tuned:
    """The numbers that were chosen: a threshold per label, or a weight per class.

    Parameters
    ----------
    objective : str
    values : mapping of str to float
        By label. A threshold is infinite (null in JSON) for a label that is never flagged: for want of
        true examples, or because flagging none is best. The geometric mean of weights is 1.
    apparent : float
        Value of the objective on the rows of the choice.
    honest_estimate : Estimate or Undefined
        Value on other rows.
    honest_method : str
        Where it comes from: see `OutOfSample`.
    method : {"exact", "bayes", "coordinate ascent", "optuna"}
        ``exact``: no numbers reach more on the rows of the choice. ``bayes``: from costs alone, nothing
        was fitted. The others reach no less there than any of their starts.
    starts : mapping of str to float
        Value of each starting point on the rows of the choice.
    trials : Trials or None
        The study, where Optuna searched.
    without : float or None
        Value on the rows that are reported on without a choice: at 0.5 for all labels, with equal weights
        of classes. None where scores are no probabilities.

    Examples
    --------
    >>> import math
    >>> from evalreport.codec import decode, encode
    >>> from evalreport.values import Undefined
    >>> nothing = Undefined("no other rows")
    >>> found = Tuned("f1_micro", {"joy": math.inf}, 0.5, nothing, "other rows", "exact", {"0.5": 0.4})
    >>> decode(Tuned, encode(found)) == found
    True
    """

    KEYS: ClassVar = (
        *("threshold", "low", "high", "objective", "values", "apparent", "honest", "honest_estimate"),
        *("honest_method", "method", "starts", "trials", "without"),
    )

    objective: str
    values: Mapping[str, Infinite]
    apparent: float
    honest_estimate: Result
    honest_method: str
    method: Method
    starts: Mapping[str, float]
    trials: Trials | None = None
    without: float | None = None

    @property
    def honest(self) -> float | None:
        """The value on other rows, as a number."""
        return self.honest_estimate.value

    @property
    def out_of_sample(self) -> OutOfSample:
        """What the numbers reach on other rows."""
        return OutOfSample(self.honest_estimate, None, self.honest_method)


@dataclass(frozen=True)
class Cutoff:
    """The confidence from which answers are as accurate as wanted, with the rest left to somebody else.

    Parameters
    ----------
    wanted : float
        Accuracy among the answered.
    threshold : float
        Answer when the greatest probability of the row is at least this.
    low, high : float
        Interval of the threshold.
    coverage, accuracy : float
        Share answered, and accuracy among them, on the rows of the choice.
    honest_coverage, honest_accuracy : Estimate or Undefined
        On other rows.
    honest_method : str
        Where these come from: see `OutOfSample`.
    chance : float or None
        Probability that the accuracy holds in the population.
    hold : Hold or None
        The cut-off that keeps the accuracy with a confidence, where one was asked for.

    Examples
    --------
    >>> from evalreport.codec import decode, encode
    >>> from evalreport.values import Undefined
    >>> cutoff = Cutoff(0.9, 0.7, 0.6, 0.8, 0.5, 0.91, Undefined("too few rows"), None, "cross-fitted")
    >>> decode(Cutoff, encode(cutoff)) == cutoff
    True
    """

    wanted: float
    threshold: float
    low: float
    high: Infinite
    coverage: Share
    accuracy: Share
    honest_coverage: Result
    honest_accuracy: Result | None
    honest_method: str
    chance: Share | None = None
    hold: Hold | None = None

    @property
    def out_of_sample(self) -> OutOfSample:
        """On other rows: `value` is the coverage, `kept` the accuracy."""
        return OutOfSample(self.honest_coverage, self.honest_accuracy, self.honest_method, self.chance)


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
    optima: Mapping[str, ChoiceRecord | Tuned]
