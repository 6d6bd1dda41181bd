"""Two runs on the same rows, with what every difference between them is read off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evalreport.comparison.movement import right
from evalreport.comparison.resampling import RunReplicates
from evalreport.facts import BinaryCounts
from evalreport.facts.counts import Array
from evalreport.intervals import Sampling
from evalreport.intervals.contributions import Counted
from evalreport.intervals.paired import joint_cells, paired_draws
from evalreport.intervals.units import Units
from evalreport.labels import UNPARSED, Binary
from evalreport.metrics.record import Metric
from evalreport.predictions import Predictions

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
