"""The result of comparing systems, and one metric of several runs of a system: value, interval, sources.

The distance of a mean over runs from that of new runs on new rows follows from crossed random effects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Annotated, ClassVar

import numpy as np

from evalreport.comparison.comparison import Difference
from evalreport.comparison.differences import (
    ROUNDING,
    SAME,
    InferredDifference,
    PairedSamples,
    sampling_error,
    with_interval,
)
from evalreport.core.errors import UsageError, nearest
from evalreport.core.json_codec import Between, Share, Whole, dumps
from evalreport.core.result import Undefined
from evalreport.data.labels import Task
from evalreport.intervals.distributions import t_quantile
from evalreport.intervals.interval_settings import NOT_ASKED, Limits, estimate
from evalreport.intervals.paired import SampledError, StudentCurve
from evalreport.intervals.row_influence import Counted
from evalreport.intervals.standard_errors import Spread, spread_limits, transformed_scale_limits
from evalreport.metrics.record import Better, Metric
from evalreport.statistics.confusion import Array


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

    The primary metric is beside the name in the JSON, all others in `metrics`.
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
    right_by : (int, int, int) or None
        Rows that most runs of all, of some, and of none of the systems get right.

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
    right_by: tuple[Whole, Whole, Whole] | None = None

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


LEAST = 0.25
"""Of the variance over rows alone: as little as an estimate may fall to by chance, when few runs agree."""
ErrorOf = Callable[[Array], SampledError]


@dataclass(frozen=True, eq=False)
class MeasuredRuns:
    """One metric of the runs of a system on the same rows.

    Parameters
    ----------
    values : float64 array of shape (runs,)
    parts : float64 array of shape (runs, rows)
        What each row contributes to each value.
    """

    values: Array
    parts: Array


@dataclass(frozen=True)
class VarianceComponents:
    """The variance of a mean over runs, or of the difference of two, by where it comes from.

    Parameters
    ----------
    rows, seeds, both : float
        Of which rows were drawn, which seeds, and that a seed gets other rows right; 0 where the estimate
        is negative. `seeds` is 0 where a system has one run, which tells nothing of it.
    variance : float
        Of all of it, without bias: negative estimates are negative here, because setting them to 0 makes
        intervals of weak seeds too wide (differences of three seeds then held in 98 to 99%).
    rows_df : float
        Degrees of freedom of what varies with the rows.
    between : float
        Variance of the means as the spread of the runs tells it: of the seeds, with the rows' part.
    between_df : float
        Degrees of freedom of `between`; 0 where no system has two runs.
    """

    rows: float
    seeds: float
    both: float
    variance: float
    rows_df: float
    between: float
    between_df: float

    @property
    def df(self) -> float:
        """Satterthwaite's degrees of freedom of the variance, no fewer than those of the seeds alone.

        They are read off the same runs, and too many where these happen to agree, which is where the variance
        is too small as well: E(v²) of a variance with k degrees of freedom is (k + 2) / k of its square. With
        that the interval of the mean of three runs held in 94 to 96%, without it in 92 to 95%.
        """
        if not self.between_df:
            return self.rows_df
        correction = (self.between_df + 2) / self.between_df
        known = (self.rows + self.both) ** 2 / self.rows_df + correction * self.between**2 / self.between_df
        return max(self.variance**2 / known, min(self.between_df, self.rows_df)) if known else self.rows_df

    def half_width(self, level: float, *, runs: float = 1.0, rows: float = 1.0) -> float:
        """Return half the width of the interval with so many times the runs and the rows.

        Examples
        --------
        >>> found = VarianceComponents(9.0, 0.0, 0.0, 9.0, 1e6, 0.0, 0.0)
        >>> [round(found.half_width(0.95, rows=times), 2) for times in (1, 4)]
        [5.88, 2.94]
        """
        if runs == rows == 1:
            return t_quantile((1 + level) / 2, self.df) * math.sqrt(self.variance)
        whole = self.variance / (self.rows + self.seeds + self.both)
        by_rows, by_seeds = whole * self.rows / rows, whole * self.seeds / runs
        both = whole * self.both / rows / runs
        new = VarianceComponents(
            by_rows,
            by_seeds,
            both,
            by_rows + by_seeds + both,
            self.rows_df * rows,
            by_seeds + both,
            self.between_df * runs,
        )
        return new.half_width(level)


def variance_components(systems: Sequence[MeasuredRuns], spread: ErrorOf) -> VarianceComponents:
    """Return the components of the mean of one system, or of the first one's mean less the second one's.

    Parameters
    ----------
    systems : one or two MeasuredRuns
        On the same rows; their seeds are independent.
    spread : callable
        From contributions of rows, shape (rows,), to the standard error of their sum: rows alike, by class,
        weighted or in clusters.

    References
    ----------
    Obuchowski & Rockette 1995; Gallas 2006; Owen 2007; Hillis 2007 (no component is below 0);
    Satterthwaite 1946; Welch 1938, Biometrika 29:350.

    Examples
    --------
    >>> from evalreport.intervals.paired import of_mean
    >>> readings = np.array([[1.0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0]])
    >>> means = readings.mean(axis=1)
    >>> found = variance_components([MeasuredRuns(means, (readings - means[:, None]) / 4)], of_mean)
    >>> [round(x, 4) for x in (found.rows, found.seeds, found.both)]
    [0.0278, 0.0, 0.0162]
    """
    signs = (1.0, -1.0)
    mean = sum(sign * runs.parts.mean(axis=0) for sign, runs in zip(signs, systems, strict=False))
    whole = spread(np.asarray(mean))
    rest = whole.standard_error**2
    seeds = both = between = squares = 0.0
    for runs in systems:
        count = len(runs.values)
        if count < 2:
            continue
        alone = float(np.mean([spread(part).standard_error ** 2 for part in runs.parts]))
        together = spread(runs.parts.mean(axis=0)).standard_error ** 2
        noise = max(alone - together, 0.0) / (count - 1)
        own = float(runs.values.var(ddof=1)) / count
        seeds, both, between = seeds + max(own - noise, 0.0), both + noise, between + own
        squares += own**2 / (count + 1)
    variance = max(rest + between - both, rest * LEAST)
    # Welch's degrees of freedom of a sum of variances: of one system those of its runs.
    fewest = min((len(runs.values) for runs in systems if len(runs.values) > 1), default=1) - 1
    free = max(between**2 / squares - 2, fewest) if squares else float(fewest)
    both = min(both, rest)
    return VarianceComponents(rest - both, seeds, both, variance, whole.df, between, free)


ALONE = "one run: the interval covers new rows alone, its seeds are unknown"
UNKNOWN_SHARES = (
    "an interval over rows and seeds needs the influence of each row, which this metric does not have"
)
METHOD = "crossed random effects"
DIRECTED = ("higher", "lower")


@dataclass(frozen=True, eq=False)
class SeededMetric:
    """One metric of a system: the value of each run, and what rows contribute to it where that is known.

    `mean` and `measured` are None, with a `reason`, where a run has no value.
    """

    values: tuple[float | None, ...]
    mean: float | None = None
    measured: MeasuredRuns | None = None
    reason: str = ""

    @classmethod
    def from_runs(cls, metric: Metric, runs: Sequence[Counted]) -> SeededMetric:
        """Return a metric of runs on the same rows."""
        found = [run.value(metric) for run in runs]
        values = tuple(None if isinstance(value, Undefined) else value for value in found)
        gaps = [value.reason for value in found if isinstance(value, Undefined)]
        known = [value for value in values if value is not None]
        if gaps:
            few = f" in {len(gaps)} of {len(values)} runs" if known else ""
            return cls(values, reason=f"undefined{few}: {gaps[0]}")
        parts = [run.contributions(metric) for run in runs]
        defined = [part for part in parts if part is not None]
        whole = MeasuredRuns(np.array(known), np.array(defined)) if len(defined) == len(parts) else None
        return cls(values, float(np.mean(known)), whole)


def why_not(metric: Metric, samples: PairedSamples, *found: SeededMetric) -> str:
    """Return why there is no interval; nothing where there is one."""
    if not samples.sampling.intervals:
        return NOT_ASKED
    if metric.interval == "none":
        return "counts and settings are not estimates"
    if samples.too_few:
        return samples.too_few
    return "" if all(one.measured for one in found) else UNKNOWN_SHARES


def system_value(metric: Metric, found: SeededMetric, samples: PairedSamples) -> SystemValue:
    """Return a metric of a system with its interval over new rows and new seeds.

    Parameters
    ----------
    metric : Metric
    found : SeededMetric
    samples : PairedSamples
        Of the shared rows: how they were sampled.
    """
    if found.mean is None:
        return SystemValue(found.values, reason=found.reason)
    flatters = _flatters(metric.better, found.values, found.mean)
    reason = why_not(metric, samples, found)
    if reason or found.measured is None:
        return SystemValue(found.values, found.mean, best_run_flatters=flatters, reason=reason)
    parts = variance_components([found.measured], partial(sampling_error, metric, samples))
    level, alone = samples.sampling.level, len(found.values) < 2
    result = estimate(metric, found.mean, len(samples), _limits(metric, found.mean, parts, samples))
    return SystemValue(
        found.values,
        found.mean,
        result.low,
        result.high,
        flatters,
        None if alone else _shares(parts),
        None if alone else _half_widths(parts, len(found.values), level),
        math.sqrt(parts.variance),
        parts.df,
        result.reason or (ALONE if alone else ""),
    )


def _flatters(better: Better, values: Sequence[float | None], mean: float) -> float | None:
    """By how much the best of several runs looks better than their mean."""
    known = [value for value in values if value is not None]
    if better not in DIRECTED or len(known) < 2:
        return None
    return max(known) - mean if better == "higher" else mean - min(known)


def _limits(metric: Metric, value: float, parts: VarianceComponents, samples: PairedSamples) -> Limits:
    error, quantile = math.sqrt(parts.variance), t_quantile(samples.sampling.upper, parts.df)
    n = float(len(samples))
    if math.isinf(metric.high):
        low, high = transformed_scale_limits(metric, value, error, quantile, n)
        return Limits(low, high, METHOD, error)
    return spread_limits(metric, value, Spread(error), quantile, n, METHOD)


def _shares(parts: VarianceComponents) -> VarianceShares | None:
    whole = parts.rows + parts.seeds + parts.both
    if whole <= ROUNDING**2:
        return None
    return VarianceShares(parts.rows / whole, parts.seeds / whole, parts.both / whole)


def _half_widths(parts: VarianceComponents, runs: int, level: float) -> HalfWidths | None:
    if not parts.rows + parts.seeds + parts.both:
        return None
    more = parts.half_width(level, runs=MANY_RUNS / runs)
    return HalfWidths(parts.half_width(level), more, parts.half_width(level, rows=4))


MANY_RUNS = 20
"""Runs of a system for which the width of its interval is predicted."""


def system_difference(
    metric: Metric,
    first: SeededMetric,
    second: SeededMetric,
    samples: PairedSamples,
    names: tuple[str, str],
) -> InferredDifference:
    """Return a metric of a system less the same of another, over paired rows and independent seeds.

    Parameters
    ----------
    metric : Metric
    first, second : SeededMetric
    samples : PairedSamples
        Of the shared rows: how they were sampled.
    names : (str, str)
        Of the systems.
    """
    start = SystemDifference(metric.name, *names, values=(first.mean, second.mean))
    if first.mean is None or second.mean is None:
        gaps = [f"{name}: {one.reason}" for name, one in zip(names, (first, second), strict=True)]
        return InferredDifference(replace(start, reason="; ".join(g for g in gaps if g[-2:] != ": ")))
    gap = first.mean - second.mean
    start = replace(start, difference=gap, pairs=seed_pairs(metric.better, first.values, second.values))
    reason = why_not(metric, samples, first, second)
    if reason or first.measured is None or second.measured is None:
        return InferredDifference(replace(start, reason=reason))
    parts = variance_components([first.measured, second.measured], partial(sampling_error, metric, samples))
    start = replace(start, reason=_single_run_note(names, first, second))
    if math.sqrt(parts.variance) <= ROUNDING * max(1.0, abs(gap)):
        return InferredDifference(replace(start, reason="the rows do not vary" if gap else SAME))
    curve = StudentCurve(gap, math.sqrt(parts.variance), parts.df)
    return with_interval(replace(start, variance=_shares(parts)), curve, METHOD, samples.sampling.level)


def _single_run_note(names: tuple[str, str], first: SeededMetric, second: SeededMetric) -> str:
    lone = [name for name, one in zip(names, (first, second), strict=True) if len(one.values) < 2]
    return f"seeds unknown of {' and '.join(lone)}: one run" if lone else ""


def seed_pairs(
    better: Better, first: Sequence[float | None], second: Sequence[float | None]
) -> SeedPairs | None:
    """Return in how many pairs of runs the first is ahead; None where neither direction is better.

    Examples
    --------
    >>> seed_pairs("higher", (0.9, 0.8), (0.8, 0.7, 0.85))
    SeedPairs(ahead=4, ties=1, of=6)
    """
    if better not in DIRECTED:
        return None
    sign = 1 if better == "higher" else -1
    gaps = [sign * (a - b) for a, b in product(first, second) if a is not None and b is not None]
    return SeedPairs(sum(gap > 0 for gap in gaps), sum(gap == 0 for gap in gaps), len(gaps))
