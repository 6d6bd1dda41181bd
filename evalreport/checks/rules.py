"""Metrics of one evaluation against bounds, on the estimate or on the interval's bad end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from evalreport.checks.values import CheckResult, Rule
from evalreport.errors import UsageError, nearest
from evalreport.evaluation.model import Evaluation
from evalreport.format import fixed
from evalreport.labels import Binary, Task
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric
from evalreport.values import Estimate, Result, Undefined

Use: TypeAlias = Literal["estimate", "lower"]
"""What a rule is held against: the estimate, or the end of the interval that is worse for the rule."""
MOST_DIGITS = 12


def run_rules(ev: Evaluation, rules: Sequence[Rule], use: Use = "estimate") -> tuple[CheckResult, ...]:
    """Hold an evaluation against rules.

    Parameters
    ----------
    ev : Evaluation
    rules : sequence of Rule
    use : {"estimate", "lower"}
        ``lower`` compares the bad end of the interval: the low one where a rule asks for a high value,
        the high one where it asks for a low value.

    Returns
    -------
    tuple of CheckResult
        In the order of the rules. A value that is undefined fails, with its reason.

    Raises
    ------
    UsageError
        A metric or class that is not there, or a bound that no value can keep.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.labels import Multiclass
    >>> from evalreport.predictions import predictions
    >>> ev = evaluate_predictions(predictions(Multiclass("ab"), ["a", "b"] * 10, ["a"] * 20))
    >>> (result,) = run_rules(ev, [Rule.parse("accuracy >= 0.9")])
    >>> result.outcome, result.shown
    ('failed', '0.500 (0.299 to 0.701)')
    """
    return tuple(_run(rule, *_looked_up(ev, rule), use) for rule in rules)


def _looked_up(ev: Evaluation, rule: Rule) -> tuple[Metric, Result]:
    if rule.label:
        return _of_part(ev, rule)
    result = ev[rule.metric]
    metric = find(rule.metric, ev.task)
    _possible(rule, metric)
    return metric, result


def _of_part(ev: Evaluation, rule: Rule) -> tuple[Metric, Result]:
    """The metric of a class, else of a slice: ``column=value``."""
    classes = {str(entry.label): entry for entry in ev.classes}
    binary = isinstance(ev.space, Binary)
    if "=" in rule.label and (binary or rule.label not in classes):
        return _of_slice(ev, rule)
    if binary:
        raise UsageError(
            f"{rule.text!r} names a class of a binary problem",
            where="--require",
            fix=f"write {rule.metric} without a class; it is of the positive one",
        )
    if rule.label not in classes:
        raise UsageError(
            f"there is no class {rule.label!r}", where="--require", fix=nearest(rule.label, classes)
        )
    return _known(rule, classes[rule.label].metrics, "binary", "a class")


def _of_slice(ev: Evaluation, rule: Rule) -> tuple[Metric, Result]:
    column, value = (part.strip() for part in rule.label.split("=", 1))
    slices = {f"{part.column}={part.value}": part for part in ev.slices}
    found = slices.get(f"{column}={value}")
    if not any(part.column == column for part in ev.slices):
        raise UsageError(
            f"{rule.text!r} names a slice of {column!r}, which was not asked for",
            where="--require",
            fix=f"add --slice {column}",
        )
    if found is None:
        raise UsageError(
            f"no row has {column} = {value}", where="--require", fix=nearest(f"{column}={value}", slices)
        )
    if found.too_few:
        metric = find(rule.metric, ev.task)
        _possible(rule, metric)
        return metric, Undefined(f"only {found.rows} rows have {column} = {value}")
    return _known(rule, found.metrics, ev.task, "a slice")


def _known(rule: Rule, metrics: Mapping[str, Result], task: Task, what: str) -> tuple[Metric, Result]:
    if rule.metric not in metrics:
        raise UsageError(
            f"{what} has no metric {rule.metric!r}", where="--require", fix=nearest(rule.metric, metrics)
        )
    metric = find(rule.metric, task)
    _possible(rule, metric)
    return metric, metrics[rule.metric]


def _possible(rule: Rule, metric: Metric) -> None:
    best = metric.high if rule.demands == "high" else metric.low
    if not rule.holds(best):
        raise UsageError(
            f"{rule.text!r} can never hold: {rule.metric} lies within {metric.low:g} to {metric.high:g}",
            where="--require",
            fix="write a share of 1, or with a percent sign: 0.9 or 90%",
        )


def _run(rule: Rule, metric: Metric, result: Result, use: Use) -> CheckResult:
    if isinstance(result, Undefined):
        return CheckResult(rule.text, "failed", f"undefined: {result.reason}", bound=rule.bound)
    exact = metric.interval == "none"
    if use == "estimate" or exact:
        value, words = result.value, ""
    elif result.low is None or result.high is None:
        return _without_interval(rule, result)
    elif rule.demands == "high":
        value, words = result.low, "lower bound "
    else:
        value, words = result.high, "upper bound "
    shown = f"{words}{_number(value, rule)}"
    if not words and result.low is not None and result.high is not None:
        shown += f" ({fixed(result.low, 3)} to {fixed(result.high, 3)})"
    return CheckResult(
        rule.text,
        "passed" if rule.holds(value) else "failed",
        shown,
        f"estimate {_number(result.value, rule)}" if words else "",
        value=result.value,
        low=result.low,
        high=result.high,
        bound=rule.bound,
    )


def _without_interval(rule: Rule, result: Estimate) -> CheckResult:
    known = rule.holds(result.value)
    return CheckResult(
        rule.text,
        "inconclusive" if known else "failed",
        f"{_number(result.value, rule)}, no interval",
        f"--use lower needs an interval: {result.reason or 'this metric has none'}",
        value=result.value,
        bound=rule.bound,
    )


def _number(value: float, rule: Rule) -> str:
    """Return a value with as many decimals as it takes to show on which side of the bound it lies."""
    for digits in range(3, MOST_DIGITS):
        if rule.holds(round(value, digits)) == rule.holds(value):
            return fixed(value, digits)
    return f"{value!r}"
