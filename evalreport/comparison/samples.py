"""Two runs on the same rows, with what every difference between them is read off."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evalreport.comparison.movement import right
from evalreport.facts import BinaryCounts, ScoreTable
from evalreport.facts.classes import BINS, bin_of
from evalreport.facts.counts import Array
from evalreport.intervals import Sampling
from evalreport.intervals.contributions import Counted
from evalreport.intervals.paired import SampledError, joint_cells, paired_draws
from evalreport.intervals.units import Units, table_replicates
from evalreport.labels import UNPARSED, Binary
from evalreport.metrics.multiclass import with_gaps
from evalreport.metrics.record import Metric, view
from evalreport.metrics.strategies import ClassGaps
from evalreport.predictions import Predictions
from evalreport.scores import NoScores


@dataclass(frozen=True, eq=False)
class RunReplicates:
    """One run over resamples of its rows; the other run has the same `units`.

    Examples
    --------
    >>> from evalreport.intervals import Sampling
    >>> from evalreport.metrics.catalogue import find
    >>> from evalreport.predictions import predictions
    >>> from evalreport.scores import Probabilities
    >>> p = predictions(Binary(0, 1), [0, 1] * 20, scores=Probabilities(np.linspace(0.1, 0.9, 40)))
    >>> RunReplicates(Counted.of(p), Units.of(p, Sampling(resamples=100))).of(find("ece", "binary")).shape
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
        right = scores.argmax(axis=1) == p.y_true
        return table_replicates(facts.confidence, scores.max(axis=1), right, self.units)[1]  # type: ignore[arg-type]

    def of(self, metric: Metric) -> Array | None:
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
        declared = isinstance(metric.strategy, ClassGaps) and metric.strategy.declared
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
    """Return the spread of a difference over resamples of the shared rows, or of whole clusters.

    Parameters
    ----------
    metric : Metric
        Defined on both sides.
    run, baseline : RunReplicates
        With the same units.

    Returns
    -------
    SampledError or None
        None where the metric is no function of scores, or fewer than half of the resamples have a value.

    References
    ----------
    Efron & Tibshirani 1993, chapters 6 and 8.
    """
    first, second = run.of(metric), baseline.of(metric)
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
    >>> from evalreport.predictions import predictions
    >>> a = Counted.of(predictions(Binary(0, 1), [1, 1, 0], [1, 1, 1]))
    >>> b = Counted.of(predictions(Binary(0, 1), [1, 1, 0], [0, 1, 0]))
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
        """Whether rows are alike: no weights and no clusters."""
        return self.clusters is None and not self.run.predictions.weighted

    @property
    def clusters(self) -> npt.NDArray[np.int32] | None:
        """Codes of rows that belong together."""
        groups = self.run.predictions.groups
        return None if groups is None else groups.codes

    @cached_property
    def cells(self) -> Array:
        """Binary: how often each (truth, answer of the run, answer of the baseline) occurs."""
        a, b = self.run.predictions, self.baseline.predictions
        return joint_cells(*(np.asarray(codes, dtype=np.int32) for codes in (a.y_true, a.y_pred, b.y_pred)))

    @cached_property
    def draws(self) -> tuple[BinaryCounts, BinaryCounts]:
        """Binary: posterior draws of the counts of both, each at its own threshold."""
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
    def resampled(self) -> tuple[RunReplicates, RunReplicates]:
        """Both over the same resamples of rows, or of clusters."""
        units = Units.of(self.run.predictions, self.sampling, leave_out=False)
        return RunReplicates(self.run, units), RunReplicates(self.baseline, units)

    def agreement(self, metric: Metric) -> tuple[int, int, int] | None:
        """Return (run alone, baseline alone, all) hits of a proportion over the same rows; None for others.

        The counts come with the sign of the metric: of an error rate they are exchanged.
        """
        first, second = (hits(metric, side) for side in (self.run, self.baseline))
        if first is None or second is None:
            return None
        rows = over(metric, self.run.predictions)
        a, b = (first, second) if rows is None else (first[rows], second[rows])
        return int((a & ~b).sum()), int((b & ~a).sum()), len(a)


COUNTED: dict[str, tuple[int, ...]] = {
    "recall": (1,),
    "fpr": (1,),
    "predicted_positive_rate": (1,),
    "specificity": (0,),
    "fnr": (0, UNPARSED),
}
"""Answers that a binary proportion counts."""


def hits(metric: Metric, counted: Counted) -> Mask | None:
    """Return which rows a proportion counts, shape (n,); None for what is no proportion over given rows."""
    p, answer = counted.predictions, counted.predictions.y_pred
    if metric.reads == "tally":
        values = counted.row_values.get(metric.name) if metric.interval == "wilson" else None
        return None if values is None else np.asarray(values, dtype=bool)
    if answer is None or answer.ndim == 2:
        return None
    if metric.name == "accuracy":
        return right(p)
    if metric.name == "parse_rate":
        return np.asarray(answer >= 0)
    is_binary = isinstance(p.space, Binary) and metric.name in COUNTED
    return np.isin(answer, COUNTED[metric.name]) if is_binary else None


def over(metric: Metric, p: Predictions) -> Mask | None:
    """Return the rows that a proportion is taken over; None for all."""
    match metric.over:
        case "positives":
            return np.asarray(p.y_true == 1)
        case "negatives":
            return np.asarray(p.y_true == 0)
        case _:
            return None
