"""Chosen thresholds as `evaluation.json` holds them: keys, types and ranges.

The chosen threshold with its interval, its value on these rows and its held-out value.
"""

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
    in_sample: float


@dataclass(frozen=True)
class HoldCosts:
    """The metric that is maximised under a constraint.

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
        Confidence that the threshold meets the constraint in the population.
    threshold : float or None
        None where no threshold can be held.
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
    """The bound that a threshold was chosen under: one of `at_least` and `at_most` is its number."""

    metric: str
    at_least: float | None
    at_most: float | None
    strict: bool
    in_sample: float
    held_out: Result | None
    chance: Share | None


@dataclass(frozen=True)
class OptimumRecord:
    """A threshold that was found; null where it is infinite."""

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
    """A constraint that no threshold keeps."""

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
    """No threshold, and why."""

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
    """The numbers that were chosen: a threshold per label, or a weight per class.

    Parameters
    ----------
    objective : str
    values : mapping of str to float
        By label. A threshold is infinite (null in JSON) for a label that is never flagged: for want of
        true examples, or because flagging none is best. The geometric mean of weights is 1.
    apparent : float
        Value of the objective on the rows of the choice.
    held_out_estimate : Estimate or Undefined
        Value on other rows.
    held_out_method : str
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
        """The value on other rows, as a number."""
        return self.held_out_estimate.value

    @property
    def out_of_sample(self) -> OutOfSample:
        """What the numbers reach on other rows."""
        return OutOfSample(self.held_out_estimate, None, self.held_out_method)


@dataclass(frozen=True)
class Cutoff:
    """The confidence from which predictions reach a target accuracy; the other rows are deferred.

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
    held_out_coverage, held_out_accuracy : Estimate or Undefined
        On other rows.
    held_out_method : str
        Where these come from: see `OutOfSample`.
    chance : float or None
        Probability that the accuracy holds in the population.
    hold : Hold or None
        The cut-off that keeps the accuracy with a confidence, where one was asked for.

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
        """On other rows: `value` is the coverage, `kept` the accuracy."""
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
    """Thresholds with their counts, and what was chosen for each objective."""

    points: tuple[SweepPoint, ...]
    optima: Mapping[str, ChoiceRecord | Tuned]


@dataclass(frozen=True)
class Optimum:
    """The best threshold for an objective.

    Parameters
    ----------
    objective, text : str
        Key, and the objective in full as it is parsed.
    metric : str
        What `apparent` and `honest` are values of.
    threshold : float
        Positive when ``score >= threshold``; infinite (null in JSON) where flagging nothing is best.
    apparent : float
        Value on the rows that it was chosen on: too good by the choice.
    tp, fp, fn, tn : float
        Counts there.
    low, high : float or None
        Interval of the threshold: where 95% of resamples put it.
    interval : str or None
        How that interval was made.
    out_of_sample : OutOfSample or None
        Value without that advantage; None when it was not asked for.
    bound : BoundKept or None
        The constraint, and its metric at this threshold; None without one.
    hold : Hold or None
        The threshold that keeps the constraint with a confidence, where one was asked for.

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
        """F1 of flagging every row, 2p / (1 + p) of a share p of positives: no threshold of scores that know
        nothing is expected to reach more; None of other metrics."""
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
        """Return the optimum as `evaluation.json` holds it; an infinite threshold is null."""
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
    """No threshold keeps the constraint; the nearest that one comes to it.

    Parameters
    ----------
    objective, text : str
    metric : str
        The constraint's metric.
    bound : float
        What was asked for.
    best : float
        The best value of `metric` that a threshold reaches.
    threshold : float
        Where it does.

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
        """The shown values."""
        return (
            f"no threshold reaches {self.objective}; the best reachable is {self.best:.4g}, "
            f"at {self.threshold:.4g}"
        )

    def to_wire(self) -> UnreachableRecord:
        """Return it as `evaluation.json` holds it: no threshold, and why."""
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
    """Return a choice as `evaluation.json` holds it: always with the same five keys, and a reason.

    Examples
    --------
    >>> choice_to_wire(Undefined("no positive example")).reason
    'no positive example'
    """
    if isinstance(choice, Undefined):
        return NoOptimumRecord(None, None, None, None, None, choice.reason, choice.n)
    return choice.to_wire()


def choice_from_wire(objective: str, record: ChoiceRecord) -> Choice:
    """Return what was chosen for an objective.

    Examples
    --------
    >>> choice_from_wire("f1", choice_to_wire(Undefined("no positive example")))
    Undefined(reason='no positive example', n=0.0)
    """
    match record:
        case UnreachableRecord():
            told = (record.text, record.metric, record.constraint, record.best, record.best_threshold)
            return Unreachable(objective, *told)
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
