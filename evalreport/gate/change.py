"""The change from a baseline that a rule names, on the paired difference where there is one."""

from __future__ import annotations

from evalreport.bounds import Bound
from evalreport.comparison.pairing import Pairing
from evalreport.comparison.values import CLASS, Comparison, Difference
from evalreport.errors import UsageError, nearest
from evalreport.evaluation.model import Evaluation
from evalreport.gate.lookup import MeasuredBound, check_class, check_slice, names_a_slice, slice_of
from evalreport.metrics.catalogue import find

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
