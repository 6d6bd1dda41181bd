"""Chosen thresholds: interval, in-sample and held-out value, and their records in `evaluation.json`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar, Literal, TypeAlias

from evalreport.core.bounds import Operator
from evalreport.core.format import count, show
from evalreport.core.format import threshold as shown
from evalreport.core.json_codec import Infinite, Mass, Share, shared_fields
from evalreport.core.result import Result, Undefined
from evalreport.core.text import printable
from evalreport.metrics.catalogue import BALANCED
from evalreport.thresholds.trial_search import Trials

HoldMethod: TypeAlias = Literal["exact binomial limit", "fixed-sequence test", ""]


@dataclass(frozen=True)
class BoundKept:
    """A constraint that a threshold was chosen under, and the value of its metric there.

    Parameters
    ----------
    metric : str
    operator : {">=", "<=", ">", "<"}
    number : float
        The limit.
    in_sample : float
        Value of `metric` on the rows of the choice.
    """

    metric: str
    operator: Operator
    number: float
    in_sample: float


@dataclass(frozen=True)
class HoldCosts:
    """The metric that is maximised under a constraint, at the threshold with a confidence.

    Parameters
    ----------
    metric : str
        ``coverage`` for a confidence cut-off: the proportion of accepted predictions.
    value : float or None
        At this threshold; None if it is undefined.
    instead_of : float
        At the threshold chosen without a confidence.
    tp, fp : float
        Counts at this threshold.
    """

    metric: str
    value: float | None
    instead_of: float
    tp: Mass
    fp: Mass


@dataclass(frozen=True)
class Hold:
    """A threshold that meets a constraint on new rows with a confidence, or why there is none.

    Parameters
    ----------
    confidence : float
        Confidence that the threshold meets the constraint in the population.
    threshold : float or None
        None if there is no such threshold.
    method : str
        ``exact binomial limit`` (rates of one class), ``fixed-sequence test`` (everything else); empty for
        a number of rows, which has no guarantee.
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
    """The constraint that a threshold was chosen under; its number is `at_least` or `at_most`."""

    metric: str
    at_least: float | None
    at_most: float | None
    strict: bool
    in_sample: float
    held_out: Result | None
    chance: Share | None


@dataclass(frozen=True)
class OptimumRecord:
    """A best threshold; null if it is infinite."""

    threshold: float | None
    low: float | None
    high: float | None
    apparent: float
    held_out: float | None
    metric: str
    text: str
    counts: FourCounts
    interval_method: str | None
    held_out_method: str | None
    held_out_estimate: Result | None
    constraint: BoundRecord | None
    at_confidence: Hold | None
    no_skill: float | None
    reason: None = None


@dataclass(frozen=True)
class UnreachableRecord:
    """A constraint that no threshold meets."""

    threshold: None
    low: None
    high: None
    apparent: None
    held_out: None
    text: str
    metric: str
    constraint: float
    best: float
    best_threshold: Infinite
    reason: str


@dataclass(frozen=True)
class NoOptimumRecord:
    """No threshold, with the reason."""

    threshold: None
    low: None
    high: None
    apparent: None
    held_out: None
    reason: str
    n: Mass


@dataclass(frozen=True)
class OutOfSample:
    """The held-out value of a chosen threshold.

    Parameters
    ----------
    value : Estimate or Undefined
        Value of the optimised metric.
    kept : Estimate, Undefined or None
        Value of the constraint's metric: a constraint met on the rows of the choice can fail on others.
    method : str
        ``cross-fitted`` or ``other rows``.
    chance : float or None
        Probability that the constraint is met in the population, in [0, 1], corrected for a choice on the
        same rows. None without a constraint, with too few rows, and for a number of rows.

    Examples
    --------
    >>> from evalreport.core.result import Undefined
    >>> OutOfSample(Undefined("no positive example"), None, "cross-fitted").value.value is None
    True
    """

    value: Result
    kept: Result | None
    method: str
    chance: float | None = None


@dataclass(frozen=True)
class Tuned:
    """The values chosen together: a threshold per label, or a weight per class.

    Parameters
    ----------
    objective : str
    values : mapping of str to float
        By label. A threshold is infinite (null in JSON) for a label that is never flagged: it has no true
        examples, or flagging none is best. The geometric mean of weights is 1.
    apparent : float
        Value of the objective on the rows of the choice.
    held_out_estimate : Estimate or Undefined
        Held-out value.
    held_out_method : str
        How it was computed: see `OutOfSample`.
    method : {"exact", "bayes", "coordinate ascent", "optuna"}
        ``exact``: no other values are better on the rows of the choice. ``bayes``: from costs only, nothing
        was fitted. The others are at least as good there as each of their starts.
    starts : mapping of str to float
        Value of each starting point on the rows of the choice.
    trials : Trials or None
        The study, if Optuna searched.
    without : float or None
        Value on the reported rows without tuning: threshold 0.5 for all labels, or equal class weights. None
        if scores are not probabilities.

    Examples
    --------
    >>> import math
    >>> from evalreport.core.json_codec import decode, encode
    >>> from evalreport.core.result import Undefined
    >>> nothing = Undefined("no other rows")
    >>> found = Tuned("f1_micro", {"joy": math.inf}, 0.5, nothing, "other rows", "exact", {"0.5": 0.4})
    >>> decode(Tuned, encode(found)) == found
    True
    """

    KEYS: ClassVar = (
        *("threshold", "low", "high", "objective", "values", "apparent", "held_out", "held_out_estimate"),
        *("held_out_method", "method", "starts", "trials", "without"),
    )

    objective: str
    values: Mapping[str, Infinite]
    apparent: float
    held_out_estimate: Result
    held_out_method: str
    method: Method
    starts: Mapping[str, float]
    trials: Trials | None = None
    without: float | None = None

    @property
    def held_out(self) -> float | None:
        """The held-out value, as a number."""
        return self.held_out_estimate.value

    @property
    def out_of_sample(self) -> OutOfSample:
        """The held-out value."""
        return OutOfSample(self.held_out_estimate, None, self.held_out_method)


@dataclass(frozen=True)
class Cutoff:
    """The confidence from which predictions reach a target accuracy; the other rows are deferred.

    Parameters
    ----------
    wanted : float
        Target accuracy of the accepted predictions.
    threshold : float
        A prediction is accepted if the greatest probability of the row is at least this.
    low, high : float
        Interval of the threshold.
    coverage, accuracy : float
        Proportion of accepted predictions, and their accuracy, on the rows of the choice.
    held_out_coverage, held_out_accuracy : Estimate or Undefined
        Held-out values.
    held_out_method : str
        How they were computed: see `OutOfSample`.
    chance : float or None
        Probability that the accuracy is reached in the population.
    at_confidence : Hold or None
        The cut-off that reaches the accuracy with a confidence, if one was set.

    Examples
    --------
    >>> from evalreport.core.json_codec import decode, encode
    >>> from evalreport.core.result import Undefined
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
    held_out_coverage: Result
    held_out_accuracy: Result | None
    held_out_method: str
    chance: Share | None = None
    at_confidence: Hold | None = None

    @property
    def out_of_sample(self) -> OutOfSample:
        """Held-out values: `value` is the coverage, `kept` the accuracy."""
        return OutOfSample(self.held_out_coverage, self.held_out_accuracy, self.held_out_method, self.chance)


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
    """Thresholds with their counts, and the choice for each objective."""

    points: tuple[SweepPoint, ...]
    optima: Mapping[str, ChoiceRecord | Tuned]


@dataclass(frozen=True)
class Optimum:
    """The best threshold for an objective.

    Parameters
    ----------
    objective, text : str
        Key, and the full objective as it is parsed.
    metric : str
        Metric of `apparent` and `out_of_sample`.
    threshold : float
        Positive when ``score >= threshold``; infinite (null in JSON) if flagging nothing is best.
    apparent : float
        Value on the rows that it was chosen on, which is optimistic.
    tp, fp, fn, tn : float
        Counts on these rows.
    low, high : float or None
        Interval of the threshold: the middle 95% of its choices in resamples.
    interval : str or None
        Method of that interval.
    out_of_sample : OutOfSample or None
        Held-out value; None if it was not computed.
    constraint : BoundKept or None
        The constraint, and its metric at this threshold; None without one.
    at_confidence : Hold or None
        The threshold that meets the constraint with a confidence, if one was set.

    Examples
    --------
    >>> best = Optimum("f1", "f1", "f1", 0.4, 0.8, 8.0, 2.0, 2.0, 88.0)
    >>> choice_from_wire("f1", choice_to_wire(best)) == best
    True
    """

    objective: str
    text: str
    metric: str
    threshold: float
    apparent: float
    tp: float
    fp: float
    fn: float
    tn: float
    low: float | None = None
    high: float | None = None
    interval: str | None = None
    out_of_sample: OutOfSample | None = None
    constraint: BoundKept | None = None
    at_confidence: Hold | None = None

    @property
    def no_skill(self) -> float | None:
        """F1 of flagging every row, 2p / (1 + p) for a proportion p of positives: uninformative scores are
        not expected to reach more at any threshold. None for other metrics."""
        positives, rows = self.tp + self.fn, self.tp + self.fp + self.fn + self.tn
        return 2 * positives / (rows + positives) if self.metric == BALANCED and rows else None

    @property
    def chance(self) -> float | None:
        """Probability that its constraint is met in the population; None without one, or if unknown."""
        return None if self.out_of_sample is None else self.out_of_sample.chance

    def _repr_html_(self) -> str:
        """Threshold, counts and value, for a notebook."""
        known = self.low is not None and self.high is not None
        between = f" ({shown(self.low or 0)} to {shown(self.high or 0)})" if known else ""
        counts = f"finds {count(self.tp)} of {count(self.tp + self.fn)} for {count(self.fp)} false positives"
        name, metric = (escape(printable(text)) for text in (self.objective, self.metric))
        value = f"{metric} {show(self.apparent, 'ratio')} here"
        return f"{name}: threshold <b>{shown(self.threshold)}</b>{between} {counts}; {value}"

    def to_wire(self) -> OptimumRecord:
        """Return the record in `evaluation.json`; an infinite threshold is null."""
        other = self.out_of_sample
        own: dict[str, Any] = {
            "held_out": None if other is None else other.value.value,
            "counts": FourCounts(self.tp, self.fp, self.fn, self.tn),
            "interval_method": self.interval,
            "held_out_method": None if other is None else other.method,
            "held_out_estimate": None if other is None else other.value,
            "constraint": self._bound_record(),
            "no_skill": self.no_skill,
        }
        return OptimumRecord(**(shared_fields(self, OptimumRecord) | own))

    def _bound_record(self) -> BoundRecord | None:
        bound, other = self.constraint, self.out_of_sample
        if bound is None:
            return None
        return BoundRecord(
            bound.metric,
            bound.number if bound.operator in (">=", ">") else None,
            bound.number if bound.operator in ("<=", "<") else None,
            bound.operator in (">", "<"),
            bound.in_sample,
            None if other is None else other.kept,
            self.chance,
        )


@dataclass(frozen=True)
class Unreachable:
    """No threshold meets the constraint; this is the nearest one.

    Parameters
    ----------
    objective, text : str
    metric : str
        The constraint's metric.
    constraint : float
        The limit.
    best : float
        The best value of `metric` at any threshold.
    threshold : float
        The threshold with the best value.

    Examples
    --------
    >>> Unreachable("precision>=0.9", "precision>=0.9", "precision", 0.9, 0.75, 0.6).reason
    'no threshold reaches precision>=0.9; the best reachable is 0.75, at 0.6'
    """

    objective: str
    text: str
    metric: str
    constraint: float
    best: float
    threshold: float

    @property
    def reason(self) -> str:
        """The reason, as users read it."""
        return (
            f"no threshold reaches {self.objective}; the best reachable is {self.best:.4g}, "
            f"at {self.threshold:.4g}"
        )

    def to_wire(self) -> UnreachableRecord:
        """Return the record in `evaluation.json`: no threshold, with the reason."""
        return UnreachableRecord(
            *(None, None, None, None, None),
            text=self.text,
            metric=self.metric,
            constraint=self.constraint,
            best=self.best,
            best_threshold=self.threshold,
            reason=self.reason,
        )


Choice: TypeAlias = Optimum | Unreachable | Undefined


def choice_to_wire(choice: Choice) -> ChoiceRecord:
    """Return the record of a choice in `evaluation.json`; every kind has the same five first keys.

    Examples
    --------
    >>> choice_to_wire(Undefined("no positive example")).reason
    'no positive example'
    """
    if isinstance(choice, Undefined):
        return NoOptimumRecord(None, None, None, None, None, choice.reason, choice.n)
    return choice.to_wire()


def choice_from_wire(objective: str, record: ChoiceRecord) -> Choice:
    """Return the choice for an objective from its record.

    Examples
    --------
    >>> choice_from_wire("f1", choice_to_wire(Undefined("no positive example")))
    Undefined(reason='no positive example', n=0.0)
    """
    match record:
        case UnreachableRecord():
            described = (record.text, record.metric, record.constraint, record.best, record.best_threshold)
            return Unreachable(objective, *described)
        case NoOptimumRecord():
            return Undefined(record.reason, record.n)
        case OptimumRecord():
            return _optimum(objective, record)


def _optimum(objective: str, record: OptimumRecord) -> Optimum:
    counts, method = record.counts, record.interval_method
    value, bound = record.held_out_estimate, record.constraint
    kept, chance = (None, None) if bound is None else (bound.held_out, bound.chance)
    other = None if value is None else OutOfSample(value, kept, record.held_out_method or "", chance)
    return Optimum(
        objective,
        record.text,
        record.metric,
        _infinite(record.threshold),
        record.apparent,
        *(counts.tp, counts.fp, counts.fn, counts.tn),
        low=None if method is None else _infinite(record.low),
        high=None if method is None else _infinite(record.high),
        interval=method,
        out_of_sample=other,
        constraint=None if bound is None else _restore_bound(bound),
        at_confidence=record.at_confidence,
    )


def _restore_bound(record: BoundRecord) -> BoundKept:
    number = record.at_most if record.at_least is None else record.at_least
    sign: Operator = "<" if record.at_least is None else ">"
    plain: Operator = "<=" if record.at_least is None else ">="
    return BoundKept(record.metric, sign if record.strict else plain, number or 0.0, record.in_sample)


def _infinite(number: float | None) -> float:
    return math.inf if number is None else number
