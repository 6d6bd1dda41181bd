"""Paired bootstrap of a difference: the same rows are drawn for both runs.

For metrics to which single rows contribute nothing that adds up: a maximum over thresholds, what a curve
reads where it crosses a limit, a binned error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evalreport.facts import ScoreTable
from evalreport.facts.classes import BINS, bin_of
from evalreport.facts.counts import Array
from evalreport.intervals.contributions import Counted
from evalreport.intervals.paired import SampledError
from evalreport.intervals.units import Units, table_replicates
from evalreport.labels import Binary
from evalreport.metrics import Metric, view
from evalreport.metrics.multiclass import with_gaps
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
