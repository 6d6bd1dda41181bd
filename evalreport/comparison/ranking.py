"""Runs by one metric: the ranks that the data leave to each, and the group of the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalreport.comparison.values import Difference, RankedRun
from evalreport.metrics.record import Better
from evalreport.values import Estimate, Result


def ranking(
    values: Mapping[str, Result], pairs: Sequence[Difference], better: Better
) -> tuple[RankedRun, ...]:
    """Return the runs, the best first, with the set of ranks that is left to each.

    Parameters
    ----------
    values : mapping from a run's name to its value
    pairs : sequence of Difference
        Of all pairs of runs by one metric, corrected for their number: with a chance of 95 % nothing that is
        demonstrated is false, so that all sets of ranks hold at once.
    better : Better
        Direction of the metric.

    Returns
    -------
    tuple of RankedRun
        A run's ranks go from 1 + the runs demonstrated better to k - the runs demonstrated worse. The best
        group is the run with the best value and all that are not demonstrated worse than it. A run whose
        value is undefined stands last, without ranks.

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
    order = [name for _, name in sorted(known, key=lambda entry: entry[0])]
    won = {(d.run, d.baseline) for d in pairs if d.verdict == "better"}
    won |= {(d.baseline, d.run) for d in pairs if d.verdict == "worse"}
    rest = [name for name in values if name not in order]
    return tuple(_ranked(name, values[name], order, won) for name in (*order, *rest))


def _ranked(name: str, result: Result, order: Sequence[str], won: set[tuple[str, str]]) -> RankedRun:
    low, high = (result.low, result.high) if isinstance(result, Estimate) else (None, None)
    if name not in order:
        return RankedRun(name, None, None, None, None, best_group=False)
    better = sum((other, name) in won for other in order)
    worse = sum((name, other) in won for other in order)
    ranks = (1 + better, len(order) - worse)
    return RankedRun(name, result.value, low, high, ranks, (order[0], name) not in won)
