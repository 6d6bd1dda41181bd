"""Rules: bounds of metrics, and of their change from a baseline, each with one of three outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.bounds import Bound
from evalreport.comparison.pairing import Pairing
from evalreport.comparison.planning import about_rows, rows_needed
from evalreport.comparison.values import CLASS, Comparison, Detectable, Difference
from evalreport.errors import UsageError, nearest
from evalreport.evaluation.model import Evaluation
from evalreport.format import fixed
from evalreport.gate.lookup import (
    MeasuredBound,
    check_class,
    check_slice,
    measured_value,
    names_a_slice,
    slice_of,
)
from evalreport.gate.results import CheckOutcome, CheckResult
from evalreport.intervals.inversion import POWER
from evalreport.intervals.quantiles import normal_quantile
from evalreport.metrics.catalogue import find

Use: TypeAlias = Literal["interval", "estimate"]
"""What a rule is held against: the interval, or the value alone."""
MOST_DIGITS = 12
"""Decimals up to which a value is written out to tell on which side of its bound it lies."""


def rule_checks(
    ev: Evaluation,
    bounds: Sequence[Bound],
    use: Use = "interval",
    *,
    against: Comparison | None = None,
    run: str = "",
) -> tuple[CheckResult, ...]:
    """Hold an evaluation against rules, in their order.

    Parameters
    ----------
    ev : Evaluation
    bounds : sequence of Bound
    use : {"interval", "estimate"}
        ``interval``: a rule has passed when the interval excludes that it is broken, failed when it excludes
        that it is kept, and is inconclusive in between. ``estimate``: the values alone.
    against : Comparison, optional
        With the baseline; needed where a change is bounded.
    run : str
        The name of the evaluation in that comparison.

    Returns
    -------
    tuple of CheckResult
        An undefined value fails, with its reason. A change is judged by its own interval, without correction
        for other runs: each run is let in or kept out by itself, as if it had come alone.

    Raises
    ------
    UsageError
        A metric, class or slice that is not there, or a bound that no value can keep.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.labels import Multiclass
    >>> from evalreport.predictions import predictions
    >>> ev = evaluate_predictions(predictions(Multiclass("ab"), ["a", "b"] * 10, ["a"] * 20))
    >>> for text in ("accuracy >= 0.9", "accuracy >= 0.6"):
    ...     (result,) = rule_checks(ev, [Bound.parse(text)])
    ...     print(result.outcome, result.shown, sep=": ")
    failed: 0.500 (0.272 to 0.728)
    inconclusive: 0.500 (0.272 to 0.728)
    """
    found = [
        measured_change(ev, bound, against, run) if bound.change else measured_value(ev, bound)
        for bound in bounds
    ]
    return tuple(_judged(entry, use) for entry in found)


def outcome_of(bound: Bound, value: float, limits: tuple[float, float] | None, use: Use) -> CheckOutcome:
    """Return what a value and its interval say of a bound.

    Examples
    --------
    >>> bound = Bound.parse("recall >= 0.9")
    >>> [outcome_of(bound, value, (value - 0.02, value + 0.02), "interval") for value in (0.95, 0.91, 0.85)]
    ['passed', 'inconclusive', 'failed']
    >>> outcome_of(bound, 0.91, None, "interval"), outcome_of(bound, 0.91, None, "estimate")
    ('inconclusive', 'passed')
    """
    if use == "estimate":
        return "passed" if bound.holds(value) else "failed"
    if limits is None:
        return "inconclusive"
    worst, best = limits if bound.demands == "high" else limits[::-1]
    if bound.holds(worst):
        return "passed"
    return "inconclusive" if bound.holds(best) else "failed"


@dataclass(frozen=True)
class _Decision:
    """Why a rule is undecided: what the sample can tell, and how many rows would."""

    detectable: Detectable | None = None
    rows: int | None = None
    words: str = ""


def _judged(found: MeasuredBound, use: Use) -> CheckResult:
    bound = found.bound
    if found.value is None:
        return CheckResult(
            bound.text, "failed", f"undefined: {found.reason}", kind=found.kind, bound=bound.number
        )
    outcome = outcome_of(bound, found.value, found.limits, "estimate" if found.exact else use)
    why = _undecided(found) if outcome == "inconclusive" else _Decision()
    low, high = found.reported(found.limits) if found.limits is not None else (None, None)
    return CheckResult(
        bound.text,
        outcome,
        _shown(found, use),
        "; ".join(filter(None, (why.words, found.note))),
        kind=found.kind,
        value=found.reported((found.value, found.value))[0],
        low=low,
        high=high,
        bound=bound.number,
        detectable=why.detectable,
        rows_needed=why.rows,
    )


def _undecided(found: MeasuredBound) -> _Decision:
    """What a sample like this decides with 80% probability, and how many rows decide this.

    The end of the interval that faces the bound is taken for 1.96 standard errors, at a level of 95%.
    """
    if found.value is None or found.limits is None:
        return _Decision(words=f"no interval: {found.reason or 'this metric has none'}")
    distance = abs(found.value - found.bound.number)
    facing = found.limits[0] if found.value > found.bound.number else found.limits[1]
    ends = normal_quantile((1 + found.level) / 2)
    reach = abs(found.value - facing) * (1 + normal_quantile(POWER) / ends)
    rows = rows_needed(found.rows, reach, distance)
    possible = _possible(found, reach)
    told = f"a truth {_fine(found, reach)} from it" if possible else "no truth that is possible"
    words = f"on either side of {found.bound.number:.12g}; {told} would be told with {POWER:.0%} probability"
    if rows is None:
        words += ", and no number of rows tells one that lies on it"
    else:
        words += f", this one by about {about_rows(rows)} in place of {found.rows:,}"
    return _Decision(Detectable(POWER, reach if possible else None), rows, words)


def _possible(found: MeasuredBound, reach: float) -> bool:
    """Whether the metric, or its change, can be so far from the bound at all."""
    record, number = find(found.bound.metric), found.bound.number
    span = record.high - record.low
    low, high = (-span, span) if found.bound.change else (record.low, record.high)
    return number - reach >= low or number + reach <= high


def _shown(found: MeasuredBound, use: Use) -> str:
    value = found.value or 0.0
    if not found.bound.change:
        text = _number(value, found.bound)
        limits = [fixed(end, 3) for end in found.limits or ()]
        if use == "interval" and found.limits is not None:
            limits = [_number(end, found.bound) for end in found.limits]
    else:
        text = "difference " + _signed(found, found.reported((value, value))[0])
        limits = [_signed(found, end) for end in found.reported(found.limits or (0.0, 0.0))]
    if found.limits is None:
        return f"{text}, no interval" if use == "interval" and not found.exact else text
    return f"{text} ({limits[0]} to {limits[1]})" + ("" if found.paired else ", not paired")


def _number(value: float, bound: Bound) -> str:
    """Return a value with as many decimals as it takes to show on which side of the bound it lies."""
    for digits in range(3, MOST_DIGITS):
        if bound.holds(round(value, digits)) == bound.holds(value):
            return fixed(value, digits)
    return f"{value!r}"


def _fine(found: MeasuredBound, value: float) -> str:
    """Return a number with one decimal more than the bound has, at least three."""
    decimals = len(f"{found.bound.number:.10f}".rstrip("0").partition(".")[2])
    return fixed(value, max(3, decimals + 1))


def _signed(found: MeasuredBound, value: float) -> str:
    text = _fine(found, value)
    return f"+{text}" if value > 0 else text


NEEDS = 'write what is compared with, as in --require "recall drops <= 0.02" --baseline old.parquet'


def measured_change(ev: Evaluation, bound: Bound, against: Comparison | None, run: str) -> MeasuredBound:
    """Return the change that a bound is about, with its interval.

    Parameters
    ----------
    against : Comparison or None
        In which `run` is held against a baseline.

    Raises
    ------
    UsageError
        No baseline, a metric that is not there, a rule that asks for the worse.
    """
    if against is None:
        raise UsageError(f"{bound.text!r} needs a baseline", where="--require", fix=NEEDS)
    check_change(ev, bound)
    pairing = next(how for name, _, how in against.pairings if name == run)
    found = _of_part(ev, bound, against, run) if bound.part else _of_all(bound, against, run)
    if found is None:
        return MeasuredBound(bound, None, None, 0, against.level, reason=_missing(bound, pairing))
    return _measured(ev, bound, found, pairing, against.level)


def check_change(ev: Evaluation, bound: Bound) -> None:
    """Refuse a rule on a change that asks for the worse, that nothing can keep or that nothing can break.

    Raises
    ------
    UsageError
    """
    metric = find(bound.metric, "binary" if _of_class(ev, bound) else ev.task)
    span = metric.high - metric.low
    bound.check_possible(-span, span)
    if bound.holds(-span) and bound.holds(span):
        raise UsageError(
            f"{bound.text!r} can never be broken: {bound.metric} changes by {span:g} at most",
            where="--require",
            fix="write a share of 1, or with a percent sign: 0.02 or 2%",
        )
    wants = "higher" if (bound.change == "rises") == (bound.demands == "high") else "lower"
    if metric.better in ("higher", "lower") and metric.better != wants:
        kept = "drops" if metric.better == "higher" else "rises"
        raise UsageError(
            f"{bound.text!r} asks for the worse: of {bound.metric} {metric.better} is better",
            where="--require",
            fix=f'write "{bound.metric} {kept} <= {bound.number:.12g}"',
        )


def _of_class(ev: Evaluation, bound: Bound) -> bool:
    return bool(bound.part) and not names_a_slice(ev, bound)


def _of_all(bound: Bound, against: Comparison, run: str) -> Difference | None:
    return next(iter(against.of(bound.metric, run)), None)


def _of_part(ev: Evaluation, bound: Bound, against: Comparison, run: str) -> Difference | None:
    if names_a_slice(ev, bound):
        sliced = ev.predictions.slices if ev.predictions is not None else {}
        known = [f"{name}={value}" for name, column in sliced.items() for value in column.values]
        check_slice(bound, list(sliced), known)
        scope = " = ".join((slice_of(bound.part) or "").split("=", 1))
    else:
        check_class(ev, bound)
        scope = CLASS + bound.part
    of_class = scope.startswith(CLASS)
    mine = [d for d in against.parts if d.run == run and d.scope.startswith(CLASS) == of_class]
    metrics = {d.metric for d in mine}
    if metrics and bound.metric not in metrics:
        raise UsageError(
            f"{bound.metric!r} is not compared by class or slice",
            where="--require",
            fix=nearest(bound.metric, sorted(metrics)),
        )
    return next((d for d in mine if d.scope == scope and d.metric == bound.metric), None)


def _missing(bound: Bound, pairing: Pairing) -> str:
    if pairing.kind == "unpaired":
        return f"classes and slices are compared on the same examples alone, and {pairing.reason}"
    return f"{bound.part} has too few examples, or no value in one of the runs"


def _measured(
    ev: Evaluation, bound: Bound, found: Difference, pairing: Pairing, level: float
) -> MeasuredBound:
    sign = -1.0 if bound.change == "drops" else 1.0
    limits = None
    if found.low is not None and found.high is not None:
        low, high = sorted((sign * found.low, sign * found.high))
        limits = (low, high)
    paired = pairing.kind == "paired"
    return MeasuredBound(
        bound,
        None if found.difference is None else sign * found.difference,
        limits,
        pairing.n_shared if paired else ev.rows,
        level,
        paired=paired,
        reason=found.reason,
        note="; ".join(filter(None, (_same(limits), _paired(pairing)))),
    )


def _same(limits: tuple[float, float] | None) -> str:
    if limits != (0.0, 0.0):
        return ""
    return "the two do not differ on any row; make sure that the baseline is not the run itself"


def _paired(pairing: Pairing) -> str:
    if pairing.kind == "paired":
        return f"paired on {pairing.n_shared:,} examples, {pairing.reason}"
    return f"not paired: {pairing.reason}"
