"""Verdicts: which differences hold after the correction for having made several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalreport.comparison.comparison import (
    AdjustedInterval,
    Detectable,
    Difference,
    PairOutcome,
    PairVerdict,
    RankedRun,
    Verdict,
)
from evalreport.comparison.differences import InferredDifference
from evalreport.core.result import Estimate, Result
from evalreport.intervals.paired import POWER, ConfidenceCurve, holm, holm_levels
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Better


def adjusted_verdicts(
    found: Sequence[InferredDifference], better: Mapping[str, Better], level: float
) -> tuple[Difference, ...]:
    """Return differences with Holm-adjusted intervals and their verdicts, in the given order.

    The family of the correction is one metric, over all pairs of runs (or classes, or slices) given. The
    verdict is whether the adjusted interval excludes 0, and nothing else.

    Parameters
    ----------
    better : mapping from a metric's name to its direction

    Examples
    --------
    >>> from evalreport.intervals.paired import StudentCurve
    >>> one = Difference("f1", "a", "b", (0.9, 0.8), 0.1, 0.05, 0.15, p=0.001)
    >>> two = Difference("f1", "c", "b", (0.81, 0.8), 0.01, -0.04, 0.06, p=0.7)
    >>> found = [InferredDifference(d, StudentCurve(d.difference, 0.0255)) for d in (one, two)]
    >>> [(d.verdict, round(d.adjusted.level, 3)) for d in adjusted_verdicts(found, {"f1": "higher"}, 0.95)]
    [('better', 0.975), ('not_demonstrated', 0.95)]
    """
    adjusted: dict[int, tuple[float, float]] = {}
    for name in {entry.difference.metric for entry in found}:
        family = [place for place, d in enumerate(found) if d.difference.metric == name and d.curve]
        p = [found[place].difference.p or 0.0 for place in family]
        adjusted |= dict(zip(family, zip(holm(p), holm_levels(p, level), strict=True), strict=True))
    return tuple(
        _verdict_without_interval(entry.difference, better[entry.difference.metric])
        if entry.curve is None
        else _adjusted_verdict(
            entry.difference, entry.curve, *adjusted[place], better[entry.difference.metric]
        )
        for place, entry in enumerate(found)
    )


def _verdict_without_interval(entry: Difference, better: Better) -> Difference:
    """Without an interval nothing is significant; equal values are no difference, whatever the reason."""
    known = entry.difference == 0 and better in ("higher", "lower")
    return replace(entry, verdict="not_demonstrated") if known else entry


def _adjusted_verdict(
    entry: Difference, curve: ConfidenceCurve, p_adjusted: float, level: float, better: Better
) -> Difference:
    low, high = curve.limits(level)
    reach = curve.detectable(level)
    entry = replace(
        entry,
        p_adjusted=p_adjusted,
        adjusted=AdjustedInterval(low, high, level),
        equal_within=max(map(abs, curve.limits(2 * level - 1))) if level > 0.5 else None,
        detectable=Detectable(POWER, possible_difference(entry.metric, entry.values[1], reach))
        if reach > 0
        else None,
    )
    if better not in ("higher", "lower"):
        return replace(entry, reason=entry.reason or "neither direction is better")
    return replace(entry, verdict=verdict_of(low, high, better))


def possible_difference(metric: str, value: float | None, difference: float) -> float | None:
    """Return a difference from a value of a metric, None where the range of the metric has no room for it.

    Examples
    --------
    >>> [possible_difference(name, 0.7, gap) for name, gap in [("f1", 0.6), ("f1", 0.8), ("log_loss", 3.0)]]
    [0.6, None, 3.0]
    """
    record = find(metric)
    if value is None or difference <= max(record.high - value, value - record.low):
        return difference
    return None


def verdict_of(low: float, high: float, better: Better) -> Verdict:
    """Return what an interval of a difference says: better or worse where it excludes 0."""
    if low <= 0 <= high:
        return "not_demonstrated"
    return "better" if (low > 0) == (better == "higher") else "worse"


FEWEST_OF_CLASS = 20
"""Examples of a class from which on its recall is part of the verdict: fewer are mostly chance, and each
class more makes the correction for their number harder on all others."""


@dataclass(frozen=True, eq=False)
class VerdictInput:
    """One difference among those that the verdict of a pair goes by.

    Parameters
    ----------
    name : str
        The metric; ``recall[class]`` of a class.
    found : InferredDifference
    better : Better
    family : tuple of float
        Two-sided p values of the metric over all pairs of runs, this one at `place`.
    place : int
    """

    name: str
    found: InferredDifference
    better: Better
    family: tuple[float, ...] = ()
    place: int = 0

    @property
    def p(self) -> float:
        """The p value, adjusted for the number of pairs."""
        return holm(self.family)[self.place]

    def difference_at(self, level: float) -> Difference:
        """Return the difference with its interval and verdict, where `level` is left to all pairs."""
        assert self.found.curve is not None  # noqa: S101  asked before
        own = holm_levels(self.family, level)[self.place]
        return _adjusted_verdict(self.found.difference, self.found.curve, self.p, own, self.better)


def pair_verdict(
    run: str, baseline: str, level: float, looks: Sequence[VerdictInput], primary: str
) -> PairVerdict:
    """Return better, worse, a trade-off (significant both ways) or no significant difference.

    Of several numbers of two equal models one differs more often than a single one does: Holm's correction
    over all that are looked at keeps a false verdict of a pair as rare as one of a metric.

    Parameters
    ----------
    level : float
        Confidence level.
    looks : sequence of Look
        The primary metric, and those that count one kind of error.
    primary : str
        Name of the primary metric, which is among them.

    Examples
    --------
    >>> from evalreport.intervals.paired import StudentCurve
    >>> def look(name, gap, error):
    ...     curve = StudentCurve(gap, error)
    ...     start = Difference(name, "new", "old", (0.8 + gap, 0.8), gap, p=curve.p)
    ...     return VerdictInput(name, InferredDifference(start, curve), "higher", (curve.p,))
    >>> found = pair_verdict("new", "old", 0.95, [look("recall", 0.1, 0.02), look("f1", -0.1, 0.03)], "f1")
    >>> found.verdict, found.better, found.worse
    ('trade_off', ('recall',), ('f1',))

    Of two that are looked at, a p value of 0.04 is not enough:

    >>> found = pair_verdict("new", "old", 0.95, [look("recall", 0.0411, 0.02), look("f1", 0.0, 0.03)], "f1")
    >>> round(found.primary.adjusted.level, 3), found.verdict
    (0.975, 'not_demonstrated')
    """
    known = [look for look in looks if look.found.curve is not None and look.better in ("higher", "lower")]
    levels = holm_levels([look.p for look in known], level)
    held = {look.name: look.difference_at(own) for look, own in zip(known, levels, strict=True)}
    plain = {look.name: _verdict_without_interval(look.found.difference, look.better) for look in looks}
    every = {**plain, **held}
    better, worse = (
        tuple(name for name, d in held.items() if d.verdict == word) for word in ("better", "worse")
    )
    outcome: PairOutcome = "not_demonstrated"
    if better or worse:
        outcome = "trade_off" if better and worse else "better" if better else "worse"
    if all(d.verdict == "undefined" for d in every.values()):
        outcome = "undefined"
    return PairVerdict(run, baseline, outcome, better, worse, tuple(held), every.get(primary))


def ranking(
    values: Mapping[str, Result], pairs: Sequence[Difference], better: Better
) -> tuple[RankedRun, ...]:
    """Return the runs, the best first, with the set of ranks that is left to each.

    Parameters
    ----------
    values : mapping from a run's name to its value
    pairs : sequence of Difference
        Of all pairs of runs by one metric, corrected for their number: with a chance of 95% nothing that is
        demonstrated is false, so that all sets of ranks hold at once.
    better : Better
        Direction of the metric.

    Returns
    -------
    tuple of RankedRun
        By their values, but none before one that is demonstrated better: values over other rows, of which
        some are easier, may say the opposite. A run's ranks go from 1 + the runs demonstrated better to k -
        the runs demonstrated worse. The best group is the first run and all that are not demonstrated worse
        than it. A run whose value is undefined stands last, without ranks.

    References
    ----------
    Mogstad, Romano, Shaikh & Wilhelm 2024 (sets of ranks); Hsu 1981 (comparison with the best).

    Examples
    --------
    >>> values = {"b": Estimate(0.8, 100), "a": Estimate(0.9, 100)}
    >>> one = Difference("f1", "a", "b", (0.9, 0.8), 0.1, verdict="better")
    >>> [(entry.run, entry.ranks, entry.best_group) for entry in ranking(values, [one], "higher")]
    [('a', (1, 1), True), ('b', (2, 2), False)]
    """
    sign = 1.0 if better == "lower" else -1.0
    known = [(sign * result.value, name) for name, result in values.items() if result.value is not None]
    left = [name for _, name in sorted(known, key=lambda entry: entry[0])]
    won = {(d.run, d.baseline) for d in pairs if d.verdict == "better"}
    won |= {(d.baseline, d.run) for d in pairs if d.verdict == "worse"}
    order: list[str] = []
    while left:
        unbeaten = (name for name in left if not any((other, name) in won for other in left))
        order.append(next(unbeaten, left[0]))
        left.remove(order[-1])
    rest = [name for name in values if name not in order]
    found = [_ranked_run(name, values[name], order, won) for name in (*order, *rest)]
    apart = {frozenset((d.run, d.baseline)): abs(d.difference) for d in pairs if d.difference is not None}
    return tuple(replace(entry, behind=apart.get(frozenset((entry.run, *order[:1])))) for entry in found)


def _ranked_run(name: str, result: Result, order: Sequence[str], won: set[tuple[str, str]]) -> RankedRun:
    low, high = (result.low, result.high) if isinstance(result, Estimate) else (None, None)
    if name not in order:
        return RankedRun(name, None, None, None, None, best_group=False)
    better = sum((other, name) in won for other in order)
    worse = sum((name, other) in won for other in order)
    ranks = (1 + better, len(order) - worse)
    return RankedRun(name, result.value, low, high, ranks, (order[0], name) not in won)
