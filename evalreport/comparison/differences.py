"""Differences between two runs: paired where the rows are the same, else from the runs' own intervals.

Also the verdicts that follow from them. Simulated coverage (`make coverage`; `coverage.json` beside this
file, tables in `tests/comparison/COVERAGE.md`): the score interval of a proportion, posterior samples of the
joint cells for functions of binary counts, and Student's interval from the contributions of the rows for the
rest cover 93 to 97% from 200 rows on, also with weights, clusters, many labels and classes. Coverage is lower
(92.5%) for classes with two or three examples, and up to 99.9% if two models almost never differ on ten
positives. The difference of a rate over items with two to ten attempts covers 93% or more from 10 items on
(`tests/features/graded/coverage.json`); it covers as little as 75% if both runs nearly always fail and one of
them passes all ten attempts at a few items that are not in a sample of ten.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evalreport.comparison.changed_predictions import correct_rows
from evalreport.comparison.comparison import (
    AdjustedInterval,
    Detectable,
    Difference,
    PairOutcome,
    PairVerdict,
    RankedRun,
    Verdict,
)
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.labels import UNPARSED, Binary, Graded
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores
from evalreport.intervals.bootstrap import Units, own_difference_error, table_replicates
from evalreport.intervals.estimates import estimates
from evalreport.intervals.folds import NO_SLOPE
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.paired import (
    POWER,
    ConfidenceCurve,
    SampledError,
    ScaledCurve,
    ScoreCurve,
    StudentCurve,
    by_class,
    drawn_curve,
    effective,
    holm,
    holm_levels,
    independent_difference,
    joint_cells,
    of_bounded,
    of_mean,
    paired_draws,
)
from evalreport.intervals.row_influence import Counted, by_fold
from evalreport.metrics.catalogue import find
from evalreport.metrics.multiclass import with_gaps
from evalreport.metrics.record import Better, Metric, view
from evalreport.statistics.class_scores import BINS, bin_of
from evalreport.statistics.confusion import Array, BinaryCounts
from evalreport.statistics.score_table import ScoreTable


@dataclass(frozen=True, eq=False)
class RunReplicates:
    """One run over resamples of its rows; the other run has the same `units`.

    Examples
    --------
    >>> from evalreport.intervals.interval_settings import Sampling
    >>> from evalreport.metrics.catalogue import find
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.scores import Probabilities
    >>> p = predictions(Binary(0, 1), [0, 1] * 20, scores=Probabilities(np.linspace(0.1, 0.9, 40)))
    >>> RunReplicates(
    ...     Counted.from_predictions(p), Units.from_predictions(p, Sampling(resamples=100))
    ... ).replicate_metric(find("ece", "binary")).shape
    (100,)
    """

    side: Counted
    units: Units

    @cached_property
    def tables(self) -> list[ScoreTable]:
        """Score tables of a binary problem, or of the top label's probability."""
        p, facts = self.side.predictions, self.side.facts
        scores = _scores(p)
        if isinstance(p.space, Binary):
            return table_replicates(facts.scores, scores, p.y_true == 1, self.units)[1]  # type: ignore[arg-type]
        correct_rows = scores.argmax(axis=1) == p.y_true
        return table_replicates(facts.confidence, scores.max(axis=1), correct_rows, self.units)[1]  # type: ignore[arg-type]

    def replicate_metric(self, metric: Metric) -> Array | None:
        """Return a metric of scores in each resample, NaN where it has no value; None for any other."""
        match metric.reads:
            case "bins":
                return self._class_gaps(metric)
            case "scores" | "confidence":
                with np.errstate(divide="ignore", invalid="ignore"):
                    return np.array([float(metric.function(table)) for table in self.tables])
            case _:
                return None

    def _class_gaps(self, metric: Metric) -> Array:
        """Mean over labels of the binned gaps between probability and share."""
        p, units = self.side.predictions, self.units
        weight = np.maximum(units.totals(np.zeros(len(p), np.int64), 1)[:, 0], np.finfo(float).tiny)
        gaps = np.zeros(len(weight))
        declared = metric.name == "classwise_ece_declared"
        counted = np.flatnonzero(with_gaps(view(self.side.facts, "bins"), declared=declared))
        for label in counted:
            scores = _scores(p)[:, label]
            positive = p.y_true[:, label] if p.y_true.ndim == 2 else p.y_true == label
            gaps += np.abs(units.totals(bin_of(scores), BINS, scores - positive)).sum(axis=1)
        found: Array = gaps / (weight * len(counted))
        return found


def _scores(p: Predictions) -> npt.NDArray[np.floating]:
    return np.empty((0, 0)) if isinstance(p.scores, NoScores) else p.scores.values


def resampled_error(metric: Metric, run: RunReplicates, baseline: RunReplicates) -> SampledError | None:
    """Return the standard error of a difference over resamples of the shared rows, or of whole clusters.

    Parameters
    ----------
    metric : Metric
        Defined on both sides.
    run, baseline : RunReplicates
        With the same units.

    Returns
    -------
    SampledError or None
        None if the metric is not a function of scores, or fewer than half of the resamples have a value.

    References
    ----------
    Efron & Tibshirani 1993, chapters 6 and 8.
    """
    first, second = run.replicate_metric(metric), baseline.replicate_metric(metric)
    if first is None or second is None:
        return None
    gaps = first - second
    known = gaps[np.isfinite(gaps)]
    if 2 * len(known) < len(gaps):
        return None
    free = max(run.units.size - 1, 1.0)
    return SampledError(float(known.std()) * math.sqrt(run.units.size / free), free)


Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PairedSamples:
    """Two runs on the same rows, row by row.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> a = Counted.from_predictions(predictions(Binary(0, 1), [1, 1, 0], [1, 1, 1]))
    >>> b = Counted.from_predictions(predictions(Binary(0, 1), [1, 1, 0], [0, 1, 0]))
    >>> PairedSamples(a, b, Sampling()).cells[1, :2, :2]
    array([[0., 0.],
           [1., 1.]])
    """

    run: Counted
    baseline: Counted
    sampling: Sampling

    def __len__(self) -> int:
        return len(self.run.predictions)

    @property
    def plain(self) -> bool:
        """Whether rows have neither weights nor clusters."""
        return self.clusters is None and not self.run.predictions.weighted

    @property
    def clusters(self) -> npt.NDArray[np.int32] | None:
        """Cluster code of each row."""
        groups = self.run.predictions.groups
        return None if groups is None else groups.codes

    def sum_by_cluster(self, parts: Array) -> Array:
        """Return the sums of contributions over clusters; without clusters the contributions."""
        if self.clusters is None:
            return parts
        return np.asarray(np.bincount(self.clusters, parts), dtype=np.float64)

    @cached_property
    def too_few(self) -> str:
        """Why there are too few rows or groups for an interval; empty if there are enough."""
        if len(self) < FEWEST:
            return f"an interval needs at least {FEWEST} shared rows"
        one = self.clusters is not None and bool((self.clusters == self.clusters[0]).all())
        return "an interval needs at least 2 groups" if one else ""

    @cached_property
    def cells(self) -> Array:
        """Binary: the count of each (true label, prediction of the run, prediction of the baseline)."""
        a, b = self.run.predictions, self.baseline.predictions
        return joint_cells(*(np.asarray(codes, dtype=np.int32) for codes in (a.y_true, a.y_pred, b.y_pred)))

    @cached_property
    def draws(self) -> tuple[BinaryCounts, BinaryCounts]:
        """Binary: posterior samples of the counts of both, each at its own threshold."""
        drawn = paired_draws(self.cells, self.sampling)
        points = [side.facts.threshold for side in (self.run, self.baseline)]
        at = [np.nan if point is None or isinstance(point.value, tuple) else point.value for point in points]
        return replace(drawn[0], threshold=at[0]), replace(drawn[1], threshold=at[1])

    @cached_property
    def strata(self) -> npt.NDArray[np.int64]:
        """True class of each row; multilabel: its rarest true label, or none."""
        truth = self.run.predictions.y_true
        if truth.ndim == 1:
            return truth.astype(np.int64)
        order = np.argsort(truth.sum(axis=0), kind="stable")
        carried = np.column_stack([truth[:, order], np.ones(len(truth), dtype=bool)])
        return np.asarray(carried.argmax(axis=1))

    @cached_property
    def paired_replicates(self) -> tuple[RunReplicates, RunReplicates]:
        """Both over the same resamples of rows, or of clusters."""
        units = Units.from_predictions(self.run.predictions, self.sampling, leave_out=False)
        return RunReplicates(self.run, units), RunReplicates(self.baseline, units)

    def score_curve(self, metric: Metric) -> ScoreCurve | None:
        """Return the intervals of a proportion over the same rows; None for other metrics.

        For an error rate, the rows that count are errors.
        """
        first, second = (hits(metric, side) for side in (self.run, self.baseline))
        if first is None or second is None:
            return None
        p = self.run.predictions
        rows = denominator_rows(metric, p)
        kept = np.ones(len(p), dtype=bool) if rows is None else rows
        gaps = first[kept].astype(np.float64) - second[kept]
        if self.plain:
            return ScoreCurve(int((gaps > 0).sum()), int((gaps < 0).sum()), len(gaps))
        clusters = None if self.clusters is None else self.clusters[kept]
        return ScoreCurve.from_units(gaps, p.weights[kept].astype(np.float64), clusters)


COUNTED: dict[str, tuple[int, ...]] = {
    "recall": (1,),
    "fpr": (1,),
    "predicted_positive_rate": (1,),
    "specificity": (0,),
    "fnr": (0, UNPARSED),
}
"""Predictions that a binary proportion counts."""


def hits(metric: Metric, counted: Counted) -> Mask | None:
    """Return which rows a proportion counts, shape (n,); None for metrics that are not a proportion of
    rows."""
    p, answer = counted.predictions, counted.predictions.y_pred
    if metric.reads == "tally":
        values = counted.row_values.get(metric.name) if metric.interval == "wilson" else None
        return None if values is None else np.asarray(values, dtype=bool)
    if answer is None or answer.ndim == 2:
        return None
    if metric.name in ("accuracy", "pass_rate"):
        return correct_rows(p)
    if metric.name == "parse_rate":
        return np.asarray(answer >= 0)
    if metric.name == "no_grade_rate":
        return np.asarray(answer < 0)
    is_binary = isinstance(p.space, Binary) and metric.name in COUNTED
    return np.isin(answer, COUNTED[metric.name]) if is_binary else None


def denominator_rows(metric: Metric, p: Predictions) -> Mask | None:
    """Return the rows in the denominator of a proportion; None for all."""
    match metric.over:
        case "positives":
            return np.asarray(p.y_true == 1)
        case "negatives":
            return np.asarray(p.y_true == 0)
        case _:
            return None


SAME = "the runs have the same value on every row"
FEWEST = 10
"""Minimum number of shared rows for an interval of a difference: Student's t is unreliable for fewer."""
ROUNDING = 1e-10
"""Standard errors up to this are zero: equal rows have only rounding errors."""


@dataclass(frozen=True, eq=False)
class InferredDifference:
    """A difference and its intervals at every level, before correction for multiple comparisons."""

    difference: Difference
    curve: ConfidenceCurve | None = None


def paired_difference(metric: Metric, samples: PairedSamples, names: tuple[str, str]) -> InferredDifference:
    """Return the difference of a metric on shared rows, with its interval.

    A proportion of the same rows has Tango's score interval, with weights or clusters over their effective
    number; another function of binary counts has posterior samples of the joint cells. Other metrics, and
    such functions with weights or clusters, use the differences of the rows' contributions (for ROC AUC these
    are DeLong's); scores of graded items add two units to the variance. A metric without contributions (a
    maximum over thresholds, a binned error) uses the standard error of its difference over resamples.
    """
    start = _start(metric, [side.value(metric) for side in (samples.run, samples.baseline)], names)
    if start.difference is None:
        return InferredDifference(start)
    if metric.interval == "none":
        return without_interval(start, "counts and settings are not estimates")
    if samples.too_few:
        return without_interval(start, samples.too_few)
    if metric.interval == "own":
        return _own_difference(metric, samples, start)
    found = _difference_of_counts(metric, samples, start.difference)
    if found is None:
        return _difference_by_contributions(metric, samples, start)
    return with_interval(start, *found, samples.sampling.level)


def _start(metric: Metric, values: Sequence[float | Undefined], names: tuple[str, str]) -> Difference:
    known = [None if isinstance(value, Undefined) else value for value in values]
    gaps = [f"{name}: {v.reason}" for name, v in zip(names, values, strict=True) if isinstance(v, Undefined)]
    reasons = {value.reason if isinstance(value, Undefined) else "" for value in values}
    gaps = gaps if len(reasons) > 1 else [*reasons]
    gap = None if known[0] is None or known[1] is None else known[0] - known[1]
    return Difference(
        metric.name, *names, values=(known[0], known[1]), difference=gap, reason="; ".join(gaps)
    )


def with_interval(start: Difference, curve: ConfidenceCurve, method: str, level: float) -> InferredDifference:
    """Return a difference with its interval at one level, and the intervals at all levels."""
    low, high = curve.limits(level)
    return InferredDifference(replace(start, low=low, high=high, p=curve.p, method=method), curve)


def without_interval(start: Difference, reason: str) -> InferredDifference:
    """Return a difference without an interval, and the reason."""
    return InferredDifference(replace(start, reason=reason))


def _difference_of_counts(
    metric: Metric, samples: PairedSamples, gap: float
) -> tuple[ConfidenceCurve, str] | None:
    curve = samples.score_curve(metric)
    if curve is not None:
        return curve, "paired score" if samples.clusters is None else "paired score, by cluster"
    if samples.plain and metric.reads == "counts" and isinstance(samples.run.predictions.space, Binary):
        drawn = drawn_curve(metric, gap, samples.draws, samples.sampling.level)
        return None if drawn is None else (drawn, "paired draws of the counts")
    return None


def classwise(metric: Metric) -> bool:
    """Return whether few rows of one class can weigh as much as many of another.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> classwise(find("f1_macro")), classwise(find("log_loss", "multiclass"))
    (True, False)
    """
    if metric.task == "binary":
        return metric.interval != "mean"
    return "macro" in metric.name or metric.name == "balanced_accuracy"


def _difference_by_contributions(
    metric: Metric, samples: PairedSamples, start: Difference
) -> InferredDifference:
    first, second = samples.run.contributions(metric), samples.baseline.contributions(metric)
    if first is None or second is None:
        return _difference_by_resamples(metric, samples, start)
    how = "paired contributions" if samples.clusters is None else "paired contributions, by cluster"
    gap, reach = start.difference or 0.0, _reach_of_grades(samples)
    if reach is None:
        error = sampling_error(metric, samples, first - second)
    else:
        error = of_bounded(samples.sum_by_cluster(first - second), gap, reach)
    # Equal contributions differ only by the rounding of the sum of a row's parts.
    if error.standard_error <= ROUNDING * max(1.0, abs(gap)):
        return _constant_difference(metric, samples, start)
    if metric.interval == "delong" and samples.plain:
        how = "delong"
    return with_interval(start, error.curve(gap), how, samples.sampling.level)


def _reach_of_grades(samples: PairedSamples) -> float | None:
    """Return the range of the scores of graded items; None for other predictions."""
    space = samples.run.predictions.space
    scores = [side.predictions.scores for side in (samples.run, samples.baseline)]
    values = [one.values for one in scores if not isinstance(one, NoScores)]
    if not isinstance(space, Graded) or len(values) < len(scores):
        return None
    return 1.0 if space.scale == "unit" else float(np.ptp(np.concatenate([one[:, 0] for one in values])))


def _constant_difference(metric: Metric, samples: PairedSamples, start: Difference) -> InferredDifference:
    """A difference without variation: no row differs, or all differ in the same way.

    A difference of 0 is exact; any other has limits from the intervals of both runs (MOVER).
    """
    level = samples.sampling.level
    if not start.difference:
        return with_interval(
            replace(start, reason=SAME), StudentCurve(0.0, 0.0), "paired contributions", level
        )
    first, second = (
        estimates([metric], side.facts, side.predictions, samples.sampling)[metric.name]
        for side in (samples.run, samples.baseline)
    )
    found = unpaired_difference(metric, (first, second), (start.run, start.baseline), level)
    return without_interval(start, "the rows do not vary") if found.curve is None else found


def sampling_error(metric: Metric, samples: PairedSamples, parts: Array) -> SampledError:
    """Return the standard error of a sum of row contributions to a metric, or to a difference.

    Parameters
    ----------
    parts : float64 array of shape (n,)
        Contributions of the rows of `samples`.
    """
    if not samples.plain:
        return effective(samples.sum_by_cluster(parts))
    if classwise(metric):
        return by_class(parts, samples.strata)
    return of_mean(parts) if metric.interval == "mean" else effective(parts)


def _difference_by_resamples(metric: Metric, samples: PairedSamples, start: Difference) -> InferredDifference:
    level = samples.sampling.level
    if by_fold(metric) and (samples.run.folds or samples.baseline.folds):
        return without_interval(start, NO_SLOPE)
    if metric.reads == "truth":
        return _constant_difference(metric, samples, start)
    error = resampled_error(metric, *samples.paired_replicates)
    if error is None:
        return without_interval(start, "too few resamples have a value")
    if error.standard_error <= ROUNDING:
        return _constant_difference(metric, samples, start)
    how = "paired bootstrap" if samples.clusters is None else "paired bootstrap, by cluster"
    return with_interval(start, error.curve(start.difference or 0.0), how, level)


def _own_difference(metric: Metric, samples: PairedSamples, start: Difference) -> InferredDifference:
    """The difference of a user's own metric, with its standard error over paired bootstrap resamples."""
    level, (run, baseline) = samples.sampling.level, (samples.run.predictions, samples.baseline.predictions)
    error = own_difference_error(metric.name, run, baseline, samples.sampling)
    if isinstance(error, str):
        return without_interval(start, error)
    if error.standard_error <= ROUNDING * max(1.0, abs(start.difference or 0.0)):
        if start.difference:
            return without_interval(start, "the difference is the same in every resample")
        return with_interval(replace(start, reason=SAME), StudentCurve(0.0, 0.0), "paired bootstrap", level)
    how = "paired bootstrap" if samples.clusters is None else "paired bootstrap, by cluster"
    return with_interval(start, error.curve(start.difference or 0.0), how, level)


def unpaired_difference(
    metric: Metric, values: tuple[Result, Result], names: tuple[str, str], level: float
) -> InferredDifference:
    """Return the difference of two independent estimates from their intervals (MOVER).

    Parameters
    ----------
    level : float
        Confidence level of both intervals.

    References
    ----------
    Zou & Donner 2008; for proportions this is Newcombe's method 10.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> a, b = Estimate(0.8, n=70, low=0.69, high=0.88), Estimate(0.6, n=80, low=0.49, high=0.70)
    >>> found = unpaired_difference(find("recall"), (a, b), ("a", "b"), 0.95).difference
    >>> round(found.low, 2), round(found.high, 2)
    (0.05, 0.34)
    """
    a, b = values
    bare = [value if isinstance(value, Undefined) else value.value for value in values]
    start = _start(metric, bare, names)
    if not isinstance(a, Estimate) or not isinstance(b, Estimate):
        return InferredDifference(start)
    if a.width is None or b.width is None:
        return without_interval(start, a.reason or b.reason or "one of the runs has no interval")
    gap, _ = independent_difference(a, b, level)
    if not isinstance(gap, Estimate) or gap.low is None or gap.high is None:
        return InferredDifference(start)
    return with_interval(start, ScaledCurve(gap.value, gap.low, gap.high, level), "MOVER, unpaired", level)


def adjusted_verdicts(
    found: Sequence[InferredDifference], better: Mapping[str, Better], level: float
) -> tuple[Difference, ...]:
    """Return differences with Holm-adjusted intervals and their verdicts, in the given order.

    The family of the correction is one metric, over all given pairs of runs (or classes, or slices). The
    verdict depends only on whether the adjusted interval excludes 0.

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
    [('better', 0.975), ('not_significant', 0.95)]
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
    """The verdict without an interval: equal values are not significant, others undefined."""
    known = entry.difference == 0 and better in ("higher", "lower")
    return replace(entry, verdict="not_significant") if known else entry


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
    """Return a difference from a value of a metric, or None if it exceeds the range of the metric.

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
    """Return the verdict of an interval of a difference: better or worse if it excludes 0."""
    if low <= 0 <= high:
        return "not_significant"
    return "better" if (low > 0) == (better == "higher") else "worse"


FEWEST_OF_CLASS = 20
"""Fewest examples of a class for its recall to be part of the verdict. Smaller classes are mostly noise, and
each additional class makes the correction stricter for all others."""


@dataclass(frozen=True, eq=False)
class VerdictInput:
    """One of the differences that a pair's verdict uses.

    Parameters
    ----------
    name : str
        The metric, or ``recall[class]``.
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
        """Return the difference with its interval and verdict, if all pairs together have `level`."""
        assert self.found.curve is not None  # noqa: S101  checked by the caller
        own = holm_levels(self.family, level)[self.place]
        return _adjusted_verdict(self.found.difference, self.found.curve, self.p, own, self.better)


def pair_verdict(
    run: str, baseline: str, level: float, looks: Sequence[VerdictInput], primary: str
) -> PairVerdict:
    """Return better, worse, a trade-off (significant both ways) or no significant difference.

    With several metrics two equal models differ in one of them more often than in a single metric. Holm's
    correction over all of them keeps the rate of false verdicts per pair at that of one metric.

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

    With two metrics, a p-value of 0.04 is not enough:

    >>> found = pair_verdict("new", "old", 0.95, [look("recall", 0.0411, 0.02), look("f1", 0.0, 0.03)], "f1")
    >>> round(found.primary.adjusted.level, 3), found.verdict
    (0.975, 'not_significant')
    """
    known = [look for look in looks if look.found.curve is not None and look.better in ("higher", "lower")]
    levels = holm_levels([look.p for look in known], level)
    held = {look.name: look.difference_at(own) for look, own in zip(known, levels, strict=True)}
    plain = {look.name: _verdict_without_interval(look.found.difference, look.better) for look in looks}
    every = {**plain, **held}
    better, worse = (
        tuple(name for name, d in held.items() if d.verdict == word) for word in ("better", "worse")
    )
    outcome: PairOutcome = "not_significant"
    if better or worse:
        outcome = "trade_off" if better and worse else "better" if better else "worse"
    if all(d.verdict == "undefined" for d in every.values()):
        outcome = "undefined"
    return PairVerdict(run, baseline, outcome, better, worse, tuple(held), every.get(primary))


def ranking(
    values: Mapping[str, Result], pairs: Sequence[Difference], better: Better
) -> tuple[RankedRun, ...]:
    """Return the runs, best first, with the possible ranks of each.

    Parameters
    ----------
    values : mapping from a run's name to its value
    pairs : sequence of Difference
        Of all pairs of runs by one metric, corrected for their number: with 95% confidence all significant
        differences are real, so that all sets of ranks are simultaneous.
    better : Better
        Direction of the metric.

    Returns
    -------
    tuple of RankedRun
        By their values, but never above a run that is significantly better: values over different rows may
        contradict the paired difference. The ranks of a run go from 1 + the number of significantly better
        runs to k - the number of significantly worse runs. The best group is the first run and all that are
        not significantly worse. A run with an undefined value is last, without ranks.

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
