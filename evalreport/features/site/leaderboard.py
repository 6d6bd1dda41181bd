"""The runs of an experiment beside each other: those that are ranked, and those that are not and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from evalreport.comparison.all_pairs import RunField, Spread
from evalreport.comparison.comparison import Agreement, Difference, RankedRun
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.labels import Task
from evalreport.metrics.record import Metric

FEWEST_SHARE = 2
"""Runs from which a finding is shared."""
MOST_AGREEING = 20
"""Best runs whose predictions are compared row by row."""


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
    labels : tuple of str
        Names of the labels by their codes in the kept predictions; empty for predictions of several labels.
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
    labels: tuple[str, ...] = ()
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
    has_predictions: bool = True


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
    champion_tag : str
        Tag of the runs that are, or were, the champion.
    agreement : Agreement or None
        How often the `MOST_AGREEING` best runs are right for the same rows; None without predictions.
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
    champion_tag: str = "champion"
    agreement: Agreement | None = None

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
    def agreeing(self) -> tuple[str, ...]:
        """The best runs, whose predictions are compared row by row."""
        return tuple(entry.run for entry in self.ranking[:MOST_AGREEING])

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
    """A finding that several runs have: its words in the best of them, and the runs without it."""

    claim: str
    action: str
    runs: tuple[str, ...]
    others: tuple[str, ...]
    example: str
    """The run whose numbers the claim has; empty where all runs have the same claim."""


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
    >>> found[0].claim, found[0].runs, found[0].others, found[0].example
    ('Only 7 rows.', ('a', 'b'), ('c',), 'a')
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
            "" if len({one.claim for one in known.values()}) == 1 else next(iter(known)),
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
