"""The runs of an experiment beside each other: those that are ranked, and those that are not and why.

A metric of runs over time: where it changed, and where the test set did, so that no line leads across.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

from evalreport.comparison.all_pairs import RunField, Spread
from evalreport.comparison.comparison import Difference, RankedRun
from evalreport.core.errors import DataError, EvalreportError, UsageError
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.labels import Task
from evalreport.evaluation.evaluation import Evaluation
from evalreport.metrics.catalogue import PRIMARY, find
from evalreport.metrics.record import Metric
from evalreport.tracking.runs import RunInfo
from evalreport.workflow.compare import evaluation_of
from evalreport.workflow.items import Item, work_on_each
from evalreport.workflow.request import Request

FEWEST_SHARE = 2
"""Runs from which a finding is shared."""


@dataclass(frozen=True)
class FoundInRun:
    """A finding of a run, as far as it is compared with those of others."""

    rule: str
    claim: str
    action: str


@dataclass(frozen=True)
class RunFacts:
    """What the front page says of a run's evaluation, kept in the folder so that it is made once.

    Parameters
    ----------
    task : str
    rows : int
    rows_key : str
        Digest of the rows: ids, truth and weights. Runs are ranked among those of one key.
    digest : str
        Of the truth, as reports show it.
    headline : str
        The verdict of the run's own report.
    metrics : mapping from name to Estimate or Undefined
    findings : tuple of FoundInRun
    unit : (one, many)
    contributions : mapping from metric to (value, how its spread is known)
        Of the metrics by which it can be ranked; what each row contributes lies in a file beside this.
    reason : str
        Why it cannot be ranked by the metric; "" where it can.
    sort_by : str
        The metric that was asked for.
    inputs, against : str
        What the report, and the comparison, were made of.
    """

    task: Task
    rows: int
    rows_key: str
    digest: str
    headline: str
    metrics: Mapping[str, Result]
    findings: tuple[FoundInRun, ...]
    unit: tuple[str, str]
    contributions: Mapping[str, tuple[float, Spread]]
    reason: str = ""
    sort_by: str = ""
    inputs: str = ""
    against: str = ""


@dataclass(frozen=True)
class BoardRun:
    """A run of the leaderboard.

    Parameters
    ----------
    name : str
        Distinct on the page.
    run_id, stem : str
        Id, and the name of its files.
    started : int or None
        Milliseconds since 1970, UTC.
    shown : mapping from name to text
        Parameters and tags that were asked for.
    champion : int or None
        Since when it is, or was, the champion; None for a run that never was.
    facts : RunFacts
    """

    name: str
    run_id: str
    stem: str
    started: int | None
    shown: Mapping[str, str]
    champion: int | None
    facts: RunFacts


@dataclass(frozen=True)
class MissingRun:
    """A run that is not ranked: why, and what to do about it."""

    name: str
    started: int | None
    reason: str
    remedy: str
    stem: str = ""


@dataclass(frozen=True, eq=False)
class Board:
    """An experiment's runs by one metric.

    Parameters
    ----------
    experiment : str
    metric : Metric
    level : float
    runs : tuple of BoardRun
        Those that are ranked, in the order of their start.
    field : RunField
        All their differences; its names are those of `runs`.
    missing : tuple of MissingRun
    columns : tuple of str
        Further metrics, then parameters and tags, that are columns.
    reference : str
        Name of the run that each comparison is with.
    compared : frozenset of str
        Stems of those runs whose comparison with it was made.
    """

    experiment: str
    metric: Metric
    level: float
    runs: tuple[BoardRun, ...]
    field: RunField
    missing: tuple[MissingRun, ...]
    columns: tuple[str, ...] = ()
    reference: str = ""
    compared: frozenset[str] = frozenset()

    @cached_property
    def by_name(self) -> dict[str, BoardRun]:
        """The runs by their names."""
        return {run.name: run for run in self.runs}

    def result(self, name: str, metric: str) -> Result:
        """Return a metric of a run."""
        return self.by_name[name].facts.metrics.get(metric, Undefined("not in this evaluation"))

    @cached_property
    def ranking(self) -> tuple[RankedRun, ...]:
        """The runs, the best first: each with its own value and interval; all have the same rows.

        Where a run has no result, its value is that of its contributions, which has no interval.
        """
        values: dict[str, Result] = {}
        for run, value in zip(self.runs, self.field.values, strict=True):
            own = self.result(run.name, self.metric.name)
            values[run.name] = own if isinstance(own, Estimate) else Estimate(float(value), run.facts.rows)
        return self.field.rank_runs(values)

    @property
    def best(self) -> BoardRun:
        """The run with the best value."""
        return self.by_name[self.ranking[0].run]

    @cached_property
    def champions(self) -> tuple[BoardRun, ...]:
        """The runs that were the champion, one after the other; the last one is it now."""
        known = [run for run in self.runs if run.champion is not None]
        return tuple(sorted(known, key=lambda run: (run.champion or 0, run.run_id)))

    @property
    def champion(self) -> BoardRun | None:
        """The champion of today."""
        return self.champions[-1] if self.champions else None

    def difference_to_best(self, name: str) -> Difference | None:
        """Return the difference of a run to the best; None for the best itself."""
        return None if name == self.best.name else self.field.difference(name, self.best.name)


@dataclass(frozen=True)
class SharedFinding:
    """A finding that several runs have: its words in the best of them, and who has it not."""

    claim: str
    action: str
    runs: tuple[str, ...]
    others: tuple[str, ...]


def _key(found: FoundInRun) -> tuple[str, str]:
    """The rule, and the first label that is quoted: what a finding is about."""
    return found.rule, found.claim.partition("“")[2].partition("”")[0]


def shared_findings(ranked: Sequence[tuple[str, Sequence[FoundInRun]]]) -> tuple[SharedFinding, ...]:
    """Return the findings that two or more runs share, those of most runs first.

    Parameters
    ----------
    ranked : sequence of (name, findings)
        The best run first.

    Findings are the same where their rule is, and the first label that they quote.

    Examples
    --------
    >>> few = [FoundInRun("few", f"Only {n} rows.", "Add rows.") for n in (7, 9)]
    >>> found = shared_findings([("a", few[:1]), ("b", few[1:]), ("c", [])])
    >>> found[0].claim, found[0].runs, found[0].others
    ('Only 7 rows.', ('a', 'b'), ('c',))
    """
    having: dict[tuple[str, str], dict[str, FoundInRun]] = {}
    for name, findings in ranked:
        for found in findings:
            having.setdefault(_key(found), {}).setdefault(name, found)
    names = [name for name, _ in ranked]
    made = [
        SharedFinding(
            next(iter(known.values())).claim,
            next(iter(known.values())).action,
            tuple(known),
            tuple(name for name in names if name not in known),
        )
        for known in having.values()
        if len(known) >= FEWEST_SHARE
    ]
    return tuple(sorted(made, key=lambda one: -len(one.runs)))


def same_rows(keys: Mapping[str, str]) -> tuple[str, ...]:
    """Return the largest group of runs with the same rows; of equally large ones that of the first run.

    Examples
    --------
    >>> same_rows({"a": "x", "b": "y", "c": "y"})
    ('b', 'c')
    """
    largest = [key for key, _ in Counter(keys.values()).most_common(1)]
    return tuple(name for name, key in keys.items() if key in largest)


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
            elif _is_separated(run, start, reach):
                found.append(Change(run.run, start.run, run.value - start.value))
                start = run
        return tuple(found)


def _reach(comparisons: int, level: float) -> float:
    """How many half-widths, put together as those of independent values, a difference has to exceed."""
    normal = NormalDist()
    share = (1 - level) / max(comparisons, 1)
    return normal.inv_cdf(1 - share / 2) / normal.inv_cdf((1 + level) / 2)


def _is_separated(run: TimedRun, start: TimedRun, reach: float) -> bool:
    gap = abs(run.value - start.value)
    return gap > run.half + start.half and gap > reach * math.hypot(run.half, start.half)


def in_order(runs: Sequence[TimedRun]) -> tuple[TimedRun, ...]:
    """Return runs by their start."""
    return tuple(sorted(runs, key=lambda run: (run.started, run.run_id)))


def over_time(
    items: Sequence[Item], request: Request, metric: str | None
) -> tuple[OverTime, dict[str, EvalreportError]]:
    """Return a metric of runs by their start, and the errors of those that have no value.

    Raises
    ------
    UsageError
        Files, fewer than two runs with a value, an unknown metric.
    """
    plain = replace(request, title="", metrics=() if metric is None else (metric,))

    def work(item: Item) -> Evaluation:
        if _run(item).started is None:
            raise DataError("its start time is missing or not a date", fix="leave it out with --filter")
        return evaluation_of(item, plain)

    for item in items:
        _run(item)
    found, failed = work_on_each(items, work)
    tasks = {ev.task for _, ev in found}
    if len(tasks) > 1:
        raise UsageError(
            f"the runs are of several tasks: {', '.join(sorted(tasks))}", fix="choose with --filter"
        )
    name = metric if metric is not None or not found else PRIMARY[found[0][1].task][0]
    runs = [run for item, ev in found if (run := _timed_run(item, ev, str(name))) is not None]
    if len(runs) < 2:
        raise UsageError(
            f"{len(runs)} of the runs have a value: nothing changes over time",
            where="; ".join(f"{name}: {error.message}" for name, error in list(failed.items())[:3]),
            fix="name two runs or more, and a metric that they have, with --metric",
        )
    level = found[0][1].sampling.level
    return OverTime(find(str(name), found[0][1].task), level, in_order(runs)), failed


def _run(item: Item) -> RunInfo:
    if item.run is None:
        raise UsageError(
            "a file has no time", where=item.display_name, fix="name runs, as with --experiment NAME"
        )
    return item.run


def _timed_run(item: Item, ev: Evaluation, metric: str) -> TimedRun | None:
    result, run = ev[find(metric, ev.task).name], _run(item)
    if not isinstance(result, Estimate):
        return None
    return TimedRun(
        item.name, run.run_id, run.started or 0, result.value, result.low, result.high, ev.label_digest
    )
