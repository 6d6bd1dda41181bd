"""A metric of runs over time: where it changed, and where the test set did, so that no line leads across."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

from evalreport.metrics.record import Metric


@dataclass(frozen=True)
class TimedRun:
    """A run with its value: `digest` is that of the truth, `started` in milliseconds since 1970, UTC."""

    run: str
    run_id: str
    started: int
    value: float
    low: float | None
    high: float | None
    digest: str

    @property
    def half(self) -> float:
        """Half the width of the interval; infinite where there is none."""
        return math.inf if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True)
class Change:
    """A run whose value is demonstrated to differ from that of the run with which the level before began."""

    run: str
    since: str
    difference: float


@dataclass(frozen=True)
class OverTime:
    """Runs in the order of their start.

    Parameters
    ----------
    metric : Metric
    level : float
        Of the intervals.
    runs : tuple of TimedRun

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> runs = [TimedRun(n, n, t, v, v - 0.02, v + 0.02, d) for n, t, v, d in
    ...         [("a", 1, 0.8, "x"), ("b", 2, 0.81, "x"), ("c", 3, 0.9, "x"), ("d", 4, 0.7, "y")]]
    >>> found = OverTime(find("accuracy"), 0.95, tuple(runs))
    >>> [(change.run, change.since) for change in found.changes], [run.run for run in found.breaks]
    ([('c', 'a')], ['d'])
    """

    metric: Metric
    level: float
    runs: tuple[TimedRun, ...]

    @property
    def breaks(self) -> tuple[TimedRun, ...]:
        """The runs from which on the test set is another than that of the run before."""
        pairs = zip(self.runs, self.runs[1:], strict=False)
        return tuple(after for before, after in pairs if after.digest != before.digest)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Where the value changed, on the same test set.

        A run is held against the one with which its level began. A change is claimed where their intervals do
        not overlap, and where the difference of two independent values would be demonstrated beside all
        others (Bonferroni): on the same rows, which agree more than that, errors are rarer.
        """
        found: list[Change] = []
        start: TimedRun | None = None
        reach = _reach(len(self.runs) - 1, self.level)
        for run in self.runs:
            if start is None or run.digest != start.digest:
                start = run
            elif _apart(run, start, reach):
                found.append(Change(run.run, start.run, run.value - start.value))
                start = run
        return tuple(found)


def _reach(comparisons: int, level: float) -> float:
    """How many half-widths, put together as those of independent values, a difference has to exceed."""
    normal = NormalDist()
    share = (1 - level) / max(comparisons, 1)
    return normal.inv_cdf(1 - share / 2) / normal.inv_cdf((1 + level) / 2)


def _apart(run: TimedRun, start: TimedRun, reach: float) -> bool:
    gap = abs(run.value - start.value)
    return gap > run.half + start.half and gap > reach * math.hypot(run.half, start.half)


def in_order(runs: Sequence[TimedRun]) -> tuple[TimedRun, ...]:
    """Return runs by their start."""
    return tuple(sorted(runs, key=lambda run: (run.started, run.run_id)))
