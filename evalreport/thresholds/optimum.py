"""The chosen threshold: where it is, how well it is known, what it reaches here and elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

from evalreport.bounds import Operator
from evalreport.codec import alike
from evalreport.format import count, show
from evalreport.format import threshold as shown
from evalreport.metrics.named_sets import BALANCED
from evalreport.text import printable
from evalreport.thresholds.records import (
    BoundKept,
    BoundRecord,
    ChoiceRecord,
    FourCounts,
    Hold,
    NoOptimumRecord,
    OptimumRecord,
    OutOfSample,
    UnreachableRecord,
)
from evalreport.values import Undefined


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
    bound: BoundKept | None = None
    hold: Hold | None = None

    @property
    def no_skill(self) -> float | None:
        """F1 of flagging every row, 2p / (1 + p) of a share p of positives: no threshold of scores that know
        nothing is expected to reach more; None of other metrics."""
        positives, rows = self.tp + self.fn, self.tp + self.fp + self.fn + self.tn
        return 2 * positives / (rows + positives) if self.metric == BALANCED and rows else None

    @property
    def chance(self) -> float | None:
        """Chance that its bound holds in the population; None without a bound, or where nobody knows."""
        return None if self.out_of_sample is None else self.out_of_sample.chance

    def _repr_html_(self) -> str:
        """Threshold, counts and value, for a notebook."""
        known = self.low is not None and self.high is not None
        between = f" ({shown(self.low or 0)} to {shown(self.high or 0)})" if known else ""
        counts = f"finds {count(self.tp)} of {count(self.tp + self.fn)} for {count(self.fp)} false alarms"
        name, metric = (escape(printable(text)) for text in (self.objective, self.metric))
        value = f"{metric} {show(self.apparent, 'ratio')} here"
        return f"{name}: threshold <b>{shown(self.threshold)}</b>{between} {counts}; {value}"

    def to_wire(self) -> OptimumRecord:
        """Return the optimum as `evaluation.json` holds it; an infinite threshold is null."""
        other = self.out_of_sample
        own: dict[str, Any] = {
            "honest": None if other is None else other.value.value,
            "counts": FourCounts(self.tp, self.fp, self.fn, self.tn),
            "interval_method": self.interval,
            "honest_method": None if other is None else other.method,
            "honest_estimate": None if other is None else other.value,
            "bound": self._bound(),
            "no_skill": self.no_skill,
        }
        return OptimumRecord(**(alike(self, OptimumRecord) | own))

    def _bound(self) -> BoundRecord | None:
        bound, other = self.bound, self.out_of_sample
        if bound is None:
            return None
        return BoundRecord(
            bound.metric,
            bound.number if bound.operator in (">=", ">") else None,
            bound.number if bound.operator in ("<=", "<") else None,
            bound.operator in (">", "<"),
            bound.here,
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
    bound: float
    best: float
    threshold: float

    @property
    def reason(self) -> str:
        """What is told of it."""
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
            bound=self.bound,
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
            told = (record.text, record.metric, record.bound, record.best, record.best_threshold)
            return Unreachable(objective, *told)
        case NoOptimumRecord():
            return Undefined(record.reason, record.n)
        case OptimumRecord():
            return _optimum(objective, record)


def _optimum(objective: str, record: OptimumRecord) -> Optimum:
    counts, method = record.counts, record.interval_method
    value, bound = record.honest_estimate, record.bound
    kept, chance = (None, None) if bound is None else (bound.elsewhere, bound.chance)
    other = None if value is None else OutOfSample(value, kept, record.honest_method or "", chance)
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
        bound=None if bound is None else _bound_kept(bound),
        hold=record.hold,
    )


def _bound_kept(record: BoundRecord) -> BoundKept:
    number = record.at_most if record.at_least is None else record.at_least
    sign: Operator = "<" if record.at_least is None else ">"
    plain: Operator = "<=" if record.at_least is None else ">="
    return BoundKept(record.metric, sign if record.strict else plain, number or 0.0, record.here)


def _infinite(number: float | None) -> float:
    return math.inf if number is None else number
