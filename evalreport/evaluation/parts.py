"""The parts of an evaluation that are not numbers of their own floor: classes, slices, mistakes, origin.

Where rows weigh, whole rows are counted beside: sentences count them, shares and metrics are of weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from evalreport.codec import Mass, Share, Whole
from evalreport.facts import Counts
from evalreport.labels import Label, Multilabel
from evalreport.metrics.named_sets import OF_CLASS
from evalreport.predictions import Predictions
from evalreport.values import Result

State: TypeAlias = Literal["ok", "absent", "never_predicted", "spurious"]
"""``absent``: no true example, cannot be measured; ``never_predicted``: has true examples and recall 0
because no prediction names it; ``spurious``: predicted, but no true example."""


@dataclass(frozen=True)
class Confusion:
    """Another label that examples of this one were given: how many, and their share of the class."""

    label: Label | None
    weight: Mass
    share: Share


@dataclass(frozen=True)
class ClassResult:
    """One label against all others.

    Parameters
    ----------
    label : str, int or bool
    state : str
    support, predicted, right : float
        Weight of true examples, of predictions, and of examples that are both.
    metrics : mapping from metric name to Estimate or Undefined
        Multiclass: precision, recall, f1, roc_auc, average_precision. Multilabel: the binary list.
    confusions : tuple of Confusion
        The (up to three) labels that its examples were most often given; label None is unparsed.
    threshold : float or None
        Multilabel: where this label was decided; infinite for one that is never flagged.
    best : (float, float) or None
        Multilabel with scores: the threshold with the highest F1 on these rows, and that F1; an upper
        bound, for it was chosen on the rows that judge it.
    """

    # values of metrics stand by themselves, for readers that want no intervals
    KEYS: ClassVar = (
        *("label", "state", "support", "predicted", "right"),
        *OF_CLASS,
        *("metrics", "confusions", "threshold", "best"),
    )

    label: Label
    state: State
    support: Mass
    predicted: Mass
    right: Mass
    metrics: Mapping[str, Result]
    confusions: tuple[Confusion, ...] = ()
    threshold: float | None = None
    best: tuple[float, float] | None = None

    def again(self, name: str) -> float | None:
        """Return the value of a metric that stands by itself."""
        return self.metrics[name].value if name in self.metrics else None


@dataclass(frozen=True)
class Slice:
    """The headline metrics of the rows that share one value of a column.

    Parameters
    ----------
    column, value : str
    rows : int
    weight : float
    metrics : mapping from name to Estimate or Undefined
    differences : mapping from name to Estimate or Undefined
        Slice minus the rest, with its interval.
    p_adjusted : mapping from name to float
        p-value of each difference, Holm-corrected over the slices of the column.
    too_few : bool
        Fewer than ten rows: counts only, nothing is claimed.
    """

    column: str
    value: str
    rows: Whole
    weight: Mass
    metrics: Mapping[str, Result] = field(default_factory=dict)
    differences: Mapping[str, Result] = field(default_factory=dict)
    p_adjusted: Mapping[str, Share] = field(default_factory=dict)
    too_few: bool = False


@dataclass(frozen=True)
class Disparity:
    """How far apart the groups of a column lie by one metric.

    Parameters
    ----------
    column, metric : str
        ``equalized_odds`` is the worse of recall and false positive rate.
    difference, ratio : Estimate or Undefined
        The greatest value of a group less the least, and the least over the greatest.
    lowest, highest : str
        Groups; of equalized odds those of the metric that differs more.
    groups, left_out : int
        How many were compared, and how many were not: fewer than ten rows, or no value.
    smallest : str
    smallest_rows : int
    smallest_value : Estimate or Undefined
        The least group that was judged, and its value: how surely it is known limits the rest.
    """

    column: str
    metric: str
    difference: Result
    ratio: Result
    lowest: str
    highest: str
    groups: Whole
    left_out: Whole
    smallest: str
    smallest_rows: Whole
    smallest_value: Result


@dataclass(frozen=True)
class Mistake:
    """One wrong answer.

    Parameters
    ----------
    row : int
        Position in the predictions, from 0.
    id : str
        Its id, or the row as text.
    truth, predicted : tuple of str
        Labels; `predicted` is empty where nothing was predicted or read.
    confidence : float or None
        Score of what was predicted.
    text : str or None
        The example's own text, cut, only when its column was named.
    answer : str or None
        The generated answer that the label was read from, cut.
    """

    row: Whole
    id: str
    truth: tuple[str, ...]
    predicted: tuple[str, ...]
    confidence: float | None = None
    text: str | None = None
    answer: str | None = None


@dataclass(frozen=True)
class Swap:
    """Multilabel: one label left out while another was added wrongly, on the same row.

    `by_chance` is the count that independent errors would give.
    """

    left_out: str
    added: str
    rows: Mass
    by_chance: Mass


@dataclass(frozen=True)
class RowCounts:
    """Rows that each cell of the confusion matrix and each label has, each counted once.

    Parameters
    ----------
    cells : tuple of (truth code, predicted code, rows)
        Empty for several labels; the code after the last label is of answers that could not be read.
    labels : tuple of (support, predicted, right)
        In the order of the labels.
    """

    cells: tuple[tuple[Whole, Whole, Whole], ...]
    labels: tuple[tuple[Whole, Whole, Whole], ...]

    def confusion(self) -> Counts:
        """Return the confusion matrix in rows."""
        size = len(self.labels)
        cells = np.array(self.cells, dtype=np.int64).reshape(-1, 3)
        return Counts(size, cells[:, 0] * (size + 1) + cells[:, 1], cells[:, 2].astype(np.float64))

    def classes(self, known: tuple[ClassResult, ...]) -> tuple[ClassResult, ...]:
        """Return results of classes with their counts in rows; shares and metrics stay weighted."""
        cells = {(row, column): n for row, column, n in self.cells}
        place = {entry.label: code for code, entry in enumerate(known)}
        return tuple(
            replace(
                entry,
                support=n,
                predicted=predicted,
                right=right,
                confusions=tuple(
                    replace(one, weight=cells.get((code, place.get(one.label, len(known))), 0))  # type: ignore[arg-type]
                    for one in entry.confusions
                ),
            )
            for code, (entry, (n, predicted, right)) in enumerate(zip(known, self.labels, strict=False))
        )


def row_counts(p: Predictions) -> RowCounts | None:
    """Return the rows behind weighted counts; None where each row weighs the same, or nothing decides.

    Examples
    --------
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> row_counts(predictions(Binary(0, 1), [0, 1, 1], [0, 1, 0], weights=[1, 2, 7])).cells
    ((0, 0, 1), (1, 0, 1), (1, 1, 1))
    """
    if not p.weighted or p.y_pred is None:
        return None
    if isinstance(p.space, Multilabel):
        truth, answer = p.y_true.astype(bool), p.y_pred > 0
        columns = truth.sum(axis=0), answer.sum(axis=0), (truth & answer).sum(axis=0)
        return RowCounts((), _whole(*columns))
    counts = Counts.of(p.y_true, p.y_pred, len(p.space), None)
    known = counts.marginals
    return RowCounts(
        _whole(counts.rows, counts.columns, counts.weight), _whole(known.support, known.predicted, known.tp)
    )


def _whole(*columns: np.ndarray) -> tuple[tuple[int, int, int], ...]:
    a, b, c = (column.astype(np.int64).tolist() for column in columns)
    return tuple(zip(a, b, c, strict=True))
