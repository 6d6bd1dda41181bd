"""The chosen threshold: where it is, how well it is known, what it reaches here and elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from evalreport.values import Result, Undefined, result_from_dict

_KEYS = ("threshold", "low", "high", "apparent", "honest")


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

    Examples
    --------
    >>> OutOfSample(Undefined("no positive example"), None, "cross-fitted").value.value is None
    True
    """

    value: Result
    kept: Result | None
    method: str


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
        Interval of the threshold: where 95 % of resamples put it.
    interval : str or None
        How that interval was made.
    out_of_sample : OutOfSample or None
        Value without that advantage; None when it was not asked for.

    Examples
    --------
    >>> best = Optimum("f1", "f1", "f1", 0.4, 0.8, 8.0, 2.0, 2.0, 88.0)
    >>> Optimum.from_dict("f1", best.as_dict()) == best
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

    def as_dict(self) -> dict[str, Any]:
        """Return the optimum as `evaluation.json` holds it; an infinite threshold is null."""
        value = None if self.out_of_sample is None else self.out_of_sample.value
        kept = (
            None
            if self.out_of_sample is None or self.out_of_sample.kept is None
            else self.out_of_sample.kept.as_dict()
        )
        return {
            "threshold": _finite(self.threshold),
            "low": _finite(self.low),
            "high": _finite(self.high),
            "apparent": self.apparent,
            "honest": None if value is None else value.value,
            "metric": self.metric,
            "text": self.text,
            "counts": {"tp": self.tp, "fp": self.fp, "fn": self.fn, "tn": self.tn},
            "interval_method": self.interval,
            "honest_method": None if self.out_of_sample is None else self.out_of_sample.method,
            "honest_estimate": None if value is None else value.as_dict(),
            "honest_constraint": kept,
            "reason": None,
        }

    @classmethod
    def from_dict(cls, objective: str, data: Mapping[str, Any]) -> Optimum:
        """Rebuild an optimum from its key and `as_dict()`."""
        out_of_sample = None
        if data["honest_estimate"] is not None:
            kept = data["honest_constraint"]
            out_of_sample = OutOfSample(
                result_from_dict(data["honest_estimate"]),
                None if kept is None else result_from_dict(kept),
                data["honest_method"],
            )
        method = data["interval_method"]
        return cls(
            objective,
            data["text"],
            data["metric"],
            _infinite(data["threshold"]),
            data["apparent"],
            **data["counts"],
            low=None if method is None else _infinite(data["low"]),
            high=None if method is None else _infinite(data["high"]),
            interval=method,
            out_of_sample=out_of_sample,
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

    def as_dict(self) -> dict[str, Any]:
        """Return it as `evaluation.json` holds it: no threshold, and why."""
        own = {name: value for name, value in asdict(self).items() if name not in ("objective", "threshold")}
        return {
            **dict.fromkeys(_KEYS),
            **own,
            "best_threshold": _finite(self.threshold),
            "reason": self.reason,
        }

    @classmethod
    def from_dict(cls, objective: str, data: Mapping[str, Any]) -> Unreachable:
        """Rebuild from its key and `as_dict()`."""
        own = {name: data[name] for name in ("text", "metric", "bound", "best")}
        return cls(objective, **own, threshold=_infinite(data["best_threshold"]))


Choice: TypeAlias = Optimum | Unreachable | Undefined


def choice_as_dict(choice: Choice) -> dict[str, Any]:
    """Return a choice as `evaluation.json` holds it: always with the same five keys, and a reason.

    Examples
    --------
    >>> choice_as_dict(Undefined("no positive example"))["threshold"] is None
    True
    """
    if isinstance(choice, Undefined):
        return {**dict.fromkeys(_KEYS), "reason": choice.reason, "n": choice.n}
    return choice.as_dict()


def choice_from_dict(objective: str, data: Mapping[str, Any]) -> Choice:
    """Rebuild what was chosen for an objective.

    Examples
    --------
    >>> choice_from_dict("f1", choice_as_dict(Undefined("no positive example")))
    Undefined(reason='no positive example', n=0.0)
    """
    if "best_threshold" in data:
        return Unreachable.from_dict(objective, data)
    if data["apparent"] is None:
        return Undefined(data["reason"], data["n"])
    return Optimum.from_dict(objective, data)


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _infinite(number: float | None) -> float:
    return math.inf if number is None else number
