"""Verdicts: which differences hold after the correction for having made several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evalreport.comparison.differences import InferredDifference
from evalreport.comparison.values import AdjustedInterval, Detectable, Difference, Verdict
from evalreport.intervals.inversion import POWER, ConfidenceCurve
from evalreport.intervals.significance import holm, holm_levels
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Better


def judged(
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
    >>> from evalreport.intervals.inversion import StudentCurve
    >>> one = Difference("f1", "a", "b", (0.9, 0.8), 0.1, 0.05, 0.15, p=0.001)
    >>> two = Difference("f1", "c", "b", (0.81, 0.8), 0.01, -0.04, 0.06, p=0.7)
    >>> found = [InferredDifference(d, StudentCurve(d.difference, 0.0255)) for d in (one, two)]
    >>> [(d.verdict, round(d.adjusted.level, 3)) for d in judged(found, {"f1": "higher"}, 0.95)]
    [('better', 0.975), ('not_demonstrated', 0.95)]
    """
    adjusted: dict[int, tuple[float, float]] = {}
    for name in {entry.difference.metric for entry in found}:
        family = [place for place, d in enumerate(found) if d.difference.metric == name and d.curve]
        p = [found[place].difference.p or 0.0 for place in family]
        adjusted |= dict(zip(family, zip(holm(p), holm_levels(p, level), strict=True), strict=True))
    return tuple(
        _unadjusted(entry.difference, better)
        if entry.curve is None
        else _judged(entry.difference, entry.curve, *adjusted[place], better[entry.difference.metric])
        for place, entry in enumerate(found)
    )


def _unadjusted(entry: Difference, better: Mapping[str, Better]) -> Difference:
    """Without an interval nothing is demonstrated; equal values are no difference, whatever the reason."""
    known = entry.difference == 0 and better[entry.metric] in ("higher", "lower")
    return replace(entry, verdict="not_demonstrated") if known else entry


def _judged(
    entry: Difference, curve: ConfidenceCurve, p_adjusted: float, level: float, better: Better
) -> Difference:
    low, high = curve.limits(level)
    reach = curve.detectable(level)
    entry = replace(
        entry,
        p_adjusted=p_adjusted,
        adjusted=AdjustedInterval(low, high, level),
        detectable=Detectable(POWER, reach if _possible(entry, reach) else None) if reach > 0 else None,
    )
    if better not in ("higher", "lower"):
        return replace(entry, reason=entry.reason or "neither direction is better")
    return replace(entry, verdict=verdict_of(low, high, better))


def _possible(entry: Difference, reach: float) -> bool:
    """Whether a run can be so far from its baseline at all, on the range of the metric."""
    record, baseline = find(entry.metric), entry.values[1]
    return baseline is None or reach <= max(record.high - baseline, baseline - record.low)


def verdict_of(low: float, high: float, better: Better) -> Verdict:
    """Return what an interval of a difference says: better or worse where it excludes 0."""
    if low <= 0 <= high:
        return "not_demonstrated"
    return "better" if (low > 0) == (better == "higher") else "worse"
