"""What a comparison of systems says, as values: a system is several runs on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from evalreport.comparison.comparison import Difference
from evalreport.core.errors import UsageError, nearest
from evalreport.core.json_codec import Between, Share, Whole, dumps
from evalreport.data.labels import Task


@dataclass(frozen=True)
class VarianceShares:
    """Where the variance of a mean over runs comes from: shares that sum to 1.

    Parameters
    ----------
    rows : float
        Some rows are hard for every run.
    seeds : float
        Some runs are better on all rows.
    both : float
        A run gets other rows right than the next one.
    """

    rows: Share
    seeds: Share
    both: Share


@dataclass(frozen=True)
class HalfWidths:
    """Half the width of an interval: as it is, with twenty runs, and with four times the rows."""

    now: float
    runs_20: float
    rows_4: float


@dataclass(frozen=True)
class Churn:
    """Shares of the rows whose answer changes from run to run.

    Parameters
    ----------
    any : float
        Not all runs give the same answer.
    two : float
        Two runs give different answers: the mean over all pairs of runs.
    correctness : float
        Some runs are right and others wrong.
    """

    any: Share
    two: Share
    correctness: Share


@dataclass(frozen=True)
class ChangingAnswer:
    """A row that some runs of a system get right and others wrong: the answer of each run."""

    id: str
    truth: tuple[str, ...]
    right: tuple[bool, ...]
    answers: tuple[tuple[str, ...], ...]
    text: str | None = None


@dataclass(frozen=True)
class SystemValue:
    """One metric of a system.

    Parameters
    ----------
    values : tuple of float or None
        Of each run, on the shared rows.
    value, low, high : float or None
        The mean over the runs, with the interval that covers new rows and new runs.
    best_run_flatters : float or None
        By how much the best run looks better than the system.
    variance : VarianceShares or None
        None with one run, which tells nothing of the seeds.
    half_widths : HalfWidths or None
    standard_error, df : float or None
    reason : str
        Why something is missing.
    """

    values: tuple[float | None, ...]
    value: float | None = None
    low: float | None = None
    high: float | None = None
    best_run_flatters: float | None = None
    variance: VarianceShares | None = None
    half_widths: HalfWidths | None = None
    standard_error: float | None = None
    df: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class SystemResult:
    """A system: its runs, its metrics, and the answers that change from run to run.

    The primary metric stands beside the name in the JSON, all others in `metrics`.
    """

    KEYS: ClassVar = (
        *("system", "runs", "value", "low", "high", "best_run_flatters", "variance", "churn"),
        *("churn_by_class", "only_sometimes_right", "examples", "metrics"),
    )

    system: str
    runs: tuple[str, ...]
    primary: str
    metrics: Mapping[str, SystemValue]
    churn: Churn | None = None
    churn_by_class: Mapping[str, Churn] = field(default_factory=dict)
    only_sometimes_right: Whole | None = None
    examples: tuple[ChangingAnswer, ...] = ()

    def again(self, key: str) -> object:
        """Return what the primary metric says under a key."""
        return getattr(self.metrics[self.primary], key)


@dataclass(frozen=True)
class SeedPairs:
    """In how many pairs of a run of the one and a run of the other system the first is ahead, or they tie."""

    ahead: Whole
    ties: Whole
    of: Whole

    @property
    def chance(self) -> float:
        """Chance that a run of the first beats a run of the second; a tie counts half."""
        return (self.ahead + self.ties / 2) / self.of


@dataclass(frozen=True)
class SystemDifference(Difference):
    """One metric of a system minus the same of another, as `Difference`, with what only systems have.

    Parameters
    ----------
    pairs : SeedPairs or None
        None where neither direction is better.
    variance : VarianceShares or None
        Of the difference.
    only_right : (int, int) or None
        Rows that the most runs of the first system alone get right, and those of the second alone.
    """

    pairs: SeedPairs | None = None
    variance: VarianceShares | None = None
    only_right: tuple[Whole, Whole] | None = None


@dataclass(frozen=True)
class SystemsComparison:
    """Systems against each other, each of several runs on the same rows.

    Parameters
    ----------
    level : float
        Confidence level of every interval.
    primary : str
        The metric that the verdict is about.
    task : str
    rows : int
        Shared by all runs: what everything is compared on.
    left_out : mapping from a run's name to the number of its rows that other runs lack
    systems : tuple of SystemResult
        The best by the primary metric first.
    differences : tuple of SystemDifference
        All pairs, metric by metric, the better system first; Holm over the pairs.
    unit : (str, str)
        The word for one row and for several.
    by : tuple of str
        What the runs were grouped by, if they were.
    dataset : str
    notes : tuple of str

    Examples
    --------
    >>> import evalreport as er
    >>> truth = ["a", "b"] * 20
    >>> good, bad = er.evaluate(truth, truth), er.evaluate(truth, ["a"] * 40)
    >>> er.compare(systems={"new": [good, good], "old": [bad, bad]})
    SystemsComparison(new of 2 runs and old of 2 runs: 40 shared rows, judged by accuracy)
    """

    level: Annotated[float, Between(0, 1)]
    primary: str
    task: Task
    rows: Whole
    left_out: Mapping[str, Whole]
    systems: tuple[SystemResult, ...]
    differences: tuple[SystemDifference, ...]
    unit: tuple[str, str] = ("case", "cases")
    by: tuple[str, ...] = ()
    dataset: str = ""
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        named = " and ".join(f"{one.system} of {len(one.runs)} runs" for one in self.systems)
        return f"{type(self).__name__}({named}: {self.rows:,} shared rows, judged by {self.primary})"

    def system_value(self, name: str, metric: str | None = None) -> SystemValue:
        """Return a metric of a system, the primary one when none is named.

        Raises
        ------
        UsageError
            No such system or metric; names the nearest.
        """
        known = {one.system: one.metrics for one in self.systems}
        for word, choices in ((name, known), (metric or self.primary, known.get(name, {}))):
            if word not in choices:
                raise UsageError(f"the comparison has no {word!r}", fix=nearest(word, choices))
        return known[name][metric or self.primary]

    def differences_for(self, metric: str) -> tuple[SystemDifference, ...]:
        """Return the differences of a metric, of all pairs."""
        return tuple(d for d in self.differences if d.metric == metric)

    def to_json(self) -> str:
        """Return the comparison as JSON: the same text for the same value; what is not finite is null."""
        return dumps(self)
