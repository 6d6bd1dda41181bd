"""Rules: limits of metrics, and of their change from a baseline, each with one of three outcomes.

A rule is about all rows, one class or one slice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.comparison.comparison import CLASS, Comparison, Detectable, Difference, Pairing
from evalreport.comparison.sample_size import about_rows, rows_needed
from evalreport.core.bounds import Bound
from evalreport.core.errors import UsageError, nearest
from evalreport.core.format import format_fixed
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.core.text import truncate_with_digest
from evalreport.data.labels import Binary, Task
from evalreport.evaluation.evaluation import Evaluation
from evalreport.intervals.distributions import exact_like, normal_quantile
from evalreport.intervals.interval_settings import CERTAIN
from evalreport.intervals.paired import POWER
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric, Proportion

CheckOutcome: TypeAlias = Literal["passed", "failed", "inconclusive"]
CheckKind: TypeAlias = Literal["rule", "change", "data"]


@dataclass(frozen=True)
class CheckResult:
    """The result of one check.

    Parameters
    ----------
    name : str
        The rule as given, or the name of the data check.
    outcome : {"passed", "failed", "inconclusive"}
        ``passed``: the whole interval satisfies the rule; ``failed``: the whole interval violates it, or the
        value is undefined; ``inconclusive``: neither.
    shown : str
        The result in a few words.
    detail : str
        The reason, and what to do about it.
    kind : {"rule", "change", "data"}
        A limit of a value, a limit of the change from the baseline, a check of the rows.
    value, low, high, bound : float or None
        The value, its interval and the limit. For a change: the difference, run minus baseline, and the
        allowed change. For a data check: the number of rows that violate it.
    detectable : Detectable or None
        For an inconclusive rule: the minimum distance from the limit that is decided at 80% power.
    rows_needed : int or None
        For an inconclusive rule: rows that decide it at 80% power if the observed value is the true one.
    """

    name: str
    outcome: CheckOutcome
    shown: str
    detail: str = ""
    kind: CheckKind = "rule"
    value: float | None = None
    low: float | None = None
    high: float | None = None
    bound: float | None = None
    detectable: Detectable | None = None
    rows_needed: int | None = None


def gate_passes(results: tuple[CheckResult, ...], *, inconclusive_fails: bool = True) -> bool:
    """Return whether the gate passes.

    Examples
    --------
    >>> undecided = CheckResult("recall >= 0.9", "inconclusive", "")
    >>> gate_passes((undecided,)), gate_passes((undecided,), inconclusive_fails=False)
    (False, True)
    """
    failing = ("failed", "inconclusive") if inconclusive_fails else ("failed",)
    return not any(result.outcome in failing for result in results)


def count_outcomes(results: tuple[CheckResult, ...]) -> str:
    """Return the number of failed and inconclusive checks as text.

    Examples
    --------
    >>> count_outcomes((CheckResult("a", "failed", ""), CheckResult("b", "passed", "")))
    '1 of 2 failed'
    >>> count_outcomes((CheckResult("a", "passed", ""), CheckResult("b", "inconclusive", "")))
    '1 of 2 inconclusive'
    """
    total = len(results)
    counts = {name: sum(r.outcome == name for r in results) for name in ("failed", "inconclusive")}
    found = [f"{count} of {total} {name}" for name, count in counts.items() if count]
    return ", ".join(found) or ("nothing was checked" if not total else f"{total} of {total} passed")


@dataclass(frozen=True)
class MeasuredBound:
    """A rule and the measured value.

    Parameters
    ----------
    bound : Bound
    value : float or None
        On the scale of the rule: for a drop, baseline minus run. None where it is undefined.
    limits : (float, float) or None
        Its interval, low end first.
    rows, level
        Number of rows, or of graded items, and the confidence level of the interval.
    unit : (str, str)
        The word for one of these rows and for several.
    exact : bool
        Whether the value has no sampling error, as counts and settings.
    paired : bool
        For a change: whether it was measured on the same examples.
    reason : str
        The reason for a missing value or interval.
    note : str
        A remark for the details of the check.
    """

    bound: Bound
    value: float | None
    limits: tuple[float, float] | None
    rows: int
    level: float
    unit: tuple[str, str]
    exact: bool = False
    paired: bool = True
    reason: str = ""
    note: str = ""

    @property
    def kind(self) -> CheckKind:
        """Of a value, or of a change."""
        return "change" if self.bound.change else "rule"

    def run_minus_baseline(self, limits: tuple[float, float]) -> tuple[float, float]:
        """Return limits as run minus baseline: those of a drop change their sign and order."""
        return (0.0 - limits[1], 0.0 - limits[0]) if self.bound.change == "drops" else limits


def measured_value(ev: Evaluation, bound: Bound) -> MeasuredBound:
    """Return the value that a bound is about, with its interval.

    The interval of a proportion is exact: a model that meets the bound exactly is failed, and passed, in at
    most half of the error that the level leaves. Wilson's, which the report gives, is right on average and
    fails such a model in up to 16% (n = 17, 0.99).

    Raises
    ------
    UsageError
        A metric, class or slice that is not there, or a rule that no value can satisfy.
    """
    metric, result = _lookup_of_part(ev, bound) if bound.part else _lookup_of_all(ev, bound)
    bound.check_possible(metric.low, metric.high)
    interval, level = None, ev.sampling.level
    if isinstance(result, Estimate) and result.low is not None and result.high is not None:
        interval = (result.low, result.high)
        if isinstance(metric.strategy, Proportion):
            interval = exact_like(result.value, *interval, level)
    return MeasuredBound(
        bound,
        result.value,
        interval,
        ev.sample_size,
        level,
        ev.sample_unit,
        exact=metric.interval == "none" or result.reason in CERTAIN,
        reason=result.reason or "",
        note=result.reason if result.reason in CERTAIN else "",
    )


def slice_of(part: str) -> str | None:
    """Return a part as ``column=value`` without spaces around the sign; None for the name of a class.

    Examples
    --------
    >>> slice_of("site = a"), slice_of("card arrival")
    ('site=a', None)
    """
    column, sign, value = part.partition("=")
    return f"{column.strip()}={value.strip()}" if sign else None


def check_class(ev: Evaluation, bound: Bound) -> None:
    """Refuse a class that is not there, or any of a binary problem.

    Raises
    ------
    UsageError
    """
    if isinstance(ev.space, Binary):
        raise UsageError(
            f"{bound.text!r} names a class of a binary problem",
            where="--require",
            fix=f"write {bound.metric} without a class; it refers to the positive class",
        )
    known = [str(entry.label) for entry in ev.classes] or list(ev.space.names)
    if truncate_with_digest(bound.part) not in known:
        raise UsageError(
            f"there is no class {bound.part!r}", where="--require", fix=nearest(bound.part, known)
        )


def names_a_slice(ev: Evaluation, bound: Bound) -> bool:
    """Return whether the part of a bound is a slice; a class may hold an equals sign, too."""
    return slice_of(bound.part) is not None and (
        isinstance(ev.space, Binary) or bound.part not in ev.space.texts
    )


def _lookup_of_all(ev: Evaluation, bound: Bound) -> tuple[Metric, Result]:
    metric = find(bound.metric, ev.task)
    return metric, ev[metric.name]


def _lookup_of_part(ev: Evaluation, bound: Bound) -> tuple[Metric, Result]:
    if names_a_slice(ev, bound):
        return _of_slice(ev, bound)
    check_class(ev, bound)
    classes = {str(entry.label): entry for entry in ev.classes}
    return _find_metric(bound, classes[truncate_with_digest(bound.part)].metrics, "binary", "a class")


def _of_slice(ev: Evaluation, bound: Bound) -> tuple[Metric, Result]:
    wanted = slice_of(bound.part) or ""
    slices = {f"{part.column}={part.value}": part for part in ev.slices}
    check_slice(bound, [part.column for part in ev.slices], list(slices))
    found = slices[wanted]
    if found.too_few:
        column, _, value = wanted.partition("=")
        return find(bound.metric, ev.task), Undefined(f"only {found.rows} rows have {column} = {value}")
    return _find_metric(bound, found.metrics, ev.task, "a slice")


def check_slice(bound: Bound, columns: list[str], slices: list[str]) -> None:
    """Refuse a column that is not a slice column, or a value that no row has.

    Raises
    ------
    UsageError
    """
    wanted = slice_of(bound.part) or ""
    column, _, value = wanted.partition("=")
    if column not in columns:
        raise UsageError(
            f"{bound.text!r} names a slice of {column!r}, which is not a slice column",
            where="--require",
            fix=f"add --slice {column}",
        )
    if wanted not in slices:
        raise UsageError(f"no row has {column} = {value}", where="--require", fix=nearest(wanted, slices))


def _find_metric(bound: Bound, metrics: Mapping[str, Result], task: Task, what: str) -> tuple[Metric, Result]:
    if bound.metric not in metrics:
        raise UsageError(
            f"{what} has no metric {bound.metric!r}", where="--require", fix=nearest(bound.metric, metrics)
        )
    return find(bound.metric, task), metrics[bound.metric]


Use: TypeAlias = Literal["interval", "estimate"]
"""Test a rule on the interval, or on the value only."""
MOST_DIGITS = 12
"""Maximum number of decimals to show on which side of the limit a value is."""


def rule_checks(
    ev: Evaluation,
    bounds: Sequence[Bound],
    use: Use = "interval",
    *,
    against: Comparison | None = None,
    run: str = "",
) -> tuple[CheckResult, ...]:
    """Check an evaluation against rules, in their order.

    Parameters
    ----------
    ev : Evaluation
    bounds : sequence of Bound
    use : {"interval", "estimate"}
        ``interval``: a rule passes if the whole interval satisfies it, fails if the whole interval violates
        it, and is inconclusive otherwise. ``estimate``: only the value counts.
    against : Comparison, optional
        With the baseline; needed for rules about a change.
    run : str
        The name of the evaluation in that comparison.

    Returns
    -------
    tuple of CheckResult
        An undefined value fails, with its reason. Changes are not corrected for the number of runs: each
        run is checked independently.

    Raises
    ------
    UsageError
        A metric, class or slice that is not there, or a rule that no value can satisfy.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
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
    return tuple(_check_bound(entry, use) for entry in found)


def outcome_of(bound: Bound, value: float, limits: tuple[float, float] | None, use: Use) -> CheckOutcome:
    """Return the outcome of a rule for a value and its interval.

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
    """Power of an inconclusive rule: the detectable distance and the rows needed."""

    detectable: Detectable | None = None
    rows: int | None = None
    words: str = ""


def _check_bound(found: MeasuredBound, use: Use) -> CheckResult:
    bound = found.bound
    if found.value is None:
        return CheckResult(
            bound.text, "failed", f"undefined: {found.reason}", kind=found.kind, bound=bound.number
        )
    outcome = outcome_of(bound, found.value, found.limits, "estimate" if found.exact else use)
    why = _explain_inconclusive(found) if outcome == "inconclusive" else _Decision()
    low, high = found.run_minus_baseline(found.limits) if found.limits is not None else (None, None)
    return CheckResult(
        bound.text,
        outcome,
        _format_measured(found, use),
        "; ".join(filter(None, (why.words, found.note))),
        kind=found.kind,
        value=found.run_minus_baseline((found.value, found.value))[0],
        low=low,
        high=high,
        bound=bound.number,
        detectable=why.detectable,
        rows_needed=why.rows,
    )


def _explain_inconclusive(found: MeasuredBound) -> _Decision:
    """The distance from the limit that this sample decides at 80% power, and the rows that decide this value.

    The half of the interval on the side of the limit counts as 1.96 standard errors, at a level of 95%.
    """
    if found.value is None or found.limits is None:
        return _Decision(words=f"no interval: {found.reason or 'this metric has none'}")
    distance = abs(found.value - found.bound.number)
    facing = found.limits[0] if found.value > found.bound.number else found.limits[1]
    ends = normal_quantile((1 + found.level) / 2)
    reach = abs(found.value - facing) * (1 + normal_quantile(POWER) / ends)
    rows = rows_needed(found.rows, reach, distance)
    possible = _possible(found, reach)
    words = f"the interval contains {found.bound.number:.12g}; at {POWER:.0%} power, "
    words += (
        f"values at least {_fine(found, reach)} from it pass or fail"
        if possible
        else "no value passes or fails"
    )
    if rows is None:
        words += f"; a value equal to the limit stays inconclusive with any number of {found.unit[1]}"
    else:
        words += f"; this value needs about {about_rows(rows, found.unit)} instead of {found.rows:,}"
    return _Decision(Detectable(POWER, reach if possible else None), rows, words)


def _possible(found: MeasuredBound, reach: float) -> bool:
    """Whether the metric, or its change, can be so far from the limit."""
    record, number = find(found.bound.metric), found.bound.number
    span = record.high - record.low
    low, high = (-span, span) if found.bound.change else (record.low, record.high)
    return number - reach >= low or number + reach <= high


def _format_measured(found: MeasuredBound, use: Use) -> str:
    value = found.value or 0.0
    if not found.bound.change:
        text = _number(value, found.bound)
        limits = [format_fixed(end, 3) for end in found.limits or ()]
        if use == "interval" and found.limits is not None:
            limits = [_number(end, found.bound) for end in found.limits]
    else:
        text = "difference " + _format_signed(found, found.run_minus_baseline((value, value))[0])
        limits = [_format_signed(found, end) for end in found.run_minus_baseline(found.limits or (0.0, 0.0))]
    if found.limits is None:
        return f"{text}, no interval" if use == "interval" and not found.exact else text
    return f"{text} ({limits[0]} to {limits[1]})" + ("" if found.paired else ", not paired")


def _number(value: float, bound: Bound) -> str:
    """Return a value with enough decimals to show on which side of the limit it is."""
    for digits in range(3, MOST_DIGITS):
        if bound.holds(round(value, digits)) == bound.holds(value):
            return format_fixed(value, digits)
    return f"{value!r}"


def _fine(found: MeasuredBound, value: float) -> str:
    """Return a number with one decimal more than the bound has, at least three."""
    decimals = len(f"{found.bound.number:.10f}".rstrip("0").partition(".")[2])
    return format_fixed(value, max(3, decimals + 1))


def _format_signed(found: MeasuredBound, value: float) -> str:
    text = _fine(found, value)
    return f"+{text}" if value > 0 else text


NEEDS = 'write what is compared with, as in --require "recall drops <= 0.02" --baseline old.parquet'


def measured_change(ev: Evaluation, bound: Bound, against: Comparison | None, run: str) -> MeasuredBound:
    """Return the change in a rule, with its interval.

    Parameters
    ----------
    against : Comparison or None
        The comparison of `run` with a baseline.

    Raises
    ------
    UsageError
        No baseline, an unknown metric, a rule that requires a worse value.
    """
    if against is None:
        raise UsageError(f"{bound.text!r} needs a baseline", where="--require", fix=NEEDS)
    check_change(ev, bound)
    pairing = next(how for name, _, how in against.pairings if name == run)
    found = _of_part(ev, bound, against, run) if bound.part else _of_all(bound, against, run)
    if found is None:
        return MeasuredBound(
            bound, None, None, 0, against.level, ev.sample_unit, reason=_missing(bound, pairing)
        )
    return _measure_difference(ev, bound, found, pairing, against.level)


def check_change(ev: Evaluation, bound: Bound) -> None:
    """Refuse a rule about a change that requires a worse value, is never met or is always met.

    Raises
    ------
    UsageError
    """
    metric = find(bound.metric, "binary" if _of_class(ev, bound) else ev.task)
    span = metric.high - metric.low
    bound.check_possible(-span, span)
    if bound.holds(-span) and bound.holds(span):
        raise UsageError(
            f"{bound.text!r} is always met: {bound.metric} changes by at most {span:g}",
            where="--require",
            fix="write a fraction or a percentage: 0.02 or 2%",
        )
    wants = "higher" if (bound.change == "rises") == (bound.demands == "high") else "lower"
    if metric.better in ("higher", "lower") and metric.better != wants:
        kept = "drops" if metric.better == "higher" else "rises"
        raise UsageError(
            f"{bound.text!r} requires a worse value: {metric.better} {bound.metric} is better",
            where="--require",
            fix=f'write "{bound.metric} {kept} <= {bound.number:.12g}"',
        )


def _of_class(ev: Evaluation, bound: Bound) -> bool:
    return bool(bound.part) and not names_a_slice(ev, bound)


def _of_all(bound: Bound, against: Comparison, run: str) -> Difference | None:
    return next(iter(against.differences_for(bound.metric, run)), None)


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
        return f"classes and slices are compared only on the same examples, and {pairing.reason}"
    return f"{bound.part} has too few examples, or no value in one of the runs"


def _measure_difference(
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
        pairing.n_shared * ev.sample_size // ev.rows if paired else ev.sample_size,
        level,
        ev.sample_unit,
        paired=paired,
        reason=found.reason,
        note="; ".join(filter(None, (_same(limits), _describe_pairing(pairing)))),
    )


def _same(limits: tuple[float, float] | None) -> str:
    if limits != (0.0, 0.0):
        return ""
    return "the two do not differ in any row; make sure that the baseline is not the run itself"


def _describe_pairing(pairing: Pairing) -> str:
    if pairing.kind == "paired":
        return f"paired on {pairing.n_shared:,} examples, {pairing.reason}"
    return f"not paired: {pairing.reason}"
