"""Verdicts: which differences hold after the correction for having made several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evalreport.comparison.values import Difference
from evalreport.intervals.significance import holm
from evalreport.metrics.record import Better


def judged(
    differences: Sequence[Difference], better: Mapping[str, Better], level: float
) -> tuple[Difference, ...]:
    """Return differences with Holm-adjusted p-values and their verdicts, in the given order.

    The family of the correction is one metric, over all pairs of runs (or classes, or slices) given.

    Parameters
    ----------
    better : mapping from a metric's name to its direction

    Examples
    --------
    >>> one = Difference("f1", "a", "b", (0.9, 0.8), 0.1, 0.05, 0.15, p=0.001)
    >>> two = Difference("f1", "c", "b", (0.81, 0.8), 0.01, -0.04, 0.06, p=0.7)
    >>> [d.verdict for d in judged([one, two], {"f1": "higher"}, 0.95)]
    ['better', 'no difference shown']
    """
    adjusted: dict[int, float] = {}
    for name in {entry.metric for entry in differences}:
        family = [place for place, d in enumerate(differences) if d.metric == name and d.p is not None]
        adjusted.update(zip(family, holm([differences[place].p or 0.0 for place in family]), strict=True))
    return tuple(
        _judged(replace(entry, p_adjusted=adjusted.get(place)), better[entry.metric], level)
        for place, entry in enumerate(differences)
    )


def _judged(entry: Difference, better: Better, level: float) -> Difference:
    if entry.difference is None:
        return entry
    if better not in ("higher", "lower"):
        return replace(entry, reason=entry.reason or "neither direction is better")
    if entry.low is None or entry.high is None or entry.p_adjusted is None:
        return replace(entry, verdict="no difference shown") if entry.difference == 0 else entry
    if entry.low <= 0 <= entry.high or entry.p_adjusted > 1 - level:
        return replace(entry, verdict="no difference shown")
    return replace(entry, verdict="better" if (entry.difference > 0) == (better == "higher") else "worse")
